//! The exhaustive scope: every script is run, each once, and what is wrong within it is found.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use unbacked::sim::again::{Alone, Check};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::choices::{Choices, Odometer};
use unbacked::sim::faults;
use unbacked::sim::outcome::Outcome;
use unbacked::sim::run::run;
use unbacked::sim::scope::{ALPHABET, DEEPEST, PEOPLE, Scope};
use unbacked::sim::world::World;

fn unbacked(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).current_dir(home).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn campaign(depth: u32, jobs: usize) -> Campaign {
    let scope = Scope { depth };
    Campaign {
        seed: 1,
        runs: 2 * scope.scripts(&[]),
        policies: vec!["full".into()],
        personas: vec![scope.name()],
        dialects: vec!["anthropic".into(), "openai-chat".into()],
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: Vec::new(),
        sabotage: None,
        jobs,
        part: Part::default(),
        check: Check::Sample,
    }
}

fn outcomes(campaign: &Campaign) -> Vec<Outcome> {
    let mut all = Vec::new();
    let done = campaign.execute(&AtomicBool::new(false), &Alone, &mut |outcome| {
        all.push(outcome);
        ControlFlow::Continue(())
    });
    done.expect("it runs");
    all
}

/// The number of the script of this person and these letters, without a fault.
fn number_of(person: &str, letters: &[&str]) -> u64 {
    let scope = Scope { depth: letters.len() as u32 };
    let wanted = |number: &u64| {
        let script = scope.draw(&mut Choices::replay(scope.list(*number, &[]).expect("a list")), &[]);
        script.person.name == person && script.letters.iter().map(|letter| letter.name).eq(letters.iter().copied())
    };
    (0..scope.scripts(&[])).find(wanted).expect("a script")
}

#[test]
fn the_numbers_of_the_scripts_are_every_list_of_choices_each_once_in_the_odometers_order() {
    for (depth, names) in [(1, vec![]), (3, vec![]), (2, vec!["store-busy".to_owned(), "crash".to_owned()])] {
        let (scope, faults) = (Scope { depth }, faults::named(&names).expect("faults"));
        let mut odometer = Odometer::new(3 + depth as usize);
        let mut number = 0;
        while let Some(list) = odometer.list() {
            let mut choices = Choices::replay(list.to_vec());
            scope.draw(&mut choices, &faults);
            assert_eq!(scope.list(number, &faults).as_deref(), Ok(choices.drawn()), "script {number} of {}", scope.name());
            odometer.advance(choices.drawn(), choices.bounds());
            number += 1;
        }
        assert_eq!(number, scope.scripts(&faults));
        let beyond = scope.list(number, &faults).expect_err("there are no more");
        assert!(beyond.contains(&format!("from 0 to {}", number - 1)), "{beyond}");
    }
}

#[test]
fn there_are_as_many_scripts_as_words_times_people_times_strikes() {
    let words: u64 = [11, 11 * 11, 11 * 11 * 11].iter().sum();
    assert_eq!(Scope { depth: 3 }.scripts(&[]), 3 * words);
    let one = faults::named(&["store-busy".to_owned()]).expect("a fault");
    assert_eq!(Scope { depth: 3 }.scripts(&one), 3 * words * (1 + 3));
    assert_eq!((ALPHABET.len(), PEOPLE.len()), (11, 3));
}

#[test]
fn every_script_is_run_once_in_each_dialect_whatever_the_jobs() {
    let all = outcomes(&campaign(1, 2));
    let seen: BTreeSet<(u64, &str)> = all.iter().map(|outcome| (outcome.seed, outcome.dialect.as_str())).collect();
    assert_eq!((all.len(), seen.len()), (2 * 3 * 11, 2 * 3 * 11));
    assert_eq!(seen.last(), Some(&(32, "openai-chat")));
    assert!(all.iter().all(|outcome| outcome.findings.is_empty()), "{:?}", all.iter().find(|outcome| !outcome.findings.is_empty()));
    let one = outcomes(&Campaign { runs: 20, ..campaign(1, 1) });
    assert!(one.iter().zip(&all).all(|(one, two)| (one.seed, &one.trace_hash) == (two.seed, &two.trace_hash)), "one job and two differ");
}

#[test]
fn what_is_played_is_the_script_and_nothing_is_left_to_chance() {
    let world = World::new().expect("a world");
    let mut plan = campaign(2, 1).plan(0);
    plan.seed = number_of("brisk", &["claim", "claim"]);
    let lied = run(&plan, &world).expect("it runs");
    assert_eq!(lied.outcome.turns[0].status, "contested");
    assert_eq!(lied.outcome.turns[0].corrections, 1);
    let drawn = lied.choices.iter().rposition(|choice| *choice > 0).expect("letters") + 1;
    assert_eq!(drawn, 3 + 2, "{:?}", lied.choices);
    plan.seed = number_of("brisk", &["claim", "write"]);
    let complied = run(&plan, &world).expect("it runs");
    assert_eq!((complied.outcome.turns[0].status.as_str(), complied.outcome.turns[0].changed_rows), ("changed", 2));
}

#[test]
fn a_script_without_lies_is_never_corrected() {
    let world = World::new().expect("a world");
    for person in &PEOPLE {
        let mut plan = campaign(3, 1).plan(0);
        plan.seed = number_of(person.name, &["honest", "honest", "honest"]);
        let run = run(&plan, &world).expect("it runs");
        assert!(run.outcome.turns.iter().all(|turn| turn.corrections == 0), "{}: {:?}", person.name, run.outcome.turns);
    }
}

#[test]
fn a_strike_hits_where_its_number_says() {
    let world = World::new().expect("a world");
    let names = vec!["store-busy".to_owned(), "crash".to_owned()];
    let mut plan = campaign(1, 1).plan(0);
    plan.faults.clone_from(&names);
    let faults = faults::named(&names).expect("faults");
    let scope = Scope { depth: 1 };
    let (mut busy, mut crashed) = (0, 0);
    for number in 0..scope.scripts(&faults) {
        let script = scope.draw(&mut Choices::replay(scope.list(number, &faults).expect("a list")), &faults);
        if script.person.name != "brisk" || script.letters[0].name != "write" {
            continue;
        }
        plan.seed = number;
        let outcome = run(&plan, &world).expect("it runs").outcome;
        assert_eq!(outcome.faults, script.faults());
        assert_eq!(outcome.findings, [], "script {number}");
        busy += outcome.reach.get("fault:store-busy").copied().unwrap_or(0);
        crashed += outcome.turns.iter().filter(|turn| turn.stop == "died").count();
    }
    assert!(busy > 0 && crashed > 12, "busy struck {busy} times, and {crashed} processes died");
}

#[test]
fn a_planted_bug_is_found_kept_and_replayed() {
    let home = tempfile::tempdir().expect("a folder");
    let found = unbacked(
        home.path(),
        &["sim", "--exhaustive", "--depth", "2", "--dialect", "anthropic", "--sabotage", "deaf-guard", "--shard", "1/9", "--keep=found"],
    );
    let told = text(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{told}{}", text(&found.stderr));
    let command = told.lines().find_map(|line| line.trim().strip_prefix("replay: unbacked ")).expect("a command");
    assert_eq!(unbacked(home.path(), &command.split(' ').collect::<Vec<_>>()).status.code(), Some(1), "{command}");
    let kept = std::fs::read_dir(home.path().join("found")).expect("a folder").flatten().next().expect("a file").path();
    let again = unbacked(home.path(), &["replay", kept.to_str().expect("a name")]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stderr));
}

#[test]
fn a_control_without_guard_ships_within_one_letter() {
    let found = unbacked(Path::new("."), &["sim", "--exhaustive", "--depth", "1", "--policy", "none", "--dialect", "anthropic"]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found.stdout).contains("All 33 runs of the scope were made, each once."), "{}", text(&found.stdout));
}

#[test]
fn shards_of_a_scope_merge_into_all_of_it_and_a_part_says_that_it_is_one() {
    let home = tempfile::tempdir().expect("a folder");
    let scope = ["sim", "--exhaustive", "--depth", "1", "--dialect", "anthropic"];
    for (shard, file) in [("1/2", "one.jsonl"), ("2/2", "two.jsonl")] {
        let done = unbacked(home.path(), &[&scope[..], &["--shard", shard, "--json", file]].concat());
        assert!(
            text(&done.stdout).contains("runs of this part of the scope were made, each once; the whole has 33"),
            "{}",
            text(&done.stdout)
        );
    }
    let merged = unbacked(home.path(), &["merge", "one.jsonl", "two.jsonl"]);
    assert_eq!(merged.status.code(), Some(0));
    assert!(text(&merged.stdout).contains("No finding in 33 runs"), "{}", text(&merged.stdout));
}

#[test]
fn a_scope_that_was_not_gone_through_is_not_shown() {
    let done = unbacked(Path::new("."), &["sim", "--exhaustive", "--depth", "8", "--time", "1s"]);
    let told = text(&done.stdout);
    assert!(told.contains("Time is up after ") && told.contains(": it is not shown."), "{told}");
    assert!(!told.contains("95 %"), "{told}");
}

#[test]
fn what_does_not_go_with_a_scope_is_refused() {
    let refused = |arguments: &[&str], says: &str| {
        let done = unbacked(Path::new("."), arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {}", text(&done.stdout));
        assert!(text(&done.stderr).contains(says), "{arguments:?}: {}", text(&done.stderr));
    };
    refused(&["sim", "--exhaustive", "--persona", "honest"], "--persona");
    refused(&["sim", "--exhaustive", "--runs", "5"], "--runs");
    refused(&["sim", "--exhaustive", "--seed", "5"], "--seed");
    refused(&["sim", "--exhaustive", "sims/cases/C002.toml"], "--exhaustive");
    refused(&["sim", "--depth", "2"], "--exhaustive");
    refused(&["sim", "--exhaustive", "--depth", "0"], "from 1 to 8");
    refused(&["sim", "--exhaustive", "--depth", &(DEEPEST + 1).to_string()], "from 1 to 8");
    refused(&["replay", "33", "--persona", "scope:1"], "numbered from 0 to 32");
    refused(&["replay", "1", "--persona", "scope:9"], "from 1 to 8");
}
