//! The campaign's summary for machines: what it holds, and that shards merged give the bytes of the whole.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn unbacked(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn summary(arguments: &[&str]) -> (Value, Output) {
    let done = unbacked(&[&["sim", "--quiet", "--summary", "-"], arguments].concat());
    let value = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&done.stderr)));
    (value, done)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|entry| entry["name"].as_str().expect("a name")).collect()
}

#[test]
fn a_clean_campaign_states_its_runs_its_seed_and_the_risk_that_is_left() {
    let (value, done) = summary(&["--runs", "60", "--seed", "3"]);
    assert_eq!((done.status.code(), value["exit_code"].as_u64()), (Some(0), Some(0)));
    assert_eq!((value["version"].as_u64(), value["campaign"]["seed"].as_u64()), (Some(1), Some(3)));
    assert_eq!((value["runs"]["made"].as_u64(), value["runs"]["complete"].as_bool()), (Some(60), Some(true)));
    assert_eq!((value["campaign"]["shard"].as_u64(), value["campaign"]["shards"].as_u64()), (Some(1), Some(1)));
    assert_eq!(value["residual_risk"]["rate_below"].as_f64(), Some(0.05));
    assert_eq!(value["findings"]["count"].as_u64(), Some(0));
    assert_eq!(names(&value["canaries"]), ["ships", "endless"]);
    assert!(value["canaries"].as_array().expect("a list").iter().all(|canary| canary["caught"] == true));
}

#[test]
fn each_mark_move_and_fault_of_the_catalogues_is_there_with_its_count() {
    let (value, _) = summary(&["--runs", "40"]);
    let list: Value = serde_json::from_slice(&unbacked(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(names(&value["marks"]), names(&list["marks"]));
    for (mark, listed) in value["marks"].as_array().expect("a list").iter().zip(list["marks"].as_array().expect("a list")) {
        assert_eq!(mark["required"], listed["required"], "{mark}");
    }
    for catalogue in ["moves", "faults"] {
        for name in names(&list[catalogue]) {
            assert!(value[catalogue][name].is_u64(), "{catalogue}: {name}");
        }
    }
    assert!(value["moves"]["honest"].as_u64() > Some(0), "{}", value["moves"]);
    assert!(value["faults"].as_object().expect("an object").values().any(|count| count.as_u64() > Some(0)));
    assert_eq!(names(&value["invariants"]), names(&list["invariants"]));
    assert!(value["invariants"][0]["premises"].as_u64() > Some(0));
}

#[test]
fn each_measure_has_its_count_its_rate_and_its_interval_and_cells_add_up_to_their_policy() {
    let (value, done) = summary(&["--policy", "none,full", "--persona", "fabulist,honest", "--runs", "30"]);
    assert_eq!((done.status.code(), value["exit_code"].as_u64()), (Some(1), Some(1)));
    let cells = value["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 4);
    let none = &value["policies"].as_array().expect("policies").iter().find(|policy| policy["policy"] == "none").expect("none");
    let shipped = &none["measures"]["shipped"];
    let (count, of) = (shipped["count"].as_u64().expect("a count"), shipped["of"].as_u64().expect("cases"));
    assert!(count > 0 && of == none["turns"].as_u64().expect("turns"), "{shipped}");
    let number = |key: &str| shipped[key].as_f64().expect("a number");
    assert_eq!(number("rate"), count as f64 / of as f64);
    assert!(number("low") < number("rate") && number("rate") < number("high"));
    let of_cells =
        cells.iter().filter(|cell| cell["policy"] == "none").map(|cell| cell["measures"]["shipped"]["count"].as_u64().expect("one"));
    assert_eq!(of_cells.sum::<u64>(), count);
    assert_eq!(value["residual_risk"], Value::Null);
}

#[test]
fn each_finding_is_there_with_the_command_that_replays_it() {
    let (value, _) = summary(&["--policy", "none", "--persona", "fabulist", "--runs", "10"]);
    let findings = &value["findings"];
    let list = findings["list"].as_array().expect("a list");
    assert_eq!(findings["count"].as_u64(), Some(list.len() as u64));
    let by_invariant = findings["by_invariant"].as_object().expect("counts").values().map(|count| count.as_u64().expect("a count"));
    assert_eq!(by_invariant.sum::<u64>(), list.len() as u64);
    let replay = list[0]["replay"].as_str().and_then(|command| command.strip_prefix("unbacked ")).expect("a command");
    assert_eq!(unbacked(&replay.split(' ').collect::<Vec<_>>()).status.code(), Some(1), "{replay}");
}

#[test]
fn three_shards_merged_give_every_form_of_the_whole_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let campaign = ["sim", "--policy", "none,full", "--runs", "20", "--seed", "4", "--quiet"];
    let forms = |of: &str| ["summary", "junit", "markdown"].map(|form| [format!("--{form}"), file(&format!("{of}.{form}"))]).concat();
    let with_forms = |command: &[&str], of: &str| {
        let forms = forms(of);
        unbacked(&command.iter().copied().chain(forms.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    with_forms(&campaign, "whole");
    let parts = ["1", "2", "3"].map(file);
    for (part, lines) in (1..).zip(&parts) {
        let own = file("own");
        unbacked(&[&campaign[..], &["--shard", &format!("{part}/3"), "--json", lines, "--summary", &own]].concat());
        let own: Value = serde_json::from_slice(&std::fs::read(own).expect("written")).expect("JSON");
        assert_eq!((own["campaign"]["shard"].as_u64(), own["campaign"]["shards"].as_u64()), (Some(part), Some(3)));
    }
    let [one, two, three] = &parts;
    with_forms(&["merge", three, one, two, "--quiet"], "merged");
    let read = |name: &str| text(&std::fs::read(file(name)).expect("written"));
    for form in ["summary", "junit", "markdown"] {
        assert_eq!(read(&format!("whole.{form}")), read(&format!("merged.{form}")));
    }
    assert!(read("whole.junit").starts_with("<?xml") && read("whole.markdown").starts_with("## unbacked"));
}

#[test]
fn scenario_files_have_a_summary_as_well_and_belong_to_no_campaign() {
    let (value, done) = summary(&["sims/cases/C002.toml"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!((&value["campaign"], value["runs"]["made"].as_u64()), (&Value::Null, Some(2)));
}

#[test]
fn a_summary_that_has_no_place_is_told_before_anything_runs_and_one_without_room_after_it() {
    let refused = |arguments: &[&str], code: i32, says: &str| {
        let done = unbacked(arguments);
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains(says), "{}", text(&done.stderr));
        assert!(!text(&done.stderr).contains("internal fault"));
    };
    refused(&["sim", "--summary", "no/such/folder/summary.json"], 3, "cannot write no/such/folder/summary.json");
    refused(&["sim", "--summary", "-", "--json", "-"], 2, "Name a file for each");
    refused(&["merge", "x", "--summary", "y", "--json", "y"], 2, "cannot read x");
    if Path::new("/dev/full").exists() {
        refused(&["sim", "--runs", "5", "--summary", "/dev/full"], 3, "cannot write /dev/full");
    }
}
