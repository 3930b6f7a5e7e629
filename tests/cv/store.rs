//! P5, C5 and the file: what outlives a turn, and how a database is opened, refused and emptied.

use unbacked::disk::{Disk, Survived};

use super::*;

#[test]
fn p5_c5_a_conversation_comes_back_as_it_was_stored() {
    let world = World::new();
    let user = Message::User { report: Some("none".into()), words: "hello ‹é〉".into() };
    let answer = Message::Assistant { blocks: vec![Block::text("hi")], at: CallKey { turn: 1, iteration: 1, index: 0 } };
    let mut memory = world.memory();
    now(memory.append(Place { turn: 1, seq: 0 }, &user)).unwrap();
    now(memory.append(Place { turn: 1, seq: 1 }, &user)).unwrap();
    now(memory.append(Place { turn: 1, seq: 1 }, &answer)).unwrap();
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
fn c4_a_call_whose_fate_is_on_record_can_commit_no_more() {
    let mut world = World::new();
    let key = world.next();
    let committed = Committed { key, tool: "create_skills".into(), act: Act::Create, section: "skills".into(), rows: vec![] };
    now(world.ledger().settle(&committed, &Fate::Failed { reason: "no answer".into() })).unwrap();
    let late = world.run_as(ANN, key, "create_skills", json!({ "items": [{ "name": "Rust" }] }));
    assert_eq!(failure(late).0, Failure::NotRun);
    assert_eq!((world.count("skills"), world.found(key)), (0, None));
    world.skill("Rust");
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
fn a_rewound_disk_gives_a_world_like_the_first_ids_included() {
    let (disk, mut world) = on_a_disk();
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
    assert!(disk.rewind());
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
fn l10_a_store_that_is_reopened_is_another_connection_for_all_that_hold_it() {
    let (disk, mut world) = on_a_disk();
    let held = world.store.clone();
    world.skill("Rust");
    disk.crash(usize::MAX, &mut |_| Survived::Nothing);
    assert!(snapshot(&held, ANN).is_err(), "the dead process reads no more");
    world.store.reopen_on(&disk).unwrap();
    assert_eq!(snapshot(&held, ANN).unwrap()["skills"].len(), 1);
    assert!(held.with(|db| db.prepare("SELECT random()").is_err()), "the new connection refuses chance too");
}

/// A world whose store is on a disk, marked while it is empty.
fn on_a_disk() -> (Disk, World) {
    let (disk, mut world) = (Disk::default(), World::new());
    world.store = Store::open_on(&disk).unwrap();
    disk.mark();
    world.people();
    (disk, world)
}

#[test]
fn many_rewound_worlds_leave_the_database_no_larger_than_one() {
    let (disk, mut world) = on_a_disk();
    let mut sizes = Vec::new();
    for _ in 0..50 {
        assert!(disk.rewind());
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
    assert_eq!(snapshot(&again, ANN).unwrap()["skills"], vec![(id, named("Rust"))]);
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
