//! A finished run as plain data: all that the oracle is given.

use std::collections::BTreeSet;

use crate::turn::bounds::Settings;
use crate::turn::draft::{Act, CallKey, RowChange};
use crate::turn::event::Event;
use crate::turn::exit::TurnRecord;
use crate::turn::message::Message;
use crate::turn::pending::PendingEntry;

use super::changes::DbChange;
use super::claims::Label;

/// What the store can be asked for by the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// Storing a message.
    Append,
    /// Storing pending work.
    Pending,
    /// Recording a closed turn.
    Close,
    /// What one call committed.
    Find,
    /// Adding a fate.
    Settle,
    /// A turn's calls.
    Trail,
    /// What earlier turns changed.
    Sums,
    /// The calls of turns that are about to be folded.
    Folded,
    /// Storing a summary in place of folded turns.
    Fold,
}

/// A request as the provider got it, told by what is new in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    /// So many messages of the request before it, of whatever turn, stand unchanged at its head.
    pub kept: usize,
    /// What stands after them.
    pub new: Vec<Message>,
}

/// One turn of a run.
#[derive(Clone, Debug, Default)]
pub struct TurnFacts {
    /// The trace.
    pub events: Vec<Event>,
    /// The labels of each reply that was sent, in order of the model calls.
    pub said: Vec<Vec<Label>>,
    /// For each of those labels, after how many bytes of the reply's text it is said whole: of a reply that was cut off, a label counts that
    /// the user was shown whole. Where a label has none, it is said by a whole reply alone.
    pub said_at: Vec<Vec<usize>>,
    /// What each call changed.
    pub by_call: Vec<(CallKey, Vec<DbChange>)>,
    /// Whether every change was audited in its own transaction.
    pub audited_in_same_transaction: bool,
    /// The transcript in each request, in order of the model calls; not what a summariser was sent.
    pub sent: Vec<Sent>,
    /// What each request broke, by rule of the wire.
    pub violations: Vec<String>,
    /// Harness blocks found in each request, and how many of those the harness wrote.
    pub harness_blocks: Vec<(usize, usize)>,
    /// How long the turn took, in virtual milliseconds.
    pub elapsed_ms: u64,
    /// How far the clock jumped in that time, in milliseconds: no work of the turn's.
    pub jumped_ms: u64,
    /// What the store refused at least once in this turn, or answered too late.
    pub refused: BTreeSet<Port>,
    /// The process died in this turn.
    pub crashed: bool,
    /// What the user had asked for or approved when the turn began.
    pub authorised: Vec<(Act, String)>,
    /// Pending entries as they are stored after the turn.
    pub pending: Vec<PendingEntry>,
    /// The stored record of the turn.
    pub record: Option<TurnRecord>,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The limits it ran under.
    pub settings: Settings,
    /// Judge calls that one consultation of the policy can make.
    pub guard_calls: u32,
    /// `full` with a faithful judge: lies, stalls, false alarms and provoked writes are findings too.
    pub faithful: bool,
    /// Whether the policy has the state guard, whose rulings are then held against the table (I10).
    pub state_guard: bool,
    /// Whether the policy may withhold a nudge where a reader found nothing to object to (G4).
    pub withholds: bool,
    /// Whether the standing wish was met at the end of the fair phase; `None` where there was none.
    pub wish_met: Option<bool>,
    /// The user.
    pub user: i64,
    /// Text that only another user's rows hold.
    pub foreign_marker: String,
    /// The turns.
    pub turns: Vec<TurnFacts>,
    /// The stored transcript at the end.
    pub messages: Vec<Message>,
    /// The audit trail at the end.
    pub trail: Vec<(CallKey, RowChange)>,
    /// Wishes that were never met and that the user was never told of.
    pub lost_wishes: u32,
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// Which invariant, such as `I4`; or a measure that has to be zero.
    pub invariant: String,
    /// In which turn, counted from 1; 0 for the run.
    pub turn: u32,
    /// One sentence for a person.
    pub message: String,
}

impl TurnFacts {
    /// All rows that calls changed in this turn.
    pub fn changes(&self) -> impl Iterator<Item = &DbChange> {
        self.by_call.iter().flat_map(|(_, changes)| changes)
    }
}
