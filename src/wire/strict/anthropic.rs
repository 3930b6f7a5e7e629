//! Anthropic Messages: the rules of section A that concern a body, in the order that the wire rules give.

use std::collections::BTreeSet;

use serde_json::Value;

use super::profile::Claude;
use super::{Endpoint, Verdict, is_name, list, text, unknown_members};
use super::{anthropic_model, anthropic_tools};

const TOP: [&str; 18] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "thinking",
    "service_tier",
    "cache_control",
    "output_config",
    "container",
    "context_management",
];
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;

pub(super) fn check(verdict: &mut Verdict, endpoint: &Endpoint, request: &Value, tools_are_known: bool) {
    let model = text(request, "model").and_then(Claude::named);
    envelope(verdict, request, model);
    anthropic_tools::check(verdict, request, tools_are_known);
    anthropic_model::check(verdict, request, model);
    let messages = list(request, "messages");
    if messages.is_empty() {
        return verdict.hold(request.get("messages").is_none(), "W-A15", "messages");
    }
    verdict.hold(messages.len() <= 100_000, "W-A9", "messages");
    roles(verdict, endpoint, messages);
    system_messages(verdict, messages, model.is_some_and(Claude::takes_late_system));
    for (place, message) in messages.iter().enumerate() {
        content(verdict, message, &format!("messages[{place}]"));
    }
    pairing(verdict, messages);
    let has_calls = messages.iter().flat_map(blocks).any(|block| is_kind(block, "tool_use") || is_kind(block, "tool_result"));
    verdict.hold(!has_calls || !list(request, "tools").is_empty(), "W-A49", "tools");
    anthropic_model::thinking_replay(verdict, request, messages);
    cache(verdict, request, messages);
    anthropic_model::prefill(verdict, messages, model.is_some_and(Claude::takes_prefill));
}

fn envelope(verdict: &mut Verdict, request: &Value, model: Option<Claude<'_>>) {
    for key in ["model", "max_tokens", "messages"] {
        verdict.hold(request.get(key).is_some(), "W-A3", key);
    }
    for key in unknown_members(request, &TOP) {
        verdict.broke("W-A4", key);
    }
    let max_tokens = request.get("max_tokens");
    verdict.hold(max_tokens.is_none_or(|tokens| tokens.is_u64()), "W-A5", "max_tokens");
    let asked = max_tokens.and_then(Value::as_u64);
    let most = model.and_then(Claude::most_tokens).unwrap_or(u64::MAX);
    verdict.hold(asked.is_none_or(|tokens| tokens <= most), "W-A5", "max_tokens");
    let forced = matches!(request.pointer("/tool_choice/type").and_then(Value::as_str), Some("any" | "tool"));
    let thinks = request.pointer("/thinking/type").is_some_and(|kind| kind == "enabled");
    let formed = request.pointer("/output_config/format").is_some();
    let busy = request.get("stream") == Some(&Value::Bool(true)) || forced || thinks || formed;
    verdict.hold(asked != Some(0) || !busy, "W-A6", "max_tokens");
    for (place, stop) in list(request, "stop_sequences").iter().enumerate() {
        verdict.hold(stop.as_str().is_some_and(|stop| !stop.is_empty()), "W-A13", format!("stop_sequences[{place}]"));
    }
    match request.get("system") {
        Some(Value::String(system)) => verdict.hold(system.is_empty() || !system.trim().is_empty(), "W-A29", "system"),
        Some(Value::Array(parts)) => {
            for (place, part) in parts.iter().enumerate() {
                let said = text(part, "text").unwrap_or_default();
                verdict.hold(!said.trim().is_empty(), "W-A29", format!("system[{place}]"));
            }
        }
        _ => {}
    }
}

fn roles(verdict: &mut Verdict, endpoint: &Endpoint, messages: &[Value]) {
    verdict.hold(text(&messages[0], "role") != Some("assistant"), "W-A18", "messages[0].role");
    let mut before = None;
    for (place, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        verdict.hold(matches!(role, Some("user" | "assistant" | "system")), "W-A16", format!("messages[{place}].role"));
        let again = role == before && role != Some("system");
        verdict.hold(!(endpoint.strict_roles && again), "W-A17", format!("messages[{place}].role"));
        for key in unknown_members(message, &["role", "content"]) {
            verdict.broke("W-A4", format!("messages[{place}].{key}"));
        }
        before = role;
    }
}

/// W-A21 to W-A23. A place at the head is told first, as the vendor does on models that take no system message at all.
fn system_messages(verdict: &mut Verdict, messages: &[Value], taken: bool) {
    let role = |place: usize| messages.get(place).and_then(|message| text(message, "role"));
    for place in (0..messages.len()).filter(|place| role(*place) == Some("system")) {
        let at = format!("messages[{place}].role");
        if place == 0 {
            verdict.broke("W-A22", at);
        } else if !taken {
            verdict.broke("W-A21", at);
        } else {
            let follows = matches!(role(place - 1), Some("user" | "system"));
            let leads = matches!(role(place + 1), None | Some("assistant" | "system"));
            let says = blocks(&messages[place]).iter().all(|block| is_kind(block, "text"));
            verdict.hold(follows && leads && says, "W-A23", at);
        }
    }
}

pub(super) fn blocks(message: &Value) -> &[Value] {
    list(message, "content")
}

pub(super) fn is_kind(block: &Value, kind: &str) -> bool {
    text(block, "type") == Some(kind)
}

fn content(verdict: &mut Verdict, message: &Value, place: &str) {
    let role = text(message, "role").unwrap_or_default();
    let empty = if role == "assistant" { "W-A26" } else { "W-A25" };
    match message.get("content") {
        Some(Value::String(said)) if said.is_empty() => verdict.broke(empty, place),
        Some(Value::String(said)) => verdict.hold(!said.trim().is_empty(), "W-A28", place),
        Some(Value::Array(blocks)) if blocks.is_empty() => verdict.broke(empty, place),
        Some(Value::Array(blocks)) => {
            for (at, part) in blocks.iter().enumerate() {
                block(verdict, part, role, &format!("{place}.content[{at}]"));
            }
            let only_blank =
                blocks.iter().all(|block| text(block, "type") == Some("text") && text(block, "text").is_some_and(|t| t.trim().is_empty()));
            let some_empty = blocks.iter().any(|block| text(block, "text") == Some(""));
            verdict.hold(!only_blank || some_empty, "W-A28", place);
            let last = blocks.last().and_then(|block| text(block, "type"));
            verdict.hold(!(role == "assistant" && matches!(last, Some("thinking" | "redacted_thinking"))), "W-A32", place);
        }
        _ => verdict.broke("W-A24", place),
    }
}

fn block(verdict: &mut Verdict, block: &Value, role: &str, place: &str) {
    let known: &[&str] = match text(block, "type") {
        Some("text") => {
            verdict.hold(text(block, "text").is_some_and(|said| !said.is_empty()), "W-A27", place);
            &["type", "text", "cache_control", "citations"]
        }
        Some("tool_use") => {
            tool_use(verdict, block, role, place);
            &["type", "id", "name", "input", "cache_control", "caller"]
        }
        Some("tool_result") => {
            tool_result(verdict, block, role, place);
            &["type", "tool_use_id", "content", "is_error", "cache_control"]
        }
        Some("thinking") => {
            verdict.hold(text(block, "signature").is_some_and(|signature| !signature.is_empty()), "W-A71", place);
            verdict.hold(block.get("cache_control").is_none(), "W-A72", place);
            &["type", "thinking", "signature", "cache_control"]
        }
        Some("redacted_thinking") => &["type", "data"],
        Some("image" | "document" | "search_result") => return,
        _ => return verdict.broke("W-A24", place),
    };
    for key in unknown_members(block, known) {
        verdict.broke("W-A4", format!("{place}.{key}"));
    }
}

fn tool_use(verdict: &mut Verdict, block: &Value, role: &str, place: &str) {
    verdict.hold(role == "assistant", "W-A33", place);
    let id = text(block, "id").unwrap_or_default();
    verdict.hold(is_name(id, usize::MAX), "W-A38", format!("{place}.id"));
    verdict.hold(id.len() <= 64, "W-A39", format!("{place}.id"));
    verdict.hold(block.get("input").is_some_and(Value::is_object), "W-A47", format!("{place}.input"));
    verdict.hold(text(block, "name").is_some_and(|name| !name.is_empty()), "W-A48", format!("{place}.name"));
}

fn tool_result(verdict: &mut Verdict, block: &Value, role: &str, place: &str) {
    verdict.hold(role == "user", "W-A33", place);
    verdict.hold(text(block, "tool_use_id").is_some(), "W-A46", place);
    match block.get("content") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            let failed = block.get("is_error") == Some(&Value::Bool(true));
            verdict.hold(!failed || parts.iter().all(|part| is_kind(part, "text")), "W-A45", place);
            let known = ["text", "image", "document", "search_result", "tool_reference"];
            verdict.hold(parts.iter().all(|part| known.iter().any(|kind| is_kind(part, kind))), "W-A44", place);
        }
        Some(_) => verdict.broke("W-A44", place),
    }
}

/// One turn after merging neighbours of one role (W-A17).
struct Turn<'v> {
    role: &'v str,
    place: usize,
    blocks: Vec<&'v Value>,
}

fn merged(messages: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        match turns.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks(message)),
            _ => turns.push(Turn { role, place, blocks: blocks(message).iter().collect() }),
        }
    }
    turns
}

fn pairing(verdict: &mut Verdict, messages: &[Value]) {
    let turns = merged(messages);
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut by_program = false;
    for turn in &turns {
        let place = format!("messages[{}]", turn.place);
        let results = ids(turn, "tool_result", "tool_use_id");
        if turn.role == "user" {
            answers(verdict, turn, &place, &open, &results);
        }
        let unanswered = open.iter().any(|id| !results.contains(id));
        verdict.hold(!unanswered, "W-A34", &place);
        verdict.hold(!by_program || turn.blocks.iter().all(|block| is_kind(block, "tool_result")), "W-A50", &place);
        by_program = turn.blocks.iter().any(|block| is_kind(block, "tool_use") && is_called_by_program(block));
        open = ids(turn, "tool_use", "id");
        for id in &open {
            verdict.hold(seen.insert(*id), "W-A37", &place);
        }
    }
    verdict.hold(open.is_empty(), "W-A34", "messages");
}

/// W-A50: a `caller` other than the model itself.
fn is_called_by_program(block: &Value) -> bool {
    block.get("caller").is_some_and(|caller| !caller.is_null() && text(caller, "type") != Some("direct"))
}

fn ids<'v>(turn: &Turn<'v>, kind: &str, key: &str) -> Vec<&'v str> {
    turn.blocks.iter().filter(|block| text(block, "type") == Some(kind)).filter_map(|block| text(block, key)).collect()
}

fn answers(verdict: &mut Verdict, turn: &Turn<'_>, place: &str, open: &[&str], results: &[&str]) {
    let mut answered = BTreeSet::new();
    for id in results {
        verdict.hold(open.contains(id), "W-A35", place);
        verdict.hold(answered.insert(*id), "W-A36", place);
    }
    let is_result = |block: &&Value| text(block, "type") == Some("tool_result");
    let first_other = turn.blocks.iter().position(|block| !is_result(block));
    let last_result = turn.blocks.iter().rposition(is_result);
    let results_first = !matches!((first_other, last_result), (Some(other), Some(result)) if other < result);
    verdict.hold(results_first, "W-A40", place);
}

fn cache(verdict: &mut Verdict, request: &Value, messages: &[Value]) {
    let own = request.get("cache_control");
    let all = list(request, "tools").iter().chain(list(request, "system")).chain(messages.iter().flat_map(blocks));
    let marks: Vec<&Value> = all.filter_map(|value| value.get("cache_control")).filter(|mark| !mark.is_null()).collect();
    verdict.hold(marks.len() + usize::from(own.is_some()) <= 4, "W-A73", "cache_control");
    let is_known = |mark: &&Value| {
        text(mark, "type") == Some("ephemeral") && mark.get("ttl").is_none_or(|ttl| matches!(ttl.as_str(), Some("5m" | "1h")))
    };
    verdict.hold(marks.iter().chain(own.as_ref()).all(is_known), "W-A73", "cache_control");
    let is_long = |mark: &&Value| text(mark, "ttl") == Some("1h");
    let short_first = marks.iter().position(|mark| !is_long(mark)).zip(marks.iter().rposition(is_long)).is_some_and(|(s, l)| s < l);
    verdict.hold(!short_first, "W-A73", "cache_control");
}
