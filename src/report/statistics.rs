//! What counts are worth: the interval around a rate, and the risk that is left where nothing was found.

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % Wilson score interval of `count` cases among `of`; none where there are no cases, or more than there can be.
pub fn wilson(count: u64, of: u64) -> Option<(f64, f64)> {
    if of == 0 || count > of {
        return None;
    }
    let (n, p) = (of as f64, count as f64 / of as f64);
    let middle = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // At the ends rounding would leave a hair's breadth.
    let low = if count == 0 { 0.0 } else { (middle - reach) / scale };
    let high = if count == of { 1.0 } else { (middle + reach) / scale };
    Some((low, high))
}

/// The rule of three: nothing found in `runs` runs means, with 95 % confidence, a rate below this.
pub fn residual_risk(runs: u64) -> Option<f64> {
    (runs > 0).then(|| (3.0 / runs as f64).min(1.0))
}
