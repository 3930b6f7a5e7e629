//! The database: the only file that opens one. Tools, verifier, audit trail and memory share one connection; one thread, no pool.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::disk::{Disk, VFS};

use super::schema::{OTHER_TABLES, SECTIONS};

/// The version of the schema, kept in `user_version`.
const SCHEMA_VERSION: i64 = 1;

/// Marks a database as one of ours, kept in `application_id` (`unbk`).
const APPLICATION_ID: i64 = 0x756e_626b;

/// A CV database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    connection: Rc<RefCell<Connection>>,
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite refused it.
    #[error("cannot open the database {path}: {source}. Name another file, or move this one away to begin anew")]
    Sqlite {
        /// The file.
        path: String,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Another program's file.
    #[error("{path} is not a database of `unbacked`: name another file")]
    Foreign {
        /// The file.
        path: String,
    },
    /// Ours, but broken.
    #[error("the database {path} is damaged ({what}): restore a copy of it, or move it away to begin anew")]
    Damaged {
        /// The file.
        path: String,
        /// What SQLite found.
        what: String,
    },
    /// Written by another version, in practice a newer one.
    #[error("the database {path} has schema version {found}, and this version reads {SCHEMA_VERSION}: use a newer `unbacked`")]
    Version {
        /// The file.
        path: String,
        /// What it says.
        found: i64,
    },
}

impl OpenError {
    fn of(path: &str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what: source.to_string() },
            _ => Self::Sqlite { path, source },
        }
    }
}

impl Store {
    /// A fresh database in memory.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::prepare(Connection::open_in_memory(), "in memory").map(Self::over)
    }

    /// The database in a file, made where there is none.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::prepare(Connection::open(path), &path.display().to_string()).map(Self::over)
    }

    /// The database on a disk of our own, made where there is none.
    pub fn open_on(disk: &Disk) -> Result<Self, OpenError> {
        Self::connect(disk).map(Self::over)
    }

    /// The process died and came back: all that hold this store have another connection, to what the disk kept.
    pub fn reopen_on(&self, disk: &Disk) -> Result<(), OpenError> {
        *self.connection.borrow_mut() = Self::connect(disk)?;
        Ok(())
    }

    fn over(connection: Connection) -> Self {
        Self { connection: Rc::new(RefCell::new(connection)) }
    }

    fn connect(disk: &Disk) -> Result<Connection, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::prepare(Connection::open_with_flags_and_vfs(disk.path(), flags, VFS), "on the simulated disk")
    }

    fn prepare(connection: rusqlite::Result<Connection>, path: &str) -> Result<Connection, OpenError> {
        let sqlite = |source| OpenError::of(path, source);
        let mut connection = connection.map_err(sqlite)?;
        connection.set_prepared_statement_cache_capacity(256);
        // Without this, the planner compiles a statement anew whenever a bound value could change its plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(sqlite)?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(sqlite)?;
        if is_empty(&connection).map_err(sqlite)? {
            create(&connection).map_err(sqlite)?;
        }
        examine(&connection, path)?;
        connection.execute_batch("PRAGMA foreign_keys = ON").map_err(sqlite)?;
        connection.authorizer(Some(authorize)).map_err(sqlite)?;
        Ok(connection)
    }

    /// Runs something on the connection.
    pub fn with<R>(&self, work: impl FnOnce(&Connection) -> R) -> R {
        work(&self.connection.borrow())
    }

    /// Runs something that needs the connection for itself, such as setting SQLite's update and commit hooks.
    pub fn with_mut<R>(&self, work: impl FnOnce(&mut Connection) -> R) -> R {
        work(&mut self.connection.borrow_mut())
    }

    /// Runs something in a transaction of its own, which is rolled back where it fails (L4).
    pub fn transaction<R, E: From<rusqlite::Error>>(&self, work: impl FnOnce(&Connection) -> Result<R, E>) -> Result<R, E> {
        let mut connection = self.connection.borrow_mut();
        // Immediate: a second process is waited for here, where nothing is written yet, and not refused in the middle.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// A user, with an empty profile.
    pub fn add_user(&self, id: i64, name: &str) -> rusqlite::Result<()> {
        self.transaction(|connection| {
            connection.prepare_cached("INSERT INTO users (id, name) VALUES (?1, ?2)")?.execute((id, name))?;
            connection.prepare_cached("INSERT INTO profile (id, user_id) VALUES (?1, ?1)")?.execute([id])?;
            Ok(())
        })
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Whether a database is ours, of this version, and whole.
fn examine(connection: &Connection, path: &str) -> Result<(), OpenError> {
    let read = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|source| OpenError::of(path, source));
    if read("PRAGMA application_id")? != APPLICATION_ID {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    let found = read("PRAGMA user_version")?;
    if found != SCHEMA_VERSION {
        return Err(OpenError::Version { path: path.to_owned(), found });
    }
    let what: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|source| OpenError::of(path, source))?;
    if what == "ok" { Ok(()) } else { Err(OpenError::Damaged { path: path.to_owned(), what }) }
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    let mut ddl = String::from("PRAGMA page_size = 1024;\nBEGIN IMMEDIATE;\n");
    ddl.push_str(OTHER_TABLES);
    for section in &SECTIONS {
        ddl.push_str(&section.ddl());
    }
    ddl.push_str(&format!("PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {SCHEMA_VERSION};\nCOMMIT;"));
    connection.execute_batch(&ddl)
}

/// Nothing that a plan does not decide may enter a run: no chance and no clock out of SQLite, and no second database.
fn authorize(context: AuthContext<'_>) -> Authorization {
    const REFUSED: [&str; 13] = [
        "random",
        "randomblob",
        "date",
        "time",
        "datetime",
        "julianday",
        "strftime",
        "unixepoch",
        "timediff",
        "current_date",
        "current_time",
        "current_timestamp",
        "load_extension",
    ];
    match context.action {
        AuthAction::Function { function_name } if REFUSED.contains(&function_name.to_ascii_lowercase().as_str()) => Authorization::Deny,
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}
