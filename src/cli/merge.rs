//! `merge`: joins the results of shards into the report that one machine would have written.

use std::path::{Path, PathBuf};

use unbacked::report::summary::Summary;
use unbacked::sim::again::Check;
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::outcome::{Origin, Outcome};

use super::conclude::Ending;
use super::forms::Forms;
use super::lines::{self, Lines};
use super::{Failure, Found, keep, sim, trust};

/// Joins the results of shards into one report.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked sim --shard 1/2 --json part1.jsonl
  unbacked sim --shard 2/2 --json part2.jsonl
  unbacked merge part1.jsonl part2.jsonl --json whole.jsonl

The report and the JSON lines are the same, byte for byte, that one machine would have written.")]
pub struct Args {
    /// JSON lines as `sim --json` writes them, in any order.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Writes the joined JSON lines to this file (`-` for standard output).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    forms: Forms,
    /// Says nothing but findings.
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    let mut all: Vec<(Origin, Outcome)> = Vec::new();
    for file in &args.files {
        let name = super::printable(&file.display().to_string());
        for (number, outcome) in (1..).zip(lines::read(file)?.outcomes) {
            let Some(origin) = outcome.origin.clone() else {
                return Err(Failure::Usage(format!("{name}:{number}: a run of a scenario file, which belongs to no campaign")));
            };
            all.push((origin, outcome));
        }
    }
    all.sort_by_key(|(origin, _)| origin.run);
    let template = whole(&all)?;
    let stdout_is_taken = args.forms.check(args.json.as_deref())?;
    let canaries = trust::canaries()?;
    let mut lines = Lines::open(args.json.as_deref())?;
    let mut summary = Summary::new();
    for (_, outcome) in &all {
        lines.put(outcome)?;
        summary.add(outcome);
    }
    lines.close()?;
    let policies: Vec<String> = summary.policies().into_iter().map(str::to_owned).collect();
    let again = sim::fail_again(&policies, Path::new(keep::FOLDER))?;
    for failed in &again {
        sim::told(failed, stdout_is_taken)?;
    }
    sim::tell(&mut summary, |_| template.plan(0), None)?;
    let origin = Origin { run: 0, ..all[0].0.clone() };
    let ending = Ending { origin, canaries: &canaries, forms: &args.forms, quiet: args.quiet, stdout_is_taken };
    ending.conclude(&template, &again, &mut summary)
}

/// Every run of one campaign, each once. A run's plan is made from the campaign that this returns, and from the run's own line.
fn whole(all: &[(Origin, Outcome)]) -> Result<Campaign, Failure> {
    let Some((first, _)) = all.first() else { return Err(Failure::Usage("the files hold no run".into())) };
    for (expected, (origin, _)) in (0..).zip(all) {
        if (&origin.campaign, origin.of) != (&first.campaign, first.of) {
            return Err(Failure::Usage(format!(
                "runs of two campaigns: {} with {} runs, {} with {}. Merge the shards of one",
                super::printable(&first.campaign),
                first.of,
                super::printable(&origin.campaign),
                origin.of
            )));
        }
        if origin.run < expected {
            return Err(Failure::Usage(format!("run {} is there twice. Name each shard's file once", origin.run)));
        }
        if origin.run > expected {
            return Err(missing(expected));
        }
    }
    if (all.len() as u64) < first.of {
        return Err(missing(all.len() as u64));
    }
    Ok(Campaign {
        seed: first.seed,
        runs: first.of,
        policies: vec!["full".into()],
        personas: Vec::new(),
        dialects: Vec::new(),
        judge: first.judge.clone(),
        evidence: first.evidence.clone(),
        faults: first.faults.clone(),
        sabotage: first.sabotage.clone(),
        jobs: 1,
        part: Part::default(),
        check: Check::Sample,
    })
}

fn missing(run: u64) -> Failure {
    Failure::Usage(format!(
        "run {run} is missing. Name the files of all shards, and finish one that was cut short with `sim --resume FILE`"
    ))
}
