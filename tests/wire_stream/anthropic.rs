//! Anthropic's streams (wire rules B), and what holds for both dialects.

use super::*;
use unbacked::turn::message::{Finish, Usage};
use unbacked::wire::speak::{speak, speak_error};

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
        let events = [std::slice::from_ref(&first), deltas, &[json!({ "type": "message_stop" })]].concat();
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
