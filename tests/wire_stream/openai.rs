//! OpenAI's streams and those of its likenesses (wire rules D).

use super::*;
use unbacked::turn::message::{Finish, Usage};

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
