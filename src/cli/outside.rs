//! What a campaign finds outside: the watchdog's clock and the second process.

use std::path::PathBuf;

use unbacked::sim::again::{Outside, Told};
use unbacked::sim::plan::Plan;

use super::second::Second;
use super::{Failure, watchdog};

/// The world around a campaign of this program.
#[derive(Debug)]
pub struct World {
    second: Second,
}

impl World {
    /// `program` stands in for this one as the second process.
    pub fn new(program: Option<PathBuf>) -> Result<Self, Failure> {
        Ok(Self { second: Second::new(program)? })
    }

    /// Why a campaign broke off: with the second process it is the environment, with a run it is a fault of ours.
    pub fn failure(&self, message: String) -> Failure {
        if self.second.failed() { Failure::Environment(message) } else { Failure::Internal(message) }
    }
}

impl Outside for World {
    fn begins(&self, plan: &Plan) {
        watchdog::begins(plan);
    }

    fn ends(&self) {
        watchdog::ends();
    }

    fn differs(&self, plan: &Plan, hash: &str) -> Result<Option<Told>, String> {
        self.second.differs(plan, hash)
    }
}
