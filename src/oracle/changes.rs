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
    shadow: BTreeMap<(String, i64), Vec<Value>>,
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
        let log = Arc::new(Mutex::new(Log::default()));
        let names: Vec<&'static str> = watched.iter().map(|watched| watched.table).collect();
        let seen = Arc::clone(&log);
        connection.update_hook(Some(move |_action, _database: &str, table: &str, row: i64| {
            let mut log = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if table == audit_table {
                log.open.audited += 1;
            } else if names.contains(&table) {
                log.open.rows.insert((table.to_owned(), row));
            }
        }))?;
        let seen = Arc::clone(&log);
        connection.commit_hook(Some(move || {
            let mut log = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let group = std::mem::take(&mut log.open);
            if !group.rows.is_empty() || group.audited > 0 {
                log.closed.push(group);
            }
            false
        }))?;
        let seen = Arc::clone(&log);
        connection.rollback_hook(Some(move || seen.lock().unwrap_or_else(PoisonError::into_inner).open = Group::default()))?;
        let mut tap = Self { log, watched: watched.to_vec(), shadow: BTreeMap::new() };
        tap.reset(connection)?;
        Ok(tap)
    }

    /// Forgets what it heard and takes the rows as they are now.
    ///
    /// # Errors
    /// Where the rows can't be read.
    pub fn reset(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Log::default();
        self.shadow = self.scan(connection)?;
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
            let mut changed = 0;
            for (table, id) in group.rows {
                let now = read_row(connection, &table, id)?;
                if let Some(change) = self.compare(table, id, now) {
                    settled.changes.push(change);
                    changed += 1;
                }
            }
            settled.audited_in_same_transaction &= changed == 0 || group.audited == changed;
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

    fn compare(&mut self, table: String, id: i64, now: Option<Vec<Value>>) -> Option<DbChange> {
        let key = (table, id);
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
        Some(DbChange { act, section: key.0, id, owner, given_to })
    }

    fn scan(&self, connection: &Connection) -> rusqlite::Result<BTreeMap<(String, i64), Vec<Value>>> {
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
