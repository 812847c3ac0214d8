//! An engine over a store in a temporary directory, with a service and contracts made for tests. The engine's own tests
//! and those of the API use it. The service is honest about its effects: tests hold claims against its ledger.

mod notes;
mod service;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::system::{SystemIds, wall};
use super::{Handle, Limits, Parts, RecoveryReport, start};
use crate::domain::budget::Budget;
use crate::domain::operation::{Actor, Body, Proposal, Requirement, WriteClass};
use crate::domain::principal::{Assurance, Principal, PrincipalKind, Role};
use crate::domain::{Digest, Millis, Time};
use crate::ports::{Clock, Directory, Explained, Fit, Policy, Refused, RuleSaid, Ruling};
use crate::store::Store;
use crate::store::sled::{Options, SledStore};

pub(crate) use notes::Notes;
pub(crate) use service::{Behaviour, NoteService};

/// The machine's clock, which a test can put forward, or stop and set.
#[derive(Default)]
pub(crate) struct TestClock(AtomicI64, Mutex<Option<Time>>);

impl TestClock {
    pub(crate) fn set(&self, time: Time) {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }

    pub(crate) fn forward(&self, span: Millis) {
        self.0.fetch_add(i64::try_from(span.0).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        if let Some(set) = *self.1.lock().unwrap_or_else(PoisonError::into_inner) {
            return set;
        }
        Time::from_millis(wall().as_millis() + self.0.load(Ordering::SeqCst))
    }
}

/// Everybody may write, unless a test says otherwise.
#[derive(Default)]
pub(crate) struct TestDirectory {
    banned: Mutex<Vec<String>>,
    budgets: OnceLock<Vec<Budget>>,
    same_account: OnceLock<Vec<String>>,
    known: Mutex<Vec<Principal>>,
}

impl TestDirectory {
    pub(crate) fn ban(&self, name: &str) {
        self.banned.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
    }

    /// Makes a principal known by its name.
    pub(crate) fn know(&self, principal: Principal) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).push(principal);
    }

    /// A principal that a test has made known.
    pub(crate) fn principal_named(&self, name: &str) -> Principal {
        self.principal(name).unwrap()
    }

    fn is_banned(&self, name: &str) -> bool {
        self.banned.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|banned| banned == name)
    }
}

impl TestDirectory {
    /// Names that belong to the account of whoever asks.
    pub(crate) fn one_account(&self, names: &[&str]) {
        self.same_account.set(names.iter().map(|name| (*name).to_owned()).collect()).unwrap();
    }

    pub(crate) fn budget(&self, budget: Budget) {
        self.budgets.set(vec![budget]).unwrap();
    }
}

impl Directory for TestDirectory {
    fn same_account(&self, _: &Actor) -> Vec<String> {
        self.same_account.get().cloned().unwrap_or_default()
    }

    fn budgets(&self) -> &[Budget] {
        self.budgets.get().map_or(&[], Vec::as_slice)
    }

    fn may_use(&self, name: &str, _: Option<&str>, _: &str, tool: &str) -> bool {
        let banned = self.banned.lock().unwrap_or_else(PoisonError::into_inner);
        !banned.contains(&format!("{name} {tool}"))
    }

    fn may_write(&self, requester: &Actor, on_behalf_of: Option<&str>, tenant: &str, tool: &str) -> bool {
        if !self.may_use(&requester.name, on_behalf_of, tenant, tool) {
            return false;
        }
        !self.is_banned(&requester.name)
    }

    fn may_be_acted_for(&self, person: &str, _: &str) -> bool {
        !self.is_banned(person)
    }

    fn principal(&self, name: &str) -> Option<Principal> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.name == name && !self.is_banned(name)).cloned()
    }

    fn owner_of(&self, _: &Principal) -> Option<String> {
        None
    }

    fn approver_groups(&self, _: &Actor, _: &str) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn clock_bounds(&self) -> (Millis, Millis) {
        (Millis::secs(3600), Millis::secs(3600))
    }

    fn escalate_after(&self) -> Millis {
        Millis::secs(900)
    }
}

/// One approver approves every write, nobody a draft, until a test says otherwise.
#[derive(Default)]
pub(crate) struct OnePerson(Mutex<Option<Requirement>>, Mutex<Option<Refused>>);

impl OnePerson {
    pub(crate) fn asks(&self, requirement: Requirement) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(requirement);
    }
}

impl OnePerson {
    pub(crate) fn denies(&self, rule: &str, reason: &str) {
        let refused = Refused { rule: rule.to_owned(), reason: reason.to_owned() };
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
    }
}

impl Policy for OnePerson {
    fn version(&self) -> Digest {
        Digest::of(self.body())
    }

    fn body(&self) -> &[u8] {
        b"[]"
    }

    fn judge(&self, proposal: &Proposal, _: &Body, _: Time) -> Ruling {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let count = u32::from(proposal.rules.class == WriteClass::Write);
        Ruling {
            version: self.version(),
            requirement: asked.unwrap_or(Requirement::of(count)),
            refused: self.1.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            decide_within: None,
            execute_within: None,
            matched: Vec::new(),
        }
    }

    fn explain(&self, proposal: &Proposal, body: &Body, now: Time) -> Explained {
        let rule = |name: &str, tenant: Option<&str>| RuleSaid {
            rule: name.to_owned(),
            says: "approve: 1".to_owned(),
            tenant: tenant.map(str::to_owned),
            condition: Some("now.hour < 24".to_owned()),
            fit: Fit::Matched,
        };
        let rules = vec![rule("one-person", None), rule("of-others", Some("somebody-else"))];
        Explained { ruling: self.judge(proposal, body, now), rules }
    }
}

/// An engine and everything around it. The directory goes with it.
pub(crate) struct World {
    pub(crate) handle: Handle,
    pub(crate) service: Arc<NoteService>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) directory: Arc<TestDirectory>,
    pub(crate) policy: Arc<OnePerson>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) report: RecoveryReport,
    _files: Arc<tempfile::TempDir>,
}

type Around = (Arc<NoteService>, Arc<TestClock>, (Arc<TestDirectory>, Arc<OnePerson>));

impl World {
    /// Starts an engine over an empty store. Needs a running tokio.
    pub(crate) fn start() -> World {
        World::with(Limits::default(), |store| Arc::new(store))
    }

    /// The same with other limits, over a store that is wrapped.
    pub(crate) fn with(limits: Limits, wrap: impl FnOnce(SledStore) -> Arc<dyn Store>) -> World {
        let files = Arc::new(tempfile::tempdir().unwrap());
        let options = Options {
            reserve_bytes: 0,
            low_space_bytes: 0,
            cache_bytes: 1 << 22,
            ..Options::new(files.path().join("store"))
        };
        let service = Arc::new(NoteService::default());
        let clock = Arc::new(TestClock::default());
        let around = (Arc::new(TestDirectory::default()), Arc::new(OnePerson::default()));
        let store = wrap(SledStore::open(options).unwrap());
        World::over(store, limits, (service, clock, around), files)
    }

    fn over(
        store: Arc<dyn Store>,
        limits: Limits,
        (service, clock, (directory, policy)): Around,
        files: Arc<tempfile::TempDir>,
    ) -> World {
        let parts = Parts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(SystemIds),
            invoker: Arc::clone(&service) as _,
            tools: Arc::new(Notes::default()),
            directory: Arc::clone(&directory) as _,
            policy: Arc::clone(&policy) as _,
            limits,
        };
        let (handle, report) = start(parts, tokio::runtime::Handle::current(), &AtomicU64::new(0)).unwrap();
        World { handle, service, clock, directory, policy, store, report, _files: files }
    }

    /// Another engine over the same store; the writer of the first has stopped after what was queued.
    pub(crate) async fn restart(self) -> World {
        self.handle.stop().await;
        let around = (self.service, self.clock, (self.directory, self.policy));
        World::over(self.store, self.handle.parts.limits, around, self._files)
    }
}

/// A principal of the tenant `default`.
pub(crate) fn principal(name: &str, kind: PrincipalKind, roles: &[Role]) -> Principal {
    Principal {
        name: name.to_owned(),
        kind,
        person: name.to_owned(),
        tenant: "default".to_owned(),
        roles: roles.to_vec(),
        groups: Vec::new(),
        assurance: Assurance::LocalUid,
        on_behalf_of: None,
        token: None,
        run: None,
    }
}
