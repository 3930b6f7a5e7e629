//! The adversarial world from one seed.

pub mod judge;
pub mod speech;
