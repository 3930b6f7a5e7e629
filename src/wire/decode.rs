//! The stream decoder: bytes in any chunking to the loop's chunks, and a whole reply or a typed fault at the end.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::turn::message::{Arguments, BrokenArguments, Finish, Reply};
use crate::turn::ports::{Chunk, ModelFault};
use crate::turn::report::bounded;

use super::Dialect;
use super::anthropic::AnthropicReply;
use super::openai_chat::OpenaiReply;
use super::sse::SseParser;

/// The most that is kept of arguments that do not parse, in bytes.
const RAW_KEPT: usize = 2048;

/// The most that is kept of a provider's error text, in characters.
const ERROR_CHARS: usize = 300;

/// Decodes one streamed reply.
#[derive(Clone, Debug)]
pub struct Decoder {
    sse: SseParser,
    reply: Partial,
    over: bool,
    fault: Option<ModelFault>,
}

#[derive(Clone, Debug)]
enum Partial {
    Anthropic(AnthropicReply),
    Openai(OpenaiReply),
}

/// How far a reply has come.
pub(super) enum Arrived {
    NotYet,
    Whole(Reply),
    Cut(&'static str),
}

impl Decoder {
    /// For one reply.
    pub fn new(dialect: Dialect) -> Self {
        let reply = match dialect {
            Dialect::Anthropic => Partial::Anthropic(AnthropicReply::default()),
            Dialect::OpenaiChat => Partial::Openai(OpenaiReply::default()),
        };
        Self { sse: SseParser::default(), reply, over: false, fault: None }
    }

    /// Takes in bytes. [`Chunk::Done`] is the last chunk there is; what comes after it is ignored. What came before a fault is given out first,
    /// however the bytes were cut, and the fault with the next call.
    ///
    /// # Errors
    /// An error event of the provider (W-A78, W-D8), an end without a reason to end (W-B16), or an event that cannot be read.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Chunk>, ModelFault> {
        let mut chunks = Vec::new();
        if self.fault.is_none() {
            self.fault = self.take(bytes, &mut chunks).err();
        }
        match &self.fault {
            Some(fault) if chunks.is_empty() => Err(fault.clone()),
            _ => Ok(chunks),
        }
    }

    fn take(&mut self, bytes: &[u8], chunks: &mut Vec<Chunk>) -> Result<(), ModelFault> {
        for event in self.sse.feed(bytes) {
            if self.over {
                return Ok(());
            }
            chunks.extend(match &mut self.reply {
                Partial::Anthropic(reply) => reply.event(&event)?,
                Partial::Openai(reply) => reply.data(&event.data)?,
            });
            self.conclude(false, chunks)?;
        }
        if self.sse.is_overlong() && !self.over { Err(cut("an event of the stream is too long")) } else { Ok(()) }
    }

    /// The connection ended.
    ///
    /// # Errors
    /// A stream that had not said that it was whole is a cut one (W-B14, W-D10); a fault that [`Decoder::feed`] still owed.
    pub fn end(&mut self) -> Result<Vec<Chunk>, ModelFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let mut chunks = Vec::new();
        self.conclude(true, &mut chunks)?;
        if self.over { Ok(chunks) } else { Err(cut("the stream ended in the middle of the reply")) }
    }

    fn conclude(&mut self, ended: bool, chunks: &mut Vec<Chunk>) -> Result<(), ModelFault> {
        if self.over {
            return Ok(());
        }
        let arrived = match &self.reply {
            Partial::Anthropic(reply) => reply.arrived(),
            Partial::Openai(reply) => reply.arrived(ended),
        };
        match arrived {
            Arrived::NotYet => Ok(()),
            Arrived::Cut(error) => Err(cut(error)),
            Arrived::Whole(reply) => {
                self.over = true;
                chunks.push(Chunk::Done(reply));
                Ok(())
            }
        }
    }
}

/// The stream cannot be trusted from here on; asking again may help (W-B14, W-D10).
pub(super) fn cut(error: &str) -> ModelFault {
    ModelFault::Passing { error: error.into(), retry_after: None }
}

/// Arguments, parsed strictly once (W-B8). `last_of_a_cut_reply`: not trusted even if they parse (W-F10).
pub(super) fn parse_arguments(raw: &str, last_of_a_cut_reply: bool, finish: &Finish) -> Arguments {
    let broken = |why| Arguments::Broken { raw: raw[..raw.floor_char_boundary(RAW_KEPT)].to_owned(), why };
    if last_of_a_cut_reply {
        return broken(BrokenArguments::CutOff);
    }
    if raw.trim().is_empty() {
        return Arguments::Object { value: serde_json::Map::new() };
    }
    match serde_json::from_str(&without_lone_surrogates(raw)) {
        Ok(Value::Object(value)) => Arguments::Object { value },
        Ok(_) => broken(BrokenArguments::NotAnObject),
        Err(error) if error.is_eof() && *finish == Finish::Length => broken(BrokenArguments::CutOff),
        Err(_) => broken(BrokenArguments::NotJson),
    }
}

/// JSON text whose lone surrogate escapes are replaced by U+FFFD, on the way in (W-A12).
pub(super) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let (mut at, mut kept) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match (escaped_unit(bytes, at), escaped_unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(&json[kept..at]);
                out.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            (Some(_), _) => at += 6,
            (None, _) => at += 2,
        }
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

/// The UTF-16 unit of a `\u` escape (four hexadecimal digits) that begins here.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if &escape[..2] != b"\\u" {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

/// What an error object says of itself.
struct Said<'e> {
    kind: &'e str,
    code: &'e str,
    /// vLLM, llama.cpp, Gemini and OpenRouter put a status here (W-G21).
    number: Option<u64>,
    message: &'e str,
}

impl<'e> Said<'e> {
    fn of(error: &'e Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        // W-C68: OpenRouter's own message says nothing.
        let message = error.pointer("/metadata/raw").and_then(Value::as_str).unwrap_or_else(|| text("message"));
        let message = error.as_str().unwrap_or(message);
        let kind = if text("type").is_empty() { text("status") } else { text("type") };
        Self { kind, code: text("code"), number: error.get("code").and_then(Value::as_u64), message }
    }

    /// W-C10: no money is not a passing thing, whatever the status says.
    fn is_out_of_credit(&self) -> bool {
        [self.kind, self.code].iter().any(|word| {
            word.contains("insufficient_quota")
                || word.contains("credit_balance")
                || word.ends_with("spend_limit_exceeded")
                || word.ends_with("usage_limit_exceeded")
        })
    }

    /// W-C67: the server refuses what the model said, not what we asked.
    fn is_broken_generation(&self) -> bool {
        self.code == "tool_use_failed"
    }

    fn fault(&self, passing: bool, error: &str, retry_after: Option<Duration>) -> ModelFault {
        let error = bounded(error, ERROR_CHARS);
        if (passing && !self.is_out_of_credit()) || self.is_broken_generation() {
            ModelFault::Passing { error, retry_after }
        } else {
            ModelFault::Permanent { error }
        }
    }
}

fn is_passing_status(status: u64) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// A fault from an HTTP status and body (W-A75, W-A77, W-C8–C11; W-G21 for the shapes of bodies, HTML among them). The status decides, but for
/// a lack of credit.
pub fn classify(status: u16, body: &[u8], retry_after: Option<Duration>) -> ModelFault {
    let json: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let json = json.get(0).unwrap_or(&json);
    let said = Said::of(json.get("error").filter(|error| !error.is_null()).unwrap_or(json));
    let error = if said.message.is_empty() {
        format!("{status}, and the body is no error that this version can read")
    } else {
        format!("{status} {} {}", said.kind, said.message)
    };
    said.fault(is_passing_status(u64::from(status)), &error, retry_after)
}

/// A fault from an error in mid-stream, where there is no status but perhaps one in the body (W-A78, W-D8).
pub(super) fn classify_error(error: &Value) -> ModelFault {
    const PERMANENT: [&str; 10] = [
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "billing_error",
        "not_found_error",
        "request_too_large",
        "content_filter",
        "invalid_api_key",
        "model_not_found",
        "context_length_exceeded",
    ];
    let said = Said::of(error);
    let named = PERMANENT.contains(&said.kind) || PERMANENT.contains(&said.code);
    let passing = !named && said.number.is_none_or(is_passing_status);
    let kind = [said.kind, said.code, "error"].into_iter().find(|word| !word.is_empty()).unwrap_or_default();
    said.fault(passing, &format!("{kind}: {}", said.message), None)
}
