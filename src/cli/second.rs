//! The second process: this program once more, in another folder, time zone and language. It is told plans and answers with the hash of what each
//! run told; asked once more, with all of it.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use unbacked::sim::again::Told;
use unbacked::sim::plan::{self, Plan};
use unbacked::sim::run::run;
use unbacked::sim::world::World;

use super::{Failure, Found};

/// The hidden command that makes this program the second process.
pub const COMMAND: &str = "again";

/// Asks for all that the last run told.
const TELL: &str = "tell";

/// Processes that wait for plans, as many as were ever needed at once.
#[derive(Debug)]
pub struct Second {
    program: PathBuf,
    idle: Mutex<Vec<Process>>,
    failed: AtomicBool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// `None` once there is nothing more to ask.
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Second {
    /// Starts nothing yet. `program` stands in for this one.
    pub fn new(program: Option<PathBuf>) -> Result<Self, Failure> {
        let own = || std::env::current_exe().map_err(|error| Failure::Environment(format!("cannot find this program's own file: {error}")));
        Ok(Self { program: program.map_or_else(own, Ok)?, idle: Mutex::default(), failed: AtomicBool::new(false) })
    }

    /// Makes a run there. What it told, where that has another hash.
    pub fn differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String> {
        let told = self.try_differs(plan, hash);
        self.failed.fetch_or(told.is_err(), Ordering::Relaxed);
        told
    }

    /// Whether one could not be started, or gave no answer.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn try_differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String> {
        let idle = self.idle().pop();
        let mut process = idle.map_or_else(|| self.start(), Ok)?;
        let replay = || super::printable(&plan.replay_command());
        let told =
            process.differs(plan, hash).map_err(|error| format!("the second process gave no answer ({error}) for `{}`", replay()))?;
        self.idle().push(process);
        Ok(told)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Process, String> {
        let elsewhere = std::env::temp_dir();
        let elsewhere = elsewhere.ancestors().last().unwrap_or(&elsewhere);
        let mut command = Command::new(&self.program);
        command.arg(COMMAND).current_dir(elsewhere).env("TZ", "Pacific/Kiritimati");
        for name in ["LANG", "LC_ALL", "LANGUAGE"] {
            command.env(name, OsStr::new("tr_TR.UTF-8"));
        }
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| {
            let name = super::printable(&self.program.display().to_string());
            format!("cannot start {name} a second time, to see whether runs come out the same there: {error}")
        })?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the second process has no standard input or output".into());
        };
        Ok(Process { child, ask: Some(ask), answers: BufReader::new(answers) })
    }
}

impl Process {
    fn differs(&mut self, plan: &Plan, hash: &str) -> io::Result<Option<Told>> {
        if self.ask(&serde_json::to_string(plan)?)?.trim_end() == hash {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&self.ask(TELL)?)?))
    }

    fn ask(&mut self, line: &str) -> io::Result<String> {
        let ask = self.ask.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(ask, "{line}").and_then(|()| ask.flush())?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(answer),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without a question left it ends by itself.
        self.ask = None;
        let _ = self.child.wait();
    }
}

/// The other side: plans come in, hashes go out.
pub fn answer() -> Result<Found, Failure> {
    // Ctrl-C is for the first process; this one ends with its input.
    ctrlc::set_handler(|| {}).map_err(|error| Failure::Environment(format!("cannot listen for Ctrl-C: {error}")))?;
    let world = World::new().map_err(Failure::Environment)?;
    let (input, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut last: Option<Told> = None;
    for line in input.lines() {
        let line = line.map_err(|error| Failure::Environment(format!("cannot read plans: {error}")))?;
        let answer = if line == TELL {
            serde_json::to_string(&last).map_err(|error| Failure::Internal(error.to_string()))?
        } else {
            let plan = plan::parse("", &line).map_err(|error| Failure::Usage(super::printable(&error.to_string())))?;
            let told = Told::of(&run(&plan, &world).map_err(Failure::Usage)?);
            last.insert(told).hash()
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error, "the answer"))?;
    }
    Ok(Found::Clean)
}
