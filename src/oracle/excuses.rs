//! What a store that refused its work excuses, and how far. Nothing is excused that was not refused in that very turn.

use std::collections::BTreeSet;

use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::event::Event;
use crate::turn::exit::Receipt;
use crate::turn::guard::{About, Objection, Ruling};

use super::invariants::{number_of, rows_changed, rows_in};
use super::record::{Port, TurnFacts};

/// I5: a text that was shown and could not be stored. What is stored is the beginning of it.
pub(super) fn stored_so_far(facts: &TurnFacts, streamed: &str, stored: &str) -> bool {
    streamed == stored || (facts.refused.contains(&Port::Append) && streamed.starts_with(stored))
}

/// I7: whether the calls at the end of the transcript may be open: the turn that made them died or could not store their results, and none
/// has opened since.
pub(super) fn may_end_open(turns: &[TurnFacts]) -> bool {
    let last = turns.iter().rev().find(|facts| facts.crashed || facts.refused.contains(&Port::Append) || number_of(facts).is_some());
    last.is_some_and(|facts| facts.crashed || facts.refused.contains(&Port::Append))
}

/// I2: the rows of a receipt. One that says that the trail could not be read may lack rows of calls whose fate nobody knew, and no others.
pub(super) fn rows_are_told(facts: &TurnFacts, receipt: &Receipt) -> bool {
    let (told, changed) = (rows_in(receipt), rows_changed(facts));
    if !receipt.unread {
        return told == changed;
    }
    let unknown: BTreeSet<CallKey> =
        receipt.entries.iter().filter(|entry| matches!(entry.fate, Fate::Unknown { .. })).map(|entry| entry.key).collect();
    let excused = |(key, ..): &&(CallKey, Act, String, i64)| unknown.contains(key);
    facts.refused.contains(&Port::Trail) && told.is_subset(&changed) && changed.difference(&told).all(|row| excused(&row))
}

/// I9, G1: the entry that was marked as corrected although its correction was never sent: the mark is stored first, and the correction's
/// message was refused.
pub(super) fn marked_and_not_sent(facts: &TurnFacts) -> Option<&str> {
    if !facts.refused.contains(&Port::Append) {
        return None;
    }
    let mut due = None;
    for event in &facts.events {
        match event {
            Event::Ruled { consulted, second_look: false } => due = unfinished(&consulted.ruling),
            Event::Corrected { .. } => due = None,
            _ => {}
        }
    }
    due.filter(|section| facts.pending.iter().any(|entry| entry.section == *section && entry.corrected))
}

fn unfinished(ruling: &Ruling) -> Option<&str> {
    match ruling {
        Ruling::Object(Objection { about: About::Unfinished { section }, .. }) => Some(section),
        _ => None,
    }
}
