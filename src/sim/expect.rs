//! What a scenario file says must hold of its run, apart from the invariants that hold of every run.

use crate::cv::schema::section;
use crate::cv::store::Store;
use crate::cv::tools::rows_of;
use crate::oracle::measures::Measures;
use crate::oracle::record::{Finding, RunFacts, TurnFacts};
use crate::oracle::recovery::closed_late;
use crate::turn::event::Event;

use super::outcome::word_of;
use super::scenario::{Script, TurnExpect};
use super::world::USER;

/// Every expectation of the file that its run does not meet.
pub fn unmet(script: &Script, run: &RunFacts, measures: &Measures, store: &Store) -> Vec<Finding> {
    let mut unmet = Vec::new();
    for (place, (turn, facts)) in script.turn.iter().zip(&run.turns).enumerate() {
        let messages = unmet_in_turn(&turn.expect, facts, &run.turns[place + 1..]);
        unmet.extend(messages.into_iter().map(|message| finding(place as u32 + 1, message)));
    }
    unmet.extend(unmet_at_end(script, run, measures, store).into_iter().map(|message| finding(0, message)));
    unmet
}

fn finding(turn: u32, message: String) -> Finding {
    Finding { invariant: "expect".into(), turn, message }
}

/// A turn in which the process died is recorded by one that came later (L10).
fn unmet_in_turn(expect: &TurnExpect, facts: &TurnFacts, later: &[TurnFacts]) -> Vec<String> {
    let mut unmet = Vec::new();
    let Some(record) = facts.record.as_ref().or_else(|| closed_late(facts, later)) else {
        return vec!["the turn was never recorded".into()];
    };
    let mut hold = |holds: bool, message: String| {
        if !holds {
            unmet.push(message);
        }
    };
    if let Some(status) = &expect.status {
        hold(word_of(&record.status) == *status, format!("status should be {status}, and is {}", word_of(&record.status)));
    }
    if let Some(stop) = &expect.stop {
        hold(word_of(&record.stop) == *stop, format!("it should stop by {stop}, and stopped by {}", word_of(&record.stop)));
    }
    if let Some(corrections) = expect.corrections {
        hold(record.corrections == corrections, format!("{corrections} corrections should be sent, and {} were", record.corrections));
    }
    if let Some(most) = expect.iterations_at_most {
        hold(record.iterations <= most, format!("at most {most} iterations, and there were {}", record.iterations));
    }
    if let Some(rows) = expect.changed_rows {
        let changed = facts.changes().count();
        hold(changed == rows as usize, format!("{rows} rows should change, and {changed} did"));
    }
    if let Some(text) = &expect.told_model {
        hold(told_model(facts).contains(text), format!("the model should be told {text:?}"));
    }
    if let Some(text) = &expect.told_user {
        hold(told_user(facts).contains(text), format!("the user should be shown {text:?}"));
    }
    unmet
}

fn told_model(facts: &TurnFacts) -> String {
    let messages = facts.events.iter().filter_map(|event| match event {
        Event::Stored { message } | Event::Folded { summary: message, .. } => serde_json::to_string(message).ok(),
        Event::Asked { pending, .. } => pending.clone(),
        _ => None,
    });
    messages.collect::<Vec<_>>().join("\n")
}

fn told_user(facts: &TurnFacts) -> String {
    let shown = facts.events.iter().filter_map(|event| match event {
        Event::Text { text } | Event::Line { text } | Event::Receipt { text, .. } => Some(text.as_str()),
        _ => None,
    });
    shown.collect()
}

fn unmet_at_end(script: &Script, run: &RunFacts, measures: &Measures, store: &Store) -> Vec<String> {
    let mut unmet = Vec::new();
    for (name, count) in &script.expect.rows {
        let rows = section(name).and_then(|section| store.with(|connection| rows_of(connection, section, USER)).ok());
        match rows {
            None => unmet.push(format!("there is no section {name}")),
            Some(rows) if rows.len() != *count as usize => unmet.push(format!("{name} should hold {count} rows, and holds {}", rows.len())),
            Some(_) => {}
        }
    }
    if let Some(sections) = &script.expect.pending {
        let pending: Vec<String> =
            run.turns.last().map(|facts| facts.pending.iter().map(|e| e.section.clone()).collect()).unwrap_or_default();
        if pending != *sections {
            unmet.push(format!("pending should be {sections:?}, and is {pending:?}"));
        }
    }
    if let Some(most) = script.expect.unauthorised_at_most
        && measures.unauthorised > u64::from(most)
    {
        unmet.push(format!("at most {most} writes that the user had not asked for, and there were {}", measures.unauthorised));
    }
    unmet
}
