//! The tools (D): `read_cv`, and for each section create, update and delete in batches, each call in a transaction of its own (L4).

use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, ErrorCode, params, params_from_iter};
use serde_json::{Map, Value, json};

use crate::turn::draft::{Act, CallKey};
use crate::turn::message::Call;
use crate::turn::ports::{Failure, Outcome, ToolKind, ToolSpec, Tools};

use super::audit::{self, Asked};
use super::schema::{PROFILE, SECTIONS, Section, section};
use super::store::Store;

/// All tools with their compiled schemas: made once per process.
struct Catalogue {
    specs: Vec<ToolSpec>,
    validators: Vec<Validator>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let specs = specs();
    let validators = specs
        .iter()
        .map(|spec| jsonschema::draft202012::new(&spec.input_schema).expect("a schema derived from the table of sections is valid"))
        .collect();
    Catalogue { specs, validators }
});

/// The tools of the CV, in a fixed order.
pub fn catalogue() -> &'static [ToolSpec] {
    &CATALOGUE.specs
}

fn specs() -> Vec<ToolSpec> {
    let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    let by_section = json!({ "type": "object", "properties": { "section": { "type": "string", "enum": names } }, "additionalProperties": false });
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
                      "items": { "type": "integer" } } }, "required": ["ids"], "additionalProperties": false });
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
            Refusal::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                (Failure::Conflict, format!("the database refused it: {error}"))
            }
            Refusal::Sqlite(error) => (Failure::Store, format!("the database failed: {error}")),
        };
        Self::Failed { failure, reason, missing: Vec::new() }
    }
}

impl CvTools {
    /// For this user in this conversation.
    pub fn new(store: Store, user: i64, conversation: i64) -> Self {
        Self { store, user, conversation }
    }

    fn write(&self, key: CallKey, call: &Call, act: Act, section: &str, arguments: &Map<String, Value>) -> Outcome {
        let done = self.store.transaction(|connection| -> Result<Map<String, Value>, Refusal> {
            if let Some(result) = audit::recorded(connection, self.conversation, key)? {
                return Ok(serde_json::from_str(&result).unwrap_or_default());
            }
            let asked = Asked { conversation: self.conversation, key, tool: &call.name, act, section, arguments };
            let audited = audit::begin(connection, asked)?;
            let result = self.apply(connection, audited, act, section, arguments)?;
            audit::end(connection, audited, &result)?;
            Ok(result)
        });
        match done {
            Ok(result) => Outcome::Done { result },
            Err(refusal) => refusal.into(),
        }
    }

    fn apply(
        &self,
        connection: &Connection,
        audited: i64,
        act: Act,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        if act == Act::Discard {
            return self.discard(connection, audited, name);
        }
        let section = section(name).ok_or_else(|| Refusal::Failed(Failure::NotFound, format!("there is no section {name}")))?;
        let mut ids = Vec::new();
        match act {
            Act::Create => {
                for item in items(arguments) {
                    ids.push(self.insert(connection, section, item)?);
                }
            }
            Act::Update if name == PROFILE => ids.push(self.update(connection, section, self.user, arguments)?),
            Act::Update => {
                for item in items(arguments) {
                    let id = item.get("id").and_then(Value::as_i64).unwrap_or_default();
                    ids.push(self.update(connection, section, id, item)?);
                }
            }
            Act::Delete | Act::Discard => {
                for id in arguments.get("ids").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_i64) {
                    ids.push(self.delete(connection, section, id)?);
                }
            }
        }
        let mut result = Map::new();
        result.insert("count".into(), json!(ids.len()));
        result.insert(format!("{name}_ids"), json!(ids));
        Ok(result)
    }

    fn insert(&self, connection: &Connection, section: &Section, item: &Map<String, Value>) -> Result<i64, Refusal> {
        let columns: Vec<&str> = section.fields.iter().map(|field| field.name).collect();
        let places: Vec<String> = (2..columns.len() + 2).map(|place| format!("?{place}")).collect();
        let sql = format!("INSERT INTO {} (user_id, {}) VALUES (?1, {})", section.name, columns.join(", "), places.join(", "));
        let values = std::iter::once(Sql::Integer(self.user)).chain(columns.iter().map(|column| sql_of(item.get(*column))));
        connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(connection.last_insert_rowid())
    }

    /// Rows of others and rows that are not there are refused alike: who can't see a row learns nothing of it (I11).
    fn update(&self, connection: &Connection, section: &Section, id: i64, item: &Map<String, Value>) -> Result<i64, Refusal> {
        self.must_be_mine(connection, section, id)?;
        let fields: Vec<&str> = section.fields.iter().map(|field| field.name).filter(|name| item.contains_key(*name)).collect();
        if !fields.is_empty() {
            let sets: Vec<String> = fields.iter().enumerate().map(|(place, name)| format!("{name} = ?{}", place + 3)).collect();
            let sql = format!("UPDATE {} SET {} WHERE id = ?1 AND user_id = ?2", section.name, sets.join(", "));
            let values = [Sql::Integer(id), Sql::Integer(self.user)].into_iter().chain(fields.iter().map(|name| sql_of(item.get(*name))));
            connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        }
        Ok(id)
    }

    fn delete(&self, connection: &Connection, section: &Section, id: i64) -> Result<i64, Refusal> {
        self.must_be_mine(connection, section, id)?;
        connection
            .prepare_cached(&format!("DELETE FROM {} WHERE id = ?1 AND user_id = ?2", section.name))?
            .execute(params![id, self.user])?;
        Ok(id)
    }

    fn must_be_mine(&self, connection: &Connection, section: &Section, id: i64) -> Result<(), Refusal> {
        let mine = connection
            .prepare_cached(&format!("SELECT 1 FROM {} WHERE id = ?1 AND user_id = ?2", section.name))?
            .exists(params![id, self.user])?;
        if mine { Ok(()) } else { Err(Refusal::Failed(Failure::NotFound, format!("the user has no row #{id} in {}", section.name))) }
    }

    fn discard(&self, connection: &Connection, audited: i64, section: &str) -> Result<Map<String, Value>, Refusal> {
        let gone = connection
            .prepare_cached("DELETE FROM pending WHERE conversation = ?1 AND section = ?2")?
            .execute(params![self.conversation, section])?;
        if gone == 0 {
            return Err(Refusal::Failed(Failure::NotFound, format!("nothing is pending for {section}")));
        }
        audit::discarded(connection, audited, section, self.user)?;
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
        let arguments = call.arguments.object();
        if let Some(outcome) = complaint(&CATALOGUE.validators[place], &Value::Object(arguments.clone())) {
            return outcome;
        }
        match &catalogue()[place].kind {
            ToolKind::Read => self.read(&arguments),
            ToolKind::Write { act, section } => self.write(key, call, *act, section, &arguments),
            ToolKind::Discard => {
                let section = arguments.get("section").and_then(Value::as_str).unwrap_or_default();
                self.write(key, call, Act::Discard, section, &arguments)
            }
        }
    }
}

/// All rows of a user's section, as JSON with their ids.
pub fn rows_of(connection: &Connection, section: &Section, user: i64) -> rusqlite::Result<Vec<Value>> {
    let columns: Vec<&str> = std::iter::once("id").chain(section.fields.iter().map(|field| field.name)).collect();
    let sql = format!("SELECT {} FROM {} WHERE user_id = ?1 ORDER BY id", columns.join(", "), section.name);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([user], |row| {
        let mut object = Map::new();
        for (place, column) in columns.iter().enumerate() {
            let value = match row.get::<_, Sql>(place)? {
                Sql::Integer(number) => json!(number),
                Sql::Text(text) => json!(text),
                _ => continue,
            };
            object.insert((*column).into(), value);
        }
        Ok(Value::Object(object))
    })?;
    rows.collect()
}

fn items(arguments: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    arguments.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn sql_of(value: Option<&Value>) -> Sql {
    match value {
        Some(Value::String(text)) => Sql::Text(text.clone()),
        Some(Value::Number(number)) => number.as_i64().map_or(Sql::Null, Sql::Integer),
        _ => Sql::Null,
    }
}

/// What the schema says against the arguments; every complaint names its field. Missing input, alone, is told apart (P1).
fn complaint(validator: &Validator, arguments: &Value) -> Option<Outcome> {
    if validator.is_valid(arguments) {
        return None;
    }
    let (mut missing, mut others) = (Vec::new(), Vec::new());
    for error in validator.iter_errors(arguments) {
        let place = path_of(&error.instance_path().to_string());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                missing.push(if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") });
            }
            ValidationErrorKind::MinLength { .. } | ValidationErrorKind::MinItems { .. } => missing.push(place),
            _ if place.is_empty() => others.push(error.to_string()),
            _ => others.push(format!("{place}: {error}")),
        }
    }
    let failure = if others.is_empty() { Failure::MissingInput } else { Failure::Schema };
    let gaps = missing.iter().map(|path| format!("{path}: is required"));
    let reason: Vec<String> = gaps.chain(others).collect();
    let missing = if failure == Failure::MissingInput { missing } else { Vec::new() };
    Some(Outcome::Failed { failure, reason: reason.join("; "), missing })
}

/// `/items/0/start_year` as `items[0].start_year`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if step.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{step}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(step);
        }
    }
    path
}
