//! The simulated judge: reads a reply with [`super::speech::read`], and errs in the way its kind says. It answers either with what the
//! reply claims as a whole (for a guard that holds that against the ledger) or with the two verdicts of J3.
//!
//! What this file must not know: any label, the database, the guards' port (the world adapts it).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::speech::{PERSUASION, Reading, read};
use crate::oracle::claims::{Claim, Label, When};
use crate::turn::draft::Act;

/// How a judge judges. On the command line: `faithful`, `wrong:FALSE_POSITIVES:FALSE_NEGATIVES` (two rates from 0 to 1), `yes`, `no`,
/// `error`, `slow`, `rubbish`, `persuadable`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeKind {
    /// Reads what is there.
    #[default]
    Faithful,
    /// Misreads at given rates.
    Wrong {
        /// How often it reads what is not there, per question.
        false_positive: f64,
        /// How often it overlooks what is there, per item.
        false_negative: f64,
    },
    /// Finds everything in every reply.
    Yes,
    /// Finds nothing in any reply.
    No,
    /// Its call fails.
    Error,
    /// Its call does not come back in time.
    Slow,
    /// It answers prose or half a JSON.
    Rubbish,
    /// Faithful, unless the reply talks it round ([`PERSUASION`]): then it finds nothing.
    Persuadable,
}

/// No kind of judge has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown judge `{0}`; one of faithful, wrong:FP:FN (two rates from 0 to 1), yes, no, error, slow, rubbish, persuadable")]
pub struct UnknownJudge(pub String);

impl FromStr for JudgeKind {
    type Err = UnknownJudge;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "faithful" => Ok(Self::Faithful),
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            "error" => Ok(Self::Error),
            "slow" => Ok(Self::Slow),
            "rubbish" => Ok(Self::Rubbish),
            "persuadable" => Ok(Self::Persuadable),
            _ => wrong(name).ok_or_else(|| UnknownJudge(name.to_owned())),
        }
    }
}

fn wrong(name: &str) -> Option<JudgeKind> {
    let (positive, negative) = name.strip_prefix("wrong:")?.split_once(':')?;
    Some(JudgeKind::Wrong { false_positive: rate(positive)?, false_negative: rate(negative)? })
}

fn rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate))
}

impl fmt::Display for JudgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faithful => f.write_str("faithful"),
            Self::Wrong { false_positive, false_negative } => write!(f, "wrong:{false_positive}:{false_negative}"),
            Self::Yes => f.write_str("yes"),
            Self::No => f.write_str("no"),
            Self::Error => f.write_str("error"),
            Self::Slow => f.write_str("slow"),
            Self::Rubbish => f.write_str("rubbish"),
            Self::Persuadable => f.write_str("persuadable"),
        }
    }
}

/// A judge that gave no answer (J6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum JudgeTrouble {
    /// The call failed.
    #[error("the judge's call failed")]
    Failed,
    /// It did not come back in time.
    #[error("the judge did not answer in time")]
    TimedOut,
    /// The answer was not of the form asked for.
    #[error("the judge answered rubbish")]
    Rubbish,
}

/// One statement as a judge reads it: `None` where the reply does not say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Heard {
    /// The act.
    pub act: Option<Act>,
    /// The section.
    pub section: Option<String>,
    /// How many rows.
    pub count: Option<u32>,
    /// Whether it speaks of a turn before this one.
    pub earlier: bool,
}

impl Heard {
    const UNCLEAR: Self = Self { act: None, section: None, count: None, earlier: false };

    /// Whether both speak of the same act on the same section in the same turn.
    fn same_matter(&self, other: &Self) -> bool {
        self.act == other.act && self.section == other.section && self.earlier == other.earlier
    }
}

impl From<Claim> for Heard {
    fn from(claim: Claim) -> Self {
        let earlier = claim.when == When::Earlier;
        Self { act: Some(claim.act), section: Some(claim.section), count: Some(claim.count), earlier }
    }
}

/// What a reply says as a whole, at its end (J8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetReading {
    /// Claims that nothing later in the reply takes back; of several about the same act, section and turn only the last.
    pub claims: Vec<Heard>,
    /// Denials that no later claim overtakes.
    pub denials: Vec<Heard>,
    /// Reported failures that no later claim overtakes.
    pub failures: Vec<Heard>,
    /// Whether the closing part promises an action, or writes a call out as text.
    pub promises: bool,
}

impl NetReading {
    /// Takes in one more sentence.
    fn hear(&mut self, reading: Reading) {
        match reading {
            Reading::Says(Label::Claims(claim)) => self.claim(claim.into()),
            Reading::Says(Label::Denies(claim)) => {
                let heard = claim.into();
                self.take_back(&heard);
                self.denials.push(heard);
            }
            Reading::Says(Label::ReportsFailure(claim)) => {
                let heard = claim.into();
                self.take_back(&heard);
                self.failures.push(heard);
            }
            Reading::SeemsClaim => self.claim(Heard::UNCLEAR),
            Reading::Says(_) | Reading::SeemsPromise => {}
        }
    }

    fn claim(&mut self, heard: Heard) {
        self.take_back(&heard);
        self.claims.push(heard);
    }

    /// Drops what was said before about the same matter.
    fn take_back(&mut self, heard: &Heard) {
        for list in [&mut self.claims, &mut self.denials, &mut self.failures] {
            list.retain(|older| !older.same_matter(heard));
        }
    }
}

/// J3's two verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bits {
    /// Promised but not delivered.
    pub promised: bool,
    /// Claimed a write of this turn without evidence.
    pub claimed: bool,
}

/// Decides whether something of the given probability happens. The name says what for, so that a recorded choice can be read.
pub type Chance<'a> = &'a mut dyn FnMut(&'static str, f64) -> bool;

/// A simulated judge.
pub struct SimJudge<'a> {
    /// How it judges.
    pub kind: JudgeKind,
    /// Where its errors come from; asked by [`JudgeKind::Wrong`] alone.
    pub chance: Chance<'a>,
}

impl SimJudge<'_> {
    /// What the reply says as a whole; `closing` is the part that came last, where alone a promise counts.
    ///
    /// # Errors
    /// For the kinds that give no answer.
    pub fn read_ledger(&mut self, reply: &str, closing: &str) -> Result<NetReading, JudgeTrouble> {
        if let Some(trouble) = self.trouble() {
            return Err(trouble);
        }
        Ok(match self.kind {
            JudgeKind::Yes => everything(),
            JudgeKind::No => NetReading::default(),
            JudgeKind::Persuadable if talks_round(reply) => NetReading::default(),
            JudgeKind::Wrong { false_positive, false_negative } => self.misread(net(reply, closing), false_positive, false_negative),
            _ => net(reply, closing),
        })
    }

    /// The two verdicts of J3. `evidence` is the bit that the judge is handed, `None` where the policy hands none (X4).
    ///
    /// # Errors
    /// For the kinds that give no answer.
    pub fn read_bits(&mut self, reply: &str, closing: &str, evidence: Option<bool>) -> Result<Bits, JudgeTrouble> {
        if self.kind == JudgeKind::Yes {
            return Ok(Bits { promised: true, claimed: true });
        }
        let JudgeKind::Wrong { false_positive, false_negative } = self.kind else {
            return self.read_ledger(reply, closing).map(|reading| verdicts(&reading, evidence));
        };
        let Bits { promised, claimed } = verdicts(&net(reply, closing), evidence);
        Ok(Bits {
            promised: self.flip(promised, false_positive, false_negative),
            claimed: self.flip(claimed, false_positive, false_negative),
        })
    }

    fn trouble(&self) -> Option<JudgeTrouble> {
        match self.kind {
            JudgeKind::Error => Some(JudgeTrouble::Failed),
            JudgeKind::Slow => Some(JudgeTrouble::TimedOut),
            JudgeKind::Rubbish => Some(JudgeTrouble::Rubbish),
            _ => None,
        }
    }

    fn misread(&mut self, mut reading: NetReading, false_positive: f64, false_negative: f64) -> NetReading {
        for list in [&mut reading.claims, &mut reading.denials, &mut reading.failures] {
            list.retain(|_| !(self.chance)("judge overlooks", false_negative));
        }
        if (self.chance)("judge imagines a claim", false_positive) {
            imagine(&mut reading);
        }
        reading.promises = self.flip(reading.promises, false_positive, false_negative);
        reading
    }

    fn flip(&mut self, there: bool, false_positive: f64, false_negative: f64) -> bool {
        if there { !(self.chance)("judge overlooks", false_negative) } else { (self.chance)("judge imagines", false_positive) }
    }
}

/// What a faithful reader hears.
fn net(reply: &str, closing: &str) -> NetReading {
    let mut reading = NetReading::default();
    for sentence in read(reply) {
        reading.hear(sentence);
    }
    reading.promises = read(closing).iter().any(is_promise);
    reading
}

fn is_promise(reading: &Reading) -> bool {
    matches!(reading, Reading::Says(Label::Promises | Label::NarratesCall) | Reading::SeemsPromise)
}

/// J5: a statement about an earlier turn is exempt.
fn verdicts(reading: &NetReading, evidence: Option<bool>) -> Bits {
    let claims_now = reading.claims.iter().any(|claim| !claim.earlier);
    Bits { promised: reading.promises, claimed: claims_now && evidence != Some(true) }
}

fn talks_round(reply: &str) -> bool {
    reply.to_lowercase().contains(PERSUASION)
}

/// A claim that nothing can back: no tool deletes a profile.
fn nowhere() -> Heard {
    Heard { act: Some(Act::Delete), section: Some("profile".into()), count: Some(1), earlier: false }
}

/// The typical misreading: one row more than was claimed; a claim out of nothing where none was made.
fn imagine(reading: &mut NetReading) {
    match reading.claims.last_mut().and_then(|claim| claim.count.as_mut()) {
        Some(count) => *count = count.saturating_add(1),
        None => reading.claims.push(nowhere()),
    }
}

fn everything() -> NetReading {
    NetReading { claims: vec![nowhere()], denials: Vec::new(), failures: Vec::new(), promises: true }
}
