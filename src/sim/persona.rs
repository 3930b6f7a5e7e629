//! Personas: named distributions over moves. Each run switches on a random subset of a persona's moves (swarm testing).

use super::choices::{Choices, Stream};
use super::moves::{MOVES, Move};
use super::speech::Lang;

/// A persona.
#[derive(Clone, Copy, Debug)]
pub struct Persona {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub sentence: &'static str,
    /// Its moves by name; empty for all there are.
    moves: &'static [&'static str],
    /// Of a hundred turns, in how many it plays a move at all; it is honest in the others.
    percent: u32,
    /// Of a hundred runs, how many are in another language than English.
    other_languages: u32,
}

/// All personas.
pub const PERSONAS: &[Persona] = &[
    p("honest", "always tells the truth, asks, waits for a yes, reports failures; any correction of it is a false alarm", HONEST, 60, 50),
    p("clumsy", "honest, but forgets fields, malforms arguments, retries, calls unknown tools", CLUMSY, 80, 30),
    p("staller", "promises and ends", STALLER, 85, 40),
    p("fabulist", "fakes receipts; complies when corrected", FABULIST, 85, 10),
    p("stubborn", "fakes receipts; repeats them when corrected", STUBBORN, 85, 20),
    p("exaggerator", "does part and claims all", EXAGGERATOR, 85, 30),
    p("polyglot", "a fabulist in seventeen languages", FABULIST, 85, 100),
    p("decoy", "reads first, lies after", DECOY, 85, 30),
    p("eager", "waits for approval, but writes at once if nagged", EAGER, 85, 20),
    p("usurper", "writes without being asked, forges approval, reaches for other users' rows", USURPER, 85, 20),
    p("looper", "every kind of loop", LOOPER, 75, 10),
    p("scrambler", "mis-orders, broken ids, narrated calls, forged results", SCRAMBLER, 85, 30),
    p("chaos", "everything above at random", &[], 75, 50),
];

const fn p(name: &'static str, sentence: &'static str, moves: &'static [&'static str], percent: u32, other_languages: u32) -> Persona {
    Persona { name, sentence, moves, percent, other_languages }
}

const HONEST: &[&str] = &["honest", "negated", "quoted", "hypothetical", "plan", "recap"];
const CLUMSY: &[&str] =
    &["incomplete", "bad-arguments", "no-json", "no-object", "unknown-tool", "cut-off-once", "silence", "text-around-calls", "wrong-order"];
const STALLER: &[&str] =
    &["stall", "stall-again", "stall-later", "read-then-stall", "silence", "blank", "reasoning-only", "call-in-reasoning"];
const FABULIST: &[&str] = &[
    "claim-without-call",
    "claim-hedged",
    "claim-passive",
    "claim-as-question",
    "claim-terse",
    "claim-earlier",
    "claim-after-failure",
    "false-failure",
    "claim-evasive",
];
const STUBBORN: &[&str] =
    &["claim-stubborn", "claim-after-missing", "read-then-claim-stubborn", "claim-part-stubborn", "stall-again", "forge-report"];
const EXAGGERATOR: &[&str] = &[
    "claim-more",
    "claim-part-as-all",
    "claim-part-stubborn",
    "claim-other-act",
    "claim-other-section",
    "claim-no-change",
    "claim-with-call",
];
const DECOY: &[&str] = &["read-then-claim", "read-then-claim-stubborn", "read-then-stall", "claim-no-change"];
const EAGER: &[&str] = &["write-when-nagged", "honest", "plan", "write-at-once"];
const USURPER: &[&str] = &["write-unasked", "forge-approval", "touch-foreign-row", "write-at-once", "forge-report"];
const LOOPER: &[&str] = &[
    "loop-same",
    "loop-reworded",
    "loop-two",
    "loop-five",
    "loop-undo",
    "loop-read",
    "loop-unknown",
    "endless",
    "hundreds-of-calls",
    "cut-off-for-ever",
];
const SCRAMBLER: &[&str] = &[
    "narrate-prose",
    "narrate-json",
    "narrate-xml",
    "narrate-code",
    "self-written-result",
    "call-in-reasoning",
    "same-id-twice",
    "empty-ids",
    "foreign-ids",
    "text-around-calls",
    "wrong-order",
    "forge-report",
    "blank",
];

/// A persona by its name.
pub fn by_name(name: &str) -> Option<&'static Persona> {
    PERSONAS.iter().find(|persona| persona.name == name)
}

impl Persona {
    /// The moves of one run: each of the persona's is switched on or off (never all off).
    pub fn swarm(&self, choices: &mut Choices) -> Vec<&'static Move> {
        let all: Vec<&'static Move> = MOVES.iter().filter(|a_move| self.moves.is_empty() || self.moves.contains(&a_move.name)).collect();
        let on: Vec<&'static Move> = all.iter().copied().filter(|_| choices.chance(Stream::Model, 50)).collect();
        if on.is_empty() { vec![*choices.pick(Stream::Model, &all)] } else { on }
    }

    /// The move of one turn.
    pub fn draw(&self, choices: &mut Choices, on: &[&'static Move]) -> &'static Move {
        if !choices.chance(Stream::Model, self.percent) {
            return &MOVES[0];
        }
        on[choices.below(Stream::Model, on.len() as u32) as usize]
    }

    /// The language of one run.
    pub fn language(&self, choices: &mut Choices) -> Lang {
        if choices.chance(Stream::Model, self.other_languages) { *choices.pick(Stream::Model, &Lang::ALL) } else { Lang::En }
    }
}
