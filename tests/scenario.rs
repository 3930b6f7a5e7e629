//! What a scenario file's author is told when it can't be read: the place, what is wrong, and the nearest known key. Knows the format's
//! errors alone, not what a run makes of a scenario.

use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run::run;
use unbacked::sim::scenario::{ScenarioError, Script, Then, parse};
use unbacked::sim::world::World;

const HEAD: &str = "version = 1\nid = \"T1\"\ntitle = \"t\"\nrequired_end = \"e\"\n";
const TURN: &str = "[[turn]]\nuser = \"Hi\"\n";

fn refused(text: &str) -> ScenarioError {
    parse("sims/t.toml", text).expect_err("it should be refused")
}

#[test]
fn the_shortest_scenario_is_read_and_what_it_leaves_out_has_its_default() {
    let script = parse("sims/t.toml", &format!("{HEAD}{TURN}")).expect("it is complete");
    assert_eq!(script.policies, ["full"]);
    assert_eq!(script.judge, "faithful");
    assert!(script.tools);
    assert_eq!(script.turn[0].then, Then::Honest);
}

#[test]
fn an_unknown_key_at_the_top_gives_line_column_and_the_nearest_known_key() {
    let error = refused(&format!("{HEAD}polices = [\"full\"]\n{TURN}"));
    assert_eq!(error.place, Some((5, 1)));
    assert_eq!(error.nearest.as_deref(), Some("policies"));
    let shown = error.to_string();
    assert!(shown.starts_with("sims/t.toml:5:1: unknown field `polices`"), "{shown}");
    assert!(shown.ends_with("did you mean `policies`?"), "{shown}");
}

#[test]
fn an_unknown_key_of_an_inline_table_gives_its_own_column() {
    let error = refused(&format!("{HEAD}{TURN}expect = {{ corections = 1 }}\n"));
    assert_eq!(error.place, Some((7, 12)));
    assert_eq!(error.nearest.as_deref(), Some("corrections"));
}

#[test]
fn an_unknown_key_of_a_reply_gives_line_column_and_the_nearest_known_key() {
    let error = refused(&format!("{HEAD}{TURN}[[turn.reply]]\nrepeet = 2\n"));
    assert_eq!(error.place, Some((8, 1)));
    assert_eq!(error.nearest.as_deref(), Some("repeat"));
}

#[test]
fn columns_count_characters_and_not_bytes() {
    let error = refused(&format!("{HEAD}{TURN}[[turn.reply]]\nparts = [{{ think = \"Größe\", txt = \"x\" }}]\n"));
    assert_eq!(error.place, Some((8, 29)));
    assert_eq!(error.nearest.as_deref(), Some("text"));
}

#[test]
fn an_unknown_word_gives_the_nearest_known_one() {
    let error = refused(&format!("{HEAD}{TURN}stance = \"wnats\"\n"));
    assert_eq!(error.place, Some((7, 10)));
    assert_eq!(error.nearest.as_deref(), Some("wants"));
}

#[test]
fn another_version_is_refused_and_both_versions_are_named() {
    let error = refused(&format!("{}{TURN}", HEAD.replace("version = 1", "version = 2")));
    assert!(error.message.contains("version 2") && error.message.contains("version 1"), "{error}");
    assert_eq!(error.nearest, None);
}

#[test]
fn a_scenario_without_a_turn_is_refused() {
    assert!(refused(&format!("{HEAD}turn = []\n")).message.contains("no [[turn]]"));
    assert!(refused(HEAD).message.contains("missing field `turn`"));
}

#[test]
fn text_that_is_no_toml_gives_its_place() {
    let error = refused(&format!("{HEAD}[[turn\n"));
    assert_eq!(error.place.map(|(line, _)| line), Some(5));
    assert_eq!(error.nearest, None);
}

#[test]
fn a_value_of_the_wrong_kind_gives_its_place_and_no_nearest_key() {
    let error = refused(&format!("{HEAD}tools = \"yes\"\n{TURN}"));
    assert_eq!(error.place, Some((5, 9)));
    assert_eq!(error.nearest, None);
}

#[test]
fn a_row_of_an_unknown_section_is_refused_before_the_run() {
    let script = parse("sims/t.toml", &format!("{HEAD}[[rows]]\nsection = \"hobbies\"\nvalues = {{ name = \"x\" }}\n{TURN}"));
    let error = played(script.expect("the format knows no sections")).expect_err("there is no such section");
    assert!(error.contains("hobbies"), "{error}");
}

#[test]
fn an_expected_row_count_of_an_unknown_section_is_a_finding() {
    let script = parse("sims/t.toml", &format!("{HEAD}{TURN}[expect]\nrows = {{ hobbies = 1 }}\n")).expect("the format knows no sections");
    let found = played(script).expect("it can be played");
    assert_eq!(found, ["there is no section hobbies"]);
}

#[test]
fn every_expectation_that_a_run_does_not_meet_is_a_finding() {
    let wrong = "expect = { status = \"changed\", stop = \"empty\", corrections = 1, iterations_at_most = 0, changed_rows = 3, \
                 told_model = \"no such word\", told_user = \"no such word\" }\n";
    let end = "[expect]\nrows = { skills = 7 }\npending = [\"skills\"]\n";
    let reply = "[[turn.reply]]\nparts = [{ say = { say = \"small_talk\" } }]\n";
    let script = parse("sims/t.toml", &format!("{HEAD}{TURN}{wrong}{reply}{end}")).expect("it is complete");
    let found = played(script).expect("it can be played");
    assert_eq!(found.len(), 9, "{found:#?}");
}

/// The messages of its findings.
fn played(script: Script) -> Result<Vec<String>, String> {
    let plan = Plan {
        version: plan::VERSION,
        seed: 1,
        policy: "full".into(),
        evidence: "ledger".into(),
        judge: "faithful".into(),
        dialect: "anthropic".into(),
        persona: "scripted".into(),
        faults: Vec::new(),
        sabotage: None,
        settings: script.settings.clone(),
        choices: None,
        script: Some(script),
        finding: None,
        file: String::new(),
    };
    let world = World::new().map_err(|error| error.to_string())?;
    let run = run(&plan, &world).map_err(|error| error.to_string())?;
    Ok(run.outcome.findings.into_iter().map(|found| found.message).collect())
}
