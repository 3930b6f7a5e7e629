//! Reach marks: interesting states, counted, so that a campaign which proves nothing is noticed.

use crate::oracle::record::TurnFacts;
use crate::turn::draft::Fate;
use crate::turn::event::Event;
use crate::turn::guard::Ruling;

use super::outcome::word_of;

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
