//! Every finding of `verify` has a store that was changed behind its back, and is found there and nowhere else.

use std::collections::BTreeSet;

use super::made::{Made, SECRET, ended_run_id, nth, run_id, run_token, scope, token};
use crate::domain::Digest;
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::journal::{Entry, Fact};
use crate::domain::operation::samples::{self, Person, actor};
use crate::domain::operation::{Event, Recorded, State, evolve};
use crate::domain::run::Run;
use crate::domain::token::Token;
use crate::store::codec::encode;
use crate::store::maintenance::FindingCode::{self, *};
use crate::store::maintenance::verify::acks::Acks;
use crate::store::maintenance::verify::{VerifyReport, verify_store};
use crate::store::records::{Created, IdempotencyRecord, Meta, Records, Stored, keys};
use crate::store::{Batch, Key, Record, Store};

pub(super) fn report(made: &Made) -> VerifyReport {
    verify_store(&made.open(), None, &Acks::default()).unwrap()
}

pub(super) fn codes(report: &VerifyReport) -> BTreeSet<FindingCode> {
    report.findings.listed.iter().map(|finding| finding.code).collect()
}

/// The first sample in this state.
fn of(state: State) -> OperationId {
    nth(samples::all().iter().position(|sample| sample.story.operation.state == state).unwrap())
}

fn stored(store: &dyn Store, id: OperationId) -> Stored {
    Records(store).operation(id).unwrap().unwrap()
}

fn record(payload: Vec<u8>) -> Record {
    Record { version: 1, payload }
}

/// Writes the record again, changed.
fn rewrite(store: &dyn Store, id: OperationId, change: impl FnOnce(&mut Stored)) -> Batch {
    let mut after = stored(store, id);
    let key = keys::operation(after.operation.state, id);
    change(&mut after);
    let version = u64::from(after.operation.events);
    Batch::new().put(key, Record { version, payload: encode(&after).unwrap() })
}

/// The page with the nth event of an operation, counted from the end; made stores have one entry per page.
fn event_page(store: &dyn Store, id: OperationId, from_end: usize) -> (Key, Entry) {
    let history = stored(store, id).history;
    let seq = history[history.len() - 1 - from_end];
    (keys::page(seq), Records(store).entry(seq).unwrap().unwrap())
}

fn last_page(store: &dyn Store) -> (Key, Entry) {
    let seq = Records(store).head().unwrap().seq;
    (keys::page(seq), Records(store).entry(seq).unwrap().unwrap())
}

fn put_entry(key: Key, entry: Entry) -> Batch {
    Batch::new().put(key, record(encode(&vec![entry]).unwrap()))
}

/// The last entry of the journal, changed; its content follows its commitment.
fn last_entry(store: &dyn Store, change: impl FnOnce(&mut Entry)) -> Batch {
    let (key, mut entry) = last_page(store);
    change(&mut entry);
    entry.commitment = Entry::commit(&entry.salt, &entry.payload);
    put_entry(key, entry)
}

fn body(store: &dyn Store, change: impl FnOnce(&mut crate::domain::operation::Body)) -> Batch {
    let id = of(State::Succeeded);
    let mut body = Records(store).body(id).unwrap().unwrap();
    change(&mut body);
    Batch::new().put(keys::body(id), record(encode(&body).unwrap()))
}

type Tamper = fn(&dyn Store) -> Batch;

/// What is done to the store, and exactly what is found.
type Case = (&'static str, Tamper, Vec<FindingCode>);

fn tampers() -> Vec<Case> {
    [events(), places(), bodies(), beside(), pages(), entries()].concat()
}

/// The record of an operation against its events.
fn events() -> Vec<Case> {
    vec![
        (
            "record changed",
            |s| rewrite(s, of(State::Succeeded), |r| r.operation.no_more_attempts = true),
            vec![RecordDiffers],
        ),
        (
            "record of an earlier moment",
            |s| {
                let id = of(State::Approved);
                let (_, entry) = event_page(s, id, stored(s, id).history.len() - 1);
                let fact = crate::store::codec::decode::<Fact>(&entry.payload).unwrap();
                let Fact::Operation(event) = fact else { panic!() };
                let operation = evolve(None, &Recorded { at: entry.at, by: entry.by, event }).unwrap();
                rewrite(s, id, |r| *r = Stored { operation, history: vec![entry.seq] })
            },
            vec![RecordBehind],
        ),
        ("journal without its last page", |s| Batch::new().delete(last_page(s).0), vec![RecordAhead]),
        (
            "no record",
            |s| Batch::new().delete(keys::ended(stored(s, of(State::Succeeded)).operation.id())),
            vec![RecordMissing],
        ),
        (
            "a run from nowhere",
            |s| {
                let id = RunId::from_u128(77);
                let run = Run { id, ..Records(s).run(run_id()).unwrap().unwrap() };
                Batch::new().put(keys::run(id), record(encode(&run).unwrap()))
            },
            vec![RecordWithoutJournal],
        ),
    ]
}

/// The record of an operation and where it lies.
fn places() -> Vec<Case> {
    vec![
        (
            "half a move: open and ended",
            |s| {
                let id = of(State::Approved);
                let again = encode(&stored(s, id)).unwrap();
                Batch::new().put(keys::ended(id), Record { version: 2, payload: again })
            },
            vec![RecordTwice],
        ),
        (
            "a record at another's key",
            |s| {
                let id = of(State::Succeeded);
                let there = stored(s, id);
                let version = u64::from(there.operation.events);
                let payload = encode(&there).unwrap();
                Batch::new().delete(keys::ended(id)).put(keys::ended(nth(900)), Record { version, payload })
            },
            vec![RecordMissing, RecordMisplaced],
        ),
        (
            "another version",
            |s| {
                let id = of(State::Succeeded);
                let payload = encode(&stored(s, id)).unwrap();
                Batch::new().put(keys::ended(id), Record { version: 99, payload })
            },
            vec![VersionDiffers],
        ),
        ("another history", |s| rewrite(s, of(State::Failed), |r| r.history[0] += 1), vec![HistoryDiffers]),
        (
            "no index entry",
            |_| Batch::new().delete(keys::by_end(State::Failed, of(State::Failed)).unwrap()),
            vec![EndIndexMissing],
        ),
        (
            "an index entry for another state",
            |_| {
                let key = keys::by_end(State::Failed, of(State::Succeeded)).unwrap();
                Batch::new().put(key, record(Vec::new()))
            },
            vec![EndIndexStray],
        ),
    ]
}

/// What belongs to an operation.
fn bodies() -> Vec<Case> {
    vec![
        ("no body", |_| Batch::new().delete(keys::body(of(State::Succeeded))), vec![BodyMissing]),
        (
            "a body of nothing",
            |_| Batch::new().put(keys::body(nth(900)), record(encode(&samples::body()).unwrap())),
            vec![BodyStray],
        ),
        ("other arguments", |s| body(s, |body| body.arguments = "{}".into()), vec![ArgumentsChanged]),
        ("another request", |s| body(s, |body| body.request.path = "/x".into()), vec![RequestChanged]),
        ("other consequences", |s| body(s, |body| body.consequences = "{}".into()), vec![ProposalChanged]),
        (
            "no contract",
            |_| Batch::new().delete(keys::contract(Digest::of(super::made::CONTRACT))),
            vec![ContractMissing],
        ),
        (
            "another contract",
            |_| Batch::new().put(keys::contract(Digest::of(super::made::CONTRACT)), record(b"{}".to_vec())),
            vec![ContractChanged],
        ),
    ]
}

/// What stands beside operations.
fn beside() -> Vec<Case> {
    vec![
        ("no run", |_| Batch::new().delete(keys::run(ended_run_id())), vec![RunMissing]),
        (
            "another purpose of a run",
            |s| {
                let run = Run { purpose: "x".into(), ..Records(s).run(run_id()).unwrap().unwrap() };
                Batch::new().put(keys::run(run_id()), record(encode(&run).unwrap()))
            },
            vec![RunDiffers],
        ),
        (
            "a token that is not revoked any more",
            |_| {
                let token = Token { revoked: None, ..token() };
                Batch::new().put(keys::token(SECRET), record(encode(&token).unwrap()))
            },
            vec![TokenDiffers],
        ),
        (
            "a token under another secret",
            |_| Batch::new().put(keys::token(Digest([8; 32])), record(encode(&token()).unwrap())),
            vec![TokenDiffers],
        ),
        (
            "a token that nobody made",
            |_| {
                let token = Token { id: TokenId::from_u128(1), ..token() };
                Batch::new().put(keys::token(Digest([8; 32])), record(encode(&token).unwrap()))
            },
            vec![RecordWithoutJournal],
        ),
        (
            "the token of a run from before",
            |_| Batch::new().put(keys::run_token(run_id()), record(encode(&run_token(1)).unwrap())),
            vec![TokenDiffers],
        ),
        (
            "a remembered key of nothing",
            |s| {
                let known = Records(s).idempotency(scope()).unwrap().unwrap();
                let record_ = IdempotencyRecord { created: Created::Operation(nth(900)), ..known };
                Batch::new().put(keys::idempotency(scope()), record(encode(&record_).unwrap()))
            },
            vec![IdempotencyDangling],
        ),
        (
            "released writes",
            |s| {
                let (meta, version) = Records(s).meta().unwrap();
                Batch::new().put_if(keys::meta(), version, encode(&Meta { epoch: 9, ..meta }).unwrap())
            },
            vec![MetaDiffers],
        ),
        (
            "a record of a later release",
            |_| Batch::new().put(Key::space(b'z'), record(vec![])),
            vec![UnknownRecord],
        ),
        (
            "a damaged record",
            |_| Batch::new().put(keys::ended(of(State::Succeeded)), record(vec![1, 2])),
            vec![RecordUnreadable],
        ),
    ]
}

/// Pages of the journal.
fn pages() -> Vec<Case> {
    vec![
        (
            "a damaged page",
            |s| Batch::new().put(last_page(s).0, record(vec![1, 2])),
            vec![PageUnreadable, RecordAhead],
        ),
        (
            "a page elsewhere",
            |s| {
                let (key, entry) = last_page(s);
                put_entry(keys::page(1 << 40), entry).delete(key)
            },
            vec![PageMisplaced],
        ),
        (
            "a page in the middle is gone",
            |s| Batch::new().delete(event_page(s, of(State::Approved), 0).0),
            vec![JournalGap, RecordAhead],
        ),
    ]
}

/// Entries of the journal.
fn entries() -> Vec<Case> {
    vec![
        (
            "somebody else did it",
            |s| {
                let (key, mut entry) = event_page(s, of(State::Succeeded), 1);
                assert_eq!(entry.name, "execution_started");
                entry.by = actor(Person::Olga);
                put_entry(key, entry)
            },
            vec![ChainBroken],
        ),
        (
            "another content",
            |s| {
                let (key, mut entry) = event_page(s, of(State::Succeeded), 0);
                entry.payload = encode(&Fact::Operation(Event::Escalated)).unwrap();
                put_entry(key, entry)
            },
            vec![PayloadChanged],
        ),
        (
            "a content of a later release",
            |s| last_entry(s, |entry| entry.payload = vec![250; 9]),
            vec![PayloadUnreadable],
        ),
        ("another name", |s| last_entry(s, |entry| entry.name = "denied".into()), vec![FactMismatch]),
        ("another number", |s| last_entry(s, |entry| entry.number += 1), vec![NumberGap]),
        (
            "an event that cannot be",
            |s| {
                last_entry(s, |entry| {
                    entry.payload = encode(&Fact::Operation(Event::CompensationWithdrawn)).unwrap();
                    entry.name = "compensation_withdrawn".into();
                })
            },
            vec![IllegalEvent],
        ),
    ]
}

#[test]
fn every_change_is_found_and_named() {
    let whole = Made::all();
    let clean = report(&whole);
    assert!(clean.clean, "{:#?}", clean.findings);
    for (name, tamper, expected) in tampers() {
        let made = whole.copy();
        made.tamper(tamper);
        let found = report(&made);
        let expected: BTreeSet<_> = expected.into_iter().collect();
        assert_eq!(codes(&found), expected, "{name}: {:#?}", found.findings);
        assert!(!found.clean);
    }
}

#[test]
fn every_finding_has_a_store_that_shows_it() {
    let mut shown: BTreeSet<FindingCode> = tampers().into_iter().flat_map(|tamper| tamper.2).collect();
    shown.extend(super::mistakes::mistakes().into_iter().map(|mistake| mistake.2));
    // Shown in the tests beside this one.
    shown.extend([PartUnreadable, HeadNotOnChain, AckMissing, AckBehind, AckState]);
    assert_eq!(shown, FindingCode::ALL.iter().copied().collect());
}

#[test]
fn the_texts_of_codes_are_distinct_and_explained() {
    let texts: BTreeSet<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), FindingCode::ALL.len());
    for code in FindingCode::ALL {
        let (meaning, remedy) = code.explain();
        assert!(meaning.len() > 10 && remedy.len() > 10, "{code}");
    }
}
