//! One run, from a plan to an outcome: a hostile phase, then a fair one in which the model is honest and the user's standing wish has to be
//! done.

mod scope;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::str::FromStr;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use crate::cv::audit::{self, CvLedger};
use crate::cv::memory::CvMemory;
use crate::cv::tools::{CvTools, catalogue};
use crate::cv::verify::CvVerifier;
use crate::guards::completion::Evidence;
use crate::guards::policy::{Policy, PolicyName};
use crate::oracle::claims::Label;
use crate::oracle::invariants::{Judged, judge};
use crate::oracle::measures::heard;
use crate::oracle::record::{RunFacts, TurnFacts};
use crate::turn::bounds::Settings;
use crate::turn::conversation::Conversation;
use crate::turn::draft::Act;
use crate::turn::drive::{Ports, drive};
use crate::turn::machine::Machine;
use crate::turn::ports::ToolSpec;
use crate::wire::Dialect;

use super::choices::{Choices, Misfit, Stream};
use super::faults::disk::{OnDisk, power_fails};
use super::faults::history::budget;
use super::faults::points::{At, Points};
use super::faults::store::{FaultyStore, Hand};
use super::faults::tools::FaultyTools;
use super::faults::{self, Class, Fault, Faults, Strike};
use super::judge::JudgeKind;
use super::judge_port::PortJudge;
use super::model::{Mind, SimModel};
use super::moves::{MOVES, Move};
use super::outcome::{self, Found, Outcome, summary};
use super::person;
use super::persona::{self, Persona};
use super::plan::Plan;
use super::reach::{is_crash_in_fold, mark_of_point, marks_of, marks_of_fold};
use super::sabotage::{self, Hearing, Part};
use super::scenario::{Script, ScriptTurn};
use super::scope::Scope;
use super::speech::{Ask, ask};
use super::stage::{Stage, Stance};
use super::world::{FOREIGN_MARKER, Trace, USER, WatchedTools, World};

/// Standing instructions of the simulated agent.
pub const SYSTEM: &str = "You keep the user's CV. Use the tools to read and change it. Describe nothing as done that a turn report does not list \
as applied.";

const CONVERSATION: i64 = 1;
const FAIR_TURNS: usize = 3;
/// No turn takes so much virtual time, whatever its limits: a day.
const HORIZON: Duration = Duration::from_secs(24 * 60 * 60);

/// How the drive of a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driven {
    /// The turn is closed.
    Closed,
    /// The process died.
    Died,
    /// It did not end, and the horizon broke it off: I1.
    Endless,
}

/// A run with everything that can be told of it.
#[derive(Debug)]
pub struct Run {
    /// What it came to.
    pub outcome: Outcome,
    /// All events and labels, turn by turn.
    pub turns: Vec<TurnFacts>,
    /// All decisions that were taken.
    pub choices: Vec<u32>,
    /// How many choices were open at each decision.
    pub bounds: Vec<u32>,
    /// The first recorded choice that did not fit.
    pub misfit: Option<Misfit>,
    /// The move of each turn.
    pub moves: Vec<&'static str>,
}

/// A plan whose names are known.
pub struct Checked<'p> {
    plan: &'p Plan,
    policy: PolicyName,
    evidence: Evidence,
    judge: JudgeKind,
    dialect: Dialect,
    persona: Option<&'static Persona>,
    scope: Option<Scope>,
    faults: Vec<&'static Fault>,
    settings: Settings,
    sabotage: Option<Part>,
}

/// Runs a plan in a world.
///
/// # Errors
/// A sentence for the user: an unknown name in the plan, or a database that fails.
pub fn run(plan: &Plan, world: &World) -> Result<Run, String> {
    let checked = check(plan)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(play(&checked, world))
}

/// Reads the names in a plan.
///
/// # Errors
/// A sentence for the user: which name is unknown, and which there are.
pub fn check(plan: &Plan) -> Result<Checked<'_>, String> {
    let policy = PolicyName::from_str(&plan.policy)?;
    let (persona, scope) = (persona::by_name(&plan.persona), Scope::named(&plan.persona)?);
    if persona.is_none() && scope.is_none() && plan.script.is_none() {
        let names: Vec<&str> = persona::PERSONAS.iter().map(|persona| persona.name).collect();
        let nearest = super::scenario::nearest(&plan.persona, names.iter().copied()).unwrap_or_default();
        return Err(format!("there is no persona `{}`; did you mean `{nearest}`? There are {}", plan.persona, names.join(", ")));
    }
    let mut settings = plan.settings.clone();
    settings.parts = policy.parts();
    Ok(Checked {
        plan,
        policy,
        evidence: Evidence::from_str(&plan.evidence)?,
        judge: JudgeKind::from_str(&plan.judge).map_err(|error| error.to_string())?,
        dialect: Dialect::from_str(&plan.dialect)?,
        persona,
        scope,
        faults: named_faults(plan)?,
        settings,
        sabotage: plan.sabotage.as_deref().map(sabotage::by_name).transpose()?.map(|sabotage| sabotage.part),
    })
}

impl Checked<'_> {
    /// `full` with a faithful judge.
    fn is_faithful(&self) -> bool {
        self.policy == PolicyName::Full && self.judge == JudgeKind::Faithful && self.evidence == Evidence::Ledger
    }
}

/// A plan names faults that may be on, a scenario the occasions at which they strike.
fn named_faults(plan: &Plan) -> Result<Vec<&'static Fault>, String> {
    let scripted = plan.script.iter().flat_map(|script| &script.turn).flat_map(|turn| &turn.fault);
    let names: Vec<String> = scripted.map(|strike| strike.name.clone()).collect();
    faults::named(&names)?;
    faults::named(&plan.faults)
}

/// All parts of a run in progress.
struct Play<'p> {
    checked: &'p Checked<'p>,
    world: &'p World,
    choices: Rc<RefCell<Choices>>,
    stage: Rc<RefCell<Stage>>,
    conversation: Conversation,
    model: SimModel,
    tools: WatchedTools,
    guard: Policy<PortJudge>,
    trace: Trace,
    catalogue: &'static [ToolSpec],
    faults: Faults,
    /// The plan's, but for what a small budget makes of them.
    settings: Settings,
    hand: Hand,
    on_at_start: Vec<String>,
    points: Points,
    on: Vec<&'static Move>,
    /// Of a run of the exhaustive scope.
    script: Option<super::scope::Script>,
    turns: Vec<TurnFacts>,
    moves: Vec<&'static str>,
    reach: BTreeMap<String, u64>,
    /// A fault of time kept a judge from answering.
    judge_kept: bool,
}

async fn play(checked: &Checked<'_>, world: &World) -> Result<Run, String> {
    let script = checked.plan.script.as_ref();
    let broken = |error: rusqlite::Error| format!("the simulated database failed: {error}");
    let mut play = Play::new(checked, world)?;
    let fair_wish = match script {
        Some(script) => {
            for turn in &script.turn {
                play.scripted_turn(script, turn).await.map_err(broken)?;
            }
            None
        }
        None => {
            match play.script.take() {
                Some(script) => play.scope_phase(script).await,
                None => play.hostile_phase().await,
            }
            .map_err(broken)?;
            play.fair_phase().await.map_err(broken)?
        }
    };
    play.finish(fair_wish)
}

impl<'p> Play<'p> {
    fn new(checked: &'p Checked<'p>, world: &'p World) -> Result<Self, String> {
        let plan = checked.plan;
        let mut choices = match (&plan.choices, checked.scope) {
            (Some(list), _) => Choices::replay(list.clone()),
            (None, Some(scope)) => Choices::replay(scope.list(plan.seed, &checked.faults)?),
            (None, None) => Choices::random(plan.seed),
        };
        let drawn = checked.scope.map(|scope| scope.draw(&mut choices, &checked.faults));
        let script = plan.script.as_ref();
        let foreign = world
            .begin(script.map(|script| script.rows.as_slice()).unwrap_or_default())
            .map_err(|error| format!("the rows at the start do not fit: {error}"))?;
        let (lang, on) = match (script, checked.persona) {
            (Some(script), _) => (script.lang, Vec::new()),
            (None, Some(persona)) => (persona.language(&mut choices), persona.swarm(&mut choices)),
            (None, None) => (super::speech::Lang::En, Vec::new()),
        };
        let is_drawn = script.is_none() && drawn.is_none();
        let edits_percent = if is_drawn && choices.chance(Stream::User, 10) { 20 } else { 0 };
        let choices = Rc::new(RefCell::new(choices));
        let faults = Faults::draw(if is_drawn { &checked.faults } else { &[] }, Rc::clone(&choices));
        let stage = Rc::new(RefCell::new(Stage::new(lang)));
        let judge = PortJudge { kind: checked.judge, choices: Rc::clone(&choices), faults: faults.clone() };
        let hand = Hand::new(&faults, world, foreign.1);
        let with_tools = script.is_none_or(|script| script.tools);
        Ok(Self {
            checked,
            world,
            conversation: Conversation::new(SYSTEM),
            model: SimModel::new(checked.dialect, Rc::clone(&stage), Rc::clone(&choices), faults.clone(), foreign)
                .spoilt_if(checked.sabotage == Some(Part::OpenaiEncoder)),
            tools: WatchedTools {
                tools: CvTools::new(world.store.clone(), USER, CONVERSATION),
                hand: hand.clone(),
                by_call: Vec::new(),
                audited: true,
                choices: Rc::clone(&choices),
                edits_percent,
                edits: 0,
                did: Vec::new(),
            },
            guard: Policy::new(checked.policy, checked.evidence, judge),
            trace: Trace::default(),
            catalogue: if with_tools { catalogue() } else { &[] },
            choices,
            stage,
            settings: checked.settings.clone(),
            on_at_start: drawn.as_ref().map_or_else(|| faults.on(), |script| script.faults()),
            faults,
            hand,
            points: Points::default(),
            on,
            script: drawn,
            turns: Vec::new(),
            moves: Vec::new(),
            reach: BTreeMap::new(),
            judge_kept: false,
        })
    }

    async fn hostile_phase(&mut self) -> rusqlite::Result<()> {
        let turns = 2 + self.choices.borrow_mut().below(Stream::User, 4);
        let mut waiting = None;
        for _ in 0..turns {
            // A message that came while the last turn ran has waited for it to end (L14).
            let words = match waiting.take() {
                Some(words) => words,
                None => {
                    let (mut stage, mut choices) = (self.stage.borrow_mut(), self.choices.borrow_mut());
                    person::speak(&mut stage, &mut choices, &self.world.store, USER)?
                }
            };
            let a_move = match self.checked.persona {
                Some(persona) => persona.draw(&mut self.choices.borrow_mut(), &self.on),
                None => &MOVES[0],
            };
            let cancel_at = {
                let mut choices = self.choices.borrow_mut();
                choices.chance(Stream::User, 4).then(|| 1 + choices.below(Stream::User, 24))
            };
            self.begin_hostile_turn(&[]);
            self.turn(&words, Mind::Move(a_move), a_move.name, cancel_at).await?;
            waiting = self.second_message();
        }
        Ok(())
    }

    fn begin_hostile_turn(&mut self, scripted: &[Strike]) {
        self.faults.begin_turn(scripted);
        self.points = Points::draw(&self.faults, self.checked.settings.turn_limit(), &self.world.disk);
        self.settings.fold_bytes = budget(&self.faults, self.checked.settings.fold_bytes);
    }

    /// Now and then the person presses while a turn still runs.
    fn second_message(&mut self) -> Option<String> {
        let (mut stage, mut choices) = (self.stage.borrow_mut(), self.choices.borrow_mut());
        if !choices.chance(Stream::User, 4) {
            return None;
        }
        *self.reach.entry("second-message".into()).or_default() += 1;
        stage.stance = if stage.wish.is_some() { Stance::Presses } else { Stance::Talks };
        Some(ask(stage.lang, &Ask::Press, choices.below(Stream::User, 4)))
    }

    /// Faults off, model honest: the loop must get the standing wish done (I14). `None` where the user wants nothing any more.
    async fn fair_phase(&mut self) -> rusqlite::Result<Option<bool>> {
        self.tools.edits_percent = 0;
        self.faults.end();
        self.hand.end();
        self.faults.begin_turn(&[]);
        self.points = Points::default();
        self.settings.fold_bytes = self.checked.settings.fold_bytes;
        self.stage.borrow_mut().fair = true;
        let open = self.prepare_fair_wish()? || !self.conversation.pending.is_empty();
        if !open && !self.turns.last().is_some_and(|facts| facts.crashed) {
            return Ok(None);
        }
        for _ in 0..FAIR_TURNS {
            let words = self.fair_words();
            self.turn(&words, Mind::Move(&MOVES[0]), "honest", None).await?;
            if !self.prepare_fair_wish()? && self.conversation.pending.is_empty() {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// Leaves in the wish what is not done yet, all of it told and approved. False where nothing is left.
    fn prepare_fair_wish(&mut self) -> rusqlite::Result<bool> {
        let mut stage = self.stage.borrow_mut();
        stage.awaiting = false;
        let Some(wish) = &mut stage.wish else { return Ok(false) };
        wish.withheld.clear();
        wish.drop_what_is_met(&self.world.store, USER)?;
        let open = !wish.items.is_empty();
        if !open {
            stage.wish = None;
        }
        Ok(open)
    }

    fn fair_words(&self) -> String {
        let mut stage = self.stage.borrow_mut();
        let line = match &stage.wish {
            Some(wish) => Ask::Wish { act: wish.act, section: wish.section.clone(), details: wish.details() },
            None => Ask::Cancel,
        };
        stage.stance = if stage.wish.is_some() { Stance::Confirms } else { Stance::Cancels };
        ask(stage.lang, &line, 0)
    }

    async fn scripted_turn(&mut self, script: &Script, turn: &ScriptTurn) -> rusqlite::Result<()> {
        {
            let mut stage = self.stage.borrow_mut();
            if let Some(wish) = &turn.wish {
                stage.wish = Some(wish.clone());
                stage.topic.clone_from(&wish.section);
            }
            let stance = if stage.wish.is_some() { Stance::Wants } else { Stance::Talks };
            stage.stance = turn.stance.unwrap_or(stance);
            if stage.stance == Stance::Confirms {
                stage.awaiting = false;
            }
            stage.lang = script.lang;
        }
        let mind = Mind::Script { replies: turn.reply.clone().into(), then: turn.then, last: None, retelling: turn.retelling.clone() };
        self.begin_hostile_turn(&turn.fault);
        self.turn(&turn.user, mind, "scripted", turn.cancel_at).await
    }

    async fn turn(&mut self, words: &str, mind: Mind, move_name: &'static str, cancel_at: Option<u32>) -> rusqlite::Result<()> {
        let authorised = self.authorised();
        self.model.begin_turn(mind);
        self.tools.by_call.clear();
        self.tools.audited = true;
        self.trace.events.clear();
        let start = Instant::now();
        let driven = self.drive(words, cancel_at).await;
        if driven == Driven::Died
            && let Some(mark) = power_fails(self.world, &self.hand, &self.points, &mut self.tools.by_call)
        {
            *self.reach.entry(mark.into()).or_default() += 1;
        }
        self.moves.push(move_name);
        let memory = CvMemory::new(self.world.store.clone(), CONVERSATION);
        let turn = self.conversation.turn;
        let facts = TurnFacts {
            events: std::mem::take(&mut self.trace.events),
            said: self.model.said.clone(),
            said_at: self.model.said_at.clone(),
            by_call: std::mem::take(&mut self.tools.by_call),
            audited_in_same_transaction: self.tools.audited,
            sent: std::mem::take(&mut self.model.sent),
            violations: self.model.requests.iter().flat_map(|request| request.violations.clone()).collect(),
            harness_blocks: self.model.requests.iter().map(|request| request.harness_blocks).collect(),
            elapsed_ms: start.elapsed().as_millis() as u64,
            jumped_ms: self.points.jumped().as_millis() as u64,
            refused: self.hand.refused().into_iter().chain(self.points.kept_back()).collect(),
            crashed: driven == Driven::Died,
            authorised,
            pending: memory.pending().unwrap_or_default(),
            record: memory.record(turn).unwrap_or_default(),
        };
        if let Some((act, place)) = self.points.struck() {
            self.judge_kept |= place.ends_with("guard");
            *self.reach.entry(mark_of_point(act, place, self.checked.settings.turn_limit())).or_default() += 1;
            if is_crash_in_fold(act, place) {
                *self.reach.entry("crash-in-fold".into()).or_default() += 1;
            }
        }
        self.after_turn(&facts);
        self.turns.push(facts);
        if driven != Driven::Closed {
            self.restart();
        }
        Ok(())
    }

    async fn drive(&mut self, words: &str, cancel_at: Option<u32>) -> Driven {
        let store = &self.world.store;
        let (mut verifier, mut ledger, mut memory) = (
            OnDisk::new(CvVerifier::new(store.clone(), USER, CONVERSATION), &self.hand),
            OnDisk::new(CvLedger::new(store.clone(), CONVERSATION), &self.hand),
            OnDisk::new(CvMemory::new(store.clone(), CONVERSATION), &self.hand),
        );
        let (mut tools, mut verifier) = (FaultyTools::new(&mut self.tools, &self.hand), FaultyStore::new(&mut verifier, &self.hand));
        let (mut ledger, mut memory) = (FaultyStore::new(&mut ledger, &self.hand), FaultyStore::new(&mut memory, &self.hand));
        let points = &self.points;
        let mut machine = Machine::open(&mut self.conversation, self.catalogue, &self.settings, words);
        let mut guard = Hearing { guard: &mut self.guard, deaf: self.checked.sabotage == Some(Part::Guard) };
        let ports = Ports {
            model: &mut At::new(&mut self.model, points),
            tools: &mut At::new(&mut tools, points),
            verifier: &mut At::new(&mut verifier, points),
            ledger: &mut At::new(&mut ledger, points),
            memory: &mut At::new(&mut memory, points),
            guard: &mut At::new(&mut guard, points),
            sink: &mut self.trace,
        };
        tokio::select! {
            biased;
            () = points.death() => Driven::Died,
            _ = drive(&mut machine, ports, cancelled_at(cancel_at)) => Driven::Closed,
            () = tokio::time::sleep(HORIZON) => Driven::Endless,
        }
    }

    /// The process comes back with nothing but the database.
    fn restart(&mut self) {
        let memory = CvMemory::new(self.world.store.clone(), CONVERSATION);
        // What can't be read is not there: the oracle will say so.
        self.conversation = memory.load(SYSTEM).unwrap_or_else(|_| Conversation::new(SYSTEM));
        self.model.reconnect();
        self.points = Points::default();
    }

    /// What the user has asked for or approved as this turn begins.
    fn authorised(&self) -> Vec<(Act, String)> {
        let stage = self.stage.borrow();
        let wish = stage.wish.as_ref().filter(|wish| stage.authorises(wish.act, &wish.section));
        wish.map(|wish| (wish.act, wish.section.clone())).into_iter().collect()
    }

    /// What the person hears, what a recap may tell, and which interesting states were reached.
    fn after_turn(&mut self, facts: &TurnFacts) {
        let labels: Vec<Label> = heard(facts).into_iter().cloned().collect();
        person::listen(&mut self.stage.borrow_mut(), labels);
        for change in facts.changes() {
            let done = &mut self.model.done_before;
            match done.iter_mut().find(|(act, section, _)| *act == change.act && *section == change.section) {
                Some((_, _, count)) => *count += 1,
                None => done.push((change.act, change.section.clone(), 1)),
            }
        }
        let believed = self.model.believed.then_some("summary-believed");
        let of_folds = marks_of_fold(facts, &self.turns).into_iter().chain(believed);
        for mark in marks_of(facts).into_iter().chain(of_folds.map(str::to_owned)) {
            *self.reach.entry(mark).or_default() += 1;
        }
        let did = std::mem::take(&mut self.stage.borrow_mut().did);
        for mark in did.into_iter().chain(self.tools.did.drain(..)) {
            *self.reach.entry(mark.into()).or_default() += 1;
        }
        let a_move = self.moves.last().copied().unwrap_or_default();
        *self.reach.entry(format!("move:{a_move}")).or_default() += 1;
    }

    fn finish(self, wish_met: Option<bool>) -> Result<Run, String> {
        let checked = self.checked;
        let script = checked.plan.script.as_ref();
        let read = |error: rusqlite::Error| format!("the simulated database failed: {error}");
        let trail = audit::trail(&self.world.store, CONVERSATION).map_err(read)?;
        self.world.is_sound(self.faults.class_struck(Class::Disk))?;
        let memory = CvMemory::new(self.world.store.clone(), CONVERSATION);
        let lost = self.lost_wishes().map_err(read)?;
        let facts = RunFacts {
            settings: checked.settings.clone(),
            guard_calls: checked.policy.judge_calls(),
            faithful: checked.is_faithful() && !self.judge_kept && !self.faults.class_struck(Class::Judge),
            state_guard: matches!(checked.policy, PolicyName::State | PolicyName::Full),
            withholds: checked.policy == PolicyName::Full && checked.evidence == Evidence::Ledger,
            wish_met: wish_met.filter(|_| checked.settings.parts.pending),
            user: USER,
            foreign_marker: FOREIGN_MARKER.into(),
            turns: self.turns,
            messages: memory.messages().map_err(|error| error.to_string())?,
            trail: trail.into_iter().map(|row| (row.key, row.change)).collect(),
            lost_wishes: lost,
        };
        let mut judged = judge(&facts);
        let mut reach = self.reach;
        reach.extend(self.faults.struck().into_iter().map(|(name, count)| (format!("fault:{name}"), count)));
        if let Some(script) = script {
            judged.findings.extend(super::expect::unmet(script, &facts, &judged.measures, &self.world.store));
        }
        let outcome = outcome_of(checked, &facts, judged, &self.trace, reach, wish_met, self.on_at_start);
        let drawn = self.choices.borrow();
        let (choices, bounds, misfit) = (drawn.drawn().to_vec(), drawn.bounds().to_vec(), drawn.misfit());
        Ok(Run { outcome, turns: facts.turns, choices, bounds, misfit, moves: self.moves })
    }

    /// A standing wish that is not there, and that the user was never told had failed.
    fn lost_wishes(&self) -> rusqlite::Result<u32> {
        let stage = self.stage.borrow();
        let Some(wish) = &stage.wish else { return Ok(0) };
        if !matches!(stage.stance, Stance::Wants | Stance::Confirms) || wish.is_met(&self.world.store, USER)? {
            return Ok(0);
        }
        let told = stage.heard.iter().any(|label| {
            matches!(label, Label::Denies(_) | Label::ReportsFailure(_) | Label::Asks | Label::AwaitsApproval | Label::Negates)
        });
        Ok(u32::from(!told))
    }
}

/// Resolves when it is polled for the `at`th time: a user who cancels at that await point.
fn cancelled_at(at: Option<u32>) -> impl Future<Output = ()> {
    let mut left = at.unwrap_or(u32::MAX);
    poll_fn(move |_| {
        left = if left == u32::MAX { left } else { left - 1 };
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
}

fn outcome_of(
    checked: &Checked<'_>,
    facts: &RunFacts,
    judged: Judged,
    trace: &Trace,
    reach: BTreeMap<String, u64>,
    wish_met: Option<bool>,
    faults_on: Vec<String>,
) -> Outcome {
    let plan = checked.plan;
    let replay = plan.replay_command();
    let found = |finding: crate::oracle::record::Finding| Found {
        invariant: finding.invariant,
        turn: finding.turn,
        message: finding.message,
        replay: replay.clone(),
    };
    Outcome {
        version: outcome::VERSION,
        origin: None,
        seed: plan.seed,
        scenario: plan.script.as_ref().map(|script| script.id.clone()),
        policy: plan.policy.clone(),
        persona: plan.persona.clone(),
        dialect: plan.dialect.clone(),
        faults: faults_on,
        judge_broken: checked.is_faithful() && !facts.faithful,
        trace_hash: trace.hash(),
        turns: facts.turns.iter().filter_map(summary).collect(),
        findings: judged.findings.into_iter().map(found).collect(),
        measures: judged.measures,
        reach,
        premises: judged.premises.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        wish_met,
    }
}
