//! Whether the tester is to be trusted: canaries before a campaign, required marks and premises after it.

use std::collections::BTreeSet;

use unbacked::report::summary::Summary;
use unbacked::sim::campaign::Campaign;
use unbacked::sim::trust::{self, CANARIES, Ran};
use unbacked::sim::world::World;

use super::{Failure, Found};

/// Runs what must be caught. A tester that misses it need not run anything else.
pub fn canaries() -> Result<(), Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    match trust::living(&CANARIES, &world).map_err(Failure::Internal)? {
        Some(lives) => Err(Failure::Untrusted(lives)),
        None => Ok(()),
    }
}

/// Holds a finished campaign to what a default one must reach. What was found stays found.
pub fn judged(campaign: &Campaign, summary: &Summary, found: Found) -> Result<Found, Failure> {
    let cells: BTreeSet<(&str, &str)> = summary.cells.keys().map(|(policy, persona)| (policy.as_str(), persona.as_str())).collect();
    let ran = Ran {
        whole: summary.runs() == campaign.runs,
        runs: summary.runs(),
        cells: &cells,
        judge: &campaign.judge,
        evidence: &campaign.evidence,
        faults: &campaign.faults,
        reach: &summary.reach,
        premises: &summary.premises,
    };
    match ran.doubt() {
        Some(doubt) if found == Found::Clean => Err(Failure::Untrusted(format!("this campaign proves nothing: {doubt}"))),
        Some(doubt) => {
            anstream::eprintln!("unbacked: besides, {doubt}");
            Ok(found)
        }
        None => Ok(found),
    }
}
