//! The table that the code is held to (docs/ARCHITECTURE.md in data). Every row says why. To let a room know more, change its row here;
//! to let one file do what its room may not, add an exception with its reason. It knows nothing of how a file is read.

/// One room: what its files may name beyond themselves.
pub struct Room {
    /// The directory under `src`.
    pub name: &'static str,
    /// Rooms (or `room::module` parts of rooms) that it may name; `*` for all.
    pub rooms: &'static [&'static str],
    /// Outside crates that it may name; `*` for all.
    pub crates: &'static [&'static str],
    /// Whether [`IMPURE`] holds for it: no clock, environment, files, threads, hash order.
    pub pure: bool,
    /// Why the fence stands, for the message.
    pub because: &'static str,
}

/// A path that some files may not name.
pub struct Ban {
    /// The path and all below it.
    pub path: &'static str,
    /// What to do in its place.
    pub mend: &'static str,
}

/// A path that only these files may name.
pub struct OnlyIn {
    /// The path and all below it.
    pub path: &'static str,
    /// Prefixes of files under `src`.
    pub files: &'static [&'static str],
    /// Why, for the message.
    pub because: &'static str,
}

/// One file that may do what its room may not. It fails when nothing in the file needs it any more.
pub struct Exception {
    /// The file under `src`.
    pub file: &'static str,
    /// The path and all below it.
    pub path: &'static str,
    /// Why it is right here.
    pub because: &'static str,
}

/// Room → what it may name.
pub const ROOMS: &[Room] = &[
    Room {
        name: "turn",
        rooms: &[],
        crates: &["serde", "serde_json"],
        pure: true,
        because: "L12: the loop never says `crate::` outside its own room",
    },
    Room {
        name: "guards",
        rooms: &["turn"],
        crates: &["serde", "serde_json", "regex", "whatlang"],
        pure: true,
        because: "a policy stands behind turn's guard port, and never learns what the oracle knows",
    },
    Room {
        name: "wire",
        rooms: &["turn"],
        crates: &["serde", "serde_json"],
        pure: true,
        because: "a codec turns bytes into turn's messages and back, and knows no domain and no socket",
    },
    Room {
        name: "disk",
        rooms: &[],
        crates: &["rusqlite"],
        pure: true,
        because: "a disk knows bytes and locks: what is stored on it, and who breaks it, is not its business",
    },
    Room {
        name: "cv",
        rooms: &["turn", "disk"],
        crates: &["serde", "serde_json", "rusqlite", "jsonschema", "thiserror"],
        pure: false,
        because: "the domain stands behind turn's ports, and knows no wire, guard or oracle",
    },
    Room {
        name: "oracle",
        rooms: &["turn"],
        crates: &["serde", "serde_json", "rusqlite"],
        pure: true,
        because: "the oracle judges from facts alone: whoever it judges, it does not know",
    },
    Room {
        name: "sim",
        rooms: &["turn", "guards", "wire", "cv", "disk", "oracle"],
        crates: &["serde", "serde_json", "rand", "rand_chacha", "tokio", "toml", "blake3", "strsim", "thiserror", "rusqlite"],
        pure: true,
        because: "a run comes from its plan alone, and does not know who reads its outcome",
    },
    Room {
        name: "report",
        rooms: &["sim::outcome", "sim::run::Run", "sim::reach", "oracle", "turn"],
        crates: &["serde", "serde_json", "owo_colors", "quick_junit"],
        pure: true,
        because: "a report reads outcomes, the record of a run, and the catalogue of what can be reached",
    },
    Room {
        name: "live",
        rooms: &["turn", "wire"],
        crates: &["*"],
        pure: false,
        because: "the one room with sockets and keys serves turn's model port over any codec, and knows no domain",
    },
    Room { name: "cli", rooms: &["*"], crates: &["*"], pure: false, because: "a command may use everything, and nothing uses a command" },
];

/// What a pure room may not name, and what to do instead.
pub const IMPURE: &[Ban] = &[
    Ban { path: "std::time::Instant", mend: "measure with the port's or tokio's clock, which a simulation pauses" },
    Ban { path: "std::time::SystemTime", mend: "take the date as a value from the caller" },
    Ban { path: "std::time::UNIX_EPOCH", mend: "take the date as a value from the caller" },
    Ban { path: "std::env", mend: "take the setting as a value from the caller (cli reads it)" },
    Ban { path: "std::fs", mend: "take the text as a value from the caller (cli reads files)" },
    Ban { path: "std::io", mend: "return a value and let cli write it" },
    Ban { path: "std::thread", mend: "let the caller run it; a run has one thread" },
    Ban { path: "std::process", mend: "return a value and let cli end the process" },
    Ban { path: "std::net", mend: "put it behind a port (live holds the sockets)" },
    Ban { path: "std::os", mend: "put it behind a port" },
    Ban { path: "std::collections::HashMap", mend: "use BTreeMap: its order is the same in every run" },
    Ban { path: "std::collections::HashSet", mend: "use BTreeSet: its order is the same in every run" },
    Ban { path: "std::collections::hash_map", mend: "use BTreeMap: its order is the same in every run" },
    Ban { path: "std::collections::hash_set", mend: "use BTreeSet: its order is the same in every run" },
    Ban { path: "std::hash::RandomState", mend: "hash with blake3, which has no hidden seed" },
    Ban { path: "rand::rng", mend: "draw from the plan's seeded stream (sim::choices)" },
    Ban { path: "rand::random", mend: "draw from the plan's seeded stream (sim::choices)" },
    Ban { path: "rand::thread_rng", mend: "draw from the plan's seeded stream (sim::choices)" },
    Ban { path: "rand::rngs", mend: "draw from the plan's seeded stream (sim::choices)" },
];

/// Macros that do what a pure room may not.
pub const IMPURE_MACROS: &[Ban] = &[
    Ban { path: "print", mend: "return a value and let cli write it" },
    Ban { path: "println", mend: "return a value and let cli write it" },
    Ban { path: "eprint", mend: "return a value and let cli write it" },
    Ban { path: "eprintln", mend: "return a value and let cli write it" },
    Ban { path: "option_env", mend: "take the setting as a value from the caller" },
];

/// Macros that no file may use.
pub const NOWHERE: &[Ban] = &[
    Ban { path: "todo", mend: "write it, or leave the way to it out" },
    Ban { path: "unimplemented", mend: "write it, or leave the way to it out" },
    Ban { path: "dbg", mend: "take it out, or make it an event" },
    Ban { path: "include", mend: "make it a module: the scan does not follow `include!`" },
];

/// What stands in a few files only.
pub const ONLY_IN: &[OnlyIn] = &[
    OnlyIn {
        path: "tokio::time",
        files: &["turn/drive.rs", "sim/"],
        because: "B4: the driver alone sees the clock, and the simulator stops it",
    },
    OnlyIn { path: "rusqlite::Connection::open", files: &["cv/store.rs"], because: "one file opens databases" },
    OnlyIn { path: "rusqlite::Connection::open_in_memory", files: &["cv/store.rs"], because: "one file opens databases" },
    OnlyIn { path: "rusqlite::Connection::open_with_flags_and_vfs", files: &["cv/store.rs"], because: "one file opens databases" },
    OnlyIn { path: "rusqlite::Connection::open_with_flags", files: &["cv/store.rs"], because: "one file opens databases" },
];

/// The one file that may say `unsafe`: it speaks C with SQLite.
pub const UNSAFE: &str = "disk/vfs.rs";

/// The files where an applied fate may come into being: one decides it, one reads it back from the trail.
pub const MAKES_APPLIED: &[&str] = &["turn/draft.rs", "cv/audit.rs"];

/// The files that may do what their rooms may not.
pub const EXCEPTIONS: &[Exception] = &[
    Exception { file: "turn/drive.rs", path: "tokio", because: "the driver is the one part of the loop that awaits" },
    Exception {
        file: "wire/strict/anthropic_tools.rs",
        path: "jsonschema",
        because: "the validator refuses a tool schema that is no JSON Schema, as the provider does; the codecs stay without it",
    },
    Exception {
        file: "sim/campaign.rs",
        path: "std::thread",
        because: "runs are spread over threads; each run has one, and results are put in order by their seeds",
    },
];

/// No file is longer, in lines.
pub const LONGEST_FILE: usize = 600;
