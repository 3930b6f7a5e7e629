//! L10 and I15 for once with a real process and a real file: a child takes turn after turn over a SQLite file and is killed (SIGKILL) after
//! its first, second, third … sign of life. After each death the file is examined, and the next child goes on where the last one died.
//!
//! When the child is hit exactly does not matter: what is checked holds at whatever point it dies.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments as TestArguments, Failed, Trial};
use serde_json::json;

use unbacked::cv::audit::{CvLedger, trail};
use unbacked::cv::memory::CvMemory;
use unbacked::cv::store::Store;
use unbacked::cv::tools::{CvTools, catalogue};
use unbacked::cv::verify::CvVerifier;
use unbacked::turn::bounds::Settings;
use unbacked::turn::draft::{Act, CallKey};
use unbacked::turn::drive::{Ports, drive};
use unbacked::turn::event::Event;
use unbacked::turn::exit::{Receipt, Stop};
use unbacked::turn::guard::{Consulted, Ruling, View};
use unbacked::turn::machine::Machine;
use unbacked::turn::message::{Arguments, Block, Call, Message, Reply};
use unbacked::turn::ports::{Chunk, Guard, Model, ModelFault, Prompt, ReplyStream, Sink};

const CHILD: &str = "UNBACKED_KILL_TEST_DATABASE";
const USER: i64 = 1;
const CONVERSATION: i64 = 1;
/// Rows that a turn's one call creates, all or none of them.
const BATCH: usize = 3;
/// A turn gives a dozen signs of life, so that some children live for several turns.
const KILLS: usize = 40;

fn main() {
    if let Some(path) = std::env::var_os(CHILD) {
        return live(Path::new(&path));
    }
    let trials = vec![Trial::test("l10_i15_a_file_survives_the_death_of_its_process_at_any_point", || survives().map_err(Failed::from))];
    libtest_mimic::run(&TestArguments::from_args(), trials).exit();
}

/// Calls once in each turn, for a batch that bears the turn's number, and then says so.
struct Busy;

impl Model for Busy {
    type Stream<'a> = Once;

    async fn ask(&mut self, prompt: Prompt<'_>) -> Result<Once, ModelFault> {
        let turn = prompt.messages.iter().filter(|message| matches!(message, Message::User { .. })).count();
        let items: Vec<_> = (0..BATCH).map(|number| json!({ "name": format!("skill {turn}-{number}") })).collect();
        let mut value = serde_json::Map::new();
        value.insert("items".into(), json!(items));
        let call = Call { id: format!("call_{turn}"), name: "create_skills".into(), arguments: Arguments::Object { value } };
        let answered = matches!(prompt.messages.last(), Some(Message::Results { .. }));
        let block = if answered { Block::text("That was it.") } else { Block::Call(call) };
        Ok(Once(Some(Reply { blocks: vec![block], ..Reply::default() })))
    }
}

struct Once(Option<Reply>);

impl ReplyStream for Once {
    async fn next(&mut self) -> Result<Chunk, ModelFault> {
        match self.0.take() {
            Some(reply) => Ok(Chunk::Done(reply)),
            None => Err(ModelFault::Permanent { error: "nothing follows the end".into() }),
        }
    }
}

struct Accepts;

impl Guard for Accepts {
    fn calls_at_most(&self) -> u32 {
        0
    }

    async fn consult(&mut self, _: View<'_>) -> Consulted {
        Consulted { ruling: Ruling::Accept, judge_calls: 0, judge_tokens: 0, why: "accepts".into() }
    }
}

/// A line on standard output for each event; a turn's closing is told with its number.
struct Tells;

impl Sink for Tells {
    fn see(&mut self, event: &Event) {
        let mut out = std::io::stdout().lock();
        let line = match event {
            Event::TurnClosed { record } => format!("closed {}", record.turn),
            _ => "event".into(),
        };
        // The parent may be gone; then this process is about to be.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// The child: turn after turn until it is killed.
fn live(path: &Path) {
    let store = Store::open(path).expect("the file opens");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut conversation = CvMemory::new(store.clone(), CONVERSATION).load("Be honest.").expect("the conversation loads");
    loop {
        runtime.block_on(turn(&store, &mut conversation));
    }
}

async fn turn(store: &Store, conversation: &mut unbacked::turn::conversation::Conversation) {
    let settings = Settings::default();
    let mut machine = Machine::open(conversation, catalogue(), &settings, "Go on.");
    let ports = Ports {
        model: &mut Busy,
        tools: &mut CvTools::new(store.clone(), USER, CONVERSATION),
        verifier: &mut CvVerifier::new(store.clone(), USER, CONVERSATION),
        ledger: &mut CvLedger::new(store.clone(), CONVERSATION),
        memory: &mut CvMemory::new(store.clone(), CONVERSATION),
        guard: &mut Accepts,
        sink: &mut Tells,
    };
    drive(&mut machine, ports, pending()).await;
}

/// Starts a child, kills it after so many lines, and returns the turns that it had said were closed.
fn kill_after(path: &Path, lines: usize) -> Result<Vec<u32>, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(itself).env(CHILD, path).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut told = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
    let mut closed: Vec<u32> = Vec::new();
    for number in 0..lines {
        let line = told.next().ok_or(format!("the child died by itself after {number} lines"))?.map_err(|error| error.to_string())?;
        closed.extend(line.strip_prefix("closed ").and_then(|turn| turn.parse::<u32>().ok()));
    }
    child.kill().map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    Ok(closed)
}

fn survives() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("cv.db");
    let store = Store::open(&path).map_err(|error| error.to_string())?;
    store.add_user(USER, "user").map_err(|error| error.to_string())?;
    drop(store);
    let mut closed = BTreeSet::new();
    for lines in 1..=KILLS {
        closed.extend(kill_after(&path, lines)?);
        examine(&path, &closed).map_err(|error| format!("killed after {lines} lines: {error}"))?;
    }
    // One more that lives through a whole turn, so that the last death is mended too.
    closed.extend(kill_after(&path, KILLS)?);
    let seen = examine(&path, &closed)?;
    if seen.died == 0 || seen.replied == 0 {
        return Err(format!("{seen:?}: the kills have to fall both inside turns and between them"));
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Seen {
    died: usize,
    replied: usize,
}

/// Holds the file against itself: rows, trail, transcript, records.
fn examine(path: &Path, closed: &BTreeSet<u32>) -> Result<Seen, String> {
    let store = Store::open(path).map_err(|error| error.to_string())?;
    let memory = CvMemory::new(store.clone(), CONVERSATION);
    let by_turn = rows_by_turn(&store)?;
    calls_are_answered(&memory.messages().map_err(|error| error.to_string())?)?;
    let records = memory.records().map_err(|error| error.to_string())?;
    let mut seen = Seen::default();
    for record in &records {
        let held = by_turn.get(&record.turn).copied().unwrap_or(0);
        let told = rows_in(&record.receipt);
        if told != held {
            return Err(format!("the receipt of turn {} tells of {told} rows, and the database has {held}", record.turn));
        }
        match record.stop {
            Stop::Replied => seen.replied += 1,
            Stop::Died => seen.died += 1,
            _ => return Err(format!("turn {} ended by {:?}", record.turn, record.stop)),
        }
    }
    let on_record: BTreeSet<u32> = records.iter().map(|record| record.turn).collect();
    match closed.difference(&on_record).next() {
        Some(turn) => Err(format!("turn {turn} was closed, and its record is gone")),
        None => Ok(seen),
    }
}

/// Rows that the trail has for each turn; each is in the table, and nothing else is (I8); a call's batch is whole (L4).
fn rows_by_turn(store: &Store) -> Result<BTreeMap<u32, usize>, String> {
    let sound: String = store.with(|db| db.query_row("PRAGMA integrity_check", [], |row| row.get(0))).map_err(|error| error.to_string())?;
    if sound != "ok" {
        return Err(sound);
    }
    let names: Vec<(i64, String)> = store
        .with(|db| {
            let mut statement = db.prepare("SELECT id, name FROM skills ORDER BY id")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        })
        .map_err(|error| error.to_string())?;
    let (mut by_call, mut by_turn) = (BTreeMap::<CallKey, usize>::new(), BTreeMap::new());
    let audited = trail(store, CONVERSATION).map_err(|error| error.to_string())?;
    let mut ids: Vec<i64> = Vec::new();
    for row in &audited {
        if row.change.act != Act::Create {
            return Err(format!("the trail has {:?}, which nobody did", row.change));
        }
        ids.push(row.change.id);
        *by_call.entry(row.key).or_default() += 1;
        *by_turn.entry(row.key.turn).or_default() += 1;
    }
    ids.sort_unstable();
    if ids != names.iter().map(|(id, _)| *id).collect::<Vec<_>>() {
        return Err("the trail and the table differ".into());
    }
    if by_call.values().any(|rows| *rows != BATCH) || names.iter().map(|(_, name)| name).collect::<BTreeSet<_>>().len() != names.len() {
        return Err("a batch is torn, or was written twice".into());
    }
    Ok(by_turn)
}

/// Every call but those of the last message has its result right after it (I7).
fn calls_are_answered(messages: &[Message]) -> Result<(), String> {
    let called = |message: &Message| match message {
        Message::Assistant { blocks, .. } => {
            let calls = blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call.id.clone()) } else { None });
            calls.collect()
        }
        _ => Vec::new(),
    };
    let answered = |message: &Message| match message {
        Message::Results { results, .. } => results.iter().map(|result| result.call_id.clone()).collect::<Vec<String>>(),
        _ => Vec::new(),
    };
    match messages.windows(2).position(|pair| called(&pair[0]) != answered(&pair[1])) {
        Some(place) => Err(format!("message {place} and the one after it: calls and results differ")),
        None => Ok(()),
    }
}

fn rows_in(receipt: &Receipt) -> usize {
    receipt.entries.iter().map(|entry| entry.rows.len()).sum()
}
