//! `unbacked`: an agent loop that cannot leave an unbacked claim standing, and the simulator that puts it on trial.
//!
//! The rooms, in reading order. `docs/ARCHITECTURE.md` is their map, and `tests/rooms.rs` holds the code to it.
//!
//! | room | what it is |
//! | --- | --- |
//! | [`turn`] | the loop: a machine that decides without doing, one driver, the ports |
//! | [`guards`] | policies behind the loop's guard port |
//! | [`wire`] | codecs between provider bytes and the loop's messages, and the strict validator |
//! | [`cv`] | the domain: a CV in SQLite, its tools, verifiers and audit trail |
//! | [`disk`] | a disk in memory beneath SQLite: crashes, faults, rewinding |
//! | [`oracle`] | what is true: judges a finished run from labels, trace and database |
//! | [`sim`] | the adversarial world, from one seed |
//! | [`report`] | one summary, many forms |

pub mod cv;
pub mod disk;
pub mod guards;
pub mod oracle;
pub mod report;
pub mod sim;
pub mod turn;
pub mod wire;
