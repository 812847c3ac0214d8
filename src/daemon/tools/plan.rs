//! What a contract makes of a proposal, in the words of the domain. Pure.

use serde_json::Value;

use super::convert::{canonical_text, unrendered};
use crate::contracts::{Contract, RenderError, VersionCheck, WriteContext};
use crate::domain::operation::{Change, Target};
use crate::ports::{Plan, PlanInput, ToolError};

pub(super) fn plan(contract: &Contract, origin: &str, input: PlanInput<'_>) -> Result<Plan, ToolError> {
    let failed = |error: RenderError| unrendered(&error);
    let target = contract.target(input.arguments, input.before).map_err(failed)?;
    let changes = contract.changes(input.arguments, input.before).map_err(failed)?;
    let operation = input.operation.to_string();
    let run = input.run.to_string();
    let request = contract
        .render_write(&WriteContext {
            origin,
            args: input.arguments,
            before: input.before,
            target: &target,
            operation: &operation,
            run: &run,
            requester: input.requester,
            on_behalf_of: input.on_behalf_of,
            key: input.key,
        })
        .map_err(failed)?;
    let text = |value: Option<Value>| -> Result<Option<String>, ToolError> {
        value.map(|value| canonical_text(&value)).transpose()
    };
    let changes = changes
        .into_iter()
        .map(|change| {
            Ok(Change { field: change.field, before: text(change.before)?, after: text(change.after)? })
        })
        .collect::<Result<Vec<_>, ToolError>>()?;
    let absent = contract.as_write().is_ok_and(|write| write.target.check == VersionCheck::Absent);
    Ok(Plan {
        effect_text: contract.effect_text(input.arguments, input.before).map_err(failed)?,
        consequences: contract.consequences(input.arguments, input.before).map_err(failed)?,
        target: Target {
            kind: target.kind,
            id: target.id,
            scope: target.scope,
            version: target.version.filter(|_| !absent),
        },
        changes,
        request,
    })
}
