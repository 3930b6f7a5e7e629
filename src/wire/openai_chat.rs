//! OpenAI Chat Completions: requests out (W-C), replies in (W-D), with the quirks of compatible servers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::turn::message::{Block, Call, Finish, Reply, Usage};
use crate::turn::ports::{Chunk, ModelFault, Prompt, ToolSpec};
use crate::turn::report::defuse;

use super::decode::{Arrived, classify_error, cut, parse_arguments, without_lone_surrogates};
use super::encode::{History, put as put_string, put_inner};
use super::normalise::{Outgoing, Piece};

/// All before tools and messages.
pub(super) fn put_envelope(body: &mut Vec<u8>, prompt: &Prompt<'_>) {
    let fields =
        format!(",\"max_completion_tokens\":{},\"stream\":true,\"stream_options\":{{\"include_usage\":true}}", prompt.output_tokens);
    body.extend_from_slice(fields.as_bytes());
}

/// The one leading system message (W-C58), with the pending block at its end (P3). False where there is nothing to say.
pub(super) fn put_system(body: &mut Vec<u8>, prompt: &Prompt<'_>) -> bool {
    let texts: Vec<&str> = [Some(prompt.system), prompt.pending].into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return false;
    }
    body.extend_from_slice(b"{\"role\":\"system\",\"content\":");
    put_string(body, &texts.join("\n\n"));
    body.push(b'}');
    true
}

pub(super) fn tool(tool: &ToolSpec) -> Value {
    json!({ "type": "function", "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema } })
}

/// Appends messages, or extends the user message before them. Tool messages always go out before the report's text (W).
pub(super) fn put(history: &mut History, outgoing: &Outgoing<'_>) {
    match outgoing {
        Outgoing::User(texts) => put_user(history, texts),
        Outgoing::Assistant(pieces) => put_assistant(history, pieces),
        Outgoing::Results(answers, texts) => {
            for answer in answers {
                history.separate();
                let out = &mut history.bytes;
                out.extend_from_slice(b"{\"role\":\"tool\",\"tool_call_id\":");
                put_string(out, &answer.call_id);
                out.extend_from_slice(if answer.is_error { b",\"content\":\"ERROR " } else { b",\"content\":\"" });
                put_inner(out, &answer.content);
                out.extend_from_slice(b"\"}");
            }
            if !texts.is_empty() {
                put_user(history, texts);
            }
        }
    }
}

fn put_user<T: AsRef<str>>(history: &mut History, texts: &[T]) {
    let mut text = Vec::new();
    for (place, part) in texts.iter().enumerate() {
        if place > 0 || history.open_user.is_some() {
            text.extend_from_slice(b"\\n\\n");
        }
        put_inner(&mut text, part.as_ref());
    }
    if let Some(at) = history.open_user {
        return history.insert(at, &text);
    }
    history.separate();
    history.bytes.extend_from_slice(b"{\"role\":\"user\",\"content\":\"");
    history.bytes.extend_from_slice(&text);
    history.open_user = Some(history.bytes.len());
    history.bytes.extend_from_slice(b"\"}");
}

/// Text and calls in one message; without text `content` is null (W-C22, W-F3). Thinking has no place here.
fn put_assistant(history: &mut History, pieces: &[Piece<'_>]) {
    history.separate();
    let mut text = String::new();
    let mut calls = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(part);
            }
            Piece::Call { id, name, arguments } => calls.push(json!({
                "id": id, "type": "function",
                "function": { "name": name, "arguments": Value::Object(arguments.clone()).to_string() },
            })),
            Piece::Thinking { .. } | Piece::Redacted(_) => {}
        }
    }
    // R4: once more, over the joins.
    let content = if text.is_empty() { Value::Null } else { Value::String(defuse(&text).into_owned()) };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    history.bytes.extend_from_slice(message.to_string().as_bytes());
}

/// W-D8: an object whose `error` is truthy, or Mistral's flat form (W-C50).
fn error_in(data: &Value) -> Option<&Value> {
    let falsy = |error: &Value| error.is_null() || *error == Value::Bool(false) || error.as_str() == Some("") || error.as_u64() == Some(0);
    let flat = data.get("object").and_then(Value::as_str) == Some("error");
    data.get("error").filter(|error| !falsy(error)).or(flat.then_some(data))
}

/// A reply on its way in.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenaiReply {
    /// Text and calls in the order in which they began.
    order: Vec<Part>,
    calls: Vec<PartialCall>,
    /// Which call an index stands for now (W-D17).
    by_index: BTreeMap<u64, usize>,
    finish: Option<String>,
    refused: bool,
    usage: Usage,
    done: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Thinking(String),
    Call(usize),
}

#[derive(Clone, Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    raw: String,
}

impl OpenaiReply {
    /// Takes in the data of one event.
    pub(super) fn data(&mut self, data: &str) -> Result<Vec<Chunk>, ModelFault> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        if data.trim().is_empty() {
            return Ok(Vec::new());
        }
        let Ok(data) = serde_json::from_str::<Value>(&without_lone_surrogates(data)) else {
            return Err(cut("an event of the stream cannot be read"));
        };
        if let Some(error) = error_in(&data) {
            return Err(classify_error(error));
        }
        self.take_usage(data.get("usage"));
        let mut chunks = Vec::new();
        let choices = data.get("choices").and_then(Value::as_array).into_iter().flatten();
        // One reply was asked for: another one's text is not ours to show.
        for choice in choices.filter(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0) {
            self.take_usage(choice.get("usage"));
            if let Some(delta) = choice.get("delta") {
                self.delta(delta, &mut chunks);
            }
            if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str).filter(|finish| !finish.is_empty()) {
                self.finish = Some(finish.to_owned());
            }
        }
        Ok(chunks)
    }

    /// Prompt tokens include cached ones here (W-G38).
    fn take_usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        self.usage.input = usage.get("prompt_tokens").and_then(Value::as_u64).or(self.usage.input);
        self.usage.output = usage.get("completion_tokens").and_then(Value::as_u64).or(self.usage.output);
    }

    fn delta(&mut self, delta: &Value, chunks: &mut Vec<Chunk>) {
        // W-D30: the first non-empty of the names for reasoning.
        let reasoning = ["reasoning_content", "reasoning", "reasoning_text"]
            .iter()
            .find_map(|key| delta.get(*key).and_then(Value::as_str).filter(|text| !text.is_empty()));
        if let Some(text) = reasoning {
            match self.order.last_mut() {
                Some(Part::Thinking(so_far)) => so_far.push_str(text),
                _ => self.order.push(Part::Thinking(text.to_owned())),
            }
            chunks.push(Chunk::Thinking(text.len()));
        }
        self.refused |= delta.get("refusal").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if let Some(text) = delta.get("content").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            match self.order.last_mut() {
                Some(Part::Text(so_far)) => so_far.push_str(text),
                _ => self.order.push(Part::Text(text.to_owned())),
            }
            chunks.push(Chunk::Text(text.to_owned()));
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, chunks);
        }
    }

    fn call(&mut self, delta: &Value, chunks: &mut Vec<Chunk>) {
        let id = delta.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = delta.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        let index = delta.get("index").and_then(Value::as_u64);
        let place = self.place_of(index, id, name).unwrap_or_else(|| {
            chunks.push(Chunk::CallBegan);
            self.begin(index)
        });
        let Some(call) = self.calls.get_mut(place) else { return };
        // W-D15: set once, repeats ignored; W-D34: the name may come late.
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        let arguments = match delta.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        if !arguments.is_empty() {
            call.raw.push_str(&arguments);
            chunks.push(Chunk::Arguments(arguments.len()));
        }
    }

    /// Which open call a delta goes on with; `None` begins a new one (W-D13, W-D16, W-D17).
    fn place_of(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        match index {
            Some(index) => {
                let place = *self.by_index.get(&index)?;
                let known = self.calls.iter().position(|call| !id.is_empty() && call.id == id && call.index == Some(index));
                if known.is_some() {
                    return known;
                }
                let open = self.calls.get(place)?;
                let another = !id.is_empty() && !open.id.is_empty() && id != open.id && !name.is_empty();
                (!another).then_some(place)
            }
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id),
        }
    }

    fn begin(&mut self, index: Option<u64>) -> usize {
        let place = self.calls.len();
        self.calls.push(PartialCall { index, ..PartialCall::default() });
        self.order.push(Part::Call(place));
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
        place
    }

    /// Whole with a finish reason, once the stream says that it is done or ends (W-D10).
    pub(super) fn arrived(&self, ended: bool) -> Arrived {
        match &self.finish {
            Some(finish) if self.done || ended => Arrived::Whole(self.reply(finish)),
            None if self.done => Arrived::Cut("the stream ended without a finish reason"),
            _ => Arrived::NotYet,
        }
    }

    fn reply(&self, finish: &str) -> Reply {
        let finish = match finish {
            "stop" => Finish::Stop,
            "tool_calls" | "function_call" => Finish::ToolCalls,
            "length" => Finish::Length,
            "content_filter" => Finish::Refusal,
            other => Finish::Other(other.to_owned()),
        };
        let finish = if self.refused { Finish::Refusal } else { finish };
        let last = self.calls.len().checked_sub(1);
        let blocks = self.order.iter().filter_map(|part| match part {
            Part::Text(text) => Some(Block::text(text.clone())),
            Part::Thinking(text) => Some(Block::Thinking { text: text.clone(), signature: None }),
            Part::Call(place) => self.calls.get(*place).map(|call| {
                let cut = finish == Finish::Length && Some(*place) == last;
                Block::Call(Call { id: call.id.clone(), name: call.name.clone(), arguments: parse_arguments(&call.raw, cut, &finish) })
            }),
        });
        Reply { blocks: blocks.collect(), finish: finish.clone(), usage: self.usage }
    }
}

/// The SSE frames of a whole reply, as the provider sends them (W-D1–D6). Signatures and encrypted thinking have no place here.
pub(super) fn frames(reply: &Reply, deltas: &dyn Fn(&str) -> Vec<String>) -> Vec<Vec<u8>> {
    let mut parts = delta_objects(reply, deltas);
    // W-D2: the role comes once, with the first call or with an empty text before all else.
    match parts.first_mut() {
        Some(first) if first.get("tool_calls").is_some() => {
            first["role"] = json!("assistant");
            first["content"] = Value::Null;
        }
        _ => parts.insert(0, json!({ "role": "assistant", "content": "" })),
    }
    let choice = |delta: Value, finish: Option<&str>| frame(&chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }])));
    let mut frames: Vec<Vec<u8>> = parts.into_iter().map(|delta| choice(delta, None)).collect();
    frames.push(choice(json!({}), Some(finish_reason(&reply.finish))));
    if let Usage { input: Some(input), output: Some(output) } = reply.usage {
        let mut usage = chunk(&json!([]));
        usage["usage"] = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output) });
        frames.push(frame(&usage));
    }
    frames.push(b"data: [DONE]\n\n".to_vec());
    frames
}

fn delta_objects(reply: &Reply, deltas: &dyn Fn(&str) -> Vec<String>) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut index = 0;
    for block in &reply.blocks {
        match block {
            Block::Text { text } => parts.extend(deltas(text).into_iter().map(|piece| json!({ "content": piece }))),
            Block::Thinking { text, .. } => parts.extend(deltas(text).into_iter().map(|piece| json!({ "reasoning_content": piece }))),
            Block::RedactedThinking { .. } => {}
            Block::Call(call) => {
                let function = json!({ "name": call.name, "arguments": "" });
                parts.push(json!({ "tool_calls": [{ "index": index, "id": call.id, "type": "function", "function": function }] }));
                let fragments = deltas(&super::speak::raw_arguments(call)).into_iter();
                parts.extend(fragments.map(|piece| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] })));
                index += 1;
            }
        }
    }
    parts
}

fn finish_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::Refusal => "content_filter",
        Finish::Other(other) => other,
    }
}

fn chunk(choices: &Value) -> Value {
    json!({ "id": "chatcmpl-sim", "object": "chat.completion.chunk", "created": 0, "model": "simulated", "choices": choices, "usage": null })
}

/// One SSE frame, without a name.
pub(super) fn frame(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}
