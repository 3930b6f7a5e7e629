//! What compatible servers refuse and OpenAI takes (section C.5): switches of an endpoint, all off until named.

use serde_json::Value;

use super::{Endpoint, Verdict, list, text};

/// A way in which a compatible server is stricter than OpenAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// Mistral: no user message right after a tool message (W-C51, contested, so apart from the rest of its order).
    NoUserAfterTool,
    /// Mistral: which role may follow which (W-C52), and which may come last (W-C53).
    MistralOrder,
    /// Old Mistral tokenizers: ids of exactly 9 letters and digits (W-C55).
    MistralIds,
    /// Oldest Mistral tokenizers: an assistant message has content or calls, never both (W-C56).
    ContentOrCalls,
    /// llama.cpp: all but assistant messages have the key `content` (W-C59).
    ContentKey,
    /// llama.cpp: no two assistant messages at the end (W-C60).
    OneAssistantAtEnd,
    /// Gemini: a message with calls comes right after a user or tool message (W-C62).
    CallsAfterUser,
    /// Gemini: a call comes back with its thought signature (W-C63).
    ThoughtSignatures,
    /// DeepSeek: an assistant message with calls comes back with its reasoning (W-C64).
    ReasoningBack,
    /// Some servers refuse `content: null` beside calls (W-C70).
    NoNullBesideCalls,
    /// At least one server refuses `content: ""` beside calls (W-C70).
    NoEmptyBesideCalls,
    /// Bridges to Anthropic: a history with calls comes with `tools` (W-C71).
    ToolsWithHistory,
}

impl Quirk {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NoUserAfterTool,
        Self::MistralOrder,
        Self::MistralIds,
        Self::ContentOrCalls,
        Self::ContentKey,
        Self::OneAssistantAtEnd,
        Self::CallsAfterUser,
        Self::ThoughtSignatures,
        Self::ReasoningBack,
        Self::NoNullBesideCalls,
        Self::NoEmptyBesideCalls,
        Self::ToolsWithHistory,
    ];
}

/// Checks the switches that are on.
pub(super) fn check(verdict: &mut Verdict, endpoint: &Endpoint, request: &Value) {
    let messages = list(request, "messages");
    for quirk in &endpoint.quirks {
        match quirk {
            Quirk::MistralOrder => mistral_order(verdict, messages),
            Quirk::OneAssistantAtEnd => one_assistant_at_end(verdict, messages),
            Quirk::ToolsWithHistory => {
                let has_calls = messages.iter().any(|message| role(message) == "tool" || has_calls(message));
                verdict.hold(!has_calls || !list(request, "tools").is_empty(), "W-C71", "tools");
            }
            _ => each(verdict, *quirk, messages),
        }
    }
}

fn role(message: &Value) -> &str {
    text(message, "role").unwrap_or_default()
}

fn has_calls(message: &Value) -> bool {
    !list(message, "tool_calls").is_empty()
}

/// The switches that look at one message and the one before it.
fn each(verdict: &mut Verdict, quirk: Quirk, messages: &[Value]) {
    let mut before = "";
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages[{place}]");
        let content = message.get("content");
        let is_empty = content.is_some_and(|content| content == "");
        let calls = has_calls(message);
        match quirk {
            Quirk::NoUserAfterTool => verdict.hold(!(before == "tool" && role(message) == "user"), "W-C51", at + ".role"),
            Quirk::ContentOrCalls => verdict.hold(!calls || is_empty || content.is_none_or(Value::is_null), "W-C56", at),
            Quirk::ContentKey => verdict.hold(role(message) == "assistant" || content.is_some(), "W-C59", at),
            Quirk::CallsAfterUser => verdict.hold(!calls || matches!(before, "user" | "tool"), "W-C62", at),
            Quirk::ReasoningBack => verdict.hold(!calls || text(message, "reasoning_content").is_some(), "W-C64", at),
            Quirk::NoNullBesideCalls => verdict.hold(!calls || content.is_some_and(|content| !content.is_null()), "W-C70", at + ".content"),
            Quirk::NoEmptyBesideCalls => verdict.hold(!calls || !is_empty, "W-C70", at + ".content"),
            Quirk::MistralIds => mistral_ids(verdict, message, &at),
            Quirk::ThoughtSignatures => thought_signatures(verdict, message, &at),
            Quirk::MistralOrder | Quirk::OneAssistantAtEnd | Quirk::ToolsWithHistory => {}
        }
        before = role(message);
    }
}

fn mistral_order(verdict: &mut Verdict, messages: &[Value]) {
    for (place, pair) in messages.windows(2).enumerate() {
        let [before, after] = [role(&pair[0]), role(&pair[1])];
        let follows = match before {
            "system" | "user" => matches!(after, "system" | "user" | "assistant"),
            "assistant" => matches!(after, "assistant" | "user" | "tool"),
            _ => matches!(after, "assistant" | "tool" | "user"),
        };
        verdict.hold(follows, "W-C52", format!("messages[{}].role", place + 1));
    }
    let Some(last) = messages.last() else { return };
    let continues = role(last) == "assistant" && last.get("prefix") == Some(&Value::Bool(true));
    verdict.hold(matches!(role(last), "user" | "tool") || continues, "W-C53", format!("messages[{}].role", messages.len() - 1));
}

fn mistral_ids(verdict: &mut Verdict, message: &Value, at: &str) {
    let is_short = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let ids = list(message, "tool_calls").iter().map(|call| text(call, "id"));
    for id in ids.chain((role(message) == "tool").then(|| text(message, "tool_call_id"))) {
        verdict.hold(id.is_some_and(is_short), "W-C55", at);
    }
}

fn one_assistant_at_end(verdict: &mut Verdict, messages: &[Value]) {
    let two = matches!(messages, [.., before, last] if role(before) == "assistant" && role(last) == "assistant");
    verdict.hold(!two, "W-C60", format!("messages[{}].role", messages.len().saturating_sub(1)));
}

fn thought_signatures(verdict: &mut Verdict, message: &Value, at: &str) {
    for (number, call) in list(message, "tool_calls").iter().enumerate() {
        let signature = call.pointer("/extra_content/google/thought_signature").and_then(Value::as_str);
        verdict.hold(signature.is_some_and(|signature| !signature.is_empty()), "W-C63", format!("{at}.tool_calls[{number}]"));
    }
}
