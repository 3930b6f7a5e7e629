//! Faults of tool calls on their way: ids, indices, arguments.

use serde_json::{Value, json};

use super::{Draw, Frame, Sent};
use crate::wire::Dialect;

/// The frames of one call: where it begins, and where its arguments come. A provider sends one call after the other.
pub(super) struct CallAt {
    start: usize,
    fragments: Vec<usize>,
}

impl Sent {
    pub(super) fn calls(&self) -> Vec<CallAt> {
        let mut calls: Vec<CallAt> = Vec::new();
        for (place, frame) in self.frames.iter().enumerate() {
            let Frame::Event { data, .. } = frame else { continue };
            if is_start(self.dialect, data) {
                calls.push(CallAt { start: place, fragments: Vec::new() });
            } else if let (Some(call), Some(_)) = (calls.last_mut(), data.pointer(fragment_place(self.dialect))) {
                call.fragments.push(place);
            }
        }
        calls
    }

    /// A part of the event at a place.
    fn part(&mut self, place: usize, pointer: &str) -> Option<&mut Value> {
        match self.frames.get_mut(place)? {
            Frame::Event { data, .. } => data.pointer_mut(pointer),
            Frame::Lines(_) => None,
        }
    }

    fn fragment(&mut self, place: usize) -> String {
        let at = fragment_place(self.dialect);
        self.part(place, at).and_then(|fragment| fragment.as_str()).unwrap_or_default().to_owned()
    }

    fn set_fragment(&mut self, place: usize, text: &str) {
        let at = fragment_place(self.dialect);
        if let Some(fragment) = self.part(place, at) {
            *fragment = json!(text);
        }
    }

    /// What the call's first event says of its arguments.
    fn set_first(&mut self, start: usize, arguments: Value) {
        let (holder, key) = match self.dialect {
            Dialect::Anthropic => ("/content_block", "input"),
            Dialect::OpenaiChat => ("/choices/0/delta/tool_calls/0/function", "arguments"),
        };
        if let Some(Value::Object(fields)) = self.part(start, holder) {
            fields.insert(key.into(), arguments);
        }
    }

    /// Keeps the first `kept` of a call's fragments.
    fn drop_fragments(&mut self, call: &CallAt, kept: usize) {
        for place in call.fragments.iter().skip(kept).rev() {
            self.frames.remove(*place);
        }
    }
}

fn is_start(dialect: Dialect, data: &Value) -> bool {
    match dialect {
        Dialect::Anthropic => data.pointer("/content_block/type").is_some_and(|kind| kind == "tool_use"),
        Dialect::OpenaiChat => data.pointer("/choices/0/delta/tool_calls/0/function/name").is_some(),
    }
}

fn fragment_place(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "/delta/partial_json",
        Dialect::OpenaiChat => "/choices/0/delta/tool_calls/0/function/arguments",
    }
}

/// Null in place of all arguments, as a value or as text; or null at first, and the arguments after it.
pub(super) fn null_arguments(sent: &mut Sent, draw: Draw<'_>) {
    let way = draw(3);
    // From the last to the first, so that the places of those before still hold.
    for call in sent.calls().into_iter().rev() {
        match (way, call.fragments.first()) {
            (0, _) => sent.set_first(call.start, Value::Null),
            (1, Some(first)) => {
                sent.set_fragment(*first, "null");
                sent.drop_fragments(&call, 1);
            }
            _ => {
                sent.set_first(call.start, Value::Null);
                sent.drop_fragments(&call, 0);
            }
        }
    }
}

/// With the call's first event, where they are an object; in one fragment otherwise. Some servers send the object itself and not its text.
pub(super) fn whole_arguments(sent: &mut Sent, draw: Draw<'_>) {
    let way = draw(3);
    for call in sent.calls().into_iter().rev() {
        let Some(first) = call.fragments.first().copied() else { continue };
        let fragments: Vec<String> = call.fragments.iter().map(|place| sent.fragment(*place)).collect();
        let whole = fragments.concat();
        // An empty object with the first event is what every call begins with.
        let says = |value: &Value| {
            value.as_object().is_some_and(|fields| !fields.is_empty()) && serde_json::to_string(value).is_ok_and(|text| text == whole)
        };
        let object = serde_json::from_str::<Value>(&whole).ok().filter(says);
        match (object, way) {
            (Some(object), 1) => sent.set_first(call.start, object),
            (Some(_), 2) if sent.dialect == Dialect::OpenaiChat => sent.set_first(call.start, json!(whole)),
            _ => {
                sent.set_fragment(first, &whole);
                sent.drop_fragments(&call, 1);
                continue;
            }
        }
        sent.drop_fragments(&call, 0);
    }
}

/// A frame for each character.
pub(super) fn crumbled_arguments(sent: &mut Sent, _: Draw<'_>) {
    for place in sent.calls().into_iter().flat_map(|call| call.fragments).rev().collect::<Vec<_>>() {
        let text = sent.fragment(place);
        let frame = sent.frames[place].clone();
        let crumbs = text.chars().count();
        sent.frames.splice(place..=place, std::iter::repeat_n(frame, crumbs));
        for (at, c) in (place..).zip(text.chars()) {
            sent.set_fragment(at, c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Missing, empty, or null.
pub(super) fn no_ids(sent: &mut Sent, draw: Draw<'_>) {
    let holder = match sent.dialect {
        Dialect::Anthropic => "/content_block",
        Dialect::OpenaiChat => "/choices/0/delta/tool_calls/0",
    };
    let way = draw(3);
    for call in sent.calls() {
        if let Some(Value::Object(fields)) = sent.part(call.start, holder) {
            match way {
                0 => drop(fields.remove("id")),
                1 => drop(fields.insert("id".into(), json!(""))),
                _ => drop(fields.insert("id".into(), Value::Null)),
            }
        }
    }
}

/// All under index 0.
pub(super) fn one_index(sent: &mut Sent, _: Draw<'_>) {
    sent.indices().for_each(|holder| drop(holder.insert("index".into(), json!(0))));
}

/// None anywhere.
pub(super) fn no_index(sent: &mut Sent, _: Draw<'_>) {
    sent.indices().for_each(|holder| drop(holder.remove("index")));
}

impl Sent {
    /// Whatever has an index: the blocks of the one dialect, the calls of the other.
    fn indices(&mut self) -> impl Iterator<Item = &mut serde_json::Map<String, Value>> {
        let holder = match self.dialect {
            Dialect::Anthropic => "",
            Dialect::OpenaiChat => "/choices/0/delta/tool_calls/0",
        };
        let holders = self.events().filter_map(|data| data.pointer_mut(holder)).filter_map(Value::as_object_mut);
        holders.filter(|fields| fields.contains_key("index"))
    }
}
