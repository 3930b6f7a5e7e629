//! Server-sent events from bytes in any chunking: cut inside a line, a line end or a character (W-B17, W-D9).

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` name; empty where none was sent.
    pub name: String,
    /// All `data:` lines, joined by line feeds.
    pub data: String,
}

/// The most that one event may hold, in bytes; no provider comes near it.
const EVENT_BYTES: usize = 8 * 1024 * 1024;

/// An incremental parser. Its memory is bounded: what goes beyond an event's limit is dropped, and told by [`SseParser::is_overlong`].
#[derive(Clone, Debug, Default)]
pub struct SseParser {
    line: Vec<u8>,
    after_cr: bool,
    event: SseEvent,
    has_data: bool,
    overlong: bool,
}

impl SseParser {
    /// Whether a part of the stream was dropped for its length.
    pub fn is_overlong(&self) -> bool {
        self.overlong
    }

    /// Takes in some bytes and returns the events that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.take(byte),
            }
        }
        events
    }

    fn take(&mut self, byte: u8) {
        if self.line.len() + self.event.data.len() < EVENT_BYTES {
            self.line.push(byte);
        } else {
            self.overlong = true;
        }
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        None
    }
}
