//! What the harness says: the turn report (R1–R5, L7), the pending block (P3), corrections (G2, J7), receipts (U1) and the lines of B6
//! and U3. One place words them all, and one function makes everybody else's imitations harmless (R4).

use std::borrow::Cow;

use super::draft::{Draft, Entry, Fate, RowChange};
use super::exit::{Receipt, Stop, Tally, TurnRecord};
use super::guard::About;
use super::pending::{Pending, PendingEntry};

/// The names that only the harness may put between angle brackets in what a model is sent.
pub const RESERVED: [&str; 4] = ["turn_report", "pending", "correction", "earlier_turns"];

/// The header that only the harness may write.
const HEADER: &str = "changes this turn:";
const OPENING_HEADER: &str = "changes last turn:";

/// R5: the longest reason that is shown, in characters.
pub const REASON_CHARS: usize = 200;

/// R1, R2: the report of the changes of this turn so far. The same shape every time.
pub fn turn_report(draft: &Draft) -> String {
    report(HEADER, &draft.entries)
}

/// L7: the report of what the previous turn changed, in the same shape, "none" included.
pub fn opening_report(entries: &[Entry]) -> String {
    report(OPENING_HEADER, entries)
}

fn report(header: &str, entries: &[Entry]) -> String {
    let mut text = format!("<turn_report>\n{header} {}\n", headline(entries));
    for entry in entries {
        text.push_str(&line_of(entry));
        text.push('\n');
    }
    text.push_str("This is what the database holds. Describe nothing as done that is not listed here as applied.\n</turn_report>");
    text
}

/// C2: what the turns up to this one did, from the audit trail, turn by turn. It stands where their messages stood.
pub fn earlier_turns(through: u32, entries: &[Entry]) -> String {
    let turns = if through <= 1 { "Turn 1 is".to_owned() } else { format!("Turns 1 to {through} are") };
    let mut text = format!(
        "<earlier_turns>\n{turns} over and left out here; nothing of that has to be done again. Changes in all: {}\n",
        headline(entries)
    );
    let mut turn = None;
    for entry in entries {
        if turn.replace(entry.key.turn) != Some(entry.key.turn) {
            text.push_str(&format!("turn {}:\n", entry.key.turn));
        }
        text.push_str(&line_of(entry));
        text.push('\n');
    }
    text.push_str(
        "This is what the database holds of it. Describe nothing as done that is not listed as applied, here or in a report. What is \
         unfinished stands in the pending block, if there is one.\n</earlier_turns>",
    );
    text
}

/// What a summariser retold, as the model is sent it: marked as hearsay, and harmless (R4). `None` where nothing was.
pub fn retelling(words: &str) -> Option<String> {
    (!words.trim().is_empty()).then(|| format!("Talked about in those turns, as retold by a model, which is no record: {}", defuse(words)))
}

fn headline(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "none".into();
    }
    let applied = entries.iter().filter(|entry| entry.fate == Fate::Applied).count();
    format!("{applied} of {} applied", entries.len())
}

/// R1: one line for one mutating call. Also what a receipt shows.
pub fn line_of(entry: &Entry) -> String {
    let tool = escaped(&entry.tool);
    match &entry.fate {
        Fate::Applied => format!("- {tool}: applied — {}", rows_in_words(&entry.rows)),
        Fate::NoChange => format!("- {tool}: no change — the {} were like that already", entry.section),
        Fate::Failed { reason } => format!("- {tool}: FAILED — {reason}{}", found_all_the_same(&entry.rows)),
        Fate::Unknown { reason } => format!("- {tool}: UNKNOWN — {reason}{}", found_all_the_same(&entry.rows)),
    }
}

fn found_all_the_same(rows: &[RowChange]) -> String {
    if rows.is_empty() { String::new() } else { format!(" (the audit trail holds: {})", rows_in_words(rows)) }
}

/// Rows grouped by what happened to them: `created experiences #1, #2`.
fn rows_in_words(rows: &[RowChange]) -> String {
    let mut groups: Vec<(String, Vec<i64>)> = Vec::new();
    for row in rows {
        let name = format!("{} {}", row.act.done(), row.section);
        match groups.last_mut() {
            Some((last, ids)) if *last == name => ids.push(row.id),
            _ => groups.push((name, vec![row.id])),
        }
    }
    let words: Vec<String> = groups.iter().map(|(name, ids)| format!("{name}{}", ids_in_words(ids))).collect();
    words.join("; ")
}

fn ids_in_words(ids: &[i64]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (place, id) in ids.iter().filter(|id| **id != 0).enumerate() {
        if place == SHOWN {
            text.push_str(&format!(" and {} more", ids.len() - SHOWN));
            break;
        }
        text.push_str(if place == 0 { " " } else { ", " });
        text.push_str(&format!("#{id}"));
    }
    text
}

/// P3: the block that stands at the top of every model call while something is pending.
pub fn pending_block(pending: &Pending) -> Option<String> {
    if pending.is_empty() {
        return None;
    }
    let mut text = String::from("<pending>\nUnfinished, and NOT saved:\n");
    for entry in pending.entries() {
        text.push_str(&format!("{}\n", entry_json(entry)));
    }
    text.push_str("Finish it with the tool once nothing is missing, or drop it with discard_pending_entry.\n</pending>");
    Some(text)
}

/// An entry as one line of JSON in which no angle bracket is left, and nothing else that is the harness's own (R4).
fn entry_json(entry: &PendingEntry) -> String {
    let value = serde_json::json!({
        "section": entry.section,
        "tool": entry.tool,
        "known": entry.known,
        "missing": entry.missing,
    });
    let text = value.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    defuse(&text).into_owned()
}

/// G2, J7: the one correction of a turn.
///
/// `draft` is `None` under a policy without reports.
pub fn correction(about: &About, draft: Option<&Draft>, pending: &Pending) -> String {
    let body = match about {
        About::Unfinished { section } => unfinished(pending.get(section)),
        About::Unbacked { claims } => unbacked(claims),
        About::Promised => {
            "You promised an action and ended the turn without it. Do it now by calling the tool, or say plainly that it has \
                            not been done."
                .to_owned()
        }
        About::FalseFailure { claims } => format!(
            "You reported a failure that the record does not know{}. Say what the report above says, and nothing else.",
            listed(claims)
        ),
        About::Custom { text } => defuse(&bounded(text, 2000)).into_owned(),
    };
    let report = draft.map(|draft| turn_report(draft) + "\n").unwrap_or_default();
    format!("<correction>\n{report}{body}\n</correction>")
}

fn unfinished(entry: Option<&PendingEntry>) -> String {
    let entry = entry.map(entry_json).unwrap_or_default();
    format!(
        "This entry is unfinished, and nothing was tried for it this turn:\n{entry}\nThree ways on: call the tool that writes it now; ask the \
         user for what is missing; or call discard_pending_entry if the user cancelled it. It must not be described as saved."
    )
}

fn unbacked(claims: &[String]) -> String {
    format!(
        "Your reply says that something was done, and no applied change stands behind it{}. Do the action now by calling the tool, if the \
         user asked for it, or say plainly that it has not happened. Never write anything that the user has not asked for.",
        listed(claims)
    )
}

fn listed(claims: &[String]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let claims: Vec<String> = claims.iter().map(|claim| escaped(claim)).collect();
    format!(" ({})", bounded(&claims.join("; "), 400))
}

/// U1: the receipt as the user reads it. Constant in shape, "No change was made" included.
pub fn receipt(receipt: &Receipt) -> String {
    let mut text = String::from("── receipt ──\n");
    if receipt.rows().next().is_none() {
        let nobody_knows = receipt.unread || receipt.entries.iter().any(|entry| matches!(entry.fate, Fate::Unknown { .. }));
        text.push_str(if nobody_knows { "No change is known to have been made.\n" } else { "No change was made.\n" });
    }
    for entry in &receipt.entries {
        text.push_str(&line_of(entry));
        text.push('\n');
    }
    if receipt.unread {
        text.push_str("The audit trail could not be read: rows of calls that are not known to have been applied may be missing.\n");
    }
    let earlier = receipt.earlier.as_deref().map_or_else(|| "could not be read".to_owned(), tallies_in_words);
    text.push_str(&format!("Earlier in this conversation: {earlier}."));
    text
}

/// L10: the receipt of a turn that died, told as the next one opens.
pub fn late_receipt(record: &TurnRecord) -> String {
    format!("{}\n{}", record.lines.join("\n"), receipt(&record.receipt))
}

fn tallies_in_words(tallies: &[Tally]) -> String {
    if tallies.is_empty() {
        return "no change".into();
    }
    let words: Vec<String> = tallies.iter().map(|tally| format!("{} {} ×{}", tally.act.done(), tally.section, tally.count)).collect();
    words.join(", ")
}

/// U3: the line under a contested turn.
pub fn contested_line(about: &About) -> String {
    match about {
        About::Promised => "⚠ The reply promises an action that was not carried out in this turn. See the receipt.".into(),
        About::FalseFailure { .. } => "⚠ The reply reports a failure that is not on record. See the receipt.".into(),
        _ => "⚠ The reply says more than was done. The receipt below is what the database holds.".into(),
    }
}

/// B6: the line that tells the user why a turn stopped; `None` where the reply itself was the end.
pub fn stop_line(stop: &Stop) -> Option<String> {
    let why = match stop {
        Stop::Replied => return None,
        Stop::Iterations => "the limit on steps in one turn was reached".to_owned(),
        Stop::Strikes { tool, failure } => {
            format!("the tool {} failed in the same way too often ({failure})", bounded(&escaped(tool), 64))
        }
        Stop::TimeLimit => "the time limit of the turn was reached".into(),
        Stop::Oversize { .. } => "the model's reply was too large and was cut".into(),
        Stop::Empty => "the model gave no answer".into(),
        Stop::Truncated => "the model's reply was cut off at its token limit".into(),
        Stop::Refused => "the provider refused to go on".into(),
        Stop::Died => "the program ended in the middle of it".into(),
        Stop::Cut => "the connection to the model broke in mid-reply".into(),
        Stop::Cancelled => "it was cancelled".into(),
        Stop::Provider { error } => format!("the model could not be reached ({})", bounded(&escaped(error), REASON_CHARS)),
        Stop::Memory { error } => {
            format!("the conversation could not be stored ({})", bounded(&escaped(error), REASON_CHARS))
        }
    };
    Some(format!("■ This turn was stopped: {why}. It is not complete; the receipt below is what was done."))
}

/// R5: a reason: short, escaped, bounded.
pub fn reason(text: &str) -> String {
    bounded(&escaped(text), REASON_CHARS)
}

/// On one line, without control characters, and harmless.
pub fn escaped(text: &str) -> String {
    let line: String = text.chars().map(|c| if breaks_a_line(c) { ' ' } else { c }).collect();
    defuse(&line).into_owned()
}

/// Control characters, and those that end a line or turn its direction around.
fn breaks_a_line(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first `most` characters, with a mark where something was cut.
pub fn bounded(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// R4: makes what only the harness may write harmless in other people's text, and leaves it readable: `<turn_report>` becomes
/// `‹turn_report>`, and `changes this turn:` loses its colon. Text without either comes back untouched; nothing else is replaced.
///
/// It reads as a careless eye does: case, width, spaces, joiners, invisible characters and most punctuation do not count.
pub fn defuse(text: &str) -> Cow<'_, str> {
    let mut reader = Reader::default();
    text.char_indices().for_each(|(at, c)| reader.read(at, c));
    let mut harmful = reader.harmful;
    if harmful.is_empty() {
        return Cow::Borrowed(text);
    }
    harmful.sort_unstable();
    let mut out = String::with_capacity(text.len() + harmful.len() * 4);
    let mut rest = 0;
    for at in harmful {
        let (before, from) = (&text[rest..at], &text[at..]);
        let c = from.chars().next().unwrap_or_default();
        let gap = if before.ends_with(char::is_whitespace) { "" } else { " " };
        out.push_str(before);
        out.push_str(&if is_colon(c) { format!("{gap}–") } else { "‹".to_owned() });
        rest = at + c.len_utf8();
    }
    out.push_str(&text[rest..]);
    Cow::Owned(out)
}

/// Looks for imitations in one pass.
#[derive(Default)]
struct Reader {
    /// Where the brackets and colons stand that make imitations.
    harmful: Vec<usize>,
    /// Where an opening bracket stands, as long as what follows it may be a reserved name.
    bracket: Option<usize>,
    /// The letters after it.
    name: String,
    /// The last letters, as long as a colon after them may end a header.
    words: String,
}

impl Reader {
    fn read(&mut self, at: usize, c: char) {
        if is_opening(c) {
            (self.bracket, self.name) = (Some(at), String::new());
        } else if let Some(letter) = letter(c) {
            self.letter(letter);
        } else if matches!(c, '>' | '‹') {
            self.bracket = None;
        } else if is_colon(c) {
            if HEADER_WORDS.contains(&self.words.as_str()) {
                self.harmful.push(at);
            }
            self.words.clear();
        } else if c.is_alphanumeric() || matches!(c, '.' | ',' | ';' | '?' | '!' | '–') {
            self.words.clear();
        }
    }

    fn letter(&mut self, letter: char) {
        if self.words.chars().count() == HEADER_WORDS[0].len() {
            self.words.remove(0);
        }
        self.words.push(letter);
        let Some(bracket) = self.bracket else { return };
        self.name.push(letter);
        let begun: Vec<bool> = RESERVED.iter().filter_map(|reserved| begins(&self.name, reserved)).collect();
        if begun.contains(&true) {
            self.harmful.push(bracket);
        }
        if begun.is_empty() || begun.contains(&true) {
            self.bracket = None;
        }
    }
}

/// What stands before the colon of a report's header, of one length.
const HEADER_WORDS: [&str; 2] = ["thisturn", "lastturn"];

/// `None` where `name` does not begin a reserved name, otherwise whether it is the whole of it.
fn begins(name: &str, reserved: &str) -> Option<bool> {
    let mut letters = reserved.chars().filter(|c| *c != '_');
    name.chars().all(|c| letters.next() == Some(c)).then(|| letters.next().is_none())
}

/// A letter without its case and width.
fn letter(c: char) -> Option<char> {
    let narrow = match c {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' => char::from_u32(u32::from(c) - u32::from('Ａ') + u32::from('A')).unwrap_or(c),
        _ => c,
    };
    narrow.is_alphabetic().then(|| narrow.to_lowercase().next().unwrap_or(narrow))
}

fn is_opening(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤' | '⟨' | '〈' | '\u{2329}')
}

fn is_colon(c: char) -> bool {
    matches!(c, ':' | '：' | '﹕')
}
