//! Plays a machine with scripted answers: no runtime, no clock. Where the script has run out the world is kind: calls succeed and are on
//! the audit trail, verifiers find what they look for, guards accept, the model says "Done talking.".

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use unbacked::turn::bounds::Settings;
use unbacked::turn::compact::SUMMARISER;
use unbacked::turn::conversation::Conversation;
use unbacked::turn::draft::{Act, CallKey, Draft, Fate, RowChange};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Tally, TurnRecord};
use unbacked::turn::guard::{Consulted, Ruling};
use unbacked::turn::machine::{Fact, Flow, Interrupt, Machine, Save, Step};
use unbacked::turn::message::{Block, Call, Message, Reply, ToolResult, joined_text};
use unbacked::turn::pending::PendingEntry;
use unbacked::turn::ports::{Audited, Chunk, Committed, ModelFault, Outcome, Place, PortError, ToolKind, ToolSpec, Verdict, WriteCheck};

use crate::say;

/// What the model does when asked.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Streams a reply to its end.
    Whole(Reply),
    /// Streams these, then the reply.
    Chunks(Vec<Chunk>, Reply),
    /// Streams these, then breaks.
    Breaks(Vec<Chunk>, ModelFault),
    /// Streams these, then is broken off.
    Interrupted(Vec<Chunk>, Interrupt),
}

/// What comes of a call.
#[derive(Clone, Debug)]
pub struct Play {
    pub outcome: Result<Outcome, Interrupt>,
    /// What the audit trail holds afterwards; `None`: nothing under this key.
    pub commits: Option<Vec<RowChange>>,
    pub verdict: Verdict,
    /// The audit trail can't be asked.
    pub no_trail: bool,
}

impl Play {
    /// It failed and left nothing behind.
    pub fn fails(outcome: Outcome) -> Self {
        Self { outcome: Ok(outcome), commits: None, verdict: Verdict::Holds, no_trail: false }
    }

    /// It says this, and the trail holds these rows.
    pub fn says(outcome: Outcome, rows: &[RowChange]) -> Self {
        Self { commits: Some(rows.to_vec()), ..Self::fails(outcome) }
    }

    pub fn interrupted(by: Interrupt) -> Self {
        Self { outcome: Err(by), ..Self::fails(say::done(json!({}))) }
    }

    pub fn verdict(self, verdict: Verdict) -> Self {
        Self { verdict, ..self }
    }
}

/// What the guard was shown.
#[derive(Clone, Debug)]
pub struct Shown {
    pub reply: String,
    pub closing: String,
    pub draft: Draft,
    pub second_look: bool,
}

/// A game: the world's script, and what was seen of the machine.
#[derive(Debug, Default)]
pub struct Game {
    pub conversation: Conversation,
    pub settings: Settings,
    pub answers: VecDeque<Answer>,
    pub plays: VecDeque<Play>,
    pub rulings: VecDeque<Ruling>,
    /// What the summariser does when asked.
    pub retellings: VecDeque<Answer>,
    /// The steps of a turn, counted from 0, that break off where they can be.
    pub interrupts: BTreeMap<usize, Interrupt>,
    /// The store's calls (saves, trail, sums, settle, close), counted from 0 over all turns, that fail.
    pub store_faults: BTreeSet<usize>,
    pub store_calls: usize,
    pub trail: Vec<Audited>,
    pub sums: Vec<Tally>,
    // What the store holds: messages by number, with their turns.
    pub stored: BTreeMap<u32, (u32, Message)>,
    pub stored_pending: Vec<PendingEntry>,
    pub closed: Vec<TurnRecord>,
    // What was seen.
    pub steps: Vec<String>,
    pub events: Vec<Event>,
    pub prompts: Vec<(Option<String>, Vec<Message>)>,
    pub summary_prompts: Vec<Vec<Message>>,
    pub shown: Vec<Shown>,
    pub ran: Vec<(CallKey, Call)>,
    pub checks: Vec<WriteCheck>,
    pub settled: Vec<(Committed, Fate)>,
    verdicts: BTreeMap<CallKey, (Verdict, bool)>,
}

impl Game {
    pub fn new() -> Self {
        // Most scripts count the store's calls: one try each, but where the tries themselves are on trial.
        let settings = Settings { store_tries: 1, ..Settings::default() };
        Self { conversation: Conversation::new("Be honest."), settings, ..Self::default() }
    }

    /// The model's replies, in order.
    pub fn replies(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.answers.extend(replies.into_iter().map(Answer::Whole));
        self
    }

    pub fn answers(mut self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.answers.extend(answers);
        self
    }

    /// What comes of the calls, in order.
    pub fn plays(mut self, plays: impl IntoIterator<Item = Play>) -> Self {
        self.plays.extend(plays);
        self
    }

    pub fn rulings(mut self, rulings: impl IntoIterator<Item = Ruling>) -> Self {
        self.rulings.extend(rulings);
        self
    }

    /// Plays a turn to its end. Every turn is held to what holds of every turn.
    pub fn turn(&mut self, words: &str) -> TurnRecord {
        let past = self.events.len();
        let mut conversation = std::mem::take(&mut self.conversation);
        let (tools, settings) = (say::tools(), self.settings.clone());
        let mut machine = Machine::open(&mut conversation, &tools, &settings, words);
        let record = self.play(&mut machine, &tools);
        drop(machine);
        self.conversation = conversation;
        self.check(&record, past);
        record
    }

    fn play(&mut self, machine: &mut Machine<'_>, tools: &[ToolSpec]) -> TurnRecord {
        for number in 0..20_000 {
            let step = machine.step();
            if let Step::Done(record) = step {
                return *record;
            }
            self.steps.push(word_of(&step));
            let fact = self.fact(machine, step, tools, number);
            machine.feed(fact);
            self.events.extend(machine.take_events());
        }
        panic!("the turn did not end");
    }

    pub fn fact(&mut self, machine: &mut Machine<'_>, step: Step, tools: &[ToolSpec], number: usize) -> Fact {
        if let (Some(by), Step::Ask | Step::Summarise | Step::Wait(_) | Step::Run(..) | Step::Consult) =
            (self.interrupts.remove(&number), &step)
        {
            if matches!(step, Step::Ask | Step::Summarise) {
                machine.asked();
            }
            return Fact::Interrupted(by);
        }
        match step {
            Step::ReadTrail { turn } => Fact::Trail(self.store().map(|()| self.of_turn(turn))),
            Step::SumTrail { .. } => Fact::Sums(self.store().map(|()| self.sums.clone())),
            Step::Save(save) => Fact::Saved(self.store().map(|()| self.keep(machine.place(), save))),
            Step::ReadFolded { through } => Fact::Trail(self.store().map(|()| self.up_to(through))),
            Step::Summarise => self.summarise(machine),
            Step::Ask => self.ask(machine),
            Step::Wait(_) => Fact::Waited,
            Step::Run(key, call) => self.run(key, call, tools),
            Step::Verify(check) => Fact::Verified(self.verify(check)),
            Step::Find(key) => Fact::Found(self.find(key)),
            Step::Settle(committed, fate) => Fact::Settled(self.settle(committed, fate)),
            Step::Consult => self.consult(machine),
            Step::Close(record) => Fact::Closed(self.store().map(|()| self.closed.push(*record))),
            Step::Done(_) => unreachable!("seen to before"),
        }
    }

    fn store(&mut self) -> Result<(), PortError> {
        self.store_calls += 1;
        if self.store_faults.contains(&(self.store_calls - 1)) { Err(PortError("disk full".into())) } else { Ok(()) }
    }

    fn keep(&mut self, place: Place, save: Save) {
        match save {
            Save::Message(message) => drop(self.stored.insert(place.seq, (place.turn, message))),
            Save::Pending(entries) => self.stored_pending = entries,
            Save::Record(record) => self.closed.push(*record),
            Save::Fold { at, summary } => {
                self.stored.retain(|seq, _| *seq > at.seq);
                self.stored.insert(at.seq, (at.turn, summary));
            }
        }
    }

    /// Plays a turn up to a step, counted from 0, at which the process dies: before the step was taken, or after it and before anything came
    /// of it. What is left is what was stored. False where the turn ended before that step.
    pub fn dies(&mut self, words: &str, at: usize, taken: bool) -> bool {
        let mut conversation = std::mem::take(&mut self.conversation);
        let (tools, settings) = (say::tools(), self.settings.clone());
        let mut machine = Machine::open(&mut conversation, &tools, &settings, words);
        let mut died = false;
        for number in 0..=at {
            let step = machine.step();
            if matches!(step, Step::Done(_)) {
                break;
            }
            died = number == at;
            if died && !taken {
                break;
            }
            let fact = self.fact(&mut machine, step, &tools, number);
            if !died {
                machine.feed(fact);
            }
            self.events.extend(machine.take_events());
        }
        self.conversation = self.revived();
        died
    }

    /// What the verifier will say of a call of an earlier turn.
    pub fn verdict_of(&mut self, key: CallKey, verdict: Verdict) {
        self.verdicts.insert(key, (verdict, false));
    }

    /// The audit trail can't be asked about this call.
    pub fn no_trail_of(&mut self, key: CallKey) {
        self.verdicts.insert(key, (Verdict::Holds, true));
    }

    /// The conversation as the store has it.
    pub fn revived(&self) -> Conversation {
        let spoken = self.stored.values().map(|(turn, _)| *turn).max().unwrap_or(0);
        let audited = self.trail.iter().map(|audited| audited.committed.key.turn);
        let turn = audited.chain(self.closed.iter().map(|record| record.turn)).chain([spoken]).max().unwrap_or(0);
        let mut conversation = Conversation {
            turn,
            spoken,
            unclosed: spoken > 0 && self.closed.iter().all(|record| record.turn != spoken),
            next_seq: self.stored.keys().max().map_or(0, |seq| seq + 1),
            messages: self.stored.values().map(|(_, message)| message.clone()).collect(),
            turns: self.stored.values().map(|(turn, _)| *turn).collect(),
            pending_made: self.stored_pending.iter().map(|entry| entry.id).max().unwrap_or(0),
            ..Conversation::new("Be honest.")
        };
        for entry in &self.stored_pending {
            conversation.pending.restore(entry.clone());
        }
        conversation.restored()
    }

    fn of_turn(&self, turn: u32) -> Vec<Audited> {
        self.trail.iter().filter(|audited| audited.committed.key.turn == turn).cloned().collect()
    }

    fn up_to(&self, turn: u32) -> Vec<Audited> {
        self.trail.iter().filter(|audited| audited.committed.key.turn <= turn).cloned().collect()
    }

    fn summarise(&mut self, machine: &mut Machine<'_>) -> Fact {
        machine.asked();
        let prompt = machine.prompt();
        assert!(
            prompt.system == SUMMARISER && prompt.tools.is_empty() && prompt.pending.is_none(),
            "a summariser has nothing to do but retell"
        );
        self.summary_prompts.push(prompt.messages.to_vec());
        let answer = self.retellings.pop_front().unwrap_or_else(|| Answer::Whole(say::text("They talked.")));
        play(machine, answer)
    }

    fn ask(&mut self, machine: &mut Machine<'_>) -> Fact {
        machine.asked();
        let prompt = machine.prompt();
        assert_eq!(prompt.tools, say::tools(), "L1: every model call carries all tools");
        self.prompts.push((prompt.pending.map(str::to_owned), prompt.messages.to_vec()));
        play(machine, self.answers.pop_front().unwrap_or_else(|| Answer::Whole(say::text("Done talking."))))
    }

    fn run(&mut self, key: CallKey, call: Call, tools: &[ToolSpec]) -> Fact {
        let play = self.plays.pop_front().unwrap_or_else(|| kind_play(&call, tools, self.ran.len()));
        if let Some(rows) = play.commits {
            let (act, section) = target_of(&call, tools);
            self.trail.push(Audited { committed: Committed { key, tool: call.name.clone(), act, section, rows }, fate: None });
        }
        self.verdicts.insert(key, (play.verdict, play.no_trail));
        self.ran.push((key, call));
        play.outcome.map_or_else(Fact::Interrupted, Fact::Ran)
    }

    fn verify(&mut self, check: WriteCheck) -> Verdict {
        let verdict = self.verdicts[&check.key].0.clone();
        self.checks.push(check);
        verdict
    }

    fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        self.store()?;
        if self.verdicts.get(&key).is_some_and(|(_, no_trail)| *no_trail) {
            return Err(PortError("the trail is locked".into()));
        }
        Ok(self.trail.iter().find(|audited| audited.committed.key == key).map(|audited| audited.committed.clone()))
    }

    fn settle(&mut self, committed: Committed, fate: Fate) -> Result<(), PortError> {
        self.store()?;
        self.settled.push((committed.clone(), fate.clone()));
        match self.trail.iter_mut().find(|audited| audited.committed.key == committed.key) {
            Some(audited) => audited.fate = Some(fate),
            None => self.trail.push(Audited { committed, fate: Some(fate) }),
        }
        Ok(())
    }

    fn consult(&mut self, machine: &Machine<'_>) -> Fact {
        let view = machine.view();
        self.shown.push(Shown {
            reply: view.reply.into(),
            closing: view.closing.into(),
            draft: view.draft.clone(),
            second_look: view.second_look,
        });
        let ruling = self.rulings.pop_front().unwrap_or(Ruling::Accept);
        Fact::Consulted(Consulted { ruling, judge_calls: 1, judge_tokens: 7, why: "scripted".into() })
    }

    /// What holds of every turn, whatever the script: B6, B7, L5, L8, U1.
    fn check(&self, record: &TurnRecord, past: usize) {
        let events = &self.events[past..];
        let receipts = events.iter().filter(|event| matches!(event, Event::Receipt { .. })).count();
        assert_eq!(receipts, usize::from(self.settings.parts.receipts), "U1: one receipt");
        assert!(matches!(events.last(), Some(Event::TurnClosed { record: closed }) if closed == record), "the record closes the trace");
        let ceiling = self.settings.ceiling(1);
        assert!(record.iterations <= ceiling.iterations && record.model_calls <= ceiling.model_calls, "B7: {record:?}");
        assert!(record.judge_calls <= ceiling.judge_calls && record.corrections <= ceiling.corrections, "B7: {record:?}");
        if self.store_faults.is_empty() {
            assert_valid(&self.conversation.messages);
            let stored = |event: &Event| match event {
                Event::Stored { message } => Some(text_of(message)),
                _ => None,
            };
            let stored: String = events.iter().filter_map(stored).collect();
            assert_eq!(stored, record.reply, "L8: the stored reply is what was shown");
        }
    }

    // Questions that tests ask.

    /// All tool results that were stored, in order.
    pub fn results(&self) -> Vec<&ToolResult> {
        self.conversation.messages.iter().flat_map(results_of).collect()
    }

    /// The turn reports that rode on results.
    pub fn reports(&self) -> Vec<&str> {
        let messages = self.conversation.messages.iter();
        messages.filter_map(|message| if let Message::Results { report, .. } = message { report.as_deref() } else { None }).collect()
    }

    pub fn fates(&self) -> Vec<Fate> {
        let of = |event: &Event| match event {
            Event::Settled { fate, .. } => Some(fate.clone()),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    pub fn corrections(&self) -> Vec<&str> {
        let messages = self.conversation.messages.iter();
        messages.filter_map(|message| if let Message::Correction { text } = message { Some(text.as_str()) } else { None }).collect()
    }

    /// Where a step stands among those that were taken.
    pub fn place(&self, word: &str) -> usize {
        self.steps.iter().position(|step| step == word).unwrap_or_else(|| panic!("no step {word} in {:?}", self.steps))
    }
}

/// Streams an answer into the machine.
fn play(machine: &mut Machine<'_>, answer: Answer) -> Fact {
    let (chunks, end) = match answer {
        Answer::Whole(reply) => (chunks_of(&reply), Fact::Replied(reply)),
        Answer::Chunks(chunks, reply) => (chunks, Fact::Replied(reply)),
        Answer::Breaks(chunks, fault) => (chunks, Fact::AskFailed(fault)),
        Answer::Interrupted(chunks, by) => (chunks, Fact::Interrupted(by)),
    };
    for chunk in &chunks {
        if let Flow::Cut(limit) = machine.hear(chunk) {
            return Fact::Oversized(limit);
        }
    }
    end
}

/// L5: each call of an assistant message has exactly one result, in order, in the message that follows directly; ids are legal and unique.
pub fn assert_valid(messages: &[Message]) {
    let mut ids = BTreeSet::new();
    for (place, message) in messages.iter().enumerate() {
        let asked: Vec<(&str, &str)> = calls_in(message).map(|call| (call.id.as_str(), call.name.as_str())).collect();
        if let Message::Assistant { blocks, .. } = message {
            assert!(!blocks.is_empty(), "an assistant message without blocks");
        }
        for (id, _) in &asked {
            assert!(
                (1..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "illegal {id:?}"
            );
            assert!(ids.insert(id.to_owned()), "{id} twice");
        }
        let follows: Vec<(&str, &str)> = messages
            .get(place + 1)
            .into_iter()
            .flat_map(results_of)
            .map(|result| (result.call_id.as_str(), result.name.as_str()))
            .collect();
        assert_eq!(asked, follows, "calls and results at {place}");
    }
    assert!(messages.first().is_none_or(|message| results_of(message).is_empty()), "results of nothing");
}

fn calls_in(message: &Message) -> impl Iterator<Item = &Call> {
    let blocks: &[Block] = if let Message::Assistant { blocks, .. } = message { blocks } else { &[] };
    blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None })
}

fn results_of(message: &Message) -> &[ToolResult] {
    if let Message::Results { results, .. } = message { results } else { &[] }
}

fn text_of(message: &Message) -> String {
    if let Message::Assistant { blocks, .. } = message { joined_text(blocks) } else { String::new() }
}

pub fn chunks_of(reply: &Reply) -> Vec<Chunk> {
    let of = |block: &Block| match block {
        Block::Text { text } => vec![Chunk::Text(text.clone())],
        Block::Call(call) => vec![Chunk::CallBegan, Chunk::Arguments(json!(call.arguments.object()).to_string().len())],
        Block::Thinking { text, .. } => vec![Chunk::Thinking(text.len())],
        Block::RedactedThinking { data } => vec![Chunk::Thinking(data.len())],
    };
    reply.blocks.iter().flat_map(of).chain([Chunk::Done(reply.clone())]).collect()
}

fn target_of(call: &Call, tools: &[ToolSpec]) -> (Act, String) {
    match tools.iter().find(|tool| tool.name == call.name).map(|tool| &tool.kind) {
        Some(ToolKind::Write { act, section }) => (*act, section.clone()),
        _ => (Act::Discard, call.arguments.object().get("section").and_then(|s| s.as_str()).unwrap_or("?").to_owned()),
    }
}

/// A call that succeeds and touches row `number + 1`.
fn kind_play(call: &Call, tools: &[ToolSpec], number: usize) -> Play {
    if call.name == say::READ {
        return Play::fails(say::done(json!({"rows": []})));
    }
    let (act, section) = target_of(call, tools);
    let id = if act == Act::Discard { 0 } else { i64::try_from(number).unwrap_or(0) + 1 };
    let result = if act == Act::Discard { json!({"discarded": section}) } else { json!({"touched_ids": [id]}) };
    Play::says(say::done(result), &[say::row(act, &section, id)])
}

fn word_of(step: &Step) -> String {
    match step {
        Step::ReadTrail { turn } => format!("trail {turn}"),
        Step::SumTrail { .. } => "sum".into(),
        Step::Save(Save::Message(Message::User { .. })) => "save user".into(),
        Step::Save(Save::Message(Message::Assistant { .. })) => "save assistant".into(),
        Step::Save(Save::Message(Message::Results { .. })) => "save results".into(),
        Step::Save(Save::Message(Message::Correction { .. })) => "save correction".into(),
        Step::Save(Save::Message(Message::Summary { .. })) => "save summary".into(),
        Step::Save(Save::Pending(_)) => "save pending".into(),
        Step::Save(Save::Record(_)) => "save record".into(),
        Step::Save(Save::Fold { .. }) => "fold".into(),
        Step::ReadFolded { through } => format!("trail to {through}"),
        Step::Summarise => "summarise".into(),
        Step::Ask => "ask".into(),
        Step::Wait(delay) => format!("wait {}", delay.as_millis()),
        Step::Run(_, call) => format!("run {}", call.name),
        Step::Verify(_) => "verify".into(),
        Step::Find(_) => "find".into(),
        Step::Settle(..) => "settle".into(),
        Step::Consult => "consult".into(),
        Step::Close(_) => "close".into(),
        Step::Done(_) => "done".into(),
    }
}
