//! What a process that died or a store that failed excuses, and what it does not.

use unbacked::oracle::record::TurnFacts;
use unbacked::turn::event::Event;

use super::support::{Story, breaks_only, holds, says_created};

#[test]
fn i4_the_next_report_is_that_of_the_next_turn_that_opened() {
    let died = TurnFacts { crashed: true, audited_in_same_transaction: true, ..TurnFacts::default() };
    let mut story = Story::new();
    story.turn().says(vec![says_created("skills", 1)]).accepted().ends();
    story.turn().says(vec![]).accepted().ends();
    let mut run = story.run;
    run.turns.insert(1, died);
    holds(&run, "I4");
    for event in &mut run.turns[2].events {
        if let Event::TurnOpened { report, .. } = event {
            *report = None;
        }
    }
    breaks_only(&run, "I4");
}
