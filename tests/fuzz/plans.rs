//! Plan files.

use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run;

use super::*;

const FILE: &str = "p.json";

fn holds(bytes: &[u8]) -> Result<bool, TestCaseError> {
    let text = String::from_utf8_lossy(bytes);
    match plan::parse(FILE, &text) {
        Ok(read) => {
            let written = plan::write(&read);
            let again = plan::parse(FILE, &written).map_err(|error| TestCaseError::fail(format!("{error} in {written}")))?;
            prop_assert_eq!(&again, &read);
            prop_assert_eq!(plan::write(&again), written);
            // Names that are not known are told, and nothing else comes of them.
            prop_assert!(run::check(&read).err().is_none_or(|error| !error.is_empty()));
            Ok(true)
        }
        Err(error) => told_well(&error.to_string(), FILE, &text, error.place).map(|()| false),
    }
}

#[test]
fn each_example_of_a_plan_is_read_or_refused_as_its_name_says() {
    for example in corpus("plan") {
        let read = holds(&example.bytes).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        let damaged = example.name.starts_with("damaged-");
        assert_eq!(read, !damaged, "{}", example.name);
    }
}

#[test]
fn every_field_of_a_plan_is_written_and_read_again() {
    let read = |file: &str| {
        let text = std::fs::read_to_string(folder("plan").join(file)).expect("it is there");
        plan::parse(FILE, &text).expect("a plan")
    };
    let all = Plan {
        faults: vec!["crash".into()],
        sabotage: Some("deaf-guard".into()),
        script: read("script.json").script,
        ..read("drawn.json")
    };
    assert_eq!(plan::parse(FILE, &plan::write(&all)).expect("it reads"), all);
}

proptest! {
    #[test]
    fn a_mutant_of_a_plan_is_read_and_written_back_or_refused_with_the_place(Mutant(bytes) in mutants(corpus("plan"))) {
        holds(&bytes)?;
    }
}
