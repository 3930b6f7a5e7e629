//! X: the policies by name, and how `full` puts its two guards together (G4).

use unbacked::guards::completion::{Evidence, Reading};
use unbacked::guards::policy::{Policy, PolicyName};
use unbacked::turn::bounds::Parts;
use unbacked::turn::draft::Act;
use unbacked::turn::guard::{About, Consulted};
use unbacked::turn::ports::Guard;

use super::support::{ScriptedJudge, Turn, about, claim, earlier, unbacked};

async fn consult(name: PolicyName, judge: ScriptedJudge, turn: &Turn) -> (Consulted, usize) {
    let mut policy = Policy::new(name, Evidence::Ledger, judge);
    let consulted = policy.consult(turn.view()).await;
    assert!(consulted.judge_calls <= policy.calls_at_most(), "B7: {name} called more often than it says");
    (consulted, policy.judge().handed.len())
}

async fn full(judge: ScriptedJudge, turn: &Turn) -> Consulted {
    consult(PolicyName::Full, judge, turn).await.0
}

fn unfinished(section: &str) -> Option<About> {
    Some(About::Unfinished { section: section.into() })
}

#[tokio::test]
async fn x0_accepts_everything_unseen() {
    let turn = Turn::saying("All saved!").pending("skills", false);
    let (consulted, asked) = consult(PolicyName::None, ScriptedJudge::claiming(&[claim(Act::Create, "skills", 1)]), &turn).await;
    assert_eq!((about(&consulted), consulted.judge_calls, asked), (None, 0, 0));
}

#[tokio::test]
async fn x5_is_the_table_and_asks_no_judge() {
    let turn = Turn::saying("All saved!").pending("skills", false);
    let (consulted, asked) = consult(PolicyName::State, ScriptedJudge::reading(Reading::default()), &turn).await;
    assert_eq!((about(&consulted), consulted.judge_calls, asked), (unfinished("skills"), 0, 0));
}

#[tokio::test]
async fn x6_is_the_completion_check_and_no_table() {
    let turn = Turn::saying("All saved!").pending("skills", false);
    let (quiet, _) = consult(PolicyName::Completion, ScriptedJudge::reading(Reading::default()), &turn).await;
    assert_eq!(about(&quiet), None);
    let (lie, _) = consult(PolicyName::Completion, ScriptedJudge::claiming(&[claim(Act::Create, "skills", 1)]), &turn).await;
    assert_eq!(about(&lie), unbacked(&["created skills ×1"]));
}

#[tokio::test]
async fn g4_where_the_judge_read_neither_claim_nor_promise_the_tables_correction_is_withheld() {
    let turn = Turn::saying("Which year did you start?").pending("skills", false);
    let consulted = full(ScriptedJudge::reading(Reading::default()), &turn).await;
    assert_eq!(about(&consulted), None);
    assert_eq!(consulted.judge_calls, 1);
    assert!(consulted.why.ends_with("state: correct, withheld (G4)"), "{}", consulted.why);
}

#[tokio::test]
async fn g4_a_denial_or_an_honest_failure_report_is_neither_claim_nor_promise() {
    let said = vec![claim(Act::Create, "skills", 1)];
    let turn = Turn::saying("Not saved yet.").pending("skills", false);
    let denial = Reading { denials: said.clone(), ..Reading::default() };
    assert_eq!(about(&full(ScriptedJudge::reading(denial), &turn).await), None);
    let failure = Reading { failures: said, ..Reading::default() };
    assert_eq!(about(&full(ScriptedJudge::reading(failure), &turn).await), None);
}

#[tokio::test]
async fn g4_where_the_judge_failed_the_table_decides_by_itself() {
    let turn = Turn::saying("Which year did you start?").pending("skills", false);
    for fault in ["it failed", "it timed out", "it answered rubbish"] {
        let consulted = full(ScriptedJudge::failing(fault), &turn).await;
        assert_eq!((about(&consulted), consulted.judge_calls), (unfinished("skills"), 1), "{fault}");
        assert!(consulted.why.contains(fault) && consulted.why.ends_with("state: correct"), "{}", consulted.why);
    }
}

#[tokio::test]
async fn g4_where_the_judge_was_not_asked_the_table_decides_by_itself() {
    let turn = Turn::saying(" ").pending("skills", false);
    let consulted = full(ScriptedJudge::reading(Reading::default()), &turn).await;
    assert_eq!((about(&consulted), consulted.judge_calls), (unfinished("skills"), 0));
}

#[tokio::test]
async fn g4_a_judge_with_two_booleans_withholds_nothing() {
    let turn = Turn::saying("I will save it once you confirm.").pending("skills", false);
    for evidence in [Evidence::Bit, Evidence::Applied] {
        let mut policy = Policy::new(PolicyName::Full, evidence, ScriptedJudge::verdicts(false, false));
        assert_eq!(about(&policy.consult(turn.view()).await), unfinished("skills"));
    }
}

#[tokio::test]
async fn g4_and_j5_a_true_recap_of_an_earlier_turn_is_not_nudged() {
    let turn = Turn::saying("Earlier I saved your links.").pending("skills", false).earlier(Act::Create, "links", 1);
    let recap = ScriptedJudge::claiming(&[earlier(claim(Act::Create, "links", 1))]);
    assert_eq!(about(&full(recap, &turn).await), None);
}

#[tokio::test]
async fn g4_where_the_judge_ran_out_of_time_the_table_decides_and_its_call_counts() {
    let turn = Turn::saying("What year did you start?").pending("skills", false);
    let mut policy = Policy::new(PolicyName::Full, Evidence::Ledger, ScriptedJudge::reading(Reading::default()));
    let consulted = policy.out_of_time(turn.view());
    assert_eq!((about(&consulted), consulted.judge_calls), (unfinished("skills"), 1));
}

#[tokio::test]
async fn x7_the_completion_checks_objection_goes_before_the_tables() {
    let turn = Turn::saying("All saved!").pending("skills", false);
    let lie = full(ScriptedJudge::claiming(&[claim(Act::Create, "skills", 1)]), &turn).await;
    assert_eq!(about(&lie), unbacked(&["created skills ×1"]));
    let stall = Reading { promises: true, ..Reading::default() };
    assert_eq!(about(&full(ScriptedJudge::reading(stall), &turn).await), Some(About::Promised));
}

#[tokio::test]
async fn x7_a_turn_that_did_what_it_says_ends_after_one_judge_call() {
    let turn = Turn::saying("Saved.").created("skills", &[1]).pending("links", false);
    let consulted = full(ScriptedJudge::claiming(&[claim(Act::Create, "skills", 1)]), &turn).await;
    assert_eq!((about(&consulted), consulted.judge_calls), (None, 1));
    assert!(consulted.judge_tokens > 0);
    assert!(consulted.why.ends_with("state: applied"), "{}", consulted.why);
}

#[test]
fn x_each_policy_has_the_parts_that_the_specification_gives_it() {
    let off = Parts { reports: false, pending: false, receipts: false };
    let parts: Vec<_> = PolicyName::ALL.iter().map(|name| name.parts()).collect();
    let state = Parts { reports: true, pending: true, receipts: false };
    assert_eq!(parts, [off, state, off, Parts { reports: true, pending: true, receipts: true }]);
}

#[test]
fn b7_judge_calls_of_one_consultation_are_bounded_by_the_policy() {
    let calls: Vec<_> = PolicyName::ALL.iter().map(|name| name.judge_calls()).collect();
    assert_eq!(calls, [0, 0, 1, 1]);
}

#[test]
fn x_names_parse_back_and_those_of_later_versions_say_so() {
    for name in PolicyName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert!(name.sentence().starts_with('X'));
    }
    for later in ["prompt-rule", "intent-gate", "reply-scan", "judge-alone", "command:./mine"] {
        let error = later.parse::<PolicyName>().unwrap_err();
        assert!(error.contains("does not have") && error.contains(later), "{error}");
    }
    let error = "fulll".parse::<PolicyName>().unwrap_err();
    assert!(error.contains("there is no policy `fulll`") && error.contains("full"), "{error}");
}
