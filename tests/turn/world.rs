//! A world for the driver on paused time: every port can be slow, and can hang at a chosen point.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use unbacked::turn::bounds::Settings;
use unbacked::turn::conversation::Conversation;
use unbacked::turn::draft::{Act, CallKey, Fate};
use unbacked::turn::drive::{Ports, drive};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Tally, TurnRecord};
use unbacked::turn::guard::{Consulted, Ruling, View};
use unbacked::turn::machine::Machine;
use unbacked::turn::message::{Call, Message, Reply};
use unbacked::turn::pending::PendingEntry;
use unbacked::turn::ports::{
    Audited, Chunk, Committed, Guard, Ledger, Memory, Model, ModelFault, Outcome, Place, PortError, Prompt, ReplyStream, Sink, ToolSpec,
    Tools, Verdict, Verifier, WriteCheck,
};

use crate::play::chunks_of;
use crate::say;

/// The points at which a port is awaited.
pub const POINTS: [&str; 12] =
    ["open", "chunk", "tool", "verify", "find", "settle", "trail", "sums", "append", "pending", "close", "guard"];

/// Where to hang: a point, and which time it is reached (counted from 0); `None`: every time.
pub type Hang = (&'static str, Option<usize>);

#[derive(Debug, Default)]
struct State {
    hang: Option<Hang>,
    latency: Duration,
    reached: BTreeMap<&'static str, usize>,
    trail: Vec<Audited>,
    dropped_streams: usize,
    pulled: usize,
}

#[derive(Clone, Debug, Default)]
struct Shared(Rc<RefCell<State>>);

impl Shared {
    async fn at(&self, point: &'static str) {
        let (hangs, latency) = {
            let mut state = self.0.borrow_mut();
            let times = state.reached.entry(point).or_default();
            let time = *times;
            *times += 1;
            (state.hang.is_some_and(|(at, which)| at == point && which.is_none_or(|which| which == time)), state.latency)
        };
        if hangs {
            pending::<()>().await;
        }
        if !latency.is_zero() {
            sleep(latency).await;
        }
    }
}

/// What the model does when asked.
#[derive(Clone, Debug)]
pub enum Stream {
    Whole(Reply),
    /// The request is refused.
    Refused(ModelFault),
    /// These, then a fault.
    Breaks(Vec<Chunk>, ModelFault),
    /// The same piece for ever.
    Endless(Chunk),
}

#[derive(Debug)]
pub struct FakeModel(Shared, VecDeque<Stream>);

#[derive(Debug)]
pub struct FakeStream {
    shared: Shared,
    pieces: VecDeque<Result<Chunk, ModelFault>>,
    endless: Option<Chunk>,
}

impl Drop for FakeStream {
    fn drop(&mut self) {
        self.shared.0.borrow_mut().dropped_streams += 1;
    }
}

impl Model for FakeModel {
    type Stream<'a> = FakeStream;

    async fn ask(&mut self, _: Prompt<'_>) -> Result<FakeStream, ModelFault> {
        self.0.at("open").await;
        let (pieces, endless) = match self.1.pop_front().unwrap_or_else(|| Stream::Whole(say::text("Done talking."))) {
            Stream::Refused(fault) => return Err(fault),
            Stream::Whole(reply) => (chunks_of(&reply).into_iter().map(Ok).collect(), None),
            Stream::Breaks(chunks, fault) => (chunks.into_iter().map(Ok).chain([Err(fault)]).collect(), None),
            Stream::Endless(chunk) => (VecDeque::new(), Some(chunk)),
        };
        Ok(FakeStream { shared: self.0.clone(), pieces, endless })
    }
}

impl ReplyStream for FakeStream {
    async fn next(&mut self) -> Result<Chunk, ModelFault> {
        self.shared.at("chunk").await;
        self.shared.0.borrow_mut().pulled += 1;
        let endless = self.endless.clone().map(Ok);
        self.pieces.pop_front().or(endless).unwrap_or_else(|| Err(say::passing("the stream ended early")))
    }
}

/// How a tool misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Works,
    Panics,
    /// Before it even has a future to await.
    PanicsAtOnce,
    /// After its commit.
    CommitsAndHangs,
    CommitsAndPanics,
}

#[derive(Debug)]
pub struct FakeTools(Shared, VecDeque<Tool>, Vec<ToolSpec>);

impl Tools for FakeTools {
    fn catalogue(&self) -> &[ToolSpec] {
        &self.2
    }

    fn run(&mut self, key: CallKey, call: &Call) -> impl Future<Output = Outcome> {
        let behaviour = self.1.pop_front().unwrap_or(Tool::Works);
        assert!(behaviour != Tool::PanicsAtOnce, "a tool that panics before it is awaited");
        let (shared, tool) = (self.0.clone(), call.name.clone());
        async move {
            shared.at("tool").await;
            assert!(behaviour != Tool::Panics, "a tool that panics");
            if tool == say::READ {
                return say::done(json!({"rows": []}));
            }
            let id = shared.commit(key, tool);
            assert!(behaviour != Tool::CommitsAndPanics, "a tool that panics after its commit");
            if behaviour == Tool::CommitsAndHangs {
                pending::<()>().await;
            }
            say::done(json!({"touched_ids": [id]}))
        }
    }
}

impl Shared {
    fn commit(&self, key: CallKey, tool: String) -> i64 {
        let trail = &mut self.0.borrow_mut().trail;
        let id = i64::try_from(trail.len()).unwrap_or(0) + 1;
        let rows = vec![say::row(Act::Create, "experiences", id)];
        trail.push(Audited { committed: Committed { key, tool, act: Act::Create, section: "experiences".into(), rows }, fate: None });
        id
    }
}

#[derive(Debug)]
pub struct FakeVerifier(Shared);

impl Verifier for FakeVerifier {
    async fn verify(&mut self, _: &WriteCheck) -> Verdict {
        self.0.at("verify").await;
        Verdict::Holds
    }
}

#[derive(Debug)]
pub struct FakeLedger(Shared);

impl Ledger for FakeLedger {
    async fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        self.0.at("find").await;
        Ok(self.0.0.borrow().trail.iter().find(|audited| audited.committed.key == key).map(|audited| audited.committed.clone()))
    }

    async fn settle(&mut self, committed: &Committed, fate: &Fate) -> Result<(), PortError> {
        self.0.at("settle").await;
        let trail = &mut self.0.0.borrow_mut().trail;
        match trail.iter_mut().find(|audited| audited.committed.key == committed.key) {
            Some(audited) => audited.fate = Some(fate.clone()),
            None => trail.push(Audited { committed: committed.clone(), fate: Some(fate.clone()) }),
        }
        Ok(())
    }

    async fn turn(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.0.at("trail").await;
        Ok(self.0.0.borrow().trail.iter().filter(|audited| audited.committed.key.turn == turn).cloned().collect())
    }

    async fn through(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.0.at("folded").await;
        Ok(self.0.0.borrow().trail.iter().filter(|audited| audited.committed.key.turn <= turn).cloned().collect())
    }

    async fn before(&mut self, _: u32) -> Result<Vec<Tally>, PortError> {
        self.0.at("sums").await;
        Ok(Vec::new())
    }
}

#[derive(Debug)]
pub struct FakeMemory(Shared, Vec<Message>, Vec<TurnRecord>);

impl Memory for FakeMemory {
    async fn append(&mut self, _: Place, message: &Message) -> Result<(), PortError> {
        self.0.at("append").await;
        self.1.push(message.clone());
        Ok(())
    }

    async fn fold(&mut self, _: Place, summary: &Message) -> Result<(), PortError> {
        self.0.at("fold").await;
        self.1.push(summary.clone());
        Ok(())
    }

    async fn save_pending(&mut self, _: &[PendingEntry]) -> Result<(), PortError> {
        self.0.at("pending").await;
        Ok(())
    }

    async fn close(&mut self, record: &TurnRecord) -> Result<(), PortError> {
        self.0.at("close").await;
        self.2.push(record.clone());
        Ok(())
    }
}

#[derive(Debug)]
pub struct FakeGuard(Shared, VecDeque<Ruling>);

impl Guard for FakeGuard {
    fn calls_at_most(&self) -> u32 {
        1
    }

    async fn consult(&mut self, _: View<'_>) -> Consulted {
        self.0.at("guard").await;
        Consulted { ruling: self.1.pop_front().unwrap_or(Ruling::Accept), ..Consulted::accept("scripted") }
    }
}

#[derive(Debug)]
pub struct Watcher {
    start: Instant,
    /// Every event, with the milliseconds since the turn began.
    pub events: Vec<(u128, Event)>,
}

impl Sink for Watcher {
    fn see(&mut self, event: &Event) {
        self.events.push((self.start.elapsed().as_millis(), event.clone()));
    }
}

/// The world of a conversation.
#[derive(Debug)]
pub struct World {
    pub conversation: Conversation,
    pub settings: Settings,
    pub streams: VecDeque<Stream>,
    pub behaviours: VecDeque<Tool>,
    pub rulings: VecDeque<Ruling>,
    /// What came of the last turn.
    pub events: Vec<(u128, Event)>,
    pub stored: Vec<Message>,
    pub closed: Vec<TurnRecord>,
    shared: Shared,
}

impl World {
    pub fn new(streams: impl IntoIterator<Item = Stream>) -> Self {
        Self {
            conversation: Conversation::new("Be honest."),
            settings: Settings::default(),
            streams: streams.into_iter().collect(),
            behaviours: VecDeque::new(),
            rulings: VecDeque::new(),
            events: Vec::new(),
            stored: Vec::new(),
            closed: Vec::new(),
            shared: Shared::default(),
        }
    }

    pub fn hang(self, hang: Hang) -> Self {
        self.shared.0.borrow_mut().hang = Some(hang);
        self
    }

    /// Every await of every port takes this long.
    pub fn latency(self, ms: u64) -> Self {
        self.shared.0.borrow_mut().latency = Duration::from_millis(ms);
        self
    }

    pub fn behaving(mut self, behaviours: impl IntoIterator<Item = Tool>) -> Self {
        self.behaviours.extend(behaviours);
        self
    }

    pub fn wake(&self) {
        self.shared.0.borrow_mut().hang = None;
    }

    /// Plays a turn that nobody cancels. Also how many milliseconds it took.
    pub async fn turn(&mut self) -> (TurnRecord, u128) {
        self.turn_until(pending()).await
    }

    pub async fn turn_until(&mut self, cancel: impl Future<Output = ()>) -> (TurnRecord, u128) {
        let start = Instant::now();
        let shared = &self.shared;
        let (tools, settings) = (say::tools(), self.settings.clone());
        let mut watcher = Watcher { start, events: Vec::new() };
        let mut memory = FakeMemory(shared.clone(), Vec::new(), Vec::new());
        let mut machine = Machine::open(&mut self.conversation, &tools, &settings, "hello");
        let ports = Ports {
            model: &mut FakeModel(shared.clone(), std::mem::take(&mut self.streams)),
            tools: &mut FakeTools(shared.clone(), std::mem::take(&mut self.behaviours), say::tools()),
            verifier: &mut FakeVerifier(shared.clone()),
            ledger: &mut FakeLedger(shared.clone()),
            memory: &mut memory,
            guard: &mut FakeGuard(shared.clone(), std::mem::take(&mut self.rulings)),
            sink: &mut watcher,
        };
        let record = drive(&mut machine, ports, cancel).await;
        self.events = watcher.events;
        self.stored.extend(memory.1);
        self.closed.extend(memory.2);
        (record, start.elapsed().as_millis())
    }

    /// How often each point was reached.
    pub fn reached(&self, point: &str) -> usize {
        self.shared.0.borrow().reached.get(point).copied().unwrap_or(0)
    }

    pub fn dropped_streams(&self) -> usize {
        self.shared.0.borrow().dropped_streams
    }

    /// Pieces that were pulled out of streams.
    pub fn pulled(&self) -> usize {
        self.shared.0.borrow().pulled
    }

    /// Rows on the audit trail.
    pub fn rows_held(&self) -> usize {
        self.shared.0.borrow().trail.iter().map(|audited| audited.committed.rows.len()).sum()
    }

    pub fn receipts(&self) -> usize {
        self.events.iter().filter(|(_, event)| matches!(event, Event::Receipt { .. })).count()
    }
}
