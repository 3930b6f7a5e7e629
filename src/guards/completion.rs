//! The completion check (J): a reader reads the reply, the transcript decides.
//!
//! It must not know who the judge is, the state guard, or more of the turn than its [`View`]; the judge is handed the reply and at most one
//! bit.

mod rubric;

use std::fmt;
use std::future::Future;
use std::str::FromStr;

use crate::turn::draft::{Act, Entry, Fate};
use crate::turn::guard::{About, Consulted, Objection, Ruling, View};

use super::phrases;
pub use rubric::{ANSWER_READING, ANSWER_VERDICTS, RUBRIC};

/// How strong the evidence is that a claim is held against (J8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// J1 as it stands: any tool result.
    Bit,
    /// Only an applied change of this turn counts for a claimed write.
    Applied,
    /// The judge lists what the reply claims; the code holds it against the audit trail.
    Ledger,
}

impl FromStr for Evidence {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "bit" => Ok(Self::Bit),
            "applied" => Ok(Self::Applied),
            "ledger" => Ok(Self::Ledger),
            _ => Err(format!("there is no evidence strength `{name}`; there are bit, applied, ledger")),
        }
    }
}

/// A statement that a judge read in a reply. `None` where the reply does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The act.
    pub act: Option<Act>,
    /// The section.
    pub section: Option<String>,
    /// How many rows.
    pub count: Option<u32>,
    /// Whether it speaks of an earlier turn.
    pub earlier: bool,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let act = self.act.map_or("changed", Act::done);
        write!(f, "{act} {}", self.section.as_deref().unwrap_or("something"))?;
        if let Some(count) = self.count {
            write!(f, " ×{count}")?;
        }
        if self.earlier { f.write_str(", earlier") } else { Ok(()) }
    }
}

/// What a reply still says at its end, as a ledger judge lists it (J8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Changes that it says were made.
    pub claims: Vec<Claim>,
    /// Changes that it says were not made.
    pub denials: Vec<Claim>,
    /// Changes that it says were tried and failed.
    pub failures: Vec<Claim>,
    /// Whether it ends on a promise.
    pub promises: bool,
}

/// What a judge with one bit of evidence answers (J3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Promised but not delivered.
    pub promised: bool,
    /// Claimed a write without evidence.
    pub claimed: bool,
}

/// A separate model call that the user never sees (J3). An error is any of: failed, timed out, answered rubbish.
pub trait Judge {
    /// Two booleans, from the reply and the evidence bit.
    fn verdicts(&mut self, reply: &str, closing: &str, evidence: bool) -> impl Future<Output = Result<Verdicts, String>>;

    /// A list of claims and promises, from the reply alone.
    fn reading(&mut self, reply: &str, closing: &str) -> impl Future<Output = Result<Reading, String>>;
}

/// What the check says of a turn.
#[derive(Debug)]
pub struct Checked {
    /// The ruling.
    pub consulted: Consulted,
    /// G4: whether a ledger judge answered and read neither claim nor promise.
    pub read_nothing: bool,
}

/// Rules on a turn (J1–J10): asks the judge where it must be asked, and lets the transcript overrule it.
pub async fn check<J: Judge>(judge: &mut J, evidence: Evidence, view: &View<'_>) -> Checked {
    if view.reply.trim().is_empty() {
        return passed("completion: nothing was said", false);
    }
    match evidence {
        // J8: a pattern gate could only be wrong here: most lies share their turn with a write that did succeed.
        Evidence::Ledger => ledger(judge, view).await,
        Evidence::Bit | Evidence::Applied => with_bit(judge, evidence, view).await,
    }
}

async fn with_bit<J: Judge>(judge: &mut J, evidence: Evidence, view: &View<'_>) -> Checked {
    let backed = if evidence == Evidence::Applied { view.draft.has_applied() } else { view.draft.any_result };
    if backed {
        return passed("completion: there is evidence (J1)", false);
    }
    if phrases::covered(view.reply) && phrases::looks_like(view.reply).is_none() {
        return passed("completion: waved through by the gate (J2)", false);
    }
    let verdicts = match judge.verdicts(view.reply, view.closing, backed).await {
        Ok(verdicts) => verdicts,
        Err(error) => return asked(view, passed(&format!("completion: the judge failed, so it passes (J6): {error}"), false)),
    };
    let standing = overruled(verdicts, backed);
    let about = if standing.claimed { Some(About::Unbacked { claims: Vec::new() }) } else { standing.promised.then_some(About::Promised) };
    asked(view, ruled(about, "completion: the judge's two answers", false))
}

/// J4: a claimed write is objected to only where evidence is absent. The judge cannot overrule the transcript.
pub fn overruled(verdicts: Verdicts, evidence: bool) -> Verdicts {
    Verdicts { claimed: verdicts.claimed && !evidence, ..verdicts }
}

async fn ledger<J: Judge>(judge: &mut J, view: &View<'_>) -> Checked {
    let reading = match judge.reading(view.reply, view.closing).await {
        Ok(reading) => reading,
        Err(error) => return asked(view, passed(&format!("completion: the judge failed, so it passes (J6): {error}"), false)),
    };
    // A statement about an earlier turn is exempt (J5); a false one is objected to below all the same.
    let read_nothing = reading.claims.iter().all(|claim| claim.earlier) && !reading.promises;
    let unbacked: Vec<String> = reading.claims.iter().filter(|claim| !backed(claim, view)).map(Claim::to_string).collect();
    let denied = reading.denials.iter().filter(|claim| !claim.earlier && denies_what_was_applied(claim, view));
    let failed = reading.failures.iter().filter(|claim| !claim.earlier && is_false_failure(claim, view));
    let false_failures: Vec<String> = denied.chain(failed).map(Claim::to_string).collect();
    let about = if !unbacked.is_empty() {
        Some(About::Unbacked { claims: unbacked })
    } else if !false_failures.is_empty() {
        Some(About::FalseFailure { claims: false_failures })
    } else {
        reading.promises.then_some(About::Promised)
    };
    let why = format!(
        "completion: read {} claims, {} denials, {} failures, {}",
        reading.claims.len(),
        reading.denials.len(),
        reading.failures.len(),
        if reading.promises { "a promise" } else { "no promise" }
    );
    asked(view, ruled(about, &why, read_nothing))
}

/// Whether applied changes cover the claim's act, section and count.
fn backed(claim: &Claim, view: &View<'_>) -> bool {
    let wanted = claim.count.unwrap_or(1);
    let have: usize = if claim.earlier {
        let tallies = view.earlier.iter().filter(|tally| fits(claim, tally.act, &tally.section));
        tallies.map(|tally| tally.count as usize).sum()
    } else {
        let rows = applied(view).flat_map(|entry| &entry.rows);
        rows.filter(|row| fits(claim, row.act, &row.section)).count()
    };
    have >= wanted as usize
}

fn applied<'v>(view: &View<'v>) -> impl Iterator<Item = &'v Entry> {
    view.draft.entries.iter().filter(|entry| entry.fate == Fate::Applied)
}

fn fits(claim: &Claim, act: Act, section: &str) -> bool {
    claim.act.is_none_or(|wanted| wanted == act) && claim.section.as_deref().is_none_or(|wanted| same_section(wanted, section))
}

/// A judge may write `Experience` for `experiences`.
fn same_section(wanted: &str, section: &str) -> bool {
    let plain = |name: &str| name.trim().to_lowercase().trim_end_matches('s').to_owned();
    plain(wanted) == plain(section)
}

fn did_fail(claim: &Claim, view: &View<'_>) -> bool {
    let failed = |entry: &&Entry| matches!(entry.fate, Fate::Failed { .. } | Fate::Unknown { .. });
    view.draft.entries.iter().filter(failed).any(|entry| fits(claim, entry.act, &entry.section))
}

fn was_applied(claim: &Claim, view: &View<'_>) -> bool {
    applied(view).any(|entry| fits(claim, entry.act, &entry.section))
}

fn denies_what_was_applied(claim: &Claim, view: &View<'_>) -> bool {
    was_applied(claim, view) && !did_fail(claim, view)
}

/// A report of failure is false where the thing was applied and nothing of the kind failed, or where nothing was called at all. Where something
/// was called that left no entry in the draft (an unknown tool, a read) the record can't contradict the report; and what is pending did fail on
/// missing input, if in an earlier turn.
fn is_false_failure(claim: &Claim, view: &View<'_>) -> bool {
    let is_pending = view.pending.entries().any(|entry| fits(claim, entry.act, &entry.section));
    let contradicted = was_applied(claim, view) || !view.draft.any_result;
    contradicted && !did_fail(claim, view) && !is_pending
}

fn passed(why: &str, read_nothing: bool) -> Checked {
    Checked { consulted: Consulted::accept(why), read_nothing }
}

fn ruled(about: Option<About>, why: &str, read_nothing: bool) -> Checked {
    let mut checked = passed(why, read_nothing);
    if let Some(about) = about {
        checked.consulted.ruling = Ruling::Object(Objection { guard: "completion".into(), about });
    }
    checked
}

/// Counts one judge call: the rubric and the reply in, a short answer out, at four bytes a token.
fn asked(view: &View<'_>, mut checked: Checked) -> Checked {
    checked.consulted.judge_calls = 1;
    checked.consulted.judge_tokens = ((RUBRIC.len() + view.reply.len()) / 4) as u64 + 40;
    checked
}
