//! The read-after-write check (V1, V2, V5–V7): its own SQL, on the ids that a tool says it touched, and on nothing else.

use rusqlite::{Connection, OptionalExtension, params};

use crate::turn::draft::{Act, Intent};
use crate::turn::ports::{Verdict, Verifier, WriteCheck};

use super::schema::section;
use super::store::Store;

/// Verifies for one user of one conversation.
#[derive(Clone, Debug)]
pub struct CvVerifier {
    store: Store,
    user: i64,
    conversation: i64,
}

impl CvVerifier {
    /// For this user in this conversation.
    pub fn new(store: Store, user: i64, conversation: i64) -> Self {
        Self { store, user, conversation }
    }

    fn check(&self, connection: &Connection, check: &WriteCheck) -> rusqlite::Result<Verdict> {
        let intent = &check.intent;
        if intent.act == Act::Discard {
            return self.nothing_pending(connection, &intent.section);
        }
        let Some(section) = section(&intent.section) else {
            return Ok(Verdict::Contradicted { error: format!("there is no section {}", intent.section) });
        };
        if let Some(error) = intent.ids_that_prove_nothing() {
            return Ok(Verdict::Contradicted { error });
        }
        let mut wrong = Vec::new();
        for id in &intent.ids {
            let owner = owner_of(connection, section.name, *id)?;
            let right = match intent.act {
                Act::Delete => owner.is_none() && self.deleted(connection, check, *id)?,
                _ => owner == Some(self.user),
            };
            if !right {
                wrong.push(*id);
            }
        }
        Ok(if wrong.is_empty() { Verdict::Holds } else { Verdict::Contradicted { error: complaint(intent, &wrong) } })
    }

    /// V5: "none left" counts only for a row that this call deleted and that belonged to this user.
    fn deleted(&self, connection: &Connection, check: &WriteCheck, id: i64) -> rusqlite::Result<bool> {
        connection
            .prepare_cached(
                "SELECT 1 FROM audit_change x JOIN audit_call c ON c.id = x.call WHERE conversation = ?1 AND turn = ?2 AND iteration = ?3 \
                 AND idx = ?4 AND x.act = 'delete' AND x.section = ?5 AND x.row_id = ?6 AND x.user_id = ?7",
            )?
            .exists(params![self.conversation, check.key.turn, check.key.iteration, check.key.index, check.intent.section, id, self.user])
    }

    /// V7.
    fn nothing_pending(&self, connection: &Connection, section: &str) -> rusqlite::Result<Verdict> {
        let there = connection
            .prepare_cached("SELECT 1 FROM pending WHERE conversation = ?1 AND section = ?2")?
            .exists(params![self.conversation, section])?;
        Ok(if there { Verdict::Contradicted { error: format!("the entry for {section} is still pending") } } else { Verdict::Holds })
    }
}

impl Verifier for CvVerifier {
    async fn verify(&mut self, check: &WriteCheck) -> Verdict {
        self.store
            .with(|connection| self.check(connection, check))
            .unwrap_or_else(|error| Verdict::NoAnswer { error: format!("the database did not answer: {error}") })
    }
}

/// V2: existence and ownership in one look.
fn owner_of(connection: &Connection, table: &str, id: i64) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached(&format!("SELECT user_id FROM {table} WHERE id = ?1"))?.query_row([id], |row| row.get(0)).optional()
}

fn complaint(intent: &Intent, wrong: &[i64]) -> String {
    let ids: Vec<String> = wrong.iter().take(8).map(|id| format!("#{id}")).collect();
    let ids = ids.join(", ");
    match intent.act {
        Act::Delete => format!("{} {ids} were not deleted by this call", intent.section),
        _ => format!("{} {ids} are not there, or belong to somebody else", intent.section),
    }
}
