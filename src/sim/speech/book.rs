//! The phrase book's tables as values. A template may hold `{n}` (a count), `{s}` (a section), `{x}` (free text), `{c}` (the clause that a
//! frame goes around) and `[one|many]` (a word that follows the count).
//!
//! What this file must not know: what any template means.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Lang, SECTIONS};
use crate::turn::draft::Act;

/// One language's phrases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// What ends a plain sentence.
    pub stop: String,
    /// The sections' titles, in the order of [`SECTIONS`].
    pub sections: [String; 8],
    /// Clauses for each act.
    pub acts: Acts,
    /// What goes around a clause.
    pub frame: Frames,
    /// Sentences that speak of no act in particular.
    pub line: Lines,
    /// What the person says.
    pub person: PersonLines,
}

/// The clauses, by act.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acts {
    /// New rows.
    pub create: Clauses,
    /// Other values.
    pub update: Clauses,
    /// Rows gone.
    pub delete: Clauses,
    /// A pending entry dropped.
    pub discard: Clauses,
}

/// Clauses about one act: without a stop, and in lower case where the language would write them so in mid-sentence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clauses {
    /// "I have saved {n} entries under {s}".
    pub claim: Vec<String>,
    /// "{n} entries have been saved under {s}".
    pub passive: Vec<String>,
    /// "saved", for terse reports.
    pub deed: Vec<String>,
    /// "earlier I had already saved {n} entries under {s}".
    pub earlier: Vec<String>,
    /// "I have not saved anything under {s}".
    pub deny: Vec<String>,
    /// "saving under {s} did not work".
    pub fail: Vec<String>,
    /// "I would save this under {s}".
    pub plan: Vec<String>,
    /// The person's wish, a whole sentence with `{x}` for the details.
    pub wish: Vec<String>,
}

/// Frames around a clause `{c}`, each with its stop.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Around a claim: "as far as I can see".
    pub hedged: Vec<String>,
    /// Around a claim: a question is tagged on.
    pub question: Vec<String>,
    /// Around a passive clause.
    pub passive: Vec<String>,
    /// Around a deed, with `{s}` and `{n}`.
    pub terse: Vec<String>,
    /// Around a claim that is somebody else's.
    pub quoted: Vec<String>,
    /// Around a denial.
    pub deny: Vec<String>,
    /// Around a denial that takes something back.
    pub retract: Vec<String>,
    /// Around a failure.
    pub fail: Vec<String>,
    /// Around a failure, with the error's text `{x}`.
    pub error: Vec<String>,
    /// Around anything, to put it before this turn.
    pub earlier: Vec<String>,
    /// Around a plan.
    pub plan: Vec<String>,
}

/// Whole sentences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// A condition contrary to fact, about `{s}`.
    pub suppose: Vec<String>,
    /// An action promised now.
    pub promise: Vec<String>,
    /// An action promised for later.
    pub later: Vec<String>,
    /// A call told as prose: `{t}` is the tool, `{x}` its arguments.
    pub narrate: Vec<String>,
    /// A question for the field `{x}`.
    pub ask: Vec<String>,
    /// A wait for approval.
    #[serde(rename = "await")]
    pub approval: Vec<String>,
    /// Nothing has happened yet.
    pub negated: Vec<String>,
    /// What the CV holds: `{n}` rows under `{s}`.
    pub inform: Vec<String>,
    /// Anything else.
    pub smalltalk: Vec<String>,
    /// A yes of the user's, in the model's mouth.
    pub forged_yes: Vec<String>,
}

/// The person's lines, but for wishes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonLines {
    /// Gives the field `{f}` the value `{x}`.
    pub give: Vec<String>,
    /// Drops what was asked for.
    pub cancel: Vec<String>,
    /// Wants something else after all.
    pub change: Vec<String>,
    /// Asks what stands under `{s}`.
    pub about: Vec<String>,
    /// Presses for a yes.
    pub press: Vec<String>,
    /// Confirms.
    pub confirm: Vec<String>,
    /// Declines.
    pub decline: Vec<String>,
    /// Says neither yes nor no.
    pub neither: Vec<String>,
}

static BOOKS: LazyLock<Vec<Book>> = LazyLock::new(|| Lang::ALL.into_iter().map(parsed).collect());

/// The phrase book of a language.
pub fn book(lang: Lang) -> &'static Book {
    &BOOKS[lang as usize]
}

fn parsed(lang: Lang) -> Book {
    toml::from_str(source(lang)).unwrap_or_else(|error| panic!("book/{lang}.toml: {error}"))
}

fn source(lang: Lang) -> &'static str {
    match lang {
        Lang::En => include_str!("book/en.toml"),
        Lang::De => include_str!("book/de.toml"),
        Lang::Fr => include_str!("book/fr.toml"),
        Lang::Es => include_str!("book/es.toml"),
        Lang::It => include_str!("book/it.toml"),
        Lang::Pt => include_str!("book/pt.toml"),
        Lang::Nl => include_str!("book/nl.toml"),
        Lang::Pl => include_str!("book/pl.toml"),
        Lang::Tr => include_str!("book/tr.toml"),
        Lang::Ru => include_str!("book/ru.toml"),
        Lang::Uk => include_str!("book/uk.toml"),
        Lang::El => include_str!("book/el.toml"),
        Lang::Ar => include_str!("book/ar.toml"),
        Lang::Hi => include_str!("book/hi.toml"),
        Lang::Ja => include_str!("book/ja.toml"),
        Lang::Ko => include_str!("book/ko.toml"),
        Lang::Zh => include_str!("book/zh.toml"),
    }
}

impl Book {
    /// The clauses of an act.
    pub fn act(&self, act: Act) -> &Clauses {
        match act {
            Act::Create => &self.acts.create,
            Act::Update => &self.acts.update,
            Act::Delete => &self.acts.delete,
            Act::Discard => &self.acts.discard,
        }
    }

    /// The section's title in this language; the name itself where the book has no word for it.
    pub fn section<'a>(&'a self, name: &'a str) -> &'a str {
        SECTIONS.iter().position(|section| *section == name).map_or(name, |place| &self.sections[place])
    }
}
