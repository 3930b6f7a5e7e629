//! What a campaign came to: counts by policy and persona, and the first findings.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::measures::Measures;
use crate::sim::outcome::{Found, Outcome};

/// How many findings are kept whole; all are counted.
const KEPT: usize = 1000;

/// What a campaign came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    runs: u64,
    failed_runs: u64,
    findings: u64,
    judge_broken: u64,
    /// Counts by policy and persona.
    pub cells: BTreeMap<(String, String), Cell>,
    /// Counts by policy and scenario, for runs of scenario files.
    pub scenarios: BTreeMap<(String, String), Cell>,
    /// The first findings, with the policy and persona of their run.
    pub kept: Vec<Kept>,
    /// How often each invariant was violated.
    pub by_invariant: BTreeMap<String, u64>,
    /// Interesting states that were reached.
    pub reach: BTreeMap<String, u64>,
    /// How often each invariant was judged on a case that could have broken it.
    pub premises: BTreeMap<String, u64>,
}

/// A finding, with what its run was.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The policy.
    pub policy: String,
    /// The persona.
    pub persona: String,
    /// The scenario's id, for a run of a scenario file.
    pub scenario: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The run's seed.
    pub seed: u64,
    /// Which run it was, counted from 0 in the order in which they were added.
    pub number: usize,
    /// The finding.
    pub found: Found,
    /// Its turn, told; empty where nobody told it.
    pub story: String,
}

/// One policy with one persona.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Runs.
    pub runs: u64,
    /// Runs with a finding.
    pub failed: u64,
    /// Counts.
    pub measures: Measures,
}

impl Cell {
    fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.failed += u64::from(!outcome.findings.is_empty());
        self.measures.add(&outcome.measures);
    }
}

impl Summary {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.judge_broken += u64::from(outcome.judge_broken);
        self.failed_runs += u64::from(!outcome.findings.is_empty());
        self.cells.entry((outcome.policy.clone(), outcome.persona.clone())).or_default().add(outcome);
        if let Some(scenario) = &outcome.scenario {
            self.scenarios.entry((outcome.policy.clone(), scenario.clone())).or_default().add(outcome);
        }
        for found in &outcome.findings {
            self.findings += 1;
            *self.by_invariant.entry(found.invariant.clone()).or_default() += 1;
            if self.kept.len() < KEPT {
                self.kept.push(Kept {
                    policy: outcome.policy.clone(),
                    persona: outcome.persona.clone(),
                    scenario: outcome.scenario.clone(),
                    dialect: outcome.dialect.clone(),
                    seed: outcome.seed,
                    number: self.runs as usize - 1,
                    found: found.clone(),
                    story: String::new(),
                });
            }
        }
        for (mark, count) in &outcome.reach {
            *self.reach.entry(mark.clone()).or_default() += count;
        }
        for (invariant, count) in &outcome.premises {
            *self.premises.entry(invariant.clone()).or_default() += count;
        }
    }

    /// Runs so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs whose judge was to be faithful and was kept from it by a fault.
    pub fn judge_broken(&self) -> u64 {
        self.judge_broken
    }

    /// Findings so far.
    pub fn findings(&self) -> u64 {
        self.findings
    }

    /// Runs with a finding.
    pub fn failed_runs(&self) -> u64 {
        self.failed_runs
    }

    /// The findings that a report tells: the first of each invariant and persona, `most` of them.
    pub fn told(&mut self, most: usize) -> Vec<&mut Kept> {
        let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
        let first = |kept: &&mut Kept| seen.insert((kept.found.invariant.clone(), kept.persona.clone()));
        self.kept.iter_mut().filter(first).take(most).collect()
    }

    /// Whether nothing was sampled: all runs are of an exhaustive scope, and no rate follows from them.
    pub fn is_exhaustive(&self) -> bool {
        self.cells.keys().all(|(_, persona)| persona.starts_with("scope:"))
    }

    /// The policies, in order.
    pub fn policies(&self) -> BTreeSet<&str> {
        self.cells.keys().map(|(policy, _)| policy.as_str()).collect()
    }

    /// All counts of a policy.
    pub fn of_policy(&self, policy: &str) -> Cell {
        let mut all = Cell::default();
        for (_, cell) in self.cells.iter().filter(|((name, _), _)| name == policy) {
            all.runs += cell.runs;
            all.failed += cell.failed;
            all.measures.add(&cell.measures);
        }
        all
    }
}
