//! Cuts a reply into sentences and blocks.
//!
//! What this file must not know: any phrase of the book.

/// Tags that make a block of their own.
pub(super) const TAGS: [&str; 10] = [
    "tool_call",
    "tool_use",
    "invoke",
    "function_call",
    "tool_result",
    "function_result",
    "turn_report",
    "pending",
    "correction",
    "earlier_turns",
];

/// The sentences and blocks of a text, in order, trimmed, none of them empty.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = block_end(rest).unwrap_or_else(|| prose_end(rest)).max(1);
        let (unit, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let unit = unit.trim();
        if !unit.is_empty() {
            found.push(unit);
        }
        rest = after.trim_start();
    }
    found
}

/// Where the block that the text opens with ends; `None` if it opens with prose.
fn block_end(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix("```") {
        return Some(inner.find("```").map_or(text.len(), |at| at + 6));
    }
    if text.starts_with('{') {
        return object_end(text);
    }
    let tag = opening_tag(text)?;
    let close = format!("</{tag}>");
    text.find(&close).map(|at| at + close.len())
}

/// The name of the tag that the text opens with, if it is one of [`TAGS`].
pub(super) fn opening_tag(text: &str) -> Option<&'static str> {
    let inner = text.strip_prefix('<')?;
    TAGS.into_iter().find(|tag| inner.strip_prefix(tag).is_some_and(|after| after.starts_with(['>', ' '])))
}

/// Where the brace that the text opens with is closed, outside strings.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the sentence that the text opens with ends: behind its terminators, or before a line break or a fence. What stands in backticks
/// is passed over.
fn prose_end(text: &str) -> usize {
    let mut greek = false;
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        match c {
            '\n' => return at,
            '`' if text[at..].starts_with("```") => return at,
            '`' => skip_to = closing_backtick(text, at),
            _ if is_end(c, greek) => {
                let end = behind(text, at);
                if ends_anywhere(c) || !runs_on(text, at, end) {
                    return end;
                }
            }
            'Α'..='ώ' => greek = true,
            _ => {}
        }
    }
    text.len()
}

/// Whether what follows shows that the mark did not end a sentence: `example.com`, `1.5`. No blank is asked for behind a sentence, since
/// the replies of one turn are shown one right behind the other.
fn runs_on(text: &str, at: usize, end: usize) -> bool {
    let next = text[end..].chars().next();
    let after_digit = text[..at].ends_with(|c: char| c.is_ascii_digit());
    next.is_some_and(|c| c.is_lowercase() || matches!(c, '/' | '_' | '-' | ',' | ':' | '\'') || (after_digit && c.is_ascii_digit()))
}

fn ends_anywhere(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '।' | '؟')
}

fn is_end(c: char, greek: bool) -> bool {
    ends_anywhere(c) || matches!(c, '.' | '!' | '?' | '…') || (greek && matches!(c, ';' | '\u{37e}'))
}

fn closing_backtick(text: &str, at: usize) -> usize {
    text[at + 1..].find('`').map_or(at, |length| at + length + 2)
}

/// Behind all terminators and closing marks from here on.
fn behind(text: &str, at: usize) -> usize {
    let tail = &text[at..];
    let is_tail = |c: char| is_end(c, true) || matches!(c, '”' | '"' | '»' | ')' | '」' | '’' | '*');
    at + tail.find(|c| !is_tail(c)).unwrap_or(tail.len())
}
