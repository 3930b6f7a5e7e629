//! JUnit XML and Markdown: both are what their readers take them for, and hostile text in them stays text.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde_json::json;
use unbacked::oracle::measures::Measures;
use unbacked::report::campaign::{Canary, Report};
use unbacked::report::summary::Summary;
use unbacked::report::{junit, markdown};
use unbacked::sim::outcome::{Outcome, VERSION};

/// Whatever could end a tag, an attribute, a cell, a fence, a line, or begin a link, a mention, a picture or a sequence of a terminal.
const HOSTILE: &str = "|`|\u{1b}[31m\u{0}\u{b}\u{fffe}\u{ffff}\u{9b}]]>&amp;<!--<script>alert(1)</script>\"'/>\n````\n# Big\n| a | b |\n\
    ![x](http://evil.example/x.png) [y](http://evil.example) http://evil.example @somebody <b>bold</b>\u{202e}\r\n```\n";

fn outcome(policy: &str, persona: &str, scenario: Option<&str>, messages: &[&str]) -> Outcome {
    let findings =
        messages.iter().map(|message| json!({ "invariant": "I4", "turn": 2, "message": message, "replay": "unbacked replay 7" }));
    let line = json!({
        "version": VERSION, "seed": 7, "policy": policy, "persona": persona, "dialect": "anthropic", "faults": [], "trace_hash": "", "turns": [],
        "findings": findings.collect::<Vec<_>>(), "measures": Measures { turns: 4, shipped: messages.len() as u64, ..Measures::default() },
        "reach": {}, "premises": {}, "scenario": scenario,
    });
    serde_json::from_value(line).expect("an outcome")
}

fn summary(outcomes: &[Outcome]) -> Summary {
    let mut summary = Summary::new();
    outcomes.iter().for_each(|outcome| summary.add(outcome));
    summary
}

fn hostile() -> Summary {
    let mut summary = summary(&[outcome("full", "honest", None, &[]), outcome(HOSTILE, HOSTILE, None, &[HOSTILE])]);
    summary.kept[0].story = format!("    turn\n{HOSTILE}");
    summary.kept[0].found.replay = HOSTILE.into();
    summary.kept[0].found.invariant = HOSTILE.into();
    summary
}

fn of<'s>(summary: &'s Summary, doubt: Option<&'s str>, again: &'s [String]) -> Report<'s> {
    Report { doubt, kept_again: again, ..Report::of_files(summary, 1) }
}

fn cases<'d>(document: &'d roxmltree::Document<'d>) -> Vec<roxmltree::Node<'d, 'd>> {
    document.descendants().filter(|node| node.has_tag_name("testcase")).collect()
}

#[test]
fn junit_has_a_suite_for_each_policy_a_case_for_each_persona_and_counts_the_failures() {
    let summary = summary(&[
        outcome("full", "honest", None, &[]),
        outcome("none", "fabulist", None, &["it lied"]),
        outcome("none", "honest", None, &[]),
    ]);
    let text = junit::report(&of(&summary, None, &[]));
    let document = roxmltree::Document::parse(&text).expect("XML");
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("failures")), ("testsuites", Some("1")));
    let suites: Vec<_> = root.children().filter(|node| node.has_tag_name("testsuite")).filter_map(|node| node.attribute("name")).collect();
    assert_eq!(suites, ["unbacked.full", "unbacked.none", "unbacked.tester"]);
    let failed: Vec<_> = cases(&document).into_iter().filter(|case| case.children().any(|child| child.has_tag_name("failure"))).collect();
    assert_eq!(failed.iter().filter_map(|case| case.attribute("name")).collect::<Vec<_>>(), ["fabulist"]);
    let failure = failed[0].children().find(|child| child.has_tag_name("failure")).expect("a failure");
    assert_eq!((failure.attribute("type"), failure.attribute("message")), (Some("I4"), Some("1 of 1 runs failed. I4: it lied")));
    assert!(failure.text().is_some_and(|text| text.contains("replay: unbacked replay 7")), "{text}");
}

#[test]
fn junit_names_scenarios_by_their_ids_and_a_case_tells_its_own_findings_only() {
    let summary = summary(&[
        outcome("full", "scripted", Some("C001"), &["first"]),
        outcome("full", "scripted", Some("C002"), &[]),
        outcome("full", "scripted", Some("C003"), &["third"]),
    ]);
    let text = junit::report(&of(&summary, None, &[]));
    let document = roxmltree::Document::parse(&text).expect("XML");
    let told: Vec<(&str, bool, bool)> = cases(&document)
        .into_iter()
        .filter(|case| case.attribute("classname") == Some("unbacked.full"))
        .map(|case| {
            let text: String = case.descendants().filter_map(|node| node.text()).collect();
            (case.attribute("name").unwrap_or_default(), text.contains("first"), text.contains("third"))
        })
        .collect();
    assert_eq!(told, [("C001", true, false), ("C002", false, false), ("C003", false, true)]);
}

#[test]
fn junit_fails_where_the_tester_is_not_to_be_trusted() {
    let summary = summary(&[outcome("full", "honest", None, &[])]);
    let lives = Some("nobody saw it".to_owned());
    let canaries = [Canary { name: "ships".into(), invariant: "I4".into(), lives }];
    let again = ["A kept failure is there again".to_owned()];
    let text = junit::report(&Report { canaries: &canaries, ..of(&summary, Some("it proves nothing"), &again) });
    let document = roxmltree::Document::parse(&text).expect("XML");
    assert_eq!(document.root_element().attribute("failures"), Some("3"));
    for says in ["nobody saw it", "it proves nothing", "A kept failure is there again"] {
        assert!(document.descendants().any(|node| node.attribute("message") == Some(says)), "{says}: {text}");
    }
}

#[test]
fn hostile_text_in_junit_stays_text_and_the_document_stays_xml() {
    let summary = hostile();
    let again = [HOSTILE.to_owned()];
    let text = junit::report(&of(&summary, Some(HOSTILE), &again));
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let known = ["testsuites", "testsuite", "testcase", "failure", "properties", "property"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{node:?}");
    }
    assert!(document.descendants().all(|node| !node.is_comment()));
    assert!(document.descendants().filter_map(|node| node.text()).any(|text| text.contains("<script>alert(1)</script>")));
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{202e}')), "{text:?}");
}

/// The parts of the page that a reader sees, and whether each stands in code.
fn parsed(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH).collect()
}

#[test]
fn markdown_says_what_broke_with_the_command_and_the_table() {
    let summary = summary(&[outcome("full", "honest", None, &[]), outcome("full", "fabulist", None, &["it lied"])]);
    let text = markdown::report(&of(&summary, None, &[]));
    assert!(text.starts_with("## unbacked: 1 findings in 1 of 2 runs\n"), "{text}");
    assert!(text.contains("**What broke: `I4`** (`full` × `fabulist`, turn 2)\n\n```text\nit lied\nunbacked replay 7\n```\n"), "{text}");
    assert!(text.contains("| `full` | `fabulist` | 1 | 4 | 1 | 1 (4.56–69.94 %) | 0 (0.00–48.99 %) |"), "{text}");
    assert!(text.contains("| `full` | **all** | 2 | 8 | 1 |"), "{text}");
    let clean = self::summary(&[outcome("full", "honest", None, &[])]);
    assert!(markdown::report(&of(&clean, None, &[])).contains("fewer than one run in"));
}

#[test]
fn each_row_of_the_table_has_as_many_cells_as_its_head() {
    for summary in [hostile(), summary(&[outcome("full", "honest", None, &[])])] {
        let text = markdown::report(&of(&summary, None, &[]));
        let mut rows = Vec::new();
        for event in parsed(&text) {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(0),
                Event::Start(Tag::TableCell) => *rows.last_mut().expect("a row") += 1,
                _ => {}
            }
        }
        assert_eq!(rows.len(), 1 + summary.cells.len() + summary.policies().len(), "{text}");
        assert!(rows.iter().all(|cells| *cells == 10), "{rows:?}");
        // A parser fills up and cuts rows: the lines themselves are counted as well.
        let lines: Vec<usize> = text.lines().filter(|line| line.starts_with("| `")).map(|line| line.matches('|').count()).collect();
        assert!(lines.iter().all(|bars| *bars == 11), "{text}");
    }
}

#[test]
fn hostile_text_in_markdown_stands_in_code_and_makes_nothing() {
    let summary = hostile();
    let again = [HOSTILE.to_owned()];
    let text = markdown::report(&of(&summary, Some(HOSTILE), &again));
    let mut in_code = false;
    for event in parsed(&text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock | Tag::CodeBlock(CodeBlockKind::Indented))
            | Event::Html(_)
            | Event::InlineHtml(_) => panic!("{event:?} in\n{text}"),
            Event::Text(said) if !in_code => {
                assert!(["evil", "somebody", "script", "Big"].iter().all(|word| !said.contains(word)), "{said} in\n{text}");
            }
            _ => {}
        }
    }
    assert!(text.contains("http://evil.example @somebody"), "it is told, all the same:\n{text}");
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}
