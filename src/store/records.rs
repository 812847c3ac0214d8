//! The typed layer: which records there are, under which keys, and how they are read. Writing is the business of the
//! engine's group commit, which builds its batches with [`keys`] and [`super::codec`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::codec::{NotDecoded, decode};
use super::{Damage, Key, Range, ReadError, Record, Store};
use crate::domain::ids::{OperationId, RunId};
use crate::domain::journal::{Entry, Fact, Head};
use crate::domain::operation::{Body, Operation, RawAnswer, State};
use crate::domain::pause::Pause;
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Token};
use crate::domain::{Digest, Time};

/// The keys of all records. First byte: the kind.
pub mod keys {
    use super::{Digest, Key, OperationId, RunId, State};

    fn key(space: u8, parts: &[&[u8]]) -> Key {
        // Every part has a fixed length and all of them together stay under the limit of a key.
        Key::new(space, parts).unwrap_or_else(|_| Key::space(space))
    }

    /// An operation that has not ended; the start reads all of these and nothing else.
    #[must_use]
    pub fn open(id: OperationId) -> Key {
        key(b'p', &[&id.to_bytes()])
    }
    /// An operation that has ended. A record is under one of the two keys, and moves in one batch.
    #[must_use]
    pub fn ended(id: OperationId) -> Key {
        key(b'o', &[&id.to_bytes()])
    }
    /// The key of an operation in this state.
    #[must_use]
    pub fn operation(state: State, id: OperationId) -> Key {
        if state.is_ended() { ended(id) } else { open(id) }
    }
    /// The bodies of its proposal.
    #[must_use]
    pub fn body(id: OperationId) -> Key {
        key(b'b', &[&id.to_bytes()])
    }
    /// An answer of it that claimed success and was not fit to be a receipt.
    #[must_use]
    pub fn raw(id: OperationId) -> Key {
        key(b'q', &[&id.to_bytes()])
    }
    /// Present when it has ended in this state, so that a page of them needs no scan. Success is not indexed: it is what
    /// nearly all of them end in, and each key costs as much as a record.
    #[must_use]
    pub fn by_end(state: State, id: OperationId) -> Option<Key> {
        if state == State::Succeeded || !state.is_ended() {
            return None;
        }
        let place = State::ALL.iter().position(|known| *known == state)?;
        Some(key(b'e', &[&[u8::try_from(place).ok()?], &id.to_bytes()]))
    }
    /// A page of the journal: the entries that one commit wrote, or some of them, by the place of the first.
    #[must_use]
    pub fn page(seq: u64) -> Key {
        key(b'j', &[&seq.to_be_bytes()])
    }
    /// A contract's body, by its fingerprint.
    #[must_use]
    pub fn contract(fingerprint: Digest) -> Key {
        key(b'c', &[&fingerprint.0])
    }
    /// A run.
    #[must_use]
    pub fn run(id: RunId) -> Key {
        key(b'r', &[&id.to_bytes()])
    }
    /// A record of our own API's idempotency keys, by the digest of scope and key.
    #[must_use]
    pub fn idempotency(scope: Digest) -> Key {
        key(b'i', &[&scope.0])
    }
    /// A token of a principal, by the digest of its secret: who brings the secret finds it, and nobody else.
    #[must_use]
    pub fn token(sha256: Digest) -> Key {
        key(b't', &[&sha256.0])
    }
    /// The token of a run that is in force.
    #[must_use]
    pub fn run_token(id: RunId) -> Key {
        key(b'u', &[&id.to_bytes()])
    }
    /// The daemon's own record.
    #[must_use]
    pub fn meta() -> Key {
        Key::space(b'm')
    }
    /// All records of a kind.
    #[must_use]
    pub fn space(space: u8) -> Key {
        Key::space(space)
    }
}

/// An operation with the places of its events in the journal: the head record of its history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// The operation, as its events made it.
    pub operation: Operation,
    /// The places of its events in the journal, in order; as many as it has events.
    pub history: Vec<u64>,
}

/// An operation that has not ended, or why its record cannot be read.
pub type OpenRow = (OperationId, Result<Stored, RecordError>);

/// A token with the digest of its secret, or why its record cannot be read.
pub type TokenRow = (Digest, Result<Token, RecordError>);

/// The daemon's own record.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Grows with every import.
    pub epoch: u64,
    /// Writes are held until `writd restore accept`.
    pub held: bool,
    /// The catalog that was loaded last.
    pub catalog: Digest,
    /// The configuration that was loaded last.
    pub configuration: Digest,
    /// The policy table that was loaded last.
    pub policy: Digest,
    /// What is paused, each thing once.
    pub pauses: Vec<Pause>,
}

impl Meta {
    /// Takes in what the journal says of the daemon itself.
    pub fn hear(&mut self, fact: &Fact) {
        match fact {
            Fact::CatalogLoaded { catalog, .. } => self.catalog = *catalog,
            Fact::ConfigurationLoaded { configuration, .. } => self.configuration = *configuration,
            Fact::PolicyLoaded { policy, .. } => self.policy = *policy,
            Fact::Imported { epoch, .. } => {
                self.epoch = *epoch;
                self.held = true;
            }
            Fact::RestoreAccepted { .. } => self.held = false,
            Fact::Paused(pause) => {
                self.pauses.retain(|known| (known.scope, &known.name) != (pause.scope, &pause.name));
                self.pauses.push(pause.clone());
            }
            Fact::Resumed { scope, name } => {
                self.pauses.retain(|known| (known.scope, &known.name) != (*scope, name));
            }
            Fact::Operation(_)
            | Fact::RunOpened(_)
            | Fact::RunEnded(_)
            | Fact::TokenCreated { .. }
            | Fact::TokenRevoked { .. }
            | Fact::RunTokenIssued(_) => {}
        }
    }
}

/// What our own API remembers of a creating request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// SHA-256 of the canonical request, to tell a repeat from another request under the same key.
    pub request: Digest,
    /// SHA-256 of the canonical arguments, for the message of a conflict.
    pub arguments: Digest,
    /// What was created.
    pub created: Created,
    /// When.
    pub at: Time,
}

/// What a creating request created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Created {
    /// An operation.
    Operation(OperationId),
    /// A run.
    Run(RunId),
    /// Nothing: an approver has denied it for good, with this operation.
    Denial(OperationId),
}

/// Why a record cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The store says no.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The frame is whole but its content is not of this kind.
    #[error("{key}: {why}")]
    Decode {
        /// Where.
        key: Key,
        /// Why.
        why: NotDecoded,
    },
}

/// Typed reads over any store.
#[derive(Clone, Copy)]
pub struct Records<'a>(pub &'a dyn Store);

impl Records<'_> {
    /// A record and its version.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn get<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<(T, u64)>, RecordError> {
        let Some(record) = self.0.get(key)? else { return Ok(None) };
        match decode(&record.payload) {
            Ok(value) => Ok(Some((value, record.version))),
            Err(why) => Err(RecordError::Decode { key: key.clone(), why }),
        }
    }

    fn value<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>, RecordError> {
        Ok(self.get(key)?.map(|(value, _)| value))
    }

    /// An operation.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn operation(&self, id: OperationId) -> Result<Option<Stored>, RecordError> {
        match self.value(&keys::ended(id))? {
            Some(ended) => Ok(Some(ended)),
            // It may move from open to ended between the two reads.
            None => match self.value(&keys::open(id))? {
                Some(open) => Ok(Some(open)),
                None => self.value(&keys::ended(id)),
            },
        }
    }

    /// The bodies of a proposal.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn body(&self, id: OperationId) -> Result<Option<Body>, RecordError> {
        self.value(&keys::body(id))
    }

    /// The last answer of an operation that claimed success and was not fit to be a receipt.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn raw(&self, id: OperationId) -> Result<Option<RawAnswer>, RecordError> {
        self.value(&keys::raw(id))
    }

    /// A contract's body.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn contract(&self, fingerprint: Digest) -> Result<Option<Vec<u8>>, RecordError> {
        Ok(self.0.get(&keys::contract(fingerprint))?.map(|record| record.payload))
    }

    /// A run.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn run(&self, id: RunId) -> Result<Option<Run>, RecordError> {
        self.value(&keys::run(id))
    }

    /// What is remembered of a creating request.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn idempotency(&self, scope: Digest) -> Result<Option<IdempotencyRecord>, RecordError> {
        self.value(&keys::idempotency(scope))
    }

    /// A token of a principal and the version of its record.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn token(&self, sha256: Digest) -> Result<Option<(Token, u64)>, RecordError> {
        self.get(&keys::token(sha256))
    }

    /// All tokens of principals, with the digests of their secrets. One that cannot be read hides no other.
    ///
    /// # Errors
    /// [`RecordError`] when the store cannot be read at all.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, RecordError> {
        let rows = self.0.scan(&Range::prefix(&keys::space(b't')), usize::MAX)?;
        Ok(rows.into_iter().map(|(key, record)| (digest_at_end(&key), decode_row(&key, record))).collect())
    }

    /// The token of a run that is in force, and the version of its record.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn run_token(&self, id: RunId) -> Result<Option<(RunToken, u64)>, RecordError> {
        self.get(&keys::run_token(id))
    }

    /// The daemon's own record and its version.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn meta(&self) -> Result<(Meta, u64), RecordError> {
        Ok(self.get(&keys::meta())?.unwrap_or_default())
    }

    /// The page of the journal that holds this place, if there is one.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn page_of(&self, seq: u64) -> Result<Vec<Entry>, RecordError> {
        let range = Range::between(keys::page(0), keys::page(seq.saturating_add(1))).reversed();
        let Some((key, record)) = self.0.scan(&range, 1)?.pop() else { return Ok(Vec::new()) };
        decode_row(&key, record)
    }

    /// An entry of the journal.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn entry(&self, seq: u64) -> Result<Option<Entry>, RecordError> {
        Ok(self.page_of(seq)?.into_iter().find(|entry| entry.seq == seq))
    }

    /// Where the journal ends.
    ///
    /// # Errors
    /// [`RecordError`]; a last entry that cannot be read is an error, never an earlier head.
    pub fn head(&self) -> Result<Head, RecordError> {
        let Some(key) = self.0.last_key(&keys::space(b'j'))? else { return Ok(Head::default()) };
        let page: Vec<Entry> = self.value(&key)?.unwrap_or_default();
        Ok(page.last().map_or_else(Head::default, |entry| Head {
            seq: entry.seq,
            digest: entry.digest(),
            at: entry.at,
        }))
    }

    /// The operations that have not ended. One that cannot be read hides no other.
    ///
    /// # Errors
    /// [`RecordError`] when the store cannot be read at all.
    pub fn open(&self) -> Result<Vec<OpenRow>, RecordError> {
        let rows = self.0.scan(&Range::prefix(&keys::space(b'p')), usize::MAX)?;
        Ok(rows
            .into_iter()
            .filter_map(|(key, record)| id_at_end(&key).map(|id| (id, decode_row(&key, record))))
            .collect())
    }
}

/// The content of a scanned row.
///
/// # Errors
/// [`RecordError`].
pub fn decode_row<T: DeserializeOwned>(key: &Key, record: Result<Record, Damage>) -> Result<T, RecordError> {
    let record = record.map_err(|what| ReadError::Damaged { key: key.clone(), what })?;
    decode(&record.payload).map_err(|why| RecordError::Decode { key: key.clone(), why })
}

/// The id at the end of a key.
#[must_use]
pub fn id_at_end(key: &Key) -> Option<OperationId> {
    let bytes = key.as_bytes();
    let tail = bytes.get(bytes.len().checked_sub(16)?..)?;
    tail.try_into().ok().map(OperationId::from_bytes)
}

/// The digest at the end of a key; a key of another length is found by `verify`.
#[must_use]
pub fn digest_at_end(key: &Key) -> Digest {
    let bytes = key.as_bytes();
    let tail = bytes.len().checked_sub(32).and_then(|start| bytes.get(start..));
    tail.and_then(|tail| tail.try_into().ok()).map_or(Digest::ZERO, Digest)
}
