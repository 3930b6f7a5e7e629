//! `sim`: a campaign, or named scenario files.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use unbacked::report::campaign::Report;
use unbacked::report::summary::{Kept, Summary};
use unbacked::report::{story, terminal};
use unbacked::sim::again::{Check, NONDETERMINISM};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::plan::Plan;
use unbacked::sim::scenario::Script;
use unbacked::sim::world::World;
use unbacked::wire::Dialect;

use super::conclude::Ending;
use super::forms::Forms;
use super::input::{self, Input};
use super::lines::{self, Lines};
use super::{Failure, Found, outside, progress, trust, watchdog};
use super::{exhaustive, keep};

/// Runs a campaign, or the named scenario files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  unbacked sim --runs 10000 --seed 1 --json out.jsonl
  unbacked sim --policy none --persona fabulist,stubborn
  unbacked sim --time 10m --runs 1000000 --json out.jsonl
  unbacked sim --resume out.jsonl
  unbacked sim --quiet --summary summary.json
  unbacked sim --shard 1/3 --json part1.jsonl
  unbacked sim --policy none --runs 100 --keep=found
  unbacked sim --exhaustive --depth 3
  unbacked sim sims/cases/*.toml

Exit code 0: no finding. 1: findings, each with its story and the command that replays it. 5: a run that was
made twice came out differently. 6: a canary was not caught, or a default campaign (policy full, all personas, all faults,
10,000 runs or more) left a required mark (`unbacked list marks`) or an invariant's premise at zero.")]
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
    /// The faults that may be on: names of `list faults`, classes, all, none. All without this flag; none with --exhaustive, where each that is
    /// named strikes once.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    faults: Vec<String>,
    /// A part that is broken on purpose, to see it found: a name of `list sabotages`.
    #[arg(long, value_name = "NAME")]
    sabotage: Option<String>,
    /// Runs every script of the model's replies up to a length, over a reduced alphabet (`unbacked list scope`), and nothing by chance.
    #[arg(long, conflicts_with_all = ["files", "runs", "persona", "seed"])]
    exhaustive: bool,
    /// The most replies of a script.
    #[arg(long, value_name = "N", value_parser = exhaustive::depth, requires = "exhaustive", default_value_t = exhaustive::DEPTH)]
    depth: u32,
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
    #[command(flatten)]
    forms: Forms,
    /// Goes on where the JSON lines in this file stop, and adds to it. All other flags must be as they were.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    resume: Option<PathBuf>,
    /// Runs a fixed part of the campaign, such as 1/3; `merge` joins the parts.
    #[arg(long, value_name = "I/N", value_parser = part)]
    shard: Option<Part>,
    /// Ends after this time: 30s, 10m, 2h. `--resume` goes on.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Shrinks each finding that is told, and keeps its plan in this folder; sims/regressions where none is named. What is kept there runs first
    /// in every campaign.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = keep::FOLDER)]
    keep: Option<PathBuf>,
    /// Makes every run twice, the second time in another process, and not two in a hundred only.
    #[arg(long)]
    check_determinism: bool,
    /// Real time that one run may take; a run that takes longer is a fault, and ends the process: 500ms, 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = watchdog::LIMIT)]
    run_limit: Duration,
    /// The program whose runs must come out as they do in this one; this one itself without the flag.
    #[arg(long, value_name = "PROGRAM", hide = true)]
    second_process: Option<PathBuf>,
    /// Says nothing but findings.
    #[arg(long, short)]
    quiet: bool,
}

fn part(text: &str) -> Result<Part, String> {
    let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse::<u64>().ok()?, of.parse::<u64>().ok()?)));
    match numbers {
        Some((part, shards)) if (1..=shards).contains(&part) => Ok(Part { shard: part - 1, shards, made: 0 }),
        _ => Err("a part is written as 1/3, 2/3, 3/3".into()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let read = |(unit, millis): (&str, u64)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(millis);
    let millis = units.into_iter().find_map(read).filter(|millis| *millis > 0);
    millis.map(Duration::from_millis).ok_or_else(|| "a time is written as 30s, 10m or 2h".into())
}

pub fn run(args: &Args) -> Result<Found, Failure> {
    if !args.files.is_empty() && (args.resume.is_some() || args.shard.is_some() || args.time.is_some()) {
        return Err(Failure::Usage("--resume, --shard and --time are for campaigns; scenario files are all run, each time".into()));
    }
    watchdog::watch(args.run_limit);
    if !args.files.is_empty() {
        return scenarios(args);
    }
    campaign(args)
}

fn campaign(args: &Args) -> Result<Found, Failure> {
    let policies = if args.policy.is_empty() { vec!["full".to_owned()] } else { args.policy.clone() };
    let campaign = Campaign {
        seed: args.seed,
        runs: args.runs.saturating_mul(policies.len() as u64),
        policies,
        personas: args.persona.clone(),
        dialects: args.dialect.clone(),
        judge: args.judge.clone().unwrap_or_else(|| "faithful".into()),
        evidence: args.evidence.clone(),
        faults: faults(args),
        sabotage: args.sabotage.clone(),
        jobs: jobs(args),
        part: args.shard.unwrap_or_default(),
        check: if args.check_determinism { Check::All } else { Check::Sample },
    };
    let mut campaign = if args.exhaustive { exhaustive::campaign(campaign, args.depth)? } else { campaign };
    check_names(&campaign)?;
    let stdout_is_taken = args.forms.check(args.json.as_deref())?;
    let canaries = trust::canaries()?;
    let ending =
        Ending { origin: campaign.origin(&campaign.id(), 0), canaries: &canaries, forms: &args.forms, quiet: args.quiet, stdout_is_taken };
    let mut summary = Summary::new();
    if trust::living(&canaries).is_some() {
        return ending.conclude(&campaign, &[], &mut summary);
    }
    let stop = stop_on_interrupt()?;
    let again = fail_again(&campaign.policies, args.keep.as_deref().unwrap_or(Path::new(keep::FOLDER)))?;
    for failed in &again {
        told(failed, stdout_is_taken)?;
    }
    let mut lines = match &args.resume {
        Some(file) => resume(file, &mut campaign, &mut summary)?,
        None => Lines::open(args.json.as_deref())?,
    };
    let of = campaign.part.size(campaign.runs);
    let end = args.time.and_then(|time| Instant::now().checked_add(time));
    let bar = progress::bar(of, args.quiet);
    bar.set_position(campaign.part.made);
    let mut broken = None;
    let outside = outside::World::new(args.second_process.clone())?;
    let done = campaign.execute(&stop, &outside, &mut |outcome| {
        bar.inc(1);
        summary.add(&outcome);
        match lines.put(&outcome) {
            Ok(()) if end.is_none_or(|end| Instant::now() < end) => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(()),
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
    done.map_err(|message| outside.failure(message))?;
    lines.close()?;
    if summary.runs() < of {
        let why = if stop.load(Ordering::Relaxed) { "Interrupted" } else { "Time is up" };
        told(&format!("{why} after {} of {of} runs.\n", summary.runs()), stdout_is_taken)?;
    }
    tell(&mut summary, |_| campaign.plan(0), args.keep.as_deref())?;
    let end = ending.conclude(&campaign, &again, &mut summary);
    if args.exhaustive && !args.quiet {
        told(&exhaustive::told(&campaign, args.depth, summary.runs(), of), stdout_is_taken)?;
    }
    end
}

/// Failures that were kept once, under a policy of this campaign. Those that are still there.
pub(super) fn fail_again(policies: &[String], folder: &Path) -> Result<Vec<String>, Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    let mut failed = Vec::new();
    for plan in keep::kept(folder)?.iter().filter(|plan| policies.contains(&plan.policy)) {
        let run = input::run_of(plan, &world)?;
        failed.extend(run.outcome.findings.first().map(|found| {
            let (message, replay) = (super::printable(&found.message), super::printable(&found.replay));
            format!("A kept failure is there again: {}: {message}\n    replay: {replay}\n", found.invariant)
        }));
    }
    Ok(failed)
}

/// Takes in what was run before.
fn resume(file: &Path, campaign: &mut Campaign, summary: &mut Summary) -> Result<Lines, Failure> {
    let before = lines::read(file)?;
    let name = super::printable(&file.display().to_string());
    for (place, outcome) in (0..).zip(&before.outcomes) {
        let expected = campaign.part.number(place);
        let origin = outcome.origin.as_ref().filter(|origin| origin.campaign == campaign.id() && origin.of == campaign.runs);
        match origin {
            None => {
                return Err(Failure::Usage(format!(
                    "{name}:{}: this run is of another campaign. Give the flags that the file was made with (--seed, --runs, --policy …)",
                    place + 1
                )));
            }
            Some(origin) if origin.run != expected => {
                return Err(Failure::Usage(format!(
                    "{name}:{}: this is run {}, where run {expected} should be. Give the --shard that the file was made with",
                    place + 1,
                    origin.run
                )));
            }
            Some(_) => summary.add(outcome),
        }
    }
    campaign.part.made = before.outcomes.len() as u64;
    Lines::go_on(file, before.whole_bytes)
}

/// The findings that are reported are run once more, and their turns told.
pub(super) fn tell(summary: &mut Summary, plan_of: impl Fn(&Kept) -> Plan, folder: Option<&Path>) -> Result<(), Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    for kept in summary.told(terminal::TOLD) {
        let mut plan = plan_of(kept);
        plan.seed = kept.seed;
        plan.policy.clone_from(&kept.policy);
        plan.persona.clone_from(&kept.persona);
        plan.dialect.clone_from(&kept.dialect);
        let run = watchdog::around(&plan, || unbacked::sim::run::run(&plan, &world)).map_err(Failure::Internal)?;
        kept.story = story::tell_one(&run, kept.found.turn, 15);
        if let Some(folder) = folder {
            let file = keep::keep(folder, &plan, &kept.found, &world)?;
            kept.story.push_str(&format!("    kept, and made smaller: {}\n", super::printable(&file.display().to_string())));
        }
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
    let inputs: Vec<Input> = args.files.iter().map(|file| input::read(file)).collect::<Result<_, _>>()?;
    let stdout_is_taken = args.forms.check(args.json.as_deref())?;
    let world = World::new().map_err(Failure::Environment)?;
    let mut lines = Lines::open(args.json.as_deref())?;
    let mut summary = Summary::new();
    let of = |input: Input| match input {
        Input::Script(script) => plans(&script, args),
        Input::Plan(plan) => vec![*plan],
    };
    let all: Vec<Plan> = inputs.into_iter().flat_map(of).collect();
    for plan in &all {
        let run = input::run_of(plan, &world)?;
        lines.put(&run.outcome)?;
        summary.add(&run.outcome);
    }
    lines.close()?;
    tell(&mut summary, |kept| all[kept.number].clone(), None)?;
    let found = report(&mut summary, args.quiet, stdout_is_taken)?;
    args.forms.write(&Report::of_files(&summary, found as u8))?;
    Ok(found)
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
        plan.sabotage.clone_from(&args.sabotage);
        plan.evidence.clone_from(&args.evidence);
        plan.judge = args.judge.clone().unwrap_or(plan.judge);
        plan
    };
    pairs.map(plan).collect()
}

fn faults(args: &Args) -> Vec<String> {
    let default = if args.exhaustive { "none" } else { "all" };
    if args.faults.is_empty() { vec![default.to_owned()] } else { args.faults.clone() }
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

/// Where standard output holds the JSON lines, all else goes to standard error.
pub(super) fn told(text: &str, stdout_is_taken: bool) -> Result<(), Failure> {
    if stdout_is_taken {
        anstream::eprint!("{text}");
        return Ok(());
    }
    say(text)
}

fn say(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the summary"))
}

pub(super) fn report(summary: &mut Summary, quiet: bool, stdout_is_taken: bool) -> Result<Found, Failure> {
    let found = if summary.by_invariant.contains_key(NONDETERMINISM) {
        Found::Nondeterminism
    } else if summary.findings() > 0 {
        Found::Findings
    } else {
        Found::Clean
    };
    let text = if quiet { terminal::findings(summary) } else { terminal::summary(summary) };
    told(&text, stdout_is_taken)?;
    Ok(found)
}
