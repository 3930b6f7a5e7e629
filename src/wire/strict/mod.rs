//! The strict validator. Being written.
use super::Dialect;
/// An endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its dialect.
    pub dialect: Dialect,
}
impl Endpoint {
    /// Ours.
    pub fn ours(dialect: Dialect, _model: &str) -> Self {
        Self { dialect }
    }
}
/// A broken rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Its id.
    pub rule: &'static str,
    /// Where.
    pub place: String,
}
/// What it says.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Broken rules.
    pub violations: Vec<Violation>,
}
impl Verdict {
    /// The refusal.
    pub fn refusal(&self) -> Option<(u16, Vec<u8>)> {
        None
    }
}
/// Checks.
pub fn check(_endpoint: &Endpoint, _body: &[u8]) -> Verdict {
    Verdict::default()
}
