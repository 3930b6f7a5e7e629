//! The reference model of pending entries and of the guard's table, written apart from the code that it checks.

use std::collections::BTreeMap;

use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::event::Event;
use crate::turn::guard::{About, Ruling};
use crate::turn::ports::{Failure, Outcome};

/// What should be pending: for each section, what is missing and whether it was corrected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferencePending {
    entries: BTreeMap<String, (Vec<String>, bool)>,
    missing: BTreeMap<CallKey, Vec<String>>,
}

impl ReferencePending {
    /// Follows the trace. True where the trace should have told of a change next.
    pub fn follow(&mut self, event: &Event) -> bool {
        match event {
            Event::CallEnded { key, outcome: Outcome::Failed { failure: Failure::MissingInput, missing, .. } } => {
                self.missing.insert(*key, missing.clone());
                false
            }
            Event::Settled { key, act, section, fate, .. } => self.settled(*key, *act, section, fate),
            Event::Corrected { objection, .. } => {
                if let About::Unfinished { section } = &objection.about
                    && let Some(entry) = self.entries.get_mut(section)
                {
                    entry.1 = true;
                }
                false
            }
            _ => false,
        }
    }

    fn settled(&mut self, key: CallKey, act: Act, section: &str, fate: &Fate) -> bool {
        if *fate == Fate::Applied {
            return self.entries.remove(section).is_some();
        }
        let Some(missing) = self.missing.remove(&key) else { return false };
        if !matches!(act, Act::Create | Act::Update) {
            return false;
        }
        let corrected = self.entries.get(section).is_some_and(|entry| entry.1);
        self.entries.insert(section.to_owned(), (missing, corrected));
        true
    }

    /// Sections, what is missing, and whether corrected, in order.
    pub fn entries(&self) -> Vec<(String, Vec<String>, bool)> {
        self.entries.iter().map(|(section, (missing, corrected))| (section.clone(), missing.clone(), *corrected)).collect()
    }

    /// What the guard's table says now, given what the turn did.
    pub fn table_says_correct(&self, applied: bool, tried: bool) -> bool {
        !applied && !tried && self.entries.values().any(|(_, corrected)| !corrected)
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
