//! Results as JSON lines, one a run: written by a campaign, read again to go on or to be merged.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Deserialize;

use unbacked::sim::outcome::{self, Outcome};

use super::Failure;

/// JSON lines, one a run.
pub struct Lines {
    out: Option<Box<dyn Write>>,
}

impl Lines {
    /// A new file, or standard output for `-`; none where no path is given.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self { out: None }) };
        let out: Box<dyn Write> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            let file = File::create(path).map_err(|error| {
                Failure::Environment(format!("cannot write {}: {error}. Name a file in a folder that you can write to", path.display()))
            })?;
            Box::new(file)
        };
        Ok(Self { out: Some(out) })
    }

    /// Goes on after the whole lines of a file; what is torn is written anew.
    pub fn go_on(path: &Path, whole_bytes: u64) -> Result<Self, Failure> {
        let opened = OpenOptions::new().write(true).open(path).and_then(|mut file| {
            file.set_len(whole_bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        });
        let file = opened.map_err(|error| Failure::Environment(format!("cannot go on in {}: {error}", path.display())))?;
        let out: Box<dyn Write> = Box::new(file);
        Ok(Self { out: Some(out) })
    }

    /// A line of its own, written at once: whatever ends the process, the lines before it are there.
    pub fn put(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let line = serde_json::to_string(outcome).map_err(|error| Failure::Internal(error.to_string()))?;
        out.write_all(format!("{line}\n").as_bytes()).map_err(|error| Failure::of_output(&error, "the JSON lines"))
    }

    /// All of it is written, or that is told.
    pub fn close(&mut self) -> Result<(), Failure> {
        let Some(out) = &mut self.out else { return Ok(()) };
        out.flush().map_err(|error| Failure::of_output(&error, "the JSON lines"))
    }
}

/// What a file of JSON lines holds.
#[derive(Debug)]
pub struct Held {
    /// One for each whole line.
    pub outcomes: Vec<Outcome>,
    /// The length of the whole lines. What follows was torn off by whatever ended the process.
    pub whole_bytes: u64,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Reads the whole lines of a file.
pub fn read(path: &Path) -> Result<Held, Failure> {
    let name = super::printable(&path.display().to_string());
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read {name}: {error}. Name a file that `sim --json` has written")))?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let parse = |(number, line): (usize, &str)| {
        let broken = |what: String| Failure::Usage(super::printable(&format!("{name}:{}: {what}", number + 1)));
        match serde_json::from_str::<Version>(line) {
            Ok(Version { version }) if version == outcome::VERSION => {}
            Ok(Version { version }) => {
                return Err(broken(format!("version {version} of the line; this build reads version {}", outcome::VERSION)));
            }
            Err(error) => return Err(broken(format!("no JSON line of a run: {error}"))),
        }
        serde_json::from_str(line).map_err(|error| broken(format!("no JSON line of a run: {error}")))
    };
    let outcomes = text[..whole].lines().enumerate().map(parse).collect::<Result<_, _>>()?;
    Ok(Held { outcomes, whole_bytes: whole as u64 })
}
