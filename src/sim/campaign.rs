//! Many runs on all cores. Results come out in order of the runs, so that they do not depend on the number of threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::wire::Dialect;

use super::again::{Check, NONDETERMINISM, Outside, Told};
use super::choices::seed_of;
use super::outcome::{Found, Origin, Outcome};
use super::persona::PERSONAS;
use super::plan::{self, Plan};
use super::run::{Run, run};
use super::scope;
use super::world::World;

/// A fixed part of a campaign: every `shards`th run, but the first ones that are already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which part, counted from 0.
    pub shard: u64,
    /// How many parts there are.
    pub shards: u64,
    /// How many runs of the part have been made before.
    pub made: u64,
}

impl Default for Part {
    fn default() -> Self {
        Self { shard: 0, shards: 1, made: 0 }
    }
}

impl Part {
    /// The number, in the whole campaign, of the `place`th run of the part, counted from 0.
    pub fn number(&self, place: u64) -> u64 {
        place.saturating_mul(self.shards).saturating_add(self.shard)
    }

    /// How many of so many runs it has, those made before among them.
    pub fn size(&self, runs: u64) -> u64 {
        runs.saturating_sub(self.shard).div_ceil(self.shards)
    }
}

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
    /// A part that is broken on purpose.
    pub sabotage: Option<String>,
    /// Worker threads.
    pub jobs: usize,
    /// The part of it that is run here.
    pub part: Part,
    /// Which runs are made twice.
    pub check: Check,
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
        let (round, of_round) = (pair / personas.len() as u64, pair % personas.len() as u64);
        let turn = |from: &[String], by: u64| from[(by % from.len() as u64) as usize].clone();
        let persona = turn(personas, of_round);
        // The scripts of a scope are numbered, and each is run in every dialect.
        let seed = if persona.starts_with(scope::PREFIX) { pair / dialects.len() as u64 } else { seed_of(self.seed, pair) };
        Plan {
            version: plan::VERSION,
            seed,
            policy: turn(&self.policies, number),
            evidence: self.evidence.clone(),
            judge: self.judge.clone(),
            // In its next round each persona has the other one.
            dialect: turn(dialects, round + of_round),
            persona,
            faults: self.faults.clone(),
            sabotage: self.sabotage.clone(),
            settings: crate::turn::bounds::Settings::default(),
            choices: None,
            script: None,
            finding: None,
            file: String::new(),
        }
    }

    /// Names what decides the runs, and nothing else.
    pub fn id(&self) -> String {
        let deciding =
            (self.seed, &self.policies, &self.personas, &self.dialects, &self.judge, &self.evidence, &self.faults, &self.sabotage);
        blake3::hash(format!("{:?}", deciding).as_bytes()).to_hex()[..16].to_owned()
    }

    fn one(&self, number: u64, id: &str, world: &World, outside: &dyn Outside) -> Result<Outcome, String> {
        let plan = self.plan(number);
        let watched = || {
            outside.begins(&plan);
            let run = run(&plan, world);
            outside.ends();
            run
        };
        let first = watched()?;
        let mut difference = None;
        if self.check.is_made_again(number) {
            difference = Told::of(&first).difference(&Told::of(&watched()?));
        }
        if self.check.is_made_elsewhere(number) && difference.is_none() {
            difference = elsewhere(&plan, &first, outside)?;
        }
        let mut outcome = first.outcome;
        outcome.findings.extend(difference.map(|(turn, message)| Found {
            invariant: NONDETERMINISM.into(),
            turn,
            message,
            replay: plan.replay_command(),
        }));
        outcome.origin = Some(self.origin(id, number));
        Ok(outcome)
    }

    /// Which run of this campaign a run is.
    pub fn origin(&self, id: &str, number: u64) -> Origin {
        Origin {
            campaign: id.to_owned(),
            run: number,
            of: self.runs,
            seed: self.seed,
            judge: self.judge.clone(),
            evidence: self.evidence.clone(),
            faults: self.faults.clone(),
            sabotage: self.sabotage.clone(),
        }
    }

    /// Runs everything and hands the outcomes over in order. `each` may stop it; `stop` may too, from elsewhere.
    ///
    /// # Errors
    /// The first error of a run, as a sentence for the user.
    pub fn execute(
        &self,
        stop: &AtomicBool,
        outside: &dyn Outside,
        each: &mut dyn FnMut(Outcome) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let next = AtomicU64::new(self.part.made);
        let id = self.id();
        let jobs = self.jobs.clamp(1, 256);
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<(u64, Result<Outcome, String>)>(jobs * 64);
            for _ in 0..jobs {
                let sender = sender.clone();
                let (next, id) = (&next, id.as_str());
                scope.spawn(move || {
                    let world = World::new();
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        if place >= self.part.size(self.runs) || stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let outcome = match &world {
                            Ok(world) => self.one(self.part.number(place), id, world, outside),
                            Err(error) => Err(error.clone()),
                        };
                        if sender.send((place, outcome)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let done = in_order(self.part.made, &receiver, each);
            // Whoever still runs finds the channel closed and ends.
            drop(receiver);
            done
        })
    }
}

/// How a run came out in another process, where it came out differently.
fn elsewhere(plan: &Plan, first: &Run, outside: &dyn Outside) -> Result<Option<(u32, String)>, String> {
    let here = Told::of(first);
    outside.begins(plan);
    let there = outside.differs(plan, &here.hash());
    outside.ends();
    let difference =
        |there: Told| here.difference(&there).unwrap_or_else(|| (0, "the same plan told the same and had another hash".into()));
    Ok(there?.map(difference).map(|(turn, message)| (turn, format!("in a second process, {message}"))))
}

/// Takes results as they come and hands them over in the order of the runs.
fn in_order(
    first: u64,
    receiver: &Receiver<(u64, Result<Outcome, String>)>,
    each: &mut dyn FnMut(Outcome) -> ControlFlow<()>,
) -> Result<(), String> {
    let mut early: BTreeMap<u64, Outcome> = BTreeMap::new();
    let mut expected = first;
    for (place, outcome) in receiver {
        early.insert(place, outcome?);
        while let Some(outcome) = early.remove(&expected) {
            expected += 1;
            if each(outcome).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
