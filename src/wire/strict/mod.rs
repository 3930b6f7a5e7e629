//! The strict validator: which rules of the wire a request body breaks, where, what the provider would answer, and the mend.
//!
//! It works on raw bytes and knows nothing of the encoders, so that they are checked by another's eyes. Where sources disagree it is the
//! stricter one: an encoder of ours must never produce a contested shape.

mod anthropic;
mod anthropic_model;
mod anthropic_tools;
pub mod confidence;
mod headers;
mod openai_chat;
mod openai_fields;
mod profile;
mod quirks;
pub mod rules;
mod scan;

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::Dialect;
pub use headers::{Headers, check_headers};
pub use quirks::Quirk;
use rules::Rule;

/// Whom a request is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its dialect.
    pub dialect: Dialect,
    /// Refuses neighbours of one role, as compatible servers do (W-A17, W-C57). On for what our own encoders send.
    pub strict_roles: bool,
    /// What a compatible server refuses beyond that (section C.5). None at the vendors' own endpoints.
    pub quirks: BTreeSet<Quirk>,
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
        Self { dialect, strict_roles: true, quirks: BTreeSet::new() }
    }

    /// As the vendor's own endpoint takes it.
    pub fn vendor(dialect: Dialect) -> Self {
        Self { dialect, strict_roles: false, quirks: BTreeSet::new() }
    }

    /// The same endpoint behind a compatible server with these quirks.
    pub fn with(mut self, quirks: &[Quirk]) -> Self {
        self.quirks.extend(quirks);
        self
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
        let mut verdict = Verdict::of(self.endpoint.dialect);
        if !verdict.openai && body.len() > anthropic::MOST_BYTES {
            verdict.broke("W-A8", "body");
            return verdict;
        }
        let tools = scan::member(body, "tools");
        if let Some((mut request, bytes)) = tools.as_ref().and_then(|range| self.with_known_tools(body, range)) {
            self.examine(&mut verdict, &request, true);
            self.known_tools = request.get_mut("tools").map(|tools| (bytes, tools.take()));
            return verdict;
        }
        let Ok(mut request) = serde_json::from_slice::<Value>(body) else {
            verdict.broke(if verdict.openai { "W-C5" } else { "W-A12" }, "body");
            return verdict;
        };
        self.examine(&mut verdict, &request, false);
        if let (Some(range), Some(tools), true) = (tools, request.get_mut("tools"), verdict.is_accepted()) {
            self.known_tools = body.get(range).map(|bytes| (bytes.to_vec(), tools.take()));
        }
        verdict
    }

    /// Parses a body around the tools that are known already, and puts those in. `None` where they are others, where the rest does not
    /// parse, or where a later member of the same name hides them.
    fn with_known_tools(&mut self, body: &[u8], range: &Range<usize>) -> Option<(Value, Vec<u8>)> {
        const STAND_IN: &str = "\"tools that are known\"";
        let (bytes, tools) = self.known_tools.take_if(|(bytes, _)| body.get(range.clone()) == Some(bytes.as_slice()))?;
        let around = [body.get(..range.start)?, STAND_IN.as_bytes(), body.get(range.end..)?].concat();
        let mut request: Value = serde_json::from_slice(&around).ok()?;
        let place = request.get_mut("tools").filter(|value| value.as_str().is_some_and(|text| text == STAND_IN.trim_matches('"')))?;
        *place = tools;
        Some((request, bytes))
    }

    fn examine(&self, verdict: &mut Verdict, request: &Value, tools_are_known: bool) {
        match self.endpoint.dialect {
            Dialect::Anthropic => anthropic::check(verdict, &self.endpoint, request, tools_are_known),
            Dialect::OpenaiChat => openai_chat::check(verdict, &self.endpoint, request, tools_are_known),
        }
    }
}

impl Verdict {
    fn of(dialect: Dialect) -> Self {
        Self { openai: dialect == Dialect::OpenaiChat, ..Self::default() }
    }

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

    /// As [`Self::broke`], where the answer's `error.code` is another than the rule's usual one.
    fn broke_as(&mut self, code: Option<&'static str>, id: &str, place: impl Into<String>) {
        self.broke(id, place);
        if let Some(last) = self.violations.last_mut() {
            last.code = code;
        }
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
