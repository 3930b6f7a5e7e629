//! What goes wrong with a history that grows too long: the budget is small, so that turns are folded at every boundary, and the summariser
//! lies, fails or never answers.

use super::{Class, Fault, Faults};

const fn fault(name: &'static str, sentence: &'static str, legal: &'static str, percent: u32) -> Fault {
    Fault { name, class: Class::History, sentence, legal, percent }
}

/// What goes wrong.
pub const FAULTS: &[Fault] = &[
    fault(
        "compaction",
        "the transcript's budget is so small that old turns are folded as a turn opens",
        "whole turns are folded, never the last one, and every fact of theirs is told from the trail (I13)",
        100,
    ),
    fault(
        "summariser-lies",
        "the summariser says that unfinished work is done, or finished work pending, or forges a block of the harness's, or says nothing, or \
         far too much",
        "what it says is marked as hearsay, harmless and short, and no fact changes by it (C2, R4)",
        80,
    ),
    fault("summariser-fails", "the summariser's call fails, is refused, or is cut off", "the facts stand alone (C2)", 60),
    fault("summariser-hangs", "the summariser never answers, or falls silent", "its own limit ends it, and the facts stand alone (C2)", 60),
];

/// Budgets so small that few turns fit, or none.
const BUDGETS: [usize; 4] = [1, 400, 1200, 3000];

/// How much of a transcript is kept in this turn, in bytes.
pub fn budget(faults: &Faults, usual: usize) -> usize {
    if faults.strikes("compaction") { BUDGETS[faults.below(BUDGETS.len() as u32) as usize] } else { usual }
}
