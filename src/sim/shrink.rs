//! The smallest plan that still fails: fewer turns, fewer moves and faults, smaller arguments, shorter text.
//!
//! An edited plan counts only if its run has a finding of the same kind, the same invariant at the same place, and is smaller. A place
//! is where in the oracle the finding was raised: one invariant is judged at several places, each with a sentence of its own, so the place is
//! that sentence without what varies from run to run (numbers, sections, acts, and what stands in quotes or brackets). The turn is no part of
//! it, since dropping turns moves it. The search is deterministic, and ends after a given number of tries.

mod script;

use crate::cv::schema::SECTIONS;
use crate::oracle::record::Finding;
use crate::turn::bounds::Settings;
use crate::turn::event::Event;

use super::outcome::Found;
use super::plan::Plan;
use super::run::{Run, run};
use super::world::World;

/// What kind of finding it is: shrinking holds on to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// The invariant.
    pub invariant: String,
    /// Where the oracle raised it: its sentence without what varies.
    pub place: String,
}

impl Kind {
    /// The kind of a finding.
    pub fn of(invariant: &str, message: &str) -> Self {
        Self { invariant: invariant.into(), place: place_of(message) }
    }

    /// The first finding of this kind.
    pub fn find<'f>(&self, findings: &'f [Found]) -> Option<&'f Found> {
        findings.iter().find(|found| Self::of(&found.invariant, &found.message) == *self)
    }
}

fn place_of(message: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_u32;
    let mut quoted = false;
    for letter in message.chars() {
        match letter {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            '"' | '`' => quoted = !quoted,
            _ if depth > 0 || quoted => {}
            _ => plain.push(letter),
        }
    }
    let mut words = Vec::new();
    for word in plain.split_whitespace() {
        // A broken rule of the wire is a place; where in the body it was broken is not.
        if word.starts_with("W-") {
            words.push(word.to_owned());
            break;
        }
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let varies = SECTIONS.iter().any(|section| section.name == bare) || ["created", "updated", "deleted"].contains(&bare);
        let numeric = bare.chars().any(|letter| letter.is_ascii_digit());
        words.push(if varies || numeric { "…".to_owned() } else { word.to_owned() });
    }
    words.join(" ")
}

/// How large a run is. The order of the fields is the order of what is made smaller first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Size {
    /// Turns, those of the fair phase included.
    pub turns: usize,
    /// Turns with a move other than `honest`.
    pub moves: usize,
    /// Faults that were on.
    pub faults: usize,
    /// Fields of the plan that are not at their default.
    pub fields: usize,
    /// Model calls.
    pub calls: usize,
    /// Bytes of a scenario's script.
    pub script: usize,
    /// Bytes that were said and called.
    pub text: usize,
    /// Choices that are not the mildest.
    pub choices: usize,
    /// The sum of all choices.
    pub sum: u64,
}

impl Size {
    /// Of a plan and its run.
    pub fn of(plan: &Plan, run: &Run) -> Self {
        let script = plan.script.as_ref();
        let scripted = script.iter().flat_map(|script| &script.turn).map(|turn| turn.fault.len()).sum::<usize>();
        let odd = [plan.judge != "faithful", plan.evidence != "ledger", plan.dialect != "anthropic", plan.settings != Settings::default()];
        Self {
            turns: run.turns.len(),
            moves: run.moves.iter().filter(|name| **name != "honest").count(),
            faults: run.outcome.faults.len() + scripted,
            fields: odd.iter().filter(|odd| **odd).count() + plan.faults.len(),
            calls: run.outcome.turns.iter().map(|turn| turn.model_calls as usize).sum(),
            script: script.map_or(0, |script| serde_json::to_string(script).unwrap_or_default().len()),
            text: run.turns.iter().flat_map(|facts| &facts.events).map(bytes_of).sum(),
            choices: run.choices.iter().filter(|choice| **choice > 0).count(),
            sum: run.choices.iter().map(|choice| u64::from(*choice)).sum(),
        }
    }
}

fn bytes_of(event: &Event) -> usize {
    match event {
        Event::Text { text } => text.len(),
        Event::TurnOpened { words, .. } => words.len(),
        Event::CallStarted { call, .. } => serde_json::to_string(call).unwrap_or_default().len(),
        _ => 0,
    }
}

/// A plan that still fails, and how it came to be.
#[derive(Debug)]
pub struct Shrunk {
    /// The plan, with its choices recorded, and with the finding that it stands for.
    pub plan: Plan,
    /// Its run.
    pub run: Run,
    /// The finding.
    pub found: Found,
    /// Runs that were tried.
    pub tries: u32,
    /// How large it was.
    pub before: Size,
    /// How large it is.
    pub after: Size,
}

/// Shrinks a plan in `most` tries at the most. The finding is the one of this kind, or the one that the plan stands for, or the first.
///
/// # Errors
/// A sentence for the user: the plan has no such finding, or can't be run.
pub fn shrink(plan: &Plan, kind: Option<&Kind>, world: &World, most: u32) -> Result<Shrunk, String> {
    let first = run(plan, world)?;
    let findings = &first.outcome.findings;
    let stands_for = plan.finding.as_ref().map(|finding| Kind::of(&finding.invariant, &finding.message));
    let kind = kind.cloned().or(stands_for).or_else(|| findings.first().map(|found| Kind::of(&found.invariant, &found.message)));
    let kind = kind.ok_or("the run has no finding, so there is nothing to shrink")?;
    if kind.find(findings).is_none() {
        return Err(format!("the run has no finding of {}: {}", kind.invariant, kind.place));
    }
    let before = Size::of(plan, &first);
    let mut search = Search { world, kind, plan: recorded(plan, &first), size: before, run: first, tries: 0, most };
    search.shrink();
    let Search { mut plan, run, kind, tries, size, .. } = search;
    let found = kind.find(&run.outcome.findings).cloned().ok_or("the finding was lost")?;
    plan.finding = Some(Finding { invariant: found.invariant.clone(), turn: found.turn, message: found.message.clone() });
    plan.file.clear();
    Ok(Shrunk { plan, run, found, tries, before, after: size })
}

/// The plan with what its run drew, without the mildest choices at the end, which need no record.
fn recorded(plan: &Plan, run: &Run) -> Plan {
    let used = run.choices.iter().rposition(|choice| *choice > 0).map_or(0, |at| at + 1);
    Plan { choices: Some(run.choices[..used].to_vec()), ..plan.clone() }
}

/// What is done to a span of choices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Delete,
    Zero,
}

struct Search<'w> {
    world: &'w World,
    kind: Kind,
    plan: Plan,
    run: Run,
    size: Size,
    tries: u32,
    most: u32,
}

impl Search<'_> {
    fn shrink(&mut self) {
        loop {
            let before = self.size;
            self.simplify_fields();
            self.edit_script();
            self.drop_tail();
            self.edit_spans(Edit::Zero);
            self.edit_spans(Edit::Delete);
            self.lower_values();
            if self.size == before || self.tries >= self.most {
                return;
            }
        }
    }

    /// Whether the run of this plan is smaller and has the same kind of finding; then it is the plan from now on.
    fn takes(&mut self, plan: Plan) -> bool {
        if self.tries >= self.most || plan == self.plan {
            return false;
        }
        self.tries += 1;
        // What can't be run has no finding.
        let Ok(run) = run(&plan, self.world) else { return false };
        let size = Size::of(&plan, &run);
        if size >= self.size || self.kind.find(&run.outcome.findings).is_none() {
            return false;
        }
        self.plan = recorded(&plan, &run);
        self.run = run;
        self.size = size;
        true
    }

    fn list(&self) -> Vec<u32> {
        self.plan.choices.clone().unwrap_or_default()
    }

    fn takes_list(&mut self, list: Vec<u32>) -> bool {
        let plan = Plan { choices: Some(list), ..self.plan.clone() };
        self.takes(plan)
    }

    /// The persona stays: it says whose moves the choices are.
    fn simplify_fields(&mut self) {
        let plan = self.plan.clone();
        self.takes(Plan { faults: Vec::new(), ..plan.clone() });
        self.takes(Plan { settings: Settings::default(), ..self.plan.clone() });
        self.takes(Plan { judge: "faithful".into(), ..self.plan.clone() });
        self.takes(Plan { evidence: "ledger".into(), ..self.plan.clone() });
        self.takes(Plan { dialect: "anthropic".into(), ..self.plan.clone() });
        for name in &plan.faults {
            let faults = self.plan.faults.iter().filter(|fault| *fault != name).cloned().collect();
            self.takes(Plan { faults, ..self.plan.clone() });
        }
    }

    fn edit_script(&mut self) {
        let mut at = 0;
        while self.tries < self.most
            && let Some(script) = &self.plan.script
            && let Some(edited) = script::smaller(script).into_iter().nth(at)
        {
            let plan = Plan { script: Some(edited), ..self.plan.clone() };
            // What follows an edit that was taken moves up to its place.
            at += usize::from(!self.takes(plan));
        }
    }

    /// As much of the end as can go: what is left out is answered by the mildest choice.
    fn drop_tail(&mut self) {
        let mut cut = self.list().len();
        while cut > 0 && self.tries < self.most {
            let mut list = self.list();
            list.truncate(list.len().saturating_sub(cut));
            if !self.takes_list(list) {
                cut /= 2;
            }
        }
    }

    fn edit_spans(&mut self, edit: Edit) {
        let mut width = (self.list().len() / 2).max(1);
        loop {
            let mut at = 0;
            while at < self.list().len() && self.tries < self.most {
                let mut list = self.list();
                let end = (at + width).min(list.len());
                match edit {
                    Edit::Delete => drop(list.drain(at..end)),
                    Edit::Zero => list[at..end].fill(0),
                }
                let taken = self.takes_list(list);
                // What follows a span that went moves up to its place.
                at += if taken && edit == Edit::Delete { 0 } else { width };
            }
            if width == 1 || self.tries >= self.most {
                return;
            }
            width = (width / 2).max(1);
        }
    }

    fn lower_values(&mut self) {
        let mut at = 0;
        while at < self.list().len() && self.tries < self.most {
            let list = self.list();
            let lower = |value: u32| {
                let mut list = list.clone();
                list[at] = value;
                list
            };
            let lowered = match list[at] {
                0 | 1 => false,
                value => self.takes_list(lower(value / 2)) || self.takes_list(lower(value - 1)),
            };
            at += usize::from(!lowered);
        }
    }
}
