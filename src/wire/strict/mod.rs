//! The strict validator: which rules of the wire a request body breaks, where, what the provider would answer, and the mend.
//!
//! It works on raw bytes and knows nothing of the encoders, so that they are checked by another's eyes. Where sources disagree it is the
//! stricter one: an encoder of ours must never produce a contested shape.

mod anthropic;
mod openai_chat;
pub mod rules;
mod scan;

use std::ops::Range;

use serde_json::{Value, json};

use super::Dialect;
use rules::Rule;

/// Whom a request is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its dialect.
    pub dialect: Dialect,
    /// Refuses neighbours of one role, as compatible servers do (W-A17, W-C57). On for what our own encoders send.
    pub strict_roles: bool,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its id, such as `W-A34`.
    pub rule: &'static str,
    /// Where in the body, such as `messages[2].content[0]`.
    pub place: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The answer's `error.type`.
    pub error_type: &'static str,
    /// OpenAI's `error.code`.
    pub code: Option<&'static str>,
    /// What is wrong, with the words by which clients tell it.
    pub message: String,
    /// What to change.
    pub mend: &'static str,
}

/// What a body breaks, in the order in which the provider would notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Broken rules.
    pub violations: Vec<Violation>,
    /// What is accepted today and may not be elsewhere.
    pub warnings: Vec<String>,
    openai: bool,
}

impl Endpoint {
    /// As our own encoders are held to it.
    pub fn ours(dialect: Dialect) -> Self {
        Self { dialect, strict_roles: true }
    }

    /// As the vendor's own endpoint takes it.
    pub fn vendor(dialect: Dialect) -> Self {
        Self { dialect, strict_roles: false }
    }
}

/// Checks a request body.
pub fn check(endpoint: &Endpoint, body: &[u8]) -> Verdict {
    Checker::new(endpoint.clone()).check(body)
}

/// Checks the requests of a conversation: a tool list that was found good is not read again while its bytes stay the same.
#[derive(Clone, Debug)]
pub struct Checker {
    /// Whom the requests are meant for.
    pub endpoint: Endpoint,
    known_tools: Option<(Vec<u8>, Value)>,
}

impl Checker {
    /// For this endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, known_tools: None }
    }

    /// Checks a request body.
    pub fn check(&mut self, body: &[u8]) -> Verdict {
        let tools = scan::member(body, "tools");
        let known = tools.clone().and_then(|range| self.known_tools.take_if(|(bytes, _)| body.get(range) == Some(bytes.as_slice())));
        let mut verdict = Verdict { openai: self.endpoint.dialect == Dialect::OpenaiChat, ..Verdict::default() };
        let Some(mut request) = self.read(&mut verdict, body, known.as_ref().and(tools.as_ref())) else { return verdict };
        let is_known = known.is_some();
        if let Some((bytes, value)) = known {
            request["tools"] = value;
            self.examine(&mut verdict, &request, true);
            self.known_tools = Some((bytes, request["tools"].take()));
            return verdict;
        }
        self.examine(&mut verdict, &request, is_known);
        if let (Some(range), true) = (tools, verdict.is_accepted()) {
            self.known_tools = Some((body[range].to_vec(), request["tools"].take()));
        }
        verdict
    }

    /// Parses a body, without the tools that are known already.
    fn read(&self, verdict: &mut Verdict, body: &[u8], leave_out: Option<&Range<usize>>) -> Option<Value> {
        if self.endpoint.dialect == Dialect::Anthropic && body.len() > anthropic::MOST_BYTES {
            verdict.broke("W-A8", "body");
            return None;
        }
        let parsed = match leave_out {
            Some(range) => serde_json::from_slice(&[&body[..range.start], b"[]", &body[range.end..]].concat()),
            None => serde_json::from_slice(body),
        };
        if parsed.is_err() {
            verdict.broke(if verdict.openai { "W-C5" } else { "W-A12" }, "body");
        }
        parsed.ok()
    }

    fn examine(&self, verdict: &mut Verdict, request: &Value, tools_are_known: bool) {
        match self.endpoint.dialect {
            Dialect::Anthropic => anthropic::check(verdict, &self.endpoint, request, tools_are_known),
            Dialect::OpenaiChat => openai_chat::check(verdict, &self.endpoint, request, tools_are_known),
        }
    }
}

impl Verdict {
    /// Whether the provider would take it.
    pub fn is_accepted(&self) -> bool {
        self.violations.is_empty()
    }

    /// Status and body of the provider's answer, for the first broken rule.
    pub fn refusal(&self) -> Option<(u16, Vec<u8>)> {
        let first = self.violations.first()?;
        let body = if self.openai {
            json!({ "error": { "message": first.message, "type": first.error_type, "param": first.place, "code": first.code } })
        } else {
            json!({ "type": "error", "error": { "type": first.error_type, "message": first.message }, "request_id": "req_strict" })
        };
        Some((first.status, body.to_string().into_bytes()))
    }

    fn broke(&mut self, id: &str, place: impl Into<String>) {
        let place = place.into();
        let Rule { id, status, error_type, code, says, mend, .. } = *rules::by_id(id);
        let message = format!("{place}: {says}");
        self.violations.push(Violation { rule: id, place, status, error_type, code, message, mend });
    }

    fn hold(&mut self, holds: bool, id: &str, place: impl Into<String>) {
        if !holds {
            self.broke(id, place);
        }
    }
}

/// Members that an object may not have.
fn unknown_members<'v>(value: &'v Value, known: &[&str]) -> Vec<&'v str> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).filter(|key| !known.contains(key)).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_name(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
