//! L12, the second proof: `src/turn` compiles by itself, with a manifest that holds only its own dependencies. The scan in `tests/rooms`
//! reads what the loop says; this one asks the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that the loop may depend on.
const DEPENDENCIES: [&str; 3] = ["serde", "serde_json", "tokio"];

/// A package that is the loop and nothing else, with the versions and features of ours.
fn package() -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loop-alone");
    fs::create_dir_all(&alone).expect("the target directory can be written");
    let text = fs::read_to_string(ours.join("Cargo.toml")).expect("Cargo.toml is there");
    let manifest: toml::Table = text.parse().expect("Cargo.toml is TOML");
    let rows = DEPENDENCIES.map(|name| format!("{name} = {}\n", manifest["dependencies"][name]));
    let head = "[package]\nname = \"loop-alone\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n";
    fs::write(alone.join("Cargo.toml"), format!("{head}\n[dependencies]\n{}", rows.concat())).expect("it can be written");
    let root = ours.join("src/turn/mod.rs");
    fs::write(alone.join("lib.rs"), format!("//! The loop, alone.\n#[path = {root:?}]\npub mod turn;\n")).expect("it can be written");
    fs::copy(ours.join("Cargo.lock"), alone.join("Cargo.lock")).expect("Cargo.lock is there");
    alone
}

#[test]
fn l12_the_loop_compiles_alone_with_only_its_own_dependencies() {
    let alone = package();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["check", "--offline", "--quiet", "--color", "never"])
        .env("CARGO_TARGET_DIR", alone.join("target"))
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .current_dir(&alone)
        .output()
        .expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "L12: src/turn does not compile alone, so it leans on another room or crate:\n{errors}");
}
