//! B: no run goes on for ever. Each bound at one less, at it, and at one more.

use serde_json::json;

use unbacked::turn::bounds::{Oversize, Settings};
use unbacked::turn::draft::Act;
use unbacked::turn::exit::{Status, Stop};
use unbacked::turn::message::{Block, Message, Reply, Usage};
use unbacked::turn::ports::{Chunk, Failure, Verdict};

use crate::play::{Answer, Game, Play};
use crate::say::{self, CREATE, READ, SKILL, call, calls, calls_of, failed, passing, text, unbacked};

#[test]
fn the_defaults_are_those_of_the_specification() {
    let settings = Settings::default();
    assert_eq!((settings.iterations, settings.strikes), (25, 3));
}

#[test]
fn b1_the_ceiling_on_iterations_is_reached_and_never_passed() {
    for (rounds, iterations, stop) in
        [(23, 24, Stop::Replied), (24, 25, Stop::Replied), (25, 25, Stop::Iterations), (26, 25, Stop::Iterations)]
    {
        let mut game = Game::new().replies((0..rounds).map(|_| calls_of(&[READ])));
        let record = game.turn("hello");
        assert_eq!((record.iterations, record.stop), (iterations, stop), "{rounds} rounds of calls");
    }
}

#[test]
fn b1_the_calls_of_the_last_reply_are_still_run_and_answered() {
    let mut game = Game::new().replies((0..25).map(|_| calls_of(&[CREATE])));
    let record = game.turn("hello");
    assert_eq!((game.ran.len(), game.results().len(), record.receipt.rows().count()), (25, 25, 25));
}

#[test]
fn b1_no_correction_goes_out_where_no_iteration_is_left_to_answer_it() {
    let mut game = Game::new().replies((0..24).map(|_| calls_of(&[READ]))).rulings([unbacked()]);
    let record = game.turn("hello");
    assert_eq!((record.corrections, record.status, record.iterations), (0, Status::Contested, 25));
}

/// Plays replies of one call each, failing in these ways; `None` succeeds.
fn streak(of: &[(&str, Option<Failure>)]) -> (Game, Stop) {
    let plays = of.iter().map(|(_, failure)| match failure {
        Some(failure) => Play::fails(failed(*failure, "no")),
        None => Play::says(say::done(json!({"ids": [], "touched_ids": [1]})), &[say::row(Act::Create, "experiences", 1)]),
    });
    let mut game = Game::new().replies(of.iter().map(|(name, _)| calls_of(&[name]))).plays(plays);
    let stop = game.turn("hello").stop;
    (game, stop)
}

fn struck(tool: &str, failure: &str) -> Stop {
    Stop::Strikes { tool: tool.into(), failure: failure.into() }
}

const SCHEMA: Option<Failure> = Some(Failure::Schema);
const CONFLICT: Option<Failure> = Some(Failure::Conflict);

#[test]
fn b2_two_failures_pass_the_third_in_the_same_way_ends_the_turn() {
    assert_eq!(streak(&[(CREATE, SCHEMA); 2]).1, Stop::Replied);
    let (game, stop) = streak(&[(CREATE, SCHEMA); 3]);
    assert_eq!(stop, struck(CREATE, "schema"));
    assert_eq!(game.ran.len(), 3);
    assert_eq!(streak(&[(CREATE, SCHEMA); 4]).0.ran.len(), 3);
}

#[test]
fn b2_two_failing_tools_in_alternation_are_both_caught() {
    let (game, stop) = streak(&[(CREATE, SCHEMA), (SKILL, SCHEMA), (CREATE, SCHEMA), (SKILL, SCHEMA), (SKILL, SCHEMA)]);
    assert_eq!((game.ran.len(), stop), (5, struck(SKILL, "schema")));
    assert_eq!(
        streak(&[(CREATE, SCHEMA), (SKILL, SCHEMA), (CREATE, SCHEMA), (SKILL, SCHEMA), (CREATE, SCHEMA)]).1,
        struck(CREATE, "schema")
    );
}

#[test]
fn b2_a_success_of_the_same_tool_resets_its_count_one_of_another_tool_does_not() {
    assert_eq!(streak(&[(CREATE, SCHEMA), (CREATE, SCHEMA), (CREATE, None), (CREATE, SCHEMA), (CREATE, SCHEMA)]).1, Stop::Replied);
    assert_eq!(streak(&[(CREATE, SCHEMA), (CREATE, SCHEMA), (SKILL, None), (CREATE, SCHEMA)]).1, struck(CREATE, "schema"));
}

#[test]
fn b2_another_kind_of_failure_starts_the_count_anew() {
    assert_eq!(streak(&[(CREATE, SCHEMA), (CREATE, SCHEMA), (CREATE, CONFLICT), (CREATE, SCHEMA), (CREATE, SCHEMA)]).1, Stop::Replied);
    assert_eq!(streak(&[(CREATE, SCHEMA), (CREATE, CONFLICT), (CREATE, CONFLICT), (CREATE, CONFLICT)]).1, struck(CREATE, "conflict"));
}

#[test]
fn b2_other_arguments_and_other_wording_are_the_same_way() {
    let replies = (0..3).map(|number| calls([call(CREATE, json!({"title": number}))]));
    let plays = (0..3).map(|number| Play::fails(failed(Failure::Schema, &format!("wrong number {number}"))));
    assert_eq!(Game::new().replies(replies).plays(plays).turn("hello").stop, struck(CREATE, "schema"));
}

#[test]
fn b2_strikes_within_one_reply_count_and_its_other_calls_are_answered_unrun() {
    let mut game = Game::new().replies([calls_of(&[CREATE, CREATE, CREATE, CREATE, SKILL])]);
    game = game.plays((0..3).map(|_| Play::fails(failed(Failure::Conflict, "no"))));
    let record = game.turn("hello");
    assert_eq!((record.stop, game.ran.len(), game.results().len()), (struck(CREATE, "conflict"), 3, 5));
}

#[test]
fn b2_failures_that_no_tool_saw_count_too() {
    assert_eq!(Game::new().replies((0..3).map(|_| calls_of(&["make_coffee"]))).turn("hello").stop, struck("make_coffee", "unknown_tool"));
    let broken = || calls([say::broken(CREATE, unbacked::turn::message::BrokenArguments::NotJson)]);
    assert_eq!(Game::new().replies((0..3).map(|_| broken())).turn("hello").stop, struck(CREATE, "broken_arguments"));
    let contradicted = || Play::says(say::done(json!({"touched_ids": [1]})), &[]).verdict(Verdict::Contradicted { error: "gone".into() });
    let mut game = Game::new().replies((0..3).map(|_| calls_of(&[CREATE]))).plays((0..3).map(|_| contradicted()));
    assert_eq!(game.turn("hello").stop, struck(CREATE, "verification"));
}

#[test]
fn b2_the_count_is_within_the_turn() {
    let plays = (0..4).map(|_| Play::fails(failed(Failure::Schema, "no")));
    let call = || calls_of(&[CREATE]);
    let mut game = Game::new().replies([call(), call(), text("no"), call(), call(), text("no")]).plays(plays);
    assert_eq!([game.turn("one").stop, game.turn("two").stop], [Stop::Replied, Stop::Replied]);
}

#[test]
fn b3_a_turn_has_one_correction_whoever_asks_for_it() {
    let mut game = Game::new().rulings([unbacked(), unbacked(), unbacked()]);
    let record = game.turn("hello");
    assert_eq!((record.corrections, record.iterations, record.judge_calls), (1, 2, 2));
    assert_eq!(game.corrections().len(), 1);
}

/// A turn under small limits, with one reply streamed as these chunks.
fn sized(chunks: Vec<Chunk>) -> Stop {
    let mut game = Game::new().answers([Answer::Chunks(chunks, text("")), Answer::Whole(text("ok"))]);
    game.settings = Settings { reply_bytes: 10, reply_calls: 2, argument_bytes: 10, ..Settings::default() };
    // The reply of these games is empty: the model is asked again and ends the turn.
    game.turn("hello").stop
}

#[test]
fn b5_a_reply_may_reach_each_limit_and_not_pass_it() {
    let over = |limit| Stop::Oversize { limit };
    let thinking = |bytes: usize| sized(vec![Chunk::Thinking(4), Chunk::Thinking(bytes - 4)]);
    let arguments = |bytes: usize| sized(vec![Chunk::CallBegan, Chunk::Arguments(1), Chunk::Arguments(bytes - 1)]);
    let calls = |number| sized((0..number).map(|_| Chunk::CallBegan).collect());
    for (bytes, passes) in [(9, true), (10, true), (11, false)] {
        let wanted = |limit| if passes { Stop::Replied } else { over(limit) };
        assert_eq!(thinking(bytes), wanted(Oversize::Text), "{bytes} bytes of thinking");
        assert_eq!(arguments(bytes), wanted(Oversize::Arguments), "{bytes} bytes of arguments");
    }
    assert_eq!([calls(1), calls(2), calls(3)], [Stop::Replied, Stop::Replied, over(Oversize::Calls)]);
}

#[test]
fn b5_text_may_reach_its_limit_and_not_pass_it_and_what_was_shown_stays() {
    for (bytes, stop) in [(9, Stop::Replied), (10, Stop::Replied), (11, Stop::Oversize { limit: Oversize::Text })] {
        let mut game = Game::new().replies([text(&"x".repeat(bytes))]);
        game.settings.reply_bytes = 10;
        let record = game.turn("hello");
        assert_eq!((record.stop, record.reply.len()), (stop, bytes));
    }
}

#[test]
fn b5_each_reply_is_measured_by_itself() {
    let mut game = Game::new().replies([say_and_call("eight by"), say_and_call("eight by"), text("eight by")]);
    game.settings.reply_bytes = 10;
    assert_eq!(game.turn("hello").stop, Stop::Replied);
}

fn say_and_call(words: &str) -> Reply {
    Reply { blocks: vec![Block::text(words), Block::Call(call(READ, json!({})))], ..Reply::default() }
}

#[test]
fn b5_an_endless_stream_of_empty_pieces_is_cut() {
    for empty in [Chunk::Text(String::new()), Chunk::Thinking(0), Chunk::Arguments(0)] {
        let stop = sized(std::iter::repeat_n(empty.clone(), 1000).collect());
        assert!(matches!(stop, Stop::Oversize { .. }), "{empty:?}");
    }
}

#[test]
fn b5_the_calls_of_an_oversized_reply_are_neither_run_nor_stored() {
    let mut game = Game::new().replies([calls_of(&[CREATE, CREATE, CREATE])]);
    game.settings.reply_calls = 2;
    let record = game.turn("hello");
    assert_eq!((record.stop, game.ran.len(), game.conversation.messages.len()), (Stop::Oversize { limit: Oversize::Calls }, 0, 1));
}

#[test]
fn a_tool_result_is_cut_at_its_limit_between_characters_and_the_cut_is_marked() {
    let rows = "é".repeat(50);
    let whole = json!({"rows": rows}).to_string().len();
    for (limit, cut) in [(whole + 1, false), (whole, false), (whole - 1, true), (whole - 3, true), (whole - 4, true), (0, true)] {
        let mut game = Game::new().replies([calls_of(&[READ])]).plays([Play::fails(say::done(json!({"rows": rows})))]);
        game.settings.result_bytes = limit;
        game.turn("hello");
        let content = &game.results()[0].content;
        assert_eq!(content.contains(&format!("[cut: {whole} bytes in all]")), cut, "{content}");
        assert!(content.len() <= limit + if cut { 40 } else { 0 }, "{content}");
    }
}

#[test]
fn b6_at_every_bound_what_was_applied_is_in_the_receipt_and_the_user_is_told_why() {
    let applied = || Answer::Whole(calls_of(&[CREATE]));
    let small = Settings { iterations: 2, reply_bytes: 20, ..Settings::default() };
    let table: Vec<(&str, Vec<Answer>)> = vec![
        ("limit on steps", vec![applied(), Answer::Whole(calls_of(&[READ]))]),
        ("too large", vec![applied(), Answer::Whole(text(&"x".repeat(21)))]),
        ("no answer", vec![applied(), Answer::Whole(Reply::default())]),
        ("connection to the model broke", vec![applied(), Answer::Breaks(vec![Chunk::Text("x".into())], passing("reset"))]),
    ];
    for (why, answers) in table {
        let mut game = Game::new().answers(answers);
        game.settings = Settings { iterations: if why == "no answer" { 3 } else { 2 }, ..small.clone() };
        if why == "no answer" {
            game.answers.push_back(Answer::Whole(Reply::default()));
        }
        let record = game.turn("hello");
        assert_ne!(record.stop, Stop::Replied);
        assert_eq!(record.receipt.rows().count(), 1, "{why}");
        assert!(record.lines.iter().any(|line| line.contains(why)), "{why}: {:?}", record.lines);
        assert!(
            !game.conversation.messages.iter().any(|message| matches!(message, Message::Assistant { blocks, .. } if blocks.is_empty()))
        );
    }
}

#[test]
fn b7_the_ceiling_is_a_closed_form_of_the_settings() {
    let settings = Settings { iterations: 7, attempts: 3, output_tokens: 100, ..Settings::default() };
    let ceiling = settings.ceiling(2);
    assert_eq!((ceiling.iterations, ceiling.model_calls, ceiling.judge_calls, ceiling.corrections), (7, 22, 4, 1));
    assert_eq!(ceiling.output_tokens, 2200);
}

#[test]
fn b7_tokens_are_summed_and_no_number_that_a_provider_names_is_a_crash() {
    let using = |tokens, reply| Reply { usage: Usage { input: Some(tokens), output: Some(tokens) }, ..reply };
    let mut game =
        Game::new().replies([using(3, calls_of(&[READ])), using(4, text("ok")), using(u64::MAX, calls_of(&[READ])), using(9, text("ok"))]);
    let record = game.turn("one");
    assert_eq!((record.tokens_in, record.tokens_out), (7, 7));
    assert_eq!(game.turn("two").tokens_out, u64::MAX);
}

#[test]
fn b7_settings_at_their_extremes_still_end_the_turn() {
    for settings in [
        Settings { iterations: 0, ..Settings::default() },
        Settings { strikes: 0, attempts: 0, result_bytes: 0, reply_bytes: 0, reply_calls: 0, argument_bytes: 0, ..Settings::default() },
        Settings { attempts: u32::MAX, iterations: u32::MAX, output_tokens: u32::MAX, ..Settings::default() },
    ] {
        let mut game = Game::new().replies([calls_of(&["make_coffee"])]);
        game.settings = settings;
        game.turn("hello");
    }
}

#[test]
fn b7_a_turn_that_does_all_it_can_reaches_the_ceiling_and_no_more() {
    let mut game = Game::new();
    game.turn("one");
    game.turn("two");
    game.settings = Settings { iterations: 3, attempts: 2, fold_bytes: 1, ..Settings::default() };
    game = game.rulings([unbacked(), unbacked()]);
    for reply in [calls_of(&[READ]), text("Saved."), text("Saved.")] {
        game = game.answers([Answer::Breaks(vec![], passing("503")), Answer::Whole(reply)]);
    }
    let record = game.turn("hello");
    let ceiling = game.settings.ceiling(1);
    assert_eq!((record.iterations, record.model_calls), (ceiling.iterations, ceiling.model_calls));
    assert_eq!((record.judge_calls, record.corrections), (ceiling.judge_calls, ceiling.corrections));
}

#[test]
fn b7_a_loop_that_never_folds_pays_for_no_summariser() {
    let settings = Settings { iterations: 7, attempts: 3, output_tokens: 100, fold_bytes: 0, ..Settings::default() };
    assert_eq!(settings.ceiling(2).model_calls, 21);
}
