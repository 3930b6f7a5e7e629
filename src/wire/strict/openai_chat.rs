//! OpenAI Chat Completions: the rules of section C that concern a body, in the measured order (W-C49).

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Endpoint, Verdict, is_name, list, openai_fields, quirks, text, unknown_members};

const TOP: [&str; 32] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stop",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "seed",
    "user",
    "metadata",
    "store",
    "service_tier",
    "reasoning_effort",
    "verbosity",
    "modalities",
    "audio",
    "prediction",
    "safety_identifier",
    "prompt_cache_key",
    "web_search_options",
];
const MOST_CHARS: usize = 1_048_576;

pub(super) fn check(verdict: &mut Verdict, endpoint: &Endpoint, request: &Value, tools_are_known: bool) {
    for key in ["model", "messages"] {
        verdict.hold(request.get(key).is_some(), "W-C2", key);
    }
    for key in unknown_members(request, &TOP) {
        verdict.broke("W-C4", key);
    }
    let messages = list(request, "messages");
    verdict.hold(request.get("messages").is_none_or(Value::is_array), "W-C5", "messages");
    verdict.hold(!messages.is_empty() || !request.get("messages").is_some_and(Value::is_array), "W-C3", "messages");
    for (place, message) in messages.iter().enumerate() {
        shape(verdict, message, &format!("messages[{place}]"));
    }
    tools(verdict, request, tools_are_known);
    openai_fields::check(verdict, request);
    groups(verdict, messages);
    if endpoint.strict_roles {
        neighbours(verdict, messages);
    }
    quirks::check(verdict, endpoint, request);
    for (place, message) in messages.iter().enumerate() {
        has_content(verdict, message, &format!("messages[{place}]"));
    }
}

fn shape(verdict: &mut Verdict, message: &Value, place: &str) {
    let role = text(message, "role");
    if role == Some("function") {
        return verdict.broke("W-C37", format!("{place}.role"));
    }
    verdict.hold(matches!(role, Some("system" | "developer" | "user" | "assistant" | "tool")), "W-C17", format!("{place}.role"));
    match message.get("content") {
        Some(Value::String(said)) => {
            verdict.hold(said.len() <= MOST_CHARS || said.chars().count() <= MOST_CHARS, "W-C16", format!("{place}.content"))
        }
        Some(Value::Array(parts)) => {
            verdict.hold(!parts.is_empty(), "W-C21", format!("{place}.content"));
            let all_text = parts.iter().all(|part| text(part, "type") == Some("text"));
            verdict.hold(role != Some("tool") || all_text, "W-C30", format!("{place}.content"));
            verdict.hold(role != Some("assistant") || is_said(parts), "W-C36", format!("{place}.content"));
        }
        None | Some(Value::Null) => {}
        Some(_) => verdict.broke("W-C5", format!("{place}.content")),
    }
    calls(verdict, message, place);
}

/// W-C36: text parts, or one refusal.
fn is_said(parts: &[Value]) -> bool {
    let refusals = parts.iter().filter(|part| text(part, "type") == Some("refusal")).count();
    (refusals == 1 && parts.len() == 1) || parts.iter().all(|part| text(part, "type") == Some("text"))
}

fn calls(verdict: &mut Verdict, message: &Value, place: &str) {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else { return };
    let calls = calls.as_array().map_or(&[][..], Vec::as_slice);
    verdict.hold(!calls.is_empty(), "W-C23", format!("{place}.tool_calls"));
    for (at, call) in calls.iter().enumerate() {
        let place = format!("{place}.tool_calls[{at}]");
        let id = text(call, "id").unwrap_or_default();
        verdict.hold(id.chars().count() <= 40, "W-C34", format!("{place}.id"));
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str);
        let whole = !id.is_empty() && text(call, "type") == Some("function") && arguments.is_some();
        verdict.hold(whole, "W-C32", &place);
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        verdict.hold(is_name(name, 64), "W-C40", format!("{place}.function.name"));
        let parses = arguments.is_none_or(|arguments| serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()));
        verdict.hold(parses, "W-C33", format!("{place}.function.arguments"));
    }
}

fn tools(verdict: &mut Verdict, request: &Value, known: bool) {
    let tools = list(request, "tools");
    verdict.hold(!request.get("tools").is_some_and(|tools| tools == &Value::Array(Vec::new())), "W-C38", "tools");
    verdict.hold(tools.len() <= 128, "W-C39", "tools");
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let function = tool.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name").unwrap_or_default();
        if known {
            names.insert(name);
            continue;
        }
        let place = format!("tools[{at}].function");
        verdict.hold(is_name(name, 64), "W-C40", format!("{place}.name"));
        names.insert(name);
        let Some(parameters) = function.get("parameters") else { continue };
        verdict.hold(text(parameters, "type") == Some("object"), "W-C41", format!("{place}.parameters"));
        let strict = function.get("strict") == Some(&Value::Bool(true));
        verdict.hold(!strict || is_closed(parameters), "W-C42", format!("{place}.parameters"));
    }
    choice(verdict, request, &names);
}

/// W-C42: the root is no `anyOf`, every object is closed and requires every one of its properties.
fn is_closed(schema: &Value) -> bool {
    schema.get("anyOf").is_none() && is_closed_inside(schema)
}

fn is_closed_inside(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let of_object = text(schema, "type") != Some("object")
        || (schema.get("additionalProperties") == Some(&Value::Bool(false))
            && properties.is_none_or(|all| all.keys().all(|key| list(schema, "required").iter().any(|name| name == key))));
    let known =
        ["allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"].iter().all(|key| schema.get(*key).is_none());
    let defined = schema.get("$defs").and_then(Value::as_object);
    let members = properties.into_iter().chain(defined).flat_map(|all| all.values());
    let mut inside = members.chain(schema.get("items")).chain(list(schema, "anyOf"));
    of_object && known && inside.all(is_closed_inside)
}

fn choice(verdict: &mut Verdict, request: &Value, names: &BTreeSet<&str>) {
    let choice = request.get("tool_choice").filter(|choice| !choice.is_null());
    if names.is_empty() {
        verdict.hold(choice.is_none(), "W-C45", "tool_choice");
        return verdict.hold(request.get("parallel_tool_calls").is_none(), "W-C45", "parallel_tool_calls");
    }
    match choice {
        None => {}
        Some(Value::String(word)) => verdict.hold(matches!(word.as_str(), "none" | "auto" | "required"), "W-C43", "tool_choice"),
        Some(choice) if text(choice, "type") == Some("function") => {
            let name = choice.pointer("/function/name").and_then(Value::as_str);
            verdict.hold(name.is_some_and(|name| names.contains(name)), "W-C44", "tool_choice.function.name");
        }
        Some(choice) => verdict.hold(is_choice(choice), "W-C43", "tool_choice"),
    }
}

/// W-C43: the forms that name no function.
fn is_choice(choice: &Value) -> bool {
    let allowed = |key: &str| choice.pointer(&format!("/allowed_tools/{key}"));
    match text(choice, "type") {
        Some("custom") => choice.pointer("/custom/name").is_some_and(Value::is_string),
        Some("allowed_tools") => {
            let mode = allowed("mode").and_then(Value::as_str);
            matches!(mode, Some("auto" | "required")) && allowed("tools").is_some_and(Value::is_array)
        }
        _ => false,
    }
}

/// W-C24–C28: an assistant's calls and the tool messages directly behind it.
fn groups(verdict: &mut Verdict, messages: &[Value]) {
    let mut open: Vec<&str> = Vec::new();
    let mut group: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages[{place}]");
        if text(message, "role") == Some("tool") {
            answer(verdict, message, &at, &group, &mut open);
            continue;
        }
        verdict.hold(open.is_empty(), "W-C24", format!("{at}.role"));
        group = list(message, "tool_calls").iter().filter_map(|call| text(call, "id")).collect();
        let unique: BTreeSet<&str> = group.iter().copied().collect();
        verdict.hold(unique.len() == group.len(), "W-C28", format!("{at}.tool_calls"));
        open.clone_from(&group);
    }
    verdict.hold(open.is_empty(), "W-C25", "messages");
}

fn answer<'v>(verdict: &mut Verdict, message: &'v Value, at: &str, group: &[&'v str], open: &mut Vec<&'v str>) {
    if group.is_empty() {
        return verdict.broke("W-C26", format!("{at}.role"));
    }
    let id = text(message, "tool_call_id");
    let Some(id) = id.filter(|id| group.contains(id)) else { return verdict.broke("W-C27", format!("{at}.tool_call_id")) };
    verdict.hold(open.contains(&id), "W-C28", format!("{at}.tool_call_id"));
    open.retain(|waiting| *waiting != id);
}

/// What compatible servers refuse and OpenAI takes.
fn neighbours(verdict: &mut Verdict, messages: &[Value]) {
    for (place, pair) in messages.windows(2).enumerate() {
        let roles = (text(&pair[0], "role"), text(&pair[1], "role"));
        let at = format!("messages[{}].role", place + 1);
        verdict.hold(!matches!(roles, (Some("user"), Some("user")) | (Some("assistant"), Some("assistant"))), "W-C57", &at);
        verdict.hold(!matches!(roles.1, Some("system" | "developer")), "W-C58", &at);
    }
}

/// W-C20, which the provider checks last.
fn has_content(verdict: &mut Verdict, message: &Value, place: &str) {
    let there = message.get("content").is_some_and(|content| !content.is_null());
    let instead = ["tool_calls", "function_call", "refusal", "audio"];
    let excused =
        text(message, "role") == Some("assistant") && instead.iter().any(|key| message.get(*key).is_some_and(|value| !value.is_null()));
    verdict.hold(there || excused, "W-C20", format!("{place}.content"));
}
