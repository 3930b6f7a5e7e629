//! What strikes at an await point: the turn's time runs out, the clock jumps, a port hangs, the process dies. Every call of a port and
//! every chunk of a stream is two points, one before it and one after it; the driver's own waiting has none.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::disk::Disk;
use crate::oracle::record::Port;
use crate::turn::draft::{CallKey, Fate};
use crate::turn::exit::{Tally, TurnRecord};
use crate::turn::guard::{Consulted, View};
use crate::turn::message::{Call, Message};
use crate::turn::pending::PendingEntry;
use crate::turn::ports::{
    Audited, Chunk, Committed, Guard, Ledger, Memory, Model, ModelFault, Outcome, Place, PortError, Prompt, ReplyStream, ToolSpec, Tools,
    Verdict, Verifier, WriteCheck,
};

use super::{Class, Fault, Faults};

/// What can strike at a point.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "time-limit",
        class: Class::Time,
        sentence: "the turn's time runs out at an await point",
        legal: "the turn ends by its time limit, with a right receipt and a valid transcript; what was committed stays",
        percent: 100,
    },
    Fault {
        name: "clock-jump",
        class: Class::Time,
        sentence: "the clock jumps ahead by some seconds at an await point",
        legal: "nothing but a limit that has passed may come of it",
        percent: 20,
    },
    Fault {
        name: "hang",
        class: Class::Time,
        sentence: "whatever is waited for at an await point never comes",
        legal: "the limit on that kind of wait ends it; a call that hung is asked for in the database, and its fate told as found",
        percent: 12,
    },
    Fault {
        name: "crash",
        class: Class::Process,
        sentence: "the process dies at an await point and comes back with nothing but the database",
        legal: "the next turn works; its report tells what of the calls in flight is in the database (L10)",
        percent: 20,
    },
];

/// What happens at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The clock jumps by this much.
    Jump(Duration),
    /// Nothing ever comes.
    Hang,
    /// The process dies.
    Crash,
}

impl Act {
    /// The word used in marks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jump(_) => "jump",
            Self::Hang => "hang",
            Self::Crash => "crash",
        }
    }
}

/// Every await point of a turn, as the faults of time and process name it.
pub const PLACES: [&str; 27] = [
    "before model",
    "after model",
    "in stream",
    "before tool",
    "after tool",
    "before verify",
    "after verify",
    "before find",
    "after find",
    "before settle",
    "after settle",
    "before trail",
    "after trail",
    "before sums",
    "after sums",
    "before save",
    "after save",
    "before pending",
    "after pending",
    "before close",
    "after close",
    "before guard",
    "after guard",
    "before folded",
    "after folded",
    "before fold",
    "after fold",
];

/// Those of them at which turns are being folded.
pub const FOLD_PLACES: &[&str] = PLACES.last_chunk::<4>().expect("there are so many").as_slice();

/// Those at which something was just written.
const WRITES: [&str; 6] = ["after tool", "after settle", "after save", "after pending", "after close", "after fold"];

/// Where in a turn something strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// At the `n`th point, counted from 1.
    Point(u32),
    /// The first time that a place is passed: without it, the rare places would hardly ever be hit.
    Place(&'static str),
}

/// The await points of one turn. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Points {
    inner: Rc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    passed: Cell<u32>,
    strike: Cell<Option<(Aim, Act)>>,
    struck: RefCell<Option<(Act, &'static str)>>,
    jumped: Cell<Duration>,
    died: Notify,
    disk: Option<Disk>,
    /// Transactions on the disk before the port that is at work.
    written: Cell<u64>,
}

impl Inner {
    fn transactions(&self) -> u64 {
        self.disk.as_ref().map_or(0, Disk::transactions)
    }
}

/// Points that a turn is likely to have; a strike further on finds nothing.
const POINTS: u32 = 60;

impl Points {
    /// For a turn: draws whether something strikes, and where.
    pub fn draw(faults: &Faults, turn_limit: Duration, disk: &Disk) -> Self {
        let points = Self { inner: Rc::new(Inner { disk: Some(disk.clone()), ..Inner::default() }) };
        let act = if faults.strikes("crash") {
            Act::Crash
        } else if faults.strikes("time-limit") {
            Act::Jump(turn_limit)
        } else if faults.strikes("hang") {
            Act::Hang
        } else if faults.strikes("clock-jump") {
            Act::Jump(Duration::from_secs(1 + u64::from(faults.below(60))))
        } else {
            return points;
        };
        let ways = if faults.is_on("compaction") { 4 } else { 2 };
        // A write can only be lost where one is made.
        let writes = act == Act::Crash && ["lost-write", "torn-write"].iter().any(|name| faults.is_on(name));
        let way = if writes { 0 } else { 1 + faults.below(ways) };
        let aim = match way {
            0 => Aim::Place(WRITES[faults.below(WRITES.len() as u32) as usize]),
            1 => Aim::Point(1 + faults.below(POINTS)),
            3.. => Aim::Place(FOLD_PLACES[faults.below(FOLD_PLACES.len() as u32) as usize]),
            _ => Aim::Place(PLACES[faults.below(PLACES.len() as u32) as usize]),
        };
        points.inner.strike.set(Some((aim, act)));
        points
    }

    /// One that strikes at the `at`th point, counted from 1.
    pub fn at(at: u32, act: Act) -> Self {
        let points = Self::default();
        points.inner.strike.set(Some((Aim::Point(at), act)));
        points
    }

    async fn pass(&self, place: &'static str) {
        let inner = &self.inner;
        inner.passed.set(inner.passed.get() + 1);
        if place.starts_with("before") {
            inner.written.set(inner.transactions());
        }
        let here = |aim: Aim| match aim {
            Aim::Point(at) => at == inner.passed.get(),
            Aim::Place(aimed) => aimed == place,
        };
        let Some((_, act)) = inner.strike.get().filter(|(aim, _)| here(*aim)) else { return };
        inner.strike.set(None);
        *inner.struck.borrow_mut() = Some((act, place));
        match act {
            Act::Jump(by) => {
                inner.jumped.set(inner.jumped.get() + by);
                tokio::time::advance(by).await;
            }
            Act::Hang => pending().await,
            Act::Crash => {
                inner.died.notify_one();
                pending().await
            }
        }
    }

    /// Resolves when the process dies.
    pub async fn death(&self) {
        self.inner.died.notified().await;
    }

    /// What struck, and at which place.
    pub fn struck(&self) -> Option<(Act, &'static str)> {
        *self.inner.struck.borrow()
    }

    /// Which answer of the store came too late by it, if any did.
    pub fn kept_back(&self) -> Option<Port> {
        let (_, place) = self.struck().filter(|(act, _)| *act != Act::Crash)?;
        match place.rsplit_once(' ')?.1 {
            "save" => Some(Port::Append),
            "pending" => Some(Port::Pending),
            "close" => Some(Port::Close),
            "find" => Some(Port::Find),
            "settle" => Some(Port::Settle),
            "trail" => Some(Port::Trail),
            "sums" => Some(Port::Sums),
            "folded" => Some(Port::Folded),
            "fold" => Some(Port::Fold),
            _ => None,
        }
    }

    /// Where the process died, if it died in a port that had written to the disk.
    pub fn in_flight(&self) -> Option<&'static str> {
        let (_, place) = self.struck().filter(|(act, _)| *act == Act::Crash)?;
        (place.starts_with("after") && self.inner.transactions() > self.inner.written.get()).then_some(place)
    }

    /// How far the clock jumped.
    pub fn jumped(&self) -> Duration {
        self.inner.jumped.get()
    }

    /// How many points the turn had.
    pub fn passed(&self) -> u32 {
        self.inner.passed.get()
    }
}

/// A port whose calls have points before and after them.
#[derive(Debug)]
pub struct At<'p, P> {
    port: &'p mut P,
    points: Points,
}

impl<'p, P> At<'p, P> {
    /// Around a port.
    pub fn new(port: &'p mut P, points: &Points) -> Self {
        Self { port, points: points.clone() }
    }
}

impl<M: Model> Model for At<'_, M> {
    type Stream<'a>
        = AtStream<M::Stream<'a>>
    where
        Self: 'a;

    async fn ask<'a>(&'a mut self, prompt: Prompt<'_>) -> Result<Self::Stream<'a>, ModelFault> {
        self.points.pass("before model").await;
        let asked = self.port.ask(prompt).await;
        self.points.pass("after model").await;
        asked.map(|stream| AtStream { stream, points: self.points.clone() })
    }
}

/// A stream with a point before every chunk.
#[derive(Debug)]
pub struct AtStream<S> {
    stream: S,
    points: Points,
}

impl<S: ReplyStream> ReplyStream for AtStream<S> {
    async fn next(&mut self) -> Result<Chunk, ModelFault> {
        self.points.pass("in stream").await;
        self.stream.next().await
    }
}

impl<T: Tools> Tools for At<'_, T> {
    fn catalogue(&self) -> &[ToolSpec] {
        self.port.catalogue()
    }

    async fn run(&mut self, key: CallKey, call: &Call) -> Outcome {
        self.points.pass("before tool").await;
        let outcome = self.port.run(key, call).await;
        self.points.pass("after tool").await;
        outcome
    }
}

impl<V: Verifier> Verifier for At<'_, V> {
    async fn verify(&mut self, check: &WriteCheck) -> Verdict {
        self.points.pass("before verify").await;
        let verdict = self.port.verify(check).await;
        self.points.pass("after verify").await;
        verdict
    }
}

impl<L: Ledger> Ledger for At<'_, L> {
    async fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        self.points.pass("before find").await;
        let found = self.port.find(key).await;
        self.points.pass("after find").await;
        found
    }

    async fn settle(&mut self, committed: &Committed, fate: &Fate) -> Result<(), PortError> {
        self.points.pass("before settle").await;
        let settled = self.port.settle(committed, fate).await;
        self.points.pass("after settle").await;
        settled
    }

    async fn turn(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.points.pass("before trail").await;
        let trail = self.port.turn(turn).await;
        self.points.pass("after trail").await;
        trail
    }

    async fn through(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.points.pass("before folded").await;
        let trail = self.port.through(turn).await;
        self.points.pass("after folded").await;
        trail
    }

    async fn before(&mut self, turn: u32) -> Result<Vec<Tally>, PortError> {
        self.points.pass("before sums").await;
        let sums = self.port.before(turn).await;
        self.points.pass("after sums").await;
        sums
    }
}

impl<Y: Memory> Memory for At<'_, Y> {
    async fn append(&mut self, at: Place, message: &Message) -> Result<(), PortError> {
        self.points.pass("before save").await;
        let saved = self.port.append(at, message).await;
        self.points.pass("after save").await;
        saved
    }

    async fn fold(&mut self, at: Place, summary: &Message) -> Result<(), PortError> {
        self.points.pass("before fold").await;
        let folded = self.port.fold(at, summary).await;
        self.points.pass("after fold").await;
        folded
    }

    async fn save_pending(&mut self, entries: &[PendingEntry]) -> Result<(), PortError> {
        self.points.pass("before pending").await;
        let saved = self.port.save_pending(entries).await;
        self.points.pass("after pending").await;
        saved
    }

    async fn close(&mut self, record: &TurnRecord) -> Result<(), PortError> {
        self.points.pass("before close").await;
        let closed = self.port.close(record).await;
        self.points.pass("after close").await;
        closed
    }
}

impl<G: Guard> Guard for At<'_, G> {
    fn calls_at_most(&self) -> u32 {
        self.port.calls_at_most()
    }

    fn out_of_time(&mut self, view: View<'_>) -> Consulted {
        self.port.out_of_time(view)
    }

    async fn consult(&mut self, view: View<'_>) -> Consulted {
        self.points.pass("before guard").await;
        let consulted = self.port.consult(view).await;
        self.points.pass("after guard").await;
        consulted
    }
}
