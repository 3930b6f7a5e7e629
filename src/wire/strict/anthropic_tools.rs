//! Anthropic's `tools` and `tool_choice` (W-A52 to W-A65).

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Verdict, is_name, list, text, unknown_members};

const TOOL: &[&str] = &[
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "type",
    "input_examples",
    "defer_loading",
    "allowed_callers",
    "eager_input_streaming",
];

/// Keywords that a strict schema may not use.
const NOT_STRICT: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

pub(super) fn check(verdict: &mut Verdict, request: &Value, known: bool) {
    let tools = list(request, "tools");
    let mut names = BTreeSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let name = text(tool, "name").unwrap_or_default();
        if name.len() > 64 {
            verdict.warnings.push(format!("tools[{place}].name has more than 64 characters, which OpenAI refuses"));
        }
        if known {
            names.insert(name);
            continue;
        }
        let place = format!("tools[{place}]");
        verdict.hold(is_name(name, 128), "W-A52", format!("{place}.name"));
        verdict.hold(names.insert(name), "W-A53", format!("{place}.name"));
        verdict.hold(tool.get("description").is_none_or(Value::is_string), "W-A58", format!("{place}.description"));
        schema(verdict, tool, &place);
        let deferred = is_true(tool, "defer_loading");
        verdict.hold(!deferred || tool.get("cache_control").is_none(), "W-A60", place);
    }
    verdict.hold(tools.is_empty() || !tools.iter().all(|tool| is_true(tool, "defer_loading")), "W-A60", "tools");
    choice(verdict, request, &names);
}

fn schema(verdict: &mut Verdict, tool: &Value, place: &str) {
    for key in unknown_members(tool, TOOL) {
        if key != "parameters" {
            verdict.broke("W-A4", format!("{place}.{key}"));
        }
    }
    let place = format!("{place}.input_schema");
    let Some(schema) = tool.get("input_schema") else { return verdict.broke("W-A54", place) };
    verdict.hold(text(schema, "type") == Some("object"), "W-A55", format!("{place}.type"));
    verdict.hold(["oneOf", "allOf", "anyOf"].iter().all(|key| schema.get(*key).is_none()), "W-A56", &place);
    verdict.hold(jsonschema::draft202012::meta::is_valid(schema), "W-A57", &place);
    verdict.hold(!is_true(tool, "strict") || is_strict(schema), "W-A59", place);
}

fn choice(verdict: &mut Verdict, request: &Value, names: &BTreeSet<&str>) {
    let Some(choice) = request.get("tool_choice") else { return };
    let kind = text(choice, "type");
    verdict.hold(matches!(kind, Some("auto" | "any" | "tool" | "none")), "W-A61", "tool_choice");
    let is_open = kind != Some("none") || choice.get("disable_parallel_tool_use").is_none();
    verdict.hold(is_open, "W-A64", "tool_choice.disable_parallel_tool_use");
    for key in unknown_members(choice, &["type", "name", "disable_parallel_tool_use"]) {
        verdict.broke("W-A4", format!("tool_choice.{key}"));
    }
    verdict.hold(!names.is_empty(), "W-A62", "tool_choice");
    if kind == Some("tool") && !names.is_empty() {
        verdict.hold(text(choice, "name").is_some_and(|name| names.contains(name)), "W-A63", "tool_choice.name");
    }
    let thinks = request.pointer("/thinking/type").is_some_and(|kind| kind == "enabled");
    verdict.hold(!(thinks && matches!(kind, Some("any" | "tool"))), "W-A65", "tool_choice");
}

fn is_true(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

/// W-A59: every object is closed, and no keyword sets limits or refers back to the root.
fn is_strict(schema: &Value) -> bool {
    let closed = text(schema, "type") != Some("object") || schema.get("additionalProperties") == Some(&Value::Bool(false));
    let plain = NOT_STRICT.iter().all(|key| schema.get(*key).is_none()) && text(schema, "$ref") != Some("#");
    let members = ["properties", "$defs"].iter().filter_map(|key| schema.get(*key)?.as_object()).flat_map(|all| all.values());
    let mut inside = members.chain(schema.get("items")).chain(list(schema, "anyOf"));
    closed && plain && inside.all(is_strict)
}
