//! What is true. Being written.

pub mod claims;
