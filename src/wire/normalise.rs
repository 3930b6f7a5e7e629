//! One normaliser in front of both encoders: whatever the stored history looks like, what goes out is legal (C5, wire rules F).
//!
//! Stored history is not touched. The normaliser works message by message, forwards only, so that a message is encoded once.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::turn::message::{Block, Call, Message, ToolResult};
use crate::turn::report::defuse;

/// What of a message goes out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing<'m> {
    /// Texts of a user message; it merges with a user message before it (W-A17, W-C57).
    User(Vec<Cow<'m, str>>),
    /// An assistant message: never blank, never only thinking (W-A26, W-A32).
    Assistant(Vec<Piece<'m>>),
    /// The results of the calls of the assistant message before, then texts (W-A40, W-F1).
    Results(Vec<Answer<'m>>, Vec<Cow<'m, str>>),
}

/// A piece of an outgoing assistant message.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'m> {
    /// Text, made harmless (R4).
    Text(Cow<'m, str>),
    /// A call with a legal name, and an object for arguments (W-A47, W-F11, W-F22).
    Call {
        /// As stored: unique and legal.
        id: &'m str,
        /// Legal on the wire.
        name: Cow<'m, str>,
        /// Made harmless (R4).
        arguments: Map<String, Value>,
    },
    /// Signed thinking, unchanged (W-A70).
    Thinking {
        /// As it came.
        text: &'m str,
        /// As it came.
        signature: &'m str,
    },
    /// Encrypted thinking, unchanged.
    Redacted(&'m str),
}

/// An outgoing tool result.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'m> {
    /// Which call it answers.
    pub call_id: Cow<'m, str>,
    /// Made harmless (R4), never blank.
    pub content: Cow<'m, str>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// Goes through a transcript, forwards.
#[derive(Clone, Debug, Default)]
pub struct Normaliser {
    open: Vec<String>,
}

impl Normaliser {
    /// The next message of the transcript: nothing, one, or two outgoing ones (open calls are closed before anything else is said).
    pub fn next<'m>(&mut self, message: &'m Message) -> Vec<Outgoing<'m>> {
        if let Message::Results { results, report } = message {
            return self.results(results, report.as_deref());
        }
        let mut out: Vec<Outgoing<'m>> = self.close_open().into_iter().collect();
        out.extend(match message {
            Message::User { report, words } => {
                user(report.iter().map(|text| Cow::Borrowed(text.as_str())).chain([defuse(words)]))
            }
            Message::Correction { text } => user([Cow::Borrowed(text.as_str())]),
            Message::Summary { facts } => user([Cow::Borrowed(facts.as_str())]),
            Message::Assistant { blocks } => self.assistant(blocks),
            Message::Results { .. } => None,
        });
        out
    }

    /// What has to be said before a request may end here: open calls are closed.
    pub fn finish(&mut self) -> Option<Outgoing<'static>> {
        self.close_open()
    }

    fn assistant<'m>(&mut self, blocks: &'m [Block]) -> Option<Outgoing<'m>> {
        let pieces: Vec<Piece<'m>> = blocks.iter().filter_map(piece).collect();
        if !pieces.iter().any(|piece| matches!(piece, Piece::Text(_) | Piece::Call { .. })) {
            return None;
        }
        self.open = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Call { id, .. } => Some((*id).to_owned()),
                _ => None,
            })
            .collect();
        Some(Outgoing::Assistant(pieces))
    }

    /// One answer for each open call, in call order; orphans and duplicates are dropped, gaps closed (W-A34–A36, W-C24–C28).
    fn results<'m>(&mut self, results: &'m [ToolResult], report: Option<&'m str>) -> Vec<Outgoing<'m>> {
        let texts: Vec<Cow<'m, str>> = report.map(Cow::Borrowed).into_iter().collect();
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return if texts.is_empty() { Vec::new() } else { vec![Outgoing::User(texts)] };
        }
        let answers = open
            .into_iter()
            .map(|id| results.iter().find(|result| result.call_id == id).map_or_else(|| unanswered(id), answer))
            .collect();
        vec![Outgoing::Results(answers, texts)]
    }

    fn close_open(&mut self) -> Option<Outgoing<'static>> {
        let open = std::mem::take(&mut self.open);
        (!open.is_empty()).then(|| Outgoing::Results(open.into_iter().map(unanswered).collect(), Vec::new()))
    }
}

fn user<'m>(texts: impl IntoIterator<Item = Cow<'m, str>>) -> Option<Outgoing<'m>> {
    let texts: Vec<Cow<'m, str>> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then_some(Outgoing::User(texts))
}

fn piece(block: &Block) -> Option<Piece<'_>> {
    match block {
        Block::Text { text } => (!text.trim().is_empty()).then(|| Piece::Text(defuse(text))),
        Block::Call(Call { id, name, arguments }) => {
            let arguments = arguments.object().into_iter().map(|(key, value)| (key, harmless(value))).collect();
            Some(Piece::Call { id, name: legal_name(name), arguments })
        }
        Block::Thinking { text, signature } => signature.as_deref().map(|signature| Piece::Thinking { text, signature }),
        Block::RedactedThinking { data } => Some(Piece::Redacted(data)),
    }
}

fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => match defuse(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(text) => Value::String(text),
        },
        Value::Array(values) => Value::Array(values.into_iter().map(harmless).collect()),
        Value::Object(members) => Value::Object(members.into_iter().map(|(key, value)| (key, harmless(value))).collect()),
        value => value,
    }
}

/// W-F22: a name that no provider takes back is replaced on the wire; the transcript keeps the original.
fn legal_name(name: &str) -> Cow<'_, str> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=64).contains(&name.len()) && name.bytes().all(legal) {
        return Cow::Borrowed(name);
    }
    let mut mended: String = name.bytes().take(64).map(|b| if legal(b) { b as char } else { '_' }).collect();
    if mended.is_empty() {
        mended.push_str("unnamed");
    }
    Cow::Owned(mended)
}

fn answer(result: &ToolResult) -> Answer<'_> {
    let content = if result.content.trim().is_empty() { Cow::Borrowed("(empty)") } else { defuse(&result.content) };
    Answer { call_id: Cow::Borrowed(&result.call_id), content, is_error: result.is_error }
}

fn unanswered(call_id: String) -> Answer<'static> {
    Answer {
        call_id: Cow::Owned(call_id),
        content: Cow::Borrowed("interrupted: whether this call was carried out is not known from here; see the next report"),
        is_error: true,
    }
}
