//! A run made once more: how two of them are compared, and what a campaign asks of the world outside, where another process and a clock on the
//! wall are.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Plan;
use super::run::Run;

/// What stands in place of an invariant's name where a run came out differently the second time.
pub const NONDETERMINISM: &str = "nondeterminism";

/// The longest event that a difference tells, in characters.
const LONGEST: usize = 300;

/// Which runs are made twice, to see whether they come out the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Two in a hundred: one in the same process, one in another.
    Sample,
    /// All, in another process.
    All,
}

impl Check {
    /// Whether a run is made again in the same process.
    pub fn is_made_again(self, number: u64) -> bool {
        number % 100 == 7
    }

    /// Whether it is made again in another process.
    pub fn is_made_elsewhere(self, number: u64) -> bool {
        self == Self::All || number % 100 == 3
    }
}

/// Everything that a run told, as text: two runs of one plan tell the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The events of each turn, as JSON.
    pub turns: Vec<Vec<String>>,
    /// The outcome, as JSON.
    pub outcome: String,
}

impl Told {
    /// What a run told.
    pub fn of(run: &Run) -> Self {
        let turns = run.turns.iter().map(|facts| facts.events.iter().map(json).collect());
        Self { turns: turns.collect(), outcome: json(&run.outcome) }
    }

    /// Names all of it.
    pub fn hash(&self) -> String {
        blake3::hash(json(self).as_bytes()).to_hex().to_string()
    }

    /// Where two runs part, and how: the turn, and both events of its first step that differs.
    pub fn difference(&self, other: &Self) -> Option<(u32, String)> {
        let turns = self.turns.len().max(other.turns.len());
        for turn in 0..turns {
            let of = |told: &Self| told.turns.get(turn).cloned().unwrap_or_default();
            let (one, two) = (of(self), of(other));
            let steps = one.len().max(two.len());
            if let Some(step) = (0..steps).find(|step| one.get(*step) != two.get(*step)) {
                let (one, two) = (bounded(one.get(step)), bounded(two.get(step)));
                return Some((turn as u32 + 1, format!("the same plan gave another run: step {} was {one} and then {two}", step + 1)));
            }
        }
        (self.outcome != other.outcome).then(|| (0, format!("the same plan gave the same steps and another outcome{}", self.field(other))))
    }

    /// The first field of the outcome that differs.
    fn field(&self, other: &Self) -> String {
        let read = |told: &Self| serde_json::from_str::<Value>(&told.outcome).unwrap_or_default();
        let (one, two) = (read(self), read(other));
        let names = one.as_object().into_iter().flat_map(|fields| fields.keys());
        let differs = names.into_iter().find(|name| one.get(name.as_str()) != two.get(name.as_str()));
        let told = |name: &String| {
            let text = |of: &Value| bounded(of.get(name.as_str()).map(Value::to_string).as_ref());
            format!(": {name} was {} and then {}", text(&one), text(&two))
        };
        differs.map(told).unwrap_or_default()
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn bounded(event: Option<&String>) -> String {
    event.map_or_else(|| "nothing".into(), |event| event.chars().take(LONGEST).collect())
}

/// What a campaign asks of the world outside.
pub trait Outside: Sync {
    /// A run begins on this thread. No run may take for ever by the clock on the wall.
    fn begins(&self, plan: &Plan);

    /// The run that began on this thread has ended.
    fn ends(&self);

    /// Makes a run in another process. What it told there, where that has another hash than `hash`.
    ///
    /// # Errors
    /// Where there is no other process, as a sentence for the user.
    fn differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String>;
}

/// Nobody is outside: runs are watched by no clock, and what was to be made in another process is made in this one.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Outside for Alone {
    fn begins(&self, _: &Plan) {}

    fn ends(&self) {}

    fn differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String> {
        let told = Told::of(&super::run::run(plan, &super::world::World::new()?)?);
        Ok((told.hash() != hash).then_some(told))
    }
}
