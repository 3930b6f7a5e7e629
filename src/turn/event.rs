//! The trace: a closed set of typed events, the same for simulation and for a real conversation. Everything that reports reads it.

use serde::{Deserialize, Serialize};

use super::draft::{Act, CallKey, Fate, RowChange};
use super::exit::{Receipt, TurnRecord};
use super::guard::{Consulted, Objection};
use super::message::{Call, Message, Reply, ToolResult, Usage};
use super::pending::PendingEntry;
use super::ports::{Outcome, Verdict};

/// One step of a turn that somebody may want to know of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn began.
    TurnOpened {
        /// Counted from 1.
        turn: u32,
        /// The user's words.
        words: String,
        /// L7: the opening report.
        report: Option<String>,
    },
    /// A model call went out.
    Asked {
        /// Counted from 1.
        iteration: u32,
        /// The try, counted from 1.
        attempt: u32,
        /// P3: the pending block at its top.
        pending: Option<String>,
    },
    /// Text reached the user.
    Text {
        /// As streamed.
        text: String,
    },
    /// A reply came in whole. Its ids are those that are stored (L5).
    Replied {
        /// Counted from 1.
        iteration: u32,
        /// As decoded, ids mended.
        reply: Reply,
    },
    /// A model call failed or was cut.
    ReplyFailed {
        /// Counted from 1.
        iteration: u32,
        /// The try, counted from 1.
        attempt: u32,
        /// Short, for people.
        error: String,
        /// Whether it will be tried again.
        retry: bool,
    },
    /// A call is about to run.
    CallStarted {
        /// Which call.
        key: CallKey,
        /// As stored.
        call: Call,
    },
    /// A call came back.
    CallEnded {
        /// Which call.
        key: CallKey,
        /// What the tool said.
        outcome: Outcome,
    },
    /// A verifier answered (V1).
    Verified {
        /// Which call.
        key: CallKey,
        /// What it found.
        verdict: Verdict,
    },
    /// The fate of a mutating call stands.
    Settled {
        /// Which call.
        key: CallKey,
        /// The tool's name.
        tool: String,
        /// What it meant to do.
        act: Act,
        /// Where.
        section: String,
        /// What became of it.
        fate: Fate,
        /// What the audit trail says changed.
        rows: Vec<RowChange>,
    },
    /// The result that the model will read.
    Resulted {
        /// Which call.
        key: CallKey,
        /// As stored.
        result: ToolResult,
    },
    /// Pending work changed.
    PendingChanged {
        /// All entries after the change.
        entries: Vec<PendingEntry>,
    },
    /// A message was stored.
    Stored {
        /// As stored.
        message: Message,
    },
    /// A summariser was asked to retell turns that are about to be folded (C1).
    SummaryAsked {
        /// The last of them.
        through: u32,
    },
    /// What the summariser retold: shown to nobody, believed by nobody.
    Summarised {
        /// As it came; empty where it failed.
        words: String,
        /// Why it failed or was cut, short and for people.
        error: Option<String>,
        /// Tokens, as far as the provider told.
        usage: Usage,
    },
    /// Old turns were folded (C1): the summary stands in their place.
    Folded {
        /// The last of them.
        through: u32,
        /// How many messages it stands for.
        messages: u32,
        /// As stored.
        summary: Message,
    },
    /// What became of a call that an earlier turn left open: the database was asked (L10).
    Recovered {
        /// Which call.
        key: CallKey,
        /// The tool's name.
        tool: String,
        /// What it meant to do.
        act: Act,
        /// Where.
        section: String,
        /// What became of it.
        fate: Fate,
        /// What the audit trail says changed.
        rows: Vec<RowChange>,
    },
    /// A turn that died is closed, and its receipt delivered late (L10, U1).
    TurnRecovered {
        /// What is recorded of it.
        record: TurnRecord,
        /// As rendered for the user; not under a policy without receipts.
        text: Option<String>,
    },
    /// The guard ruled.
    Ruled {
        /// What it said and what it cost.
        consulted: Consulted,
        /// J10: whether it was the look after the correction.
        second_look: bool,
    },
    /// A correction is being sent (B3).
    Corrected {
        /// Why.
        objection: Objection,
        /// What the model will read.
        text: String,
    },
    /// The harness said something to the user (B6, U3).
    Line {
        /// Never the model's text.
        text: String,
    },
    /// The receipt was delivered (U1); not under a policy without receipts.
    Receipt {
        /// What changed.
        receipt: Receipt,
        /// As rendered for the user.
        text: String,
    },
    /// The turn is closed and recorded.
    TurnClosed {
        /// What is recorded.
        record: TurnRecord,
    },
}
