//! The tap: what SQLite says changed, whatever the audit trail says.

use rusqlite::Connection;
use unbacked::oracle::changes::{DbChange, Settled, Survival, Tap, Watched};
use unbacked::turn::draft::Act;

const WATCHED: [Watched; 2] = [Watched { table: "skills" }, Watched { table: "links" }];

fn tapped() -> (Connection, Tap) {
    let mut connection = Connection::open_in_memory().expect("SQLite opens in memory");
    let schema = "CREATE TABLE skills (id INTEGER PRIMARY KEY, user_id INTEGER, name TEXT UNIQUE);
         CREATE TABLE links (id INTEGER PRIMARY KEY, user_id INTEGER, url TEXT);
         CREATE TABLE elsewhere (id INTEGER PRIMARY KEY);
         CREATE TABLE trail (id INTEGER PRIMARY KEY, what TEXT);
         INSERT INTO skills VALUES (1, 1, 'rust'), (2, 2, 'sql');";
    connection.execute_batch(schema).expect("the schema stands");
    let tap = Tap::install(&mut connection, &WATCHED, "trail").expect("the tap listens");
    (connection, tap)
}

/// What the tap makes of some SQL: changes as `create skills 3 of 1`, and whether all were audited in their own transaction.
fn seen(sql: &str) -> (Vec<String>, bool) {
    let (connection, mut tap) = tapped();
    connection.execute_batch(sql).expect("the statements run");
    let Settled { changes, audited_in_same_transaction } = tap.settle(&connection).expect("the rows can be read");
    assert!(tap.agrees(&connection).expect("the rows can be read"), "the shadow is what the database holds");
    let told = |change: &DbChange| {
        let to = change.given_to.map(|to| format!(" to {to}")).unwrap_or_default();
        format!("{} {} {} of {}{to}", change.act.word(), change.section, change.id, change.owner)
    };
    (changes.iter().map(told).collect(), audited_in_same_transaction)
}

fn changes(sql: &str) -> Vec<String> {
    seen(sql).0
}

#[test]
fn created_updated_and_deleted_rows_are_told_apart_with_their_owner() {
    assert_eq!(changes("INSERT INTO skills VALUES (3, 1, 'go')"), ["create skills 3 of 1"]);
    assert_eq!(changes("UPDATE skills SET name = 'c' WHERE id = 2"), ["update skills 2 of 2"]);
    assert_eq!(changes("DELETE FROM skills WHERE id = 1"), ["delete skills 1 of 1"]);
    assert_eq!(changes("INSERT INTO elsewhere VALUES (1)"), [""; 0]);
}

#[test]
fn i11_a_row_that_changes_hands_is_told_with_both_owners() {
    assert_eq!(changes("UPDATE skills SET user_id = 2 WHERE id = 1"), ["update skills 1 of 1 to 2"]);
    assert_eq!(changes("UPDATE skills SET user_id = 1 WHERE id = 2"), ["update skills 2 of 2 to 1"]);
}

#[test]
fn v8_a_touch_that_changes_no_value_is_no_change() {
    assert_eq!(changes("UPDATE skills SET name = 'rust' WHERE id = 1"), [""; 0]);
    assert_eq!(changes("INSERT OR IGNORE INTO skills VALUES (3, 1, 'rust')"), [""; 0]);
}

#[test]
fn a_row_that_came_and_went_in_one_transaction_is_no_change() {
    assert_eq!(changes("BEGIN; INSERT INTO skills VALUES (3, 1, 'go'); DELETE FROM skills WHERE id = 3; COMMIT"), [""; 0]);
    assert_eq!(changes("BEGIN; DELETE FROM skills WHERE id = 1; INSERT INTO skills VALUES (1, 1, 'rust'); COMMIT"), [""; 0]);
}

#[test]
fn l4_what_was_rolled_back_is_no_change_and_does_not_leak_into_the_next_transaction() {
    assert_eq!(changes("BEGIN; INSERT INTO skills VALUES (3, 1, 'go'); ROLLBACK"), [""; 0]);
    let after = "BEGIN; INSERT INTO trail (what) VALUES ('lost'); ROLLBACK; BEGIN; INSERT INTO skills VALUES (3, 1, 'go'); COMMIT";
    assert_eq!(seen(after), (vec!["create skills 3 of 1".to_owned()], false));
    let savepoint =
        "BEGIN; SAVEPOINT s; INSERT INTO skills VALUES (3, 1, 'go'); ROLLBACK TO s; INSERT INTO links VALUES (1, 1, 'x'); COMMIT";
    assert_eq!(changes(savepoint), ["create links 1 of 1"]);
}

#[test]
fn statements_without_a_transaction_are_each_one_of_their_own() {
    let sql = "INSERT INTO skills VALUES (3, 1, 'go'); INSERT INTO links VALUES (1, 1, 'x'); UPDATE links SET url = 'y' WHERE id = 1";
    assert_eq!(changes(sql), ["create skills 3 of 1", "create links 1 of 1"]);
}

#[test]
fn i8_a_change_is_audited_only_by_as_many_rows_in_its_own_transaction() {
    let row = "INSERT INTO skills VALUES (3, 1, 'go')";
    let trail = "INSERT INTO trail (what) VALUES ('go')";
    for (sql, audited) in [
        (format!("BEGIN; {row}; {trail}; COMMIT"), true),
        (format!("BEGIN; {trail}; {row}; COMMIT"), true),
        (format!("{row}; {trail}"), false),
        (row.to_owned(), false),
        (format!("BEGIN; {row}; {trail}; {trail}; COMMIT"), false),
        (format!("BEGIN; {row}; INSERT INTO links VALUES (1, 1, 'x'); {trail}; COMMIT"), false),
    ] {
        assert_eq!(seen(&sql).1, audited, "{sql}");
    }
}

#[test]
fn what_was_settled_is_not_told_again_and_a_reset_forgets() {
    let (connection, mut tap) = tapped();
    let row = |id: u32| connection.execute("INSERT INTO skills VALUES (?1, 1, ?2)", (id, format!("s{id}"))).expect("it runs");
    row(3);
    assert_eq!(tap.settle(&connection).expect("it reads").changes.len(), 1);
    assert_eq!(tap.settle(&connection).expect("it reads").changes, []);
    row(4);
    tap.reset(&connection).expect("it reads");
    assert_eq!(tap.settle(&connection).expect("it reads").changes, []);
    assert!(tap.agrees(&connection).expect("it reads"));
}

#[test]
fn a_change_that_no_hook_tells_of_shows_in_the_full_scan() {
    let (connection, mut tap) = tapped();
    connection.execute_batch("REPLACE INTO skills VALUES (3, 1, 'rust')").expect("it runs");
    let told = tap.settle(&connection).expect("it reads").changes;
    assert_eq!(told.iter().map(|change| (change.act, change.id)).collect::<Vec<_>>(), [(Act::Create, 3)]);
    assert!(!tap.agrees(&connection).expect("it reads"), "SQLite tells no hook that row 1 was replaced");
    tap.reset(&connection).expect("it reads");
    connection.execute_batch("DELETE FROM skills").expect("it runs");
    tap.settle(&connection).expect("it reads");
    assert!(!tap.agrees(&connection).expect("it reads"), "the truncate optimisation tells no hook either");
}

/// A tap that saw `first` and then `last`, and the process dies: what it finds on a connection where `there` was done.
fn revived(first: &str, last: &str, there: &str) -> Survival {
    let (connection, mut tap) = tapped();
    for sql in [first, last] {
        connection.execute_batch(sql).expect("the statements run");
        tap.settle(&connection).expect("the rows can be read");
    }
    let (mut kept, _) = tapped();
    kept.execute_batch(there).expect("the statements run");
    let survival = tap.revive(&mut kept).expect("the rows can be read");
    assert!(tap.agrees(&kept).expect("the rows can be read"), "the shadow is what the database holds");
    kept.execute_batch("INSERT INTO links VALUES (70, 1, 'new')").expect("the statements run");
    assert_eq!(tap.settle(&kept).expect("the rows can be read").changes.len(), 1, "it listens to the new connection");
    survival
}

#[test]
fn l10_after_a_crash_the_last_transaction_is_all_there_or_not_at_all() {
    let (first, last) =
        ("INSERT INTO links VALUES (5, 1, 'a')", "BEGIN; DELETE FROM skills WHERE id = 1; UPDATE links SET url = 'b'; COMMIT");
    assert_eq!(revived(first, last, &format!("{first}; {last}")), Survival::Kept);
    let Survival::TakenBack(changes) = revived(first, last, first) else { panic!("all of it is gone") };
    assert_eq!(changes.iter().map(|change| (change.act, change.id)).collect::<Vec<_>>(), [(Act::Update, 5), (Act::Delete, 1)]);
    assert_eq!(revived(first, last, &format!("{first}; UPDATE links SET url = 'b'")), Survival::Torn, "half of it");
    assert_eq!(revived(first, last, ""), Survival::Torn, "the one before is lost too");
    assert_eq!(revived(first, last, last), Survival::Torn, "the one before is lost, and the last is there");
}
