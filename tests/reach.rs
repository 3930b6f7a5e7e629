//! Reach marks: what is counted is in the catalogue, and what the catalogue requires and nobody reached is named.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::reach::{catalogue, missing, unknown};
use unbacked::sim::run::run;
use unbacked::sim::world::World;

fn reached(seeds: u64) -> BTreeMap<String, u64> {
    let world = World::new().expect("a world");
    let mut all = BTreeMap::new();
    for (seed, persona) in (0..seeds).flat_map(|seed| unbacked::sim::persona::PERSONAS.iter().map(move |persona| (seed, persona))) {
        let plan = json!({
            "version": plan::VERSION, "seed": seed, "policy": "full", "dialect": "anthropic", "persona": persona.name, "faults": ["all"],
        });
        let plan: Plan = serde_json::from_value(plan).expect("a plan");
        for (mark, count) in run(&plan, &world).expect("it runs").outcome.reach {
            *all.entry(mark).or_default() += count;
        }
    }
    all
}

#[test]
fn every_mark_that_runs_count_is_in_the_catalogue() {
    let reached = reached(6);
    assert!(reached.len() > 60, "only {} marks were counted", reached.len());
    assert_eq!(unknown(&reached), Vec::<&str>::new());
}

#[test]
fn a_mark_that_the_catalogue_does_not_know_is_named() {
    let reached = BTreeMap::from([("fate:applied".to_owned(), 1), ("fate:eaten".to_owned(), 1)]);
    assert_eq!(unknown(&reached), ["fate:eaten"]);
}

#[test]
fn each_mark_is_in_the_catalogue_once_with_a_sentence() {
    let names: BTreeSet<String> = catalogue().iter().map(|mark| mark.name.clone()).collect();
    assert_eq!(names.len(), catalogue().len());
    assert!(catalogue().iter().all(|mark| !mark.sentence.is_empty()));
}

#[test]
fn a_required_mark_at_zero_is_missing_and_one_that_is_not_required_never_is() {
    let all: BTreeMap<String, u64> = catalogue().into_iter().map(|mark| (mark.name, 1)).collect();
    assert_eq!(missing(&all), []);
    let names = |reached: &BTreeMap<String, u64>| missing(reached).into_iter().map(|mark| mark.name).collect::<Vec<_>>();
    let mut without = all.clone();
    without.insert("stop:strikes".into(), 0);
    without.remove("crash-recovered");
    without.remove("compaction-between-calls");
    assert_eq!(names(&without), ["crash-recovered", "stop:strikes"]);
}
