//! The driver on paused time: streams, tools that misbehave, retries, the guard.

use std::time::Duration;

use unbacked::turn::bounds::Oversize;
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::message::Message;
use unbacked::turn::ports::{Chunk, ModelFault};

use crate::play::assert_valid;
use crate::say::{CREATE, READ, calls_of, passing, permanent, text, unbacked};
use crate::world::{Stream, Tool, World};

fn contents(world: &World) -> Vec<String> {
    let results = |message: &Message| if let Message::Results { results, .. } = message { results.clone() } else { Vec::new() };
    world.conversation.messages.iter().flat_map(results).map(|result| result.content).collect()
}

#[tokio::test(start_paused = true)]
async fn a_quiet_turn_takes_no_time_and_everything_is_stored() {
    let mut world = World::new([Stream::Whole(calls_of(&[READ, CREATE])), Stream::Whole(text("Saved."))]);
    let (record, ms) = world.turn().await;
    assert_eq!((record.stop.clone(), record.status, ms), (Stop::Replied, Status::Changed, 0));
    assert_eq!((&world.stored, world.closed.len()), (&world.conversation.messages, 1));
    assert_eq!((world.receipts(), world.reached("verify"), world.reached("settle")), (1, 1, 1));
    assert_valid(&world.stored);
}

#[tokio::test(start_paused = true)]
async fn l8_text_reaches_the_user_as_it_streams() {
    let pieces = ["One ", "two ", "three."].map(|piece| Chunk::Text(piece.into()));
    let mut world = World::new([Stream::Breaks(pieces.to_vec(), passing("reset"))]).latency(10);
    let (record, _) = world.turn().await;
    let shown: Vec<(u128, &str)> = world
        .events
        .iter()
        .filter_map(|(ms, event)| if let Event::Text { text } = event { Some((*ms, text.as_str())) } else { None })
        .collect();
    let start = shown[0].0;
    assert_eq!(shown, [(start, "One "), (start + 10, "two "), (start + 20, "three.")]);
    assert_eq!((record.reply.as_str(), record.stop), ("One two three.", Stop::Cut));
}

#[tokio::test(start_paused = true)]
async fn l5_a_tool_that_panics_is_a_tool_that_failed_and_the_next_call_runs() {
    for behaviour in [Tool::Panics, Tool::PanicsAtOnce] {
        let mut world = World::new([Stream::Whole(calls_of(&[CREATE, CREATE]))]).behaving([behaviour]);
        let (record, _) = world.turn().await;
        let contents = contents(&world);
        assert!(contents[0].contains("panicked") && contents[1].contains("touched_ids"), "{behaviour:?}: {contents:?}");
        assert_eq!((record.stop, record.receipt.rows().count()), (Stop::Replied, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn l5_a_tool_that_hangs_runs_out_of_its_own_time_and_the_next_call_runs() {
    let mut world = World::new([Stream::Whole(calls_of(&[CREATE, CREATE]))]).hang(("tool", Some(0)));
    let (record, ms) = world.turn().await;
    let contents = contents(&world);
    assert!(contents[0].contains("timed_out") && contents[1].contains("touched_ids"), "{contents:?}");
    assert_eq!((record.stop, ms), (Stop::Replied, 20_000));
}

#[tokio::test(start_paused = true)]
async fn l5_what_a_tool_committed_before_it_panicked_or_hung_counts_as_applied() {
    for behaviour in [Tool::CommitsAndPanics, Tool::CommitsAndHangs] {
        let mut world = World::new([Stream::Whole(calls_of(&[CREATE]))]).behaving([behaviour]);
        let (record, _) = world.turn().await;
        assert_eq!((record.status, record.receipt.rows().count()), (Status::Changed, 1), "{behaviour:?}");
        assert!(contents(&world)[0].contains("committed all the same"));
    }
}

#[tokio::test(start_paused = true)]
async fn l11_retries_wait_longer_each_time() {
    let faults = (0..3)
        .map(|number| if number == 1 { Stream::Breaks(vec![Chunk::CallBegan], passing("reset")) } else { Stream::Refused(passing("503")) });
    let mut world = World::new(faults);
    let (record, ms) = world.turn().await;
    assert_eq!((record.stop, record.model_calls, ms), (Stop::Replied, 4, 500 + 1000 + 2000));
    let (record, ms) = World::new((0..9).map(|_| Stream::Refused(passing("503")))).turn().await;
    assert_eq!((record.stop, record.model_calls, ms), (Stop::Provider { error: "503".into() }, 4, 3500));
}

#[tokio::test(start_paused = true)]
async fn l11_a_provider_that_asks_to_wait_is_waited_for_inside_the_turn_s_time() {
    let after = |seconds| Stream::Refused(ModelFault::Passing { error: "429".into(), retry_after: Some(Duration::from_secs(seconds)) });
    let (record, ms) = World::new([after(60)]).turn().await;
    assert_eq!((record.stop, ms), (Stop::Replied, 60_000));
    let (record, ms) = World::new([after(3600)]).turn().await;
    assert_eq!((record.stop, ms), (Stop::TimeLimit, 175_000));
}

#[tokio::test(start_paused = true)]
async fn l11_a_permanent_fault_is_not_waited_on() {
    let (record, ms) = World::new([Stream::Refused(permanent("401"))]).turn().await;
    assert_eq!((record.stop, record.model_calls, ms), (Stop::Provider { error: "401".into() }, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn b5_an_endless_stream_is_cut_and_dropped() {
    for (chunk, limit) in [
        (Chunk::Text("more ".into()), Oversize::Text),
        (Chunk::Text(String::new()), Oversize::Text),
        (Chunk::Thinking(100), Oversize::Text),
        (Chunk::CallBegan, Oversize::Calls),
        (Chunk::Arguments(1000), Oversize::Arguments),
        (Chunk::Arguments(0), Oversize::Arguments),
    ] {
        let mut world = World::new([Stream::Endless(chunk.clone())]);
        world.settings.reply_bytes = 1000;
        world.settings.argument_bytes = 1000;
        let (record, _) = world.turn().await;
        assert_eq!(record.stop, Stop::Oversize { limit }, "{chunk:?}");
        assert!(world.pulled() <= 1001, "{chunk:?}");
        assert_eq!((world.dropped_streams(), world.receipts()), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn b4_a_stream_that_trickles_is_cut_at_the_turn_s_limit_and_dropped() {
    let mut world = World::new([Stream::Endless(Chunk::Text("x".into()))]).latency(1000);
    let (record, ms) = world.turn().await;
    assert_eq!(record.stop, Stop::TimeLimit);
    assert!((175_000..=180_000).contains(&ms), "{ms}");
    assert_eq!(world.dropped_streams(), 1);
    assert!(record.reply.len() > 100, "what was shown stays");
    assert_valid(&world.conversation.messages);
}

#[tokio::test(start_paused = true)]
async fn j6_a_guard_that_hangs_lets_everything_pass() {
    let mut world = World::new([Stream::Whole(text("Saved."))]).hang(("guard", None));
    let (record, ms) = world.turn().await;
    assert_eq!((record.stop, record.status, ms), (Stop::Replied, Status::Unchanged, 20_000));
    let ruled =
        world.events.iter().any(|(_, event)| matches!(event, Event::Ruled { consulted, .. } if consulted.why.contains("ran out of time")));
    assert!(ruled);
}

#[tokio::test(start_paused = true)]
async fn j10_a_guard_that_hangs_at_its_second_look_contests_nothing() {
    let mut world = World::new([]).hang(("guard", Some(1)));
    world.rulings.push_back(unbacked());
    let (record, _) = world.turn().await;
    assert_eq!((record.corrections, record.stop, record.status), (1, Stop::Replied, Status::Unchanged));
}
