//! Hostile bytes for everything that reads bytes: both stream decoders, the strict validator, plan files, scenario files. Each target starts from a
//! corpus of small examples, whole and damaged, and holds what it makes of their mutants to more than "it does not panic".
//!
//! Some hundred mutants a target run with every `cargo test`. For longer: `PROPTEST_CASES=1000000 cargo test --release --test fuzz`. What fails is
//! made smaller by proptest, and its seed written to tests/proptest-regressions; once mended, the bytes go into the corpus under a name that says what they are.

mod plans;
mod scenarios;
mod streams;
mod strict;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// An example and what its file or line calls it.
#[derive(Clone, Debug)]
struct Example {
    name: String,
    bytes: Vec<u8>,
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target)
}

/// The corpus of a target, in order of the names.
fn corpus(target: &str) -> Vec<Example> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(target)).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let read = |file: &PathBuf| Example {
        name: file.file_name().expect("a name").to_string_lossy().into_owned(),
        bytes: std::fs::read(file).expect("it is there"),
    };
    files.iter().map(read).collect()
}

/// Bytes that mean something to a reader of streams, JSON or TOML.
const WORDS: [&str; 30] = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "data: ",
    "event: ",
    "data: [DONE]\n\n",
    "id: 1\n",
    ": \n",
    "\u{feff}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u0000",
    "\\ud83d",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "=",
    "[[turn]]\n",
    "'''",
    "#",
    "\u{1b}[2J",
];

/// Members of which there may then be two.
const MEMBERS: [&str; 5] = ["\"tools\":[7]", "\"\\u0074ools\":[7]", "\"messages\":[]", "\"version\":1", "\"choices\":[9]"];

/// One thing done to bytes.
#[derive(Clone, Debug)]
enum Edit {
    Byte(Index, u8),
    Insert(Index, usize),
    Delete(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
    DropLine(Index),
    RepeatLine(Index),
    SwapLines(Index, Index),
    /// Goes on with another example from here.
    Splice(Index, Index, Index),
    /// A member more of the whole: the first or the last of its name.
    Member(bool, usize),
    /// In the JSON of one line, or of all: a node becomes something else, or goes.
    Node(Index, Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        1 => (at(), 0..WORDS.len()).prop_map(|(at, word)| Edit::Insert(at, word)),
        1 => (at(), 1..40_usize).prop_map(|(at, length)| Edit::Delete(at, length)),
        1 => (at(), 1..40_usize).prop_map(|(at, length)| Edit::Repeat(at, length)),
        1 => at().prop_map(Edit::Cut),
        1 => at().prop_map(Edit::DropLine),
        1 => at().prop_map(Edit::RepeatLine),
        1 => (at(), at()).prop_map(|(one, two)| Edit::SwapLines(one, two)),
        1 => (at(), at(), at()).prop_map(|(at, other, from)| Edit::Splice(at, other, from)),
        1 => (any::<bool>(), 0..MEMBERS.len()).prop_map(|(first, member)| Edit::Member(first, member)),
        6 => (at(), at(), 0..18_usize).prop_map(|(line, node, to)| Edit::Node(line, node, to)),
    ]
}

/// Bytes that a failure shows as text.
struct Mutant(Vec<u8>);

impl std::fmt::Debug for Mutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Examples of a corpus with up to seven things done to them.
fn mutants(corpus: Vec<Example>) -> impl Strategy<Value = Mutant> {
    (any::<Index>(), proptest::collection::vec(edit(), 0..8)).prop_map(move |(which, edits)| {
        let first = corpus[which.index(corpus.len())].bytes.clone();
        Mutant(edits.iter().fold(first, |bytes, edit| apply(edit, bytes, &corpus)))
    })
}

fn apply(edit: &Edit, mut bytes: Vec<u8>, corpus: &[Example]) -> Vec<u8> {
    if bytes.is_empty() {
        return corpus[0].bytes.clone();
    }
    let place = |index: &Index| index.index(bytes.len());
    match edit {
        Edit::Byte(at, byte) => {
            let at = place(at);
            bytes[at] = *byte;
        }
        Edit::Insert(at, word) => {
            let at = place(at);
            bytes.splice(at..at, WORDS[*word].bytes());
        }
        Edit::Delete(at, length) => {
            let (at, end) = (place(at), (place(at) + length).min(bytes.len()));
            bytes.drain(at..end);
        }
        Edit::Repeat(at, length) => {
            let (at, end) = (place(at), (place(at) + length).min(bytes.len()));
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        Edit::Cut(at) => {
            let at = place(at);
            bytes.truncate(at);
        }
        Edit::Splice(at, other, from) => {
            let at = place(at);
            let other = &corpus[other.index(corpus.len())].bytes;
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from.index(other.len().max(1)).min(other.len())..]);
        }
        Edit::Member(first, member) => {
            let (brace, text) = match first {
                true => (bytes.iter().position(|byte| *byte == b'{').map(|at| at + 1), format!("{},", MEMBERS[*member])),
                false => (bytes.iter().rposition(|byte| *byte == b'}'), format!(",{}", MEMBERS[*member])),
            };
            if let Some(at) = brace {
                bytes.splice(at..at, text.into_bytes());
            }
        }
        Edit::DropLine(_) | Edit::RepeatLine(_) | Edit::SwapLines(..) => return lines(edit, &bytes),
        Edit::Node(line, node, to) => return json_edited(&bytes, line, node, *to),
    }
    bytes
}

fn lines(edit: &Edit, bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let count = lines.len();
    match edit {
        Edit::DropLine(at) => drop(lines.remove(at.index(count))),
        Edit::RepeatLine(at) => lines.insert(at.index(count), lines[at.index(count)]),
        Edit::SwapLines(one, two) => lines.swap(one.index(count), two.index(count)),
        _ => {}
    }
    lines.concat()
}

/// Where all of it is JSON, all of it is edited; else one line of it that ends in an object.
fn json_edited(bytes: &[u8], line: &Index, node: &Index, to: usize) -> Vec<u8> {
    if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
        edit_node(&mut value, node, to);
        return value.to_string().into_bytes();
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let parsed = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'{')?;
        Some((at, serde_json::from_slice::<Value>(&line[at..]).ok()?))
    };
    let places: Vec<usize> = (0..lines.len()).filter(|place| parsed(lines[*place]).is_some()).collect();
    let Some(place) = (!places.is_empty()).then(|| places[line.index(places.len())]) else { return bytes.to_vec() };
    let Some((at, mut value)) = parsed(lines[place]) else { return bytes.to_vec() };
    edit_node(&mut value, node, to);
    [&lines[..place].concat(), &lines[place][..at], value.to_string().as_bytes(), b"\n", &lines[place + 1..].concat()].concat()
}

fn edit_node(root: &mut Value, node: &Index, to: usize) {
    let pointers = pointers(root);
    let pointer = &pointers[node.index(pointers.len())];
    let other = root.pointer(&pointers[(node.index(pointers.len()) * 7 + to) % pointers.len()]).cloned().unwrap_or_default();
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    let pool = [
        json!(null),
        json!(""),
        json!(" "),
        json!("x"),
        json!([]),
        json!({}),
        json!(0),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(true),
    ];
    match (to, root.pointer_mut(parent)) {
        (0..11, _) => drop(root.pointer_mut(pointer).map(|value| *value = pool[to].clone())),
        (11 | 12, Some(Value::Object(members))) => drop(members.remove(key)),
        (13, Some(Value::Object(members))) => drop(members.insert("novelty".into(), other)),
        (11 | 12, Some(Value::Array(items))) => drop(key.parse().map(|at: usize| items.remove(at))),
        (13, Some(Value::Array(items))) => items.push(other),
        (14, Some(Value::Array(items))) => items.reverse(),
        _ => drop(root.pointer_mut(pointer).map(|value| *value = other)),
    }
}

/// Every place in a value, itself first.
fn pointers(value: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while at < all.len() {
        let here = all[at].clone();
        match value.pointer(&here) {
            Some(Value::Object(members)) => {
                all.extend(members.keys().map(|key| format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"))));
            }
            Some(Value::Array(items)) => all.extend((0..items.len()).map(|place| format!("{here}/{place}"))),
            _ => {}
        }
        at += 1;
    }
    all
}

/// An error for a person: one line that begins with the file's name and moves no cursor once it is printed by a command.
fn told_well(error: &str, file: &str, text: &str, place: Option<(usize, usize)>) -> Result<(), TestCaseError> {
    prop_assert!(error.starts_with(&format!("{file}:")), "no file: {}", error);
    if let Some((line, column)) = place {
        prop_assert!(error.starts_with(&format!("{file}:{line}:{column}")), "no place: {}", error);
        let count = text.split('\n').count();
        prop_assert!((1..=count + 1).contains(&line), "line {} of {}: {}", line, count, error);
    }
    prop_assert!(error.len() > file.len() + 8, "it says nothing: {}", error);
    Ok(())
}
