//! Turns made by hand, and a judge that says what it is told to say.

use serde_json::json;
use unbacked::guards::completion::{Claim, Judge, Reading, Verdicts};
use unbacked::turn::draft::{Act, CallKey, Draft, Entry, Fate, RowChange};
use unbacked::turn::exit::Tally;
use unbacked::turn::guard::{About, Consulted, Ruling, View};
use unbacked::turn::pending::{Pending, PendingEntry};

/// A turn that wants to end.
#[derive(Default)]
pub struct Turn {
    pub reply: String,
    pub draft: Draft,
    pub pending: Pending,
    pub earlier: Vec<Tally>,
    pub second_look: bool,
}

impl Turn {
    pub fn saying(reply: &str) -> Self {
        Self { reply: reply.into(), ..Self::default() }
    }

    /// A read leaves a result and no entry.
    pub fn after_a_read(mut self) -> Self {
        self.draft.any_result = true;
        self
    }

    pub fn with(mut self, act: Act, section: &str, fate: Fate, ids: &[i64]) -> Self {
        let key = CallKey { turn: 1, iteration: 1, index: self.draft.entries.len() as u32 };
        let rows = ids.iter().map(|id| RowChange { act, section: section.into(), id: *id }).collect();
        let tool = format!("{}_{section}", act.word());
        self.draft.entries.push(Entry { key, tool, act, section: section.into(), fate, rows });
        self.after_a_read()
    }

    pub fn created(self, section: &str, ids: &[i64]) -> Self {
        self.with(Act::Create, section, Fate::Applied, ids)
    }

    pub fn failed(self, act: Act, section: &str) -> Self {
        self.with(act, section, Fate::Failed { reason: "start_year is missing".into() }, &[])
    }

    pub fn pending(mut self, section: &str, corrected: bool) -> Self {
        self.pending.restore(PendingEntry {
            id: 1,
            section: section.into(),
            tool: format!("create_{section}"),
            act: Act::Create,
            known: json!({}),
            missing: vec!["start_year".into()],
            corrected,
        });
        self
    }

    pub fn earlier(mut self, act: Act, section: &str, count: u32) -> Self {
        self.earlier.push(Tally { act, section: section.into(), count });
        self
    }

    pub fn on_second_look(mut self) -> Self {
        self.second_look = true;
        self
    }

    pub fn view(&self) -> View<'_> {
        View {
            reply: &self.reply,
            closing: &self.reply,
            draft: &self.draft,
            pending: &self.pending,
            earlier: &self.earlier,
            second_look: self.second_look,
        }
    }
}

/// Says what it is told to say, and remembers what it was handed.
pub struct ScriptedJudge {
    pub verdicts: Result<Verdicts, String>,
    pub reading: Result<Reading, String>,
    pub handed: Vec<Handed>,
}

/// What a judge was handed.
#[derive(Debug, PartialEq)]
pub enum Handed {
    Verdicts { reply: String, closing: String, evidence: bool },
    Reading { reply: String, closing: String },
}

impl ScriptedJudge {
    pub fn verdicts(promised: bool, claimed: bool) -> Self {
        Self { verdicts: Ok(Verdicts { promised, claimed }), ..Self::failing("it was not to be asked for a reading") }
    }

    pub fn reading(reading: Reading) -> Self {
        Self { reading: Ok(reading), ..Self::failing("it was not to be asked for verdicts") }
    }

    pub fn claiming(claims: &[Claim]) -> Self {
        Self::reading(Reading { claims: claims.to_vec(), ..Reading::default() })
    }

    pub fn failing(how: &str) -> Self {
        Self { verdicts: Err(how.into()), reading: Err(how.into()), handed: Vec::new() }
    }
}

impl Judge for ScriptedJudge {
    async fn verdicts(&mut self, reply: &str, closing: &str, evidence: bool) -> Result<Verdicts, String> {
        self.handed.push(Handed::Verdicts { reply: reply.into(), closing: closing.into(), evidence });
        self.verdicts.clone()
    }

    async fn reading(&mut self, reply: &str, closing: &str) -> Result<Reading, String> {
        self.handed.push(Handed::Reading { reply: reply.into(), closing: closing.into() });
        self.reading.clone()
    }
}

pub fn claim(act: Act, section: &str, count: u32) -> Claim {
    Claim { act: Some(act), section: Some(section.into()), count: Some(count), earlier: false }
}

pub fn earlier(claim: Claim) -> Claim {
    Claim { earlier: true, ..claim }
}

/// What is objected to; `None` for an acceptance.
pub fn about(consulted: &Consulted) -> Option<About> {
    match &consulted.ruling {
        Ruling::Accept => None,
        Ruling::Object(objection) => Some(objection.about.clone()),
    }
}

pub fn unbacked(claims: &[&str]) -> Option<About> {
    Some(About::Unbacked { claims: claims.iter().map(|claim| (*claim).to_owned()).collect() })
}
