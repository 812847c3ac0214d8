//! Kinds of trouble, and who does something about them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of trouble a code is. The order is the order of precedence: nothing is said about a request before it is
/// known who asks. The exit code of every command goes by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// No trouble yet.
    Warning,
    /// Who asks is not known.
    Authentication,
    /// Who asks may not, or may not know.
    Permission,
    /// What is asked is not well formed or not offered.
    Validation,
    /// What is asked does not fit what is there.
    Conflict,
    /// Nobody, or not enough people, said yes.
    Governance,
    /// Not now.
    Capacity,
    /// The service, and what it answered.
    Downstream,
    /// It may have happened.
    Unknown,
    /// The disk of the daemon.
    Storage,
    /// A mistake in the daemon.
    Internal,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 11] = [
        Category::Warning,
        Category::Authentication,
        Category::Permission,
        Category::Validation,
        Category::Conflict,
        Category::Governance,
        Category::Capacity,
        Category::Downstream,
        Category::Unknown,
        Category::Storage,
        Category::Internal,
    ];

    /// As written in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::Warning => "warning",
            Category::Authentication => "authentication",
            Category::Permission => "permission",
            Category::Validation => "validation",
            Category::Conflict => "conflict",
            Category::Governance => "governance",
            Category::Capacity => "capacity",
            Category::Downstream => "downstream",
            Category::Unknown => "unknown",
            Category::Storage => "storage",
            Category::Internal => "internal",
        }
    }

    /// The exit code of a command. 0 is success, 1 what has no other number, 2 also a wrong command line; all stay
    /// far below 64, where conventions of shells and service managers begin.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Category::Warning => 0,
            Category::Internal => 1,
            Category::Validation => 2,
            Category::Authentication => 3,
            Category::Permission => 4,
            Category::Conflict => 5,
            Category::Governance => 6,
            Category::Capacity => 7,
            Category::Downstream => 8,
            Category::Unknown => 9,
            Category::Storage => 10,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who can usually do something about a code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Whoever sent the request.
    Caller,
    /// Whoever decides about the proposal.
    Approver,
    /// Whoever runs the daemon and settles what nobody knows.
    Operator,
    /// Whoever wrote the contract.
    ContractOwner,
    /// Whoever gives capabilities.
    Admin,
}

impl Owner {
    /// As written in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Owner::Caller => "caller",
            Owner::Approver => "approver",
            Owner::Operator => "operator",
            Owner::ContractOwner => "contract_owner",
            Owner::Admin => "admin",
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
