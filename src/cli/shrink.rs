//! `shrink`: the smallest plan that still fails.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use unbacked::report::story;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::shrink::{Shrunk, Size, shrink};
use unbacked::sim::world::World;

use super::input::{self, Input};
use super::{Failure, Found, printable};

/// The smallest plan that still fails in the same way.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked shrink sims/regressions/I4-0123456789ab.json
  unbacked shrink my.toml --policy none --output smaller.json

Exit code 1: the plan still fails, as it should. 2: there is nothing in it to shrink.")]
pub struct Args {
    /// A plan in JSON, as `sim --keep` writes them, or a scenario in TOML.
    file: PathBuf,
    /// How many runs are tried at the most.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    tries: u32,
    /// Writes the shrunk plan to this file.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The guard policy, for a scenario; the first that it names without this flag.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    let plan = plan_of(args)?;
    // Names that are not known, and choices that do not fit, are told before anything is tried.
    input::run_of(&plan, &world)?;
    let name = printable(&args.file.display().to_string());
    let mut shrunk = shrink(&plan, None, &world, args.tries).map_err(|error| Failure::Usage(printable(&format!("{name}: {error}"))))?;
    let replay = match &args.output {
        Some(file) => write(file, &mut shrunk.plan)?,
        None => "add --output FILE, and replay that".to_owned(),
    };
    let text = if args.json { as_json(&shrunk) } else { as_text(&shrunk, &replay) };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the shrunk plan"))?;
    Ok(Found::Findings)
}

fn plan_of(args: &Args) -> Result<Plan, Failure> {
    match input::read(&args.file)? {
        Input::Plan(plan) if args.policy.is_none() => Ok(*plan),
        Input::Plan(_) => Err(Failure::Usage("--policy is for scenarios: a plan names its own".into())),
        Input::Script(script) => {
            let first = script.policies.first().cloned().unwrap_or_else(|| "full".into());
            Ok(Plan::of_script(&script, args.policy.as_deref().unwrap_or(&first), "anthropic"))
        }
    }
}

/// Writes a plan, and returns the command that replays it.
pub fn write(file: &Path, plan: &mut Plan) -> Result<String, Failure> {
    let name = file.display().to_string();
    std::fs::write(file, plan::write(plan)).map_err(|error| {
        Failure::Environment(printable(&format!("cannot write {name}: {error}. Name a file in a folder that you can write to")))
    })?;
    plan.file = name;
    Ok(plan.replay_command())
}

fn as_json(shrunk: &Shrunk) -> String {
    let Shrunk { plan, found, tries, before, after, .. } = shrunk;
    let told = json!({ "version": 1, "finding": found, "tries": tries, "before": before, "after": after, "plan": plan });
    format!("{told:#}\n")
}

fn as_text(shrunk: &Shrunk, replay: &str) -> String {
    let found = &shrunk.found;
    let story = story::tell_one(&shrunk.run, found.turn, 15);
    let (tries, sizes) = (shrunk.tries, sizes(shrunk.before, shrunk.after));
    format!(
        "{} in turn {}: {}\n\n{story}\nIn {tries} tries: {sizes}.\nreplay: {}\n",
        found.invariant,
        found.turn,
        printable(&found.message),
        printable(replay)
    )
}

/// What became smaller, in words.
pub fn sizes(before: Size, after: Size) -> String {
    let rows = [
        ("turns", before.turns, after.turns),
        ("moves", before.moves, after.moves),
        ("faults", before.faults, after.faults),
        ("model calls", before.calls, after.calls),
        ("choices", before.choices, after.choices),
    ];
    let told = rows.iter().filter(|(_, before, _)| *before > 0).map(|(what, before, after)| format!("{what} {before} → {after}"));
    told.collect::<Vec<_>>().join(", ")
}
