//! The simulated person: decides what to say next from what the agent said and from what the database holds.

use crate::cv::store::Store;
use crate::oracle::claims::Label;

use super::choices::{Choices, Stream};
use super::speech::{Ask, Paste, ask};
use super::stage::{Stage, Stance, invent_wish};

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
    let line = match stance {
        Stance::Wants => want(stage, choices, store, user)?,
        Stance::Confirms => approve(stage),
        Stance::Declines => Ask::Decline,
        Stance::Neither => Ask::Neither,
        Stance::Presses => Ask::Press,
        Stance::Cancels => {
            if choices.chance(Stream::User, 30) {
                Ask::ChangeMind
            } else {
                Ask::Cancel
            }
        }
        Stance::Asks => about(stage, choices),
        Stance::Talks => Ask::Paste { what: *choices.pick(Stream::User, &Paste::ALL) },
    };
    let mut words = ask(stage.lang, &line, choices.below(Stream::User, 4));
    if choices.chance(Stream::User, 8) {
        let paste = Ask::Paste { what: *choices.pick(Stream::User, &Paste::ALL) };
        words = format!("{words} {}", ask(stage.lang, &paste, 0));
    }
    Ok(words)
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
