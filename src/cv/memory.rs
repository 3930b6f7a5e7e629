//! The conversation's own store: transcript, pending entries and turn records, beside the CV in the same database (P5, C5).

use rusqlite::{Connection, OptionalExtension, params};

use crate::turn::conversation::Conversation;
use crate::turn::exit::TurnRecord;
use crate::turn::message::Message;
use crate::turn::pending::{Pending, PendingEntry};
use crate::turn::ports::{Memory, Place, PortError};

use super::store::Store;

/// The store of one conversation.
#[derive(Clone, Debug)]
pub struct CvMemory {
    store: Store,
    conversation: i64,
}

/// Why a stored conversation can't be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// SQLite failed.
    #[error("the conversation can't be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A row holds something else than this version writes.
    #[error("the stored conversation is damaged at {place}: {source}")]
    Damaged {
        /// Which row.
        place: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl CvMemory {
    /// Of this conversation.
    pub fn new(store: Store, conversation: i64) -> Self {
        Self { store, conversation }
    }

    /// The conversation as it was stored.
    pub fn load(&self, system: &str) -> Result<Conversation, LoadError> {
        let messages = self.messages()?;
        let entries = self.pending()?;
        let stored = self.store.with(|connection| self.counters(connection))?;
        let turns = self.store.with(|connection| self.turns(connection))?;
        let mut pending = Pending::default();
        for entry in entries {
            pending.restore(entry);
        }
        Ok(Conversation { system: system.to_owned(), messages, turns, pending, ..stored }.restored())
    }

    /// Turns begun and pending entries made. A turn that left any trace has begun: a number that came twice would let a new call pass for
    /// an old one that has committed.
    fn counters(&self, connection: &Connection) -> rusqlite::Result<Conversation> {
        connection
            .prepare_cached(
                "SELECT max(coalesce((SELECT max(turn) FROM message WHERE conversation = ?1), 0), \
                            coalesce((SELECT max(turn) FROM turn_record WHERE conversation = ?1), 0), \
                            coalesce((SELECT max(turn) FROM audit_call WHERE conversation = ?1), 0), \
                            coalesce((SELECT max(turn) FROM audit_fate WHERE conversation = ?1), 0)), \
                        coalesce((SELECT pending_made FROM conversation WHERE id = ?1), 0), \
                        coalesce((SELECT max(turn) FROM message WHERE conversation = ?1), 0) AS spoken, \
                        coalesce((SELECT max(seq) + 1 FROM message WHERE conversation = ?1), 0)",
            )?
            .query_row([self.conversation], |row| {
                let spoken = row.get(2)?;
                let unclosed = spoken > 0 && !self.is_closed(connection, spoken)?;
                Ok(Conversation {
                    turn: row.get(0)?,
                    pending_made: row.get(1)?,
                    spoken,
                    unclosed,
                    next_seq: row.get(3)?,
                    ..Conversation::default()
                })
            })
    }

    /// The turn of each message.
    fn turns(&self, connection: &Connection) -> rusqlite::Result<Vec<u32>> {
        let mut statement = connection.prepare_cached("SELECT turn FROM message WHERE conversation = ?1 ORDER BY seq")?;
        let turns = statement.query_map([self.conversation], |row| row.get(0))?;
        turns.collect()
    }

    fn is_closed(&self, connection: &Connection, turn: u32) -> rusqlite::Result<bool> {
        connection
            .prepare_cached("SELECT 1 FROM turn_record WHERE conversation = ?1 AND turn = ?2")?
            .exists(params![self.conversation, turn])
    }

    /// The pending entries as they are stored.
    pub fn pending(&self) -> Result<Vec<PendingEntry>, LoadError> {
        self.column("SELECT entry FROM pending WHERE conversation = ?1 ORDER BY section", "pending")
    }

    /// The stored transcript.
    pub fn messages(&self) -> Result<Vec<Message>, LoadError> {
        self.column("SELECT body FROM message WHERE conversation = ?1 ORDER BY seq", "message")
    }

    /// The records of all closed turns, in order.
    pub fn records(&self) -> Result<Vec<TurnRecord>, LoadError> {
        self.column("SELECT record FROM turn_record WHERE conversation = ?1 ORDER BY turn", "turn")
    }

    /// The record of a turn.
    pub fn record(&self, turn: u32) -> Result<Option<TurnRecord>, LoadError> {
        let body: Option<String> = self.store.with(|connection| {
            connection
                .prepare_cached("SELECT record FROM turn_record WHERE conversation = ?1 AND turn = ?2")?
                .query_row(params![self.conversation, turn], |row| row.get(0))
                .optional()
        })?;
        body.map(|body| serde_json::from_str(&body).map_err(|source| LoadError::Damaged { place: format!("turn {turn}"), source }))
            .transpose()
    }

    fn put(&self, connection: &Connection, at: Place, message: &Message) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO message (conversation, seq, turn, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![self.conversation, at.seq, at.turn, json(message)?])?;
        Ok(())
    }

    fn column<T: serde::de::DeserializeOwned>(&self, sql: &str, what: &str) -> Result<Vec<T>, LoadError> {
        let bodies: Vec<String> = self.store.with(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([self.conversation], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        })?;
        let parse = |(place, body): (usize, String)| {
            serde_json::from_str(&body).map_err(|source| LoadError::Damaged { place: format!("{what} {place}"), source })
        };
        bodies.into_iter().enumerate().map(parse).collect()
    }
}

fn stored(result: rusqlite::Result<()>) -> Result<(), PortError> {
    result.map_err(|error| PortError(format!("the conversation's store failed: {error}")))
}

impl Memory for CvMemory {
    async fn append(&mut self, at: Place, message: &Message) -> Result<(), PortError> {
        stored(self.store.transaction(|connection| self.put(connection, at, message)))
    }

    async fn fold(&mut self, at: Place, summary: &Message) -> Result<(), PortError> {
        stored(self.store.transaction(|connection| {
            let mut before = connection.prepare_cached("DELETE FROM message WHERE conversation = ?1 AND seq < ?2")?;
            before.execute(params![self.conversation, at.seq])?;
            self.put(connection, at, summary)
        }))
    }

    async fn save_pending(&mut self, entries: &[PendingEntry]) -> Result<(), PortError> {
        stored(self.store.transaction(|connection| {
            connection.prepare_cached("DELETE FROM pending WHERE conversation = ?1")?.execute([self.conversation])?;
            for entry in entries {
                connection.prepare_cached("INSERT INTO pending (conversation, section, entry) VALUES (?1, ?2, ?3)")?.execute(params![
                    self.conversation,
                    entry.section,
                    json(entry)?
                ])?;
            }
            let made = entries.iter().map(|entry| entry.id).max().unwrap_or(0);
            connection
                .prepare_cached(
                    "INSERT INTO conversation (id, pending_made) VALUES (?1, ?2) \
                     ON CONFLICT DO UPDATE SET pending_made = max(pending_made, ?2)",
                )?
                .execute(params![self.conversation, made])?;
            Ok(())
        }))
    }

    async fn close(&mut self, record: &TurnRecord) -> Result<(), PortError> {
        stored(self.store.transaction(|connection| {
            connection
                .prepare_cached("INSERT OR REPLACE INTO turn_record (conversation, turn, record) VALUES (?1, ?2, ?3)")?
                .execute(params![self.conversation, record.turn, json(record)?])?;
            Ok(())
        }))
    }
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
