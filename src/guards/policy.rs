//! The policies by name, and how each is put together.

use std::fmt;
use std::str::FromStr;

use crate::turn::bounds::Parts;
use crate::turn::guard::{About, Consulted, Ruling, View};
use crate::turn::ports::Guard;

use super::completion::{self, Evidence, Judge};
use super::state;

/// A guard policy's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyName {
    /// X0: the control.
    None,
    /// X5.
    State,
    /// X6.
    Completion,
    /// X7: everything. The default.
    Full,
}

impl PolicyName {
    /// All that this version has.
    pub const ALL: [Self; 4] = [Self::None, Self::State, Self::Completion, Self::Full];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::State => "state",
            Self::Completion => "completion",
            Self::Full => "full",
        }
    }

    /// What it is, in a line.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::None => "X0: the loop with no report, no pending state, no guard, no receipt; the control",
            Self::State => "X5: L, B, V, R, P, G: reports, pending work and the state guard; no receipt",
            Self::Completion => "X6: L, B, V and J: the completion check, without reports, pending work and receipts",
            Self::Full => "X7: everything: reports, pending work, state guard, completion check, receipts",
        }
    }

    /// Which parts of the method it has.
    pub fn parts(self) -> Parts {
        match self {
            Self::None | Self::Completion => Parts { reports: false, pending: false, receipts: false },
            Self::State => Parts { reports: true, pending: true, receipts: false },
            Self::Full => Parts::default(),
        }
    }

    /// Judge calls that one consultation can make at the most (B7).
    pub fn judge_calls(self) -> u32 {
        match self {
            Self::None | Self::State => 0,
            Self::Completion | Self::Full => 1,
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        const PLANNED: [&str; 4] = ["prompt-rule", "intent-gate", "reply-scan", "judge-alone"];
        if PLANNED.contains(&name) || name.starts_with("command:") {
            return Err(format!("this version does not have the policy `{name}` yet; it has none, state, completion, full"));
        }
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == name)
            .ok_or_else(|| format!("there is no policy `{name}`; there are none, state, completion, full"))
    }
}

/// A policy at work.
#[derive(Clone, Debug)]
pub struct Policy<J> {
    name: PolicyName,
    evidence: Evidence,
    judge: J,
}

impl<J: Judge> Policy<J> {
    /// Puts a policy together.
    pub fn new(name: PolicyName, evidence: Evidence, judge: J) -> Self {
        Self { name, evidence, judge }
    }

    /// The judge, for those who want to see what it was asked.
    pub fn judge(&mut self) -> &mut J {
        &mut self.judge
    }

    /// X7: the completion check names the claim, so it comes first; the state guard's correction is withheld where the ledger judge read
    /// neither claim nor promise (G4).
    async fn full(&mut self, view: &View<'_>) -> Consulted {
        let completion = completion::check(&mut self.judge, self.evidence, view).await;
        let mut consulted = completion.consulted;
        if matches!(consulted.ruling, Ruling::Object(_)) {
            return consulted;
        }
        let state = state::consult(view);
        let withheld = completion.read_nothing && is_nudge(&state.ruling);
        if !withheld {
            consulted.ruling = state.ruling;
        }
        let withheld = if withheld { ", withheld (G4)" } else { "" };
        consulted.why = format!("{}; {}{withheld}", consulted.why, state.why);
        consulted
    }
}

fn is_nudge(ruling: &Ruling) -> bool {
    matches!(ruling, Ruling::Object(objection) if matches!(objection.about, About::Unfinished { .. }))
}

impl<J: Judge> Guard for Policy<J> {
    fn calls_at_most(&self) -> u32 {
        self.name.judge_calls()
    }

    fn out_of_time(&mut self, view: View<'_>) -> Consulted {
        let mut consulted = match self.name {
            PolicyName::State | PolicyName::Full => state::consult(&view),
            PolicyName::None | PolicyName::Completion => Consulted::accept("nothing is left to rule"),
        };
        consulted.why = format!("the judge ran out of time (J6); {}", consulted.why);
        consulted.judge_calls = self.name.judge_calls();
        consulted
    }

    async fn consult(&mut self, view: View<'_>) -> Consulted {
        match self.name {
            PolicyName::None => Consulted::accept("none"),
            PolicyName::State => state::consult(&view),
            PolicyName::Completion => completion::check(&mut self.judge, self.evidence, &view).await.consulted,
            PolicyName::Full => self.full(&view).await,
        }
    }
}
