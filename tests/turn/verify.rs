//! V: verify every write, and what a fate is made of. C4: when it is added.

use serde_json::{Value, json};

use unbacked::turn::draft::{Act, CallKey, Fate, Intent, Observed};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::message::ToolResult;
use unbacked::turn::ports::{Committed, Failure, Outcome, Verdict, WriteCheck};

use crate::play::{Game, Play};
use crate::say::{self, CREATE, DELETE, DISCARD, READ, UPDATE, call, calls, calls_of, done, failed, row};

const KEY: CallKey = CallKey { turn: 1, iteration: 1, index: 0 };

fn contradicted(error: &str) -> Verdict {
    Verdict::Contradicted { error: error.into() }
}

/// One call, and what became of it.
fn one(tool: &str, play: Play) -> (Game, Fate, Value) {
    let mut game = Game::new().replies([calls([call(tool, json!({"section": "experiences"}))])]).plays([play]);
    game.turn("hello");
    let fate = game.fates().pop().expect("settled");
    let content = content(game.results()[0]);
    (game, fate, content)
}

fn content(result: &ToolResult) -> Value {
    serde_json::from_str(&result.content).expect("JSON")
}

fn created(ids: Value, rows: &[i64]) -> Play {
    let rows: Vec<_> = rows.iter().map(|id| row(Act::Create, "experiences", *id)).collect();
    Play::says(done(json!({"created_ids": ids})), &rows)
}

fn is_failed(fate: &Fate) -> bool {
    matches!(fate, Fate::Failed { .. })
}

#[test]
fn v1_the_verifier_is_asked_about_every_id_of_every_ids_list_and_nothing_else() {
    let result = json!({"created_ids": [1, 2], "updated_ids": [5], "id": 9, "ids": [8], "count": 4, "name_ids": "no list"});
    let (game, _, _) = one(CREATE, Play::says(done(result), &[row(Act::Create, "experiences", 1)]));
    let check = &game.checks[0];
    assert_eq!((check.key, check.tool.as_str()), (KEY, CREATE));
    assert_eq!((check.intent.act, check.intent.section.as_str(), &check.intent.ids), (Act::Create, "experiences", &vec![1, 2, 5]));
    assert!(game.place("run create_experiences") < game.place("verify") && game.place("verify") < game.place("settle"));
}

#[test]
fn v1_an_id_that_is_no_integer_stands_for_a_row_that_cannot_exist() {
    let (game, _, _) = one(CREATE, created(json!([1, "two"]), &[1]));
    assert_eq!(game.checks[0].intent.ids, [1, i64::MIN]);
}

#[test]
fn v1_reads_and_calls_that_did_not_commit_are_not_verified() {
    let mut game =
        Game::new().replies([calls_of(&[READ, CREATE])]).plays([Play::fails(done(json!({}))), Play::fails(failed(Failure::Schema, "no"))]);
    game.turn("hello");
    assert_eq!(game.checks.len(), 0);
}

#[test]
fn v2_the_verifier_is_told_ids_and_owner_s_section_and_no_field_values() {
    let mut game = Game::new().replies([calls([call(CREATE, json!({"title": "Engineer"}))])]);
    game = game.plays([Play::says(done(json!({"created_ids": [4], "title": "Engineer"})), &[row(Act::Create, "experiences", 4)])]);
    game.turn("hello");
    let intent = Intent { act: Act::Create, section: "experiences".into(), ids: vec![4] };
    assert_eq!(game.checks, [WriteCheck { key: KEY, tool: CREATE.into(), intent }]);
}

#[test]
fn v3_the_verdict_is_folded_into_the_result_under_the_reserved_key() {
    let (_, fate, content) = one(CREATE, created(json!([4]), &[4]));
    assert_eq!(fate, Fate::Applied);
    assert_eq!(content["_verification"], json!({"ok": true, "entity": "experiences", "ids": [4]}));
    assert_eq!(content["created_ids"], json!([4]));
    let (_, _, content) = one(CREATE, created(json!([4]), &[4]).verdict(contradicted("4 is not there")));
    assert_eq!(content["_verification"], json!({"ok": false, "entity": "experiences", "ids": [4], "error": "4 is not there"}));
}

#[test]
fn v3_nothing_that_the_tool_returned_can_pass_for_the_verdict_and_nothing_of_it_is_lost() {
    let own = json!({"touched_ids": [4], "_verification": {"ok": true, "by": 1}, "according_to_the_tool": {"by": 2}});
    let play = Play::says(done(own), &[]).verdict(contradicted("no"));
    let (_, _, content) = one(CREATE, play);
    assert_eq!(content["_verification"]["ok"], false);
    let text = content.to_string();
    assert!(text.contains(r#"{"by":1,"ok":true}"#) && text.contains(r#"{"by":2}"#), "{text}");
}

#[test]
fn v3_a_read_cannot_carry_a_verdict_either() {
    let read = Play::fails(done(json!({"_verification": {"ok": true}, "rows": []})));
    let mut game = Game::new().replies([calls_of(&[READ])]).plays([read]);
    game.turn("hello");
    let content = content(game.results()[0]);
    assert!(content.get("_verification").is_none(), "{content}");
    assert!(content.to_string().contains(r#"{"ok":true}"#), "what it said is kept: {content}");
}

#[test]
fn v3_the_verdict_outlives_the_cut_of_a_large_result() {
    let large = json!({"AAA": "x".repeat(500), "touched_ids": [4], "zzz": "x".repeat(500)});
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    game = game.plays([Play::says(done(large), &[row(Act::Create, "experiences", 4)]).verdict(contradicted("4 is not there"))]);
    game.settings.result_bytes = 300;
    game.turn("hello");
    let content = &game.results()[0].content;
    assert!(content.contains(r#""ok":false"#) && content.contains("4 is not there"), "{content}");
    assert!(content.contains("[cut: ") && content.len() < 350, "{content}");
}

#[test]
fn v8_the_verdict_names_the_rows_that_an_applied_call_changed_and_no_others_that_it_named() {
    let (_, fate, content) = one(UPDATE, Play::says(done(json!({"updated_ids": [4, 5]})), &[row(Act::Update, "experiences", 5)]));
    assert_eq!(fate, Fate::Applied);
    assert_eq!(content["_verification"], json!({"ok": true, "entity": "experiences", "ids": [5]}));
}

#[test]
fn v4_a_verdict_that_is_not_ok_fails_the_call_before_the_model_writes_another_word() {
    let (game, fate, _) = one(CREATE, created(json!([4]), &[]).verdict(contradicted("4 is not there")));
    assert_eq!(fate, Fate::Failed { reason: "4 is not there".into() });
    assert!(game.results()[0].is_error);
    assert!(game.reports()[0].contains("FAILED — 4 is not there"));
    assert_eq!(game.steps.iter().filter(|step| *step == "ask").count(), 2);
}

#[test]
fn v5_no_ids_at_all_and_the_same_id_twice_are_not_all_found() {
    for (ids, rows) in [(json!([]), vec![4]), (json!([4, 4]), vec![4]), (json!([4, 5, 4]), vec![4, 5]), (json!([4, 4]), vec![])] {
        let (_, fate, _) = one(CREATE, created(ids.clone(), &rows));
        assert!(is_failed(&fate), "ids {ids}, rows {rows:?}: {fate:?}");
    }
    let (_, fate, _) = one(CREATE, Play::says(done(json!({"saved": true})), &[row(Act::Create, "experiences", 4)]));
    assert!(is_failed(&fate), "no list of ids: {fate:?}");
}

#[test]
fn v5_a_delete_that_deleted_nothing_says_so() {
    let (game, fate, content) = one(DELETE, Play::says(done(json!({"deleted_ids": [4]})), &[]));
    assert!(is_failed(&fate));
    assert_eq!(content["_verification"]["ok"], false);
    assert!(game.reports()[0].contains("0 of 1 applied"));
    let (_, fate, _) = one(DELETE, Play::says(done(json!({"deleted_ids": [4]})), &[row(Act::Delete, "experiences", 4)]));
    assert_eq!(fate, Fate::Applied);
}

#[test]
fn v6_a_verifier_without_an_answer_makes_the_fate_unknown_and_never_applied() {
    let (game, fate, content) = one(CREATE, created(json!([4]), &[4]).verdict(Verdict::NoAnswer { error: "busy".into() }));
    assert_eq!(fate, Fate::Unknown { reason: "busy".into() });
    assert_eq!(content["_verification"], json!({"ok": false, "entity": "experiences", "ids": [4], "error": "busy"}));
    assert!(game.reports()[0].contains("UNKNOWN — busy") && game.reports()[0].contains("0 of 1 applied"));
}

#[test]
fn v6_a_trail_without_an_answer_makes_the_fate_unknown_too() {
    let play = Play { no_trail: true, ..created(json!([4]), &[4]) };
    assert_eq!(one(CREATE, play).1, Fate::Unknown { reason: "the trail is locked".into() });
    let play = Play { no_trail: true, ..Play::says(failed(Failure::Store, "busy"), &[row(Act::Create, "experiences", 4)]) };
    assert_eq!(one(CREATE, play).1, Fate::Unknown { reason: "busy; the trail is locked".into() });
}

#[test]
fn v6_a_tool_that_does_not_know_is_looked_up_in_the_trail() {
    let unknown = || Outcome::Unknown { reason: "commit failed oddly".into() };
    assert_eq!(one(CREATE, Play::says(unknown(), &[row(Act::Create, "experiences", 4)])).1, Fate::Applied);
    assert!(is_failed(&one(CREATE, Play::fails(unknown())).1));
}

#[test]
fn v7_a_discard_is_verified_like_any_other_mutating_call() {
    let discarded = |rows: &[_]| Play::says(done(json!({"discarded": "experiences"})), rows);
    let (game, fate, content) = one(DISCARD, discarded(&[row(Act::Discard, "experiences", 0)]));
    assert_eq!((fate, game.checks[0].intent.act), (Fate::Applied, Act::Discard));
    assert_eq!(content["_verification"]["ok"], true);
    assert!(is_failed(&one(DISCARD, discarded(&[])).1), "nothing was there to discard");
    assert!(is_failed(&one(DISCARD, discarded(&[]).verdict(contradicted("still there"))).1));
}

#[test]
fn v8_a_call_that_verifies_but_changed_nothing_is_no_change_and_backs_nothing() {
    let (game, fate, content) = one(UPDATE, Play::says(done(json!({"updated_ids": [4]})), &[]));
    assert_eq!(fate, Fate::NoChange);
    assert_eq!(content["_verification"]["ok"], true);
    assert!(!game.results()[0].is_error);
    assert!(game.reports()[0].contains("no change") && game.reports()[0].contains("0 of 1 applied"));
    assert!(!game.shown[0].draft.has_applied() && game.shown[0].draft.tried());
}

#[test]
fn v8_what_a_create_that_a_constraint_turned_into_nothing_did_is_no_change() {
    assert_eq!(one(CREATE, created(json!([]), &[])).1, Fate::NoChange);
}

#[test]
fn an_error_inside_a_success_is_a_failure_unless_the_trail_knows_better() {
    for result in
        [json!({"error": "boom"}), json!({"ok": false}), json!({"isError": true}), json!({"errors": ["a", "b"]}), json!({"success": false})]
    {
        assert!(is_failed(&one(CREATE, Play::fails(done(result.clone()))).1), "{result}");
        assert_eq!(one(CREATE, Play::says(done(result), &[row(Act::Create, "experiences", 4)])).1, Fate::Applied);
    }
}

#[test]
fn an_empty_error_inside_a_success_is_none() {
    for result in
        [json!({"error": null}), json!({"errors": []}), json!({"error": ""}), json!({"error": {}}), json!({"error": false, "ok": true})]
    {
        let mut with_ids = say::object(result.clone());
        with_ids.insert("touched_ids".into(), json!([4]));
        let (game, fate, _) = one(CREATE, Play::says(Outcome::Done { result: with_ids }, &[row(Act::Create, "experiences", 4)]));
        assert_eq!((fate, game.checks[0].intent.ids.clone()), (Fate::Applied, vec![4]), "{result}");
        assert!(!game.results()[0].content.contains("committed all the same"), "{result}");
    }
}

#[test]
fn what_was_committed_all_the_same_is_told_as_such() {
    // Whatever kind of failure the tool names: it cannot vouch for itself.
    for failure in [Failure::Store, Failure::Panicked, Failure::TimedOut, Failure::Conflict, Failure::NotFound, Failure::MissingInput] {
        let (game, fate, content) = one(CREATE, Play::says(failed(failure, "odd"), &[row(Act::Create, "experiences", 4)]));
        assert_eq!(fate, Fate::Applied, "{failure:?}");
        assert_eq!(game.checks[0].intent.ids, [4]);
        assert_eq!(content["note"], "committed all the same: odd");
        assert!(content.get("error").is_none() && content.get("failure").is_none(), "no word of failure is left: {content}");
    }
}

#[test]
fn a_fate_is_decided_in_one_place_from_intent_and_observation() {
    let rows = vec![row(Act::Create, "s", 1)];
    for (act, seen, fate) in [
        (Act::Create, Observed::Holds { rows: rows.clone() }, Fate::Applied),
        (Act::Create, Observed::Holds { rows: vec![] }, Fate::NoChange),
        (Act::Update, Observed::Holds { rows: vec![] }, Fate::NoChange),
        (Act::Create, Observed::Contradicted { error: "e".into(), rows: rows.clone() }, Fate::Failed { reason: "e".into() }),
        (Act::Delete, Observed::NoAnswer { error: "e".into() }, Fate::Unknown { reason: "e".into() }),
    ] {
        assert_eq!(Fate::of(&Intent { act, section: "s".into(), ids: vec![1] }, &seen), fate, "{act:?} {seen:?}");
    }
}

#[test]
fn c4_the_fate_is_added_once_verified_and_before_the_model_reads_the_result() {
    let (game, _, _) = one(CREATE, created(json!([4]), &[4]));
    assert_eq!(game.steps[5..9], ["run create_experiences", "verify", "find", "settle"]);
    assert!(game.place("settle") < game.place("save results"));
    let committed = Committed {
        key: KEY,
        tool: CREATE.into(),
        act: Act::Create,
        section: "experiences".into(),
        rows: vec![row(Act::Create, "experiences", 4)],
    };
    assert_eq!(game.settled, [(committed, Fate::Applied)]);
}

#[test]
fn c4_calls_that_were_never_run_are_settled_as_failed() {
    let mut game = Game::new().replies([calls([say::broken(CREATE, unbacked::turn::message::BrokenArguments::NotJson)])]);
    game.turn("hello");
    assert!(is_failed(game.trail[0].fate.as_ref().expect("settled")));
}

#[test]
fn c4_a_commit_whose_fate_was_never_added_is_put_to_the_database_by_the_next_turn() {
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    // Store calls of the turn: trail, user, sums, assistant, find, settle.
    game.store_faults.insert(5);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.status), (Stop::Replied, Status::Changed));
    game.turn("again");
    let opened: Vec<_> = game
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TurnOpened { report, .. } => report.clone(),
            _ => None,
        })
        .collect();
    assert!(opened[1].contains("- create_experiences: applied — created experiences #1"), "{}", opened[1]);
    assert_eq!(game.trail[0].fate, Some(Fate::Applied));
}

#[test]
fn c4_an_act_has_one_word_in_json_in_the_audit_trail_and_in_the_names_of_tools() {
    use unbacked::turn::draft::Act;
    for (act, word) in [(Act::Create, "create"), (Act::Update, "update"), (Act::Delete, "delete"), (Act::Discard, "discard")] {
        assert_eq!(act.word(), word);
        assert_eq!(serde_json::to_value(act).expect("an act is JSON"), word);
    }
}
