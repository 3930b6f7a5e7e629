//! A disk in memory for SQLite: the bytes of the database and of its journal, what was synced of them, and what goes wrong.
//!
//! SQLite's own memory databases have no journal to lose and no sync to fail. On this disk a run's process can die in the middle of a
//! commit and come back with what a real disk would have kept; and a world is made fresh by copying back the few pages that a run wrote.
//!
//! What this room must not know: SQL, the CV, the simulator, chance. It is told what to break, and when.

mod log;
mod state;
mod vfs;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::log::Survived;
pub use self::state::Trouble;

use self::state::State;

/// The name under which SQLite knows this file system.
pub const VFS: &str = vfs::NAME;

/// One disk with one database on it. Clones are the same disk.
#[derive(Clone)]
pub struct Disk {
    number: u64,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self::with(State::default())
    }
}

impl Disk {
    fn with(state: State) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let disk = Self { number: NEXT.fetch_add(1, Ordering::Relaxed), state: Arc::new(Mutex::new(state)) };
        vfs::mount(disk.number, &disk.state);
        disk
    }

    /// The database's path, to be opened with [`VFS`]. A crash makes it another.
    pub fn path(&self) -> String {
        vfs::path(self.number, self.state().generation)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another disk that holds what this one holds; no connection is open on it.
    pub fn copy(&self) -> Self {
        Self::with(self.state().copy())
    }

    /// Marks the database as it is now: [`Disk::rewind`] comes back to it.
    pub fn mark(&self) {
        self.state().mark();
    }

    /// Brings the database back to the mark, by the pages written since. Connections notice by the change counter. False where a
    /// transaction is open: nothing is changed then.
    pub fn rewind(&self) -> bool {
        self.state().rewind()
    }

    /// From now on this goes wrong, after `after` further operations of its kind, for `times` of them. `None` heals the disk.
    pub fn trouble(&self, trouble: Option<(Trouble, u32, u32)>) {
        let mut state = self.state();
        state.struck &= trouble.is_none();
        state.trouble = trouble;
    }

    /// Whether the trouble struck since it was set.
    pub fn struck(&self) -> bool {
        self.state().struck
    }

    /// Runs something on a healthy disk, whatever trouble there is: the oracle's own reading must not fail.
    pub fn healthy<R>(&self, work: impl FnOnce() -> R) -> R {
        let trouble = self.state().trouble.take();
        let done = work();
        self.state().trouble = trouble;
        done
    }

    /// How many operations the last transaction made on the disk: writes, truncations, syncs, the journal's coming and going.
    pub fn operations(&self) -> usize {
        self.state().log.len()
    }

    /// After how many of them it was over for good, by the journal's going; `None` while it is open. (SQLite gives pages back to the file
    /// system only after that.)
    pub fn over_after(&self) -> Option<usize> {
        self.state().log.iter().rposition(|op| matches!(op, log::Op::Delete)).map(|at| at + 1)
    }

    /// How many transactions have written to the disk so far.
    pub fn transactions(&self) -> u64 {
        self.state().transactions
    }

    /// A while has passed: what was written has reached the disk for good, and no crash can take it back.
    pub fn settle(&self) {
        self.state().settle();
    }

    /// The process dies, and with it every open connection. Of the last transaction the first `kept` operations came to the disk; of those
    /// not synced by then, `survived` says for each write, given its length, what became of it. The next connection finds the journal, if one
    /// was left, and rolls it back.
    pub fn crash(&self, kept: usize, survived: &mut dyn FnMut(usize) -> Survived) {
        self.state().crash(kept, survived);
    }
}
