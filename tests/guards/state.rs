//! G: the whole table, and what the guard makes of it.

use unbacked::guards::state::{Cell, cell, consult};
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::guard::{About, Ruling};

use super::support::{Turn, about};

/// The table as the specification prints it, all sixteen rows: applied, pending, tried, corrected before; then whether to correct.
const TABLE: [(bool, bool, bool, bool, Cell); 16] = [
    (true, true, true, true, Cell::Applied),
    (true, true, true, false, Cell::Applied),
    (true, true, false, true, Cell::Applied),
    (true, true, false, false, Cell::Applied),
    (true, false, true, true, Cell::Applied),
    (true, false, true, false, Cell::Applied),
    (true, false, false, true, Cell::Applied),
    (true, false, false, false, Cell::Applied),
    (false, false, true, true, Cell::NothingPending),
    (false, false, true, false, Cell::NothingPending),
    (false, false, false, true, Cell::NothingPending),
    (false, false, false, false, Cell::NothingPending),
    (false, true, true, true, Cell::Tried),
    (false, true, true, false, Cell::Tried),
    (false, true, false, true, Cell::CorrectedBefore),
    (false, true, false, false, Cell::Correct),
];

#[test]
fn g_the_table_of_sixteen_rows_is_the_specifications() {
    for (applied, pending, tried, corrected, expected) in TABLE {
        let entries: &[bool] = if pending { &[corrected] } else { &[] };
        assert_eq!(cell(applied, entries, tried), expected, "{applied} {pending} {tried} {corrected}");
    }
}

#[test]
fn g_every_line_of_the_table_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<_> = Cell::ALL.iter().map(|cell| cell.name()).collect();
    assert_eq!(names.len(), Cell::ALL.len());
    assert!(TABLE.iter().all(|row| Cell::ALL.contains(&row.4)));
}

#[test]
fn g_a_turn_that_ignores_what_is_pending_is_corrected_about_it_at_no_cost() {
    let consulted = consult(&Turn::saying("All saved!").pending("experiences", false).view());
    assert_eq!(about(&consulted), Some(About::Unfinished { section: "experiences".into() }));
    assert_eq!((consulted.judge_calls, consulted.judge_tokens), (0, 0));
    assert_eq!(consulted.why, "state: correct");
    let Ruling::Object(objection) = consulted.ruling else { panic!("accepted") };
    assert_eq!(objection.guard, "state");
}

#[test]
fn g_the_reply_makes_no_difference() {
    for reply in ["", "All saved!", "Nothing has been saved.", "Which year did you start?"] {
        let corrected = consult(&Turn::saying(reply).pending("skills", false).view());
        assert_eq!(about(&corrected), Some(About::Unfinished { section: "skills".into() }), "{reply}");
        assert_eq!(about(&consult(&Turn::saying(reply).view())), None, "{reply}");
    }
}

#[test]
fn g_a_read_is_no_write_that_was_tried() {
    let turn = Turn::saying("").after_a_read().pending("skills", false);
    assert!(about(&consult(&turn.view())).is_some());
}

#[test]
fn g3_it_never_fires_on_a_turn_that_tried_a_write_whatever_its_fate() {
    let fates = [Fate::Applied, Fate::NoChange, Fate::Failed { reason: "busy".into() }, Fate::Unknown { reason: "no answer".into() }];
    for fate in fates {
        let turn = Turn::saying("").with(Act::Update, "links", fate.clone(), &[]).pending("skills", false);
        assert_eq!(about(&consult(&turn.view())), None, "{fate:?}");
    }
}

#[test]
fn g3_only_an_applied_change_counts_as_a_successful_mutation() {
    let why = |fate| consult(&Turn::saying("").with(Act::Update, "links", fate, &[]).pending("skills", false).view()).why;
    assert_eq!(why(Fate::Applied), "state: applied");
    assert_eq!(why(Fate::NoChange), "state: tried");
    assert_eq!(why(Fate::Unknown { reason: "no answer".into() }), "state: tried");
}

#[test]
fn g3_an_entry_is_corrected_once_and_the_next_by_section_has_its_turn() {
    let both = Turn::saying("").pending("skills", false).pending("educations", false);
    assert_eq!(about(&consult(&both.view())), Some(About::Unfinished { section: "educations".into() }));
    let one_left = Turn::saying("").pending("skills", false).pending("educations", true);
    assert_eq!(about(&consult(&one_left.view())), Some(About::Unfinished { section: "skills".into() }));
    let none_left = Turn::saying("").pending("skills", true).pending("educations", true);
    assert_eq!(about(&consult(&none_left.view())), None);
}
