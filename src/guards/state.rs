//! The state guard (G): looks at state alone, never at the reply.

use crate::turn::guard::{About, Consulted, Objection, Ruling, View};
use crate::turn::pending::PendingEntry;

/// What the guard's table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// The turn had a successful mutation.
    Applied,
    /// Nothing is pending.
    NothingPending,
    /// A mutating call was tried: the model has the error and the report in front of it.
    Tried,
    /// This entry was corrected before.
    CorrectedBefore,
    /// Correct.
    Correct,
}

impl Cell {
    /// Every line of the table, in its order.
    pub const ALL: [Self; 5] = [Self::Applied, Self::NothingPending, Self::Tried, Self::CorrectedBefore, Self::Correct];

    /// The name used in traces and reach marks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NothingPending => "nothing-pending",
            Self::Tried => "tried",
            Self::CorrectedBefore => "corrected-before",
            Self::Correct => "correct",
        }
    }
}

/// The whole table of G. `pending` holds, for each pending entry, whether it was corrected before.
pub fn cell(applied: bool, pending: &[bool], tried: bool) -> Cell {
    match (applied, pending, tried) {
        (true, _, _) => Cell::Applied,
        (false, [], _) => Cell::NothingPending,
        (false, _, true) => Cell::Tried,
        (false, entries, false) if entries.iter().all(|corrected| *corrected) => Cell::CorrectedBefore,
        _ => Cell::Correct,
    }
}

/// Rules on a turn by the table; the entry to correct is the first uncorrected one by section.
pub fn consult(view: &View<'_>) -> Consulted {
    let corrected: Vec<bool> = view.pending.entries().map(|entry| entry.corrected).collect();
    let cell = cell(view.draft.has_applied(), &corrected, view.draft.tried());
    let mut consulted = Consulted::accept(format!("state: {}", cell.name()));
    if let (Cell::Correct, Some(entry)) = (cell, view.pending.entries().find(|entry| !entry.corrected)) {
        consulted.ruling = Ruling::Object(objection(entry));
    }
    consulted
}

fn objection(entry: &PendingEntry) -> Objection {
    Objection { guard: "state".into(), about: About::Unfinished { section: entry.section.clone() } }
}
