//! Planted breaches: each way of naming what a room may not, which the scan must report, and each near miss, which it must not.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::Exception;
use crate::verdict::{Violation, examine};

fn found(file: &str, source: &str) -> Vec<Violation> {
    found_with(file, source, &[])
}

fn found_with(file: &str, source: &str, exceptions: &[Exception]) -> Vec<Violation> {
    let outside: BTreeSet<String> = ["serde", "serde_json", "tokio", "rand", "rusqlite", "thiserror", "toml"].map(str::to_owned).into();
    examine(&BTreeMap::from([(file.to_owned(), source.to_owned())]), &outside, exceptions)
}

/// The scan reports exactly this line of the file, for saying this.
fn reported(file: &str, source: &str, line: usize, says: &str) {
    let told = found(file, source);
    assert!(told.iter().any(|v| (v.line, v.says.as_str()) == (line, says)), "{file} {source:?}: no report of {says}:{line} in {told:#?}");
    assert!(told.iter().all(|v| !v.why.is_empty() && !v.mend.is_empty()));
}

fn clean(file: &str, source: &str) {
    assert_eq!(found(file, source), [], "{file} {source:?}");
}

#[test]
fn a_use_of_another_room_is_reported_in_every_form() {
    reported("turn/x.rs", "use crate::sim::plan::Plan;", 1, "crate::sim::plan::Plan");
    reported("turn/x.rs", "\nuse crate::{turn::draft, cv};", 2, "crate::cv");
    reported("turn/x.rs", "use crate::{turn::{draft, exit},\n wire::{self, sse}};", 2, "crate::wire::sse");
    reported("turn/x.rs", "use crate::guards as friends;", 1, "crate::guards");
    reported("turn/x.rs", "use crate::oracle::*;", 1, "crate::oracle::*");
    reported("turn/x.rs", "use crate::*;", 1, "crate");
    reported("turn/x.rs", "use crate as all;", 1, "crate");
    reported("turn/x.rs", "use here::x;\nuse unbacked::cv::store;", 2, "crate::cv::store");
    reported("turn/x.rs", "fn f() { use crate::cv; }", 1, "crate::cv");
    reported("turn/x.rs", "extern crate self as me;", 1, "crate");
    reported("turn/x.rs", "extern crate unbacked;", 1, "unbacked");
    reported("guards/x.rs", "use crate::turned::Tables;", 1, "crate::turned::Tables");
    clean("turn/x.rs", "use crate::turn::{draft::{self, Fate}, exit::*};\npub(crate) fn f() {}\npub(in crate::turn) fn g() {}");
}

#[test]
fn a_path_to_another_room_is_reported_wherever_it_stands() {
    reported("guards/x.rs", "fn f() { crate::oracle::changes::all(); }", 1, "crate::oracle::changes::all");
    reported("guards/x.rs", "fn f(x: crate::oracle::claims::Label) {}", 1, "crate::oracle::claims::Label");
    reported("guards/x.rs", "struct S<T>(Vec<T>) where T: crate::cv::Store;", 1, "crate::cv::Store");
    reported("guards/x.rs", "fn f(x: u8) { match x { crate::cv::LIMIT => {} _ => {} } }", 1, "crate::cv::LIMIT");
    reported("guards/x.rs", "impl crate::wire::Codec for X {}", 1, "crate::wire::Codec");
    reported("guards/x.rs", "fn f() { <crate::wire::Dialect as Default>::default(); }", 1, "crate::wire::Dialect");
    reported("guards/x.rs", "#[derive(crate::cv::Row)] struct S;", 1, "crate::cv::Row");
    reported("guards/x.rs", "struct S { #[serde(default, with = \"crate::cv::dates\")] x: u8 }", 1, "crate::cv::dates");
    reported("guards/x.rs", "#[crate::cv::mark] fn f() {}", 1, "crate::cv::mark");
    reported("guards/x.rs", "use crate::turn;\nuse crate::cv as t;\nfn f() { t::open(); }", 3, "crate::cv::open");
    clean("guards/x.rs", "//! [`crate::cv`]\n/// [`crate::oracle`]\nfn f() -> &'static str { \"crate::cv\" } // crate::cv");
}

#[test]
fn a_climb_that_leaves_the_room_is_reported() {
    reported("turn/mod.rs", "use super::cv;", 1, "crate::cv");
    reported("turn/mod.rs", "use super::*;", 1, "crate");
    reported("turn/x.rs", "use super::super::cv::store;", 1, "crate::cv::store");
    reported("turn/machine/calls.rs", "use super::super::super::cv;", 1, "crate::cv");
    reported("turn/x.rs", "mod inner { fn f() { super::super::super::wire::go(); } }", 1, "crate::wire::go");
    reported("turn/x.rs", "use super::super as up;\nfn f() { up::cv::go(); }", 2, "crate::cv::go");
    clean("turn/x.rs", "use super::draft;\nmod inner { use super::*; use super::super::exit; }");
    clean("turn/machine/calls.rs", "use super::super::draft;\nuse self::here::x;");
}

#[test]
fn the_tokens_of_macros_are_read() {
    reported("oracle/x.rs", "fn f() { vec![crate::guards::all()]; }", 1, "crate::guards::all");
    reported("oracle/x.rs", "fn f() {\n format!(\"{}\",\n crate :: sim :: run ())}", 3, "crate::sim::run");
    reported("oracle/x.rs", "macro_rules! m { () => { $crate::cv::go() } }", 1, "crate::cv::go");
    reported("oracle/x.rs", "m! { use std::{fs, collections::{BTreeMap, HashMap}}; }", 1, "std::collections::HashMap");
    reported("oracle/x.rs", "m! { use std::{fs, collections::{BTreeMap, HashMap}}; }", 1, "std::fs");
    reported("oracle/x.rs", "m! { use std::time::*; }", 1, "std::time::*");
    reported("oracle/x.rs", "m! { { [ super::super::cv::go() ] } }", 1, "crate::cv::go");
    reported("oracle/x.rs", "use std::time;\nm! { time::Instant::now() }", 2, "std::time::Instant::now");
    clean("oracle/x.rs", "fn f() { vec![crate::turn::draft::none(), std::time::Duration::ZERO]; }");
}

#[test]
fn impure_paths_of_std_are_reported_under_every_name() {
    reported("sim/x.rs", "use std::time::Instant;", 1, "std::time::Instant");
    reported("sim/x.rs", "use std::time::{Duration, SystemTime as Now};", 1, "std::time::SystemTime");
    reported("sim/x.rs", "use std::time;\nfn f() { time::Instant::now(); }", 2, "std::time::Instant::now");
    reported("sim/x.rs", "use std as s;\nfn f() { s::env::var(\"X\"); }", 2, "std::env::var");
    reported("sim/x.rs", "use std::collections::*;", 1, "std::collections::*");
    reported("sim/x.rs", "use std::*;", 1, "std");
    reported("sim/x.rs", "fn f() { ::std::fs::read(\"x\"); }", 1, "std::fs::read");
    reported("sim/x.rs", "use core::net::IpAddr;", 1, "std::net::IpAddr");
    reported("sim/x.rs", "use std::collections::hash_map::Entry;", 1, "std::collections::hash_map::Entry");
    for path in ["std::thread::spawn", "std::process::id", "std::io::stdout", "std::env::args", "rand::rng"] {
        reported("sim/x.rs", &format!("fn f() {{ {path}(); }}"), 1, path);
    }
    reported("sim/x.rs", "type Clock = std::time::SystemTime;", 1, "std::time::SystemTime");
    reported("wire/x.rs", "fn f() { println!(\"x\"); }", 1, "println!");
    clean("cv/x.rs", "use std::fs;");
    clean("sim/x.rs", "use std::collections::{BTreeMap, BTreeSet};\nuse std::time::{self, Duration};\nfn f() { time::Duration::ZERO; }");
}

#[test]
fn a_crate_that_the_room_has_no_use_for_is_reported() {
    reported("wire/x.rs", "use rusqlite::Connection;", 1, "rusqlite::Connection");
    reported("wire/x.rs", "extern crate rand;", 1, "rand");
    reported("wire/x.rs", "use tokio;", 1, "tokio");
    reported("wire/x.rs", "fn f() { toml::from_str(\"\"); }", 1, "toml::from_str");
    reported("wire/x.rs", "fn f() { ::libc::getpid(); }", 1, "libc::getpid");
    reported("wire/x.rs", "#[derive(thiserror::Error)] struct S;", 1, "thiserror::Error");
    reported("turn/machine.rs", "fn f() { tokio::spawn(x); }", 1, "tokio::spawn");
    clean("wire/x.rs", "mod toml;\nfn f() { toml::read(); }");
}

#[test]
fn b4_the_clock_of_tokio_is_the_drivers_and_the_simulators() {
    reported("cli/x.rs", "use tokio::time::sleep;", 1, "tokio::time::sleep");
    reported("cli/x.rs", "use tokio::*;", 1, "tokio");
    reported("main.rs", "fn f() { tokio::time::sleep(x); }", 1, "tokio::time::sleep");
    clean("sim/x.rs", "use tokio::time::Instant;");
    reported("sim/x.rs", "fn f() { rusqlite::Connection::open_in_memory(); }", 1, "rusqlite::Connection::open_in_memory");
    let on_a_disk = "rusqlite::Connection::open_with_flags_and_vfs";
    reported("disk/x.rs", &format!("fn f() {{ {on_a_disk}(); }}"), 1, on_a_disk);
}

#[test]
fn v8_an_applied_fate_is_made_in_one_place_only() {
    let says = "Fate::Applied";
    reported("cv/tools.rs", "use crate::turn::draft::Fate;\nfn f() -> Fate { Fate::Applied }", 2, says);
    reported("cv/tools.rs", "fn f() { g(crate::turn::draft::Fate::Applied) }", 1, says);
    reported("cv/tools.rs", "use crate::turn::draft::Fate as F;\nfn f() { F::Applied }", 2, says);
    reported("cv/tools.rs", "use crate::turn::draft::Fate::Applied;\nfn f() { Applied }", 2, says);
    reported("cv/tools.rs", "use crate::turn::draft::Fate::*;", 1, says);
    reported("cv/tools.rs", "type T = crate::turn::draft::Fate;\nfn f() { T::Applied {} }", 2, says);
    reported("cv/tools.rs", "impl Fate { fn f() -> Self { Self::Applied } }", 1, says);
    reported("cv/tools.rs", "fn f() { vec![Fate::Applied] }", 1, says);
    reported("cv/tools.rs", "fn f() { let x = a == b && Some(Fate::Applied) == c; }", 1, says);
    clean("turn/draft.rs", "impl Fate { fn f() -> Self { Self::Applied } }");
    clean(
        "cv/tools.rs",
        "fn f(x: &Fate) -> bool { *x == Fate::Applied || &Fate::Applied != x || matches!(x, Fate::Applied | Fate::NoChange) }",
    );
    clean(
        "cv/tools.rs",
        "fn f(x: Fate) { match x { Fate::Applied => {} _ => {} }; assert!(y == Fate::Applied); if let Fate::Applied = x {} }",
    );
    clean("cv/tools.rs", "fn f(x: Fate) { json!({ \"ok\": matches!(x, Fate::Applied | Fate::NoChange) }) }");
    reported("cv/tools.rs", "fn f() { json!({ \"x\": h(Fate::Applied), \"y\": matches!(x, Fate::NoChange) }) }", 1, says);
    clean("guards/state.rs", "enum Cell { Applied } impl Cell { fn f() -> Self { Self::Applied } }");
}

#[test]
fn what_no_file_may_say_is_reported_in_every_room() {
    reported("cv/x.rs", "fn f() { unsafe { g() } }", 1, "unsafe");
    reported("disk/state.rs", "fn f() { unsafe { g() } }", 1, "unsafe");
    clean("disk/vfs.rs", "fn f() { unsafe { g() } }\nunsafe extern \"C\" fn h() {}");
    reported("cli/x.rs", "unsafe impl Send for X {}", 1, "unsafe");
    reported("cli/x.rs", "fn f() { m!(\nunsafe { g() }) }", 2, "unsafe");
    for name in ["todo", "unimplemented", "dbg"] {
        reported("main.rs", &format!("fn f() {{ {name}!() }}"), 1, &format!("{name}!"));
        reported("cli/x.rs", &format!("fn f() {{ vec![{name}!(1)] }}"), 1, &format!("{name}!"));
    }
    reported("turn/x.rs", "include!(\"../cv/store.rs\");", 1, "include!");
    reported("turn/x.rs", "#[path = \"../cv/store.rs\"] mod store;", 1, "#[path]");
    reported("turn/x.rs", "#[cfg_attr(unix, path = \"../cv/store.rs\")] mod store;", 1, "#[path]");
    reported("lib.rs", "#[path = \"x.rs\"] pub mod turn;", 1, "#[path]");
    clean("cli/x.rs", "fn f(x: &[u8]) -> Vec<u8> { <[u8]>::to_vec(x) }");
    clean("cli/x.rs", "fn f(todo: bool) -> bool { let text = include_str!(\"x\"); !todo && text != \"unsafe todo!\" }");
}

#[test]
fn a_file_of_601_lines_is_reported_and_one_of_600_is_not() {
    reported("cv/x.rs", &"\n".repeat(601), 601, "601 lines");
    clean("cv/x.rs", &"\n".repeat(600));
}

#[test]
fn a_room_without_a_row_and_a_file_that_does_not_parse_are_reported() {
    reported("serve/mod.rs", "", 0, "serve");
    reported("serve.rs", "", 0, "serve");
    assert_eq!(found("cv/x.rs", "fn f( {").len(), 1);
}

#[test]
fn an_exception_covers_its_file_and_path_alone_and_goes_stale() {
    let exception = || Exception { file: "sim/campaign.rs", path: "std::thread", because: "spread over threads" };
    let threads = "fn f() { std::thread::scope(g); }";
    assert_eq!(found_with("sim/campaign.rs", threads, &[exception()]), []);
    assert!(found_with("sim/run.rs", threads, &[exception()]).iter().any(|v| v.file == "sim/run.rs" && v.says == "std::thread::scope"));
    assert!(found_with("sim/campaign.rs", "use std::env;\nuse std::thread;", &[exception()]).iter().any(|v| v.says == "std::env"));
    let stale = found_with("sim/campaign.rs", "fn f() {}", &[exception()]);
    assert!(
        matches!(stale.as_slice(), [only] if only.why.contains("nothing needs") && only.why.contains("spread over threads")),
        "{stale:#?}"
    );
}

#[test]
fn a_report_says_where_which_rule_why_and_the_mend() {
    let told = found("turn/x.rs", "\n\nuse crate::cv::store;");
    let expected = "src/turn/x.rs:3: `crate::cv::store`: turn may name itself only: L12: the loop never says `crate::` outside its own room. \
                    Mend: let turn take it as a value or behind one of turn's ports.";
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}
