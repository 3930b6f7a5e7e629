//! The progress bar: on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `length` runs; hidden where nobody looks.
pub fn bar(length: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs · {per_sec} · {eta} left {msg}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
