//! The clock on the wall: a run that takes too long by it ends the process. Virtual time ends every wait and the step budget every loop of the
//! machine; this ends what neither of them sees.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use unbacked::sim::plan::Plan;

use super::printable;

/// What one run may take where nobody says otherwise.
pub const LIMIT: &str = "60s";

/// How often it looks, at the least.
const EVERY: Duration = Duration::from_millis(250);

/// The runs of all threads, since when each runs, and how it is replayed.
type Running = HashMap<ThreadId, (Instant, String)>;

/// One for the process: what it ends is the process.
static RUNNING: OnceLock<Mutex<Running>> = OnceLock::new();

/// Begins to watch. No run may take longer than `limit`.
pub fn watch(limit: Duration) {
    thread::spawn(move || {
        loop {
            thread::sleep((limit / 4).min(EVERY));
            let overdue = running().values().find(|(since, _)| since.elapsed() > limit).map(|(_, replay)| replay.clone());
            if let Some(replay) = overdue {
                end(limit, &replay);
            }
        }
    });
}

/// A run begins on this thread.
pub fn begins(plan: &Plan) {
    running().insert(thread::current().id(), (Instant::now(), plan.replay_command()));
}

/// The run on this thread has ended.
pub fn ends() {
    running().remove(&thread::current().id());
}

/// Watches one run.
pub fn around<T>(plan: &Plan, run: impl FnOnce() -> T) -> T {
    begins(plan);
    let done = run();
    ends();
    done
}

fn running() -> MutexGuard<'static, Running> {
    RUNNING.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exit code 4: that a run never ends is a fault of ours. The JSON lines are whole, as each is written at once.
fn end(limit: Duration, replay: &str) -> ! {
    if std::io::stderr().is_terminal() {
        // The progress bar keeps its line.
        anstream::eprintln!();
    }
    anstream::eprintln!(
        "unbacked: internal fault: a run takes longer than {limit:?} of real time. It is `{}`. What was written so far is whole. Where the \
         machine is only slow, `sim --run-limit` gives each run more.",
        printable(replay)
    );
    std::process::exit(4);
}
