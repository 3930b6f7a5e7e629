//! The pattern gate's reading (J2, J9): what a text may be, and whether the lists cover its language at all. What they do not cover is never
//! waved through. The patterns themselves are data, in [`lists`]; this must not know the turn.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};

pub mod lists;

use lists::{CALLS, COMMON, LANGUAGES, SIGNS};

/// What a text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// A completion claim.
    Claim,
    /// A promise of action.
    Promise,
    /// A tool call written out as text.
    NarratedCall,
}

static CALL_SET: LazyLock<RegexSet> = LazyLock::new(|| set(CALLS));
static CLAIM_SET: LazyLock<RegexSet> = LazyLock::new(|| set(LANGUAGES.iter().map(|phrases| phrases.claims).chain([SIGNS])));
static PROMISE_SET: LazyLock<RegexSet> = LazyLock::new(|| set(LANGUAGES.iter().map(|phrases| phrases.promises)));

/// Characters that the eye passes over and a pattern stumbles on: joiners, direction marks, soft hyphens, Arabic vowel signs.
static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{Cf}\u{064B}-\u{0652}\u{0640}\u{FE00}-\u{FE0F}]"));

/// Letters of scripts in which no listed language is written; marks set apart from their letter; words in two alphabets. No list reads these.
static UNREADABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        [^\P{L}\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Devanagari}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}]
        | [\u{0300}-\u{036F}]
        | \p{Latin}[\p{Cyrillic}\p{Greek}] | [\p{Cyrillic}\p{Greek}]\p{Latin}",
    )
});

fn set<'p>(patterns: impl IntoIterator<Item = &'p str>) -> RegexSet {
    RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .size_limit(1 << 26)
        .build()
        .expect("the lists are constants, and a test compiles them all")
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant, and a test compiles it")
}

/// What a text may be, in any listed language. A call goes before a claim, a claim before a promise.
pub fn looks_like(text: &str) -> Option<Looks> {
    let text = INVISIBLE.replace_all(text, "");
    if CALL_SET.is_match(&text) {
        return Some(Looks::NarratedCall);
    }
    let text = plain(&text);
    if CLAIM_SET.is_match(&text) { Some(Looks::Claim) } else { PROMISE_SET.is_match(&text).then_some(Looks::Promise) }
}

/// Without emphasis marks, with one kind of apostrophe and one kind of space.
fn plain(text: &str) -> Cow<'_, str> {
    const MARKED: [char; 7] = ['*', '_', '`', '~', '’', 'ʼ', '\u{a0}'];
    if !text.contains(MARKED) {
        return Cow::Borrowed(text);
    }
    let mend = |c: char| match c {
        '*' | '`' | '~' => None,
        '_' | '\u{a0}' => Some(' '),
        '’' | 'ʼ' => Some('\''),
        other => Some(other),
    };
    Cow::Owned(text.chars().filter_map(mend).collect())
}

/// Whether the lists surely cover a text's language (J9): every sentence of it is beyond doubt in a listed language, and no letter of it is one
/// that no list reads. A claim in another language can thus not hide behind a long sentence in a listed one. What is too short to tell is not
/// covered, and goes to the judge.
pub fn covered(text: &str) -> bool {
    let text = INVISIBLE.replace_all(text, "");
    !UNREADABLE.is_match(&text) && text.contains(char::is_alphabetic) && sentences(&text).all(is_listed)
}

fn is_listed(sentence: &str) -> bool {
    let detected = whatlang::detect(sentence).filter(whatlang::Info::is_reliable);
    match detected {
        Some(info) => LANGUAGES.iter().any(|phrases| phrases.lang == info.lang()),
        None => is_common(sentence),
    }
}

/// Whether a third of a sentence's words, and two at least, are the small words of one language for which the detector is seldom sure.
fn is_common(sentence: &str) -> bool {
    let words = sentence.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    COMMON.iter().any(|common| {
        let known = words.iter().filter(|word| common.contains(&word.as_str())).count();
        known >= 2 && known * 3 >= words.len()
    })
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', '!', '?', '\n', '。', '！', '？', '।', '؟', '…']).filter(|sentence| sentence.contains(char::is_alphabetic))
}
