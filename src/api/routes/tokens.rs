//! Tokens of principals: made, listed, revoked.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::NoQuery;
use crate::api::strict::{Id, JsonBody, Query};
use crate::api::wire::request::{CreateTokenBody, EmptyBody};
use crate::api::wire::{IssuedTokenView, Page, TokenView};
use crate::domain::Millis;
use crate::domain::ids::TokenId;
use crate::domain::token::Token;
use crate::engine::{CreateToken, IssuedToken};

fn view(caller: &Caller, token: &Token) -> TokenView {
    TokenView::of(token, caller.now(), caller.engine().published().epoch())
}

pub(super) async fn create(
    caller: Caller,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<CreateTokenBody>,
) -> Answer {
    let millis = |lifetime: std::time::Duration| u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX);
    let request = CreateToken {
        principal: body.principal,
        roles: body.roles,
        lifetime: body.expires_in.map(|lifetime| Millis(millis(lifetime))),
        on_behalf_of: body.on_behalf_of,
    };
    let IssuedToken { token, secret } = caller.engine().create_token(caller.principal(), request).await?;
    json(StatusCode::CREATED, &IssuedTokenView { view: view(&caller, &token), token: secret.reveal() })
}

pub(super) async fn list(caller: Caller, Query(NoQuery): Query<NoQuery>) -> Answer {
    let (tokens, unreadable) = caller.engine().tokens(caller.principal())?;
    let items: Vec<_> = tokens.iter().map(|token| view(&caller, token)).collect();
    json(StatusCode::OK, &Page { items, next: None, unreadable })
}

pub(super) async fn revoke(
    caller: Caller,
    Id(id): Id<TokenId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let token = caller.engine().revoke_token(id, caller.principal()).await?;
    json(StatusCode::OK, &view(&caller, &token))
}
