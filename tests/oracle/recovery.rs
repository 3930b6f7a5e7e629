//! I15: a turn in which the process died, and what the next one makes of it.

use unbacked::oracle::record::RunFacts;
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Stop, TurnRecord};

use super::support::{Story, broken, holds};

/// A write is applied, the process dies, and the next turn tells; what it records of the dead turn may be spoilt.
fn died(spoil: impl Fn(&mut TurnRecord)) -> RunFacts {
    let mut story = Story::new();
    let mut record = story.turn().writes(Act::Create, "skills", &[1], Fate::Applied).dies();
    spoil(&mut record);
    story.turn().recovers(record).says(vec![]).accepted().ends();
    story.run
}

fn breaks(run: &RunFacts) {
    assert!(broken(run).contains("I15"), "{:?}", broken(run));
}

#[test]
fn i15_the_next_turn_records_what_the_database_changed_in_the_turn_that_died() {
    holds(&died(|_| {}), "I15");
    breaks(&died(|record| record.stop = Stop::Replied));
    breaks(&died(|record| record.receipt.entries.clear()));
    breaks(&died(|record| record.receipt.entries[0].rows[0].id = 2));
    breaks(&died(|record| record.receipt.entries[0].rows.clear()));
}

#[test]
fn i15_a_turn_that_died_and_never_got_its_receipt_is_found() {
    let mut run = died(|_| {});
    run.turns[1].events.retain(|event| !matches!(event, Event::TurnRecovered { .. }));
    breaks(&run);
    // It had been closed just before the process died: nothing is owed.
    let receipt = run.turns[1].events.iter().find(|event| matches!(event, Event::Receipt { .. })).cloned();
    run.turns[0].events.extend(receipt);
    assert!(!broken(&run).contains("I15"));
}

#[test]
fn i15_a_report_that_does_not_tell_of_the_turn_that_died_is_found() {
    let mut run = died(|_| {});
    for event in &mut run.turns[1].events {
        if let Event::TurnOpened { report, .. } = event {
            *report = Some("<turn_report>\nchanges last turn: none\n</turn_report>".into());
        }
    }
    breaks(&run);
}

/// The process dies before anything of the turn is stored; so does the next, which can't open, and closes under the same number.
fn died_at_once(writes: bool) -> RunFacts {
    let mut story = Story::new();
    let turn = story.turn();
    let turn = if writes { turn.writes(Act::Create, "skills", &[1], Fate::Applied) } else { turn };
    turn.dies();
    story.turn().stops(Stop::Memory { error: "disk I/O error".into() });
    story.turn().says(vec![]).accepted().ends();
    let second = &mut story.run.turns[1];
    second.events.retain(|event| !matches!(event, Event::TurnOpened { .. }));
    for event in &mut second.events {
        if let Event::TurnClosed { record } = event {
            record.turn = 1;
        }
    }
    story.run
}

#[test]
fn i15_a_turn_of_which_nothing_was_stored_is_owed_no_receipt_unless_it_wrote() {
    assert!(!broken(&died_at_once(false)).contains("I15"));
    breaks(&died_at_once(true));
}
