//! From the kernel's word about the peer to a principal.

use super::{Config, ConfiguredPrincipal};
use crate::domain::principal::{Assurance, Principal};

/// Why nobody was identified. A name of another account, or a disabled one, answers exactly like one that does not
/// exist.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IdentifyError {
    /// The account has no name.
    #[error(
        "uid {uid} is no principal of this daemon; an administrator adds it to [[principal]] in daemon.toml"
    )]
    NoPrincipal {
        /// The account.
        uid: u32,
    },
    /// The account has several names, none is its default, and none was given.
    #[error("this account has several names; choose one with --as: {}", names.join(", "))]
    Ambiguous {
        /// Its own names.
        names: Vec<String>,
    },
    /// Not a name of this account.
    #[error("this account has no such name; its own: {}", names.join(", "))]
    UnknownName {
        /// Its own names.
        names: Vec<String>,
    },
}

impl Config {
    /// Who speaks: the account of the peer, and the name that it chose if it has several.
    ///
    /// # Errors
    /// None of the account's names is meant.
    pub fn identify(&self, uid: u32, as_name: Option<&str>) -> Result<Principal, IdentifyError> {
        let own: Vec<&ConfiguredPrincipal> =
            self.enabled().filter(|principal| principal.uids.contains(&uid)).collect();
        let names = || own.iter().map(|principal| principal.name.clone()).collect();
        let found = match (as_name, own.as_slice()) {
            (_, []) => return Err(IdentifyError::NoPrincipal { uid }),
            (Some(name), _) => own
                .iter()
                .find(|principal| principal.name == name)
                .ok_or_else(|| IdentifyError::UnknownName { names: names() })?,
            (None, [only]) => only,
            (None, _) => own
                .iter()
                .find(|principal| principal.default)
                .ok_or_else(|| IdentifyError::Ambiguous { names: names() })?,
        };
        Ok(principal_of(found))
    }

    /// A principal by its name, however it is going to prove that it is the one; none if it is disabled.
    #[must_use]
    pub fn principal(&self, name: &str) -> Option<Principal> {
        self.enabled().find(|principal| principal.name == name).map(principal_of)
    }

    /// Those that may do anything.
    pub fn enabled(&self) -> impl Iterator<Item = &ConfiguredPrincipal> {
        self.principals.iter().filter(|principal| principal.enabled)
    }

    /// The person who owns an agent and cannot approve its writes.
    #[must_use]
    pub fn owner_of(&self, name: &str) -> Option<&str> {
        self.principals.iter().find(|principal| principal.name == name)?.owner.as_deref()
    }
}

fn principal_of(found: &ConfiguredPrincipal) -> Principal {
    Principal {
        name: found.name.clone(),
        kind: found.kind,
        person: found.person.clone(),
        tenant: found.tenant.clone(),
        roles: found.roles.clone(),
        groups: found.groups.clone(),
        assurance: Assurance::LocalUid,
        on_behalf_of: None,
        token: None,
        run: None,
    }
}
