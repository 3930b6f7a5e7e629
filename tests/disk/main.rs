//! The disk in memory: SQLite on it is SQLite, a crash at any point leaves all of a transaction or nothing, and each trouble is an error
//! that SQLite reports and survives. valgrind runs this binary too (`.ci/run`).

mod crash;
mod same;
mod trouble;

use rusqlite::{Connection, OpenFlags};
use unbacked::disk::{Disk, VFS};

/// A connection to the database on the disk.
fn connect(disk: &Disk) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    Connection::open_with_flags_and_vfs(disk.path(), flags, VFS).expect("a disk can be opened")
}

/// Small pages and hardly any cache: pages go to the disk in the middle of a transaction too.
const SETUP: &str = "PRAGMA page_size = 512; PRAGMA cache_size = 3; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT UNIQUE);";

fn is_whole(connection: &Connection) -> bool {
    connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).is_ok_and(|said| said == "ok")
}

/// Every row.
fn rows(connection: &Connection) -> Vec<(i64, String)> {
    let mut statement = connection.prepare("SELECT id, body FROM t ORDER BY id").expect("the table is there");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("it can be read");
    rows.collect::<rusqlite::Result<_>>().expect("it can be read")
}
