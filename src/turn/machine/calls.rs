//! One call at a time, each to its fate: run, ask the database, settle, remember, answer (L4, L5, V, P, B2).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::turn::draft::{Act, CallKey, Entry, Fate, Intent, Observed};
use crate::turn::event::Event;
use crate::turn::exit::Stop;
use crate::turn::message::{Arguments, BrokenArguments, Call, Finish, Message, Reply, ToolResult};
use crate::turn::pending::Missing;
use crate::turn::ports::{Committed, Failure, Outcome, PortError, ToolKind, Verdict, WriteCheck};
use crate::turn::report;

use super::{Fact, Machine, Phase, Save, Step, Streak};

/// The call that is being worked on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallAtHand {
    key: CallKey,
    call: Call,
    /// What a mutating tool would do; `None` for a read.
    target: Option<Target>,
    stage: Stage,
    origin: Origin,
}

/// Where a call comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Origin {
    /// This turn's reply.
    ThisTurn,
    /// An earlier turn, which never answered it (L10).
    Unanswered,
    /// An earlier turn, which answered it and never added its fate (C4).
    Unsettled,
    /// An earlier turn, whose fate for it the trail refused: nothing is asked anew, and nothing is told twice.
    Refused,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Target {
    act: Act,
    section: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Running,
    /// The tool did not say that it committed: the audit trail is asked whether it did all the same.
    Inquiring {
        problem: Problem,
    },
    Verifying {
        result: Map<String, Value>,
        intent: Intent,
        again: bool,
    },
    Finding {
        result: Map<String, Value>,
        intent: Intent,
        verdict: Verdict,
        /// The verifier was asked before, and said no.
        again: bool,
    },
    Settling {
        answer: Map<String, Value>,
        entry: Entry,
        problem: Option<Problem>,
    },
}

/// What went wrong with a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Problem {
    failure: Failure,
    reason: String,
    missing: Vec<String>,
}

impl Problem {
    fn new(failure: Failure, reason: impl Into<String>) -> Self {
        Self { failure, reason: reason.into(), missing: Vec::new() }
    }

    fn not_run() -> Self {
        Self::new(Failure::NotRun, "not run: the turn was stopped before this call")
    }

    /// The error result that the model can read and act on (L5).
    fn answer(&self) -> Map<String, Value> {
        let mut answer = Map::new();
        answer.insert("error".into(), json!(self.reason));
        answer.insert("failure".into(), json!(self.failure.word()));
        if !self.missing.is_empty() {
            answer.insert("missing".into(), json!(self.missing));
        }
        answer
    }
}

impl CallAtHand {
    fn of(key: CallKey, call: Call, target: Option<Target>) -> Self {
        Self { key, call, target, stage: Stage::Running, origin: Origin::ThisTurn }
    }

    pub(super) fn key(&self) -> CallKey {
        self.key
    }

    /// A call of an earlier turn that has no result. Where its fate is on record it stands, otherwise the database will be asked.
    pub(super) fn unanswered(key: CallKey, call: Call, target: Option<Target>, fated: Option<Entry>) -> Self {
        let stage = match fated {
            Some(entry) => {
                let problem = match &entry.fate {
                    Fate::Applied | Fate::NoChange => None,
                    Fate::Failed { reason } | Fate::Unknown { reason } => Some(Problem::new(Failure::NotRun, reason.clone())),
                };
                let answer = problem.as_ref().map_or_else(|| recovered_answer(&entry), Problem::answer);
                Stage::Settling { answer, entry, problem }
            }
            None => Stage::Inquiring { problem: Problem::new(Failure::NotRun, "the turn ended before this call was answered") },
        };
        Self { stage, origin: Origin::Unanswered, ..Self::of(key, call, target) }
    }

    /// A commit of an earlier turn whose fate was never added.
    pub(super) fn unsettled(committed: Committed) -> Self {
        let call = Call { id: String::new(), name: committed.tool, arguments: Arguments::Object { value: Map::new() } };
        let target = Target { act: committed.act, section: committed.section };
        let problem = Problem::new(Failure::NotRun, "its fate was never added");
        Self { stage: Stage::Inquiring { problem }, origin: Origin::Unsettled, ..Self::of(committed.key, call, Some(target)) }
    }

    /// A call of an earlier turn whose fate the trail refused.
    pub(super) fn refused(entry: Entry) -> Self {
        let call = Call { id: String::new(), name: entry.tool.clone(), arguments: Arguments::Object { value: Map::new() } };
        let target = Target { act: entry.act, section: entry.section.clone() };
        let key = entry.key;
        Self {
            stage: Stage::Settling { answer: Map::new(), entry, problem: None },
            origin: Origin::Refused,
            ..Self::of(key, call, Some(target))
        }
    }

    pub(super) fn step(&self) -> Step {
        match &self.stage {
            Stage::Running => Step::Run(self.key, self.call.clone()),
            Stage::Inquiring { .. } | Stage::Finding { .. } => Step::Find(self.key),
            Stage::Verifying { intent, .. } => {
                Step::Verify(WriteCheck { key: self.key, tool: self.call.name.clone(), intent: intent.clone() })
            }
            Stage::Settling { entry, .. } => Step::Settle(
                Committed {
                    key: entry.key,
                    tool: entry.tool.clone(),
                    act: entry.act,
                    section: entry.section.clone(),
                    rows: entry.rows.clone(),
                },
                entry.fate.clone(),
            ),
        }
    }
}

impl CallAtHand {
    /// Whether the fact is that the store or the verifier gave no answer to the step at hand (V6).
    pub(super) fn store_failed(&self, fact: &Fact) -> bool {
        matches!(
            (&self.stage, fact),
            (Stage::Inquiring { .. } | Stage::Finding { .. }, Fact::Found(Err(_)))
                | (Stage::Settling { .. }, Fact::Settled(Err(_)))
                | (Stage::Verifying { .. }, Fact::Verified(Verdict::NoAnswer { .. }))
        )
    }
}

impl Machine<'_> {
    /// L3: the reply is stored with its calls before any of them runs.
    pub(super) fn begin_calls(&mut self, reply: Reply) {
        let cut_off = reply.finish == Finish::Length;
        let (turn, iteration) = (self.conversation.turn, self.turn.iterations);
        self.turn.calls = (0..).zip(reply.calls().cloned()).map(|(index, call)| (CallKey { turn, iteration, index }, call)).collect();
        if cut_off {
            self.turn.calls.iter_mut().for_each(|(_, call)| mark_cut_off(call));
        }
        let message = self.assistant(reply.blocks);
        self.turn.saves.push_back(Save::Message(message));
        self.turn.draft.any_result = true;
        self.next_call();
    }

    /// Takes up the next call of the reply, or closes the round.
    pub(super) fn next_call(&mut self) {
        let Some((key, call)) = self.turn.calls.pop_front() else { return self.end_round() };
        let target = self.target_of(&call);
        match self.reason_not_to_run(&call) {
            None => {
                self.events.push(Event::CallStarted { key, call: call.clone() });
                self.turn.phase = Phase::Calling(Box::new(CallAtHand::of(key, call, target)));
            }
            Some(problem) => {
                self.failed(CallAtHand::of(key, call, target), problem);
            }
        }
    }

    /// The turn was stopped while a call was already taken up: one that has not run is not run.
    pub(super) fn stopped_before(&mut self, at_hand: CallAtHand) {
        if at_hand.stage == Stage::Running {
            self.failed(at_hand, Problem::not_run());
        } else {
            self.turn.phase = Phase::Calling(Box::new(at_hand));
        }
    }

    /// L5, L9: calls that no tool is asked to run.
    fn reason_not_to_run(&self, call: &Call) -> Option<Problem> {
        if self.turn.stop.is_some() {
            return Some(Problem::not_run());
        }
        if let Arguments::Broken { raw, why } = &call.arguments {
            return Some(broken_arguments(raw, *why));
        }
        if self.tools.iter().any(|tool| tool.name == call.name) {
            return None;
        }
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let reason = format!("there is no tool named {}; the tools are: {}", report::bounded(&call.name, 80), names.join(", "));
        Some(Problem::new(Failure::UnknownTool, reason))
    }

    pub(super) fn target_of(&self, call: &Call) -> Option<Target> {
        match &self.tools.iter().find(|tool| tool.name == call.name)?.kind {
            ToolKind::Read => None,
            ToolKind::Write { act, section } => Some(Target { act: *act, section: section.clone() }),
            ToolKind::Discard => {
                let arguments = call.arguments.object();
                let section = arguments.get("section").and_then(Value::as_str).unwrap_or("?");
                Some(Target { act: Act::Discard, section: report::bounded(&report::escaped(section), 64) })
            }
        }
    }

    /// A fact about the call at hand.
    pub(super) fn call_answered(&mut self, mut at_hand: CallAtHand, fact: Fact) {
        let stage = std::mem::replace(&mut at_hand.stage, Stage::Running);
        match (stage, fact) {
            (Stage::Running, Fact::Ran(outcome)) => self.ran(at_hand, outcome),
            (Stage::Running, Fact::Interrupted(by)) => {
                self.turn.stop.get_or_insert(by.into());
                self.doubtful(at_hand, Problem::new(Failure::NotRun, "broken off: the turn was stopped while this call ran"));
            }
            (Stage::Inquiring { problem }, Fact::Found(found)) => self.inquired(at_hand, problem, found),
            (Stage::Verifying { result, intent, again }, Fact::Verified(verdict)) => {
                self.events.push(Event::Verified { key: at_hand.key, verdict: verdict.clone() });
                at_hand.stage = Stage::Finding { result, intent, verdict, again };
                self.turn.phase = Phase::Calling(Box::new(at_hand));
            }
            (Stage::Finding { result, intent, verdict, again: false }, Fact::Found(Ok(Some(found))))
                if contradicts(&intent, &verdict, &found) =>
            {
                at_hand.stage = Stage::Verifying { result, intent, again: true };
                self.turn.phase = Phase::Calling(Box::new(at_hand));
            }
            (Stage::Finding { result, intent, verdict, .. }, Fact::Found(found)) => {
                let observed = observe(&intent, verdict, found);
                self.observed(at_hand, result, &intent, &observed);
            }
            (Stage::Settling { answer, entry, problem }, Fact::Settled(settled)) => {
                self.conversation.unsettled.retain(|refused| refused.key != entry.key);
                if let Err(error) = settled {
                    self.conversation.unsettled.push(entry.clone());
                    if at_hand.origin != Origin::ThisTurn {
                        // No turn opens before the trail has what is known of the one before it: else its sums would lack that for ever.
                        return self.memory_failed(error);
                    }
                }
                self.settled(at_hand, answer, entry, problem);
            }
            _ => self.confused(),
        }
    }

    fn ran(&mut self, mut at_hand: CallAtHand, outcome: Outcome) {
        self.events.push(Event::CallEnded { key: at_hand.key, outcome: outcome.clone() });
        match outcome {
            Outcome::Done { result } => match (error_inside(&result), &at_hand.target) {
                (Some(reason), _) => self.doubtful(at_hand, Problem::new(Failure::Reported, reason)),
                (None, None) => self.answer(at_hand, without_verification(result), None),
                (None, Some(target)) => {
                    let intent = Intent { act: target.act, section: target.section.clone(), ids: ids_in(&result) };
                    at_hand.stage = Stage::Verifying { result, intent, again: false };
                    self.turn.phase = Phase::Calling(Box::new(at_hand));
                }
            },
            Outcome::Failed { failure, reason, missing } => self.doubtful(at_hand, Problem { failure, reason, missing }),
            Outcome::Unknown { reason } => self.doubtful(at_hand, Problem::new(Failure::Store, reason)),
        }
    }

    /// The tool did not say that it committed. It may have all the same, whatever it says, so the database is asked.
    fn doubtful(&mut self, mut at_hand: CallAtHand, problem: Problem) {
        if at_hand.target.is_some() {
            at_hand.stage = Stage::Inquiring { problem };
            self.turn.phase = Phase::Calling(Box::new(at_hand));
        } else {
            self.failed(at_hand, problem);
        }
    }

    fn inquired(&mut self, mut at_hand: CallAtHand, problem: Problem, found: Result<Option<Committed>, PortError>) {
        match found {
            Ok(None) => self.failed(at_hand, problem),
            Ok(Some(committed)) => {
                let note = json!(format!("committed all the same: {}", problem.reason));
                let result = Map::from_iter([("note".to_owned(), note)]);
                let ids = committed.rows.iter().map(|row| row.id).collect();
                let intent = Intent { act: committed.act, section: committed.section, ids };
                at_hand.stage = Stage::Verifying { result, intent, again: false };
                self.turn.phase = Phase::Calling(Box::new(at_hand));
            }
            Err(error) => {
                let fate = Fate::Unknown { reason: report::reason(&format!("{}; {}", problem.reason, error.0)) };
                self.settle(at_hand, problem.answer(), fate, Vec::new(), Some(problem));
            }
        }
    }

    /// V3, V4: the verdict is folded into the result, and a verdict that is not ok fails the call.
    fn observed(&mut self, at_hand: CallAtHand, result: Map<String, Value>, intent: &Intent, observed: &Observed) {
        let fate = Fate::of(intent, observed);
        let fate = match fate {
            Fate::Failed { reason } => Fate::Failed { reason: report::reason(&reason) },
            Fate::Unknown { reason } => Fate::Unknown { reason: report::reason(&reason) },
            fate => fate,
        };
        let problem = match &fate {
            Fate::Applied | Fate::NoChange => None,
            Fate::Failed { reason } | Fate::Unknown { reason } => Some(Problem::new(Failure::Verification, reason.clone())),
        };
        let answer = with_verification(result, &proved(intent, &fate, observed), &fate);
        self.settle(at_hand, answer, fate, observed.rows().to_vec(), problem);
    }

    /// The call failed and nothing of it was committed.
    fn failed(&mut self, at_hand: CallAtHand, problem: Problem) {
        let answer = problem.answer();
        if at_hand.target.is_none() {
            return self.answer(at_hand, answer, Some(problem));
        }
        let fate = Fate::Failed { reason: report::reason(&problem.reason) };
        self.settle(at_hand, answer, fate, Vec::new(), Some(problem));
    }

    fn settle(
        &mut self,
        mut at_hand: CallAtHand,
        answer: Map<String, Value>,
        fate: Fate,
        rows: Vec<crate::turn::draft::RowChange>,
        problem: Option<Problem>,
    ) {
        let Some(target) = at_hand.target.clone() else { return self.answer(at_hand, answer, problem) };
        let entry = Entry { key: at_hand.key, tool: at_hand.call.name.clone(), act: target.act, section: target.section, fate, rows };
        at_hand.stage = Stage::Settling { answer, entry, problem };
        self.turn.phase = Phase::Calling(Box::new(at_hand));
    }

    fn settled(&mut self, at_hand: CallAtHand, answer: Map<String, Value>, entry: Entry, problem: Option<Problem>) {
        if at_hand.origin == Origin::Refused {
            return self.next_lost();
        }
        let Entry { key, tool, act, section, fate, rows } = entry.clone();
        self.events.push(match at_hand.origin {
            Origin::ThisTurn => Event::Settled { key, tool, act, section, fate, rows },
            _ => Event::Recovered { key, tool, act, section, fate, rows },
        });
        if self.settings.parts.pending {
            self.remember(&at_hand.call, &entry, problem.as_ref());
        }
        if at_hand.origin == Origin::ThisTurn {
            self.turn.draft.entries.push(entry);
        }
        self.answer(at_hand, answer, problem);
    }

    /// P1, P2, P4.
    fn remember(&mut self, call: &Call, entry: &Entry, problem: Option<&Problem>) {
        let changed = match problem {
            None if entry.fate == Fate::Applied => self.conversation.pending.clear(&entry.section),
            Some(problem) if problem.failure == Failure::MissingInput && matches!(entry.act, Act::Create | Act::Update) => {
                if self.conversation.pending.get(&entry.section).is_none() {
                    self.conversation.pending_made += 1;
                }
                let known = Value::Object(call.arguments.object());
                let failed =
                    Missing { tool: &call.name, act: entry.act, section: &entry.section, known: &known, missing: &problem.missing };
                self.conversation.pending.remember(&failed, self.conversation.pending_made);
                true
            }
            // What a discard took from the store without being borne out is still pending (V7).
            Some(_) => entry.act == Act::Discard && (!entry.rows.is_empty() || matches!(entry.fate, Fate::Unknown { .. })),
            None => false,
        };
        if changed {
            self.save_pending();
        }
    }

    /// L5: exactly one result for the call; B2: counted.
    fn answer(&mut self, at_hand: CallAtHand, answer: Map<String, Value>, problem: Option<Problem>) {
        let content = bounded_content(&in_words(answer), self.settings.result_bytes);
        let result = ToolResult { call_id: at_hand.call.id, name: at_hand.call.name.clone(), content, is_error: problem.is_some() };
        if at_hand.origin != Origin::Unsettled {
            self.events.push(Event::Resulted { key: at_hand.key, result: result.clone() });
            self.turn.results.push(result);
        }
        if at_hand.origin == Origin::ThisTurn {
            self.count_strike(&at_hand.call.name, problem.map(|problem| problem.failure));
            self.next_call();
        } else {
            self.next_lost();
        }
    }

    /// B2: the same tool failing in the same way; its own success resets the count, other tools do not.
    fn count_strike(&mut self, tool: &str, failure: Option<Failure>) {
        let Some(failure) = failure else {
            self.turn.streaks.remove(tool);
            return;
        };
        let streak = self.turn.streaks.entry(tool.to_owned()).or_insert(Streak { failure, length: 0 });
        if streak.failure != failure {
            *streak = Streak { failure, length: 0 };
        }
        streak.length += 1;
        if streak.length >= self.settings.strikes {
            let tool = report::bounded(&report::escaped(tool), 64);
            self.turn.stop.get_or_insert(Stop::Strikes { tool, failure: failure.word().into() });
        }
    }

    /// L5, L6: all results in one message, with the report; then the model again, unless the turn is stopping.
    fn end_round(&mut self) {
        let results = std::mem::take(&mut self.turn.results);
        let report = self.settings.parts.reports.then(|| report::turn_report(&self.turn.draft));
        self.turn.saves.push_back(Save::Message(Message::Results { results, report }));
        if self.turn.stop.is_some() {
            self.turn.phase = Phase::ReadingReceipt;
        } else {
            self.ask();
        }
    }
}

fn mark_cut_off(call: &mut Call) {
    let raw = match &call.arguments {
        Arguments::Object { value } => report::bounded(&Value::Object(value.clone()).to_string(), 200),
        Arguments::Broken { raw, .. } => raw.clone(),
    };
    call.arguments = Arguments::Broken { raw, why: BrokenArguments::CutOff };
}

fn broken_arguments(raw: &str, why: BrokenArguments) -> Problem {
    let raw = report::bounded(raw, 200);
    match why {
        BrokenArguments::NotJson => Problem::new(Failure::BrokenArguments, format!("not run: the arguments are no JSON: {raw}")),
        BrokenArguments::NotAnObject => {
            Problem::new(Failure::BrokenArguments, format!("not run: the arguments must be a JSON object, not: {raw}"))
        }
        BrokenArguments::CutOff => {
            Problem::new(Failure::CutOff, "not run: your reply was cut off at its length limit, and so were its calls; send less at a time")
        }
    }
}

/// An error that a tool reports inside a result that it calls a success.
fn error_inside(result: &Map<String, Value>) -> Option<String> {
    let nothing = [json!(null), json!(false), json!(""), json!(0), json!([]), json!({})];
    let truthy = |value: &Value| !nothing.contains(value);
    let says_no = ["ok", "success"].iter().any(|key| result.get(*key) == Some(&Value::Bool(false)));
    let flagged = ["is_error", "isError"].iter().any(|key| result.get(*key) == Some(&Value::Bool(true)));
    let error = ["error", "errors"].iter().find_map(|key| result.get(*key).filter(|value| truthy(value)));
    match error {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value) => Some(value.to_string()),
        None if says_no || flagged => Some("the tool's own result says that it failed".into()),
        None => None,
    }
}

/// V1: every id of every `*_ids` list. An entry that is no integer stands as an id that no row can have.
fn ids_in(result: &Map<String, Value>) -> Vec<i64> {
    result
        .iter()
        .filter(|(key, _)| key.ends_with("_ids"))
        .filter_map(|(_, value)| value.as_array())
        .flatten()
        .map(|id| id.as_i64().unwrap_or(i64::MIN))
        .collect()
}

/// V5, V6, V8: what was seen, from the verifier's verdict and the audit trail's rows.
fn observe(intent: &Intent, verdict: Verdict, found: Result<Option<Committed>, PortError>) -> Observed {
    let rows = match found {
        Ok(found) => found.map(|committed| committed.rows).unwrap_or_default(),
        Err(error) => return Observed::NoAnswer { error: error.0 },
    };
    match verdict {
        Verdict::NoAnswer { error } => Observed::NoAnswer { error },
        Verdict::Contradicted { error } if !rows.is_empty() || !intent.ids.is_empty() => Observed::Contradicted { error, rows },
        _ => match intent.ids_that_prove_nothing() {
            Some(error) if !(rows.is_empty() && intent.ids.is_empty()) => Observed::Contradicted { error, rows },
            _ => Observed::Holds { rows },
        },
    }
}

/// The trail holds what the verifier does not find: one of them may have read an old state, so the verifier is asked once more.
fn contradicts(intent: &Intent, verdict: &Verdict, found: &Committed) -> bool {
    matches!(verdict, Verdict::Contradicted { .. }) && !found.rows.is_empty() && intent.ids_that_prove_nothing().is_none()
}

/// V8: a call that was applied is borne out for the rows that it changed, whatever else it named.
fn proved(intent: &Intent, fate: &Fate, observed: &Observed) -> Intent {
    let changed = || observed.rows().iter().filter(|row| row.act != Act::Discard).map(|row| row.id).collect();
    Intent { ids: if *fate == Fate::Applied { changed() } else { intent.ids.clone() }, ..intent.clone() }
}

/// The answer to a call whose fate is on record and whose own result is lost.
fn recovered_answer(entry: &Entry) -> Map<String, Value> {
    let ids = entry.rows.iter().filter(|row| row.act != Act::Discard).map(|row| row.id).collect();
    let intent = Intent { act: entry.act, section: entry.section.clone(), ids };
    let note = json!("the turn ended before this call was answered; this is what the database has of it");
    with_verification(Map::from_iter([("note".to_owned(), note)]), &intent, &entry.fate)
}

/// V3: the reserved key.
const VERIFICATION: &str = "_verification";

/// V3: folded in under the reserved key; what the tool itself said under it is kept under another.
fn with_verification(result: Map<String, Value>, intent: &Intent, fate: &Fate) -> Map<String, Value> {
    let mut result = without_verification(result);
    let mut verification = json!({
        "ok": matches!(fate, Fate::Applied | Fate::NoChange),
        "entity": intent.section,
        "ids": intent.ids,
    });
    if let Fate::Failed { reason } | Fate::Unknown { reason } = fate {
        verification["error"] = json!(reason);
    }
    result.insert(VERIFICATION.into(), verification);
    result
}

/// V3: what a tool itself says under the reserved key is kept under one that it has not used.
fn without_verification(mut result: Map<String, Value>) -> Map<String, Value> {
    if let Some(own) = result.remove(VERIFICATION) {
        let mut key = String::from("according_to_the_tool");
        while result.contains_key(&key) {
            key.push('_');
        }
        result.insert(key, own);
    }
    result
}

/// A result as JSON text, the verdict first: a cut takes the end.
fn in_words(mut answer: Map<String, Value>) -> String {
    let Some(verification) = answer.remove(VERIFICATION) else { return Value::Object(answer).to_string() };
    let rest = Value::Object(answer).to_string();
    let comma = if rest == "{}" { "" } else { "," };
    format!("{{\"{VERIFICATION}\":{verification}{comma}{}", &rest[1..])
}

/// W-F24: cut by our own limit, long before a provider's, and marked.
fn bounded_content(content: &str, most: usize) -> String {
    if content.len() <= most {
        return content.to_owned();
    }
    let end = content.floor_char_boundary(most);
    format!("{} … [cut: {} bytes in all]", &content[..end], content.len())
}
