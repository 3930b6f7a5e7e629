//! Statuses and bodies (wire rules A75, C8–C11, G21).

use std::time::Duration;

use super::*;
use unbacked::wire::decode::classify;
use unbacked::wire::speak::{error_body, error_kind};

#[test]
fn a75_a77_c8_to_c11_statuses_are_told_apart() {
    for dialect in Dialect::ALL {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let fault = classify(status, &error_body(dialect, error_kind(dialect, status), "later"), Some(Duration::from_millis(70)));
            assert!(matches!(&fault, ModelFault::Passing { retry_after: Some(wait), .. } if wait.as_millis() == 70), "{status} {fault:?}");
        }
        for status in [400, 401, 402, 403, 404, 413, 422] {
            let fault = classify(status, &error_body(dialect, error_kind(dialect, status), "no"), None);
            assert!(matches!(&fault, ModelFault::Permanent { error } if error.contains("no")), "{status} {fault:?}");
        }
    }
}

#[test]
fn c10_being_out_of_credit_does_not_pass() {
    let codes =
        ["insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded", "organization_usage_limit_exceeded"];
    for code in codes {
        let body = json!({ "error": { "message": "m", "type": "insufficient_quota", "code": code, "param": null } });
        assert!(!is_passing(&classify(429, body.to_string().as_bytes(), None)), "{code}");
        let body = json!({ "error": { "message": "m", "type": "x", "code": code } });
        assert!(!is_passing(&classify(429, body.to_string().as_bytes(), None)), "{code}");
    }
    let limit = json!({ "error": { "message": "m", "type": "tokens", "code": "rate_limit_exceeded" } });
    assert!(is_passing(&classify(429, limit.to_string().as_bytes(), None)));
}

#[test]
fn c67_a_call_that_the_server_refuses_is_the_models_doing_and_may_pass() {
    let body = json!({ "error": { "message": "m", "type": "invalid_request_error", "code": "tool_use_failed" } });
    assert!(is_passing(&classify(400, body.to_string().as_bytes(), None)));
}

#[test]
fn g21_h7_bodies_of_every_shape_are_survived_and_their_words_kept() {
    let told = [
        json!({ "object": "error", "message": "the words", "type": "invalid_request_message_order", "code": "3230" }),
        json!({ "error": { "code": 400, "message": "the words", "type": "BadRequestError" } }),
        json!([{ "error": { "code": 400, "message": "the words", "status": "INVALID_ARGUMENT" } }]),
        json!({ "error": { "code": 400, "message": "Provider returned error", "metadata": { "raw": "the words" } } }),
        json!({ "error": "the words" }),
    ];
    for body in told {
        let fault = classify(400, body.to_string().as_bytes(), None);
        assert!(matches!(&fault, ModelFault::Permanent { error } if error.contains("the words")), "{body} {fault:?}");
    }
    let mute: [&[u8]; 6] = [b"", b"<html><h1>502</h1>", b"\xff\xfe", b"null", b"[]", b"{\"error\":[]}"];
    for body in mute {
        assert!(is_passing(&classify(502, body, None)) && !is_passing(&classify(404, body, None)), "{body:?}");
    }
    let long = json!({ "error": { "message": "x".repeat(1 << 20) } }).to_string();
    assert!(matches!(classify(400, long.as_bytes(), None), ModelFault::Permanent { error } if error.len() < 2000));
}
