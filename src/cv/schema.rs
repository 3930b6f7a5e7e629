//! The sections of a CV as one table of data; DDL, JSON Schemas and tools are all derived from it. A new section is one entry here.

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
    /// Text of 1 to 500 characters.
    Text,
    /// A year, 1950 to 2100.
    Year,
}

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
        fields: &[may("full_name", Kind::Text), may("email", Kind::Text), may("headline", Kind::Text), may("summary", Kind::Text)],
        unique: None,
    },
    Section {
        name: "experiences",
        fields: &[
            must("title", Kind::Text),
            must("company", Kind::Text),
            must("start_year", Kind::Year),
            may("end_year", Kind::Year),
            may("description", Kind::Text),
        ],
        unique: None,
    },
    Section {
        name: "educations",
        fields: &[must("school", Kind::Text), must("degree", Kind::Text), may("field", Kind::Text), may("end_year", Kind::Year)],
        unique: None,
    },
    Section { name: "skills", fields: &[must("name", Kind::Text), may("level", Kind::Text)], unique: Some("name") },
    Section { name: "languages", fields: &[must("name", Kind::Text), must("level", Kind::Text)], unique: Some("name") },
    Section {
        name: "projects",
        fields: &[must("name", Kind::Text), must("description", Kind::Text), may("url", Kind::Text)],
        unique: None,
    },
    Section {
        name: "certifications",
        fields: &[must("name", Kind::Text), must("issuer", Kind::Text), may("year", Kind::Year)],
        unique: None,
    },
    Section { name: "links", fields: &[must("label", Kind::Text), must("url", Kind::Text)], unique: None },
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
            "CREATE TABLE {name} (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users (id){columns}{unique});\n\
             {}{}{}",
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
            properties.insert("id".into(), json!({ "type": "integer" }));
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

impl Field {
    fn ddl(&self) -> String {
        let kind = match self.kind {
            Kind::Text => format!("TEXT CHECK (length({}) BETWEEN 1 AND 500)", self.name),
            Kind::Year => format!("INTEGER CHECK ({} BETWEEN 1950 AND 2100)", self.name),
        };
        let not_null = if self.required { " NOT NULL" } else { "" };
        format!(", {} {kind}{not_null}", self.name)
    }

    fn schema(&self) -> Value {
        match self.kind {
            Kind::Text => json!({ "type": "string", "minLength": 1, "maxLength": 500 }),
            Kind::Year => json!({ "type": "integer", "minimum": 1950, "maximum": 2100 }),
        }
    }
}

/// The tables beside the sections: users, the audit trail, and the conversation's own store.
pub const OTHER_TABLES: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE audit_now (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), call INTEGER);
INSERT INTO audit_now VALUES (1, NULL);
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
CREATE TABLE turn_record (conversation INTEGER NOT NULL, turn INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (conversation, turn));
";

/// The names of every table, children before parents, for a reset.
pub fn tables() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 7] = ["audit_change", "audit_call", "audit_fate", "message", "pending", "turn_record", "users"];
    let sections = SECTIONS.iter().map(|section| section.name);
    OTHERS[..6].iter().copied().chain(sections).chain(OTHERS[6..].iter().copied())
}
