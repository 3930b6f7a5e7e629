//! Intervals and residual risk, at values that others have published.

use unbacked::report::statistics::{residual_risk, wilson};

/// Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
#[test]
fn the_wilson_interval_is_that_of_newcombes_table() {
    for (count, of, low, high) in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)] {
        let (from, to) = wilson(count, of).expect("an interval");
        assert!((from - low).abs() < 5e-5 && (to - high).abs() < 5e-5, "{count} of {of}: {from} to {to}");
    }
}

#[test]
fn an_interval_begins_at_zero_for_no_case_ends_at_one_for_all_and_mirrors() {
    for of in [1, 2, 10, 1_000_000] {
        let (low, high) = wilson(0, of).expect("an interval");
        assert_eq!(low, 0.0);
        assert!(high > 0.0 && high < 1.0);
        assert_eq!(wilson(of, of).map(|(_, high)| high), Some(1.0));
    }
    let ((low, high), (mirrored_high, mirrored_low)) = (wilson(3, 10).expect("one"), wilson(7, 10).expect("one"));
    assert!((low - (1.0 - mirrored_low)).abs() < 1e-12 && (high - (1.0 - mirrored_high)).abs() < 1e-12);
    assert!(low < 0.3 && 0.3 < high);
}

#[test]
fn there_is_no_interval_without_cases_or_with_more_than_there_can_be() {
    assert_eq!(wilson(0, 0), None);
    assert!(wilson(10, 10).is_some());
    assert_eq!(wilson(11, 10), None);
}

#[test]
fn nothing_found_in_n_runs_is_a_rate_below_three_in_n() {
    assert_eq!(residual_risk(0), None);
    assert_eq!(residual_risk(1), Some(1.0));
    assert_eq!(residual_risk(3), Some(1.0));
    assert_eq!(residual_risk(4), Some(0.75));
    assert_eq!(residual_risk(10_000), Some(0.0003));
}
