//! What the database changed, from SQLite's own hooks and the rows themselves, never from the audit trail that is checked against it.
//!
//! (SQLite's session extension would do the first half; its bindings need libclang on the user's machine, so the update hook and a shadow
//! copy of the rows do it here.)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::turn::draft::Act;

/// A table to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The table, which is also the section's name.
    pub table: &'static str,
}

/// A row that changed, in value and not only in touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DbChange {
    /// What happened to it.
    pub act: Act,
    /// Where.
    pub section: String,
    /// The row.
    pub id: i64,
    /// Whose row it was before; of a created one, whose it is now.
    pub owner: i64,
    /// Whose row an update made it, where that is somebody else.
    pub given_to: Option<i64>,
}

/// What one committed transaction touched.
#[derive(Clone, Debug, Default)]
struct Group {
    rows: BTreeSet<(String, i64)>,
    audited: u32,
}

#[derive(Debug, Default)]
struct Log {
    open: Group,
    closed: Vec<Group>,
}

/// Listens to a connection.
#[derive(Debug)]
pub struct Tap {
    log: Arc<Mutex<Log>>,
    watched: Vec<Watched>,
    audit_table: &'static str,
    shadow: Rows,
    /// What the last transaction changed, and each row of it as it was before.
    last: (Vec<DbChange>, Vec<Before>),
}

type Key = (String, i64);
/// A row as it was before, if it was there.
type Before = (Key, Option<Vec<Value>>);
type Rows = BTreeMap<Key, Vec<Value>>;

/// What became of the last transaction as the process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All of it is there, and so is all that was before it.
    Kept,
    /// None of it is, and all that was before it. These changes were not made.
    TakenBack(Vec<DbChange>),
    /// Something else: no disk may do that.
    Torn,
}

/// What changed since the tap was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Net changes, in order of section and row.
    pub changes: Vec<DbChange>,
    /// Whether each transaction that changed a watched row wrote as many rows of the audit trail (I8).
    pub audited_in_same_transaction: bool,
}

impl Tap {
    /// Begins to listen. `audit_table` is where the trail's changes go.
    ///
    /// # Errors
    /// Where a hook can't be set, or the rows can't be read.
    pub fn install(connection: &mut Connection, watched: &[Watched], audit_table: &'static str) -> rusqlite::Result<Self> {
        let (shadow, last) = Default::default();
        let mut tap = Self { log: Arc::default(), watched: watched.to_vec(), audit_table, shadow, last };
        tap.listen(connection)?;
        tap.reset(connection)?;
        Ok(tap)
    }

    fn listen(&mut self, connection: &mut Connection) -> rusqlite::Result<()> {
        self.log = Arc::default();
        let names: Vec<&'static str> = self.watched.iter().map(|watched| watched.table).collect();
        let (seen, audit_table) = (Arc::clone(&self.log), self.audit_table);
        connection.update_hook(Some(move |_action, _database: &str, table: &str, row: i64| {
            let mut log = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if table == audit_table {
                log.open.audited += 1;
            } else if names.contains(&table) {
                log.open.rows.insert((table.to_owned(), row));
            }
        }))?;
        let seen = Arc::clone(&self.log);
        connection.commit_hook(Some(move || {
            let mut log = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let group = std::mem::take(&mut log.open);
            if !group.rows.is_empty() || group.audited > 0 {
                log.closed.push(group);
            }
            false
        }))?;
        let seen = Arc::clone(&self.log);
        connection.rollback_hook(Some(move || seen.lock().unwrap_or_else(PoisonError::into_inner).open = Group::default()))
    }

    /// The process died: listens to the connection with which it came back, and says what became of the last transaction.
    ///
    /// # Errors
    /// Where a hook can't be set, or the rows can't be read.
    pub fn revive(&mut self, connection: &mut Connection) -> rusqlite::Result<Survival> {
        self.listen(connection)?;
        let now = self.scan(connection)?;
        let (changes, rows) = std::mem::take(&mut self.last);
        if now == self.shadow {
            return Ok(Survival::Kept);
        }
        for (key, row) in rows {
            match row {
                Some(row) => self.shadow.insert(key, row),
                None => self.shadow.remove(&key),
            };
        }
        let taken_back = now == self.shadow;
        self.shadow = now;
        Ok(if taken_back { Survival::TakenBack(changes) } else { Survival::Torn })
    }

    /// Forgets what it heard and takes the rows as they are now.
    ///
    /// # Errors
    /// Where the rows can't be read.
    pub fn reset(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Log::default();
        self.shadow = self.scan(connection)?;
        self.last = Default::default();
        Ok(())
    }

    /// What changed since it was last asked.
    ///
    /// # Errors
    /// Where a row can't be read.
    pub fn settle(&mut self, connection: &Connection) -> rusqlite::Result<Settled> {
        let groups = std::mem::take(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner).closed);
        let mut settled = Settled { changes: Vec::new(), audited_in_same_transaction: true };
        for group in groups {
            let mut last = (Vec::new(), Vec::new());
            for key in group.rows {
                let now = read_row(connection, &key.0, key.1)?;
                last.1.push((key.clone(), self.shadow.get(&key).cloned()));
                last.0.extend(self.compare(key, now));
            }
            settled.audited_in_same_transaction &= last.0.is_empty() || group.audited as usize == last.0.len();
            settled.changes.extend(last.0.iter().cloned());
            self.last = last;
        }
        Ok(settled)
    }

    /// Whether the shadow is what the database holds: the proof that the hooks missed nothing.
    ///
    /// # Errors
    /// Where the rows can't be read.
    pub fn agrees(&self, connection: &Connection) -> rusqlite::Result<bool> {
        Ok(self.scan(connection)? == self.shadow)
    }

    fn compare(&mut self, key: Key, now: Option<Vec<Value>>) -> Option<DbChange> {
        let before = match &now {
            Some(row) => self.shadow.insert(key.clone(), row.clone()),
            None => self.shadow.remove(&key),
        };
        let (act, row) = match (&before, &now) {
            (None, Some(row)) => (Act::Create, row),
            (Some(row), None) => (Act::Delete, row),
            (Some(old), Some(new)) if old != new => (Act::Update, old),
            _ => return None,
        };
        let owner = owner_of(row);
        let given_to = now.as_deref().map(owner_of).filter(|now| *now != owner);
        Some(DbChange { act, section: key.0, id: key.1, owner, given_to })
    }

    fn scan(&self, connection: &Connection) -> rusqlite::Result<Rows> {
        let mut rows = BTreeMap::new();
        for watched in &self.watched {
            let mut statement = connection.prepare_cached(&format!("SELECT id FROM {}", watched.table))?;
            let ids: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            for id in ids {
                if let Some(row) = read_row(connection, watched.table, id)? {
                    rows.insert((watched.table.to_owned(), id), row);
                }
            }
        }
        Ok(rows)
    }
}

/// 0 where nobody owns it.
fn owner_of(row: &[Value]) -> i64 {
    match row.get(1) {
        Some(Value::Integer(owner)) => *owner,
        _ => 0,
    }
}

/// All columns of a row; the id comes first and the owner second.
fn read_row(connection: &Connection, table: &str, id: i64) -> rusqlite::Result<Option<Vec<Value>>> {
    let mut statement = connection.prepare_cached(&format!("SELECT * FROM {table} WHERE id = ?1"))?;
    let columns = statement.column_count();
    statement.query_row([id], |row| (0..columns).map(|column| row.get(column)).collect()).optional()
}
