//! The stream decoders and the provider's side, over the public API (wire rules B and D, and the quirks of compatible servers).

mod anthropic;
mod openai;
mod speak;
mod sse;
mod status;

use serde_json::{Value, json};

use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Reply};
use unbacked::turn::ports::{Chunk, ModelFault};
use unbacked::wire::Dialect;
use unbacked::wire::decode::Decoder;

/// What came of a stream: the chunks, and the fault that ended it if one did.
type Came = (Vec<Chunk>, Option<ModelFault>);

fn decoded<'b>(dialect: Dialect, parts: impl IntoIterator<Item = &'b [u8]>) -> Came {
    let mut decoder = Decoder::new(dialect);
    let mut chunks = Vec::new();
    for part in parts {
        match decoder.feed(part) {
            Ok(more) => chunks.extend(more),
            Err(fault) => return (chunks, Some(fault)),
        }
    }
    match decoder.end() {
        Ok(more) => chunks.extend(more),
        Err(fault) => return (chunks, Some(fault)),
    }
    (chunks, None)
}

fn anthropic_stream(events: &[Value]) -> Vec<u8> {
    events
        .iter()
        .flat_map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()).into_bytes())
        .collect()
}

fn openai_stream(chunks: &[Value]) -> Vec<u8> {
    let mut stream: Vec<u8> = chunks.iter().flat_map(|chunk| format!("data: {chunk}\n\n").into_bytes()).collect();
    stream.extend_from_slice(b"data: [DONE]\n\n");
    stream
}

fn reply_of(dialect: Dialect, stream: &[u8]) -> Reply {
    let (chunks, fault) = decoded(dialect, [stream]);
    assert_eq!(fault, None);
    match chunks.last() {
        Some(Chunk::Done(reply)) => reply.clone(),
        other => panic!("no whole reply, but {other:?}"),
    }
}

fn fault_of(dialect: Dialect, stream: &[u8]) -> ModelFault {
    decoded(dialect, [stream]).1.expect("the stream breaks")
}

fn is_passing(fault: &ModelFault) -> bool {
    matches!(fault, ModelFault::Passing { .. })
}

fn streamed_text(chunks: &[Chunk]) -> String {
    let text = |chunk: &Chunk| if let Chunk::Text(text) = chunk { text.clone() } else { String::new() };
    chunks.iter().map(text).collect()
}

fn object(value: Value) -> Arguments {
    Arguments::Object { value: value.as_object().cloned().unwrap_or_default() }
}

fn broken(raw: &str, why: BrokenArguments) -> Arguments {
    Arguments::Broken { raw: raw.into(), why }
}

fn call(id: &str, name: &str, arguments: Arguments) -> Block {
    Block::Call(Call { id: id.into(), name: name.into(), arguments })
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "content": [], "usage": { "input_tokens": 7, "output_tokens": 1 } } })
}

fn block(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn text_delta(index: u64, text: &str) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": text } })
}

fn json_delta(index: u64, part: &str) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": part } })
}

fn text_start(index: u64) -> Value {
    block(index, json!({ "type": "text", "text": "" }))
}

fn tool_start(index: u64, id: &str) -> Value {
    block(index, json!({ "type": "tool_use", "id": id, "name": "f", "input": {} }))
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn finish(reason: &str) -> Vec<Value> {
    let delta =
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 9 } });
    vec![delta, json!({ "type": "message_stop" })]
}

fn anthropic(middle: &[Value], reason: &str) -> Reply {
    reply_of(Dialect::Anthropic, &anthropic_stream(&[vec![start()], middle.to_vec(), finish(reason)].concat()))
}

fn choice(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn ended(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// Deltas of calls, one chunk each, then the end.
fn openai_calls(deltas: &[Value], reason: &str) -> Reply {
    let mut chunks: Vec<Value> = deltas.iter().map(|delta| choice(json!({ "tool_calls": [delta] }))).collect();
    chunks.push(ended(reason));
    reply_of(Dialect::OpenaiChat, &openai_stream(&chunks))
}

fn openai(chunks: &[Value]) -> Reply {
    reply_of(Dialect::OpenaiChat, &openai_stream(chunks))
}
