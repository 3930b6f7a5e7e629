//! The command line: exit codes, errors that name the place and the mend, and the same bytes everywhere.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn unbacked(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_clean_campaign_exits_0_and_one_with_findings_exits_1() {
    assert_eq!(unbacked(&["sim", "--runs", "60"]).status.code(), Some(0));
    let lies = unbacked(&["sim", "--runs", "60", "--policy", "none"]);
    assert_eq!(lies.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lies.stdout).contains("replay: unbacked replay "));
}

#[test]
fn wrong_names_exit_2_and_say_which_there_are() {
    for (flag, name, there_are) in [
        ("--policy", "ful", "none, state, completion, full"),
        ("--persona", "liar", "fabulist"),
        ("--dialect", "telnet", "anthropic, openai-chat"),
        ("--judge", "judy", "faithful"),
        ("--evidence", "hearsay", "bit, applied, ledger"),
    ] {
        let done = unbacked(&["sim", "--runs", "1", flag, name]);
        assert_eq!(done.status.code(), Some(2), "{flag}");
        assert!(stderr(&done).contains(name) && stderr(&done).contains(there_are), "{flag}: {}", stderr(&done));
    }
    assert_eq!(unbacked(&["sim", "--runs", "0"]).status.code(), Some(2));
    assert_eq!(unbacked(&["sim", "--colour"]).status.code(), Some(2));
}

#[test]
fn an_unreadable_scenario_exits_2_with_the_place_and_moves_no_cursor() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "version = 1\nid = \"x\"\ntitle = \"\\u001b[31mred\"\nrequired_ends = \"\"\n").expect("written");
    let done = unbacked(&["sim", &file.display().to_string()]);
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("bad.toml:4:1") && stderr(&done).contains("did you mean `required_end`?"), "{}", stderr(&done));
    assert!(!done.stderr.contains(&0x1b) && !done.stdout.contains(&0x1b));
    let done = unbacked(&["sim", "no/such/file.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("no/such/file.toml"));
}

#[test]
fn output_that_cannot_be_written_exits_3() {
    let done = unbacked(&["sim", "--runs", "1", "--json", "no/such/folder/out.jsonl"]);
    assert_eq!(done.status.code(), Some(3), "{}", stderr(&done));
    if Path::new("/dev/full").exists() {
        assert_eq!(unbacked(&["sim", "--runs", "20", "--json", "/dev/full"]).status.code(), Some(3));
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_unbacked"))
        .args(["sim", "--runs", "40", "--json", "-", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("it ends");
    assert!(!String::from_utf8_lossy(&done.stderr).contains("panicked"), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(3));
}

#[test]
fn the_json_lines_are_the_same_for_any_number_of_jobs_and_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let arguments = |file: &Path, jobs: &'static str| {
        ["sim", "--runs", "120", "--seed", "9", "--quiet", "--jobs", jobs, "--json"]
            .map(str::to_owned)
            .into_iter()
            .chain([file.display().to_string()])
    };
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let run = |file: &Path, jobs, zone: &str, language: &str, home: &Path| {
        Command::new(env!("CARGO_BIN_EXE_unbacked"))
            .args(arguments(file, jobs))
            .current_dir(home)
            .env("TZ", zone)
            .env("LANG", language)
            .status()
            .expect("it runs")
            .success()
    };
    assert!(run(&one, "1", "UTC", "C", folder.path()));
    assert!(run(&two, "2", "Asia/Tokyo", "tr_TR.UTF-8", &elsewhere));
    let (one, two) = (std::fs::read(&one).expect("written"), std::fs::read(&two).expect("written"));
    assert!(one == two, "two jobs in another folder, time zone and language give other bytes");
    let text = String::from_utf8(one).expect("UTF-8");
    assert_eq!(text.lines().count(), 120);
    let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    for key in ["version", "seed", "policy", "persona", "dialect", "faults", "trace_hash", "turns", "findings", "measures"] {
        assert!(line.get(key).is_some(), "{key}");
    }
    for key in [
        "turns",
        "claims",
        "unbacked",
        "shipped",
        "stalled",
        "caught",
        "corrections",
        "false_alarms",
        "unauthorised",
        "provoked",
        "lost_wishes",
        "model_calls",
        "judge_calls",
        "iterations",
        "tokens_in",
        "tokens_out",
    ] {
        assert!(line["measures"][key].is_u64(), "{key}");
    }
}

#[test]
fn replay_tells_the_same_story_twice_and_a_trace_is_json() {
    let story = unbacked(&["replay", "42", "--persona", "stubborn"]).stdout;
    assert_eq!(story, unbacked(&["replay", "42", "--persona", "stubborn"]).stdout);
    let trace = unbacked(&["replay", "42", "--persona", "stubborn", "--trace"]).stdout;
    for line in String::from_utf8(trace).expect("UTF-8").lines() {
        assert_eq!(serde_json::from_str::<Value>(line).expect("JSON")["version"], 1);
    }
}

#[test]
fn list_is_json_for_machines() {
    let list: Value = serde_json::from_slice(&unbacked(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(list["personas"].as_array().map(Vec::len), Some(13));
    assert_eq!(unbacked(&["list", "colours"]).status.code(), Some(2));
}

#[test]
fn a_finding_of_a_scenario_comes_with_its_story_and_the_command_for_its_own_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    let text = "version = 1\nid = \"x\"\ntitle = \"t\"\nrequired_end = \"e\"\npolicies = [\"none\"]\n[[turn]]\nuser = \"Add Rust\"\n[[turn.reply]]\n\
                parts = [{ say = { say = \"claim\", act = \"create\", section = \"skills\" } }]\n";
    std::fs::write(&file, text).expect("written");
    let name = file.display().to_string();
    let done = unbacked(&["sim", &name]);
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(told.contains("claims that 1 row of skills was created"), "{told}");
    let command = told.lines().find_map(|line| line.trim().strip_prefix("replay: unbacked ")).expect("a command");
    assert!(command.starts_with(&format!("replay {name} ")), "{command}");
    let again = unbacked(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
}

#[test]
fn a_wrong_persona_is_met_with_the_nearest_and_too_large_a_seed_with_the_largest() {
    assert!(stderr(&unbacked(&["sim", "--persona", "fabulst"])).contains("did you mean `fabulist`?"));
    let done = unbacked(&["replay", "99999999999999999999999"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("seeds go up to"));
}
