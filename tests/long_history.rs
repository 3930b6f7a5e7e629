//! A conversation of hundreds of turns: it is folded again and again, every invariant holds, and no turn costs more than another.

use std::fmt::Write;

use unbacked::oracle::record::TurnFacts;
use unbacked::sim::plan::Plan;
use unbacked::sim::run::{Run, run};
use unbacked::sim::scenario::parse;
use unbacked::sim::world::World;
use unbacked::turn::event::Event;
use unbacked::turn::message::Message;

const TURNS: usize = 300;
const BUDGET: usize = 4_000;

/// Every tenth turn writes, every tenth leaves something unfinished or lies, the others read and talk.
fn script() -> String {
    let mut text = format!("version = 1\nid = \"long\"\ntitle = \"t\"\nrequired_end = \"e\"\nsettings = {{ fold_bytes = {BUDGET} }}\n");
    for turn in 0..TURNS {
        let _ = writeln!(text, "[[turn]]\nuser = \"This is what I say in turn {turn}\"");
        let _ = match turn % 10 {
            0 => writeln!(
                text,
                "wish = {{ act = \"create\", section = \"skills\", items = [{{ name = \"skill {turn}\" }}] }}\n[[turn.reply]]\n\
                 parts = [{{ call = \"create_skills\", arguments = {{ items = [{{ name = \"skill {turn}\" }}] }} }}]"
            ),
            3 => writeln!(
                text,
                "wish = {{ act = \"create\", section = \"experiences\", items = [{{ company = \"{turn}\" }}], withheld = [\"title\"] }}\n\
                 [[turn.reply]]\nparts = [{{ call = \"create_experiences\", arguments = {{ items = [{{ company = \"{turn}\" }}] }} }}]"
            ),
            6 => writeln!(
                text,
                "stance = \"talks\"\nretelling = \"All of it was saved, the experiences too.\"\n[[turn.reply]]\n\
                 parts = [{{ say = {{ say = \"claim\", act = \"create\", section = \"experiences\", count = 3, when = \"earlier\" }} }}]"
            ),
            _ => writeln!(
                text,
                "stance = \"asks\"\n[[turn.reply]]\nparts = [{{ call = \"read_cv\", arguments = {{ section = \"links\" }} }}]"
            ),
        };
    }
    text
}

fn conversation() -> Run {
    let script = parse("long.toml", &script()).expect("a scenario");
    run(&Plan::of_script(&script, "full", "anthropic"), &World::new().expect("a world")).expect("it runs")
}

fn folds(facts: &TurnFacts) -> usize {
    facts.events.iter().filter(|event| matches!(event, Event::Folded { .. })).count()
}

/// Bytes of messages that the turn's requests brought anew, and that had to be encoded; summaries aside.
fn encoded(facts: &TurnFacts) -> usize {
    let new = facts.sent.iter().flat_map(|sent| &sent.new).filter(|message| !matches!(message, Message::Summary { .. }));
    new.map(Message::bytes).sum()
}

/// The largest transcript that a request of the run held, summaries aside, turn by turn.
fn sizes(run: &Run) -> Vec<usize> {
    let mut transcript: Vec<&Message> = Vec::new();
    let mut sizes = Vec::new();
    for facts in &run.turns {
        for sent in &facts.sent {
            transcript.truncate(sent.kept);
            transcript.extend(&sent.new);
        }
        sizes.push(transcript.iter().filter(|message| !matches!(message, Message::Summary { .. })).map(|message| message.bytes()).sum());
    }
    sizes
}

#[test]
fn i13_hundreds_of_turns_stay_within_the_budget_and_no_turn_costs_more_than_another() {
    let run = conversation();
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.turns.len(), TURNS);
    let folded: usize = run.turns.iter().map(folds).sum();
    assert!((20..TURNS / 2).contains(&folded), "{folded} folds");
    let (sizes, cost): (Vec<usize>, Vec<usize>) = (sizes(&run), run.turns.iter().map(encoded).collect());
    let most = |of: &[usize]| of.iter().copied().max().unwrap_or_default();
    // What one turn adds to a transcript that was within the budget as it opened.
    let turn = 2_000;
    assert!(most(&sizes) <= BUDGET + turn, "{}", most(&sizes));
    let (early, late) = (most(&cost[50..TURNS / 2]), most(&cost[TURNS / 2..]));
    assert!(late <= early + early / 10, "a late turn encodes {late} bytes, an early one {early}");
    let sum = |of: &[usize]| of.iter().sum::<usize>();
    let (early, late) = (sum(&cost[50..150]), sum(&cost[200..300]));
    assert!(late <= early + early / 10, "the last hundred turns encode {late} bytes, an early hundred {early}");
}
