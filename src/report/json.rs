//! The summary for machines: one JSON object, versioned. Shards that were merged give the same bytes as one machine would have written.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::oracle::invariants::INVARIANTS;
use crate::sim::outcome::Found;
use crate::sim::reach;

use super::campaign::{COSTS, RATES, Report};
use super::statistics::{residual_risk, wilson};
use super::summary::Cell;

/// The version of the object.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Whole<'r> {
    version: u32,
    exit_code: u8,
    campaign: Option<Campaign<'r>>,
    runs: Runs,
    policies: Vec<Counted<'r>>,
    cells: Vec<Counted<'r>>,
    findings: Findings<'r>,
    residual_risk: Option<Risk>,
    invariants: Vec<Invariant>,
    canaries: Vec<Canary<'r>>,
    marks: Vec<Mark>,
    moves: BTreeMap<String, u64>,
    faults: BTreeMap<String, u64>,
    doubt: Option<&'r str>,
}

#[derive(Serialize)]
struct Campaign<'r> {
    id: &'r str,
    seed: u64,
    runs: u64,
    judge: &'r str,
    evidence: &'r str,
    faults: &'r [String],
    sabotage: Option<&'r str>,
    shard: u64,
    shards: u64,
}

#[derive(Serialize)]
struct Runs {
    planned: u64,
    made: u64,
    complete: bool,
    failed: u64,
    judge_broken: u64,
}

#[derive(Serialize)]
struct Counted<'r> {
    policy: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<&'r str>,
    runs: u64,
    turns: u64,
    claims: u64,
    failed: Rate,
    measures: BTreeMap<&'static str, Rate>,
    false_alarms_by_class: BTreeMap<String, u64>,
    cost: BTreeMap<&'static str, Cost>,
}

/// A count among its cases, with its 95 % Wilson interval.
#[derive(Serialize)]
struct Rate {
    count: u64,
    of: u64,
    per: &'static str,
    rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct Cost {
    total: u64,
    per_turn: Option<f64>,
}

#[derive(Serialize)]
struct Findings<'r> {
    count: u64,
    /// Those that are not listed, as there are too many.
    left_out: u64,
    by_invariant: &'r BTreeMap<String, u64>,
    list: Vec<Finding<'r>>,
    kept_again: &'r [String],
}

#[derive(Serialize)]
struct Finding<'r> {
    #[serde(flatten)]
    found: &'r Found,
    policy: &'r str,
    persona: &'r str,
    dialect: &'r str,
    seed: u64,
}

#[derive(Serialize)]
struct Risk {
    confidence: f64,
    rate_below: f64,
}

#[derive(Serialize)]
struct Invariant {
    name: String,
    premises: u64,
    violations: u64,
}

#[derive(Serialize)]
struct Canary<'r> {
    name: &'r str,
    invariant: &'r str,
    caught: bool,
}

#[derive(Serialize)]
struct Mark {
    name: String,
    count: u64,
    required: bool,
}

/// The object, over many lines, with a line end behind it.
pub fn summary(report: &Report<'_>) -> String {
    let summary = report.summary;
    let whole = Whole {
        version: VERSION,
        exit_code: report.exit_code,
        campaign: campaign(report),
        runs: Runs {
            planned: report.planned,
            made: summary.runs(),
            complete: summary.runs() == report.planned,
            failed: summary.failed_runs(),
            judge_broken: summary.judge_broken(),
        },
        policies: summary.policies().into_iter().map(|policy| counted(policy, None, &summary.of_policy(policy))).collect(),
        cells: summary.cells.iter().map(|((policy, persona), cell)| counted(policy, Some(persona), cell)).collect(),
        findings: findings(report),
        residual_risk: residual_risk(summary.runs())
            .filter(|_| summary.findings() == 0 && !summary.is_exhaustive())
            .map(|rate_below| Risk { confidence: 0.95, rate_below }),
        invariants: invariants(report),
        canaries: report
            .canaries
            .iter()
            .map(|canary| Canary { name: &canary.name, invariant: &canary.invariant, caught: canary.lives.is_none() })
            .collect(),
        marks: marks(&summary.reach),
        moves: of_catalogue(&summary.reach, "move:"),
        faults: of_catalogue(&summary.reach, "fault:"),
        doubt: report.doubt,
    };
    // Plain data with text for keys is always JSON.
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

fn campaign<'r>(report: &Report<'r>) -> Option<Campaign<'r>> {
    let (shard, shards) = report.part;
    report.campaign.map(|origin| Campaign {
        id: &origin.campaign,
        seed: origin.seed,
        runs: origin.of,
        judge: &origin.judge,
        evidence: &origin.evidence,
        faults: &origin.faults,
        sabotage: origin.sabotage.as_deref(),
        shard,
        shards,
    })
}

fn counted<'r>(policy: &'r str, persona: Option<&'r str>, cell: &Cell) -> Counted<'r> {
    let measures = RATES.iter().map(|(name, per, count)| (*name, rate(count(&cell.measures), per.count(cell), per.name())));
    let turns = cell.measures.turns;
    let cost = COSTS.iter().map(|(name, count)| {
        let total = count(&cell.measures);
        (*name, Cost { total, per_turn: (turns > 0).then(|| total as f64 / turns as f64) })
    });
    Counted {
        policy,
        persona,
        runs: cell.runs,
        turns,
        claims: cell.measures.claims,
        failed: rate(cell.failed, cell.runs, "runs"),
        measures: measures.collect(),
        false_alarms_by_class: cell.measures.false_alarms_by_class.clone(),
        cost: cost.collect(),
    }
}

fn rate(count: u64, of: u64, per: &'static str) -> Rate {
    let interval = wilson(count, of);
    let rate = (of > 0).then(|| count as f64 / of as f64);
    Rate { count, of, per, rate, low: interval.map(|(low, _)| low), high: interval.map(|(_, high)| high) }
}

fn findings<'r>(report: &Report<'r>) -> Findings<'r> {
    let summary = report.summary;
    let list: Vec<Finding<'r>> = summary
        .kept
        .iter()
        .map(|kept| Finding { found: &kept.found, policy: &kept.policy, persona: &kept.persona, dialect: &kept.dialect, seed: kept.seed })
        .collect();
    Findings {
        count: summary.findings(),
        left_out: summary.findings() - list.len() as u64,
        by_invariant: &summary.by_invariant,
        list,
        kept_again: report.kept_again,
    }
}

/// Every invariant of the oracle, reached or not.
fn invariants(report: &Report<'_>) -> Vec<Invariant> {
    let count = |counts: &BTreeMap<String, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
    let invariant = |(name, _): &(&str, &str)| Invariant {
        name: (*name).to_owned(),
        premises: count(&report.summary.premises, name),
        violations: count(&report.summary.by_invariant, name),
    };
    INVARIANTS.iter().map(invariant).collect()
}

/// Every mark of the catalogue, reached or not.
fn marks(reached: &BTreeMap<String, u64>) -> Vec<Mark> {
    let counted =
        |mark: reach::Mark| Mark { count: reached.get(&mark.name).copied().unwrap_or(0), name: mark.name, required: mark.required };
    reach::catalogue().into_iter().map(counted).collect()
}

/// How often each entry of the catalogue of moves or faults was reached, by its name in that catalogue.
fn of_catalogue(reached: &BTreeMap<String, u64>, prefix: &str) -> BTreeMap<String, u64> {
    let marks = marks(reached).into_iter();
    marks.filter_map(|mark| Some((mark.name.strip_prefix(prefix)?.to_owned(), mark.count))).collect()
}
