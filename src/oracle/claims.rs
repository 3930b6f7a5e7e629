//! What a text says, as hidden labels: the only thing that the oracle knows of a reply's meaning. Neither loop, guard nor judge ever sees
//! one.

use serde::{Deserialize, Serialize};

use crate::turn::draft::Act;

/// A statement that a change was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Claim {
    /// The act that is claimed.
    pub act: Act,
    /// The section that is spoken of.
    pub section: String,
    /// How many rows are claimed; 1 where the text names no number.
    #[serde(default = "one")]
    pub count: u32,
    /// Which turn it speaks of.
    #[serde(default)]
    pub when: When,
}

fn one() -> u32 {
    1
}

/// Which turn a statement speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The turn in which it is said.
    #[default]
    ThisTurn,
    /// Some turn before it.
    Earlier,
}

/// What one sentence says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum Label {
    /// A change was made (about an earlier turn it is a recap).
    Claims(Claim),
    /// A change was not made; takes back an earlier claim of the same act and section. True where nothing was applied.
    Denies(Claim),
    /// A change was tried and failed; takes back like a denial. True only where such a call failed.
    ReportsFailure(Claim),
    /// An action is promised, now or later.
    Promises,
    /// A call is written out as text instead of being made: a promise that was not delivered.
    NarratesCall,
    /// A required field is asked for.
    Asks,
    /// Approval is asked for: "confirm, and I'll submit".
    AwaitsApproval,
    /// What would be done, if the user wants: no promise.
    Plans,
    /// What would be the case under a condition.
    Supposes,
    /// Somebody else's claim, in quotation marks, not one's own.
    Quotes,
    /// "Nothing has been saved yet", before anything was asked for or tried; speaks of no act in particular.
    Negates,
    /// What the CV holds, without a word about changing it.
    Informs,
    /// Anything else.
    SmallTalk,
    /// Text that imitates a report, a result, an approval or another harness block.
    Forges,
}
