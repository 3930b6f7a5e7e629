//! Unfinished work that the system remembers by itself (P1–P5): at most one entry a section, kept by nobody else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::draft::Act;

/// An unfinished create or update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingEntry {
    /// Names the entry for ever, so that "corrected once in its life" (B3) survives merging; counted from 1 within the conversation.
    pub id: u32,
    /// Where it belongs.
    pub section: String,
    /// The tool that would write it.
    pub tool: String,
    /// What it would do.
    pub act: Act,
    /// What is known: the call's arguments, merged over its failures (P2).
    pub known: Value,
    /// What is missing, as paths into the arguments.
    pub missing: Vec<String>,
    /// Whether a correction about it was ever sent (B3, G1).
    pub corrected: bool,
}

/// All pending entries of a conversation, by section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pending {
    entries: BTreeMap<String, PendingEntry>,
}

/// A mutating call that failed on missing input, as its tool told it.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing<'a> {
    /// The tool that was called.
    pub tool: &'a str,
    /// What it would do.
    pub act: Act,
    /// Where.
    pub section: &'a str,
    /// The arguments that it came with.
    pub known: &'a Value,
    /// What is missing, as paths into the arguments.
    pub missing: &'a [String],
}

impl Pending {
    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, ordered by section.
    pub fn entries(&self) -> impl Iterator<Item = &PendingEntry> {
        self.entries.values()
    }

    /// The entry of a section.
    pub fn get(&self, section: &str) -> Option<&PendingEntry> {
        self.entries.get(section)
    }

    /// Puts an entry back as it was stored.
    pub fn restore(&mut self, entry: PendingEntry) {
        self.entries.insert(entry.section.clone(), entry);
    }

    /// P1 and P2: remembers a call that failed on missing input, merging it into the section's entry if there is one.
    /// `next_id` names a new entry.
    pub fn remember(&mut self, failed: &Missing<'_>, next_id: u32) {
        let entry = self.entries.entry(failed.section.to_owned()).or_insert_with(|| PendingEntry {
            id: next_id,
            section: failed.section.to_owned(),
            tool: failed.tool.to_owned(),
            act: failed.act,
            known: Value::Null,
            missing: Vec::new(),
            corrected: false,
        });
        entry.tool = failed.tool.to_owned();
        entry.act = failed.act;
        merge(&mut entry.known, failed.known);
        entry.missing = failed.missing.to_vec();
    }

    /// P2, P4: a success on the section (or a discard) clears its entry. True if there was one.
    pub fn clear(&mut self, section: &str) -> bool {
        self.entries.remove(section).is_some()
    }

    /// G1: marks the section's entry as corrected.
    pub fn mark_corrected(&mut self, section: &str) {
        self.set_corrected(section, true);
    }

    /// G1: takes the mark back where it could not be stored, and so no correction was sent.
    pub fn unmark_corrected(&mut self, section: &str) {
        self.set_corrected(section, false);
    }

    fn set_corrected(&mut self, section: &str, corrected: bool) {
        if let Some(entry) = self.entries.get_mut(section) {
            entry.corrected = corrected;
        }
    }
}

/// Lays `newer` over `older`: members of objects one by one, items of lists by their place, everything else replaced. Blank values never
/// wipe out what was known.
fn merge(older: &mut Value, newer: &Value) {
    match (older, newer) {
        (Value::Object(older), Value::Object(newer)) => {
            for (key, value) in newer {
                merge(older.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(older), Value::Array(newer)) => {
            for (place, value) in newer.iter().enumerate() {
                if place == older.len() {
                    older.push(Value::Null);
                }
                merge(&mut older[place], value);
            }
        }
        (_, Value::Null) => {}
        (older, newer) => *older = newer.clone(),
    }
}
