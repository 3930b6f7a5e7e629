//! The stream decoder: bytes in any chunking to the loop's chunks, and a whole reply or a typed fault at the end.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::turn::message::{Arguments, BrokenArguments, Finish, Reply};
use crate::turn::ports::{Chunk, ModelFault};

use super::Dialect;
use super::anthropic::AnthropicReply;
use super::openai_chat::OpenaiReply;
use super::sse::SseParser;

/// The most that is kept of arguments that do not parse, in bytes.
const RAW_KEPT: usize = 2048;

/// Decodes one streamed reply.
#[derive(Clone, Debug)]
pub struct Decoder {
    sse: SseParser,
    reply: Partial,
    over: bool,
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
        Self { sse: SseParser::default(), reply, over: false }
    }

    /// Takes in bytes. [`Chunk::Done`] is the last chunk there is; what comes after it is ignored.
    ///
    /// # Errors
    /// An error event of the provider (W-A78, W-D8), or an end without a reason to end (W-B16).
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Chunk>, ModelFault> {
        let mut chunks = Vec::new();
        for event in self.sse.feed(bytes) {
            if self.over {
                break;
            }
            chunks.extend(match &mut self.reply {
                Partial::Anthropic(reply) => reply.event(&event)?,
                Partial::Openai(reply) => reply.data(&event.data)?,
            });
            self.conclude(false, &mut chunks)?;
        }
        Ok(chunks)
    }

    /// The connection ended.
    ///
    /// # Errors
    /// A stream that had not said that it was whole is a cut one (W-B14, W-D10).
    pub fn end(&mut self) -> Result<Vec<Chunk>, ModelFault> {
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

fn cut(error: &str) -> ModelFault {
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
        Ok(Value::Null) => Arguments::Object { value: serde_json::Map::new() },
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

/// The UTF-16 unit of a `\uXXXX` escape that begins here.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if &escape[..2] != b"\\u" {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

/// A fault from an HTTP status and body (W-A75, W-C8–C10; W-G21 for the shapes of bodies).
pub fn classify(status: u16, body: &[u8], retry_after: Option<Duration>) -> ModelFault {
    let body = String::from_utf8_lossy(body);
    let json: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    let json = json.get(0).unwrap_or(&json);
    let error = json.get("error").filter(|error| error.is_object()).unwrap_or(json);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let no_credit = [text("type"), text("code")].iter().any(|word| {
        word.contains("insufficient_quota")
            || word.contains("credit_balance")
            || word.contains("_limit_exceeded") && *word != "rate_limit_exceeded"
    });
    let said = format!("{status} {} {}", text("type"), text("message"));
    let error = if text("message").is_empty() { format!("{status}, and the body is no error that this version can read") } else { said };
    let passing = matches!(status, 408 | 409 | 429) || status >= 500;
    if passing && !no_credit { ModelFault::Passing { error, retry_after } } else { ModelFault::Permanent { error } }
}

/// A fault from the type of an error in mid-stream.
pub(super) fn classify_type(kind: &str, message: &str) -> ModelFault {
    const PERMANENT: [&str; 8] = [
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "billing_error",
        "not_found_error",
        "request_too_large",
        "insufficient_quota",
        "content_filter",
    ];
    let error = format!("{kind}: {message}");
    if PERMANENT.contains(&kind) { ModelFault::Permanent { error } } else { ModelFault::Passing { error, retry_after: None } }
}
