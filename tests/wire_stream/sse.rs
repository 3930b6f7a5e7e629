//! Server-sent events in any line ends and lengths.

use unbacked::wire::sse::{SseEvent, SseParser};

use super::*;

fn events(stream: &[u8]) -> Vec<(String, String)> {
    SseParser::default().feed(stream).into_iter().map(|SseEvent { name, data }| (name, data)).collect()
}

#[test]
fn b17_d9_every_line_end_comment_and_spacing_is_read() {
    let expected = [(String::new(), "a".to_owned()), ("n".to_owned(), "b\nc".to_owned())];
    for stream in ["data: a\n\nevent: n\ndata: b\ndata:c\n\n", ": hello\ndata:a\n\nevent:n\nid: 4\ndata: b\ndata: c\n\n"] {
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(events(stream.replace('\n', end).as_bytes()), expected, "{stream:?} with {end:?}");
        }
    }
}

#[test]
fn d9_an_event_without_data_or_without_its_end_is_none() {
    assert_eq!(events(b"event: ping\n\n: only a comment\n\ndata: half"), []);
    assert_eq!(events(b"data\n\n"), [(String::new(), String::new())]);
    assert_eq!(events("\u{feff}data: a\n\n".as_bytes()), [(String::new(), "a".to_owned())]);
}

#[test]
fn b5_memory_is_bounded_however_long_a_line_is() {
    let mut decoder = Decoder::new(Dialect::OpenaiChat);
    let megabyte = vec![b'x'; 1 << 20];
    let fault = (0..16).find_map(|_| decoder.feed(&megabyte).err());
    assert!(fault.as_ref().is_some_and(is_passing), "{fault:?}");
}
