//! J2, J9 against the phrase book of the simulator, on whose first run the lists were mended: no claim, promise or narrated call that the
//! scripted model can say is waved through.

use unbacked::guards::phrases::{covered, looks_like};
use unbacked::oracle::claims::When;
use unbacked::sim::speech::sentence::{Format, Sentence, Style, say, variants};
use unbacked::sim::speech::{Lang, SECTIONS};
use unbacked::turn::draft::Act;

fn claims() -> Vec<Sentence> {
    let mut claims = Vec::new();
    for act in [Act::Create, Act::Update, Act::Delete, Act::Discard] {
        for section in SECTIONS {
            let claim = |when, style| Sentence::Claim { act, section: section.into(), count: 2, when, style };
            claims.extend(Style::ALL.map(|style| claim(When::ThisTurn, style)));
            claims.push(claim(When::Earlier, Style::Plain));
        }
    }
    claims
}

fn promises() -> Vec<Sentence> {
    let narrated = |format| Sentence::NarrateCall { format, tool: "create_skills".into(), args: r#"{"name":"Rust"}"#.into() };
    let promised = [false, true].map(|later| Sentence::Promise { later });
    promised.into_iter().chain(Format::ALL.map(narrated)).collect()
}

fn texts(lang: Lang, sentences: &[Sentence]) -> impl Iterator<Item = String> {
    sentences.iter().flat_map(move |sentence| (0..variants(lang, sentence)).map(move |variant| say(lang, sentence, variant).text))
}

#[test]
fn j2_no_claim_promise_or_narrated_call_of_the_phrase_book_is_waved_through() {
    let sentences = [claims(), promises()].concat();
    let said = Lang::ALL.into_iter().flat_map(|lang| texts(lang, &sentences));
    let free: Vec<String> = said.filter(|text| looks_like(text).is_none()).collect();
    assert!(free.is_empty(), "{} such as {:?}", free.len(), &free[..free.len().min(5)]);
}

#[test]
fn j2_a_gate_that_waved_nothing_through_would_be_no_gate() {
    let harmless =
        [Sentence::AskField { field: "start_year".into() }, Sentence::SmallTalk, Sentence::Inform { section: "skills".into(), count: 2 }];
    let free = |lang: &Lang| texts(*lang, &harmless).any(|text| looks_like(&text).is_none() && covered(&text));
    let with_use: Vec<Lang> = Lang::ALL.into_iter().filter(free).collect();
    assert!(with_use.len() >= 10, "{with_use:?}");
}
