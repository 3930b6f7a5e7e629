//! SQLite's file system interface over [`State`]. The one file with `unsafe` in it: it turns C pointers into slices and references, hands
//! them to safe code, and decides nothing.
#![expect(unsafe_code, reason = "SQLite takes a file system as a table of C functions; this is the one file that speaks C with it")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::{ptr, slice};

use rusqlite::ffi;

use super::state::{Slot, State};

/// The name under which SQLite knows this file system.
pub const NAME: &str = "unbacked-disk";
const C_NAME: &CStr = c"unbacked-disk";

const FOLDER: &str = "/disk/";
const JOURNAL: &str = "-journal";

/// What SQLite gets for a clock, as a Julian day; nothing of ours asks it.
const JULIAN_DAY: f64 = 2_460_000.5;

type Shared = Mutex<State>;

static DISKS: Mutex<BTreeMap<u64, Weak<Shared>>> = Mutex::new(BTreeMap::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of the database on a disk, for the process of this generation.
pub fn path(number: u64, generation: u64) -> String {
    format!("{FOLDER}{number}.{generation}")
}

/// Makes a disk known, and on first use the file system to SQLite.
pub fn mount(number: u64, disk: &Arc<Shared>) {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        let vfs = Box::leak(Box::new(table()));
        // SAFETY: the table lives for ever, and so do its name and its functions. (Where it fails, opening says that there is no such file system.)
        unsafe { ffi::sqlite3_vfs_register(vfs, 0) }
    });
    let mut disks = locked(&DISKS);
    disks.retain(|_, disk| disk.strong_count() > 0);
    disks.insert(number, Arc::downgrade(disk));
}

/// The disk that a path names, and which file on it. A path of a process that died names nothing: whatever it still tries changes nothing.
fn find(path: &str) -> Option<(Arc<Shared>, Slot)> {
    let name = path.strip_prefix(FOLDER)?;
    let (number, slot) = match name.strip_suffix(JOURNAL) {
        Some(number) => (number, Slot::Journal),
        None => (name, Slot::Database),
    };
    let (number, generation) = number.split_once('.')?;
    let disk = locked(&DISKS).get(&number.parse().ok()?)?.upgrade()?;
    let living = locked(&disk).generation == generation.parse::<u64>().ok()?;
    living.then_some((disk, slot))
}

/// What SQLite keeps of an open file. It allocates the bytes; `open` fills them.
#[repr(C)]
struct Handle {
    base: ffi::sqlite3_file,
    file: *mut Open,
}

struct Open {
    disk: Arc<Shared>,
    slot: Slot,
    number: u64,
    generation: u64,
}

fn code(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(ffi::SQLITE_OK)
}

/// Runs something on the open file's disk. A file that the dead process held does nothing any more.
///
/// # Safety
/// `file` is one that `open` has filled and that was not closed yet.
unsafe fn on(file: *mut ffi::sqlite3_file, work: impl FnOnce(&mut State, &Open) -> Result<(), c_int>) -> c_int {
    // SAFETY: by the contract, the bytes hold a `Handle` whose `file` came from `Box::into_raw` and was not freed.
    let open = unsafe { &*(*file.cast::<Handle>()).file };
    let mut state = locked(&open.disk);
    if state.generation != open.generation {
        return ffi::SQLITE_IOERR;
    }
    code(work(&mut state, open))
}

/// # Safety
/// `text` is null or a C string that outlives the call.
unsafe fn path_of<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the contract.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

fn open_file(path: Option<&str>, nameless: bool, flags: c_int) -> Result<Open, c_int> {
    let (disk, slot) = match path {
        Some(path) => find(path).ok_or(ffi::SQLITE_CANTOPEN)?,
        // Spilled temporary data has a disk of its own, which ends with the handle.
        None if nameless => (Arc::default(), Slot::Scratch),
        None => return Err(ffi::SQLITE_CANTOPEN),
    };
    let (number, generation) = {
        let mut state = locked(&disk);
        state.open(slot, flags & ffi::SQLITE_OPEN_CREATE != 0)?;
        (state.next_handle(), state.generation)
    };
    Ok(Open { disk, slot, number, generation })
}

unsafe extern "C" fn x_open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let handle = file.cast::<Handle>();
    // SAFETY: SQLite gives `szOsFile` bytes, aligned for any type; a null table says that there is nothing to close.
    unsafe { handle.write(Handle { base: ffi::sqlite3_file { pMethods: ptr::null() }, file: ptr::null_mut() }) };
    // SAFETY: the name is null or a C string of SQLite's.
    match open_file(unsafe { path_of(name) }, name.is_null(), flags) {
        Err(error) => error,
        Ok(open) => {
            let file = Box::into_raw(Box::new(open));
            // SAFETY: as above; `METHODS` lives for ever.
            unsafe { handle.write(Handle { base: ffi::sqlite3_file { pMethods: &METHODS }, file }) };
            if !out_flags.is_null() {
                // SAFETY: not null, and SQLite's own integer.
                unsafe { *out_flags = flags };
            }
            ffi::SQLITE_OK
        }
    }
}

unsafe extern "C" fn x_close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; the pointer came from `Box::into_raw`.
    let open = unsafe { Box::from_raw((*file.cast::<Handle>()).file) };
    let mut state = locked(&open.disk);
    if state.generation == open.generation {
        state.close(open.number);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_read(file: *mut ffi::sqlite3_file, buffer: *mut c_void, length: c_int, at: ffi::sqlite3_int64) -> c_int {
    let (Ok(length), Ok(at)) = (usize::try_from(length), usize::try_from(at)) else { return ffi::SQLITE_IOERR_READ };
    // SAFETY: SQLite gives `length` bytes to write to; zeroed first, so that no uninitialised byte is ever behind a reference.
    let buffer = unsafe {
        ptr::write_bytes(buffer.cast::<u8>(), 0, length);
        slice::from_raw_parts_mut(buffer.cast::<u8>(), length)
    };
    // SAFETY: an open file of ours.
    unsafe { on(file, |state, open| state.read(open.slot, buffer, at)) }
}

unsafe extern "C" fn x_write(file: *mut ffi::sqlite3_file, bytes: *const c_void, length: c_int, at: ffi::sqlite3_int64) -> c_int {
    let (Ok(length), Ok(at)) = (usize::try_from(length), usize::try_from(at)) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: SQLite gives `length` bytes to read, and does not change them during the call.
    let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), length) };
    // SAFETY: an open file of ours.
    unsafe { on(file, |state, open| state.write(open.slot, bytes, at)) }
}

unsafe extern "C" fn x_truncate(file: *mut ffi::sqlite3_file, length: ffi::sqlite3_int64) -> c_int {
    let Ok(length) = usize::try_from(length) else { return ffi::SQLITE_IOERR_TRUNCATE };
    // SAFETY: an open file of ours.
    unsafe { on(file, |state, open| state.truncate(open.slot, length)) }
}

unsafe extern "C" fn x_sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: an open file of ours.
    unsafe { on(file, |state, open| state.sync(open.slot)) }
}

unsafe extern "C" fn x_file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: an open file of ours, and SQLite's own integer.
    unsafe {
        *size = 0;
        on(file, |state, open| {
            *size = state.size(open.slot) as ffi::sqlite3_int64;
            Ok(())
        })
    }
}

unsafe extern "C" fn x_lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file of ours.
    unsafe { on(file, |state, open| state.lock(open.number, level)) }
}

unsafe extern "C" fn x_unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file of ours.
    unsafe {
        on(file, |state, open| {
            state.unlock(open.number, level);
            Ok(())
        })
    }
}

unsafe extern "C" fn x_check_reserved_lock(file: *mut ffi::sqlite3_file, reserved: *mut c_int) -> c_int {
    // SAFETY: an open file of ours, and SQLite's own integer.
    unsafe {
        on(file, |state, _| {
            *reserved = c_int::from(state.reserved());
            Ok(())
        })
    }
}

unsafe extern "C" fn x_file_control(_file: *mut ffi::sqlite3_file, _op: c_int, _argument: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn x_sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    512
}

/// None promised: SQLite must reckon with torn writes in any order.
unsafe extern "C" fn x_device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    0
}

unsafe extern "C" fn x_delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, _sync: c_int) -> c_int {
    // SAFETY: a C string of SQLite's.
    match unsafe { path_of(name) }.and_then(find) {
        Some((disk, Slot::Journal)) => code(locked(&disk).delete_journal()),
        _ => ffi::SQLITE_IOERR_DELETE_NOENT,
    }
}

unsafe extern "C" fn x_access(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, _flags: c_int, found: *mut c_int) -> c_int {
    // SAFETY: a C string of SQLite's, and its own integer. (A write-ahead log, which it also asks for, names no disk.)
    unsafe { *found = c_int::from(path_of(name).and_then(find).is_some_and(|(disk, slot)| locked(&disk).exists(slot))) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_full_pathname(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, room: c_int, out: *mut c_char) -> c_int {
    // SAFETY: a C string of SQLite's.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| bytes.len() <= room) {
        // SAFETY: `out` has `room` bytes, which are enough, and SQLite's two buffers do not overlap.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len()) };
        return ffi::SQLITE_OK;
    }
    ffi::SQLITE_CANTOPEN
}

/// Nothing here is left to chance: SQLite gets zeros.
unsafe extern "C" fn x_randomness(_vfs: *mut ffi::sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    // SAFETY: SQLite gives `length` bytes.
    unsafe { ptr::write_bytes(out, 0, usize::try_from(length).unwrap_or(0)) };
    length
}

/// Waiting costs no time: who holds the lock is on the same thread, or never lets go.
unsafe extern "C" fn x_sleep(_vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    microseconds
}

unsafe extern "C" fn x_current_time(_vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: SQLite's own number.
    unsafe { *out = JULIAN_DAY };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_last_error(_vfs: *mut ffi::sqlite3_vfs, _length: c_int, _out: *mut c_char) -> c_int {
    0
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(x_close),
    xRead: Some(x_read),
    xWrite: Some(x_write),
    xTruncate: Some(x_truncate),
    xSync: Some(x_sync),
    xFileSize: Some(x_file_size),
    xLock: Some(x_lock),
    xUnlock: Some(x_unlock),
    xCheckReservedLock: Some(x_check_reserved_lock),
    xFileControl: Some(x_file_control),
    xSectorSize: Some(x_sector_size),
    xDeviceCharacteristics: Some(x_device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

fn table() -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 1,
        szOsFile: size_of::<Handle>() as c_int,
        mxPathname: 64,
        pNext: ptr::null_mut(),
        zName: C_NAME.as_ptr(),
        pAppData: ptr::null_mut(),
        xOpen: Some(x_open),
        xDelete: Some(x_delete),
        xAccess: Some(x_access),
        xFullPathname: Some(x_full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(x_randomness),
        xSleep: Some(x_sleep),
        xCurrentTime: Some(x_current_time),
        xGetLastError: Some(x_last_error),
        xCurrentTimeInt64: None,
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}
