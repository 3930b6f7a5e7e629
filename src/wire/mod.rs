//! Codecs: provider bytes to and from the loop's messages (W). Pure: no sockets, no clock, no files.
//!
//! What this room must not know: who is on the other end, the CV, the guards. Rules are those of the wire rules, written `W-A34`.

pub mod anthropic;
pub mod decode;
pub mod encode;
pub mod normalise;
pub mod openai_chat;
pub mod speak;
pub mod sse;
pub mod strict;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A provider's dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenaiChat,
}

impl Dialect {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenaiChat];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiChat => "openai-chat",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == name)
            .ok_or_else(|| format!("there is no dialect `{name}`; the dialects are anthropic, openai-chat"))
    }
}
