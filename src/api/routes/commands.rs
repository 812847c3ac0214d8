//! Commands on an operation. Each is decided and stored before it is answered; a refusal carries state and effect.

use axum::http::StatusCode;

use crate::api::answer::{Answer, json};
use crate::api::caller::Caller;
use crate::api::queries::{CommandQuery, NoQuery};
use crate::api::strict::{Id, JsonBody, Query};
use crate::api::wire::request::{
    ApproveBody, CancelBody, DenyBody, EmptyBody, ReasonBody, ResolveBody, ResolveOutcome, RevokeBody,
};
use crate::api::wire::{CommandAnswer, CommandResult};
use crate::domain::Code;
use crate::domain::ids::OperationId;
use crate::domain::operation::command::Resolution;
use crate::domain::operation::{Answer as Decision, Command, Effect};
use crate::domain::principal::Role;
use crate::domain::problem::Problem;
use crate::engine::CommandDone;

pub(super) async fn approve(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(query): Query<CommandQuery>,
    JsonBody(body): JsonBody<ApproveBody>,
) -> Answer {
    let command = Command::Approve { digest: body.digest, note: body.note };
    let mut done = caller.engine().command(id, command, caller.principal()).await?;
    done.stored = query.wait(&caller, done.stored).await;
    answer(&caller, done)
}

pub(super) async fn deny(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<DenyBody>,
) -> Answer {
    run(&caller, id, Command::Deny { reason: body.reason, last: body.last }).await
}

pub(super) async fn revoke(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<RevokeBody>,
) -> Answer {
    run(&caller, id, Command::Revoke { approver: body.approver }).await
}

pub(super) async fn commit(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(query): Query<CommandQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let mut done = caller.engine().commit(id, caller.principal()).await?;
    done.stored = query.wait(&caller, done.stored).await;
    answer(&caller, done)
}

pub(super) async fn cancel(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<CancelBody>,
) -> Answer {
    run(&caller, id, Command::Cancel { reason: body.reason }).await
}

pub(super) async fn reconcile(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    run(&caller, id, Command::Reconcile).await
}

pub(super) async fn resolve(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<ResolveBody>,
) -> Answer {
    let resolution = match body.outcome {
        ResolveOutcome::Applied => {
            // Who may not resolve is refused by the decision, whatever was brought.
            let brought = body.receipt.as_ref().filter(|_| caller.principal().has(Role::Operator));
            let check = |receipt| caller.engine().admit_receipt(id, receipt, caller.principal());
            Resolution::Applied { receipt: brought.map(check).transpose()? }
        }
        ResolveOutcome::NotApplied => Resolution::NotApplied { retry: body.retry },
        ResolveOutcome::Failed => Resolution::Failed,
    };
    run(&caller, id, Command::Resolve { resolution, note: body.note }).await
}

pub(super) async fn abandon(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(body): JsonBody<ReasonBody>,
) -> Answer {
    run(&caller, id, Command::Abandon { reason: body.reason }).await
}

/// Compensations are proposals of their own; this release does not execute them and says so without any change.
pub(super) async fn compensate(
    caller: Caller,
    Id(id): Id<OperationId>,
    Query(NoQuery): Query<NoQuery>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Answer {
    let stored = caller.engine().operation(id, caller.principal())?;
    let operation = &stored.operation;
    let detail = "compensations are not executable in this release; nothing was changed or sent. \
                  Propose the write that undoes it as an ordinary write";
    let effect = if operation.attempts.is_empty() { Effect::None } else { operation.effect };
    let problem = Problem::new(Code::UnsupportedTool, detail).operation(id).effect(effect);
    Err(problem.state(operation.state.as_str()).into())
}

async fn run(caller: &Caller, id: OperationId, command: Command) -> Answer {
    let done = caller.engine().command(id, command, caller.principal()).await?;
    answer(caller, done)
}

fn answer(caller: &Caller, done: CommandDone) -> Answer {
    let operation = caller.view(&done.stored);
    let (answer, words) = match done.answer {
        Decision::Done => (CommandResult::Done, format!("done; it is {}", operation.state)),
        Decision::Already(words) => (CommandResult::Already, words),
        // The engine answers a refusal as a problem; should one come this way, it is no success.
        Decision::Refused(refusal) => return Err(Problem::new(refusal.code, refusal.detail).into()),
    };
    json(StatusCode::OK, &CommandAnswer { answer, words, operation })
}
