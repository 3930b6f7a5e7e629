//! What became of every call, by the oracle's own account, and whether the facts of a summary are just that (C2).

use std::collections::{BTreeMap, BTreeSet};

use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::event::Event;

use super::record::TurnFacts;

/// What became of each call so far.
#[derive(Debug, Default)]
pub(super) struct Known<'r> {
    calls: BTreeMap<CallKey, Became<'r>>,
}

/// What became of one call.
#[derive(Debug, Default)]
struct Became<'r> {
    tool: Option<&'r str>,
    fate: Option<&'r Fate>,
    /// The store refused the fate, in that turn.
    refused: bool,
    /// The process died before the fate was added after all: the trail knows of no more than what was committed.
    lost: bool,
    /// What SQLite says that it changed; of a discard, nothing is watched.
    rows: BTreeSet<(&'static str, &'r str, i64)>,
}

impl<'r> Known<'r> {
    /// Takes in what a turn's calls changed.
    pub(super) fn changed(&mut self, facts: &'r TurnFacts) {
        for (key, changes) in facts.by_call.iter().filter(|(_, changes)| !changes.is_empty()) {
            let rows = changes.iter().map(|change| (change.act.done(), change.section.as_str(), change.id));
            self.calls.entry(*key).or_default().rows.extend(rows);
        }
    }

    /// Takes in a fate.
    pub(super) fn follow(&mut self, event: &'r Event, refused: bool) {
        if let Event::Settled { key, tool, fate, .. } | Event::Recovered { key, tool, fate, .. } = event {
            let became = self.calls.entry(*key).or_default();
            *became = Became { tool: Some(tool), fate: Some(fate), refused, lost: false, rows: std::mem::take(&mut became.rows) };
        }
    }

    /// The process died: whatever it meant to add later is gone.
    pub(super) fn died(&mut self) {
        self.calls.values_mut().for_each(|became| became.lost |= became.refused);
    }
}

/// Whether a summary's facts are what became of the calls of all turns up to this one: nothing missing, nothing more.
///
/// # Errors
/// What is wrong with them, as a sentence.
pub(super) fn facts_are_those_of(facts: &str, through: u32, known: &Known<'_>) -> Result<(), String> {
    let told = Told::read(facts)?;
    if told.through != through {
        return Err(format!("the facts are of the turns up to {}, and the summary of those up to {through}", told.through));
    }
    let applied = told.lines.iter().filter(|line| line.fate == "applied").count();
    let sum = if told.lines.is_empty() { "none".to_owned() } else { format!("{applied} of {} applied", told.lines.len()) };
    if told.sum != sum {
        return Err(format!("the facts list {sum}, and sum it up as {}", told.sum));
    }
    let mut lines = told.lines;
    for (key, became) in known.calls.iter().filter(|(key, _)| key.turn <= through) {
        match lines.iter().position(|line| line.turn == key.turn && became.is_told_by(line)) {
            Some(place) => {
                lines.remove(place);
            }
            None if became.may_be_missing() => {}
            None => return Err(format!("the facts do not tell what became of the call {key}: {became:?}")),
        }
    }
    match lines.first() {
        Some(line) => Err(format!("the facts tell of turn {}: {:?}, and nothing of that kind was seen", line.turn, line.text)),
        None => Ok(()),
    }
}

/// One line of the facts.
struct Line<'t> {
    turn: u32,
    tool: &'t str,
    fate: &'static str,
    rows: BTreeSet<(String, i64)>,
    /// Rows that are counted and not named.
    more: usize,
    text: &'t str,
}

struct Told<'t> {
    through: u32,
    sum: &'t str,
    lines: Vec<Line<'t>>,
}

impl<'t> Told<'t> {
    /// Reads the block line by line; there is nothing else in it than the harness puts there.
    fn read(facts: &'t str) -> Result<Self, String> {
        let strange = |line: &str| format!("the facts hold what is no fact: {line:?}");
        let lines: Vec<&str> = facts.lines().collect();
        let ["<earlier_turns>", head, listed @ .., closing, "</earlier_turns>"] = lines.as_slice() else { return Err(strange(facts)) };
        let (through, sum) = head_of(head).ok_or_else(|| strange(head))?;
        if !closing.starts_with("This is what the database holds of it.") {
            return Err(strange(closing));
        }
        let (mut turn, mut lines) = (0, Vec::new());
        for line in listed {
            match line.strip_prefix("turn ").and_then(|rest| rest.strip_suffix(':')?.parse().ok()) {
                Some(number) => turn = number,
                None => lines.push(Line::read(turn, line).ok_or_else(|| strange(line))?),
            }
        }
        Ok(Self { through, sum, lines })
    }
}

/// The last turn that is told of, and the sum of all changes.
fn head_of(line: &str) -> Option<(u32, &str)> {
    let (turns, sum) = line.split_once("; nothing of that has to be done again. Changes in all: ")?;
    let through = match turns.strip_prefix("Turns 1 to ") {
        Some(rest) => rest.strip_suffix(" are over and left out here")?.parse().ok()?,
        None => (turns == "Turn 1 is over and left out here").then_some(1)?,
    };
    Some((through, sum))
}

const FATES: [(&str, &str); 4] =
    [("applied", "applied — "), ("no change", "no change — "), ("FAILED", "FAILED — "), ("UNKNOWN", "UNKNOWN — ")];
const FOUND: &str = " (the audit trail holds: ";

impl<'t> Line<'t> {
    fn read(turn: u32, text: &'t str) -> Option<Self> {
        let (tool, told) = text.strip_prefix("- ")?.split_once(": ")?;
        let (fate, rest) = FATES.iter().find_map(|(fate, head)| Some((*fate, told.strip_prefix(head)?)))?;
        let rows = match fate {
            "applied" => rest,
            "no change" => "",
            _ => rest.rsplit_once(FOUND).and_then(|(_, rows)| rows.strip_suffix(')')).unwrap_or_default(),
        };
        let (mut line, groups) = (Self { turn, tool, fate, rows: BTreeSet::new(), more: 0, text }, rows.split("; "));
        for group in groups.filter(|group| !group.is_empty()) {
            line.take_rows(group)?;
        }
        Some(line)
    }

    /// `created skills #1, #2 and 3 more`; of a discard, no row is named.
    fn take_rows(&mut self, group: &str) -> Option<()> {
        let Some((name, ids)) = group.split_once(" #") else {
            return group.starts_with(Act::Discard.done()).then_some(());
        };
        let (ids, more) = ids.split_once(" and ").unwrap_or((ids, "0 more"));
        self.more += more.strip_suffix(" more")?.parse::<usize>().ok()?;
        for id in ids.split(", #") {
            self.rows.insert((name.to_owned(), id.parse().ok()?));
        }
        Some(())
    }
}

impl Became<'_> {
    fn is_told_by(&self, line: &Line<'_>) -> bool {
        let same_tool = self.tool.is_none_or(|tool| tool == line.tool);
        let own = |(done, section, id): &(&str, &str, i64)| (format!("{done} {section}"), *id);
        let rows: BTreeSet<(String, i64)> = self.rows.iter().map(own).collect();
        let same_rows = line.rows.is_subset(&rows) && line.rows.len() + line.more == rows.len();
        let fate = self.fate.map(word_of);
        let doubtful = line.fate == "UNKNOWN" && self.lost;
        same_tool && same_rows && (fate.is_none_or(|fate| fate == line.fate) || doubtful)
    }

    /// A call that committed nothing, and whose fate was lost.
    fn may_be_missing(&self) -> bool {
        self.lost && self.rows.is_empty()
    }
}

fn word_of(fate: &Fate) -> &'static str {
    match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "FAILED",
        Fate::Unknown { .. } => "UNKNOWN",
    }
}
