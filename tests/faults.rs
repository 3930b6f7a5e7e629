//! Faults of tools, store and judge: each strikes once in a small scripted conversation, and what comes of it is in a table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use unbacked::sim::again::{Alone, Check};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::faults::{self, Class};
use unbacked::sim::plan::Plan;
use unbacked::sim::run::{Run, run};
use unbacked::sim::scenario::parse;
use unbacked::sim::world::World;
use unbacked::turn::draft::Fate;
use unbacked::turn::event::Event;

/// Two skills are asked for and called for in one batch; the model goes on honestly.
const BATCH: &str = r#"
version = 1
id = "T1"
title = "t"
required_end = "e"
[[turn]]
user = "Add Rust and Go to my skills"
wish = { act = "create", section = "skills", items = [{ name = "Rust" }, { name = "Go" }] }
FAULTS
[[turn.reply]]
parts = [{ call = "create_skills", arguments = { items = [{ name = "Rust" }, { name = "Go" }] } }]
[[turn]]
user = "Thank you"
stance = "talks"
"#;

/// Plays the batch with faults in its first turn, each given as name, place and number of times.
fn struck(world: &World, strikes: &[(&str, u32, u32)]) -> Run {
    let faults: String =
        strikes.iter().map(|(name, at, times)| format!("[[turn.fault]]\nname = \"{name}\"\nat = {at}\ntimes = {times}\n")).collect();
    let script = parse("t.toml", &BATCH.replace("FAULTS", &faults)).expect("a scenario");
    run(&Plan::of_script(&script, "full", "anthropic"), world).expect("it runs")
}

/// The fates of a turn's mutating calls, a word each.
fn fates(run: &Run, turn: usize) -> Vec<&'static str> {
    let word = |fate: &Fate| match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "failed",
        Fate::Unknown { .. } => "unknown",
    };
    let fates = run.turns[turn].events.iter().filter_map(|event| match event {
        Event::Settled { fate, .. } | Event::Recovered { fate, .. } => Some(word(fate)),
        _ => None,
    });
    fates.collect()
}

/// What the model and the user were told in a turn.
fn told(run: &Run, turn: usize) -> String {
    let told = run.turns[turn].events.iter().filter_map(|event| match event {
        Event::Stored { message } => Some(format!("{message:?}")),
        Event::Receipt { text, .. } | Event::Line { text } => Some(text.clone()),
        _ => None,
    });
    told.collect::<Vec<_>>().join("\n")
}

/// A fault, how often it strikes in a row, the turn's status, the fate of its first call, the rows that changed, and a word of what was told.
type Row = (&'static str, u32, &'static str, &'static str, u32, &'static str);

fn hold(table: &[Row]) {
    let world = World::new().expect("a world");
    for (name, times, status, fate, rows, word) in table {
        let run = struck(&world, &[(name, 1, *times)]);
        assert_eq!(run.outcome.reach.get(&format!("fault:{name}")), Some(&u64::from(*times)), "{name} struck");
        assert_eq!(run.outcome.findings, [], "{name}");
        let turn = &run.outcome.turns[0];
        assert_eq!((turn.status.as_str(), fates(&run, 0).first().copied(), turn.changed_rows), (*status, Some(*fate), *rows), "{name}");
        assert!(told(&run, 0).contains(word), "{name}: {}", told(&run, 0));
    }
}

#[test]
fn l5_v4_each_fault_of_a_tool_ends_as_the_database_has_it() {
    hold(&[
        ("tool-panics", 1, "attempted", "failed", 0, "the tool crashed"),
        ("tool-panics-after-commit", 1, "changed", "applied", 2, "committed all the same: the tool crashed"),
        ("tool-hangs", 1, "attempted", "failed", 0, "the tool ran out of time"),
        ("tool-hangs-after-commit", 1, "changed", "applied", 2, "committed all the same: the tool ran out of time"),
        ("tool-fails-after-commit", 1, "changed", "applied", 2, "committed all the same: the connection was reset"),
        ("tool-refuses-after-commit", 1, "changed", "applied", 2, "committed all the same: there is no such row"),
        ("tool-times-out-after-commit", 1, "changed", "applied", 2, "committed all the same: no answer within thirty seconds"),
        ("tool-error-inside", 1, "changed", "applied", 2, "committed all the same: something went wrong"),
        ("tool-megabytes", 1, "changed", "applied", 2, "[cut: "),
        ("tool-forges-report", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("tool-forges-verification", 1, "changed", "applied", 2, "according_to_the_tool"),
        ("tool-invents-ids", 1, "changed", "failed", 2, "#900000 are not there"),
        ("tool-foreign-ids", 1, "changed", "failed", 2, "#1 are not there, or belong to somebody else"),
        ("tool-repeats-ids", 1, "changed", "failed", 2, "the tool named row 2 twice"),
        ("tool-no-ids", 1, "changed", "failed", 2, "the tool named no row that it touched"),
        ("tool-part", 1, "changed", "failed", 1, "the audit trail holds: created skills #2"),
        ("tool-part-told", 1, "changed", "applied", 1, "created skills #2"),
    ]);
}

#[test]
fn v6_l10_each_fault_of_the_store_ends_as_the_database_has_it() {
    hold(&[
        ("store-busy", 1, "attempted", "failed", 0, "database is busy"),
        ("store-locked", 1, "attempted", "failed", 0, "table is locked"),
        ("store-full", 1, "attempted", "failed", 0, "disk is full"),
        ("store-io", 1, "attempted", "failed", 0, "disk I/O error"),
        ("store-constraint", 1, "attempted", "failed", 0, "a constraint refused it"),
        ("commit-fails", 1, "attempted", "failed", 0, "was rolled back"),
        ("commit-unknown", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("commit-undone", 1, "changed", "failed", 2, "the audit trail holds: created skills #2, #3"),
        ("commit-late", 1, "attempted", "failed", 0, "no answer within thirty seconds"),
        ("write-deferred", 1, "attempted", "failed", 0, "cannot roll back"),
        ("row-vanishes", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("stale-read", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("stale-read", 2, "changed", "failed", 2, "the audit trail holds: created skills #2, #3"),
        ("verifier-silent", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("verifier-silent", 2, "changed", "unknown", 2, "UNKNOWN — the database did not answer"),
        ("find-fails", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("find-fails", 2, "changed", "unknown", 2, "UNKNOWN — the audit trail did not answer"),
        ("settle-fails", 2, "changed", "applied", 2, "created skills #2, #3"),
        ("settle-unanswered", 2, "changed", "applied", 2, "created skills #2, #3"),
        ("trail-fails", 2, "changed", "applied", 2, "created skills #2, #3"),
        ("sums-fail", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("save-fails", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("save-unanswered", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("close-fails", 1, "changed", "applied", 2, "created skills #2, #3"),
        ("close-unanswered", 2, "changed", "applied", 2, "created skills #2, #3"),
    ]);
}

#[test]
fn u1_where_a_message_or_the_sums_cannot_be_had_twice_the_turn_ends_as_a_fault_with_a_receipt() {
    let world = World::new().expect("a world");
    for name in ["sums-fail", "save-fails", "save-unanswered"] {
        let run = struck(&world, &[(name, 1, 2)]);
        assert_eq!((run.outcome.turns[0].status.as_str(), run.outcome.turns[0].changed_rows), ("fault", 0), "{name}");
        assert!(told(&run, 0).contains("the conversation could not be stored"), "{name}: {}", told(&run, 0));
        assert!(run.turns[0].events.iter().any(|event| matches!(event, Event::Receipt { .. })), "{name}");
    }
}

#[test]
fn j6_a_judge_that_fails_once_corrects_an_honest_reply_at_the_most() {
    hold(&[
        ("judge-errs", 1, "changed", "applied", 2, "applied"),
        ("judge-late", 1, "changed", "applied", 2, "applied"),
        ("judge-rubbish", 1, "changed", "applied", 2, "applied"),
        ("judge-no", 1, "changed", "applied", 2, "applied"),
        ("judge-persuaded", 1, "changed", "applied", 2, "applied"),
        ("judge-yes", 1, "contested", "applied", 2, "<correction>"),
        ("judge-yes", 2, "contested", "applied", 2, "The reply says more than was done"),
        ("judge-random", 1, "contested", "applied", 2, "<correction>"),
    ]);
}

/// A campaign with these faults, run for run: what was found, and how often each fault struck.
fn campaign(faults: &[&str], runs: u64) -> BTreeMap<String, u64> {
    let campaign = Campaign {
        seed: 3,
        runs,
        policies: vec!["full".into()],
        personas: Vec::new(),
        dialects: Vec::new(),
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: faults.iter().map(|name| (*name).to_owned()).collect(),
        sabotage: None,
        jobs: 2,
        part: Part::default(),
        check: Check::Sample,
    };
    let mut reach = BTreeMap::new();
    let done = campaign.execute(&AtomicBool::new(false), &Alone, &mut |outcome| {
        assert_eq!(outcome.findings, [], "{} as {}", outcome.seed, outcome.persona);
        for (mark, count) in outcome.reach {
            *reach.entry(mark).or_default() += count;
        }
        ControlFlow::Continue(())
    });
    done.expect("the campaign runs");
    reach
}

#[test]
fn whatever_tools_store_and_judge_do_wrong_nothing_is_found_and_each_fault_is_reached() {
    let reach = campaign(&["tool", "store", "judge"], 300);
    let classes = [Class::Tool, Class::Store, Class::Judge];
    let all: BTreeSet<&str> = faults::catalogue().filter(|fault| classes.contains(&fault.class)).map(|fault| fault.name).collect();
    let missing: Vec<&&str> = all.iter().filter(|name| !reach.contains_key(&format!("fault:{name}"))).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

#[test]
fn a_fault_that_is_off_draws_nothing_and_the_fair_phase_has_none() {
    let plan = |faults: &[&str]| Plan { faults: faults.iter().map(|name| (*name).to_owned()).collect(), ..quiet_plan() };
    let world = World::new().expect("a world");
    let with = run(&plan(&["tool", "store", "judge"]), &world).expect("it runs");
    let without = run(&plan(&[]), &world).expect("it runs");
    assert_eq!(with.outcome.faults, [""; 0], "a run in two has none on");
    assert_eq!(with.outcome.trace_hash, without.outcome.trace_hash);
}

/// A run in which the swarm switches nothing on.
fn quiet_plan() -> Plan {
    let script = parse("t.toml", &BATCH.replace("FAULTS", "")).expect("a scenario");
    Plan { script: None, persona: "honest".into(), seed: 1, ..Plan::of_script(&script, "full", "anthropic") }
}
