//! `replay`: one run, told step by step.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use unbacked::report::story;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::world::World;
use unbacked::turn::bounds::Settings;

use super::input::{self, Input};
use super::{Failure, Found, watchdog};

/// Real time that the run may take.
const LIMIT: Duration = Duration::from_secs(60);

/// One run, told step by step.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked replay 123 --persona fabulist --policy none
  unbacked replay sims/cases/C002.toml
  unbacked replay 123 --persona fabulist --trace > trace.jsonl")]
pub struct Args {
    /// The run's seed, as a finding names it, or a file: a scenario in TOML, a plan in JSON.
    #[arg(value_name = "SEED|FILE")]
    what: String,
    /// The guard policy; full, or the first that the file names.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// The persona.
    #[arg(long, default_value = "chaos", value_name = "NAME")]
    persona: String,
    /// The dialect: anthropic or openai-chat.
    #[arg(long, default_value = "anthropic", value_name = "NAME")]
    dialect: String,
    /// The simulated judge; faithful, or the one that the file names.
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// The completion check's evidence: bit, applied, ledger.
    #[arg(long, default_value = "ledger", value_name = "NAME")]
    evidence: String,
    /// The faults that may be on: names of `list faults`, classes, all, none.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "none")]
    faults: Vec<String>,
    /// A part that is broken on purpose: a name of `list sabotages`.
    #[arg(long, value_name = "NAME")]
    sabotage: Option<String>,
    /// Prints every event as a JSON line instead of the story.
    #[arg(long)]
    trace: bool,
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    let plan = plan_of(args)?;
    let world = World::new().map_err(Failure::Environment)?;
    watchdog::watch(LIMIT);
    let run = input::run_of(&plan, &world)?;
    let text = if args.trace { story::trace(&run) } else { story::tell(&run) };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the story"))?;
    Ok(if run.outcome.findings.is_empty() { Found::Clean } else { Found::Findings })
}

fn plan_of(args: &Args) -> Result<Plan, Failure> {
    // All digits: a seed, even one that is too large to be one.
    let mut plan = if args.what.bytes().all(|b| b.is_ascii_digit()) {
        let seed = args.what.parse().map_err(|_| Failure::Usage(format!("{} is no seed: seeds go up to {}", args.what, u64::MAX)))?;
        Plan {
            version: plan::VERSION,
            seed,
            policy: "full".into(),
            evidence: String::new(),
            judge: "faithful".into(),
            dialect: String::new(),
            persona: args.persona.clone(),
            faults: Vec::new(),
            sabotage: None,
            settings: Settings::default(),
            choices: None,
            script: None,
            finding: None,
            file: String::new(),
        }
    } else {
        match input::read(Path::new(&args.what))? {
            // A plan says all of it by itself.
            Input::Plan(plan) => return Ok(*plan),
            Input::Script(script) => {
                let policy = script.policies.first().cloned().unwrap_or_else(|| "full".into());
                Plan::of_script(&script, &policy, "")
            }
        }
    };
    plan.faults.clone_from(&args.faults);
    plan.sabotage.clone_from(&args.sabotage);
    plan.evidence.clone_from(&args.evidence);
    plan.dialect.clone_from(&args.dialect);
    plan.policy = args.policy.clone().unwrap_or(plan.policy);
    plan.judge = args.judge.clone().unwrap_or(plan.judge);
    Ok(plan)
}
