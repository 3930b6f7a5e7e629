//! One normaliser in front of both encoders: whatever the stored history looks like, what goes out is legal (C5, wire rules F).
//!
//! Stored history is not touched. The normaliser works message by message, forwards only, so that a message is encoded once.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::turn::message::{Arguments, Block, Call, Message, ToolResult};
use crate::turn::report::{defuse, retelling};

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
        /// Unique over the whole request and legal for both providers (W-A37, W-A38, W-C34); as stored wherever that is both.
        id: Cow<'m, str>,
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
    /// Which call it answers, by the id that was sent.
    pub call_id: String,
    /// Made harmless (R4), never blank.
    pub content: Cow<'m, str>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// Goes through a transcript, forwards.
#[derive(Clone, Debug, Default)]
pub struct Normaliser {
    open: Vec<OpenCall>,
    sent: BTreeSet<String>,
    minted: u32,
}

/// A call that has no answer yet.
#[derive(Clone, Debug)]
struct OpenCall {
    stored: String,
    sent: String,
}

impl Normaliser {
    /// The next message of the transcript: nothing, one, or two outgoing ones (open calls are closed before anything else is said).
    pub fn next<'m>(&mut self, message: &'m Message) -> Vec<Outgoing<'m>> {
        if let Message::Results { results, report } = message {
            return self.results(results, report.as_deref());
        }
        let mut out: Vec<Outgoing<'m>> = self.close_open().into_iter().collect();
        out.extend(match message {
            Message::User { report, words } => user(report.iter().map(|text| Cow::Borrowed(text.as_str())).chain([defuse(words)])),
            Message::Correction { text } => user([Cow::Borrowed(text.as_str())]),
            Message::Summary { facts, words, .. } => {
                user([Cow::Borrowed(facts.as_str())].into_iter().chain(retelling(words).map(Cow::Owned)))
            }
            Message::Assistant { blocks, .. } => self.assistant(blocks),
            Message::Results { .. } => None,
        });
        out
    }

    /// What has to be said before a request may end here: open calls are closed.
    pub fn finish(&self) -> Option<Outgoing<'static>> {
        closed(self.open.clone())
    }

    fn assistant<'m>(&mut self, blocks: &'m [Block]) -> Option<Outgoing<'m>> {
        let mut pieces: Vec<Piece<'m>> = Vec::new();
        for block in blocks {
            match block {
                Block::Text { text } => put_text(&mut pieces, text),
                Block::Call(call) => pieces.push(self.call(call)),
                Block::Thinking { text, signature } => pieces.extend(signed(text, signature.as_deref())),
                Block::RedactedThinking { data } => pieces.extend((!data.is_empty()).then_some(Piece::Redacted(data))),
            }
        }
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()));
        // W-A32: thinking is never last; a message of nothing else is gone with it.
        while pieces.pop_if(|piece| matches!(piece, Piece::Thinking { .. } | Piece::Redacted(_))).is_some() {}
        (!pieces.is_empty()).then_some(Outgoing::Assistant(pieces))
    }

    fn call<'m>(&mut self, call: &'m Call) -> Piece<'m> {
        let id =
            if is_legal_id(&call.id) && !self.sent.contains(&call.id) { Cow::Borrowed(call.id.as_str()) } else { Cow::Owned(self.mint()) };
        self.sent.insert(id.clone().into_owned());
        self.open.push(OpenCall { stored: call.id.clone(), sent: id.clone().into_owned() });
        let arguments = match &call.arguments {
            Arguments::Object { value } => harmless_members(value),
            Arguments::Broken { .. } => Map::new(),
        };
        Piece::Call { id, name: legal_name(&call.name), arguments }
    }

    /// An id that was not sent yet, for a call whose stored one cannot be.
    fn mint(&mut self) -> String {
        loop {
            self.minted += 1;
            let id = format!("call_mended_{}", self.minted);
            if !self.sent.contains(&id) {
                return id;
            }
        }
    }

    /// One answer for each open call, in call order; orphans and duplicates are dropped, gaps closed (W-A34–A36, W-C24–C28).
    fn results<'m>(&mut self, results: &'m [ToolResult], report: Option<&'m str>) -> Vec<Outgoing<'m>> {
        let texts: Vec<Cow<'m, str>> = report.filter(|text| !text.trim().is_empty()).map(Cow::Borrowed).into_iter().collect();
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return if texts.is_empty() { Vec::new() } else { vec![Outgoing::User(texts)] };
        }
        let mut left: Vec<&'m ToolResult> = results.iter().collect();
        let answers = open
            .into_iter()
            .map(|call| match left.iter().position(|result| result.call_id == call.stored) {
                Some(place) => answer(left.remove(place), call.sent),
                None => unanswered(call),
            })
            .collect();
        vec![Outgoing::Results(answers, texts)]
    }

    fn close_open(&mut self) -> Option<Outgoing<'static>> {
        closed(std::mem::take(&mut self.open))
    }
}

fn closed(open: Vec<OpenCall>) -> Option<Outgoing<'static>> {
    (!open.is_empty()).then(|| Outgoing::Results(open.into_iter().map(unanswered).collect(), Vec::new()))
}

fn user<'m>(texts: impl IntoIterator<Item = Cow<'m, str>>) -> Option<Outgoing<'m>> {
    let texts: Vec<Cow<'m, str>> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then_some(Outgoing::User(texts))
}

/// Text next to text is one text, so that no imitation of the harness hides in the gap (R4).
fn put_text<'m>(pieces: &mut Vec<Piece<'m>>, text: &'m str) {
    match pieces.last_mut() {
        Some(Piece::Text(so_far)) => *so_far = Cow::Owned(defuse(&format!("{so_far}{text}")).into_owned()),
        _ => pieces.push(Piece::Text(defuse(text))),
    }
}

/// W-A71: thinking goes back signed or not at all.
fn signed<'m>(text: &'m str, signature: Option<&'m str>) -> Option<Piece<'m>> {
    signature.filter(|signature| !signature.is_empty()).map(|signature| Piece::Thinking { text, signature })
}

fn harmless_members(members: &Map<String, Value>) -> Map<String, Value> {
    members.iter().map(|(key, value)| (defuse(key).into_owned(), harmless(value))).collect()
}

fn harmless(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(defuse(text).into_owned()),
        Value::Array(values) => Value::Array(values.iter().map(harmless).collect()),
        Value::Object(members) => Value::Object(harmless_members(members)),
        value => value.clone(),
    }
}

/// What both providers take as an id (W-F15).
fn is_legal_id(id: &str) -> bool {
    (1..=40).contains(&id.len()) && id.bytes().all(is_name_byte)
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// W-F22: a name that no provider takes back is replaced on the wire; the transcript keeps the original.
fn legal_name(name: &str) -> Cow<'_, str> {
    if (1..=64).contains(&name.len()) && name.bytes().all(is_name_byte) {
        return Cow::Borrowed(name);
    }
    let mut mended: String = name.bytes().take(64).map(|b| if is_name_byte(b) { b as char } else { '_' }).collect();
    if mended.is_empty() {
        mended.push_str("unnamed");
    }
    Cow::Owned(mended)
}

fn answer(result: &ToolResult, call_id: String) -> Answer<'_> {
    let content = if result.content.trim().is_empty() { Cow::Borrowed("(empty)") } else { defuse(&result.content) };
    Answer { call_id, content, is_error: result.is_error }
}

fn unanswered(call: OpenCall) -> Answer<'static> {
    Answer {
        call_id: call.sent,
        content: Cow::Borrowed("interrupted: the fate of this call is not known from the transcript"),
        is_error: true,
    }
}
