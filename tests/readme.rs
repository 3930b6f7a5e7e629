//! Every command in the README is run, and what the README shows of its output must be there, in order.

use std::path::Path;
use std::process::Command;

/// Commands that are not ours to run inside a test: the test itself, and the build of the release.
const SKIPPED: [&str; 2] = ["cargo run --release -- sim", "cargo test"];

#[derive(Debug, Default)]
struct Shown {
    command: String,
    lines: Vec<String>,
    exit: i32,
}

fn blocks(readme: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            all.push(Shown { command: command.into(), ..Shown::default() });
        } else if let (true, Some(shown)) = (inside, all.last_mut()) {
            match line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')) {
                Some(code) => shown.exit = code.parse().expect("an exit code is a number"),
                None if line == "…" || line.trim().is_empty() => {}
                // The rest of a line that ends in three dots is another one on each version: a hash, a time.
                None => shown.lines.push(line.trim_end().trim_end_matches('…').into()),
            }
        }
    }
    all
}

#[test]
fn every_command_of_the_readme_does_what_it_shows() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(home.join("README.md")).expect("the README is there");
    let blocks = blocks(&readme);
    assert!(blocks.len() >= 6, "the README shows its commands");
    for shown in blocks.iter().filter(|shown| !SKIPPED.contains(&shown.command.as_str())) {
        let arguments = shown.command.strip_prefix("unbacked ").unwrap_or_else(|| panic!("not a command of ours: {}", shown.command));
        let done = Command::new(env!("CARGO_BIN_EXE_unbacked")).args(arguments.split(' ')).current_dir(home).output().expect("it runs");
        let output = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert_eq!(done.status.code(), Some(shown.exit), "{}\n{output}", shown.command);
        let mut rest = output.as_str();
        for line in &shown.lines {
            let at = rest.find(line.as_str()).unwrap_or_else(|| panic!("{}: `{line}` is not in\n{rest}", shown.command));
            rest = &rest[at + line.len()..];
        }
    }
}

#[test]
fn the_scenario_of_the_readme_is_the_file_that_the_tests_run() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(home.join("README.md")).expect("the README is there");
    let file = std::fs::read_to_string(home.join("sims/scenarios/example.toml")).expect("the example is there");
    assert!(readme.contains(&format!("```toml\n{file}```")), "sims/scenarios/example.toml and the README's example have parted");
}
