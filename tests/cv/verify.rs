//! V, I11: what the verifier finds, and whose rows are whose.

use super::*;

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
    assert_eq!(snapshot(&world.store, ANN).unwrap()["skills"], vec![(mine, named("Mine"))], "nothing was written");
}

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
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &named("Go")).unwrap();
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
    let theirs = Editor::new(world.store.clone(), BOB).create("skills", &named("Go")).unwrap();
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
