//! What breaks around the model: provider and stream, store and tools, judge, time, process, history. Chosen independently of the persona.
//!
//! Each fault is data: a name, what breaks, and what a correct loop may and may not do under it. A run draws by swarm which kinds are on at
//! all, and then how often each strikes; asking whether a fault that is off strikes draws nothing. A scenario names the occasions itself.
//!
//! What this room must not know: what the loop makes of it. A fault acts beneath or around a port, never inside the loop.

pub mod disk;
pub mod history;
pub mod judge;
pub mod points;
pub mod provider;
pub mod store;
pub mod stream;
pub mod tools;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::choices::{Choices, Stream};

/// Where a fault sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The provider and its stream.
    Provider,
    /// The database under the tools.
    Store,
    /// The disk under the database.
    Disk,
    /// The tools and what they answer.
    Tool,
    /// The judge behind the completion check.
    Judge,
    /// The clock.
    Time,
    /// The process.
    Process,
    /// A history that grows too long, and whoever retells it.
    History,
}

impl Class {
    /// All.
    pub const ALL: [Self; 8] = [Self::Provider, Self::Store, Self::Disk, Self::Tool, Self::Judge, Self::Time, Self::Process, Self::History];

    /// The name on the command line, which stands for all faults of the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Store => "store",
            Self::Disk => "disk",
            Self::Tool => "tool",
            Self::Judge => "judge",
            Self::Time => "time",
            Self::Process => "process",
            Self::History => "history",
        }
    }
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in plans, lists and marks.
    pub name: &'static str,
    /// Where it sits.
    pub class: Class,
    /// What breaks.
    pub sentence: &'static str,
    /// What a correct loop may and may not do under it.
    pub legal: &'static str,
    /// Of a hundred occasions, at how many it strikes at the most.
    pub percent: u32,
}

/// All kinds of fault, class by class.
pub fn catalogue() -> impl Iterator<Item = &'static Fault> {
    let answers = provider::ANSWERS.iter().map(|answer| &answer.fault);
    let streams = stream::STREAM.iter().map(|entry| &entry.fault);
    answers
        .chain(streams)
        .chain(points::FAULTS)
        .chain(tools::FAULTS)
        .chain(store::FAULTS)
        .chain(judge::FAULTS)
        .chain(disk::FAULTS)
        .chain(history::FAULTS)
}

/// Reads what a command line or a plan names: faults, classes, `all`, `none`.
///
/// # Errors
/// A sentence for the user, with the nearest name.
pub fn named(names: &[String]) -> Result<Vec<&'static Fault>, String> {
    for name in names {
        let known = ["all", "none"].contains(&name.as_str())
            || Class::ALL.iter().any(|class| class.name() == name)
            || catalogue().any(|fault| fault.name == name);
        if !known {
            let all = ["all", "none"].into_iter().chain(Class::ALL.map(Class::name)).chain(catalogue().map(|fault| fault.name));
            let nearest = super::scenario::nearest(name, all).unwrap_or_default();
            return Err(format!("there is no fault `{name}`; did you mean `{nearest}`? `unbacked list faults` shows all"));
        }
    }
    let meant = |fault: &&Fault| names.iter().any(|name| name == "all" || name == fault.class.name() || name == fault.name);
    Ok(catalogue().filter(meant).collect())
}

/// A fault at a named occasion of a scenario's turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strike {
    /// Which fault.
    pub name: String,
    /// At which occasion of the turn, counted from 1.
    #[serde(default = "first")]
    pub at: u32,
    /// At how many occasions in a row.
    #[serde(default = "first")]
    pub times: u32,
}

fn first() -> u32 {
    1
}

/// The faults of one run, shared by all that can break. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Faults {
    choices: Rc<RefCell<Choices>>,
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Percent by name.
    on: BTreeMap<&'static str, u32>,
    struck: BTreeMap<String, u64>,
    scripted: Vec<Strike>,
    occasions: BTreeMap<&'static str, u32>,
}

impl Faults {
    /// Draws which of `allowed` are on in this run, and how often they strike. One run in two has none.
    pub fn draw(allowed: &[&'static Fault], choices: Rc<RefCell<Choices>>) -> Self {
        let mut state = State::default();
        if !allowed.is_empty() {
            let mut choices = choices.borrow_mut();
            if choices.chance(Stream::Faults, 50) {
                for fault in allowed {
                    // A summariser's faults need a fold to strike at, and a fold needs a conversation.
                    let share = if allowed.len() > 3 && fault.class != Class::History { 20 } else { 60 };
                    if choices.chance(Stream::Faults, share) {
                        let rate = *choices.pick(Stream::Faults, &[8, 2, 1]);
                        state.on.insert(fault.name, (fault.percent / rate).max(1));
                    }
                }
            }
        }
        Self { choices, state: Rc::new(RefCell::new(state)) }
    }

    /// Whether a fault strikes at this occasion. One that is off draws nothing.
    pub fn strikes(&self, name: &'static str) -> bool {
        let mut state = self.state.borrow_mut();
        let occasion = state.occasions.entry(name).or_default();
        *occasion += 1;
        let now = *occasion;
        let scripted = state.scripted.iter().any(|strike| strike.name == name && now >= strike.at && now - strike.at < strike.times);
        let percent = state.on.get(name).copied().unwrap_or(0);
        let strikes = scripted || self.choices.borrow_mut().chance(Stream::Faults, percent);
        if strikes {
            *state.struck.entry(name.to_owned()).or_default() += 1;
        }
        strikes
    }

    /// Whether a fault can strike in this run.
    pub fn is_on(&self, name: &str) -> bool {
        let state = self.state.borrow();
        state.on.contains_key(name) || state.scripted.iter().any(|strike| strike.name == name)
    }

    /// A number below `below`: where and how a fault strikes.
    pub fn below(&self, below: u32) -> u32 {
        self.choices.borrow_mut().below(Stream::Faults, below)
    }

    /// A new turn: occasions are counted anew, and these are the scripted ones.
    pub fn begin_turn(&self, scripted: &[Strike]) {
        let mut state = self.state.borrow_mut();
        state.occasions.clear();
        state.scripted = scripted.to_vec();
    }

    /// The fair phase: nothing breaks any more.
    pub fn end(&self) {
        self.state.borrow_mut().on.clear();
    }

    /// How often a fault has struck so far.
    pub fn times(&self, name: &str) -> u64 {
        self.state.borrow().struck.get(name).copied().unwrap_or(0)
    }

    /// Whether any fault of a class has struck so far.
    pub fn class_struck(&self, class: Class) -> bool {
        let state = self.state.borrow();
        catalogue().any(|fault| fault.class == class && state.struck.contains_key(fault.name))
    }

    /// The names of those that are on.
    pub fn on(&self) -> Vec<String> {
        self.state.borrow().on.keys().map(|name| (*name).to_owned()).collect()
    }

    /// How often each struck.
    pub fn struck(&self) -> BTreeMap<String, u64> {
        self.state.borrow().struck.clone()
    }
}
