//! Finds a member of a JSON object by its bytes, without parsing the rest.

use std::ops::Range;

/// Where the value of a member of the outermost object stands. `None` where there is none, or where the text is no JSON that far.
pub(super) fn member(body: &[u8], name: &str) -> Option<Range<usize>> {
    let mut at = body.iter().position(|b| *b == b'{')? + 1;
    loop {
        let key_start = at + body.get(at..)?.iter().position(|b| *b == b'"')?;
        let key_end = string_end(body, key_start)?;
        let colon = key_end + body.get(key_end..)?.iter().position(|b| *b == b':')?;
        let start = colon + 1 + body.get(colon + 1..)?.iter().position(|b| !b.is_ascii_whitespace())?;
        let end = value_end(body, start)?;
        if body.get(key_start + 1..key_end - 1) == Some(name.as_bytes()) {
            return Some(start..end);
        }
        at = end;
    }
}

/// Behind the closing quote of a string that begins here.
fn string_end(body: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match body.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Behind a value that begins here.
fn value_end(body: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0usize);
    loop {
        match body.get(at)? {
            b'"' => at = string_end(body, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => return Some(at),
            _ => at += 1,
        }
        if depth == 0 && matches!(body.get(at - 1), Some(b'"' | b'}' | b']')) {
            return Some(at);
        }
    }
}
