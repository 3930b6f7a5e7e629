//! Deliberately broken parts, each put in place of the real one by name, at run time: whether the tester finds what is known to be wrong.
//!
//! A sabotage breaks one part and nothing else. What this file must not know: how the oracle would find it.

use serde_json::Value;

use crate::turn::guard::{Consulted, View};
use crate::turn::ports::Guard;

/// A broken part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sabotage {
    /// Its name in plans and on the command line.
    pub name: &'static str,
    /// What is broken, and which rule it breaks.
    pub sentence: &'static str,
    /// Which part it takes the place of.
    pub part: Part,
}

/// The part that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is sent to a provider that speaks Chat Completions.
    OpenaiEncoder,
    /// The guard policy.
    Guard,
}

/// All of them.
pub const SABOTAGES: [Sabotage; 2] = [
    Sabotage {
        name: "report-before-results",
        sentence: "the turn report goes out before the tool messages, between the calls and their results (W)",
        part: Part::OpenaiEncoder,
    },
    Sabotage { name: "deaf-guard", sentence: "the guard accepts whatever it is shown (G, J)", part: Part::Guard },
];

/// The sabotage of this name.
///
/// # Errors
/// A sentence for the user, with the nearest name.
pub fn by_name(name: &str) -> Result<&'static Sabotage, String> {
    SABOTAGES.iter().find(|sabotage| sabotage.name == name).ok_or_else(|| {
        let nearest = super::scenario::nearest(name, SABOTAGES.iter().map(|sabotage| sabotage.name)).unwrap_or_default();
        format!("there is no sabotage `{name}`; did you mean `{nearest}`? `unbacked list sabotages` shows all")
    })
}

/// Every user message that follows tool messages is put ahead of them.
pub fn report_before_results(body: &[u8]) -> Vec<u8> {
    let Ok(mut request) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    if let Some(Value::Array(messages)) = request.get_mut("messages") {
        let is = |message: &Value, role: &str| message.get("role").is_some_and(|is| is == role);
        for place in 1..messages.len() {
            if is(&messages[place], "user") && is(&messages[place - 1], "tool") {
                let first = messages[..place].iter().rposition(|message| !is(message, "tool")).map_or(0, |before| before + 1);
                messages[first..=place].rotate_right(1);
            }
        }
    }
    request.to_string().into_bytes()
}

/// A guard that may be deaf.
#[derive(Debug)]
pub struct Hearing<'g, G> {
    /// The real one.
    pub guard: &'g mut G,
    /// It accepts all.
    pub deaf: bool,
}

impl<G: Guard> Guard for Hearing<'_, G> {
    fn calls_at_most(&self) -> u32 {
        self.guard.calls_at_most()
    }

    fn out_of_time(&mut self, view: View<'_>) -> Consulted {
        if self.deaf { Consulted::accept("deaf") } else { self.guard.out_of_time(view) }
    }

    async fn consult(&mut self, view: View<'_>) -> Consulted {
        if self.deaf { Consulted::accept("deaf") } else { self.guard.consult(view).await }
    }
}
