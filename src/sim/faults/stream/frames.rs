//! Faults of whole events: their reasons, their company, their fields.

use serde_json::{Value, json};

use super::{Draw, Frame, Sent, read};
use crate::wire::Dialect;
use crate::wire::speak::speak_error;

impl Sent {
    pub(super) fn events(&mut self) -> impl Iterator<Item = &mut Value> {
        self.frames.iter_mut().filter_map(|frame| match frame {
            Frame::Event { data, .. } => Some(data),
            Frame::Lines(_) => None,
        })
    }

    fn put_in(&mut self, at: usize, frame: Frame) {
        self.frames.insert(at.min(self.frames.len()), frame);
    }

    fn draw_place(&self, draw: Draw<'_>) -> usize {
        1 + draw(self.frames.len() as u32) as usize
    }
}

/// Another reason than the content has: of an end where there are calls, of calls where there are none, of a cut, of a refusal, of nothing known.
pub(super) fn wrong_finish(sent: &mut Sent, draw: Draw<'_>) {
    let has_calls = !sent.calls().is_empty();
    let words = match (sent.dialect, has_calls) {
        (Dialect::Anthropic, true) => ["end_turn", "max_tokens", "refusal", "eos"],
        (Dialect::Anthropic, false) => ["tool_use", "max_tokens", "refusal", "eos"],
        (Dialect::OpenaiChat, true) => ["stop", "length", "content_filter", "eos"],
        (Dialect::OpenaiChat, false) => ["tool_calls", "length", "content_filter", "eos"],
    };
    let word = words[draw(4) as usize % 4];
    let place = match sent.dialect {
        Dialect::Anthropic => "/delta/stop_reason",
        Dialect::OpenaiChat => "/choices/0/finish_reason",
    };
    for reason in sent.events().filter_map(|data| data.pointer_mut(place)).filter(|reason| !reason.is_null()) {
        *reason = json!(word);
    }
}

/// Neither at the start nor at the end.
pub(super) fn no_usage(sent: &mut Sent, _: Draw<'_>) {
    for data in sent.events() {
        for holder in ["", "/message"] {
            if let Some(Value::Object(fields)) = data.pointer_mut(holder) {
                fields.remove("usage");
            }
        }
    }
}

/// An event that nobody knows, and fields that nobody knows in all the others.
pub(super) fn unknown_events(sent: &mut Sent, draw: Draw<'_>) {
    let novelty = json!({ "since": 2031, "of": ["a", null] });
    for data in sent.events() {
        for holder in ["", "/delta", "/content_block", "/choices/0", "/choices/0/delta", "/choices/0/delta/tool_calls/0"] {
            if let Some(Value::Object(fields)) = data.pointer_mut(holder) {
                fields.insert("novelty".into(), novelty.clone());
            }
        }
    }
    let (name, data) = match sent.dialect {
        Dialect::Anthropic => ("weather_report", json!({ "type": "weather_report", "index": 0, "delta": { "type": "rain", "text": "x" } })),
        Dialect::OpenaiChat => ("", json!({ "object": "weather.report", "text": "x", "choices": [] })),
    };
    let at = sent.draw_place(draw);
    sent.put_in(at, Frame::Event { name: name.into(), data });
}

/// Up to three things that only say that the line is open.
pub(super) fn pings(sent: &mut Sent, draw: Draw<'_>) {
    for _ in 0..=draw(3) {
        let ping = match (draw(3), sent.dialect) {
            (0, _) => Frame::Lines(": still at it\n".into()),
            (1, _) => Frame::Lines("data:\n".into()),
            (_, Dialect::Anthropic) => Frame::Event { name: "ping".into(), data: json!({ "type": "ping" }) },
            (_, Dialect::OpenaiChat) => Frame::Event {
                name: String::new(),
                data: json!({ "choices": [{ "index": 0, "delta": { "content": "" }, "finish_reason": null }] }),
            },
        };
        let at = sent.draw_place(draw);
        sent.put_in(at, ping);
    }
}

/// A passing error, or one for good, behind the first event at the earliest.
pub(super) fn error_event(sent: &mut Sent, draw: Draw<'_>) {
    let passing = match sent.dialect {
        Dialect::Anthropic => "overloaded_error",
        Dialect::OpenaiChat => "server_error",
    };
    let kind = [passing, "invalid_request_error"][draw(2) as usize % 2];
    let at = sent.draw_place(draw);
    for frame in read(&speak_error(sent.dialect, kind, "simulated")) {
        sent.put_in(at, frame);
    }
}
