//! A plan is the whole truth about a run: plain data, versioned, readable. The same plan gives the same run, byte for byte.

use serde::{Deserialize, Serialize};

use crate::turn::bounds::Settings;

use super::scenario::Script;

/// The version of the plan format that this build reads and writes.
pub const VERSION: u32 = 1;

/// Everything that decides a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The format's version.
    pub version: u32,
    /// The seed of all chance in the run.
    pub seed: u64,
    /// The guard policy, by its name on the command line.
    pub policy: String,
    /// How strong the completion check's evidence is: `bit`, `applied`, `ledger` (J8).
    #[serde(default = "ledger")]
    pub evidence: String,
    /// The simulated judge, by its name on the command line.
    #[serde(default = "faithful")]
    pub judge: String,
    /// The provider's dialect, by its name on the command line.
    pub dialect: String,
    /// The persona, by its name on the command line; `scripted` for a scenario.
    pub persona: String,
    /// The faults that may be on, by the names of the command line; none where empty. The run draws which of them are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The limits.
    #[serde(default)]
    pub settings: Settings,
    /// A recorded list of choices; without one they are drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<u32>>,
    /// What the person and the model do, where it is written down and not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

impl Plan {
    /// A scenario's plan, under one policy in one dialect.
    pub fn of_script(script: &Script, policy: &str, dialect: &str) -> Self {
        Self {
            version: VERSION,
            seed: 1,
            policy: policy.into(),
            evidence: ledger(),
            judge: script.judge.clone(),
            dialect: dialect.into(),
            persona: "scripted".into(),
            faults: Vec::new(),
            settings: script.settings.clone(),
            choices: None,
            script: Some(script.clone()),
        }
    }

    /// The command that replays this run.
    pub fn replay_command(&self) -> String {
        if let Some(script) = &self.script {
            return format!("unbacked replay {} --policy {} --dialect {}", script.file, self.policy, self.dialect);
        }
        let mut command =
            format!("unbacked replay {} --policy {} --persona {} --dialect {}", self.seed, self.policy, self.persona, self.dialect);
        if !self.faults.is_empty() {
            command.push_str(&format!(" --faults {}", self.faults.join(",")));
        }
        if self.judge != "faithful" {
            command.push_str(&format!(" --judge {}", self.judge));
        }
        if self.evidence != "ledger" {
            command.push_str(&format!(" --evidence {}", self.evidence));
        }
        command
    }
}

fn ledger() -> String {
    "ledger".into()
}

fn faithful() -> String {
    "faithful".into()
}
