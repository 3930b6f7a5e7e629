//! A plan is the whole truth about a run: plain data, versioned, readable. The same plan gives the same run, byte for byte.

use serde::{Deserialize, Serialize};

use crate::oracle::record::Finding;
use crate::turn::bounds::Settings;

use super::run::Run;
use super::scenario::{ScenarioError, Script};

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
    /// A part that is broken on purpose, by its name; see [`super::sabotage`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sabotage: Option<String>,
    /// The limits.
    #[serde(default)]
    pub settings: Settings,
    /// A recorded list of choices; without one they are drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<u32>>,
    /// What the person and the model do, where it is written down and not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// What it was kept for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// The file that it was read from, as the user named it; not a part of the format.
    #[serde(skip)]
    pub file: String,
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
            sabotage: None,
            settings: script.settings.clone(),
            choices: None,
            script: Some(script.clone()),
            finding: None,
            file: String::new(),
        }
    }

    /// The command that replays this run.
    pub fn replay_command(&self) -> String {
        if !self.file.is_empty() {
            return format!("unbacked replay {}", self.file);
        }
        if let Some(script) = &self.script {
            return format!("unbacked replay {} --policy {} --dialect {}", script.file, self.policy, self.dialect);
        }
        let mut command =
            format!("unbacked replay {} --policy {} --persona {} --dialect {}", self.seed, self.policy, self.persona, self.dialect);
        if !self.faults.is_empty() {
            command.push_str(&format!(" --faults {}", self.faults.join(",")));
        }
        if let Some(sabotage) = &self.sabotage {
            command.push_str(&format!(" --sabotage {sabotage}"));
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

/// Reads a plan file.
///
/// # Errors
/// Where the text is no plan of this version.
pub fn parse(file: &str, text: &str) -> Result<Plan, ScenarioError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a plan: an object with a `version`")]
    struct OfVersion {
        version: u32,
    }
    let broken = |error: &serde_json::Error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let nearest = super::scenario::nearest_key(&message);
        let place = (error.line() > 0).then(|| (error.line(), error.column().max(1)));
        ScenarioError { file: file.to_owned(), place, message, nearest }
    };
    // The version first: what a newer one holds is not for this build to judge.
    let of: OfVersion = serde_json::from_str(text).map_err(|error| broken(&error))?;
    if of.version != VERSION {
        let message =
            format!("it is a plan of version {}, and this `unbacked` reads version {VERSION}: use the one that wrote it", of.version);
        return Err(ScenarioError { file: file.to_owned(), place: None, message, nearest: None });
    }
    let mut plan: Plan = serde_json::from_str(text).map_err(|error| broken(&error))?;
    file.clone_into(&mut plan.file);
    Ok(plan)
}

/// The text of a plan file: one field a line, and the choices on one.
pub fn write(plan: &Plan) -> String {
    let mut fields = serde_json::to_value(plan).unwrap_or_default();
    let choices = fields.as_object_mut().and_then(|fields| fields.remove("choices"));
    let text = serde_json::to_string_pretty(&fields).unwrap_or_default();
    let Some(choices) = choices else { return format!("{text}\n") };
    let body = text.trim_end_matches('}').trim_end();
    format!("{body},\n  \"choices\": {choices}\n}}\n")
}

/// Why a plan's recorded choices are not those of this run, with the place and the mend.
pub fn misfit(plan: &Plan, run: &Run) -> Option<ScenarioError> {
    let misfit = run.misfit?;
    let message = format!(
        "choices[{}] is {}, and only 0 to {} are open there; record the plan anew, or lower the value",
        misfit.at,
        misfit.value,
        misfit.below - 1
    );
    Some(ScenarioError { file: plan.file.clone(), place: None, message, nearest: None })
}

fn ledger() -> String {
    "ledger".into()
}

fn faithful() -> String {
    "faithful".into()
}
