//! The guard port: who looks at a turn that wants to end, and what it may say.
//!
//! The machine decides what a ruling leads to (B3, G1, J10); the guard only rules. A guard never sees the transcript's machinery, and
//! the state guard looks at [`View::draft`] and [`View::pending`] alone.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::exit::Tally;
use super::pending::Pending;

/// What a guard is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// All that the user saw of the model this turn, joined.
    pub reply: &'a str,
    /// The part of it that came with the last model reply: where a turn "ends on a promise".
    pub closing: &'a str,
    /// The turn's calls and fates.
    pub draft: &'a Draft,
    /// Unfinished work.
    pub pending: &'a Pending,
    /// What earlier turns changed, summed up from the audit trail.
    pub earlier: &'a [Tally],
    /// J10: the look after the turn's one correction. Nothing more will be corrected.
    pub second_look: bool,
}

/// What a guard says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ruling", rename_all = "snake_case")]
pub enum Ruling {
    /// The turn may end.
    Accept,
    /// It may not, or not uncontested.
    Object(Objection),
}

/// What a guard objects to. The harness words the correction; a guard hands over facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objection {
    /// Which guard: `state`, `completion`, or a policy's own name.
    pub guard: String,
    /// What about.
    #[serde(flatten)]
    pub about: About,
}

/// The matter of an objection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// G: an entry is unfinished and nothing was tried.
    Unfinished {
        /// The section of the entry.
        section: String,
    },
    /// J7: claims without backing, each in a few words.
    Unbacked {
        /// Such as `created experiences ×2`; empty where the guard cannot tell them apart.
        claims: Vec<String>,
    },
    /// J3: promised but not delivered.
    Promised,
    /// J8: a failure was reported that the trail does not know.
    FalseFailure {
        /// Such as `created experiences`.
        claims: Vec<String>,
    },
    /// A policy's own words (X8).
    Custom {
        /// Made harmless and bounded before it is sent.
        text: String,
    },
}

/// A guard's answer, with what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Consulted {
    /// What it says.
    pub ruling: Ruling,
    /// Judge calls it made.
    pub judge_calls: u32,
    /// Tokens those read and wrote.
    pub judge_tokens: u64,
    /// For the trace: what the guard saw and why it ruled so, in a few words.
    pub why: String,
}

impl Consulted {
    /// An acceptance that cost nothing.
    pub fn accept(why: impl Into<String>) -> Self {
        Self { ruling: Ruling::Accept, judge_calls: 0, judge_tokens: 0, why: why.into() }
    }
}
