//! How a turn ends: one normal way, and typed others (L2, B6), each with a receipt (U1) and a status made from facts alone (U2).

use serde::{Deserialize, Serialize};

use super::bounds::Oversize;
use super::draft::{Entry, RowChange};

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
pub enum Stop {
    /// The model replied without calls and the guard accepted, or its one correction is spent (L2).
    Replied,
    /// B1: the ceiling on iterations.
    Iterations,
    /// B2: the same tool failed in the same way too often.
    Strikes {
        /// The tool's name as the model wrote it.
        tool: String,
        /// The kind of failure.
        failure: String,
    },
    /// B4: the turn's time ran out.
    TimeLimit,
    /// B5: a reply was too large and was cut.
    Oversize {
        /// Which limit it broke.
        limit: Oversize,
    },
    /// The model said nothing, twice.
    Empty,
    /// The provider's token limit cut the final text off.
    Truncated,
    /// The provider refused or filtered the reply (W-F25).
    Refused,
    /// The stream broke after something was shown (L9, L11).
    Cut,
    /// L13: the user cancelled.
    Cancelled,
    /// L11: a model call failed for good.
    Provider {
        /// Short, for people.
        error: String,
    },
    /// The process died in the turn, which was closed afterwards from what is stored (L10).
    Died,
    /// The conversation's own store failed.
    Memory {
        /// Short, for people.
        error: String,
    },
}

/// The recorded status of a turn, from facts alone (U2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Rows of the domain changed.
    Changed,
    /// Nothing was tried.
    Unchanged,
    /// Tried, nothing applied.
    Attempted,
    /// A guard objected and the objection stands after its one correction (U3).
    Contested,
    /// A bound or a cancellation ended the turn (B).
    Bound,
    /// A fault ended the turn.
    Fault,
}

impl Status {
    /// U2: the status follows from why the turn stopped, whether an objection stands, and the receipt. Nothing else.
    pub fn of(stop: &Stop, contested: bool, receipt: &Receipt) -> Self {
        match stop {
            _ if contested => Self::Contested,
            Stop::Replied => {
                if receipt.rows().next().is_some() {
                    Self::Changed
                } else if receipt.entries.is_empty() {
                    Self::Unchanged
                } else {
                    Self::Attempted
                }
            }
            Stop::Iterations
            | Stop::Strikes { .. }
            | Stop::TimeLimit
            | Stop::Oversize { .. }
            | Stop::Empty
            | Stop::Truncated
            | Stop::Cancelled => Self::Bound,
            Stop::Refused | Stop::Cut | Stop::Died | Stop::Provider { .. } | Stop::Memory { .. } => Self::Fault,
        }
    }
}

/// The harness's own statement of what a turn changed (U1), made from the audit trail and the fates of the turn's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Every mutating call of the turn with its fate and rows.
    pub entries: Vec<Entry>,
    /// What earlier turns of the conversation changed, summed up; `None` where that could not be read.
    pub earlier: Option<Vec<Tally>>,
    /// The audit trail could not be read: of calls whose fate is not known, rows may be missing here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

impl Receipt {
    /// The rows of the domain that the turn changed (discarded pending entries are no rows).
    pub fn rows(&self) -> impl Iterator<Item = &RowChange> {
        self.entries.iter().flat_map(|entry| &entry.rows).filter(|row| row.act != super::draft::Act::Discard)
    }
}

/// How many rows of a section some turns created, updated or deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tally {
    /// What happened to the rows.
    pub act: super::draft::Act,
    /// Where.
    pub section: String,
    /// How many rows.
    pub count: u32,
}

/// What is recorded of a closed turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The turn, counted from 1.
    pub turn: u32,
    /// Why it ended.
    pub stop: Stop,
    /// From facts alone.
    pub status: Status,
    /// What the user saw of the model, character for character (L8).
    pub reply: String,
    /// Lines that the harness showed the user beside the reply (B6, U3).
    pub lines: Vec<String>,
    /// What changed.
    pub receipt: Receipt,
    /// Corrections that were sent.
    pub corrections: u32,
    /// Model replies.
    pub iterations: u32,
    /// Model calls, failed ones included.
    pub model_calls: u32,
    /// Judge calls.
    pub judge_calls: u32,
    /// Tokens read, as far as the provider told.
    pub tokens_in: u64,
    /// Tokens written, as far as the provider told.
    pub tokens_out: u64,
}
