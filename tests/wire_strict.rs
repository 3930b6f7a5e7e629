//! The strict validator's table: for each rule a request that is accepted and its neighbour that is refused, by exactly that rule first.

use serde_json::{Value, json};
use unbacked::wire::Dialect;
use unbacked::wire::strict::confidence::Confidence;
use unbacked::wire::strict::rules::RULES;
use unbacked::wire::strict::{Checker, Endpoint, Headers, check, check_headers};

#[path = "wire_strict/frequent.rs"]
mod frequent;
#[path = "wire_strict/models.rs"]
mod models;
#[path = "wire_strict/quirks.rs"]
mod quirks;

/// A change to a good request.
type Edit = fn(&mut Value);

/// The rule, what is still accepted, and what is refused.
struct Row(&'static str, Edit, Edit);

fn same(_: &mut Value) {}

/// user, assistant[text, tool_use a, tool_use b], user[result a, result b, text].
fn anthropic() -> Value {
    json!({
        "model": "claude-sonnet-4-6", "max_tokens": 1024, "stream": true,
        "system": [{ "type": "text", "text": "Keep the CV." }],
        "tools": [{ "name": "read_cv", "description": "Reads.", "input_schema": { "type": "object", "properties": {} } }],
        "tool_choice": { "type": "auto" },
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "hello" }] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "let me look" },
                { "type": "tool_use", "id": "a", "name": "read_cv", "input": {} },
                { "type": "tool_use", "id": "b", "name": "read_cv", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a", "content": "{}" },
                { "type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true },
                { "type": "text", "text": "report" }] }]
    })
}

/// system, user, assistant{calls a, b}, tool a, tool b, user.
fn openai() -> Value {
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "read_cv", "arguments": "{}" } });
    json!({
        "model": "gpt-4o", "max_completion_tokens": 1024, "stream": true, "stream_options": { "include_usage": true },
        "tools": [{ "type": "function", "function": { "name": "read_cv", "description": "Reads.", "parameters": { "type": "object", "properties": {} } } }],
        "tool_choice": "auto",
        "messages": [
            { "role": "system", "content": "Keep the CV." },
            { "role": "user", "content": "hello" },
            { "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] },
            { "role": "tool", "tool_call_id": "a", "content": "{}" },
            { "role": "tool", "tool_call_id": "b", "content": "ERROR no" },
            { "role": "user", "content": "report" }]
    })
}

fn blocks(request: &mut Value, message: usize) -> &mut Vec<Value> {
    request["messages"][message]["content"].as_array_mut().expect("content is a list in the base request")
}

fn messages(request: &mut Value) -> &mut Vec<Value> {
    request["messages"].as_array_mut().expect("messages is a list in the base request")
}

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().expect("an object").remove(key);
}

fn thinking(request: &mut Value, block: Value) {
    blocks(request, 1).insert(0, block);
}

const SIGNED: fn() -> Value = || json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });

const ANTHROPIC: &[Row] = &[
    Row("W-A3", same, |r| remove(r, "max_tokens")),
    Row("W-A4", |r| r["metadata"] = json!({}), |r| r["colour"] = json!("blue")),
    Row("W-A4", same, |r| r["messages"][0]["name"] = json!("me")),
    Row("W-A4", same, |r| r["messages"][2]["content"][0]["name"] = json!("me")),
    Row("W-A5", |r| r["max_tokens"] = json!(1), |r| r["max_tokens"] = json!("many")),
    Row(
        "W-A6",
        |r| {
            r["max_tokens"] = json!(0);
            r["stream"] = json!(false)
        },
        |r| r["max_tokens"] = json!(0),
    ),
    Row("W-A13", |r| r["stop_sequences"] = json!(["x"]), |r| r["stop_sequences"] = json!([""])),
    Row("W-A15", same, |r| r["messages"] = json!([])),
    Row("W-A16", same, |r| r["messages"][0]["role"] = json!("developer")),
    Row("W-A17", same, |r| {
        let m = r["messages"][0].clone();
        messages(r).insert(0, m)
    }),
    Row("W-A18", same, |r| messages(r).insert(0, json!({ "role": "assistant", "content": "hi" }))),
    Row("W-A19", same, |r| messages(r).push(json!({ "role": "assistant", "content": "so" }))),
    Row("W-A24", |r| r["messages"][0]["content"] = json!("plain"), |r| blocks(r, 0).push(json!({ "type": "input_text", "text": "x" }))),
    Row("W-A24", same, |r| r["messages"][0]["content"] = Value::Null),
    Row("W-A25", same, |r| r["messages"][0]["content"] = json!("")),
    Row("W-A25", same, |r| r["messages"][0]["content"] = json!([])),
    Row("W-A26", same, |r| messages(r).extend([json!({ "role": "assistant", "content": [] }), json!({ "role": "user", "content": "x" })])),
    Row("W-A27", same, |r| blocks(r, 1)[0]["text"] = json!("")),
    Row("W-A28", |r| blocks(r, 1)[0]["text"] = json!(" "), |r| blocks(r, 0)[0]["text"] = json!(" \n")),
    Row("W-A29", |r| r["system"] = json!(""), |r| r["system"] = json!("  ")),
    Row("W-A29", same, |r| r["system"][0]["text"] = json!("")),
    Row(
        "W-A32",
        |r| thinking(r, SIGNED()),
        |r| {
            messages(r).extend([
                json!({ "role": "assistant", "content": [{ "type": "text", "text": "x" }, SIGNED()] }),
                json!({ "role": "user", "content": "x" }),
            ]);
        },
    ),
    Row("W-A33", same, |r| {
        let call = blocks(r, 1)[1].clone();
        blocks(r, 0).push(call)
    }),
    Row("W-A34", same, |r| {
        blocks(r, 2).remove(0);
    }),
    Row("W-A34", same, |r| {
        messages(r).pop();
        messages(r).push(json!({ "role": "user", "content": "go on" }))
    }),
    Row("W-A35", same, |r| blocks(r, 2).insert(0, json!({ "type": "tool_result", "tool_use_id": "z" }))),
    Row("W-A36", same, |r| {
        let twice = blocks(r, 2)[0].clone();
        blocks(r, 2).insert(0, twice)
    }),
    Row("W-A37", same, |r| {
        let (calls, results) = (r["messages"][1].clone(), r["messages"][2].clone());
        messages(r).extend([calls, results]);
    }),
    Row(
        "W-A38",
        |r| {
            blocks(r, 1)[1]["id"] = json!("a-_9");
            blocks(r, 2)[0]["tool_use_id"] = json!("a-_9")
        },
        |r| {
            blocks(r, 1)[1]["id"] = json!("a.9");
            blocks(r, 2)[0]["tool_use_id"] = json!("a.9");
        },
    ),
    Row(
        "W-A39",
        |r| {
            let id = "x".repeat(64);
            blocks(r, 1)[1]["id"] = json!(id);
            blocks(r, 2)[0]["tool_use_id"] = json!(id)
        },
        |r| {
            let id = "x".repeat(65);
            blocks(r, 1)[1]["id"] = json!(id);
            blocks(r, 2)[0]["tool_use_id"] = json!(id);
        },
    ),
    Row("W-A40", same, |r| blocks(r, 2).insert(0, json!({ "type": "text", "text": "first" }))),
    Row("W-A44", |r| remove(&mut blocks(r, 2)[0], "content"), |r| blocks(r, 2)[0]["content"] = json!(7)),
    Row(
        "W-A45",
        |r| blocks(r, 2)[1]["content"] = json!([{ "type": "text", "text": "x" }]),
        |r| blocks(r, 2)[1]["content"] = json!([{ "type": "image" }]),
    ),
    Row("W-A46", same, |r| remove(&mut blocks(r, 2)[0], "tool_use_id")),
    Row("W-A47", |r| blocks(r, 1)[1]["input"] = json!({ "x": 1 }), |r| blocks(r, 1)[1]["input"] = json!("{}")),
    Row("W-A47", same, |r| blocks(r, 1)[1]["input"] = Value::Null),
    Row("W-A48", same, |r| blocks(r, 1)[1]["name"] = json!("")),
    Row("W-A49", same, |r| {
        remove(r, "tools");
        remove(r, "tool_choice")
    }),
    Row("W-A52", |r| r["tools"][0]["name"] = json!("x".repeat(128)), |r| r["tools"][0]["name"] = json!("x".repeat(129))),
    Row("W-A52", same, |r| r["tools"][0]["name"] = json!("a.b")),
    Row("W-A53", same, |r| {
        let tool = r["tools"][0].clone();
        r["tools"].as_array_mut().expect("a list").push(tool)
    }),
    Row("W-A54", same, |r| {
        let schema = r["tools"][0]["input_schema"].take();
        remove(&mut r["tools"][0], "input_schema");
        r["tools"][0]["parameters"] = schema
    }),
    Row("W-A55", same, |r| r["tools"][0]["input_schema"]["type"] = json!("array")),
    Row("W-A56", same, |r| r["tools"][0]["input_schema"]["anyOf"] = json!([])),
    Row("W-A58", |r| remove(&mut r["tools"][0], "description"), |r| r["tools"][0]["description"] = Value::Null),
    Row("W-A61", |r| r["tool_choice"] = json!({ "type": "any" }), |r| r["tool_choice"] = json!("auto")),
    Row(
        "W-A62",
        |r| {
            *r = anthropic_without_tools();
            remove(r, "tool_choice")
        },
        |r| *r = anthropic_without_tools(),
    ),
    Row(
        "W-A63",
        |r| r["tool_choice"] = json!({ "type": "tool", "name": "read_cv" }),
        |r| r["tool_choice"] = json!({ "type": "tool", "name": "x" }),
    ),
    Row(
        "W-A65",
        |r| {
            r["thinking"] = json!({ "type": "adaptive" });
            r["tool_choice"] = json!({ "type": "any" })
        },
        |r| {
            r["max_tokens"] = json!(4096);
            r["thinking"] = json!({ "type": "enabled", "budget_tokens": 2048 });
            r["tool_choice"] = json!({ "type": "any" });
        },
    ),
    Row(
        "W-A67",
        |r| {
            r["max_tokens"] = json!(1025);
            r["thinking"] = json!({ "type": "enabled", "budget_tokens": 1024 });
            thinking(r, SIGNED())
        },
        |r| {
            r["max_tokens"] = json!(1025);
            r["thinking"] = json!({ "type": "enabled", "budget_tokens": 1023 });
        },
    ),
    Row("W-A67", same, |r| r["thinking"] = json!({ "type": "enabled", "budget_tokens": 1024 })),
    Row("W-A71", |r| thinking(r, SIGNED()), |r| thinking(r, json!({ "type": "thinking", "thinking": "hm" }))),
    Row(
        "W-A72",
        |r| thinking(r, SIGNED()),
        |r| {
            let mut block = SIGNED();
            block["cache_control"] = json!({ "type": "ephemeral" });
            thinking(r, block)
        },
    ),
    Row("W-A73", |r| mark(r, 4), |r| mark(r, 5)),
];

fn anthropic_without_tools() -> Value {
    let mut request = anthropic();
    remove(&mut request, "tools");
    messages(&mut request).truncate(1);
    request
}

fn mark(request: &mut Value, count: usize) {
    let mark = json!({ "type": "ephemeral" });
    request["system"] = (0..count).map(|_| json!({ "type": "text", "text": "x", "cache_control": mark })).collect();
}

const OPENAI: &[Row] = &[
    Row("W-C2", same, |r| remove(r, "model")),
    Row("W-C3", same, |r| r["messages"] = json!([])),
    Row("W-C4", |r| r["seed"] = json!(1), |r| r["colour"] = json!("blue")),
    Row("W-C4", same, |r| r["stream_options"]["x"] = json!(1)),
    Row("W-C5", same, |r| r["messages"] = json!("hello")),
    Row("W-C5", same, |r| r["messages"][1]["content"] = json!(7)),
    Row("W-C12", |r| r["max_completion_tokens"] = json!(1), |r| r["max_completion_tokens"] = json!(0)),
    Row("W-C13", |r| r["stop"] = json!(["a", "b", "c", "d"]), |r| r["stop"] = json!(["a", "b", "c", "d", "e"])),
    Row("W-C14", |r| r["n"] = json!(8), |r| r["n"] = json!(9)),
    Row("W-C14", |r| r["n"] = json!(1), |r| r["n"] = json!(0)),
    Row("W-C15", same, |r| r["stream"] = json!(false)),
    Row(
        "W-C16",
        |r| r["messages"][1]["content"] = json!("x".repeat(1_048_576)),
        |r| r["messages"][1]["content"] = json!("x".repeat(1_048_577)),
    ),
    Row("W-C17", |r| r["messages"][0]["role"] = json!("developer"), |r| r["messages"][1]["role"] = json!("human")),
    Row("W-C20", |r| messages(r)[2]["content"] = json!("let me look"), |r| r["messages"][1]["content"] = Value::Null),
    Row("W-C20", same, |r| messages(r).push(json!({ "role": "assistant", "content": null }))),
    Row("W-C21", |r| r["messages"][1]["content"] = json!(""), |r| r["messages"][1]["content"] = json!([])),
    Row("W-C23", same, |r| messages(r).push(json!({ "role": "assistant", "content": "x", "tool_calls": [] }))),
    Row("W-C24", same, |r| {
        messages(r).remove(4);
    }),
    Row("W-C24", same, |r| messages(r).insert(3, json!({ "role": "user", "content": "report first" }))),
    Row("W-C25", same, |r| messages(r).truncate(3)),
    Row("W-C26", same, |r| messages(r).push(json!({ "role": "tool", "tool_call_id": "a", "content": "x" }))),
    Row("W-C27", same, |r| messages(r).insert(3, json!({ "role": "tool", "tool_call_id": "z", "content": "x" }))),
    Row("W-C28", same, |r| messages(r).insert(4, json!({ "role": "tool", "tool_call_id": "a", "content": "x" }))),
    Row(
        "W-C30",
        |r| r["messages"][3]["content"] = json!([{ "type": "text", "text": "x" }]),
        |r| r["messages"][3]["content"] = json!([{ "type": "image_url" }]),
    ),
    Row("W-C32", same, |r| r["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!({})),
    Row(
        "W-C33",
        |r| r["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{\"a\":1}"),
        |r| {
            r["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{\"a\":");
        },
    ),
    Row("W-C34", |r| rename_call(r, &"x".repeat(40)), |r| rename_call(r, &"x".repeat(41))),
    Row("W-C37", same, |r| r["messages"][1]["role"] = json!("function")),
    Row(
        "W-C38",
        |r| *r = openai_without_tools(),
        |r| {
            *r = openai_without_tools();
            r["tools"] = json!([])
        },
    ),
    Row("W-C39", |r| r["tools"] = many_tools(r, 128), |r| r["tools"] = many_tools(r, 129)),
    Row("W-C40", |r| name_tool(r, &"x".repeat(64)), |r| name_tool(r, &"x".repeat(65))),
    Row("W-C40", same, |r| r["messages"][2]["tool_calls"][0]["function"]["name"] = json!("browser.open")),
    Row(
        "W-C41",
        |r| remove(&mut r["tools"][0]["function"], "parameters"),
        |r| r["tools"][0]["function"]["parameters"] = json!({ "type": "array" }),
    ),
    Row("W-C42", |r| strict_tool(r, true), |r| strict_tool(r, false)),
    Row("W-C43", |r| r["tool_choice"] = json!("required"), |r| r["tool_choice"] = json!("any")),
    Row(
        "W-C44",
        |r| r["tool_choice"] = json!({ "type": "function", "function": { "name": "read_cv" } }),
        |r| {
            r["tool_choice"] = json!({ "type": "function", "function": { "name": "x" } });
        },
    ),
    Row(
        "W-C45",
        |r| *r = openai_without_tools(),
        |r| {
            *r = openai_without_tools();
            r["tool_choice"] = json!("auto")
        },
    ),
    Row("W-C45", same, |r| {
        *r = openai_without_tools();
        r["parallel_tool_calls"] = json!(true)
    }),
    Row("W-C57", same, |r| messages(r).push(json!({ "role": "user", "content": "again" }))),
    Row("W-C58", same, |r| messages(r).push(json!({ "role": "system", "content": "late" }))),
];

fn openai_without_tools() -> Value {
    let mut request = openai();
    remove(&mut request, "tools");
    remove(&mut request, "tool_choice");
    messages(&mut request).truncate(2);
    request
}

fn rename_call(request: &mut Value, id: &str) {
    request["messages"][2]["tool_calls"][0]["id"] = json!(id);
    request["messages"][3]["tool_call_id"] = json!(id);
}

fn name_tool(request: &mut Value, name: &str) {
    request["tools"][0]["function"]["name"] = json!(name);
}

fn many_tools(request: &Value, count: usize) -> Value {
    vec![request["tools"][0].clone(); count].into()
}

fn strict_tool(request: &mut Value, closed: bool) {
    request["tools"][0]["function"]["strict"] = json!(true);
    request["tools"][0]["function"]["parameters"] =
        json!({ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"], "additionalProperties": !closed });
}

fn rules_broken(dialect: Dialect, request: &Value) -> Vec<&'static str> {
    let verdict = check(&Endpoint::ours(dialect), request.to_string().as_bytes());
    verdict.violations.iter().map(|broken| broken.rule).collect()
}

fn walk(dialect: Dialect, base: fn() -> Value, rows: &[Row]) {
    for (place, Row(rule, accepted, refused)) in rows.iter().enumerate() {
        let mut good = base();
        accepted(&mut good);
        assert_eq!(rules_broken(dialect, &good), Vec::<&str>::new(), "row {place}, {rule}: should be accepted");
        let mut bad = base();
        refused(&mut bad);
        assert_eq!(rules_broken(dialect, &bad).first(), Some(rule), "row {place}, {rule}: should be refused: {bad}");
    }
}

#[test]
fn every_rule_of_section_a_refuses_its_example_and_takes_the_neighbour() {
    walk(Dialect::Anthropic, anthropic, ANTHROPIC);
    walk(Dialect::Anthropic, anthropic, models::ANTHROPIC_MODELS);
}

#[test]
fn every_rule_of_section_c_refuses_its_example_and_takes_the_neighbour() {
    walk(Dialect::OpenaiChat, openai, OPENAI);
    walk(Dialect::OpenaiChat, openai, models::OPENAI_MODELS);
}

#[test]
fn a12_and_c5_a_body_that_is_no_json_is_refused_and_so_is_a_lone_surrogate() {
    for body in ["{", "\u{1}", r#"{"model":"\ud800"}"#] {
        for (dialect, rule) in [(Dialect::Anthropic, "W-A12"), (Dialect::OpenaiChat, "W-C5")] {
            assert_eq!(check(&Endpoint::ours(dialect), body.as_bytes()).violations[0].rule, rule, "{body}");
        }
    }
}

#[test]
fn a8_a_body_over_32_megabytes_is_refused_with_413() {
    let (most, status) = (32 * 1024 * 1024, 413);
    let verdict = check(&Endpoint::ours(Dialect::Anthropic), &vec![b' '; most + 1]);
    assert_eq!((verdict.violations[0].rule, verdict.violations[0].status), ("W-A8", status));
    let verdict = check(&Endpoint::ours(Dialect::Anthropic), &vec![b' '; most]);
    assert_eq!(verdict.violations[0].rule, "W-A12");
}

#[test]
fn a9_more_than_100_000_messages_are_refused() {
    let request = |count: usize| {
        let mut request = anthropic_without_tools();
        remove(&mut request, "tool_choice");
        let message = request["messages"][0].clone();
        request["messages"] = vec![message; count].into();
        check(&Endpoint::vendor(Dialect::Anthropic), request.to_string().as_bytes())
    };
    assert!(request(100_000).is_accepted());
    assert_eq!(request(100_001).violations[0].rule, "W-A9");
}

#[test]
fn every_rule_has_a_row_and_every_row_a_rule() {
    const APART: [&str; 6] = ["W-A1", "W-A2", "W-A8", "W-A9", "W-A12", "W-C1"];
    let tables = ANTHROPIC.iter().chain(OPENAI).chain(models::ANTHROPIC_MODELS).chain(models::OPENAI_MODELS);
    let rows: Vec<&str> = tables.map(|row| row.0).chain(quirks::rules()).chain(APART).collect();
    for rule in RULES {
        assert!(rows.contains(&rule.id), "{} has no example", rule.id);
    }
    for row in rows {
        assert!(RULES.iter().any(|rule| rule.id == row), "{row} is no rule");
    }
}

#[test]
fn a17_and_c57_neighbours_of_one_role_pass_at_the_vendors_own_endpoint() {
    let mut request = anthropic();
    let message = request["messages"][0].clone();
    messages(&mut request).insert(0, message);
    assert!(check(&Endpoint::vendor(Dialect::Anthropic), request.to_string().as_bytes()).is_accepted());
    let mut request = openai();
    messages(&mut request).push(json!({ "role": "user", "content": "again" }));
    assert!(check(&Endpoint::vendor(Dialect::OpenaiChat), request.to_string().as_bytes()).is_accepted());
}

#[test]
fn a74_and_c9_a_refusal_has_the_providers_shape() {
    let mut request = anthropic();
    blocks(&mut request, 2).remove(0);
    let (status, body) = check(&Endpoint::ours(Dialect::Anthropic), request.to_string().as_bytes()).refusal().expect("refused");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((status, &body["type"], &body["error"]["type"]), (400, &json!("error"), &json!("invalid_request_error")));
    assert!(body["error"]["message"].as_str().is_some_and(|text| text.contains("ids were found without")));
    let mut request = openai();
    messages(&mut request).remove(4);
    let (status, body) = check(&Endpoint::ours(Dialect::OpenaiChat), request.to_string().as_bytes()).refusal().expect("refused");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let keys: Vec<&str> = body["error"].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!((status, keys), (400, vec!["code", "message", "param", "type"]));
}

#[test]
fn a1_a2_and_c1_a_request_without_its_headers_is_refused() {
    let all = Headers { api_key: true, bearer: false, version: true };
    let first = |dialect, headers| {
        let verdict = check_headers(dialect, headers);
        verdict.violations.first().map(|broken| (broken.rule, broken.status))
    };
    assert_eq!(first(Dialect::Anthropic, all), None);
    assert_eq!(first(Dialect::Anthropic, Headers { api_key: false, ..all }), Some(("W-A1", 401)));
    assert_eq!(first(Dialect::Anthropic, Headers { bearer: true, ..all }), Some(("W-A1", 401)));
    assert_eq!(first(Dialect::Anthropic, Headers { version: false, ..all }), Some(("W-A2", 400)));
    assert_eq!(first(Dialect::OpenaiChat, Headers { bearer: true, ..Headers::default() }), None);
    assert_eq!(first(Dialect::OpenaiChat, Headers::default()), Some(("W-C1", 401)));
}

#[test]
fn a_checker_that_knows_the_tools_says_what_a_fresh_one_says() {
    for (dialect, base, rows) in [(Dialect::Anthropic, anthropic as fn() -> Value, ANTHROPIC), (Dialect::OpenaiChat, openai, OPENAI)] {
        let mut checker = Checker::new(Endpoint::ours(dialect));
        for Row(rule, accepted, refused) in rows {
            for edit in [same, *accepted, *refused] {
                let mut request = base();
                edit(&mut request);
                let body = request.to_string();
                let seen = checker.check(body.as_bytes());
                assert_eq!(seen, check(&Endpoint::ours(dialect), body.as_bytes()), "{rule}");
            }
        }
    }
}

#[test]
fn a_checker_that_knows_the_tools_is_not_fooled_by_where_they_stand() {
    for (dialect, base) in [(Dialect::Anthropic, anthropic as fn() -> Value), (Dialect::OpenaiChat, openai)] {
        let mut checker = Checker::new(Endpoint::ours(dialect));
        let (good, tools) = (base().to_string(), base()["tools"].to_string());
        let hidden = |key: &str| format!("{{\"tools\":{tools},\"{key}\":[7],{}", &good.replace("\"tools\":", "\"seed\":")[1..]);
        for body in [format!("[{good}]"), format!("{{\"x\":{good}}}"), format!("{good}{good}"), hidden("tools"), hidden("\\u0074ools")] {
            assert!(checker.check(good.as_bytes()).is_accepted());
            assert_eq!(checker.check(body.as_bytes()), check(&Endpoint::ours(dialect), body.as_bytes()), "{body}");
        }
    }
}

#[test]
fn a52_a_name_that_is_only_warned_of_is_warned_of_again() {
    let mut request = anthropic();
    request["tools"][0]["name"] = json!("x".repeat(65));
    let mut checker = Checker::new(Endpoint::ours(Dialect::Anthropic));
    for _ in 0..2 {
        assert_eq!(checker.check(request.to_string().as_bytes()).warnings.len(), 1);
    }
}

#[test]
fn every_rule_says_how_well_it_is_known() {
    let of = |known| RULES.iter().filter(|rule| rule.confidence() == known).map(|rule| rule.id).collect::<Vec<_>>();
    assert_eq!(of(Confidence::Inferred), ["W-A2", "W-A13", "W-A39", "W-C25", "W-C33", "W-C70"]);
    assert_eq!(of(Confidence::Documented).len() + of(Confidence::Seen).len() + 6, RULES.len());
}
