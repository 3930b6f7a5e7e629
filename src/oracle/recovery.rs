//! I15: what the loop makes of a turn in which the process died, held against what SQLite says that turn changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::event::Event;
use crate::turn::exit::{Stop, TurnRecord};

use super::invariants::{Judged, number_of, opening_report, rows_changed, rows_in};
use super::lines::lists;
use super::measures::Known;
use super::record::{RunFacts, TurnFacts};

/// The fates that were found for calls of an earlier turn.
pub fn fates(facts: &TurnFacts) -> BTreeMap<CallKey, &Fate> {
    let recovered = facts.events.iter().filter_map(|event| match event {
        Event::Recovered { key, fate, .. } => Some((*key, fate)),
        _ => None,
    });
    recovered.collect()
}

fn settled(facts: &TurnFacts) -> impl Iterator<Item = (CallKey, &Fate)> {
    facts.events.iter().filter_map(|event| match event {
        Event::Settled { key, fate, .. } => Some((*key, fate)),
        _ => None,
    })
}

/// What calls of earlier turns changed that this turn found to be applied, and that did not count before.
pub fn applied(facts: &TurnFacts, earlier: &[TurnFacts]) -> Vec<(Act, String)> {
    if fates(facts).is_empty() {
        return Vec::new();
    }
    let counted: BTreeSet<CallKey> = earlier
        .iter()
        .flat_map(|facts| settled(facts).chain(fates(facts)).filter(|(_, fate)| **fate == Fate::Applied).map(|(key, _)| key))
        .collect();
    let found = fates(facts).into_iter().filter(|(key, fate)| **fate == Fate::Applied && !counted.contains(key));
    let changes = |key: CallKey| {
        let by_call = earlier.iter().flat_map(|facts| &facts.by_call).filter(move |(of, _)| *of == key);
        by_call.flat_map(|(_, changes)| changes).map(|change| (change.act, change.section.clone()))
    };
    found.flat_map(|(key, _)| changes(key)).collect()
}

/// Takes in the fates that later turns found for the calls of one that died.
pub fn settle_late(known: &mut Known, facts: &TurnFacts, later: &[TurnFacts]) {
    let seen: BTreeSet<CallKey> = settled(facts).map(|(key, _)| key).collect();
    for event in later.iter().flat_map(|facts| &facts.events) {
        let Event::Recovered { key, act, section, fate, .. } = event else { continue };
        let of_call: Vec<_> = facts.by_call.iter().filter(|(of, _)| of == key).flat_map(|(_, changes)| changes).collect();
        if !seen.contains(key) && !of_call.is_empty() {
            let changes = of_call.into_iter().map(|change| (change.act, change.section.clone())).collect();
            known.settled(fate, (*act, section.clone()), changes);
        }
    }
}

/// The record that a turn which died got afterwards.
pub fn closed_late<'f>(facts: &TurnFacts, later: &'f [TurnFacts]) -> Option<&'f TurnRecord> {
    let number = number_of(facts).filter(|_| facts.crashed)?;
    later.iter().flat_map(|facts| &facts.events).find_map(|event| match event {
        Event::TurnRecovered { record, .. } if record.turn == number => Some(record),
        _ => None,
    })
}

/// The number under which a turn closed by itself.
fn closed_as(facts: &TurnFacts) -> Option<u32> {
    facts.events.iter().find_map(|event| match event {
        Event::TurnClosed { record } => Some(record.turn),
        _ => None,
    })
}

/// I15. The turn that opens after a crash is the one that has to tell.
pub(super) fn the_next_turn_tells_what_was_in_flight(judged: &mut Judged, run: &RunFacts) {
    for (place, facts) in run.turns.iter().enumerate().filter(|(_, facts)| facts.crashed) {
        let Some(number) = number_of(facts) else { continue };
        let Some(next) = run.turns[place + 1..].iter().find(|facts| number_of(facts).is_some()) else { continue };
        let turn = place as u32 + 1;
        let changed = rows_changed(facts);
        let closed_anew = run.turns[place + 1..].iter().any(|later| closed_as(later) == Some(number));
        if number_of(next) == Some(number) || (closed_anew && changed.is_empty()) {
            // It died before its user message was stored, and never was: the next one has its number, even one that could not open.
            continue;
        }
        let Some(record) = closed_late(facts, &run.turns[place + 1..]) else {
            // It may have been closed just before the process died.
            let closed = facts.events.iter().any(|event| matches!(event, Event::Receipt { .. })) || !run.settings.parts.receipts;
            judged.hold("I15", turn, closed, || "the process died in the turn, and no later turn gave its receipt".into());
            continue;
        };
        judged.hold("I15", turn, record.stop == Stop::Died, || format!("the turn died, and its record says {:?}", record.stop));
        judged.hold("I15", turn, rows_in(&record.receipt) == changed, || {
            "the receipt of the turn that died is not what the database changed in it".into()
        });
        let honest = record.receipt.entries.iter().all(|entry| entry.fate != Fate::Applied || !entry.rows.is_empty());
        judged.hold("I15", turn, honest, || "the receipt of the turn that died calls something applied that changed nothing".into());
        let told = opening_report(next).is_none_or(|report| lists(report, &record.receipt.entries));
        judged.hold("I15", turn, told, || "the next turn's report does not tell what the turn that died had done".into());
    }
}
