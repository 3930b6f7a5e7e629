//! Each invariant but those of pending work: a run that holds, and the same run with one thing spoiled.

use unbacked::oracle::claims::{Claim, Label, When};
use unbacked::oracle::record::RunFacts;
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::message::{Block, Message, ToolResult};
use unbacked::turn::ports::Verdict;

use super::support::{
    MARKER, OTHER, Story, USER, breaks_only, broken, claim, earlier, failed, holds, says_created, spoil_receipt, spoil_record,
    unbacked_claim, unknown,
};

/// Two turns of an honest model: it writes two skills and says so, then deletes one of them and chats.
fn honest() -> RunFacts {
    let mut story = Story::new();
    story.turn().writes(Act::Create, "skills", &[1, 2], Fate::Applied).says(vec![says_created("skills", 2)]).accepted().ends();
    story.turn().writes(Act::Delete, "skills", &[1], Fate::Applied).says(vec![Label::SmallTalk]).accepted().ends();
    story.run
}

/// One turn in which a call has this fate.
fn with_fate(fate: Fate, ids: &[i64]) -> RunFacts {
    let mut story = Story::new();
    story.turn().writes(Act::Create, "skills", ids, fate).says(vec![Label::SmallTalk]).accepted().ends();
    story.run
}

/// An honest run with one thing spoiled.
fn spoiled(spoil: impl Fn(&mut RunFacts)) -> RunFacts {
    let mut run = honest();
    spoil(&mut run);
    run
}

#[test]
fn every_invariant_holds_on_an_honest_run() {
    for invariant in ["I1", "I2", "I3", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12"] {
        holds(&honest(), invariant);
    }
    for (fate, ids) in [(Fate::NoChange, &[][..]), (failed(), &[]), (unknown(), &[]), (unknown(), &[7])] {
        holds(&with_fate(fate, ids), "I2");
    }
}

#[test]
fn i1_a_turn_that_never_closed_is_found() {
    let run = spoiled(|run| run.turns[1].events.retain(|event| !matches!(event, Event::TurnClosed { .. })));
    breaks_only(&run, "I1");
}

#[test]
fn i1_a_turn_may_take_all_of_its_time_and_no_more() {
    holds(&spoiled(|run| run.turns[0].elapsed_ms = run.settings.turn_ms), "I1");
    breaks_only(&spoiled(|run| run.turns[0].elapsed_ms = run.settings.turn_ms + 1), "I1");
}

#[test]
fn i1_the_ceiling_of_b7_is_reached_and_not_passed() {
    let under = |iterations, attempts, output_tokens| {
        spoiled(|run| {
            let settings = &mut run.settings;
            (settings.iterations, settings.attempts, settings.output_tokens) = (iterations, attempts, output_tokens);
        })
    };
    holds(&under(2, 1, 10), "I1");
    breaks_only(&under(1, 2, 10), "I1");
    breaks_only(&under(2, 1, 9), "I1");
    let mut tried_again = Story::new();
    tried_again.turn().breaks_off(vec![]).says(vec![]).accepted().ends();
    (tried_again.run.settings.iterations, tried_again.run.settings.attempts) = (1, 2);
    holds(&tried_again.run, "I1");
    tried_again.run.settings.attempts = 1;
    breaks_only(&tried_again.run, "I1");
}

#[test]
fn i1_judge_calls_are_those_of_two_looks() {
    let run = |guard_calls| {
        let mut story = Story::new();
        story.run.guard_calls = guard_calls;
        let turn = story.turn().says(vec![Label::Promises]).objected(unbacked_claim());
        turn.says(vec![Label::SmallTalk]).objected(unbacked_claim()).ends();
        story.run
    };
    holds(&run(1), "I1");
    breaks_only(&run(0), "I1");
}

#[test]
fn i1_counts_that_are_not_those_of_the_trace_are_found() {
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.model_calls -= 1)), "I1");
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.iterations -= 1)), "I1");
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.judge_calls += 1)), "I1");
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.corrections += 1)), "I1");
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.tokens_out -= 1)), "I1");
}

#[test]
fn i2_a_row_left_out_a_row_too_many_another_id_another_act_and_another_section_are_found() {
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[1], |receipt| receipt.entries[0].rows[0].id = 9)), "I2");
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[1], |receipt| receipt.entries[0].rows[0].act = Act::Update)), "I2");
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[1], |receipt| receipt.entries[0].rows[0].section = "links".into())), "I2");
    breaks_only(&spoiled(one_row_too_many), "I2");
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[0], |receipt| drop(receipt.entries[0].rows.pop()))), "I2");
}

fn one_row_too_many(run: &mut RunFacts) {
    spoil_receipt(&mut run.turns[0], |receipt| {
        let mut row = receipt.entries[0].rows[0].clone();
        row.id = 9;
        receipt.entries[0].rows.push(row);
    });
}

#[test]
fn i2_nothing_unknown_or_failed_is_called_applied() {
    for fate in [unknown(), failed()] {
        let mut run = with_fate(fate, &[7]);
        spoil_receipt(&mut run.turns[0], |receipt| receipt.entries[0].fate = Fate::Applied);
        breaks_only(&run, "I2");
    }
}

#[test]
fn i2_something_applied_that_no_verifier_bore_out_is_found() {
    breaks_only(&spoiled(|run| run.turns[0].events.retain(|event| !matches!(event, Event::Verified { .. }))), "I2");
    let contradicted = spoiled(|run| {
        for event in &mut run.turns[0].events {
            if let Event::Verified { verdict, .. } = event {
                *verdict = Verdict::Contradicted { error: "gone".into() };
            }
        }
    });
    breaks_only(&contradicted, "I2");
}

#[test]
fn i2_a_call_that_the_receipt_leaves_out_is_found() {
    let mut run = with_fate(failed(), &[]);
    spoil_receipt(&mut run.turns[0], |receipt| receipt.entries.clear());
    spoil_record(&mut run.turns[0], |record| record.status = Status::Unchanged);
    for event in &mut run.turns[0].events {
        if let Event::Receipt { text, .. } = event {
            text.clear();
        }
    }
    breaks_only(&run, "I2");
}

#[test]
fn i2_earlier_turns_are_summed_up_as_the_database_has_them() {
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[1], |receipt| receipt.earlier.as_mut().unwrap()[0].count += 1)), "I2");
    breaks_only(&spoiled(|run| spoil_receipt(&mut run.turns[1], |receipt| receipt.earlier.as_mut().unwrap().clear())), "I2");
}

#[test]
fn i2_the_shown_receipt_and_the_stored_record_are_held_to_it_too() {
    let shown = spoiled(|run| {
        for event in &mut run.turns[0].events {
            if let Event::Receipt { receipt, .. } = event {
                receipt.entries[0].rows.clear();
            }
        }
    });
    breaks_only(&shown, "I2");
    breaks_only(&spoiled(|run| run.turns[0].record.iter_mut().for_each(|record| record.receipt.entries[0].rows.clear())), "I2");
    breaks_only(&spoiled(|run| run.turns[0].record.iter_mut().for_each(|record| record.receipt.entries[0].rows[0].id = 9)), "I2");
}

fn without_receipts(run: &mut RunFacts) {
    run.settings.parts.receipts = false;
    run.turns.iter_mut().for_each(|facts| facts.events.retain(|event| !matches!(event, Event::Receipt { .. })));
}

#[test]
fn u1_a_turn_without_its_receipt_is_found_where_the_policy_has_receipts() {
    let mut run = spoiled(without_receipts);
    holds(&run, "I2");
    run.settings.parts.receipts = true;
    breaks_only(&run, "I2");
}

#[test]
fn u1_a_receipt_whose_words_say_something_else_is_found() {
    let reworded = |from: &str, to: &str| {
        spoiled(|run| {
            for event in &mut run.turns[0].events {
                if let Event::Receipt { text, .. } = event {
                    *text = text.replace(from, to);
                }
            }
        })
    };
    holds(&reworded("receipt\n", "a receipt\n"), "I2");
    breaks_only(&reworded("applied", "FAILED"), "I2");
    breaks_only(&reworded("- create", "create"), "I2");
    breaks_only(&reworded("created skills", "deleted skills"), "I2");
    breaks_only(&reworded("#2", "#22"), "I2");
    breaks_only(&reworded("receipt\n", "No change was made.\n"), "I2");
    breaks_only(&reworded("receipt\n", "- create_links: applied — created links #1\n"), "I2");
}

#[test]
fn i3_the_status_follows_from_facts() {
    for status in [Status::Unchanged, Status::Attempted, Status::Contested, Status::Bound, Status::Fault] {
        breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.status = status)), "I3");
        breaks_only(&spoiled(|run| spoil_record(&mut run.turns[1], |record| record.status = status)), "I3");
    }
    let mut attempted = with_fate(failed(), &[]);
    holds(&attempted, "I3");
    spoil_record(&mut attempted.turns[0], |record| record.status = Status::Unchanged);
    breaks_only(&attempted, "I3");
}

#[test]
fn i3_bounds_and_faults_have_a_status_of_their_own() {
    let strikes = Stop::Strikes { tool: "create_skills".into(), failure: "store".into() };
    let bounds = [Stop::Iterations, strikes, Stop::TimeLimit, Stop::Empty, Stop::Truncated, Stop::Cancelled];
    let faults = [Stop::Refused, Stop::Cut, Stop::Provider { error: "no".into() }, Stop::Memory { error: "no".into() }];
    for (stop, wrong) in bounds.into_iter().map(|stop| (stop, Status::Fault)).chain(faults.into_iter().map(|stop| (stop, Status::Bound))) {
        let mut story = Story::new();
        story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).says(vec![]).stops(stop);
        holds(&story.run, "I3");
        for status in [Status::Changed, wrong] {
            spoil_record(&mut story.run.turns[0], |record| record.status = status);
            breaks_only(&story.run, "I3");
        }
    }
}

#[test]
fn i3_an_objection_that_stands_contests_the_turn_and_one_that_was_met_does_not() {
    let corrected = |stands: bool| {
        let mut story = Story::new();
        let turn = story.turn().says(vec![says_created("skills", 1)]).objected(unbacked_claim());
        let turn = turn.says(vec![Label::Denies(claim(Act::Create, "skills", 1))]);
        if stands {
            turn.objected(unbacked_claim()).ends()
        } else {
            turn.accepted().ends()
        }
        story.run
    };
    let (mut contested, mut met) = (corrected(true), corrected(false));
    holds(&contested, "I3");
    holds(&met, "I3");
    spoil_record(&mut contested.turns[0], |record| record.status = Status::Unchanged);
    breaks_only(&contested, "I3");
    spoil_record(&mut met.turns[0], |record| record.status = Status::Contested);
    breaks_only(&met, "I3");
}

#[test]
fn i3_an_objection_that_no_second_look_answered_contests_a_turn_that_was_cut_short() {
    let mut story = Story::new();
    story.turn().says(vec![Label::Promises]).objected(unbacked_claim()).stops(Stop::TimeLimit);
    assert_eq!(story.run.turns[0].record.as_ref().map(|record| record.status), Some(Status::Contested));
    holds(&story.run, "I3");
    spoil_record(&mut story.run.turns[0], |record| record.status = Status::Bound);
    breaks_only(&story.run, "I3");
}

/// A turn that says this with nothing done, and then a second turn.
fn lie(labels: Vec<Label>) -> RunFacts {
    let mut story = Story::new();
    story.turn().says(labels).accepted().ends();
    story.turn().says(vec![Label::SmallTalk]).accepted().ends();
    story.run
}

/// The same without receipts, so that nothing contradicts it to the user.
fn bare_lie(labels: Vec<Label>) -> RunFacts {
    let mut run = lie(labels);
    without_receipts(&mut run);
    run
}

#[test]
fn i4_a_lie_that_receipt_and_next_report_contradict_does_not_stand_alone() {
    holds(&lie(vec![says_created("skills", 1)]), "I4");
    breaks_only(&bare_lie(vec![says_created("skills", 1)]), "I4");
}

#[test]
fn i4_the_next_report_is_owed_where_there_is_a_next_turn() {
    let mut run = lie(vec![says_created("skills", 1)]);
    for event in &mut run.turns[1].events {
        if let Event::TurnOpened { report, .. } = event {
            *report = None;
        }
    }
    breaks_only(&run, "I4");
    let mut last = Story::new();
    last.turn().says(vec![says_created("skills", 1)]).accepted().ends();
    holds(&last.run, "I4");
}

#[test]
fn i4_a_lie_that_was_taken_back_needs_nobody() {
    for back in [Label::Denies(claim(Act::Create, "skills", 1)), Label::ReportsFailure(claim(Act::Create, "skills", 1))] {
        assert!(broken(&bare_lie(vec![says_created("skills", 1), back.clone()])).is_empty(), "{back:?}");
        breaks_only(&bare_lie(vec![back, says_created("skills", 1)]), "I4");
    }
}

#[test]
fn i4_taking_back_something_else_takes_nothing_back() {
    for other in [claim(Act::Update, "skills", 1), claim(Act::Create, "links", 1), earlier(Act::Create, "skills", 1)] {
        breaks_only(&bare_lie(vec![says_created("skills", 1), Label::Denies(other)]), "I4");
    }
}

#[test]
fn i4_a_contested_turn_is_one_whose_line_reached_the_user() {
    let mut story = Story::new();
    let turn = story.turn().says(vec![says_created("skills", 1)]).objected(unbacked_claim());
    turn.says(vec![says_created("skills", 1)]).objected(unbacked_claim()).ends();
    without_receipts(&mut story.run);
    holds(&story.run, "I4");
    story.run.turns[0].events.retain(|event| !matches!(event, Event::Line { .. }));
    breaks_only(&story.run, "I4");
}

#[test]
fn i4_a_receipt_that_covers_the_lie_contradicts_nothing() {
    let mut story = Story::new();
    story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).says(vec![says_created("skills", 2)]).accepted().ends();
    holds(&story.run, "I4");
    one_row_too_many(&mut story.run);
    let found = broken(&story.run);
    assert!(found.contains("I4") && found.contains("I2"), "{found:?}");
}

/// A lie over one applied and one failed call, and the next turn's report of them with words replaced.
fn next_report(words: &[(&str, &str)]) -> RunFacts {
    let mut story = Story::new();
    let turn = story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).writes(Act::Create, "links", &[], failed());
    turn.says(vec![says_created("links", 1)]).accepted().ends();
    story.turn().says(vec![]).accepted().ends();
    for event in &mut story.run.turns[1].events {
        if let Event::TurnOpened { report: Some(report), .. } = event {
            *report = words.iter().fold(report.clone(), |report, (from, to)| report.replace(from, to));
        }
    }
    story.run
}

#[test]
fn i4_the_next_report_has_to_list_the_very_calls_of_the_turn() {
    holds(&next_report(&[]), "I4");
    breaks_only(&next_report(&[("FAILED", "applied")]), "I4");
    breaks_only(&next_report(&[("applied", "FAILED")]), "I4");
    breaks_only(&next_report(&[("- create_links", "create_links")]), "I4");
    breaks_only(&next_report(&[("- create_links", "- create_skills")]), "I4");
    breaks_only(&next_report(&[("applied", "X"), ("FAILED", "applied"), ("X", "FAILED")]), "I4");
}

#[test]
fn i4_a_true_recap_is_backed_and_a_false_one_is_not() {
    let recap = |count, when| {
        let mut story = Story::new();
        story.turn().writes(Act::Create, "skills", &[1, 2], Fate::Applied).says(vec![]).accepted().ends();
        story.turn().says(vec![Label::Claims(Claim { when, ..claim(Act::Create, "skills", count) })]).accepted().ends();
        without_receipts(&mut story.run);
        story.run
    };
    assert!(broken(&recap(2, When::Earlier)).is_empty());
    breaks_only(&recap(3, When::Earlier), "I4");
    breaks_only(&recap(1, When::ThisTurn), "I4");
}

#[test]
fn i4_a_false_recap_is_contradicted_by_the_sums_of_the_receipt() {
    let recap = |count| {
        let mut story = Story::new();
        story.turn().writes(Act::Create, "skills", &[1, 2], Fate::Applied).says(vec![]).accepted().ends();
        story.turn().says(vec![Label::Claims(earlier(Act::Create, "skills", count))]).accepted().ends();
        story.run
    };
    holds(&recap(3), "I4");
    let mut covered = recap(3);
    spoil_receipt(&mut covered.turns[1], |receipt| receipt.earlier.as_mut().unwrap()[0].count = 3);
    assert!(broken(&covered).contains("I4"));
}

#[test]
fn i4_what_this_turn_wrote_backs_no_recap() {
    let mut story = Story::new();
    let recap = Label::Claims(earlier(Act::Create, "skills", 1));
    story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).says(vec![recap]).accepted().ends();
    without_receipts(&mut story.run);
    breaks_only(&story.run, "I4");
}

#[test]
fn i4_no_change_backs_nothing_and_an_unknown_fate_is_no_lie() {
    let said = |fate, ids: &[i64]| {
        let mut story = Story::new();
        story.turn().writes(Act::Create, "skills", ids, fate).says(vec![says_created("skills", 1)]).accepted().ends();
        without_receipts(&mut story.run);
        story.run
    };
    assert!(broken(&said(Fate::Applied, &[1])).is_empty());
    assert!(broken(&said(unknown(), &[1])).is_empty());
    for fate in [Fate::NoChange, failed(), unknown()] {
        breaks_only(&said(fate, &[]), "I4");
    }
}

#[test]
fn i5_the_stored_reply_is_the_streamed_text() {
    assert!(broken(&spoiled(|run| run.turns[0].events.retain(|event| !matches!(event, Event::Text { .. })))).contains("I5"));
    breaks_only(&spoiled(|run| spoil_record(&mut run.turns[0], |record| record.reply.push('!'))), "I5");
    breaks_only(&spoiled(|run| run.turns[0].record.iter_mut().for_each(|record| record.reply.clear())), "I5");
    let closed = spoiled(|run| {
        for event in &mut run.turns[0].events {
            if let Event::TurnClosed { record } = event {
                record.reply.clear();
            }
        }
    });
    breaks_only(&closed, "I5");
    let other_text = spoiled(|run| {
        for event in &mut run.turns[0].events {
            if let Event::Stored { message: Message::Assistant { blocks, .. } } = event {
                blocks.retain(|block| !matches!(block, Block::Text { .. }));
            }
        }
    });
    breaks_only(&other_text, "I5");
}

#[test]
fn i5_the_transcript_at_the_end_holds_what_every_turn_said() {
    let lose = |run: &mut RunFacts| {
        for message in &mut run.messages {
            if let Message::Assistant { blocks, .. } = message {
                blocks.retain(|block| !matches!(block, Block::Text { .. }));
            }
        }
    };
    breaks_only(&spoiled(lose), "I5");
}

#[test]
fn i6_a_request_that_breaks_a_rule_is_found() {
    breaks_only(&spoiled(|run| run.turns[0].violations.push("W-A34: two user messages running".into())), "I6");
}

fn place_of_results(run: &RunFacts) -> usize {
    run.messages.iter().position(|message| matches!(message, Message::Results { .. })).expect("the run has results")
}

#[test]
fn i7_a_call_without_its_result_or_with_two_is_found() {
    let edit = |edit: fn(&mut Vec<ToolResult>)| {
        spoiled(|run| {
            let place = place_of_results(run);
            if let Message::Results { results, .. } = &mut run.messages[place] {
                edit(results);
            }
        })
    };
    breaks_only(&edit(Vec::clear), "I7");
    breaks_only(&edit(|results| results.push(results[0].clone())), "I7");
    breaks_only(&edit(|results| results[0].call_id = "another".into()), "I7");
}

#[test]
fn i7_results_stand_right_after_their_calls_and_nowhere_else() {
    breaks_only(&spoiled(|run| drop(run.messages.remove(place_of_results(run)))), "I7");
    breaks_only(&spoiled(|run| run.messages.insert(place_of_results(run), Message::Correction { text: String::new() })), "I7");
    breaks_only(&spoiled(|run| run.messages.push(run.messages[place_of_results(run)].clone())), "I7");
    breaks_only(&spoiled(|run| run.messages.insert(place_of_results(run), run.messages[place_of_results(run)].clone())), "I7");
}

/// A run of one call with this id, or of two that share it.
fn called(id: &str, twice: bool) -> RunFacts {
    let mut run = if twice { honest() } else { with_fate(Fate::NoChange, &[]) };
    for message in &mut run.messages {
        match message {
            Message::Results { results, .. } => results.iter_mut().for_each(|result| result.call_id = id.into()),
            Message::Assistant { blocks, .. } => {
                for block in blocks {
                    if let Block::Call(call) = block {
                        call.id = id.into();
                    }
                }
            }
            _ => {}
        }
    }
    run
}

#[test]
fn l5_no_two_calls_of_a_transcript_have_one_id_and_each_is_legal() {
    for legal in ["legal-ID_1", &"x".repeat(40)] {
        holds(&called(legal, false), "I7");
        breaks_only(&called(legal, true), "I7");
    }
    for illegal in ["", "no spaces", "ö", &"x".repeat(41)] {
        breaks_only(&called(illegal, false), "I7");
    }
}

#[test]
fn i8_a_change_is_audited_once_and_nothing_else_is() {
    breaks_only(&spoiled(|run| drop(run.trail.pop())), "I8");
    breaks_only(&spoiled(|run| run.trail.push(run.trail[0].clone())), "I8");
    breaks_only(&spoiled(|run| run.trail[0].1.id = 9), "I8");
    breaks_only(&spoiled(|run| run.trail[0].1.act = Act::Update), "I8");
    breaks_only(&spoiled(|run| run.trail[0].0.index += 1), "I8");
    breaks_only(&spoiled(|run| run.turns[0].audited_in_same_transaction = false), "I8");
}

#[test]
fn i8_a_discarded_entry_is_no_row() {
    let mut story = Story::new();
    let turn = story.turn().lacks("skills", &serde_json::json!({}), &["name"]);
    turn.writes(Act::Discard, "skills", &[0], Fate::Applied).says(vec![]).accepted().ends();
    holds(&story.run, "I8");
}

#[test]
fn i11_a_row_of_another_user_is_neither_changed_taken_nor_given_away() {
    let owners = |owner, given_to| {
        spoiled(|run| {
            let change = &mut run.turns[1].by_call[0].1[0];
            (change.owner, change.given_to) = (owner, given_to);
        })
    };
    breaks_only(&owners(OTHER, None), "I11");
    breaks_only(&owners(USER, Some(OTHER)), "I11");
    breaks_only(&owners(OTHER, Some(USER)), "I11");
}

fn with_result(mut run: RunFacts, content: &str) -> RunFacts {
    for event in &mut run.turns[0].events {
        if let Event::Resulted { result, .. } = event {
            result.content = content.into();
        }
    }
    run
}

#[test]
fn i11_a_row_of_another_user_is_not_read() {
    breaks_only(&with_result(honest(), &format!("{{\"skills\":\"{MARKER}\"}}")), "I11");
}

#[test]
fn i12_a_harness_block_that_the_harness_did_not_write_is_found() {
    breaks_only(&spoiled(|run| run.turns[0].harness_blocks.push((2, 1))), "I12");
    breaks_only(&spoiled(|run| run.turns[0].harness_blocks.push((0, 1))), "I12");
}

#[test]
fn i12_a_tools_own_verification_never_passes() {
    let saying = |content: &str, fate: Fate| with_result(with_fate(fate, &[]), content);
    breaks_only(&saying(r#"{"_verification":{"ok":true}}"#, failed()), "I12");
    breaks_only(&saying(r#"{"_verification":{"ok":true}}"#, unknown()), "I12");
    breaks_only(&saying(r#"{"_verification":{"ok":false}}"#, Fate::NoChange), "I12");
    breaks_only(&saying(r#"{"_verification":"ok"}"#, Fate::NoChange), "I12");
    holds(&saying(r#"{"_verification":{"ok":true}}"#, Fate::NoChange), "I12");
    holds(&saying(r#"{"according_to_the_tool":{"ok":true}}"#, failed()), "I12");
}

#[test]
fn i12_a_call_that_only_reads_has_no_verification() {
    let reads = |content: &str| {
        let mut run = with_result(with_fate(Fate::NoChange, &[]), content);
        run.turns[0].events.retain(|event| !matches!(event, Event::Settled { .. } | Event::Verified { .. }));
        broken(&run).contains("I12")
    };
    assert!(reads(r#"{"_verification":{"ok":false}}"#));
    assert!(!reads(r#"{"skills":[]}"#));
}
