//! `sim --exhaustive`: a campaign of every script of a scope, and what it has shown.

use unbacked::sim::campaign::Campaign;
use unbacked::sim::faults;
use unbacked::sim::scope::{ALPHABET, DEEPEST, PEOPLE, Scope};
use unbacked::wire::Dialect;

use super::{Failure, printable};

/// So deep that it takes about a minute in a release build on two cores.
pub const DEPTH: u32 = 4;

/// The campaign over all scripts of up to `depth` replies: one run for each, with each policy in each dialect.
pub fn campaign(mut campaign: Campaign, depth: u32) -> Result<Campaign, Failure> {
    let scope = Scope { depth };
    let faults = faults::named(&campaign.faults).map_err(Failure::Usage)?;
    if campaign.dialects.is_empty() {
        campaign.dialects = Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect();
    }
    campaign.personas = vec![scope.name()];
    campaign.runs = scope.scripts(&faults).saturating_mul((campaign.policies.len() * campaign.dialects.len()) as u64);
    Ok(campaign)
}

/// Reads `--depth`.
pub fn depth(text: &str) -> Result<u32, String> {
    let depth = text.parse().ok().filter(|depth| (1..=DEEPEST).contains(depth));
    depth.ok_or_else(|| format!("a depth is a number from 1 to {DEEPEST}"))
}

/// What the scope is, and whether it was gone through to its end.
pub fn told(campaign: &Campaign, depth: u32, runs: u64, of: u64) -> String {
    let letters: Vec<&str> = ALPHABET.iter().map(|letter| letter.name).collect();
    let people: Vec<&str> = PEOPLE.iter().map(|person| person.name).collect();
    let struck = campaign.faults.iter().any(|fault| fault != "none");
    let faults = if struck { format!("no fault or one strike of {}", campaign.faults.join(", ")) } else { "no fault".into() };
    let shown = match (runs == of, of == campaign.runs) {
        (true, true) => format!("All {of} runs of the scope were made, each once."),
        (true, false) => format!("All {of} runs of this part of the scope were made, each once; the whole has {}.", campaign.runs),
        (false, _) => format!("{runs} of {of} runs of the scope were made: it is not shown."),
    };
    printable(&format!(
        "{shown} Scripts of 1 to {depth} replies over {} moves ({}) × {} people ({}) × {faults} × policies {} × dialects {}",
        letters.len(),
        letters.join(", "),
        people.len(),
        people.join(", "),
        campaign.policies.join(", "),
        campaign.dialects.join(", "),
    )) + ".\n"
}
