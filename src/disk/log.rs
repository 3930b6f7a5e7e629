//! What one transaction did to the disk, in order, and what of it survives when the power goes. Knows bytes, and nothing of SQLite.

/// One of the two files that outlive a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// The database.
    Database,
    /// Its rollback journal.
    Journal,
}

/// One operation on the disk.
#[derive(Clone, Debug)]
pub enum Op {
    /// Bytes at a place.
    Write(Lasting, usize, Vec<u8>),
    /// A new length.
    Truncate(Lasting, usize),
    /// All that was written to the file is on the disk.
    Sync(Lasting),
    /// The journal comes into being.
    Create,
    /// The journal is gone: this is what commits a transaction.
    Delete,
}

/// What became of a write that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survived {
    /// All of it is there.
    Whole,
    /// Nothing is.
    Nothing,
    /// So many bytes from its beginning are.
    Torn(usize),
}

/// Database and journal as the disk holds them.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The database's bytes.
    pub database: Vec<u8>,
    /// The journal's, where there is one.
    pub journal: Option<Vec<u8>>,
}

impl Image {
    /// The bytes of a file, made where there is none.
    pub fn file(&mut self, file: Lasting) -> &mut Vec<u8> {
        match file {
            Lasting::Database => &mut self.database,
            Lasting::Journal => self.journal.get_or_insert_default(),
        }
    }

    /// Does an operation. A journal that is not there takes no writes.
    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Write(file, at, bytes) => put(self.file(*file), *at, bytes),
            Op::Truncate(file, length) => self.file(*file).resize(*length, 0),
            Op::Sync(_) => {}
            Op::Create => self.journal = Some(Vec::new()),
            Op::Delete => self.journal = None,
        }
    }

    /// Does the operations as a disk does whose power goes after the last of them: what was synced is there, and `survived` says of each
    /// other write what became of it, given its length.
    pub fn apply_until_crash(&mut self, ops: &[Op], survived: &mut dyn FnMut(usize) -> Survived) {
        let mut waiting: Vec<&Op> = Vec::new();
        for op in ops {
            match op {
                Op::Write(..) | Op::Truncate(..) => waiting.push(op),
                Op::Sync(synced) => {
                    waiting.iter().filter(|op| op.file() == *synced).for_each(|op| self.apply(op));
                    waiting.retain(|op| op.file() != *synced);
                }
                Op::Create | Op::Delete => {
                    waiting.retain(|op| op.file() != Lasting::Journal);
                    self.apply(op);
                }
            }
        }
        for op in waiting {
            match (op, survived(op.bytes())) {
                (_, Survived::Nothing) => {}
                (Op::Write(file, at, bytes), Survived::Torn(kept)) => put(self.file(*file), *at, &bytes[..kept.min(bytes.len())]),
                (op, _) => self.apply(op),
            }
        }
    }
}

impl Op {
    fn file(&self) -> Lasting {
        match self {
            Self::Write(file, ..) | Self::Truncate(file, _) | Self::Sync(file) => *file,
            Self::Create | Self::Delete => Lasting::Journal,
        }
    }

    fn bytes(&self) -> usize {
        if let Self::Write(_, _, bytes) = self { bytes.len() } else { 0 }
    }
}

/// Writes into a file, which grows where it must.
pub fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[at..end].copy_from_slice(bytes);
}
