//! Choice lists, plan files, and shrinking: the same kind of finding, smaller, the same way each time.

use std::path::Path;

use unbacked::sim::again::Check;
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::choices::{Choices, Misfit, Odometer, Stream};
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run::run;
use unbacked::sim::scenario;
use unbacked::sim::shrink::{Kind, shrink};
use unbacked::sim::world::World;

fn lying(seed: u64) -> Plan {
    let campaign = Campaign {
        seed,
        runs: 1,
        policies: vec!["none".into()],
        personas: vec!["fabulist".into()],
        dialects: Vec::new(),
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: Vec::new(),
        sabotage: None,
        jobs: 1,
        part: Part::default(),
        check: Check::Sample,
    };
    campaign.plan(0)
}

/// The first plan whose run has a finding.
fn failing(world: &World) -> Plan {
    let fails = |plan: &Plan| !run(plan, world).expect("it runs").outcome.findings.is_empty();
    (1..40).map(lying).find(fails).expect("x0 ships a lie within forty runs")
}

#[test]
fn each_draw_is_recorded_with_how_many_choices_were_open() {
    let mut choices = Choices::random(1);
    choices.below(Stream::User, 7);
    choices.chance(Stream::Model, 30);
    choices.chance(Stream::Model, 0);
    assert_eq!(choices.bounds(), [7, 100]);
    assert_eq!(choices.drawn().len(), 2);
}

#[test]
fn a_list_answers_0_where_it_is_exhausted_and_the_highest_where_a_value_is_out_of_range() {
    let mut choices = Choices::replay(vec![4, 5, 6]);
    let drawn = [0; 4].map(|_| choices.below(Stream::User, 5));
    assert_eq!(drawn, [4, 4, 4, 0]);
    assert_eq!(choices.misfit(), Some(Misfit { at: 1, value: 5, below: 5 }));
}

#[test]
fn the_odometer_gives_every_list_of_a_tree_once() {
    // The second draw's bound depends on the first.
    let mut odometer = Odometer::new(2);
    let mut seen = Vec::new();
    while let Some(list) = odometer.list() {
        let mut choices = Choices::replay(list.to_vec());
        let first = choices.below(Stream::Model, 3);
        choices.below(Stream::Model, first + 1);
        choices.below(Stream::Model, 9);
        seen.push(choices.drawn()[..2].to_vec());
        odometer.advance(choices.drawn(), choices.bounds());
    }
    assert_eq!(seen, [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]]);
}

#[test]
fn a_shrunk_plan_has_the_same_kind_of_finding_is_smaller_and_comes_out_the_same_again() {
    let world = World::new().expect("a world");
    let plan = failing(&world);
    let first = run(&plan, &world).expect("it runs").outcome.findings[0].clone();
    let shrunk = shrink(&plan, None, &world, 120).expect("it shrinks");
    assert!(shrunk.after < shrunk.before, "{:?} {:?}", shrunk.before, shrunk.after);
    assert!(shrunk.tries <= 120);
    assert_eq!(Kind::of(&shrunk.found.invariant, &shrunk.found.message), Kind::of(&first.invariant, &first.message));
    assert_eq!(shrunk.plan.persona, plan.persona);
    let again = shrink(&plan, None, &World::new().expect("a world"), 120).expect("it shrinks");
    assert_eq!(again.plan, shrunk.plan);
}

#[test]
fn a_plan_file_reads_back_as_it_was_written_and_replays_its_finding() {
    let world = World::new().expect("a world");
    let shrunk = shrink(&failing(&world), None, &world, 40).expect("it shrinks");
    let read = plan::parse("kept.json", &plan::write(&shrunk.plan)).expect("it reads");
    let again = run(&read, &world).expect("it runs");
    assert_eq!(plan::misfit(&read, &again), None);
    assert_eq!(again.outcome.trace_hash, shrunk.run.outcome.trace_hash);
    assert_eq!(again.outcome.findings[0].replay, "unbacked replay kept.json");
    assert_eq!(read.finding.map(|finding| finding.message), Some(shrunk.found.message));
}

#[test]
fn a_plan_file_that_cannot_be_read_says_where_and_what_to_do() {
    let good = plan::write(&lying(1));
    let told = |text: &str| plan::parse("p.json", text).expect_err("it is refused").to_string();
    let newer = told(&good.replace("\"version\": 1", "\"version\": 2, \"novelty\": 3"));
    assert!(newer.contains("version 2") && newer.contains("reads version 1"), "{newer}");
    let unknown = told(&good.replace("\"persona\"", "\"personna\""));
    assert!(unknown.starts_with("p.json:") && unknown.contains("did you mean `persona`?"), "{unknown}");
    assert!(told("{").starts_with("p.json:1:"), "{}", told("{"));
    let world = World::new().expect("a world");
    let high = Plan { choices: Some(vec![u32::MAX]), ..lying(1) };
    let misfit = plan::misfit(&high, &run(&high, &world).expect("it runs")).expect("it does not fit");
    assert!(misfit.to_string().contains("choices[0] is 4294967295"), "{misfit}");
}

#[test]
fn a_scenario_is_shrunk_by_its_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/cases/C002.toml");
    let script = scenario::parse("C002.toml", &std::fs::read_to_string(file).expect("it is there")).expect("it reads");
    let world = World::new().expect("a world");
    let plan = Plan::of_script(&script, "none", "openai-chat");
    let shrunk = shrink(&plan, None, &world, 200).expect("it shrinks");
    assert!(shrunk.after.script < shrunk.before.script, "{:?} {:?}", shrunk.before, shrunk.after);
    assert_eq!(shrunk.plan.dialect, "anthropic");
}

#[test]
fn a_run_without_a_finding_is_not_shrunk() {
    let world = World::new().expect("a world");
    let told = shrink(&Plan { policy: "full".into(), ..lying(1) }, None, &world, 10).expect_err("nothing to shrink");
    assert!(told.contains("no finding"), "{told}");
}

#[test]
fn the_place_of_a_finding_leaves_out_what_varies_and_keeps_the_broken_rule() {
    let said = |count, section| format!("the reply says that {count} rows of {section} were created, and nothing tells the user");
    assert_eq!(Kind::of("I4", &said(1, "skills")), Kind::of("I4", &said(3, "links")));
    let wire = |rule, place| format!("a request breaks the wire's rules: anthropic: {rule} at messages[{place}]");
    assert_eq!(Kind::of("I6", &wire("W-A34", 1)), Kind::of("I6", &wire("W-A34", 9)));
    assert_ne!(Kind::of("I6", &wire("W-A34", 1)), Kind::of("I6", &wire("W-A35", 1)));
}

#[test]
fn no_try_ever_makes_the_plan_larger() {
    let world = World::new().expect("a world");
    let fails = |plan: &Plan| !run(plan, &world).expect("it runs").outcome.findings.is_empty();
    for plan in (1..12).map(lying).filter(fails) {
        let sizes: Vec<_> = [8, 20].map(|most| shrink(&plan, None, &world, most).expect("it shrinks").after).into();
        assert!(sizes.is_sorted_by(|earlier, later| earlier >= later), "seed {}: {sizes:?}", plan.seed);
    }
}
