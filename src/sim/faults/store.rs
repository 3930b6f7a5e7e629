//! What the store does wrong: under the tools, behind the verifier, the audit trail and the conversation's memory.
//!
//! Rows that change behind the loop's back are changed as the person's hand would change them, and the oracle's tap is told to look, so that
//! what the database holds stays known. They are no change of any call.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cv::editor::{Editor, Rows, snapshot};
use crate::cv::schema::PROFILE;
use crate::cv::store::Store;
use crate::disk::Disk;
use crate::oracle::changes::Tap;
use crate::oracle::record::Port;
use crate::sim::world::{USER, World};
use crate::turn::draft::{Act, CallKey, Fate};
use crate::turn::exit::{Tally, TurnRecord};
use crate::turn::message::{Arguments, Call, Message};
use crate::turn::pending::PendingEntry;
use crate::turn::ports::{Audited, Committed, Failure, Ledger, Memory, Outcome, Place, PortError, Tools, Verdict, Verifier, WriteCheck};

use super::tools::Aim;
use super::{Class, Fault, Faults};

const fn fault(name: &'static str, sentence: &'static str, legal: &'static str, percent: u32) -> Fault {
    Fault { name, class: Class::Store, sentence, legal, percent }
}

const ROLLED_BACK: &str = "a failed call, and nothing of it in the receipt";
const AGAIN: &str = "asked once more; then the fate is unknown, never applied (V6)";
const MEMORY: &str = "tried once more; then the turn ends as a fault, with its receipt, and the next one takes up what was left open (L10)";

/// What the store does wrong.
pub const FAULTS: &[Fault] = &[
    fault("store-busy", "the database is busy: a call rolls back and fails", ROLLED_BACK, 20),
    fault("store-locked", "a table is locked: a call rolls back and fails", ROLLED_BACK, 20),
    fault("store-full", "the disk is full: a call rolls back and fails", ROLLED_BACK, 20),
    fault("store-io", "the disk fails: a call rolls back and fails", ROLLED_BACK, 20),
    fault("store-constraint", "a constraint refuses a call, which rolls back and fails", ROLLED_BACK, 20),
    fault("commit-fails", "a commit fails and is rolled back", ROLLED_BACK, 20),
    fault("commit-unknown", "a commit's answer is lost: it went through", "the database is asked, and the fate told as found (V6)", 25),
    fault("commit-undone", "a commit says ok, and what it did is undone", "the verifier contradicts it: a failed call (V4)", 25),
    fault("commit-late", "a call's time runs out, and its commit comes later", "no commit comes after the call's fate stands (C4)", 25),
    fault(
        "write-deferred",
        "a failed write surfaces with the next commit",
        "the receipt lists it under the call that committed it (I2)",
        40,
    ),
    fault("row-vanishes", "a row is there when it is verified, and gone after it", "the call was applied; no later turn may be misled", 25),
    fault(
        "stale-read",
        "the verifier reads an old state: what was done is not there",
        "asked once more where the trail holds it; then a failed call, beside which the receipt lists what the trail holds",
        50,
    ),
    fault("verifier-silent", "the verifier gives no answer", AGAIN, 50),
    fault("find-fails", "the audit trail does not say what a call committed", AGAIN, 40),
    fault("settle-fails", "a fate can't be added to the trail", "tried once more, and again as the next turn opens (C4)", 40),
    fault("settle-unanswered", "a fate is added, and the answer never comes", "tried once more, and again as the next turn opens (C4)", 20),
    fault("trail-fails", "a turn's calls can't be read from the trail", "read once more; then the receipt says that it may lack rows", 40),
    fault(
        "sums-fail",
        "what earlier turns changed can't be read",
        "read once more; then the turn ends as a fault, and its receipt says so",
        40,
    ),
    fault("save-fails", "a message can't be stored", MEMORY, 25),
    fault("save-unanswered", "a message is stored, and the answer never comes", MEMORY, 15),
    fault("pending-fails", "pending work can't be stored", MEMORY, 50),
    fault("pending-unanswered", "pending work is stored, and the answer never comes", MEMORY, 40),
    fault("close-fails", "a closed turn can't be recorded", "tried once more; then the user is told, the receipt stands", 40),
    fault("close-unanswered", "a closed turn is recorded, and the answer never comes", "as where it failed; nothing is there twice", 30),
];

/// Faults at the tools' port: a call that is rolled back fails with these words.
const ROLLBACKS: [(&str, Failure, &str); 6] = [
    ("store-busy", Failure::Store, "the database failed: database is busy"),
    ("store-locked", Failure::Store, "the database failed: database table is locked"),
    ("store-full", Failure::Store, "the database failed: database or disk is full"),
    ("store-io", Failure::Store, "the database failed: disk I/O error"),
    ("store-constraint", Failure::Conflict, "items[0]: a constraint refused it"),
    ("commit-fails", Failure::Store, "the commit failed and was rolled back: disk I/O error"),
];

const COMMITS: [&str; 4] = ["commit-unknown", "commit-undone", "commit-late", "write-deferred"];

/// The hand that breaks things in one run's world. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hand {
    /// Which faults strike.
    pub faults: Faults,
    /// The database.
    pub store: Store,
    /// The disk under it.
    pub disk: Disk,
    /// The oracle's tap on it.
    pub tap: Rc<RefCell<Tap>>,
    /// A row that belongs to somebody else.
    pub foreign: i64,
    owed: Rc<RefCell<Owed>>,
    refused: Rc<RefCell<BTreeSet<Port>>>,
}

/// Writes that come later than they should.
#[derive(Debug, Default)]
struct Owed {
    late: VecDeque<(CallKey, Call)>,
    deferred: Option<Call>,
    /// Calls whose fate the trail has.
    settled: Vec<CallKey>,
}

impl Hand {
    /// In a world.
    pub fn new(faults: &Faults, world: &World, foreign: i64) -> Self {
        Self {
            faults: faults.clone(),
            store: world.store.clone(),
            disk: world.disk.clone(),
            tap: Rc::clone(&world.tap),
            foreign,
            owed: Rc::default(),
            refused: Rc::default(),
        }
    }

    /// The fair phase: nothing comes late any more.
    pub fn end(&self) {
        *self.owed.borrow_mut() = Owed::default();
    }

    /// What the store refused since it was last asked for.
    pub fn refused(&self) -> BTreeSet<Port> {
        std::mem::take(&mut self.refused.borrow_mut())
    }

    /// The store refused something.
    pub(super) fn has_refused(&self, port: Port) {
        self.refused.borrow_mut().insert(port);
    }

    /// The fate that was added last is not on the trail after all.
    pub(super) fn unsettle(&self) {
        self.owed.borrow_mut().settled.pop();
    }

    /// Runs a call over a store that may fail.
    pub(super) async fn run<T: Tools>(&self, tools: &mut T, aim: &Aim, key: CallKey, call: &Call) -> Outcome {
        self.land(tools).await;
        let names = ROLLBACKS.iter().map(|(name, ..)| *name).chain(COMMITS);
        let struck = if aim.act.is_some() { names.filter(|name| aim.can(name)).find(|name| self.faults.strikes(name)) } else { None };
        let Some(name) = struck else { return self.with_deferred(tools, key, call).await };
        if let Some((_, failure, reason)) = ROLLBACKS.iter().find(|(rollback, ..)| *rollback == name) {
            return failed(*failure, reason);
        }
        match name {
            "commit-unknown" => {
                let _ = tools.run(key, call).await;
                Outcome::Unknown { reason: "the connection was lost while it committed".into() }
            }
            "commit-undone" => self.undone(tools, aim, key, call).await,
            "commit-late" => {
                self.owed.borrow_mut().late.push_back((key, call.clone()));
                failed(Failure::TimedOut, "no answer within thirty seconds")
            }
            _ => {
                self.owed.borrow_mut().deferred = Some(call.clone());
                failed(Failure::Store, "the database failed: cannot roll back")
            }
        }
    }

    /// What should have been committed long ago is tried now. A fate that could not be added to the trail can't hold anything off: two things
    /// would have failed at once, and nobody could know.
    async fn land<T: Tools>(&self, tools: &mut T) {
        let late = std::mem::take(&mut self.owed.borrow_mut().late);
        for (key, call) in late {
            let settled = self.owed.borrow().settled.contains(&key);
            if settled {
                let _ = tools.run(key, &call).await;
            }
        }
    }

    /// The rows of a create that failed come with the next one of the same kind.
    async fn with_deferred<T: Tools>(&self, tools: &mut T, key: CallKey, call: &Call) -> Outcome {
        let same = self.owed.borrow().deferred.as_ref().is_some_and(|deferred| deferred.name == call.name);
        let Some(deferred) = self.owed.borrow_mut().deferred.take_if(|_| same) else { return tools.run(key, call).await };
        let mut items = items_of(&deferred);
        let surfaced = items.len();
        items.extend(items_of(call));
        let arguments = Arguments::Object { value: Map::from_iter([("items".to_owned(), Value::Array(items))]) };
        let mut outcome = tools.run(key, &Call { arguments, ..call.clone() }).await;
        if let Outcome::Done { result } = &mut outcome {
            for ids in result.values_mut().filter_map(Value::as_array_mut) {
                ids.drain(..surfaced.min(ids.len()));
            }
            result.insert("count".into(), json!(items_of(call).len()));
        }
        outcome
    }

    async fn undone<T: Tools>(&self, tools: &mut T, aim: &Aim, key: CallKey, call: &Call) -> Outcome {
        let before = snapshot(&self.store, USER).ok().and_then(|cv| cv.get(aim.section.as_str()).cloned()).unwrap_or_default();
        let outcome = tools.run(key, call).await;
        if let Outcome::Done { result } = &outcome {
            let ids: Vec<i64> = result.values().filter_map(Value::as_array).flatten().filter_map(Value::as_i64).collect();
            if aim.act == Some(Act::Delete) { self.bring_back(&aim.section, &ids, &before) } else { self.take_away(&aim.section, &ids) }
        }
        outcome
    }

    fn take_away(&self, section: &str, ids: &[i64]) {
        let editor = Editor::new(self.store.clone(), USER);
        for id in ids {
            let _ = editor.delete(section, *id);
        }
        self.look();
    }

    fn bring_back(&self, section: &str, ids: &[i64], before: &Rows) {
        let editor = Editor::new(self.store.clone(), USER);
        for (id, fields) in before.iter().filter(|(id, _)| ids.contains(id)) {
            let _ = editor.restore(section, *id, fields);
        }
        self.look();
    }

    /// The tap looks at what a foreign hand changed. What it sees belongs to no call.
    fn look(&self) {
        let _ = self.store.with(|connection| self.tap.borrow_mut().settle(connection));
    }
}

impl Aim {
    /// Whether a fault of the store can strike this call.
    fn can(&self, name: &str) -> bool {
        match name {
            "commit-undone" => !matches!(self.act, Some(Act::Discard)) && self.section != PROFILE,
            "commit-late" => self.act != Some(Act::Discard),
            "write-deferred" => self.act == Some(Act::Create) && self.batch > 0,
            _ => true,
        }
    }
}

fn items_of(call: &Call) -> Vec<Value> {
    call.arguments.object().get("items").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn failed(failure: Failure, reason: &str) -> Outcome {
    Outcome::Failed { failure, reason: reason.into(), missing: Vec::new() }
}

fn refused<T>(reason: &str) -> Result<T, PortError> {
    Err(PortError(reason.into()))
}

/// The work is done, and its answer comes after everybody has stopped waiting.
async fn never_answered<T>(done: T) -> T {
    tokio::time::sleep(Duration::from_secs(36_000)).await;
    done
}

/// A port over a store that may fail.
#[derive(Debug)]
pub struct FaultyStore<'p, P> {
    port: &'p mut P,
    hand: Hand,
}

impl<'p, P> FaultyStore<'p, P> {
    /// Around a port.
    pub fn new(port: &'p mut P, hand: &Hand) -> Self {
        Self { port, hand: hand.clone() }
    }

    fn strikes(&self, name: &'static str) -> bool {
        self.hand.faults.strikes(name)
    }

    fn refuses(&self, name: &'static str, port: Port) -> bool {
        let strikes = self.strikes(name);
        if strikes {
            self.hand.has_refused(port);
        }
        strikes
    }
}

impl<V: Verifier> Verifier for FaultyStore<'_, V> {
    async fn verify(&mut self, check: &WriteCheck) -> Verdict {
        if self.strikes("verifier-silent") {
            return Verdict::NoAnswer { error: "the database did not answer: disk I/O error".into() };
        }
        let of_rows = check.intent.act != Act::Discard && check.intent.section != PROFILE;
        if of_rows && self.strikes("stale-read") {
            return Verdict::Contradicted { error: format!("{}: not found as it should be", check.intent.section) };
        }
        let verdict = self.port.verify(check).await;
        let there = verdict == Verdict::Holds && matches!(check.intent.act, Act::Create | Act::Update);
        if there && of_rows && self.strikes("row-vanishes") {
            self.hand.take_away(&check.intent.section, &check.intent.ids);
        }
        verdict
    }
}

impl<L: Ledger> Ledger for FaultyStore<'_, L> {
    async fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        if self.refuses("find-fails", Port::Find) {
            refused("the audit trail did not answer: database is locked")
        } else {
            self.port.find(key).await
        }
    }

    async fn settle(&mut self, committed: &Committed, fate: &Fate) -> Result<(), PortError> {
        if self.refuses("settle-fails", Port::Settle) {
            return refused("the audit trail did not answer: database or disk is full");
        }
        let settled = self.port.settle(committed, fate).await;
        if settled.is_ok() {
            self.hand.owed.borrow_mut().settled.push(committed.key);
        }
        if self.refuses("settle-unanswered", Port::Settle) { never_answered(settled).await } else { settled }
    }

    async fn turn(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        if self.refuses("trail-fails", Port::Trail) {
            refused("the audit trail did not answer: disk I/O error")
        } else {
            self.port.turn(turn).await
        }
    }

    async fn through(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        if self.refuses("trail-fails", Port::Folded) {
            refused("the audit trail did not answer: disk I/O error")
        } else {
            self.port.through(turn).await
        }
    }

    async fn before(&mut self, turn: u32) -> Result<Vec<Tally>, PortError> {
        if self.refuses("sums-fail", Port::Sums) {
            refused("the audit trail did not answer: disk I/O error")
        } else {
            self.port.before(turn).await
        }
    }
}

impl<Y: Memory> Memory for FaultyStore<'_, Y> {
    async fn append(&mut self, at: Place, message: &Message) -> Result<(), PortError> {
        if self.refuses("save-fails", Port::Append) {
            return refused("the conversation's store failed: database or disk is full");
        }
        let saved = self.port.append(at, message).await;
        if self.refuses("save-unanswered", Port::Append) { never_answered(saved).await } else { saved }
    }

    async fn fold(&mut self, at: Place, summary: &Message) -> Result<(), PortError> {
        if self.refuses("save-fails", Port::Fold) {
            return refused("the conversation's store failed: database or disk is full");
        }
        let folded = self.port.fold(at, summary).await;
        if self.refuses("save-unanswered", Port::Fold) { never_answered(folded).await } else { folded }
    }

    async fn save_pending(&mut self, entries: &[PendingEntry]) -> Result<(), PortError> {
        if self.refuses("pending-fails", Port::Pending) {
            return refused("the conversation's store failed: database is locked");
        }
        let saved = self.port.save_pending(entries).await;
        if self.refuses("pending-unanswered", Port::Pending) { never_answered(saved).await } else { saved }
    }

    async fn close(&mut self, record: &TurnRecord) -> Result<(), PortError> {
        if self.refuses("close-fails", Port::Close) {
            return refused("the conversation's store failed: disk I/O error");
        }
        let closed = self.port.close(record).await;
        if self.refuses("close-unanswered", Port::Close) { never_answered(closed).await } else { closed }
    }
}
