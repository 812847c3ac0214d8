//! The journal: every change of every operation and run, and every administrative change, in one chain.
//!
//! An entry's digest covers its header, a salted commitment of its payload, and the digest of the entry before. The
//! payload can be erased without breaking the chain; a changed, lost or re-ordered entry breaks it. The chain is
//! tamper-evident against a head that was kept elsewhere.

use serde::{Deserialize, Serialize};

use super::ids::{OperationId, RunId, TokenId};
use super::operation::{Actor, Event};
use super::run::RunEnd;
use super::token::{RunToken, Token};
use super::{Digest, Time};

/// What an entry is about. Stored: add at the end, never reorder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// An operation.
    Operation(OperationId),
    /// A run.
    Run(RunId),
    /// The daemon itself.
    System,
    /// A token of a principal.
    Token(TokenId),
}

/// What happened. Stored: add at the end, never reorder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// To an operation.
    Operation(Event),
    /// A run was opened.
    RunOpened(Box<super::run::Run>),
    /// A run ended.
    RunEnded(RunEnd),
    /// A catalog of contracts was loaded, with its fingerprint and the one before.
    CatalogLoaded {
        /// The fingerprint.
        catalog: Digest,
        /// The one before, zero for none.
        before: Digest,
    },
    /// The configuration that decides who may do what was loaded.
    ConfigurationLoaded {
        /// Its digest.
        configuration: Digest,
        /// The one before, zero for none.
        before: Digest,
    },
    /// A backup was imported: a new epoch, writes are held.
    Imported {
        /// The new epoch.
        epoch: u64,
        /// The head of the chain that was imported.
        head: Digest,
    },
    /// Writes of the epoch are released.
    RestoreAccepted {
        /// The epoch.
        epoch: u64,
    },
    /// A policy table came into force; its body is in the store under this digest.
    PolicyLoaded {
        /// Its digest.
        policy: Digest,
        /// The one before, zero for none.
        before: Digest,
    },
    /// Nothing more starts there.
    Paused(super::pause::Pause),
    /// It goes on there.
    Resumed {
        /// What was paused.
        scope: super::pause::PauseScope,
        /// Its name.
        name: String,
    },
    /// A token was made for a principal.
    TokenCreated {
        /// Everything about it.
        token: Box<Token>,
        /// SHA-256 of its secret.
        sha256: Digest,
    },
    /// A token was revoked.
    TokenRevoked {
        /// The tenant of its principal.
        tenant: String,
    },
    /// A run got a token; the one before is worth nothing any more.
    RunTokenIssued(Box<RunToken>),
}

impl Fact {
    /// Its name, part of the header.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Fact::Operation(event) => event.kind().as_str(),
            Fact::RunOpened(_) => "run_opened",
            Fact::RunEnded(_) => "run_ended",
            Fact::CatalogLoaded { .. } => "catalog_loaded",
            Fact::ConfigurationLoaded { .. } => "configuration_loaded",
            Fact::Imported { .. } => "imported",
            Fact::RestoreAccepted { .. } => "restore_accepted",
            Fact::PolicyLoaded { .. } => "policy_loaded",
            Fact::Paused(_) => "paused",
            Fact::Resumed { .. } => "resumed",
            Fact::TokenCreated { .. } => "token_created",
            Fact::TokenRevoked { .. } => "token_revoked",
            Fact::RunTokenIssued(_) => "run_token_issued",
        }
    }
}

/// One entry. Stored: the order of members is part of the record format.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the journal, from 1, dense.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Who.
    pub by: Actor,
    /// About what.
    pub subject: Subject,
    /// Its place among the entries of its subject, from 1, dense. Zero for the daemon itself.
    pub number: u32,
    /// The fact's name.
    pub name: String,
    /// SHA-256 of salt and payload.
    pub commitment: Digest,
    /// The digest of the entry before; zero for the first.
    pub before: Digest,
    /// Drawn for this entry, so that nobody can guess an erased payload from its commitment.
    pub salt: [u8; 16],
    /// The encoded fact; empty when erased.
    pub payload: Vec<u8>,
}

impl Entry {
    /// SHA-256 of salt and payload.
    #[must_use]
    pub fn commit(salt: &[u8; 16], payload: &[u8]) -> Digest {
        Digest::of_parts(&[salt, payload])
    }

    /// Whether the payload was erased.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.payload.is_empty()
    }

    /// Whether the payload is the one that was committed to; an erased one is not checked.
    #[must_use]
    pub fn payload_matches(&self) -> bool {
        self.is_erased() || Entry::commit(&self.salt, &self.payload) == self.commitment
    }

    /// The digest that the next entry carries: over a fixed layout, each text behind its length.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(b"writd journal 1");
        bytes.extend_from_slice(&self.seq.to_be_bytes());
        bytes.extend_from_slice(&self.at.as_millis().to_be_bytes());
        match self.subject {
            Subject::Operation(id) => {
                bytes.push(1);
                bytes.extend_from_slice(&id.to_bytes());
            }
            Subject::Run(id) => {
                bytes.push(2);
                bytes.extend_from_slice(&id.to_bytes());
            }
            Subject::System => bytes.push(3),
            Subject::Token(id) => {
                bytes.push(4);
                bytes.extend_from_slice(&id.to_bytes());
            }
        }
        bytes.extend_from_slice(&self.number.to_be_bytes());
        let assurance = self.by.assurance;
        let texts =
            [self.name.as_str(), &self.by.name, &self.by.person, self.by.kind.as_str(), assurance.as_str()];
        for text in texts {
            bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.commitment.0);
        bytes.extend_from_slice(&self.before.0);
        Digest::of(&bytes)
    }
}

/// Where the journal ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// The last entry's place; zero for an empty journal.
    pub seq: u64,
    /// Its digest; zero for an empty journal.
    pub digest: Digest,
    /// When it happened.
    pub at: Time,
}

#[cfg(test)]
mod tests;
