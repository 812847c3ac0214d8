//! Tokens: what stands behind a secret that was shown once, and what it is worth now. Only its SHA-256 is kept.
//!
//! A token is never worth more than its principal is at the moment of use: whoever lost a role, was disabled or is gone
//! takes the tokens along. What this module never does: draw a secret, or say why one is worth nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::{RunId, TokenId};
use super::operation::Actor;
use super::principal::{Assurance, Principal, PrincipalKind, Role};
use super::run::Run;
use super::{Digest, Time};

/// What the secrets of principals begin with, so that people and scanners recognise them.
const OF_PRINCIPAL: &str = "writd_t_";
/// What the secrets of runs begin with.
const OF_RUN: &str = "writd_r_";
/// 256 bits in hexadecimal.
const DIGITS: usize = 64;

/// The text of a token. It is never stored or logged: its debug form is empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    run: Option<RunId>,
}

impl Secret {
    /// Of a principal's token, from these bits.
    #[must_use]
    pub fn of_principal(bits: [u8; 32]) -> Secret {
        Secret { text: format!("{OF_PRINCIPAL}{}", Digest(bits)), run: None }
    }

    /// Of a run's token. It names its run, so that it can be looked up there.
    #[must_use]
    pub fn of_run(run: RunId, bits: [u8; 32]) -> Secret {
        let id = run.to_string();
        let digits = id.strip_prefix("run_").unwrap_or(&id);
        Secret { text: format!("{OF_RUN}{digits}_{}", Digest(bits)), run: Some(run) }
    }

    /// A text that has the form of one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Secret> {
        let is_bits = |bits: &str| bits.len() == DIGITS && bits.parse::<Digest>().is_ok();
        let run = if let Some(bits) = text.strip_prefix(OF_PRINCIPAL) {
            is_bits(bits).then_some(None)?
        } else {
            let (id, bits) = text.strip_prefix(OF_RUN)?.split_once('_')?;
            let run = format!("run_{id}").parse().ok()?;
            is_bits(bits).then_some(Some(run))?
        };
        Some(Secret { text: text.to_owned(), run })
    }

    /// The run that it is for, if it is a run's.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        self.run
    }

    /// What is stored of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// The text, for the one answer that shows it.
    #[must_use]
    pub fn reveal(self) -> String {
        self.text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A token of a principal. Stored: the order of members is part of the record format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Token {
    /// Its id, for lists and for revoking it.
    pub id: TokenId,
    /// For whom it speaks.
    pub principal: String,
    /// The principal's tenant when it was made.
    pub tenant: String,
    /// At most these roles.
    pub roles: Vec<Role>,
    /// The principal for whom its bearer acts.
    pub on_behalf_of: Option<String>,
    /// When it was made.
    pub created: Time,
    /// By whom.
    pub by: Actor,
    /// From then on it is worth nothing.
    pub expires: Time,
    /// The epoch of the store in which it was made: a store that was brought back does not know what was revoked since.
    pub epoch: u64,
    /// When and by whom it was revoked.
    pub revoked: Option<(Time, Actor)>,
}

/// What can be said of a token without its principal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenState {
    /// It is worth what its principal is worth.
    Active,
    /// Its time is over.
    Expired,
    /// Somebody revoked it.
    Revoked,
    /// The store was brought back since.
    Void,
}

impl TokenState {
    /// As written in lists.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            TokenState::Active => "active",
            TokenState::Expired => "expired",
            TokenState::Revoked => "revoked",
            TokenState::Void => "void",
        }
    }
}

/// Whether a principal of this kind can act for a person: programs only.
#[must_use]
pub const fn acts_for_others(kind: PrincipalKind) -> bool {
    match kind {
        PrincipalKind::Agent | PrincipalKind::Service => true,
        PrincipalKind::User | PrincipalKind::Operator => false,
    }
}

impl Token {
    /// Whether time, people and epoch still allow it.
    #[must_use]
    pub fn state(&self, now: Time, epoch: u64) -> TokenState {
        if self.revoked.is_some() {
            TokenState::Revoked
        } else if self.epoch != epoch {
            TokenState::Void
        } else if now >= self.expires {
            TokenState::Expired
        } else {
            TokenState::Active
        }
    }

    /// Who its bearer is now. `known` looks principals up as they are configured now.
    #[must_use]
    pub fn bearer(
        &self,
        sha256: Digest,
        (now, epoch): (Time, u64),
        known: &dyn Fn(&str) -> Option<Principal>,
    ) -> Option<Principal> {
        if self.state(now, epoch) != TokenState::Active {
            return None;
        }
        let principal = known(&self.principal).filter(|found| found.tenant == self.tenant)?;
        let on_behalf_of = match &self.on_behalf_of {
            None => None,
            Some(_) if !acts_for_others(principal.kind) => return None,
            Some(name) => Some(known(name).filter(|found| found.tenant == self.tenant)?.person),
        };
        let roles = principal.roles.iter().filter(|role| self.roles.contains(role)).copied().collect();
        Some(Principal {
            roles,
            assurance: Assurance::Token,
            on_behalf_of,
            token: Some(sha256),
            run: None,
            ..principal
        })
    }
}

/// The token of a run that is in force. Stored: the order of members is part of the record format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunToken {
    /// The run.
    pub run: RunId,
    /// SHA-256 of its secret.
    pub sha256: Digest,
    /// When it was issued.
    pub issued: Time,
    /// How many were issued for the run, with this one.
    pub count: u32,
    /// SHA-256 of the token by which its opener had asked for it: without that one this one is worth nothing.
    pub through: Option<Digest>,
    /// The epoch of the store in which it was issued.
    pub epoch: u64,
}

impl RunToken {
    /// Who its bearer is: the opener, as far as the run goes. `opener` is who the opener is now, by the token through
    /// which this one was issued if there was one.
    #[must_use]
    pub fn bearer(
        &self,
        run: &Run,
        (now, epoch): (Time, u64),
        opener: Principal,
        person: &dyn Fn(&str) -> bool,
    ) -> Option<Principal> {
        let same = run.id == self.run && run.opener.name == opener.name && run.tenant == opener.tenant;
        let for_somebody = run.on_behalf_of.as_deref().is_none_or(person);
        if !same || !for_somebody || self.epoch != epoch || !run.is_open(now) {
            return None;
        }
        let roles = opener.roles.iter().filter(|role| **role == Role::Agent).copied().collect();
        Some(Principal {
            roles,
            assurance: Assurance::Token,
            on_behalf_of: run.on_behalf_of.clone(),
            token: Some(self.sha256),
            run: Some(self.run),
            ..opener
        })
    }
}

#[cfg(test)]
mod tests;
