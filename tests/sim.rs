//! The simulator: determinism, replay, and that the tester can fail.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use unbacked::sim::again::{Alone, Check};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::outcome::Outcome;
use unbacked::sim::run::run;
use unbacked::sim::world::World;

fn campaign(policy: &str, persona: &[&str], runs: u64) -> Campaign {
    Campaign {
        seed: 3,
        runs,
        policies: vec![policy.into()],
        personas: persona.iter().map(|name| (*name).to_owned()).collect(),
        dialects: Vec::new(),
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: Vec::new(),
        sabotage: None,
        jobs: 2,
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
    done.expect("the campaign runs");
    all
}

#[test]
fn the_same_plan_gives_the_same_run_whatever_ran_before_in_its_world() {
    let campaign = campaign("full", &[], 26);
    let used = World::new().expect("a world");
    for number in 0..26 {
        let plan = campaign.plan(number);
        let first = run(&plan, &used).expect("it runs").outcome;
        let again = run(&plan, &World::new().expect("a world")).expect("it runs").outcome;
        assert_eq!(first, again, "run {number}");
    }
}

#[test]
fn a_recorded_list_of_choices_replays_the_run() {
    let campaign = campaign("full", &[], 13);
    let world = World::new().expect("a world");
    for number in 0..13 {
        let mut plan = campaign.plan(number);
        let drawn = run(&plan, &world).expect("it runs");
        plan.choices = Some(drawn.choices.clone());
        plan.seed += 1;
        assert_eq!(run(&plan, &world).expect("it runs").outcome.trace_hash, drawn.outcome.trace_hash, "run {number}");
    }
}

#[test]
fn other_seeds_give_other_runs() {
    let all = outcomes(&campaign("full", &["chaos"], 20));
    let hashes: std::collections::BTreeSet<&String> = all.iter().map(|outcome| &outcome.trace_hash).collect();
    assert_eq!(hashes.len(), all.len());
}

#[test]
fn x0_ships_lies_in_plenty_and_x7_ships_none() {
    let shipped =
        |policy| outcomes(&campaign(policy, &["fabulist", "polyglot"], 60)).iter().map(|outcome| outcome.measures.shipped).sum::<u64>();
    assert!(shipped("none") > 60, "{}", shipped("none"));
    assert_eq!(shipped("full"), 0);
}

#[test]
fn a_judge_of_any_kind_lets_no_claim_stand_alone_under_full() {
    for judge in ["yes", "no", "error", "slow", "rubbish", "persuadable", "wrong:0.2:0.3"] {
        let campaign = Campaign { judge: judge.into(), ..campaign("full", &[], 52) };
        for outcome in outcomes(&campaign) {
            assert_eq!(outcome.findings, Vec::new(), "judge {judge}, seed {}", outcome.seed);
        }
    }
}

#[test]
fn every_invariant_is_judged_on_cases_that_could_break_it() {
    let mut premises = std::collections::BTreeMap::new();
    // Of many kinds of fault few are on at once, and a crash is what I15 is about.
    let campaigns = [("all", 208), ("process", 52)];
    let runs = campaigns.map(|(faults, runs)| Campaign { faults: vec![faults.into()], ..campaign("full", &[], runs) });
    for outcome in runs.iter().flat_map(outcomes) {
        assert_eq!(outcome.findings, Vec::new(), "seed {}", outcome.seed);
        for (invariant, count) in outcome.premises {
            *premises.entry(invariant).or_insert(0) += count;
        }
    }
    for (invariant, _) in unbacked::oracle::invariants::INVARIANTS {
        assert!(premises.get(*invariant).is_some_and(|count| *count > 0), "{invariant} was never judged");
    }
}

#[test]
fn g3_the_state_guard_never_corrects_a_turn_that_tried() {
    for outcome in outcomes(&campaign("state", &["clumsy", "honest", "eager"], 60)) {
        assert!(outcome.findings.iter().all(|found| found.invariant != "I10"), "seed {}", outcome.seed);
    }
}

#[test]
fn each_persona_speaks_both_dialects_however_many_personas_there_are() {
    for personas in [vec![], vec!["fabulist"], vec!["fabulist", "stubborn"], vec!["fabulist", "stubborn", "honest"]] {
        let campaign = campaign("full", &personas, 52);
        let pairs: std::collections::BTreeSet<(String, String)> =
            (0..52).map(|number| campaign.plan(number)).map(|plan| (plan.persona, plan.dialect)).collect();
        let of = if personas.is_empty() { 13 } else { personas.len() };
        assert_eq!(pairs.len(), 2 * of, "{personas:?}");
    }
}
