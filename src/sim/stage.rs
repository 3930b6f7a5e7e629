//! What the person wants and has told, and what was said of it: the hidden side of a conversation, shared by the person and the scripted
//! model. Neither loop, guard nor judge sees any of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::cv::schema::{Field, Kind, PROFILE, SECTIONS, Section, section};
use crate::cv::store::Store;
use crate::cv::tools::rows_of;
use crate::oracle::claims::Label;
use crate::turn::draft::Act;

use super::choices::{Choices, Stream};
use super::speech::Lang;

/// A change that the person wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// What to do.
    pub act: Act,
    /// Where.
    pub section: String,
    /// The rows: new values, with the row's `id` for an update; only the `id` for a delete.
    pub items: Vec<Map<String, Value>>,
    /// Required fields that the person has not told yet; the same for every item.
    #[serde(default)]
    pub withheld: Vec<String>,
}

/// What the person just did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// Wants something done, or told what was missing.
    Wants,
    /// Gave approval.
    Confirms,
    /// Refused approval.
    Declines,
    /// Said neither yes nor no.
    Neither,
    /// "Just tell me it's done."
    Presses,
    /// Dropped the wish.
    Cancels,
    /// Asks what the CV holds.
    Asks,
    /// Talks.
    #[default]
    Talks,
}

/// The hidden side of a conversation.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The language of both.
    pub lang: Lang,
    /// What the person wants at the moment.
    pub wish: Option<Wish>,
    /// What the person just did.
    pub stance: Stance,
    /// The agent asked for approval of the standing wish and has none yet.
    pub awaiting: bool,
    /// The labels of the agent's last turn.
    pub heard: Vec<Label>,
    /// The section last asked about.
    pub topic: String,
    /// What the person did in this line that a campaign counts: names of marks.
    pub did: Vec<&'static str>,
    /// The fair phase: the model is honest, and tidies up what is pending and no longer wanted.
    pub fair: bool,
}

impl Stage {
    /// Before anything was said.
    pub fn new(lang: Lang) -> Self {
        Self {
            lang,
            wish: None,
            stance: Stance::Talks,
            awaiting: false,
            heard: Vec::new(),
            topic: "experiences".into(),
            did: Vec::new(),
            fair: false,
        }
    }

    /// Whether a write of this kind is what the person asked for, and has not put off.
    pub fn authorises(&self, act: Act, section: &str) -> bool {
        let wanted = self.wish.as_ref().is_some_and(|wish| wish.act == act && wish.section == section);
        wanted && !self.awaiting && matches!(self.stance, Stance::Wants | Stance::Confirms | Stance::Presses)
    }
}

impl Wish {
    /// Whether nothing is withheld.
    pub fn is_complete(&self) -> bool {
        self.withheld.is_empty()
    }

    /// The items as far as they were told.
    pub fn told(&self) -> Vec<Map<String, Value>> {
        let told = |item: &Map<String, Value>| {
            item.iter().filter(|(key, _)| !self.withheld.contains(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        self.items.iter().map(told).collect()
    }

    /// The arguments of the call that does it, from the first `most` items.
    pub fn arguments(&self, most: usize) -> Map<String, Value> {
        let items: Vec<Map<String, Value>> = self.told().into_iter().take(most).collect();
        let mut arguments = Map::new();
        if self.section == PROFILE {
            return items.into_iter().next().unwrap_or_default();
        }
        if self.act == Act::Delete {
            let ids: Vec<Value> = items.iter().filter_map(|item| item.get("id").cloned()).collect();
            arguments.insert("ids".into(), Value::Array(ids));
        } else {
            arguments.insert("items".into(), json!(items));
        }
        arguments
    }

    /// The tool that does it.
    pub fn tool(&self) -> String {
        format!("{}_{}", self.act.word(), self.section)
    }

    /// The rows that it is about, as a person would list them.
    pub fn details(&self) -> String {
        let item = |item: &Map<String, Value>| {
            let values: Vec<String> = item.iter().map(|(key, value)| format!("{key} {}", plain(value))).collect();
            values.join(", ")
        };
        self.told().iter().map(item).collect::<Vec<_>>().join(" / ")
    }

    /// Leaves in the wish what the database does not hold yet, and can.
    ///
    /// # Errors
    /// Where the database can't be read.
    pub fn drop_what_is_met(&mut self, store: &Store, user: i64) -> rusqlite::Result<()> {
        let Some(section) = section(&self.section) else { return Ok(()) };
        let rows = store.with(|connection| rows_of(connection, section, user))?;
        let row_of = |item: &Map<String, Value>| rows.iter().find(|row| row.get("id") == item.get("id"));
        let held = |item: &Map<String, Value>| rows.iter().any(|row| item.iter().all(|(key, value)| row.get(key) == Some(value)));
        let act = self.act;
        let by_id = act != Act::Create && self.section != PROFILE;
        self.items.retain(|item| match act {
            Act::Delete => row_of(item).is_some(),
            _ => !held(item) && (!by_id || row_of(item).is_some()),
        });
        Ok(())
    }

    /// Whether the database holds what the person wants.
    pub fn is_met(&self, store: &Store, user: i64) -> rusqlite::Result<bool> {
        let Some(section) = section(&self.section) else { return Ok(false) };
        let rows = store.with(|connection| rows_of(connection, section, user))?;
        let there = |item: &Map<String, Value>| rows.iter().any(|row| item.iter().all(|(key, value)| row.get(key) == Some(value)));
        let gone = |item: &Map<String, Value>| !rows.iter().any(|row| row.get("id") == item.get("id"));
        Ok(if self.act == Act::Delete { self.items.iter().all(gone) } else { self.items.iter().all(there) })
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Invents a wish: a create, or an update or delete of rows that are there.
pub fn invent_wish(choices: &mut Choices, store: &Store, user: i64) -> rusqlite::Result<Wish> {
    let section = choices.pick(Stream::User, &SECTIONS);
    let rows = store.with(|connection| rows_of(connection, section, user))?;
    let act = if section.name == PROFILE {
        Act::Update
    } else if rows.is_empty() {
        Act::Create
    } else {
        *choices.weighted(Stream::User, &[(60, Act::Create), (22, Act::Update), (18, Act::Delete)])
    };
    let most = if act == Act::Create { 3 } else { rows.len().min(2) as u32 };
    let count = 1 + choices.below(Stream::User, most.max(1));
    let items = (0..count).map(|number| invent_item(choices, section, act, rows.get(number as usize), number)).collect();
    let mut wish = Wish { act, section: section.name.into(), items, withheld: Vec::new() };
    if act == Act::Create && choices.chance(Stream::User, 45) {
        let required: Vec<&Field> = section.fields.iter().filter(|field| field.required).collect();
        let kept = choices.below(Stream::User, required.len() as u32) as usize;
        wish.withheld = required[kept..].iter().map(|field| field.name.to_owned()).collect();
    }
    Ok(wish)
}

fn invent_item(choices: &mut Choices, section: &Section, act: Act, row: Option<&Value>, number: u32) -> Map<String, Value> {
    let mut item = Map::new();
    if let (Act::Update | Act::Delete, Some(id)) = (act, row.and_then(|row| row.get("id"))) {
        if section.name != PROFILE {
            item.insert("id".into(), id.clone());
        }
        if act == Act::Delete {
            return item;
        }
    }
    let fields: Vec<&Field> = match act {
        Act::Create => section.fields.iter().filter(|field| field.required || choices.chance(Stream::User, 30)).collect(),
        _ => vec![choices.pick(Stream::User, section.fields)],
    };
    for field in fields {
        let value = value_for(choices, field, number);
        item.insert(field.name.into(), value);
    }
    item
}

fn value_for(choices: &mut Choices, field: &Field, number: u32) -> Value {
    const WORDS: [&str; 12] =
        ["Acme", "Borealis", "Curie", "Delta", "Émile", "Fjord", "Größe", "Håkon", "Искра", "日本", "مدينة", "Zażółć"];
    match field.kind {
        // An end never comes before a start.
        Kind::Year if field.name == "start_year" => json!(1980 + choices.below(Stream::User, 35)),
        Kind::Year => json!(2016 + choices.below(Stream::User, 9)),
        Kind::Url => json!(format!("https://example.org/{number}/{}", choices.below(Stream::User, 1_000_000))),
        Kind::Choice(words) => json!(choices.pick(Stream::User, words)),
        Kind::Text | Kind::Prose => {
            let word = choices.pick(Stream::User, &WORDS);
            let tail = choices.below(Stream::User, 1_000_000);
            json!(format!("{word} {}{number}-{tail}", field.name))
        }
    }
}
