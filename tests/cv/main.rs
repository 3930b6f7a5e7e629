//! What the CV room promises: writes in transactions of their own, audited by the database itself, verified by other SQL than the tools'.

mod arguments;
mod store;
mod trail;
mod verify;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use unbacked::cv::audit::{CvLedger, trail};
use unbacked::cv::editor::{Editor, snapshot};
use unbacked::cv::memory::CvMemory;
use unbacked::cv::schema::SECTIONS;
use unbacked::cv::store::{OpenError, Store};
use unbacked::cv::tools::{CvTools, catalogue};
use unbacked::cv::verify::CvVerifier;
use unbacked::turn::draft::{Act, CallKey, Fate, Intent, RowChange};
use unbacked::turn::exit::{Receipt, Status, Stop, Tally, TurnRecord};
use unbacked::turn::message::{Arguments, Block, BrokenArguments, Call, Message};
use unbacked::turn::pending::PendingEntry;
use unbacked::turn::ports::{Committed, Failure, Ledger, Memory, Outcome, Place, ToolKind, Tools, Verdict, Verifier, WriteCheck};

const ANN: i64 = 1;
const BOB: i64 = 2;
const TALK: i64 = 7;

/// The room's futures never wait for anything, so one poll is the whole of them.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a port of the store waited for something"),
    }
}

struct World {
    store: Store,
    turn: u32,
    index: u32,
}

impl World {
    fn new() -> Self {
        let store = Store::in_memory().unwrap();
        let world = Self { store, turn: 1, index: 0 };
        world.people();
        world
    }

    fn people(&self) {
        self.store.add_user(ANN, "Ann").unwrap();
        self.store.add_user(BOB, "Bob").unwrap();
    }

    fn key(&self) -> CallKey {
        CallKey { turn: self.turn, iteration: 1, index: self.index }
    }

    fn next(&mut self) -> CallKey {
        self.index += 1;
        self.key()
    }

    fn run(&mut self, name: &str, arguments: Value) -> Outcome {
        let key = self.next();
        self.run_as(ANN, key, name, arguments)
    }

    fn run_as(&self, user: i64, key: CallKey, name: &str, arguments: Value) -> Outcome {
        let Value::Object(value) = arguments else { panic!("arguments are an object") };
        let call = Call { id: "call".into(), name: name.into(), arguments: Arguments::Object { value } };
        now(CvTools::new(self.store.clone(), user, TALK).run(key, &call))
    }

    fn done(&mut self, name: &str, arguments: Value) -> Map<String, Value> {
        match self.run(name, arguments) {
            Outcome::Done { result } => result,
            other => panic!("{name} should have run: {other:?}"),
        }
    }

    fn skill(&mut self, name: &str) -> i64 {
        ids(&self.done("create_skills", json!({ "items": [{ "name": name }] })), "skills")[0]
    }

    fn ledger(&self) -> CvLedger {
        CvLedger::new(self.store.clone(), TALK)
    }

    fn memory(&self) -> CvMemory {
        CvMemory::new(self.store.clone(), TALK)
    }

    fn found(&self, key: CallKey) -> Option<Committed> {
        now(self.ledger().find(key)).unwrap()
    }

    fn verdict(&self, key: CallKey, act: Act, section: &str, ids: &[i64]) -> Verdict {
        let intent = Intent { act, section: section.into(), ids: ids.to_vec() };
        now(CvVerifier::new(self.store.clone(), ANN, TALK).verify(&WriteCheck { key, tool: "any".into(), intent }))
    }

    fn count(&self, table: &str) -> i64 {
        self.sql(|db| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)))
    }

    fn sql<R>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<R>) -> R {
        self.store.with(work).unwrap()
    }

    fn pend(&self, section: &str) {
        now(self.memory().save_pending(&[entry(1, section)])).unwrap();
    }
}

fn entry(id: u32, section: &str) -> PendingEntry {
    PendingEntry {
        id,
        section: section.into(),
        tool: format!("create_{section}"),
        act: Act::Create,
        known: json!({ "items": [{}] }),
        missing: vec!["items[0].name".into()],
        corrected: false,
    }
}

fn ids(result: &Map<String, Value>, section: &str) -> Vec<i64> {
    result[&format!("{section}_ids")].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

fn failure(outcome: Outcome) -> (Failure, String, Vec<String>) {
    match outcome {
        Outcome::Failed { failure, reason, missing } => (failure, reason, missing),
        other => panic!("should have failed: {other:?}"),
    }
}

fn job() -> Value {
    json!({ "title": "Engineer", "company": "Acme", "start_year": 2019, "end_year": 2021 })
}

fn row(act: Act, section: &str, id: i64) -> RowChange {
    RowChange { act, section: section.into(), id }
}

/// Some arguments that the create tool of any section takes: what the table of sections requires, by its own schema.
fn least(section: &str) -> Map<String, Value> {
    let spec = catalogue().iter().find(|spec| spec.name == format!("create_{section}")).unwrap();
    let item = &spec.input_schema["properties"]["items"]["items"];
    let value_of = |name: &str| {
        let field = &item["properties"][name];
        match (&field["enum"][0], field["type"].as_str(), name) {
            (Value::String(word), ..) => json!(word),
            (_, Some("integer"), _) => json!(2001),
            (_, _, "url") => json!("https://example.org/a"),
            _ => json!("something"),
        }
    };
    item["required"].as_array().unwrap().iter().map(|name| (name.as_str().unwrap().to_owned(), value_of(name.as_str().unwrap()))).collect()
}

fn named(name: &str) -> Map<String, Value> {
    Map::from_iter([("name".to_owned(), json!(name))])
}
