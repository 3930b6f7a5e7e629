//! Arguments held against their JSON Schema. Every complaint names its field, and missing input is told apart from everything else (P1).
//!
//! What this file must not know: the database.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use crate::turn::ports::{Failure, Outcome};
use crate::turn::report::bounded;

use super::schema::whole;

/// Complaints that one answer names; the rest is counted.
const SHOWN: usize = 8;

/// Arguments of the tools themselves that can never be left empty.
const ALWAYS_REQUIRED: [&str; 4] = ["items", "ids", "id", "section"];

enum Complaint {
    Missing(String),
    Other(String),
}

/// What the schema says against the arguments; `None` where it says nothing. `required` are the section's required fields.
pub(super) fn complaint(validator: &Validator, required: &[&str], arguments: &Map<String, Value>) -> Option<Outcome> {
    let arguments = Value::Object(arguments.clone());
    if validator.is_valid(&arguments) {
        return repeated_id(&arguments).map(|reason| failed(Failure::Schema, reason, Vec::new()));
    }
    let (mut missing, mut others) = (Vec::new(), Vec::new());
    for error in validator.iter_errors(&arguments) {
        match complaint_of(&error, required) {
            Complaint::Missing(path) if missing.contains(&path) => {}
            Complaint::Missing(path) => missing.push(path),
            Complaint::Other(text) => others.push(text),
        }
    }
    let reason = listed(missing.iter().map(|path| format!("{path}: is required")).chain(others.iter().cloned()).collect());
    if others.is_empty() { Some(failed(Failure::MissingInput, reason, missing)) } else { Some(failed(Failure::Schema, reason, Vec::new())) }
}

fn failed(failure: Failure, reason: String, missing: Vec<String>) -> Outcome {
    Outcome::Failed { failure, reason, missing }
}

fn listed(mut complaints: Vec<String>) -> String {
    let more = complaints.len().saturating_sub(SHOWN);
    complaints.truncate(SHOWN);
    if more > 0 {
        complaints.push(format!("and {more} more"));
    }
    complaints.join("; ")
}

/// A required field that is there but blank is as missing as one that is not.
fn complaint_of(error: &ValidationError<'_>, required: &[&str]) -> Complaint {
    let pointer = error.instance_path().to_string();
    let place = path_of(&pointer);
    if let ValidationErrorKind::Required { property } = error.kind() {
        return Complaint::Missing(member(&place, property.as_str().unwrap_or_default()));
    }
    let name = pointer.rsplit('/').next().unwrap_or_default();
    if is_blank(error.instance()) {
        if required.contains(&name) || ALWAYS_REQUIRED.contains(&name) {
            return Complaint::Missing(place);
        }
        return Complaint::Other(format!("{place}: is blank; leave it out, or give null to empty it"));
    }
    Complaint::Other(other(error, &place))
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// In words that name the field and never repeat a long value.
fn other(error: &ValidationError<'_>, place: &str) -> String {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().take(SHOWN).map(|name| member(place, &bounded(name, 40))).collect();
            format!("{}: no such field", names.join(", "))
        }
        ValidationErrorKind::Enum { options } => {
            let words: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            format!("{place}: must be one of {}", words.join(", "))
        }
        ValidationErrorKind::Pattern { pattern } if pattern.starts_with("^http") => {
            format!("{place}: must be an address that begins with http:// or https://")
        }
        ValidationErrorKind::Pattern { .. } => format!("{place}: is blank"),
        _ if place.is_empty() => format!("arguments: {}", error.masked()),
        _ => format!("{place}: {}", error.masked()),
    }
}

fn member(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// What a schema cannot say: the same row twice in one batch of updates. Refused before anything is written, since the verifier would have
/// to contradict it afterwards (V5).
fn repeated_id(arguments: &Value) -> Option<String> {
    let items = arguments.get("items")?.as_array()?;
    let ids: Vec<Option<i64>> = items.iter().map(|item| item.get("id").and_then(whole)).collect();
    let place = (1..ids.len()).find(|place| ids[*place].is_some() && ids[..*place].contains(&ids[*place]))?;
    Some(format!("items[{place}].id: row #{} is there twice", ids[place].unwrap_or_default()))
}

/// `/items/0/start_year` as `items[0].start_year`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{step}]"));
        } else {
            path = member(&path, step);
        }
    }
    path
}
