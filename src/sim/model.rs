//! The simulated provider behind the loop's model port: every request goes through the real encoder and the strict validator, every reply
//! leaves as provider bytes, in whatever chunks, and comes back through the real decoder.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use crate::oracle::claims::Label;
use crate::oracle::record::Sent;
use crate::turn::compact::SUMMARISER;
use crate::turn::message::Message;
use crate::turn::ports::{Chunk, Model, ModelFault, Prompt, ReplyStream};
use crate::turn::report::RESERVED;
use crate::wire::Dialect;
use crate::wire::decode::{Decoder, classify};
use crate::wire::encode::Encoder;
use crate::wire::speak::{error_body, speak};
use crate::wire::strict::{Checker, Endpoint};

use super::actor::Scene;
use super::choices::{Choices, Stream};
use super::faults::Faults;
use super::faults::provider::{self, Answer};
use super::faults::stream::{self, Delivery};
use super::moves::{MOVES, Move};
use super::reply::Scripted;
use super::sabotage::report_before_results;
use super::scenario::{ScriptReply, Then};
use super::stage::Stage;

mod summariser;

/// What the provider saw of one request, for the oracle.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Rules of the wire that it broke, in either dialect (I6).
    pub violations: Vec<String>,
    /// Harness blocks in it, and how many of those the harness wrote (I12).
    pub harness_blocks: (usize, usize),
}

/// Who decides what the model says.
#[derive(Clone, Debug)]
pub enum Mind {
    /// A move.
    Move(&'static Move),
    /// A letter for each model call; when they are said, an honest model.
    Letters(VecDeque<&'static Move>),
    /// A written script, then something else.
    Script {
        /// Replies still to come.
        replies: VecDeque<ScriptReply>,
        /// What comes when there are no more.
        then: Then,
        /// The last one, for [`Then::Repeat`].
        last: Option<ScriptReply>,
        /// What the summariser says, if it is asked.
        retelling: Option<String>,
    },
}

/// All that the simulated model keeps.
#[derive(Debug)]
pub struct SimModel {
    /// The hidden stage.
    pub stage: Rc<RefCell<Stage>>,
    /// All decisions.
    pub choices: Rc<RefCell<Choices>>,
    /// Who decides.
    pub mind: Mind,
    /// Model calls of this turn so far.
    pub calls: u32,
    /// Labels of each reply of this turn that was sent.
    pub said: Vec<Vec<Label>>,
    /// For each of those labels, after how many bytes of the reply's text it is said whole.
    pub said_at: Vec<Vec<usize>>,
    /// What earlier turns truly did.
    pub done_before: Vec<(crate::turn::draft::Act, String, u32)>,
    /// A row of another user.
    pub foreign: (String, i64),
    /// What was seen of each request of this turn.
    pub requests: Vec<Request>,
    /// The transcript in each of them.
    pub sent: Vec<Sent>,
    /// The transcript in the last request of the run.
    transcript: Vec<Message>,
    dialect: Dialect,
    encoders: [(Checker, Encoder); 2],
    chunking: u32,
    number: u32,
    faults: Faults,
    /// What is sent in Chat Completions is spoilt on purpose.
    spoilt: bool,
    /// What a summariser said that was not so.
    lie: Option<summariser::Lie>,
    /// The model acted on it in this turn.
    pub believed: bool,
    /// The last create that was called for.
    last_write: Option<(String, serde_json::Map<String, serde_json::Value>)>,
    /// The last reply was broken on its way; how many messages its request had.
    broken: Option<usize>,
}

/// A reply on its way: provider bytes in chunks, decoded as they are asked for.
#[derive(Debug)]
pub struct SimStream {
    chunks: VecDeque<Delivery>,
    decoder: Decoder,
    ready: VecDeque<Chunk>,
}

impl SimModel {
    /// For one run.
    pub fn new(dialect: Dialect, stage: Rc<RefCell<Stage>>, choices: Rc<RefCell<Choices>>, faults: Faults, foreign: (String, i64)) -> Self {
        let chunking = choices.borrow_mut().below(Stream::Order, 8);
        Self {
            stage,
            choices,
            mind: Mind::Move(&MOVES[0]),
            calls: 0,
            said: Vec::new(),
            said_at: Vec::new(),
            done_before: Vec::new(),
            foreign,
            requests: Vec::new(),
            sent: Vec::new(),
            transcript: Vec::new(),
            dialect,
            encoders: encoders(),
            chunking,
            number: 0,
            faults,
            spoilt: false,
            lie: None,
            believed: false,
            last_write: None,
            broken: None,
        }
    }

    /// A new turn begins.
    pub fn begin_turn(&mut self, mind: Mind) {
        self.mind = mind;
        self.calls = 0;
        self.believed = false;
        self.said.clear();
        self.said_at.clear();
        self.broken = None;
        self.requests.clear();
        self.sent.clear();
    }

    /// With a broken encoder for Chat Completions.
    pub fn spoilt_if(mut self, spoilt: bool) -> Self {
        self.spoilt = spoilt;
        self
    }

    /// The program that asks has started anew: whatever it kept of the conversation's bytes is gone.
    pub fn reconnect(&mut self) {
        self.encoders = encoders();
    }

    /// I6, in both dialects. The answer of the provider that is spoken with, where it refuses.
    fn receive(&mut self, prompt: &Prompt<'_>) -> Option<(u16, Vec<u8>)> {
        let mut request = Request { harness_blocks: (0, harness_blocks_written(prompt)), ..Request::default() };
        let mut refusal = None;
        for (checker, encoder) in &mut self.encoders {
            let mut body = encoder.request(prompt);
            if self.spoilt && checker.endpoint.dialect == Dialect::OpenaiChat {
                body = report_before_results(&body);
            }
            let verdict = checker.check(&body);
            let mine = checker.endpoint.dialect == self.dialect;
            if mine {
                request.harness_blocks.0 = harness_blocks_in(&body);
                refusal = verdict.refusal();
            }
            let dialect = checker.endpoint.dialect;
            request.violations.extend(verdict.violations.iter().map(|broken| format!("{dialect}: {} at {}", broken.rule, broken.place)));
        }
        self.requests.push(request);
        refusal
    }

    /// Keeps what is new in a request, for the oracle (I13).
    fn keep(&mut self, messages: &[Message]) {
        let kept = self.transcript.iter().zip(messages).take_while(|(before, now)| before == now).count();
        self.transcript.truncate(kept);
        self.transcript.extend_from_slice(&messages[kept..]);
        self.sent.push(Sent { kept, new: messages[kept..].to_vec() });
    }

    /// Keeps what a model call says, for the oracle: one entry a call.
    fn note(&mut self, labels: Vec<Label>, said_at: Vec<usize>) {
        self.said.push(labels);
        self.said_at.push(said_at);
    }

    /// The provider answers with no stream at all.
    async fn fail(&mut self, answer: &Answer) -> ModelFault {
        self.note(Vec::new(), Vec::new());
        tokio::time::sleep(answer.after()).await;
        answer.as_fault(self.dialect, &self.faults)
    }

    fn decide(&mut self, prompt: &Prompt<'_>) -> Decision {
        if let Some(scripted) = self.led(prompt) {
            return Decision { scripted, status: None, cut_at: None, one_index: false };
        }
        let stage = self.stage.borrow();
        let mut choices = self.choices.borrow_mut();
        let (mut a_move, mut letter, mut scripted) = (&MOVES[0], None, None);
        match &mut self.mind {
            Mind::Move(of_turn) => a_move = of_turn,
            Mind::Letters(letters) => letter = letters.pop_front(),
            Mind::Script { replies, then, last, .. } => scripted = next_of(replies, *then, last),
        }
        if let Some(reply) = scripted {
            return Decision { scripted: reply.build(stage.lang), status: reply.status, cut_at: reply.cut_at, one_index: reply.one_index };
        }
        let a_move = letter.unwrap_or(a_move);
        let scene = Scene { prompt, stage: &stage, a_move, calls: self.calls, done_before: &self.done_before, foreign: &self.foreign };
        let reply = if letter.is_some() { scene.letter(&mut choices) } else { scene.reply(&mut choices) };
        Decision { scripted: reply, status: None, cut_at: None, one_index: false }
    }
}

fn encoders() -> [(Checker, Encoder); 2] {
    let encoder = |dialect, model: &str| (Checker::new(Endpoint::ours(dialect)), Encoder::new(dialect, model));
    [encoder(Dialect::Anthropic, "claude-sonnet-4-6"), encoder(Dialect::OpenaiChat, "gpt-4o")]
}

struct Decision {
    scripted: Scripted,
    status: Option<u16>,
    cut_at: Option<usize>,
    one_index: bool,
}

fn next_of(replies: &mut VecDeque<ScriptReply>, then: Then, last: &mut Option<ScriptReply>) -> Option<ScriptReply> {
    let next = match replies.front_mut() {
        Some(front) if front.repeat > 1 => {
            front.repeat -= 1;
            Some(front.clone())
        }
        Some(_) => replies.pop_front(),
        None if then == Then::Repeat => last.clone(),
        None => None,
    };
    if next.is_some() {
        last.clone_from(&next);
    }
    next
}

impl Model for SimModel {
    type Stream<'a> = SimStream;

    async fn ask(&mut self, prompt: Prompt<'_>) -> Result<SimStream, ModelFault> {
        if prompt.system == SUMMARISER {
            return self.retell(&prompt).await;
        }
        self.keep(prompt.messages);
        if let Some((status, body)) = self.receive(&prompt) {
            return Err(classify(status, &body, None));
        }
        if let Some(answer) = provider::answer(&self.faults) {
            return Err(self.fail(answer).await);
        }
        // A reply that was lost on its way was never given: the model gives it again.
        if self.broken.take() == Some(prompt.messages.len()) {
            self.calls -= 1;
        }
        let decision = self.decide(&prompt);
        self.note_writes(&decision.scripted);
        self.calls += 1;
        self.number += 1;
        if let Some(status) = decision.status {
            self.note(Vec::new(), Vec::new());
            return Err(classify(status, &error_body(self.dialect, "api_error", "scripted"), None));
        }
        let input = prompt.messages.len() as u64 * 60;
        let scripted = decision.scripted.begin_on_new_line(self.calls > 1).done(self.number, input);
        self.note(scripted.labels, scripted.said_at);
        let mut frames: Vec<Vec<u8>> = speak(self.dialect, &scripted.reply, 24 + self.chunking as usize * 8);
        if decision.one_index && self.dialect == Dialect::OpenaiChat {
            frames.iter_mut().for_each(put_under_index_zero);
        }
        if let Some(most) = decision.cut_at {
            let mut whole = frames.concat();
            whole.truncate(most);
            frames = vec![whole];
        }
        let delivered = stream::send(&self.faults, self.dialect, &frames, self.draw_chunk());
        self.broken = delivered.broken.then_some(prompt.messages.len());
        Ok(SimStream { chunks: delivered.chunks.into(), decoder: Decoder::new(self.dialect), ready: VecDeque::new() })
    }
}

impl SimModel {
    /// All in one chunk; or chunks of one size, which fall inside characters and escapes.
    fn draw_chunk(&self) -> usize {
        if self.chunking < 2 { 3 + self.choices.borrow_mut().below(Stream::Order, 61) as usize } else { usize::MAX }
    }
}

/// Renumbers the one call of a frame (of the first ten of a reply). Text can't be hit: its quotation marks are escaped.
fn put_under_index_zero(frame: &mut Vec<u8>) {
    let Ok(text) = std::str::from_utf8(frame) else { return };
    let renumbered = (1..10).fold(text.to_owned(), |text, index| text.replace(&format!("\"index\":{index}"), "\"index\":0"));
    *frame = renumbered.into_bytes();
}

impl ReplyStream for SimStream {
    async fn next(&mut self) -> Result<Chunk, ModelFault> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(chunk);
            }
            let chunks = match self.chunks.pop_front() {
                Some((wait, bytes)) => {
                    if wait > Duration::ZERO {
                        tokio::time::sleep(wait).await;
                    }
                    self.decoder.feed(&bytes)?
                }
                None => self.decoder.end()?,
            };
            self.ready.extend(chunks);
        }
    }
}

/// Harness blocks that the transcript holds by the harness's own hand.
fn harness_blocks_written(prompt: &Prompt<'_>) -> usize {
    let in_messages: usize = prompt
        .messages
        .iter()
        .map(|message| match message {
            Message::User { report, .. } | Message::Results { report, .. } => report.as_deref().map_or(0, count_blocks),
            Message::Correction { text } => count_blocks(text),
            Message::Summary { facts, .. } => count_blocks(facts),
            Message::Assistant { .. } => 0,
        })
        .sum();
    in_messages + prompt.pending.map_or(0, count_blocks)
}

fn harness_blocks_in(body: &[u8]) -> usize {
    count_blocks(&String::from_utf8_lossy(body))
}

fn count_blocks(text: &str) -> usize {
    RESERVED.iter().map(|name| text.matches(&format!("<{name}>")).count()).sum()
}
