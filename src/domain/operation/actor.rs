//! The recorded form of a principal: what the journal keeps of who did something.

use serde::{Deserialize, Serialize};

use crate::domain::principal::{Assurance, Principal, PrincipalKind};

/// Who did something, as it is kept for ever: roles change, this does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Actor {
    /// The principal's name.
    pub name: String,
    /// Its kind.
    pub kind: PrincipalKind,
    /// The person behind it.
    pub person: String,
    /// How sure we were.
    pub assurance: Assurance,
}

impl From<&Principal> for Actor {
    fn from(principal: &Principal) -> Actor {
        Actor {
            name: principal.name.clone(),
            kind: principal.kind,
            person: principal.person.clone(),
            assurance: principal.assurance,
        }
    }
}

impl Actor {
    /// The daemon acting by itself.
    #[must_use]
    pub fn daemon() -> Actor {
        Actor::from(&Principal::daemon())
    }
}
