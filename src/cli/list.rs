//! `list`: what there is, with a line each.

use std::io::Write;

use serde_json::{Map, Value, json};

use unbacked::guards::policy::PolicyName;
use unbacked::oracle::invariants::INVARIANTS;
use unbacked::sim::faults;
use unbacked::sim::moves::MOVES;
use unbacked::sim::persona::PERSONAS;
use unbacked::sim::reach;
use unbacked::sim::sabotage::SABOTAGES;
use unbacked::sim::scope::{ALPHABET, PEOPLE};
use unbacked::wire::Dialect;
use unbacked::wire::strict::rules::RULES;

use super::{Failure, Found};

/// What there is, with a line each.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked list personas
  unbacked list marks
  unbacked list --json")]
pub struct Args {
    /// Only this catalogue: personas, moves, scope, faults, policies, invariants, sabotages, marks, rules, dialects, judges.
    what: Option<String>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// What a default campaign need not reach is said so.
fn mark(mark: &reach::Mark) -> (String, String) {
    let rest = if mark.required { "" } else { " (not required)" };
    (mark.name.clone(), format!("{}{rest}", mark.sentence))
}

type Catalogue = (&'static str, Vec<(String, String)>);

fn catalogues() -> Vec<Catalogue> {
    let pair = |name: &str, line: &str| (name.to_owned(), line.to_owned());
    let letters = ALPHABET.iter().map(|letter| pair(letter.name, letter.sentence));
    let scope = letters.chain(PEOPLE.iter().map(|person| pair(person.name, person.sentence))).collect();
    vec![
        ("personas", PERSONAS.iter().map(|persona| pair(persona.name, persona.sentence)).collect()),
        ("moves", MOVES.iter().map(|a_move| pair(a_move.name, a_move.sentence)).collect()),
        ("scope", scope),
        ("faults", faults::catalogue().map(|fault| pair(fault.name, &format!("{}; {}", fault.sentence, fault.legal))).collect()),
        ("policies", PolicyName::ALL.iter().map(|policy| pair(policy.name(), policy.sentence())).collect()),
        ("invariants", INVARIANTS.iter().map(|(name, line)| pair(name, line)).collect()),
        ("marks", reach::catalogue().iter().map(mark).collect()),
        ("sabotages", SABOTAGES.iter().map(|sabotage| pair(sabotage.name, sabotage.sentence)).collect()),
        ("rules", RULES.iter().map(|rule| pair(rule.id, rule.sentence)).collect()),
        ("dialects", Dialect::ALL.iter().map(|dialect| pair(dialect.name(), "a provider's protocol")).collect()),
        ("judges", JUDGES.iter().map(|(name, line)| pair(name, line)).collect()),
    ]
}

const JUDGES: [(&str, &str); 8] = [
    ("faithful", "reads what is there"),
    ("wrong:FP:FN", "misreads at these rates, from 0 to 1: false positives, false negatives"),
    ("yes", "finds everything in every reply"),
    ("no", "finds nothing in any reply"),
    ("error", "its call fails"),
    ("slow", "its call does not come back in time"),
    ("rubbish", "answers no JSON"),
    ("persuadable", "faithful, unless the reply talks it round"),
];

pub fn run(args: &Args) -> Result<Found, Failure> {
    let all = catalogues();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    if let Some(what) = &args.what
        && !names.contains(&what.as_str())
    {
        return Err(Failure::Usage(format!("there is no catalogue `{}`; there are {}", super::printable(what), names.join(", "))));
    }
    let wanted: Vec<&Catalogue> = all.iter().filter(|(name, _)| args.what.as_deref().is_none_or(|what| what == *name)).collect();
    let text = if args.json { as_json(&wanted) } else { as_text(&wanted) };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the list"))?;
    Ok(Found::Clean)
}

fn as_json(wanted: &[&Catalogue]) -> String {
    let entry = |(name, line): &(String, String)| json!({ "name": name, "sentence": line });
    let mark = |mark: &reach::Mark| json!({ "name": mark.name, "sentence": mark.sentence, "required": mark.required });
    let entries = |(name, entries): &Catalogue| match *name {
        "marks" => reach::catalogue().iter().map(mark).collect::<Vec<_>>(),
        _ => entries.iter().map(entry).collect(),
    };
    let object: Map<String, Value> = wanted.iter().map(|catalogue| (catalogue.0.to_owned(), entries(catalogue).into())).collect();
    format!("{:#}\n", Value::Object(object))
}

fn as_text(wanted: &[&Catalogue]) -> String {
    let mut text = String::new();
    for (name, entries) in wanted {
        text.push_str(&format!("{name}\n"));
        for (entry, line) in entries {
            text.push_str(&format!("  {entry:<26} {line}\n"));
        }
    }
    text
}
