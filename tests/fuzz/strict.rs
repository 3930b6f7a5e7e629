//! The strict validator.

use std::collections::BTreeSet;

use unbacked::wire::Dialect;
use unbacked::wire::strict::rules::RULES;
use unbacked::wire::strict::{Checker, Endpoint, Quirk, Verdict, check};

use super::*;

/// The examples of a dialect, one a line: `ok` or the rule that is broken first, and the body.
fn examples(dialect: Dialect) -> Vec<Example> {
    let text = std::fs::read_to_string(folder("strict").join(format!("{dialect}.txt"))).expect("a corpus");
    let example = |line: &str| {
        let (name, body) = line.split_once(' ').expect("a name and a body");
        Example { name: name.into(), bytes: body.into() }
    };
    text.lines().map(example).collect()
}

fn rules(verdict: &Verdict) -> BTreeSet<(&'static str, String)> {
    verdict.violations.iter().map(|broken| (broken.rule, broken.place.clone())).collect()
}

fn holds(dialect: Dialect, checker: &mut Checker, body: &[u8]) -> Result<(), TestCaseError> {
    if body.is_empty() {
        return Ok(());
    }
    let ours = check(&Endpoint::ours(dialect), body);
    prop_assert_eq!(&check(&Endpoint::ours(dialect), body), &ours, "twice the same");
    prop_assert_eq!(&checker.check(body), &ours, "whatever was checked before");
    for (first, member) in [(true, 0), (false, 0), (true, 1), (false, 1)] {
        let twice = apply(&Edit::Member(first, member), body.to_vec(), &[]);
        prop_assert_eq!(checker.check(&twice), check(&Endpoint::ours(dialect), &twice), "tools that another member hides");
        checker.check(body);
    }
    let vendor = check(&Endpoint::vendor(dialect), body);
    prop_assert!(rules(&vendor).is_subset(&rules(&ours)), "our own endpoint is the stricter: {:?} {:?}", vendor, ours);
    let quirky = check(&Endpoint::ours(dialect).with(&Quirk::ALL), body);
    prop_assert!(rules(&ours).is_subset(&rules(&quirky)), "a quirk only adds: {:?} {:?}", ours, quirky);
    prop_assert_eq!(ours.refusal().is_none(), ours.is_accepted());
    let parsed = serde_json::from_slice::<Value>(body);
    prop_assert!(!ours.is_accepted() || parsed.as_ref().is_ok_and(Value::is_object), "accepted, and no object");
    for broken in &ours.violations {
        prop_assert!(RULES.iter().any(|rule| rule.id == broken.rule), "{} is no rule", broken.rule);
        prop_assert!(broken.message.starts_with(&broken.place) && !broken.mend.is_empty(), "{:?}", broken);
        prop_assert!(parsed.is_err() || is_there(&broken.place, parsed.as_ref().unwrap_or(&Value::Null)), "no such place: {:?}", broken);
    }
    if let Ok(value) = parsed {
        let spaced = format!("{value:#}");
        prop_assert_eq!(rules(&check(&Endpoint::ours(dialect), spaced.as_bytes())), rules(&ours), "space and order of keys are no matter");
    }
    Ok(())
}

/// Whether what holds a place is in the body. Its last two steps may be what is missing, such as `function.name`.
fn is_there(place: &str, body: &Value) -> bool {
    if place == "body" {
        return true;
    }
    let steps: Vec<&str> = place.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty()).collect();
    let holder = &steps[..steps.len().saturating_sub(2)];
    let step = |value: &'_ Value, step: &str| match value {
        Value::Array(items) => step.parse().ok().and_then(|at: usize| items.get(at)).cloned(),
        value => value.get(step).cloned(),
    };
    holder.iter().try_fold(body.clone(), |value, name| step(&value, name)).is_some()
}

#[test]
fn each_example_of_a_body_is_accepted_or_breaks_its_rule_first() {
    // Those of headers, of very large bodies and of compatible servers' quirks stand in tests/wire_strict.
    const APART: [&str; 7] = ["W-A1", "W-A2", "W-A8", "W-A9", "W-C1", "W-C16", "W-C39"];
    const QUIRKS: [&str; 12] = ["W-C51", "W-C52", "W-C53", "W-C55", "W-C56", "W-C59", "W-C60", "W-C62", "W-C63", "W-C64", "W-C70", "W-C71"];
    let mut shown: BTreeSet<String> = APART.into_iter().chain(QUIRKS).map(str::to_owned).collect();
    for dialect in Dialect::ALL {
        let mut checker = Checker::new(Endpoint::ours(dialect));
        for Example { name, bytes } in examples(dialect) {
            let verdict = check(&Endpoint::ours(dialect), &bytes);
            let first = verdict.violations.first().map_or("ok", |broken| broken.rule);
            assert_eq!(first, name, "{}", String::from_utf8_lossy(&bytes));
            holds(dialect, &mut checker, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            shown.insert(name);
        }
    }
    let without: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| !shown.contains(*id)).collect();
    assert_eq!(without, Vec::<&str>::new(), "rules without an example");
}

proptest! {
    #[test]
    fn a_the_verdict_on_a_mutant_is_stable_and_names_the_place(bodies in proptest::collection::vec(mutants(examples(Dialect::Anthropic)), 1..4)) {
        let mut checker = Checker::new(Endpoint::ours(Dialect::Anthropic));
        for Mutant(body) in &bodies {
            holds(Dialect::Anthropic, &mut checker, body)?;
        }
    }

    #[test]
    fn c_the_verdict_on_a_mutant_is_stable_and_names_the_place(bodies in proptest::collection::vec(mutants(examples(Dialect::OpenaiChat)), 1..4)) {
        let mut checker = Checker::new(Endpoint::ours(Dialect::OpenaiChat));
        for Mutant(body) in &bodies {
            holds(Dialect::OpenaiChat, &mut checker, body)?;
        }
    }
}
