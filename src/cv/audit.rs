//! The audit trail: what was asked and what changed, in the same transaction as the write, and the fate once it is verified (C4).
//!
//! What changed is written by triggers ([`super::schema::Section::ddl`]), never by a tool.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use crate::turn::draft::{Act, CallKey, Fate, RowChange};
use crate::turn::exit::Tally;
use crate::turn::ports::{Audited, Committed, Ledger, PortError};

use super::store::Store;

/// The audit trail of one conversation, as the loop's port.
#[derive(Clone, Debug)]
pub struct CvLedger {
    store: Store,
    conversation: i64,
}

impl CvLedger {
    /// Of this conversation.
    pub fn new(store: Store, conversation: i64) -> Self {
        Self { store, conversation }
    }
}

/// A row of the trail, for those who hold the database against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrailRow {
    /// Which call.
    pub key: CallKey,
    /// What changed.
    pub change: RowChange,
}

/// Every change that the trail of a conversation has, in order.
pub fn trail(store: &Store, conversation: i64) -> rusqlite::Result<Vec<TrailRow>> {
    store.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT turn, iteration, idx, x.act, x.section, x.row_id FROM audit_change x JOIN audit_call c ON c.id = x.call \
             WHERE conversation = ?1 ORDER BY x.id",
        )?;
        let rows = statement.query_map([conversation], |row| Ok(TrailRow { key: key_of(row)?, change: change_of(row, 3)? }))?;
        rows.collect()
    })
}

/// What the tool of a call that is about to run will be recorded under.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub conversation: i64,
    pub user: i64,
    pub key: CallKey,
    pub tool: &'a str,
    pub act: Act,
    pub section: &'a str,
    pub arguments: &'a Map<String, Value>,
}

/// Begins to audit a call inside its transaction: from here on the triggers record under it.
pub(super) fn begin(connection: &Connection, asked: Asked<'_>) -> rusqlite::Result<i64> {
    let arguments = Value::Object(asked.arguments.clone()).to_string();
    connection
        .prepare_cached(
            "INSERT INTO audit_call (conversation, turn, iteration, idx, tool, act, section, arguments) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            asked.conversation,
            asked.key.turn,
            asked.key.iteration,
            asked.key.index,
            asked.tool,
            asked.act.word(),
            asked.section,
            arguments
        ])?;
    let call = connection.last_insert_rowid();
    connection.prepare_cached("UPDATE audit_now SET call = ?1, user = ?2")?.execute([call, asked.user])?;
    Ok(call)
}

/// Ends the audit of a call inside its transaction. A call that changed nothing leaves no trace (I8).
pub(super) fn end(connection: &Connection, call: i64, result: &Map<String, Value>) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE audit_now SET call = NULL")?.execute([])?;
    let changed = connection.prepare_cached("SELECT 1 FROM audit_change WHERE call = ?1 LIMIT 1")?.exists([call])?;
    if changed {
        let result = Value::Object(result.clone()).to_string();
        connection.prepare_cached("UPDATE audit_call SET result = ?2 WHERE id = ?1")?.execute(params![call, result])?;
    } else {
        connection.prepare_cached("DELETE FROM audit_call WHERE id = ?1")?.execute([call])?;
    }
    Ok(())
}

/// The recorded result of a call that has committed before: a retry by key writes nothing twice.
pub(super) fn recorded(connection: &Connection, conversation: i64, key: CallKey) -> rusqlite::Result<Option<Map<String, Value>>> {
    let result: Option<String> = connection
        .prepare_cached("SELECT result FROM audit_call WHERE conversation = ?1 AND turn = ?2 AND iteration = ?3 AND idx = ?4")?
        .query_row(params![conversation, key.turn, key.iteration, key.index], |row| row.get(0))
        .optional()?;
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error));
    result.map(|result| serde_json::from_str(&result).map_err(unreadable)).transpose()
}

/// Whether a call's fate was added (C4): from then on it can commit no more.
pub(super) fn is_settled(connection: &Connection, conversation: i64, key: CallKey) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM audit_fate WHERE conversation = ?1 AND turn = ?2 AND iteration = ?3 AND idx = ?4")?
        .exists(params![conversation, key.turn, key.iteration, key.index])
}

impl Ledger for CvLedger {
    async fn find(&mut self, key: CallKey) -> Result<Option<Committed>, PortError> {
        self.store.with(|connection| find(connection, self.conversation, key)).map_err(unreadable)
    }

    async fn settle(&mut self, committed: &Committed, fate: &Fate) -> Result<(), PortError> {
        self.store.with(|connection| settle(connection, self.conversation, committed, fate)).map_err(unreadable)
    }

    async fn turn(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.store.with(|connection| turns_of(connection, self.conversation, turn, turn)).map_err(unreadable)
    }

    async fn through(&mut self, turn: u32) -> Result<Vec<Audited>, PortError> {
        self.store.with(|connection| turns_of(connection, self.conversation, 0, turn)).map_err(unreadable)
    }

    async fn before(&mut self, turn: u32) -> Result<Vec<Tally>, PortError> {
        self.store.with(|connection| before(connection, self.conversation, turn)).map_err(unreadable)
    }
}

fn unreadable(error: rusqlite::Error) -> PortError {
    PortError(format!("the audit trail did not answer: {error}"))
}

fn find(connection: &Connection, conversation: i64, key: CallKey) -> rusqlite::Result<Option<Committed>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, tool, act, section FROM audit_call WHERE conversation = ?1 AND turn = ?2 AND iteration = ?3 AND idx = ?4",
    )?;
    let call: Option<(i64, String, String, String)> = statement
        .query_row(params![conversation, key.turn, key.iteration, key.index], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((id, tool, act, section)) = call else { return Ok(None) };
    let rows = changes(connection, id)?;
    Ok(Some(Committed { key, tool, act: act_of(&act)?, section, rows }))
}

fn changes(connection: &Connection, call: i64) -> rusqlite::Result<Vec<RowChange>> {
    let mut statement = connection.prepare_cached("SELECT act, section, row_id FROM audit_change WHERE call = ?1 ORDER BY id")?;
    let rows = statement.query_map([call], |row| change_of(row, 0))?;
    rows.collect()
}

fn settle(connection: &Connection, conversation: i64, committed: &Committed, fate: &Fate) -> rusqlite::Result<()> {
    let (word, reason) = match fate {
        Fate::Applied => ("applied", None),
        Fate::NoChange => ("no_change", None),
        Fate::Failed { reason } => ("failed", Some(reason)),
        Fate::Unknown { reason } => ("unknown", Some(reason)),
    };
    let key = committed.key;
    connection.prepare_cached("INSERT OR REPLACE INTO audit_fate VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(params![
        conversation,
        key.turn,
        key.iteration,
        key.index,
        committed.tool,
        committed.act.word(),
        committed.section,
        word,
        reason
    ])?;
    Ok(())
}

fn turns_of(connection: &Connection, conversation: i64, first: u32, last: u32) -> rusqlite::Result<Vec<Audited>> {
    let mut statement = connection.prepare_cached(
        "SELECT k.turn, k.iteration, k.idx, k.tool, k.act, k.section, f.fate, f.reason, c.id FROM \
         (SELECT conversation, turn, iteration, idx, tool, act, section FROM audit_call WHERE conversation = ?1 AND turn BETWEEN ?2 AND ?3 \
          UNION SELECT conversation, turn, iteration, idx, tool, act, section FROM audit_fate WHERE conversation = ?1 AND turn BETWEEN ?2 AND ?3) k \
         LEFT JOIN audit_fate f USING (conversation, turn, iteration, idx) LEFT JOIN audit_call c USING (conversation, turn, iteration, idx) \
         ORDER BY k.turn, k.iteration, k.idx",
    )?;
    let mut rows = statement.query(params![conversation, first, last])?;
    let mut trail = Vec::new();
    while let Some(row) = rows.next()? {
        let call: Option<i64> = row.get(8)?;
        let committed = Committed {
            key: key_of(row)?,
            tool: row.get(3)?,
            act: act_of(&row.get::<_, String>(4)?)?,
            section: row.get(5)?,
            rows: call.map_or_else(|| Ok(Vec::new()), |call| changes(connection, call))?,
        };
        trail.push(Audited { committed, fate: fate_of(row.get(6)?, row.get(7)?) });
    }
    Ok(trail)
}

/// Only what was verified counts: an earlier turn's claim is backed by applied changes and by nothing else.
fn before(connection: &Connection, conversation: i64, turn: u32) -> rusqlite::Result<Vec<Tally>> {
    let mut statement = connection.prepare_cached(
        "SELECT x.act, x.section, count(*) FROM audit_call c JOIN audit_fate f USING (conversation, turn, iteration, idx) \
         JOIN audit_change x ON x.call = c.id \
         WHERE c.conversation = ?1 AND c.turn < ?2 AND f.fate = 'applied' AND x.act <> 'discard' GROUP BY 1, 2",
    )?;
    let rows = statement.query_map(params![conversation, turn], |row| {
        Ok(Tally { act: act_of(&row.get::<_, String>(0)?)?, section: row.get(1)?, count: row.get(2)? })
    })?;
    let mut tallies: Vec<Tally> = rows.collect::<rusqlite::Result<_>>()?;
    tallies.sort();
    Ok(tallies)
}

fn fate_of(fate: Option<String>, reason: Option<String>) -> Option<Fate> {
    let reason = reason.unwrap_or_default();
    match fate?.as_str() {
        "applied" => Some(Fate::Applied),
        "no_change" => Some(Fate::NoChange),
        "failed" => Some(Fate::Failed { reason }),
        _ => Some(Fate::Unknown { reason }),
    }
}

fn key_of(row: &Row<'_>) -> rusqlite::Result<CallKey> {
    Ok(CallKey { turn: row.get(0)?, iteration: row.get(1)?, index: row.get(2)? })
}

fn change_of(row: &Row<'_>, from: usize) -> rusqlite::Result<RowChange> {
    Ok(RowChange { act: act_of(&row.get::<_, String>(from)?)?, section: row.get(from + 1)?, id: row.get(from + 2)? })
}

fn act_of(word: &str) -> rusqlite::Result<Act> {
    [Act::Create, Act::Update, Act::Delete, Act::Discard]
        .into_iter()
        .find(|act| act.word() == word)
        .ok_or_else(|| rusqlite::Error::InvalidColumnName(format!("act {word}")))
}
