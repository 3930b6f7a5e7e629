//! How well each rule is known, by the source that the wire rules name for it.

use super::rules::Rule;

/// How well a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Inferred from other rules or weak pointers: not a fact.
    Inferred,
    /// Observed in threads, recordings or probes.
    Seen,
    /// Stated by the vendor.
    Documented,
}

const DOCUMENTED: &[&str] = &[
    "W-A1", "W-A3", "W-A6", "W-A8", "W-A9", "W-A16", "W-A17", "W-A18", "W-A19", "W-A21", "W-A22", "W-A23", "W-A24", "W-A34", "W-A40",
    "W-A44", "W-A50", "W-A55", "W-A59", "W-A60", "W-A61", "W-A64", "W-A67", "W-A68", "W-A73", "W-C2", "W-C3", "W-C15", "W-C17", "W-C27",
    "W-C30", "W-C32", "W-C36", "W-C40", "W-C41", "W-C42", "W-C43", "W-C52", "W-C53", "W-C55", "W-C56",
];

const SEEN: &[&str] = &[
    "W-A4", "W-A5", "W-A12", "W-A15", "W-A25", "W-A26", "W-A27", "W-A28", "W-A29", "W-A30", "W-A32", "W-A33", "W-A35", "W-A36", "W-A37",
    "W-A38", "W-A45", "W-A46", "W-A47", "W-A48", "W-A49", "W-A52", "W-A53", "W-A54", "W-A56", "W-A57", "W-A58", "W-A62", "W-A63", "W-A65",
    "W-A66", "W-A69", "W-A71", "W-A72", "W-C1", "W-C4", "W-C5", "W-C12", "W-C13", "W-C14", "W-C16", "W-C20", "W-C21", "W-C23", "W-C24",
    "W-C26", "W-C28", "W-C34", "W-C37", "W-C38", "W-C39", "W-C44", "W-C45", "W-C46", "W-C51", "W-C57", "W-C58", "W-C59", "W-C60", "W-C62",
    "W-C63", "W-C64", "W-C71",
];

impl Rule {
    /// How well it is known. What no list names counts as inferred.
    pub fn confidence(&self) -> Confidence {
        if DOCUMENTED.contains(&self.id) {
            Confidence::Documented
        } else if SEEN.contains(&self.id) {
            Confidence::Seen
        } else {
            Confidence::Inferred
        }
    }
}
