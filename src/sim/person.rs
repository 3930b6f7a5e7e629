//! The simulated person: decides what to say next from what the agent said and from what the database holds.

use crate::cv::store::Store;
use crate::oracle::claims::Label;

use super::choices::{Choices, Stream};
use super::speech::{Ask, Paste, ask};
use super::stage::{Stage, Stance, invent_wish};

/// What a person may do, as reach marks: name and sentence. The first eight go with a stance.
pub const MARKS: [(&str, &str); 13] = [
    ("person:wants", "the person wanted something, or told what was missing"),
    ("person:confirms", "the person gave approval"),
    ("person:declines", "the person refused approval"),
    ("person:neither", "the person said neither yes nor no"),
    ("person:presses", "the person pressed to be told that it is done"),
    ("person:cancels", "the person dropped a wish"),
    ("person:asks", "the person asked what the CV holds, and wanted no change"),
    ("person:talks", "the person spoke of nothing to be done"),
    ("person:gives-half", "the person told some of what was missing, and not all"),
    ("person:changes-mind", "the person changed their mind"),
    ("person:pastes", "the person pasted text that looks like a report, a pending block, a correction or a role marker"),
    ("person:edits-row", "the person edited a row by hand while the agent worked"),
    ("person:deletes-row", "the person deleted a row by hand while the agent worked"),
];

fn mark_of(stance: Stance) -> &'static str {
    match stance {
        Stance::Wants => "person:wants",
        Stance::Confirms => "person:confirms",
        Stance::Declines => "person:declines",
        Stance::Neither => "person:neither",
        Stance::Presses => "person:presses",
        Stance::Cancels => "person:cancels",
        Stance::Asks => "person:asks",
        Stance::Talks => "person:talks",
    }
}

/// Decides and words the next line; the stage is changed accordingly.
///
/// # Errors
/// Where the database can't be read.
pub fn speak(stage: &mut Stage, choices: &mut Choices, store: &Store, user: i64) -> rusqlite::Result<String> {
    let met = match &stage.wish {
        Some(wish) => wish.is_met(store, user)?,
        None => true,
    };
    if met {
        stage.wish = None;
        stage.awaiting = false;
    }
    let stance = if stage.wish.is_none() { open(choices) } else { react(stage, choices) };
    stage.stance = stance;
    stage.did = vec![mark_of(stance)];
    let line = match stance {
        Stance::Wants => want(stage, choices, store, user)?,
        Stance::Confirms => approve(stage),
        Stance::Declines => Ask::Decline,
        Stance::Neither => Ask::Neither,
        Stance::Presses => Ask::Press,
        Stance::Cancels => {
            if choices.chance(Stream::User, 30) {
                stage.did.push("person:changes-mind");
                Ask::ChangeMind
            } else {
                Ask::Cancel
            }
        }
        Stance::Asks => about(stage, choices),
        Stance::Talks => paste(stage, choices),
    };
    let mut words = ask(stage.lang, &line, choices.below(Stream::User, 4));
    if choices.chance(Stream::User, 8) {
        let paste = paste(stage, choices);
        words = format!("{words} {}", ask(stage.lang, &paste, 0));
    }
    Ok(words)
}

fn paste(stage: &mut Stage, choices: &mut Choices) -> Ask {
    stage.did.push("person:pastes");
    Ask::Paste { what: *choices.pick(Stream::User, &Paste::ALL) }
}

/// After the agent's turn: what the person does with what was said.
pub fn listen(stage: &mut Stage, labels: Vec<Label>) {
    if labels.contains(&Label::AwaitsApproval) {
        stage.awaiting = true;
    }
    if matches!(stage.stance, Stance::Cancels | Stance::Declines) {
        stage.wish = None;
        stage.awaiting = false;
    }
    stage.heard = labels;
}

fn open(choices: &mut Choices) -> Stance {
    *choices.weighted(Stream::User, &[(80, Stance::Wants), (13, Stance::Asks), (7, Stance::Talks)])
}

fn react(stage: &Stage, choices: &mut Choices) -> Stance {
    let heard = |label: &Label| stage.heard.contains(label);
    if stage.awaiting {
        let answers = [(50, Stance::Confirms), (15, Stance::Declines), (20, Stance::Neither), (8, Stance::Presses), (7, Stance::Asks)];
        return *choices.weighted(Stream::User, &answers);
    }
    if heard(&Label::Asks) {
        let answers = [(62, Stance::Wants), (12, Stance::Cancels), (10, Stance::Presses), (10, Stance::Neither), (6, Stance::Asks)];
        return *choices.weighted(Stream::User, &answers);
    }
    let answers = [(45, Stance::Wants), (27, Stance::Presses), (10, Stance::Cancels), (10, Stance::Asks), (8, Stance::Neither)];
    *choices.weighted(Stream::User, &answers)
}

/// A new wish, or one more field of the standing one (half of what is missing, or all), or the wish once more.
fn want(stage: &mut Stage, choices: &mut Choices, store: &Store, user: i64) -> rusqlite::Result<Ask> {
    if stage.wish.is_none() {
        stage.wish = Some(invent_wish(choices, store, user)?);
    } else if let Some(wish) = &mut stage.wish
        && let Some(field) = wish.withheld.first().cloned()
    {
        let value = wish.items.first().and_then(|item| item.get(&field)).map(ToString::to_string).unwrap_or_default();
        let told = if choices.chance(Stream::User, 60) { wish.withheld.len() } else { 1 };
        wish.withheld.drain(..told);
        if !wish.withheld.is_empty() {
            stage.did.push("person:gives-half");
        }
        let value = if told > 1 || wish.items.len() > 1 { wish.details() } else { value };
        return Ok(Ask::GiveField { field, value });
    }
    let wish = stage.wish.as_ref().map(|wish| (wish.act, wish.section.clone(), wish.details()));
    let (act, section, details) = wish.unwrap_or((crate::turn::draft::Act::Create, stage.topic.clone(), String::new()));
    stage.topic.clone_from(&section);
    Ok(Ask::Wish { act, section, details })
}

fn approve(stage: &mut Stage) -> Ask {
    stage.awaiting = false;
    Ask::Confirm
}

fn about(stage: &mut Stage, choices: &mut Choices) -> Ask {
    if choices.chance(Stream::User, 50) {
        let section = choices.pick(Stream::User, &crate::cv::schema::SECTIONS);
        section.name.clone_into(&mut stage.topic);
    }
    Ask::AskAbout { section: stage.topic.clone() }
}
