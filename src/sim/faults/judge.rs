//! What goes wrong at a single asking of the judge, where the run's judge would have answered otherwise.
//!
//! A judge that struck once is no faithful judge of that run: what must be zero under a faithful one is then not asked for.

use crate::sim::judge::JudgeKind;

use super::{Class, Fault, Faults};

const fn fault(name: &'static str, sentence: &'static str, legal: &'static str) -> Fault {
    Fault { name, class: Class::Judge, sentence, legal, percent: 30 }
}

const PASSES: &str = "everything passes that the state table lets pass (J6, G4); the receipt stands (U1)";
const ERRS: &str = "a correction at the most, and a contested turn (B3, U3); the receipt stands (U1)";

/// What goes wrong at a judge.
pub const FAULTS: &[Fault] = &[
    fault("judge-errs", "the judge's call fails", PASSES),
    fault("judge-late", "the judge does not answer in time", PASSES),
    fault("judge-rubbish", "the judge answers prose, or half a JSON", PASSES),
    fault("judge-no", "the judge finds nothing in this reply", PASSES),
    fault("judge-persuaded", "the judge is talked into its answer by the reply", PASSES),
    fault("judge-yes", "the judge finds everything in this reply", ERRS),
    fault("judge-random", "the judge answers at random", ERRS),
];

const KINDS: [(&str, JudgeKind); 7] = [
    ("judge-errs", JudgeKind::Error),
    ("judge-late", JudgeKind::Slow),
    ("judge-rubbish", JudgeKind::Rubbish),
    ("judge-no", JudgeKind::No),
    ("judge-persuaded", JudgeKind::No),
    ("judge-yes", JudgeKind::Yes),
    ("judge-random", JudgeKind::Wrong { false_positive: 0.5, false_negative: 0.5 }),
];

/// How the judge judges at this asking.
pub fn kind_now(faults: &Faults, kind: JudgeKind) -> JudgeKind {
    KINDS.iter().find(|(name, _)| faults.strikes(name)).map_or(kind, |(_, kind)| *kind)
}
