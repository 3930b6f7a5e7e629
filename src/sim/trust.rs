//! Whether a campaign is to be trusted: canaries, which must be caught, and what a default campaign must have reached.
//!
//! A tester that finds nothing is either lucky or dead. So each campaign first runs two broken subjects, and a default one also has to show
//! that it came through every state it claims to test.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::invariants::INVARIANTS;

use super::faults;
use super::outcome::Outcome;
use super::persona::PERSONAS;
use super::plan::Plan;
use super::reach;
use super::run::run;
use super::scenario;
use super::world::World;

/// From so many runs on, a default campaign must have reached all that is required.
pub const ENOUGH: u64 = 10_000;

/// A broken subject that must be caught.
#[derive(Debug)]
pub struct Canary {
    /// Its name.
    pub name: &'static str,
    /// What is wrong with it.
    pub sentence: &'static str,
    /// The invariant that it violates.
    pub invariant: &'static str,
    policy: &'static str,
    script: &'static str,
}

/// All canaries.
pub const CANARIES: [Canary; 2] = [
    Canary {
        name: "ships",
        sentence: "a loop without guard, report and receipt, whose model claims a write that never was",
        invariant: "I4",
        policy: "none",
        script: r#"
version = 1
id = "canary-ships"
title = "the model claims and calls nothing"
required_end = "the oracle finds the claim"
[[turn]]
user = "Add Rust to my skills"
wish = { act = "create", section = "skills", items = [{ name = "Rust" }] }
[[turn.reply]]
parts = [{ say = { say = "claim", act = "create", section = "skills" } }]
"#,
    },
    Canary {
        name: "endless",
        sentence: "a loop without limits, whose store never answers",
        invariant: "I1",
        policy: "full",
        script: r#"
version = 1
id = "canary-endless"
title = "nothing ends the turn"
required_end = "the horizon around the run does, and the oracle says that the turn never closed"
settings = { turn_ms = 864000000, store_ms = 864000000, tool_ms = 864000000, guard_ms = 864000000 }
[[turn]]
user = "Add Rust to my skills"
fault = [{ name = "hang" }]
"#,
    },
];

impl Canary {
    /// Its plan: everything that is left open is the mildest choice.
    ///
    /// # Errors
    /// Where its script does not parse.
    pub fn plan(&self) -> Result<Plan, String> {
        let script = scenario::parse(self.name, self.script).map_err(|error| error.to_string())?;
        let mut plan = Plan::of_script(&script, self.policy, "anthropic");
        plan.choices = Some(Vec::new());
        Ok(plan)
    }

    /// Whether the oracle found what is wrong with it.
    pub fn is_caught(&self, outcome: &Outcome) -> bool {
        outcome.findings.iter().any(|found| found.invariant == self.invariant)
    }
}

/// The first of these canaries that lives, as a sentence for the user.
///
/// # Errors
/// Where one cannot be run at all.
pub fn living(canaries: &[Canary], world: &World) -> Result<Option<String>, String> {
    for canary in canaries {
        if !canary.is_caught(&run(&canary.plan()?, world)?.outcome) {
            let Canary { name, sentence, invariant, .. } = canary;
            return Ok(Some(format!("the canary `{name}` lives: {sentence}. {invariant} should have been violated, and nobody saw it")));
        }
    }
    Ok(None)
}

/// What a campaign ran, as far as it decides whether it must have reached everything.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'c> {
    /// Whether all runs of the campaign are there.
    pub whole: bool,
    /// How many.
    pub runs: u64,
    /// Policies and personas that were run together.
    pub cells: &'c BTreeSet<(&'c str, &'c str)>,
    /// The simulated judge.
    pub judge: &'c str,
    /// The completion check's evidence.
    pub evidence: &'c str,
    /// The faults that could be on.
    pub faults: &'c [String],
    /// Reach marks, counted.
    pub reach: &'c BTreeMap<String, u64>,
    /// Premises by invariant.
    pub premises: &'c BTreeMap<String, u64>,
}

impl Ran<'_> {
    /// A default campaign: policy full, every persona, every fault, and enough of them. No other has to reach everything.
    fn is_default(&self) -> bool {
        let all: BTreeSet<(&str, &str)> = PERSONAS.iter().map(|persona| ("full", persona.name)).collect();
        let faults = faults::named(self.faults).is_ok_and(|on| on.len() == faults::catalogue().count());
        self.whole && self.runs >= ENOUGH && *self.cells == all && self.judge == "faithful" && self.evidence == "ledger" && faults
    }

    /// Why this campaign proves nothing, as a sentence for the user: required marks and premises of a default campaign that stayed at zero.
    pub fn doubt(&self) -> Option<String> {
        if !self.is_default() {
            return None;
        }
        let marks: Vec<String> = reach::missing(self.reach).into_iter().map(|mark| format!("`{}`", mark.name)).collect();
        let unjudged = |name: &&str| self.premises.get(*name).is_none_or(|count| *count == 0);
        let premises: Vec<&str> = INVARIANTS.iter().map(|(name, _)| *name).filter(unjudged).collect();
        let mut why = Vec::new();
        if !marks.is_empty() {
            why.push(format!("no run reached {}", marks.join(", ")));
        }
        if !premises.is_empty() {
            why.push(format!("no run could have violated {}", premises.join(", ")));
        }
        (!why.is_empty()).then(|| why.join("; "))
    }
}
