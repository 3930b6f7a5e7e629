//! Section G: the most frequent 400s in their minimal shape, each refused first by the rule that it breaks, in words that clients know.

use super::*;

fn user(content: impl Into<Value>) -> Value {
    json!({ "role": "user", "content": content.into() })
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({ "role": "assistant", "content": content.into() })
}

fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "read_cv", "input": {} })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "y" })
}

fn asks(id: &str) -> Value {
    let function = json!({ "name": "read_cv", "arguments": "{}" });
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
}

fn told(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "y" })
}

fn history(request: &mut Value, all: impl Into<Value>) {
    request["messages"] = all.into();
}

/// The row of G, the dialect, the rule, its key phrase, and how the request comes to be.
struct Frequent(&'static str, Dialect, &'static str, &'static str, Edit);

use Dialect::{Anthropic, OpenaiChat};

const FREQUENT: &[Frequent] = &[
    Frequent("G1", Anthropic, "W-A34", "ids were found without", |r| history(r, [user("hi"), assistant([call("a")]), user("go on")])),
    Frequent("G2", OpenaiChat, "W-C24", "must be followed by tool messages", |r| history(r, [user("hi"), asks("a"), user("go on")])),
    Frequent("G3", Anthropic, "W-A35", "unexpected `tool_use_id` found", |r| history(r, [user("hi"), assistant("x"), user([result("a")])])),
    Frequent("G4", OpenaiChat, "W-C26", "must be a response to a preceeding", |r| history(r, [user("hi"), told("a")])),
    Frequent("G6", Anthropic, "W-A27", "text content blocks must be non-empty", |r| {
        history(r, [user([json!({ "type": "text", "text": "" })])]);
    }),
    Frequent("G6", Anthropic, "W-A28", "must contain non-whitespace text", |r| history(r, [user(" ")])),
    Frequent("G7", Anthropic, "W-A25", "must have non-empty content", |r| history(r, [user("")])),
    Frequent("G7", Anthropic, "W-A26", "must have non-empty content", |r| history(r, [user("hi"), assistant(""), user("x")])),
    Frequent("G8", Anthropic, "W-A19", "does not support assistant message prefill", |r| history(r, [user("hi"), assistant("x")])),
    Frequent("G9", Anthropic, "W-A69", "Expected `thinking` or `redacted_thinking`, but found", |r| {
        r["max_tokens"] = json!(4096);
        r["thinking"] = json!({ "type": "enabled", "budget_tokens": 1024 });
        history(r, [user("hi"), assistant([call("a")]), user([result("a")])]);
    }),
    Frequent("G10", Anthropic, "W-A71", "thinking.signature: Field required", |r| {
        thinking(r, json!({ "type": "thinking", "thinking": "hm" }));
    }),
    Frequent("G11", Anthropic, "W-A36", "each tool_use must have a single result", |r| {
        history(r, [user("hi"), assistant([call("a")]), user([result("a"), result("a")])]);
    }),
    Frequent("G11", Anthropic, "W-A37", "ids must be unique", |r| {
        history(r, [user("hi"), assistant([call("a"), call("a")]), user([result("a")])]);
    }),
    Frequent("G11", OpenaiChat, "W-C28", "Duplicate value for 'tool_call_id'", |r| {
        history(r, [user("hi"), asks("a"), told("a"), told("a")]);
    }),
    Frequent("G12", Anthropic, "W-A53", "Tool names must be unique", |r| {
        r["tools"] = vec![r["tools"][0].clone(); 2].into();
    }),
    Frequent("G12", Anthropic, "W-A52", "String should match pattern", |r| r["tools"][0]["name"] = json!("mcp/read.cv")),
    Frequent("G12", OpenaiChat, "W-C40", "does not match pattern", |r| r["tools"][0]["function"]["name"] = json!("mcp/read.cv")),
    Frequent("G13", OpenaiChat, "W-C57", "conversation roles must alternate", |r| history(r, [user("a"), user("b")])),
    Frequent("G15", OpenaiChat, "W-C46", "Function tools with reasoning_effort are not supported", |r| {
        r["model"] = json!("gpt-5.4");
        r["reasoning_effort"] = json!("high");
    }),
    Frequent("G15", OpenaiChat, "W-C12", "Use 'max_completion_tokens' instead", |r| {
        r["model"] = json!("o3");
        r["max_tokens"] = json!(9);
    }),
    Frequent("G15", Anthropic, "W-A68", "temperature", |r| {
        r["model"] = json!("claude-opus-4-7");
        r["temperature"] = json!(0);
    }),
    Frequent("G16", OpenaiChat, "W-C20", "expected a string, got null", |r| history(r, [user("hi"), assistant(Value::Null)])),
    Frequent("G17", Anthropic, "W-A73", "A maximum of 4 blocks with cache_control", |r| mark(r, 5)),
    Frequent("G18", Anthropic, "W-A56", "does not support oneOf, allOf, or anyOf at the top level", |r| {
        r["tools"][0]["input_schema"]["anyOf"] = json!([{}]);
    }),
    Frequent("G18", OpenaiChat, "W-C41", "schema must be a JSON Schema of 'type: \"object\"'", |r| {
        r["tools"][0]["function"]["parameters"] = json!({});
    }),
    Frequent("G18", OpenaiChat, "W-C42", "'additionalProperties' is required to be supplied and to be false", |r| strict_tool(r, false)),
    Frequent("G20", Anthropic, "W-A62", "may only be specified while providing tools", |r| *r = anthropic_without_tools()),
    Frequent("G20", Anthropic, "W-A65", "Thinking may not be enabled when tool_choice forces", |r| {
        r["max_tokens"] = json!(4096);
        r["thinking"] = json!({ "type": "enabled", "budget_tokens": 1024 });
        r["tool_choice"] = json!({ "type": "any" });
    }),
    Frequent("G20", OpenaiChat, "W-C45", "is only allowed when 'tools' are specified", |r| {
        *r = openai_without_tools();
        r["tool_choice"] = json!("auto");
    }),
    Frequent("G20", OpenaiChat, "W-C38", "empty array", |r| {
        *r = openai_without_tools();
        r["tools"] = json!([]);
    }),
];

/// Rows of G that no body shows: Responses is not spoken, a quirk's own row has it, tokens are not counted.
const NOT_HERE: [&str; 3] = ["G5", "G14", "G19"];

#[test]
fn g_the_most_frequent_400s_are_refused_first_by_the_rule_that_they_break() {
    for Frequent(row, dialect, rule, phrase, edit) in FREQUENT {
        let mut request = if *dialect == Anthropic { anthropic() } else { openai() };
        edit(&mut request);
        let verdict = check(&Endpoint::ours(*dialect), request.to_string().as_bytes());
        let first = verdict.violations.first().unwrap_or_else(|| panic!("{row}, {rule}: is accepted"));
        assert_eq!((first.rule, first.status, first.error_type), (*rule, 400, "invalid_request_error"), "{row}");
        assert!(first.message.contains(phrase), "{row}: {}", first.message);
    }
}

#[test]
fn g_every_row_is_here_or_said_to_be_elsewhere() {
    for row in (1..=20).map(|number| format!("G{number}")) {
        assert!(FREQUENT.iter().any(|frequent| frequent.0 == row) != NOT_HERE.contains(&row.as_str()), "{row}");
    }
}
