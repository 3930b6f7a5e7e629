//! B4 and L13 at every await point of a turn: it hangs, or the user cancels, and the turn ends in time, with a receipt and a valid history.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use tokio::time::{Duration, sleep};

use unbacked::turn::bounds::Settings;
use unbacked::turn::draft::Fate;
use unbacked::turn::exit::{Status, Stop};

use crate::play::assert_valid;
use crate::say::{CREATE, READ, calls_of, passing, text, unbacked};
use crate::world::{POINTS, Stream, World};

/// A turn that reaches every point: a retry, two rounds of calls, a correction, pending work cleared.
fn busy() -> World {
    let mut world = World::new([
        Stream::Whole(calls_of(&[CREATE, READ, CREATE])),
        Stream::Refused(passing("503")),
        Stream::Whole(calls_of(&[CREATE])),
        Stream::Whole(text("Saved, and more.")),
        Stream::Whole(text("Saved.")),
    ]);
    world.rulings.push_back(unbacked());
    world.conversation.pending.restore(unbacked::turn::pending::PendingEntry {
        id: 1,
        section: "experiences".into(),
        tool: CREATE.into(),
        act: unbacked::turn::draft::Act::Create,
        known: serde_json::json!({}),
        missing: vec!["title".into()],
        corrected: true,
    });
    world
}

/// Every point of the busy turn, with how often it is reached.
async fn points() -> Vec<(&'static str, usize)> {
    let mut world = busy();
    world.turn().await;
    let points: Vec<(&str, usize)> = POINTS.iter().map(|point| (*point, world.reached(point))).collect();
    assert!(points.iter().all(|(_, times)| *times > 0), "a point is never reached: {points:?}");
    points
}

/// What a point may end a turn with when it hangs there.
fn may_end(point: &str, stop: &Stop) -> bool {
    match point {
        "open" | "chunk" => *stop == Stop::TimeLimit,
        // A tool and the guard have limits of their own, after which the turn goes on.
        "tool" | "guard" => matches!(stop, Stop::Replied | Stop::Strikes { .. }),
        // What the store or the verifier did not answer in time is asked once more.
        _ => *stop == Stop::Replied,
    }
}

#[tokio::test(start_paused = true)]
async fn b4_wherever_a_turn_hangs_once_it_ends_in_time_with_a_right_receipt_and_a_valid_history() {
    for (point, times) in points().await {
        for time in 0..times {
            let mut world = busy().latency(20).hang((point, Some(time)));
            let (record, ms) = world.turn().await;
            let case = format!("{point} {time}: {:?} after {ms} ms", record.stop);
            assert!(ms <= 180_000, "{case}");
            assert!(may_end(point, &record.stop), "{case}");
            assert_eq!(world.receipts(), 1, "{case}");
            assert_eq!(record.receipt.rows().count(), world.rows_held(), "{case}");
            assert_eq!(record.lines.is_empty(), record.stop == Stop::Replied, "{case}: {:?}", record.lines);
            assert_valid(&world.conversation.messages);
            assert_eq!(world.stored, world.conversation.messages, "{case}");
            assert_eq!(world.closed.len(), 1, "{case}: the closed turn is recorded");
            world.wake();
            let (next, _) = world.turn().await;
            assert_eq!(next.stop, Stop::Replied, "{case}: the next turn goes on");
            assert_valid(&world.conversation.messages);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b4_wherever_a_turn_hangs_every_time_it_ends_in_time_with_a_receipt() {
    for (point, _) in points().await {
        let mut world = busy().hang((point, None));
        let (record, ms) = world.turn().await;
        assert!(ms <= 180_000, "{point}: {ms}");
        assert_eq!((world.receipts(), record.receipt.rows().count()), (1, world.rows_held()), "{point}");
        world.wake();
        world.turn().await;
        assert_valid(&world.conversation.messages);
    }
}

#[tokio::test(start_paused = true)]
async fn b4_no_new_work_begins_once_the_working_time_is_over() {
    let mut world = World::new([Stream::Whole(calls_of(&[CREATE; 20])), Stream::Whole(text("Saved."))]).latency(19_000);
    world.settings.turn_ms = 200_000;
    world.settings.closing_ms = 100_000;
    world.settings.store_ms = 100_000;
    let (record, ms) = world.turn().await;
    assert_eq!(record.stop, Stop::TimeLimit);
    assert!(ms <= 200_000 && world.reached("tool") <= 3, "{ms} ms, {} calls", world.reached("tool"));
    assert_eq!(record.receipt.rows().count(), world.rows_held());
}

#[tokio::test(start_paused = true)]
async fn b4_limits_beyond_any_clock_are_no_crash() {
    let mut world = World::new([Stream::Refused(passing("503"))]).hang(("open", Some(1)));
    let most = u64::MAX;
    world.settings = Settings { turn_ms: most, closing_ms: 0, tool_ms: most, guard_ms: most, backoff_ms: 1, ..Settings::default() };
    let (record, _) = world.turn_until(sleep(Duration::from_secs(3600))).await;
    assert_eq!(record.stop, Stop::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn b4_a_turn_without_any_time_ends_at_once_and_says_so() {
    let mut world = World::new([]);
    world.settings.turn_ms = 0;
    let (record, ms) = world.turn().await;
    assert_eq!((record.stop, world.receipts(), ms), (Stop::TimeLimit, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn l13_a_cancel_at_any_time_ends_the_turn_as_cancelled_with_all_that_was_committed() {
    const STEP: u64 = 10;
    let mut whole = busy().latency(STEP);
    let (_, length) = whole.turn().await;
    let mut cancelled = 0;
    let mut applied = std::collections::BTreeSet::new();
    for at in (5..u64::try_from(length).expect("short")).step_by(usize::try_from(STEP).expect("small")) {
        let mut world = busy().latency(STEP);
        let (record, ms) = world.turn_until(sleep(Duration::from_millis(at))).await;
        let case = format!("cancelled at {at}: {:?} after {ms} ms", record.stop);
        assert_valid(&world.conversation.messages);
        assert_eq!((world.receipts(), record.receipt.rows().count()), (1, world.rows_held()), "{case}");
        if record.stop == Stop::Replied {
            assert!(u128::from(at) + 4 * u128::from(STEP) > length, "{case}: only a turn that was closing by then ends as if nothing were");
            continue;
        }
        cancelled += 1;
        let proven = record.receipt.entries.iter().filter(|entry| entry.fate == Fate::Applied).count();
        assert_eq!(proven, world.rows_held(), "{case}: what was broken off after its commit is looked up");
        applied.insert(record.receipt.rows().count());
        assert_eq!(record.stop, Stop::Cancelled, "{case}");
        assert!(matches!(record.status, Status::Bound | Status::Contested), "{case}");
        assert!(ms <= u128::from(at) + 25 * u128::from(STEP), "{case}: nothing new begins");
    }
    assert!(cancelled > 50, "{cancelled} of {length} ms");
    assert_eq!(applied, [0, 1, 2, 3].into(), "it was cancelled before, between and after the writes");
}

#[tokio::test(start_paused = true)]
async fn l13_a_cancel_breaks_off_at_once_what_hangs() {
    for point in ["open", "chunk", "tool", "guard"] {
        let mut world = busy().hang((point, Some(0)));
        let (record, ms) = world.turn_until(sleep(Duration::from_millis(7))).await;
        assert_eq!((record.stop, ms), (Stop::Cancelled, 7), "{point}");
        assert_valid(&world.conversation.messages);
    }
}

#[tokio::test(start_paused = true)]
async fn l13_a_cancel_during_a_backoff_is_heard_at_once() {
    let mut world = World::new([Stream::Refused(passing("503"))]);
    let (record, ms) = world.turn_until(sleep(Duration::from_millis(100))).await;
    assert_eq!((record.stop, ms), (Stop::Cancelled, 100));
}

#[tokio::test(start_paused = true)]
async fn l13_a_cancel_that_came_before_the_turn_ends_it_before_the_model_is_asked() {
    let mut world = World::new([]);
    let (record, _) = world.turn_until(std::future::ready(())).await;
    assert_eq!((record.stop, world.reached("open"), world.receipts()), (Stop::Cancelled, 0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(13), ..ProptestConfig::with_cases(300) })]

    #[test]
    fn b4_l13_hangs_slowness_and_cancels_at_random_never_cost_the_receipt_or_the_history(
        point in select(&POINTS[..]), time in prop::option::of(0_usize..6), latency in 0_u64..9000, cancel_at in 0_u64..400_000
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let mut world = busy().latency(latency).hang((point, time));
            let (record, ms) = world.turn_until(sleep(Duration::from_millis(cancel_at))).await;
            let case = format!("{:?} after {ms} ms", record.stop);
            prop_assert!(ms <= 180_000, "{}", case);
            prop_assert_eq!(world.receipts(), 1);
            // A trail that gives no answer may hold more than the turn could learn.
            let known = record.receipt.rows().count();
            prop_assert!(known <= world.rows_held());
            world.wake();
            world.turn_until(sleep(Duration::from_millis(1))).await;
            assert_valid(&world.conversation.messages);
            Ok(())
        })?;
    }
}
