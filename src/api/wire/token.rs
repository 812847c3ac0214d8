//! Tokens as they are shown: everything but the secret, which only the answer has that makes one.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::ids::TokenId;
use crate::domain::operation::Actor;
use crate::domain::principal::Role;
use crate::domain::token::{Token, TokenState};

/// A token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TokenView {
    /// Its id, to revoke it by.
    pub id: TokenId,
    /// For whom it speaks.
    pub principal: String,
    /// The tenant.
    pub tenant: String,
    /// At most these roles; what the principal has lost since is gone.
    pub roles: Vec<Role>,
    /// The principal for whom its bearer acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// `active`, `expired`, `revoked`, or `void` after an import.
    pub state: TokenState,
    /// When it was made.
    pub created: Time,
    /// By whom.
    pub by: Actor,
    /// From then on it is worth nothing.
    pub expires: Time,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Time>,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<Actor>,
}

impl TokenView {
    /// What is shown of a token.
    #[must_use]
    pub fn of(token: &Token, now: Time, epoch: u64) -> TokenView {
        let (revoked, revoked_by) = token.revoked.clone().unzip();
        TokenView {
            id: token.id,
            principal: token.principal.clone(),
            tenant: token.tenant.clone(),
            roles: token.roles.clone(),
            on_behalf_of: token.on_behalf_of.clone(),
            state: token.state(now, epoch),
            created: token.created,
            by: token.by.clone(),
            expires: token.expires,
            revoked,
            revoked_by,
        }
    }
}

/// A token that was just made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IssuedTokenView {
    /// What its bearer sends as `Authorization: Bearer …`. Shown once.
    pub token: String,
    /// Everything about it.
    #[serde(flatten)]
    pub view: TokenView,
}
