//! The simulated judge behind the completion check's port.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::guards::completion::{Claim, Judge, Reading, Verdicts};

use super::choices::{Choices, Stream};
use super::faults::{self, Faults};
use super::judge::{Heard, JudgeKind, JudgeTrouble, SimJudge};

/// A simulated judge with its source of errors.
#[derive(Clone, Debug)]
pub struct PortJudge {
    /// How it judges.
    pub kind: JudgeKind,
    /// Where its errors are drawn.
    pub choices: Rc<RefCell<Choices>>,
    /// What goes wrong at single askings.
    pub faults: Faults,
}

impl PortJudge {
    fn ask<T>(&self, question: impl FnOnce(&mut SimJudge<'_>) -> Result<T, JudgeTrouble>) -> Result<T, JudgeTrouble> {
        let kind = faults::judge::kind_now(&self.faults, self.kind);
        let mut choices = self.choices.borrow_mut();
        let mut chance = |_: &'static str, rate: f64| choices.chance_of(Stream::Judge, rate);
        question(&mut SimJudge { kind, chance: &mut chance })
    }
}

/// A judge that is late is late: the guard's time limit has to end it.
async fn answered<T>(answer: Result<T, JudgeTrouble>) -> Result<T, String> {
    if matches!(answer, Err(JudgeTrouble::TimedOut)) {
        tokio::time::sleep(Duration::from_secs(3600)).await;
    }
    answer.map_err(|trouble| trouble.to_string())
}

impl Judge for PortJudge {
    async fn verdicts(&mut self, reply: &str, closing: &str, evidence: bool) -> Result<Verdicts, String> {
        let bits = answered(self.ask(|judge| judge.read_bits(reply, closing, Some(evidence)))).await?;
        Ok(Verdicts { promised: bits.promised, claimed: bits.claimed })
    }

    async fn reading(&mut self, reply: &str, closing: &str) -> Result<Reading, String> {
        let net = answered(self.ask(|judge| judge.read_ledger(reply, closing))).await?;
        let claims = |list: Vec<Heard>| list.into_iter().map(claim).collect();
        Ok(Reading { claims: claims(net.claims), denials: claims(net.denials), failures: claims(net.failures), promises: net.promises })
    }
}

fn claim(heard: Heard) -> Claim {
    Claim { act: heard.act, section: heard.section, count: heard.count, earlier: heard.earlier }
}
