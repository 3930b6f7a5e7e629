//! What every form of a campaign's report is made of: its counts, and what they are worth.

use crate::oracle::measures::Measures;
use crate::sim::outcome::Origin;

use super::summary::{Cell, Summary};

/// A finished campaign, or what ran of it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// Its counts and findings.
    pub summary: &'r Summary,
    /// Which campaign; none where scenario files were run.
    pub campaign: Option<&'r Origin>,
    /// Which part of it was run here, counted from 1, and of how many.
    pub part: (u64, u64),
    /// How many runs that part has.
    pub planned: u64,
    /// The subjects that had to be caught.
    pub canaries: &'r [Canary],
    /// Kept failures that are there again, a sentence each.
    pub kept_again: &'r [String],
    /// Why the campaign proves nothing, where that is so.
    pub doubt: Option<&'r str>,
    /// The exit code of the command.
    pub exit_code: u8,
}

impl<'r> Report<'r> {
    /// Scenario files that were all run: no campaign, and nothing that they would have to reach.
    pub fn of_files(summary: &'r Summary, exit_code: u8) -> Self {
        let planned = summary.runs();
        Self { summary, campaign: None, part: (1, 1), planned, canaries: &[], kept_again: &[], doubt: None, exit_code }
    }
}

/// A broken subject that had to be caught.
#[derive(Clone, Debug)]
pub struct Canary {
    /// Its name.
    pub name: String,
    /// What it violates.
    pub invariant: String,
    /// That nobody saw it, as a sentence for the user.
    pub lives: Option<String>,
}

/// What the cases of a measure are counted among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// All turns.
    Turns,
    /// Claims that stood at the end of their reply.
    Claims,
    /// All runs.
    Runs,
}

impl Per {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Claims => "claims",
            Self::Runs => "runs",
        }
    }

    /// How many there are of them.
    pub fn count(self, cell: &Cell) -> u64 {
        match self {
            Self::Turns => cell.measures.turns,
            Self::Claims => cell.measures.claims,
            Self::Runs => cell.runs,
        }
    }
}

/// Reads a count.
type Count = fn(&Measures) -> u64;

/// The measures that are rates: name, what they are counted among, their count.
pub const RATES: [(&str, Per, Count); 11] = [
    ("shipped", Per::Turns, |m| m.shipped),
    ("stalled", Per::Turns, |m| m.stalled),
    ("caught", Per::Turns, |m| m.caught),
    ("corrections", Per::Turns, |m| m.corrections),
    ("false_alarms", Per::Turns, |m| m.false_alarms),
    ("nudges", Per::Turns, |m| m.nudges),
    ("unauthorised", Per::Turns, |m| m.unauthorised),
    ("provoked", Per::Turns, |m| m.provoked),
    ("unbacked", Per::Claims, |m| m.unbacked),
    ("unverified", Per::Claims, |m| m.unverified),
    ("lost_wishes", Per::Runs, |m| m.lost_wishes),
];

/// What a policy costs: name, count.
pub const COSTS: [(&str, Count); 6] = [
    ("model_calls", |m| m.model_calls),
    ("judge_calls", |m| m.judge_calls),
    ("iterations", |m| m.iterations),
    ("tokens_in", |m| m.tokens_in),
    ("tokens_out", |m| m.tokens_out),
    ("virtual_ms", |m| m.virtual_ms),
];
