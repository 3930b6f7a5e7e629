//! What the disk does wrong, beneath SQLite: nothing is mocked here, SQLite itself meets a full disk or loses its power in a commit.
//!
//! A disk goes wrong while a port of the store is at work, and is healed after it: the oracle's own reading never fails. What a crash loses
//! is what the port that died with it was writing; a write that was synced stays.

use crate::disk::{Disk, Survived, Trouble};
use crate::oracle::changes::DbChange;
use crate::oracle::record::Port;
use crate::sim::world::World;
use crate::turn::draft::{CallKey, Fate};
use crate::turn::exit::{Tally, TurnRecord};
use crate::turn::message::Message;
use crate::turn::pending::PendingEntry;
use crate::turn::ports::{Audited, Committed, Ledger, Memory, Place, PortError, Verdict, Verifier, WriteCheck};

use super::points::Points;
use super::store::Hand;
use super::{Class, Fault, Faults};

const fn fault(name: &'static str, sentence: &'static str, legal: &'static str, percent: u32) -> Fault {
    Fault { name, class: Class::Disk, sentence, legal, percent }
}

const REFUSED: &str = "SQLite rolls back, and its error is met as any refusal of the store: once more, and then a failed call or a fault";
const POWER: &str = "what was being written is all there or not at all, and all before it is there: the next turn tells which (L10)";

/// What the disk does wrong.
pub const FAULTS: &[Fault] = &[
    fault("disk-full", "the disk is full in the middle of a transaction", REFUSED, 15),
    fault("disk-error", "the disk fails to read, write or sync, once or for the rest of the work", REFUSED, 15),
    fault("disk-busy", "another process holds the database for a while, or for longer than anybody waits", REFUSED, 15),
    fault("lost-write", "the process dies in a transaction, and writes that were not synced are lost", POWER, 100),
    fault("torn-write", "the process dies in a transaction, and writes that were not synced are lost or torn", POWER, 100),
];

/// More often than any port asks.
const ALWAYS: u32 = u32::MAX;

/// What strikes the port that begins its work, if anything does: what, after how many operations, how many times.
fn trouble(faults: &Faults) -> Option<(Trouble, u32, u32)> {
    if faults.strikes("disk-full") {
        return Some((Trouble::Full, faults.below(8), ALWAYS));
    }
    if faults.strikes("disk-error") {
        let times = if faults.below(2) == 0 { 1 } else { ALWAYS };
        let (trouble, operations) = if faults.below(3) == 0 { (Trouble::Read, 2) } else { (Trouble::Write, 24) };
        return Some((trouble, faults.below(operations), times));
    }
    // Five seconds are waited for, in some sixty looks.
    faults.strikes("disk-busy").then(|| (Trouble::Busy, 0, if faults.below(2) == 0 { 3 } else { ALWAYS }))
}

/// Does a port's work on a disk that may go wrong in it. Whether it did.
pub async fn on_disk<R>(faults: &Faults, disk: &Disk, work: impl Future<Output = R>) -> (R, bool) {
    let Some(trouble) = trouble(faults) else { return (work.await, false) };
    disk.trouble(Some(trouble));
    let done = work.await;
    disk.trouble(None);
    (done, disk.struck())
}

/// The process dies. Where it dies in a port that was writing, part of that may be lost. Which mark was reached by it.
pub fn power_fails(world: &World, hand: &Hand, points: &Points, by_call: &mut [(CallKey, Vec<DbChange>)]) -> Option<&'static str> {
    let faults = &hand.faults;
    let fates = match points.in_flight() {
        Some(_) if faults.strikes("torn-write") => 3,
        Some(_) if faults.strikes("lost-write") => 2,
        _ => {
            world.crash(usize::MAX, &mut |_| Survived::Nothing);
            return None;
        }
    };
    let over = world.disk.over_after().unwrap_or(usize::MAX);
    let kept = faults.below(world.disk.operations() as u32 + 1) as usize;
    let lost = world.crash(kept, &mut |length| match faults.below(fates) {
        0 => Survived::Nothing,
        1 => Survived::Whole,
        _ => Survived::Torn(faults.below(length.max(1) as u32) as usize),
    });
    if let Some((_, changes)) = by_call.last_mut().filter(|(_, changes)| changes.ends_with(&lost)) {
        changes.truncate(changes.len() - lost.len());
    }
    if kept < over && points.in_flight() == Some("after settle") {
        hand.unsettle();
    }
    Some(if kept < over { "crash-undid-write" } else { "crash-kept-write" })
}

/// A port of the store whose disk may go wrong.
#[derive(Debug)]
pub struct OnDisk<P> {
    port: P,
    hand: Hand,
}

impl<P> OnDisk<P> {
    /// Around a port.
    pub fn new(port: P, hand: &Hand) -> Self {
        Self { port, hand: hand.clone() }
    }

    fn told<T>(&self, port: Port, (done, struck): (Result<T, PortError>, bool)) -> Result<T, PortError> {
        if struck && done.is_err() {
            self.hand.has_refused(port);
        }
        done
    }
}

impl<V: Verifier> Verifier for OnDisk<V> {
    async fn verify(&mut self, check: &WriteCheck) -> Verdict {
        on_disk(&self.hand.faults, &self.hand.disk, self.port.verify(check)).await.0
    }
}

impl<L: Ledger> Ledger for OnDisk<L> {
    async fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.find(key)).await;
        self.told(Port::Find, done)
    }

    async fn settle(&mut self, committed: &Committed, fate: &Fate) -> Result<(), PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.settle(committed, fate)).await;
        self.told(Port::Settle, done)
    }

    async fn turn(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.turn(turn)).await;
        self.told(Port::Trail, done)
    }

    async fn through(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.through(turn)).await;
        self.told(Port::Trail, done)
    }

    async fn before(&mut self, turn: u32) -> Result<Vec<Tally>, PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.before(turn)).await;
        self.told(Port::Sums, done)
    }
}

impl<Y: Memory> Memory for OnDisk<Y> {
    async fn append(&mut self, at: Place, message: &Message) -> Result<(), PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.append(at, message)).await;
        self.told(Port::Append, done)
    }

    async fn fold(&mut self, at: Place, summary: &Message) -> Result<(), PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.fold(at, summary)).await;
        self.told(Port::Append, done)
    }

    async fn save_pending(&mut self, entries: &[PendingEntry]) -> Result<(), PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.save_pending(entries)).await;
        self.told(Port::Pending, done)
    }

    async fn close(&mut self, record: &TurnRecord) -> Result<(), PortError> {
        let done = on_disk(&self.hand.faults, &self.hand.disk, self.port.close(record)).await;
        self.told(Port::Close, done)
    }
}
