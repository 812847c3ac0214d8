//! Stores for tests: every sample of every state, each on a target of its own, written by the code that the daemon
//! writes with, their events interleaved as in life.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::super::open;
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::samples::{self, Person, Story, actor};
use crate::domain::operation::{Actor, Event, Operation, Proposal, Recorded, State, evolve, proposal_digest};
use crate::domain::run::{Run, RunEnd};
use crate::domain::token::{RunToken, Token};
use crate::domain::trace::TraceId;
use crate::domain::{Digest, Time};
use crate::store::append::{self, Header};
use crate::store::codec::encode;
use crate::store::records::{Created, IdempotencyRecord, Meta, Stored, keys};
use crate::store::{Batch, Record, Store};

/// The contract of all samples.
pub(super) const CONTRACT: &[u8] = br#"{"tool":"commit_address_change"}"#;
/// The Idempotency-Key under which the first operation was proposed.
pub(super) const KEY: &str = "order 66/a";

/// The samples' run.
pub(super) fn run_id() -> RunId {
    samples::proposal(samples::rules()).run
}

/// A run that was cancelled.
pub(super) fn ended_run_id() -> RunId {
    RunId::from_u128(run_id().as_u128() + 1)
}

/// The scope of [`KEY`].
pub(super) fn scope() -> Digest {
    let parts = serde_json::json!(["acme", actor(Person::Planner).name, run_id(), KEY]);
    crate::domain::json::Canonical::of(&parts).unwrap().digest()
}

/// A state directory with a store.
pub(super) struct Made {
    dir: TempDir,
}

/// The nth operation of a made store.
pub(super) fn nth(n: usize) -> OperationId {
    samples::operation(1000 + n as u128)
}

/// After everything that happened to the samples.
pub(super) fn later() -> Time {
    samples::time(86_400_000)
}

impl Made {
    /// An empty state directory.
    pub(super) fn nothing() -> Made {
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        Made { dir: tempfile::Builder::new().permissions(private).tempdir().unwrap() }
    }

    /// Every sample once.
    pub(super) fn all() -> Made {
        Made::of(&samples::all().into_iter().map(|sample| sample.story).collect::<Vec<_>>())
    }

    /// These stories.
    pub(super) fn of(stories: &[Story]) -> Made {
        let made = Made::nothing();
        let store = made.open();
        let mut pen = Pen::new(&store);
        pen.begin();
        let stories: Vec<Vec<Recorded>> =
            stories.iter().enumerate().map(|(n, story)| retold(&story.recorded, n, |_| {})).collect();
        let longest = stories.iter().map(Vec::len).max().unwrap_or(0);
        for step in 0..longest {
            for (n, story) in stories.iter().enumerate() {
                if let Some(recorded) = story.get(step) {
                    pen.event(nth(n), recorded);
                }
            }
        }
        drop(store);
        made
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn open(&self) -> open::Opened {
        open::open_at(&open::store_path(self.path())).unwrap()
    }

    /// The same store in another state directory.
    pub(super) fn copy(&self) -> Made {
        let to = Made::nothing();
        copy_dir(&open::store_path(self.path()), &open::store_path(to.path()));
        to
    }

    /// Changes the store behind everybody's back.
    pub(super) fn tamper(&self, change: impl FnOnce(&dyn Store) -> Batch) {
        let store = self.open();
        store.commit(&change(&store)).unwrap();
    }
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.metadata().unwrap().is_dir() {
            copy_dir(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The same story on another target, under another id.
pub(super) fn retold(story: &[Recorded], n: usize, change: fn(&mut Proposal)) -> Vec<Recorded> {
    let mut digest = Digest::ZERO;
    story
        .iter()
        .map(|recorded| {
            let mut recorded = recorded.clone();
            match &mut recorded.event {
                Event::Proposed(proposal) => {
                    let proposal = Arc::make_mut(proposal);
                    proposal.id = nth(n);
                    proposal.key = format!("{}:{}", proposal.run, nth(n));
                    proposal.contract = Digest::of(CONTRACT);
                    proposal.target.id = format!("c-{n}");
                    proposal.target.scope = format!("c-{n}");
                    change(proposal);
                    proposal.proposal_sha256 = proposal_digest(proposal, &samples::body());
                    digest = proposal.proposal_sha256;
                }
                Event::ApprovalRecorded { digest: shown, .. } | Event::Approved { digest: shown, .. } => {
                    *shown = digest;
                }
                Event::CompensationStarted { operation } => *operation = nth(0),
                _ => {}
            }
            recorded
        })
        .collect()
}

/// The digest of the token's secret.
pub(super) const SECRET: Digest = Digest([7; 32]);

pub(super) fn token() -> Token {
    Token {
        id: TokenId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0d01),
        principal: "planner".into(),
        tenant: "acme".into(),
        roles: vec![crate::domain::principal::Role::Agent],
        on_behalf_of: Some("carla".into()),
        created: samples::start(),
        by: actor(Person::Root),
        expires: later(),
        epoch: 0,
        revoked: Some((later(), actor(Person::Root))),
    }
}

pub(super) fn run_token(count: u32) -> RunToken {
    let sha256 = Digest([u8::try_from(count).unwrap(); 32]);
    RunToken { run: run_id(), sha256, issued: samples::start(), count, through: Some(SECRET), epoch: 0 }
}

/// Writes as the engine does, one event per commit.
pub(super) struct Pen<'a> {
    store: &'a dyn Store,
    head: Head,
}

impl<'a> Pen<'a> {
    pub(super) fn new(store: &'a dyn Store) -> Pen<'a> {
        let head = crate::store::records::Records(store).head().unwrap();
        Pen { store, head }
    }

    fn entry(&mut self, at: Time, by: &Actor, subject: Subject, number: u32, fact: &Fact) -> Entry {
        let salt: [u8; 16] = self.head.seq.to_be_bytes().repeat(2).try_into().unwrap();
        let header = Header { at, by, subject, number, salt };
        let entry = append::entry(&self.head, header, fact).unwrap();
        self.head = append::head_of(&entry);
        entry
    }

    fn commit(&self, batch: Batch, entries: &[Entry]) {
        let pages = append::pages(entries).unwrap();
        let batch = pages.into_iter().fold(batch, |batch, (key, record)| batch.put(key, record));
        self.store.commit(&batch).unwrap();
    }

    /// Two runs, the loads of catalog and configuration, the contract, a remembered key.
    fn begin(&mut self) {
        let (catalog, configuration) = (Digest::of(b"catalog"), Digest::of(b"configuration"));
        let meta = Meta { catalog, configuration, ..Meta::default() };
        let planner = actor(Person::Planner);
        let mut entries = vec![
            self.entry(
                samples::start(),
                &Actor::daemon(),
                Subject::System,
                0,
                &Fact::CatalogLoaded { catalog, before: Digest::ZERO },
            ),
            self.entry(
                samples::start(),
                &Actor::daemon(),
                Subject::System,
                0,
                &Fact::ConfigurationLoaded { configuration, before: Digest::ZERO },
            ),
        ];
        let mut batch = Batch::new().put_if(keys::meta(), 0, encode(&meta).unwrap());
        for (id, ended) in [(run_id(), None), (ended_run_id(), Some((later(), RunEnd::Cancelled)))] {
            let run = Run {
                id,
                tenant: "acme".into(),
                opener: planner.clone(),
                trace: TraceId::of_run(id),
                contracts: Digest::ZERO,
                on_behalf_of: None,
                purpose: "moves".into(),
                tools: vec!["commit_address_change.v2".into()],
                opened: samples::start(),
                deadline: None,
                ended: None,
            };
            let opened = Fact::RunOpened(Box::new(run.clone()));
            entries.push(self.entry(samples::start(), &planner, Subject::Run(id), 1, &opened));
            if ended.is_some() {
                let fact = Fact::RunEnded(RunEnd::Cancelled);
                entries.push(self.entry(later(), &planner, Subject::Run(id), 2, &fact));
            }
            let version = if ended.is_some() { 2 } else { 1 };
            let payload = encode(&Run { ended, ..run }).unwrap();
            batch = batch.put(keys::run(id), Record { version, payload });
        }
        let remembered = IdempotencyRecord {
            request: Digest::of(b"request"),
            arguments: Digest::of(b"arguments"),
            created: Created::Operation(nth(0)),
            at: samples::start(),
        };
        let record = |payload: Vec<u8>| Record { version: 1, payload };
        batch = batch
            .put(keys::contract(Digest::of(CONTRACT)), record(CONTRACT.to_vec()))
            .put(keys::idempotency(scope()), record(encode(&remembered).unwrap()));
        batch = self.tokens(batch, &mut entries);
        self.commit(batch, &entries);
    }

    /// A token that was revoked, and the second token of the open run.
    fn tokens(&mut self, mut batch: Batch, entries: &mut Vec<Entry>) -> Batch {
        let (at, root) = (samples::start(), actor(Person::Root));
        let token = token();
        let made =
            Fact::TokenCreated { token: Box::new(Token { revoked: None, ..token.clone() }), sha256: SECRET };
        let revoked = Fact::TokenRevoked { tenant: token.tenant.clone() };
        entries.push(self.entry(at, &root, Subject::Token(token.id), 1, &made));
        entries.push(self.entry(later(), &root, Subject::Token(token.id), 2, &revoked));
        batch = batch.put(keys::token(SECRET), Record { version: 2, payload: encode(&token).unwrap() });
        for count in 1..=2 {
            let issued = run_token(count);
            let fact = Fact::RunTokenIssued(Box::new(issued.clone()));
            entries.push(self.entry(at, &actor(Person::Planner), Subject::Run(run_id()), 1 + count, &fact));
            let record = Record { version: u64::from(count), payload: encode(&issued).unwrap() };
            batch = batch.put(keys::run_token(run_id()), record);
        }
        batch
    }

    /// One event of this operation.
    pub(super) fn event(&mut self, id: OperationId, recorded: &Recorded) -> Operation {
        let before = crate::store::records::Records(self.store).operation(id).unwrap();
        let operation = evolve(before.as_ref().map(|stored| &stored.operation), recorded).unwrap();
        let fact = Fact::Operation(recorded.event.clone());
        let subject = Subject::Operation(id);
        let entry = self.entry(recorded.at, &recorded.by, subject, operation.events, &fact);
        let mut history = before.as_ref().map(|stored| stored.history.clone()).unwrap_or_default();
        history.push(entry.seq);
        let after = Stored { operation, history };
        let mut batch = append::operation(before.as_ref(), &after).unwrap();
        if before.is_none() {
            let payload = encode(&samples::body()).unwrap();
            batch = batch.put(keys::body(id), Record { version: 1, payload });
        }
        self.commit(batch, &[entry]);
        after.operation
    }
}

/// How many samples there are of each state.
pub(super) fn samples_in(state: State) -> u64 {
    samples::all().iter().filter(|sample| sample.story.operation.state == state).count() as u64
}
