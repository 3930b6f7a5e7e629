//! The provider's side, for simulators and test servers: a reply as the bytes that a real provider would stream, and its errors.

use serde_json::{Value, json};

use crate::turn::message::{Arguments, Call, Reply};

use super::{Dialect, anthropic, openai_chat};

/// The SSE frames of a whole reply. Text and arguments come in pieces of at most `piece_chars` characters (1 or more).
pub fn speak(dialect: Dialect, reply: &Reply, piece_chars: usize) -> Vec<Vec<u8>> {
    let deltas = |text: &str| pieces(text, piece_chars);
    match dialect {
        Dialect::Anthropic => anthropic::frames(reply, &deltas),
        Dialect::OpenaiChat => openai_chat::frames(reply, &deltas),
    }
}

/// An error event in mid-stream (W-A78, W-D8).
pub fn speak_error(dialect: Dialect, kind: &str, message: &str) -> Vec<u8> {
    match dialect {
        Dialect::Anthropic => anthropic::frame(&json!({ "type": "error", "error": { "type": kind, "message": message } })),
        Dialect::OpenaiChat => openai_chat::frame(&json!({ "error": { "type": kind, "message": message, "param": null, "code": null } })),
    }
}

/// The body of an error answer (W-A74, W-C9).
pub fn error_body(dialect: Dialect, kind: &str, message: &str) -> Vec<u8> {
    let body = match dialect {
        Dialect::Anthropic => json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_sim" }),
        Dialect::OpenaiChat => json!({ "error": { "message": message, "type": kind, "param": null, "code": null } }),
    };
    body.to_string().into_bytes()
}

/// The error type that goes with a status (W-A75, W-C8).
pub fn error_kind(dialect: Dialect, status: u16) -> &'static str {
    match (dialect, status) {
        (Dialect::Anthropic, 401) => "authentication_error",
        (Dialect::Anthropic, 402) => "billing_error",
        (Dialect::Anthropic, 403) => "permission_error",
        (Dialect::Anthropic, 404) => "not_found_error",
        (Dialect::Anthropic, 409) => "conflict_error",
        (Dialect::Anthropic, 413) => "request_too_large",
        (Dialect::Anthropic, 429) => "rate_limit_error",
        (Dialect::Anthropic, 504) => "timeout_error",
        (Dialect::Anthropic, 529) => "overloaded_error",
        (Dialect::Anthropic, 500..) => "api_error",
        (Dialect::OpenaiChat, 429) => "requests",
        (Dialect::OpenaiChat, 500..) => "server_error",
        _ => "invalid_request_error",
    }
}

/// Arguments as the model wrote them: broken ones verbatim.
pub(super) fn raw_arguments(call: &Call) -> String {
    match &call.arguments {
        Arguments::Object { value } => Value::Object(value.clone()).to_string(),
        Arguments::Broken { raw, .. } => raw.clone(),
    }
}

fn pieces(text: &str, most: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for (count, c) in text.chars().enumerate() {
        if count > 0 && count % most.max(1) == 0 {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(c);
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}
