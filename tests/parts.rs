//! A campaign in parts: shards, merged and gone on with, are the whole, byte for byte. And a run that comes out differently the second time
//! is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use unbacked::sim::again::Told;
use unbacked::sim::campaign::Part;
use unbacked::sim::plan::Plan;
use unbacked::sim::run::run;
use unbacked::sim::scenario;
use unbacked::sim::world::World;

fn unbacked(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// Policy `none` has findings, whose stories a merge has to tell as well.
const CAMPAIGN: [&str; 8] = ["sim", "--policy", "none,full", "--runs", "20", "--seed", "4", "--faults=all"];

fn campaign(more: &[&str]) -> Output {
    unbacked(&[&CAMPAIGN, more].concat())
}

#[test]
fn three_shards_merged_are_the_whole_byte_for_byte() {
    let folder = Folder::new();
    let (whole, merged) = (folder.file("whole"), folder.file("merged"));
    let one = campaign(&["--json", name(&whole)]);
    let parts: Vec<PathBuf> = (1..=3).map(|part| folder.file(&part.to_string())).collect();
    for (part, file) in (1..).zip(&parts) {
        campaign(&["--shard", &format!("{part}/3"), "--json", name(file)]);
    }
    // In any order.
    let joined = unbacked(&["merge", name(&parts[2]), name(&parts[0]), name(&parts[1]), "--json", name(&merged)]);
    assert_eq!(std::fs::read(&whole).expect("written").len(), std::fs::read(&merged).expect("written").len());
    assert!(std::fs::read(&whole).expect("written") == std::fs::read(&merged).expect("written"));
    assert_eq!(text(&one.stdout), text(&joined.stdout));
    assert_eq!((one.status.code(), joined.status.code()), (Some(1), Some(1)));
}

#[test]
fn shards_that_are_missing_twice_there_or_of_another_campaign_are_told() {
    let folder = Folder::new();
    let (first, second, other) = (folder.file("first"), folder.file("second"), folder.file("other"));
    campaign(&["--shard", "1/2", "--json", name(&first)]);
    campaign(&["--shard", "2/2", "--json", name(&second)]);
    unbacked(&["sim", "--runs", "40", "--seed", "9", "--shard", "2/2", "--json", name(&other)]);
    let refused = |files: &[&PathBuf], says: &str| {
        let files: Vec<&str> = files.iter().map(|file| name(file)).collect();
        let done = unbacked(&[&["merge"], files.as_slice()].concat());
        assert_eq!(done.status.code(), Some(2), "{files:?}");
        assert!(text(&done.stderr).contains(says), "{}", text(&done.stderr));
    };
    refused(&[&first], "run 1 is missing");
    refused(&[&second], "run 0 is missing");
    refused(&[&first, &second, &second], "run 1 is there twice");
    refused(&[&first, &other], "two campaigns");
    let last_gone = folder.file("last");
    let lines = std::fs::read_to_string(&second).expect("written");
    let kept: Vec<&str> = lines.lines().take(19).collect();
    std::fs::write(&last_gone, format!("{}\n", kept.join("\n"))).expect("written");
    refused(&[&first, &last_gone], "run 39 is missing");
    std::fs::write(&last_gone, lines.replacen("\"version\":1", "\"version\":2", 1)).expect("written");
    refused(&[&last_gone], "last:1: version 2");
    std::fs::write(&last_gone, "{\"version\":1}\n").expect("written");
    refused(&[&last_gone], "last:1: no JSON line of a run");
    std::fs::write(&last_gone, "").expect("written");
    refused(&[&last_gone], "no run");
}

#[test]
fn a_campaign_that_was_cut_short_goes_on_to_the_same_bytes() {
    let folder = Folder::new();
    let (whole, cut) = (folder.file("whole"), folder.file("cut"));
    let one = campaign(&["--json", name(&whole)]);
    let bytes = std::fs::read(&whole).expect("written");
    // In the middle of a line, at its end, and before all.
    let line_end = bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    for at in [0, line_end - 1, line_end, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
        std::fs::write(&cut, &bytes[..at]).expect("written");
        let rest = campaign(&["--resume", name(&cut)]);
        assert!(std::fs::read(&cut).expect("written") == bytes, "cut at {at}");
        assert_eq!(text(&rest.stdout), text(&one.stdout), "cut at {at}");
    }
}

#[test]
fn going_on_with_another_campaign_is_refused_and_loses_nothing() {
    let folder = Folder::new();
    let file = folder.file("lines");
    campaign(&["--json", name(&file)]);
    let before = std::fs::read(&file).expect("written");
    let refused = |arguments: &[&str], says: &str| {
        let done = unbacked(arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(text(&done.stderr).contains(says), "{}", text(&done.stderr));
    };
    refused(&["sim", "--runs", "40", "--seed", "5", "--resume", name(&file)], "another campaign");
    refused(&[&CAMPAIGN[..], &["--shard", "1/2", "--resume", name(&file)]].concat(), "where run 2 should be");
    refused(&["sim", "--resume", name(&folder.file("nowhere"))], "cannot read");
    refused(&["sim", "--resume", name(&file), "--json", "x"], "cannot be used with");
    refused(&["sim", "--shard", "0/3"], "1/3, 2/3, 3/3");
    refused(&["sim", "--shard", "4/3"], "1/3, 2/3, 3/3");
    refused(&["sim", "--time", "10"], "30s, 10m or 2h");
    refused(&["sim", "sims/cases/C002.toml", "--time", "10s"], "are for campaigns");
    assert!(std::fs::read(&file).expect("written") == before);
}

#[test]
fn every_run_is_in_exactly_one_part() {
    for shards in 1..6 {
        for runs in 0..14 {
            let parts = (0..shards).map(|shard| Part { shard, shards, made: 0 });
            let mut numbers: Vec<u64> = parts.flat_map(|part| (0..part.size(runs)).map(move |place| part.number(place))).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..runs).collect::<Vec<_>>(), "{runs} runs in {shards} parts");
        }
    }
}

#[test]
fn every_run_made_twice_comes_out_the_same() {
    let done = unbacked(&["sim", "--runs", "40", "--faults", "all", "--check-determinism", "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
}

#[test]
fn a_run_that_comes_out_differently_is_told_by_its_first_step() {
    let world = World::new().expect("a world");
    let of = |words: &str| {
        let head = "version = 1\nid = \"X\"\ntitle = \"x\"\nrequired_end = \"a reply\"";
        let text = format!("{head}\n[[turn]]\nuser = \"{words}\"\n");
        let script = scenario::parse("x.toml", &text).expect("a scenario");
        Told::of(&run(&Plan::of_script(&script, "full", "anthropic"), &world).expect("it runs"))
    };
    let (one, two) = (of("Hello."), of("Good day."));
    assert_eq!(one.difference(&of("Hello.")), None);
    let (turn, message) = one.difference(&two).expect("they differ");
    assert_eq!(turn, 1);
    assert!(message.contains("step 1 was") && message.contains("Hello.") && message.contains("Good day."), "{message}");
}
