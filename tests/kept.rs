//! Failures that are found, made smaller, kept in files, told again and made smaller once more.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn unbacked(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).current_dir(home).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

const LIES: [&str; 9] = ["sim", "--policy", "none", "--persona", "fabulist", "--runs", "2", "--faults", "none"];

#[test]
fn a_finding_is_kept_replayed_from_its_file_and_told_first_by_the_next_campaign() {
    let home = tempfile::tempdir().expect("a folder");
    let first = unbacked(home.path(), &[&LIES[..], &["--keep"]].concat());
    assert_eq!(first.status.code(), Some(1), "{}", text(&first.stderr));
    let kept = files(&home.path().join("sims/regressions"));
    assert!(!kept.is_empty());
    for file in &kept {
        let name = file.to_str().expect("a name");
        assert!(text(&first.stdout).contains(file.file_name().and_then(|name| name.to_str()).expect("a name")));
        let again = unbacked(home.path(), &["replay", name]);
        let invariant = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.rsplit_once('-')).expect("a name").0;
        assert_eq!(again.status.code(), Some(1), "{name}");
        assert!(text(&again.stdout).contains(&format!("{invariant} in turn")), "{name}: {}", text(&again.stdout));
    }
    // A campaign of another policy has nothing to do with them; one of theirs tells them first, and keeps nothing twice.
    assert_eq!(unbacked(home.path(), &["sim", "--runs", "2", "--quiet"]).status.code(), Some(0));
    let next = unbacked(home.path(), &[&LIES[..], &["--keep"]].concat());
    assert!(text(&next.stdout).starts_with("A kept failure is there again: "), "{}", text(&next.stdout));
    assert_eq!(files(&home.path().join("sims/regressions")), kept);
    let run = unbacked(home.path(), &["sim", kept[0].to_str().expect("a name")]);
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn a_scenario_is_shrunk_to_a_plan_that_fails_in_the_same_way() {
    let home = tempfile::tempdir().expect("a folder");
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/cases/C002.toml");
    let case = case.to_str().expect("a name");
    let done = unbacked(home.path(), &["shrink", case, "--policy", "none", "--tries", "60", "--output", "small.json"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    let told = text(&done.stdout);
    assert!(told.contains("turns ") && told.contains("replay: unbacked replay "), "{told}");
    assert!(told.lines().count() <= 24, "{told}");
    assert_eq!(unbacked(home.path(), &["replay", "small.json"]).status.code(), Some(1));
    let json = unbacked(home.path(), &["shrink", "small.json", "--tries", "20", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(json["plan"]["script"].is_object() && json["finding"]["invariant"].is_string());
}

#[test]
fn what_cannot_be_shrunk_or_read_is_told_with_the_place() {
    let home = tempfile::tempdir().expect("a folder");
    let refused = |arguments: &[&str], says: &str| {
        let done = unbacked(home.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {}", text(&done.stdout));
        assert!(text(&done.stderr).contains(says), "{arguments:?}: {}", text(&done.stderr));
    };
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/cases/C002.toml");
    refused(&["shrink", case.to_str().expect("a name")], "no finding");
    refused(&["shrink", "nowhere.json"], "cannot read nowhere.json");
    std::fs::write(home.path().join("newer.json"), "{\"version\": 99}").expect("written");
    for command in ["shrink", "replay", "sim"] {
        refused(&[command, "newer.json"], "version 99");
    }
    std::fs::write(home.path().join("broken.json"), "{\n  \"version\": 1,,").expect("written");
    refused(&["replay", "broken.json"], "broken.json:2:");
    std::fs::write(home.path().join("empty.json"), "").expect("written");
    refused(&["replay", "empty.json"], "empty.json:1:1:");
    std::fs::write(home.path().join("null.json"), "null").expect("written");
    refused(&["replay", "null.json"], "expected a plan");
    let endless = File::create(home.path().join("endless.json")).expect("created");
    endless.set_len((16 << 20) + 1).expect("a sparse file");
    refused(&["replay", "endless.json"], "over 16777216 bytes");
}

/// Finds a planted bug in a small campaign, keeps it made smaller, and replays it from its file. How many turns it has in the end, and how many
/// choices that are not the mildest.
fn planted(name: &str, invariant: &str, persona: &str) -> (usize, usize) {
    let home = tempfile::tempdir().expect("a folder");
    let campaign = ["sim", "--sabotage", name, "--persona", persona, "--runs", "6", "--faults", "none", "--keep=found"];
    let found = unbacked(home.path(), &campaign);
    assert_eq!(found.status.code(), Some(1), "{name}: {}", text(&found.stderr));
    let of_invariant = |file: &PathBuf| file.to_string_lossy().contains(&format!("/{invariant}-"));
    let file = files(&home.path().join("found")).into_iter().find(of_invariant).unwrap_or_else(|| panic!("{name} breaks no {invariant}"));
    let again = text(&unbacked(home.path(), &["replay", file.to_str().expect("a name")]).stdout);
    assert!(again.contains(&format!("{invariant} in turn")), "{name}: {again}");
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("it is there")).expect("JSON");
    let choices = plan["choices"].as_array().expect("choices");
    (again.lines().filter(|line| line.starts_with("turn ")).count(), choices.iter().filter(|choice| **choice != 0).count())
}

#[test]
fn w_a_report_placed_before_the_tool_messages_is_found_shrunk_kept_and_replayed() {
    assert_eq!(planted("report-before-results", "I6", "honest"), (2, 0));
}

#[test]
fn g_j_a_guard_that_accepts_all_is_found_shrunk_kept_and_replayed() {
    assert_eq!(planted("deaf-guard", "shipped", "fabulist"), (2, 2));
}

#[test]
fn a_sabotage_that_is_not_there_is_told_with_the_nearest() {
    let done = unbacked(Path::new("."), &["sim", "--runs", "1", "--sabotage", "deaf-gard"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("did you mean `deaf-guard`?"), "{}", text(&done.stderr));
}
