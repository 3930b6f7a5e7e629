//! Every decision that an adversary, a person or a fault takes is drawn here, so that one list of numbers is a whole run.
//!
//! Drivers: *random* (from the seed, through named streams, so that a new draw in one stream does not shift the others), *replay* (a
//! recorded list), *exhaustive* (every list, [`Odometer`]) and *shrink* (an edited list). The last three read a list: where it is exhausted,
//! it answers 0, the mildest choice everywhere; a value that is out of range counts as the highest that is open. Whoever takes a list for a
//! record asks afterwards whether it fitted ([`Choices::misfit`]); whoever edited it does not.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A named source of chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// What the person says.
    User,
    /// What the model does.
    Model,
    /// What breaks.
    Faults,
    /// Where the judge errs.
    Judge,
    /// How streams are chunked and other orderings.
    Order,
}

/// Draws decisions and records them.
#[derive(Debug)]
pub struct Choices {
    driver: Driver,
    drawn: Vec<u32>,
    bounds: Vec<u32>,
    misfit: Option<Misfit>,
}

/// A value of a list that was higher than the choices that were open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its place in the list, counted from 0.
    pub at: usize,
    /// The value.
    pub value: u32,
    /// How many choices were open.
    pub below: u32,
}

#[derive(Debug)]
enum Driver {
    Random(Box<[ChaCha8Rng; 5]>),
    Replay { list: Vec<u32>, at: usize },
}

impl Choices {
    /// From a seed.
    pub fn random(seed: u64) -> Self {
        let stream = |number: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(number);
            rng
        };
        Self { driver: Driver::Random(Box::new([stream(1), stream(2), stream(3), stream(4), stream(5)])), ..Self::replay(Vec::new()) }
    }

    /// From a list: recorded, edited, or the next of an odometer.
    pub fn replay(list: Vec<u32>) -> Self {
        Self { driver: Driver::Replay { list, at: 0 }, drawn: Vec::new(), bounds: Vec::new(), misfit: None }
    }

    /// A number below `below` (which must not be 0).
    pub fn below(&mut self, stream: Stream, below: u32) -> u32 {
        let below = below.max(1);
        let drawn = match &mut self.driver {
            Driver::Random(streams) => streams[stream as usize].random_range(0..below),
            Driver::Replay { list, at } => {
                let value = list.get(*at).copied().unwrap_or(0);
                if value >= below && self.misfit.is_none() {
                    self.misfit = Some(Misfit { at: *at, value, below });
                }
                *at += 1;
                value.min(below - 1)
            }
        };
        self.drawn.push(drawn);
        self.bounds.push(below);
        drawn
    }

    /// True in `percent` of a hundred cases. A certain answer draws nothing.
    pub fn chance(&mut self, stream: Stream, percent: u32) -> bool {
        match percent {
            0 => false,
            100.. => true,
            // High draws are the hits, so that 0, the mildest choice, is a miss.
            percent => self.below(stream, 100) >= 100 - percent,
        }
    }

    /// True at a rate from 0 to 1. A certain answer draws nothing.
    pub fn chance_of(&mut self, stream: Stream, rate: f64) -> bool {
        const PARTS: u32 = 1_000_000;
        match (rate * f64::from(PARTS)).round() {
            parts if parts <= 0.0 => false,
            parts if parts >= f64::from(PARTS) => true,
            // Between 0 and a million, so it fits.
            parts => self.below(stream, PARTS) >= PARTS - parts as u32,
        }
    }

    /// One of some things.
    pub fn pick<'a, T>(&mut self, stream: Stream, from: &'a [T]) -> &'a T {
        &from[self.below(stream, from.len() as u32) as usize]
    }

    /// One of some things, by weight.
    pub fn weighted<'a, T>(&mut self, stream: Stream, from: &'a [(u32, T)]) -> &'a T {
        let total: u32 = from.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(stream, total);
        for (weight, thing) in from {
            if left < *weight {
                return thing;
            }
            left -= weight;
        }
        &from[from.len() - 1].1
    }

    /// All that was drawn, in order.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    /// How many choices were open at each draw, in the same order.
    pub fn bounds(&self) -> &[u32] {
        &self.bounds
    }

    /// The first value of the list that did not fit.
    pub fn misfit(&self) -> Option<Misfit> {
        self.misfit
    }
}

/// Every list of choices up to a length, each once: the last place that can still rise rises, and what was behind it is forgotten. What
/// lies beyond the length is mildest.
#[derive(Clone, Debug)]
pub struct Odometer {
    depth: usize,
    next: Option<Vec<u32>>,
}

impl Odometer {
    /// Over the first `depth` draws. The first list is empty: the mildest run.
    pub fn new(depth: usize) -> Self {
        Self { depth, next: Some(Vec::new()) }
    }

    /// The list to run now; `None` when all have been.
    pub fn list(&self) -> Option<&[u32]> {
        self.next.as_deref()
    }

    /// Takes what the list drew, and goes on to the next.
    pub fn advance(&mut self, drawn: &[u32], bounds: &[u32]) {
        let reached = self.depth.min(drawn.len()).min(bounds.len());
        self.next = (0..reached).rev().find(|at| drawn[*at] + 1 < bounds[*at]).map(|at| {
            let mut list = drawn[..=at].to_vec();
            list[at] += 1;
            list
        });
    }
}

/// A seed of its own for run number `run` of a campaign, the same for any number of threads.
pub fn seed_of(campaign: u64, run: u64) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(campaign);
    rng.set_stream(run + 16);
    rng.next_u64() >> 16
}
