//! Rows of compatible servers: the base request with the quirk on. Each refused example is accepted while the quirk is off.

use unbacked::wire::strict::Quirk;

use super::*;

/// The quirk, its rule, what is still accepted, what is refused.
struct QuirkRow(Quirk, &'static str, Edit, Edit);

fn without_last(request: &mut Value) {
    messages(request).pop();
}

fn bridged(request: &mut Value) {
    messages(request).insert(5, json!({ "role": "assistant", "content": "noted" }));
}

fn nine(request: &mut Value) {
    for (call, id) in ["abcDEF123", "abcDEF124"].into_iter().enumerate() {
        request["messages"][2]["tool_calls"][call]["id"] = json!(id);
        request["messages"][3 + call]["tool_call_id"] = json!(id);
    }
}

fn in_call_message(request: &mut Value, key: &str, value: Value) {
    request["messages"][2][key] = value;
}

fn signed(request: &mut Value) {
    for call in 0..2 {
        request["messages"][2]["tool_calls"][call]["extra_content"] = json!({ "google": { "thought_signature": "c2ln" } });
    }
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

const QUIRKS: &[QuirkRow] = &[
    QuirkRow(Quirk::NoUserAfterTool, "W-C51", bridged, same),
    QuirkRow(Quirk::MistralOrder, "W-C52", same, |r| messages(r)[5]["role"] = json!("system")),
    QuirkRow(
        Quirk::MistralOrder,
        "W-C53",
        |r| {
            messages(r).push(said("so"));
            messages(r)[6]["prefix"] = json!(true)
        },
        |r| messages(r).push(said("so")),
    ),
    QuirkRow(Quirk::MistralIds, "W-C55", nine, same),
    QuirkRow(Quirk::ContentOrCalls, "W-C56", same, |r| in_call_message(r, "content", json!("let me look"))),
    QuirkRow(Quirk::ContentKey, "W-C59", |r| remove(&mut messages(r)[2], "content"), |r| remove(&mut messages(r)[1], "content")),
    QuirkRow(Quirk::OneAssistantAtEnd, "W-C60", |r| messages(r).push(said("a")), |r| messages(r).extend([said("a"), said("b")])),
    QuirkRow(Quirk::CallsAfterUser, "W-C62", same, |r| messages(r).insert(2, said("let me look"))),
    QuirkRow(Quirk::ThoughtSignatures, "W-C63", signed, same),
    QuirkRow(Quirk::ReasoningBack, "W-C64", |r| in_call_message(r, "reasoning_content", json!("hm")), same),
    QuirkRow(Quirk::NoNullBesideCalls, "W-C70", |r| in_call_message(r, "content", json!("")), same),
    QuirkRow(Quirk::NoEmptyBesideCalls, "W-C70", same, |r| in_call_message(r, "content", json!(""))),
    QuirkRow(Quirk::ToolsWithHistory, "W-C71", same, |r| {
        remove(r, "tools");
        remove(r, "tool_choice")
    }),
    QuirkRow(Quirk::NoUserAfterTool, "W-C51", without_last, same),
];

pub fn rules() -> impl Iterator<Item = &'static str> {
    QUIRKS.iter().map(|row| row.1)
}

/// Whether a request is refused by OpenAI itself for what the quirk's example leaves out anyway.
fn refused_anyway(rule: &str) -> bool {
    rule == "W-C59"
}

#[test]
fn c50_to_c73_every_quirk_refuses_its_example_and_takes_the_neighbour() {
    for (place, QuirkRow(quirk, rule, accepted, refused)) in QUIRKS.iter().enumerate() {
        let endpoint = Endpoint::vendor(Dialect::OpenaiChat).with(&[*quirk]);
        let broken = |edit: &Edit, endpoint: &Endpoint| -> Vec<&str> {
            let mut request = openai();
            edit(&mut request);
            // `prefix` is Mistral's own key of a message, which OpenAI's rules here do not look at.
            check(endpoint, request.to_string().as_bytes()).violations.iter().map(|broken| broken.rule).collect()
        };
        assert_eq!(broken(accepted, &endpoint), Vec::<&str>::new(), "row {place}, {quirk:?}: should be accepted");
        assert_eq!(broken(refused, &endpoint).first(), Some(rule), "row {place}, {quirk:?}: should be refused");
        let vendor = broken(refused, &Endpoint::vendor(Dialect::OpenaiChat));
        assert!(vendor.is_empty() || refused_anyway(rule), "row {place}, {quirk:?}: OpenAI takes it, but {vendor:?}");
    }
}

#[test]
fn every_quirk_has_a_row() {
    for quirk in Quirk::ALL {
        assert!(QUIRKS.iter().any(|row| row.0 == quirk), "{quirk:?}");
    }
}
