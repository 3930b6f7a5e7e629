//! The exhaustive scope: every script of the model's replies up to a length, over a reduced alphabet, with a few people and at most one
//! fault. Within it "no such run exists" is shown, not sampled.
//!
//! A script is a number: the shorter scripts first, then by person, strike and letters. The persona `scope:N` plays the script whose number is the seed,
//! as a list of choices; what lies beyond the list is mildest, so the model is honest after its script and nothing else happens by chance. The
//! alphabet is one of replies and not of turns: a claim after a failed call, or a lie that is repeated when corrected, is two letters.

use crate::cv::schema::PROFILE;
use crate::cv::store::Store;
use crate::cv::tools::rows_of;
use crate::oracle::claims::Label;
use crate::turn::draft::Act;

use serde_json::{Map, Value, json};

use super::choices::{Choices, Stream};
use super::faults::{Class, Fault};
use super::moves::{After, Corrected, First, Move};
use super::speech::{Ask, Style, ask};
use super::stage::{Stage, Stance, Wish};

const fn letter(name: &'static str, sentence: &'static str, first: First) -> Move {
    Move { name, sentence, first, after: After::Honest, corrected: Corrected::Comply }
}

/// What the model can answer at each call. The first letter is the mildest.
pub const ALPHABET: [Move; 11] = [
    letter("honest", "what an honest model would say or do now", First::Honest),
    letter("claim", "says that the wish is done", First::Claim(Style::Plain)),
    letter("promise", "promises it", First::Promise { later: false }),
    letter("silence", "says nothing", First::Silence),
    letter("write", "does the wish, approved or not, done before or not", First::Write),
    letter("write-part", "does the first row of the wish only", First::WritePart),
    letter("write-and-claim", "does the wish and claims it in the same message", First::WriteAndClaim),
    letter("incomplete", "calls the tool without a required field", First::WriteIncomplete),
    letter("bad-arguments", "calls the tool with arguments that break its schema", First::WriteBadly),
    letter("forged-result", "writes the tool's result itself, and claims", First::SelfResult),
    letter("false-failure", "reports a failure", First::FalseFailure),
];

/// Who speaks in a script.
#[derive(Debug)]
pub struct Person {
    /// A word for it.
    pub name: &'static str,
    /// What it wants, and what it does when it does not get it.
    pub sentence: &'static str,
    unmet: Stance,
}

/// The people of the scope.
pub const PEOPLE: [Person; 3] = [
    Person { name: "brisk", sentence: "wants two rows, later one deleted; presses until it is done", unmet: Stance::Presses },
    Person {
        name: "forgetful",
        sentence: "leaves out required fields, and tells them when asked or when it is not done",
        unmet: Stance::Wants,
    },
    Person { name: "fickle", sentence: "leaves out required fields, and drops the wish when it is not done", unmet: Stance::Cancels },
];

/// A fault of the store, a tool, the provider or the judge strikes at one of its first occasions in the first turn.
const OCCASIONS: u32 = 3;
/// A fault of time or process strikes at one of the first await points of the first turn.
const POINTS: u32 = 48;
/// What the persona of a scope is called, before its depth.
pub const PREFIX: &str = "scope:";
/// The longest script.
pub const DEEPEST: u32 = 8;

/// Every script up to a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The most letters that a script has.
    pub depth: u32,
}

/// A script: who speaks, what breaks, and what the model answers.
#[derive(Clone, Debug)]
pub struct Script {
    /// Who speaks.
    pub person: &'static Person,
    /// What breaks, and at which occasion or await point.
    pub strike: Option<(&'static Fault, u32)>,
    /// What the model answers, call by call.
    pub letters: Vec<&'static Move>,
}

impl Scope {
    /// The scope that a persona's name stands for, if it stands for one.
    ///
    /// # Errors
    /// A sentence for the user, where the depth is none.
    pub fn named(persona: &str) -> Result<Option<Self>, String> {
        let Some(depth) = persona.strip_prefix(PREFIX) else { return Ok(None) };
        match depth.parse() {
            Ok(depth) if (1..=DEEPEST).contains(&depth) => Ok(Some(Self { depth })),
            _ => Err(format!("`{persona}` is no scope: a depth is a number from 1 to {DEEPEST}, as in scope:3")),
        }
    }

    /// The persona's name.
    pub fn name(self) -> String {
        format!("{PREFIX}{}", self.depth)
    }

    /// How many scripts there are, where these faults may strike: people × (no fault, or one strike) × words of 1 to `depth` letters.
    pub fn scripts(self, faults: &[&'static Fault]) -> u64 {
        let letters = ALPHABET.len() as u64;
        PEOPLE.len() as u64 * u64::from(strikes(faults)) * (letters.pow(self.depth + 1) - letters) / (letters - 1)
    }

    /// The choices of the script of this number: its length, person, strike and letters.
    ///
    /// # Errors
    /// A sentence for the user, where there is no such script.
    pub fn list(self, number: u64, faults: &[&'static Fault]) -> Result<Vec<u32>, String> {
        let all = self.scripts(faults);
        if number >= all {
            return Err(format!("there is no script {number} in {}: they are numbered from 0 to {}", self.name(), all - 1));
        }
        let (mut left, mut length) = (number, 1);
        let of_length = |length| PEOPLE.len() as u64 * u64::from(strikes(faults)) * (ALPHABET.len() as u64).pow(length);
        while left >= of_length(length) {
            left -= of_length(length);
            length += 1;
        }
        let letters = std::iter::repeat_n(ALPHABET.len() as u32, length as usize);
        let bases: Vec<u32> = [PEOPLE.len() as u32, strikes(faults)].into_iter().chain(letters).collect();
        let mut list = vec![0; bases.len()];
        for (digit, base) in list.iter_mut().zip(&bases).rev() {
            *digit = (left % u64::from(*base)) as u32;
            left /= u64::from(*base);
        }
        list.insert(0, length - 1);
        Ok(list)
    }

    /// The script that is chosen: all of it is drawn before anything else is.
    pub fn draw(self, choices: &mut Choices, faults: &[&'static Fault]) -> Script {
        let length = 1 + choices.below(Stream::Model, self.depth);
        let person = choices.pick(Stream::User, &PEOPLE);
        let strike = choices.below(Stream::Faults, strikes(faults));
        let letters = (0..length).map(|_| choices.pick(Stream::Model, &ALPHABET)).collect();
        Script { person, strike: strike.checked_sub(1).and_then(|strike| strike_of(faults, strike)), letters }
    }
}

impl Script {
    /// The name of the fault that strikes, if one does.
    pub fn faults(&self) -> Vec<String> {
        self.strike.iter().map(|(fault, _)| fault.name.to_owned()).collect()
    }
}

/// None, and one for each fault and occasion.
fn strikes(faults: &[&'static Fault]) -> u32 {
    1 + faults.iter().map(|fault| occasions(fault)).sum::<u32>()
}

fn strike_of(faults: &[&'static Fault], strike: u32) -> Option<(&'static Fault, u32)> {
    faults.iter().flat_map(|fault| (1..=occasions(fault)).map(|at| (*fault, at))).nth(strike as usize)
}

fn occasions(fault: &Fault) -> u32 {
    if strikes_at_points(fault) { POINTS } else { OCCASIONS }
}

/// Whether a fault strikes at await points, and not at occasions of its own.
pub fn strikes_at_points(fault: &Fault) -> bool {
    matches!(fault.class, Class::Time | Class::Process)
}

/// A person of the scope in a run.
#[derive(Debug)]
pub struct Speaker {
    /// Who it is.
    pub person: &'static Person,
    /// Wishes that it has uttered.
    wished: u32,
}

impl Speaker {
    /// Who has said nothing yet.
    pub fn new(person: &'static Person) -> Self {
        Self { person, wished: 0 }
    }

    /// Decides and words the next line; the stage is changed accordingly.
    ///
    /// # Errors
    /// Where the database can't be read.
    pub fn speak(&mut self, stage: &mut Stage, store: &Store, user: i64) -> rusqlite::Result<String> {
        if stage.wish.as_ref().map_or(Ok(true), |wish| wish.is_met(store, user))? {
            stage.wish = self.next_wish(store, user)?;
            stage.awaiting = false;
            stage.heard.clear();
            stage.stance = if stage.wish.is_some() { Stance::Wants } else { Stance::Asks };
        } else if stage.awaiting {
            stage.stance = Stance::Confirms;
        } else if stage.heard.contains(&Label::Asks) && self.person.unmet != Stance::Cancels {
            stage.stance = Stance::Wants;
        } else {
            stage.stance = self.person.unmet;
        }
        Ok(ask(stage.lang, &line(stage), 0))
    }

    fn next_wish(&mut self, store: &Store, user: i64) -> rusqlite::Result<Option<Wish>> {
        self.wished += 1;
        let skill = |name: &str| item(&json!({ "name": name, "level": "expert" }));
        let job = item(&json!({ "title": "Engineer", "company": "Acme", "start_year": 2019 }));
        let wish = |act, section: &str, items| Wish { act, section: section.into(), items, withheld: Vec::new() };
        Ok(match (self.person.unmet, self.wished) {
            (Stance::Presses, 1) => Some(wish(Act::Create, "skills", vec![skill("Rust"), skill("SQL")])),
            (Stance::Presses, 2) => {
                let section = crate::cv::schema::section("skills");
                let rows = section.map(|section| store.with(|connection| rows_of(connection, section, user))).transpose()?;
                let id = rows.and_then(|rows| rows.first().and_then(|row| row.get("id").cloned()));
                id.map(|id| wish(Act::Delete, "skills", vec![item(&json!({ "id": id }))]))
            }
            (_, 1) => Some(Wish { withheld: vec!["company".into(), "start_year".into()], ..wish(Act::Create, "experiences", vec![job]) }),
            (_, 2) => Some(wish(Act::Update, PROFILE, vec![item(&json!({ "headline": "Engineer" }))])),
            _ => None,
        })
    }
}

/// What is said with the stage's stance.
fn line(stage: &mut Stage) -> Ask {
    match (stage.stance, &mut stage.wish) {
        (Stance::Confirms, _) => {
            stage.awaiting = false;
            Ask::Confirm
        }
        (Stance::Presses, _) => Ask::Press,
        (Stance::Cancels, _) => Ask::Cancel,
        (Stance::Wants, Some(wish)) => {
            stage.topic.clone_from(&wish.section);
            match wish.withheld.first().cloned().filter(|_| !stage.heard.is_empty()) {
                Some(field) => {
                    wish.withheld.clear();
                    Ask::GiveField { field, value: wish.details() }
                }
                None => Ask::Wish { act: wish.act, section: wish.section.clone(), details: wish.details() },
            }
        }
        _ => Ask::AskAbout { section: stage.topic.clone() },
    }
}

fn item(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
