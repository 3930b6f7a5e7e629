//! The reference model of pending entries and of the guard's table, written apart from the code that it checks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::event::Event;
use crate::turn::guard::{About, Ruling};
use crate::turn::pending::PendingEntry;
use crate::turn::ports::{Failure, Outcome};

use super::invariants::number_of;
use super::record::{Port, TurnFacts};

/// What should be pending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferencePending {
    entries: BTreeMap<String, Expected>,
    /// As they were before the last change, which a crash may have kept from being stored.
    before: BTreeMap<String, Expected>,
    /// Sections whose entry a call that began may have dropped.
    discarding: BTreeSet<String>,
    /// The store refused the last change.
    refused: bool,
    missing: BTreeMap<CallKey, Vec<String>>,
    arguments: BTreeMap<CallKey, Value>,
}

/// What should be pending for one section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// Which section.
    pub section: String,
    /// What all failed calls brought along, the newest over the older (P2).
    pub known: Value,
    /// What the newest failed call lacked.
    pub missing: Vec<String>,
    /// Whether it was confronted (B3).
    pub corrected: bool,
}

impl ReferencePending {
    /// Follows the trace. True where the trace should have told of a change next.
    pub fn follow(&mut self, event: &Event) -> bool {
        match event {
            Event::CallStarted { key, call } => {
                if let Some(section) = call.arguments.object().get("section").and_then(Value::as_str) {
                    self.discarding.insert(section.to_owned());
                }
                self.arguments.insert(*key, Value::Object(call.arguments.object()));
                false
            }
            Event::CallEnded { key, outcome: Outcome::Failed { failure: Failure::MissingInput, missing, .. } } => {
                self.missing.insert(*key, missing.clone());
                false
            }
            Event::Settled { key, act, section, fate, .. } | Event::Recovered { key, act, section, fate, .. } => {
                self.settled(*key, *act, section, fate)
            }
            Event::Corrected { objection, .. } => {
                if let About::Unfinished { section } = &objection.about {
                    self.marked(section);
                } else {
                    self.before = self.entries.clone();
                }
                false
            }
            _ => false,
        }
    }

    /// An entry counts as corrected from here on.
    pub fn marked(&mut self, section: &str) {
        self.before = self.entries.clone();
        if let Some(entry) = self.entries.get_mut(section) {
            entry.corrected = true;
        }
    }

    fn settled(&mut self, key: CallKey, act: Act, section: &str, fate: &Fate) -> bool {
        if *fate == Fate::Applied {
            self.before = self.entries.clone();
            return self.entries.remove(section).is_some();
        }
        let Some(missing) = self.missing.remove(&key) else { return false };
        if !matches!(act, Act::Create | Act::Update) {
            return false;
        }
        self.before = self.entries.clone();
        let brought = self.arguments.remove(&key).unwrap_or_default();
        let entry = self.entries.entry(section.to_owned()).or_default();
        entry.section = section.to_owned();
        entry.known = laid_over(&entry.known, &brought);
        entry.missing = missing;
        true
    }

    /// After a crash: whether this can be what was stored, the last change of each entry included or not. From here on it is what counts.
    pub fn may_have_stored(&mut self, stored: &[PendingEntry]) -> bool {
        let may = self.may_hold(stored);
        let expected = |entry: &PendingEntry| Expected {
            section: entry.section.clone(),
            known: entry.known.clone(),
            missing: entry.missing.clone(),
            corrected: entry.corrected,
        };
        self.missing.clear();
        self.arguments.clear();
        self.entries = stored.iter().map(|entry| (entry.section.clone(), expected(entry))).collect();
        may
    }

    /// Whether the store refused the last change in this turn, or in one since which none has opened: what it holds may be older then.
    pub fn was_refused(&mut self, facts: &TurnFacts) -> bool {
        self.refused = facts.refused.contains(&Port::Pending) || (self.refused && number_of(facts).is_none());
        self.refused && self.may_hold(&facts.pending)
    }

    /// Whether this can be what is stored where the last change may not have been.
    pub fn may_hold(&self, stored: &[PendingEntry]) -> bool {
        let same = |expected: &Expected, entry: &PendingEntry| {
            expected.known == entry.known && expected.missing == entry.missing && (entry.corrected || !expected.corrected)
        };
        let made = stored.iter().all(|entry| {
            [&self.entries, &self.before].into_iter().any(|entries| entries.get(&entry.section).is_some_and(|known| same(known, entry)))
        });
        let held = |section: &String| stored.iter().any(|entry| entry.section == *section);
        let kept =
            self.entries.keys().all(|section| held(section) || self.discarding.contains(section) || !self.before.contains_key(section));
        made && kept
    }

    /// All of it, in order of the sections.
    pub fn entries(&self) -> impl Iterator<Item = &Expected> {
        self.entries.values()
    }

    /// What the guard's table says now, given what the turn did.
    pub fn table_says_correct(&self, applied: bool, tried: bool) -> bool {
        !applied && !tried && self.entries.values().any(|entry| !entry.corrected)
    }
}

/// What is known once newer input has come: member by member, place by place, and a blank takes nothing away.
fn laid_over(older: &Value, newer: &Value) -> Value {
    match (older, newer) {
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let of = |name: &String| laid_over(old.get(name).unwrap_or(&Value::Null), new.get(name).unwrap_or(&Value::Null));
            names.into_iter().map(|name| (name.clone(), of(name))).collect()
        }
        (Value::Array(old), Value::Array(new)) => {
            let at = |place| laid_over(old.get(place).unwrap_or(&Value::Null), new.get(place).unwrap_or(&Value::Null));
            (0..old.len().max(new.len())).map(at).collect()
        }
        (older, Value::Null) => older.clone(),
        (_, newer) => newer.clone(),
    }
}

/// What the turn did, as far as a state guard may see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceDraft {
    /// A mutating call was applied.
    pub applied: bool,
    /// A mutating call was tried.
    pub tried: bool,
}

impl ReferenceDraft {
    /// Follows the trace.
    pub fn follow(&mut self, event: &Event) {
        if let Event::Settled { fate, .. } = event {
            self.tried = true;
            self.applied |= *fate == Fate::Applied;
        }
    }
}

/// Whether a ruling is the state guard's correction.
pub fn is_nudge(ruling: &Ruling) -> bool {
    matches!(ruling, Ruling::Object(objection) if objection.guard == "state")
}
