//! Faults of the disk in a small scripted conversation: each strikes at every call of a port in turn, and the process dies in every kind of
//! transaction.

use std::collections::{BTreeMap, BTreeSet};

use unbacked::disk::Survived;
use unbacked::oracle::record::Port;
use unbacked::sim::plan::Plan;
use unbacked::sim::run::{Run, run};
use unbacked::sim::scenario::parse;
use unbacked::sim::world::World;
use unbacked::turn::draft::Fate;
use unbacked::turn::event::Event;

/// A skill is asked for, and called for together with one that can't be; then the person says thank you.
const TALK: &str = r#"
version = 1
id = "T1"
title = "t"
required_end = "e"
[[turn]]
user = "Add Rust and Go to my skills"
wish = { act = "create", section = "skills", items = [{ name = "Rust" }, { name = "Go" }] }
FAULTS
[[turn.reply]]
parts = [{ call = "create_skills", arguments = { items = [{ name = "Rust" }, { name = "Go" }] } }, { call = "create_links", arguments = {} }]
[[turn]]
user = "Thank you"
stance = "talks"
"#;

/// Plays it with faults in its first turn. The seed decides where in the work of a port the disk goes wrong.
fn struck(world: &World, strikes: &[(&str, u32)], seed: u64) -> Run {
    let faults: String = strikes.iter().map(|(name, at)| format!("[[turn.fault]]\nname = \"{name}\"\nat = {at}\n")).collect();
    let script = parse("t.toml", &TALK.replace("FAULTS", &faults)).expect("a scenario");
    let plan = Plan { seed, ..Plan::of_script(&script, "full", "anthropic") };
    run(&plan, world).unwrap_or_else(|error| panic!("{strikes:?}, seed {seed}: {error}"))
}

/// The fates of the mutating calls of a run, a word each.
fn fates(run: &Run) -> BTreeSet<&'static str> {
    let word = |fate: &Fate| match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "failed",
        Fate::Unknown { .. } => "unknown",
    };
    let fates = run.turns.iter().flat_map(|turn| &turn.events).filter_map(|event| match event {
        Event::Settled { fate, .. } | Event::Recovered { fate, .. } => Some(word(fate)),
        _ => None,
    });
    fates.collect()
}

fn ports(name: &str) -> (BTreeSet<Port>, BTreeSet<&'static str>) {
    let world = World::new().expect("a world");
    let (mut refused, mut found) = (BTreeSet::new(), BTreeSet::new());
    for at in 1..25 {
        for seed in 0..3 {
            let run = struck(&world, &[(name, at)], seed);
            assert_eq!(run.outcome.findings, [], "{name} at {at}, seed {seed}");
            refused.extend(run.turns.iter().flat_map(|turn| &turn.refused).copied());
            found.extend(fates(&run));
        }
    }
    (refused, found)
}

#[test]
fn a_full_disk_is_a_refusal_of_every_port_that_writes_and_never_a_false_receipt() {
    let (refused, fates) = ports("disk-full");
    assert_eq!(refused, [Port::Append, Port::Pending, Port::Close, Port::Settle].into());
    assert_eq!(fates, ["applied", "failed"].into());
}

#[test]
fn a_failing_disk_is_a_refusal_of_every_port_and_never_a_false_receipt() {
    let (refused, fates) = ports("disk-error");
    assert_eq!(refused, [Port::Append, Port::Pending, Port::Close, Port::Find, Port::Settle, Port::Trail, Port::Sums].into());
    assert_eq!(fates, ["applied", "failed"].into());
}

#[test]
fn a_held_database_is_waited_for_or_is_a_refusal() {
    let (refused, fates) = ports("disk-busy");
    assert_eq!(refused, [Port::Append, Port::Pending, Port::Close, Port::Settle].into());
    assert_eq!(fates, ["applied", "failed"].into());
}

#[test]
fn l10_a_crash_in_a_transaction_undoes_it_or_keeps_it_and_the_next_turn_tells_which() {
    let world = World::new().expect("a world");
    for fault in ["lost-write", "torn-write"] {
        let mut marks: BTreeMap<String, u64> = BTreeMap::new();
        let mut told = BTreeSet::new();
        for seed in 0..60 {
            let run = struck(&world, &[("crash", 1), (fault, 1)], seed);
            // A turn of which nothing was stored is never recorded, and a scenario file expects that each is.
            let findings: Vec<_> = run.outcome.findings.iter().filter(|found| found.invariant != "expect").collect();
            assert!(findings.is_empty(), "{fault}, seed {seed}: {findings:?}");
            let mark = run.outcome.reach.keys().find(|mark| mark.starts_with("crash-undid") || mark.starts_with("crash-kept"));
            let place = run.outcome.reach.keys().find(|mark| mark.starts_with("point:crash:after")).cloned().unwrap_or_default();
            if place == "point:crash:after tool" {
                told.insert((mark.cloned().unwrap_or_default(), fates(&run).contains("applied")));
            }
            *marks.entry(format!("{place} {}", mark.map_or("nothing", String::as_str))).or_default() += 1;
        }
        for place in ["tool", "settle", "save", "close"] {
            assert!(marks.contains_key(&format!("point:crash:after {place} crash-undid-write")), "{fault}: {marks:?}");
        }
        assert!(marks.keys().any(|mark| mark.ends_with("crash-kept-write")), "{fault}: {marks:?}");
        assert!(told.contains(&("crash-undid-write".into(), false)), "{fault}: {told:?}");
    }
}

#[test]
fn the_same_seed_breaks_the_disk_in_the_same_way() {
    for strikes in [&[("disk-error", 3)][..], &[("crash", 1), ("torn-write", 1)]] {
        for seed in 0..5 {
            let once = struck(&World::new().expect("a world"), strikes, seed).outcome;
            let used = World::new().expect("a world");
            struck(&used, &[("crash", 1), ("lost-write", 1)], seed + 1);
            assert_eq!(struck(&used, strikes, seed).outcome, once, "{strikes:?}, seed {seed}");
        }
    }
}

#[test]
fn a_disk_that_lies_about_what_it_synced_is_no_world_to_judge_a_loop_in() {
    let world = World::new().expect("a world");
    struck(&world, &[], 1);
    // The last transaction was no change of the CV; the one before it is not the disk's to take back.
    assert!(world.is_sound(true).is_ok());
    world.store.with(|db| db.execute("INSERT INTO skills (user_id, name) VALUES (1, 'C')", [])).expect("a row");
    world.crash(0, &mut |_| Survived::Nothing);
    assert_eq!(world.is_sound(true), Ok(()), "an unheard change that is gone again has never been");
    world.store.with(|db| db.execute("DELETE FROM skills WHERE user_id = 1", [])).expect("a row");
    world.crash(usize::MAX, &mut |_| Survived::Nothing);
    let error = world.is_sound(true).expect_err("rows that were there are gone");
    assert!(error.contains("part of a transaction"), "{error}");
}
