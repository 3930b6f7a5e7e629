//! The report as JUnit XML, as CI servers read it: a suite for each policy, a case for each persona or scenario, and a suite for the tester
//! itself. Text from an adversary stays text: the writer escapes it, and what XML cannot hold is taken out first.

use quick_junit::{NonSuccessKind, Property, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::campaign::Report;
use super::printable;
use super::statistics::residual_risk;
use super::summary::{Cell, Kept};

/// How many findings one case tells.
const TOLD: usize = 5;

/// The XML document. It holds no time of day and no duration: the same runs give the same bytes.
pub fn report(report: &Report<'_>) -> String {
    let mut document = Document::new("unbacked");
    for policy in report.summary.policies() {
        document.add_test_suite(suite(report, policy));
    }
    document.add_test_suite(of_the_tester(report));
    // It is written to memory, where nothing can fail.
    document.to_string().unwrap_or_default()
}

fn suite(report: &Report<'_>, policy: &str) -> TestSuite {
    let summary = report.summary;
    let mut suite = TestSuite::new(clean(&format!("unbacked.{policy}")));
    for (name, value) in properties(report) {
        suite.add_property(Property::new(name, clean(&value)));
    }
    let of_scenario = |persona: &str| summary.scenarios.keys().any(|(of, _)| of == policy) && persona == "scripted";
    let personas = summary.cells.iter().filter(|((of, persona), _)| of == policy && !of_scenario(persona));
    let scenarios = summary.scenarios.iter().filter(|((of, _), _)| of == policy);
    for ((_, name), cell) in personas.chain(scenarios) {
        let own = |kept: &&Kept| kept.policy == policy && kept.scenario.as_ref().unwrap_or(&kept.persona) == name;
        let findings: Vec<&Kept> = summary.kept.iter().filter(own).collect();
        suite.add_test_case(case(policy, name, status(cell, &findings)));
    }
    suite
}

fn properties(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let summary = report.summary;
    let mut all = vec![("runs", summary.runs().to_string()), ("planned", report.planned.to_string())];
    if let Some(campaign) = report.campaign {
        all.extend([("seed", campaign.seed.to_string()), ("campaign", campaign.campaign.clone())]);
        all.push(("part", format!("{}/{}", report.part.0, report.part.1)));
    }
    let risk = residual_risk(summary.runs()).filter(|_| summary.findings() == 0);
    all.extend(risk.map(|rate| ("residual_risk", rate.to_string())));
    all
}

fn case(of: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(clean(name), status);
    case.set_classname(clean(&format!("unbacked.{of}")));
    case
}

fn status(cell: &Cell, findings: &[&Kept]) -> TestCaseStatus {
    if cell.failed == 0 {
        return TestCaseStatus::success();
    }
    // Only the first findings of a campaign are kept whole; those of this cell may have come too late.
    let (kind, first) =
        findings.first().map_or(("finding", "it is in the JSON lines"), |kept| (&kept.found.invariant, &kept.found.message));
    let mut text: String = findings.iter().take(TOLD).map(|kept| told(kept)).collect();
    if findings.len() > TOLD {
        text.push_str(&format!("and {} findings more\n", findings.len() - TOLD));
    }
    failure(kind, &format!("{} of {} runs failed. {kind}: {first}", cell.failed, cell.runs), &text)
}

fn told(kept: &Kept) -> String {
    let found = &kept.found;
    format!(
        "{}, turn {}: {}\n{}replay: {}\n\n",
        found.invariant,
        found.turn,
        printable(&found.message),
        kept.story,
        printable(&found.replay)
    )
}

fn failure(kind: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(clean(kind)).set_message(clean(message));
    if !text.is_empty() {
        status.set_description(text.lines().map(|line| clean(line) + "\n").collect::<String>());
    }
    status
}

/// What must hold for the rest to be worth anything.
fn of_the_tester(report: &Report<'_>) -> TestSuite {
    let mut suite = TestSuite::new("unbacked.tester");
    let status = |broken: Option<&str>, kind: &str| broken.map_or_else(TestCaseStatus::success, |broken| failure(kind, broken, ""));
    for canary in report.canaries {
        let name = format!("the canary `{}` is caught", canary.name);
        suite.add_test_case(case("tester", &name, status(canary.lives.as_deref(), "canary")));
    }
    suite.add_test_case(case("tester", "the campaign can be trusted", status(report.doubt, "doubt")));
    let again = report.kept_again.first().map(String::as_str);
    suite.add_test_case(case("tester", "no kept failure is there again", status(again, "kept")));
    suite
}

/// Text that XML can hold, on one line.
fn clean(text: &str) -> String {
    printable(text).chars().filter(|c| !matches!(c, '\u{FFFE}' | '\u{FFFF}')).collect()
}
