//! The room `turn`, over its public API: the machine as tables (facts in, steps out), the driver on paused time.

mod bounds;
mod closing;
mod compact;
mod defuse;
mod drive;
mod drive_limits;
mod games;
mod pending;
mod play;
mod recovery;
mod reports;
mod say;
mod the_loop;
mod verify;
mod world;
