//! The sections of a CV as one table of data; DDL, JSON Schemas and tools are all derived from it. A new section is one entry here.

use rusqlite::types::Value as Sql;
use serde_json::{Map, Value, json};

/// A section: a table whose rows belong to users.
#[derive(Debug)]
pub struct Section {
    /// The table's name, and the section's name everywhere.
    pub name: &'static str,
    /// Its columns.
    pub fields: &'static [Field],
    /// The column that must be unique within a user, if one must.
    pub unique: Option<&'static str>,
    /// Two columns of which the second must not be less than the first where both are given.
    pub order: Option<(&'static str, &'static str)>,
}

/// A column of a section.
#[derive(Debug)]
pub struct Field {
    /// The column's name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether a new row must have it.
    pub required: bool,
}

/// What a column takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of 1 to 500 characters, not blank.
    Text,
    /// Text of 1 to 4000 characters, not blank.
    Prose,
    /// An address that begins with `http://` or `https://`, at most 500 characters.
    Url,
    /// A year, 1950 to 2100.
    Year,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// Ids are whole numbers that survive a double (2^53 - 1), whatever JSON library wrote them.
const LARGEST_ID: i64 = 9_007_199_254_740_991;

const SKILL_LEVELS: Kind = Kind::Choice(&["beginner", "intermediate", "advanced", "expert"]);
const LANGUAGE_LEVELS: Kind = Kind::Choice(&["A1", "A2", "B1", "B2", "C1", "C2", "native"]);
const YEARS: Option<(&str, &str)> = Some(("start_year", "end_year"));

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

/// The section that every user has exactly one row of.
pub const PROFILE: &str = "profile";

/// All sections, the profile first.
pub const SECTIONS: [Section; 8] = [
    Section {
        name: PROFILE,
        fields: &[
            may("full_name", Kind::Text),
            may("email", Kind::Text),
            may("phone", Kind::Text),
            may("location", Kind::Text),
            may("headline", Kind::Text),
            may("summary", Kind::Prose),
        ],
        unique: None,
        order: None,
    },
    Section {
        name: "experiences",
        fields: &[
            must("title", Kind::Text),
            must("company", Kind::Text),
            must("start_year", Kind::Year),
            may("end_year", Kind::Year),
            may("location", Kind::Text),
            may("description", Kind::Prose),
        ],
        unique: None,
        order: YEARS,
    },
    Section {
        name: "educations",
        fields: &[
            must("school", Kind::Text),
            must("degree", Kind::Text),
            may("field", Kind::Text),
            may("start_year", Kind::Year),
            may("end_year", Kind::Year),
        ],
        unique: None,
        order: YEARS,
    },
    Section { name: "skills", fields: &[must("name", Kind::Text), may("level", SKILL_LEVELS)], unique: Some("name"), order: None },
    Section { name: "languages", fields: &[must("name", Kind::Text), must("level", LANGUAGE_LEVELS)], unique: Some("name"), order: None },
    Section {
        name: "projects",
        fields: &[must("name", Kind::Text), must("description", Kind::Prose), may("role", Kind::Text), may("url", Kind::Url)],
        unique: None,
        order: None,
    },
    Section {
        name: "certifications",
        fields: &[must("name", Kind::Text), must("issuer", Kind::Text), may("year", Kind::Year), may("url", Kind::Url)],
        unique: None,
        order: None,
    },
    Section { name: "links", fields: &[must("label", Kind::Text), must("url", Kind::Url)], unique: Some("url"), order: None },
];

/// A section by its name.
pub fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.name == name)
}

impl Section {
    /// `CREATE TABLE` and the audit triggers of this section (C4, V8): the database itself records what changed, so that no tool can
    /// vouch for itself. They fire only while a call is under audit.
    pub fn ddl(&self) -> String {
        let columns: String = self.fields.iter().map(Field::ddl).collect();
        let unique = self.unique.map(|column| format!(", UNIQUE (user_id, {column})")).unwrap_or_default();
        let order =
            self.order.map(|(from, to)| format!(", CONSTRAINT \"{to} is before {from}\" CHECK ({to} >= {from})")).unwrap_or_default();
        let name = self.name;
        let differs: Vec<String> = self.fields.iter().map(|field| format!("old.{0} IS NOT new.{0}", field.name)).collect();
        let trigger = |event: &str, when: &str, row: &str, old: &str, new: &str| {
            let act = match event {
                "INSERT" => "create",
                "UPDATE" => "update",
                _ => "delete",
            };
            format!(
                "CREATE TRIGGER audit_{act}_{name} AFTER {event} ON {name} WHEN (SELECT call FROM audit_now) IS NOT NULL{when} BEGIN \
                 INSERT INTO audit_change (call, act, section, row_id, user_id, old, new) \
                 VALUES ((SELECT call FROM audit_now), '{act}', '{name}', {row}.id, {row}.user_id, {old}, {new}); END;\n"
            )
        };
        format!(
            "CREATE TABLE {name} (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users (id){columns}{unique}{order}) STRICT;\n\
             CREATE INDEX {name}_of_user ON {name} (user_id);\n{}{}{}",
            trigger("INSERT", "", "new", "NULL", &self.row_json("new")),
            trigger("UPDATE", &format!(" AND ({})", differs.join(" OR ")), "new", &self.row_json("old"), &self.row_json("new")),
            trigger("DELETE", "", "old", &self.row_json("old"), "NULL"),
        )
    }

    fn row_json(&self, row: &str) -> String {
        let members: Vec<String> = self.fields.iter().map(|field| format!("'{0}', {row}.{0}", field.name)).collect();
        format!("json_object({})", members.join(", "))
    }

    /// The JSON Schema of one item. `patch` is for updates: the id is required and nothing else.
    pub fn item_schema(&self, patch: bool) -> Value {
        let mut properties = Map::new();
        if patch && self.name != PROFILE {
            properties.insert("id".into(), id_schema());
        }
        for field in self.fields {
            properties.insert(field.name.into(), field.schema());
        }
        let required: Vec<&str> = if !patch {
            self.fields.iter().filter(|field| field.required).map(|field| field.name).collect()
        } else if self.name == PROFILE {
            Vec::new()
        } else {
            vec!["id"]
        };
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    /// A field by its name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// A whole number, also where it is written `2020.0`: JSON Schema takes that for an integer, and so must we.
pub(super) fn whole(value: &Value) -> Option<i64> {
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() <= LARGEST_ID as f64;
    value.as_i64().or_else(|| value.as_f64().filter(exact).map(|number| number as i64))
}

/// A JSON value as a column takes it: text, a whole number or nothing.
pub(super) fn sql_of(value: &Value) -> Sql {
    match value {
        Value::String(text) => Sql::Text(text.clone()),
        number @ Value::Number(_) => whole(number).map_or(Sql::Null, Sql::Integer),
        _ => Sql::Null,
    }
}

/// The JSON Schema of a row's id.
pub fn id_schema() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": LARGEST_ID })
}

impl Field {
    fn ddl(&self) -> String {
        let name = self.name;
        let kind = match self.kind {
            Kind::Text | Kind::Prose | Kind::Url => format!("TEXT CHECK (trim({name}) <> '' AND length({name}) <= {})", self.longest()),
            Kind::Year => format!("INTEGER CHECK ({name} BETWEEN 1950 AND 2100)"),
            Kind::Choice(words) => format!("TEXT CHECK ({name} IN ('{}'))", words.join("', '")),
        };
        let not_null = if self.required { " NOT NULL" } else { "" };
        format!(", {name} {kind}{not_null}")
    }

    fn longest(&self) -> u32 {
        if self.kind == Kind::Prose { 4000 } else { 500 }
    }

    /// An optional field also takes null, which empties it.
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Prose => json!({ "type": "string", "pattern": "\\S", "maxLength": self.longest() }),
            Kind::Url => json!({ "type": "string", "pattern": "^https?://\\S+$", "maxLength": self.longest() }),
            Kind::Year => json!({ "type": "integer", "minimum": 1950, "maximum": 2100 }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        };
        if !self.required {
            schema["type"] = json!([schema["type"], "null"]);
            if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                words.push(Value::Null);
            }
        }
        schema
    }
}

/// The tables beside the sections: users, the audit trail, and the conversation's own store.
pub const OTHER_TABLES: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE audit_now (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), call INTEGER, user INTEGER);
INSERT INTO audit_now VALUES (1, NULL, NULL);
CREATE TABLE audit_call (
    id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, turn INTEGER NOT NULL, iteration INTEGER NOT NULL, idx INTEGER NOT NULL,
    tool TEXT NOT NULL, act TEXT NOT NULL, section TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT,
    UNIQUE (conversation, turn, iteration, idx));
CREATE TABLE audit_change (
    id INTEGER PRIMARY KEY, call INTEGER NOT NULL REFERENCES audit_call (id), act TEXT NOT NULL, section TEXT NOT NULL,
    row_id INTEGER NOT NULL, user_id INTEGER NOT NULL, old TEXT, new TEXT);
CREATE INDEX audit_change_call ON audit_change (call);
CREATE TABLE audit_fate (
    conversation INTEGER NOT NULL, turn INTEGER NOT NULL, iteration INTEGER NOT NULL, idx INTEGER NOT NULL,
    tool TEXT NOT NULL, act TEXT NOT NULL, section TEXT NOT NULL, fate TEXT NOT NULL, reason TEXT,
    PRIMARY KEY (conversation, turn, iteration, idx));
CREATE TABLE message (conversation INTEGER NOT NULL, seq INTEGER NOT NULL, turn INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (conversation, seq));
CREATE TABLE pending (conversation INTEGER NOT NULL, section TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (conversation, section));
CREATE TRIGGER audit_discard_pending AFTER DELETE ON pending WHEN (SELECT call FROM audit_now) IS NOT NULL BEGIN
    INSERT INTO audit_change (call, act, section, row_id, user_id, old)
    SELECT call, 'discard', old.section, 0, user, old.entry FROM audit_now; END;
CREATE TABLE conversation (id INTEGER PRIMARY KEY, pending_made INTEGER NOT NULL);
CREATE TABLE turn_record (conversation INTEGER NOT NULL, turn INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (conversation, turn));
";
