//! The provider's side, and what holds for every reply, cut and chunking.

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use unbacked::turn::message::{Finish, Usage};
use unbacked::wire::decode::classify;
use unbacked::wire::speak::{speak, speak_error};
use unbacked::wire::sse::{SseEvent, SseParser};

#[test]
fn b1_b2_d1_to_d6_the_provider_speaks_as_real_ones_do() {
    let reply = Reply {
        blocks: vec![Block::text("Adding."), call("a", "f", object(json!({ "x": 1 })))],
        finish: Finish::ToolCalls,
        usage: Usage { input: Some(3), output: Some(4) },
    };
    let frame_text = |dialect| speak(dialect, &reply, 4).concat();
    let anthropic: Vec<SseEvent> = SseParser::default().feed(&frame_text(Dialect::Anthropic));
    for event in &anthropic {
        let data: Value = serde_json::from_str(&event.data).expect("JSON");
        assert_eq!(data["type"], event.name.as_str(), "B2");
    }
    let names: Vec<&str> = anthropic.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[..4], ["message_start", "content_block_start", "ping", "content_block_delta"]);
    assert_eq!(names[names.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
    let openai: Vec<SseEvent> = SseParser::default().feed(&frame_text(Dialect::OpenaiChat));
    assert!(openai.iter().all(|event| event.name.is_empty()));
    assert_eq!(openai.last().map(|event| event.data.as_str()), Some("[DONE]"));
    let chunks: Vec<Value> = openai[..openai.len() - 1].iter().map(|event| serde_json::from_str(&event.data).expect("JSON")).collect();
    assert_eq!(places_of_roles(&chunks), [0], "D2: the role comes once");
    let silent = Reply { blocks: reply.blocks[1..].to_vec(), ..reply };
    let chunks: Vec<Value> = SseParser::default()
        .feed(&speak(Dialect::OpenaiChat, &silent, 4).concat())
        .iter()
        .filter_map(|event| serde_json::from_str(&event.data).ok())
        .collect();
    assert_eq!(places_of_roles(&chunks), [0], "D2: with the first call where there is no text");
    assert_eq!(chunks[0].pointer("/choices/0/delta/content"), Some(&Value::Null), "D2");
    let finishes = chunks.iter().filter(|chunk| chunk.pointer("/choices/0/finish_reason").is_some_and(Value::is_string)).count();
    assert_eq!((finishes, &chunks[chunks.len() - 1]["choices"]), (1, &json!([])), "D5, D6");
}

fn places_of_roles(chunks: &[Value]) -> Vec<usize> {
    (0..chunks.len()).filter(|place| chunks[*place].pointer("/choices/0/delta/role").is_some()).collect()
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{1,40}", "[a-zé日🙂\"\\\\\n\r\u{2028}]{1,12}", Just("data: [DONE]\n\n".to_owned())]
}

fn any_arguments() -> impl Strategy<Value = Arguments> {
    let object = proptest::collection::btree_map(any_text(), any_text(), 0..3).prop_map(|members| Arguments::Object {
        value: members.into_iter().map(|(key, value)| (key, Value::String(value))).collect::<Map<_, _>>(),
    });
    let not_json = "[a-z{]{1,20}".prop_filter("words that are JSON", |raw| serde_json::from_str::<Value>(raw).is_err());
    let not_object = "\\[\"[a-z]{0,9}\"\\]";
    prop_oneof![
        4 => object,
        1 => not_json.prop_map(|raw| broken(&raw, BrokenArguments::NotJson)),
        1 => not_object.prop_map(|raw| broken(&raw, BrokenArguments::NotAnObject)),
    ]
}

/// Replies that a provider can send: no text next to text, since Chat Completions has no border there, and unsigned thinking only.
fn any_reply() -> impl Strategy<Value = Reply> {
    let id = prop_oneof![Just(String::new()), Just("same".to_owned()), "[a-z:]{1,50}"];
    let call = (id, "[a-z. ]{1,9}", any_arguments()).prop_map(|(id, name, arguments)| call(&id, &name, arguments));
    let block = prop_oneof![any_text().prop_map(Block::text), call, any_text().prop_map(|text| Block::Thinking { text, signature: None })];
    let finish = prop_oneof![Just(Finish::Stop), Just(Finish::ToolCalls), Just(Finish::Refusal), Just(Finish::Other("odd".into()))];
    let usage = (0..9_u64, 0..9_u64).prop_map(|(input, output)| Usage { input: Some(input), output: Some(output) });
    (proptest::collection::vec(block, 0..6), finish, usage).prop_map(|(mut blocks, finish, usage)| {
        blocks.dedup_by(|next, before| !matches!(next, Block::Call(_)) && std::mem::discriminant(next) == std::mem::discriminant(before));
        Reply { blocks, finish, usage }
    })
}

/// The stream in pieces of the given lengths, over and over.
fn split<'b>(stream: &'b [u8], lengths: &[usize]) -> Vec<&'b [u8]> {
    let (mut rest, mut parts) = (stream, Vec::new());
    for length in lengths.iter().cycle() {
        let (part, more) = rest.split_at((*length).min(rest.len()));
        parts.push(part);
        rest = more;
        if rest.is_empty() {
            break;
        }
    }
    parts
}

proptest! {
    #[test]
    fn what_is_spoken_is_decoded_and_text_is_as_streamed(reply in any_reply(), piece in 1..30_usize) {
        for dialect in Dialect::ALL {
            let frames = speak(dialect, &reply, piece);
            let (chunks, fault) = decoded(dialect, frames.iter().map(Vec::as_slice));
            prop_assert_eq!(&fault, &None);
            prop_assert_eq!(streamed_text(&chunks), reply.text());
            prop_assert_eq!(chunks.last(), Some(&Chunk::Done(reply.clone())));
            prop_assert_eq!(chunks.iter().filter(|chunk| matches!(chunk, Chunk::CallBegan)).count(), reply.calls().count());
        }
    }

    #[test]
    fn b17_any_chunking_gives_the_same(reply in any_reply(), lengths in proptest::collection::vec(1..40_usize, 1..9), breaks in any::<bool>()) {
        for dialect in Dialect::ALL {
            let mut frames = speak(dialect, &reply, 5);
            if breaks {
                frames.insert(frames.len() / 2, speak_error(dialect, "overloaded_error", "busy"));
            }
            for end in ["\n", "\r\n"] {
                let stream = String::from_utf8(frames.concat()).expect("UTF-8").replace('\n', end);
                let whole = decoded(dialect, [stream.as_bytes()]);
                prop_assert_eq!(&decoded(dialect, split(stream.as_bytes(), &lengths)), &whole);
                prop_assert_eq!(&decoded(dialect, stream.as_bytes().chunks(1)), &whole);
            }
        }
    }

    #[test]
    fn l9_a_cut_anywhere_is_a_passing_fault_or_the_whole_reply(reply in any_reply(), at in any::<prop::sample::Index>()) {
        for dialect in Dialect::ALL {
            let stream = speak(dialect, &reply, 7).concat();
            let (chunks, fault) = decoded(dialect, [&stream[..at.index(stream.len())]]);
            prop_assert!(reply.text().starts_with(&streamed_text(&chunks)));
            match chunks.last() {
                Some(Chunk::Done(came)) => prop_assert_eq!(&came.blocks, &reply.blocks),
                _ => prop_assert!(fault.as_ref().is_some_and(is_passing), "{:?}", fault),
            }
        }
    }

    #[test]
    fn noise_is_survived(noise in proptest::collection::vec(any::<u8>(), 0..300), words in "(data|event|:| |\\{|\\}|\"|choices|\\[|\\]|\n|type|error|index|-1|9e9|null){0,60}") {
        for dialect in Dialect::ALL {
            for stream in [noise.as_slice(), words.as_bytes()] {
                let (chunks, fault) = decoded(dialect, [stream]);
                prop_assert!(fault.is_some() || matches!(chunks.last(), Some(Chunk::Done(_))));
                let _ = classify(400, stream, None);
            }
        }
    }
}
