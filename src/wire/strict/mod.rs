//! The strict validator. Being written.
