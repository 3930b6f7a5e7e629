//! Reads what the harness lists, a line a call, as the person and the model read it: the words of a receipt or a report, not the data that
//! they were made from.

use crate::turn::draft::{Act, Entry, Fate};
use crate::turn::exit::Receipt;

/// Whether a text lists exactly these calls, each with its own fate, and applied ones with what they changed.
pub fn lists(text: &str, entries: &[Entry]) -> bool {
    let mut lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    for entry in entries {
        let Some(place) = lines.iter().position(|line| tells(line, entry)) else { return false };
        lines.remove(place);
    }
    lines.is_empty()
}

/// Whether a shown receipt says what it was made from (U1).
pub fn shows(text: &str, receipt: &Receipt) -> bool {
    let says_nothing = text.lines().any(|line| line.starts_with("No change"));
    lists(text, &receipt.entries) && !(says_nothing && receipt.rows().next().is_some())
}

fn tells(line: &str, entry: &Entry) -> bool {
    let told = line.strip_prefix("- ").and_then(|line| line.split_once(": "));
    let Some((tool, told)) = told else { return false };
    tool == entry.tool && told.starts_with(word_of(&entry.fate)) && (entry.fate != Fate::Applied || tells_rows(told, entry))
}

/// Long lists of ids are cut, so only those that fit are looked for.
fn tells_rows(told: &str, entry: &Entry) -> bool {
    const FIT: usize = 8;
    let ids: Vec<&str> = told.split([' ', ',', ';']).collect();
    entry.rows.iter().all(|row| {
        let shown = entry.rows.len() > FIT || row.act == Act::Discard || ids.contains(&format!("#{}", row.id).as_str());
        shown && told.contains(&format!("{} {}", row.act.done(), row.section))
    })
}

fn word_of(fate: &Fate) -> &'static str {
    match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "FAILED",
        Fate::Unknown { .. } => "UNKNOWN",
    }
}
