//! B7 and what holds of every turn, in random games: the script is drawn, the machine is held to its invariants.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use serde_json::json;

use unbacked::turn::bounds::Settings;
use unbacked::turn::draft::{Act, CallKey, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::guard::{About, Ruling};
use unbacked::turn::machine::{Fact, Interrupt, Machine, Step};
use unbacked::turn::message::{Block, BrokenArguments, Call, Finish, Message, Reply};
use unbacked::turn::ports::{Chunk, Failure, Outcome, Verdict};

use crate::play::{Answer, Game, Play, assert_valid};
use crate::say::{self, CREATE, DELETE, DISCARD, READ, SKILL, UPDATE, object_to, passing, permanent};

const MOST_CALLS: usize = 5;

fn small() -> Settings {
    Settings { iterations: 6, attempts: 3, reply_bytes: 40, reply_calls: 4, argument_bytes: 60, result_bytes: 80, ..Settings::default() }
}

/// The closed form of how many steps a turn can take under these settings.
fn steps_at_most(settings: &Settings) -> usize {
    // A call: run, find, verify, find, settle, save pending. A round: tries with waits, the reply, its results.
    let round = 2 * settings.attempts as usize + 2 + 6 * MOST_CALLS;
    // Dangling results, trail, words, sums; two looks, mark, correction; trail, close.
    settings.iterations as usize * round + 4 + 4 + 2
}

fn call() -> impl Strategy<Value = Call> {
    let names = select(&[READ, CREATE, UPDATE, DELETE, SKILL, DISCARD, "make_coffee"][..]);
    let ids = select(&["", "a", "a", "b", "not legal"][..]);
    let arguments = select(&[0_u8, 0, 0, 1, 2, 3][..]);
    (names, ids, arguments).prop_map(|(name, id, kind)| {
        let call = match kind {
            1 => say::broken(name, BrokenArguments::NotJson),
            2 => say::broken(name, BrokenArguments::CutOff),
            3 => say::call(name, json!({"section": "experiences"})),
            _ => say::call(name, json!({"title": "x"})),
        };
        Call { id: id.into(), ..call }
    })
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        2 => select(&["", " ", "Saved. ", "é", "a long piece of text, too long"][..]).prop_map(Block::text),
        4 => call().prop_map(Block::Call),
        1 => Just(Block::Thinking { text: "hm".into(), signature: None }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let finish = select(vec![
        Finish::Stop,
        Finish::Stop,
        Finish::ToolCalls,
        Finish::ToolCalls,
        Finish::Length,
        Finish::Refusal,
        Finish::Other("eos".into()),
    ]);
    (vec(block(), 0..=MOST_CALLS), finish).prop_map(|(blocks, finish)| Reply { blocks, finish, ..Reply::default() })
}

fn answer() -> impl Strategy<Value = Answer> {
    let shown = || select(vec![vec![], vec![], vec![Chunk::Text("half".into())], vec![Chunk::CallBegan, Chunk::Arguments(9)]]);
    let fault = select(vec![passing("503"), passing("reset"), permanent("400")]);
    prop_oneof![
        8 => reply().prop_map(Answer::Whole),
        2 => (shown(), fault).prop_map(|(shown, fault)| Answer::Breaks(shown, fault)),
        1 => (shown(), by()).prop_map(|(shown, by)| Answer::Interrupted(shown, by)),
    ]
}

fn by() -> impl Strategy<Value = Interrupt> {
    select(&[Interrupt::Cancelled, Interrupt::TimeLimit][..])
}

fn outcome() -> impl Strategy<Value = Result<Outcome, Interrupt>> {
    let failures = [Failure::Schema, Failure::NotFound, Failure::Conflict, Failure::Store, Failure::Panicked, Failure::TimedOut];
    let results = [
        json!({"touched_ids": [1]}),
        json!({"touched_ids": [1, 1]}),
        json!({"touched_ids": []}),
        json!({}),
        json!({"error": "no"}),
        json!({"_verification": {"ok": true}, "touched_ids": [2], "text": "a result that is too long to be kept whole, by far too long"}),
    ];
    prop_oneof![
        4 => select(results.to_vec()).prop_map(|result| Ok(say::done(result))),
        2 => select(failures.to_vec()).prop_map(|failure| Ok(say::failed(failure, "no"))),
        2 => Just(Ok(say::missing(&["title"]))),
        1 => Just(Ok(Outcome::Unknown { reason: "odd".into() })),
        1 => by().prop_map(Err),
    ]
}

fn play() -> impl Strategy<Value = Play> {
    let commits = select(vec![
        None,
        Some(vec![]),
        Some(vec![say::row(Act::Create, "experiences", 1)]),
        Some(vec![say::row(Act::Discard, "experiences", 0)]),
    ]);
    let contradicted = Verdict::Contradicted { error: "gone".into() };
    let verdict = select(vec![Verdict::Holds, Verdict::Holds, contradicted, Verdict::NoAnswer { error: "busy".into() }]);
    (outcome(), commits, verdict, prop::bool::weighted(0.1)).prop_map(|(outcome, commits, verdict, no_trail)| Play {
        outcome,
        commits,
        verdict,
        no_trail,
    })
}

fn ruling() -> impl Strategy<Value = Ruling> {
    select(vec![Ruling::Accept, say::unbacked(), say::unfinished("experiences"), say::unfinished("skills"), object_to(About::Promised)])
}

fn game() -> impl Strategy<Value = Game> {
    let interrupts = btree_map(0_usize..200, by(), 0..2);
    (vec(answer(), 0..20), vec(play(), 0..30), vec(ruling(), 0..6), interrupts).prop_map(|(answers, plays, rulings, interrupts)| {
        let mut game = Game::new().answers(answers).plays(plays).rulings(rulings);
        game.settings = small();
        game.interrupts = interrupts;
        game
    })
}

fn config(seed: u64) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(seed), max_shrink_iters: 4000, ..ProptestConfig::with_cases(600) }
}

/// What the audit trail holds of a turn.
fn rows_held(game: &Game, turn: u32) -> usize {
    let of_turn = game.trail.iter().filter(|audited| audited.committed.key.turn == turn);
    of_turn.flat_map(|audited| &audited.committed.rows).filter(|row| row.act != Act::Discard).count()
}

fn fates(game: &Game) -> BTreeMap<CallKey, Vec<Fate>> {
    let mut fates: BTreeMap<CallKey, Vec<Fate>> = BTreeMap::new();
    for event in &game.events {
        if let Event::Settled { key, fate, .. } = event {
            fates.entry(*key).or_default().push(fate.clone());
        }
    }
    fates
}

proptest! {
    #![proptest_config(config(7))]

    #[test]
    fn b7_every_game_ends_within_its_closed_form_and_keeps_what_holds_of_every_turn(mut game in game()) {
        for words in ["one", "two", "three"] {
            let taken = game.steps.len();
            // B6, B7, L5, L8 and U1 are checked by the game itself, after every turn.
            let record = game.turn(words);
            prop_assert!(game.steps.len() - taken <= steps_at_most(&game.settings), "{:?}", &game.steps[taken..]);
            prop_assert_eq!(record.receipt.rows().count(), rows_held(&game, record.turn), "U1: the receipt is right");
            prop_assert_eq!(record.stop == Stop::Replied || record.status == Status::Contested, !matches!(record.status, Status::Bound | Status::Fault));
            prop_assert_eq!(record.lines.is_empty(), record.stop == Stop::Replied && record.status != Status::Contested, "B6, U3");
        }
    }

    #[test]
    fn r1_every_round_ends_in_a_report_and_the_last_one_counts_what_was_settled(mut game in game()) {
        game.turn("one");
        let rounds = game.conversation.messages.iter().filter(|message| matches!(message, Message::Results { .. })).count();
        prop_assert_eq!(game.reports().len(), rounds, "R2: none is left out");
        let fates: Vec<Fate> = game.fates();
        let applied = fates.iter().filter(|fate| **fate == Fate::Applied).count();
        let wanted = if fates.is_empty() { "none".to_owned() } else { format!("{applied} of {} applied", fates.len()) };
        let head = game.reports().last().and_then(|report| report.lines().nth(1)).unwrap_or("changes this turn: none");
        prop_assert_eq!(head, format!("changes this turn: {wanted}"));
    }

    #[test]
    fn v_every_run_of_a_mutating_call_is_settled_once_and_applied_only_on_evidence(mut game in game()) {
        let rows_of = |game: &Game, key| game.trail.iter().find(|audited| audited.committed.key == key).map_or(0, |audited| audited.committed.rows.len());
        game.turn("one");
        let fates = fates(&game);
        for (key, call) in game.ran.iter().filter(|(_, call)| call.name != READ) {
            prop_assert_eq!(fates.get(key).map(Vec::len), Some(1), "{}", call.name);
        }
        for (key, fate) in fates {
            let verified = game.events.iter().any(|event| matches!(event, Event::Verified { key: of, verdict: Verdict::Holds } if *of == key));
            prop_assert!(fate[0] != Fate::Applied || (verified && rows_of(&game, key) > 0), "{} {:?}", key, fate);
        }
    }

    #[test]
    fn b3_no_turn_has_two_corrections_and_no_entry_two_in_its_life(mut game in game()) {
        let mut corrected = Vec::new();
        for words in ["one", "two", "three"] {
            let past = game.events.len();
            let record = game.turn(words);
            let sent: Vec<&About> = game.events[past..].iter().filter_map(|event| if let Event::Corrected { objection, .. } = event { Some(&objection.about) } else { None }).collect();
            prop_assert_eq!(sent.len(), record.corrections as usize);
            prop_assert!(sent.len() <= 1);
            if let [About::Unfinished { section }] = sent[..] {
                let marked = game.events[past..].iter().find_map(|event| match event {
                    Event::PendingChanged { entries } => entries.iter().find(|entry| entry.section == *section && entry.corrected).map(|entry| entry.id),
                    _ => None,
                });
                prop_assert!(marked.is_some(), "G1: marked before it is sent");
                prop_assert!(!corrected.contains(&marked), "entry {:?} twice", marked);
                corrected.push(marked);
            }
        }
    }

    #[test]
    fn b6_a_store_that_fails_now_and_then_costs_no_receipt_and_no_valid_history(mut game in game(), faults in btree_set(0_usize..60, 1..4)) {
        game.store_faults = faults;
        for words in ["one", "two"] {
            let taken = game.steps.len();
            game.turn(words);
            prop_assert!(game.steps.len() - taken <= steps_at_most(&game.settings));
        }
        game.store_faults = [usize::MAX].into();
        game.turn("three");
        assert_valid(&game.conversation.messages);
    }

    #[test]
    fn an_answer_to_another_step_than_the_one_at_hand_ends_the_turn_as_a_fault(mut game in game(), at in 0_usize..20) {
        let mut conversation = std::mem::take(&mut game.conversation);
        let (tools, settings) = (say::tools(), small());
        let mut machine = Machine::open(&mut conversation, &tools, &settings, "hello");
        for number in 0..steps_at_most(&settings) + 10 {
            let fact = match machine.step() {
                Step::Done(record) => {
                    prop_assert!(record.stop != Stop::Replied || number <= at);
                    return Ok(());
                }
                Step::Wait(_) if number == at => Fact::Closed(Ok(())),
                _ if number == at => Fact::Waited,
                step => game.fact(&mut machine, step, &tools, number),
            };
            machine.feed(fact);
        }
        prop_assert!(false, "it did not end");
    }
}
