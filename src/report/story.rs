//! One run, told turn by turn: what the user said, what the model said and called, what the database did, what the guard decided.

use owo_colors::OwoColorize;

use crate::oracle::claims::Label;
use crate::oracle::invariants::in_words;
use crate::oracle::record::TurnFacts;
use crate::sim::outcome::word_of;
use crate::sim::run::Run;
use crate::turn::draft::Fate;
use crate::turn::event::Event;
use crate::turn::guard::Ruling;
use crate::turn::message::{Arguments, Call};
use crate::turn::report::bounded;

use super::printable;

/// The longest text of one line of the story, in characters.
const LINE: usize = 240;

/// The story of a run.
pub fn tell(run: &Run) -> String {
    let outcome = &run.outcome;
    let mut text = format!(
        "run {} · policy {} · persona {} · dialect {} · trace {}\n",
        outcome.seed, outcome.policy, outcome.persona, outcome.dialect, outcome.trace_hash
    );
    for (place, facts) in run.turns.iter().enumerate() {
        let a_move = run.moves.get(place).copied().unwrap_or("?");
        text.push_str(&format!("\n{} (move: {a_move})\n", format!("turn {}", place + 1).bold()));
        tell_turn(&mut text, facts);
    }
    text.push('\n');
    if outcome.findings.is_empty() {
        text.push_str("No finding.\n");
    }
    for found in &outcome.findings {
        text.push_str(&format!("{} in turn {}: {}\n", found.invariant.red().bold(), found.turn, printable(&found.message)));
    }
    text
}

/// One turn of a run in `most` lines at the most, indented.
pub fn tell_one(run: &Run, turn: u32, most: usize) -> String {
    let place = (turn.max(1) - 1) as usize;
    let Some(facts) = run.turns.get(place) else { return String::new() };
    let mut text = String::new();
    tell_turn(&mut text, facts);
    let lines: Vec<String> = text.lines().map(|line| format!("    {}\n", bounded(line, 150))).collect();
    if lines.len() <= most {
        return lines.concat();
    }
    let (head, tail) = (most / 2, most - most / 2 - 1);
    let left_out = lines.len() - head - tail;
    format!("{}      … {left_out} lines left out …\n{}", lines[..head].concat(), lines[lines.len() - tail..].concat())
}

fn tell_turn(text: &mut String, facts: &TurnFacts) {
    let mut call: usize = 0;
    let mut streamed = String::new();
    for event in &facts.events {
        if let Event::Text { text: piece } = event {
            streamed.push_str(piece);
            continue;
        }
        if !streamed.is_empty() {
            let said = std::mem::take(&mut streamed);
            line(text, "model", &said);
            tell_labels(text, call.checked_sub(1).and_then(|call| facts.said.get(call)));
        }
        match event {
            Event::Asked { .. } => call += 1,
            Event::TurnOpened { words, .. } => line(text, "user", words),
            _ => tell_event(text, event, facts),
        }
    }
}

/// Each claim, in the oracle's words.
fn tell_labels(text: &mut String, labels: Option<&Vec<Label>>) {
    for label in labels.into_iter().flatten() {
        match label {
            Label::Claims(claim) => line(text, "", &format!("↳ claims that {}", in_words(claim))),
            Label::Promises | Label::NarratesCall => line(text, "", "↳ promises an action"),
            _ => {}
        }
    }
}

fn tell_event(text: &mut String, event: &Event, facts: &TurnFacts) {
    match event {
        Event::ReplyFailed { error, retry, .. } => {
            line(text, "provider", &format!("{error}{}", if *retry { ", tried again" } else { "" }));
        }
        Event::CallStarted { call, .. } => line(text, "calls", &call_in_words(call)),
        Event::Settled { key, fate, .. } => {
            let changed = facts.by_call.iter().filter(|(of, _)| of == key).flat_map(|(_, changes)| changes);
            let rows: Vec<String> = changes_in_words(changed);
            let rows = if rows.is_empty() { "nothing changed".to_owned() } else { rows.join(", ") };
            line(text, "database", &format!("{rows} → {}", fate_in_words(fate)));
        }
        Event::Ruled { consulted, second_look } => {
            let ruling = match &consulted.ruling {
                Ruling::Accept => "accepts",
                Ruling::Object(_) => "objects",
            };
            let look = if *second_look { "second look: " } else { "" };
            line(text, "guard", &format!("{look}{ruling} — {}", consulted.why));
        }
        Event::Corrected { objection, .. } => {
            let about = serde_json::to_string(&objection.about).unwrap_or_default();
            line(text, "harness", &format!("corrects: {about}"));
        }
        Event::Recovered { key, tool, fate, .. } => {
            line(text, "recovers", &format!("{tool} of turn {} → {}", key.turn, fate_in_words(fate)));
        }
        Event::TurnRecovered { text: Some(said), .. } => line(text, "late", &said.replace('\n', " ")),
        Event::Line { text: said } => line(text, "harness", said),
        Event::Receipt { text: said, .. } => line(text, "receipt", &said.replace('\n', " ")),
        Event::TurnClosed { record } => {
            line(text, "end", &format!("status {}, stopped by {}", word_of(&record.status), word_of(&record.stop)));
        }
        _ => {}
    }
}

fn changes_in_words<'c>(changes: impl Iterator<Item = &'c crate::oracle::changes::DbChange>) -> Vec<String> {
    changes.map(|change| format!("{} {} #{}", change.act.done(), change.section, change.id)).collect()
}

fn call_in_words(call: &Call) -> String {
    match &call.arguments {
        Arguments::Object { value } => format!("{}({})", call.name, serde_json::to_string(value).unwrap_or_default()),
        Arguments::Broken { raw, why } => format!("{}({raw}) — {}", call.name, word_of(why)),
    }
}

fn fate_in_words(fate: &Fate) -> String {
    match fate {
        Fate::Applied => "applied".into(),
        Fate::NoChange => "no change".into(),
        Fate::Failed { reason } => format!("FAILED: {reason}"),
        Fate::Unknown { reason } => format!("UNKNOWN: {reason}"),
    }
}

fn line(text: &mut String, who: &str, what: &str) {
    text.push_str(&format!("  {:<9} {}\n", who, bounded(&printable(what), LINE)));
}

/// Every event as a JSON line.
pub fn trace(run: &Run) -> String {
    let mut text = String::new();
    for (place, facts) in run.turns.iter().enumerate() {
        for event in &facts.events {
            let line = serde_json::json!({ "version": 1, "turn": place + 1, "event": event });
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}
