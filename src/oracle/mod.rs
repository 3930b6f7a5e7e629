//! What is true: judges a finished run from hidden labels, the trace, and what SQLite itself says changed.
//!
//! What this room must not know: the guards, the verifiers, the CV's tools, the simulator. It never asks the code under test whether it is
//! right; where behaviour is specified exactly it holds the run against a small model of its own ([`mod@reference`]).

pub mod changes;
pub mod claims;
mod excuses;
mod facts;
mod folding;
pub mod invariants;
pub mod lines;
pub mod measures;
pub mod record;
pub mod recovery;
pub mod reference;
mod transcript;
