//! The daemon starts, and starts again: N starts are one start, whatever was open, and the store stays clean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::made::{Made, later, nth};
use crate::domain::operation::samples;
use crate::domain::operation::{Actor, Operation, State};
use crate::domain::principal::Principal;
use crate::domain::{Digest, Millis, Time};
use crate::engine::system::SystemIds;
use crate::engine::testing::OnePerson;
use crate::engine::{self, Limits, Parts, RecoveryReport};
use crate::ports::{Clock, Directory, Invoker, Later, NoReply, Purpose, Reply, Tool, Toolbox};
use crate::store::maintenance::{VerifyOptions, VerifyReport, export, import, verify};
use crate::store::records::Records;

const OPERATIONS: usize = 200;
const STARTS: usize = 5;

/// A clock that stands, nobody who may write, and no tool: nothing but the start itself can change anything.
struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        later()
    }
}

impl Directory for Still {
    fn may_use(&self, _: &str, _: Option<&str>, _: &str, _: &str) -> bool {
        false
    }
    fn may_write(&self, _: &Actor, _: Option<&str>, _: &str, _: &str) -> bool {
        false
    }
    fn owner_of(&self, _: &Principal) -> Option<String> {
        None
    }
    fn approver_groups(&self, _: &Actor, _: &str) -> Option<Vec<String>> {
        Some(Vec::new())
    }
    fn clock_bounds(&self) -> (Millis, Millis) {
        (Millis::secs(60), Millis::secs(60))
    }
    fn escalate_after(&self) -> Millis {
        Millis::secs(300)
    }
}

impl Toolbox for Still {
    fn current(&self, _: &str, _: u32) -> Option<Arc<dyn Tool>> {
        None
    }
    fn pinned(&self, _: Digest, _: &[u8]) -> Result<Arc<dyn Tool>, String> {
        Err("there is no tool here".to_owned())
    }
    fn fingerprint(&self) -> Digest {
        Digest::ZERO
    }
    fn all(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }
}

impl Invoker for Still {
    fn send(
        &self,
        _: crate::domain::request::RenderedRequest,
        _: Purpose,
        _: Duration,
        _: usize,
    ) -> Later<'_, Result<Reply, NoReply>> {
        panic!("nothing is sent by a start");
    }
}

fn start_and_stop(made: &Made) -> RecoveryReport {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let parts = Parts {
        store: Arc::new(made.open()),
        clock: Arc::new(Still),
        ids: Arc::new(SystemIds),
        invoker: Arc::new(Still),
        tools: Arc::new(Still),
        directory: Arc::new(Still),
        policy: Arc::new(OnePerson::default()),
        limits: Limits::default(),
    };
    let (handle, report) = engine::start(parts, runtime.handle().clone(), &AtomicU64::new(0)).unwrap();
    runtime.block_on(handle.stop());
    report
}

fn verified(made: &Made) -> VerifyReport {
    let report = verify(made.path(), &VerifyOptions::default(), later()).unwrap();
    assert!(report.clean, "{:#?}", report.findings);
    report
}

fn operations(made: &Made) -> BTreeMap<usize, Operation> {
    let store = made.open();
    let read = |n| Records(&store).operation(nth(n)).unwrap().unwrap().operation;
    (0..OPERATIONS).map(|n| (n, read(n))).collect()
}

fn mixed() -> Made {
    let stories: Vec<_> =
        samples::all().into_iter().map(|s| s.story).cycle().take(OPERATIONS).collect::<Vec<_>>();
    Made::of(&stories)
}

#[test]
fn five_starts_over_two_hundred_operations_are_one_start() {
    let made = mixed();
    let before = operations(&made);
    let executing = before
        .values()
        .filter(|operation| operation.state == State::Executing && operation.remote.is_none())
        .count() as u64;
    let first = start_and_stop(&made);
    assert!(executing > 0);
    assert_eq!((first.lost, first.quarantined.len()), (executing, 0));
    let (head, after) = (verified(&made).head, operations(&made));
    for (n, operation) in &after {
        let was = &before[n];
        if was.state == State::Executing && was.remote.is_none() {
            assert_eq!(operation.state, State::Unknown, "{n}");
        }
        if was.state.is_ended() {
            assert_eq!(operation, was, "{n}");
        }
        assert_eq!(operation.attempts.len(), was.attempts.len(), "{n}: no attempt began");
    }
    for again in 1..STARTS {
        let report = start_and_stop(&made);
        assert_eq!(report.lost, 0, "start {again}");
        assert_eq!(verified(&made).head, head, "start {again}");
        assert_eq!(operations(&made), after, "start {again}");
    }
}

#[test]
fn what_was_imported_is_held_and_stays_so_over_starts() {
    let made = mixed();
    let file = made.file("backup");
    export(made.path(), &file, later()).unwrap();
    let fresh = Made::nothing();
    import(fresh.path(), &file, later()).unwrap();
    let imported = operations(&fresh);
    assert!(imported.values().all(|operation| operation.state != State::Approved));
    let head = verified(&fresh).head;
    for _ in 0..2 {
        let report = start_and_stop(&fresh);
        assert!(report.held);
        assert_eq!(report.lost, 0);
        let verified = verified(&fresh);
        assert!(verified.held);
        assert_eq!(verified.head, head);
    }
    assert_eq!(operations(&fresh), imported);
}
