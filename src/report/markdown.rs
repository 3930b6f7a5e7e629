//! The report as Markdown, for the summary of a CI job. Text from an adversary stands in code only, fenced longer than anything in it: there it
//! makes no table, link, mention, picture or HTML.

use super::campaign::{Per, RATES, Report};
use super::printable;
use super::statistics::{residual_risk, wilson};
use super::summary::{Cell, Kept, Summary};
use super::terminal::TOLD;

/// The longest line of hostile text, in characters.
const LONGEST: usize = 400;

/// The columns of the table, by the names of the measures.
const COLUMNS: [&str; 5] = ["shipped", "stalled", "caught", "false_alarms", "unauthorised"];

/// The page.
pub fn report(report: &Report<'_>) -> String {
    let mut text = heading(report);
    text.push_str(&doubts(report));
    let mut told: Vec<&Kept> = Vec::new();
    for kept in &report.summary.kept {
        let known = told.iter().any(|other| (&other.found.invariant, &other.persona) == (&kept.found.invariant, &kept.persona));
        if told.len() < TOLD && !known {
            told.push(kept);
        }
    }
    text.extend(told.into_iter().map(finding));
    text.push_str(&table(report.summary));
    text
}

fn heading(report: &Report<'_>) -> String {
    let summary = report.summary;
    let runs = summary.runs();
    let of = if runs == report.planned { String::new() } else { format!(" of {} planned", report.planned) };
    let mut text = match (summary.findings(), runs) {
        (_, 0) => "## unbacked: nothing ran\n\n".to_owned(),
        (0, _) => format!("## unbacked: no finding in {runs} runs{of}\n\n"),
        (findings, _) => format!("## unbacked: {findings} findings in {} of {runs} runs{of}\n\n", summary.failed_runs()),
    };
    if let Some(risk) = residual_risk(runs).filter(|_| summary.findings() == 0) {
        text.push_str(&format!("With 95 % confidence fewer than one run in {:.0} has one.\n\n", 1.0 / risk));
    }
    if let Some(campaign) = report.campaign {
        let (part, parts) = report.part;
        let part = if parts == 1 { String::new() } else { format!(", part {part} of {parts}") };
        text.push_str(&format!("Seed {}, campaign {}{part}. Exit code {}.\n\n", campaign.seed, name(&campaign.campaign), report.exit_code));
    }
    text
}

fn doubts(report: &Report<'_>) -> String {
    let doubt = report.doubt.map(|doubt| format!("The tester is not to be trusted:\n\n{}", code(doubt)));
    let again = report.kept_again.iter().map(|again| code(again));
    doubt.into_iter().chain(again).collect()
}

fn finding(kept: &Kept) -> String {
    let found = &kept.found;
    let place = format!("{} × {}, turn {}", name(&kept.policy), name(kept.scenario.as_ref().unwrap_or(&kept.persona)), found.turn);
    let text = format!("{}\n{}\n{}", found.message, kept.story, found.replay);
    format!("**What broke: {}** ({place})\n\n{}", name(&found.invariant), code(&text))
}

fn table(summary: &Summary) -> String {
    let head = ["policy", "persona", "runs", "turns", "failed"].into_iter().chain(COLUMNS).collect::<Vec<_>>();
    let mut text = row(&head.iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>());
    text.push_str(&row(&["---", "---", "---:", "---:", "---:"].into_iter().chain(COLUMNS.map(|_| "---:")).collect::<Vec<_>>()));
    for ((policy, persona), cell) in &summary.cells {
        text.push_str(&row(&cells(policy, &name(persona), cell)));
    }
    for policy in summary.policies() {
        text.push_str(&row(&cells(policy, "**all**", &summary.of_policy(policy))));
    }
    text.push_str("\nIn brackets: the 95 % interval of the rate among all turns.\n");
    text
}

fn cells(policy: &str, persona: &str, cell: &Cell) -> Vec<String> {
    let mut all = vec![name(policy), persona.to_owned()];
    all.extend([cell.runs, cell.measures.turns, cell.failed].map(|count| count.to_string()));
    let rate = |(_, per, count): &(&str, Per, fn(&_) -> u64)| {
        let (count, of) = (count(&cell.measures), per.count(cell));
        wilson(count, of).map_or_else(|| count.to_string(), |(low, high)| format!("{count} ({:.2}–{:.2} %)", low * 100.0, high * 100.0))
    };
    all.extend(COLUMNS.iter().filter_map(|column| RATES.iter().find(|(name, ..)| name == column)).map(rate));
    all
}

fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A name: nothing in it means anything to Markdown.
fn name(text: &str) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || matches!(c, '-' | ' ') { c } else { '?' };
    let text: String = text.chars().take(60).map(harmless).collect();
    format!("`{}`", if text.trim().is_empty() { "?" } else { text.trim() })
}

/// A block of code that ends where its text does.
fn code(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().filter(|line| !line.is_empty()).map(|line| printable(line).chars().take(LONGEST).collect()).collect();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n\n", lines.join("\n"))
}
