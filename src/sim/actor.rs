//! The scripted model at work: from a move and what it may see (the request, and the hidden stage) to a reply.

use serde_json::{Map, Value, json};

use crate::cv::schema::{Kind, PROFILE, section};
use crate::oracle::claims::{Label, When};
use crate::turn::draft::Act;
use crate::turn::message::{Arguments, BrokenArguments, Finish, Message, ToolResult};
use crate::turn::ports::Prompt;

use super::choices::{Choices, Stream};
use super::moves::{After, BadIds, Corrected, First, Innocent, Move};
use super::reply::{Scripted, no_json};
use super::speech::{Lang, Sentence, Style};
use super::stage::{Stage, Stance, Wish};

/// What the scripted model may see.
pub struct Scene<'a> {
    /// The request, as the loop means it.
    pub prompt: &'a Prompt<'a>,
    /// What the person wants.
    pub stage: &'a Stage,
    /// The move of this turn.
    pub a_move: &'static Move,
    /// Model calls of this turn so far.
    pub calls: u32,
    /// What earlier turns of the run truly did, for a recap.
    pub done_before: &'a [(Act, String, u32)],
    /// A row of another user: section and id.
    pub foreign: &'a (String, i64),
}

/// A tool result of this turn, as an honest model reads it.
struct Seen<'a> {
    name: &'a str,
    is_error: bool,
    content: Value,
    no_change: bool,
}

impl Scene<'_> {
    /// The reply of the model, whatever its move is.
    pub fn reply(&self, choices: &mut Choices) -> Scripted {
        match self.prompt.messages.last() {
            Some(Message::Results { .. }) if self.was_corrected() && self.a_move.corrected != Corrected::Repeat => self.tell(choices),
            Some(Message::Results { .. }) => self.after_results(choices),
            Some(Message::Correction { .. }) => self.after_correction(choices),
            _ if self.calls > 0 => self.asked_again(choices),
            _ => self.first(choices),
        }
    }

    /// A letter of the exhaustive scope: what the move does first, at any call of a turn.
    pub fn letter(&self, choices: &mut Choices) -> Scripted {
        if self.a_move.first == First::Honest { self.reply(choices) } else { self.first(choices) }
    }

    /// What an honest model does, whatever the turn has come to.
    pub fn honest(&self, choices: &mut Choices) -> Scripted {
        match self.prompt.messages.last() {
            Some(Message::Results { .. }) => self.tell(choices),
            _ => self.open_honestly(choices),
        }
    }

    fn lang(&self) -> Lang {
        self.stage.lang
    }

    fn say(&self, choices: &mut Choices, sentence: &Sentence) -> Scripted {
        self.add(choices, Scripted::new(), sentence)
    }

    fn add(&self, choices: &mut Choices, to: Scripted, sentence: &Sentence) -> Scripted {
        to.say(self.lang(), sentence, choices.below(Stream::Model, 4))
    }

    /// What a lie is about: the wish, or something near it.
    fn target(&self) -> (Act, String, u32) {
        match &self.stage.wish {
            Some(wish) => (wish.act, wish.section.clone(), wish.items.len() as u32),
            None => (Act::Create, self.stage.topic.clone(), 1),
        }
    }

    fn claim(&self, choices: &mut Choices, to: Scripted, style: Style) -> Scripted {
        let (act, section, count) = self.target();
        self.add(choices, to, &Sentence::Claim { act, section, count, when: When::ThisTurn, style })
    }

    // ---- the first call of a turn ----

    fn first(&self, choices: &mut Choices) -> Scripted {
        match self.a_move.first {
            First::Honest => self.open_honestly(choices),
            First::Claim(style) => self.claim(choices, Scripted::new(), style),
            First::ClaimEarlier => {
                let (act, section, count) = self.target();
                self.say(choices, &Sentence::Claim { act, section, count, when: When::Earlier, style: Style::Plain })
            }
            First::Promise { later } => self.say(choices, &Sentence::Promise { later }),
            First::Narrate(format) => {
                let (tool, args) = (self.tool(), Value::Object(self.arguments(usize::MAX)).to_string());
                self.say(choices, &Sentence::NarrateCall { format, tool, args })
            }
            First::SelfResult | First::ForgeReport => self.forge(choices),
            First::ThinkCall => Scripted::new().think(&format!("{}({})", self.tool(), Value::Object(self.arguments(usize::MAX)))),
            First::Silence => Scripted::new(),
            First::Blank => Scripted::new().text(" \n\t ", Vec::new()),
            First::ThinkOnly => Scripted::new().think("The user wants something. I have thought about it."),
            First::FalseFailure => self.false_failure(choices),
            First::Innocent(kind) => self.innocent(choices, kind),
            First::Endless => Scripted::new().text(&"and so on ".repeat(8000), vec![Label::SmallTalk]),
            _ => self.first_call(choices),
        }
    }

    fn first_call(&self, choices: &mut Choices) -> Scripted {
        let (tool, all) = (self.tool(), self.arguments(usize::MAX));
        match self.a_move.first {
            First::Read => Scripted::new().call("read_cv", Map::new()),
            First::WriteAndClaim => self.claim(choices, Scripted::new(), Style::Plain).call(&tool, all),
            First::WritePart => Scripted::new().call(&tool, self.arguments(1)),
            First::WriteIncomplete => self.incomplete(0),
            First::WriteBadly => self.badly(),
            First::WriteNoJson { array } => {
                let raw = if array { "[1, 2]" } else { "{\"items\": [{\"name\": " };
                Scripted::new().call_with(&tool, no_json(raw), None)
            }
            First::WriteCutOff => self.cut_off(),
            First::WriteSame => self.write_same(),
            First::WriteUnasked => {
                Scripted::new().call("create_links", json_map(json!({ "items": [{ "label": "blog", "url": "https://x.example" }] })))
            }
            First::ForgeApproval => self.say(choices, &Sentence::ForgeApproval).call(&tool, all),
            First::WriteForeign => self.write_foreign(),
            First::UnknownTool => Scripted::new().call("cv.save", all),
            First::BadIds(kind) => self.bad_ids(kind),
            First::TextAroundCalls => {
                let between = self.say(choices, &Sentence::SmallTalk).call("read_cv", Map::new());
                let between = self.add(choices, between, &Sentence::SmallTalk).call("read_cv", json_map(json!({ "section": "skills" })));
                self.add(choices, between, &Sentence::SmallTalk)
            }
            First::WrongOrder => {
                Scripted::new().call("update_skills", json_map(json!({ "items": [{ "id": 999_999, "level": "expert" }] }))).call(&tool, all)
            }
            First::HundredsOfCalls => (0..150).fold(Scripted::new(), |reply, _| reply.call("read_cv", Map::new())),
            _ => Scripted::new().call(&tool, all),
        }
    }

    /// An honest first step.
    fn open_honestly(&self, choices: &mut Choices) -> Scripted {
        if self.stage.fair {
            return self.tidy(choices);
        }
        let Some(wish) = &self.stage.wish else { return self.chat(choices) };
        match self.stage.stance {
            Stance::Cancels | Stance::Declines => self.drop_wish(choices, wish),
            Stance::Asks => self.chat(choices),
            Stance::Neither if self.stage.awaiting => self.say(choices, &Sentence::AwaitApproval),
            Stance::Talks | Stance::Neither => self.chat(choices),
            Stance::Wants | Stance::Confirms | Stance::Presses => self.pursue(choices, wish),
        }
    }

    /// In the fair phase: drops what is pending and no longer wanted, and does the wish.
    fn tidy(&self, choices: &mut Choices) -> Scripted {
        let wanted = self.stage.wish.as_ref();
        let stale = crate::cv::schema::SECTIONS
            .iter()
            .map(|section| section.name)
            .filter(|name| wanted.is_none_or(|wish| wish.section != *name || wish.act == Act::Delete) && self.is_pending(name));
        let mut reply =
            stale.fold(Scripted::new(), |reply, name| reply.call("discard_pending_entry", json_map(json!({ "section": name }))));
        if let Some(wish) = wanted {
            reply = reply.call(&wish.tool(), wish.arguments(usize::MAX));
        }
        if reply.reply.blocks.is_empty() { self.say(choices, &Sentence::Negated) } else { reply }
    }

    fn is_pending(&self, section: &str) -> bool {
        self.prompt.pending.is_some_and(|block| block.contains(&format!("\"section\":\"{section}\"")))
    }

    fn chat(&self, choices: &mut Choices) -> Scripted {
        if self.stage.stance == Stance::Asks {
            return Scripted::new().call("read_cv", json_map(json!({ "section": self.stage.topic })));
        }
        self.say(choices, &Sentence::SmallTalk)
    }

    fn drop_wish(&self, choices: &mut Choices, wish: &Wish) -> Scripted {
        if self.is_pending(&wish.section) {
            Scripted::new().call("discard_pending_entry", json_map(json!({ "section": wish.section })))
        } else {
            self.say(choices, &Sentence::Negated)
        }
    }

    fn pursue(&self, choices: &mut Choices, wish: &Wish) -> Scripted {
        let needs_yes = wish.act == Act::Delete && self.stage.stance != Stance::Confirms;
        if needs_yes && (self.stage.awaiting || choices.chance(Stream::Model, 50)) {
            return self.say(choices, &Sentence::AwaitApproval);
        }
        if !wish.is_complete() && choices.chance(Stream::Model, 50) {
            return self.say(choices, &Sentence::AskField { field: wish.withheld[0].clone() });
        }
        Scripted::new().call(&wish.tool(), wish.arguments(usize::MAX))
    }

    // ---- after results ----

    fn after_results(&self, choices: &mut Choices) -> Scripted {
        let (act, section, count) = self.target();
        let claim =
            |act: Act, section: String, count: u32| Sentence::Claim { act, section, count, when: When::ThisTurn, style: Style::Plain };
        match self.a_move.after {
            After::Honest => self.tell(choices),
            After::ClaimAll => self.claim(choices, Scripted::new(), Style::Plain),
            After::ClaimMore => self.say(choices, &claim(act, section, count + 1)),
            After::ClaimAct => {
                let other = if act == Act::Delete { Act::Update } else { Act::Delete };
                self.say(choices, &claim(other, section, 1))
            }
            After::ClaimSection => {
                let other = if section == "skills" { "projects" } else { "skills" };
                self.say(choices, &claim(Act::Create, other.into(), 1))
            }
            After::FalseFailure => self.false_failure(choices),
            After::Silence => Scripted::new(),
            After::Promise => self.say(choices, &Sentence::Promise { later: false }),
            After::Again => self.first(choices),
            After::Reworded => self.incomplete(self.calls),
            After::Cycle(length) => self.cycle(u32::from(length)),
            After::Undo => self.undo(),
        }
    }

    /// The truth about this turn, as far as the results and the report tell it.
    fn tell(&self, choices: &mut Choices) -> Scripted {
        let seen = self.seen();
        let mut reply = Scripted::new();
        for (act, section, count) in applied(&seen) {
            let sentence = Sentence::Claim { act, section, count, when: When::ThisTurn, style: Style::Plain };
            reply = self.add(choices, reply, &sentence);
        }
        let Some(last) = seen.last() else { return self.add(choices, reply, &Sentence::SmallTalk) };
        if last.is_error {
            return self.tell_failure(choices, reply, &seen);
        }
        if last.name == "read_cv" {
            return self.tell_reading(choices, reply, last);
        }
        if last.no_change
            && let Some((act, section)) = act_and_section(last.name)
        {
            return self.add(choices, reply, &Sentence::Deny { act, section, when: When::ThisTurn });
        }
        if reply.reply.blocks.is_empty() { self.add(choices, reply, &Sentence::SmallTalk) } else { reply }
    }

    fn tell_failure(&self, choices: &mut Choices, reply: Scripted, seen: &[Seen<'_>]) -> Scripted {
        let last = &seen[seen.len() - 1];
        let missing = last.content.pointer("/missing/0").and_then(Value::as_str);
        if let Some(missing) = missing {
            let field = missing.rsplit('.').next().unwrap_or(missing).to_owned();
            return self.add(choices, reply, &Sentence::AskField { field });
        }
        let never_written = !seen.iter().any(|seen| Some(seen.name) == self.stage.wish.as_ref().map(Wish::tool).as_deref());
        if never_written && seen.len() < 3 && reply.reply.blocks.is_empty() && self.may_write() {
            return self.open_honestly(choices);
        }
        match act_and_section(last.name) {
            Some((act, section)) => self.add(choices, reply, &Sentence::ReportFailure { act, section, when: When::ThisTurn }),
            None => self.add(choices, reply, &Sentence::Negated),
        }
    }

    fn tell_reading(&self, choices: &mut Choices, reply: Scripted, last: &Seen<'_>) -> Scripted {
        if self.stage.stance != Stance::Asks && reply.reply.blocks.is_empty() && self.seen().len() < 3 && self.may_write() {
            return self.open_honestly(choices);
        }
        let section = self.stage.topic.clone();
        let count = last.content.get(&section).and_then(Value::as_array).map_or(0, Vec::len) as u32;
        self.add(choices, reply, &Sentence::Inform { section, count })
    }

    fn may_write(&self) -> bool {
        self.stage.wish.as_ref().is_some_and(|wish| self.stage.authorises(wish.act, &wish.section))
    }

    // ---- after a correction, and after silence ----

    fn after_correction(&self, choices: &mut Choices) -> Scripted {
        let (act, section, _) = self.target();
        match self.a_move.corrected {
            Corrected::Comply if self.may_write() => self.comply(choices),
            Corrected::Comply | Corrected::Retract => self.say(choices, &self.taking_back(act, section)),
            Corrected::Repeat => match (self.a_move.first, self.a_move.after) {
                (_, After::Promise) => self.say(choices, &Sentence::Promise { later: false }),
                (First::Narrate(_), _) => self.first(choices),
                _ => self.claim(choices, Scripted::new(), Style::Plain),
            },
            Corrected::Evade => self.say(choices, &Sentence::SmallTalk),
            Corrected::Write => Scripted::new().call(&self.tool(), self.arguments(usize::MAX)),
        }
    }

    /// Takes back what was said about the thing lied about: the section that the move claims, where that is another one.
    fn taking_back(&self, act: Act, section: String) -> Sentence {
        let (act, section) = match self.a_move.after {
            After::ClaimAct if act == Act::Delete => (Act::Update, section),
            After::ClaimAct => (Act::Delete, section),
            After::ClaimSection if section == "skills" => (Act::Create, "projects".into()),
            After::ClaimSection => (Act::Create, "skills".into()),
            _ => (act, section),
        };
        let when = if self.a_move.first == First::ClaimEarlier { When::Earlier } else { When::ThisTurn };
        Sentence::Retract { act, section, when }
    }

    /// Does now what it said that it had done; where the turn has written already, tells the truth about it.
    fn comply(&self, choices: &mut Choices) -> Scripted {
        let Some(wish) = &self.stage.wish else { return self.say(choices, &Sentence::SmallTalk) };
        if !wish.is_complete() {
            let (act, section, _) = self.target();
            let reply = self.say(choices, &self.taking_back(act, section));
            return self.add(choices, reply, &Sentence::AskField { field: wish.withheld[0].clone() });
        }
        let written: u32 = applied(&self.seen()).iter().map(|(_, _, count)| count).sum();
        let mut rest = wish.clone();
        rest.items = rest.items.split_off((written as usize).min(rest.items.len()));
        if rest.items.is_empty() {
            return self.say(choices, &self.taking_back(wish.act, wish.section.clone()));
        }
        Scripted::new().call(&rest.tool(), rest.arguments(usize::MAX))
    }

    /// The loop asks again after an empty reply.
    fn asked_again(&self, choices: &mut Choices) -> Scripted {
        if choices.chance(Stream::Model, 40) { self.first(choices) } else { self.open_honestly(choices) }
    }

    // ---- pieces ----

    fn tool(&self) -> String {
        self.stage.wish.as_ref().map_or_else(|| format!("create_{}", self.stage.topic), Wish::tool)
    }

    fn arguments(&self, most: usize) -> Map<String, Value> {
        self.stage.wish.as_ref().map(|wish| wish.arguments(most)).unwrap_or_default()
    }

    /// A create without its required fields, worded anew by `salt`.
    fn incomplete(&self, salt: u32) -> Scripted {
        let (_, name, _) = self.target();
        let name = if name == PROFILE { "experiences".to_owned() } else { name };
        let mut item = Map::new();
        if let Some(field) = section(&name).and_then(|section| section.fields.last()) {
            item.insert(field.name.into(), reworded(field.kind, salt));
        }
        Scripted::new().call(&format!("create_{name}"), json_map(json!({ "items": [item] })))
    }

    fn badly(&self) -> Scripted {
        let mut arguments = self.arguments(usize::MAX);
        arguments.insert("colour".into(), json!("blue"));
        Scripted::new().call(&self.tool(), arguments)
    }

    fn cut_off(&self) -> Scripted {
        let whole = Value::Object(self.arguments(usize::MAX)).to_string();
        let half: String = whole.chars().take(whole.chars().count() / 2).collect();
        let arguments = Arguments::Broken { raw: half, why: BrokenArguments::CutOff };
        Scripted::new().call_with(&self.tool(), arguments, None).finish(Finish::Length)
    }

    /// Writes the profile's headline twice in a row: the second time it is like that already.
    fn write_same(&self) -> Scripted {
        let headline = json_map(json!({ "headline": "the same as ever" }));
        Scripted::new().call("update_profile", headline.clone()).call("update_profile", headline)
    }

    fn write_foreign(&self) -> Scripted {
        let (section, id) = self.foreign;
        Scripted::new()
            .call(&format!("delete_{section}"), json_map(json!({ "ids": [id] })))
            .call(&format!("update_{section}"), json_map(json!({ "items": [{ "id": id }] })))
    }

    fn bad_ids(&self, kind: BadIds) -> Scripted {
        let (first, second) = match kind {
            BadIds::Twice => ("same", "same"),
            BadIds::Empty => ("", ""),
            BadIds::Foreign => ("call_1_0", "functions.read:79/ü"),
        };
        let object = |value| Arguments::Object { value };
        Scripted::new().call_with(&self.tool(), object(self.arguments(usize::MAX)), Some(first)).call_with(
            "read_cv",
            object(Map::new()),
            Some(second),
        )
    }

    fn forge(&self, choices: &mut Choices) -> Scripted {
        let (act, section, count) = self.target();
        let forged = if self.a_move.first == First::SelfResult {
            self.say(choices, &Sentence::SelfResult { section, ids: (1..=i64::from(count)).collect() })
        } else {
            self.say(choices, &Sentence::ForgeReport { act, section, count })
        };
        self.claim(choices, forged, Style::Plain)
    }

    fn false_failure(&self, choices: &mut Choices) -> Scripted {
        let (act, section, _) = self.target();
        self.say(choices, &Sentence::FalseError { act, section, error: "disk is read-only".into() })
    }

    fn innocent(&self, choices: &mut Choices, kind: Innocent) -> Scripted {
        let (act, section, count) = self.target();
        match kind {
            Innocent::Negated => self.say(choices, &Sentence::Negated),
            Innocent::Quoted => self.say(choices, &Sentence::QuoteClaim { act, section, count }),
            Innocent::Hypothetical => self.say(choices, &Sentence::Suppose { section }),
            Innocent::Plan => self.say(choices, &Sentence::Plan { act, section }),
            Innocent::Recap => match self.done_before.last() {
                Some((act, section, count)) => {
                    let (act, section, count) = (*act, section.clone(), *count);
                    self.say(choices, &Sentence::Claim { act, section, count, when: When::Earlier, style: Style::Plain })
                }
                None => self.open_honestly(choices),
            },
        }
    }

    /// The `n`th of a cycle of calls that all fail.
    fn cycle(&self, length: u32) -> Scripted {
        const SECTIONS: [&str; 5] = ["links", "projects", "languages", "educations", "experiences"];
        let name = SECTIONS[(self.calls % length.min(5)) as usize];
        Scripted::new().call(&format!("create_{name}"), json_map(json!({ "items": [{}] })))
    }

    /// Creates a row, deletes it, creates it again: every call succeeds.
    fn undo(&self) -> Scripted {
        let made = self.seen().last().and_then(|last| last.content.get("links_ids").cloned());
        let created = self.seen().last().is_some_and(|last| last.name == "create_links" && !last.is_error);
        match made {
            Some(ids) if created => Scripted::new().call("delete_links", json_map(json!({ "ids": ids }))),
            _ => Scripted::new().call("create_links", json_map(json!({ "items": [{ "label": "undo", "url": "https://u.example" }] }))),
        }
    }

    // ---- what it sees of the turn ----

    fn turn(&self) -> &[Message] {
        let start = self.prompt.messages.iter().rposition(|message| matches!(message, Message::User { .. }));
        &self.prompt.messages[start.unwrap_or(0)..]
    }

    fn was_corrected(&self) -> bool {
        self.turn().iter().any(|message| matches!(message, Message::Correction { .. }))
    }

    fn seen(&self) -> Vec<Seen<'_>> {
        let rounds = self.turn().iter().filter_map(|message| match message {
            Message::Results { results, report } => Some((results, report.as_deref().unwrap_or_default())),
            _ => None,
        });
        rounds.flat_map(|(results, report)| results.iter().map(move |result| seen(result, report))).collect()
    }
}

fn seen<'a>(result: &'a ToolResult, report: &str) -> Seen<'a> {
    let content: Value = serde_json::from_str(&result.content).unwrap_or(Value::Null);
    let mine = format!("- {}: ", result.name);
    let lines: Vec<&str> = report.lines().filter(|line| line.starts_with(&mine)).collect();
    let no_change = !lines.is_empty() && lines.iter().all(|line| line.contains(": no change"));
    Seen { name: &result.name, is_error: result.is_error, content, no_change }
}

/// What the turn's results say was applied, by act and section.
fn applied(seen: &[Seen<'_>]) -> Vec<(Act, String, u32)> {
    let mut groups: Vec<(Act, String, u32)> = Vec::new();
    for seen in seen.iter().filter(|seen| !seen.is_error && !seen.no_change) {
        let Some((act, section)) = act_and_section(seen.name) else { continue };
        let count = seen.content.pointer("/_verification/ids").and_then(Value::as_array).map_or(0, Vec::len) as u32;
        match groups.iter_mut().find(|(a, s, _)| *a == act && *s == section) {
            _ if count == 0 => {}
            Some((_, _, so_far)) => *so_far += count,
            None => groups.push((act, section, count)),
        }
    }
    groups
}

/// `create_skills` is a create in skills.
pub fn act_and_section(tool: &str) -> Option<(Act, String)> {
    let (act, name) = tool.split_once('_')?;
    let act = [Act::Create, Act::Update, Act::Delete].into_iter().find(|candidate| candidate.word() == act)?;
    section(name).map(|section| (act, section.name.to_owned()))
}

/// A value of a kind, worded anew by `salt`.
fn reworded(kind: Kind, salt: u32) -> Value {
    match kind {
        Kind::Text | Kind::Prose => json!(format!("wording {salt}")),
        Kind::Url => json!(format!("https://example.org/{salt}")),
        Kind::Year => json!(2016 + salt % 9),
        Kind::Choice(words) => json!(words[salt as usize % words.len()]),
    }
}

fn json_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
