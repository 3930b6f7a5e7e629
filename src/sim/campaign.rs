//! Many runs on all cores. Results come out in order of the runs, so that they do not depend on the number of threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::wire::Dialect;

use super::choices::seed_of;
use super::outcome::Outcome;
use super::persona::PERSONAS;
use super::plan::{self, Plan};
use super::run::run;
use super::world::World;

/// What a campaign is made of. Run number `n` is decided by this and by `n` alone.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The campaign's seed.
    pub seed: u64,
    /// How many runs.
    pub runs: u64,
    /// The policies; each run has one, in turn.
    pub policies: Vec<String>,
    /// The personas; each run has one, in turn. All where empty.
    pub personas: Vec<String>,
    /// The dialects; both where empty.
    pub dialects: Vec<String>,
    /// The simulated judge.
    pub judge: String,
    /// The completion check's evidence.
    pub evidence: String,
    /// The faults that may be on.
    pub faults: Vec<String>,
    /// Worker threads.
    pub jobs: usize,
}

impl Campaign {
    /// The plan of a run.
    pub fn plan(&self, number: u64) -> Plan {
        let all: Vec<String> = PERSONAS.iter().map(|persona| persona.name.to_owned()).collect();
        let personas = if self.personas.is_empty() { &all } else { &self.personas };
        let both: Vec<String> = Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect();
        let dialects = if self.dialects.is_empty() { &both } else { &self.dialects };
        let policies = self.policies.len() as u64;
        // Paired: the same seed, persona and dialect for each policy.
        let pair = number / policies;
        let seed = seed_of(self.seed, pair);
        let turn = |from: &[String], by: u64| from[(by % from.len() as u64) as usize].clone();
        Plan {
            version: plan::VERSION,
            seed,
            policy: turn(&self.policies, number),
            evidence: self.evidence.clone(),
            judge: self.judge.clone(),
            dialect: turn(dialects, pair / personas.len() as u64 + pair),
            persona: turn(personas, pair),
            faults: self.faults.clone(),
            settings: crate::turn::bounds::Settings::default(),
            choices: None,
            script: None,
            finding: None,
            file: String::new(),
        }
    }

    /// Runs everything and hands the outcomes over in order. `each` may stop it; `stop` may too, from elsewhere.
    ///
    /// # Errors
    /// The first error of a run, as a sentence for the user.
    pub fn execute(&self, stop: &AtomicBool, each: &mut dyn FnMut(Outcome) -> ControlFlow<()>) -> Result<(), String> {
        let next = AtomicU64::new(0);
        let jobs = self.jobs.clamp(1, 256);
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<(u64, Result<Outcome, String>)>(jobs * 64);
            for _ in 0..jobs {
                let sender = sender.clone();
                let next = &next;
                scope.spawn(move || {
                    let world = World::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= self.runs || stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let outcome = match &world {
                            Ok(world) => run(&self.plan(number), world).map(|run| run.outcome),
                            Err(error) => Err(error.clone()),
                        };
                        if sender.send((number, outcome)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let done = in_order(&receiver, each);
            // Whoever still runs finds the channel closed and ends.
            drop(receiver);
            done
        })
    }
}

/// Takes results as they come and hands them over in the order of the runs.
fn in_order(receiver: &Receiver<(u64, Result<Outcome, String>)>, each: &mut dyn FnMut(Outcome) -> ControlFlow<()>) -> Result<(), String> {
    let mut early: BTreeMap<u64, Outcome> = BTreeMap::new();
    let mut expected = 0;
    for (number, outcome) in receiver {
        early.insert(number, outcome?);
        while let Some(outcome) = early.remove(&expected) {
            expected += 1;
            if each(outcome).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
