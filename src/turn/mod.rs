//! The loop. It decides what comes next in a turn, and knows nothing of CVs, SQL, HTTP or any provider (L12).
//!
//! [`machine::Machine`] holds every decision and does nothing: no await, no clock, no I/O. It hands out a closed
//! [`machine::Step`] and is fed a closed [`machine::Fact`]. [`drive::drive`] is the only driver: it matches the step, calls the port, feeds
//! the fact.
//!
//! What this room must not know: any other room of the crate, any domain word, the clock (the driver alone sees tokio's), randomness,
//! files, threads, hash order.

pub mod bounds;
pub mod compact;
pub mod conversation;
pub mod draft;
pub mod drive;
pub mod event;
pub mod exit;
pub mod guard;
pub mod machine;
pub mod message;
pub mod pending;
pub mod ports;
pub mod report;
