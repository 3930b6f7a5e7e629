//! The process dies after every single operation of a transaction, with every fate of what was not synced.

use proptest::prelude::*;
use rusqlite::Connection;
use unbacked::disk::{Disk, Survived};

use super::same::statement;
use super::{SETUP, connect, is_whole, rows};

const ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)";

/// A disk with twelve rows, and the connection to it.
fn filled() -> (Disk, Connection) {
    let disk = Disk::default();
    let connection = connect(&disk);
    connection.execute_batch(&format!("{SETUP} {ROWS} INSERT INTO t SELECT i, printf('%0300d', i) FROM n;")).unwrap();
    (disk, connection)
}

/// Deletes, changes and adds rows, over many pages and more than fit the cache.
fn transaction() -> String {
    format!(
        "BEGIN; DELETE FROM t WHERE id < 4; UPDATE t SET body = body || 'changed'; \
         {ROWS} INSERT INTO t SELECT i + 20, printf('%0400d', i) FROM n; COMMIT;"
    )
}

/// Ways for writes to be lost: all, none, torn at a place, and mixed.
fn survived(way: usize, write: usize, length: usize) -> Survived {
    match way {
        0 => Survived::Whole,
        1 => Survived::Nothing,
        2 => Survived::Torn(length / 2),
        3 => Survived::Torn(1),
        _ => [Survived::Nothing, Survived::Whole, Survived::Torn(length.saturating_sub(1))][(write * 7 + way) % 3],
    }
}

#[test]
fn l10_a_crash_after_any_operation_leaves_all_of_a_transaction_or_nothing() {
    let (disk, connection) = filled();
    let before = rows(&connection);
    connection.execute_batch(&transaction()).unwrap();
    let after = rows(&connection);
    let operations = disk.operations();
    assert!(operations > 40, "the transaction is a long one: {operations}");
    for kept in 0..=operations {
        for way in 0..6 {
            let copy = disk.copy();
            let mut write = 0;
            copy.crash(kept, &mut |length| {
                write += 1;
                survived(way, write, length)
            });
            let reopened = connect(&copy);
            assert!(is_whole(&reopened), "damaged after operation {kept}, way {way}");
            // The journal's end is the commit, and it is the last operation.
            assert_eq!(rows(&reopened), if kept == operations { &after[..] } else { &before[..] }, "operation {kept}, way {way}");
        }
    }
}

#[test]
fn a_crash_in_an_open_transaction_takes_it_back_and_leaves_the_one_before() {
    let (disk, connection) = filled();
    let before = rows(&connection);
    connection.execute_batch(transaction().trim_end_matches("COMMIT;")).unwrap();
    disk.crash(usize::MAX, &mut |_| Survived::Whole);
    let reopened = connect(&disk);
    assert_eq!(rows(&reopened), before);
    assert!(is_whole(&reopened));
    assert!(connection.execute_batch("COMMIT").is_err(), "the dead process writes no more");
    drop(connection);
    assert_eq!(rows(&reopened), before);
}

#[test]
fn what_has_settled_is_not_taken_back() {
    let (disk, connection) = filled();
    connection.execute_batch("INSERT INTO t VALUES (99, 'kept')").unwrap();
    let reverted = disk.copy();
    reverted.crash(0, &mut |_| Survived::Nothing);
    assert_eq!(rows(&connect(&reverted)).len(), 12, "a disk that lied about its syncs has lost the last commit");
    disk.settle();
    disk.crash(0, &mut |_| Survived::Nothing);
    assert_eq!(rows(&connect(&disk)).len(), 13);
}

/// Runs statements as one transaction and commits it, whatever becomes of each. The rows after it.
fn commit(connection: &Connection, statements: &[String]) -> Vec<(i64, String)> {
    let sql = |sql: &str| drop(connection.execute_batch(sql));
    sql("BEGIN");
    statements
        .iter()
        .filter(|statement| !["BEGIN", "COMMIT", "ROLLBACK"].contains(&statement.as_str()))
        .for_each(|statement| sql(statement));
    sql("COMMIT");
    rows(connection)
}

/// What became of a write, from any byte.
fn fate(byte: u8, length: usize) -> Survived {
    match byte {
        0..=79 => Survived::Nothing,
        80..=159 => Survived::Whole,
        _ => Survived::Torn(length * usize::from(byte - 159) / 97),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l10_whatever_was_committed_before_a_crash_is_there_and_what_was_not_is_all_there_or_not_at_all(
        transactions in proptest::collection::vec(proptest::collection::vec(statement(), 1..6), 1..5),
        at in any::<prop::sample::Index>(),
        fates in proptest::collection::vec(any::<u8>(), 16),
    ) {
        let disk = Disk::default();
        let connection = connect(&disk);
        connection.execute_batch(SETUP).unwrap();
        disk.settle();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for transaction in &transactions {
            let count = disk.transactions();
            let now = commit(&connection, transaction);
            // One that wrote nothing is no transaction to the disk, and can't be taken back.
            if disk.transactions() > count {
                before = std::mem::replace(&mut after, now);
            }
        }
        let (operations, over) = (disk.operations(), disk.over_after().unwrap_or(0));
        let kept = at.index(operations + 1);
        let mut writes = fates.iter().cycle();
        disk.crash(kept, &mut |length| fate(*writes.next().unwrap_or(&0), length));
        prop_assert!(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).is_err(), "the dead process reads no more");
        drop(connection);
        let reopened = connect(&disk);
        prop_assert!(is_whole(&reopened));
        prop_assert_eq!(rows(&reopened), if kept >= over { after } else { before }, "operation {} of {}", kept, operations);
    }
}
