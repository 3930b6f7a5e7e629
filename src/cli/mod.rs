//! The command line: one file a command, no logic. It knows all rooms; nothing knows it.

mod conclude;
mod exhaustive;
mod forms;
mod input;
mod keep;
mod lines;
mod list;
mod merge;
mod outside;
mod progress;
mod replay;
mod second;
mod shrink;
mod sim;
mod trust;
mod watchdog;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The loop that cannot leave an unbacked claim standing, put on trial.
#[derive(Debug, Parser)]
#[command(name = "unbacked", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  unbacked sim                                  the default campaign: policy full, every persona
  unbacked sim --policy none --runs 1000        what ships without a guard
  unbacked sim --exhaustive                     every script of a few replies: shown, not sampled
  unbacked sim sims/cases/*.toml                the faults of the field, as scenarios
  unbacked replay 123 --persona fabulist        one run, told step by step
  unbacked shrink sims/regressions/I4-….json    the smallest plan that still fails
  unbacked merge part1.jsonl part2.jsonl        shards joined into one report
  unbacked list personas                        what there is

Exit codes: 0 clean, 1 findings, 2 wrong usage or unreadable input, 3 environment, 4 internal fault,
5 nondeterminism, 6 the tester is not to be trusted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a campaign, or the named scenario files.
    Sim(Box<sim::Args>),
    /// One run, told step by step.
    Replay(replay::Args),
    /// The smallest plan that still fails in the same way.
    Shrink(shrink::Args),
    /// Joins the results of shards into one report.
    Merge(merge::Args),
    /// Personas, moves, policies, invariants and wire rules, with a line each.
    List(list::Args),
    /// The second process of a campaign: reads plans, answers with hashes.
    #[command(name = second::COMMAND, hide = true)]
    Again,
}

/// Why a command could not do its work, with its exit code.
#[derive(Debug)]
enum Failure {
    /// 2: wrong usage or unreadable input.
    Usage(String),
    /// 3: the environment.
    Environment(String),
    /// 4: a fault of ours.
    Internal(String),
    /// 6: the tester is not to be trusted.
    Untrusted(String),
    /// Whoever read our output has gone; there is nobody left to tell.
    Gone,
}

impl Failure {
    fn of_output(error: &io::Error, what: &str) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Gone } else { Self::Environment(format!("cannot write {what}: {error}")) }
    }
}

/// What a command that did its work found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Clean = 0,
    Findings = 1,
    Nondeterminism = 5,
}

/// Runs the command line.
pub fn main() -> ExitCode {
    silence_panics_of_simulated_tools();
    let done = match Cli::parse().command {
        Command::Sim(args) => sim::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Shrink(args) => shrink::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::List(args) => list::run(&args),
        Command::Again => second::answer(),
    };
    let code = exit_code(&done);
    match done {
        Ok(_) | Err(Failure::Gone) => {}
        Err(Failure::Usage(message) | Failure::Environment(message) | Failure::Internal(message) | Failure::Untrusted(message)) => {
            anstream::eprintln!("unbacked: {message}");
        }
    }
    ExitCode::from(code)
}

/// What a command's end is to whoever started it.
fn exit_code(done: &Result<Found, Failure>) -> u8 {
    match done {
        Ok(found) => *found as u8,
        Err(Failure::Usage(_)) => 2,
        Err(Failure::Environment(_) | Failure::Gone) => 3,
        Err(Failure::Internal(_)) => 4,
        Err(Failure::Untrusted(_)) => 6,
    }
}

/// A panic is a fault of ours: it is told in one line, never as a trace.
fn silence_panics_of_simulated_tools() {
    std::panic::set_hook(Box::new(|info| {
        anstream::eprintln!("unbacked: internal fault: {info}. Please report it with the command that shows it.");
    }));
}

/// Text that is safe on a terminal: nothing in it moves the cursor or changes a colour.
fn printable(text: &str) -> String {
    unbacked::report::printable(text)
}
