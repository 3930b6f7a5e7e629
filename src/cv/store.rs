//! The database: the only file that opens one. Tools, verifier, audit trail and memory share one connection; one thread, no pool.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, OptionalExtension};

use super::schema::{OTHER_TABLES, SECTIONS, tables};

/// The version of the schema, kept in `user_version`.
const SCHEMA_VERSION: i64 = 1;

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
    /// Written by a newer version, or by another program.
    #[error("the database {path} has schema version {found}, and this version reads {SCHEMA_VERSION}: use a newer `unbacked`")]
    Version {
        /// The file.
        path: String,
        /// What it says.
        found: i64,
    },
}

impl Store {
    /// A fresh database in memory.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::prepare(Connection::open_in_memory(), "in memory")
    }

    /// The database in a file, made where there is none.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::prepare(Connection::open(path), &path.display().to_string())
    }

    fn prepare(connection: rusqlite::Result<Connection>, path: &str) -> Result<Self, OpenError> {
        let sqlite = |source| OpenError::Sqlite { path: path.to_owned(), source };
        let mut connection = connection.map_err(sqlite)?;
        connection.set_prepared_statement_cache_capacity(128);
        connection.busy_timeout(Duration::from_secs(5)).map_err(sqlite)?;
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
        match found {
            0 => create(&connection).map_err(sqlite)?,
            SCHEMA_VERSION => {}
            found => return Err(OpenError::Version { path: path.to_owned(), found }),
        }
        connection.execute_batch("PRAGMA foreign_keys = ON").map_err(sqlite)?;
        connection.authorizer(Some(authorize)).map_err(sqlite)?;
        Ok(Self { connection: Rc::new(RefCell::new(connection)) })
    }

    /// Runs something on the connection.
    pub fn with<R>(&self, work: impl FnOnce(&Connection) -> R) -> R {
        work(&self.connection.borrow())
    }

    /// Runs something in a transaction of its own, which is rolled back where it fails (L4).
    pub fn transaction<R, E: From<rusqlite::Error>>(&self, work: impl FnOnce(&Connection) -> Result<R, E>) -> Result<R, E> {
        let mut connection = self.connection.borrow_mut();
        let transaction = connection.transaction()?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Empties every table and restarts every id, so that the next run finds a world like the first.
    pub fn reset(&self) -> rusqlite::Result<()> {
        self.transaction(|connection| {
            for table in tables() {
                connection.prepare_cached(&format!("DELETE FROM {table}"))?.execute([])?;
            }
            connection.prepare_cached("UPDATE audit_now SET call = NULL")?.execute([])?;
            connection.prepare_cached("DELETE FROM sqlite_sequence")?.execute([])?;
            Ok(())
        })
    }

    /// A user, with an empty profile.
    pub fn add_user(&self, id: i64, name: &str) -> rusqlite::Result<()> {
        self.transaction(|connection| {
            connection.prepare_cached("INSERT INTO users (id, name) VALUES (?1, ?2)")?.execute((id, name))?;
            connection.prepare_cached("INSERT INTO profile (id, user_id) VALUES (?1, ?1)")?.execute([id])?;
            Ok(())
        })
    }

    /// Whether a user is there.
    pub fn has_user(&self, id: i64) -> rusqlite::Result<bool> {
        self.with(|connection| {
            Ok(connection.prepare_cached("SELECT 1 FROM users WHERE id = ?1")?.query_row([id], |_| Ok(())).optional()?.is_some())
        })
    }
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    let mut ddl = String::from("PRAGMA page_size = 1024;\nBEGIN;\n");
    ddl.push_str(OTHER_TABLES);
    for section in &SECTIONS {
        ddl.push_str(&section.ddl());
    }
    ddl.push_str(&format!("PRAGMA user_version = {SCHEMA_VERSION};\nCOMMIT;"));
    connection.execute_batch(&ddl)
}

/// Nothing that a plan does not decide may enter a run: no chance and no clock out of SQLite, and no second database.
fn authorize(context: AuthContext<'_>) -> Authorization {
    const REFUSED: [&str; 9] =
        ["random", "randomblob", "date", "time", "datetime", "julianday", "strftime", "unixepoch", "load_extension"];
    match context.action {
        AuthAction::Function { function_name } if REFUSED.contains(&function_name.to_ascii_lowercase().as_str()) => Authorization::Deny,
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}
