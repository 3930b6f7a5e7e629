//! Whether the tester is to be trusted: canaries before a campaign, required marks and premises after it.

use std::collections::BTreeSet;

use unbacked::report::campaign::Canary;
use unbacked::report::summary::Summary;
use unbacked::sim::campaign::Campaign;
use unbacked::sim::trust::{self, CANARIES, Ran};
use unbacked::sim::world::World;

use super::{Failure, Found};

/// Runs what must be caught.
pub fn canaries() -> Result<Vec<Canary>, Failure> {
    let world = World::new().map_err(Failure::Environment)?;
    let examined = |canary: &trust::Canary| {
        let lives = trust::living(std::slice::from_ref(canary), &world).map_err(Failure::Internal)?;
        Ok(Canary { name: canary.name.into(), invariant: canary.invariant.into(), lives })
    };
    CANARIES.iter().map(examined).collect()
}

/// The first canary that lives, as a sentence: a tester that misses it need not run anything else.
pub fn living(canaries: &[Canary]) -> Option<&str> {
    canaries.iter().find_map(|canary| canary.lives.as_deref())
}

/// Why a finished campaign proves nothing: a canary lives, or a default one did not reach what it must.
pub fn doubt(campaign: &Campaign, canaries: &[Canary], summary: &Summary) -> Option<String> {
    if let Some(lives) = living(canaries) {
        return Some(lives.to_owned());
    }
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
    ran.doubt().map(|doubt| format!("this campaign proves nothing: {doubt}"))
}

/// What was found stays found.
pub fn judged(doubt: Option<&str>, found: Found) -> Result<Found, Failure> {
    match doubt {
        Some(doubt) if found == Found::Clean => Err(Failure::Untrusted(doubt.to_owned())),
        Some(doubt) => {
            anstream::eprintln!("unbacked: besides, {doubt}");
            Ok(found)
        }
        None => Ok(found),
    }
}
