//! The domain: a CV in SQLite, with its tools, verifiers and audit trail (D).
//!
//! What this room must not know: the wire, the guards, the oracle, the simulator. [`store`] is the only file that opens a database.

mod arguments;
pub mod audit;
pub mod editor;
pub mod memory;
pub mod schema;
pub mod store;
pub mod tools;
pub mod verify;
