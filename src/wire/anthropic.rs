//! Anthropic Messages: requests out (W-A), replies in (W-B).

use serde_json::{Map, Value, json};

use crate::turn::message::{Block, Call, Finish, Reply};
use crate::turn::ports::{Chunk, ModelFault, Prompt, ToolSpec};

use super::decode::{Arrived, classify_error, cut, parse_arguments, without_lone_surrogates};
use super::encode::{History, put as put_string};
use super::normalise::{Outgoing, Piece};
use super::sse::SseEvent;

/// All before tools and messages. The pending block stands at the top, after the standing instructions (P3).
pub(super) fn put_envelope(body: &mut Vec<u8>, prompt: &Prompt<'_>) {
    body.extend_from_slice(format!(",\"max_tokens\":{},\"stream\":true", prompt.output_tokens).as_bytes());
    let texts: Vec<&str> = [Some(prompt.system), prompt.pending].into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    body.extend_from_slice(b",\"system\":[");
    put_texts(body, &texts);
    body.push(b']');
}

fn put_texts<T: AsRef<str>>(out: &mut Vec<u8>, texts: &[T]) {
    for (place, text) in texts.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        put_string(out, text.as_ref());
        out.push(b'}');
    }
}

pub(super) fn tool(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}

/// Appends a message, or extends the user message before it (W-A17).
pub(super) fn put(history: &mut History, outgoing: &Outgoing<'_>) {
    match outgoing {
        Outgoing::User(texts) => put_user(history, texts),
        Outgoing::Assistant(pieces) => put_assistant(history, pieces),
        Outgoing::Results(answers, texts) => {
            history.separate();
            let out = &mut history.bytes;
            out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
            for (place, answer) in answers.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(b"{\"type\":\"tool_result\",\"tool_use_id\":");
                put_string(out, &answer.call_id);
                out.extend_from_slice(b",\"content\":");
                put_string(out, &answer.content);
                out.extend_from_slice(if answer.is_error { b",\"is_error\":true}" } else { b"}" });
            }
            close_user(history);
            if !texts.is_empty() {
                put_user(history, texts);
            }
        }
    }
}

fn put_user<T: AsRef<str>>(history: &mut History, texts: &[T]) {
    if let Some(at) = history.open_user {
        let mut more = vec![b','];
        put_texts(&mut more, texts);
        return history.insert(at, &more);
    }
    history.separate();
    history.bytes.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
    put_texts(&mut history.bytes, texts);
    close_user(history);
}

fn close_user(history: &mut History) {
    history.open_user = Some(history.bytes.len());
    history.bytes.extend_from_slice(b"]}");
}

fn put_assistant(history: &mut History, pieces: &[Piece<'_>]) {
    history.separate();
    let blocks: Vec<Value> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => json!({ "type": "text", "text": text }),
            Piece::Call { id, name, arguments } => json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }),
            Piece::Thinking { text, signature } => json!({ "type": "thinking", "thinking": text, "signature": signature }),
            Piece::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
        })
        .collect();
    let message = json!({ "role": "assistant", "content": blocks });
    history.bytes.extend_from_slice(message.to_string().as_bytes());
}

/// A reply on its way in.
#[derive(Clone, Debug, Default)]
pub(super) struct AnthropicReply {
    blocks: Vec<(u64, Partial)>,
    finish: Option<String>,
    usage: crate::turn::message::Usage,
    stopped: bool,
}

#[derive(Clone, Debug)]
enum Partial {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    /// `whole` is an input that came with the start of the block: it counts where no fragment follows.
    Call {
        id: String,
        name: String,
        whole: String,
        raw: String,
    },
    Ignored,
}

impl AnthropicReply {
    /// Takes in one event. Unknown ones are carried past (W-B12); one that must hold a part of the reply and cannot be read cuts the stream.
    pub(super) fn event(&mut self, event: &SseEvent) -> Result<Vec<Chunk>, ModelFault> {
        let data: Value = serde_json::from_str(&without_lone_surrogates(&event.data)).unwrap_or(Value::Null);
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(&event.name).to_owned();
        match kind.as_str() {
            "error" => Err(classify_error(data.get("error").unwrap_or(&data))),
            "content_block_start" | "content_block_delta" | "message_delta" if !data.is_object() => {
                Err(cut("an event of the stream cannot be read"))
            }
            "message_start" => {
                self.take_usage(data.pointer("/message/usage"));
                Ok(Vec::new())
            }
            "content_block_start" => Ok(self.begin(&data)),
            "content_block_delta" => self.grow(&data),
            "message_delta" => {
                self.finish = data.pointer("/delta/stop_reason").and_then(Value::as_str).map(str::to_owned).or(self.finish.take());
                self.take_usage(data.get("usage"));
                Ok(Vec::new())
            }
            "message_stop" => {
                self.stopped = true;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// W-B11: totals; what is there overwrites. Cached tokens were read as well (W-G38).
    fn take_usage(&mut self, usage: Option<&Value>) {
        let count = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64);
        if let Some(input) = count("input_tokens") {
            let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].into_iter().filter_map(count);
            self.usage.input = Some(cached.fold(input, u64::saturating_add));
        }
        self.usage.output = count("output_tokens").or(self.usage.output);
    }

    fn begin(&mut self, data: &Value) -> Vec<Chunk> {
        let index = data.get("index").and_then(Value::as_u64).unwrap_or(self.blocks.len() as u64);
        let block = data.get("content_block").cloned().unwrap_or_default();
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut counted = None;
        let (partial, chunk) = match block.get("type").and_then(Value::as_str) {
            Some("text") => (Partial::Text(text("text")), said(&text("text"))),
            Some("thinking") => {
                let thought = text("thinking");
                let chunk = (!thought.is_empty()).then_some(Chunk::Thinking(thought.len()));
                (Partial::Thinking { text: thought, signature: text("signature") }, chunk)
            }
            Some("redacted_thinking") => (Partial::Redacted(text("data")), None),
            Some("tool_use") => {
                let input = block.get("input").filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                let whole = input.map(Value::to_string).unwrap_or_default();
                counted = (!whole.is_empty()).then_some(Chunk::Arguments(whole.len()));
                (Partial::Call { id: text("id"), name: text("name"), whole, raw: String::new() }, Some(Chunk::CallBegan))
            }
            _ => (Partial::Ignored, None),
        };
        self.blocks.push((index, partial));
        chunk.into_iter().chain(counted).collect()
    }

    fn grow(&mut self, data: &Value) -> Result<Vec<Chunk>, ModelFault> {
        let index = data.get("index").and_then(Value::as_u64);
        let delta = data.get("delta").unwrap_or(&Value::Null);
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(block) = self.growing(index) else { return Err(cut("a part of the stream belongs to no block")) };
        let chunk = match (block, delta.get("type").and_then(Value::as_str)) {
            (Partial::Text(so_far), Some("text_delta")) => {
                so_far.push_str(text("text"));
                said(text("text"))
            }
            (Partial::Thinking { text: so_far, .. }, Some("thinking_delta")) => {
                so_far.push_str(text("thinking"));
                Some(Chunk::Thinking(text("thinking").len()))
            }
            (Partial::Thinking { signature, .. }, Some("signature_delta")) => {
                signature.push_str(text("signature"));
                None
            }
            (Partial::Call { raw, .. }, Some("input_json_delta")) => {
                raw.push_str(text("partial_json"));
                Some(Chunk::Arguments(text("partial_json").len()))
            }
            _ => None,
        };
        Ok(chunk.into_iter().collect())
    }

    /// The block that a delta goes on with (W-B4, W-B19). Text that comes after another block's text begins anew, so that the reply reads as it
    /// was shown (L8).
    fn growing(&mut self, index: Option<u64>) -> Option<&mut Partial> {
        let place = self.blocks.iter().rposition(|(at, _)| index.is_none_or(|index| *at == index))?;
        let is_text = |(_, block): &(u64, Partial)| matches!(block, Partial::Text(_));
        let later_text = self.blocks.iter().skip(place + 1).any(is_text);
        let place = if later_text && is_text(&self.blocks[place]) {
            self.blocks.push((self.blocks[place].0, Partial::Text(String::new())));
            self.blocks.len() - 1
        } else {
            place
        };
        self.blocks.get_mut(place).map(|(_, block)| block)
    }

    /// The whole reply once `message_stop` and a stop reason came (W-B14, W-B16).
    pub(super) fn arrived(&self) -> Arrived {
        match (&self.finish, self.stopped) {
            (Some(finish), true) => Arrived::Whole(self.reply(finish)),
            (None, true) => Arrived::Cut("the stream ended without a stop reason"),
            _ => Arrived::NotYet,
        }
    }

    fn reply(&self, finish: &str) -> Reply {
        let finish = match finish {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Refusal,
            other => Finish::Other(other.to_owned()),
        };
        let last_call = self.blocks.iter().rposition(|(_, block)| matches!(block, Partial::Call { .. }));
        let blocks = self.blocks.iter().enumerate().filter_map(|(place, (_, block))| match block {
            Partial::Text(text) if text.is_empty() => None,
            Partial::Text(text) => Some(Block::text(text.clone())),
            Partial::Thinking { text, signature } => {
                Some(Block::Thinking { text: text.clone(), signature: (!signature.is_empty()).then(|| signature.clone()) })
            }
            Partial::Redacted(data) => Some(Block::RedactedThinking { data: data.clone() }),
            Partial::Call { id, name, whole, raw } => {
                let raw = if raw.is_empty() { whole } else { raw };
                let cut = finish == Finish::Length && Some(place) == last_call;
                Some(Block::Call(Call { id: id.clone(), name: name.clone(), arguments: parse_arguments(raw, cut, &finish) }))
            }
            Partial::Ignored => None,
        });
        Reply { blocks: blocks.collect(), finish: finish.clone(), usage: self.usage }
    }
}

fn said(text: &str) -> Option<Chunk> {
    (!text.is_empty()).then(|| Chunk::Text(text.to_owned()))
}

/// The SSE frames of a whole reply, as the provider sends them (W-B1–B9).
pub(super) fn frames(reply: &Reply, deltas: &dyn Fn(&str) -> Vec<String>) -> Vec<Vec<u8>> {
    let mut frames = vec![frame(&json!({ "type": "message_start", "message": { "id": "msg_sim", "type": "message", "role": "assistant",
        "model": "simulated", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": reply.usage.input.unwrap_or(0), "output_tokens": 1 } } }))];
    for (index, block) in reply.blocks.iter().enumerate() {
        let (start, pieces, kind, key): (Value, Vec<String>, &str, &str) = match block {
            Block::Text { text } => (json!({ "type": "text", "text": "" }), deltas(text), "text_delta", "text"),
            Block::Thinking { text, .. } => {
                (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas(text), "thinking_delta", "thinking")
            }
            Block::RedactedThinking { data } => (json!({ "type": "redacted_thinking", "data": data }), Vec::new(), "", ""),
            Block::Call(call) => (
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} }),
                deltas(&super::speak::raw_arguments(call)),
                "input_json_delta",
                "partial_json",
            ),
        };
        frames.push(frame(&json!({ "type": "content_block_start", "index": index, "content_block": start })));
        if index == 0 {
            frames.push(frame(&json!({ "type": "ping" })));
        }
        for piece in pieces {
            let mut delta = Map::new();
            delta.insert("type".into(), json!(kind));
            delta.insert(key.into(), json!(piece));
            frames.push(frame(&json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        if let Block::Thinking { signature: Some(signature), .. } = block {
            let delta = json!({ "type": "signature_delta", "signature": signature });
            frames.push(frame(&json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        frames.push(frame(&json!({ "type": "content_block_stop", "index": index })));
    }
    let stop = match &reply.finish {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Refusal => "refusal",
        Finish::Other(other) => other,
    };
    frames.push(frame(&json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
        "usage": { "output_tokens": reply.usage.output.unwrap_or(0) } })));
    frames.push(frame(&json!({ "type": "message_stop" })));
    frames
}

/// One SSE frame, named as its type (W-B2).
pub(super) fn frame(data: &Value) -> Vec<u8> {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}
