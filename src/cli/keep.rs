//! Kept failures: each finding that a campaign tells can be shrunk and written to a file; every kept file runs first in every campaign.

use std::path::{Path, PathBuf};

use unbacked::sim::outcome::Found as Finding;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::shrink::{Kind, shrink};
use unbacked::sim::world::World;

use super::input::{self, Input};
use super::{Failure, printable};

/// Where failures are kept, as seen from the project's folder.
pub const FOLDER: &str = "sims/regressions";

/// Runs that shrinking one finding may take.
const TRIES: u32 = 300;

/// Shrinks a finding and writes its plan to the folder. A file that is there is never written again. Returns its name.
pub fn keep(folder: &Path, plan: &Plan, found: &Finding, world: &World) -> Result<PathBuf, Failure> {
    let kind = Kind::of(&found.invariant, &found.message);
    let shrunk = shrink(plan, Some(&kind), world, TRIES).map_err(Failure::Internal)?;
    let text = plan::write(&shrunk.plan);
    let hash = &blake3::hash(text.as_bytes()).to_hex()[..12];
    let word: String = found.invariant.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let file = folder.join(format!("{word}-{hash}.json"));
    if !file.exists() {
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
        written.map_err(|error| Failure::Environment(printable(&format!("cannot keep {}: {error}", file.display()))))?;
    }
    Ok(file)
}

/// The kept plans, in order of their names; none where there is no such folder.
pub fn kept(folder: &Path) -> Result<Vec<Plan>, Failure> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let read = |file: &PathBuf| match input::read(file)? {
        Input::Plan(plan) => Ok(*plan),
        Input::Script(_) => Err(Failure::Internal(format!("{} was read as a scenario", file.display()))),
    };
    files.iter().map(read).collect()
}
