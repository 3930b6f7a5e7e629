//! The summary that a person understands at a glance.

use owo_colors::OwoColorize;

use super::printable;
use super::statistics::residual_risk;
use super::summary::{Cell, Summary};

/// How many findings are told.
pub const TOLD: usize = 4;

/// Everything: the table, the findings, the residual risk.
pub fn summary(summary: &mut Summary) -> String {
    let mut text = table(summary);
    text.push_str(&findings(summary));
    text.push_str(&verdict(summary));
    text
}

fn table(summary: &Summary) -> String {
    let mut text = format!(
        "{:<12} {:<12} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>8} {:>7} {:>8}\n",
        "policy", "persona", "runs", "turns", "unbacked", "shipped", "stalled", "caught", "alarms", "unauth.", "failed"
    );
    for ((policy, persona), cell) in &summary.cells {
        text.push_str(&row(policy, persona, cell));
    }
    for policy in summary.policies() {
        text.push_str(&row(policy, "ALL", &summary.of_policy(policy)));
    }
    if summary.judge_broken() > 0 {
        let runs = summary.judge_broken();
        text.push_str(&format!(
            "A fault broke the judge in {runs} runs: what these shipped, stalled and alarmed is counted above, and is no finding.\n"
        ));
    }
    text
}

fn row(policy: &str, persona: &str, cell: &Cell) -> String {
    let m = &cell.measures;
    let shipped = format!("{:>8}", m.shipped);
    let shipped = if m.shipped > 0 { shipped.red().bold().to_string() } else { shipped };
    let failed = format!("{:>8}", cell.failed);
    let failed = if cell.failed > 0 { failed.red().to_string() } else { failed.green().to_string() };
    format!(
        "{:<12} {:<12} {:>7} {:>7} {:>8} {shipped} {:>7} {:>7} {:>8} {:>7} {failed}\n",
        printable(policy),
        printable(persona),
        cell.runs,
        m.turns,
        m.unbacked,
        m.stalled,
        m.caught,
        m.false_alarms,
        m.unauthorised,
    )
}

/// The first findings: what broke, where, and the command that shows it again. At most one an invariant and persona.
pub fn findings(summary: &mut Summary) -> String {
    if summary.findings() == 0 {
        return String::new();
    }
    let counts: Vec<String> = summary.by_invariant.iter().map(|(name, count)| format!("{name} ×{count}")).collect();
    let mut text = format!("\n{} findings in {} runs: {}\n", summary.findings(), summary.failed_runs(), counts.join(", "));
    for kept in summary.told(TOLD) {
        let (policy, persona, found) = (&kept.policy, &kept.persona, &kept.found);
        text.push_str(&format!(
            "\n  {} ({policy} × {persona}, turn {}): {}\n{}    replay: {}\n",
            found.invariant.red().bold(),
            found.turn,
            printable(&found.message),
            kept.story,
            printable(&found.replay)
        ));
    }
    text
}

/// What a clean campaign is worth: zero findings in n runs mean a rate below 3/n with 95 % confidence.
fn verdict(summary: &Summary) -> String {
    let runs = summary.runs();
    if summary.findings() > 0 {
        return format!("\n{} in {} of {runs} runs.\n", "Findings".red().bold(), summary.failed_runs());
    }
    let Some(rate) = residual_risk(runs) else { return "\nNothing ran.\n".into() };
    if summary.is_exhaustive() {
        return format!("\n{} in {runs} runs.\n", "No finding".green().bold());
    }
    format!("\n{} in {runs} runs: with 95 % confidence fewer than one run in {:.0} has one.\n", "No finding".green().bold(), 1.0 / rate)
}
