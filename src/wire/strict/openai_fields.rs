//! OpenAI's plain fields: types and bounds (W-C5, W-C12 to W-C15), and what a reasoning model does not take (W-C12, W-C13, W-C46).

use serde_json::Value;

use super::profile::Gpt;
use super::{Verdict, list, text, unknown_members};

/// A number's name and its bounds.
const NUMBERS: [(&str, f64, f64); 4] =
    [("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0), ("frequency_penalty", -2.0, 2.0), ("presence_penalty", -2.0, 2.0)];

pub(super) fn check(verdict: &mut Verdict, request: &Value) {
    numbers(verdict, request);
    limits(verdict, request);
    capability(verdict, request, Gpt::named(text(request, "model").unwrap_or_default()));
}

fn limits(verdict: &mut Verdict, request: &Value) {
    for key in ["max_completion_tokens", "max_tokens"] {
        verdict.hold(request.get(key).is_none_or(|tokens| tokens.as_u64().is_some_and(|tokens| tokens >= 1)), "W-C12", key);
    }
    verdict.hold(list(request, "stop").len() <= 4, "W-C13", "stop");
    verdict.hold(request.get("n").is_none_or(|n| n.as_u64().is_some_and(|n| (1..=8).contains(&n))), "W-C14", "n");
    let streams = request.get("stream") == Some(&Value::Bool(true));
    let Some(options) = request.get("stream_options").filter(|options| !options.is_null()) else { return };
    verdict.hold(streams, "W-C15", "stream_options");
    for key in unknown_members(options, &["include_usage", "include_obfuscation"]) {
        verdict.broke("W-C4", format!("stream_options.{key}"));
    }
}

fn numbers(verdict: &mut Verdict, request: &Value) {
    for (key, least, most) in NUMBERS {
        let Some(value) = request.get(key).filter(|value| !value.is_null()) else { continue };
        match value.as_f64() {
            None => verdict.broke("W-C5", key),
            Some(number) if number < least => verdict.broke_as(Some("decimal_below_min_value"), "W-C5", key),
            Some(number) if number > most => verdict.broke_as(Some("decimal_above_max_value"), "W-C5", key),
            Some(_) => {}
        }
    }
    verdict.hold(request.get("model").is_none_or(Value::is_string), "W-C5", "model");
    for key in ["stream", "parallel_tool_calls"] {
        verdict.hold(request.get(key).is_none_or(|value| value.is_boolean() || value.is_null()), "W-C5", key);
    }
}

fn capability(verdict: &mut Verdict, request: &Value, model: Gpt) {
    if !model.reasons {
        return;
    }
    let is_sent = |key: &str| request.get(key).is_some_and(|value| !value.is_null());
    if is_sent("max_tokens") {
        verdict.broke_as(Some("unsupported_parameter"), "W-C12", "max_tokens");
    }
    for key in ["stop", "logit_bias", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs"] {
        if is_sent(key) {
            verdict.broke_as(Some("unsupported_parameter"), "W-C13", key);
        }
    }
    if is_sent("temperature") && request.get("temperature").and_then(Value::as_f64) != Some(1.0) {
        verdict.broke_as(Some("unsupported_value"), "W-C13", "temperature");
    }
    let none_by_default = !model.has_effort_unasked();
    let calm = text(request, "reasoning_effort").map_or(none_by_default, |effort| effort == "none");
    let can_call = !list(request, "tools").is_empty();
    verdict.hold(calm || !can_call || !model.wants_no_effort_with_tools(), "W-C46", "reasoning_effort");
}
