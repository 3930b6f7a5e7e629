//! L4, C4: transactions, and the audit trail that the database writes itself.

use super::*;

#[test]
fn l4_a_batch_is_written_whole_or_not_at_all_and_other_calls_stand() {
    let mut world = World::new();
    let kept = world.skill("Rust");
    failure(world.run("create_skills", json!({ "items": [{ "name": "Go" }, { "name": "Rust" }] })));
    assert_eq!(snapshot(&world.store, ANN).unwrap()["skills"], vec![(kept, named("Rust"))]);
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
    let id = editor.create("skills", &named("Rust")).unwrap();
    assert!(editor.update("skills", id, &named("Go")).unwrap());
    assert!(editor.delete("skills", id).unwrap());
    assert!(!editor.delete("skills", id).unwrap());
    assert_eq!((world.count("audit_call"), world.count("audit_change")), (0, 0));
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &named("Rust")).unwrap();
    assert!(!editor.update("skills", theirs, &named("Go")).unwrap());
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
