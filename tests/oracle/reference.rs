//! The reference model of pending entries and of the guard's table, against the tables of P and G.

use serde_json::{Value, json};
use unbacked::oracle::reference::{ReferenceDraft, ReferencePending, is_nudge};
use unbacked::turn::draft::{Act, CallKey, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::guard::{About, Objection, Ruling};
use unbacked::turn::message::{Arguments, Call};
use unbacked::turn::ports::{Failure, Outcome};

use super::support::{failed, unfinished, unknown};

fn key(index: u32) -> CallKey {
    CallKey { turn: 1, iteration: 1, index }
}

fn settled(index: u32, act: Act, section: &str, fate: Fate) -> Event {
    Event::Settled { key: key(index), tool: "t".into(), act, section: section.into(), fate, rows: Vec::new() }
}

fn started(index: u32, known: &Value) -> Event {
    let value = known.as_object().cloned().unwrap_or_default();
    let call = Call { id: "c".into(), name: "t".into(), arguments: Arguments::Object { value } };
    Event::CallStarted { key: key(index), call }
}

fn lacking(index: u32, failure: Failure, missing: &[&str]) -> Event {
    let missing = missing.iter().map(|path| (*path).to_owned()).collect();
    Event::CallEnded { key: key(index), outcome: Outcome::Failed { failure, reason: "r".into(), missing } }
}

fn corrected(about: About) -> Event {
    Event::Corrected { objection: Objection { guard: "state".into(), about }, text: String::new() }
}

/// Follows a call that failed on missing input. Whether the trace should tell of a change next.
fn fails_on(reference: &mut ReferencePending, act: Act, section: &str, missing: &[&str]) -> bool {
    reference.follow(&lacking(0, Failure::MissingInput, missing));
    reference.follow(&settled(0, act, section, failed()))
}

fn pending(reference: &ReferencePending) -> Vec<(String, String, bool)> {
    reference.entries().map(|entry| is(&entry.section, &entry.missing.join(","), entry.corrected)).collect()
}

fn is(section: &str, missing: &str, corrected: bool) -> (String, String, bool) {
    (section.into(), missing.into(), corrected)
}

#[test]
fn p1_a_create_or_update_that_fails_on_missing_input_becomes_pending() {
    for (act, becomes) in [(Act::Create, true), (Act::Update, true), (Act::Delete, false), (Act::Discard, false)] {
        let mut reference = ReferencePending::default();
        assert_eq!(fails_on(&mut reference, act, "skills", &["name"]), becomes, "{act:?}");
        assert_eq!(reference.entries().next().is_some(), becomes, "{act:?}");
    }
}

#[test]
fn p1_no_other_failure_becomes_pending() {
    let mut reference = ReferencePending::default();
    for failure in [Failure::Schema, Failure::Store, Failure::NotFound, Failure::Verification] {
        reference.follow(&lacking(0, failure, &["name"]));
        assert!(!reference.follow(&settled(0, Act::Create, "skills", failed())), "{failure:?}");
    }
    assert_eq!(pending(&reference), []);
}

#[test]
fn p2_a_later_failure_merges_and_a_success_clears_its_own_section_alone() {
    let mut reference = ReferencePending::default();
    fails_on(&mut reference, Act::Create, "skills", &["name", "level"]);
    fails_on(&mut reference, Act::Create, "links", &["url"]);
    fails_on(&mut reference, Act::Create, "skills", &["level"]);
    assert_eq!(pending(&reference), [is("links", "url", false), is("skills", "level", false)]);
    for fate in [Fate::NoChange, failed(), unknown()] {
        assert!(!reference.follow(&settled(1, Act::Create, "skills", fate)));
    }
    assert!(reference.follow(&settled(1, Act::Create, "skills", Fate::Applied)));
    assert!(!reference.follow(&settled(1, Act::Create, "skills", Fate::Applied)), "nothing is left to clear");
    assert_eq!(pending(&reference), [is("links", "url", false)]);
}

#[test]
fn p2_what_is_known_is_laid_over_member_by_member_and_place_by_place() {
    let mut reference = ReferencePending::default();
    let first = json!({ "rows": [{ "name": "rust" }, { "name": "go" }], "note": "a" });
    let second = json!({ "rows": [{ "level": "expert" }], "note": null });
    for known in [first, second] {
        reference.follow(&started(0, &known));
        fails_on(&mut reference, Act::Create, "skills", &["years"]);
    }
    let known: Vec<&Value> = reference.entries().map(|entry| &entry.known).collect();
    assert_eq!(known, [&json!({ "rows": [{ "name": "rust", "level": "expert" }, { "name": "go" }], "note": "a" })]);
}

#[test]
fn p4_a_discard_clears_the_entry() {
    let mut reference = ReferencePending::default();
    fails_on(&mut reference, Act::Create, "skills", &["name"]);
    assert!(reference.follow(&settled(1, Act::Discard, "skills", Fate::Applied)));
    assert_eq!(pending(&reference), []);
}

#[test]
fn b3_the_mark_of_a_correction_outlives_merging_but_not_the_entry() {
    let mut reference = ReferencePending::default();
    fails_on(&mut reference, Act::Create, "skills", &["name"]);
    reference.follow(&corrected(About::Promised));
    assert_eq!(pending(&reference), [is("skills", "name", false)], "only a nudge about it marks it");
    reference.follow(&corrected(unfinished("skills")));
    fails_on(&mut reference, Act::Create, "skills", &["level"]);
    assert_eq!(pending(&reference), [is("skills", "level", true)]);
    reference.follow(&settled(1, Act::Create, "skills", Fate::Applied));
    fails_on(&mut reference, Act::Create, "skills", &["name"]);
    assert_eq!(pending(&reference), [is("skills", "name", false)], "a new entry has a life of its own");
}

#[test]
fn g_the_table_corrects_in_one_row_only() {
    for (applied, is_pending, tried, was_corrected) in (0..16).map(|row| (row & 8 != 0, row & 4 != 0, row & 2 != 0, row & 1 != 0)) {
        let mut reference = ReferencePending::default();
        if is_pending {
            fails_on(&mut reference, Act::Create, "skills", &["name"]);
        }
        if was_corrected {
            reference.follow(&corrected(unfinished("skills")));
        }
        let expected = !applied && is_pending && !tried && !was_corrected;
        assert_eq!(reference.table_says_correct(applied, tried), expected, "{applied} {is_pending} {tried} {was_corrected}");
    }
}

#[test]
fn g_one_entry_that_was_not_confronted_is_enough() {
    let mut reference = ReferencePending::default();
    fails_on(&mut reference, Act::Create, "links", &["url"]);
    fails_on(&mut reference, Act::Create, "skills", &["name"]);
    reference.follow(&corrected(unfinished("links")));
    assert!(reference.table_says_correct(false, false));
    reference.follow(&corrected(unfinished("skills")));
    assert!(!reference.table_says_correct(false, false));
}

#[test]
fn g_a_turn_tried_with_any_fate_and_was_applied_with_one() {
    for (fate, applied) in [(Fate::Applied, true), (Fate::NoChange, false), (failed(), false), (unknown(), false)] {
        let mut draft = ReferenceDraft::default();
        draft.follow(&started(0, &json!({})));
        assert!(!draft.tried, "a call that only began has not been tried");
        draft.follow(&settled(0, Act::Create, "skills", fate));
        draft.follow(&settled(1, Act::Create, "skills", failed()));
        assert_eq!((draft.applied, draft.tried), (applied, true));
    }
}

#[test]
fn only_the_state_guards_objection_is_a_nudge() {
    let object = |guard: &str| Ruling::Object(Objection { guard: guard.into(), about: About::Promised });
    assert!(is_nudge(&object("state")));
    assert!(!is_nudge(&object("completion")) && !is_nudge(&Ruling::Accept));
}
