//! The scenario files as tests: one named case a file, each under every policy that it names, in both dialects; and the table of those that
//! are set aside.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

use unbacked::sim::plan::Plan;
use unbacked::sim::run::run;
use unbacked::sim::scenario::{self, Script};
use unbacked::sim::world::World;
use unbacked::wire::Dialect;

/// `known.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    cases: Vec<String>,
    set_aside: Vec<SetAside>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetAside {
    id: String,
    reason: String,
}

fn main() {
    let arguments = Arguments::from_args();
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
    let mut trials = vec![Trial::test("known::every_case_has_a_file_or_a_reason", {
        let home = home.clone();
        move || every_case_has_a_file_or_a_reason(&home)
    })];
    for (folder, kind) in [("cases", "case"), ("scenarios", "scenario"), ("regressions", "regression")] {
        for file in files_in(&home.join(folder), "toml") {
            trials.push(Trial::test(format!("{kind}::{}", stem(&file)), move || holds(&file)));
        }
        for file in files_in(&home.join(folder), "json") {
            trials.push(Trial::test(format!("{kind}::{}", stem(&file)), move || is_mended(&file)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == ending)).collect();
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A failure that was kept once is there no more.
fn is_mended(file: &Path) -> Result<(), Failed> {
    let plan = unbacked::sim::plan::parse(&file.display().to_string(), &std::fs::read_to_string(file)?)?;
    let outcome = run(&plan, &World::new()?)?.outcome;
    let told: Vec<String> = outcome.findings.iter().map(|found| format!("{}: {}", found.invariant, found.message)).collect();
    if told.is_empty() { Ok(()) } else { Err(told.join("\n").into()) }
}

fn read(file: &Path) -> Result<Script, Failed> {
    let text = std::fs::read_to_string(file)?;
    Ok(scenario::parse(&file.display().to_string(), &text)?)
}

/// Under every policy that the file names, in both dialects, nothing is found.
fn holds(file: &Path) -> Result<(), Failed> {
    let script = read(file)?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if stem.as_deref() != Some(script.id.as_str()) {
        return Err(format!("its id is {}", script.id).into());
    }
    let world = World::new()?;
    let mut broken: Vec<String> = Vec::new();
    for policy in &script.policies {
        for dialect in Dialect::ALL {
            let outcome = run(&Plan::of_script(&script, policy, dialect.name()), &world)?.outcome;
            let told = outcome
                .findings
                .iter()
                .map(|found| format!("{policy}, {dialect}: {} in turn {}: {}", found.invariant, found.turn, found.message));
            broken.extend(told);
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
}

fn every_case_has_a_file_or_a_reason(home: &Path) -> Result<(), Failed> {
    let known: Known = toml::from_str(&std::fs::read_to_string(home.join("known.toml"))?)?;
    let files: BTreeSet<String> = files_in(&home.join("cases"), "toml").iter().map(|file| stem(file)).collect();
    let aside: BTreeSet<String> = known.set_aside.iter().map(|entry| entry.id.clone()).collect();
    for id in &known.cases {
        match (files.contains(id), aside.contains(id)) {
            (true, true) => return Err(format!("{id} is set aside and has a file: take it off the list").into()),
            (false, false) => return Err(format!("{id} has neither a file nor a reason").into()),
            _ => {}
        }
    }
    let strangers: Vec<&String> = files.iter().chain(&aside).filter(|id| !known.cases.contains(id)).collect();
    if !strangers.is_empty() {
        return Err(format!("{strangers:?} are no known cases").into());
    }
    match known.set_aside.iter().find(|entry| entry.reason.trim().is_empty()) {
        Some(entry) => Err(format!("{} is set aside without a reason", entry.id).into()),
        None => Ok(()),
    }
}
