//! The adversarial world, from one seed: a scripted model, a person and a provider around the real loop.
//!
//! What this room must not know: the wall clock, unseeded chance, files, and who reads its outcomes. Everything that decides a run is in
//! its [`plan::Plan`].

pub mod actor;
pub mod again;
pub mod campaign;
pub mod choices;
pub mod expect;
pub mod faults;
pub mod judge;
pub mod judge_port;
pub mod model;
pub mod moves;
pub mod outcome;
pub mod person;
pub mod persona;
pub mod plan;
pub mod reach;
pub mod reply;
pub mod run;
pub mod sabotage;
pub mod scenario;
pub mod scope;
pub mod shrink;
pub mod speech;
pub mod stage;
pub mod trust;
pub mod world;
