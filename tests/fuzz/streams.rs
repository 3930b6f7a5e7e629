//! The stream decoders.

use unbacked::turn::message::{Arguments, Block, Reply};
use unbacked::turn::ports::{Chunk, ModelFault};
use unbacked::wire::Dialect;
use unbacked::wire::decode::{Decoder, classify};
use unbacked::wire::speak::speak;

use super::*;

/// What came of a stream: the chunks, and the fault that ended it if one did.
type Came = (Vec<Chunk>, Option<ModelFault>);

fn decoded<'b>(dialect: Dialect, parts: impl IntoIterator<Item = &'b [u8]>) -> Came {
    let mut decoder = Decoder::new(dialect);
    let mut chunks = Vec::new();
    let mut take = |came: Result<Vec<Chunk>, ModelFault>| came.map(|more| chunks.extend(more)).err();
    let fault = parts.into_iter().find_map(|part| take(decoder.feed(part))).or_else(|| take(decoder.end()));
    (chunks, fault)
}

fn whole(came: &Came) -> Option<&Reply> {
    match came.0.last() {
        Some(Chunk::Done(reply)) => Some(reply),
        _ => None,
    }
}

fn streamed_text(chunks: &[Chunk]) -> String {
    let text = |chunk: &Chunk| if let Chunk::Text(text) = chunk { text.clone() } else { String::new() };
    chunks.iter().map(text).collect()
}

/// What a reply holds of its provider's words, in bytes: what the loop's limits must have been told of.
fn held(reply: &Reply) -> usize {
    let of = |block: &Block| match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.len(),
        Block::Call(call) => match &call.arguments {
            Arguments::Broken { raw, .. } => raw.len(),
            Arguments::Object { .. } => 0,
        },
        Block::RedactedThinking { .. } => 0,
    };
    reply.blocks.iter().map(of).sum()
}

fn announced(chunks: &[Chunk]) -> usize {
    let of = |chunk: &Chunk| match chunk {
        Chunk::Text(text) => text.len(),
        Chunk::Thinking(bytes) | Chunk::Arguments(bytes) => *bytes,
        Chunk::CallBegan | Chunk::Done(_) => 0,
    };
    chunks.iter().map(of).sum()
}

fn holds(dialect: Dialect, bytes: &[u8], lengths: &[usize]) -> Result<(), TestCaseError> {
    let came = decoded(dialect, [bytes]);
    prop_assert!(whole(&came).is_some() != came.1.is_some(), "neither a reply nor a fault, or both: {:?}", came);
    prop_assert_eq!(came.0.iter().filter(|chunk| matches!(chunk, Chunk::Done(_))).count(), usize::from(whole(&came).is_some()));
    prop_assert_eq!(&decoded(dialect, bytes.chunks(1)), &came, "byte by byte");
    prop_assert_eq!(&decoded(dialect, split(bytes, lengths)), &came, "in pieces");
    // A byte that is no UTF-8 becomes three, and nothing else grows.
    prop_assert!(announced(&came.0) <= 3 * bytes.len() + 64, "{} bytes from {}", announced(&came.0), bytes.len());
    if let Some(reply) = whole(&came) {
        prop_assert_eq!(streamed_text(&came.0), reply.text());
        prop_assert!(held(reply) <= announced(&came.0), "more is kept than was told of: {:?}", came);
        let calls = came.0.iter().filter(|chunk| matches!(chunk, Chunk::CallBegan)).count();
        prop_assert_eq!(calls, reply.calls().count());
        again(dialect, reply)?;
    }
    let _ = classify(400, bytes, None);
    Ok(())
}

/// Spoken and decoded once more, a reply is itself; what no provider can send is settled after one round.
fn again(dialect: Dialect, reply: &Reply) -> Result<(), TestCaseError> {
    let spoken = |reply: &Reply| decoded(dialect, speak(dialect, reply, 7).iter().map(Vec::as_slice));
    let second = spoken(reply);
    let Some(once) = whole(&second) else { return Err(TestCaseError::fail(format!("it is not decoded again: {reply:?} {second:?}"))) };
    prop_assert_eq!(once.text(), reply.text());
    prop_assert!(once.calls().eq(reply.calls()), "{:?} and then {:?}", reply, once);
    let third = spoken(once);
    prop_assert_eq!(whole(&third), Some(once));
    Ok(())
}

fn split<'b>(mut rest: &'b [u8], lengths: &[usize]) -> Vec<&'b [u8]> {
    let mut parts = Vec::new();
    for length in lengths.iter().cycle() {
        let (part, more) = rest.split_at((*length).min(rest.len()));
        parts.push(part);
        rest = more;
        if rest.is_empty() {
            break;
        }
    }
    parts
}

#[test]
fn each_example_of_a_stream_is_what_its_name_says() {
    const FAULTS: [&str; 11] = [
        "anthropic/b13-error.sse",
        "anthropic/b14-no-stop.sse",
        "anthropic/b15-cut-inside-a-character.sse",
        "anthropic/b16-no-reason.sse",
        "anthropic/damaged-delta-of-no-block.sse",
        "anthropic/damaged-not-json.sse",
        "openai-chat/d8-error.sse",
        "openai-chat/d10-clean-cut.sse",
        "openai-chat/d11-cut-inside-a-character.sse",
        "openai-chat/damaged-bytes.sse",
        "openai-chat/damaged-not-json.sse",
    ];
    for dialect in Dialect::ALL {
        for example in corpus(dialect.name()) {
            let name = format!("{dialect}/{}", example.name);
            let came = decoded(dialect, [example.bytes.as_slice()]);
            assert_eq!(came.1.is_some(), FAULTS.contains(&name.as_str()), "{name}: {came:?}");
            holds(dialect, &example.bytes, &[3]).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn an_event_without_an_end_is_cut_and_not_kept() {
    const MOST: usize = 8 * 1024 * 1024;
    for dialect in Dialect::ALL {
        let mut decoder = Decoder::new(dialect);
        assert_eq!(decoder.feed(b"data: "), Ok(Vec::new()));
        assert_eq!(decoder.feed(&vec![b'x'; MOST - 6]), Ok(Vec::new()), "all that an event may hold");
        assert!(matches!(decoder.feed(b"x"), Err(ModelFault::Passing { .. })), "one byte more");
    }
}

proptest! {
    #[test]
    fn b_a_mutant_of_an_anthropic_stream_is_a_reply_or_a_fault_whatever_the_cuts(
        Mutant(bytes) in mutants(corpus("anthropic")), lengths in proptest::collection::vec(1..60_usize, 1..6)
    ) {
        holds(Dialect::Anthropic, &bytes, &lengths)?;
    }

    #[test]
    fn d_a_mutant_of_a_chat_stream_is_a_reply_or_a_fault_whatever_the_cuts(
        Mutant(bytes) in mutants(corpus("openai-chat")), lengths in proptest::collection::vec(1..60_usize, 1..6)
    ) {
        holds(Dialect::OpenaiChat, &bytes, &lengths)?;
    }
}
