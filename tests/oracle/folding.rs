//! I13, and what other invariants make of a fold: a run that holds, and the same run with one thing spoiled.

use serde_json::json;
use unbacked::oracle::record::{Port, RunFacts, Sent};
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::Stop;
use unbacked::turn::message::{Block, Message};

use super::support::{Story, breaks_only, broken, failed, holds, says_created, unknown};

/// Five turns of which the first is folded in the third, and the first three in the fifth. The turns before did all kinds of things.
fn folded() -> RunFacts {
    let mut story = Story::new();
    story.turn().writes(Act::Create, "skills", &[1, 2], Fate::Applied).says(vec![says_created("skills", 2)]).accepted().ends();
    let turn = story.turn().writes(Act::Update, "skills", &[], failed()).writes(Act::Create, "links", &[9], unknown());
    turn.says(vec![]).accepted().ends();
    story.turn().folds(1).writes(Act::Delete, "skills", &[1], Fate::Applied).says(vec![]).accepted().ends();
    story.turn().says(vec![]).accepted().ends();
    story.turn().folds(3).writes(Act::Create, "skills", &[3], Fate::NoChange).says(vec![]).accepted().ends();
    story.run
}

/// Changes the words of every summary that was sent or stored.
fn respell(run: &mut RunFacts, from: &str, to: &str) {
    in_summaries(run, |facts, _| *facts = facts.replace(from, to));
}

fn in_summaries(run: &mut RunFacts, spoil: impl Fn(&mut String, &mut u32)) {
    let sent = run.turns.iter_mut().flat_map(|facts| &mut facts.sent).flat_map(|sent| &mut sent.new);
    for message in sent.chain(&mut run.messages) {
        if let Message::Summary { facts, through, .. } = message {
            spoil(facts, through);
        }
    }
}

fn spoiled(spoil: impl Fn(&mut RunFacts)) -> RunFacts {
    let mut run = folded();
    spoil(&mut run);
    run
}

/// The run with other messages in its first request after a fold, and ever after.
fn resent(change: impl Fn(&mut Vec<Message>)) -> RunFacts {
    spoiled(|run| {
        change(&mut run.turns[2].sent[0].new);
        let grown: usize = run.turns[2].sent[0].new.len();
        for (place, sent) in run.turns[2].sent[1..].iter_mut().enumerate() {
            sent.kept = grown + place * 2;
        }
    })
}

fn breaks(run: &RunFacts) {
    assert!(broken(run).contains("I13"), "{:?}", broken(run));
}

#[test]
fn i13_folds_of_whole_turns_with_all_their_facts_hold_and_every_other_invariant_with_them() {
    for invariant in ["I1", "I2", "I3", "I5", "I6", "I7", "I8", "I9", "I10", "I12", "I13"] {
        holds(&folded(), invariant);
    }
}

#[test]
fn i13_a_run_without_folds_is_no_premise() {
    let mut story = Story::new();
    story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).says(vec![]).accepted().ends();
    story.turn().says(vec![]).accepted().ends();
    let judged = unbacked::oracle::invariants::judge(&story.run);
    assert_eq!((judged.findings, judged.premises.get("I13")), (vec![], None));
}

#[test]
fn i13_a_fact_that_is_missing_is_found() {
    breaks_only(&spoiled(|run| respell(run, "- create_skills: applied — created skills #1, #2\n", "")), "I13");
    breaks_only(&spoiled(|run| respell(run, "created skills #1, #2", "created skills #1")), "I13");
    breaks_only(&spoiled(|run| respell(run, " (the audit trail holds: created links #9)", "")), "I13");
}

#[test]
fn i13_a_fact_too_many_or_another_one_is_found() {
    let line = "- update_skills: FAILED";
    breaks_only(&spoiled(|run| respell(run, line, &format!("- create_links: no change — as it was\n{line}"))), "I13");
    breaks_only(&spoiled(|run| respell(run, "#1, #2", "#1, #3")), "I13");
    breaks_only(&spoiled(|run| respell(run, "deleted skills #1", "deleted skills #1, #2")), "I13");
    breaks_only(&spoiled(|run| respell(run, "deleted skills #1", "created skills #1")), "I13");
    breaks_only(&spoiled(|run| respell(run, "- update_skills: FAILED", "- update_skills: UNKNOWN")), "I13");
    breaks_only(&spoiled(|run| respell(run, "- delete_skills", "- delete_links")), "I13");
    breaks_only(&spoiled(|run| respell(run, "turn 2:\n", "turn 1:\n")), "I13");
}

#[test]
fn i13_a_sum_that_is_not_that_of_the_lines_is_found() {
    breaks_only(&spoiled(|run| respell(run, "2 of 4 applied", "4 of 4 applied")), "I13");
    breaks_only(&spoiled(|run| respell(run, "in all: 1 of 1 applied", "in all: none")), "I13");
}

#[test]
fn i13_a_summariser_s_words_among_the_facts_are_found() {
    breaks_only(&spoiled(|run| respell(run, "This is what", "All of it is saved.\nThis is what")), "I13");
    breaks_only(&spoiled(|run| respell(run, "</earlier_turns>", "</earlier_turns>\nAll of it is saved.")), "I13");
    breaks_only(&spoiled(|run| respell(run, "left out here;", "left out here, and saved;")), "I13");
}

#[test]
fn i13_a_summary_of_other_turns_than_those_that_are_gone_is_found() {
    breaks(&spoiled(|run| in_summaries(run, |_, through| *through += 1)));
    breaks(&spoiled(|run| respell(run, "Turns 1 to 3", "Turns 1 to 4")));
    breaks(&spoiled(|run| {
        in_summaries(run, |facts, through| {
            *through = (*through).min(2);
            *facts = facts.replace("Turns 1 to 3", "Turns 1 to 2");
        });
    }));
}

#[test]
fn i13_a_fold_in_the_middle_of_a_turn_is_found() {
    breaks(&resent(|messages| drop(messages.remove(1))));
    breaks(&resent(|messages| drop(messages.drain(1..=2))));
    breaks(&resent(|messages| drop(messages.drain(1..=3))));
}

#[test]
fn i13_the_last_turn_and_the_current_one_are_not_folded() {
    let only_current = |messages: &mut Vec<Message>| {
        let last = messages.iter().rposition(|message| matches!(message, Message::User { .. })).expect("the current turn");
        messages.drain(1..last);
    };
    breaks(&resent(only_current));
    breaks(&resent(|messages| messages.truncate(1)));
}

#[test]
fn i13_a_transcript_that_lost_messages_without_a_summary_is_found() {
    breaks_only(&spoiled(|run| run.turns[1].sent[0] = Sent { kept: 1, new: run.turns[1].sent[0].new.clone() }), "I13");
    breaks(&spoiled(|run| drop(run.messages.remove(0))));
}

#[test]
fn i13_messages_that_nobody_stored_are_found() {
    breaks(&resent(|messages| messages.insert(1, Message::Correction { text: "from nowhere".into() })));
}

#[test]
fn i13_results_that_stand_apart_from_their_calls_are_found() {
    let swapped = |messages: &mut Vec<Message>| {
        let results = messages.iter().position(|message| matches!(message, Message::Results { .. })).expect("results");
        messages.swap(results, results - 1);
    };
    breaks(&resent(swapped));
}

#[test]
fn i13_what_stands_in_the_store_at_the_end_is_judged_as_a_request_is() {
    let without_the_last_turns = |run: &mut RunFacts| drop(run.messages.drain(1..3));
    breaks(&spoiled(without_the_last_turns));
}

#[test]
fn i5_a_folded_turn_leaves_nothing_behind_and_the_others_are_whole() {
    let stray = |run: &mut RunFacts| {
        let at = unbacked::turn::draft::CallKey { turn: 1, iteration: 2, index: 0 };
        run.messages.push(Message::Assistant { blocks: vec![Block::text("reply 1.2. ")], at });
    };
    assert!(broken(&spoiled(stray)).contains("I5"));
    let cut = |run: &mut RunFacts| run.messages.retain(|message| !matches!(message, Message::Assistant { .. }));
    assert!(broken(&spoiled(cut)).contains("I5"));
}

#[test]
fn i1_the_summariser_is_one_call_of_the_bound_and_counted() {
    let mut run = folded();
    (run.settings.iterations, run.settings.attempts) = (3, 1);
    holds(&run, "I1");
    run.settings.iterations = 2;
    breaks_only(&run, "I1");
    (run.settings.iterations, run.settings.fold_bytes) = (3, 0);
    breaks_only(&run, "I1");
    let uncounted = |run: &mut RunFacts| run.turns[2].events.retain(|event| !matches!(event, Event::SummaryAsked { .. }));
    breaks_only(&spoiled(uncounted), "I1");
    let unpaid = |run: &mut RunFacts| run.turns[2].events.retain(|event| !matches!(event, Event::Summarised { .. }));
    breaks_only(&spoiled(unpaid), "I1");
}

#[test]
fn i9_what_is_pending_outlives_the_fold_of_the_turn_that_left_it() {
    let mut story = Story::new();
    story.run.state_guard = false;
    story.turn().lacks("skills", &json!({"items": [{}]}), &["items.0.name"]).says(vec![]).accepted().ends();
    story.turn().says(vec![]).accepted().ends();
    story.turn().folds(1).says(vec![]).accepted().ends();
    holds(&story.run, "I9");
    holds(&story.run, "I13");
    story.run.turns[2].pending.clear();
    breaks_only(&story.run, "I9");
}

#[test]
fn i13_a_fate_that_the_trail_refused_and_a_death_kept_from_being_added_may_be_missing_or_unknown() {
    let refused = |spoil: &dyn Fn(&mut RunFacts)| {
        spoiled(|run| {
            run.turns[1].refused.insert(Port::Settle);
            run.turns[1].crashed = true;
            spoil(run);
        })
    };
    let unknown = |run: &mut RunFacts| respell(run, "- update_skills: FAILED", "- update_skills: UNKNOWN");
    breaks_only(&spoiled(unknown), "I13");
    let mut alive = refused(&unknown);
    alive.turns[1].crashed = false;
    breaks_only(&alive, "I13");
    let without = |run: &mut RunFacts| {
        respell(run, "- update_skills: FAILED — the store said no\n", "");
        respell(run, "2 of 4 applied", "2 of 3 applied");
    };
    breaks_only(&spoiled(without), "I13");
    holds(&refused(&without), "I13");
    holds(&refused(&|run| respell(run, "- update_skills: FAILED", "- update_skills: UNKNOWN")), "I13");
    breaks_only(&refused(&|run| respell(run, "- update_skills: FAILED", "- update_skills: no change")), "I13");
    let all = "- create_skills: applied — created skills #1, #2";
    breaks_only(&refused(&|run| respell(run, all, &all.replace("applied", "UNKNOWN"))), "I13");
}

/// The second turn dies while its last reply is being stored; the third folds the first.
fn died(heard: bool) -> RunFacts {
    let mut story = Story::new();
    story.turn().says(vec![]).accepted().ends();
    let record = story.turn().says(vec![]).dies();
    if !heard {
        let events = &mut story.run.turns[1].events;
        events.retain(|event| !matches!(event, Event::Stored { message: Message::Assistant { .. } }));
    }
    story.turn().recovers(record).folds(1).says(vec![]).accepted().ends();
    story.run
}

#[test]
fn i13_what_was_being_stored_as_the_process_died_may_be_there() {
    holds(&died(true), "I13");
    holds(&died(false), "I13");
    let mut run = died(false);
    run.turns[1].crashed = false;
    breaks(&run);
    run.turns[1].refused.insert(Port::Append);
    assert!(!broken(&run).contains("I13"));
    let mut story = Story::new();
    story.turn().says(vec![]).stops(Stop::TimeLimit);
    story.turn().says(vec![]).accepted().ends();
    story.turn().folds(1).says(vec![]).accepted().ends();
    holds(&story.run, "I13");
}
