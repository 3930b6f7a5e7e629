//! The boundary scan: which room may name which, held by parsing every source file (design, L12). Each kind of violation is planted once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::UseTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// What a room may name.
struct Room {
    name: &'static str,
    /// Rooms of ours.
    rooms: &'static [&'static str],
    /// Whether it decides something of a run, so that clock, environment, files, threads and hash order are out of bounds.
    pure: bool,
}

const ROOMS: &[Room] = &[
    Room { name: "turn", rooms: &["turn"], pure: true },
    Room { name: "guards", rooms: &["guards", "turn"], pure: true },
    Room { name: "wire", rooms: &["wire", "turn"], pure: true },
    Room { name: "cv", rooms: &["cv", "turn"], pure: false },
    Room { name: "oracle", rooms: &["oracle", "turn"], pure: true },
    Room { name: "sim", rooms: &["sim", "turn", "guards", "wire", "cv", "oracle"], pure: true },
    Room { name: "report", rooms: &["report", "sim", "oracle", "turn"], pure: true },
];

/// Paths of the standard library that no pure room may name, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("std::time::Instant", "a plan decides a run, not the wall clock"),
    ("std::time::SystemTime", "a plan decides a run, not the wall clock"),
    ("std::env", "a plan decides a run, not the environment"),
    ("std::fs", "files are the command line's business"),
    ("std::net", "sockets are the live room's business"),
    ("std::process", "processes are the command line's business"),
    ("std::thread", "thread order may decide nothing"),
    ("std::collections::HashMap", "hash order may decide nothing: use BTreeMap"),
    ("std::collections::HashSet", "hash order may decide nothing: use BTreeSet"),
];

/// Exceptions, each with its reason; one that is not needed any more fails.
const EXCEPTIONS: &[(&str, &str, &str)] = &[("src/sim/campaign.rs", "std::thread", "runs go to worker threads, and come back in order")];

/// A name that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Breach {
    file: String,
    line: usize,
    path: String,
    why: String,
}

/// Collects every path that a file names, with its line, as absolute as it can be told.
struct Paths {
    module: Vec<String>,
    found: Vec<(String, usize)>,
}

impl Paths {
    fn note(&mut self, segments: Vec<String>, line: usize) {
        let path = absolute(&self.module, &segments);
        self.found.push((path.join("::"), line));
    }

    fn walk_use(&mut self, before: &[String], tree: &UseTree) {
        let line = tree.span().start().line;
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Vec<String>>();
        match tree {
            UseTree::Path(path) => self.walk_use(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.note(with(name.ident.to_string()), line),
            UseTree::Rename(name) => self.note(with(name.ident.to_string()), line),
            UseTree::Glob(_) => self.note(with("*".into()), line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.walk_use(before, tree)),
        }
    }

    /// Paths inside a macro's tokens: runs of identifiers joined by `::`.
    fn walk_tokens(&mut self, tokens: TokenStream) {
        let mut run: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut line = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !run.is_empty() {
                        self.note(std::mem::take(&mut run), line);
                    }
                    colons = 0;
                    line = ident.span().start().line;
                    run.push(ident.to_string());
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => self.walk_tokens(group.stream()),
                _ => colons = 0,
            }
        }
        if !run.is_empty() {
            self.note(run, line);
        }
    }
}

/// `super` and `self` resolved against the module that names them.
fn absolute(module: &[String], segments: &[String]) -> Vec<String> {
    let mut here = module.to_vec();
    let mut rest = segments;
    if rest.first().is_some_and(|first| first == "self") {
        rest = &rest[1..];
    } else if rest.first().is_none_or(|first| first != "super") {
        return segments.to_vec();
    }
    while rest.first().is_some_and(|first| first == "super") {
        here.pop();
        rest = &rest[1..];
    }
    ["crate".to_owned()].into_iter().chain(here).chain(rest.iter().cloned()).collect()
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.walk_use(&[], &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.note(vec![item.ident.to_string(), "*".into()], item.span().start().line);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.note(segments, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.walk_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

/// Every breach of one file's text.
fn scan(file: &str, room: &Room, text: &str) -> Vec<Breach> {
    let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file} does not parse: {error}"));
    let mut paths = Paths { module: module_of(file), found: Vec::new() };
    paths.visit_file(&syntax);
    paths.found.into_iter().filter_map(|(path, line)| breach(file, room, &path, line)).collect()
}

/// `src/turn/machine/calls.rs` is `turn::machine::calls`.
fn module_of(file: &str) -> Vec<String> {
    let inner = file.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    inner.split('/').map(str::to_owned).collect()
}

fn breach(file: &str, room: &Room, path: &str, line: usize) -> Option<Breach> {
    let found = |why: String| Some(Breach { file: file.into(), line, path: path.into(), why });
    let ours = path.strip_prefix("crate::").or_else(|| path.strip_prefix("unbacked::"));
    if let Some(ours) = ours {
        let named = ours.split("::").next().unwrap_or_default();
        let is_room = ROOMS.iter().any(|room| room.name == named) || matches!(named, "*" | "cli" | "live");
        if is_room && !room.rooms.contains(&named) {
            return found(format!(
                "`{}` may name only {}: take what it needs through a port or a parameter",
                room.name,
                room.rooms.join(", ")
            ));
        }
    }
    let (_, why) = FORBIDDEN.iter().find(|(name, _)| path == *name || path.starts_with(&format!("{name}::"))).filter(|_| room.pure)?;
    found((*why).to_owned())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the sources are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn all() -> Vec<(String, &'static Room, String)> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for room in ROOMS {
        for file in sources(&home.join("src").join(room.name)) {
            let name = file.strip_prefix(home).expect("below home").display().to_string();
            all.push((name, room, std::fs::read_to_string(&file).expect("readable")));
        }
    }
    all
}

#[test]
fn no_room_names_what_it_must_not_know() {
    let mut used: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut breaches = Vec::new();
    for (file, room, text) in all() {
        for breach in scan(&file, room, &text) {
            match EXCEPTIONS.iter().find(|(name, path, _)| *name == breach.file && breach.path.starts_with(path)) {
                Some((name, path, _)) => *used.entry((name, path)).or_default() += 1,
                None => breaches.push(format!("{}:{}: `{}`: {}", breach.file, breach.line, breach.path, breach.why)),
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
    for (name, path, reason) in EXCEPTIONS {
        assert!(used.contains_key(&(*name, *path)), "stale exception: {name} does not name {path} any more ({reason})");
    }
}

#[test]
fn every_kind_of_violation_is_reported_where_it_is_planted() {
    let turn = &ROOMS[0];
    let planted = [
        ("use crate::cv::store::Store;", "crate::cv::store::Store"),
        ("use crate::{turn::draft::Act, oracle::claims};", "crate::oracle::claims"),
        ("use crate::wire as w;", "crate::wire"),
        ("use crate::*;", "crate::*"),
        ("fn f() { let _ = crate::sim::run::run; }", "crate::sim::run::run"),
        ("fn f(_: &crate::cv::store::Store) {}", "crate::cv::store::Store"),
        ("use super::super::guards::state;", "crate::guards::state"),
        ("mod inner { use super::super::super::guards::state; }", "crate::guards::state"),
        ("fn f() { println!(\"{:?}\", crate::oracle::claims::When::Earlier); }", "crate::oracle::claims::When::Earlier"),
        ("use std::time::Instant;", "std::time::Instant"),
        ("use std::collections::{BTreeMap, HashMap};", "std::collections::HashMap"),
        ("fn f() { std::thread::sleep(todo()); }", "std::thread::sleep"),
        ("fn f() { let _ = std::env::var(\"X\"); }", "std::env::var"),
        ("extern crate unbacked;", "unbacked::*"),
    ];
    for (text, path) in planted {
        let breaches = scan("src/turn/machine.rs", turn, text);
        assert!(breaches.iter().any(|breach| breach.path == path && breach.line == 1), "{text}: {breaches:?}");
    }
    for text in ["use crate::turn::draft::Act;", "use super::draft::Act;", "use std::collections::BTreeMap;", "use std::time::Duration;"] {
        assert_eq!(scan("src/turn/machine.rs", turn, text), Vec::new(), "{text}");
    }
}

#[test]
fn u1_a_fate_is_called_applied_in_two_places_only() {
    // Where intent and observation agree, and where a stored fate is read back.
    const MAKERS: [&str; 2] = ["src/turn/draft.rs", "src/cv/audit.rs"];
    for (file, _, text) in all() {
        if MAKERS.contains(&file.as_str()) {
            continue;
        }
        let makes = ["Some(Fate::Applied)", "fate: Fate::Applied", "return Fate::Applied", "Ok(Fate::Applied)", "-> Fate::Applied"];
        for words in makes {
            assert!(!text.contains(words), "{file} makes an applied fate: {words}");
        }
    }
}

#[test]
fn no_source_file_is_longer_than_600_lines_or_unfinished() {
    for (file, _, text) in all() {
        assert!(text.lines().count() <= 600, "{file} has {} lines: is it one room?", text.lines().count());
        for word in ["todo!(", "unimplemented!(", "dbg!(", "unsafe {"] {
            assert!(!text.contains(word), "{file} holds {word}");
        }
    }
}

/// The second proof (L12): the loop compiles with nothing beside it but its own dependencies.
#[test]
fn l12_the_loop_compiles_alone() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifest = "[package]\nname = \"turn-alone\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n\
                    serde_json = \"1\"\ntokio = { version = \"1\", features = [\"rt\", \"time\", \"macros\"] }\n\n[workspace]\n";
    let library = format!("#[path = {:?}]\npub mod turn;\n", home.join("src/turn/mod.rs"));
    std::fs::create_dir(folder.path().join("src")).expect("a folder");
    std::fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
    std::fs::write(folder.path().join("src/lib.rs"), library).expect("written");
    std::fs::copy(home.join("Cargo.lock"), folder.path().join("Cargo.lock")).expect("the lock file is there");
    let done = std::process::Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", home.join("target/turn-alone"))
        .output()
        .expect("cargo runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
