//! A conversation: what outlives a turn. One conversation runs one turn at a time (L14): a [`super::machine::Machine`] borrows it whole.

use serde::{Deserialize, Serialize};

use super::message::Message;
use super::pending::Pending;

/// What outlives a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Standing instructions to the model.
    pub system: String,
    /// Turns begun so far.
    pub turn: u32,
    /// The transcript (L3).
    pub messages: Vec<Message>,
    /// Unfinished work (P).
    pub pending: Pending,
    /// Pending entries made so far; the next one gets this number plus one.
    pub pending_made: u32,
}

impl Conversation {
    /// A conversation that has not begun.
    pub fn new(system: impl Into<String>) -> Self {
        Self { system: system.into(), ..Self::default() }
    }
}
