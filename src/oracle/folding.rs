//! I13: what compaction makes of a transcript, judged from the requests that went out, the stored messages, and the oracle's own view of
//! what each call changed. What the loop tells of its folds counts for nothing here.
//!
//! A request begins with all messages of the one before it; or a summary stands in place of whole turns at the head, and all that was sent
//! and stored since is there.

use std::collections::BTreeSet;

use crate::turn::event::Event;
use crate::turn::message::Message;

use super::facts::{Known, facts_are_those_of};
use super::invariants::Judged;
use super::record::{Finding, Port, RunFacts, TurnFacts};
use super::transcript::ids_of_calls;

/// I13, over a whole run: each request in turn, and what is stored at the end.
pub(super) fn compaction_loses_nothing(judged: &mut Judged, run: &RunFacts) {
    let mut watch = Watch::default();
    for (place, facts) in run.turns.iter().enumerate() {
        watch.follow(judged, facts, place as u32 + 1);
    }
    let summary = |message: Option<&&Message>| matches!(message, Some(Message::Summary { .. }));
    let stored: Vec<&Message> = run.messages.iter().collect();
    // What else can be wrong with what is stored is for I5 and I7 to find.
    if summary(stored.first()) || summary(watch.transcript.first()) {
        let grown = watch.is(0, &stored);
        watch.see(judged, run.turns.len() as u32, grown, stored);
    }
}

/// What the transcript should be, as far as the run has come.
#[derive(Default)]
struct Watch<'r> {
    transcript: Vec<&'r Message>,
    /// How much of it the last request held.
    sent: usize,
    /// Places at which one more message may stand: what was being stored as the process died or the store refused.
    gaps: BTreeSet<usize>,
    /// Every turn that opened: its number and its user message.
    opened: Vec<(u32, &'r str, Option<&'r str>)>,
    known: Known<'r>,
}

impl<'r> Watch<'r> {
    fn follow(&mut self, judged: &mut Judged, facts: &'r TurnFacts, turn: u32) {
        self.known.changed(facts);
        let mut sent = facts.sent.iter();
        for event in &facts.events {
            match event {
                Event::TurnOpened { turn, words, report } => self.opened.push((*turn, words, report.as_deref())),
                Event::Stored { message } => self.transcript.push(message),
                // The process may have died before the last one went out.
                Event::Asked { .. } => {
                    if let Some(sent) = sent.next() {
                        let kept = self.transcript.get(..sent.kept).unwrap_or_default();
                        let now = kept.iter().copied().chain(&sent.new).collect();
                        self.see(judged, turn, sent.kept >= self.sent, now);
                    }
                }
                _ => self.known.follow(event, facts.refused.contains(&Port::Settle)),
            }
        }
        if facts.crashed {
            self.known.died();
        }
        if facts.crashed || facts.refused.contains(&Port::Append) {
            self.gaps.insert(self.transcript.len());
        }
    }

    /// A transcript as it was sent or stored, and whether it begins with the one before it. From here on it is what counts.
    fn see(&mut self, judged: &mut Judged, turn: u32, grown: bool, now: Vec<&'r Message>) {
        match now.first().copied() {
            Some(Message::Summary { through, facts, .. }) if now.first() != self.transcript.first() => {
                self.folded(judged, turn, &now, *through, facts);
            }
            _ if grown => {}
            _ => judged.findings.push(Finding {
                invariant: "I13".into(),
                turn,
                message: "the transcript changed otherwise than by growing, and no summary stands for what is gone".into(),
            }),
        }
        self.sent = now.len();
        self.transcript = now;
        self.gaps.clear();
    }

    /// A summary that was not there before.
    fn folded(&mut self, judged: &mut Judged, turn: u32, now: &[&'r Message], through: u32, facts: &str) {
        let rest = &now[1..];
        let turns = rest.iter().filter(|message| is_user(message)).count();
        judged.hold("I13", turn, turns >= 2, || "the last turn or the current one was folded away".into());
        let cut = (1..=self.transcript.len()).find(|cut| rest.first().is_some_and(|first| is_user(first)) && self.is(*cut, rest));
        judged
            .hold("I13", turn, cut.is_some(), || "what stands after the summary is not a number of whole turns, left as they were".into());
        judged.hold("I13", turn, pairs_stand(rest), || "calls and their results were separated".into());
        let Some(cut) = cut else { return };
        let open = self.transcript[..cut].last().is_some_and(|message| !ids_of_calls(message).is_empty());
        judged.hold("I13", turn, !open, || "calls were folded without their results".into());
        judged.hold("I13", turn, self.ends_with(cut, through), || format!("the summary is not of the turns up to {through}"));
        let told = facts_are_those_of(facts, through, &self.known);
        judged.hold("I13", turn, told.is_ok(), || told.err().unwrap_or_default());
    }

    /// Whether this is the transcript from a place on.
    fn is(&self, from: usize, now: &[&Message]) -> bool {
        let mut now = now.iter().copied().peekable();
        for (place, message) in self.transcript.iter().enumerate().skip(from) {
            if self.gaps.contains(&place) && now.peek() != Some(message) {
                now.next();
            }
            if now.next() != Some(message) {
                return false;
            }
        }
        let more = usize::from(self.gaps.contains(&self.transcript.len()));
        now.count() <= more
    }

    /// Whether the turn with this number is the last one before the cut. One whose user message nobody heard to be stored may be it.
    fn ends_with(&self, cut: usize, through: u32) -> bool {
        let numbers = self.numbers();
        let last = numbers[..cut].iter().rev().find_map(|number| *number);
        let next = numbers.get(cut).copied().flatten();
        let unheard = self.gaps.iter().any(|gap| *gap <= cut);
        last == Some(through) || (unheard && last < Some(through) && next.is_none_or(|next| through < next))
    }

    /// The turn of each user message, and the last one of a summary. The same words may have opened several turns, so it is counted from
    /// the end.
    fn numbers(&self) -> Vec<Option<u32>> {
        let mut opened = self.opened.iter().rev();
        let number = |message: &&Message| match message {
            Message::User { words, report } => {
                opened.find(|(_, said, told)| said == words && *told == report.as_deref()).map(|(number, ..)| *number)
            }
            Message::Summary { through, .. } => Some(*through),
            _ => None,
        };
        let mut numbers: Vec<Option<u32>> = self.transcript.iter().rev().map(number).collect();
        numbers.reverse();
        numbers
    }
}

fn is_user(message: &Message) -> bool {
    matches!(message, Message::User { .. })
}

/// Every message with calls is followed by the results of these calls, and results stand nowhere else. The last one may be open.
fn pairs_stand(messages: &[&Message]) -> bool {
    let answers = |message: &Message| match message {
        Message::Results { results, .. } => results.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let first = messages.first().is_none_or(|message| answers(message).is_empty());
    first && messages.windows(2).all(|pair| ids_of_calls(pair[0]) == answers(pair[1]))
}
