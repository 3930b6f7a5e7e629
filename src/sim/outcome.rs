//! What a run came to, as plain data: the JSON line of harness results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::oracle::measures::Measures;
use crate::oracle::record::TurnFacts;

/// The version of the line.
pub const VERSION: u32 = 1;

/// Which run of which campaign it was: what `merge` and `--resume` go by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Names the campaign: a hash of all that decides its runs.
    pub campaign: String,
    /// Which run, counted from 0.
    pub run: u64,
    /// How many runs the whole campaign has.
    pub of: u64,
    /// The campaign's seed.
    #[serde(default)]
    pub seed: u64,
    /// The simulated judge.
    pub judge: String,
    /// The completion check's evidence.
    pub evidence: String,
    /// The faults that may be on.
    pub faults: Vec<String>,
    /// The part that is broken on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sabotage: Option<String>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The format's version.
    pub version: u32,
    /// Where it comes from, for a run of a campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The run's seed.
    pub seed: u64,
    /// The scenario's id, for a scripted run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The guard policy.
    pub policy: String,
    /// The persona.
    pub persona: String,
    /// The provider's dialect.
    pub dialect: String,
    /// The kinds of fault that were on.
    pub faults: Vec<String>,
    /// The judge was to be faithful, and a fault kept it from that: what the run then shipped is no finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judge_broken: bool,
    /// The last value of the chain over the run's events.
    pub trace_hash: String,
    /// A summary of each turn.
    pub turns: Vec<TurnSummary>,
    /// What must not be.
    pub findings: Vec<Found>,
    /// The counts.
    pub measures: Measures,
    /// Interesting states that were reached, and how often.
    pub reach: BTreeMap<String, u64>,
    /// How often each invariant was judged on a case that could have broken it.
    pub premises: BTreeMap<String, u64>,
    /// Whether the loop stopped for the fair phase's wish: `None` where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish_met: Option<bool>,
}

/// A turn in a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// From facts alone.
    pub status: String,
    /// Why it stopped.
    pub stop: String,
    /// Rows changed.
    pub changed_rows: u32,
    /// Corrections.
    pub corrections: u32,
    /// Model replies.
    pub iterations: u32,
    /// Model calls.
    pub model_calls: u32,
    /// Virtual milliseconds.
    pub virtual_ms: u64,
}

/// A finding, with the command that shows it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which invariant.
    pub invariant: String,
    /// In which turn, counted from 1; 0 for the run.
    pub turn: u32,
    /// One sentence for a person.
    pub message: String,
    /// The command that repeats it.
    pub replay: String,
}

/// `None` where a turn has no record and did not die either, which is a finding.
pub(super) fn summary(facts: &TurnFacts) -> Option<TurnSummary> {
    let word = |word: &str| word.to_owned();
    let Some(record) = &facts.record else {
        let (status, stop) = (word("fault"), word("died"));
        let changed_rows = facts.changes().count() as u32;
        return facts.crashed.then_some(TurnSummary { status, stop, changed_rows, virtual_ms: facts.elapsed_ms, ..TurnSummary::default() });
    };
    Some(TurnSummary {
        status: word_of(&record.status),
        stop: word_of(&record.stop),
        changed_rows: facts.changes().count() as u32,
        corrections: record.corrections,
        iterations: record.iterations,
        model_calls: record.model_calls,
        virtual_ms: facts.elapsed_ms,
    })
}

/// The word that a value is serialised as, or its `stop` tag.
pub fn word_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(value) => value.get("stop").and_then(|stop| stop.as_str()).unwrap_or("?").to_owned(),
        Err(_) => "?".to_owned(),
    }
}
