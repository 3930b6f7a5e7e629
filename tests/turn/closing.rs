//! U: the receipt and the status. J10: the second look. And a store that fails.

use serde_json::json;

use unbacked::turn::bounds::{Parts, Settings};
use unbacked::turn::draft::{Act, CallKey, Entry, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Receipt, Status, Stop, Tally};
use unbacked::turn::guard::About;
use unbacked::turn::machine::Interrupt;
use unbacked::turn::message::Message;
use unbacked::turn::ports::{Audited, Chunk, Committed, Failure};
use unbacked::turn::report;

use crate::play::{Answer, Game, Play, assert_valid};
use crate::say::{self, CREATE, READ, SKILL, call, calls, calls_of, failed, missing, object_to, row, text, unbacked, unfinished};

fn receipts(game: &Game) -> Vec<String> {
    let of = |event: &Event| match event {
        Event::Receipt { text, .. } => Some(text.clone()),
        _ => None,
    };
    game.events.iter().filter_map(of).collect()
}

#[test]
fn u1_no_change_is_a_receipt_too() {
    let mut game = Game::new();
    game.turn("hello");
    assert_eq!(receipts(&game), ["── receipt ──\nNo change was made.\nEarlier in this conversation: no change."]);
}

#[test]
fn u1_the_receipt_lists_what_the_trail_has_and_what_failed() {
    let mut game = Game::new().replies([calls_of(&[CREATE, SKILL])]).plays([
        Play::says(say::done(json!({"created_ids": [1, 2]})), &[row(Act::Create, "experiences", 1), row(Act::Create, "experiences", 2)]),
        Play::fails(failed(Failure::Conflict, "twice")),
    ]);
    game.sums = vec![Tally { act: Act::Delete, section: "skills".into(), count: 3 }];
    game.turn("hello");
    let wanted = "── receipt ──\n- create_experiences: applied — created experiences #1, #2\n- create_skills: FAILED — twice\n\
                  Earlier in this conversation: deleted skills ×3.";
    assert_eq!(receipts(&game), [wanted]);
}

#[test]
fn u1_where_nobody_could_say_the_receipt_does_not_say_that_nothing_changed() {
    let play = Play { no_trail: true, ..Play::says(failed(Failure::Store, "busy"), &[row(Act::Create, "experiences", 1)]) };
    let script = || Game::new().replies([calls_of(&[CREATE])]).plays([play.clone()]);
    let mut dry = script();
    dry.turn("hello");
    let mut game = script();
    game.store_faults.insert(dry.store_calls - 2);
    game.turn("hello");
    let receipt = receipts(&game).remove(0);
    assert!(receipt.contains("UNKNOWN") && !receipt.contains("No change was made."), "{receipt}");
    assert!(receipt.contains("No change is known to have been made."), "{receipt}");
}

#[test]
fn u1_rows_come_from_the_trail_even_where_the_turn_never_learned_of_them() {
    let mut game = Game::new().replies([text("Nothing to see here.")]);
    let key = CallKey { turn: 1, iteration: 9, index: 0 };
    let committed = Committed {
        key,
        tool: CREATE.into(),
        act: Act::Create,
        section: "experiences".into(),
        rows: vec![row(Act::Create, "experiences", 7)],
    };
    game.trail.push(Audited { committed, fate: None });
    let record = game.turn("hello");
    assert_eq!((record.status, record.receipt.rows().count()), (Status::Changed, 1));
}

#[test]
fn u1_where_the_trail_cannot_be_read_the_receipt_has_what_was_found_call_by_call() {
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    let mut dry = Game::new().replies([calls_of(&[CREATE])]);
    dry.turn("hello");
    game.store_faults.insert(dry.store_calls - 2);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.receipt.rows().count()), (Stop::Replied, 1));
    assert_eq!(receipts(&game).len(), 1);
}

#[test]
fn u1_a_policy_without_receipts_shows_none_and_records_it_all_the_same() {
    let mut game = Game::new().replies([calls_of(&[CREATE]), text("Saved.")]).rulings([unbacked(), unbacked()]);
    game.settings.parts = Parts { receipts: false, ..Parts::default() };
    let record = game.turn("hello");
    assert_eq!((receipts(&game).len(), record.receipt.rows().count(), record.lines.len()), (0, 1, 0));
}

#[test]
fn u2_the_status_follows_from_facts_alone() {
    let entry = |fate, rows| Entry {
        key: CallKey { turn: 1, iteration: 1, index: 0 },
        tool: "t".into(),
        act: Act::Create,
        section: "s".into(),
        fate,
        rows,
    };
    let receipt = |entries| Receipt { entries, earlier: Some(vec![]), unread: false };
    let changed = receipt(vec![entry(Fate::Applied, vec![row(Act::Create, "s", 1)])]);
    let tried = receipt(vec![entry(Fate::Failed { reason: "no".into() }, vec![])]);
    let discarded = receipt(vec![entry(Fate::Applied, vec![row(Act::Discard, "s", 0)])]);
    let same = receipt(vec![entry(Fate::NoChange, vec![])]);
    for (stop, contested, receipt, status) in [
        (Stop::Replied, false, &changed, Status::Changed),
        (Stop::Replied, false, &Receipt::default(), Status::Unchanged),
        (Stop::Replied, false, &tried, Status::Attempted),
        (Stop::Replied, false, &same, Status::Attempted),
        (Stop::Replied, false, &discarded, Status::Attempted),
        (Stop::Replied, true, &changed, Status::Contested),
        (Stop::Iterations, false, &changed, Status::Bound),
        (Stop::Cut, false, &changed, Status::Fault),
        (Stop::Cancelled, true, &changed, Status::Contested),
    ] {
        assert_eq!(Status::of(&stop, contested, receipt), status, "{stop:?}");
    }
}

#[test]
fn u2_no_reply_makes_a_turn_that_wrote_nothing_into_one_that_did() {
    let mut game = Game::new().replies([text("I have saved everything. Success!")]);
    assert_eq!(game.turn("hello").status, Status::Unchanged);
}

#[test]
fn u3_a_contested_turn_shows_a_line_of_the_harness() {
    for (about, words) in [
        (About::Unbacked { claims: vec![] }, "says more than was done"),
        (About::Promised, "promises an action"),
        (About::FalseFailure { claims: vec![] }, "reports a failure"),
    ] {
        let mut game = Game::new().rulings([object_to(about.clone()), object_to(about)]);
        let record = game.turn("hello");
        assert_eq!((record.status, record.stop), (Status::Contested, Stop::Replied));
        assert!(record.lines.len() == 1 && record.lines[0].contains(words), "{:?}", record.lines);
        assert!(game.events.iter().any(|event| matches!(event, Event::Line { text } if *text == record.lines[0])));
    }
}

#[test]
fn j10_after_the_correction_the_guards_look_once_more_without_correcting() {
    let mut game = Game::new().replies([text("Saved."), text("Not saved, sorry.")]).rulings([unbacked()]);
    let record = game.turn("hello");
    let looks: Vec<(bool, &str, &str)> =
        game.shown.iter().map(|shown| (shown.second_look, shown.reply.as_str(), shown.closing.as_str())).collect();
    assert_eq!(looks, [(false, "Saved.", "Saved."), (true, "Saved.Not saved, sorry.", "Not saved, sorry.")]);
    assert_eq!((record.status, record.corrections, record.judge_calls), (Status::Unchanged, 1, 2));
    let traced: Vec<bool> = game
        .events
        .iter()
        .filter_map(|event| if let Event::Ruled { second_look, .. } = event { Some(*second_look) } else { None })
        .collect();
    assert_eq!(traced, [false, true]);
}

#[test]
fn j1_any_tool_result_of_the_turn_is_the_evidence_bit() {
    let mut game = Game::new().replies([text("Hm."), calls_of(&[READ]), text("ok"), calls_of(&["make_coffee"]), text("no")]);
    for words in ["one", "two", "three", "four"] {
        game.turn(words);
    }
    let bits: Vec<bool> = game.shown.iter().map(|shown| shown.draft.any_result).collect();
    assert_eq!(bits, [false, true, true, false]);
}

#[test]
fn j10_an_objection_that_no_second_look_could_lift_stands() {
    let answers = [Answer::Whole(text("Saved.")), Answer::Interrupted(vec![Chunk::Text("Well".into())], Interrupt::Cancelled)];
    let mut game = Game::new().answers(answers).rulings([unbacked()]);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.status, record.lines.len()), (Stop::Cancelled, Status::Contested, 2));
}

#[test]
fn j10_an_unfinished_entry_is_a_nudge_and_contests_nothing() {
    let answers = [
        Answer::Whole(calls([call(CREATE, json!({}))])),
        Answer::Whole(text("What is the title?")),
        Answer::Whole(text("Nice weather.")),
        Answer::Interrupted(vec![], Interrupt::Cancelled),
    ];
    let mut game = Game::new()
        .answers(answers)
        .plays([Play::fails(missing(&["title"]))])
        .rulings([unbacked::turn::guard::Ruling::Accept, unfinished("experiences")]);
    game.turn("add a job");
    let record = game.turn("how are you?");
    assert_eq!((record.stop, record.corrections, record.status), (Stop::Cancelled, 1, Status::Bound));
    assert_eq!(record.lines.len(), 1, "nothing was claimed: {:?}", record.lines);
}

#[test]
fn j6_a_ruling_that_cost_more_judge_calls_is_counted() {
    let mut game = Game::new();
    assert_eq!(game.turn("hello").judge_calls, 1);
}

/// Every store call of a turn fails once, one at a time.
fn with_each_store_fault(script: impl Fn() -> Game, check: impl Fn(&mut Game, usize)) -> usize {
    let mut whole = script();
    whole.turn("hello");
    for fault in 0..whole.store_calls {
        let mut game = script();
        game.store_faults.insert(fault);
        check(&mut game, fault);
    }
    whole.store_calls
}

fn busy_turn() -> Game {
    let plays = [Play::fails(missing(&["title"])), Play::says(say::done(json!({"created_ids": [5]})), &[row(Act::Create, "skills", 5)])];
    Game::new().replies([calls_of(&[CREATE, SKILL]), text("Saved."), text("Not all is saved.")]).plays(plays).rulings([unbacked()])
}

#[test]
fn b6_whichever_call_of_the_store_fails_the_turn_ends_with_a_right_receipt() {
    let calls = with_each_store_fault(busy_turn, |game, fault| {
        let record = game.turn("hello");
        let held: usize = game.trail.iter().map(|audited| audited.committed.rows.len()).sum();
        assert_eq!(record.receipt.rows().count(), held, "fault {fault}");
        assert_eq!(receipts(game).len(), 1, "fault {fault}");
        if let Stop::Memory { error } = &record.stop {
            assert_eq!((error.as_str(), record.status == Status::Fault || record.status == Status::Contested), ("disk full", true));
            assert!(record.lines.iter().any(|line| line.contains("could not be stored")), "fault {fault}");
        }
    });
    assert_eq!(calls, 15);
}

#[test]
fn l5_whichever_call_of_the_store_fails_the_history_is_valid_once_the_next_turn_has_opened() {
    with_each_store_fault(busy_turn, |game, _| {
        game.turn("hello");
        game.turn("again");
        assert_valid(&game.conversation.messages);
    });
}

#[test]
fn l5_pending_entries_that_cannot_be_stored_cost_no_result() {
    // Store calls of the turn: trail, user, sums, assistant, find, settle, pending.
    let mut game = busy_turn();
    game.store_faults.insert(6);
    let record = game.turn("hello");
    assert_eq!(record.stop, Stop::Memory { error: "disk full".into() });
    assert_valid(&game.conversation.messages);
    assert!(game.results()[0].content.contains("missing_input") && game.results()[1].content.contains("not_run"));
    assert_eq!(game.ran.len(), 1, "nothing new begins");
}

#[test]
fn l5_nor_do_they_when_the_round_is_already_over() {
    let mut game = Game::new().replies([calls_of(&[CREATE]), text("Hm.")]).plays([Play::fails(missing(&["title"]))]);
    game.store_faults.insert(6);
    let record = game.turn("hello");
    assert_eq!((record.stop, record.iterations), (Stop::Memory { error: "disk full".into() }, 1));
    assert_valid(&game.conversation.messages);
    assert!(game.results()[0].content.contains("missing_input"));
}

#[test]
fn g1_where_the_mark_cannot_be_stored_no_correction_is_sent() {
    let script = || {
        let replies = [calls_of(&[CREATE]), text("What title?"), text("Nice weather."), text("Oh.")];
        Game::new()
            .replies(replies)
            .plays([Play::fails(missing(&["title"]))])
            .rulings([unbacked::turn::guard::Ruling::Accept, unfinished("experiences")])
    };
    let mut game = script();
    game.turn("add a job");
    // Store calls of the second turn: trail, user, sums, assistant, pending.
    game.store_faults.insert(game.store_calls + 4);
    let record = game.turn("how are you?");
    assert!(matches!(record.stop, Stop::Memory { .. }));
    assert_eq!((game.corrections().len(), record.corrections), (0, 0));
    assert!(!game.events.iter().any(|event| matches!(event, Event::Corrected { .. })));
    game.rulings.push_back(unfinished("experiences"));
    assert_eq!(game.turn("and you?").corrections, 1, "the entry was not confronted yet");
}

#[test]
fn the_line_of_a_stop_is_harmless_short_and_the_harness_s_own() {
    let nasty = format!("<turn_report>\n{}", "x".repeat(1000));
    for stop in [
        Stop::Strikes { tool: nasty.clone(), failure: "schema".into() },
        Stop::Provider { error: nasty.clone() },
        Stop::Memory { error: nasty },
    ] {
        let line = report::stop_line(&stop).expect("a line");
        assert!(!line.contains('<') && !line.contains('\n') && line.chars().count() < 400, "{line}");
    }
}

#[test]
fn a_record_serialises_and_comes_back() {
    let mut game = busy_turn();
    let record = game.turn("hello");
    let back: unbacked::turn::exit::TurnRecord = serde_json::from_value(serde_json::to_value(&record).expect("JSON")).expect("a record");
    assert_eq!(back, record);
    let events: Vec<Event> = serde_json::from_value(serde_json::to_value(&game.events).expect("JSON")).expect("events");
    assert_eq!(events, game.events);
    let _: &Message = &game.conversation.messages[0];
    let settings: Settings = serde_json::from_value(serde_json::to_value(&game.settings).expect("JSON")).expect("settings");
    assert_eq!(settings, game.settings);
    assert_eq!(calls_of(&[READ]).calls().count(), 1);
}
