//! Faults of the bytes themselves: how they are written, split, held back and cut.

use std::time::Duration;

use super::{Draw, Frame, Sent};

/// All beyond ASCII as `\u` escapes, surrogate pairs among them.
pub(super) fn escaped_text(sent: &mut Sent, _: Draw<'_>) {
    sent.escaped = true;
}

/// CR LF or CR, with or without comments and other fields.
pub(super) fn line_ends(sent: &mut Sent, draw: Draw<'_>) {
    sent.line_end = ["\r\n", "\r"][draw(2) as usize % 2];
    sent.remarks = draw(2) == 1;
}

/// Chunks of so few bytes that they end inside characters and escapes.
pub(super) fn split_chunks(sent: &mut Sent, draw: Draw<'_>) {
    sent.piece = Some(1 + draw(4) as usize);
}

/// The stream ends here.
pub(super) fn cut(sent: &mut Sent, draw: Draw<'_>) {
    sent.end = Some(draw(sent.bytes().len() as u32) as usize);
}

/// Nothing comes for a while: longer than any turn, where it is for good.
pub(super) fn silence(sent: &mut Sent, draw: Draw<'_>) {
    const SECONDS: [u64; 4] = [1, 20, 100, 3_600];
    let at = draw(sent.bytes().len() as u32) as usize;
    sent.pause = Some((at, Duration::from_secs(SECONDS[draw(4) as usize % 4])));
}

impl Sent {
    /// All that would be sent.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for frame in &self.frames {
            match frame {
                Frame::Lines(lines) => text.push_str(lines),
                Frame::Event { name, data } => self.put_event(&mut text, name, &data.to_string()),
            }
            text.push('\n');
        }
        // JSON has no raw line feed.
        text.replace('\n', self.line_end).into_bytes()
    }

    fn put_event(&self, out: &mut String, name: &str, json: &str) {
        if !name.is_empty() {
            out.push_str(&format!("event: {name}\n"));
        }
        if self.remarks {
            out.push_str(": still here\nid: 7\nretry: 3000\n");
        }
        out.push_str("data: ");
        if self.escaped {
            put_escaped(out, json);
        } else {
            out.push_str(json);
        }
        out.push('\n');
    }
}

/// In JSON, all beyond ASCII stands in strings.
fn put_escaped(out: &mut String, json: &str) {
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}
