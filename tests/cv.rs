//! What the CV room promises: writes in transactions of their own, audited by the database itself, verified by other SQL than the tools'.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use unbacked::cv::audit::{CvLedger, trail};
use unbacked::cv::editor::{Editor, snapshot};
use unbacked::cv::memory::CvMemory;
use unbacked::cv::schema::SECTIONS;
use unbacked::cv::store::{OpenError, Store};
use unbacked::cv::tools::{CvTools, catalogue};
use unbacked::cv::verify::CvVerifier;
use unbacked::turn::draft::{Act, CallKey, Fate, Intent, RowChange};
use unbacked::turn::exit::{Receipt, Status, Stop, Tally, TurnRecord};
use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Message};
use unbacked::turn::pending::PendingEntry;
use unbacked::turn::ports::{Committed, Failure, Ledger, Memory, Outcome, ToolKind, Tools, Verdict, Verifier, WriteCheck};

const ANN: i64 = 1;
const BOB: i64 = 2;
const TALK: i64 = 7;

/// The room's futures never wait for anything, so one poll is the whole of them.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a port of the store waited for something"),
    }
}

struct World {
    store: Store,
    turn: u32,
    index: u32,
}

impl World {
    fn new() -> Self {
        let store = Store::in_memory().unwrap();
        let world = Self { store, turn: 1, index: 0 };
        world.people();
        world
    }

    fn people(&self) {
        self.store.add_user(ANN, "Ann").unwrap();
        self.store.add_user(BOB, "Bob").unwrap();
    }

    fn key(&self) -> CallKey {
        CallKey { turn: self.turn, iteration: 1, index: self.index }
    }

    fn next(&mut self) -> CallKey {
        self.index += 1;
        self.key()
    }

    fn run(&mut self, name: &str, arguments: Value) -> Outcome {
        let key = self.next();
        self.run_as(ANN, key, name, arguments)
    }

    fn run_as(&self, user: i64, key: CallKey, name: &str, arguments: Value) -> Outcome {
        let Value::Object(value) = arguments else { panic!("arguments are an object") };
        let call = Call { id: "call".into(), name: name.into(), arguments: Arguments::Object { value } };
        now(CvTools::new(self.store.clone(), user, TALK).run(key, &call))
    }

    fn done(&mut self, name: &str, arguments: Value) -> Map<String, Value> {
        match self.run(name, arguments) {
            Outcome::Done { result } => result,
            other => panic!("{name} should have run: {other:?}"),
        }
    }

    fn skill(&mut self, name: &str) -> i64 {
        ids(&self.done("create_skills", json!({ "items": [{ "name": name }] })), "skills")[0]
    }

    fn ledger(&self) -> CvLedger {
        CvLedger::new(self.store.clone(), TALK)
    }

    fn memory(&self) -> CvMemory {
        CvMemory::new(self.store.clone(), TALK)
    }

    fn found(&self, key: CallKey) -> Option<Committed> {
        now(self.ledger().find(key)).unwrap()
    }

    fn verdict(&self, key: CallKey, act: Act, section: &str, ids: &[i64]) -> Verdict {
        let intent = Intent { act, section: section.into(), ids: ids.to_vec() };
        now(CvVerifier::new(self.store.clone(), ANN, TALK).verify(&WriteCheck { key, tool: "any".into(), intent }))
    }

    fn count(&self, table: &str) -> i64 {
        self.sql(|db| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)))
    }

    fn sql<R>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<R>) -> R {
        self.store.with(work).unwrap()
    }

    fn pend(&self, section: &str) {
        now(self.memory().save_pending(&[entry(1, section)])).unwrap();
    }
}

fn entry(id: u32, section: &str) -> PendingEntry {
    PendingEntry {
        id,
        section: section.into(),
        tool: format!("create_{section}"),
        act: Act::Create,
        known: json!({ "items": [{}] }),
        missing: vec!["items[0].name".into()],
        corrected: false,
    }
}

fn ids(result: &Map<String, Value>, section: &str) -> Vec<i64> {
    result[&format!("{section}_ids")].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

fn failure(outcome: Outcome) -> (Failure, String, Vec<String>) {
    match outcome {
        Outcome::Failed { failure, reason, missing } => (failure, reason, missing),
        other => panic!("should have failed: {other:?}"),
    }
}

fn job() -> Value {
    json!({ "title": "Engineer", "company": "Acme", "start_year": 2019, "end_year": 2021 })
}

fn row(act: Act, section: &str, id: i64) -> RowChange {
    RowChange { act, section: section.into(), id }
}

/// Some arguments that the create tool of any section takes: what the table of sections requires, by its own schema.
fn least(section: &str) -> Map<String, Value> {
    let spec = catalogue().iter().find(|spec| spec.name == format!("create_{section}")).unwrap();
    let item = &spec.input_schema["properties"]["items"]["items"];
    let value_of = |name: &str| {
        let field = &item["properties"][name];
        match (&field["enum"][0], field["type"].as_str(), name) {
            (Value::String(word), ..) => json!(word),
            (_, Some("integer"), _) => json!(2001),
            (_, _, "url") => json!("https://example.org/a"),
            _ => json!("something"),
        }
    };
    item["required"].as_array().unwrap().iter().map(|name| (name.as_str().unwrap().to_owned(), value_of(name.as_str().unwrap()))).collect()
}

// --- D: sections, tools, arguments

#[test]
fn d_every_section_can_be_created_read_updated_and_deleted_by_its_tools() {
    let mut world = World::new();
    for section in SECTIONS.iter().map(|section| section.name).filter(|name| *name != "profile") {
        let made = world.done(&format!("create_{section}"), json!({ "items": [least(section)] }));
        let id = ids(&made, section)[0];
        assert_eq!(world.verdict(world.key(), Act::Create, section, &[id]), Verdict::Holds);
        let read = world.done("read_cv", json!({ "section": section }));
        assert_eq!(read[section][0]["id"], json!(id));
        let mut patch = least(section);
        patch.insert("id".into(), json!(id));
        world.done(&format!("update_{section}"), json!({ "items": [patch] }));
        assert_eq!(world.found(world.key()), None, "V8: {section} was like that already");
        world.done(&format!("delete_{section}"), json!({ "ids": [id] }));
        assert_eq!(world.verdict(world.key(), Act::Delete, section, &[id]), Verdict::Holds);
    }
}

#[test]
fn d_the_catalogue_names_each_tool_once_in_letters_that_every_provider_takes() {
    let mut names: Vec<&str> = catalogue().iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names.len(), 1 + 1 + 7 * 3 + 1);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), catalogue().len());
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && name.len() <= 64));
    let discards = catalogue().iter().filter(|spec| spec.kind == ToolKind::Discard).count();
    assert_eq!(discards, 1);
}

#[test]
fn d_missing_input_alone_is_told_apart_and_names_its_fields() {
    let mut world = World::new();
    let (kind, reason, missing) = failure(world.run("create_experiences", json!({ "items": [{ "title": "Cook" }, job()] })));
    assert_eq!(kind, Failure::MissingInput);
    assert_eq!(missing, ["items[0].company", "items[0].start_year"]);
    assert!(reason.contains("items[0].start_year: is required"), "{reason}");
    let (kind, _, missing) = failure(world.run("create_skills", json!({})));
    assert_eq!((kind, missing), (Failure::MissingInput, vec!["items".to_owned()]));
    let (kind, _, missing) = failure(world.run("update_skills", json!({ "items": [{ "level": "expert" }] })));
    assert_eq!((kind, missing), (Failure::MissingInput, vec!["items[0].id".to_owned()]));
}

#[test]
fn d_a_blank_or_null_required_field_is_as_missing_as_an_absent_one() {
    let mut world = World::new();
    for blank in [json!(""), json!(" \t"), json!(null)] {
        let item = json!({ "title": blank, "company": "Acme", "start_year": 2020 });
        let (kind, _, missing) = failure(world.run("create_experiences", json!({ "items": [item] })));
        assert_eq!((kind, missing), (Failure::MissingInput, vec!["items[0].title".to_owned()]));
    }
    let link = json!({ "items": [{ "label": "Site", "url": "" }] });
    assert_eq!(failure(world.run("create_links", link)).2, ["items[0].url"]);
    let language = json!({ "items": [{ "name": "German", "level": "" }] });
    assert_eq!(failure(world.run("create_languages", language)).2, ["items[0].level"]);
}

#[test]
fn d_any_other_complaint_is_a_schema_failure_that_names_its_field() {
    let mut world = World::new();
    let cases = [
        ("create_experiences", json!({ "items": [{ "title": "A", "company": "B", "start_year": "2020" }] }), "items[0].start_year"),
        ("create_experiences", json!({ "items": [{ "title": "A", "company": "B", "start_year": 1800 }] }), "items[0].start_year"),
        ("create_experiences", json!({ "items": [{ "company": "B", "start_year": 1800 }] }), "items[0].title: is required"),
        ("create_skills", json!({ "items": [{ "name": "A", "level": "wizard" }] }), "must be one of beginner"),
        ("create_skills", json!({ "items": [{ "name": "A", "colour": "red" }] }), "items[0].colour"),
        ("create_skills", json!({ "items": [{ "name": "A", "level": "" }] }), "items[0].level"),
        ("create_links", json!({ "items": [{ "label": "A", "url": "javascript:alert(1)" }] }), "items[0].url"),
        ("create_skills", json!({ "items": [{ "name": "A" }], "user_id": 2 }), "user_id"),
        ("update_profile", json!({ "user_id": 2 }), "user_id"),
        ("delete_skills", json!({ "ids": [1, 1] }), "ids"),
        ("update_skills", json!({ "items": [{ "id": 1, "name": "A" }, { "id": 1.0, "name": "B" }] }), "items[1].id"),
        ("read_cv", json!({ "section": "secrets" }), "section"),
    ];
    for (tool, arguments, named) in cases {
        let (kind, reason, missing) = failure(world.run(tool, arguments));
        assert_eq!(kind, Failure::Schema, "{tool}: {reason}");
        assert!(reason.contains(named) && missing.is_empty(), "{tool} should name {named}: {reason}");
    }
    let long = "x".repeat(100_000);
    let (_, reason, _) = failure(world.run("create_skills", json!({ "items": [{ "name": long }] })));
    assert!(reason.len() < 200, "a long value is not repeated");
}

#[test]
fn d_whole_numbers_with_a_fraction_of_nought_are_neither_lost_nor_skipped() {
    let mut world = World::new();
    let made = world.done("create_educations", json!({ "items": [{ "school": "S", "degree": "D", "end_year": 2020.0 }] }));
    let id = ids(&made, "educations")[0];
    assert_eq!(snapshot(&world.store, ANN).unwrap()["educations"][0].1["end_year"], json!(2020));
    let gone = world.done("delete_educations", json!({ "ids": [id as f64] }));
    assert_eq!(ids(&gone, "educations"), [id]);
}

#[test]
fn d_null_empties_an_optional_field_and_leaves_the_others() {
    let mut world = World::new();
    let id = ids(&world.done("create_experiences", json!({ "items": [job()] })), "experiences")[0];
    world.done("update_experiences", json!({ "items": [{ "id": id, "end_year": null }] }));
    let fields = snapshot(&world.store, ANN).unwrap()["experiences"][0].1.clone();
    assert_eq!(Value::Object(fields), json!({ "title": "Engineer", "company": "Acme", "start_year": 2019 }));
}

#[test]
fn d_unknown_tools_and_broken_arguments_are_typed_failures() {
    let mut world = World::new();
    assert_eq!(failure(world.run("drop_everything", json!({}))).0, Failure::UnknownTool);
    let broken = Arguments::Broken { raw: "{".into(), why: BrokenArguments::NotJson };
    let call = Call { id: "c".into(), name: "create_skills".into(), arguments: broken };
    let outcome = now(CvTools::new(world.store.clone(), ANN, TALK).run(world.key(), &call));
    assert_eq!(failure(outcome).0, Failure::BrokenArguments);
}

#[test]
fn d_the_profile_is_one_row_a_user_and_only_changes() {
    let mut world = World::new();
    let result = world.done("update_profile", json!({ "full_name": "Ann Example", "headline": "Baker" }));
    assert_eq!(world.verdict(world.key(), Act::Update, "profile", &ids(&result, "profile")), Verdict::Holds);
    assert_eq!(world.found(world.key()).unwrap().rows, [row(Act::Update, "profile", ANN)]);
    assert_eq!(snapshot(&world.store, ANN).unwrap()["profile"][0].1["headline"], json!("Baker"));
    assert!(snapshot(&world.store, BOB).unwrap()["profile"][0].1.is_empty());
}

#[test]
fn d_conflicts_name_the_row_and_are_no_schema_failures() {
    let mut world = World::new();
    world.skill("Rust");
    let (kind, reason, _) = failure(world.run("create_skills", json!({ "items": [{ "name": "Go" }, { "name": "Rust" }] })));
    assert_eq!(kind, Failure::Conflict);
    assert!(reason.contains("items[1].name"), "{reason}");
    let backwards = json!({ "items": [{ "title": "A", "company": "B", "start_year": 2020, "end_year": 2010 }] });
    let (kind, reason, _) = failure(world.run("create_experiences", backwards));
    assert_eq!((kind, reason.as_str()), (Failure::Conflict, "items[0]: end_year is before start_year"));
    assert!(matches!(
        world.run_as(BOB, CallKey { turn: 9, iteration: 1, index: 0 }, "create_skills", json!({ "items": [{ "name": "Rust" }] })),
        Outcome::Done { .. }
    ));
}

// --- I11: ownership

#[test]
fn i11_rows_of_others_are_neither_read_nor_changed_nor_deleted() {
    let mut world = World::new();
    let theirs = CallKey { turn: 9, iteration: 1, index: 0 };
    let Outcome::Done { result } = world.run_as(BOB, theirs, "create_skills", json!({ "items": [{ "name": "Secret" }] })) else { panic!() };
    let id = ids(&result, "skills")[0];
    let mine = world.skill("Mine");
    let before = snapshot(&world.store, BOB).unwrap();
    let (kind, reason, _) =
        failure(world.run("update_skills", json!({ "items": [{ "id": mine, "name": "New" }, { "id": id, "name": "Hacked" }] })));
    assert_eq!(kind, Failure::NotFound);
    assert!(reason.contains(&format!("#{id}")) && !reason.contains(&format!("#{mine}")), "{reason}");
    assert_eq!(failure(world.run("delete_skills", json!({ "ids": [id, 99] }))).1, format!("the user's skills have no row #{id}, #99"));
    assert_eq!(world.done("read_cv", json!({}))["skills"].as_array().unwrap().len(), 1);
    assert_eq!(snapshot(&world.store, BOB).unwrap(), before);
    assert_eq!(snapshot(&world.store, ANN).unwrap()["skills"], vec![(mine, least_named("Mine"))], "nothing was written");
}

fn least_named(name: &str) -> Map<String, Value> {
    Map::from_iter([("name".to_owned(), json!(name))])
}

// --- V: the verifier

#[test]
fn v1_v2_created_and_updated_rows_must_be_there_and_belong_to_the_user() {
    let mut world = World::new();
    let id = world.skill("Rust");
    let key = world.key();
    assert_eq!(world.verdict(key, Act::Create, "skills", &[id]), Verdict::Holds);
    for act in [Act::Create, Act::Update] {
        assert!(
            matches!(world.verdict(key, act, "skills", &[id, 99]), Verdict::Contradicted { error } if error.contains("#99") && !error.contains(&format!("#{id},")))
        );
    }
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &least_named("Go")).unwrap();
    assert!(matches!(world.verdict(key, Act::Update, "skills", &[theirs]), Verdict::Contradicted { .. }));
    assert!(matches!(world.verdict(key, Act::Create, "nonsense", &[id]), Verdict::Contradicted { .. }));
}

#[test]
fn v2_a_row_that_vanished_after_the_commit_is_contradicted() {
    let mut world = World::new();
    let id = world.skill("Rust");
    assert!(Editor::new(world.store.clone(), ANN).delete("skills", id).unwrap());
    assert!(matches!(world.verdict(world.key(), Act::Create, "skills", &[id]), Verdict::Contradicted { .. }));
    assert_eq!(world.found(world.key()).unwrap().rows, [row(Act::Create, "skills", id)], "the trail keeps what the call did");
}

#[test]
fn v5_no_ids_or_one_id_twice_is_not_all_found() {
    let mut world = World::new();
    let id = world.skill("Rust");
    for act in [Act::Create, Act::Update, Act::Delete] {
        assert!(matches!(world.verdict(world.key(), act, "skills", &[]), Verdict::Contradicted { .. }));
        assert!(matches!(world.verdict(world.key(), act, "skills", &[id, id]), Verdict::Contradicted { .. }));
    }
}

#[test]
fn v5_a_delete_counts_only_for_rows_that_this_call_deleted_from_this_user() {
    let mut world = World::new();
    let (first, second) = (world.skill("Rust"), world.skill("Go"));
    world.done("delete_skills", json!({ "ids": [first] }));
    let key = world.key();
    assert_eq!(world.verdict(key, Act::Delete, "skills", &[first]), Verdict::Holds);
    assert!(matches!(world.verdict(key, Act::Delete, "skills", &[99]), Verdict::Contradicted { .. }), "never existed");
    assert!(matches!(world.verdict(key, Act::Delete, "skills", &[second]), Verdict::Contradicted { .. }), "still there");
    Editor::new(world.store.clone(), ANN).delete("skills", second).unwrap();
    assert!(matches!(world.verdict(key, Act::Delete, "skills", &[second]), Verdict::Contradicted { .. }), "deleted by the person");
    let later = world.next();
    assert!(matches!(world.verdict(later, Act::Delete, "skills", &[first]), Verdict::Contradicted { .. }), "deleted by another call");
}

#[test]
fn v5_a_row_of_somebody_else_that_a_call_deleted_does_not_verify_for_this_user() {
    let world = World::new();
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &least_named("Go")).unwrap();
    let key = CallKey { turn: 1, iteration: 1, index: 1 };
    world.run_as(BOB, key, "delete_skills", json!({ "ids": [theirs] }));
    assert_eq!(world.found(key).unwrap().rows.len(), 1);
    assert!(matches!(world.verdict(key, Act::Delete, "skills", &[theirs]), Verdict::Contradicted { .. }));
}

#[test]
fn v6_a_verifier_that_gets_no_answer_says_so() {
    let mut world = World::new();
    let id = world.skill("Rust");
    world.sql(|db| db.execute_batch("ALTER TABLE skills RENAME TO lost"));
    assert!(matches!(world.verdict(world.key(), Act::Create, "skills", &[id]), Verdict::NoAnswer { .. }));
}

#[test]
fn v7_a_discard_is_verified_by_nothing_being_pending() {
    let mut world = World::new();
    world.pend("skills");
    assert!(matches!(world.verdict(world.key(), Act::Discard, "skills", &[]), Verdict::Contradicted { .. }));
    world.done("discard_pending_entry", json!({ "section": "skills" }));
    assert_eq!(world.verdict(world.key(), Act::Discard, "skills", &[]), Verdict::Holds);
    assert_eq!(world.found(world.key()).unwrap().rows, [row(Act::Discard, "skills", 0)]);
    assert_eq!(world.memory().pending().unwrap(), []);
    assert_eq!(failure(world.run("discard_pending_entry", json!({ "section": "skills" }))).0, Failure::NotFound);
}

#[test]
fn v8_an_update_to_the_values_that_were_there_leaves_no_row_in_the_trail() {
    let mut world = World::new();
    let (same, other) = (world.skill("Rust"), world.skill("Go"));
    let both = json!({ "items": [{ "id": same, "name": "Rust" }, { "id": other, "name": "Golang" }] });
    assert_eq!(world.done("update_skills", both)["count"], json!(2));
    assert_eq!(world.found(world.key()).unwrap().rows, [row(Act::Update, "skills", other)], "only the difference");
    world.done("update_skills", json!({ "items": [{ "id": same, "name": "Rust" }] }));
    assert_eq!(world.found(world.key()), None);
    assert_eq!(world.count("audit_call"), 3);
}

// --- L4, C4: transactions and the audit trail

#[test]
fn l4_a_batch_is_written_whole_or_not_at_all_and_other_calls_stand() {
    let mut world = World::new();
    let kept = world.skill("Rust");
    failure(world.run("create_skills", json!({ "items": [{ "name": "Go" }, { "name": "Rust" }] })));
    assert_eq!(snapshot(&world.store, ANN).unwrap()["skills"], vec![(kept, least_named("Rust"))]);
    assert_eq!(world.found(world.key()), None);
    assert_eq!((world.count("audit_call"), world.count("audit_change")), (1, 1));
    assert!(world.sql(|db| Ok(db.is_autocommit())));
}

#[test]
fn c4_a_write_that_cannot_be_audited_is_rolled_back() {
    let mut world = World::new();
    let id = world.skill("Rust");
    world.sql(|db| db.execute_batch("ALTER TABLE audit_change RENAME COLUMN user_id TO whose; DROP TABLE audit_change"));
    assert_eq!(failure(world.run("create_skills", json!({ "items": [{ "name": "Go" }] }))).0, Failure::Store);
    assert_eq!(failure(world.run("delete_skills", json!({ "ids": [id] }))).0, Failure::Store);
    assert_eq!((world.count("skills"), world.count("audit_call")), (1, 1));
}

#[test]
fn c4_the_trail_holds_what_was_asked_and_what_changed_with_old_and_new_values() {
    let mut world = World::new();
    let id = world.skill("Rust");
    world.done("update_skills", json!({ "items": [{ "id": id, "level": "expert" }] }));
    let (asked, old, new): (String, String, String) = world.sql(|db| {
        db.query_row(
            "SELECT arguments, old, new FROM audit_change x JOIN audit_call c ON c.id = x.call WHERE x.act = 'update'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
    });
    assert_eq!(asked, json!({ "items": [{ "id": id, "level": "expert" }] }).to_string());
    assert_eq!(old, r#"{"name":"Rust","level":null}"#);
    assert_eq!(new, r#"{"name":"Rust","level":"expert"}"#);
}

#[test]
fn c4_the_database_records_what_changes_under_a_call_whoever_writes_it() {
    let world = World::new();
    world.sql(|db| {
        db.execute_batch(
            "BEGIN; INSERT INTO audit_call (id, conversation, turn, iteration, idx, tool, act, section, arguments, result) \
             VALUES (1, 7, 1, 1, 0, 'liar', 'create', 'skills', '{}', '{}'); UPDATE audit_now SET call = 1, user = 1; \
             INSERT INTO links (user_id, label, url) VALUES (2, 'x', 'https://x'); UPDATE audit_now SET call = NULL; COMMIT",
        )
    });
    let rows: Vec<RowChange> = trail(&world.store, TALK).unwrap().into_iter().map(|row| row.change).collect();
    assert_eq!(rows, [row(Act::Create, "links", 1)]);
}

#[test]
fn c4_what_the_person_edits_is_not_the_agents_doing() {
    let mut world = World::new();
    let editor = Editor::new(world.store.clone(), ANN);
    let id = editor.create("skills", &least_named("Rust")).unwrap();
    assert!(editor.update("skills", id, &least_named("Go")).unwrap());
    assert!(editor.delete("skills", id).unwrap());
    assert!(!editor.delete("skills", id).unwrap());
    assert_eq!((world.count("audit_call"), world.count("audit_change")), (0, 0));
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &least_named("Rust")).unwrap();
    assert!(!editor.update("skills", theirs, &least_named("Go")).unwrap());
    assert!(editor.create("skills", &Map::from_iter([("name) --".to_owned(), json!(1))])).is_err());
    assert!(editor.delete("users", 1).is_err());
    assert!(world.skill("Rust") > id, "ids are never given twice");
}

#[test]
fn c4_a_commit_that_is_refused_leaves_nothing_and_says_so() {
    let mut world = World::new();
    world.store.with_mut(|db| db.commit_hook(Some(|| true))).unwrap();
    let (kind, reason, _) = failure(world.run("create_skills", json!({ "items": [{ "name": "Rust" }] })));
    assert_eq!(kind, Failure::Store);
    assert!(reason.contains("rolled back"), "{reason}");
    world.store.with_mut(|db| db.commit_hook(None::<fn() -> bool>)).unwrap();
    assert_eq!((world.count("skills"), world.count("audit_call")), (0, 0));
    world.skill("Rust");
}

#[test]
fn the_same_key_gives_the_recorded_result_and_writes_nothing_again() {
    let mut world = World::new();
    let arguments = json!({ "items": [job()] });
    let first = world.done("create_experiences", arguments.clone());
    let Outcome::Done { result } = world.run_as(ANN, world.key(), "create_experiences", arguments.clone()) else { panic!() };
    assert_eq!(result, first);
    assert_eq!((world.count("experiences"), world.count("audit_change")), (1, 1));
    world.done("create_experiences", arguments);
    assert_eq!(world.count("experiences"), 2, "the payload is no key");
}

// --- The ledger

#[test]
fn c4_the_ledger_tells_a_turn_in_order_with_fates_and_without_those_not_yet_added() {
    let mut world = World::new();
    let id = world.skill("Rust");
    let first = world.found(world.key()).unwrap();
    let failed = Committed { key: world.next(), tool: "delete_links".into(), act: Act::Delete, section: "links".into(), rows: vec![] };
    world.skill("Go");
    let fate = Fate::Failed { reason: "no such row".into() };
    now(world.ledger().settle(&failed, &fate)).unwrap();
    now(world.ledger().settle(&first, &Fate::Unknown { reason: "?".into() })).unwrap();
    now(world.ledger().settle(&first, &Fate::Applied)).unwrap();
    let turn = now(world.ledger().turn(1)).unwrap();
    let fates: Vec<Option<Fate>> = turn.iter().map(|audited| audited.fate.clone()).collect();
    assert_eq!(fates, [Some(Fate::Applied), Some(fate), None]);
    assert_eq!(turn[0].committed.rows, [row(Act::Create, "skills", id)]);
    assert_eq!(turn[1].committed, failed);
    assert_eq!(now(world.ledger().turn(2)).unwrap(), []);
    assert_eq!(now(CvLedger::new(world.store.clone(), 8).turn(1)).unwrap(), [], "another conversation");
}

#[test]
fn u1_earlier_turns_are_summed_up_from_applied_changes_alone() {
    let mut world = World::new();
    for (name, fate) in [("A", Fate::Applied), ("B", Fate::Applied), ("C", Fate::Failed { reason: "gone".into() })] {
        world.skill(name);
        let committed = world.found(world.key()).unwrap();
        now(world.ledger().settle(&committed, &fate)).unwrap();
    }
    world.skill("never settled");
    world.turn = 2;
    world.skill("this turn");
    let tally = |count| Tally { act: Act::Create, section: "skills".into(), count };
    assert_eq!(now(world.ledger().before(2)).unwrap(), [tally(2)]);
    assert_eq!(now(world.ledger().before(1)).unwrap(), []);
}

// --- Memory

#[test]
fn p5_c5_a_conversation_comes_back_as_it_was_stored() {
    let world = World::new();
    let user = Message::User { report: Some("none".into()), words: "hello ‹é〉".into() };
    let answer = Message::Assistant { blocks: vec![Block::text("hi")] };
    let mut memory = world.memory();
    now(memory.append(1, std::slice::from_ref(&user))).unwrap();
    now(memory.append(1, std::slice::from_ref(&answer))).unwrap();
    now(memory.save_pending(&[entry(1, "skills"), entry(2, "links")])).unwrap();
    now(memory.save_pending(&[entry(2, "links")])).unwrap();
    let back = world.memory().load("be brief").unwrap();
    assert_eq!((back.turn, back.pending_made, back.system.as_str()), (1, 2, "be brief"));
    assert_eq!(back.messages, [user, answer]);
    assert_eq!(back.pending.entries().cloned().collect::<Vec<_>>(), [entry(2, "links")]);
    now(memory.save_pending(&[])).unwrap();
    assert_eq!(world.memory().load("").unwrap().pending_made, 2, "an entry's number is never given twice");
    assert!(CvMemory::new(world.store.clone(), 8).load("").unwrap().messages.is_empty());
}

#[test]
fn l10_a_turn_that_left_only_a_commit_has_begun_all_the_same() {
    let mut world = World::new();
    world.turn = 3;
    world.skill("Rust");
    assert_eq!(world.memory().load("").unwrap().turn, 3);
}

#[test]
fn u2_closed_turns_are_recorded() {
    let world = World::new();
    let record = TurnRecord {
        turn: 1,
        stop: Stop::Replied,
        status: Status::Unchanged,
        reply: "hi".into(),
        lines: vec![],
        receipt: Receipt::default(),
        corrections: 0,
        iterations: 1,
        model_calls: 1,
        judge_calls: 0,
        tokens_in: 1,
        tokens_out: 1,
    };
    now(world.memory().close(&record)).unwrap();
    assert_eq!(world.memory().record(1).unwrap().as_ref(), Some(&record));
    assert_eq!(world.memory().records().unwrap(), [record]);
}

// --- The store

#[test]
fn no_chance_no_clock_and_no_second_database_comes_out_of_sqlite() {
    let world = World::new();
    let refused = [
        "SELECT random()",
        "SELECT hex(randomblob(8))",
        "SELECT date('now')",
        "SELECT datetime()",
        "SELECT strftime('%s', 'now')",
        "SELECT unixepoch()",
        "SELECT julianday('now')",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT CURRENT_DATE",
        "SELECT current_time",
        "SELECT * FROM skills ORDER BY RANDOM()",
        "INSERT INTO users VALUES (9, CURRENT_TIMESTAMP)",
        "ATTACH ':memory:' AS other",
        "DETACH main",
    ];
    for sql in refused {
        let error = world.store.with(|db| db.prepare(sql).map(|_| ()).expect_err(sql));
        assert!(error.to_string().contains("not authorized"), "{sql}: {error}");
    }
}

#[test]
fn a_reset_gives_a_world_like_the_first_ids_included() {
    let mut world = World::new();
    let story = |world: &mut World| {
        world.turn = 1;
        world.index = 0;
        world.pend("links");
        let id = world.skill("Rust");
        world.done("create_experiences", json!({ "items": [job(), job()] }));
        world.done("delete_skills", json!({ "ids": [id] }));
        world.done("discard_pending_entry", json!({ "section": "links" }));
        (snapshot(&world.store, ANN).unwrap(), trail(&world.store, TALK).unwrap(), world.sql(dump))
    };
    let first = story(&mut world);
    world.store.reset().unwrap();
    let empty = Store::in_memory().unwrap();
    assert_eq!(world.sql(dump), empty.with(dump).unwrap());
    world.people();
    assert_eq!(story(&mut world), first);
    let check: String = world.sql(|db| db.query_row("PRAGMA integrity_check", [], |row| row.get(0)));
    assert_eq!(check, "ok");
}

/// Every row of every table, SQLite's own counters included.
fn dump(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for name in names {
        let mut rows = db.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2"))?;
        let width = rows.column_count();
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let cells: Vec<String> = (0..width).map(|at| format!("{:?}", row.get_ref(at))).collect();
            lines.push(format!("{name}: {}", cells.join(" ")));
        }
    }
    Ok(lines)
}

#[test]
fn many_resets_leave_the_database_no_larger_than_one() {
    let mut world = World::new();
    let mut sizes = Vec::new();
    for _ in 0..50 {
        world.store.reset().unwrap();
        world.people();
        for name in ["A", "B", "C"] {
            world.skill(name);
        }
        sizes.push(world.sql(|db| db.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))));
    }
    assert_eq!(sizes[1], sizes[49]);
    assert_eq!(world.sql(|db| db.query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0))), 1024);
}

#[test]
fn a_file_keeps_what_was_written_and_two_connections_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cv.db");
    let mut world = World { store: Store::open(&path).unwrap(), turn: 1, index: 0 };
    world.people();
    let id = world.skill("Rust");
    let again = Store::open(&path).unwrap();
    assert_eq!(snapshot(&again, ANN).unwrap()["skills"], vec![(id, least_named("Rust"))]);
}

#[test]
fn a_file_that_is_locked_for_too_long_is_a_failure_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cv.db");
    let mut world = World { store: Store::open(&path).unwrap(), turn: 1, index: 0 };
    world.people();
    let other = Store::open(&path).unwrap();
    world.sql(|db| db.busy_timeout(std::time::Duration::from_millis(1)));
    other.with(|db| db.execute_batch("BEGIN EXCLUSIVE")).unwrap();
    assert_eq!(failure(world.run("create_skills", json!({ "items": [{ "name": "Rust" }] }))).0, Failure::Store);
    other.with(|db| db.execute_batch("ROLLBACK")).unwrap();
    world.skill("Rust");
}

#[test]
fn files_that_are_not_ours_or_newer_or_damaged_are_refused_with_their_name_and_the_mend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cv.db");
    let refusal = |needle: &str| {
        let error = Store::open(&path).expect_err(needle);
        let text = error.to_string();
        assert!(text.contains("cv.db") && text.contains(needle), "{text}");
        error
    };
    std::fs::write(&path, "Dear diary, this is no database at all, and it is longer than a hundred bytes. ".repeat(3)).unwrap();
    assert!(matches!(refusal("name another file"), OpenError::Foreign { .. }));
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    assert!(matches!(refusal("name another file"), OpenError::Foreign { .. }));
    std::fs::remove_file(&path).unwrap();
    drop(Store::open(&path).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    assert!(matches!(refusal("use a newer"), OpenError::Version { found: 9, .. }));
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'skills'";
    let page: u32 = Connection::open(&path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let start = 1024 * (page as usize - 1);
    for damaged in [start..start + 1024, 1024..whole.len()] {
        let mut bytes = whole.clone();
        bytes[damaged].fill(0xAA);
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(refusal("move it away"), OpenError::Damaged { .. }));
    }
    assert!(matches!(Store::open(&folder.path().join("no/such/cv.db")), Err(OpenError::Sqlite { .. })));
}
