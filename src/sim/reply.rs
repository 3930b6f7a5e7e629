//! A scripted reply under construction: blocks for the wire, labels for the oracle.

use serde_json::{Map, Value};

use crate::oracle::claims::Label;
use crate::turn::message::{Arguments, Block, BrokenArguments, Call, Finish, Reply, Usage};

use super::speech::{Lang, Sentence, say};

/// What the scripted model answers to one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scripted {
    /// For the wire.
    pub reply: Reply,
    /// What its text says.
    pub labels: Vec<Label>,
    /// For each label: after how many bytes of the text it is said whole.
    pub said_at: Vec<usize>,
    calls: u32,
}

impl Scripted {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says a sentence of the phrase book.
    #[must_use]
    pub fn say(self, lang: Lang, sentence: &Sentence, variant: u32) -> Self {
        let said = say(lang, sentence, variant);
        self.text(&said.text, said.labels)
    }

    /// Says anything. Neighbouring texts are joined by a space, and a text after a former reply begins with a line feed.
    #[must_use]
    pub fn text(mut self, text: &str, labels: Vec<Label>) -> Self {
        match self.reply.blocks.last_mut() {
            Some(Block::Text { text: before }) => {
                before.push(' ');
                before.push_str(text);
            }
            _ => self.reply.blocks.push(Block::text(text)),
        }
        let end = self.text_bytes();
        self.said_at.extend(labels.iter().map(|_| end));
        self.labels.extend(labels);
        self
    }

    /// Calls a tool, with an id of the kind that providers make up.
    #[must_use]
    pub fn call(self, name: &str, arguments: Map<String, Value>) -> Self {
        self.call_with(name, Arguments::Object { value: arguments }, None)
    }

    /// Calls a tool with arguments that do not parse, or with an id of one's choice.
    #[must_use]
    pub fn call_with(mut self, name: &str, arguments: Arguments, id: Option<&str>) -> Self {
        self.calls += 1;
        let id = id.map_or_else(|| format!("call_x{}", self.calls), str::to_owned);
        self.reply.blocks.push(Block::Call(Call { id, name: name.into(), arguments }));
        self
    }

    /// Thinks.
    #[must_use]
    pub fn think(mut self, text: &str) -> Self {
        self.reply.blocks.push(Block::Thinking { text: text.into(), signature: Some("c2lnbmVk".into()) });
        self
    }

    /// Ends for this reason instead of the natural one.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.reply.finish = finish;
        self
    }

    /// Begins its text on a new line, so that it does not run into what was said before in the turn.
    #[must_use]
    pub fn begin_on_new_line(mut self, later_reply: bool) -> Self {
        if later_reply
            && let Some(Block::Text { text }) = self.reply.blocks.iter_mut().find(|block| matches!(block, Block::Text { .. }))
            && !text.trim().is_empty()
        {
            text.insert(0, '\n');
            self.said_at.iter_mut().for_each(|end| *end += 1);
        }
        self
    }

    fn text_bytes(&self) -> usize {
        let texts = self.reply.blocks.iter().map(|block| if let Block::Text { text } = block { text.len() } else { 0 });
        texts.sum()
    }

    /// The reply with its natural finish reason, ids of its own and some usage; `number` counts the model calls of the run.
    pub fn done(mut self, number: u32, input: u64) -> Self {
        let has_calls = self.reply.calls().next().is_some();
        if self.reply.finish == Finish::Stop && has_calls {
            self.reply.finish = Finish::ToolCalls;
        }
        let mut bytes = 0;
        for block in &mut self.reply.blocks {
            match block {
                Block::Call(call) => {
                    if call.id.starts_with("call_x") {
                        call.id = format!("call_{number}_{}", &call.id[6..]);
                    }
                    bytes += 40;
                }
                Block::Text { text } => bytes += text.len(),
                _ => {}
            }
        }
        self.reply.usage = Usage { input: Some(input), output: Some(bytes as u64 / 4 + 1) };
        self
    }
}

/// Arguments that are no JSON.
pub fn no_json(raw: &str) -> Arguments {
    Arguments::Broken { raw: raw.into(), why: BrokenArguments::NotJson }
}
