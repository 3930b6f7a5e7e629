//! What an earlier turn left behind (L10, L5, C4): calls without results, commits without a fate, a turn that was never closed. The
//! database is asked about each before anything new is said, and the user gets the receipt that the dead turn could not give (U1).
//!
//! It makes no difference here whether the process died or the store failed: what counts is what is stored.

use crate::turn::draft::{CallKey, Entry};
use crate::turn::event::Event;
use crate::turn::exit::{Receipt, Status, Stop, Tally, TurnRecord};
use crate::turn::message::{Block, Call, Message, joined_text};
use crate::turn::ports::Audited;
use crate::turn::report;

use super::calls::CallAtHand;
use super::{Machine, Phase, Save, entry_of};

impl Machine<'_> {
    /// The trail of the turn before this one. What is open in it is closed first, and then the trail is read again.
    pub(super) fn look_back(&mut self, trail: Vec<Audited>) {
        // What was added all the same, its answer lost, is refused no more.
        let added = |entry: &Entry| trail.iter().any(|audited| audited.committed.key == entry.key && audited.fate.is_some());
        self.conversation.unsettled.retain(|entry| !added(entry));
        if self.turn.looked_back.is_none() {
            self.turn.looked_back = Some(self.conversation.spoken);
            self.turn.lost = self.lost_calls(&trail).into();
            if !self.turn.lost.is_empty() {
                return self.next_lost();
            }
        }
        let entries: Vec<Entry> = trail.into_iter().map(entry_of).collect();
        if self.conversation.unclosed {
            self.turn.phase = Phase::SummingLost(entries);
        } else {
            self.open_turn(&entries);
        }
    }

    /// Calls at the end of the transcript that have no result, in order; then fates that the trail refused; then commits that were answered
    /// and have no fate.
    fn lost_calls(&self, trail: &[Audited]) -> Vec<CallAtHand> {
        let refused = &self.conversation.unsettled;
        let fated = |key: CallKey| {
            let told = trail.iter().find(|audited| audited.committed.key == key && audited.fate.is_some());
            refused.iter().find(|entry| entry.key == key).cloned().or_else(|| told.cloned().map(entry_of))
        };
        let unanswered = |(key, call): (CallKey, Call)| {
            let target = self.target_of(&call);
            CallAtHand::unanswered(key, call, target, fated(key))
        };
        let mut lost: Vec<CallAtHand> = self.dangling_calls().into_iter().map(unanswered).collect();
        let again = refused.iter().filter(|entry| lost.iter().all(|call| call.key() != entry.key)).cloned();
        let again: Vec<CallAtHand> = again.map(CallAtHand::refused).collect();
        lost.extend(again);
        let open = |audited: &&Audited| audited.fate.is_none() && lost.iter().all(|call| call.key() != audited.committed.key);
        let unsettled: Vec<CallAtHand> =
            trail.iter().filter(open).map(|audited| CallAtHand::unsettled(audited.committed.clone())).collect();
        lost.extend(unsettled);
        lost
    }

    fn dangling_calls(&self) -> Vec<(CallKey, Call)> {
        let Some(Message::Assistant { blocks, at }) = self.conversation.messages.last() else { return Vec::new() };
        let calls = blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call.clone()),
            _ => None,
        });
        (0..).zip(calls).map(|(index, call)| (CallKey { index, ..*at }, call)).collect()
    }

    /// Takes up the next of them; after the last one, the results that were owed are stored, and the trail is read again.
    pub(super) fn next_lost(&mut self) {
        if let Some(at_hand) = self.turn.lost.pop_front() {
            self.turn.phase = Phase::Calling(Box::new(at_hand));
            return;
        }
        self.turn.phase = Phase::Recalling;
        let results = std::mem::take(&mut self.turn.results);
        if !results.is_empty() {
            self.turn.saves.push_back(Save::Message(Message::Results { results, report: None }));
        }
    }

    /// The turn that was never closed gets its record and its receipt. The user is told first: better twice than never.
    pub(super) fn close_the_lost(&mut self, entries: Vec<Entry>, sums: Vec<Tally>) {
        let turn = self.conversation.spoken;
        let replies: Vec<String> = self.conversation.messages.iter().filter_map(|message| text_of(message, turn)).collect();
        self.open_turn(&entries);
        let receipt = Receipt { entries, earlier: Some(sums), unread: false };
        let record = TurnRecord {
            turn,
            status: Status::of(&Stop::Died, false, &receipt),
            lines: report::stop_line(&Stop::Died).into_iter().collect(),
            stop: Stop::Died,
            receipt,
            corrections: 0,
            iterations: replies.len() as u32,
            model_calls: replies.len() as u32,
            reply: replies.concat(),
            judge_calls: 0,
            tokens_in: 0,
            tokens_out: 0,
        };
        let text = self.settings.parts.receipts.then(|| report::late_receipt(&record));
        self.events.push(Event::TurnRecovered { record: record.clone(), text });
        self.turn.saves.push_front(Save::Record(Box::new(record)));
    }
}

/// What the user saw of a turn's reply, as far as it was stored.
fn text_of(message: &Message, turn: u32) -> Option<String> {
    match message {
        Message::Assistant { blocks, at } if at.turn == turn => Some(joined_text(blocks)),
        _ => None,
    }
}
