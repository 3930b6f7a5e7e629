//! Short words for the loop's values: replies, calls, outcomes, tools.

use serde_json::{Map, Value, json};

use unbacked::turn::draft::{Act, RowChange};
use unbacked::turn::guard::{About, Objection, Ruling};
use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Finish, Reply};
use unbacked::turn::ports::{Failure, ModelFault, Outcome, ToolKind, ToolSpec};

pub fn text(words: &str) -> Reply {
    Reply { blocks: vec![Block::text(words)], ..Reply::default() }
}

pub fn call(name: &str, arguments: Value) -> Call {
    Call { id: String::new(), name: name.into(), arguments: Arguments::Object { value: object(arguments) } }
}

pub fn call_with_id(id: &str, name: &str) -> Call {
    Call { id: id.into(), ..call(name, json!({})) }
}

pub fn broken(name: &str, why: BrokenArguments) -> Call {
    Call { arguments: Arguments::Broken { raw: "{\"title\": \"Eng".into(), why }, ..call(name, json!({})) }
}

pub fn calls(calls: impl IntoIterator<Item = Call>) -> Reply {
    Reply { blocks: calls.into_iter().map(Block::Call).collect(), finish: Finish::ToolCalls, ..Reply::default() }
}

/// One call of each of these tools, without arguments.
pub fn calls_of(names: &[&str]) -> Reply {
    calls(names.iter().map(|name| call(name, json!({}))))
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("a test wants an object, not {other}"),
    }
}

pub fn done(result: Value) -> Outcome {
    Outcome::Done { result: object(result) }
}

pub fn failed(failure: Failure, reason: &str) -> Outcome {
    Outcome::Failed { failure, reason: reason.into(), missing: Vec::new() }
}

pub fn missing(fields: &[&str]) -> Outcome {
    let missing = fields.iter().map(|field| (*field).to_owned()).collect();
    Outcome::Failed { failure: Failure::MissingInput, reason: format!("missing: {}", fields.join(", ")), missing }
}

pub fn row(act: Act, section: &str, id: i64) -> RowChange {
    RowChange { act, section: section.into(), id }
}

pub fn passing(error: &str) -> ModelFault {
    ModelFault::Passing { error: error.into(), retry_after: None }
}

pub fn permanent(error: &str) -> ModelFault {
    ModelFault::Permanent { error: error.into() }
}

pub fn object_to(about: About) -> Ruling {
    Ruling::Object(Objection { guard: "test".into(), about })
}

pub fn unbacked() -> Ruling {
    object_to(About::Unbacked { claims: vec!["created experiences".into()] })
}

pub fn unfinished(section: &str) -> Ruling {
    object_to(About::Unfinished { section: section.into() })
}

pub const CREATE: &str = "create_experiences";
pub const UPDATE: &str = "update_experiences";
pub const DELETE: &str = "delete_experiences";
pub const SKILL: &str = "create_skills";
pub const READ: &str = "read_cv";
pub const DISCARD: &str = "discard_pending_entry";

pub fn tools() -> Vec<ToolSpec> {
    let write = |act, section: &str| ToolKind::Write { act, section: section.into() };
    let tool = |name: &str, kind| ToolSpec { name: name.into(), description: String::new(), input_schema: json!({"type": "object"}), kind };
    vec![
        tool(READ, ToolKind::Read),
        tool(CREATE, write(Act::Create, "experiences")),
        tool(UPDATE, write(Act::Update, "experiences")),
        tool(DELETE, write(Act::Delete, "experiences")),
        tool(SKILL, write(Act::Create, "skills")),
        tool(DISCARD, ToolKind::Discard),
    ]
}
