//! Tokens: made and revoked by an administrator, issued with a run, and looked up whenever somebody brings one.
//!
//! Everything that is wrong with a token is answered with the same words: whoever brings a secret learns only whether it
//! is worth something.

use super::handle::{Handle, not_found, unreadable};
use super::message::Message;
use crate::domain::ids::{RunId, TokenId};
use crate::domain::journal::{Entry, Fact};
use crate::domain::operation::Actor;
use crate::domain::principal::{Principal, Role};
use crate::domain::problem::Problem;
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Secret, Token, acts_for_others};
use crate::domain::{Code, Digest, Millis, Time};

/// What an administrator says of a new token.
#[derive(Clone, Debug)]
pub struct CreateToken {
    /// For whom it is to speak.
    pub principal: String,
    /// At most these roles; none: all that the principal has.
    pub roles: Option<Vec<Role>>,
    /// How long; none: as configured.
    pub lifetime: Option<Millis>,
    /// The principal for whom its bearer acts.
    pub on_behalf_of: Option<String>,
}

/// A new token and its secret, which is nowhere else.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: Token,
    /// What its bearer brings.
    pub secret: Secret,
}

fn invalid(pointer: &str, detail: impl Into<String>) -> Box<Problem> {
    Box::new(Problem::new(Code::InvalidArgument, detail).pointer(pointer))
}

/// The one answer to every token that is worth nothing, and to none where one is needed.
#[must_use]
pub(crate) fn no_good_token() -> Box<Problem> {
    let detail = "this needs a good token: one that is known, neither expired nor revoked, and whose principal may \
                  still be used";
    Box::new(Problem::new(Code::Unauthenticated, detail))
}

impl Handle {
    /// Who brings this text.
    ///
    /// # Errors
    /// UNAUTHENTICATED, in the same words whatever is wrong; INTERNAL when a record cannot be read.
    pub fn bearer(&self, text: &str) -> Result<Principal, Box<Problem>> {
        let secret = Secret::parse(text).ok_or_else(no_good_token)?;
        self.worth(secret.digest(), secret.run())
    }

    /// Whether the credential by which somebody was authenticated is still worth as much.
    #[must_use]
    pub fn still_known(&self, by: &Principal) -> bool {
        by.token.is_none_or(|token| self.worth(token, by.run).is_ok_and(|now| now == *by))
    }

    fn worth(&self, sha256: Digest, run: Option<RunId>) -> Result<Principal, Box<Problem>> {
        let found = match run {
            None => self.worth_of_token(sha256)?,
            Some(run) => self.worth_of_run_token(sha256, run)?,
        };
        found.ok_or_else(no_good_token)
    }

    fn today(&self) -> (Time, u64) {
        (self.parts.clock.now(), self.published.epoch())
    }

    fn worth_of_token(&self, sha256: Digest) -> Result<Option<Principal>, Box<Problem>> {
        let found = self.records().token(sha256).map_err(|error| unreadable(&error))?;
        let known = |name: &str| self.parts.directory.principal(name);
        Ok(found.and_then(|(token, _)| token.bearer(sha256, self.today(), &known)))
    }

    fn worth_of_run_token(&self, sha256: Digest, id: RunId) -> Result<Option<Principal>, Box<Problem>> {
        let token = self.records().run_token(id).map_err(|error| unreadable(&error))?;
        let Some((token, _)) = token.filter(|(token, _)| token.sha256 == sha256) else { return Ok(None) };
        let run = self.published.run(self.records(), id).map_err(|error| unreadable(&error))?;
        let Some(run) = run else { return Ok(None) };
        let opener = match token.through {
            None => self.parts.directory.principal(&run.opener.name),
            Some(through) => self.worth_of_token(through)?,
        };
        let may_be_acted_for = |person: &str| self.parts.directory.may_be_acted_for(person, &run.tenant);
        Ok(opener.and_then(|opener| token.bearer(&run, self.today(), opener, &may_be_acted_for)))
    }

    /// Makes a token. Its secret is in this answer and never in another.
    ///
    /// # Errors
    /// PERMISSION_DENIED, or INVALID_ARGUMENT with its pointer.
    pub async fn create_token(
        &self,
        by: &Principal,
        request: CreateToken,
    ) -> Result<IssuedToken, Box<Problem>> {
        only_for_admins(by)?;
        let (now, epoch) = self.today();
        let principal = self.of_tenant(&request.principal, by, "/principal")?;
        let roles = match request.roles {
            None => principal.roles.clone(),
            Some(roles) if roles.iter().all(|role| principal.has(*role)) => roles,
            Some(_) => {
                return Err(invalid("/roles", "a token has no role that its principal does not have"));
            }
        };
        if let Some(user) = &request.on_behalf_of {
            let user = self.of_tenant(user, by, "/on_behalf_of")?;
            if !acts_for_others(principal.kind) || acts_for_others(user.kind) {
                let detail = "an agent or a service acts for a person, and nobody else for anybody";
                return Err(invalid("/on_behalf_of", detail));
            }
        }
        let (usual, longest) = self.parts.limits.token_lifetime;
        let lifetime = request.lifetime.unwrap_or(usual.min(longest));
        if lifetime > longest || lifetime.0 == 0 {
            let longest = humantime::format_duration(longest.to_std());
            let detail =
                format!("a token lasts for at most {longest} here (tokens.max_expiry in daemon.toml)");
            return Err(invalid("/expires_in", detail));
        }
        let secret = Secret::of_principal(self.draw()?);
        let token = Token {
            id: self.parts.ids.token(),
            principal: principal.name,
            tenant: principal.tenant,
            roles,
            on_behalf_of: request.on_behalf_of,
            created: now,
            by: Actor::from(by),
            expires: now.plus(lifetime),
            epoch,
            revoked: None,
        };
        let (sha256, stored) = (secret.digest(), Box::new(token.clone()));
        self.ask(|reply| Message::CreateToken { sha256, token: stored, reply }).await?;
        Ok(IssuedToken { token, secret })
    }

    /// All tokens of the tenant, newest first, and how many records of anybody cannot be read; `writd verify` names them.
    ///
    /// # Errors
    /// PERMISSION_DENIED; INTERNAL when the store cannot be read.
    pub fn tokens(&self, by: &Principal) -> Result<(Vec<Token>, u64), Box<Problem>> {
        only_for_admins(by)?;
        let all = self.records().tokens().map_err(|error| unreadable(&error))?;
        let (mut own, mut lost) = (Vec::new(), 0);
        for (_, token) in all {
            match token {
                Ok(token) if token.tenant == by.tenant => own.push(token),
                Ok(_) => {}
                Err(_) => lost += 1,
            }
        }
        own.sort_by_key(|token| std::cmp::Reverse(token.id));
        Ok((own, lost))
    }

    /// Revokes a token, and with it the tokens of the runs that were opened with it. Once more is as good as once.
    ///
    /// # Errors
    /// PERMISSION_DENIED, NOT_FOUND.
    pub async fn revoke_token(&self, id: TokenId, by: &Principal) -> Result<Token, Box<Problem>> {
        only_for_admins(by)?;
        let all = self.records().tokens().map_err(|error| unreadable(&error))?;
        let wanted = |token: &Token| token.id == id && token.tenant == by.tenant;
        let found = all.into_iter().find(|(_, token)| token.as_ref().is_ok_and(wanted));
        let (sha256, _) = found.ok_or_else(not_found)?;
        let by = Actor::from(by);
        self.ask(|reply| Message::RevokeToken { sha256, by, reply }).await
    }

    /// Another token for a run, for its opener; the one before is worth nothing any more.
    ///
    /// # Errors
    /// NOT_FOUND, PERMISSION_DENIED, DEADLINE_EXCEEDED.
    pub async fn reissue_run_token(&self, id: RunId, by: &Principal) -> Result<(Run, Secret), Box<Problem>> {
        let run = self.open_run_of(id, by)?;
        if by.run.is_some() {
            return Err(Box::new(Problem::new(Code::PermissionDenied, "a token does not renew itself")));
        }
        let (secret, token) = self.run_token(id, by)?;
        let by = Actor::from(by);
        self.ask(|reply| Message::IssueRunToken { token, by, reply }).await?;
        Ok((run, secret))
    }

    /// A secret for a run, and what is stored of it.
    pub(super) fn run_token(&self, run: RunId, by: &Principal) -> Result<(Secret, RunToken), Box<Problem>> {
        let secret = Secret::of_run(run, self.draw()?);
        let (issued, epoch) = self.today();
        let token = RunToken { run, sha256: secret.digest(), issued, count: 1, through: by.token, epoch };
        Ok((secret, token))
    }

    fn draw(&self) -> Result<[u8; 32], Box<Problem>> {
        self.parts.ids.secret().map_err(|error| {
            tracing::error!(error, "the system gives no random bits");
            Box::new(Problem::new(Code::Unavailable, "the system gives no random bits; no token was made"))
        })
    }

    /// A principal of the administrator's own tenant; one of another is answered like one that does not exist.
    fn of_tenant(&self, name: &str, by: &Principal, pointer: &str) -> Result<Principal, Box<Problem>> {
        let found = self.parts.directory.principal(name).filter(|found| found.tenant == by.tenant);
        found.ok_or_else(|| invalid(pointer, "daemon.toml has no such principal, or it is disabled"))
    }
}

fn only_for_admins(by: &Principal) -> Result<(), Box<Problem>> {
    if by.has(Role::Admin) {
        return Ok(());
    }
    Err(Box::new(Problem::new(Code::PermissionDenied, "tokens are made and revoked with the role `admin`")))
}

/// Whether an entry about a token may be shown: to those of its tenant who look after identities.
pub(super) fn sees_entry(entry: &Entry, by: &Principal) -> bool {
    let tenant = match super::view::fact_of(entry) {
        Ok(Some(Fact::TokenCreated { token, .. })) => token.tenant,
        Ok(Some(Fact::TokenRevoked { tenant })) => tenant,
        // Erased, or not about a token: nobody can say whose it is.
        Ok(_) | Err(_) => return false,
    };
    tenant == by.tenant && (by.has(Role::Admin) || by.has(Role::Auditor))
}
