//! The files that commands read: a scenario in TOML, or a plan in JSON.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run::{Run, run};
use unbacked::sim::scenario::{self, Script};
use unbacked::sim::world::World;

use super::{Failure, printable, watchdog};

/// What a file holds.
#[derive(Debug)]
pub enum Input {
    /// Written by a person.
    Script(Box<Script>),
    /// Recorded by a campaign or by `shrink`.
    Plan(Box<Plan>),
}

/// Reads a file; `.json` is a plan, all else a scenario.
pub fn read(file: &Path) -> Result<Input, Failure> {
    let name = file.display().to_string();
    let text = text_of(file).map_err(|error| {
        let mend = "Name a scenario file in TOML, such as sims/cases/C002.toml, or a plan in JSON";
        Failure::Usage(printable(&format!("cannot read {name}: {error}. {mend}")))
    })?;
    let read = if file.extension().is_some_and(|end| end == "json") {
        plan::parse(&name, &text).map(|plan| Input::Plan(Box::new(plan)))
    } else {
        scenario::parse(&name, &text).map(|script| Input::Script(Box::new(script)))
    };
    read.map_err(|error| Failure::Usage(printable(&error.to_string())))
}

/// No plan or scenario is larger, in bytes; a device that never ends is.
const MOST_BYTES: u64 = 16 << 20;

fn text_of(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(file)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES { Err(io::Error::other(format!("it is over {MOST_BYTES} bytes long"))) } else { Ok(text) }
}

/// The run of a plan that came from a file: what does not fit in it is the file's fault.
pub fn run_of(plan: &Plan, world: &World) -> Result<Run, Failure> {
    let name = plan.script.as_ref().map_or(&plan.file, |script| &script.file);
    let told = |error: String| if name.is_empty() { error } else { format!("{name}: {error}") };
    let run = watchdog::around(plan, || run(plan, world)).map_err(|error| Failure::Usage(printable(&told(error))))?;
    match plan::misfit(plan, &run).filter(|_| !plan.file.is_empty()) {
        Some(misfit) => Err(Failure::Usage(printable(&misfit.to_string()))),
        None => Ok(run),
    }
}
