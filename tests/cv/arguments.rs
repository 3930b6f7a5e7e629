//! D: sections, tools and what they take.

use proptest::prelude::*;

use super::*;

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

/// Rubbish in a place that counts.
fn scrap() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("")),
        Just(json!([])),
        Just(json!(1e300)),
        "\\PC{0,12}".prop_map(|text| json!(text)),
        (-2_i64..6).prop_map(|number| json!(number)),
    ]
}

/// A row as a model may hand it over: mostly right, with some fields left out and some rubbish.
fn any_item(section: &'static str, with_id: bool) -> impl Strategy<Value = Value> {
    let right = least(section);
    let mut names: Vec<String> = right.keys().cloned().collect();
    names.push("id".into());
    let places = names.len();
    let damage = prop::option::weighted(0.2, (0..places, prop::option::of(scrap())));
    (1_i64..5, damage, prop::sample::select(vec!["Rust", "Go", "https://example.org/b"])).prop_map(move |(id, damage, text)| {
        let mut item = right.clone();
        item.extend(right.iter().filter(|(_, value)| *value == "something").map(|(name, _)| (name.clone(), json!(text))));
        if with_id {
            item.insert("id".into(), json!(id));
        }
        match damage {
            Some((place, Some(scrap))) => item.insert(names[place].clone(), scrap),
            Some((place, None)) => item.remove(&names[place]),
            None => None,
        };
        Value::Object(item)
    })
}

/// A call: a tool, and arguments that are mostly shaped like its own.
fn any_call() -> impl Strategy<Value = (String, Value)> {
    prop::sample::select(vec!["skills", "experiences", "links"]).prop_flat_map(|section| {
        let of = move |act: &'static str, arguments: BoxedStrategy<Value>| {
            arguments.prop_map(move |arguments| (format!("{act}_{section}"), arguments)).boxed()
        };
        let items = |with_id| prop::collection::vec(any_item(section, with_id), 0..3).prop_map(|items| json!({ "items": items })).boxed();
        let ids = prop::collection::vec(1_i64..5, 0..3).prop_map(|ids| json!({ "ids": ids })).boxed();
        let other = (prop::sample::select(catalogue()), prop::sample::select(vec!["items", "ids", "section", "full_name"]), scrap());
        let other = other.prop_map(|(tool, key, scrap)| (tool.name.clone(), json!({ key: scrap }))).boxed();
        prop_oneof![4 => of("create", items(false)), 2 => of("update", items(true)), 2 => of("delete", ids), 1 => other]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_call_brings_the_trail_and_the_database_agree(
        calls in prop::collection::vec(any_call(), 1..24)
    ) {
        let mut world = World::new();
        for (tool, arguments) in calls {
            let before = [snapshot(&world.store, ANN).unwrap(), snapshot(&world.store, BOB).unwrap()];
            let outcome = world.run(&tool, arguments);
            let after = [snapshot(&world.store, ANN).unwrap(), snapshot(&world.store, BOB).unwrap()];
            let audited = world.found(world.key());
            prop_assert_eq!(before != after, audited.is_some(), "{:?}", outcome);
            prop_assert_eq!(&before[1], &after[1]);
            prop_assert!(audited.is_none_or(|audited| !audited.rows.is_empty()) && world.sql(|db| Ok(db.is_autocommit())));
            if let Outcome::Failed { failure, missing, reason } = outcome {
                prop_assert_eq!(failure == Failure::MissingInput, !missing.is_empty());
                prop_assert!(failure != Failure::Store && !reason.is_empty());
            }
        }
    }
}
