//! The forms of a report that are written to files. Each is asked for by a flag, and is the same for `sim` and `merge`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use unbacked::report::campaign::Report;
use unbacked::report::{json, junit, markdown};

use super::{Failure, printable};

/// The flags.
#[derive(Debug, Default, clap::Args)]
pub struct Forms {
    /// Writes the summary for machines, one JSON object, to this file (`-` for standard output): measures by policy and persona with 95 %
    /// intervals, findings, and how often each mark, move, fault and premise was reached.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Writes the report as JUnit XML to this file: a suite for each policy, a case for each persona or scenario.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Writes the report as Markdown to this file, for the summary of a CI job.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// Makes a form.
type Make = fn(&Report<'_>) -> String;

impl Forms {
    fn asked(&self) -> Vec<(&Path, Make)> {
        let all: [(&Option<PathBuf>, Make); 3] =
            [(&self.summary, json::summary), (&self.junit, junit::report), (&self.markdown, markdown::report)];
        all.into_iter().filter_map(|(file, make)| Some((file.as_deref()?, make))).collect()
    }

    /// Before anything runs: every file can be written, and standard output is asked for once at the most. True where it is asked for.
    pub fn check(&self, json: Option<&Path>) -> Result<bool, Failure> {
        let asked = self.asked();
        let files: Vec<&Path> = asked.iter().map(|(file, _)| *file).chain(json).collect();
        for (place, file) in files.iter().enumerate() {
            if files[..place].contains(file) {
                let name = printable(&file.display().to_string());
                return Err(Failure::Usage(format!("two reports are to be written to `{name}`. Name a file for each")));
            }
        }
        for (file, _) in asked.iter().filter(|(file, _)| !is_stdout(file)) {
            // What a file holds from an earlier campaign stays until this one is done.
            OpenOptions::new().create(true).write(true).truncate(false).open(file).map_err(|error| cannot(file, &error))?;
        }
        Ok(files.into_iter().any(is_stdout))
    }

    /// Writes what was asked for.
    pub fn write(&self, report: &Report<'_>) -> Result<(), Failure> {
        for (file, make) in self.asked() {
            let text = make(report);
            if is_stdout(file) {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the report"))?;
            } else {
                std::fs::write(file, text).map_err(|error| cannot(file, &error))?;
            }
        }
        Ok(())
    }
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn cannot(file: &Path, error: &io::Error) -> Failure {
    let name = printable(&file.display().to_string());
    Failure::Environment(format!("cannot write {name}: {error}. Name a file in a folder that you can write to, with room on its disk"))
}
