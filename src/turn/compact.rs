//! Compaction (C1–C3): where a transcript that has grown too long is cut, what a summariser is asked, and what stands in place of the turns
//! that were folded away.
//!
//! The facts of the folded turns come from the audit trail, each time anew and for all of them (C2); the summariser only retells what was
//! talked about, and is not believed.

use serde::{Deserialize, Serialize};

use super::conversation::Conversation;
use super::draft::Entry;
use super::message::{Block, Message};
use super::ports::Place;
use super::report;

/// The standing instructions of the summariser, which no other model call has.
pub const SUMMARISER: &str = "Retell this part of a conversation about a CV in a few sentences: what the user wanted, told and prefers. A record \
of all changes is kept elsewhere: list none, and call nothing done or undone. Answer with the retelling alone.";

/// The longest retelling that is kept, in characters.
pub const RETELLING_CHARS: usize = 2000;

/// What the summariser may write, in tokens.
pub const RETELLING_TOKENS: u32 = 2048;

/// The longest piece of the folded turns that the summariser is shown, in characters.
const PIECE_CHARS: usize = 600;

/// All of the pieces that it is shown, in bytes; the newest ones count.
const SHOWN_BYTES: usize = 48 * 1024;

/// Where a transcript is cut: always between two whole turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How many messages are folded.
    pub messages: usize,
    /// Where their summary goes: the place of the last of them.
    pub at: Place,
}

/// A fold in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fold {
    /// Where.
    pub cut: Cut,
    /// Every mutating call of all folded turns, as the audit trail has it (C2).
    pub entries: Vec<Entry>,
    /// What the summariser is asked.
    pub ask: Vec<Message>,
}

/// The cut that a conversation needs as a turn opens; `None` where it needs none, or has no turn to spare.
///
/// The current turn and the one before it always stay (C3), and as many more as fit into half of the budget, so that the next fold is not
/// due at once.
pub fn cut(conversation: &Conversation, budget: usize) -> Option<Cut> {
    let Conversation { messages, turns, next_seq, .. } = conversation;
    if budget == 0 || turns.len() != messages.len() || bytes(messages) <= budget {
        return None;
    }
    let opens: Vec<usize> = (0..messages.len()).filter(|place| matches!(messages[*place], Message::User { .. })).collect();
    let spare = opens.len().checked_sub(2)?;
    let may_cut = |place: &&usize| **place > 0 && turns[**place - 1] < turns[**place] && !has_calls(&messages[**place - 1]);
    let mut cuts = opens.get(1..=spare)?.iter().filter(may_cut);
    let fits = cuts.clone().find(|place| bytes(&messages[**place..]) <= budget / 2);
    let folded = *fits.or_else(|| cuts.next_back())?;
    let seq = next_seq.checked_sub((messages.len() - folded) as u32 + 1)?;
    Some(Cut { messages: folded, at: Place { turn: turns[folded - 1], seq } })
}

/// What counts against the budget: everything but what an earlier fold left.
fn bytes(messages: &[Message]) -> usize {
    messages.iter().filter(|message| !matches!(message, Message::Summary { .. })).map(Message::bytes).sum()
}

/// Calls whose results have not come yet belong to nobody's past (C1).
fn has_calls(message: &Message) -> bool {
    matches!(message, Message::Assistant { blocks, .. } if blocks.iter().any(|block| matches!(block, Block::Call(_))))
}

impl Fold {
    /// Of these messages, with what the audit trail holds of all turns up to the cut.
    pub fn new(cut: Cut, folded: &[Message], entries: Vec<Entry>) -> Self {
        let words = pieces_in_words(folded);
        Self { cut, entries, ask: vec![Message::User { report: None, words }] }
    }

    /// What stands in place of the folded turns. The facts are the trail's, whatever was retold (C2).
    pub fn summary(&self, retold: &str) -> Message {
        let through = self.cut.at.turn;
        let words = report::bounded(retold.trim(), RETELLING_CHARS);
        Message::Summary { through, facts: report::earlier_turns(through, &self.entries), words }
    }
}

/// The folded turns as one text, each piece bounded, the newest ones as far as they fit.
fn pieces_in_words(messages: &[Message]) -> String {
    let pieces: Vec<String> = messages.iter().flat_map(pieces_of).map(|piece| report::bounded(&piece, PIECE_CHARS)).collect();
    let mut room = SHOWN_BYTES;
    let fits = |piece: &&String| match room.checked_sub(piece.len() + 1) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let mut shown: Vec<&str> = pieces.iter().rev().take_while(fits).map(String::as_str).collect();
    shown.reverse();
    shown.join("\n")
}

/// What was said and called. Reports and corrections are the harness's own, and are not retold.
fn pieces_of(message: &Message) -> Vec<String> {
    match message {
        Message::User { words, .. } => vec![format!("User: {words}")],
        Message::Assistant { blocks, .. } => blocks.iter().filter_map(piece_of).collect(),
        Message::Results { results, .. } => results.iter().map(|result| format!("Result: {}", result.content)).collect(),
        Message::Summary { words, .. } if !words.is_empty() => vec![format!("Before that: {words}")],
        Message::Summary { .. } | Message::Correction { .. } => Vec::new(),
    }
}

fn piece_of(block: &Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(format!("Assistant: {text}")),
        Block::Call(call) => Some(format!("Call: {} {}", call.name, serde_json::Value::Object(call.arguments.object()))),
        Block::Thinking { .. } | Block::RedactedThinking { .. } => None,
    }
}
