//! The few headers that a provider refuses a request for (W-A1, W-A2, W-C1). Values of credentials are not looked at, only their presence.

use super::Verdict;
use crate::wire::Dialect;

/// What was sent beside a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// There is an `x-api-key`.
    pub api_key: bool,
    /// There is an `Authorization: Bearer`.
    pub bearer: bool,
    /// There is an `anthropic-version`.
    pub version: bool,
}

/// Checks the headers of a request.
pub fn check_headers(dialect: Dialect, headers: Headers) -> Verdict {
    let mut verdict = Verdict::of(dialect);
    match dialect {
        Dialect::Anthropic => {
            verdict.hold(headers.api_key != headers.bearer, "W-A1", "headers");
            verdict.hold(headers.version, "W-A2", "headers.anthropic-version");
        }
        Dialect::OpenaiChat => verdict.hold(headers.bearer, "W-C1", "headers"),
    }
    verdict
}
