//! A run of the exhaustive scope: its hostile phase lasts until the model has said every letter of its script.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sim::faults::points::{Act, Points};
use crate::sim::faults::{Fault, Strike};
use crate::sim::model::Mind;
use crate::sim::scope::{Script, Speaker, strikes_at_points};
use crate::sim::world::USER;

use super::Play;

impl Play<'_> {
    /// Plays a script. A turn in which nothing was asked of the model can only be the one that was struck.
    pub(super) async fn scope_phase(&mut self, script: Script) -> rusqlite::Result<()> {
        let mut left = VecDeque::from(script.letters);
        let mut speaker = Speaker::new(script.person);
        let mut strike = script.strike;
        for _ in 0..=left.len() {
            if left.is_empty() {
                break;
            }
            let words = speaker.speak(&mut self.stage.borrow_mut(), &self.world.store, USER)?;
            self.begin_scope_turn(strike.take());
            self.turn(&words, Mind::Letters(left), "scope", None).await?;
            left = match &mut self.model.mind {
                Mind::Letters(left) => std::mem::take(left),
                _ => VecDeque::new(),
            };
        }
        Ok(())
    }

    fn begin_scope_turn(&mut self, strike: Option<(&'static Fault, u32)>) {
        let (scripted, point) = match strike {
            Some((fault, at)) if strikes_at_points(fault) => (Vec::new(), Some((fault, at))),
            Some((fault, at)) => (vec![Strike { name: fault.name.into(), at, times: 1 }], None),
            None => (Vec::new(), None),
        };
        self.begin_hostile_turn(&scripted);
        if let Some((fault, at)) = point {
            self.points = Points::at(at, act_of(fault.name, self.checked.settings.turn_limit()));
        }
    }
}

fn act_of(fault: &str, turn_limit: Duration) -> Act {
    match fault {
        "crash" => Act::Crash,
        "hang" => Act::Hang,
        "clock-jump" => Act::Jump(Duration::from_secs(30)),
        _ => Act::Jump(turn_limit),
    }
}
