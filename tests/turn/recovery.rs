//! L10: a process that dies in the middle of a turn leaves a conversation that can go on, and the next turn tells what was in flight as the
//! database has it. And the store is asked once more where it failed.

use std::collections::BTreeSet;

use serde_json::json;

use unbacked::turn::bounds::{Parts, Settings};
use unbacked::turn::draft::{Act, CallKey, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop, TurnRecord};
use unbacked::turn::ports::{Audited, Committed, Verdict};

use crate::play::{Game, Play, assert_valid};
use crate::say::{self, CREATE, DELETE, READ, SKILL, UPDATE, call, calls, calls_of, missing, text};

/// A turn with every kind of step in it.
fn busy() -> Game {
    let mut game = Game::new().replies([
        calls_of(&[READ, CREATE, UPDATE]),
        calls([call(SKILL, json!({"name": "Rust"}))]),
        calls_of(&[DELETE]),
        text("Done."),
    ]);
    game.plays.extend([
        Play::fails(say::done(json!({"rows": []}))),
        Play::says(say::done(json!({"touched_ids": [1]})), &[say::row(Act::Create, "experiences", 1)]),
        Play::says(say::done(json!({"touched_ids": [1]})), &[say::row(Act::Update, "experiences", 1)]),
        Play::fails(missing(&["level"])),
        Play::says(say::done(json!({"touched_ids": [1]})), &[say::row(Act::Delete, "experiences", 1)]),
    ]);
    game
}

/// The deaths that a busy turn can die, each with the game that it leaves.
fn deaths() -> Vec<(String, Game)> {
    let mut all = Vec::new();
    for taken in [false, true] {
        for at in 0.. {
            let mut game = busy();
            if !game.dies("do all of it", at, taken) {
                break;
            }
            let step = game.steps.len();
            all.push((format!("died at step {at} of turn 1, {} ({step})", if taken { "taken" } else { "not taken" }), game));
        }
    }
    all
}

fn recovered(game: &Game) -> Vec<(CallKey, Fate)> {
    let found = game.events.iter().filter_map(|event| match event {
        Event::Recovered { key, fate, .. } => Some((*key, fate.clone())),
        _ => None,
    });
    found.collect()
}

fn late(game: &Game) -> Option<(&TurnRecord, Option<&str>)> {
    game.events.iter().find_map(|event| match event {
        Event::TurnRecovered { record, text } => Some((record, text.as_deref())),
        _ => None,
    })
}

fn last_opening(game: &Game) -> &str {
    let opened = game.events.iter().rev().find_map(|event| match event {
        Event::TurnOpened { report, .. } => report.as_deref(),
        _ => None,
    });
    opened.expect("a turn was opened with a report")
}

/// The next turn of somebody who says nothing but hello to a model that says nothing but text.
fn goes_on(game: &mut Game) -> TurnRecord {
    game.answers.clear();
    game.plays.clear();
    game.turn("hello?")
}

#[test]
fn l10_wherever_the_process_dies_the_next_turn_goes_on_over_a_valid_history() {
    let deaths = deaths();
    assert!(deaths.len() > 60, "{}", deaths.len());
    for (case, mut game) in deaths {
        let ran: BTreeSet<CallKey> = game.ran.iter().map(|(key, _)| *key).collect();
        let record = goes_on(&mut game);
        assert_eq!(record.stop, Stop::Replied, "{case}");
        assert_valid(&game.conversation.messages);
        assert_eq!(game.ran.len(), ran.len(), "{case}: nothing was run again");
        let kept: Vec<_> = game.stored.values().map(|(_, message)| message.clone()).collect();
        assert_eq!(kept, game.conversation.messages, "{case}: what is stored is what is told");
        let seqs: Vec<u32> = game.stored.keys().copied().collect();
        assert_eq!(seqs, (0..seqs.len() as u32).collect::<Vec<_>>(), "{case}: no number is left out");
    }
}

#[test]
fn l10_the_late_receipt_and_the_next_opening_report_tell_what_the_trail_holds() {
    let mut told = BTreeSet::new();
    for (case, mut game) in deaths() {
        let spoken = game.conversation.spoken;
        let unclosed = game.conversation.unclosed;
        goes_on(&mut game);
        let Some((record, text)) = late(&game) else {
            assert!(!unclosed, "{case}: a turn that was never closed gets its receipt");
            continue;
        };
        assert!(unclosed, "{case}");
        assert_eq!((record.turn, &record.stop), (spoken, &Stop::Died), "{case}");
        let held: Vec<(CallKey, usize)> = game
            .trail
            .iter()
            .filter(|audited| !audited.committed.rows.is_empty())
            .map(|a| (a.committed.key, a.committed.rows.len()))
            .collect();
        let applied: Vec<(CallKey, usize)> =
            record.receipt.entries.iter().filter(|entry| entry.fate == Fate::Applied).map(|entry| (entry.key, entry.rows.len())).collect();
        assert_eq!(applied, held, "{case}");
        assert!(text.is_some_and(|text| text.contains("── receipt ──")), "{case}: {text:?}");
        assert!(last_opening(&game).contains(&format!("{} of {}", held.len(), record.receipt.entries.len())) || held.is_empty(), "{case}");
        assert!(game.closed.contains(record), "{case}: it is on record now");
        let status = if held.is_empty() { record.status } else { Status::Bound };
        told.insert((held.len(), format!("{status:?}")));
    }
    assert!(told.len() >= 4, "deaths before, between and after the writes: {told:?}");
}

#[test]
fn l10_once_told_it_is_not_told_again() {
    for (case, mut game) in deaths() {
        goes_on(&mut game);
        let (events, calls) = (game.events.len(), recovered(&game).len());
        game.turn("and now?");
        assert_eq!(recovered(&game).len(), calls, "{case}");
        assert!(!game.events[events..].iter().any(|event| matches!(event, Event::TurnRecovered { .. })), "{case}");
    }
}

const DIED_AFTER_THE_FIRST_WRITE: usize = 7;

#[test]
fn l10_a_process_that_dies_again_while_it_recovers_leaves_no_less() {
    for again in 0..12 {
        for taken in [false, true] {
            let mut game = busy();
            assert!(game.dies("do all of it", DIED_AFTER_THE_FIRST_WRITE, true));
            let held = game.trail.len();
            assert_eq!(held, 1, "the first write has committed");
            game.answers.clear();
            game.plays.clear();
            game.dies("hello?", again, taken);
            goes_on(&mut game);
            let case = format!("died again at {again}, {taken}");
            assert_valid(&game.conversation.messages);
            let written: Vec<&Audited> = game.trail.iter().filter(|audited| !audited.committed.rows.is_empty()).collect();
            assert_eq!(written.len(), held, "{case}: nothing was written again");
            assert!(written.iter().all(|audited| audited.fate == Some(Fate::Applied)), "{case}");
            assert!(game.closed.iter().any(|record| record.turn == 1 && record.stop == Stop::Died), "{case}");
        }
    }
}

/// A turn that died after its one call was stored; what became of the call is as the test says.
fn open_call() -> Game {
    let mut game = Game::new().replies([calls_of(&[CREATE])]);
    // Trail, user, sums, ask, assistant; then the call.
    assert!(game.dies("add my job", 5, false));
    assert_eq!(game.conversation.messages.len(), 2, "the call is stored and was not run");
    game
}

const FIRST: CallKey = CallKey { turn: 1, iteration: 1, index: 0 };

fn committed() -> Committed {
    let rows = vec![say::row(Act::Create, "experiences", 1)];
    Committed { key: FIRST, tool: CREATE.into(), act: Act::Create, section: "experiences".into(), rows }
}

#[test]
fn l10_a_call_left_open_is_answered_as_the_database_has_it() {
    let gone = Verdict::Contradicted { error: "experiences 1 is not there".into() };
    let silent = Verdict::NoAnswer { error: "locked".into() };
    let committed = Some(committed());
    for (trail, verdict, word, says) in [
        (&committed, Verdict::Holds, "applied", "\"recovered\""),
        (&committed, gone, "failed", "is not there"),
        (&committed, silent, "unknown", "locked"),
        (&None, Verdict::Holds, "failed", "the turn ended before this call was answered"),
    ] {
        let mut game = open_call();
        game.trail.extend(trail.clone().map(|committed| Audited { committed, fate: None }));
        game.verdict_of(FIRST, verdict);
        goes_on(&mut game);
        let found = recovered(&game);
        assert_eq!(found.len(), 1, "{word}");
        assert_eq!((found[0].0, word_of(&found[0].1)), (FIRST, word));
        let results = game.results();
        assert_eq!((results.len(), results[0].is_error), (1, word != "applied"), "{word}");
        assert!(results[0].content.contains(says) || word == "applied", "{word}: {}", results[0].content);
    }
}

#[test]
fn l10_where_the_trail_cannot_be_asked_the_call_is_unknown() {
    let mut game = open_call();
    game.no_trail_of(FIRST);
    goes_on(&mut game);
    assert_eq!(recovered(&game).iter().map(|(_, fate)| word_of(fate)).collect::<Vec<_>>(), ["unknown"]);
    assert!(last_opening(&game).contains("UNKNOWN"), "{}", last_opening(&game));
}

#[test]
fn l10_a_fate_that_is_on_record_stands_and_is_not_asked_for_again() {
    let mut game = open_call();
    game.trail.push(Audited { committed: committed(), fate: Some(Fate::NoChange) });
    goes_on(&mut game);
    assert_eq!(recovered(&game), [(FIRST, Fate::NoChange)]);
    assert!(game.checks.is_empty(), "the verifier was not asked");
}

#[test]
fn u1_the_user_is_told_of_the_dead_turn_before_it_is_put_on_record() {
    let mut game = open_call();
    let (before, calls) = (game.steps.len(), game.store_calls);
    goes_on(&mut game);
    let record = game.steps[before..].iter().position(|step| step == "save record").expect("it is recorded");
    // Its record fails to be saved: the user was told all the same, and is told again by the turn after it.
    let mut failing = open_call();
    let store_steps =
        game.steps[before..before + record].iter().filter(|step| !matches!(step.as_str(), "ask" | "consult" | "verify")).count();
    failing.store_faults.insert(calls + store_steps);
    failing.answers.clear();
    failing.turn("hello?");
    assert!(late(&failing).is_some(), "told");
    assert!(failing.closed.iter().all(|record| record.turn != 1), "and not on record");
    failing.store_faults.clear();
    let events = failing.events.len();
    failing.conversation = failing.revived();
    failing.turn("hello again?");
    let again = failing.events[events..].iter().any(|event| matches!(event, Event::TurnRecovered { .. }));
    assert!(again || failing.conversation.spoken > 1, "told again, or a later turn has spoken");
}

#[test]
fn l10_a_policy_without_receipts_gives_no_late_one_and_records_the_turn_all_the_same() {
    let mut game = open_call();
    game.settings.parts = Parts { receipts: false, ..Parts::default() };
    goes_on(&mut game);
    let (record, text) = late(&game).expect("the turn is closed");
    assert_eq!((record.turn, text), (1, None));
    assert!(game.closed.iter().any(|record| record.turn == 1));
}

#[test]
fn l10_a_turn_that_died_before_it_was_heard_never_was() {
    let mut game = Game::new();
    assert!(game.dies("add my job", 0, true));
    assert_eq!((game.conversation.turn, game.conversation.messages.len()), (0, 0));
    goes_on(&mut game);
    assert!(late(&game).is_none() && recovered(&game).is_empty());
}

fn word_of(fate: &Fate) -> &'static str {
    match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "failed",
        Fate::Unknown { .. } => "unknown",
    }
}

#[test]
fn the_store_is_asked_as_often_as_the_settings_allow_and_never_more() {
    let whole = {
        let mut game = busy();
        game.turn("do all of it");
        game.store_calls
    };
    for tries in 1..=3_usize {
        for at in 0..whole {
            for failures in [tries - 1, tries] {
                let mut game = busy();
                game.settings = Settings { store_tries: tries as u32, ..game.settings };
                game.store_faults.extend(at..at + failures);
                let record = game.turn("do all of it");
                let case = format!("{tries} tries, call {at} fails {failures} times: {:?}", record.stop);
                if failures < tries {
                    assert_eq!((&record.stop, record.status), (&Stop::Replied, Status::Changed), "{case}");
                    assert_eq!(game.store_calls, whole + failures, "{case}");
                    assert_eq!(game.conversation.messages, game.revived().messages, "{case}: nothing doubled, nothing lost");
                }
            }
        }
    }
}
