//! `sim`: a campaign, or named scenario files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use unbacked::report::summary::{Kept, Summary};
use unbacked::report::{story, terminal};
use unbacked::sim::campaign::Campaign;
use unbacked::sim::outcome::Outcome;
use unbacked::sim::plan::Plan;
use unbacked::sim::scenario::{self, Script};
use unbacked::sim::world::World;
use unbacked::wire::Dialect;

use super::{Failure, Found, progress};

/// Runs a campaign, or the named scenario files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked sim --runs 10000 --seed 1 --json out.jsonl
  unbacked sim --policy none --persona fabulist,stubborn
  unbacked sim sims/cases/*.toml

Exit code 0: no finding. 1: findings, each with its story and the command that replays it.")]
pub struct Args {
    /// Scenario files (TOML); without any, a campaign is run.
    files: Vec<PathBuf>,
    /// Guard policies, compared over the same seeds.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    policy: Vec<String>,
    /// Personas; all without this flag.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    persona: Vec<String>,
    /// Dialects: anthropic, openai-chat; both without this flag.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    dialect: Vec<String>,
    /// The simulated judge: faithful, wrong:FP:FN, yes, no, error, slow, rubbish, persuadable.
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// The completion check's evidence: bit, applied, ledger.
    #[arg(long, default_value = "ledger", value_name = "NAME")]
    evidence: String,
    /// The faults that may be on: names of `list faults`, classes, all, none.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "none")]
    faults: Vec<String>,
    /// How many runs for each policy.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The campaign's seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads; as many as there are cores without this flag. Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Writes one JSON line a run to this file (`-` for standard output).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Says nothing but findings.
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    if !args.files.is_empty() {
        return scenarios(args);
    }
    campaign(args)
}

fn campaign(args: &Args) -> Result<Found, Failure> {
    let policies = if args.policy.is_empty() { vec!["full".to_owned()] } else { args.policy.clone() };
    let runs = args.runs.saturating_mul(policies.len() as u64);
    let campaign = Campaign {
        seed: args.seed,
        runs,
        policies,
        personas: args.persona.clone(),
        dialects: args.dialect.clone(),
        judge: args.judge.clone().unwrap_or_else(|| "faithful".into()),
        evidence: args.evidence.clone(),
        faults: args.faults.clone(),
        jobs: jobs(args),
    };
    check_names(&campaign)?;
    let stop = stop_on_interrupt()?;
    let mut lines = Lines::open(args.json.as_deref())?;
    let mut summary = Summary::new();
    let bar = progress::bar(runs, args.quiet);
    let mut broken = None;
    let done = campaign.execute(&stop, &mut |outcome| {
        bar.inc(1);
        summary.add(&outcome);
        match lines.put(&outcome) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                broken = Some(failure);
                ControlFlow::Break(())
            }
        }
    });
    bar.finish_and_clear();
    if let Some(failure) = broken {
        return Err(failure);
    }
    done.map_err(Failure::Internal)?;
    lines.close()?;
    if stop.load(Ordering::Relaxed) {
        say(&format!("Interrupted after {} of {runs} runs.\n", summary.runs()))?;
    }
    tell(&mut summary, |_| campaign.plan(0))?;
    report(&mut summary, args.quiet, lines.on_stdout)
}

/// The findings that are reported are run once more, and their turns told.
fn tell(summary: &mut Summary, plan_of: impl Fn(&Kept) -> Plan) -> Result<(), Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    for kept in summary.told(terminal::TOLD) {
        let mut plan = plan_of(kept);
        plan.seed = kept.seed;
        plan.policy.clone_from(&kept.policy);
        plan.persona.clone_from(&kept.persona);
        plan.dialect.clone_from(&kept.dialect);
        let run = unbacked::sim::run::run(&plan, &world).map_err(Failure::Internal)?;
        kept.story = story::tell_one(&run, kept.found.turn, 15);
    }
    Ok(())
}

/// A wrong name is told before anything runs.
fn check_names(campaign: &Campaign) -> Result<(), Failure> {
    for number in 0..campaign.policies.len() as u64 {
        let mut plan = campaign.plan(number);
        plan.choices = Some(Vec::new());
        for persona in campaign.personas.iter().chain([&plan.persona.clone()]) {
            plan.persona.clone_from(persona);
            for dialect in campaign.dialects.iter().chain([&plan.dialect.clone()]) {
                plan.dialect.clone_from(dialect);
                unbacked::sim::run::check(&plan).map_err(Failure::Usage)?;
            }
        }
    }
    Ok(())
}

fn scenarios(args: &Args) -> Result<Found, Failure> {
    let scripts: Vec<Script> = args.files.iter().map(|file| read(file)).collect::<Result<_, _>>()?;
    let world = World::new().map_err(Failure::Environment)?;
    let mut lines = Lines::open(args.json.as_deref())?;
    let mut summary = Summary::new();
    let all: Vec<Plan> = scripts.iter().flat_map(|script| plans(script, args)).collect();
    for plan in &all {
        let name = plan.script.as_ref().map(|script| script.file.as_str()).unwrap_or_default();
        let run = unbacked::sim::run::run(plan, &world).map_err(|error| Failure::Usage(super::printable(&format!("{name}: {error}"))))?;
        lines.put(&run.outcome)?;
        summary.add(&run.outcome);
    }
    lines.close()?;
    tell(&mut summary, |kept| all[kept.number].clone())?;
    report(&mut summary, args.quiet, lines.on_stdout)
}

/// Each policy that the file names (or the flag), in each dialect.
fn plans(script: &Script, args: &Args) -> Vec<Plan> {
    let policies = if args.policy.is_empty() { &script.policies } else { &args.policy };
    let both: Vec<String> = Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect();
    let dialects = if args.dialect.is_empty() { &both } else { &args.dialect };
    let pairs = policies.iter().flat_map(|policy| dialects.iter().map(move |dialect| (policy, dialect)));
    let plan = |(policy, dialect): (&String, &String)| {
        let mut plan = Plan::of_script(script, policy, dialect);
        plan.seed = args.seed;
        plan.evidence.clone_from(&args.evidence);
        plan.judge = args.judge.clone().unwrap_or(plan.judge);
        plan
    };
    pairs.map(plan).collect()
}

pub(super) fn read(file: &Path) -> Result<Script, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::Usage(format!("cannot read {name}: {error}. Name a scenario file in TOML, such as sims/cases/C002.toml"))
    })?;
    scenario::parse(&name, &text).map_err(|error| Failure::Usage(super::printable(&error.to_string())))
}

fn jobs(args: &Args) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or(cores, usize::from)
}

/// Ctrl-C stops cleanly, with a report of what ran; a second one ends at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::Environment(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// JSON lines, one a run.
struct Lines {
    out: Option<BufWriter<Box<dyn Write>>>,
    on_stdout: bool,
}

impl Lines {
    fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self { out: None, on_stdout: false }) };
        let on_stdout = path == Path::new("-");
        let out: Box<dyn Write> = if on_stdout {
            Box::new(io::stdout())
        } else {
            let file = File::create(path).map_err(|error| {
                Failure::Environment(format!("cannot write {}: {error}. Name a file in a folder that you can write to", path.display()))
            })?;
            Box::new(file)
        };
        Ok(Self { out: Some(BufWriter::new(out)), on_stdout })
    }

    fn put(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let line = serde_json::to_string(outcome).map_err(|error| Failure::Internal(error.to_string()))?;
        writeln!(out, "{line}").map_err(|error| Failure::of_output(&error, "the JSON lines"))
    }

    fn close(&mut self) -> Result<(), Failure> {
        let Some(out) = &mut self.out else { return Ok(()) };
        out.flush().map_err(|error| Failure::of_output(&error, "the JSON lines"))
    }
}

fn say(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the summary"))
}

fn report(summary: &mut Summary, quiet: bool, stdout_is_taken: bool) -> Result<Found, Failure> {
    let found = if summary.findings() == 0 { Found::Clean } else { Found::Findings };
    let text = if quiet { terminal::findings(summary) } else { terminal::summary(summary) };
    if stdout_is_taken {
        anstream::eprint!("{text}");
    } else {
        say(&text)?;
    }
    Ok(found)
}
