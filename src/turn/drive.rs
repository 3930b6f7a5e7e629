//! The driver: the only code that calls a port. It decides nothing. Every way out is a record with a receipt (U1).
//!
//! It alone sees a clock (tokio's, which a simulation pauses), and only to break off what takes too long (B4) or what the user cancelled
//! (L13). Model calls, waits, tools and the guard can be broken off; reading and writing the store can only run out of the turn's time,
//! the last part of which is kept for closing.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::bounds::Settings;
use super::draft::CallKey;
use super::exit::TurnRecord;
use super::machine::{Fact, Flow, Interrupt, Machine, Save, Step};
use super::message::Call;
use super::ports::{
    Chunk, Failure, Guard, Ledger, Memory, Model, ModelFault, Outcome, PortError, ReplyStream, Sink, Tools, Verdict, Verifier,
};

/// The world that a turn runs in.
#[derive(Debug)]
pub struct Ports<'a, M, T, V, L, Y, G, S> {
    /// The model.
    pub model: &'a mut M,
    /// The tools.
    pub tools: &'a mut T,
    /// The read-after-write check.
    pub verifier: &'a mut V,
    /// The audit trail.
    pub ledger: &'a mut L,
    /// The conversation's store.
    pub memory: &'a mut Y,
    /// The guard policy.
    pub guard: &'a mut G,
    /// Whoever watches.
    pub sink: &'a mut S,
}

/// Drives a turn to its end. `cancel` resolves when the user cancels (L13).
pub async fn drive<M, T, V, L, Y, G, S>(
    machine: &mut Machine<'_>,
    ports: Ports<'_, M, T, V, L, Y, G, S>,
    cancel: impl Future<Output = ()>,
) -> TurnRecord
where
    M: Model,
    T: Tools,
    V: Verifier,
    L: Ledger,
    Y: Memory,
    G: Guard,
    S: Sink,
{
    let Ports { model, tools, verifier, ledger, memory, guard, sink } = ports;
    let cancel = pin!(cancel);
    let mut limits = Limits::new(machine.settings(), cancel);
    loop {
        let fact = match machine.step() {
            Step::ReadTrail { turn: 0 } => Fact::Trail(Ok(Vec::new())),
            Step::ReadTrail { turn } => Fact::Trail(limits.store(ledger.turn(turn)).await),
            Step::SumTrail { turn } => Fact::Sums(limits.store(ledger.before(turn)).await),
            Step::ReadFolded { through } => Fact::Trail(limits.store(ledger.through(through)).await),
            Step::Save(Save::Fold { at, summary }) => Fact::Saved(limits.store(memory.fold(at, &summary)).await),
            Step::Save(Save::Message(message)) => Fact::Saved(limits.store(memory.append(machine.place(), &message)).await),
            Step::Save(Save::Record(record)) => Fact::Saved(limits.store(memory.close(&record)).await),
            Step::Save(Save::Pending(entries)) => Fact::Saved(limits.store(memory.save_pending(&entries)).await),
            Step::Ask => ask(machine, model, sink, &mut limits).await,
            Step::Summarise => summarise(machine, model, sink, &mut limits).await,
            Step::Wait(delay) => limits.work(tokio::time::sleep(delay)).await.map_or_else(Fact::Interrupted, |()| Fact::Waited),
            Step::Run(key, call) => run(tools, key, &call, &mut limits).await,
            Step::Verify(check) => Fact::Verified(limits.verdict(verifier.verify(&check)).await),
            Step::Find(key) => Fact::Found(limits.store(ledger.find(key)).await),
            Step::Settle(committed, fate) => Fact::Settled(limits.store(ledger.settle(&committed, &fate)).await),
            Step::Consult => {
                let guard_limit = limits.guard;
                let asked = timeout(guard_limit, guard.consult(machine.view()));
                match limits.work(asked).await {
                    Ok(consulted) => Fact::Consulted(consulted.unwrap_or_else(|| guard.out_of_time(machine.view()))),
                    Err(by) => Fact::Interrupted(by),
                }
            }
            Step::Close(record) => Fact::Closed(limits.store(memory.close(&record)).await),
            Step::Done(record) => return *record,
        };
        machine.feed(fact);
        show(machine, sink);
    }
}

/// One model call: every chunk is heard and shown as it comes.
async fn ask<M: Model, C: Future<Output = ()>>(
    machine: &mut Machine<'_>,
    model: &mut M,
    sink: &mut impl Sink,
    limits: &mut Limits<'_, C>,
) -> Fact {
    machine.asked();
    show(machine, sink);
    let mut stream = match limits.work(model.ask(machine.prompt())).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(fault)) => return Fact::AskFailed(fault),
        Err(by) => return Fact::Interrupted(by),
    };
    loop {
        let chunk = match limits.work(stream.next()).await {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(fault)) => return Fact::AskFailed(fault),
            Err(by) => return Fact::Interrupted(by),
        };
        let flow = machine.hear(&chunk);
        show(machine, sink);
        match (flow, chunk) {
            (Flow::Cut(limit), _) => return Fact::Oversized(limit),
            (Flow::GoOn, Chunk::Done(reply)) => return Fact::Replied(reply),
            (Flow::GoOn, _) => {}
        }
    }
}

/// The summariser's one call: late is as good as never (C2).
async fn summarise<M: Model, C: Future<Output = ()>>(
    machine: &mut Machine<'_>,
    model: &mut M,
    sink: &mut impl Sink,
    limits: &mut Limits<'_, C>,
) -> Fact {
    let limit = limits.summary;
    let late = || Fact::AskFailed(ModelFault::Passing { error: "the summariser ran out of time".into(), retry_after: None });
    timeout(limit, ask(machine, model, sink, limits)).await.unwrap_or_else(late)
}

/// One tool call: a tool that panics or hangs is a tool that failed (L5).
async fn run<T: Tools, C: Future<Output = ()>>(tools: &mut T, key: CallKey, call: &Call, limits: &mut Limits<'_, C>) -> Fact {
    let tool_limit = limits.tool;
    match limits.work(timeout(tool_limit, unpanicked(async { tools.run(key, call).await }))).await {
        Ok(Some(Some(outcome))) => Fact::Ran(outcome),
        Ok(Some(None)) => Fact::Ran(failed(Failure::Panicked, "the tool crashed")),
        Ok(None) => Fact::Ran(failed(Failure::TimedOut, "the tool ran out of time")),
        Err(by) => Fact::Interrupted(by),
    }
}

fn failed(failure: Failure, reason: &str) -> Outcome {
    Outcome::Failed { failure, reason: reason.into(), missing: Vec::new() }
}

fn show(machine: &mut Machine<'_>, sink: &mut impl Sink) {
    for event in machine.take_events() {
        sink.see(&event);
    }
}

/// The limits of one turn, all counted from its start.
struct Limits<'a, C> {
    cancel: Pin<&'a mut C>,
    working: Instant,
    full: Instant,
    store: Duration,
    tool: Duration,
    guard: Duration,
    summary: Duration,
}

impl<'a, C: Future<Output = ()>> Limits<'a, C> {
    fn new(settings: &Settings, cancel: Pin<&'a mut C>) -> Self {
        let start = Instant::now();
        Self {
            cancel,
            working: start + settings.working_limit(),
            full: start + settings.turn_limit(),
            store: Duration::from_millis(settings.store_ms),
            tool: Duration::from_millis(settings.tool_ms),
            guard: Duration::from_millis(settings.guard_ms),
            summary: Duration::from_millis(settings.summary_ms),
        }
    }

    /// Work that the user and the turn's limit can break off. Once broken off, the machine begins no further work, so `cancel` is never
    /// polled again after it resolved.
    async fn work<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Interrupt> {
        tokio::select! {
            biased;
            () = &mut self.cancel => Err(Interrupt::Cancelled),
            () = tokio::time::sleep_until(self.working) => Err(Interrupt::TimeLimit),
            done = work => Ok(done),
        }
    }

    /// The store and the verifier are broken off by their own limit and by that on work; what is left after that is for closing.
    fn of_store(&self) -> Instant {
        let now = Instant::now();
        let turn = if now < self.working { self.working } else { self.full };
        turn.min(now + self.store)
    }

    async fn store<T>(&self, work: impl Future<Output = Result<T, PortError>>) -> Result<T, PortError> {
        timeout_at(self.of_store(), work).await.unwrap_or_else(|_| Err(PortError("the store did not answer in time".into())))
    }

    async fn verdict(&self, work: impl Future<Output = Verdict>) -> Verdict {
        timeout_at(self.of_store(), work)
            .await
            .unwrap_or_else(|_| Verdict::NoAnswer { error: "the verifier did not answer in time".into() })
    }
}

async fn timeout<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// `None` where the future panicked.
async fn unpanicked<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}
