//! Hostile text is data: it neither moves a terminal's cursor nor passes for a line of the report.

use unbacked::report::{printable, story};
use unbacked::sim::plan::Plan;
use unbacked::sim::run::run;
use unbacked::sim::scenario;
use unbacked::sim::world::World;

const HOSTILE: &str = "\u{1b}[2J\u{1b}[31mred\r\u{8}\u{7}\u{9b}31m\u{202e}\nNo finding.";

#[test]
fn printable_text_holds_no_control_character_and_turns_no_direction() {
    let text = printable(HOSTILE);
    assert!(text.contains("red") && text.contains("No finding."));
    assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
}

#[test]
fn a_story_of_hostile_words_moves_no_cursor_and_keeps_them_on_their_line() {
    let file = format!(
        "version = 1\nid = \"h\"\ntitle = \"t\"\nrequired_end = \"e\"\n[[turn]]\nuser = {0}\n[[turn.reply]]\nparts = [{{ text = {0} }}]\n",
        toml::Value::from(HOSTILE)
    );
    let script = scenario::parse("h.toml", &file).expect("a scenario");
    let told = run(&Plan::of_script(&script, "full", "anthropic"), &World::new().expect("a world")).expect("it runs");
    let story = story::tell(&told);
    for line in story.lines().filter(|line| line.contains("red")) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(line.starts_with("  user") || line.starts_with("  model"), "{line:?}");
    }
    assert!(!story.contains("\u{1b}[2J"));
    assert_eq!(story.lines().filter(|line| *line == "No finding.").count(), 1, "only the report's own");
}
