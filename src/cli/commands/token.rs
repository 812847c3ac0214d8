//! `writd token`: create, list, revoke. The secret stands on the standard output once, alone, for a file or a pipe.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::api::wire::request::{CreateTokenBody, EmptyBody};
use crate::api::wire::{IssuedTokenView, Page, TokenView};
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::view;
use crate::domain::ids::TokenId;
use crate::domain::principal::Role;

/// Tokens.
#[derive(Subcommand, Debug)]
pub(crate) enum TokenCommand {
    /// Make a token and print it, this once
    Create(CreateArgs),
    /// All tokens of your tenant, without their secrets
    List,
    /// End a token, and those of the runs that were opened with it
    Revoke {
        /// The token's id, as `token list` shows it
        id: TokenId,
    },
}

/// Make a token.
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// The principal for whom it speaks; see [[principal]] in daemon.toml
    #[arg(long, value_name = "NAME")]
    principal: String,
    /// How long it lasts, such as 30d [default: tokens.default_expiry in daemon.toml]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    expires: Option<Duration>,
    /// The person for whom an agent acts with it
    #[arg(long, value_name = "NAME")]
    on_behalf_of: Option<String>,
    /// Only these roles of the principal, with commas between them [default: all]
    #[arg(long, value_name = "ROLE,…", value_delimiter = ',', value_parser = role)]
    roles: Option<Vec<Role>>,
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "expected a duration such as 12h or 30d".to_owned())
}

fn role(text: &str) -> Result<Role, String> {
    let named = serde_json::from_value(serde_json::Value::String(text.to_owned()));
    named.map_err(|_| "expected agent, approver, operator, contract_owner, auditor or admin".to_owned())
}

/// Does it.
pub(super) fn run(command: TokenCommand, context: &Context) -> Result<(), Failure> {
    let (client, output) = (context.client()?, context.output);
    match command {
        TokenCommand::Create(args) => {
            let CreateArgs { principal, expires, on_behalf_of, roles } = args;
            let body = CreateTokenBody { principal, roles, expires_in: expires, on_behalf_of };
            let issued: IssuedTokenView =
                context.talk(async { Ok(client.ask(Ask::post("/v1/tokens", &body)).await?) })?;
            if output.wants_json() {
                return output.object(&issued);
            }
            output.note_page(&view::token(&issued.view));
            output.note("This is the only time that it is shown:");
            output.data(format!("{}\n", issued.token).as_bytes())
        }
        TokenCommand::List => {
            let list: Page<TokenView> =
                context.talk(async { Ok(client.ask(Ask::get("/v1/tokens")).await?) })?;
            output.answer(&list, || view::tokens(&list))
        }
        TokenCommand::Revoke { id } => {
            let ask = Ask::post(format!("/v1/tokens/{id}/revoke"), &EmptyBody {});
            let token: TokenView = context.talk(async { Ok(client.ask(ask).await?) })?;
            output.answer(&token, || view::token(&token))
        }
    }
}
