//! SQL on the disk against the same SQL on SQLite's own memory database, and a rewound disk against one that was never written.

use proptest::prelude::*;
use rusqlite::Connection;
use unbacked::disk::{Disk, Survived};

use super::{SETUP, connect, is_whole, rows};

pub fn statement() -> impl Strategy<Value = String> {
    let id = 0..40_i64;
    prop_oneof![
        6 => (id.clone(), 0..900_usize).prop_map(|(id, n)| format!("INSERT INTO t VALUES ({id}, '{}{n}')", "x".repeat(n))),
        4 => (id.clone(), 0..900_usize).prop_map(|(id, n)| format!("UPDATE t SET body = '{}{id}' WHERE id = {id}", "y".repeat(n))),
        3 => (id.clone(), 1..9_i64).prop_map(|(id, n)| format!("DELETE FROM t WHERE id BETWEEN {id} AND {}", id + n)),
        2 => id.prop_map(|id| format!("INSERT OR REPLACE INTO t SELECT id + {id}, substr(body || '+', -900) FROM t WHERE id < 60")),
        1 => Just("DELETE FROM t".to_owned()),
        3 => prop_oneof![Just("BEGIN"), Just("COMMIT"), Just("ROLLBACK")].prop_map(str::to_owned),
        3 => prop_oneof![Just("SAVEPOINT s"), Just("RELEASE s"), Just("ROLLBACK TO s")].prop_map(str::to_owned),
        1 => prop_oneof![Just("VACUUM"), Just("CREATE INDEX i ON t (body, id)"), Just("DROP INDEX i")].prop_map(str::to_owned),
    ]
}

/// What came of each statement, and the rows after it.
fn told(connection: &Connection, statements: &[String]) -> Vec<(String, Vec<(i64, String)>)> {
    statements.iter().map(|sql| (format!("{:?}", connection.execute_batch(sql)), rows(connection))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sql_on_the_disk_is_sql_in_sqlites_own_memory(statements in proptest::collection::vec(statement(), 1..40)) {
        let disk = Disk::default();
        let (here, there) = (connect(&disk), Connection::open_in_memory().unwrap());
        here.execute_batch(SETUP).unwrap();
        there.execute_batch(SETUP).unwrap();
        prop_assert_eq!(told(&here, &statements), told(&there, &statements));
        prop_assert!(is_whole(&here));
        let _ = here.execute_batch("ROLLBACK");
        let kept = rows(&here);
        drop(here);
        prop_assert_eq!(rows(&connect(&disk)), kept, "a second connection finds what the first left");
    }

    #[test]
    fn a_rewound_disk_is_the_marked_one_to_the_connection_that_wrote_it(
        before in proptest::collection::vec(statement(), 0..12),
        runs in proptest::collection::vec(proptest::collection::vec(statement(), 1..12), 1..4),
        after in proptest::collection::vec(statement(), 1..12),
    ) {
        let disk = Disk::default();
        let used = connect(&disk);
        used.execute_batch(SETUP).unwrap();
        told(&used, &before);
        let _ = used.execute_batch("ROLLBACK");
        disk.mark();
        let fresh = disk.copy();
        let marked = rows(&used);
        let reader = connect(&disk);
        for run in runs {
            told(&used, &run);
            let _ = used.execute_batch("ROLLBACK");
            prop_assert_eq!(rows(&reader), rows(&used), "what the run before left in the reader's cache is forgotten");
            prop_assert!(disk.rewind());
            prop_assert_eq!(&rows(&used), &marked);
            prop_assert!(is_whole(&used));
        }
        prop_assert_eq!(told(&used, &after), told(&connect(&fresh), &after));
        let _ = used.execute_batch("ROLLBACK");
        let kept = rows(&used);
        disk.crash(usize::MAX, &mut |_| Survived::Nothing);
        prop_assert!(is_whole(&connect(&disk)), "what would survive a crash was rewound too");
        prop_assert_eq!(rows(&connect(&disk)), kept, "what was committed was synced");
    }
}

#[test]
fn a_disk_is_not_rewound_under_a_transaction() {
    let disk = Disk::default();
    let connection = connect(&disk);
    connection.execute_batch(SETUP).unwrap();
    disk.mark();
    connection.execute_batch("BEGIN; INSERT INTO t VALUES (1, 'a')").unwrap();
    assert!(!disk.rewind());
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&connection).len(), 1);
    assert!(disk.rewind());
    assert_eq!(rows(&connection), []);
}
