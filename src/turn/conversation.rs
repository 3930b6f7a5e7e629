//! A conversation: what outlives a turn. One conversation runs one turn at a time (L14): a [`super::machine::Machine`] borrows it whole.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::draft::Entry;
use super::message::{Block, Message};
use super::pending::Pending;

/// What outlives a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Standing instructions to the model.
    pub system: String,
    /// Turns begun so far.
    pub turn: u32,
    /// The last turn whose user message is stored: the one that the next opening report tells of (L7).
    #[serde(default)]
    pub spoken: u32,
    /// That turn was never closed: the process died in it (L10).
    #[serde(default)]
    pub unclosed: bool,
    /// The number that the next stored message gets.
    #[serde(default)]
    pub next_seq: u32,
    /// The transcript (L3).
    pub messages: Vec<Message>,
    /// The turn that each message belongs to; of a summary, the last one folded. Where it does not match the transcript, nothing is folded.
    #[serde(default)]
    pub turns: Vec<u32>,
    /// Unfinished work (P).
    pub pending: Pending,
    /// They stand otherwise in the store, which refused them; they are stored again as the next turn opens (P5).
    #[serde(default)]
    pub pending_unstored: bool,
    /// Calls whose fate the trail refused; it is added again as the next turn opens (C4).
    #[serde(default)]
    pub unsettled: Vec<Entry>,
    /// Pending entries made so far; the next one gets this number plus one.
    pub pending_made: u32,
    /// The id of every call in the transcript (L5).
    #[serde(default)]
    pub ids: BTreeSet<String>,
}

impl Conversation {
    /// A conversation that has not begun.
    pub fn new(system: impl Into<String>) -> Self {
        Self { system: system.into(), ..Self::default() }
    }

    /// A conversation as it was stored. Its ids are gathered from its messages.
    pub fn restored(mut self) -> Self {
        self.ids = self.messages.iter().flat_map(ids_of).collect();
        self
    }

    /// L5: an id that no call of this conversation has had.
    pub(super) fn fresh_id(&self, turn: u32, iteration: u32, index: u32) -> String {
        let mut id = format!("call_{turn}_{iteration}_{index}");
        while self.ids.contains(&id) {
            id.push('_');
        }
        id
    }
}

fn ids_of(message: &Message) -> Vec<String> {
    let Message::Assistant { blocks, .. } = message else { return Vec::new() };
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Call(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect()
}
