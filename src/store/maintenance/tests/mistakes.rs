//! What the daemon or the disk did, not a hand: mistakes that agree with their journal, and a part that is gone.

use std::collections::BTreeSet;

use super::made::{Made, Pen, nth, retold};
use super::tampered::{codes, report};
use crate::domain::operation::samples::{self, Person, Story, actor};
use crate::domain::operation::{Event, Recorded, State};
use crate::store::maintenance::FindingCode::{self, *};
use crate::store::maintenance::open::Opened;
use crate::store::maintenance::verify::acks::Acks;
use crate::store::maintenance::verify::verify_store;
use crate::store::records::keys;
use crate::store::{Batch, Key, Record, Store};

type Mistake = (&'static str, fn(&mut Pen<'_>), FindingCode);

/// What was written by a mistake of the daemon agrees with its journal, and is found all the same.
pub(super) fn mistakes() -> Vec<Mistake> {
    fn executing() -> Story {
        samples::all().into_iter().find(|s| s.story.operation.state == State::Executing).unwrap().story
    }
    fn write(pen: &mut Pen<'_>, n: usize, change: fn(&mut crate::domain::operation::Proposal)) {
        for recorded in retold(&executing().recorded, n, change) {
            pen.event(nth(n), &recorded);
        }
    }
    vec![
        (
            "approved by its requester",
            |pen| {
                let story = retold(&Story::with(samples::rules()).recorded, 500, |_| {});
                let operation = pen.event(nth(500), &story[0]);
                let event = Event::Approved {
                    digest: operation.proposal.proposal_sha256,
                    note: None,
                    execute_by: samples::time(9).plus(operation.proposal.rules.execute_within),
                    groups: Vec::new(),
                };
                pen.event(nth(500), &Recorded { at: samples::time(9), by: actor(Person::Planner), event });
            },
            InvariantBroken,
        ),
        (
            "two on one target",
            |pen| {
                write(pen, 500, |proposal| proposal.target.scope = "same".into());
                write(pen, 501, |proposal| proposal.target.scope = "same".into());
            },
            TargetTwice,
        ),
        (
            "two under one key",
            |pen| {
                write(pen, 500, |proposal| proposal.key = "same".into());
                write(pen, 501, |proposal| proposal.key = "same".into());
            },
            KeyTwice,
        ),
        (
            "replaces nothing",
            |pen| write(pen, 500, |proposal| proposal.supersedes = Some(nth(901))),
            LinkDangling,
        ),
    ]
}

#[test]
fn mistakes_of_the_daemon_are_found() {
    let whole = Made::of(&[Story::with(samples::rules())]);
    for (name, mistake, expected) in mistakes() {
        let made = whole.copy();
        {
            let store = made.open();
            mistake(&mut Pen::new(&store));
        }
        let found = report(&made);
        assert_eq!(codes(&found), BTreeSet::from([expected]), "{name}: {:#?}", found.findings);
    }
}

#[test]
fn an_unreadable_part_hides_nothing_else() {
    let made = Made::of(&[Story::with(samples::rules())]);
    made.tamper(|_| Batch::new().delete(keys::body(nth(0))));
    let store = HalfRead(made.open());
    let found = verify_store(&store, None, &Acks::default()).unwrap();
    assert_eq!(codes(&found), BTreeSet::from([PartUnreadable, BodyMissing]), "{:#?}", found.findings);
}

/// A store whose remembered keys lie on a damaged page.
struct HalfRead(Opened);

impl Store for HalfRead {
    fn get(&self, key: &Key) -> Result<Option<Record>, crate::store::ReadError> {
        self.0.get(key)
    }
    fn scan(
        &self,
        range: &crate::store::Range,
        limit: usize,
    ) -> Result<Vec<crate::store::Row>, crate::store::ReadError> {
        if range.start.as_bytes().first() == Some(&b'i') {
            return Err(crate::store::ReadError::Page { what: "a damaged page".to_owned() });
        }
        self.0.scan(range, limit)
    }
    fn last_key(&self, prefix: &Key) -> Result<Option<Key>, crate::store::ReadError> {
        self.0.last_key(prefix)
    }
    fn commit(&self, batch: &Batch) -> Result<(), crate::store::CommitError> {
        self.0.commit(batch)
    }
    fn space(&self) -> Result<crate::store::Space, crate::store::ReadError> {
        self.0.space()
    }
    fn counters(&self) -> crate::store::Counters {
        self.0.counters()
    }
    fn low_space(&self) -> bool {
        self.0.low_space()
    }
    fn release_reserve(&self) -> Result<bool, crate::store::ReadError> {
        self.0.release_reserve()
    }
    fn restore_reserve(&self) -> Result<bool, crate::store::ReadError> {
        self.0.restore_reserve()
    }
    fn reopen(&self) -> Result<(), crate::store::OpenError> {
        self.0.reopen()
    }
}
