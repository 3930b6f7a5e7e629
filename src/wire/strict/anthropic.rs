//! Anthropic Messages: the rules of section A that concern a body, in the order that the wire rules give.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Endpoint, Verdict, is_name, list, text, unknown_members};

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
    envelope(verdict, request);
    tools(verdict, request, tools_are_known);
    thinking(verdict, request);
    let messages = list(request, "messages");
    if messages.is_empty() {
        return verdict.hold(request.get("messages").is_none(), "W-A15", "messages");
    }
    verdict.hold(messages.len() <= 100_000, "W-A9", "messages");
    roles(verdict, endpoint, messages);
    for (place, message) in messages.iter().enumerate() {
        content(verdict, message, &format!("messages[{place}]"));
    }
    pairing(verdict, messages);
    let has_calls = messages.iter().flat_map(blocks).any(|block| matches!(text(block, "type"), Some("tool_use" | "tool_result")));
    verdict.hold(!has_calls || !list(request, "tools").is_empty(), "W-A49", "tools");
    cache(verdict, request, messages);
    verdict.hold(
        messages.last().and_then(|last| text(last, "role")) != Some("assistant"),
        "W-A19",
        format!("messages[{}]", messages.len() - 1),
    );
}

fn envelope(verdict: &mut Verdict, request: &Value) {
    for key in ["model", "max_tokens", "messages"] {
        verdict.hold(request.get(key).is_some(), "W-A3", key);
    }
    for key in unknown_members(request, &TOP) {
        verdict.broke("W-A4", key);
    }
    let max_tokens = request.get("max_tokens");
    verdict.hold(max_tokens.is_none_or(|tokens| tokens.is_u64()), "W-A5", "max_tokens");
    let forced = matches!(request.pointer("/tool_choice/type").and_then(Value::as_str), Some("any" | "tool"));
    let busy =
        request.get("stream") == Some(&Value::Bool(true)) || forced || request.pointer("/thinking/type").is_some_and(|t| t == "enabled");
    verdict.hold(max_tokens.and_then(Value::as_u64) != Some(0) || !busy, "W-A6", "max_tokens");
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

fn tools(verdict: &mut Verdict, request: &Value, known: bool) {
    let tools = list(request, "tools");
    let mut names = BTreeSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let name = text(tool, "name").unwrap_or_default();
        if known {
            names.insert(name);
            continue;
        }
        let place = format!("tools[{place}]");
        verdict.hold(is_name(name, 128), "W-A52", format!("{place}.name"));
        if name.len() > 64 {
            verdict.warnings.push(format!("{place}.name has more than 64 characters, which OpenAI refuses"));
        }
        verdict.hold(names.insert(name), "W-A53", format!("{place}.name"));
        verdict.hold(tool.get("description").is_none_or(Value::is_string), "W-A58", format!("{place}.description"));
        schema(verdict, tool, &place);
    }
    choice(verdict, request, &names);
}

fn schema(verdict: &mut Verdict, tool: &Value, place: &str) {
    for key in unknown_members(tool, &["name", "description", "input_schema", "cache_control", "strict", "type", "input_examples"]) {
        if key != "parameters" {
            verdict.broke("W-A4", format!("{place}.{key}"));
        }
    }
    let place = format!("{place}.input_schema");
    let Some(schema) = tool.get("input_schema") else { return verdict.broke("W-A54", place) };
    verdict.hold(text(schema, "type") == Some("object"), "W-A55", format!("{place}.type"));
    verdict.hold(["oneOf", "allOf", "anyOf"].iter().all(|key| schema.get(*key).is_none()), "W-A56", place);
}

fn choice(verdict: &mut Verdict, request: &Value, names: &BTreeSet<&str>) {
    let Some(choice) = request.get("tool_choice") else { return };
    let kind = text(choice, "type");
    verdict.hold(matches!(kind, Some("auto" | "any" | "tool" | "none")), "W-A61", "tool_choice");
    verdict.hold(!names.is_empty(), "W-A62", "tool_choice");
    if kind == Some("tool") && !names.is_empty() {
        verdict.hold(text(choice, "name").is_some_and(|name| names.contains(name)), "W-A63", "tool_choice.name");
    }
    let thinks = request.pointer("/thinking/type").is_some_and(|kind| kind == "enabled");
    verdict.hold(!(thinks && matches!(kind, Some("any" | "tool"))), "W-A65", "tool_choice");
}

fn thinking(verdict: &mut Verdict, request: &Value) {
    if request.pointer("/thinking/type").is_none_or(|kind| kind != "enabled") {
        return;
    }
    let budget = request.pointer("/thinking/budget_tokens").and_then(Value::as_u64).unwrap_or(0);
    let most = request.get("max_tokens").and_then(Value::as_u64).unwrap_or(0);
    verdict.hold(budget >= 1024 && budget < most, "W-A67", "thinking.budget_tokens");
}

fn roles(verdict: &mut Verdict, endpoint: &Endpoint, messages: &[Value]) {
    verdict.hold(text(&messages[0], "role") != Some("assistant"), "W-A18", "messages[0].role");
    let mut before = None;
    for (place, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        verdict.hold(matches!(role, Some("user" | "assistant")), "W-A16", format!("messages[{place}].role"));
        verdict.hold(!(endpoint.strict_roles && role == before), "W-A17", format!("messages[{place}].role"));
        for key in unknown_members(message, &["role", "content"]) {
            verdict.broke("W-A4", format!("messages[{place}].{key}"));
        }
        before = role;
    }
}

fn blocks(message: &Value) -> &[Value] {
    list(message, "content")
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
            let all_text = parts.iter().all(|part| text(part, "type") == Some("text"));
            verdict.hold(!failed || all_text, "W-A45", place);
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
    for turn in &turns {
        let place = format!("messages[{}]", turn.place);
        let results = ids(turn, "tool_result", "tool_use_id");
        if turn.role == "user" {
            answers(verdict, turn, &place, &open, &results);
        }
        let unanswered = open.iter().any(|id| !results.contains(id));
        verdict.hold(!unanswered, "W-A34", &place);
        open = ids(turn, "tool_use", "id");
        for id in &open {
            verdict.hold(seen.insert(*id), "W-A37", &place);
        }
    }
    verdict.hold(open.is_empty(), "W-A34", "messages");
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
    let marked = |value: &&Value| value.get("cache_control").is_some();
    let all = list(request, "tools").iter().chain(list(request, "system")).chain(messages.iter().flat_map(blocks));
    let marks = all.filter(marked).count() + usize::from(request.get("cache_control").is_some());
    verdict.hold(marks <= 4, "W-A73", "cache_control");
}
