//! Tokens of principals in the writer: each change in one commit with its entry in the journal.

use super::Writer;
use crate::domain::Digest;
use crate::domain::journal::{Fact, Subject};
use crate::domain::operation::Actor;
use crate::domain::problem::Problem;
use crate::domain::token::Token;
use crate::engine::group::internal;
use crate::engine::handle::{not_found, unreadable};
use crate::engine::message::Reply;
use crate::store::records::{Records, keys};

impl Writer {
    pub(super) fn create_token(&mut self, sha256: Digest, token: Token, reply: Reply<()>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let Some(reply) = self.refuse_low_space(reply) else { return };
        let by = token.by.clone();
        let fact = Fact::TokenCreated { token: Box::new(token.clone()), sha256 };
        let put = self
            .append_fact(Subject::Token(token.id), 1, &fact, &by)
            .and_then(|()| self.put_token(sha256, token, 0));
        match put {
            Ok(()) => self.tell(reply, ()),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    /// Revokes a token; one that is revoked already stays as it is. Also when space is low: it takes something away.
    pub(super) fn revoke_token(&mut self, sha256: Digest, by: &Actor, reply: Reply<Token>) {
        let Some(reply) = self.refuse_while_dead(reply) else { return };
        let (mut token, version) = match self.token(sha256) {
            Ok(found) => found,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        if token.revoked.is_some() {
            return self.tell(reply, token);
        }
        token.revoked = Some((self.now(), by.clone()));
        let fact = Fact::TokenRevoked { tenant: token.tenant.clone() };
        let put = self
            .append_fact(Subject::Token(token.id), 2, &fact, by)
            .and_then(|()| self.put_token(sha256, token.clone(), version));
        match put {
            Ok(()) => self.tell(reply, token),
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    fn put_token(&mut self, sha256: Digest, token: Token, version: u64) -> Result<(), Box<Problem>> {
        self.group.put(keys::token(sha256), version, &token).map_err(|error| internal(&error))?;
        self.group.tokens.insert(sha256, (token, version.saturating_add(1)));
        Ok(())
    }

    fn token(&self, sha256: Digest) -> Result<(Token, u64), Box<Problem>> {
        if let Some(pending) = self.group.tokens.get(&sha256) {
            return Ok(pending.clone());
        }
        let found = Records(self.parts.store.as_ref()).token(sha256).map_err(|error| unreadable(&error))?;
        found.ok_or_else(not_found)
    }
}
