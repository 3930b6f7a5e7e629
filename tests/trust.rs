//! The tester on trial: canaries are caught, and a default campaign that reached too little is not believed.

use std::collections::{BTreeMap, BTreeSet};

use unbacked::oracle::invariants::INVARIANTS;
use unbacked::sim::persona::PERSONAS;
use unbacked::sim::reach;
use unbacked::sim::run::run;
use unbacked::sim::trust::{CANARIES, ENOUGH, Ran, living};
use unbacked::sim::world::World;

#[test]
fn every_canary_is_caught() {
    let world = World::new().expect("a world");
    assert_eq!(living(&CANARIES, &world), Ok(None));
}

#[test]
fn a_canary_that_the_oracle_does_not_find_lives_and_is_named() {
    let world = World::new().expect("a world");
    for (mut canary, elsewhere) in CANARIES.into_iter().zip(["I7", "I11"]) {
        canary.invariant = elsewhere;
        let name = canary.name;
        let lives = living(&[canary], &world).expect("it runs").expect("it lives");
        assert!(lives.contains(name), "{lives}");
    }
}

#[test]
fn i1_a_turn_that_never_ends_is_broken_off_by_the_horizon_and_found() {
    let world = World::new().expect("a world");
    let outcome = run(&CANARIES[1].plan().expect("a plan"), &world).expect("it runs").outcome;
    assert!(outcome.findings.iter().any(|found| found.invariant == "I1" && found.message.contains("never closed")), "{outcome:?}");
    assert_eq!(outcome.turns, []);
}

#[test]
fn the_subjects_of_the_canaries_are_let_through_where_nothing_is_wrong_with_them() {
    let world = World::new().expect("a world");
    let mut guarded = CANARIES[0].plan().expect("a plan");
    guarded.policy = "full".into();
    let mut limited = CANARIES[1].plan().expect("a plan");
    limited.settings = unbacked::turn::bounds::Settings::default();
    for (canary, plan) in CANARIES.iter().zip([guarded, limited]) {
        let outcome = run(&plan, &world).expect("it runs").outcome;
        assert!(!canary.is_caught(&outcome), "{}: {:?}", canary.name, outcome.findings);
    }
}

/// A default campaign that reached everything once.
struct Full {
    cells: BTreeSet<(&'static str, &'static str)>,
    faults: Vec<String>,
    reach: BTreeMap<String, u64>,
    premises: BTreeMap<String, u64>,
}

impl Full {
    fn new() -> Self {
        Self {
            cells: PERSONAS.iter().map(|persona| ("full", persona.name)).collect(),
            faults: vec!["all".into()],
            reach: reach::catalogue().into_iter().map(|mark| (mark.name, 1)).collect(),
            premises: INVARIANTS.iter().map(|(name, _)| ((*name).to_owned(), 1)).collect(),
        }
    }

    fn ran(&self) -> Ran<'_> {
        Ran {
            whole: true,
            runs: ENOUGH,
            cells: &self.cells,
            judge: "faithful",
            evidence: "ledger",
            faults: &self.faults,
            reach: &self.reach,
            premises: &self.premises,
        }
    }
}

#[test]
fn a_default_campaign_that_reached_everything_is_believed() {
    assert_eq!(Full::new().ran().doubt(), None);
}

#[test]
fn a_required_mark_or_a_premise_at_zero_in_a_default_campaign_is_named() {
    let mut full = Full::new();
    full.reach.remove("stop:strikes");
    assert!(full.ran().doubt().is_some_and(|doubt| doubt.contains("`stop:strikes`") && !doubt.contains("violated")));
    full.premises.insert("I15".into(), 0);
    assert!(full.ran().doubt().is_some_and(|doubt| doubt.contains("`stop:strikes`") && doubt.ends_with("could have violated I15")));
    full.reach.insert("stop:strikes".into(), 1);
    assert!(full.ran().doubt().is_some_and(|doubt| !doubt.contains("stop:strikes")));
}

#[test]
fn a_campaign_that_is_small_partial_or_of_another_kind_is_not_held_to_the_marks() {
    let mut full = Full::new();
    full.reach.clear();
    let ran = full.ran();
    assert!(ran.doubt().is_some());
    assert!(Ran { runs: ENOUGH + 1, ..ran }.doubt().is_some());
    assert_eq!(Ran { runs: ENOUGH - 1, ..ran }.doubt(), None);
    assert_eq!(Ran { whole: false, ..ran }.doubt(), None);
    assert_eq!(Ran { judge: "slow", ..ran }.doubt(), None);
    assert_eq!(Ran { evidence: "bit", ..ran }.doubt(), None);
    assert_eq!(Ran { faults: &[], ..ran }.doubt(), None);
    assert_eq!(Ran { faults: &["time".to_owned()], ..ran }.doubt(), None);
    let fewer: BTreeSet<_> = full.cells.iter().copied().skip(1).collect();
    assert_eq!(Ran { cells: &fewer, ..ran }.doubt(), None);
    let more: BTreeSet<_> = full.cells.iter().copied().chain([("none", "fabulist")]).collect();
    assert_eq!(Ran { cells: &more, ..ran }.doubt(), None);
}
