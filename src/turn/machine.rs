//! The loop's decisions, all of them, and nothing else: what comes next, which bound is reached, what the report says, what is pending,
//! what a ruling leads to.
//!
//! [`Machine::step`] says what to do, [`Machine::feed`] takes in what came of it. No await, no clock, no I/O. A fact that does not answer the
//! step at hand leaves the machine in a confused phase, which ends the turn with a typed fault that the first test notices.

mod calls;
mod closing;
mod folding;
mod recovery;
mod replies;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bounds::{Meter, Oversize, Settings};
use super::compact::{Cut, Fold, RETELLING_TOKENS, SUMMARISER};
use super::conversation::Conversation;
use super::draft::{CallKey, Draft, Entry, Fate};
use super::event::Event;
use super::exit::{Stop, Tally, TurnRecord};
use super::guard::{About, Consulted, Objection, View};
use super::message::{Call, Message, Reply, ToolResult};
use super::pending::PendingEntry;
use super::ports::{Audited, Chunk, Committed, Failure, ModelFault, Outcome, Place, PortError, Prompt, ToolSpec, Verdict, WriteCheck};
use super::report;

use calls::CallAtHand;

/// What the driver has to do next.
#[derive(Debug)]
pub enum Step {
    /// Read a turn's mutating calls from the audit trail: the previous turn's for L7, this one's for the receipt (U1).
    ReadTrail {
        /// Which turn.
        turn: u32,
    },
    /// Sum up what all turns before this one changed.
    SumTrail {
        /// This turn.
        turn: u32,
    },
    /// Read the mutating calls of this turn and all before it, which are about to be folded (C2).
    ReadFolded {
        /// The last one that is folded.
        through: u32,
    },
    /// Store something of the conversation.
    Save(Save),
    /// Send [`Machine::prompt`] to the model and tell [`Machine::hear`] of every chunk.
    Ask,
    /// Send [`Machine::prompt`] to the model, which retells what is about to be folded, and tell [`Machine::hear`] of every chunk. The
    /// summariser has a limit of its own.
    Summarise,
    /// Wait before the next try (L11).
    Wait(Duration),
    /// Run a tool call (L4).
    Run(CallKey, Call),
    /// Ask the verifier (V1).
    Verify(WriteCheck),
    /// Ask the audit trail what a call committed.
    Find(CallKey),
    /// Add a fate to the audit trail (C4).
    Settle(Committed, Fate),
    /// Show [`Machine::view`] to the guard (G, J).
    Consult,
    /// Record the closed turn.
    Close(Box<TurnRecord>),
    /// It is over.
    Done(Box<TurnRecord>),
}

/// Something of the conversation to store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Save {
    /// Append a message.
    Message(Message),
    /// Replace the pending entries.
    Pending(Vec<PendingEntry>),
    /// Record a turn that an earlier process left unclosed (L10).
    Record(Box<TurnRecord>),
    /// Put a summary in place of all messages up to this place (C1).
    Fold {
        /// The place of the last folded message.
        at: Place,
        /// What stands there from now on.
        summary: Message,
    },
}

/// What came of a step.
#[derive(Debug)]
pub enum Fact {
    /// Answers [`Step::ReadTrail`] and [`Step::ReadFolded`].
    Trail(Result<Vec<Audited>, PortError>),
    /// Answers [`Step::SumTrail`].
    Sums(Result<Vec<Tally>, PortError>),
    /// Answers [`Step::Save`].
    Saved(Result<(), PortError>),
    /// Answers [`Step::Ask`] or [`Step::Summarise`]: the reply is whole.
    Replied(Reply),
    /// Answers [`Step::Ask`] or [`Step::Summarise`]: it failed, or the stream broke.
    AskFailed(ModelFault),
    /// Answers [`Step::Ask`] or [`Step::Summarise`]: [`Machine::hear`] said that it is too large, and the stream was dropped (B5).
    Oversized(Oversize),
    /// Answers [`Step::Wait`].
    Waited,
    /// Answers [`Step::Run`].
    Ran(Outcome),
    /// Answers [`Step::Verify`].
    Verified(Verdict),
    /// Answers [`Step::Find`].
    Found(Result<Option<Committed>, PortError>),
    /// Answers [`Step::Settle`].
    Settled(Result<(), PortError>),
    /// Answers [`Step::Consult`].
    Consulted(Consulted),
    /// Answers [`Step::Close`].
    Closed(Result<(), PortError>),
    /// Answers [`Step::Ask`], [`Step::Summarise`], [`Step::Wait`], [`Step::Run`] or [`Step::Consult`]: it was broken off.
    Interrupted(Interrupt),
}

/// Why a step was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// L13.
    Cancelled,
    /// B4.
    TimeLimit,
}

/// Whether a stream may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It may.
    GoOn,
    /// It may not: drop it and feed [`Fact::Oversized`].
    Cut(Oversize),
}

/// Where the turn is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    Recalling,
    /// What the turn before this one did; it was never closed.
    SummingLost(Vec<Entry>),
    Summing,
    RecallingFolded(Cut),
    Summarising(Box<Fold>),
    Asking,
    Waiting(Duration),
    Calling(Box<CallAtHand>),
    Consulting,
    ReadingReceipt,
    /// The trail is read, and what earlier turns changed is still not known.
    SummingReceipt(Vec<Entry>),
    Recording(Box<TurnRecord>),
    Done(Box<TurnRecord>),
    /// A fact came that answers nothing.
    Confused,
}

/// How often running a tool failed in the same way (B2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Streak {
    failure: Failure,
    length: u32,
}

/// All that a turn in progress knows, apart from the conversation; it serialises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turn {
    phase: Phase,
    saves: VecDeque<Save>,
    words: String,
    draft: Draft,
    /// `None` until it was read.
    earlier: Option<Vec<Tally>>,
    attempt: u32,
    /// Tries of the store's step at hand that failed.
    store_failures: u32,
    /// What the user has seen of the model this turn (L8).
    shown: String,
    /// What was streamed of the reply at hand.
    heard: String,
    meter: Meter,
    calls: VecDeque<(CallKey, Call)>,
    results: Vec<ToolResult>,
    /// Calls of an earlier turn that are still open.
    lost: VecDeque<CallAtHand>,
    /// The turn that was looked back at, once it was.
    looked_back: Option<u32>,
    streaks: BTreeMap<String, Streak>,
    asked_again_after_silence: bool,
    /// The objection that the turn's one correction went out for (B3).
    corrected: Option<Objection>,
    contested: Option<Objection>,
    /// The turn's own calls could not be read from the trail.
    trail_unread: bool,
    /// Once set, nothing new begins: the turn winds down and closes.
    stop: Option<Stop>,
    lines: Vec<String>,
    iterations: u32,
    model_calls: u32,
    judge_calls: u32,
    tokens_in: u64,
    tokens_out: u64,
}

impl Turn {
    fn new(words: String) -> Self {
        Self {
            phase: Phase::Recalling,
            saves: VecDeque::new(),
            words,
            draft: Draft::default(),
            earlier: None,
            attempt: 1,
            store_failures: 0,
            shown: String::new(),
            heard: String::new(),
            meter: Meter::default(),
            calls: VecDeque::new(),
            results: Vec::new(),
            lost: VecDeque::new(),
            looked_back: None,
            streaks: BTreeMap::new(),
            asked_again_after_silence: false,
            corrected: None,
            contested: None,
            trail_unread: false,
            stop: None,
            lines: Vec::new(),
            iterations: 0,
            model_calls: 0,
            judge_calls: 0,
            tokens_in: 0,
            tokens_out: 0,
        }
    }
}

/// A turn in progress. It borrows its conversation whole, so that no second turn can run in it (L14):
///
/// ```compile_fail,E0499
/// # use unbacked::turn::{bounds::Settings, conversation::Conversation, machine::Machine};
/// # let (mut conversation, settings) = (Conversation::new(""), Settings::default());
/// let first = Machine::open(&mut conversation, &[], &settings, "one");
/// let second = Machine::open(&mut conversation, &[], &settings, "two");
/// drop(first);
/// ```
///
/// The next one opens once the first is over:
///
/// ```
/// # use unbacked::turn::{bounds::Settings, conversation::Conversation, machine::Machine};
/// # let (mut conversation, settings) = (Conversation::new(""), Settings::default());
/// let first = Machine::open(&mut conversation, &[], &settings, "one");
/// drop(first);
/// let second = Machine::open(&mut conversation, &[], &settings, "two");
/// ```
#[derive(Debug)]
pub struct Machine<'c> {
    conversation: &'c mut Conversation,
    tools: &'c [ToolSpec],
    settings: &'c Settings,
    turn: Turn,
    pending_block: Option<String>,
    events: Vec<Event>,
}

impl<'c> Machine<'c> {
    /// Opens the next turn of a conversation with the user's words.
    pub fn open(conversation: &'c mut Conversation, tools: &'c [ToolSpec], settings: &'c Settings, words: &str) -> Self {
        conversation.turn += 1;
        Self { conversation, tools, settings, turn: Turn::new(words.to_owned()), pending_block: None, events: Vec::new() }
    }

    /// What to do next. Asking twice changes nothing.
    pub fn step(&self) -> Step {
        if let Some(save) = self.turn.saves.front() {
            return Step::Save(save.clone());
        }
        match &self.turn.phase {
            Phase::Recalling => Step::ReadTrail { turn: self.conversation.spoken },
            Phase::SummingLost(_) => Step::SumTrail { turn: self.conversation.spoken },
            Phase::Summing | Phase::SummingReceipt(_) => Step::SumTrail { turn: self.conversation.turn },
            Phase::RecallingFolded(cut) => Step::ReadFolded { through: cut.at.turn },
            Phase::Summarising(_) => Step::Summarise,
            Phase::Asking => Step::Ask,
            Phase::Waiting(delay) => Step::Wait(*delay),
            Phase::Calling(call) => call.step(),
            Phase::Consulting => Step::Consult,
            Phase::ReadingReceipt | Phase::Confused => Step::ReadTrail { turn: self.conversation.turn },
            Phase::Recording(record) => Step::Close(record.clone()),
            Phase::Done(record) => Step::Done(record.clone()),
        }
    }

    /// Takes in what came of the step at hand.
    pub fn feed(&mut self, fact: Fact) {
        if self.asks_again(&fact) {
            return;
        }
        if !self.turn.saves.is_empty() {
            return match fact {
                Fact::Saved(result) => self.saved(result),
                _ => self.confused(),
            };
        }
        let phase = std::mem::replace(&mut self.turn.phase, Phase::Confused);
        match (phase, fact) {
            (Phase::Recalling, Fact::Trail(trail)) => self.recalled(trail),
            (Phase::SummingLost(entries), Fact::Sums(Ok(sums))) => self.close_the_lost(entries, sums),
            (Phase::SummingLost(_), Fact::Sums(Err(error))) => self.memory_failed(error),
            (Phase::Summing, Fact::Sums(sums)) => self.summed(sums),
            (Phase::SummingReceipt(entries), Fact::Sums(sums)) => self.make_receipt(entries, sums.ok()),
            (Phase::RecallingFolded(cut), Fact::Trail(trail)) => self.recalled_folded(cut, trail),
            (Phase::Summarising(fold), fact) => self.summarised(&fold, fact),
            (Phase::Asking, Fact::Replied(reply)) => self.replied(reply),
            (Phase::Asking, Fact::AskFailed(fault)) => self.ask_failed(fault),
            (Phase::Asking, Fact::Oversized(limit)) => self.cut_short(Stop::Oversize { limit }),
            (Phase::Asking, Fact::Interrupted(by)) => self.cut_short(by.into()),
            (Phase::Waiting(_), Fact::Waited) => self.turn.phase = Phase::Asking,
            (Phase::Waiting(_) | Phase::Consulting, Fact::Interrupted(by)) => self.stop(by.into()),
            (Phase::Calling(call), fact) => self.call_answered(*call, fact),
            (Phase::Consulting, Fact::Consulted(consulted)) => self.consulted(consulted),
            (Phase::ReadingReceipt | Phase::Confused, Fact::Trail(trail)) => self.read_receipt(trail),
            (Phase::Recording(record), Fact::Closed(result)) => self.closed(record, result),
            _ => self.confused(),
        }
    }

    /// A step of the store that failed is taken once more, as often as the settings allow, before the failure counts.
    fn asks_again(&mut self, fact: &Fact) -> bool {
        let failed = match (&self.turn.phase, fact) {
            _ if !self.turn.saves.is_empty() => matches!(fact, Fact::Saved(Err(_))),
            (Phase::Recalling | Phase::RecallingFolded(_) | Phase::ReadingReceipt | Phase::Confused, Fact::Trail(Err(_)))
            | (Phase::Summing | Phase::SummingLost(_) | Phase::SummingReceipt(_), Fact::Sums(Err(_)))
            | (Phase::Recording(_), Fact::Closed(Err(_))) => true,
            (Phase::Calling(call), fact) => call.store_failed(fact),
            _ => false,
        };
        let again = failed && self.turn.store_failures + 1 < self.settings.store_tries;
        self.turn.store_failures = if again { self.turn.store_failures + 1 } else { 0 };
        again
    }

    /// What to send for [`Step::Ask`] or [`Step::Summarise`].
    pub fn prompt(&self) -> Prompt<'_> {
        if let Phase::Summarising(fold) = &self.turn.phase {
            let output_tokens = self.settings.output_tokens.min(RETELLING_TOKENS);
            return Prompt { system: SUMMARISER, pending: None, messages: &fold.ask, tools: &[], output_tokens };
        }
        Prompt {
            system: &self.conversation.system,
            pending: self.pending_block.as_deref(),
            messages: &self.conversation.messages,
            tools: self.tools,
            output_tokens: self.settings.output_tokens,
        }
    }

    /// What to show the guard for [`Step::Consult`].
    pub fn view(&self) -> View<'_> {
        View {
            reply: &self.turn.shown,
            closing: &self.turn.heard,
            draft: &self.turn.draft,
            pending: &self.conversation.pending,
            earlier: self.turn.earlier.as_deref().unwrap_or_default(),
            second_look: self.turn.corrected.is_some(),
        }
    }

    /// Takes in a chunk of the reply at hand, before it is whole.
    pub fn hear(&mut self, chunk: &Chunk) -> Flow {
        match chunk {
            Chunk::Text(text) => {
                self.turn.heard.push_str(text);
                self.turn.meter.text(text.len());
                if !matches!(self.turn.phase, Phase::Summarising(_)) {
                    self.turn.shown.push_str(text);
                    self.events.push(Event::Text { text: text.clone() });
                }
            }
            Chunk::Thinking(bytes) => self.turn.meter.text(*bytes),
            Chunk::CallBegan => self.turn.meter.call(),
            Chunk::Arguments(bytes) => self.turn.meter.arguments(*bytes),
            Chunk::Done(_) => {}
        }
        self.turn.meter.over(self.settings).map_or(Flow::GoOn, Flow::Cut)
    }

    /// The settings it runs under.
    pub fn settings(&self) -> &'c Settings {
        self.settings
    }

    /// The turn's number, counted from 1.
    pub fn turn_number(&self) -> u32 {
        self.conversation.turn
    }

    /// Where the message of [`Step::Save`] goes.
    pub fn place(&self) -> Place {
        // The results that an earlier turn owed belong to it.
        let owed = matches!(self.turn.phase, Phase::Recalling).then_some(self.turn.looked_back).flatten();
        Place { turn: owed.unwrap_or(self.conversation.turn), seq: self.conversation.next_seq }
    }

    /// Events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Call after every [`Machine::step`] that is [`Step::Ask`] or [`Step::Summarise`]: a model call goes out.
    pub fn asked(&mut self) {
        self.turn.model_calls += 1;
        self.turn.heard.clear();
        self.turn.meter = Meter::default();
        if let Phase::Summarising(fold) = &self.turn.phase {
            return self.events.push(Event::SummaryAsked { through: fold.cut.at.turn });
        }
        self.pending_block = self.settings.parts.pending.then(|| report::pending_block(&self.conversation.pending)).flatten();
        self.events.push(Event::Asked {
            iteration: self.turn.iterations + 1,
            attempt: self.turn.attempt,
            pending: self.pending_block.clone(),
        });
    }

    fn recalled(&mut self, trail: Result<Vec<Audited>, PortError>) {
        match trail {
            Ok(_) if self.turn.stop.is_some() => self.turn.phase = Phase::ReadingReceipt,
            Ok(trail) => self.look_back(trail),
            Err(error) => self.memory_failed(error),
        }
    }

    /// L7: the opening report, at the head of the user's message.
    fn open_turn(&mut self, entries: &[Entry]) {
        let report = self.settings.parts.reports.then(|| report::opening_report(entries));
        let words = std::mem::take(&mut self.turn.words);
        if self.conversation.pending_unstored {
            self.save_pending();
        }
        self.events.push(Event::TurnOpened { turn: self.conversation.turn, words: words.clone(), report: report.clone() });
        self.turn.saves.push_back(Save::Message(Message::User { report, words }));
        self.turn.phase = Phase::Summing;
    }

    fn summed(&mut self, sums: Result<Vec<Tally>, PortError>) {
        match sums {
            Ok(sums) => {
                self.turn.earlier = Some(sums);
                self.fold_or_ask();
            }
            Err(error) => self.memory_failed(error),
        }
    }

    /// B1: the next model call, unless the ceiling is reached.
    fn ask(&mut self) {
        if self.turn.iterations >= self.settings.iterations {
            return self.stop(Stop::Iterations);
        }
        self.turn.attempt = 1;
        self.turn.phase = Phase::Asking;
    }

    fn saved(&mut self, result: Result<(), PortError>) {
        let save = self.turn.saves.pop_front();
        match (result, save) {
            (Ok(()), Some(Save::Message(message))) => {
                if let (Message::Correction { text }, Some(objection)) = (&message, &self.turn.corrected) {
                    self.events.push(Event::Corrected { objection: objection.clone(), text: text.clone() });
                }
                if matches!(message, Message::User { .. }) {
                    self.conversation.spoken = self.conversation.turn;
                }
                self.events.push(Event::Stored { message: message.clone() });
                self.conversation.turns.push(self.place().turn);
                self.conversation.messages.push(message);
                self.conversation.next_seq += 1;
            }
            (Ok(()), Some(Save::Fold { at, summary })) => self.folded(at, summary),
            (Ok(()), Some(Save::Record(_))) => self.conversation.unclosed = false,
            (Ok(()), Some(Save::Pending(_))) => self.conversation.pending_unstored = false,
            (Ok(()), _) => {}
            (Err(error), save) => self.save_failed(save, error),
        }
    }

    /// What can't be stored is not sent. Only of a transcript that still goes on is the rest of its round stored (L5).
    fn save_failed(&mut self, save: Option<Save>, error: PortError) {
        let unsent = |save: &Save| matches!(save, Save::Message(Message::Correction { .. }));
        if save.iter().chain(&self.turn.saves).any(unsent)
            && let Some(objection) = self.turn.corrected.take()
        {
            if let (About::Unfinished { section }, Some(Save::Pending(_))) = (&objection.about, &save) {
                self.conversation.pending.unmark_corrected(section);
            }
            self.objection_stands(objection);
        }
        match save {
            Some(Save::Pending(_)) => self.pending_failed(&error),
            // The transcript is as good as it was; the next turn tries again.
            Some(Save::Fold { .. }) => {}
            _ => self.memory_failed(error),
        }
    }

    fn pending_failed(&mut self, error: &PortError) {
        self.conversation.pending_unstored = true;
        self.turn.stop.get_or_insert(Stop::Memory { error: report::reason(&error.0) });
        self.turn.saves.retain(|save| matches!(save, Save::Message(Message::Results { .. })));
        if let Phase::Calling(call) = std::mem::replace(&mut self.turn.phase, Phase::ReadingReceipt) {
            self.stopped_before(*call);
        }
    }

    /// The conversation's store failed: what is begun is wound down, nothing new begins.
    fn memory_failed(&mut self, error: PortError) {
        self.turn.saves.clear();
        self.turn.calls.clear();
        if self.turn.stop.is_none() {
            self.turn.stop = Some(Stop::Memory { error: report::reason(&error.0) });
        }
        if !matches!(self.turn.phase, Phase::Recording(_) | Phase::Done(_)) {
            self.turn.phase = Phase::ReadingReceipt;
        }
    }

    /// The turn ends for this reason; the first reason stands.
    fn stop(&mut self, stop: Stop) {
        self.turn.stop.get_or_insert(stop);
        self.turn.phase = Phase::ReadingReceipt;
    }

    fn confused(&mut self) {
        self.turn.saves.clear();
        self.turn.stop = Some(Stop::Memory { error: "the driver answered another step than the one at hand".into() });
        self.turn.phase = Phase::Confused;
    }

    fn save_pending(&mut self) {
        let entries: Vec<PendingEntry> = self.conversation.pending.entries().cloned().collect();
        self.events.push(Event::PendingChanged { entries: entries.clone() });
        self.turn.saves.push_back(Save::Pending(entries));
    }
}

impl From<Interrupt> for Stop {
    fn from(by: Interrupt) -> Self {
        match by {
            Interrupt::Cancelled => Self::Cancelled,
            Interrupt::TimeLimit => Self::TimeLimit,
        }
    }
}

/// A mutating call of an earlier turn, as the report tells it.
fn entry_of(audited: Audited) -> Entry {
    let Committed { key, tool, act, section, rows } = audited.committed;
    let fate = audited.fate.unwrap_or_else(|| Fate::Unknown { reason: "it was committed and never verified".into() });
    Entry { key, tool, act, section, fate, rows }
}
