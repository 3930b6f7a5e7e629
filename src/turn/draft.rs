//! The draft of a turn: its mutating calls and their fates (a state guard's only view of the turn), and the one place where a fate is
//! decided from what a call meant to do and what the database was seen to hold.

use serde::{Deserialize, Serialize};

/// What a mutating call does to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// New rows.
    Create,
    /// Other values in rows that exist.
    Update,
    /// Rows gone.
    Delete,
    /// A pending entry dropped (P4). It touches no row of the domain.
    Discard,
}

impl Act {
    /// The word used in names, reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Discard => "discard",
        }
    }

    /// The past participle used in reports and receipts.
    pub fn done(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Update => "updated",
            Self::Delete => "deleted",
            Self::Discard => "discarded",
        }
    }
}

/// Names one call of a conversation for ever: turn, iteration and place in the reply. Idempotency goes by it, never by payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallKey {
    /// The turn, counted from 1.
    pub turn: u32,
    /// The iteration within the turn, counted from 1.
    pub iteration: u32,
    /// The call within the reply, counted from 0.
    pub index: u32,
}

impl std::fmt::Display for CallKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "t{}.i{}.c{}", self.turn, self.iteration, self.index)
    }
}

/// One row that the audit trail says a call changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowChange {
    /// What happened to the row.
    pub act: Act,
    /// The section (a table, in the domain's words) that the row belongs to.
    pub section: String,
    /// The row's id; 0 for a discarded pending entry.
    pub id: i64,
}

/// The fate of a mutating call, decided by the database, never by the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// Committed, verified, and it made a difference (V8).
    Applied,
    /// Committed and verified, and the state was like that already (V8).
    NoChange,
    /// Nothing of it counts as done.
    Failed {
        /// Short and escaped (R5).
        reason: String,
    },
    /// Nobody could say (V6).
    Unknown {
        /// Short and escaped (R5).
        reason: String,
    },
}

/// One mutating call of a turn with its fate and the rows it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which call.
    pub key: CallKey,
    /// The tool's name.
    pub tool: String,
    /// What it meant to do.
    pub act: Act,
    /// Where.
    pub section: String,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
    /// What the audit trail says changed, whatever the fate.
    pub rows: Vec<RowChange>,
}

/// What a turn has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Every mutating call of the turn, in order.
    pub entries: Vec<Entry>,
    /// Whether the turn produced any tool result at all: J1's evidence bit.
    pub any_result: bool,
}

impl Draft {
    /// Whether a mutating call of this turn was applied (the first column of the guard's table).
    pub fn has_applied(&self) -> bool {
        self.entries.iter().any(|entry| entry.fate == Fate::Applied)
    }

    /// Whether a mutating call was tried at all this turn (the third column of the guard's table).
    pub fn tried(&self) -> bool {
        !self.entries.is_empty()
    }
}

/// What a mutating call meant to do, by the tool's own result. The tool cannot vouch for itself: this is only half of a fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// What it meant to do.
    pub act: Act,
    /// Where.
    pub section: String,
    /// Every id of every `*_ids` list of the result (V1).
    pub ids: Vec<i64>,
}

/// What the database was seen to hold after the call: the other half of a fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "snake_case")]
pub enum Observed {
    /// The verifier found what the intent says, and the audit trail holds these changes under the call's key.
    Holds {
        /// The difference that the call made.
        rows: Vec<RowChange>,
    },
    /// The verifier found something else.
    Contradicted {
        /// What it found instead.
        error: String,
        /// What the audit trail holds all the same.
        rows: Vec<RowChange>,
    },
    /// Nobody could be asked (V6).
    NoAnswer {
        /// Why not.
        error: String,
    },
}

impl Fate {
    /// The one place where a fate is decided: an intended change and an observed one that agree (V4–V6, V8).
    pub fn of(intent: &Intent, observed: &Observed) -> Self {
        match observed {
            Observed::NoAnswer { error } => Self::Unknown { reason: error.clone() },
            Observed::Contradicted { error, .. } => Self::Failed { reason: error.clone() },
            Observed::Holds { rows } if rows.is_empty() => intent.without_difference(),
            Observed::Holds { .. } => Self::Applied,
        }
    }
}

impl Intent {
    /// V5, V8: nothing changed. A delete that deleted nothing failed; anything else found the state as it wanted it.
    fn without_difference(&self) -> Fate {
        match self.act {
            Act::Delete | Act::Discard => Fate::Failed { reason: "nothing was there to delete: nothing changed".into() },
            Act::Create | Act::Update => Fate::NoChange,
        }
    }

    /// V5: no ids at all, or the same id twice, is not "all found".
    pub fn ids_that_prove_nothing(&self) -> Option<String> {
        if self.act == Act::Discard {
            return None;
        }
        if self.ids.is_empty() {
            return Some("the tool named no row that it touched".into());
        }
        let mut sorted = self.ids.clone();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(format!("the tool named row {} twice", twice[0]))
    }
}

impl Observed {
    /// What the audit trail says changed.
    pub fn rows(&self) -> &[RowChange] {
        match self {
            Self::Holds { rows } | Self::Contradicted { rows, .. } => rows,
            Self::NoAnswer { .. } => &[],
        }
    }
}
