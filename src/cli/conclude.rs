//! How a campaign ends, whole or merged: its report on the terminal, its forms in files, its exit code.

use unbacked::report::campaign::{Canary, Report};
use unbacked::report::summary::Summary;
use unbacked::sim::campaign::Campaign;
use unbacked::sim::outcome::Origin;

use super::forms::Forms;
use super::{Failure, Found, sim, trust};

/// All that is told besides the summary.
pub struct Ending<'e> {
    /// What its runs say of it.
    pub origin: Origin,
    /// The subjects that had to be caught.
    pub canaries: &'e [Canary],
    /// Files that were asked for.
    pub forms: &'e Forms,
    /// Findings only.
    pub quiet: bool,
    /// Standard output holds something for machines.
    pub stdout_is_taken: bool,
}

impl Ending<'_> {
    /// Tells and writes all of it. `again` are kept failures that are there again.
    pub fn conclude(&self, campaign: &Campaign, again: &[String], summary: &mut Summary) -> Result<Found, Failure> {
        let found = sim::report(summary, self.quiet, self.stdout_is_taken)?;
        let found = if found == Found::Clean && !again.is_empty() { Found::Findings } else { found };
        let doubt = trust::doubt(campaign, self.canaries, summary);
        let end = trust::judged(doubt.as_deref(), found);
        self.forms.write(&Report {
            summary,
            campaign: Some(&self.origin),
            part: (campaign.part.shard + 1, campaign.part.shards),
            planned: campaign.part.size(campaign.runs),
            canaries: self.canaries,
            kept_again: again,
            doubt: doubt.as_deref(),
            exit_code: super::exit_code(&end),
        })?;
        end
    }
}
