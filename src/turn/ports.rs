//! The ports: all that the loop asks of the world.
//!
//! Ports promise not to fail silently and not to panic: what goes wrong comes back as a value whose variants say whose doing it was.
//! (The driver survives a tool that panics all the same, L5.)

use std::future::Future;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::draft::{Act, CallKey, Fate, Intent, RowChange};
use super::event::Event;
use super::exit::{Tally, TurnRecord};
use super::guard::{Consulted, View};
use super::message::{Call, Message, Reply};
use super::pending::PendingEntry;

/// A tool as the model is told of it, and what the loop needs to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema, draft 2020-12, with an object at its root.
    pub input_schema: Value,
    /// What it can do.
    pub kind: ToolKind,
}

/// What a tool can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolKind {
    /// It changes nothing.
    Read,
    /// It changes rows of one section.
    Write {
        /// What it does to them.
        act: Act,
        /// The section.
        section: String,
    },
    /// `discard_pending_entry` (P4): the section comes with the arguments, under `section`.
    Discard,
}

/// One model call, as the loop means it. Tool choice is `auto`, always (L1).
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// Standing instructions.
    pub system: &'a str,
    /// P3: the pending block, which stands at the top of the call, after the standing instructions.
    pub pending: Option<&'a str>,
    /// The transcript. It only ever grows, until compaction replaces it.
    pub messages: &'a [Message],
    /// All tools.
    pub tools: &'a [ToolSpec],
    /// `max_tokens`.
    pub output_tokens: u32,
}

/// A piece of a reply as it streams.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// Text for the user.
    Text(String),
    /// This many bytes of reasoning.
    Thinking(usize),
    /// A call began.
    CallBegan,
    /// This many bytes of arguments.
    Arguments(usize),
    /// The reply is whole. Nothing follows.
    Done(Reply),
}

/// A model call that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum ModelFault {
    /// It may pass: 429, 5xx, overload, no connection, a cut stream (L11).
    Passing {
        /// Short, for people.
        error: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// It will not: a refused request, a wrong key.
    Permanent {
        /// Short, for people.
        error: String,
    },
}

/// The model, behind whatever provider.
pub trait Model {
    /// A reply on its way.
    type Stream<'a>: ReplyStream
    where
        Self: 'a;

    /// Sends one request. An error here means that nothing was streamed.
    fn ask<'a>(&'a mut self, prompt: Prompt<'_>) -> impl Future<Output = Result<Self::Stream<'a>, ModelFault>>;
}

/// A reply on its way. Dropping it closes the connection.
pub trait ReplyStream {
    /// The next piece; [`Chunk::Done`] is the last one.
    fn next(&mut self) -> impl Future<Output = Result<Chunk, ModelFault>>;
}

/// What a tool says of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It ran; a mutating one says that it committed. `result` holds the touched ids in `*_ids` lists (V1).
    Done {
        /// For the model.
        result: Map<String, Value>,
    },
    /// It refused or failed, and rolled back what it had begun (L4).
    Failed {
        /// What kind of failure: with the tool's name, the "same way" of B2.
        failure: Failure,
        /// For the model: what to mend.
        reason: String,
        /// For [`Failure::MissingInput`]: what is missing, as paths into the arguments.
        missing: Vec<String>,
    },
    /// The commit's fate is not known to it.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// The kinds of failure that B2 tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// There is no such tool.
    UnknownTool,
    /// The arguments are no JSON object.
    BrokenArguments,
    /// The arguments were cut off (L9).
    CutOff,
    /// The arguments break the schema in another way than by missing input.
    Schema,
    /// Required input is missing (P1).
    MissingInput,
    /// No such row, or none of this user's.
    NotFound,
    /// A constraint of the store refused it.
    Conflict,
    /// The store failed: busy, full, I/O.
    Store,
    /// The tool's own result reports an error.
    Reported,
    /// It panicked.
    Panicked,
    /// It ran out of time.
    TimedOut,
    /// The verifier contradicted it (V4).
    Verification,
    /// The harness did not run it.
    NotRun,
}

impl Failure {
    /// The word used in JSON and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::BrokenArguments => "broken_arguments",
            Self::CutOff => "cut_off",
            Self::Schema => "schema",
            Self::MissingInput => "missing_input",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Store => "store",
            Self::Reported => "reported",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Verification => "verification",
            Self::NotRun => "not_run",
        }
    }
}

/// The tools.
pub trait Tools {
    /// All tools, in a fixed order.
    fn catalogue(&self) -> &[ToolSpec];

    /// Runs one call in a transaction of its own (L4), audited in that transaction under `key` (C4). Arguments are an object and the tool
    /// exists; the schema is for the tool to check.
    fn run(&mut self, key: CallKey, call: &Call) -> impl Future<Output = Outcome>;
}

/// What a verifier is asked: do these ids exist and belong to this user (create, update), or are they all gone (delete), or is nothing
/// pending for the section (discard)? Nothing else (V1, V2, V7).
#[derive(Clone, Debug, PartialEq)]
pub struct WriteCheck {
    /// Which call.
    pub key: CallKey,
    /// The tool's name.
    pub tool: String,
    /// What the tool says it did.
    pub intent: Intent,
}

/// What a verifier found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It is as the intent says.
    Holds,
    /// It is not.
    Contradicted {
        /// What was found instead.
        error: String,
    },
    /// Nobody could be asked (V6).
    NoAnswer {
        /// Why not.
        error: String,
    },
}

/// The read-after-write check.
pub trait Verifier {
    /// Asks the database.
    fn verify(&mut self, check: &WriteCheck) -> impl Future<Output = Verdict>;
}

/// Why a port of the store has no answer, short and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortError(pub String);

/// What one call committed, as the audit trail has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Which call.
    pub key: CallKey,
    /// The tool's name.
    pub tool: String,
    /// What it meant to do.
    pub act: Act,
    /// Where.
    pub section: String,
    /// The rows it changed.
    pub rows: Vec<RowChange>,
}

/// A mutating call as the audit trail has it after the fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// What was committed (without rows where nothing was).
    pub committed: Committed,
    /// Its fate, once that was added (C4).
    pub fate: Option<Fate>,
}

/// The audit trail.
pub trait Ledger {
    /// What was committed under this key; `None` where nothing was.
    fn find(&mut self, key: CallKey) -> impl Future<Output = Result<Option<Committed>, PortError>>;

    /// C4: adds the fate of a mutating call.
    fn settle(&mut self, committed: &Committed, fate: &Fate) -> impl Future<Output = Result<(), PortError>>;

    /// Every mutating call of a turn, in order.
    fn turn(&mut self, turn: u32) -> impl Future<Output = Result<Vec<Audited>, PortError>>;

    /// Every mutating call of this turn and all before it, in order (C2).
    fn through(&mut self, turn: u32) -> impl Future<Output = Result<Vec<Audited>, PortError>>;

    /// What all turns before this one changed, summed up by act and section, ordered.
    fn before(&mut self, turn: u32) -> impl Future<Output = Result<Vec<Tally>, PortError>>;
}

/// Where a message stands in the stored transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The turn that it belongs to.
    pub turn: u32,
    /// Its number in the conversation, counted from 0; never given to another message once a later one stands.
    pub seq: u32,
}

/// The conversation's own store.
pub trait Memory {
    /// Stores a message at its place, over whatever stood there: a try whose answer was lost can be made again.
    fn append(&mut self, at: Place, message: &Message) -> impl Future<Output = Result<(), PortError>>;

    /// C1: puts a summary at this place and removes every message before it, in one transaction. A try whose answer was lost can be made
    /// again.
    fn fold(&mut self, at: Place, summary: &Message) -> impl Future<Output = Result<(), PortError>>;

    /// Replaces the stored pending entries.
    fn save_pending(&mut self, entries: &[PendingEntry]) -> impl Future<Output = Result<(), PortError>>;

    /// Records a closed turn.
    fn close(&mut self, record: &TurnRecord) -> impl Future<Output = Result<(), PortError>>;
}

/// A guard policy.
pub trait Guard {
    /// Judge calls that one consultation can make at the most (B7).
    fn calls_at_most(&self) -> u32;

    /// Rules without waiting for anybody, after [`Guard::consult`] ran out of time: what can be told from state alone (G4, J6). The calls of
    /// the judge that was waited for count.
    fn out_of_time(&mut self, _view: View<'_>) -> Consulted {
        Consulted::accept("the guard ran out of time (J6)")
    }

    /// Rules on a turn that wants to end. It fails open: what it cannot decide it accepts (J6).
    fn consult(&mut self, view: View<'_>) -> impl Future<Output = Consulted>;
}

/// Whoever watches: the user's screen, the trace, the oracle.
pub trait Sink {
    /// Called in order, as it happens.
    fn see(&mut self, event: &Event);
}
