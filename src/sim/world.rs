//! A world for one worker: one database on a disk of its own, brought back to its beginning for each run, and the oracle's tap on it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::{Map, json};

use crate::cv::editor::{EditError, Editor, snapshot};
use crate::cv::schema::{PROFILE, SECTIONS};
use crate::cv::store::Store;
use crate::cv::tools::CvTools;
use crate::disk::{Disk, Survived};
use crate::oracle::changes::{DbChange, Survival, Tap, Watched};
use crate::turn::draft::CallKey;
use crate::turn::event::Event;
use crate::turn::message::Call;
use crate::turn::ports::{Outcome, Sink, ToolSpec, Tools};

use super::choices::{Choices, Stream};
use super::faults::disk::on_disk;
use super::faults::store::Hand;
use super::scenario::Row;

/// The user whose CV is worked on.
pub const USER: i64 = 1;
/// Another user, whose rows nobody may touch.
pub const OTHER: i64 = 2;
/// Text that only the other user's rows hold.
pub const FOREIGN_MARKER: &str = "belongs-to-somebody-else";

/// One worker's database.
#[derive(Debug)]
pub struct World {
    /// The disk that it is on.
    pub disk: Disk,
    /// The database.
    pub store: Store,
    /// What SQLite says of it.
    pub tap: Rc<RefCell<Tap>>,
    /// A row of the other user, and its section.
    foreign: (String, i64),
    crashed: Cell<bool>,
    damage: RefCell<Option<String>>,
}

impl World {
    /// A world in memory, with two users.
    ///
    /// # Errors
    /// Where SQLite can't make one, with a sentence for the user.
    pub fn new() -> Result<Self, String> {
        let disk = Disk::default();
        let store = Store::open_on(&disk).map_err(|error| error.to_string())?;
        let foreign = people(&store).map_err(|error| error.to_string())?;
        let watched: Vec<Watched> = SECTIONS.iter().map(|section| Watched { table: section.name }).collect();
        let tap = store.with_mut(|connection| Tap::install(connection, &watched, "audit_change")).map_err(|error| error.to_string())?;
        disk.mark();
        Ok(Self {
            disk,
            store,
            tap: Rc::new(RefCell::new(tap)),
            foreign: ("skills".into(), foreign),
            crashed: Cell::default(),
            damage: RefCell::default(),
        })
    }

    /// Brings the world back to its beginning, by the pages that the run before wrote, and adds these rows. Returns a row of the other user.
    ///
    /// # Errors
    /// Where a row does not fit the schema, or a run was left in the middle of a transaction.
    pub fn begin(&self, rows: &[Row]) -> Result<(String, i64), String> {
        self.crashed.set(false);
        self.damage.take();
        if !self.disk.rewind() {
            return Err("the run before has left a transaction open".into());
        }
        for row in rows {
            let owner = if row.of_other_user { OTHER } else { USER };
            let editor = Editor::new(self.store.clone(), owner);
            let done = if row.section == PROFILE {
                editor.update(PROFILE, owner, &row.values).map(drop)
            } else {
                editor.create(&row.section, &row.values).map(drop)
            };
            done.map_err(|error| error.to_string())?;
        }
        self.store.with(|connection| self.tap.borrow_mut().reset(connection)).map_err(|error| error.to_string())?;
        Ok(self.foreign.clone())
    }

    /// The process dies and comes back with what the disk kept: see [`Disk::crash`]. Returns what the last transaction had changed and is not
    /// there any more.
    pub fn crash(&self, kept: usize, survived: &mut dyn FnMut(usize) -> Survived) -> Vec<DbChange> {
        self.crashed.set(true);
        self.disk.crash(kept, survived);
        match self.revive() {
            Ok(Survival::Kept) => Vec::new(),
            Ok(Survival::TakenBack(changes)) => changes,
            Ok(Survival::Torn) => self.damaged("after a crash the database holds part of a transaction".into()),
            Err(error) => self.damaged(error),
        }
    }

    fn revive(&self) -> Result<Survival, String> {
        self.store.reopen_on(&self.disk).map_err(|error| error.to_string())?;
        self.store.with_mut(|connection| self.tap.borrow_mut().revive(connection)).map_err(|error| error.to_string())
    }

    fn damaged(&self, what: String) -> Vec<DbChange> {
        self.damage.borrow_mut().get_or_insert(what);
        Vec::new()
    }

    /// Whether the run in it can be judged: the tap missed nothing, and where the process died or `thoroughly` is asked
    /// for, the database is whole.
    ///
    /// # Errors
    /// What is wrong: a fault of the simulator, and not of the loop.
    pub fn is_sound(&self, thoroughly: bool) -> Result<(), String> {
        if let Some(what) = &*self.damage.borrow() {
            return Err(format!("{what}: no run can be judged"));
        }
        let read = |error: rusqlite::Error| format!("the simulated database failed: {error}");
        if !self.store.with(|connection| self.tap.borrow().agrees(connection)).map_err(read)? {
            return Err("the oracle's tap missed a change of the database: no run can be judged".into());
        }
        if thoroughly || self.crashed.get() {
            let said = self.store.with(|connection| connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)));
            let said = said.map_err(read)?;
            if said != "ok" {
                return Err(format!("the database is damaged ({said}): no run can be judged"));
            }
        }
        Ok(())
    }
}

/// The two users, and a row of the one who is not worked for.
fn people(store: &Store) -> Result<i64, EditError> {
    store.add_user(USER, "user")?;
    store.add_user(OTHER, "other")?;
    let mut foreign = Map::new();
    foreign.insert("name".into(), json!(FOREIGN_MARKER));
    Editor::new(store.clone(), OTHER).create("skills", &foreign)
}

/// The CV's tools under the oracle's eyes: after each call, SQLite tells what it changed. Now and then the person edits a row in the
/// editor before a call.
pub struct WatchedTools {
    /// The real tools.
    pub tools: CvTools,
    /// The world, as the faults have it.
    pub hand: Hand,
    /// What each call of this turn changed.
    pub by_call: Vec<(CallKey, Vec<DbChange>)>,
    /// Whether all of it was audited in its own transaction.
    pub audited: bool,
    /// All decisions.
    pub choices: Rc<RefCell<Choices>>,
    /// Of a hundred calls, before how many the person edits a row.
    pub edits_percent: u32,
    /// Edits of the person so far.
    pub edits: u32,
    /// What came of them: names of marks.
    pub did: Vec<&'static str>,
}

impl WatchedTools {
    /// The person changes the profile's summary, or deletes the newest row of some section. An edit that is refused has edited nothing.
    fn edit(&mut self, deletes: bool) {
        self.edits += 1;
        let editor = Editor::new(self.hand.store.clone(), USER);
        if deletes {
            let section = *self.choices.borrow_mut().pick(Stream::User, &["skills", "experiences", "links"]);
            let newest =
                snapshot(&self.hand.store, USER).ok().and_then(|cv| cv.get(section).and_then(|rows| rows.last().map(|(id, _)| *id)));
            if newest.is_some_and(|id| editor.delete(section, id).is_ok_and(|gone| gone)) {
                self.did.push("person:deletes-row");
            }
        } else {
            let mut fields = Map::new();
            fields.insert("summary".into(), json!(format!("edited by hand, {} times", self.edits)));
            if editor.update(PROFILE, USER, &fields).is_ok_and(|there| there) {
                self.did.push("person:edits-row");
            }
        }
        let _ = self.hand.store.with(|connection| self.hand.tap.borrow_mut().settle(connection));
    }
}

impl Tools for WatchedTools {
    fn catalogue(&self) -> &[ToolSpec] {
        self.tools.catalogue()
    }

    async fn run(&mut self, key: CallKey, call: &Call) -> Outcome {
        let edits = self.choices.borrow_mut().chance(Stream::User, self.edits_percent);
        if edits {
            let deletes = self.choices.borrow_mut().chance(Stream::User, 30);
            self.edit(deletes);
        }
        let (outcome, _) = on_disk(&self.hand.faults, &self.hand.disk, self.tools.run(key, call)).await;
        if let Ok(settled) = self.hand.store.with(|connection| self.hand.tap.borrow_mut().settle(connection)) {
            self.audited &= settled.audited_in_same_transaction;
            self.by_call.push((key, settled.changes));
        }
        outcome
    }
}

/// Keeps the trace, and chains a hash over it, a value per event.
#[derive(Debug)]
pub struct Trace {
    /// Events of this turn.
    pub events: Vec<Event>,
    chain: blake3::Hash,
}

impl Default for Trace {
    fn default() -> Self {
        Self { events: Vec::new(), chain: blake3::hash(b"unbacked trace 1") }
    }
}

impl Trace {
    /// The chain's value now.
    pub fn hash(&self) -> String {
        self.chain.to_hex()[..16].to_owned()
    }
}

impl Sink for Trace {
    fn see(&mut self, event: &Event) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.chain.as_bytes());
        let bytes = serde_json::to_vec(event).unwrap_or_default();
        hasher.update(&bytes);
        self.chain = hasher.finalize();
        self.events.push(event.clone());
    }
}
