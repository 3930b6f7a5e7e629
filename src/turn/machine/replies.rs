//! What a reply leads to, and what the guard's ruling on it leads to.

use crate::turn::draft::CallKey;
use crate::turn::event::Event;
use crate::turn::exit::Stop;
use crate::turn::guard::{About, Consulted, Objection, Ruling};
use crate::turn::message::{Block, Finish, Message, Reply, joined_text};
use crate::turn::ports::ModelFault;
use crate::turn::report;

use super::{Machine, Phase, Save};

impl Machine<'_> {
    /// A whole reply: its calls decide what comes next, not its finish reason (W-D28).
    pub(super) fn replied(&mut self, mut reply: Reply) {
        self.turn.iterations += 1;
        self.turn.tokens_in = self.turn.tokens_in.saturating_add(reply.usage.input.unwrap_or(0));
        self.turn.tokens_out = self.turn.tokens_out.saturating_add(reply.usage.output.unwrap_or(0));
        self.mend_ids(&mut reply);
        self.events.push(Event::Replied { iteration: self.turn.iterations, reply: reply.clone() });
        if reply.finish == Finish::Refusal {
            self.store_text_of(&reply);
            self.stop(Stop::Refused);
        } else if reply.calls().next().is_some() {
            self.begin_calls(reply);
        } else if reply.text().trim().is_empty() {
            self.silent(&reply);
        } else {
            self.ended_in_text(reply);
        }
    }

    /// L5: a missing, malformed or repeated id is replaced before anything is stored.
    fn mend_ids(&mut self, reply: &mut Reply) {
        let (turn, iteration) = (self.conversation.turn, self.turn.iterations);
        let mut index = 0;
        for block in &mut reply.blocks {
            let Block::Call(call) = block else { continue };
            if !is_legal_id(&call.id) || self.conversation.ids.contains(&call.id) {
                call.id = self.conversation.fresh_id(turn, iteration, index);
            }
            self.conversation.ids.insert(call.id.clone());
            index += 1;
        }
    }

    /// Nothing to read and nothing to do: asked again once, then the harness says so. What was shown, if only blanks, is stored (L8).
    fn silent(&mut self, reply: &Reply) {
        self.store_text_of(reply);
        if std::mem::replace(&mut self.turn.asked_again_after_silence, true) {
            self.stop(Stop::Empty);
        } else {
            self.ask();
        }
    }

    fn ended_in_text(&mut self, reply: Reply) {
        let finish = reply.finish.clone();
        let message = self.assistant(reply.blocks);
        self.turn.saves.push_back(Save::Message(message));
        match finish {
            Finish::Length => self.stop(Stop::Truncated),
            Finish::Other(was) => self.stop(Stop::Provider { error: report::reason(&format!("unknown finish reason {was}")) }),
            Finish::Stop | Finish::ToolCalls | Finish::Refusal => self.turn.phase = Phase::Consulting,
        }
    }

    /// What the model said at this iteration, as it is stored.
    pub(super) fn assistant(&self, blocks: Vec<Block>) -> Message {
        Message::Assistant { blocks, at: CallKey { turn: self.conversation.turn, iteration: self.turn.iterations, index: 0 } }
    }

    fn store_text_of(&mut self, reply: &Reply) {
        let text = joined_text(&reply.blocks);
        self.store_text(&text);
    }

    fn store_text(&mut self, text: &str) {
        if !text.is_empty() {
            let message = self.assistant(vec![Block::text(text)]);
            self.turn.saves.push_back(Save::Message(message));
        }
    }

    /// L9: the stream was dropped or broke. What was shown stays (L8); calls of such a reply are neither run nor stored.
    pub(super) fn cut_short(&mut self, stop: Stop) {
        let heard = self.turn.heard.clone();
        self.store_text(&heard);
        self.stop(stop);
    }

    /// L11: a passing fault before anything was shown is tried again, within the bounds.
    pub(super) fn ask_failed(&mut self, fault: ModelFault) {
        let untouched = self.turn.heard.is_empty();
        let retry = untouched && matches!(fault, ModelFault::Passing { .. }) && self.turn.attempt < self.settings.attempts;
        let (error, retry_after) = match fault {
            ModelFault::Passing { error, retry_after } => (error, retry_after),
            ModelFault::Permanent { error } => (error, None),
        };
        self.events.push(Event::ReplyFailed {
            iteration: self.turn.iterations + 1,
            attempt: self.turn.attempt,
            error: report::reason(&error),
            retry,
        });
        if retry {
            self.turn.attempt += 1;
            let delay = self.settings.backoff(self.turn.attempt).max(retry_after.unwrap_or_default());
            self.turn.phase = Phase::Waiting(delay);
        } else if untouched {
            self.stop(Stop::Provider { error: report::reason(&error) });
        } else {
            self.cut_short(Stop::Cut);
        }
    }

    /// What a ruling leads to.
    pub(super) fn consulted(&mut self, consulted: Consulted) {
        self.turn.judge_calls = self.turn.judge_calls.saturating_add(consulted.judge_calls);
        let second_look = self.turn.corrected.is_some();
        self.events.push(Event::Ruled { consulted: consulted.clone(), second_look });
        match consulted.ruling {
            Ruling::Accept => self.stop(Stop::Replied),
            Ruling::Object(objection) if self.may_correct(&objection) => self.correct(objection),
            Ruling::Object(objection) => {
                self.objection_stands(objection);
                self.stop(Stop::Replied);
            }
        }
    }

    /// B3: one correction a turn, one a pending entry; and only where the ceiling leaves an iteration to answer it (B1).
    fn may_correct(&self, objection: &Objection) -> bool {
        let entry_allows = match &objection.about {
            About::Unfinished { section } => self.conversation.pending.get(section).is_some_and(|entry| !entry.corrected),
            _ => true,
        };
        entry_allows && self.turn.corrected.is_none() && self.turn.iterations < self.settings.iterations
    }

    /// G1: the mark is stored before the correction is.
    fn correct(&mut self, objection: Objection) {
        let report = self.settings.parts.reports.then_some(&self.turn.draft);
        let text = report::correction(&objection.about, report, &self.conversation.pending);
        if let About::Unfinished { section } = &objection.about {
            self.conversation.pending.mark_corrected(section);
            self.save_pending();
        }
        self.turn.saves.push_back(Save::Message(Message::Correction { text }));
        self.turn.corrected = Some(objection);
        self.ask();
    }
}

/// What both providers take as an id (W-F15).
fn is_legal_id(id: &str) -> bool {
    (1..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
