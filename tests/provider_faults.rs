//! The provider and its stream as faults: what is benign changes nothing of the message, what breaks ends as the rules say, and a campaign
//! reaches each of them without a finding.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use serde_json::{Map, json};

use unbacked::sim::again::{Alone, Check};
use unbacked::sim::campaign::{Campaign, Part};
use unbacked::sim::faults::Class;
use unbacked::sim::faults::catalogue;
use unbacked::sim::faults::stream::{STREAM, Sent, StreamFault};
use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Finish, Reply, Usage};
use unbacked::turn::ports::{Chunk, ModelFault};
use unbacked::wire::Dialect;
use unbacked::wire::decode::Decoder;
use unbacked::wire::speak::speak;

/// All that came before the fault, if one came.
fn decoded(dialect: Dialect, sent: &Sent, chunk: usize) -> (Vec<Chunk>, Option<ModelFault>) {
    let mut decoder = Decoder::new(dialect);
    let mut chunks = Vec::new();
    for (_, bytes) in sent.deliver(chunk) {
        match decoder.feed(&bytes) {
            Ok(more) => chunks.extend(more),
            Err(fault) => return (chunks, Some(fault)),
        }
    }
    match decoder.end() {
        Ok(more) => chunks.extend(more),
        Err(fault) => return (chunks, Some(fault)),
    }
    (chunks, None)
}

fn whole(dialect: Dialect, sent: &Sent, chunk: usize) -> Reply {
    let (chunks, fault) = decoded(dialect, sent, chunk);
    assert_eq!(fault, None);
    match chunks.last() {
        Some(Chunk::Done(reply)) => Reply { usage: Usage::default(), ..reply.clone() },
        other => panic!("no whole reply, but {other:?}"),
    }
}

fn shown(chunks: &[Chunk]) -> String {
    chunks.iter().map(|chunk| if let Chunk::Text(text) = chunk { text.as_str() } else { "" }).collect()
}

fn named(name: &str) -> &'static StreamFault {
    STREAM.iter().find(|entry| entry.fault.name == name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// The nth draw is the nth of these, then 0.
fn drawing(list: &[u32]) -> impl FnMut(u32) -> u32 {
    let mut list = list.iter().copied();
    move |below| list.next().unwrap_or(0) % below.max(1)
}

fn sent(dialect: Dialect, reply: &Reply, faults: &[&StreamFault], draws: &[u32]) -> Sent {
    let mut sent = Sent::new(dialect, &speak(dialect, reply, 7));
    let mut draw = drawing(draws);
    for fault in faults {
        sent.strike(fault, &mut draw);
    }
    sent
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z \"\\\\{}\n]{1,12}", Just("Größe 日本 🦀 مدينة".to_owned()), Just("data: [DONE]\n\nevent: x".to_owned())]
}

fn any_arguments() -> impl Strategy<Value = Arguments> {
    let object = any_text().prop_map(|text| Arguments::Object { value: Map::from_iter([(text.clone(), json!([text, null, 1]))]) });
    prop_oneof![
        object,
        Just(Arguments::Object { value: Map::new() }),
        Just(Arguments::Broken { raw: "{\"a\": [".into(), why: BrokenArguments::NotJson }),
        Just(Arguments::Broken { raw: "[1, 2]".into(), why: BrokenArguments::NotAnObject }),
    ]
}

fn any_reply() -> impl Strategy<Value = Reply> {
    let call = (0..9_u32, any_arguments()).prop_map(|(id, arguments)| Call { id: format!("call_{id}"), name: "f".into(), arguments });
    let block = prop_oneof![any_text().prop_map(Block::text), call.prop_map(Block::Call)];
    let finish = prop_oneof![Just(Finish::Stop), Just(Finish::ToolCalls), Just(Finish::Length), Just(Finish::Refusal)];
    let usage = Usage { input: Some(7), output: Some(9) };
    (proptest::collection::vec(block, 0..5), finish).prop_map(move |(blocks, finish)| Reply { blocks, finish, usage })
}

proptest! {
    #[test]
    fn whatever_is_benign_changes_nothing_of_the_message(
        reply in any_reply(),
        on in proptest::collection::vec(any::<bool>(), STREAM.len()),
        draws in proptest::collection::vec(any::<u32>(), 12),
        chunk in 1..80_usize,
    ) {
        let benign: Vec<&StreamFault> = STREAM.iter().zip(&on).filter(|(fault, on)| fault.benign && **on).map(|(fault, _)| fault).collect();
        for dialect in Dialect::ALL {
            let plain = whole(dialect, &sent(dialect, &reply, &[], &[]), usize::MAX);
            prop_assert_eq!(whole(dialect, &sent(dialect, &reply, &benign, &draws), chunk), plain);
        }
    }

    #[test]
    fn l9_a_stream_that_breaks_anywhere_shows_a_beginning_of_the_text_and_gives_no_reply_but_the_whole_one(
        reply in any_reply(),
        name in prop_oneof![Just("stream-cut"), Just("error-event")],
        draws in proptest::collection::vec(any::<u32>(), 2),
    ) {
        for dialect in Dialect::ALL {
            let (plain, _) = decoded(dialect, &sent(dialect, &reply, &[], &[]), usize::MAX);
            let (chunks, fault) = decoded(dialect, &sent(dialect, &reply, &[named(name)], &draws), 5);
            prop_assert!(shown(&plain).starts_with(&shown(&chunks)));
            match chunks.last() {
                Some(Chunk::Done(done)) => {
                    let Some(Chunk::Done(plain)) = plain.last() else { panic!("no whole reply") };
                    prop_assert_eq!(&done.blocks, &plain.blocks);
                }
                _ => prop_assert!(fault.is_some()),
            }
        }
    }
}

fn two_calls() -> Reply {
    let call = |id: &str, name: &str| {
        let value = Map::from_iter([("name".to_owned(), json!(name))]);
        Block::Call(Call { id: id.into(), name: "create_skills".into(), arguments: Arguments::Object { value } })
    };
    Reply { blocks: vec![Block::text("So:"), call("a", "Rust"), call("b", "Zażółć")], finish: Finish::ToolCalls, ..Reply::default() }
}

fn struck(dialect: Dialect, names: &[&str], draws: &[u32]) -> Reply {
    let faults: Vec<&StreamFault> = names.iter().map(|name| named(name)).collect();
    whole(dialect, &sent(dialect, &two_calls(), &faults, draws), 11)
}

#[test]
fn calls_under_one_index_or_none_stay_apart_by_their_ids() {
    for dialect in Dialect::ALL {
        let plain = struck(dialect, &[], &[]);
        assert_eq!(plain.calls().count(), 2);
        for name in ["one-index", "no-index"] {
            assert_eq!(struck(dialect, &[name], &[]), plain, "{dialect}, {name}");
        }
    }
}

#[test]
fn l5_ids_that_do_not_come_lose_no_call() {
    for dialect in Dialect::ALL {
        for way in 0..3 {
            for names in [&["no-ids"][..], &["no-ids", "no-index"]] {
                let reply = struck(dialect, names, &[way]);
                assert!(reply.calls().all(|call| call.id.is_empty()), "{dialect}, {way}");
                let arguments = |reply: &Reply| reply.calls().map(|call| call.arguments.clone()).collect::<Vec<_>>();
                assert_eq!(arguments(&reply), arguments(&two_calls()), "{dialect}, {names:?}");
            }
        }
    }
}

#[test]
fn calls_that_nothing_tells_apart_are_broken_and_not_one_of_them() {
    let merged = struck(Dialect::OpenaiChat, &["no-ids", "one-index"], &[0]);
    let calls: Vec<&Call> = merged.calls().collect();
    assert!(matches!(calls[..], [Call { arguments: Arguments::Broken { .. }, .. }]), "{calls:?}");
}

#[test]
fn null_arguments_are_none_or_broken_and_null_before_the_rest_is_nothing() {
    for dialect in Dialect::ALL {
        let arguments = |way| struck(dialect, &["null-arguments"], &[way]).calls().map(|call| call.arguments.clone()).collect::<Vec<_>>();
        assert_eq!(struck(dialect, &["null-arguments"], &[0]), struck(dialect, &[], &[]), "{dialect}");
        let broken = Arguments::Broken { raw: "null".into(), why: BrokenArguments::NotAnObject };
        assert_eq!(arguments(1), vec![broken.clone(), broken], "{dialect}");
        let none = Arguments::Object { value: Map::new() };
        assert_eq!(arguments(2), vec![none.clone(), none], "{dialect}");
    }
}

#[test]
fn a_finish_reason_that_contradicts_the_content_leaves_the_content_as_it_is() {
    for dialect in Dialect::ALL {
        let finishes = [Finish::Stop, Finish::Length, Finish::Refusal, Finish::Other("eos".into())];
        for (way, finish) in (0..).zip(finishes) {
            let reply = struck(dialect, &["wrong-finish"], &[way]);
            assert_eq!((reply.calls().count(), reply.finish), (2, finish), "{dialect}");
        }
    }
}

#[test]
fn silence_is_waited_for_and_loses_nothing() {
    for dialect in Dialect::ALL {
        let quiet = sent(dialect, &two_calls(), &[named("stream-silence")], &[100, 2]);
        let waits: Vec<u64> = quiet.deliver(40).iter().map(|(wait, _)| wait.as_secs()).filter(|wait| *wait > 0).collect();
        assert_eq!(waits, [100]);
        assert_eq!(whole(dialect, &quiet, 40), struck(dialect, &[], &[]));
    }
}

#[test]
fn a_campaign_with_the_faults_of_the_provider_has_no_finding_and_reaches_each() {
    let campaign = Campaign {
        seed: 3,
        runs: 500,
        policies: vec!["full".into()],
        personas: Vec::new(),
        dialects: Vec::new(),
        judge: "faithful".into(),
        evidence: "ledger".into(),
        faults: vec!["provider".into()],
        sabotage: None,
        jobs: 2,
        part: Part::default(),
        check: Check::Sample,
    };
    let mut reach: BTreeMap<String, u64> = BTreeMap::new();
    let done = campaign.execute(&AtomicBool::new(false), &Alone, &mut |outcome| {
        assert_eq!(outcome.findings, Vec::new(), "seed {}", outcome.seed);
        for (mark, count) in outcome.reach {
            *reach.entry(mark).or_default() += count;
        }
        ControlFlow::Continue(())
    });
    done.expect("the campaign runs");
    let missed: Vec<&str> = catalogue()
        .filter(|fault| fault.class == Class::Provider && !reach.contains_key(&format!("fault:{}", fault.name)))
        .map(|fault| fault.name)
        .collect();
    assert_eq!(missed, Vec::<&str>::new());
}
