//! The bounds (B1–B5) as settings, and the closed-form ceiling that they amount to (B7).

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Everything about a turn that is a setting. Times are those of the driver's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// B1: model replies per turn.
    pub iterations: u32,
    /// B2: the same tool failing in the same way this many times running ends the turn.
    pub strikes: u32,
    /// L11: tries of one model call, the first one included, which is never left out.
    pub attempts: u32,
    /// L11: the wait before the second try, doubled for each further one, in milliseconds.
    pub backoff_ms: u64,
    /// B4: the limit over everything in a turn, in milliseconds, `closing_ms` included.
    pub turn_ms: u64,
    /// The part of `turn_ms` kept for closing a turn that ran into its limit or was cancelled.
    pub closing_ms: u64,
    /// The limit on one call of the store or the verifier, in milliseconds.
    pub store_ms: u64,
    /// Tries of one call of the store or the verifier, the first one included; what did not answer is asked again before it counts as unknown.
    pub store_tries: u32,
    /// The limit on one tool call, in milliseconds.
    pub tool_ms: u64,
    /// The limit on one consultation of the guard, in milliseconds.
    pub guard_ms: u64,
    /// The limit on the summariser's one call as a turn opens, in milliseconds.
    pub summary_ms: u64,
    /// C1: bytes of transcript, summaries aside, past which old turns are folded as a turn opens; 0 for never.
    pub fold_bytes: usize,
    /// B5: bytes of text and thinking in one reply.
    pub reply_bytes: usize,
    /// B5: tool calls in one reply.
    pub reply_calls: usize,
    /// B5: bytes of arguments in one reply.
    pub argument_bytes: usize,
    /// Bytes of one tool result that are kept; the cut is marked in the text (W-F24).
    pub result_bytes: usize,
    /// `max_tokens` of one model call.
    pub output_tokens: u32,
    /// Which parts of the method are on; everything, but for the policies that are compared with it.
    pub parts: Parts,
}

/// Which parts of the method a policy has (X0, X5, X6, X7). L, B and V are always on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parts {
    /// R: reports after tool rounds and at the opening of a turn.
    pub reports: bool,
    /// P: unfinished work is remembered.
    pub pending: bool,
    /// U: the receipt and the contested line reach the user.
    pub receipts: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { reports: true, pending: true, receipts: true }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            iterations: 25,
            strikes: 3,
            attempts: 4,
            backoff_ms: 500,
            turn_ms: 180_000,
            closing_ms: 5_000,
            store_ms: 10_000,
            store_tries: 2,
            tool_ms: 20_000,
            guard_ms: 20_000,
            summary_ms: 20_000,
            fold_bytes: 256 * 1024,
            reply_bytes: 64 * 1024,
            reply_calls: 32,
            argument_bytes: 256 * 1024,
            result_bytes: 16 * 1024,
            output_tokens: 4096,
            parts: Parts::default(),
        }
    }
}

impl Settings {
    /// B4: the limit over everything in a turn.
    pub fn turn_limit(&self) -> Duration {
        Duration::from_millis(self.turn_ms)
    }

    /// When work stops and closing begins, counted from the turn's start.
    pub fn working_limit(&self) -> Duration {
        Duration::from_millis(self.turn_ms.saturating_sub(self.closing_ms))
    }

    /// The wait before try number `attempt` (2 or more) of a model call.
    pub fn backoff(&self, attempt: u32) -> Duration {
        Duration::from_millis(self.backoff_ms.saturating_mul(1 << attempt.saturating_sub(2).min(16)))
    }

    /// B7: what a turn can cost at the most. `guard_calls` is what one consultation of the policy's guard may ask of a judge.
    pub fn ceiling(&self, guard_calls: u32) -> Ceiling {
        // A turn folds at most once, as it opens, and asks its summariser once (C1).
        let summaries = u32::from(self.fold_bytes > 0);
        let model_calls = self.iterations.saturating_mul(self.attempts.max(1)).saturating_add(summaries);
        // The guard looks once, corrects at most once (B3), and looks once more (J10).
        let judge_calls = guard_calls.saturating_mul(2);
        Ceiling {
            iterations: self.iterations,
            model_calls,
            judge_calls,
            corrections: 1,
            output_tokens: u64::from(model_calls) * u64::from(self.output_tokens),
        }
    }
}

/// B7: the closed-form upper bound of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Model replies.
    pub iterations: u32,
    /// Model calls, failed ones and the summariser's included.
    pub model_calls: u32,
    /// Judge calls.
    pub judge_calls: u32,
    /// Corrections.
    pub corrections: u32,
    /// Tokens written by the model.
    pub output_tokens: u64,
}

/// B5: counts what one reply has brought so far, as it streams. A piece without content counts as one byte, so that an endless stream of
/// them is cut too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    text: usize,
    calls: usize,
    arguments: usize,
}

/// Which of B5's limits a reply broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oversize {
    /// `reply_bytes`.
    Text,
    /// `reply_calls`.
    Calls,
    /// `argument_bytes`.
    Arguments,
}

impl Meter {
    /// Counts text or thinking.
    pub fn text(&mut self, bytes: usize) {
        self.text = self.text.saturating_add(bytes.max(1));
    }

    /// Counts a call that began.
    pub fn call(&mut self) {
        self.calls += 1;
    }

    /// Counts argument bytes.
    pub fn arguments(&mut self, bytes: usize) {
        self.arguments = self.arguments.saturating_add(bytes.max(1));
    }

    /// The limit that is broken, if one is.
    pub fn over(&self, settings: &Settings) -> Option<Oversize> {
        if self.text > settings.reply_bytes {
            Some(Oversize::Text)
        } else if self.calls > settings.reply_calls {
            Some(Oversize::Calls)
        } else if self.arguments > settings.argument_bytes {
            Some(Oversize::Arguments)
        } else {
            None
        }
    }
}
