//! Each trouble, at every operation of a transaction that it can strike: SQLite says so, nothing is half done, and a healed disk works.

use std::time::Duration;

use rusqlite::ErrorCode;
use unbacked::disk::{Disk, Trouble};

use super::{SETUP, connect, is_whole, rows};

const WRITE: &str = "BEGIN IMMEDIATE; UPDATE t SET body = body || '!'; INSERT INTO t VALUES (50, printf('%0900d', 1)); COMMIT;";

fn filled() -> Disk {
    let disk = Disk::default();
    connect(&disk).execute_batch(&format!("{SETUP} INSERT INTO t VALUES (1, 'a'), (2, printf('%0900d', 2));")).unwrap();
    disk
}

/// Strikes at the `after`th occasion. The error, if SQLite told one; and whether the trouble struck at all.
fn struck(trouble: Trouble, after: u32, times: u32) -> (Option<ErrorCode>, bool) {
    let disk = filled();
    let connection = connect(&disk);
    connection.busy_timeout(Duration::ZERO).unwrap();
    let before = rows(&connection);
    connection.execute_batch("PRAGMA cache_size = 0").unwrap();
    disk.trouble(Some((trouble, after, times)));
    let done = connection.execute_batch(WRITE);
    let struck = disk.struck();
    let _ = disk.healthy(|| connection.execute_batch("ROLLBACK"));
    disk.trouble(None);
    let now = rows(&connection);
    assert!(is_whole(&connection), "{trouble:?} {after}");
    match &done {
        Ok(()) => assert_ne!(now, before, "{trouble:?} {after}: told as done, and not there"),
        Err(_) => assert_eq!(now, before, "{trouble:?} {after}: told as failed, and there"),
    }
    connection.execute_batch("INSERT INTO t VALUES (77, 'healed')").unwrap();
    drop(connection);
    assert!(is_whole(&connect(&disk)));
    (done.err().and_then(|error| error.sqlite_error_code()), struck)
}

/// At every occasion until the transaction has no more of them.
fn everywhere(trouble: Trouble, times: u32) -> Vec<Option<ErrorCode>> {
    let strikes = (0..200).map(|after| struck(trouble, after, times)).take_while(|(_, struck)| *struck);
    strikes.map(|(error, _)| error).collect()
}

#[test]
fn a_full_disk_is_told_as_full() {
    let told = everywhere(Trouble::Full, u32::MAX);
    assert!(told.len() >= 4, "{told:?}");
    assert!(told.iter().all(|error| matches!(error, Some(ErrorCode::DiskFull | ErrorCode::CannotOpen))), "{told:?}");
    assert!(told.contains(&Some(ErrorCode::DiskFull)));
}

#[test]
fn a_failing_write_or_sync_is_told_as_an_io_error() {
    let disk = filled();
    let connection = connect(&disk);
    connection.execute_batch(&format!("PRAGMA cache_size = 0; {WRITE}")).unwrap();
    for times in [1, u32::MAX] {
        let told = everywhere(Trouble::Write, times);
        assert_eq!(told.len(), disk.operations(), "every operation can fail");
        assert!(told.iter().all(|error| *error == Some(ErrorCode::SystemIoFailure)), "{told:?}");
    }
}

#[test]
fn a_failing_read_is_told_as_an_io_error() {
    let told = everywhere(Trouble::Read, u32::MAX);
    assert!(told.len() >= 2, "{told:?}");
    assert!(told.iter().all(|error| *error == Some(ErrorCode::SystemIoFailure)), "{told:?}");
}

#[test]
fn a_held_lock_is_told_as_busy() {
    let told = everywhere(Trouble::Busy, u32::MAX);
    assert!(!told.is_empty());
    assert!(told.iter().all(|error| *error == Some(ErrorCode::DatabaseBusy)), "{told:?}");
}

#[test]
fn waiting_for_a_lock_outlasts_a_short_one_and_costs_no_time() {
    let disk = filled();
    let connection = connect(&disk);
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    disk.trouble(Some((Trouble::Busy, 0, 5)));
    connection.execute_batch(WRITE).unwrap();
    assert!(disk.struck());
}

#[test]
fn two_connections_keep_out_of_each_others_way() {
    let disk = filled();
    let (one, two) = (connect(&disk), connect(&disk));
    for connection in [&one, &two] {
        connection.busy_timeout(Duration::ZERO).unwrap();
    }
    one.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (60, 'one')").unwrap();
    assert_eq!(two.execute_batch("BEGIN IMMEDIATE").unwrap_err().sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    assert_eq!(rows(&two).len(), 2, "a reader sees what was committed");
    two.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
    assert_eq!(one.execute_batch("COMMIT").unwrap_err().sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    two.execute_batch("COMMIT").unwrap();
    one.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&two).len(), 3, "its cache is not believed for ever");
}
