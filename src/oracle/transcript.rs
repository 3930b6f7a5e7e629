//! I5 and I7 over the whole stored transcript.

use std::collections::{BTreeMap, BTreeSet};

use crate::turn::event::Event;
use crate::turn::message::{Block, Message, joined_text};

use super::excuses::stored_so_far;
use super::invariants::{Judged, number_of};
use super::record::{RunFacts, TurnFacts};

/// I5: the transcript holds every reply whole, and nothing any more of the turns that were folded away.
pub(super) fn holds_every_reply(judged: &mut Judged, run: &RunFacts) {
    let folded = match run.messages.first() {
        Some(Message::Summary { through, .. }) => *through,
        _ => 0,
    };
    let mut stored: BTreeMap<u32, String> = BTreeMap::new();
    for message in &run.messages {
        if let Message::Assistant { blocks, at } = message {
            stored.entry(at.turn).or_default().push_str(&joined_text(blocks));
        }
    }
    // A turn that died before its user message was stored never was: the next one has its number.
    let mut said: BTreeMap<u32, (String, &TurnFacts)> = BTreeMap::new();
    for facts in &run.turns {
        let Some(number) = number_of(facts) else { continue };
        let (text, last) = said.entry(number).or_insert_with(|| (String::new(), facts));
        text.extend(facts.events.iter().filter_map(text_of));
        *last = facts;
    }
    for (number, (said, facts)) in said {
        let stored = stored.remove(&number).unwrap_or_default();
        let same = if number <= folded {
            stored.is_empty()
        } else if facts.crashed {
            said.starts_with(&stored)
        } else {
            stored_so_far(facts, &said, &stored)
        };
        judged.hold("I5", number, same, || "the stored transcript does not hold what the turn said".into());
    }
    judged.hold("I5", 0, stored.values().all(String::is_empty), || "the stored transcript holds what no turn said".into());
}

fn text_of(event: &Event) -> Option<&str> {
    match event {
        Event::Text { text } => Some(text),
        _ => None,
    }
}

fn blocks_of(message: &Message) -> Option<&[Block]> {
    match message {
        Message::Assistant { blocks, .. } => Some(blocks),
        _ => None,
    }
}

pub(super) fn ids_of_calls(message: &Message) -> Vec<&str> {
    let calls = blocks_of(message).unwrap_or_default().iter().filter_map(|block| match block {
        Block::Call(call) => Some(call.id.as_str()),
        _ => None,
    });
    calls.collect()
}

/// I7. Results stand nowhere else either, and no id is used twice or is one that a provider refuses (L5).
/// Calls that are open when the process dies are answered by the next turn, where there is one.
pub(super) fn every_call_has_one_result(judged: &mut Judged, messages: &[Message], died: bool) {
    let mut seen = BTreeSet::new();
    for (place, message) in messages.iter().enumerate() {
        let calls = ids_of_calls(message);
        if matches!(message, Message::Results { .. }) {
            let before = place.checked_sub(1).and_then(|place| messages.get(place));
            let called = before.is_some_and(|message| !ids_of_calls(message).is_empty());
            judged.hold("I7", 0, called, || "results stand where no call was made".into());
        }
        for id in &calls {
            let legal = (1..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            judged.hold("I7", 0, legal && seen.insert(*id), || format!("the id {id:?} of a call is illegal, or is used twice"));
        }
        if calls.is_empty() || (died && place + 1 == messages.len()) {
            continue;
        }
        let answered: Vec<&str> = match messages.get(place + 1) {
            Some(Message::Results { results, .. }) => results.iter().map(|result| result.call_id.as_str()).collect(),
            _ => Vec::new(),
        };
        judged.hold("I7", 0, calls == answered, || format!("calls {calls:?} are followed by results {answered:?}"));
    }
}
