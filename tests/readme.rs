//! README.md does what it says: every command of its `console` blocks is run, its exit code is compared, and each line that the block
//! shows must occur in the real output, in order.
//!
//! In a block, a line that begins with `$ ` is a command; the lines up to the next one are what it prints. A line `…` stands for any
//! lines, `[exit 1]` for the exit code (0 without it). A backslash at the end of a command joins the next line to it.

use std::path::Path;
use std::process::{Command, Stdio};

/// How a command of the README calls our binary.
const OURS: [&str; 3] = ["cargo run --release -- ", "./target/release/unbacked ", "unbacked "];

/// Commands that are not run here, each by its first words, with the reason.
const NOT_RUN: [(&str, &str); 6] = [
    ("cargo test", "it is what runs this test"),
    ("cargo install", "it writes outside the project"),
    ("cargo build", "this test runs what was built"),
    ("cargo bench", "it takes long and its figures differ"),
    ("git clone", "it needs a network"),
    (".ci/run", "it runs this test"),
];

/// One command with what the README says of it.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// In README.md, from 1.
    line: usize,
    command: String,
    output: Vec<String>,
    exit: i32,
}

/// The commands of every `console` block.
fn commands(readme: &str) -> Vec<Shown> {
    let (mut shown, mut inside): (Vec<Shown>, bool) = (Vec::new(), false);
    for (at, line) in readme.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        let going_on = shown.last().is_some_and(|last| last.output.is_empty() && last.command.ends_with('\\'));
        match (fence, inside) {
            (true, _) => inside = !inside && line.trim() == "```console",
            (false, false) => {}
            (false, true) => match (line.strip_prefix("$ "), shown.last_mut()) {
                (Some(command), _) => shown.push(Shown { line: at + 1, command: command.trim().into(), output: vec![], exit: 0 }),
                (None, Some(last)) if going_on => {
                    last.command.pop();
                    last.command.push_str(line.trim());
                }
                (None, Some(last)) => match exit_code(line) {
                    Some(code) => last.exit = code,
                    None => last.output.push(line.trim_end().into()),
                },
                (None, None) => panic!("README.md:{}: output before any command", at + 1),
            },
        }
    }
    shown
}

fn exit_code(line: &str) -> Option<i32> {
    line.trim().strip_prefix("[exit ")?.strip_suffix(']')?.parse().ok()
}

/// The arguments after our binary's name, or why the command is not run; otherwise it is one that the test does not know.
fn arguments(command: &str) -> Result<Vec<String>, &'static str> {
    if let Some((_, why)) = NOT_RUN.iter().find(|(words, _)| command == *words || command.starts_with(&format!("{words} "))) {
        return Err(why);
    }
    let bare = OURS.iter().find_map(|call| format!("{command} ").strip_prefix(call).map(str::to_owned));
    let line = bare.unwrap_or_else(|| panic!("README's `{command}` is neither ours ({OURS:?}) nor among NOT_RUN"));
    assert!(!line.contains(['|', '>', '<', ';', '&', '$', '`']), "README's `{command}` needs a shell: say it without");
    Ok(words(&line).into_iter().flat_map(|word| expanded(&word)).collect())
}

/// A line in words; quotes keep what they hold together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => (quote, word) = (Some(c), Some(word.unwrap_or_default())),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What a shell makes of `dir/*.toml`: the names in order.
fn expanded(word: &str) -> Vec<String> {
    let Some((before, after)) = word.split_once('*') else { return vec![word.into()] };
    let (directory, start) = before.rsplit_once('/').unwrap_or((".", before));
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(start) && name.ends_with(after)).collect();
    names.sort();
    assert!(!names.is_empty(), "README's `{word}` names no file");
    names.into_iter().map(|name| format!("{directory}/{name}")).collect()
}

/// Where a file that the command writes goes: not into the project.
fn away(arguments: Vec<String>, scratch: &Path) -> Vec<String> {
    let mut writes = false;
    let place = |argument: String| {
        let moved = writes && argument != "-" && !argument.starts_with('/');
        writes = matches!(argument.as_str(), "--json" | "--out" | "--junit" | "--markdown" | "--html");
        if moved { scratch.join(&argument).to_string_lossy().into_owned() } else { argument }
    };
    arguments.into_iter().map(place).collect()
}

/// The first shown line that does not come in the output, after those before it.
fn missing<'s>(shown: &'s [String], output: &str) -> Option<&'s str> {
    let mut lines = output.lines().map(str::trim_end);
    let wanted = shown.iter().map(String::as_str).filter(|line| !line.is_empty() && line.trim() != "…");
    wanted.into_iter().find(|wanted| !lines.any(|line| line == *wanted))
}

/// Runs a command, and says what differs from what the README says.
fn difference(shown: &Shown, arguments: Vec<String>) -> Option<String> {
    let scratch = tempfile::tempdir().expect("a directory for what the command writes");
    let output = Command::new(env!("CARGO_BIN_EXE_unbacked"))
        .args(away(arguments, scratch.path()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary can be started");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let Shown { line, command, exit, .. } = shown;
    let context = || format!("README.md:{line}: `{command}`");
    if output.status.code() != Some(*exit) {
        return Some(format!("{}: exit {:?}, the README says {exit}. It printed:\n{text}", context(), output.status.code()));
    }
    missing(&shown.output, &text).map(|lost| format!("{}: no line (after those before it) is\n{lost}\nIt printed:\n{text}", context()))
}

#[test]
fn every_command_of_the_readme_does_what_it_shows() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md is there");
    let shown = commands(&readme);
    let runnable: Vec<_> = shown.iter().filter_map(|shown| arguments(&shown.command).ok().map(|arguments| (shown, arguments))).collect();
    assert!(!runnable.is_empty(), "README.md shows no command of ours");
    let wrong: Vec<String> = runnable.into_iter().filter_map(|(shown, arguments)| difference(shown, arguments)).collect();
    assert!(wrong.is_empty(), "{} commands of the README do something else:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn a_block_is_read_into_commands_outputs_and_exit_codes() {
    let readme = "text\n```console\n$ unbacked a \\\n    b\nout\n…\n[exit 1]\n$ cargo test\n```\n$ not here\n```rust\n$ nor here\n```\n";
    let shown = |line, command: &str, output: &[&str], exit| Shown {
        line,
        command: command.into(),
        output: output.iter().map(|&line| line.into()).collect(),
        exit,
    };
    assert_eq!(commands(readme), [shown(3, "unbacked a b", &["out", "…"], 1), shown(8, "cargo test", &[], 0)]);
}

#[test]
fn a_shown_line_must_come_and_in_order() {
    let shown = ["a", "…", "c"].map(str::to_owned);
    assert_eq!(missing(&shown, "a\nb\nc\n"), None);
    assert_eq!(missing(&shown, "c\na\n"), Some("c"));
    assert_eq!(missing(&shown, "a\ncc\n"), Some("c"));
}

#[test]
fn a_wrong_exit_code_and_a_wrong_line_are_told_with_their_place() {
    let shown = |output: &[&str], exit| Shown {
        line: 7,
        command: "unbacked --version".into(),
        output: output.iter().map(|&l| l.into()).collect(),
        exit,
    };
    let run = |shown: &Shown| difference(shown, vec!["--version".into()]);
    assert_eq!(run(&shown(&["…"], 0)), None);
    assert!(run(&shown(&[], 1)).is_some_and(|told| told.contains("README.md:7") && told.contains("the README says 1")));
    assert!(run(&shown(&["something else"], 0)).is_some_and(|told| told.contains("something else")));
}

#[test]
fn commands_are_told_apart_and_their_words_split_as_a_shell_would() {
    assert_eq!(arguments("cargo run --release -- sim --runs 10"), Ok(["sim", "--runs", "10"].map(str::to_owned).into()));
    assert_eq!(arguments("unbacked list"), Ok(vec!["list".into()]));
    assert_eq!(arguments("cargo test"), Err("it is what runs this test"));
    assert!(std::panic::catch_unwind(|| arguments("rm -r target")).is_err(), "an unknown command is no pass");
    assert!(std::panic::catch_unwind(|| arguments("unbacked sim | head")).is_err(), "a pipe is no pass");
    assert_eq!(words(" a 'b c' \"\" d"), ["a", "b c", "", "d"]);
    assert_eq!(expanded("src/l*.rs"), ["src/lib.rs"]);
}
