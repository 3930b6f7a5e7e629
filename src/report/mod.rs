//! One summary, many forms. Reads outcomes and events only.
//!
//! What this room must not know: how a run was made. Text from an adversary is data here: [`printable`] takes from it all that could move a
//! terminal's cursor.

pub mod campaign;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod statistics;
pub mod story;
pub mod summary;
pub mod terminal;

/// Text without control characters, and without characters that turn the direction of what follows.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| !matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| harmless(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
