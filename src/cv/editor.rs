//! The person's own hand: rows changed in the editor, outside any call of the agent. The audit trail does not know of it.
//!
//! What this file must not know: tools, conversations, the audit trail.

use std::collections::BTreeMap;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};
use serde_json::{Map, Value};

use super::schema::{SECTIONS, Section, section, sql_of};
use super::store::Store;

/// Why an edit was not made.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// There is no such section.
    #[error("there is no section {0}")]
    Section(String),
    /// The section has no such field.
    #[error("{0} has no field {1}")]
    Field(&'static str, String),
    /// SQLite refused it.
    #[error("the edit was refused: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// A user at their own CV.
#[derive(Clone, Debug)]
pub struct Editor {
    store: Store,
    user: i64,
}

impl Editor {
    /// For this user.
    pub fn new(store: Store, user: i64) -> Self {
        Self { store, user }
    }

    /// Adds a row and gives its id.
    pub fn create(&self, name: &str, fields: &Map<String, Value>) -> Result<i64, EditError> {
        let section = known(name, fields)?;
        let columns: Vec<String> = fields.keys().map(|column| format!(", {column}")).collect();
        let places: Vec<String> = (2..fields.len() + 2).map(|place| format!(", ?{place}")).collect();
        let sql = format!("INSERT INTO {} (user_id{}) VALUES (?1{})", section.name, columns.concat(), places.concat());
        self.store.transaction(|connection| {
            let values = std::iter::once(Sql::Integer(self.user)).chain(fields.values().map(sql_of));
            connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
            Ok(connection.last_insert_rowid())
        })
    }

    /// Puts a row back that was deleted, under its old id.
    pub fn restore(&self, name: &str, id: i64, fields: &Map<String, Value>) -> Result<(), EditError> {
        let section = known(name, fields)?;
        let columns: Vec<String> = fields.keys().map(|column| format!(", {column}")).collect();
        let places: Vec<String> = (3..fields.len() + 3).map(|place| format!(", ?{place}")).collect();
        let sql = format!("INSERT INTO {} (id, user_id{}) VALUES (?1, ?2{})", section.name, columns.concat(), places.concat());
        self.change(&sql, id, fields.values().map(sql_of)).map(|_| ())
    }

    /// Changes some fields of a row. False where the user has no such row.
    pub fn update(&self, name: &str, id: i64, fields: &Map<String, Value>) -> Result<bool, EditError> {
        let section = known(name, fields)?;
        let sets: Vec<String> = fields.keys().enumerate().map(|(place, column)| format!(", {column} = ?{}", place + 3)).collect();
        let sql = format!("UPDATE {} SET user_id = ?2{} WHERE id = ?1 AND user_id = ?2", section.name, sets.concat());
        self.change(&sql, id, fields.values().map(sql_of))
    }

    /// Deletes a row. False where the user has no such row.
    pub fn delete(&self, name: &str, id: i64) -> Result<bool, EditError> {
        let section = known(name, &Map::new())?;
        self.change(&format!("DELETE FROM {} WHERE id = ?1 AND user_id = ?2", section.name), id, std::iter::empty())
    }

    fn change(&self, sql: &str, id: i64, values: impl Iterator<Item = Sql>) -> Result<bool, EditError> {
        self.store.transaction(|connection| {
            let values = [Sql::Integer(id), Sql::Integer(self.user)].into_iter().chain(values);
            Ok(connection.prepare_cached(sql)?.execute(params_from_iter(values))? > 0)
        })
    }
}

/// Names go into SQL, so only those of the table of sections pass.
fn known(name: &str, fields: &Map<String, Value>) -> Result<&'static Section, EditError> {
    let section = section(name).ok_or_else(|| EditError::Section(name.to_owned()))?;
    match fields.keys().find(|field| section.field(field).is_none()) {
        Some(field) => Err(EditError::Field(section.name, field.clone())),
        None => Ok(section),
    }
}

/// The rows of a section with their ids, in order; fields that are not set are left out.
pub type Rows = Vec<(i64, Map<String, Value>)>;

/// All that a user's CV holds, by section.
pub fn snapshot(store: &Store, user: i64) -> rusqlite::Result<BTreeMap<&'static str, Rows>> {
    store.with(|connection| SECTIONS.iter().map(|section| Ok((section.name, rows(connection, section, user)?))).collect())
}

/// A user's rows of one section.
pub(super) fn rows(connection: &Connection, section: &Section, user: i64) -> rusqlite::Result<Rows> {
    let columns: String = section.fields.iter().map(|field| format!(", {}", field.name)).collect();
    let sql = format!("SELECT id{columns} FROM {} WHERE user_id = ?1 ORDER BY id", section.name);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([user], |row| Ok((row.get(0)?, fields_of(section, row)?)))?;
    rows.collect()
}

fn fields_of(section: &Section, row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (place, field) in (1..).zip(section.fields) {
        let value = match row.get(place)? {
            Sql::Integer(number) => Value::from(number),
            Sql::Text(text) => Value::from(text),
            _ => continue,
        };
        fields.insert(field.name.into(), value);
    }
    Ok(fields)
}
