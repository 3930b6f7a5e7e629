//! Reach marks: interesting states, counted, so that a campaign which proves nothing is noticed. The catalogue names every mark that can be
//! counted, and says which of them a default campaign must reach.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::guards::state::Cell;
use crate::oracle::record::TurnFacts;
use crate::turn::draft::Fate;
use crate::turn::event::Event;
use crate::turn::guard::Ruling;

use super::faults;
use super::faults::points::{Act, FOLD_PLACES, PLACES};
use super::moves::MOVES;
use super::outcome::word_of;
use super::person;

/// A state that a campaign counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name in outcomes and lists.
    pub name: String,
    /// What was reached.
    pub sentence: String,
    /// A default campaign in which it stays at zero has proved nothing.
    pub required: bool,
}

/// Marks that are not derived from another catalogue: name, sentence, whether it is required.
const STATES: &[(&str, &str, bool)] = &[
    ("guard-accepted", "the guard looked at a reply and let it stand", true),
    ("guard-objected", "the guard looked at a reply and objected", true),
    ("correction-obeyed", "after its correction the model's reply was accepted", true),
    ("correction-defied", "after its correction the model's reply was objected to once more", true),
    ("corrected-by:completion", "the completion check corrected a reply", true),
    ("corrected-by:state", "the state guard corrected a reply", true),
    ("nudge-withheld", "the state guard's nudge was withheld, as nothing was claimed or promised (G4)", true),
    ("write-after-correction", "a mutating call got its fate after a correction in the same turn", true),
    ("second-message", "the user pressed while a turn still ran (L14)", true),
    ("crash-recovered", "a turn that had died was closed by the next one (L10)", true),
    ("call-recovered", "a call that a dead turn left open was put to the database (L10)", true),
    ("crash-undid-write", "the process died in a transaction, which was rolled back from its journal (L10)", true),
    ("crash-kept-write", "the process died as a transaction was on the disk, and nobody had been told (L10)", true),
    ("folded", "whole turns were folded as a turn opened (C1)", true),
    ("folded-twice", "turns were folded into a summary that had been there before (C2)", true),
    ("folded-while-pending", "turns were folded while something was pending (P5)", true),
    ("summary-believed", "the model repeated what a lying summariser had said, or did it again", true),
    ("crash-in-fold", "the process died while turns were being folded (L10)", true),
    ("compaction-between-calls", "the transcript was compacted between two calls; this version never does it", false),
    ("fate:applied", "a mutating call changed rows", true),
    ("fate:no_change", "a mutating call went through and changed nothing", true),
    ("fate:failed", "a mutating call failed", true),
    ("fate:unknown", "nobody could say whether a call's commit had happened", true),
    ("stop:replied", "a turn ended by a reply", true),
    ("stop:iterations", "a turn ended at the ceiling on model replies (B1)", true),
    ("stop:strikes", "a turn ended as a tool failed in the same way three times (B2)", true),
    ("stop:time_limit", "a turn ended as its time ran out (B4)", true),
    ("stop:oversize", "a turn ended as a reply was too large (B5)", true),
    ("stop:empty", "a turn ended as the model said nothing twice", true),
    ("stop:truncated", "a turn ended as the provider's token limit cut the reply", true),
    ("stop:refused", "a turn ended as the provider refused the reply", false),
    ("stop:cut", "a turn ended as the stream broke after something was shown", false),
    ("stop:cancelled", "a turn ended as the user cancelled (L13)", true),
    ("stop:provider", "a turn ended as a model call failed for good (L11)", false),
    ("stop:died", "a turn is recorded as one in which the process died", false),
    ("stop:memory", "a turn ended as the conversation's store failed", true),
    ("status:changed", "a turn changed rows", true),
    ("status:unchanged", "a turn tried nothing", true),
    ("status:attempted", "a turn tried, and nothing was applied", true),
    ("status:contested", "a turn ended with a standing objection (U3)", true),
    ("status:bound", "a turn was ended by a bound or by the user", true),
    ("status:fault", "a turn was ended by a fault", true),
    ("move:scope", "a turn of an exhaustive scope was played", false),
    ("move:scripted", "a turn of a scenario file was played", false),
];

/// What can strike at a place: word, sentence, whether a default campaign must see it at every place.
const STRIKES: [(&str, &str, bool); 4] = [
    ("time-limit", "the turn's time ran out", true),
    ("jump", "the clock jumped", false),
    ("hang", "what was waited for never came", false),
    ("crash", "the process died", false),
];

/// Every mark that can be counted.
pub fn catalogue() -> Vec<Mark> {
    let mark = |name: String, sentence: String, required| Mark { name, sentence, required };
    let states = STATES.iter().map(|(name, sentence, required)| mark((*name).into(), (*sentence).into(), *required));
    let person = person::MARKS.iter().map(|(name, sentence)| mark((*name).into(), (*sentence).into(), true));
    let cells = Cell::ALL.iter().map(|cell| mark(format!("cell:{}", cell.name()), "a cell of the state guard's table".into(), true));
    let moves = MOVES.iter().map(|a_move| mark(format!("move:{}", a_move.name), a_move.sentence.into(), true));
    let faults = faults::catalogue().map(|fault| mark(format!("fault:{}", fault.name), fault.sentence.into(), true));
    let points = STRIKES.iter().flat_map(|(word, sentence, required)| {
        PLACES.iter().map(move |place| mark(format!("point:{word}:{place}"), format!("{sentence}, {place}"), *required))
    });
    states.chain(person).chain(cells).chain(moves).chain(faults).chain(points).collect()
}

/// The marks among `reached` that the catalogue does not know.
pub fn unknown(reached: &BTreeMap<String, u64>) -> Vec<&str> {
    let known = catalogue();
    reached.keys().map(String::as_str).filter(|name| known.iter().all(|mark| mark.name != *name)).collect()
}

/// The required marks that stayed at zero, in the catalogue's order.
pub fn missing(reached: &BTreeMap<String, u64>) -> Vec<Mark> {
    let stayed_away = |mark: &Mark| mark.required && reached.get(&mark.name).is_none_or(|count| *count == 0);
    catalogue().into_iter().filter(stayed_away).collect()
}

/// The mark of what struck at an await point. A jump over the whole turn is the time limit.
pub(super) fn mark_of_point(act: Act, place: &str, turn_limit: Duration) -> String {
    let word = match act {
        Act::Jump(by) if by >= turn_limit => "time-limit",
        other => other.name(),
    };
    format!("point:{word}:{place}")
}

/// Whether the process died while turns were being folded.
pub(super) fn is_crash_in_fold(act: Act, place: &str) -> bool {
    act == Act::Crash && FOLD_PLACES.contains(&place)
}

/// What a turn's fold, if there was one, reached after these turns.
pub(super) fn marks_of_fold(facts: &TurnFacts, earlier: &[TurnFacts]) -> Vec<&'static str> {
    let folds = |facts: &TurnFacts| facts.events.iter().any(|event| matches!(event, Event::Folded { .. }));
    if !folds(facts) {
        return Vec::new();
    }
    let pending = earlier.last().is_some_and(|before| !before.pending.is_empty());
    let marks = [("folded", true), ("folded-twice", earlier.iter().any(folds)), ("folded-while-pending", pending)];
    marks.into_iter().filter(|(_, reached)| *reached).map(|(name, _)| name).collect()
}

/// Interesting states that a turn reached.
pub(super) fn marks_of(facts: &TurnFacts) -> Vec<String> {
    let mut marks = Vec::new();
    let mut corrected = false;
    for event in &facts.events {
        match event {
            Event::Ruled { consulted, second_look } => {
                let objects = matches!(consulted.ruling, Ruling::Object(_));
                if *second_look {
                    marks.push(if objects { "correction-defied".into() } else { "correction-obeyed".into() });
                } else {
                    marks.push(if objects { "guard-objected".into() } else { "guard-accepted".into() });
                }
                if let Some((_, cell)) = consulted.why.rsplit_once("state: ") {
                    marks.push(format!("cell:{}", cell.split(',').next().unwrap_or(cell)));
                }
                if consulted.why.contains("withheld (G4)") {
                    marks.push("nudge-withheld".into());
                }
            }
            Event::Corrected { objection, .. } => {
                corrected = true;
                marks.push(format!("corrected-by:{}", objection.guard));
            }
            Event::Settled { fate, .. } => {
                marks.push(format!("fate:{}", fate_word(fate)));
                if corrected {
                    marks.push("write-after-correction".into());
                }
            }
            Event::Recovered { .. } => marks.push("call-recovered".into()),
            Event::TurnRecovered { .. } => marks.push("crash-recovered".into()),
            Event::TurnClosed { record } => {
                marks.push(format!("stop:{}", word_of(&record.stop)));
                marks.push(format!("status:{}", word_of(&record.status)));
            }
            _ => {}
        }
    }
    marks
}

fn fate_word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no_change",
        Fate::Failed { .. } => "failed",
        Fate::Unknown { .. } => "unknown",
    }
}
