//! A run made once more, in this process and in a second one: what comes out differently is found, and a run that never ends is ended.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use unbacked::sim::again::{Alone, Check, NONDETERMINISM, Outside, Told};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::outcome::Outcome;
use unbacked::sim::plan::Plan;
use unbacked::sim::run::run;
use unbacked::sim::world::World;

fn unbacked(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn campaign(runs: u64, check: Check) -> Campaign {
    Campaign {
        seed: 1,
        runs,
        policies: vec!["full".into()],
        personas: Vec::new(),
        dialects: Vec::new(),
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: Vec::new(),
        sabotage: None,
        jobs: 1,
        part: Part::default(),
        check,
    }
}

fn outcomes(campaign: &Campaign, outside: &dyn Outside) -> Vec<Outcome> {
    let mut all = Vec::new();
    let done = campaign.execute(&AtomicBool::new(false), outside, &mut |outcome| {
        all.push(outcome);
        ControlFlow::Continue(())
    });
    done.expect("the campaign runs");
    all
}

fn found(outcomes: &[Outcome]) -> Vec<usize> {
    let of = |outcome: &Outcome| outcome.findings.iter().any(|found| found.invariant == NONDETERMINISM);
    (0..).zip(outcomes).filter(|(_, outcome)| of(outcome)).map(|(place, _)| place).collect()
}

/// Elsewhere every plan is run under another policy.
struct Wrong;

impl Outside for Wrong {
    fn begins(&self, _: &Plan) {}

    fn ends(&self) {}

    fn differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String> {
        Alone.differs(&Plan { policy: "none".into(), ..plan.clone() }, hash)
    }
}

#[test]
fn a_sample_of_every_campaign_is_made_elsewhere_and_on_demand_all_of_it() {
    assert_eq!(found(&outcomes(&campaign(5, Check::Sample), &Wrong)), [3]);
    assert_eq!(found(&outcomes(&campaign(5, Check::All), &Wrong)), [0, 1, 2, 3, 4]);
    assert_eq!(found(&outcomes(&campaign(5, Check::All), &Alone)), Vec::<usize>::new());
}

#[test]
fn two_runs_that_tell_the_same_steps_and_come_to_something_else_differ_by_a_named_field() {
    let told = Told::of(&run(&campaign(1, Check::Sample).plan(0), &World::new().expect("a world")).expect("it runs"));
    let other = Told {
        outcome: told.outcome.replacen("\"judge_broken\"", "\"x\"", 1).replacen("\"trace_hash\":\"", "\"trace_hash\":\"x", 1),
        ..told.clone()
    };
    assert_eq!(told.difference(&told), None);
    let (turn, message) = told.difference(&other).expect("they differ");
    assert!(turn == 0 && message.contains("trace_hash was") && message.contains("and then \"x"), "{message}");
    let shorter = Told { turns: told.turns[..told.turns.len() - 1].to_vec(), ..told.clone() };
    let (turn, message) = told.difference(&shorter).expect("they differ");
    assert_eq!(turn as usize, told.turns.len());
    assert!(message.contains("step 1 was") && message.ends_with("then nothing"), "{message}");
}

#[cfg(unix)]
mod second_process {
    use super::*;

    /// A program that stands in for the second process.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let file = folder.join("second");
        // Written by another process: a file that this one still had open for writing could not be run.
        let write = "printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let written = Command::new("sh").args(["-c", write, "sh", script]).arg(&file).status();
        assert!(written.expect("there is a shell").success());
        file
    }

    fn campaign(second: &Path, more: &[&str]) -> Output {
        let second = second.display().to_string();
        unbacked(&[&["sim", "--runs", "6", "--persona", "fabulist", "--quiet", "--second-process", &second], more].concat())
    }

    #[test]
    fn every_run_goes_there_on_demand_and_a_sample_without_in_another_folder_time_zone_and_language() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let script = format!("echo \"$(pwd) $TZ $LANG\" > {0}; tee -a {0} | {1} \"$1\"", log.display(), env!("CARGO_BIN_EXE_unbacked"));
        let second = program(folder.path(), &script);
        for (more, runs) in [(&["--jobs", "1"][..], 1), (&["--check-determinism", "--jobs", "1"], 6)] {
            let done = campaign(&second, more);
            assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
            let log = std::fs::read_to_string(&log).expect("written");
            let (place, plans) = log.split_once('\n').expect("a line");
            assert_eq!(place, "/ Pacific/Kiritimati tr_TR.UTF-8");
            assert_eq!(plans.lines().count(), runs, "{plans}");
            assert!(plans.lines().all(|plan| plan.starts_with("{\"version\":")), "{plans}");
        }
    }

    #[test]
    fn a_run_that_comes_out_differently_there_exits_5_with_its_first_step_and_both_events() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = "while IFS= read -r line; do case \"$line\" in *'\"policy\":\"full\"'*) \
                     printf '%s\\n' \"${line%%\\\"policy\\\":\\\"full\\\"*}\\\"policy\\\":\\\"none\\\"${line#*\\\"policy\\\":\\\"full\\\"}\";; \
                     *) printf '%s\\n' \"$line\";; esac; done";
        let second = program(folder.path(), &format!("{other} | {} \"$1\"", env!("CARGO_BIN_EXE_unbacked")));
        let done = campaign(&second, &["--check-determinism"]);
        let told = text(&done.stdout);
        assert_eq!(done.status.code(), Some(5), "{told}{}", text(&done.stderr));
        assert!(
            told.contains("nondeterminism ×6") && told.contains("in a second process, the same plan gave another run: step "),
            "{told}"
        );
        assert!(
            told.contains(" was {\"event\":") && told.contains(" and then {\"event\":") && told.contains("replay: unbacked replay "),
            "{told}"
        );
    }

    #[test]
    fn a_second_process_that_is_not_there_or_dies_is_told_and_exits_3() {
        let folder = tempfile::tempdir().expect("a folder");
        let nowhere = campaign(&folder.path().join("nowhere"), &[]);
        assert_eq!(nowhere.status.code(), Some(3), "{}", text(&nowhere.stderr));
        assert!(text(&nowhere.stderr).contains("cannot start"), "{}", text(&nowhere.stderr));
        let dies = campaign(&program(folder.path(), "read -r plan"), &[]);
        assert_eq!(dies.status.code(), Some(3), "{}", text(&dies.stderr));
        assert!(text(&dies.stderr).contains("gave no answer") && text(&dies.stderr).contains("unbacked replay "), "{}", text(&dies.stderr));
    }
}

/// No run of a debug build is done within a millisecond, and there are fifty of them.
#[test]
fn a_run_that_takes_too_long_by_the_clock_on_the_wall_ends_the_process_and_loses_no_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lines").display().to_string();
    let campaign = ["sim", "--runs", "60", "--quiet"];
    unbacked(&[&campaign[..], &["--json", &file]].concat());
    let lines = std::fs::read_to_string(&file).expect("written");
    let before: String = lines.lines().take(10).map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, &before).expect("written");
    let done = unbacked(&[&campaign[..], &["--resume", &file, "--run-limit", "1ms"]].concat());
    assert_eq!(done.status.code(), Some(4), "{}", text(&done.stderr));
    let told = text(&done.stderr);
    assert!(told.contains("longer than 1ms of real time") && told.contains("`unbacked replay "), "{told}");
    let after = std::fs::read_to_string(&file).expect("written");
    assert!(after.starts_with(&before) && lines.starts_with(&after) && after.ends_with('\n'), "{after}");
}
