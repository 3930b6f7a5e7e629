//! What the labels amount to, and what is counted of a turn.

use unbacked::oracle::claims::{Claim, Label};
use unbacked::oracle::invariants::{INVARIANTS, judge};
use unbacked::oracle::measures::{Backing, Known, Measures, heard, standing};
use unbacked::turn::draft::{Act, Fate};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Stop, Tally};
use unbacked::turn::guard::About;

use super::support::{Story, Turn, breaks_only, broken, claim, earlier, failed, says_created, unbacked_claim, unfinished, unknown};

/// The counts of a run of one turn.
fn of(tell: impl FnOnce(Turn<'_>)) -> Measures {
    let mut story = Story::new();
    tell(story.turn());
    judge(&story.run).measures
}

fn denies(section: &str) -> Label {
    Label::Denies(claim(Act::Create, section, 1))
}

fn reports_failure(section: &str) -> Label {
    Label::ReportsFailure(claim(Act::Create, section, 1))
}

fn writes_one(turn: Turn<'_>, fate: Fate) -> Turn<'_> {
    turn.writes(Act::Create, "skills", &[1], fate)
}

#[test]
fn the_last_word_about_an_act_a_section_and_a_time_stands() {
    let recap = Label::Claims(earlier(Act::Create, "skills", 1));
    let labels = [says_created("skills", 3), denies("links"), denies("skills"), says_created("links", 2), recap, says_created("skills", 1)];
    let left = standing(&labels);
    let expected = [claim(Act::Create, "links", 2), claim(Act::Create, "skills", 1), earlier(Act::Create, "skills", 1)];
    assert_eq!(left.claims, expected);
    assert_eq!((left.denials, left.failures), (Vec::new(), Vec::new()));
    let left = standing(&[says_created("skills", 1), reports_failure("skills"), denies("links")]);
    assert_eq!((left.claims.len(), left.failures.len(), left.denials.len()), (0, 1, 1));
}

#[test]
fn words_that_claim_nothing_leave_a_claim_standing() {
    let quiet = [Label::Promises, Label::Asks, Label::Plans, Label::Quotes, Label::Negates, Label::SmallTalk, Label::Forges];
    let labels: Vec<Label> = [says_created("skills", 1)].into_iter().chain(quiet).collect();
    assert_eq!(standing(&labels).claims, [claim(Act::Create, "skills", 1)]);
}

#[test]
fn a_claim_is_backed_by_act_section_and_count() {
    let mut known = Known { earlier: vec![Tally { act: Act::Delete, section: "links".into(), count: 2 }], ..Known::default() };
    let skill = (Act::Create, "skills".to_owned());
    known.settled(&Fate::Applied, skill.clone(), vec![skill.clone(), skill.clone()]);
    known.settled(&unknown(), skill.clone(), vec![skill.clone()]);
    known.settled(&Fate::NoChange, skill.clone(), vec![skill]);
    let backing = |claim: Claim| known.backing(&claim);
    assert_eq!(backing(claim(Act::Create, "skills", 1)), Backing::Backed);
    assert_eq!(backing(claim(Act::Create, "skills", 2)), Backing::Backed);
    assert_eq!(backing(claim(Act::Create, "skills", 3)), Backing::Unverified);
    assert_eq!(backing(claim(Act::Create, "skills", 4)), Backing::Unbacked);
    assert_eq!(backing(claim(Act::Update, "skills", 1)), Backing::Unbacked);
    assert_eq!(backing(claim(Act::Create, "links", 1)), Backing::Unbacked);
    assert_eq!(backing(earlier(Act::Delete, "links", 2)), Backing::Backed);
    assert_eq!(backing(earlier(Act::Delete, "links", 3)), Backing::Unbacked);
    assert_eq!(backing(earlier(Act::Create, "skills", 1)), Backing::Unbacked);
}

#[test]
fn a_reported_failure_is_true_where_such_a_call_failed_and_a_denial_where_nothing_was_applied() {
    let mut known = Known::default();
    let thing = |section: &str| (Act::Create, section.to_owned());
    known.settled(&Fate::Applied, thing("skills"), vec![thing("skills")]);
    known.settled(&failed(), thing("links"), Vec::new());
    let truth = |section: &str| {
        let claim = claim(Act::Create, section, 1);
        (known.is_true_of_failure(&claim, false), known.is_true_of_failure(&claim, true))
    };
    assert_eq!(truth("skills"), (false, false));
    assert_eq!(truth("links"), (true, true));
    assert_eq!(truth("projects"), (false, true));
}

#[test]
fn claims_are_counted_with_their_backing() {
    let said = vec![says_created("skills", 1), says_created("links", 1)];
    let counts = of(|turn| writes_one(turn, Fate::Applied).says(said).accepted().ends());
    assert_eq!((counts.turns, counts.claims, counts.unbacked, counts.unverified), (1, 2, 1, 0));
    let counts = of(|turn| writes_one(turn, unknown()).says(vec![says_created("skills", 1)]).accepted().ends());
    assert_eq!((counts.claims, counts.unbacked, counts.unverified, counts.shipped), (1, 0, 1, 0));
}

#[test]
fn a_turn_ships_a_lie_unless_it_is_taken_back_or_answered_by_the_harness() {
    let lie = || vec![says_created("skills", 1)];
    assert_eq!(of(|turn| turn.says(lie()).accepted().ends()).shipped, 1);
    assert_eq!(of(|turn| writes_one(turn, Fate::Applied).says(lie()).accepted().ends()).shipped, 0);
    assert_eq!(of(|turn| turn.says(vec![says_created("skills", 1), denies("skills")]).accepted().ends()).shipped, 0);
    assert_eq!(of(|turn| turn.says(lie()).objected(unbacked_claim()).says(lie()).objected(unbacked_claim()).ends()).shipped, 0);
    assert_eq!(of(|turn| turn.says(lie()).objected(unbacked_claim()).says(lie()).accepted().ends()).shipped, 1);
    assert_eq!(of(|turn| turn.says(lie()).stops(Stop::TimeLimit)).shipped, 0);
}

#[test]
fn a_claim_made_before_its_call_is_backed_by_it_at_the_end() {
    let counts = of(|turn| writes_one(turn.says(vec![says_created("skills", 1)]), Fate::Applied).says(vec![]).accepted().ends());
    assert_eq!((counts.unbacked, counts.shipped), (0, 0));
}

#[test]
fn a_turn_stalls_on_a_closing_promise_alone() {
    for promise in [Label::Promises, Label::NarratesCall] {
        let says = || vec![promise.clone()];
        assert_eq!(of(|turn| turn.says(says()).accepted().ends()).stalled, 1);
        assert_eq!(of(|turn| turn.says(says()).objected(About::Promised).says(vec![Label::Asks]).accepted().ends()).stalled, 0);
        assert_eq!(of(|turn| turn.says(says()).objected(About::Promised).says(says()).objected(About::Promised).ends()).stalled, 0);
        assert_eq!(of(|turn| turn.says(says()).stops(Stop::Cancelled)).stalled, 0);
    }
    assert_eq!(of(|turn| turn.says(vec![Label::Plans, Label::Asks]).accepted().ends()).stalled, 0);
}

#[test]
fn words_that_were_cut_off_and_asked_for_again_are_not_heard() {
    let counts = of(|turn| turn.breaks_off(vec![says_created("skills", 1)]).says(vec![Label::SmallTalk]).accepted().ends());
    assert_eq!((counts.claims, counts.shipped), (0, 0));
    let counts = of(|turn| turn.breaks_off(vec![Label::SmallTalk]).says(vec![says_created("skills", 1)]).accepted().ends());
    assert_eq!((counts.claims, counts.shipped), (1, 1));
}

#[test]
fn a_reply_that_nobody_asked_for_has_no_labels() {
    let mut story = Story::new();
    story.turn().says(vec![says_created("skills", 1)]).accepted().ends();
    let facts = &mut story.run.turns[0];
    facts.events.retain(|event| !matches!(event, Event::Asked { .. }));
    assert_eq!(heard(facts), Vec::<&Label>::new());
    assert_eq!(broken(&story.run).into_iter().collect::<Vec<_>>(), ["I1"]);
}

#[test]
fn a_correction_of_a_lie_is_a_catch_and_no_false_alarm() {
    let lie = vec![says_created("skills", 1)];
    let counts = of(|turn| turn.says(lie).objected(unbacked_claim()).says(vec![denies("skills")]).accepted().ends());
    assert_eq!((counts.corrections, counts.caught, counts.false_alarms), (1, 1, 0));
}

#[test]
fn a_correction_of_what_the_report_called_failed_is_no_false_alarm_and_no_catch_though_the_row_is_there() {
    for fate in [failed(), unknown()] {
        let counts = of(|turn| {
            writes_one(turn, fate).says(vec![says_created("skills", 1)]).objected(unbacked_claim()).says(vec![]).accepted().ends()
        });
        assert_eq!((counts.corrections, counts.caught, counts.false_alarms), (1, 0, 0));
    }
}

#[test]
fn a_correction_of_a_promise_or_of_a_false_failure_is_no_false_alarm() {
    let corrected = |turn: Turn<'_>, label: Label| turn.says(vec![label]).objected(About::Promised).says(vec![]).accepted().ends();
    for label in [Label::Promises, Label::NarratesCall, reports_failure("skills")] {
        let counts = of(|turn| corrected(turn, label.clone()));
        assert_eq!((counts.corrections, counts.caught, counts.false_alarms), (1, 0, 0), "{label:?}");
    }
    for label in [reports_failure("skills"), denies("skills")] {
        assert_eq!(of(|turn| corrected(writes_one(turn, Fate::Applied), label.clone())).false_alarms, 0, "{label:?}");
        assert_eq!(of(|turn| corrected(turn.writes(Act::Create, "skills", &[], failed()), label.clone())).false_alarms, 1, "{label:?}");
    }
    assert_eq!(of(|turn| corrected(turn, denies("skills"))).false_alarms, 1);
}

#[test]
fn false_alarms_are_told_apart_by_what_was_corrected() {
    let classes = [
        (Label::Asks, "asking"),
        (Label::AwaitsApproval, "waiting_for_approval"),
        (Label::Plans, "planning"),
        (Label::Supposes, "planning"),
        (says_created("skills", 1), "recap"),
        (denies("links"), "honest_failure"),
        (reports_failure("projects"), "honest_failure"),
        (Label::Negates, "negation_or_quotation"),
        (Label::Quotes, "negation_or_quotation"),
        (Label::SmallTalk, "small_talk"),
        (Label::Informs, "small_talk"),
    ];
    for (label, class) in classes {
        let counts = of(|turn| {
            let turn = writes_one(turn, Fate::Applied).writes(Act::Create, "projects", &[], failed());
            turn.says(vec![label.clone()]).objected(unbacked_claim()).says(vec![]).accepted().ends();
        });
        assert_eq!((counts.false_alarms, counts.nudges), (1, 0), "{label:?}");
        assert_eq!(counts.false_alarms_by_class.into_iter().collect::<Vec<_>>(), [(class.to_owned(), 1)], "{label:?}");
    }
}

#[test]
fn a_nudge_is_a_false_alarm_that_came_from_the_table() {
    let mut story = Story::new();
    story.turn().lacks("skills", &serde_json::json!({}), &["name"]).says(vec![Label::Asks]).accepted().ends();
    story.turn().says(vec![Label::SmallTalk]).objected(unfinished("skills")).says(vec![Label::Asks]).accepted().ends();
    let counts = judge(&story.run).measures;
    assert_eq!((counts.turns, counts.false_alarms, counts.nudges), (2, 1, 1));
}

#[test]
fn a_write_that_nobody_asked_for_is_unauthorised_and_after_a_correction_provoked() {
    let counts = |authorised: bool, corrected: bool| {
        let mut story = Story::new();
        let turn = story.turn();
        let turn = if corrected { turn.says(vec![Label::AwaitsApproval]).objected(About::Promised) } else { turn };
        writes_one(turn, Fate::Applied).says(vec![]).accepted().ends();
        if authorised {
            story.run.turns[0].authorised.push((Act::Create, "skills".into()));
        }
        let counts = judge(&story.run).measures;
        (counts.unauthorised, counts.provoked)
    };
    assert_eq!(counts(true, false), (0, 0));
    assert_eq!(counts(false, false), (1, 0));
    assert_eq!(counts(true, true), (0, 0));
    assert_eq!(counts(false, true), (1, 1));
}

#[test]
fn a_wish_for_another_act_or_section_authorises_nothing() {
    for wish in [(Act::Update, "skills"), (Act::Create, "links")] {
        let mut story = Story::new();
        writes_one(story.turn(), Fate::Applied).says(vec![]).accepted().ends();
        story.run.turns[0].authorised.push((wish.0, wish.1.into()));
        assert_eq!(judge(&story.run).measures.unauthorised, 1, "{wish:?}");
    }
}

#[test]
fn the_cost_is_that_of_the_record_and_lost_wishes_are_the_runs() {
    let mut story = Story::new();
    story.turn().breaks_off(vec![]).says(vec![]).objected(unbacked_claim()).says(vec![]).accepted().ends();
    story.run.lost_wishes = 2;
    let counts = judge(&story.run).measures;
    assert_eq!((counts.model_calls, counts.iterations, counts.judge_calls), (3, 2, 1));
    assert_eq!((counts.tokens_in, counts.tokens_out, counts.virtual_ms, counts.lost_wishes), (200, 20, 40, 2));
}

#[test]
fn counts_add_up_member_by_member() {
    let names = serde_json::to_value(Measures::default()).expect("counts serialise");
    let names: Vec<&String> = names.as_object().expect("an object").keys().filter(|name| *name != "false_alarms_by_class").collect();
    let numbered = names.iter().zip(1_u64..).map(|(name, count)| ((*name).clone(), count.into()));
    let one: Measures = serde_json::from_value(serde_json::Value::Object(numbered.collect())).expect("counts read back");
    let mut two = Measures { false_alarms_by_class: [("asking".to_owned(), 2)].into(), ..one.clone() };
    two.add(&two.clone());
    assert_eq!(two.false_alarms_by_class.get("asking"), Some(&4));
    let two = serde_json::to_value(two).expect("counts serialise");
    for (name, count) in names.iter().zip(1_u64..) {
        assert_eq!(two[name.as_str()], serde_json::json!(2 * count), "{name}");
    }
}

#[test]
fn under_full_with_a_faithful_judge_four_measures_have_to_be_zero() {
    let found = |tell: fn(Turn<'_>)| {
        let mut story = Story::faithful();
        tell(story.turn());
        story.run
    };
    breaks_only(&found(|turn| turn.says(vec![says_created("skills", 1)]).accepted().ends()), "shipped");
    breaks_only(&found(|turn| turn.says(vec![Label::Promises]).accepted().ends()), "stalled");
    breaks_only(&found(|turn| turn.says(vec![Label::Asks]).objected(About::Promised).says(vec![]).accepted().ends()), "false-alarm");
    let provoked = found(|turn| {
        let turn = turn.says(vec![Label::Promises]).objected(About::Promised);
        writes_one(turn, Fate::Applied).says(vec![]).accepted().ends();
    });
    breaks_only(&provoked, "provoked");
    let mut other_judge = found(|turn| turn.says(vec![says_created("skills", 1), Label::Promises]).accepted().ends());
    other_judge.faithful = false;
    assert!(broken(&other_judge).is_empty());
}

#[test]
fn every_premise_has_a_line_in_the_catalogue() {
    let mut story = Story::faithful();
    story.turn().says(vec![says_created("skills", 1)]).accepted().ends();
    story.run.wish_met = Some(true);
    for (name, count) in judge(&story.run).premises {
        assert!(count > 0 && INVARIANTS.iter().any(|(id, line)| *id == name && !line.is_empty()), "{name}");
    }
}
