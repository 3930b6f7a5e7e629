//! The stream decoders and the provider's side, over the public API (wire rules B and D, and the quirks of compatible servers).

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Finish, Reply, Usage};
use unbacked::turn::ports::{Chunk, ModelFault};
use unbacked::wire::Dialect;
use unbacked::wire::decode::{Decoder, classify};
use unbacked::wire::speak::{error_body, error_kind, speak, speak_error};
use unbacked::wire::sse::{SseEvent, SseParser};

/// What came of a stream: the chunks, and the fault that ended it if one did.
type Came = (Vec<Chunk>, Option<ModelFault>);

fn decoded<'b>(dialect: Dialect, parts: impl IntoIterator<Item = &'b [u8]>) -> Came {
    let mut decoder = Decoder::new(dialect);
    let mut chunks = Vec::new();
    for part in parts {
        match decoder.feed(part) {
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

fn anthropic_stream(events: &[Value]) -> Vec<u8> {
    events
        .iter()
        .flat_map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()).into_bytes())
        .collect()
}

fn openai_stream(chunks: &[Value]) -> Vec<u8> {
    let mut stream: Vec<u8> = chunks.iter().flat_map(|chunk| format!("data: {chunk}\n\n").into_bytes()).collect();
    stream.extend_from_slice(b"data: [DONE]\n\n");
    stream
}

fn reply_of(dialect: Dialect, stream: &[u8]) -> Reply {
    let (chunks, fault) = decoded(dialect, [stream]);
    assert_eq!(fault, None);
    match chunks.last() {
        Some(Chunk::Done(reply)) => reply.clone(),
        other => panic!("no whole reply, but {other:?}"),
    }
}

fn fault_of(dialect: Dialect, stream: &[u8]) -> ModelFault {
    decoded(dialect, [stream]).1.expect("the stream breaks")
}

fn is_passing(fault: &ModelFault) -> bool {
    matches!(fault, ModelFault::Passing { .. })
}

fn streamed_text(chunks: &[Chunk]) -> String {
    let text = |chunk: &Chunk| if let Chunk::Text(text) = chunk { text.clone() } else { String::new() };
    chunks.iter().map(text).collect()
}

fn object(value: Value) -> Arguments {
    Arguments::Object { value: value.as_object().cloned().unwrap_or_default() }
}

fn broken(raw: &str, why: BrokenArguments) -> Arguments {
    Arguments::Broken { raw: raw.into(), why }
}

fn call(id: &str, name: &str, arguments: Arguments) -> Block {
    Block::Call(Call { id: id.into(), name: name.into(), arguments })
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "content": [], "usage": { "input_tokens": 7, "output_tokens": 1 } } })
}

fn block(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn text_delta(index: u64, text: &str) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": text } })
}

fn json_delta(index: u64, part: &str) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": part } })
}

fn text_start(index: u64) -> Value {
    block(index, json!({ "type": "text", "text": "" }))
}

fn tool_start(index: u64, id: &str) -> Value {
    block(index, json!({ "type": "tool_use", "id": id, "name": "f", "input": {} }))
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn finish(reason: &str) -> Vec<Value> {
    let delta =
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 9 } });
    vec![delta, json!({ "type": "message_stop" })]
}

fn anthropic(middle: &[Value], reason: &str) -> Reply {
    reply_of(Dialect::Anthropic, &anthropic_stream(&[vec![start()], middle.to_vec(), finish(reason)].concat()))
}

fn choice(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn ended(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// Deltas of calls, one chunk each, then the end.
fn openai_calls(deltas: &[Value], reason: &str) -> Reply {
    let mut chunks: Vec<Value> = deltas.iter().map(|delta| choice(json!({ "tool_calls": [delta] }))).collect();
    chunks.push(ended(reason));
    reply_of(Dialect::OpenaiChat, &openai_stream(&chunks))
}

fn openai(chunks: &[Value]) -> Reply {
    reply_of(Dialect::OpenaiChat, &openai_stream(chunks))
}

// Server-sent events.

fn events(stream: &[u8]) -> Vec<(String, String)> {
    SseParser::default().feed(stream).into_iter().map(|SseEvent { name, data }| (name, data)).collect()
}

#[test]
fn b17_d9_every_line_end_comment_and_spacing_is_read() {
    let expected = [(String::new(), "a".to_owned()), ("n".to_owned(), "b\nc".to_owned())];
    for stream in ["data: a\n\nevent: n\ndata: b\ndata:c\n\n", ": hello\ndata:a\n\nevent:n\nid: 4\ndata: b\ndata: c\n\n"] {
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(events(stream.replace('\n', end).as_bytes()), expected, "{stream:?} with {end:?}");
        }
    }
}

#[test]
fn d9_an_event_without_data_or_without_its_end_is_none() {
    assert_eq!(events(b"event: ping\n\n: only a comment\n\ndata: half"), []);
    assert_eq!(events(b"data\n\n"), [(String::new(), String::new())]);
    assert_eq!(events("\u{feff}data: a\n\n".as_bytes()), [(String::new(), "a".to_owned())]);
}

#[test]
fn b5_memory_is_bounded_however_long_a_line_is() {
    let mut decoder = Decoder::new(Dialect::OpenaiChat);
    let megabyte = vec![b'x'; 1 << 20];
    let fault = (0..16).find_map(|_| decoder.feed(&megabyte).err());
    assert!(fault.as_ref().is_some_and(is_passing), "{fault:?}");
}

// Anthropic.

#[test]
fn b1_b5_b6_b11_a_streamed_reply_is_put_together() {
    let middle = [
        text_start(0),
        json!({ "type": "ping" }),
        text_delta(0, "Add"),
        text_delta(0, "ing."),
        stop(0),
        tool_start(1, "toolu_1"),
        json_delta(1, ""),
        json_delta(1, "{\"a\":"),
        json_delta(1, "1}"),
        stop(1),
    ];
    let blocks = vec![Block::text("Adding."), call("toolu_1", "f", object(json!({ "a": 1 })))];
    let usage = Usage { input: Some(7), output: Some(9) };
    assert_eq!(anthropic(&middle, "tool_use"), Reply { blocks, finish: Finish::ToolCalls, usage });
}

#[test]
fn b7_a_call_without_fragments_has_an_empty_object() {
    for fragments in [vec![], vec![json_delta(0, "")]] {
        let middle = [vec![tool_start(0, "t")], fragments, vec![stop(0)]].concat();
        assert_eq!(anthropic(&middle, "tool_use").blocks, [call("t", "f", object(json!({})))]);
    }
}

#[test]
fn b6_an_input_that_comes_whole_counts_unless_fragments_follow() {
    let whole = block(0, json!({ "type": "tool_use", "id": "t", "name": "f", "input": { "a": 1 } }));
    assert_eq!(anthropic(std::slice::from_ref(&whole), "tool_use").blocks, [call("t", "f", object(json!({ "a": 1 })))]);
    assert_eq!(anthropic(&[whole, json_delta(0, "{\"a\":2}")], "tool_use").blocks, [call("t", "f", object(json!({ "a": 2 })))]);
}

#[test]
fn b8_arguments_are_parsed_strictly() {
    let rows = [
        ("{\"a\":", BrokenArguments::NotJson),
        ("{\"a\":1}}", BrokenArguments::NotJson),
        ("[1]", BrokenArguments::NotAnObject),
        ("null", BrokenArguments::NotAnObject),
        ("\"{}\"", BrokenArguments::NotAnObject),
    ];
    for (raw, why) in rows {
        assert_eq!(anthropic(&[tool_start(0, "t"), json_delta(0, raw)], "tool_use").blocks, [call("t", "f", broken(raw, why))], "{raw}");
        let delta = json!({ "index": 0, "id": "t", "function": { "name": "f", "arguments": raw } });
        assert_eq!(openai_calls(&[delta], "tool_calls").blocks, [call("t", "f", broken(raw, why))], "{raw}");
    }
}

#[test]
fn b8_what_is_kept_of_broken_arguments_is_bounded() {
    let raw = format!("{{{}", "é".repeat(40_000));
    let reply = anthropic(&[tool_start(0, "t"), json_delta(0, &raw)], "tool_use");
    let kept = reply.calls().find_map(|call| if let Arguments::Broken { raw, .. } = &call.arguments { Some(raw.len()) } else { None });
    assert!(kept.is_some_and(|kept| (2000..=2048).contains(&kept)), "{kept:?}");
}

#[test]
fn b9_b10_thinking_comes_with_its_signature_and_redacted_thinking_whole() {
    let thinking =
        |kind: &str, key: &str, part: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": kind, key: part } });
    let middle = [
        block(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        thinking("thinking_delta", "thinking", "hm"),
        thinking("signature_delta", "signature", "sig"),
        stop(0),
        block(1, json!({ "type": "redacted_thinking", "data": "xyz" })),
        text_start(2),
        text_delta(2, "ok"),
    ];
    let thought = Block::Thinking { text: "hm".into(), signature: Some("sig".into()) };
    assert_eq!(anthropic(&middle, "end_turn").blocks, [thought, Block::RedactedThinking { data: "xyz".into() }, Block::text("ok")]);
}

#[test]
fn b11_g38_totals_overwrite_and_cached_tokens_were_read_too() {
    let first = json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1, "cache_read_input_tokens": 20, "output_tokens": 3 } } });
    let bare = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": {} });
    let reply = |deltas: &[Value]| {
        let events = [&[first.clone()], deltas, &[json!({ "type": "message_stop" })]].concat();
        reply_of(Dialect::Anthropic, &anthropic_stream(&events)).usage
    };
    assert_eq!(reply(std::slice::from_ref(&bare)), Usage { input: Some(21), output: Some(3) });
    let total = json!({ "type": "message_delta", "delta": {}, "usage": { "output_tokens": 8 } });
    assert_eq!(reply(&[bare, total]), Usage { input: Some(21), output: Some(8) });
}

#[test]
fn b12_b3_b20_b21_unknown_events_deltas_and_blocks_are_carried_past() {
    let mut stream = b"data: [DONE]\n\nevent: completion\ndata: [DONE]\n\n".to_vec();
    let middle = [
        json!({ "type": "ping" }),
        start(),
        json!({ "type": "from_the_future", "x": [] }),
        start(),
        block(0, json!({ "type": "hologram" })),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "hologram_delta" } }),
        text_start(1),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "citations_delta", "citation": {} } }),
        text_delta(1, "ok"),
    ];
    stream.extend(anthropic_stream(&[middle.to_vec(), finish("end_turn")].concat()));
    assert_eq!(reply_of(Dialect::Anthropic, &stream).blocks, [Block::text("ok")]);
}

#[test]
fn b13_a78_d8_an_error_event_ends_the_stream_and_its_type_says_whether_it_may_pass() {
    let rows = [
        ("overloaded_error", true),
        ("rate_limit_error", true),
        ("api_error", true),
        ("server_error", true),
        ("invalid_request_error", false),
        ("authentication_error", false),
        ("insufficient_quota", false),
    ];
    for dialect in Dialect::ALL {
        for (kind, passes) in rows {
            let said = speak(
                dialect,
                &Reply { blocks: vec![Block::text("half")], usage: Usage { input: Some(1), output: Some(1) }, ..Reply::default() },
                99,
            );
            let stream = [said[..said.len() - 3].concat(), speak_error(dialect, kind, "sorry"), said.concat()].concat();
            let (chunks, fault) = decoded(dialect, [stream.as_slice()]);
            assert_eq!(chunks, [Chunk::Text("half".into())], "what came before the error was shown");
            assert_eq!(fault.as_ref().map(is_passing), Some(passes), "{dialect} {kind} {fault:?}");
        }
    }
}

#[test]
fn b14_b16_d10_a_stream_that_does_not_say_that_it_is_whole_is_cut() {
    let reply = Reply {
        blocks: vec![Block::text("Saved."), call("t", "f", object(json!({ "a": 1 })))],
        finish: Finish::ToolCalls,
        ..Reply::default()
    };
    for dialect in Dialect::ALL {
        let frames = speak(dialect, &reply, 3);
        let needed = match dialect {
            Dialect::Anthropic => frames.len(),
            // The finish is enough: neither usage nor `[DONE]` is needed (W-D10).
            Dialect::OpenaiChat => frames.len() - 1,
        };
        for kept in 0..frames.len() {
            let (chunks, fault) = decoded(dialect, frames[..kept].iter().map(Vec::as_slice));
            let whole = chunks.iter().any(|chunk| matches!(chunk, Chunk::Done(_)));
            assert_eq!(whole, kept >= needed, "{dialect} after {kept} of {}", frames.len());
            assert_eq!(fault.is_some_and(|fault| is_passing(&fault)), kept < needed);
        }
    }
    let no_reason = anthropic_stream(&[start(), text_start(0), text_delta(0, "x"), json!({ "type": "message_stop" })]);
    assert!(is_passing(&fault_of(Dialect::Anthropic, &no_reason)));
    assert!(is_passing(&fault_of(Dialect::OpenaiChat, &openai_stream(&[choice(json!({ "content": "x" }))]))));
}

#[test]
fn b4_b19_interleaved_blocks_are_keyed_by_index_and_text_reads_as_it_was_shown() {
    let middle = [tool_start(0, "a"), tool_start(1, "b"), json_delta(0, "{\"x\""), json_delta(1, "{}"), json_delta(0, ":1}")];
    assert_eq!(anthropic(&middle, "tool_use").blocks, [call("a", "f", object(json!({ "x": 1 }))), call("b", "f", object(json!({})))]);
    let middle = [text_start(0), text_start(1), text_delta(0, "1"), text_delta(1, "2"), text_delta(0, "3"), text_delta(1, "4")];
    let events = [vec![start()], middle.to_vec(), finish("end_turn")].concat();
    let (chunks, _) = decoded(Dialect::Anthropic, [anthropic_stream(&events).as_slice()]);
    assert_eq!(streamed_text(&chunks), "1234");
    assert_eq!(reply_of(Dialect::Anthropic, &anthropic_stream(&events)).text(), "1234");
}

#[test]
fn b4_a_part_that_cannot_be_placed_or_read_cuts_the_stream_and_never_vanishes() {
    let homeless = [vec![start()], vec![text_delta(3, "lost")], finish("end_turn")].concat();
    assert!(is_passing(&fault_of(Dialect::Anthropic, &anthropic_stream(&homeless))));
    let mut garbled = anthropic_stream(&[start(), text_start(0)]);
    garbled.extend_from_slice(b"event: content_block_delta\ndata: {\"type\":\"content_blo\n\n");
    garbled.extend(anthropic_stream(&finish("end_turn")));
    assert!(is_passing(&fault_of(Dialect::Anthropic, &garbled)));
    assert!(is_passing(&fault_of(Dialect::OpenaiChat, b"data: {\"choices\":[{\"del\n\ndata: [DONE]\n\n")));
}

#[test]
fn a79_c47_d29_stop_reasons_are_told_apart_and_unknown_ones_are_never_done() {
    let anthropic_rows = [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("refusal", Finish::Refusal),
        ("pause_turn", Finish::Other("pause_turn".into())),
        ("surprise", Finish::Other("surprise".into())),
    ];
    for (reason, finish) in anthropic_rows {
        assert_eq!(anthropic(&[], reason).finish, finish);
    }
    let openai_rows = [
        ("stop", Finish::Stop),
        ("tool_calls", Finish::ToolCalls),
        ("function_call", Finish::ToolCalls),
        ("length", Finish::Length),
        ("content_filter", Finish::Refusal),
        ("insufficient_system_resource", Finish::Other("insufficient_system_resource".into())),
    ];
    for (reason, finish) in openai_rows {
        assert_eq!(openai(&[ended(reason)]).finish, finish);
    }
    assert!(is_passing(&fault_of(Dialect::OpenaiChat, &openai_stream(&[ended("")]))), "an empty reason is none");
}

#[test]
fn f10_a82_under_the_token_limit_the_last_call_and_incomplete_ones_are_cut_off() {
    let raws = ["{\"a\":1}", "{\"b\":", "{}"];
    let expected = [
        call("0", "f", object(json!({ "a": 1 }))),
        call("1", "f", broken("{\"b\":", BrokenArguments::CutOff)),
        call("2", "f", broken("{}", BrokenArguments::CutOff)),
    ];
    let middle: Vec<Value> =
        (0..3).zip(raws).flat_map(|(index, raw)| [tool_start(index, &index.to_string()), json_delta(index, raw)]).collect();
    assert_eq!(anthropic(&middle, "max_tokens").blocks, expected);
    let deltas: Vec<Value> = (0..3)
        .zip(raws)
        .map(|(index, raw)| json!({ "index": index, "id": index.to_string(), "function": { "name": "f", "arguments": raw } }))
        .collect();
    assert_eq!(openai_calls(&deltas, "length").blocks, expected);
}

#[test]
fn a12_c191_half_a_surrogate_pair_is_replaced_on_the_way_in() {
    let rows = [
        (r"\ud800", "\u{fffd}"),
        (r"\uDE00x", "\u{fffd}x"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud800\ud83d\ude00", "\u{fffd}😀"),
        (r"\\ud800", r"\ud800"),
    ];
    for (escape, text) in rows {
        let data = format!(r#"data: {{"choices":[{{"delta":{{"content":"{escape}"}},"finish_reason":"stop"}}]}}"#);
        assert_eq!(reply_of(Dialect::OpenaiChat, format!("{data}\n\n").as_bytes()).text(), text, "{escape}");
        let raw = format!(r#"{{"a":"{escape}"}}"#);
        assert_eq!(
            anthropic(&[tool_start(0, "t"), json_delta(0, &raw)], "tool_use").blocks,
            [call("t", "f", object(json!({ "a": text })))],
            "{escape}"
        );
    }
}

// OpenAI and its likenesses.

#[test]
fn d1_d6_a_streamed_reply_is_put_together() {
    let chunks = [
        choice(json!({ "role": "assistant", "content": "" })),
        choice(json!({ "content": "Add" })),
        choice(json!({ "content": "ing." })),
        choice(json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": { "name": "f", "arguments": "" } }] })),
        choice(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"a\":" } }] })),
        choice(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "1}" } }] })),
        ended("tool_calls"),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 9 } }),
    ];
    let blocks = vec![Block::text("Adding."), call("c1", "f", object(json!({ "a": 1 })))];
    assert_eq!(openai(&chunks), Reply { blocks, finish: Finish::ToolCalls, usage: Usage { input: Some(7), output: Some(9) } });
}

#[test]
fn d4_d12_to_d22_and_d34_calls_survive_the_quirks_of_servers() {
    let a = || call("a", "f", object(json!({ "x": 1 })));
    let b = || call("b", "g", object(json!({})));
    let rows: Vec<(&str, Vec<Value>, Vec<Block>)> = vec![
        (
            "d4 fragments interleave",
            vec![
                json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } }),
                json!({ "index": 1, "id": "b", "function": { "name": "g", "arguments": "{" } }),
                json!({ "index": 0, "function": { "arguments": ":1}" } }),
                json!({ "index": 1, "function": { "arguments": "}" } }),
            ],
            vec![a(), b()],
        ),
        (
            "d4 an index is left out",
            vec![
                json!({ "index": 1, "id": "a", "function": { "name": "f", "arguments": "{\"x\":1}" } }),
                json!({ "index": 5, "id": "b", "function": { "name": "g" } }),
            ],
            vec![a(), b()],
        ),
        (
            "d13 no index: a new id begins, no id goes on",
            vec![
                json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } }),
                json!({ "index": null, "function": { "arguments": "1}" } }),
                json!({ "index": null, "id": "b", "function": { "name": "g", "arguments": "{}" } }),
            ],
            vec![a(), b()],
        ),
        (
            "d13 no index, and the ids tell the fragments apart",
            vec![
                json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } }),
                json!({ "id": "b", "function": { "name": "g", "arguments": "{" } }),
                json!({ "id": "a", "function": { "arguments": "1}" } }),
                json!({ "id": "b", "function": { "arguments": "}" } }),
            ],
            vec![a(), b()],
        ),
        (
            "d14 ids missing, null and empty",
            vec![
                json!({ "index": 0, "function": { "name": "f" } }),
                json!({ "index": 1, "id": null, "function": { "name": "f" } }),
                json!({ "index": 2, "id": "", "function": { "name": "f" } }),
            ],
            vec![call("", "f", object(json!({}))); 3],
        ),
        (
            "d15 id and name repeated",
            vec![
                json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } }),
                json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "1}" } }),
            ],
            vec![a()],
        ),
        (
            "d16 a new id for every fragment",
            vec![
                json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } }),
                json!({ "index": 0, "id": "z", "function": { "arguments": "1}" } }),
            ],
            vec![a()],
        ),
        (
            "d17 all calls on index 0",
            vec![
                json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\":" } }),
                json!({ "index": 0, "function": { "arguments": "1}" } }),
                json!({ "index": 0, "id": "b", "function": { "name": "g", "arguments": "{" } }),
                json!({ "index": 0, "id": "b", "function": { "name": "g", "arguments": "}" } }),
            ],
            vec![a(), b()],
        ),
        (
            "f23 the same id twice is passed on",
            vec![
                json!({ "index": 0, "id": "b", "function": { "name": "g" } }),
                json!({ "index": 1, "id": "b", "function": { "name": "g" } }),
            ],
            vec![b(), b()],
        ),
        (
            "d19 d20 no type, null arguments",
            vec![json!({ "index": 0, "id": "b", "function": { "name": "g", "arguments": null } })],
            vec![b()],
        ),
        (
            "d21 arguments as an object",
            vec![json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": { "x": 1 } } })],
            vec![a()],
        ),
        (
            "d22 function null",
            vec![json!({ "index": 0, "id": "b", "function": { "name": "g" } }), json!({ "index": 0, "function": null })],
            vec![b()],
        ),
        (
            "d34 the name comes late",
            vec![
                json!({ "index": 0, "id": "a", "function": { "arguments": "{\"x\":" } }),
                json!({ "index": 0, "function": { "name": "f", "arguments": "1}" } }),
            ],
            vec![a()],
        ),
    ];
    for (quirk, deltas, blocks) in rows {
        for reason in ["tool_calls", "stop"] {
            assert_eq!(openai_calls(&deltas, reason).blocks, blocks, "{quirk}");
        }
    }
}

#[test]
fn d12_d31_text_and_a_whole_call_may_come_with_the_finish() {
    let delta = json!({ "content": "Ok.", "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{}" } }] });
    let reply = openai(&[json!({ "choices": [{ "delta": delta, "finish_reason": "tool_calls" }] })]);
    assert_eq!(reply.blocks, [Block::text("Ok."), call("a", "f", object(json!({})))]);
}

#[test]
fn c74_d28_a_finish_that_contradicts_the_content_is_passed_on_with_it() {
    let reply = openai_calls(&[json!({ "index": 0, "id": "a", "function": { "name": "f" } })], "stop");
    assert_eq!((reply.calls().count(), reply.finish), (1, Finish::Stop));
    assert_eq!(openai(&[ended("tool_calls")]), Reply { finish: Finish::ToolCalls, ..Reply::default() });
}

#[test]
fn d7_d18_d23_to_d27_odd_chunks_are_ignored() {
    let chunks = [
        json!({ "choices": [], "prompt_filter_results": [] }),
        json!({ "object": "", "obfuscation": "xx", "service_tier": "default" }),
        json!({ "choices": null }),
        json!({ "choices": [{ "index": 0 }] }),
        json!({ "choices": [{ "index": 0, "delta": null }] }),
        choice(json!({ "role": "", "content": "o", "tool_calls": null, "refusal": null })),
        choice(json!({ "role": "assistant", "content": "k", "tool_calls": [] })),
        json!({ "choices": [{ "index": 1, "delta": { "content": "another reply" } }] }),
        json!({ "error": null, "choices": [{ "delta": { "content": null }, "finish_reason": "stop" }] }),
        json!({ "choices": [], "moderation": {} }),
    ];
    assert_eq!(openai(&chunks), Reply { blocks: vec![Block::text("ok")], ..Reply::default() });
}

#[test]
fn d30_reasoning_is_taken_once_under_any_of_its_names() {
    for key in ["reasoning_content", "reasoning", "reasoning_text"] {
        let reply = openai(&[
            choice(json!({ key: "h" })),
            choice(json!({ "content": null, key: "m" })),
            choice(json!({ "content": "ok" })),
            ended("stop"),
        ]);
        assert_eq!(reply.blocks, [Block::Thinking { text: "hm".into(), signature: None }, Block::text("ok")], "{key}");
    }
    let twice = openai(&[choice(json!({ "reasoning_content": "hm", "reasoning": "hm" })), ended("stop")]);
    assert_eq!(twice.blocks, [Block::Thinking { text: "hm".into(), signature: None }]);
}

#[test]
fn d32_usage_is_taken_from_wherever_it_stands_and_may_be_missing() {
    let usage = json!({ "prompt_tokens": 3, "completion_tokens": 4 });
    let finish = |choice_usage: &Value, usage: &Value| json!({ "choices": [{ "delta": {}, "finish_reason": "stop", "usage": choice_usage }], "usage": usage });
    let told = Usage { input: Some(3), output: Some(4) };
    assert_eq!(openai(&[finish(&Value::Null, &usage)]).usage, told);
    assert_eq!(openai(&[finish(&usage, &Value::Null)]).usage, told);
    assert_eq!(openai(&[finish(&Value::Null, &Value::Null)]).usage, Usage::default());
}

#[test]
fn f25_a_refusal_in_its_own_field_is_one() {
    assert_eq!(openai(&[choice(json!({ "refusal": "I can't." })), ended("stop")]).finish, Finish::Refusal);
}

#[test]
fn d8_g21_errors_in_mid_stream_come_in_many_shapes() {
    let rows = [
        (json!({ "error": { "message": "m", "type": "server_error", "code": null } }), true),
        (json!({ "error": { "message": "m", "code": 502 } }), true),
        (json!({ "error": { "message": "m", "code": 400 } }), false),
        (json!({ "error": { "message": "m", "code": "invalid_api_key" } }), false),
        (json!({ "error": "overloaded", "choices": [{ "delta": {}, "finish_reason": "error" }] }), true),
        (json!({ "error": {} }), true),
        (json!({ "object": "error", "message": "m", "type": "invalid_request_error", "code": "3230" }), false),
    ];
    for (data, passes) in rows {
        for name in ["", "event: error\n"] {
            let stream = format!("{name}data: {data}\n\ndata: [DONE]\n\n");
            assert_eq!(is_passing(&fault_of(Dialect::OpenaiChat, stream.as_bytes())), passes, "{data}");
        }
    }
}

// Statuses.

#[test]
fn a75_a77_c8_to_c11_statuses_are_told_apart() {
    for dialect in Dialect::ALL {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let fault = classify(status, &error_body(dialect, error_kind(dialect, status), "later"), Some(Duration::from_millis(70)));
            assert!(matches!(&fault, ModelFault::Passing { retry_after: Some(wait), .. } if wait.as_millis() == 70), "{status} {fault:?}");
        }
        for status in [400, 401, 402, 403, 404, 413, 422] {
            let fault = classify(status, &error_body(dialect, error_kind(dialect, status), "no"), None);
            assert!(matches!(&fault, ModelFault::Permanent { error } if error.contains("no")), "{status} {fault:?}");
        }
    }
}

#[test]
fn c10_being_out_of_credit_does_not_pass() {
    let codes =
        ["insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded", "organization_usage_limit_exceeded"];
    for code in codes {
        let body = json!({ "error": { "message": "m", "type": "insufficient_quota", "code": code, "param": null } });
        assert!(!is_passing(&classify(429, body.to_string().as_bytes(), None)), "{code}");
        let body = json!({ "error": { "message": "m", "type": "x", "code": code } });
        assert!(!is_passing(&classify(429, body.to_string().as_bytes(), None)), "{code}");
    }
    let limit = json!({ "error": { "message": "m", "type": "tokens", "code": "rate_limit_exceeded" } });
    assert!(is_passing(&classify(429, limit.to_string().as_bytes(), None)));
}

#[test]
fn c67_a_call_that_the_server_refuses_is_the_models_doing_and_may_pass() {
    let body = json!({ "error": { "message": "m", "type": "invalid_request_error", "code": "tool_use_failed" } });
    assert!(is_passing(&classify(400, body.to_string().as_bytes(), None)));
}

#[test]
fn g21_h7_bodies_of_every_shape_are_survived_and_their_words_kept() {
    let told = [
        json!({ "object": "error", "message": "the words", "type": "invalid_request_message_order", "code": "3230" }),
        json!({ "error": { "code": 400, "message": "the words", "type": "BadRequestError" } }),
        json!([{ "error": { "code": 400, "message": "the words", "status": "INVALID_ARGUMENT" } }]),
        json!({ "error": { "code": 400, "message": "Provider returned error", "metadata": { "raw": "the words" } } }),
        json!({ "error": "the words" }),
    ];
    for body in told {
        let fault = classify(400, body.to_string().as_bytes(), None);
        assert!(matches!(&fault, ModelFault::Permanent { error } if error.contains("the words")), "{body} {fault:?}");
    }
    let mute: [&[u8]; 6] = [b"", b"<html><h1>502</h1>", b"\xff\xfe", b"null", b"[]", b"{\"error\":[]}"];
    for body in mute {
        assert!(is_passing(&classify(502, body, None)) && !is_passing(&classify(404, body, None)), "{body:?}");
    }
    let long = json!({ "error": { "message": "x".repeat(1 << 20) } }).to_string();
    assert!(matches!(classify(400, long.as_bytes(), None), ModelFault::Permanent { error } if error.len() < 2000));
}

// The provider's side.

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
    let roles: Vec<usize> = (0..chunks.len()).filter(|place| chunks[*place].pointer("/choices/0/delta/role").is_some()).collect();
    assert_eq!(roles, [0], "D2: the role comes once");
    let finishes = chunks.iter().filter(|chunk| chunk.pointer("/choices/0/finish_reason").is_some_and(Value::is_string)).count();
    assert_eq!((finishes, &chunks[chunks.len() - 1]["choices"]), (1, &json!([])), "D5, D6");
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
