//! The disk's files, locks and troubles, in safe code. Every answer is what SQLite's file system interface asks for, or a result code.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;

use rusqlite::ffi;

use super::log::{Image, Lasting, Op, Survived, put};

/// The granularity of [`State::rewind`]; any size would do.
const PAGE: usize = 1024;

/// What can go wrong while the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The disk is full: a write that makes a file longer, or a new journal, is refused.
    Full,
    /// Writing, syncing, truncating and deleting fail.
    Write,
    /// Reading fails.
    Read,
    /// Another process holds the lock.
    Busy,
}

/// What the caller wants to do, as troubles see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    Grow,
    Change,
    Read,
    Lock,
}

impl Trouble {
    fn concerns(self, wants: Wants) -> bool {
        match self {
            Self::Full => wants == Wants::Grow,
            Self::Write => matches!(wants, Wants::Grow | Wants::Change),
            Self::Read => wants == Wants::Read,
            Self::Busy => wants == Wants::Lock,
        }
    }
}

/// A file that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// The database.
    Database,
    /// The journal.
    Journal,
    /// Spilled temporary data: the only file of a disk that ends with it.
    Scratch,
}

impl Slot {
    fn lasting(self) -> Option<Lasting> {
        match self {
            Self::Database => Some(Lasting::Database),
            Self::Journal => Some(Lasting::Journal),
            Self::Scratch => None,
        }
    }
}

/// All of a disk.
#[derive(Debug, Default)]
pub struct State {
    /// What reads see.
    now: Image,
    /// What was there before the last transaction.
    base: Image,
    /// What the last transaction did.
    pub log: Vec<Op>,
    /// How many transactions there were.
    pub transactions: u64,
    scratch: Vec<u8>,
    marked: Vec<u8>,
    /// Pages in which `now` or `base` may differ from `marked`.
    dirty: BTreeSet<usize>,
    locks: BTreeMap<u64, c_int>,
    handles: u64,
    /// Grows with each crash: a handle of the dead process finds nothing any more.
    pub generation: u64,
    /// What goes wrong: after so many operations that it concerns, for so many of them.
    pub trouble: Option<(Trouble, u32, u32)>,
    /// Whether it did.
    pub struck: bool,
}

impl State {
    /// The files alone.
    pub fn copy(&self) -> Self {
        Self { now: self.now.clone(), base: self.base.clone(), log: self.log.clone(), ..Self::default() }
    }

    /// A number for a new handle.
    pub fn next_handle(&mut self) -> u64 {
        self.handles += 1;
        self.handles
    }

    fn fails(&mut self, wants: Wants) -> bool {
        let Some((trouble, after, times)) = &mut self.trouble else { return false };
        if !trouble.concerns(wants) {
            return false;
        }
        if *after > 0 {
            *after -= 1;
            return false;
        }
        let strikes = *times > 0;
        *times = times.saturating_sub(1);
        self.struck |= strikes;
        strikes
    }

    /// What is told of something that could not be written.
    fn refusal(&self, error: c_int) -> c_int {
        if matches!(self.trouble, Some((Trouble::Full, ..))) { ffi::SQLITE_FULL } else { error }
    }

    fn file(&mut self, slot: Slot) -> &mut Vec<u8> {
        match slot.lasting() {
            Some(file) => self.now.file(file),
            None => &mut self.scratch,
        }
    }

    fn did(&mut self, op: Op) {
        self.now.apply(&op);
        self.log.push(op);
    }

    fn touch(&mut self, from: usize, to: usize) {
        self.dirty.extend(from / PAGE..to.div_ceil(PAGE));
    }

    /// Opens a file, and makes it where it may.
    pub fn open(&mut self, slot: Slot, create: bool) -> Result<(), c_int> {
        if slot == Slot::Journal && self.now.journal.is_none() {
            if !create {
                return Err(ffi::SQLITE_CANTOPEN);
            }
            if self.fails(Wants::Grow) {
                return Err(self.refusal(ffi::SQLITE_IOERR));
            }
            // A new journal is a new transaction: a crash takes back nothing from before it.
            self.settle();
            self.transactions += 1;
            self.did(Op::Create);
        }
        Ok(())
    }

    /// Closes a handle.
    pub fn close(&mut self, handle: u64) {
        self.locks.remove(&handle);
    }

    /// Reads what is there; the rest of the buffer is zeroed, and `SHORT_READ` says so.
    pub fn read(&mut self, slot: Slot, buffer: &mut [u8], at: usize) -> Result<(), c_int> {
        if self.fails(Wants::Read) {
            return Err(ffi::SQLITE_IOERR_READ);
        }
        let file = self.file(slot);
        let there = file.get(at..).unwrap_or_default();
        let length = there.len().min(buffer.len());
        buffer[..length].copy_from_slice(&there[..length]);
        buffer[length..].fill(0);
        if length == buffer.len() { Ok(()) } else { Err(ffi::SQLITE_IOERR_SHORT_READ) }
    }

    /// Writes.
    pub fn write(&mut self, slot: Slot, bytes: &[u8], at: usize) -> Result<(), c_int> {
        let end = at.checked_add(bytes.len()).ok_or(ffi::SQLITE_IOERR_WRITE)?;
        let grows = end > self.file(slot).len();
        if self.fails(if grows { Wants::Grow } else { Wants::Change }) {
            return Err(self.refusal(ffi::SQLITE_IOERR_WRITE));
        }
        match slot.lasting() {
            Some(file) => {
                self.did(Op::Write(file, at, bytes.to_vec()));
                if file == Lasting::Database {
                    self.touch(at, end);
                }
            }
            None => put(self.file(slot), at, bytes),
        }
        Ok(())
    }

    /// Sets a file's length.
    pub fn truncate(&mut self, slot: Slot, length: usize) -> Result<(), c_int> {
        if self.fails(Wants::Change) {
            return Err(ffi::SQLITE_IOERR_TRUNCATE);
        }
        let before = self.file(slot).len();
        match slot.lasting() {
            Some(file) => {
                self.did(Op::Truncate(file, length));
                if file == Lasting::Database {
                    self.touch(before.min(length), before.max(length));
                }
            }
            None => self.file(slot).resize(length, 0),
        }
        Ok(())
    }

    /// Syncs.
    pub fn sync(&mut self, slot: Slot) -> Result<(), c_int> {
        if self.fails(Wants::Change) {
            return Err(ffi::SQLITE_IOERR_FSYNC);
        }
        if let Some(file) = slot.lasting() {
            self.did(Op::Sync(file));
        }
        Ok(())
    }

    /// How long a file is.
    pub fn size(&mut self, slot: Slot) -> usize {
        self.file(slot).len()
    }

    /// Deletes the journal.
    pub fn delete_journal(&mut self) -> Result<(), c_int> {
        if self.now.journal.is_none() {
            return Err(ffi::SQLITE_IOERR_DELETE_NOENT);
        }
        if self.fails(Wants::Change) {
            return Err(ffi::SQLITE_IOERR_DELETE);
        }
        self.did(Op::Delete);
        Ok(())
    }

    /// Whether a file is there.
    pub fn exists(&self, slot: Slot) -> bool {
        slot != Slot::Journal || self.now.journal.is_some()
    }

    fn highest_of_others(&self, handle: u64) -> c_int {
        self.locks.iter().filter(|(other, _)| **other != handle).map(|(_, level)| *level).max().unwrap_or(ffi::SQLITE_LOCK_NONE)
    }

    /// Takes a lock: many may share, one may intend to write, and who writes is alone.
    pub fn lock(&mut self, handle: u64, level: c_int) -> Result<(), c_int> {
        if self.locks.get(&handle).is_some_and(|held| *held >= level) {
            return Ok(());
        }
        if level >= ffi::SQLITE_LOCK_RESERVED && self.fails(Wants::Lock) {
            return Err(ffi::SQLITE_BUSY);
        }
        let others = self.highest_of_others(handle);
        let free = match level {
            ffi::SQLITE_LOCK_SHARED => others < ffi::SQLITE_LOCK_PENDING,
            ffi::SQLITE_LOCK_RESERVED => others < ffi::SQLITE_LOCK_RESERVED,
            _ => others == ffi::SQLITE_LOCK_NONE,
        };
        if free {
            self.locks.insert(handle, level);
            return Ok(());
        }
        // Who waits to write alone lets no new reader in.
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && others < ffi::SQLITE_LOCK_RESERVED {
            self.locks.insert(handle, ffi::SQLITE_LOCK_PENDING);
        }
        Err(ffi::SQLITE_BUSY)
    }

    /// Gives a lock back, down to a level.
    pub fn unlock(&mut self, handle: u64, level: c_int) {
        if level == ffi::SQLITE_LOCK_NONE {
            self.locks.remove(&handle);
        } else {
            self.locks.insert(handle, level);
        }
    }

    /// Whether anybody intends to write.
    pub fn reserved(&self) -> bool {
        self.locks.values().any(|level| *level >= ffi::SQLITE_LOCK_RESERVED)
    }

    /// See [`super::Disk::settle`].
    pub fn settle(&mut self) {
        for op in self.log.drain(..) {
            self.base.apply(&op);
        }
    }

    /// See [`super::Disk::mark`].
    pub fn mark(&mut self) {
        self.settle();
        self.marked.clone_from(&self.now.database);
        self.dirty.clear();
    }

    /// See [`super::Disk::rewind`].
    pub fn rewind(&mut self) -> bool {
        if !self.locks.is_empty() {
            return false;
        }
        self.log.clear();
        (self.now.journal, self.base.journal) = (None, None);
        let counter = counter_of(&self.now.database).wrapping_add(1);
        for image in [&mut self.now.database, &mut self.base.database] {
            image.resize(self.marked.len(), 0);
            for page in &self.dirty {
                let (from, to) = (page * PAGE, ((page + 1) * PAGE).min(self.marked.len()));
                if from < to {
                    image[from..to].copy_from_slice(&self.marked[from..to]);
                }
            }
            set_counter(image, counter);
        }
        self.dirty.clear();
        true
    }

    /// See [`super::Disk::crash`].
    pub fn crash(&mut self, kept: usize, survived: &mut dyn FnMut(usize) -> Survived) {
        let mut log = std::mem::take(&mut self.log);
        log.truncate(kept);
        self.base.apply_until_crash(&log, survived);
        self.now = self.base.clone();
        self.generation += 1;
        self.locks.clear();
    }
}

/// Where SQLite keeps the number of changes to the file, and where it keeps the number for which the file's size is right.
const COUNTERS: [usize; 2] = [24, 92];

fn counter_of(database: &[u8]) -> u32 {
    let bytes = database.get(COUNTERS[0]..COUNTERS[0] + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_be_bytes)
}

/// A counter that no connection has seen makes each of them drop the pages that it kept.
fn set_counter(database: &mut [u8], counter: u32) {
    for at in COUNTERS {
        if let Some(bytes) = database.get_mut(at..at + 4) {
            bytes.copy_from_slice(&counter.to_be_bytes());
        }
    }
}
