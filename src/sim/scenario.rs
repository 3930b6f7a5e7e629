//! A scenario: a plan written by a person, in TOML. An unknown key is an error with line, column and the nearest known key.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::oracle::claims::Label;
use crate::turn::bounds::Settings;
use crate::turn::message::Finish;

use super::faults::Strike;
use super::reply::{Scripted, no_json};
use super::speech::{Lang, Sentence};
use super::stage::{Stance, Wish};

/// A scenario file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The format's version: 1.
    pub version: u32,
    /// The file that it was read from, as the user named it; not a part of the format.
    #[serde(skip)]
    pub file: String,
    /// Its id, such as `C002`.
    pub id: String,
    /// What goes wrong, in a line.
    pub title: String,
    /// What must hold at the end, in words.
    pub required_end: String,
    /// The policies that it must hold under.
    #[serde(default = "full")]
    pub policies: Vec<String>,
    /// The language of what is said by name.
    #[serde(default = "english")]
    pub lang: Lang,
    /// The simulated judge.
    #[serde(default = "faithful")]
    pub judge: String,
    /// Whether the model is offered tools.
    #[serde(default = "yes")]
    pub tools: bool,
    /// Limits other than the default ones.
    #[serde(default)]
    pub settings: Settings,
    /// Rows that are there from the start.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// The turns, in order.
    pub turn: Vec<ScriptTurn>,
    /// What must hold at the end of the run.
    #[serde(default)]
    pub expect: Expect,
}

/// A row that is there from the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Where.
    pub section: String,
    /// Its fields.
    pub values: Map<String, Value>,
    /// Whether it belongs to the other user.
    #[serde(default)]
    pub of_other_user: bool,
}

/// One turn of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptTurn {
    /// The user's words.
    pub user: String,
    /// What the user means by them.
    #[serde(default)]
    pub stance: Option<Stance>,
    /// What the user wants from here on.
    #[serde(default)]
    pub wish: Option<Wish>,
    /// The model's replies, one a model call.
    #[serde(default)]
    pub reply: Vec<ScriptReply>,
    /// What the model does after those: `honest` (the default) goes on honestly, `repeat` repeats the last one.
    #[serde(default)]
    pub then: Then,
    /// Cancelled at this await point of the turn, counted from 1 (L13).
    #[serde(default)]
    pub cancel_at: Option<u32>,
    /// What the summariser says in this turn, where old turns are folded (C1).
    #[serde(default)]
    pub retelling: Option<String>,
    /// What breaks in this turn, and at which occasion.
    #[serde(default)]
    pub fault: Vec<Strike>,
    /// What must hold of this turn.
    #[serde(default)]
    pub expect: TurnExpect,
}

/// What the model does when its script has run out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Goes on honestly.
    #[default]
    Honest,
    /// Repeats its last reply.
    Repeat,
}

/// One reply of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptReply {
    /// Its parts, in order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// A finish reason other than the natural one.
    #[serde(default)]
    pub finish: Option<FinishWord>,
    /// How often this reply is given, at model calls in a row.
    #[serde(default = "once")]
    pub repeat: u32,
    /// A provider's error in place of a reply: an HTTP status.
    #[serde(default)]
    pub status: Option<u16>,
    /// The stream is cut after this many bytes.
    #[serde(default)]
    pub cut_at: Option<usize>,
    /// Every call is streamed under index 0, as some servers of the OpenAI dialect do; Anthropic's blocks keep their own.
    #[serde(default)]
    pub one_index: bool,
}

/// A finish reason by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishWord {
    /// The natural end.
    Stop,
    /// Calls to be answered.
    ToolCalls,
    /// The token limit.
    Length,
    /// Refused.
    Refusal,
}

/// A part of a reply: exactly one of `text`, `say`, `call`, `think`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Free text; `says` labels it for the oracle.
    #[serde(default)]
    pub text: Option<String>,
    /// What the free text says.
    #[serde(default)]
    pub says: Vec<Label>,
    /// A sentence of the phrase book.
    #[serde(default)]
    pub say: Option<Sentence>,
    /// A call of this tool.
    #[serde(default)]
    pub call: Option<String>,
    /// The call's arguments.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
    /// The call's arguments as raw text, which need not parse.
    #[serde(default)]
    pub raw: Option<String>,
    /// The call's id, which may be empty or repeated.
    #[serde(default)]
    pub id: Option<String>,
    /// Reasoning.
    #[serde(default)]
    pub think: Option<String>,
}

/// What must hold of a turn; what is not named is not asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnExpect {
    /// The recorded status: `changed`, `unchanged`, `attempted`, `contested`, `bound`, `fault`.
    pub status: Option<String>,
    /// Why it stopped: `replied`, `iterations`, `strikes`, `time_limit`, `oversize`, `empty`, `truncated`, `refused`, `cut`, `cancelled`, `provider`.
    pub stop: Option<String>,
    /// Corrections sent.
    pub corrections: Option<u32>,
    /// Model replies at the most.
    pub iterations_at_most: Option<u32>,
    /// Rows that the turn changed.
    pub changed_rows: Option<u32>,
    /// Text that some tool result or report of the turn must hold.
    pub told_model: Option<String>,
    /// Text that the user must have been shown (reply, lines or receipt).
    pub told_user: Option<String>,
}

/// What must hold at the end of a run; what is not named is not asked. No finding is always asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// How many rows each section holds for the user.
    pub rows: std::collections::BTreeMap<String, u32>,
    /// Sections that are pending.
    pub pending: Option<Vec<String>>,
    /// Writes that the user had not asked for, at the most.
    pub unauthorised_at_most: Option<u32>,
}

fn full() -> Vec<String> {
    vec!["full".into()]
}

fn english() -> Lang {
    Lang::En
}

fn faithful() -> String {
    "faithful".into()
}

fn yes() -> bool {
    true
}

fn once() -> u32 {
    1
}

impl ScriptReply {
    /// The reply that it stands for.
    pub fn build(&self, lang: Lang) -> Scripted {
        let mut scripted = Scripted::new();
        for part in &self.parts {
            scripted = part.build(scripted, lang);
        }
        match self.finish {
            None | Some(FinishWord::Stop) => scripted,
            Some(FinishWord::ToolCalls) => scripted.finish(Finish::ToolCalls),
            Some(FinishWord::Length) => scripted.finish(Finish::Length),
            Some(FinishWord::Refusal) => scripted.finish(Finish::Refusal),
        }
    }
}

impl Part {
    fn build(&self, scripted: Scripted, lang: Lang) -> Scripted {
        if let Some(sentence) = &self.say {
            return scripted.say(lang, sentence, 0);
        }
        if let Some(text) = &self.text {
            return scripted.text(text, self.says.clone());
        }
        if let Some(text) = &self.think {
            return scripted.think(text);
        }
        let Some(name) = &self.call else { return scripted };
        let arguments = match &self.raw {
            Some(raw) => no_json(raw),
            None => crate::turn::message::Arguments::Object { value: self.arguments.clone().unwrap_or_default() },
        };
        scripted.call_with(name, arguments, self.id.as_deref())
    }
}

/// Why a scenario file can't be read, with the place and the mend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line and column, counted from 1.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
    /// The nearest known key.
    pub nearest: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// Reads a scenario.
///
/// # Errors
/// Where the text is no scenario of this version.
pub fn parse(file: &str, text: &str) -> Result<Script, ScenarioError> {
    let mut script: Script = toml::from_str(text).map_err(|error| locate(file, text, &error))?;
    file.clone_into(&mut script.file);
    let wrong = |message: String| ScenarioError { file: file.to_owned(), place: None, message, nearest: None };
    if script.version != super::plan::VERSION {
        return Err(wrong(format!("it is of version {}, and this `unbacked` reads version {}", script.version, super::plan::VERSION)));
    }
    if script.turn.is_empty() {
        return Err(wrong("it has no [[turn]]; a scenario needs one at least".into()));
    }
    Ok(script)
}

fn locate(file: &str, text: &str, error: &toml::de::Error) -> ScenarioError {
    let message = error.message().lines().next().unwrap_or("unreadable").to_owned();
    let place = error.span().map(|span| {
        let before = &text[..span.start.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        (line, column)
    });
    let nearest = nearest_key(&message);
    ScenarioError { file: file.to_owned(), place, message, nearest }
}

/// From "unknown field `x`, expected one of `a`, `b`": the one nearest to `x`.
pub(super) fn nearest_key(message: &str) -> Option<String> {
    let mut words = message.split('`').skip(1).step_by(2);
    if !message.contains("unknown") {
        return None;
    }
    let wrong = words.next()?;
    nearest(wrong, words).map(str::to_owned)
}

/// The name that looks most like a wrong one.
pub(super) fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names.max_by(|a, b| strsim::jaro_winkler(wrong, a).total_cmp(&strsim::jaro_winkler(wrong, b)))
}
