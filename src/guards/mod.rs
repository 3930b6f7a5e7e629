//! Guard policies behind the loop's guard port. Each stands alone.
//!
//! What this room must not know: the oracle and its labels, the CV, the wire. A guard sees a [`crate::turn::guard::View`], and a judge sees
//! what it is handed.

pub mod completion;
pub mod phrases;
pub mod policy;
pub mod state;
