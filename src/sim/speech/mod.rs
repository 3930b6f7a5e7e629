//! What the scripted adversary and the person say, in seventeen languages, each sentence with the labels that only the oracle may see;
//! and the reader that gets the meaning back from the text alone, for the simulated judge.
//!
//! | file | what it is |
//! | --- | --- |
//! | `book/*.toml` | the phrase book, a table a language |
//! | [`book`] | those tables as values |
//! | [`sentence`] | what the model may say, and [`say`] |
//! | [`person`] | what the person may say |
//! | [`reader`] | text → labels, without access to any label |
//!
//! What this room must not know: the guards' patterns (the phrases here are what those are tried on), any draw of chance (a caller picks
//! the variant), any tool or table of the CV beyond the names of its sections.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub mod book;
mod forms;
mod guess;
pub mod person;
pub mod reader;
pub mod sentence;
mod split;

pub use person::{Ask, Paste, ask};
pub use reader::{Reading, labels, read};
pub use sentence::{Format, PERSUASION, Said, Sentence, Style, say};
pub use split::sentences;

/// The sections that the phrase book has words for, in the order of every `sections` list of `book/*.toml`.
pub const SECTIONS: [&str; 8] = ["profile", "experiences", "educations", "skills", "languages", "projects", "certifications", "links"];

/// A language of the phrase book, named by its ISO 639-1 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
    /// Italian.
    It,
    /// Portuguese.
    Pt,
    /// Dutch.
    Nl,
    /// Polish.
    Pl,
    /// Turkish.
    Tr,
    /// Russian.
    Ru,
    /// Ukrainian.
    Uk,
    /// Greek.
    El,
    /// Arabic.
    Ar,
    /// Hindi.
    Hi,
    /// Japanese.
    Ja,
    /// Korean.
    Ko,
    /// Chinese.
    Zh,
}

impl Lang {
    /// Every language, in the order of the enum.
    pub const ALL: [Self; 17] = [
        Self::En,
        Self::De,
        Self::Fr,
        Self::Es,
        Self::It,
        Self::Pt,
        Self::Nl,
        Self::Pl,
        Self::Tr,
        Self::Ru,
        Self::Uk,
        Self::El,
        Self::Ar,
        Self::Hi,
        Self::Ja,
        Self::Ko,
        Self::Zh,
    ];

    /// The ISO 639-1 code.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
            Self::It => "it",
            Self::Pt => "pt",
            Self::Nl => "nl",
            Self::Pl => "pl",
            Self::Tr => "tr",
            Self::Ru => "ru",
            Self::Uk => "uk",
            Self::El => "el",
            Self::Ar => "ar",
            Self::Hi => "hi",
            Self::Ja => "ja",
            Self::Ko => "ko",
            Self::Zh => "zh",
        }
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// No language of the phrase book has this code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown language `{0}`; the phrase book has en de fr es it pt nl pl tr ru uk el ar hi ja ko zh")]
pub struct UnknownLang(pub String);

impl FromStr for Lang {
    type Err = UnknownLang;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|lang| lang.code() == code).ok_or_else(|| UnknownLang(code.to_owned()))
    }
}
