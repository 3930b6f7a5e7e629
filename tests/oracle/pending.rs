//! I9, I10 and I14: pending work and the guard's table, along the trace, and that nothing is left of it in the end.

use serde_json::json;
use unbacked::oracle::claims::Label;
use unbacked::oracle::record::{Port, RunFacts};
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::message::Message;
use unbacked::turn::pending::PendingEntry;

use super::support::{Story, breaks_only, broken, failed, holds, unfinished};

/// A call fails on missing input, fails again with more, and then succeeds.
fn unfinished_work() -> RunFacts {
    let mut story = Story::new();
    story.turn().lacks("skills", &json!({ "level": "expert" }), &["name"]).says(vec![Label::Asks]).accepted().ends();
    story.turn().lacks("skills", &json!({ "name": "rust" }), &["years"]).says(vec![Label::Asks]).accepted().ends();
    story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).says(vec![]).accepted().ends();
    story.run
}

fn spoil_told(run: &mut RunFacts, turn: usize, spoil: impl Fn(&mut Vec<PendingEntry>)) {
    for event in &mut run.turns[turn].events {
        if let Event::PendingChanged { entries } = event {
            spoil(entries);
        }
    }
}

fn untold(run: &mut RunFacts, turn: usize) {
    run.turns[turn].events.retain(|event| !matches!(event, Event::PendingChanged { .. }));
}

fn spoiled(spoil: impl Fn(&mut RunFacts)) -> RunFacts {
    let mut run = unfinished_work();
    spoil(&mut run);
    run
}

#[test]
fn i9_pending_work_that_is_kept_merged_and_cleared_holds() {
    holds(&unfinished_work(), "I9");
}

#[test]
fn i9_what_is_stored_is_what_the_reference_says() {
    breaks_only(&spoiled(|run| run.turns[0].pending.clear()), "I9");
    breaks_only(&spoiled(|run| run.turns[2].pending = run.turns[1].pending.clone()), "I9");
    breaks_only(&spoiled(|run| run.turns[0].pending[0].missing.clear()), "I9");
    breaks_only(&spoiled(|run| run.turns[0].pending[0].section = "links".into()), "I9");
    breaks_only(&spoiled(|run| run.turns[0].pending[0].corrected = true), "I9");
}

#[test]
fn i9_what_is_told_of_is_what_the_reference_says() {
    breaks_only(&spoiled(|run| spoil_told(run, 0, Vec::clear)), "I9");
    breaks_only(&spoiled(|run| spoil_told(run, 0, |entries| entries[0].missing.push("more".into()))), "I9");
}

#[test]
fn p2_what_is_known_is_merged_and_never_lost() {
    breaks_only(&spoiled(|run| run.turns[0].pending[0].known = json!({})), "I9");
    breaks_only(&spoiled(|run| run.turns[1].pending[0].known = json!({ "name": "rust" })), "I9");
    breaks_only(&spoiled(|run| spoil_told(run, 1, |entries| entries[0].known = json!({ "level": "expert" }))), "I9");
}

#[test]
fn i9_a_change_that_the_trace_never_told_of_is_found() {
    breaks_only(&spoiled(|run| untold(run, 0)), "I9");
    breaks_only(&spoiled(|run| untold(run, 2)), "I9");
}

#[test]
fn p3_the_pending_block_stands_at_the_top_of_every_model_call() {
    let spoil_block = |turn: usize, block: Option<&str>| {
        spoiled(|run| {
            for event in &mut run.turns[turn].events {
                if let Event::Asked { pending, .. } = event {
                    *pending = block.map(str::to_owned);
                }
            }
        })
    };
    breaks_only(&spoil_block(1, None), "I9");
    breaks_only(&spoil_block(1, Some(r#"<pending>{"section":"links"}</pending>"#)), "I9");
}

#[test]
fn i9_nothing_is_pending_under_a_policy_that_remembers_nothing() {
    breaks_only(&spoiled(|run| (run.settings.parts.pending, run.state_guard) = (false, false)), "I9");
}

/// Something is pending, and then a turn that tries nothing is nudged, or is not.
fn idle_turn(nudged: bool) -> RunFacts {
    let mut story = Story::new();
    story.turn().lacks("skills", &json!({}), &["name"]).says(vec![Label::Asks]).accepted().ends();
    let turn = story.turn().says(vec![Label::SmallTalk]);
    if nudged {
        turn.objected(unfinished("skills")).says(vec![Label::Asks]).accepted().ends()
    } else {
        turn.accepted().ends()
    }
    story.run
}

#[test]
fn g_an_idle_turn_with_something_pending_is_corrected_and_anything_else_is_found() {
    holds(&idle_turn(true), "I10");
    breaks_only(&idle_turn(false), "I10");
}

#[test]
fn g4_a_policy_that_may_withhold_may_accept_but_not_where_the_reply_promised() {
    let withheld = |label: Label, faithful| {
        let mut story = Story::new();
        story.run.withholds = true;
        story.turn().lacks("skills", &json!({}), &["name"]).says(vec![Label::Asks]).accepted().ends();
        story.turn().says(vec![label]).accepted().ends();
        story.run.faithful = faithful;
        story.run
    };
    holds(&withheld(Label::SmallTalk, true), "I10");
    holds(&withheld(Label::Promises, false), "I10");
    assert!(broken(&withheld(Label::Promises, true)).contains("I10"));
}

#[test]
fn g3_a_nudge_where_the_table_says_accept_is_found() {
    let nudge_after = |act, fate, ids: &[i64]| {
        let mut story = Story::new();
        story.turn().lacks("skills", &json!({}), &["name"]).says(vec![Label::Asks]).accepted().ends();
        let turn = story.turn().writes(act, "links", ids, fate).says(vec![]);
        turn.objected(unfinished("skills")).says(vec![]).accepted().ends();
        story.run
    };
    breaks_only(&nudge_after(Act::Create, Fate::Applied, &[1]), "I10");
    breaks_only(&nudge_after(Act::Create, failed(), &[]), "I10");
    let mut story = Story::new();
    story.turn().says(vec![]).objected(unfinished("skills")).says(vec![]).accepted().ends();
    breaks_only(&story.run, "I10");
}

#[test]
fn b3_an_entry_is_confronted_once_in_its_life() {
    let mut story = Story::new();
    story.turn().lacks("skills", &json!({}), &["name"]).says(vec![]).accepted().ends();
    for _ in 0..2 {
        story.turn().says(vec![]).objected(unfinished("skills")).says(vec![]).accepted().ends();
    }
    breaks_only(&story.run, "I10");
}

#[test]
fn b3_a_second_correction_in_a_turn_is_found() {
    let mut story = Story::new();
    story.turn().says(vec![Label::Promises]).objected(super::support::unbacked_claim()).says(vec![]).accepted().ends();
    let mut run = story.run;
    let events = &mut run.turns[0].events;
    let again = events.iter().find(|event| matches!(event, Event::Corrected { .. })).cloned().expect("it was corrected");
    events.insert(events.len() - 1, again);
    assert!(broken(&run).contains("I10"));
}

#[test]
fn g1_the_mark_is_kept_before_the_correction_is_sent() {
    let mut run = idle_turn(true);
    untold(&mut run, 1);
    breaks_only(&run, "I10");
    let mut run = idle_turn(true);
    spoil_told(&mut run, 1, |entries| entries[0].corrected = false);
    breaks_only(&run, "I10");
}

#[test]
fn g1_a_mark_without_its_correction_is_excused_only_where_the_correction_could_not_be_stored() {
    let mut run = idle_turn(true);
    let sent = |event: &Event| matches!(event, Event::Corrected { .. } | Event::Stored { message: Message::Correction { .. } });
    run.turns[1].events.retain(|event| !sent(event));
    assert!(broken(&run).contains("I9"));
    run.turns[1].refused = [Port::Close].into();
    assert!(broken(&run).contains("I9"));
    run.turns[1].refused = [Port::Append].into();
    assert!(!broken(&run).contains("I9"));
    run.turns[1].pending[0].missing.clear();
    assert!(broken(&run).contains("I9"), "and nothing else is excused");
}

#[test]
fn i10_only_a_policy_with_the_state_guard_is_held_to_its_table() {
    let mut run = idle_turn(false);
    run.state_guard = false;
    assert!(broken(&run).is_empty());
}

#[test]
fn i14_the_wish_is_met_and_nothing_is_pending() {
    let wish = |met, pending: bool| {
        let mut story = Story::new();
        let turn = story.turn();
        let turn = if pending { turn.lacks("skills", &json!({}), &["name"]) } else { turn };
        turn.says(vec![]).accepted().ends();
        story.run.wish_met = met;
        story.run
    };
    holds(&wish(Some(true), false), "I14");
    breaks_only(&wish(Some(false), false), "I14");
    breaks_only(&wish(Some(true), true), "I14");
    assert!(broken(&wish(None, true)).is_empty(), "no standing wish, nothing to judge");
}
