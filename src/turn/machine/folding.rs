//! How old turns are folded as a turn opens (C1–C3). Whatever the store or the summariser does, the turn goes on: without a trail nothing is
//! folded, without a retelling the facts stand alone.

use crate::turn::compact::{Cut, Fold, cut};
use crate::turn::draft::Entry;
use crate::turn::event::Event;
use crate::turn::message::{Finish, Message, Usage};
use crate::turn::ports::{Audited, ModelFault, Place, PortError};
use crate::turn::report;

use super::{Fact, Machine, Phase, Save, entry_of};

impl Machine<'_> {
    /// The model is asked; before that, old turns are folded where the transcript has grown past its budget.
    pub(super) fn fold_or_ask(&mut self) {
        match cut(self.conversation, self.settings.fold_bytes) {
            Some(cut) => self.turn.phase = Phase::RecallingFolded(cut),
            None => self.ask(),
        }
    }

    /// C2: what the folded turns did. A trail that can't be read puts the fold off.
    pub(super) fn recalled_folded(&mut self, cut: Cut, trail: Result<Vec<Audited>, PortError>) {
        let Ok(trail) = trail else { return self.ask() };
        let entries: Vec<Entry> = trail.into_iter().map(entry_of).collect();
        let folded = &self.conversation.messages[..cut.messages];
        self.turn.phase = Phase::Summarising(Box::new(Fold::new(cut, folded, entries)));
    }

    /// What the summariser said, if anything. Its calls are never run, and nobody waits for a second try.
    pub(super) fn summarised(&mut self, fold: &Fold, fact: Fact) {
        let heard = std::mem::take(&mut self.turn.heard);
        let (words, error, usage) = match fact {
            Fact::Replied(reply) if reply.finish == Finish::Refusal => (String::new(), Some("it was refused".to_owned()), reply.usage),
            Fact::Replied(reply) => (reply.text(), None, reply.usage),
            Fact::Oversized(_) => (heard, Some("it was too long and was cut".into()), Usage::default()),
            Fact::AskFailed(ModelFault::Passing { error, .. } | ModelFault::Permanent { error }) => {
                (String::new(), Some(report::reason(&error)), Usage::default())
            }
            Fact::Interrupted(by) => return self.stop(by.into()),
            _ => return self.confused(),
        };
        self.turn.tokens_in = self.turn.tokens_in.saturating_add(usage.input.unwrap_or(0));
        self.turn.tokens_out = self.turn.tokens_out.saturating_add(usage.output.unwrap_or(0));
        let summary = fold.summary(&words);
        self.events.push(Event::Summarised { words, error, usage });
        self.turn.saves.push_back(Save::Fold { at: fold.cut.at, summary });
        self.ask();
    }

    /// The store has the summary in place of the folded messages.
    pub(super) fn folded(&mut self, at: Place, summary: Message) {
        let conversation = &mut *self.conversation;
        let kept = conversation.next_seq.saturating_sub(at.seq + 1) as usize;
        let folded = conversation.messages.len().saturating_sub(kept);
        conversation.messages.splice(..folded, [summary.clone()]);
        conversation.turns.splice(..folded, [at.turn]);
        self.events.push(Event::Folded { through: at.turn, messages: folded as u32, summary });
    }
}
