//! How a turn closes: receipt, status, lines, record (U, B6). Every exit comes through here.

use crate::turn::draft::Entry;
use crate::turn::event::Event;
use crate::turn::exit::{Receipt, Status, Stop, Tally, TurnRecord};
use crate::turn::guard::{About, Objection};
use crate::turn::ports::{Audited, PortError};
use crate::turn::report;

use super::{Machine, Phase, entry_of};

impl Machine<'_> {
    /// U1: the receipt, from the audit trail; where the trail can't be read, from what was found call by call.
    pub(super) fn read_receipt(&mut self, trail: Result<Vec<Audited>, PortError>) {
        self.turn.trail_unread = trail.is_err();
        let entries = receipt_entries(&self.turn.draft.entries, trail.unwrap_or_default());
        if self.conversation.unsettled.iter().any(|entry| entry.key.turn < self.conversation.turn) {
            // The trail lacks a fate, and so its sums lack what that call changed.
            return self.make_receipt(entries, None);
        }
        match self.turn.earlier.clone() {
            Some(earlier) => self.make_receipt(entries, Some(earlier)),
            None => self.turn.phase = Phase::SummingReceipt(entries),
        }
    }

    pub(super) fn make_receipt(&mut self, entries: Vec<Entry>, earlier: Option<Vec<Tally>>) {
        let stop = self.turn.stop.clone().unwrap_or(Stop::Replied);
        if let (true, Some(objection)) = (stop != Stop::Replied, self.turn.corrected.clone()) {
            // The turn ended before the guards could look once more (J10).
            self.objection_stands(objection);
        }
        let receipt = Receipt { entries, earlier, unread: self.turn.trail_unread };
        self.say_lines(&stop);
        if self.settings.parts.receipts {
            self.events.push(Event::Receipt { receipt: receipt.clone(), text: report::receipt(&receipt) });
        }
        self.turn.phase = Phase::Recording(Box::new(self.record(stop, receipt)));
    }

    /// U2: an objection to what the reply says contests the turn. A nudge about an unfinished entry says nothing of the reply (G, G3).
    pub(super) fn objection_stands(&mut self, objection: Objection) {
        if !matches!(objection.about, About::Unfinished { .. }) {
            self.turn.contested = Some(objection);
        }
    }

    /// B6, U3: what the harness has to say beside the reply.
    fn say_lines(&mut self, stop: &Stop) {
        let contested = self.turn.contested.as_ref().filter(|_| self.settings.parts.receipts);
        let contested = contested.map(|objection| report::contested_line(&objection.about));
        for text in report::stop_line(stop).into_iter().chain(contested) {
            self.events.push(Event::Line { text: text.clone() });
            self.turn.lines.push(text);
        }
    }

    fn record(&self, stop: Stop, receipt: Receipt) -> TurnRecord {
        TurnRecord {
            turn: self.conversation.turn,
            status: Status::of(&stop, self.turn.contested.is_some(), &receipt),
            stop,
            reply: self.turn.shown.clone(),
            lines: self.turn.lines.clone(),
            receipt,
            corrections: u32::from(self.turn.corrected.is_some()),
            iterations: self.turn.iterations,
            model_calls: self.turn.model_calls,
            judge_calls: self.turn.judge_calls,
            tokens_in: self.turn.tokens_in,
            tokens_out: self.turn.tokens_out,
        }
    }

    pub(super) fn closed(&mut self, mut record: Box<TurnRecord>, result: Result<(), PortError>) {
        if let Err(error) = result {
            record.stop = Stop::Memory { error: report::reason(&error.0) };
            record.status = Status::of(&record.stop, self.turn.contested.is_some(), &record.receipt);
            let lines = report::stop_line(&record.stop);
            self.events.extend(lines.iter().map(|text| Event::Line { text: text.clone() }));
            record.lines.extend(lines);
        }
        self.events.push(Event::TurnClosed { record: (*record).clone() });
        self.turn.phase = Phase::Done(record);
    }
}

/// The turn's calls with the rows that the audit trail has for each; calls that only the trail knows come last.
fn receipt_entries(draft: &[Entry], mut trail: Vec<Audited>) -> Vec<Entry> {
    let mut entries = draft.to_vec();
    for entry in &mut entries {
        if let Some(place) = trail.iter().position(|audited| audited.committed.key == entry.key) {
            entry.rows = trail.remove(place).committed.rows;
        }
    }
    entries.extend(trail.into_iter().map(entry_of));
    entries
}
