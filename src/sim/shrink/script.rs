//! Every way to make a scenario's script smaller by one step, the large steps first.

use serde_json::{Map, Value};

use crate::sim::scenario::{Expect, Part, Script, ScriptReply, ScriptTurn, Then, TurnExpect};
use crate::turn::bounds::Settings;

/// Scripts that are one step smaller. A turn at least stays.
pub fn smaller(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    if script.turn.len() > 1 {
        all.extend(without_each(&script.turn).map(|turn| Script { turn, ..script.clone() }));
    }
    all.extend(without_each(&script.rows).map(|rows| Script { rows, ..script.clone() }));
    all.push(Script { settings: Settings::default(), ..script.clone() });
    all.push(Script { expect: Expect::default(), ..script.clone() });
    for (at, turn) in script.turn.iter().enumerate() {
        all.extend(smaller_turns(turn).into_iter().map(|turn| {
            let mut script = script.clone();
            script.turn[at] = turn;
            script
        }));
    }
    all.retain(|edited| edited != script);
    all
}

fn without_each<T: Clone>(from: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..from.len()).map(|at| from.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, one)| one.clone()).collect())
}

fn smaller_turns(turn: &ScriptTurn) -> Vec<ScriptTurn> {
    let mut all: Vec<ScriptTurn> = without_each(&turn.reply).map(|reply| ScriptTurn { reply, ..turn.clone() }).collect();
    all.extend(without_each(&turn.fault).map(|fault| ScriptTurn { fault, ..turn.clone() }));
    all.push(ScriptTurn { wish: None, ..turn.clone() });
    all.push(ScriptTurn { stance: None, ..turn.clone() });
    all.push(ScriptTurn { cancel_at: None, ..turn.clone() });
    all.push(ScriptTurn { then: Then::Honest, ..turn.clone() });
    all.push(ScriptTurn { expect: TurnExpect::default(), ..turn.clone() });
    for (at, reply) in turn.reply.iter().enumerate() {
        all.extend(smaller_replies(reply).into_iter().map(|reply| {
            let mut turn = turn.clone();
            turn.reply[at] = reply;
            turn
        }));
    }
    all.extend(half(&turn.user).map(|user| ScriptTurn { user, ..turn.clone() }));
    all
}

fn smaller_replies(reply: &ScriptReply) -> Vec<ScriptReply> {
    let mut all: Vec<ScriptReply> = without_each(&reply.parts).map(|parts| ScriptReply { parts, ..reply.clone() }).collect();
    all.push(ScriptReply { repeat: reply.repeat.min(1), ..reply.clone() });
    all.push(ScriptReply { finish: None, ..reply.clone() });
    all.push(ScriptReply { status: None, ..reply.clone() });
    all.push(ScriptReply { cut_at: None, ..reply.clone() });
    all.push(ScriptReply { one_index: false, ..reply.clone() });
    for (at, part) in reply.parts.iter().enumerate() {
        all.extend(smaller_parts(part).into_iter().map(|part| {
            let mut reply = reply.clone();
            reply.parts[at] = part;
            reply
        }));
    }
    all
}

fn smaller_parts(part: &Part) -> Vec<Part> {
    let mut all: Vec<Part> = without_each(&part.says).map(|says| Part { says, ..part.clone() }).collect();
    let texts = part.text.as_deref().and_then(half).map(|text| Part { text: Some(text), ..part.clone() });
    let thoughts = part.think.as_deref().and_then(half).map(|text| Part { think: Some(text), ..part.clone() });
    all.extend(texts.into_iter().chain(thoughts));
    all.push(Part { id: None, ..part.clone() });
    if let Some(arguments) = &part.arguments {
        all.extend(smaller_objects(arguments).into_iter().map(|arguments| Part { arguments: Some(arguments), ..part.clone() }));
    }
    all
}

/// Without a key, or with a smaller value under one.
fn smaller_objects(object: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = Vec::new();
    for (key, value) in object {
        let mut without = object.clone();
        without.remove(key);
        all.push(without);
        all.extend(smaller_values(value).into_iter().map(|value| {
            let mut object = object.clone();
            object.insert(key.clone(), value);
            object
        }));
    }
    all
}

fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => half(text).map(Value::String).into_iter().collect(),
        Value::Object(object) => smaller_objects(object).into_iter().map(Value::Object).collect(),
        Value::Array(items) => {
            let mut all: Vec<Value> = without_each(items).map(Value::Array).collect();
            for (at, item) in items.iter().enumerate() {
                all.extend(smaller_values(item).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[at] = item;
                    Value::Array(items)
                }));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The first half of a text's words.
fn half(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    (words.len() > 1).then(|| words[..words.len() / 2].join(" "))
}
