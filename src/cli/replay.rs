//! `replay`: one run, told step by step.

use std::io::Write;

use unbacked::report::story;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::world::World;
use unbacked::turn::bounds::Settings;

use super::{Failure, Found};

/// One run, told step by step.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked replay 123 --persona fabulist --policy none
  unbacked replay 123 --persona fabulist --trace > trace.jsonl")]
pub struct Args {
    /// The run's seed, as a finding names it.
    seed: u64,
    /// The guard policy.
    #[arg(long, default_value = "full", value_name = "NAME")]
    policy: String,
    /// The persona.
    #[arg(long, default_value = "chaos", value_name = "NAME")]
    persona: String,
    /// The dialect: anthropic or openai-chat.
    #[arg(long, default_value = "anthropic", value_name = "NAME")]
    dialect: String,
    /// The simulated judge.
    #[arg(long, default_value = "faithful", value_name = "NAME")]
    judge: String,
    /// The completion check's evidence: bit, applied, ledger.
    #[arg(long, default_value = "ledger", value_name = "NAME")]
    evidence: String,
    /// Prints every event as a JSON line instead of the story.
    #[arg(long)]
    trace: bool,
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    let plan = Plan {
        version: plan::VERSION,
        seed: args.seed,
        policy: args.policy.clone(),
        evidence: args.evidence.clone(),
        judge: args.judge.clone(),
        dialect: args.dialect.clone(),
        persona: args.persona.clone(),
        settings: Settings::default(),
        choices: None,
        script: None,
    };
    let world = World::new().map_err(Failure::Environment)?;
    let run = unbacked::sim::run::run(&plan, &world).map_err(Failure::Usage)?;
    let text = if args.trace { story::trace(&run) } else { story::tell(&run) };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the story"))?;
    Ok(if run.outcome.findings.is_empty() { Found::Clean } else { Found::Findings })
}
