//! The tools (D): `read_cv`, and for each section create, update and delete in batches, each call in a transaction of its own (L4).

use std::sync::LazyLock;

use jsonschema::Validator;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, ErrorCode, params, params_from_iter};
use serde_json::{Map, Value, json};

use crate::turn::draft::{Act, CallKey};
use crate::turn::message::{Arguments, Call};
use crate::turn::ports::{Failure, Outcome, ToolKind, ToolSpec, Tools};

use super::arguments::complaint;
use super::audit::{self, Asked};
use super::editor;
use super::schema::{PROFILE, SECTIONS, Section, id_schema, section, sql_of, whole};
use super::store::Store;

/// All tools with their compiled schemas: made once per process.
struct Catalogue {
    specs: Vec<ToolSpec>,
    validators: Vec<Validator>,
    /// The required fields of each section, in the order of [`SECTIONS`].
    required: Vec<Vec<&'static str>>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let specs = specs();
    let validators = specs
        .iter()
        .map(|spec| jsonschema::draft202012::new(&spec.input_schema).expect("a schema derived from the table of sections is valid"))
        .collect();
    let required = |section: &'static Section| section.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    Catalogue { specs, validators, required: SECTIONS.iter().map(required).collect() }
});

/// The tools of the CV, in a fixed order.
pub fn catalogue() -> &'static [ToolSpec] {
    &CATALOGUE.specs
}

fn specs() -> Vec<ToolSpec> {
    let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    let by_section =
        json!({ "type": "object", "properties": { "section": { "type": "string", "enum": names } }, "additionalProperties": false });
    let mut of_one_section = by_section.clone();
    of_one_section["required"] = json!(["section"]);
    let mut specs = vec![ToolSpec {
        name: "read_cv".into(),
        description: "Reads the user's CV, whole or one section, with the ids of its rows.".into(),
        input_schema: by_section,
        kind: ToolKind::Read,
    }];
    for section in &SECTIONS {
        specs.extend(specs_of(section));
    }
    specs.push(ToolSpec {
        name: "discard_pending_entry".into(),
        description: "Drops the unfinished entry of a section when the user cancels it.".into(),
        input_schema: of_one_section,
        kind: ToolKind::Discard,
    });
    specs
}

fn specs_of(section: &Section) -> Vec<ToolSpec> {
    let name = section.name;
    let spec = |act: Act, description: String, input_schema: Value| ToolSpec {
        name: format!("{}_{name}", act.word()),
        description,
        input_schema,
        kind: ToolKind::Write { act, section: name.into() },
    };
    if name == PROFILE {
        return vec![spec(Act::Update, "Changes fields of the user's profile.".into(), section.item_schema(true))];
    }
    let batch = |items: Value| {
        json!({ "type": "object", "properties": { "items": { "type": "array", "minItems": 1, "maxItems": 50, "items": items } },
                "required": ["items"], "additionalProperties": false })
    };
    let ids = json!({ "type": "object", "properties": { "ids": { "type": "array", "minItems": 1, "maxItems": 50, "uniqueItems": true,
                      "items": id_schema() } }, "required": ["ids"], "additionalProperties": false });
    vec![
        spec(Act::Create, format!("Adds rows to {name}, all or none."), batch(section.item_schema(false))),
        spec(Act::Update, format!("Changes rows of {name} by id, all or none."), batch(section.item_schema(true))),
        spec(Act::Delete, format!("Deletes rows of {name} by id, all or none."), ids),
    ]
}

/// The tools, for one user of one conversation.
#[derive(Clone, Debug)]
pub struct CvTools {
    store: Store,
    user: i64,
    conversation: i64,
}

/// Why a call wrote nothing.
#[derive(Debug)]
enum Refusal {
    Failed(Failure, String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        let (failure, reason) = match refusal {
            Refusal::Failed(failure, reason) => (failure, reason),
            Refusal::Sqlite(error) => (Failure::Store, format!("the database failed: {error}")),
        };
        Self::Failed { failure, reason, missing: Vec::new() }
    }
}

/// A row that a constraint refused is the caller's to mend, so the reason names it; anything else is the store's.
fn refused(error: rusqlite::Error, section: &Section, place: &str) -> Refusal {
    let unique = format!("UNIQUE constraint failed: {}.", section.name);
    match &error {
        rusqlite::Error::SqliteFailure(sqlite, message) if sqlite.code == ErrorCode::ConstraintViolation => {
            let message = message.as_deref().unwrap_or("a constraint");
            let reason = match (message.starts_with(&unique), section.unique) {
                (true, Some(field)) => format!("{place}.{field}: the user's {} have this one already", section.name),
                _ => format!("{place}: {}", message.trim_start_matches("CHECK constraint failed: ")),
            };
            Refusal::Failed(Failure::Conflict, reason)
        }
        _ => Refusal::Sqlite(error),
    }
}

impl CvTools {
    /// For this user in this conversation.
    pub fn new(store: Store, user: i64, conversation: i64) -> Self {
        Self { store, user, conversation }
    }

    fn write(&self, asked: Asked<'_>) -> Outcome {
        let mut committing = false;
        let done = self.store.transaction(|connection| -> Result<Map<String, Value>, Refusal> {
            let result = match audit::recorded(connection, asked.conversation, asked.key)? {
                Some(result) => result,
                None if audit::is_settled(connection, asked.conversation, asked.key)? => {
                    return Err(Refusal::Failed(Failure::NotRun, "it comes too late: its fate is on record".into()));
                }
                None => {
                    let audited = audit::begin(connection, asked)?;
                    let result = self.apply(connection, asked)?;
                    audit::end(connection, audited, &result)?;
                    result
                }
            };
            committing = true;
            Ok(result)
        });
        match done {
            Ok(result) => Outcome::Done { result },
            Err(Refusal::Sqlite(error)) if committing => self.after_failed_commit(asked, &error),
            Err(refusal) => refusal.into(),
        }
    }

    /// A commit that reports an error has in most cases been rolled back, but only the database can say so.
    fn after_failed_commit(&self, asked: Asked<'_>, error: &rusqlite::Error) -> Outcome {
        match self.store.with(|connection| audit::recorded(connection, asked.conversation, asked.key)) {
            Ok(Some(result)) => Outcome::Done { result },
            Ok(None) => Refusal::Failed(Failure::Store, format!("the commit failed and was rolled back: {error}")).into(),
            Err(silent) => Outcome::Unknown { reason: format!("the commit failed ({error}) and the database does not answer ({silent})") },
        }
    }

    fn apply(&self, connection: &Connection, asked: Asked<'_>) -> Result<Map<String, Value>, Refusal> {
        if asked.act == Act::Discard {
            return self.discard(connection, asked.section);
        }
        let unknown = || Refusal::Failed(Failure::NotFound, format!("there is no section {}", asked.section));
        let section = section(asked.section).ok_or_else(unknown)?;
        let ids = match asked.act {
            Act::Create => self.insert_all(connection, section, asked.arguments)?,
            Act::Update => self.update_all(connection, section, asked.arguments)?,
            Act::Delete | Act::Discard => self.delete_all(connection, section, asked.arguments)?,
        };
        let mut result = Map::new();
        result.insert("count".into(), json!(ids.len()));
        result.insert(format!("{}_ids", section.name), json!(ids));
        Ok(result)
    }

    fn insert_all(&self, connection: &Connection, section: &Section, arguments: &Map<String, Value>) -> Result<Vec<i64>, Refusal> {
        let insert =
            |(place, item)| self.insert(connection, section, item).map_err(|error| refused(error, section, &format!("items[{place}]")));
        items(arguments).enumerate().map(insert).collect()
    }

    fn update_all(&self, connection: &Connection, section: &Section, arguments: &Map<String, Value>) -> Result<Vec<i64>, Refusal> {
        if section.name == PROFILE {
            self.must_be_mine(connection, section, &[self.user])?;
            self.update(connection, section, self.user, arguments).map_err(|error| refused(error, section, PROFILE))?;
            return Ok(vec![self.user]);
        }
        let ids: Vec<i64> = items(arguments).filter_map(|item| item.get("id").and_then(whole)).collect();
        self.must_be_mine(connection, section, &ids)?;
        for (place, (id, item)) in ids.iter().zip(items(arguments)).enumerate() {
            self.update(connection, section, *id, item).map_err(|error| refused(error, section, &format!("items[{place}]")))?;
        }
        Ok(ids)
    }

    fn delete_all(&self, connection: &Connection, section: &Section, arguments: &Map<String, Value>) -> Result<Vec<i64>, Refusal> {
        let ids: Vec<i64> = arguments.get("ids").and_then(Value::as_array).into_iter().flatten().filter_map(whole).collect();
        self.must_be_mine(connection, section, &ids)?;
        let mut delete = connection.prepare_cached(&format!("DELETE FROM {} WHERE id = ?1 AND user_id = ?2", section.name))?;
        for id in &ids {
            delete.execute(params![id, self.user])?;
        }
        Ok(ids)
    }

    fn insert(&self, connection: &Connection, section: &Section, item: &Map<String, Value>) -> rusqlite::Result<i64> {
        let columns: Vec<&str> = section.fields.iter().map(|field| field.name).collect();
        let places: Vec<String> = (2..columns.len() + 2).map(|place| format!("?{place}")).collect();
        let sql = format!("INSERT INTO {} (user_id, {}) VALUES (?1, {})", section.name, columns.join(", "), places.join(", "));
        let fields = columns.iter().map(|column| item.get(*column).map_or(Sql::Null, sql_of));
        connection.prepare_cached(&sql)?.execute(params_from_iter(std::iter::once(Sql::Integer(self.user)).chain(fields)))?;
        Ok(connection.last_insert_rowid())
    }

    fn update(&self, connection: &Connection, section: &Section, id: i64, item: &Map<String, Value>) -> rusqlite::Result<()> {
        let given: Vec<(&str, &Value)> = section.fields.iter().filter_map(|field| Some((field.name, item.get(field.name)?))).collect();
        if given.is_empty() {
            return Ok(());
        }
        let sets: Vec<String> = given.iter().enumerate().map(|(place, (name, _))| format!("{name} = ?{}", place + 3)).collect();
        let sql = format!("UPDATE {} SET {} WHERE id = ?1 AND user_id = ?2", section.name, sets.join(", "));
        let values = [Sql::Integer(id), Sql::Integer(self.user)].into_iter().chain(given.iter().map(|(_, value)| sql_of(value)));
        connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(())
    }

    /// Rows of others and rows that are not there are refused alike: who can't see a row learns nothing of it (I11).
    fn must_be_mine(&self, connection: &Connection, section: &Section, ids: &[i64]) -> Result<(), Refusal> {
        let mut mine = connection.prepare_cached(&format!("SELECT 1 FROM {} WHERE id = ?1 AND user_id = ?2", section.name))?;
        let mut strange = Vec::new();
        for id in ids {
            if !mine.exists(params![id, self.user])? {
                strange.push(format!("#{id}"));
            }
        }
        if strange.is_empty() {
            return Ok(());
        }
        Err(Refusal::Failed(Failure::NotFound, format!("the user's {} have no row {}", section.name, strange.join(", "))))
    }

    fn discard(&self, connection: &Connection, section: &str) -> Result<Map<String, Value>, Refusal> {
        let gone = connection
            .prepare_cached("DELETE FROM pending WHERE conversation = ?1 AND section = ?2")?
            .execute(params![self.conversation, section])?;
        if gone == 0 {
            return Err(Refusal::Failed(Failure::NotFound, format!("nothing is pending for {section}")));
        }
        let mut result = Map::new();
        result.insert("discarded".into(), json!(section));
        Ok(result)
    }

    fn read(&self, arguments: &Map<String, Value>) -> Outcome {
        let wanted = arguments.get("section").and_then(Value::as_str);
        let read = self.store.with(|connection| -> rusqlite::Result<Map<String, Value>> {
            let mut cv = Map::new();
            for section in SECTIONS.iter().filter(|section| wanted.is_none_or(|name| name == section.name)) {
                cv.insert(section.name.into(), Value::Array(rows_of(connection, section, self.user)?));
            }
            Ok(cv)
        });
        match read {
            Ok(cv) => Outcome::Done { result: cv },
            Err(error) => Refusal::Sqlite(error).into(),
        }
    }
}

impl Tools for CvTools {
    fn catalogue(&self) -> &[ToolSpec] {
        catalogue()
    }

    async fn run(&mut self, key: CallKey, call: &Call) -> Outcome {
        let Some(place) = catalogue().iter().position(|spec| spec.name == call.name) else {
            return Refusal::Failed(Failure::UnknownTool, format!("there is no tool named {}", call.name)).into();
        };
        let Arguments::Object { value: arguments } = &call.arguments else {
            return Refusal::Failed(Failure::BrokenArguments, "the arguments are no JSON object".into()).into();
        };
        let kind = &catalogue()[place].kind;
        if let Some(outcome) = complaint(&CATALOGUE.validators[place], required_of(kind), arguments) {
            return outcome;
        }
        let (act, section) = match kind {
            ToolKind::Read => return self.read(arguments),
            ToolKind::Write { act, section } => (*act, section.as_str()),
            ToolKind::Discard => (Act::Discard, arguments.get("section").and_then(Value::as_str).unwrap_or_default()),
        };
        let (conversation, user) = (self.conversation, self.user);
        self.write(Asked { conversation, user, key, tool: &call.name, act, section, arguments })
    }
}

/// All rows of a user's section, as JSON with their ids.
pub fn rows_of(connection: &Connection, section: &Section, user: i64) -> rusqlite::Result<Vec<Value>> {
    let rows = editor::rows(connection, section, user)?;
    Ok(rows
        .into_iter()
        .map(|(id, mut fields)| {
            fields.insert("id".into(), json!(id));
            Value::Object(fields)
        })
        .collect())
}

/// The fields that a tool's section can't do without.
fn required_of(kind: &ToolKind) -> &'static [&'static str] {
    match kind {
        ToolKind::Write { section, .. } => SECTIONS
            .iter()
            .position(|known| known.name == section)
            .and_then(|place| CATALOGUE.required.get(place))
            .map_or(&[], Vec::as_slice),
        ToolKind::Read | ToolKind::Discard => &[],
    }
}

fn items(arguments: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    arguments.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}
