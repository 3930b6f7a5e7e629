//! The oracle over its public API: each invariant with a run that holds and runs that break it, the tap over plain SQLite, the reference
//! model, and what is counted.

mod faults;
mod folding;
mod invariants;
mod measures;
mod pending;
mod recovery;
mod reference;
mod support;
mod tap;
