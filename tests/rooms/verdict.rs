//! The table against what a file says. Knows both, and no syntax.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::source::{self, Said};
use crate::table::{self, Ban, Exception, Room};

/// One thing that a file may not say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file under `src`.
    pub file: String,
    /// From 1; 0 for the file as a whole.
    pub line: usize,
    /// What it says.
    pub says: String,
    /// Which rule it breaks, and why there is one.
    pub why: String,
    /// What to do.
    pub mend: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "src/{}:{}: `{}`: {}. Mend: {}.", self.file, self.line, self.says, self.why, self.mend)
    }
}

/// What is wrong with the files (path under `src` → text), exceptions that nothing needs included.
pub fn examine(files: &BTreeMap<String, String>, outside: &BTreeSet<String>, exceptions: &[Exception]) -> Vec<Violation> {
    let mut needed = BTreeSet::new();
    let mut violations = Vec::new();
    for (file, source) in files {
        for violation in in_file(file, source, outside) {
            match exceptions.iter().position(|e| e.file == violation.file && covers(e.path, &violation.says)) {
                Some(exception) => drop(needed.insert(exception)),
                None => violations.push(violation),
            }
        }
    }
    let stale = exceptions.iter().enumerate().filter(|(at, _)| !needed.contains(at));
    violations.extend(stale.map(|(_, exception)| Violation {
        file: exception.file.into(),
        line: 0,
        says: exception.path.into(),
        why: format!("an exception (\"{}\") that nothing needs any more", exception.because),
        mend: "take it out of EXCEPTIONS in tests/rooms/table.rs".into(),
    }));
    violations.sort();
    violations.dedup();
    violations
}

fn in_file(file: &str, source: &str, outside: &BTreeSet<String>) -> Vec<Violation> {
    let mut violations: Vec<Violation> = too_long(file, source).into_iter().collect();
    let room = match room_of(file) {
        Ok(room) => room,
        Err(violation) => return vec![violation],
    };
    match source::read(file, source, outside) {
        Ok(lines) => {
            let found = lines.iter().filter_map(|(line, said)| against(file, room, said).map(|(says, why, mend)| (line, says, why, mend)));
            violations.extend(found.map(|(line, says, why, mend)| Violation { file: file.into(), line: *line, says, why, mend }));
        }
        Err(error) => violations.push(Violation {
            file: file.into(),
            line: error.span().start().line,
            says: error.to_string(),
            why: "the scan cannot read the file".into(),
            mend: "make it parse".into(),
        }),
    }
    violations
}

/// The row of the file's room; none for `lib.rs` and `main.rs`.
fn room_of(file: &str) -> Result<Option<&'static Room>, Violation> {
    let name = file.split_once('/').map_or(file.trim_end_matches(".rs"), |(room, _)| room);
    if matches!(file, "lib.rs" | "main.rs") {
        return Ok(None);
    }
    table::ROOMS.iter().find(|room| room.name == name).map(Some).ok_or_else(|| Violation {
        file: file.into(),
        line: 0,
        says: name.into(),
        why: "a room that the table does not know: nothing says what it may name".into(),
        mend: "give it a row in ROOMS of tests/rooms/table.rs, and its place in docs/ARCHITECTURE.md".into(),
    })
}

fn too_long(file: &str, source: &str) -> Option<Violation> {
    let lines = source.lines().count();
    (lines > table::LONGEST_FILE).then(|| Violation {
        file: file.into(),
        line: lines,
        says: format!("{lines} lines"),
        why: format!("no file is over {} lines", table::LONGEST_FILE),
        mend: "move what stands by itself to a file of its own".into(),
    })
}

/// What is wrong with a thing said: what it says, why, and the mend.
fn against(file: &str, room: Option<&Room>, said: &Said) -> Option<(String, String, String)> {
    match said {
        Said::Path { path, open } => against_path(file, room, path, *open),
        Said::Macro(name) => against_macro(room, name),
        Said::Unsafe if file == table::UNSAFE => None,
        Said::Unsafe => Some(("unsafe".into(), format!("no `unsafe` but in {}", table::UNSAFE), "write it safely".into())),
        Said::PathAttribute => Some((
            "#[path]".into(),
            "a `#[path]` could bring another room's file in under this room's name".into(),
            "put the file where its module belongs".into(),
        )),
        Said::MakesApplied if !table::MAKES_APPLIED.contains(&file) => Some((
            "Fate::Applied".into(),
            "V4–V8: a receipt can be made in one place only, so no one else makes an applied fate".into(),
            "get it from turn::draft::Fate::of, or match on it".into(),
        )),
        Said::MakesApplied => None,
    }
}

fn against_macro(room: Option<&Room>, name: &str) -> Option<(String, String, String)> {
    let nowhere = table::NOWHERE.iter().find(|ban| ban.path == name).map(|ban| (ban, "no file may use it".to_owned()));
    let impure = room.filter(|room| room.pure).and_then(|room| {
        let ban = table::IMPURE_MACROS.iter().find(|ban| ban.path == name)?;
        Some((ban, purity_of(room)))
    });
    nowhere.or(impure).map(|(ban, why)| (format!("{name}!"), why, ban.mend.to_owned()))
}

fn purity_of(room: &Room) -> String {
    format!("{} has no clock, environment, files, threads, output or hash order, so that a run repeats", room.name)
}

fn against_path(file: &str, room: Option<&Room>, path: &[String], open: bool) -> Option<(String, String, String)> {
    let says = path.join("::") + if open && path.len() > 1 { "::*" } else { "" };
    if let Some(only) = table::ONLY_IN.iter().find(|only| reaches(path, open, only.path) && !only.files.iter().any(|f| file.starts_with(f)))
    {
        let mend = format!("leave it to {}", only.files.join(", "));
        return Some((says, format!("only {} may name it: {}", only.files.join(", "), only.because), mend));
    }
    let room = room?;
    if path[0] == "crate" {
        return unknown_room(room, path)
            .map(|why| (says, why, format!("let {} take it as a value or behind one of turn's ports", room.name)));
    }
    if path[0] != "std" && !allowed(room.crates, path) {
        let why = format!("{} may name the crates {} only: {}", room.name, in_words(room.crates), room.because);
        return Some((says, why, format!("do it in a room that has the crate, or add it to {}'s row with the reason", room.name)));
    }
    let ban = impurity(room, path, open)?;
    Some((says, purity_of(room), ban.mend.to_owned()))
}

fn unknown_room(room: &Room, path: &[String]) -> Option<String> {
    let own = path.get(1).is_some_and(|name| name == room.name);
    let why = || format!("{} may name {} only: {}", room.name, in_words(room.rooms), room.because);
    (!own && !allowed(room.rooms, &path[1..])).then(why)
}

fn impurity(room: &Room, path: &[String], open: bool) -> Option<&'static Ban> {
    table::IMPURE.iter().filter(|_| room.pure).find(|ban| reaches(path, open, ban.path))
}

/// Whether the path leads to the banned one, or opens what holds it.
fn reaches(path: &[String], open: bool, banned: &str) -> bool {
    let says = path.join("::");
    covers(banned, &says) || (open && covers(&says, banned))
}

fn allowed(may: &[&str], path: &[String]) -> bool {
    may.iter().any(|may| *may == "*" || covers(may, &path.join("::")))
}

/// Whether `path` is `whole` or lies below it.
fn covers(whole: &str, path: &str) -> bool {
    path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn in_words(names: &[&str]) -> String {
    if names.is_empty() { "itself".into() } else { names.join(", ") }
}
