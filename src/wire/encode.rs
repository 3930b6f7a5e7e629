//! The request encoder. Append-only: a message is encoded once, and each further request copies the kept bytes.

use std::borrow::Cow;

use serde_json::Value;

use crate::turn::message::Message;
use crate::turn::ports::{Prompt, ToolSpec};

use super::Dialect;
use super::normalise::{Normaliser, Outgoing};
use super::{anthropic, openai_chat};

/// Encodes the requests of one conversation.
#[derive(Clone, Debug)]
pub struct Encoder {
    dialect: Dialect,
    model: String,
    tools: Option<(Vec<ToolSpec>, Vec<u8>)>,
    history: History,
}

/// The bytes of all messages so far, without the brackets around them.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Encoded messages, joined by commas.
    pub bytes: Vec<u8>,
    /// Where, in `bytes`, more text can be put into a trailing user message; `None` where the last message is another.
    pub open_user: Option<usize>,
    taken: usize,
    head: Option<Message>,
    normaliser: Normaliser,
    last_is_assistant: bool,
}

impl Encoder {
    /// For a conversation with this model.
    pub fn new(dialect: Dialect, model: impl Into<String>) -> Self {
        Self { dialect, model: model.into(), tools: None, history: History::default() }
    }

    /// Forgets what was encoded: call it where a transcript was replaced. One that got shorter, or opens with another message, as it does
    /// after compaction (C1), is noticed without.
    pub fn reset(&mut self) {
        self.history = History::default();
    }

    /// The body of a request.
    pub fn request(&mut self, prompt: &Prompt<'_>) -> Vec<u8> {
        if prompt.messages.len() < self.history.taken || self.history.taken > 0 && prompt.messages.first() != self.history.head.as_ref() {
            self.reset();
        }
        for message in &prompt.messages[self.history.taken..] {
            self.history.push(self.dialect, message);
        }
        let mut body = Vec::with_capacity(self.history.bytes.len() + 4096);
        body.extend_from_slice(b"{\"model\":");
        put(&mut body, &self.model);
        match self.dialect {
            Dialect::Anthropic => anthropic::put_envelope(&mut body, prompt),
            Dialect::OpenaiChat => openai_chat::put_envelope(&mut body, prompt),
        }
        self.put_tools(&mut body, prompt.tools);
        self.put_messages(&mut body, prompt);
        body.push(b'}');
        body
    }

    fn put_tools(&mut self, body: &mut Vec<u8>, tools: &[ToolSpec]) {
        if tools.is_empty() {
            return;
        }
        if self.tools.as_ref().is_none_or(|(known, _)| known != tools) {
            let list: Vec<Value> = tools
                .iter()
                .map(|tool| match self.dialect {
                    Dialect::Anthropic => anthropic::tool(tool),
                    Dialect::OpenaiChat => openai_chat::tool(tool),
                })
                .collect();
            self.tools = Some((tools.to_vec(), Value::Array(list).to_string().into_bytes()));
        }
        body.extend_from_slice(b",\"tools\":");
        body.extend(self.tools.iter().flat_map(|(_, bytes)| bytes));
        // L1: the model may always answer with text.
        body.extend_from_slice(match self.dialect {
            Dialect::Anthropic => b",\"tool_choice\":{\"type\":\"auto\"}".as_slice(),
            Dialect::OpenaiChat => b",\"tool_choice\":\"auto\"",
        });
    }

    fn put_messages(&self, body: &mut Vec<u8>, prompt: &Prompt<'_>) {
        body.extend_from_slice(b",\"messages\":[");
        if self.dialect == Dialect::OpenaiChat && openai_chat::put_system(body, prompt) {
            body.push(b',');
        }
        body.extend_from_slice(&self.history.bytes);
        self.put_ending(body);
        body.push(b']');
    }

    /// W-F20: a request ends on a user message or on results, whatever the transcript ends on.
    fn put_ending(&self, body: &mut Vec<u8>) {
        let mut rest = History::default();
        if let Some(results) = self.history.normaliser.finish() {
            rest.put(self.dialect, &results);
        } else if self.history.bytes.is_empty() || self.history.last_is_assistant {
            rest.put(self.dialect, &Outgoing::User(vec![Cow::Borrowed("(go on)")]));
        }
        if !rest.bytes.is_empty() {
            if !self.history.bytes.is_empty() {
                body.push(b',');
            }
            body.extend_from_slice(&rest.bytes);
        }
    }
}

impl History {
    fn push(&mut self, dialect: Dialect, message: &Message) {
        if self.taken == 0 {
            self.head = Some(message.clone());
        }
        self.taken += 1;
        let mut normaliser = std::mem::take(&mut self.normaliser);
        for outgoing in normaliser.next(message) {
            self.put(dialect, &outgoing);
        }
        self.normaliser = normaliser;
    }

    fn put(&mut self, dialect: Dialect, outgoing: &Outgoing<'_>) {
        let is_assistant = matches!(outgoing, Outgoing::Assistant(_));
        if is_assistant && self.bytes.is_empty() {
            // W-A18: the first message is a user one.
            self.put(dialect, &Outgoing::User(vec![Cow::Borrowed("(the conversation goes on)")]));
        }
        if is_assistant && self.last_is_assistant {
            self.put(dialect, &Outgoing::User(vec![Cow::Borrowed("(go on)")]));
        }
        match dialect {
            Dialect::Anthropic => anthropic::put(self, outgoing),
            Dialect::OpenaiChat => openai_chat::put(self, outgoing),
        }
        self.last_is_assistant = is_assistant;
    }

    /// Begins a new message.
    pub(super) fn separate(&mut self) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.open_user = None;
    }

    /// Puts bytes where the trailing user message takes more.
    pub(super) fn insert(&mut self, at: usize, bytes: &[u8]) {
        let tail = self.bytes.split_off(at);
        self.bytes.extend_from_slice(bytes);
        self.open_user = Some(self.bytes.len());
        self.bytes.extend_from_slice(&tail);
    }
}

/// A JSON string.
pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing a string into memory cannot fail");
}

/// A JSON string without its quotes.
pub(super) fn put_inner(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    put(out, text);
    out.remove(start);
    out.pop();
}
