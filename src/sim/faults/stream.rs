//! What breaks in a stream, between the provider's encoder and our decoder: frames that are rewritten, put in or left out, then bytes that
//! are cut, held back or split. Frames are edited first, so that every break of bytes falls on what is really sent.
//!
//! A benign one may change nothing of the decoded message but its usage; tests hold each to that.

mod bytes;
mod calls;
mod frames;

use std::time::Duration;

use serde_json::Value;

use crate::wire::Dialect;
use crate::wire::sse::SseParser;

use super::{Class, Fault, Faults};

/// Draws a number below a bound: where and how a fault strikes.
pub type Draw<'d> = &'d mut dyn FnMut(u32) -> u32;

/// A fault of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamFault {
    /// As a fault of the catalogue.
    pub fault: Fault,
    /// Whether it may change nothing of the message.
    pub benign: bool,
    /// Whether the reply cannot come whole any more.
    breaks: bool,
    applies: fn(&Sent) -> bool,
    strike: fn(&mut Sent, Draw<'_>),
}

const SAME: &str = "nothing of the message changes";

const fn fault(name: &'static str, sentence: &'static str, legal: &'static str) -> Fault {
    Fault { name, class: Class::Provider, sentence, legal, percent: 40 }
}

/// Of one that can strike at few replies only.
const fn often(fault: Fault) -> Fault {
    Fault { percent: 100, ..fault }
}

const fn benign(name: &'static str, sentence: &'static str, applies: fn(&Sent) -> bool, strike: fn(&mut Sent, Draw<'_>)) -> StreamFault {
    StreamFault { fault: fault(name, sentence, SAME), benign: true, breaks: false, applies, strike }
}

const fn malign(fault: Fault, applies: fn(&Sent) -> bool, strike: fn(&mut Sent, Draw<'_>)) -> StreamFault {
    StreamFault { fault, benign: false, breaks: false, applies, strike }
}

const fn breaking(fault: Fault, strike: fn(&mut Sent, Draw<'_>)) -> StreamFault {
    StreamFault { fault: Fault { percent: 24, ..fault }, benign: false, breaks: true, applies: always, strike }
}

/// All of them, in the order in which they act.
pub const STREAM: &[StreamFault] = &[
    malign(
        fault(
            "null-arguments",
            "the arguments come as null, in whole or before the rest",
            "no call is run with arguments that the model did not send: null is none, or an error",
        ),
        has_calls,
        calls::null_arguments,
    ),
    benign("whole-arguments", "the arguments of each call come in one piece", has_calls, calls::whole_arguments),
    benign("crumbled-arguments", "the arguments come one character at a time", has_calls, calls::crumbled_arguments),
    malign(
        fault(
            "no-ids",
            "call ids are missing, empty or null",
            "each call gets an id and one result (L5); calls that nothing tells apart are an error, and none of them is run",
        ),
        has_calls,
        calls::no_ids,
    ),
    malign(
        often(fault(
            "one-index",
            "parallel calls come under one index",
            "calls whose ids differ stay apart; those that nothing tells apart are an error, and none of them is run",
        )),
        has_parallel_calls,
        calls::one_index,
    ),
    malign(fault("no-index", "the index is missing", "each part goes to the call that was begun last"), has_calls, calls::no_index),
    malign(
        fault(
            "wrong-finish",
            "the finish reason contradicts the content",
            "calls decide what happens next; a reply that says that it was cut off or refused has none of its calls run (L9)",
        ),
        always,
        frames::wrong_finish,
    ),
    benign("no-usage", "the usage is missing", always, frames::no_usage),
    benign("unknown-events", "events and fields that nobody knows", always, frames::unknown_events),
    benign("pings", "pings, comments and empty events between the others", always, frames::pings),
    breaking(
        fault(
            "error-event",
            "an error event comes after good content",
            "what was shown stays, no call of the reply is run; where nothing was shown, it is tried again (L9, L11)",
        ),
        frames::error_event,
    ),
    benign("escaped-text", "all beyond ASCII comes as JSON escapes", beyond_ascii, bytes::escaped_text),
    benign("line-ends", "lines end in CR LF or CR, and carry comments and fields of SSE that mean nothing here", always, bytes::line_ends),
    benign("split-chunks", "chunks end inside characters and escapes", always, bytes::split_chunks),
    breaking(
        fault(
            "stream-cut",
            "the stream ends at any byte",
            "what was shown stays, no call of the reply is run; where nothing was shown, it is tried again (L9, L11)",
        ),
        bytes::cut,
    ),
    malign(
        fault(
            "stream-silence",
            "the stream falls silent at any byte, for a while or for good",
            "nothing but the turn's limit may end it (B4)",
        ),
        always,
        bytes::silence,
    ),
];

/// A reply as it is sent.
#[derive(Clone, Debug)]
pub struct Sent {
    dialect: Dialect,
    frames: Vec<Frame>,
    escaped: bool,
    line_end: &'static str,
    remarks: bool,
    piece: Option<usize>,
    end: Option<usize>,
    pause: Option<(usize, Duration)>,
}

#[derive(Clone, Debug)]
enum Frame {
    Event {
        name: String,
        data: Value,
    },
    /// Lines that hold no JSON.
    Lines(String),
}

/// A chunk of bytes, and how long it lets wait for itself.
pub type Delivery = (Duration, Vec<u8>);

impl Sent {
    /// From the frames that a provider makes.
    pub fn new(dialect: Dialect, frames: &[Vec<u8>]) -> Self {
        let frames = frames.iter().flat_map(|frame| read(frame)).collect();
        Self { dialect, frames, escaped: false, line_end: "\n", remarks: false, piece: None, end: None, pause: None }
    }

    /// Lets a fault strike, if it can strike here.
    pub fn strike(&mut self, fault: &StreamFault, draw: Draw<'_>) {
        if (fault.applies)(self) {
            (fault.strike)(self, draw);
        }
    }

    /// In chunks of at most so many bytes.
    pub fn deliver(&self, most: usize) -> Vec<Delivery> {
        let mut bytes = self.bytes();
        bytes.truncate(self.end.unwrap_or(bytes.len()));
        let (at, pause) = self.pause.unwrap_or((0, Duration::ZERO));
        let (before, after) = bytes.split_at(at.min(bytes.len()));
        let most = self.piece.unwrap_or(most).max(1);
        let mut chunks: Vec<Delivery> = before.chunks(most).map(|chunk| (Duration::ZERO, chunk.to_vec())).collect();
        // An empty chunk where nothing follows the pause: the end of the stream is waited for as well.
        chunks.push((pause, Vec::new()));
        chunks.extend(after.chunks(most).map(|chunk| (Duration::ZERO, chunk.to_vec())));
        chunks
    }
}

/// A reply on its way: what is delivered, and whether it can still come whole.
#[derive(Debug)]
pub struct Delivered {
    /// In order.
    pub chunks: Vec<Delivery>,
    /// It was broken on purpose.
    pub broken: bool,
}

/// Sends a reply through whatever is on. A fault that cannot strike at a reply draws nothing.
pub fn send(faults: &Faults, dialect: Dialect, frames: &[Vec<u8>], most: usize) -> Delivered {
    if !STREAM.iter().any(|entry| faults.is_on(entry.fault.name)) {
        let bytes = frames.concat();
        return Delivered { chunks: bytes.chunks(most.max(1)).map(|chunk| (Duration::ZERO, chunk.to_vec())).collect(), broken: false };
    }
    let mut sent = Sent::new(dialect, frames);
    let mut broken = false;
    for entry in STREAM.iter().filter(|entry| faults.is_on(entry.fault.name)) {
        if (entry.applies)(&sent) && faults.strikes(entry.fault.name) {
            (entry.strike)(&mut sent, &mut |below| faults.below(below));
            broken |= entry.breaks;
        }
    }
    Delivered { chunks: sent.deliver(most), broken }
}

fn read(bytes: &[u8]) -> Vec<Frame> {
    let events = SseParser::default().feed(bytes).into_iter();
    events
        .map(|event| match serde_json::from_str(&event.data) {
            Ok(data) => Frame::Event { name: event.name, data },
            Err(_) => Frame::Lines(format!("data: {}\n", event.data)),
        })
        .collect()
}

fn always(_: &Sent) -> bool {
    true
}

fn has_calls(sent: &Sent) -> bool {
    !sent.calls().is_empty()
}

fn has_parallel_calls(sent: &Sent) -> bool {
    sent.calls().len() > 1
}

fn beyond_ascii(sent: &Sent) -> bool {
    !sent.bytes().is_ascii()
}
