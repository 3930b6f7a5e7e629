//! The transcript's values: what was said, called and answered, flat and in order (L3).
//!
//! What is stored is what came. Text that somebody other than the harness wrote is made harmless only where it is sent to a model
//! ([`crate::turn::report::defuse`], R4), so the author of every text can be told from its place here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::draft::CallKey;

/// One message of the stored transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The user's words, with the opening report of the previous turn at its head (L7).
    User {
        /// The harness's opening report; `None` only under a policy without reports.
        report: Option<String>,
        /// What the user wrote, as it came.
        words: String,
    },
    /// What the model replied: text, calls and thinking in the order they came (L3).
    Assistant {
        /// Never empty in a stored transcript.
        blocks: Vec<Block>,
        /// The reply's turn and iteration, as the key that its first call has: by it a call is known after a crash (L10).
        #[serde(default)]
        at: CallKey,
    },
    /// The results of the calls of the assistant message directly before, one each, in call order (L5), with the turn report (L6).
    Results {
        /// One result for each call.
        results: Vec<ToolResult>,
        /// The harness's turn report; `None` only under a policy without reports.
        report: Option<String>,
    },
    /// The harness's correction (B3), sent as a user message.
    Correction {
        /// Written by the harness.
        text: String,
    },
    /// What compaction kept of folded turns (C1, C2): it opens the transcript, ahead of a user message.
    Summary {
        /// The last turn that was folded.
        #[serde(default)]
        through: u32,
        /// Facts from the audit trail, written by the harness.
        facts: String,
        /// What a summariser retold, as it came but for its length: not trusted, and empty where it failed.
        #[serde(default)]
        words: String,
    },
}

impl Message {
    /// How much it weighs: the bytes of its texts, names and values.
    pub fn bytes(&self) -> usize {
        let told = |report: &Option<String>| report.as_ref().map_or(0, String::len);
        match self {
            Self::User { report, words } => told(report) + words.len(),
            Self::Assistant { blocks, .. } => blocks.iter().map(Block::bytes).sum(),
            Self::Results { results, report } => told(report) + results.iter().map(|result| result.content.len()).sum::<usize>(),
            Self::Correction { text } => text.len(),
            Self::Summary { facts, words, .. } => facts.len() + words.len(),
        }
    }
}

/// A piece of an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text that the user saw.
    Text {
        /// As streamed, character for character (L8).
        text: String,
    },
    /// A tool call.
    Call(Call),
    /// The model's reasoning: never shown, sent back unchanged.
    Thinking {
        /// As it came.
        text: String,
        /// The provider's signature; thinking without one is never sent back (W-A71).
        signature: Option<String>,
    },
    /// Reasoning that the provider encrypted: sent back unchanged.
    RedactedThinking {
        /// As it came.
        data: String,
    },
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Call(call) => call.name.len() + call.arguments.bytes(),
            Self::Thinking { text, signature } => text.len() + signature.as_ref().map_or(0, String::len),
            Self::RedactedThinking { data } => data.len(),
        }
    }
}

/// A tool call as the model made it. In the stored transcript its id is unique and matches `[A-Za-z0-9_-]{1,40}` (L5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The id that pairs the call with its result.
    pub id: String,
    /// The tool's name as the model wrote it; it need not exist.
    pub name: String,
    /// What the model handed over.
    pub arguments: Arguments,
}

/// The arguments of a call, parsed strictly once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Arguments {
    /// A JSON object.
    Object {
        /// Its members.
        value: Map<String, Value>,
    },
    /// Anything else: never executed, answered with an error result.
    Broken {
        /// What came, cut to a bounded length by the decoder.
        raw: String,
        /// In which way it is broken.
        why: BrokenArguments,
    },
}

impl Arguments {
    /// The object, or an empty one when broken (what history sends, W-F11).
    pub fn object(&self) -> Map<String, Value> {
        match self {
            Self::Object { value } => value.clone(),
            Self::Broken { .. } => Map::new(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Object { value } => value.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
            Self::Broken { raw, .. } => raw.len(),
        }
    }
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes_of).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// In which way arguments are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenArguments {
    /// The text does not parse as JSON.
    NotJson,
    /// JSON, but not an object.
    NotAnObject,
    /// The stream or the token limit ended before the arguments did.
    CutOff,
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call that it answers.
    pub call_id: String,
    /// The tool's name as the call had it.
    pub name: String,
    /// Text for the model: JSON in practice, bounded in length, written by a tool and so not trusted.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A whole reply of the model, as a decoder assembled it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Text, calls and thinking in the order they came.
    pub blocks: Vec<Block>,
    /// Why the provider says that it ended. Calls decide what happens next, not this (W-C74, W-D28).
    pub finish: Finish,
    /// Tokens as far as the provider told.
    pub usage: Usage,
}

impl Reply {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// All text, joined as it was streamed.
    pub fn text(&self) -> String {
        joined_text(&self.blocks)
    }
}

/// All text of some blocks, joined as it was streamed.
pub fn joined_text(blocks: &[Block]) -> String {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Why a reply ended, in the provider's view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "was", rename_all = "snake_case")]
pub enum Finish {
    /// Its natural end.
    #[default]
    Stop,
    /// It wants its calls answered.
    ToolCalls,
    /// The token limit (or the context window) cut it off.
    Length,
    /// The provider refused or filtered.
    Refusal,
    /// A reason that this version does not know.
    Other(String),
}

/// Tokens of one model call; `None` where the provider did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input: Option<u64>,
    /// Tokens written.
    pub output: Option<u64>,
}
