//! Anthropic rules that depend on the model or on its thinking (W-A19, W-A30, W-A66 to W-A69).

use serde_json::Value;

use super::anthropic::{blocks, is_kind};
use super::profile::{Claude, Thinks};
use super::{Verdict, text};

/// `thinking`, sampling and forcing.
pub(super) fn check(verdict: &mut Verdict, request: &Value, model: Option<Claude<'_>>) {
    budget(verdict, request);
    let Some(model) = model else { return };
    let forced = matches!(request.pointer("/tool_choice/type").and_then(Value::as_str), Some("any" | "tool"));
    verdict.hold(!forced || model.can_be_forced(), "W-A66", "tool_choice");
    let told = matches!(thinking(request), Some("enabled" | "disabled"));
    verdict.hold(!told || model.thinks() == Thinks::Manually, "W-A67", "thinking.type");
    sampling(verdict, request, model);
}

fn thinking(request: &Value) -> Option<&str> {
    request.get("thinking").and_then(|thinking| text(thinking, "type"))
}

fn budget(verdict: &mut Verdict, request: &Value) {
    if thinking(request) != Some("enabled") {
        return;
    }
    let budget = request.pointer("/thinking/budget_tokens").and_then(Value::as_u64).unwrap_or(0);
    let most = request.get("max_tokens").and_then(Value::as_u64).unwrap_or(0);
    verdict.hold(budget >= 1024 && budget < most, "W-A67", "thinking.budget_tokens");
}

fn sampling(verdict: &mut Verdict, request: &Value, model: Claude<'_>) {
    let warmth = request.get("temperature").and_then(Value::as_f64);
    if !model.samples() {
        for key in ["temperature", "top_p", "top_k"] {
            // Only the temperature has a default that may be said.
            let default = key == "temperature" && warmth == Some(1.0);
            verdict.hold(request.get(key).is_none() || default, "W-A68", key);
        }
        return;
    }
    let cold = warmth.is_some_and(|warmth| warmth < 1.0);
    verdict.hold(!(cold && thinking(request) == Some("enabled")), "W-A68", "temperature");
    let both = warmth.is_some() && request.get("top_p").is_some();
    verdict.hold(!(both && model.samples_one_way()), "W-A68", "top_p");
}

/// W-A69: with manual thinking and calls that were just answered, the turn that called starts with its thinking.
pub(super) fn thinking_replay(verdict: &mut Verdict, request: &Value, messages: &[Value]) {
    let answers = messages.last().is_some_and(|last| blocks(last).iter().any(|block| is_kind(block, "tool_result")));
    if thinking(request) != Some("enabled") || !answers {
        return;
    }
    let Some(place) = messages.iter().rposition(|message| text(message, "role") == Some("assistant")) else { return };
    // Neighbours of one role are one turn (W-A17), which starts where the first of them does.
    let first = messages[..place].iter().rposition(|message| text(message, "role") != Some("assistant")).map_or(0, |before| before + 1);
    let thinks = blocks(&messages[first]).first().is_some_and(|block| is_kind(block, "thinking") || is_kind(block, "redacted_thinking"));
    verdict.hold(thinks, "W-A69", format!("messages[{first}].content[0]"));
}

/// W-A19 and W-A30: how a request may end.
pub(super) fn prefill(verdict: &mut Verdict, messages: &[Value], taken: bool) {
    let Some((last, before)) = messages.split_last().filter(|(last, _)| text(last, "role") == Some("assistant")) else { return };
    let place = format!("messages[{}]", before.len());
    verdict.hold(taken, "W-A19", &place);
    let said = text(last, "content").or_else(|| blocks(last).last().and_then(|block| text(block, "text"))).unwrap_or_default();
    verdict.hold(!taken || said.trim_end() == said, "W-A30", place);
}
