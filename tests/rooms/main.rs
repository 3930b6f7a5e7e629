//! The rooms and their fences: every file under `src` is read with `syn` and held to the table in `table.rs`.
//!
//! `source` says what a file names, `table` what it may, `verdict` brings them together, `planted` proves that each kind of breach is seen.

mod planted;
mod source;
mod table;
mod tokens;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files under `src`, by their paths under it.
fn files() -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    gather(&src, &src, &mut files);
    files
}

fn gather(src: &Path, directory: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            gather(src, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(src).expect("it lies under src").to_string_lossy().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).expect("a source file is text"));
        }
    }
}

/// The crates that Cargo.toml names, as code writes them.
fn outside() -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).expect("Cargo.toml is there");
    let manifest: toml::Table = text.parse().expect("Cargo.toml is TOML");
    let tables = ["dependencies", "dev-dependencies"].into_iter().filter_map(|name| manifest.get(name)?.as_table());
    tables.flat_map(|table| table.keys().map(|name| name.replace('-', "_"))).collect()
}

#[test]
fn l12_every_file_names_only_what_its_room_may() {
    let violations = verdict::examine(&files(), &outside(), table::EXCEPTIONS);
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{} breaches of tests/rooms/table.rs:\n{}", told.len(), told.join("\n"));
}

#[test]
fn the_scan_reads_every_room_and_every_crate() {
    let files = files();
    for room in table::ROOMS.iter().filter(|room| room.name != "live") {
        assert!(files.keys().any(|file| file.starts_with(&format!("{}/", room.name))), "no file of {}", room.name);
    }
    assert!(outside().is_superset(&["serde", "rand_chacha", "rusqlite", "tokio"].map(str::to_owned).into()));
}

#[test]
fn guards_and_oracle_never_know_each_other_and_cv_knows_no_wire() {
    for (room, other) in [("guards", "oracle"), ("oracle", "guards"), ("cv", "wire"), ("guards", "cv"), ("wire", "cv"), ("oracle", "cv")] {
        let row = table::ROOMS.iter().find(|row| row.name == room).expect("the room has a row");
        assert!(!row.rooms.contains(&other), "{room} may not know {other}");
    }
    assert!(table::ROOMS.iter().all(|row| !row.rooms.iter().any(|name| name.starts_with("cli"))), "nothing knows cli");
    let turn = table::ROOMS.iter().find(|row| row.name == "turn").expect("the loop has a row");
    assert!(turn.rooms.is_empty(), "L12: the loop knows no room");
}
