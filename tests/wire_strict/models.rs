//! Rows whose rules depend on the model that the body names, or on what it switches on.

use super::*;

fn model(request: &mut Value, name: &str) {
    request["model"] = json!(name);
}

/// Ends on an assistant message with this text.
fn prefilled(request: &mut Value, name: &str, text: &str) {
    model(request, name);
    messages(request).push(json!({ "role": "assistant", "content": text }));
}

/// A system message behind the last user message.
fn late_system(request: &mut Value, name: &str) {
    model(request, name);
    messages(request).push(json!({ "role": "system", "content": "be brief" }));
}

/// Thinking on, with room for it; no open tool loop.
fn thinks(request: &mut Value, kind: &str) {
    *request = anthropic_without_tools();
    remove(request, "tool_choice");
    request["max_tokens"] = json!(4096);
    request["thinking"] = json!({ "type": kind });
    if kind == "enabled" {
        request["thinking"]["budget_tokens"] = json!(2048);
    }
}

/// Thinking on inside an open tool loop.
fn thinks_in_loop(request: &mut Value) {
    request["max_tokens"] = json!(4096);
    request["thinking"] = json!({ "type": "enabled", "budget_tokens": 2048 });
}

fn tool(request: &mut Value) -> &mut Value {
    &mut request["tools"][0]
}

fn called_by_program(request: &mut Value) {
    blocks(request, 1)[1]["caller"] = json!({ "type": "code_execution_20250825", "tool_id": "s" });
}

fn marks(request: &mut Value, ttls: [&str; 2]) {
    let part = |ttl| json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral", "ttl": ttl } });
    request["system"] = ttls.into_iter().map(part).collect();
}

pub const ANTHROPIC_MODELS: &[Row] = &[
    Row(
        "W-A5",
        |r| {
            model(r, "claude-haiku-4-5");
            r["max_tokens"] = json!(64_000)
        },
        |r| {
            model(r, "claude-haiku-4-5");
            r["max_tokens"] = json!(64_001)
        },
    ),
    Row("W-A6", same, |r| {
        r["stream"] = json!(false);
        r["max_tokens"] = json!(0);
        r["output_config"] = json!({ "format": { "type": "json_schema" } })
    }),
    Row("W-A19", |r| prefilled(r, "claude-sonnet-4-5-20250929", "so"), |r| prefilled(r, "claude-sonnet-4-6", "so")),
    Row("W-A19", |r| prefilled(r, "claude-3-5-haiku-latest", "so"), |r| prefilled(r, "claude-opus-5", "so")),
    Row("W-A19", |r| prefilled(r, "claude-opus-4-20250514", "so"), |r| prefilled(r, "claude-fable-5", "so")),
    Row("W-A21", |r| late_system(r, "claude-opus-4-8"), |r| late_system(r, "claude-sonnet-4-6")),
    Row("W-A22", same, |r| r["messages"][0]["role"] = json!("system")),
    Row(
        "W-A23",
        |r| late_system(r, "claude-opus-4-8"),
        |r| {
            late_system(r, "claude-opus-4-8");
            messages(r).push(json!({ "role": "user", "content": "x" }))
        },
    ),
    Row("W-A23", same, |r| {
        model(r, "claude-opus-4-8");
        messages(r).insert(2, json!({ "role": "system", "content": "between call and result" }))
    }),
    Row("W-A30", |r| prefilled(r, "claude-haiku-4-5", "so"), |r| prefilled(r, "claude-haiku-4-5", "so ")),
    Row(
        "W-A44",
        |r| blocks(r, 2)[0]["content"] = json!([{ "type": "image" }]),
        |r| blocks(r, 2)[0]["content"] = json!([{ "type": "audio" }]),
    ),
    Row(
        "W-A50",
        |r| {
            called_by_program(r);
            blocks(r, 2).pop();
        },
        called_by_program,
    ),
    Row(
        "W-A57",
        |r| tool(r)["input_schema"]["required"] = json!(["x"]),
        |r| {
            tool(r)["input_schema"]["required"] = json!("x");
        },
    ),
    Row(
        "W-A59",
        |r| {
            tool(r)["strict"] = json!(true);
            tool(r)["input_schema"]["additionalProperties"] = json!(false)
        },
        |r| tool(r)["strict"] = json!(true),
    ),
    Row("W-A59", same, |r| {
        tool(r)["strict"] = json!(true);
        tool(r)["input_schema"] = json!({ "type": "object", "additionalProperties": false,
            "properties": { "x": { "type": "array", "maxItems": 3 } } })
    }),
    Row(
        "W-A60",
        |r| {
            let mut second = tool(r).clone();
            second["name"] = json!("other");
            second["defer_loading"] = json!(true);
            r["tools"].as_array_mut().expect("a list").push(second)
        },
        |r| tool(r)["defer_loading"] = json!(true),
    ),
    Row(
        "W-A64",
        |r| r["tool_choice"]["disable_parallel_tool_use"] = json!(true),
        |r| {
            r["tool_choice"] = json!({ "type": "none", "disable_parallel_tool_use": true });
        },
    ),
    Row(
        "W-A66",
        |r| {
            model(r, "claude-fable-5");
            r["tool_choice"] = json!({ "type": "auto" })
        },
        |r| {
            model(r, "claude-fable-5");
            r["tool_choice"] = json!({ "type": "any" })
        },
    ),
    Row(
        "W-A67",
        |r| thinks(r, "enabled"),
        |r| {
            thinks(r, "enabled");
            model(r, "claude-opus-4-7")
        },
    ),
    Row(
        "W-A67",
        |r| {
            thinks(r, "adaptive");
            model(r, "claude-sonnet-5")
        },
        |r| {
            thinks(r, "disabled");
            model(r, "claude-sonnet-5")
        },
    ),
    Row(
        "W-A68",
        |r| r["temperature"] = json!(0.2),
        |r| {
            model(r, "claude-opus-4-7");
            r["temperature"] = json!(0.2)
        },
    ),
    Row(
        "W-A68",
        |r| {
            thinks(r, "enabled");
            r["temperature"] = json!(1)
        },
        |r| {
            thinks(r, "enabled");
            r["temperature"] = json!(0.5)
        },
    ),
    Row(
        "W-A68",
        |r| r["top_p"] = json!(0.9),
        |r| {
            r["top_p"] = json!(0.9);
            r["temperature"] = json!(0.5)
        },
    ),
    Row(
        "W-A69",
        |r| {
            thinks_in_loop(r);
            thinking(r, SIGNED())
        },
        thinks_in_loop,
    ),
    Row("W-A73", |r| marks(r, ["1h", "5m"]), |r| marks(r, ["5m", "1h"])),
    Row("W-A73", same, |r| marks(r, ["5m", "2h"])),
];

fn effort(request: &mut Value, name: &str, effort: &str) {
    model(request, name);
    request["reasoning_effort"] = json!(effort);
}

pub const OPENAI_MODELS: &[Row] = &[
    Row("W-C5", |r| r["temperature"] = json!(2), |r| r["temperature"] = json!(2.1)),
    Row("W-C5", same, |r| r["stream"] = json!("yes")),
    Row(
        "W-C12",
        |r| r["max_tokens"] = json!(9),
        |r| {
            model(r, "o3");
            r["max_tokens"] = json!(9)
        },
    ),
    Row(
        "W-C13",
        |r| r["stop"] = json!("x"),
        |r| {
            model(r, "gpt-5-mini");
            r["stop"] = json!("x")
        },
    ),
    Row(
        "W-C13",
        |r| {
            model(r, "gpt-5-mini");
            r["temperature"] = json!(1)
        },
        |r| {
            model(r, "gpt-5-mini");
            r["temperature"] = json!(0)
        },
    ),
    Row(
        "W-C36",
        |r| messages(r)[2]["content"] = json!([{ "type": "refusal", "refusal": "no" }]),
        |r| {
            messages(r)[2]["content"] = json!([{ "type": "image_url" }]);
        },
    ),
    Row(
        "W-C42",
        |r| strict_tool(r, true),
        |r| {
            strict_tool(r, true);
            r["tools"][0]["function"]["parameters"]["properties"]["x"] = json!({ "allOf": [] })
        },
    ),
    Row("W-C43", same, |r| r["tool_choice"] = json!({ "type": "allowed_tools" })),
    Row("W-C46", |r| effort(r, "gpt-5.4", "none"), |r| effort(r, "gpt-5.4", "low")),
    Row("W-C46", |r| model(r, "gpt-5.4"), |r| model(r, "gpt-5.6-terra")),
];
