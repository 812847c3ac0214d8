//! Who acts: authenticated identities, their roles, and how sure we are of them.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::ids::RunId;

/// What kind of identity it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A program that decides what should change.
    Agent,
    /// A person.
    User,
    /// A person who settles what nobody knows.
    Operator,
    /// A program without a person behind it: cron, CI.
    Service,
}

/// What a principal may do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Open runs, call reads, propose writes, commit approved ones.
    Agent,
    /// Approve and deny.
    Approver,
    /// Resolve, reconcile, cancel, abandon.
    Operator,
    /// Write contracts.
    ContractOwner,
    /// Read everything, redacted.
    Auditor,
    /// Principals, tokens, restore.
    Admin,
}

/// How a principal was authenticated. The peer uid alone proves only that the same account is speaking.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The kernel's peer credentials of the local socket.
    LocalUid,
    /// A bearer token.
    Token,
    /// A login at the console.
    Console,
    /// The daemon itself: timers, recovery, reconciliation.
    Daemon,
}

impl PrincipalKind {
    /// As written in configuration, API and journal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            PrincipalKind::Agent => "agent",
            PrincipalKind::User => "user",
            PrincipalKind::Operator => "operator",
            PrincipalKind::Service => "service",
        }
    }
}

impl Role {
    /// As written in configuration and API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Agent => "agent",
            Role::Approver => "approver",
            Role::Operator => "operator",
            Role::ContractOwner => "contract_owner",
            Role::Auditor => "auditor",
            Role::Admin => "admin",
        }
    }
}

impl Assurance {
    /// As written in API and journal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Assurance::LocalUid => "local_uid",
            Assurance::Token => "token",
            Assurance::Console => "console",
            Assurance::Daemon => "daemon",
        }
    }
}

/// An authenticated identity. What is recorded of it with what it did is an [`super::operation::Actor`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Principal {
    /// Its name, unique in the configuration.
    pub name: String,
    /// Its kind.
    pub kind: PrincipalKind,
    /// The person behind it: two principals of one person count once.
    pub person: String,
    /// The tenant it belongs to.
    pub tenant: String,
    /// What it may do.
    pub roles: Vec<Role>,
    /// The groups of approvers that it belongs to.
    pub groups: Vec<String>,
    /// How it was authenticated.
    pub assurance: Assurance,
    /// The person for whom it acts, as its credential says.
    pub on_behalf_of: Option<String>,
    /// SHA-256 of the token by which it was authenticated, if it was by one.
    pub token: Option<Digest>,
    /// The only run in which its credential is worth anything, if it is the token of a run.
    pub run: Option<RunId>,
}

impl Principal {
    /// The daemon acting by itself.
    #[must_use]
    pub fn daemon() -> Principal {
        Principal {
            name: "writd".into(),
            kind: PrincipalKind::Service,
            person: "writd".into(),
            tenant: "-".into(),
            roles: Vec::new(),
            groups: Vec::new(),
            assurance: Assurance::Daemon,
            on_behalf_of: None,
            token: None,
            run: None,
        }
    }

    /// Whether it holds the role.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}
