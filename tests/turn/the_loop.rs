//! L: the loop.

use serde_json::json;
use std::time::Duration;

use unbacked::turn::conversation::Conversation;
use unbacked::turn::draft::{CallKey, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::machine::Interrupt;
use unbacked::turn::message::{Block, BrokenArguments, Finish, Message, Reply};
use unbacked::turn::ports::{Chunk, Failure, ModelFault};

use crate::play::{Answer, Game, Play};
use crate::say::{self, CREATE, READ, SKILL, call, call_with_id, calls, calls_of, failed, passing, permanent, text, unbacked};

#[test]
fn l1_every_model_call_carries_all_tools_and_the_transcript_so_far() {
    let mut game = Game::new().replies([calls_of(&[READ]), calls_of(&[CREATE]), text("ok")]);
    game.turn("hello");
    // That the tools are all there is checked by the game itself, at every call.
    let lengths: Vec<usize> = game.prompts.iter().map(|(_, messages)| messages.len()).collect();
    assert_eq!(lengths, [1, 3, 5]);
}

#[test]
fn l2_a_turn_ends_normally_only_on_a_reply_without_calls_that_the_guard_accepts() {
    let mut game = Game::new().replies([calls_of(&[READ]), text("that is it")]);
    let record = game.turn("hello");
    assert_eq!(record.stop, Stop::Replied);
    assert_eq!(record.lines, Vec::<String>::new());
    assert_eq!(game.steps.iter().filter(|step| *step == "consult").count(), 1);
    assert!(game.place("consult") > game.place("run read_cv"));
}

#[test]
fn l2_a_reply_with_calls_never_ends_a_turn_whatever_its_finish_reason() {
    for finish in [Finish::Stop, Finish::ToolCalls, Finish::Other("eos".into())] {
        let mut game = Game::new().replies([Reply { finish, ..calls_of(&[CREATE]) }, text("ok")]);
        assert_eq!(game.turn("hello").iterations, 2);
        assert_eq!(game.ran.len(), 1);
    }
}

#[test]
fn l2_every_other_exit_is_typed() {
    let finished = |finish| Answer::Whole(Reply { finish, ..text("half a") });
    let shown = vec![Chunk::Text("half a".into())];
    let silence = || Answer::Whole(Reply::default());
    let table: Vec<(&str, Vec<Answer>, Stop, Status)> = vec![
        ("two silent replies", vec![silence(), silence()], Stop::Empty, Status::Bound),
        ("token limit", vec![finished(Finish::Length)], Stop::Truncated, Status::Bound),
        ("refusal", vec![finished(Finish::Refusal)], Stop::Refused, Status::Fault),
        ("broken stream", vec![Answer::Breaks(shown.clone(), passing("reset"))], Stop::Cut, Status::Fault),
        ("cancel", vec![Answer::Interrupted(shown.clone(), Interrupt::Cancelled)], Stop::Cancelled, Status::Bound),
        ("time", vec![Answer::Interrupted(shown, Interrupt::TimeLimit)], Stop::TimeLimit, Status::Bound),
        ("permanent", vec![Answer::Breaks(vec![], permanent("bad key"))], Stop::Provider { error: "bad key".into() }, Status::Fault),
    ];
    for (name, answers, stop, status) in table {
        let mut game = Game::new().answers(answers);
        let record = game.turn("hello");
        assert_eq!((&record.stop, record.status), (&stop, status), "{name}");
        assert_eq!(record.lines.len(), 1, "{name}: the user is told");
        assert!(!game.steps.contains(&"consult".to_owned()), "{name}");
    }
}

#[test]
fn l2_one_silent_reply_is_asked_again() {
    let mut game = Game::new().replies([Reply::default(), text("sorry")]);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.iterations, record.reply.as_str()), (Stop::Replied, 2, "sorry"));
}

#[test]
fn l3_an_assistant_message_is_stored_with_text_calls_and_thinking_in_the_order_they_came() {
    let thinking = Block::Thinking { text: "hm".into(), signature: Some("sig".into()) };
    let blocks = vec![
        thinking,
        Block::text("one "),
        Block::Call(call_with_id("a", READ)),
        Block::text("two"),
        Block::Call(call_with_id("b", CREATE)),
    ];
    let mut game = Game::new().replies([Reply { blocks: blocks.clone(), ..Reply::default() }]);
    game.turn("hello");
    assert_eq!(game.conversation.messages[1], Message::Assistant { blocks, at: FIRST });
}

#[test]
fn l3_later_turns_replay_the_stored_calls_and_results() {
    let mut game = Game::new().replies([calls_of(&[CREATE]), text("ok"), text("and now")]);
    game.turn("first");
    let stored = game.conversation.messages.clone();
    game.turn("second");
    let (_, replayed) = game.prompts.last().expect("asked");
    assert_eq!(replayed[..stored.len()], stored);
}

#[test]
fn l3_a_reply_is_stored_before_any_of_its_calls_runs() {
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    game.turn("hello");
    assert!(game.place("save assistant") < game.place("run create_experiences"));
}

#[test]
fn l4_a_failing_call_takes_no_other_call_with_it() {
    let mut game = Game::new().replies([calls_of(&[CREATE, SKILL, CREATE])]);
    let kind = |id| Play::says(say::done(json!({"touched_ids": [id]})), &[say::row(unbacked::turn::draft::Act::Create, "experiences", id)]);
    game = game.plays([kind(1), Play::fails(failed(Failure::Conflict, "twice")), kind(3)]);
    let record = game.turn("hello");
    assert_eq!(game.fates(), [Fate::Applied, Fate::Failed { reason: "twice".into() }, Fate::Applied]);
    assert_eq!(record.receipt.rows().count(), 2);
}

#[test]
fn l5_whatever_is_wrong_with_a_call_it_gets_one_readable_result_in_its_place() {
    let names = [READ, "make_coffee", CREATE, CREATE, CREATE, CREATE, CREATE, SKILL, READ];
    let mut batch: Vec<_> = names.iter().map(|name| call(name, json!({}))).collect();
    batch[2] = say::broken(CREATE, BrokenArguments::NotJson);
    batch[3] = say::broken(CREATE, BrokenArguments::NotAnObject);
    let mut game = Game::new().replies([calls(batch)]).plays([
        Play::fails(say::done(json!({"rows": 3}))),
        Play::fails(failed(Failure::Schema, "start must be a date")),
        Play::fails(failed(Failure::Panicked, "the tool crashed")),
        Play::fails(failed(Failure::TimedOut, "the tool ran out of time")),
        Play::fails(failed(Failure::NotFound, "no such row")),
    ]);
    game.turn("hello");
    let results = game.results();
    let wanted = ["", "unknown_tool", "broken_arguments", "broken_arguments", "schema", "panicked", "timed_out", "not_found", ""];
    assert_eq!(results.len(), wanted.len());
    for ((result, name), kind) in results.iter().zip(names).zip(wanted) {
        let content: serde_json::Value = serde_json::from_str(&result.content).expect("JSON");
        assert_eq!((result.name.as_str(), result.is_error), (name, !kind.is_empty()), "{content}");
        assert_eq!(content.get("failure").and_then(|kind| kind.as_str()).unwrap_or(""), kind);
        assert_eq!(content.get("error").is_some(), !kind.is_empty(), "{content}");
    }
    assert!(results[1].content.contains(READ), "an unknown tool's result names the tools there are");
    assert_eq!(game.steps.iter().filter(|step| *step == "save results").count(), 1, "all in one message");
}

#[test]
fn l5_missing_illegal_and_repeated_ids_are_mended_before_they_are_stored() {
    let long = "x".repeat(41);
    let just = "y".repeat(40);
    let batch = ["", "", "same", "same", "no spaces", &long, &just, "call_1_1_0", "é"].map(|id| call_with_id(id, READ));
    let mut game = Game::new().replies([calls(batch), text("ok"), calls([call_with_id("same", READ)])]);
    game.turn("first");
    game.turn("second");
    let ids: Vec<&str> = game.results().iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!((ids[2], ids[6]), ("same", just.as_str()), "a good id stays");
    assert_ne!(ids[9], "same", "ids are unique over turns");
    // That all are legal, unique and paired is checked by the game itself.
}

#[test]
fn l5_an_id_that_the_model_made_up_ahead_of_time_is_not_given_out_again() {
    let ahead = calls([call_with_id("call_2_1_0", READ), call_with_id("call_2_1_0_", READ)]);
    let mut game = Game::new().replies([ahead, text("ok"), calls([call_with_id("", READ)])]);
    game.turn("first");
    game.turn("second");
    assert_eq!(game.results().len(), 3);
}

#[test]
fn l5_calls_that_a_dead_process_left_unanswered_are_answered_before_anything_else_is_said() {
    let left = vec![
        Message::User { report: None, words: "hello".into() },
        Message::Assistant { blocks: vec![Block::Call(call_with_id("a", READ)), Block::Call(call_with_id("b", CREATE))], at: FIRST },
    ];
    let mut game = Game::new();
    game.conversation = Conversation { turn: 1, spoken: 1, next_seq: 2, messages: left, ..Conversation::default() }.restored();
    game.turn("are you there?");
    assert_eq!(game.results().len(), 2);
    assert!(game.results().iter().all(|result| result.is_error));
    assert!(matches!(game.conversation.messages[3], Message::User { .. }));
}

#[test]
fn l6_the_report_rides_in_the_message_of_the_results() {
    let mut game = Game::new().replies([calls_of(&[CREATE, READ])]);
    game.turn("hello");
    let Message::Results { results, report: Some(report) } = &game.conversation.messages[2] else { panic!("no results with a report") };
    assert_eq!(results.len(), 2);
    assert!(report.contains("1 of 1 applied"), "{report}");
}

#[test]
fn l7_a_turn_opens_with_what_the_previous_turn_changed_none_included() {
    let mut game = Game::new().replies([calls_of(&[CREATE]), text("saved"), text("hm"), text("well")]);
    for words in ["first", "second", "third"] {
        game.turn(words);
    }
    let heads = game.conversation.messages.iter().filter_map(|message| match message {
        Message::User { report, .. } => report.as_deref().and_then(|report| report.lines().nth(1)),
        _ => None,
    });
    let heads = heads.collect::<Vec<_>>();
    assert_eq!(heads, ["changes last turn: none", "changes last turn: 1 of 1 applied", "changes last turn: none"]);
}

#[test]
fn l8_what_was_shown_is_what_is_stored_a_correction_continues_it() {
    let mut game = Game::new().replies([text("Saved! "), text("No: it is not saved.")]).rulings([unbacked()]);
    let record = game.turn("hello");
    assert_eq!(record.reply, "Saved! No: it is not saved.");
    let roles: Vec<&str> = game.steps.iter().map(String::as_str).filter(|step| step.starts_with("save")).collect();
    assert_eq!(roles, ["save user", "save assistant", "save correction", "save assistant"]);
}

#[test]
fn l8_text_of_a_stream_that_broke_stays() {
    let mut game = Game::new().answers([Answer::Breaks(vec![Chunk::Text("I will n".into())], passing("reset"))]);
    let record = game.turn("hello");
    assert_eq!((record.reply.as_str(), record.stop), ("I will n", Stop::Cut));
    assert_eq!(
        game.conversation.messages[1],
        Message::Assistant { blocks: vec![Block::text("I will n")], at: CallKey { iteration: 0, ..FIRST } }
    );
}

#[test]
fn l9_no_call_of_a_reply_that_was_cut_off_is_ever_run() {
    let mut game = Game::new().replies([Reply { finish: Finish::Length, ..calls_of(&[CREATE, SKILL]) }, text("ok")]);
    let record = game.turn("hello");
    assert_eq!(game.ran.len(), 0);
    assert_eq!(game.results().len(), 2);
    assert!(game.results().iter().all(|result| result.is_error && result.content.contains("cut_off")));
    assert_eq!((record.stop, record.status), (Stop::Replied, Status::Attempted));
}

#[test]
fn l9_calls_of_a_broken_stream_are_dropped_and_the_call_retried() {
    let begun = vec![Chunk::CallBegan, Chunk::Arguments(10)];
    let mut game = Game::new().answers([Answer::Breaks(begun, passing("reset")), Answer::Whole(text("ok"))]);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.model_calls, record.iterations), (Stop::Replied, 2, 1));
    assert_eq!(game.ran.len(), 0);
}

#[test]
fn l11_a_passing_fault_is_retried_up_to_the_attempts_and_no_further() {
    for (faults, stop, waits) in
        [(3, Stop::Replied, 3), (4, Stop::Provider { error: "503".into() }, 3), (5, Stop::Provider { error: "503".into() }, 3)]
    {
        let broken = (0..faults).map(|_| Answer::Breaks(vec![], passing("503")));
        let mut game = Game::new().answers(broken);
        let record = game.turn("hello");
        assert_eq!(record.stop, stop, "{faults} faults");
        assert_eq!(game.steps.iter().filter(|step| step.starts_with("wait")).count(), waits);
    }
}

#[test]
fn l11_the_wait_doubles_and_gives_way_to_a_longer_one_that_the_provider_asks_for() {
    let after = |ms| ModelFault::Passing { error: "429".into(), retry_after: Some(Duration::from_millis(ms)) };
    let faults = [passing("503"), after(10), after(60_000)].map(|fault| Answer::Breaks(vec![], fault));
    let mut game = Game::new().answers(faults);
    game.turn("hello");
    let waits: Vec<&str> = game.steps.iter().map(String::as_str).filter(|step| step.starts_with("wait")).collect();
    assert_eq!(waits, ["wait 500", "wait 1000", "wait 60000"]);
}

#[test]
fn l11_each_model_call_has_its_own_attempts() {
    let fault = || Answer::Breaks(vec![], passing("503"));
    let mut game = Game::new().answers([fault(), fault(), fault(), Answer::Whole(calls_of(&[READ])), fault(), fault(), fault()]);
    assert_eq!(game.turn("hello").stop, Stop::Replied);
}

#[test]
fn l11_nothing_is_retried_once_something_was_shown_nor_after_a_permanent_fault() {
    let shown = Answer::Breaks(vec![Chunk::Text("H".into())], passing("503"));
    for answer in [shown, Answer::Breaks(vec![], permanent("400"))] {
        let mut game = Game::new().answers([answer]);
        assert_eq!(game.turn("hello").model_calls, 1);
    }
}

#[test]
fn l11_a_permanent_fault_leaves_the_rest_intact() {
    let mut game = Game::new().answers([Answer::Whole(calls_of(&[CREATE])), Answer::Breaks(vec![], permanent("401"))]);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.receipt.rows().count()), (Stop::Provider { error: "401".into() }, 1));
    assert_eq!(game.turn("again").stop, Stop::Replied);
}

#[test]
fn l13_a_cancel_at_any_step_that_can_be_broken_off_ends_the_turn_as_cancelled_with_all_that_was_committed() {
    let script = || {
        let fault = Answer::Breaks(vec![], passing("503"));
        Game::new().answers([Answer::Whole(calls_of(&[CREATE, SKILL])), fault, Answer::Whole(text("Saved."))]).rulings([unbacked()])
    };
    let mut whole = script();
    whole.turn("hello");
    let mut broken_off = 0;
    for number in 0..whole.steps.len() {
        let mut game = script();
        game.interrupts.insert(number, Interrupt::Cancelled);
        let record = game.turn("hello");
        if !game.interrupts.is_empty() || record.stop == Stop::Replied {
            continue;
        }
        broken_off += 1;
        assert_eq!(record.stop, Stop::Cancelled, "at {}", whole.steps[number]);
        let committed: usize = game.trail.iter().map(|audited| audited.committed.rows.len()).sum();
        assert_eq!(record.receipt.rows().count(), committed, "at {}", whole.steps[number]);
        assert!(game.trail.iter().all(|audited| audited.fate.is_some()), "every call is settled");
    }
    assert_eq!(broken_off, 9, "two runs, four model calls, one wait, two looks of the guard: {:?}", whole.steps);
}

#[test]
fn l13_a_call_that_was_broken_off_after_its_commit_counts_as_applied() {
    let rows = [say::row(unbacked::turn::draft::Act::Create, "experiences", 7)];
    let play = Play { commits: Some(rows.to_vec()), ..Play::interrupted(Interrupt::Cancelled) };
    let mut game = Game::new().replies([calls_of(&[CREATE, SKILL])]).plays([play]);
    let record = game.turn("hello");
    assert_eq!(record.stop, Stop::Cancelled);
    assert_eq!(record.receipt.rows().count(), 1);
    assert_eq!(game.fates(), [Fate::Applied, Fate::Failed { reason: "not run: the turn was stopped before this call".into() }]);
    assert!(game.results()[0].content.contains("committed all the same") && !game.results()[0].is_error);
    assert_eq!(game.ran.len(), 1, "nothing new begins");
    assert!(game.results()[1].content.contains("not_run"));
}

#[test]
fn every_event_of_a_call_comes_in_its_order() {
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    game.turn("hello");
    let names: Vec<&str> = game
        .events
        .iter()
        .filter_map(|event| match event {
            Event::CallStarted { .. } => Some("started"),
            Event::CallEnded { .. } => Some("ended"),
            Event::Verified { .. } => Some("verified"),
            Event::Settled { .. } => Some("settled"),
            Event::Resulted { .. } => Some("resulted"),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["started", "ended", "verified", "settled", "resulted"]);
}

/// The key of a conversation's first call.
const FIRST: CallKey = CallKey { turn: 1, iteration: 1, index: 0 };
