//! The guards room over its public API: the table of G, the completion check of J in its three strengths, the gate's lists, and how `full`
//! puts them together. No test here knows the loop: a guard is shown a view and rules.

#[path = "guards/completion.rs"]
mod completion;
#[path = "guards/phrase_book.rs"]
mod phrase_book;
#[path = "guards/phrases.rs"]
mod phrases;
#[path = "guards/policy.rs"]
mod policy;
#[path = "guards/state.rs"]
mod state;
#[path = "guards/support.rs"]
mod support;
