//! Scenario files.

use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run;
use unbacked::sim::scenario;

use super::*;

const FILE: &str = "s.toml";

fn holds(bytes: &[u8]) -> Result<bool, TestCaseError> {
    let text = String::from_utf8_lossy(bytes);
    match scenario::parse(FILE, &text) {
        Ok(script) => {
            prop_assert!(!script.turn.is_empty());
            prop_assert_eq!(&scenario::parse(FILE, &text).expect("it was read once"), &script);
            let plan = Plan::of_script(&script, "full", "anthropic");
            let written = plan::write(&plan);
            let again = plan::parse("", &written).map_err(|error| TestCaseError::fail(format!("{error} in {written}")))?;
            prop_assert_eq!(plan::write(&again), written);
            prop_assert!(run::check(&plan).err().is_none_or(|error| !error.is_empty()));
            Ok(true)
        }
        Err(error) => told_well(&error.to_string(), FILE, &text, error.place).map(|()| false),
    }
}

#[test]
fn each_example_of_a_scenario_is_read_or_refused_as_its_name_says() {
    for example in corpus("scenario") {
        let read = holds(&example.bytes).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        assert_eq!(read, !example.name.starts_with("damaged-"), "{}", example.name);
    }
}

proptest! {
    #[test]
    fn a_mutant_of_a_scenario_is_read_and_recorded_or_refused_with_the_place(Mutant(bytes) in mutants(corpus("scenario"))) {
        holds(&bytes)?;
    }
}
