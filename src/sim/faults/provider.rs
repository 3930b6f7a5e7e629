//! What a provider answers in place of a stream: an error status, no connection, no answer in time. Nothing of the reply was sent.

use std::time::Duration;

use crate::turn::ports::ModelFault;
use crate::wire::Dialect;
use crate::wire::decode::classify;
use crate::wire::speak::{error_body, error_kind};

use super::{Class, Fault, Faults};

/// An answer in place of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// As a fault of the catalogue.
    pub fault: Fault,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// An error with this status; perhaps with a time to wait.
    Status { status: u16, wait: bool },
    /// Nobody is there.
    Refused,
    /// Nobody answers, and after this many seconds the client gives up.
    Late(u32),
}

const RETRIED: &str =
    "tried again with backoff, inside the turn's limit and as often as the settings allow; then the turn ends with a typed error (L11)";
const ENDS: &str = "not tried again: the turn ends with a typed error, with all the rest intact (L11)";

/// A status that asks for another try.
const fn passing(name: &'static str, sentence: &'static str, kind: Kind) -> Answer {
    Answer { fault: Fault { name, class: Class::Provider, sentence, legal: RETRIED, percent: 24 }, kind }
}

/// A status that another try would not change.
const fn permanent(name: &'static str, sentence: &'static str, status: u16) -> Answer {
    let fault = Fault { name, class: Class::Provider, sentence, legal: ENDS, percent: 8 };
    Answer { fault, kind: Kind::Status { status, wait: false } }
}

/// All of them.
pub const ANSWERS: &[Answer] = &[
    passing("http-429", "the provider answers 429", Kind::Status { status: 429, wait: false }),
    passing("http-429-retry-after", "the provider answers 429 and names a time to wait", Kind::Status { status: 429, wait: true }),
    passing("http-500", "the provider answers 500", Kind::Status { status: 500, wait: false }),
    passing("http-503", "the provider answers 503", Kind::Status { status: 503, wait: false }),
    passing("http-529", "the provider answers 529: overloaded", Kind::Status { status: 529, wait: false }),
    passing("connection-refused", "nobody listens where the provider should be", Kind::Refused),
    passing("answer-time-out", "the provider does not answer, and the client gives up", Kind::Late(30)),
    permanent("http-400", "the provider answers 400", 400),
    permanent("http-401", "the provider answers 401: the key is wrong", 401),
    permanent("http-403", "the provider answers 403: it is not allowed", 403),
];

impl Answer {
    /// How long the loop waits for it.
    pub fn after(&self) -> Duration {
        match self.kind {
            Kind::Late(seconds) => Duration::from_secs(u64::from(seconds)),
            Kind::Status { .. } | Kind::Refused => Duration::ZERO,
        }
    }

    /// As the loop gets it: a status and its body are read by the real classifier.
    pub fn as_fault(&self, dialect: Dialect, faults: &Faults) -> ModelFault {
        let lost = |error: &str| ModelFault::Passing { error: error.into(), retry_after: None };
        match self.kind {
            Kind::Refused => lost("connection refused"),
            Kind::Late(_) => lost("no answer in time"),
            Kind::Status { status, wait } => {
                let body = error_body(dialect, error_kind(dialect, status), "simulated");
                classify(status, &body, wait.then(|| WAITS[faults.below(WAITS.len() as u32) as usize]))
            }
        }
    }
}

/// Times that providers ask for, the longest beyond any turn's limit.
const WAITS: [Duration; 5] =
    [Duration::ZERO, Duration::from_millis(250), Duration::from_secs(3), Duration::from_secs(40), Duration::from_hours(1)];

/// What comes in place of a stream at this model call, if anything does.
pub fn answer(faults: &Faults) -> Option<&'static Answer> {
    ANSWERS.iter().find(|answer| faults.strikes(answer.fault.name))
}
