//! A world for one worker: one database, emptied and filled anew for each run, and the oracle's tap on it.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map, json};

use crate::cv::editor::{EditError, Editor, snapshot};
use crate::cv::schema::{PROFILE, SECTIONS};
use crate::cv::store::Store;
use crate::cv::tools::CvTools;
use crate::oracle::changes::{DbChange, Tap, Watched};
use crate::turn::draft::CallKey;
use crate::turn::event::Event;
use crate::turn::message::Call;
use crate::turn::ports::{Outcome, Sink, ToolSpec, Tools};

use super::choices::{Choices, Stream};
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
    /// The database.
    pub store: Store,
    /// What SQLite says of it.
    pub tap: Rc<RefCell<Tap>>,
}

impl World {
    /// A world in memory.
    ///
    /// # Errors
    /// Where SQLite can't make one, with a sentence for the user.
    pub fn new() -> Result<Self, String> {
        let store = Store::in_memory().map_err(|error| error.to_string())?;
        let watched: Vec<Watched> = SECTIONS.iter().map(|section| Watched { table: section.name }).collect();
        let tap = store.with_mut(|connection| Tap::install(connection, &watched, "audit_change")).map_err(|error| error.to_string())?;
        Ok(Self { store, tap: Rc::new(RefCell::new(tap)) })
    }

    /// Empties the world and fills it for a run. Returns a row of the other user.
    ///
    /// # Errors
    /// Where a row does not fit the schema.
    pub fn begin(&self, rows: &[Row]) -> Result<(String, i64), EditError> {
        self.store.reset()?;
        self.store.add_user(USER, "user")?;
        self.store.add_user(OTHER, "other")?;
        let mut foreign = Map::new();
        foreign.insert("name".into(), json!(FOREIGN_MARKER));
        let foreign_id = Editor::new(self.store.clone(), OTHER).create("skills", &foreign)?;
        for row in rows {
            let owner = if row.of_other_user { OTHER } else { USER };
            let editor = Editor::new(self.store.clone(), owner);
            if row.section == PROFILE {
                editor.update(PROFILE, owner, &row.values)?;
            } else {
                editor.create(&row.section, &row.values)?;
            }
        }
        self.store.with(|connection| self.tap.borrow_mut().reset(connection))?;
        Ok(("skills".into(), foreign_id))
    }
}

/// The CV's tools under the oracle's eyes: after each call, SQLite tells what it changed. Now and then the person edits a row in the
/// editor before a call.
pub struct WatchedTools {
    /// The real tools.
    pub tools: CvTools,
    /// The world.
    pub store: Store,
    /// What SQLite says.
    pub tap: Rc<RefCell<Tap>>,
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
}

impl WatchedTools {
    /// The person changes the profile's summary, or deletes the newest row of some section. An edit that is refused has edited nothing.
    fn edit(&mut self, deletes: bool) {
        self.edits += 1;
        let editor = Editor::new(self.store.clone(), USER);
        if deletes {
            let section = *self.choices.borrow_mut().pick(Stream::User, &["skills", "experiences", "links"]);
            let newest = snapshot(&self.store, USER).ok().and_then(|cv| cv.get(section).and_then(|rows| rows.last().map(|(id, _)| *id)));
            let _ = newest.map(|id| editor.delete(section, id));
        } else {
            let mut fields = Map::new();
            fields.insert("summary".into(), json!(format!("edited by hand, {} times", self.edits)));
            let _ = editor.update(PROFILE, USER, &fields);
        }
        let _ = self.store.with(|connection| self.tap.borrow_mut().settle(connection));
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
        let outcome = self.tools.run(key, call).await;
        if let Ok(settled) = self.store.with(|connection| self.tap.borrow_mut().settle(connection)) {
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
