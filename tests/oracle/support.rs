//! Runs told by hand. A [`Story`] writes down what an honest harness would leave behind; a test then spoils one thing in it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use unbacked::oracle::changes::DbChange;
use unbacked::oracle::claims::{Claim, Label, When};
use unbacked::oracle::invariants::{Judged, judge};
use unbacked::oracle::record::{RunFacts, Sent, TurnFacts};
use unbacked::turn::bounds::Settings;
use unbacked::turn::draft::{Act, CallKey, Entry, Fate, RowChange};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Receipt, Status, Stop, Tally, TurnRecord};
use unbacked::turn::guard::{About, Consulted, Objection, Ruling};
use unbacked::turn::message::{Arguments, Block, Call, Finish, Message, Reply, ToolResult, Usage};
use unbacked::turn::pending::PendingEntry;
use unbacked::turn::ports::{Failure, Outcome, Verdict};

pub const USER: i64 = 1;
pub const OTHER: i64 = 2;
pub const MARKER: &str = "belongs-to-somebody-else";

pub fn claim(act: Act, section: &str, count: u32) -> Claim {
    Claim { act, section: section.into(), count, when: When::ThisTurn }
}

pub fn earlier(act: Act, section: &str, count: u32) -> Claim {
    Claim { when: When::Earlier, ..claim(act, section, count) }
}

pub fn says_created(section: &str, count: u32) -> Label {
    Label::Claims(claim(Act::Create, section, count))
}

pub fn failed() -> Fate {
    Fate::Failed { reason: "the store said no".into() }
}

pub fn unknown() -> Fate {
    Fate::Unknown { reason: "nobody could say".into() }
}

pub fn unbacked_claim() -> About {
    About::Unbacked { claims: vec!["created skills".into()] }
}

pub fn unfinished(section: &str) -> About {
    About::Unfinished { section: section.into() }
}

/// A run in the making.
pub struct Story {
    pub run: RunFacts,
    earlier: Vec<Tally>,
    last: Vec<Entry>,
    /// Every mutating call so far.
    all: Vec<Entry>,
    /// The last turn that was folded.
    folded: u32,
    /// The transcript in the last request.
    sent: Vec<Message>,
    pending: Vec<PendingEntry>,
}

/// A turn in the making.
pub struct Turn<'s> {
    story: &'s mut Story,
    facts: TurnFacts,
    entries: Vec<Entry>,
    number: u32,
    iteration: u32,
    shown: String,
    corrected: Option<About>,
    contested: bool,
}

impl Story {
    pub fn new() -> Self {
        let run = RunFacts {
            settings: Settings::default(),
            guard_calls: 1,
            faithful: false,
            state_guard: true,
            withholds: false,
            wish_met: None,
            user: USER,
            foreign_marker: MARKER.into(),
            turns: Vec::new(),
            messages: Vec::new(),
            trail: Vec::new(),
            lost_wishes: 0,
        };
        Self { run, earlier: Vec::new(), last: Vec::new(), all: Vec::new(), folded: 0, sent: Vec::new(), pending: Vec::new() }
    }

    pub fn faithful() -> Self {
        let mut story = Self::new();
        story.run.faithful = true;
        story.run.withholds = true;
        story
    }

    pub fn turn(&mut self) -> Turn<'_> {
        let number = self.run.turns.len() as u32 + 1;
        let words = "please".to_owned();
        let report = Some(format!("<turn_report>\nchanges last turn:\n{}</turn_report>", lines_of(&self.last)));
        let mut turn = Turn {
            facts: TurnFacts { audited_in_same_transaction: true, harness_blocks: vec![(1, 1)], elapsed_ms: 40, ..TurnFacts::default() },
            story: self,
            entries: Vec::new(),
            number,
            iteration: 0,
            shown: String::new(),
            corrected: None,
            contested: false,
        };
        turn.event(Event::TurnOpened { turn: number, words: words.clone(), report: report.clone() });
        turn.store(Message::User { report, words });
        turn
    }
}

impl Turn<'_> {
    fn event(&mut self, event: Event) {
        self.facts.events.push(event);
    }

    fn store(&mut self, message: Message) {
        self.story.run.messages.push(message.clone());
        self.event(Event::Stored { message });
    }

    fn asks(&mut self, labels: Vec<Label>) {
        let pending = pending_block(&self.story.pending);
        self.event(Event::Asked { iteration: self.iteration + 1, attempt: 1, pending });
        self.sends();
        self.facts.said.push(labels);
    }

    /// A request goes out.
    fn sends(&mut self) {
        let now = self.story.run.messages.clone();
        let kept = self.story.sent.iter().zip(&now).take_while(|(before, now)| before == now).count();
        self.facts.sent.push(Sent { kept, new: now[kept..].to_vec() });
        self.story.sent = now;
    }

    /// All turns up to this one are folded.
    pub fn folds(mut self, through: u32) -> Self {
        let folded: Vec<Entry> = self.story.all.iter().filter(|entry| entry.key.turn <= through).cloned().collect();
        let summary = Message::Summary { through, facts: facts_of(&folded, through), words: "They talked.".into() };
        let messages = &mut self.story.run.messages;
        let opens = (0..messages.len()).filter(|place| matches!(messages[*place], Message::User { .. }));
        let cut = opens.take((through - self.story.folded) as usize + 1).last().expect("a turn to keep");
        messages.splice(..cut, [summary.clone()]);
        self.story.folded = through;
        self.event(Event::SummaryAsked { through });
        self.event(Event::Summarised { words: "They talked.".into(), error: None, usage: Usage { input: Some(50), output: Some(5) } });
        self.event(Event::Folded { through, messages: cut as u32, summary });
        self
    }

    fn reply(&mut self, labels: Vec<Label>, blocks: Vec<Block>) {
        self.asks(labels);
        self.iteration += 1;
        for block in &blocks {
            if let Block::Text { text } = block {
                self.shown.push_str(text);
                self.event(Event::Text { text: text.clone() });
            }
        }
        let usage = Usage { input: Some(100), output: Some(10) };
        let reply = Reply { blocks: blocks.clone(), finish: Finish::Stop, usage };
        self.event(Event::Replied { iteration: self.iteration, reply });
        let at = CallKey { turn: self.number, iteration: self.iteration, index: 0 };
        self.store(Message::Assistant { blocks, at });
    }

    /// A model call without a reply, tried again.
    pub fn breaks_off(mut self, labels: Vec<Label>) -> Self {
        self.asks(labels);
        self.event(Event::ReplyFailed { iteration: self.iteration + 1, attempt: 1, error: "cut".into(), retry: true });
        self
    }

    /// A reply in text alone.
    pub fn says(mut self, labels: Vec<Label>) -> Self {
        let text = format!("reply {}.{}. ", self.number, self.iteration + 1);
        self.reply(labels, vec![Block::text(text)]);
        self
    }

    /// A reply with one call that has this fate and changed these rows.
    pub fn writes(self, act: Act, section: &str, ids: &[i64], fate: Fate) -> Self {
        self.calls(act, section, ids, fate, &json!({}), &[])
    }

    /// A reply with one call that failed on missing input.
    pub fn lacks(self, section: &str, known: &Value, missing: &[&str]) -> Self {
        let fate = Fate::Failed { reason: "missing input".into() };
        self.calls(Act::Create, section, &[], fate, known, missing)
    }

    fn calls(mut self, act: Act, section: &str, ids: &[i64], fate: Fate, known: &Value, missing: &[&str]) -> Self {
        let missing: Vec<String> = missing.iter().map(|path| (*path).to_owned()).collect();
        let tool = format!("{}_{section}", act.word());
        let key = CallKey { turn: self.number, iteration: self.iteration + 1, index: 0 };
        let arguments = Arguments::Object { value: known.as_object().cloned().unwrap_or_default() };
        let call = Call { id: format!("c{}_{}", key.turn, key.iteration), name: tool.clone(), arguments };
        self.reply(Vec::new(), vec![Block::Call(call.clone())]);
        self.event(Event::CallStarted { key, call: call.clone() });
        self.event(Event::CallEnded { key, outcome: outcome_of(&fate, &missing) });
        let verdict = verdict_of(&fate);
        let content = verdict.as_ref().map_or_else(|| json!({}), |_| json!({ "_verification": { "ok": stands(&fate) } }));
        if let Some(verdict) = verdict {
            self.event(Event::Verified { key, verdict });
        }
        let rows: Vec<RowChange> = ids.iter().map(|id| RowChange { act, section: section.into(), id: *id }).collect();
        self.event(Event::Settled { key, tool: tool.clone(), act, section: section.into(), fate: fate.clone(), rows: rows.clone() });
        self.changes(key, &rows);
        self.remember(&tool, act, section, &fate, known, missing);
        let result = ToolResult { call_id: call.id, name: tool.clone(), content: content.to_string(), is_error: !stands(&fate) };
        self.event(Event::Resulted { key, result: result.clone() });
        let entry = Entry { key, tool, act, section: section.into(), fate, rows };
        self.story.all.push(entry.clone());
        self.entries.push(entry);
        self.store(Message::Results { results: vec![result], report: Some("<turn_report>".into()) });
        self
    }

    /// What SQLite saw of a call, and the audit trail.
    fn changes(&mut self, key: CallKey, rows: &[RowChange]) {
        let of_domain = rows.iter().filter(|row| row.act != Act::Discard);
        let change = |row: &RowChange| DbChange { act: row.act, section: row.section.clone(), id: row.id, owner: USER, given_to: None };
        self.facts.by_call.push((key, of_domain.map(change).collect()));
        self.story.run.trail.extend(rows.iter().map(|row| (key, row.clone())));
    }

    /// What P1 and P2 ask for, in the plainest way: the newest failure's arguments laid over what was known, member by member.
    fn remember(&mut self, tool: &str, act: Act, section: &str, fate: &Fate, known: &Value, missing: Vec<String>) {
        let pending = &mut self.story.pending;
        let place = pending.iter().position(|entry| entry.section == section);
        match (fate, place) {
            (Fate::Applied, Some(place)) => {
                pending.remove(place);
            }
            (Fate::Failed { .. }, Some(place)) if !missing.is_empty() => {
                let entry = &mut pending[place];
                entry.missing = missing;
                for (name, value) in known.as_object().into_iter().flatten() {
                    entry.known[name] = value.clone();
                }
            }
            (Fate::Failed { .. }, None) if !missing.is_empty() => {
                let (section, tool, known) = (section.to_owned(), tool.to_owned(), known.clone());
                pending.push(PendingEntry { id: 1, section, tool, act, known, missing, corrected: false });
            }
            _ => return,
        }
        self.tell_pending();
    }

    fn tell_pending(&mut self) {
        let entries = self.story.pending.clone();
        self.event(Event::PendingChanged { entries });
    }

    /// The guard accepts.
    pub fn accepted(mut self) -> Self {
        let second_look = self.corrected.is_some();
        self.event(Event::Ruled { consulted: Consulted::accept("fine"), second_look });
        self
    }

    /// The guard objects; the first time, its correction goes out.
    pub fn objected(mut self, about: About) -> Self {
        let guard = if matches!(about, About::Unfinished { .. }) { "state" } else { "completion" };
        let objection = Objection { guard: guard.into(), about: about.clone() };
        let second_look = self.corrected.is_some();
        let consulted = Consulted { ruling: Ruling::Object(objection.clone()), judge_calls: 1, judge_tokens: 0, why: "no".into() };
        self.event(Event::Ruled { consulted, second_look });
        if second_look {
            self.contested = !matches!(about, About::Unfinished { .. });
            return self;
        }
        if let About::Unfinished { section } = &about {
            self.story.pending.iter_mut().filter(|entry| entry.section == *section).for_each(|entry| entry.corrected = true);
            self.tell_pending();
        }
        self.event(Event::Corrected { objection, text: "<correction>".into() });
        self.store(Message::Correction { text: "<correction>".into() });
        self.corrected = Some(about);
        self
    }

    /// The turn closes by itself.
    pub fn ends(self) {
        self.stops(Stop::Replied);
    }

    /// The process dies in the turn. What the next turn has to record of it.
    pub fn dies(mut self) -> TurnRecord {
        let receipt = Receipt { entries: self.entries.clone(), earlier: Some(self.story.earlier.clone()), unread: false };
        let record = self.record(Stop::Died, vec!["the harness has something to say".into()], receipt);
        self.facts.crashed = true;
        self.facts.pending = self.story.pending.clone();
        self.sum_up();
        self.story.last = self.entries;
        self.story.run.turns.push(self.facts);
        record
    }

    /// Before anything else, the turn before it gets its record and its receipt.
    pub fn recovers(mut self, record: TurnRecord) -> Self {
        self.facts.events.insert(0, Event::TurnRecovered { record, text: Some("receipt".into()) });
        self
    }

    /// The turn closes for this reason.
    pub fn stops(mut self, stop: Stop) {
        let unanswered = self.corrected.as_ref().is_some_and(|about| !matches!(about, About::Unfinished { .. }));
        self.contested |= stop != Stop::Replied && unanswered;
        let speaks = self.contested || stop != Stop::Replied;
        let lines: Vec<String> = speaks.then(|| "the harness has something to say".into()).into_iter().collect();
        for text in lines.clone() {
            self.event(Event::Line { text });
        }
        let receipt = Receipt { entries: self.entries.clone(), earlier: Some(self.story.earlier.clone()), unread: false };
        self.event(Event::Receipt { text: format!("receipt\n{}", lines_of(&receipt.entries)), receipt: receipt.clone() });
        let record = self.record(stop, lines, receipt);
        self.event(Event::TurnClosed { record: record.clone() });
        self.facts.record = Some(record);
        self.facts.pending = self.story.pending.clone();
        self.sum_up();
        self.story.last = self.entries;
        self.story.run.turns.push(self.facts);
    }

    fn record(&self, stop: Stop, lines: Vec<String>, receipt: Receipt) -> TurnRecord {
        let count = |of: fn(&Event) -> u32| self.facts.events.iter().map(of).sum::<u32>();
        TurnRecord {
            turn: self.number,
            status: Status::of(&stop, self.contested, &receipt),
            stop,
            reply: self.shown.clone(),
            lines,
            receipt,
            corrections: u32::from(self.corrected.is_some()),
            iterations: self.iteration,
            model_calls: count(|event| u32::from(matches!(event, Event::Asked { .. } | Event::SummaryAsked { .. }))),
            judge_calls: count(|event| match event {
                Event::Ruled { consulted, .. } => consulted.judge_calls,
                _ => 0,
            }),
            tokens_in: u64::from(self.iteration) * 100 + 50 * self.summaries(),
            tokens_out: u64::from(self.iteration) * 10 + 5 * self.summaries(),
        }
    }

    fn summaries(&self) -> u64 {
        self.facts.events.iter().filter(|event| matches!(event, Event::Summarised { .. })).count() as u64
    }

    fn sum_up(&mut self) {
        let applied: BTreeSet<CallKey> = self.entries.iter().filter(|entry| entry.fate == Fate::Applied).map(|entry| entry.key).collect();
        let by_call = self.facts.by_call.iter().filter(|(key, _)| applied.contains(key));
        for change in by_call.flat_map(|(_, changes)| changes) {
            let tallies = &mut self.story.earlier;
            match tallies.iter_mut().find(|tally| tally.act == change.act && tally.section == change.section) {
                Some(tally) => tally.count += 1,
                None => tallies.push(Tally { act: change.act, section: change.section.clone(), count: 1 }),
            }
            tallies.sort();
        }
    }
}

fn stands(fate: &Fate) -> bool {
    matches!(fate, Fate::Applied | Fate::NoChange)
}

fn outcome_of(fate: &Fate, missing: &[String]) -> Outcome {
    match fate {
        Fate::Failed { reason } => {
            let failure = if missing.is_empty() { Failure::Conflict } else { Failure::MissingInput };
            Outcome::Failed { failure, reason: reason.clone(), missing: missing.to_vec() }
        }
        Fate::Unknown { reason } => Outcome::Unknown { reason: reason.clone() },
        Fate::Applied | Fate::NoChange => Outcome::Done { result: Map::new() },
    }
}

fn verdict_of(fate: &Fate) -> Option<Verdict> {
    match fate {
        Fate::Applied | Fate::NoChange => Some(Verdict::Holds),
        Fate::Unknown { reason } => Some(Verdict::NoAnswer { error: reason.clone() }),
        Fate::Failed { .. } => None,
    }
}

fn lines_of(entries: &[Entry]) -> String {
    let word = |fate: &Fate| match fate {
        Fate::Applied => "applied",
        Fate::NoChange => "no change",
        Fate::Failed { .. } => "FAILED",
        Fate::Unknown { .. } => "UNKNOWN",
    };
    let line = |entry: &Entry| {
        let rows: Vec<String> = entry.rows.iter().map(|row| format!("{} {} #{}", row.act.done(), row.section, row.id)).collect();
        format!("- {}: {} — {}\n", entry.tool, word(&entry.fate), rows.join(", "))
    };
    entries.iter().map(line).collect()
}

/// The facts of a summary, as the harness words them.
fn facts_of(entries: &[Entry], through: u32) -> String {
    let turns = if through == 1 { "Turn 1 is".to_owned() } else { format!("Turns 1 to {through} are") };
    let applied = entries.iter().filter(|entry| entry.fate == Fate::Applied).count();
    let sum = if entries.is_empty() { "none".to_owned() } else { format!("{applied} of {} applied", entries.len()) };
    let mut text =
        format!("<earlier_turns>\n{turns} over and left out here; nothing of that has to be done again. Changes in all: {sum}\n");
    for turn in 1..=through {
        let of_turn: Vec<Entry> = entries.iter().filter(|entry| entry.key.turn == turn).cloned().collect();
        if !of_turn.is_empty() {
            text.push_str(&format!("turn {turn}:\n"));
            of_turn.iter().for_each(|entry| text.push_str(&fact_of(entry)));
        }
    }
    text.push_str("This is what the database holds of it. And so on.\n</earlier_turns>");
    text
}

fn fact_of(entry: &Entry) -> String {
    let ids: Vec<String> = entry.rows.iter().map(|row| format!("#{}", row.id)).collect();
    let rows = entry.rows.first().map(|row| format!("{} {} {}", row.act.done(), row.section, ids.join(", "))).unwrap_or_default();
    let found = if rows.is_empty() { String::new() } else { format!(" (the audit trail holds: {rows})") };
    let told = match &entry.fate {
        Fate::Applied => format!("applied — {rows}"),
        Fate::NoChange => "no change — it was like that".into(),
        Fate::Failed { reason } => format!("FAILED — {reason}{found}"),
        Fate::Unknown { reason } => format!("UNKNOWN — {reason}{found}"),
    };
    format!("- {}: {told}\n", entry.tool)
}

fn pending_block(entries: &[PendingEntry]) -> Option<String> {
    let told: Vec<String> = entries.iter().map(|entry| json!({ "section": entry.section, "missing": entry.missing }).to_string()).collect();
    (!told.is_empty()).then(|| format!("<pending>\n{}\n</pending>", told.join("\n")))
}

/// The ids of the invariants that a run breaks.
pub fn broken(run: &RunFacts) -> BTreeSet<String> {
    judge(run).findings.into_iter().map(|finding| finding.invariant).collect()
}

/// The run breaks this one, and no other.
#[track_caller]
pub fn breaks_only(run: &RunFacts, invariant: &str) {
    let Judged { findings, .. } = judge(run);
    let ids: BTreeSet<&str> = findings.iter().map(|finding| finding.invariant.as_str()).collect();
    assert_eq!(ids, BTreeSet::from([invariant]), "{findings:#?}");
}

/// The run breaks none, and this one was judged on it.
#[track_caller]
pub fn holds(run: &RunFacts, invariant: &str) {
    let judged = judge(run);
    assert_eq!(judged.findings, Vec::new());
    assert!(judged.premises.get(invariant).is_some_and(|count| *count > 0), "{invariant} was never judged: {:?}", judged.premises);
}

/// The closing record of a turn, in the trace and in the store.
pub fn spoil_record(facts: &mut TurnFacts, spoil: impl Fn(&mut TurnRecord)) {
    for event in &mut facts.events {
        if let Event::TurnClosed { record } = event {
            spoil(record);
        }
    }
    facts.record.iter_mut().for_each(spoil);
}

/// The receipt of a turn, wherever it stands.
pub fn spoil_receipt(facts: &mut TurnFacts, spoil: impl Fn(&mut Receipt)) {
    for event in &mut facts.events {
        if let Event::Receipt { receipt, .. } = event {
            spoil(receipt);
        }
    }
    spoil_record(facts, |record| spoil(&mut record.receipt));
}
