//! Another tenant's id: what may not be seen does not exist, neither for the read nor for the write.

use serde_json::Value;

use super::effects::Judge;
use super::service::{Sent, Service, Stop};
use super::{Answered, Told};
use crate::contracts::Classified;
use crate::domain::Code;
use crate::domain::operation::Effect;

pub(super) const NAME: &str = "another tenant's id: not found";

const MEND: &str = "the service must look at the tenant first, and answer as if the id did not exist";

fn unknown() -> Told {
    let remedy = "name one under `other_tenant` in a *.cases.yaml beside the contract";
    Told::unproven("no arguments are known that name something of another tenant", remedy)
}

/// The read must not find it.
pub(super) async fn read(service: &Service<'_>, args: Option<&Value>) -> Answered {
    let args = args.ok_or_else(unknown)?;
    hidden(service.read(service.tool.as_ref(), args).await)
}

fn hidden(read: Result<Value, Stop>) -> Answered {
    match read {
        Err(Stop::Read(problem)) if matches!(problem.code, Code::NotFound | Code::PermissionDenied) => {
            Ok(Told::holds(format!("refused with {}", problem.code)))
        }
        Err(stop) => {
            Err(Told::fails(stop.words(), "declare the refusal in `errors` with the code NOT_FOUND"))
        }
        Ok(_) => Err(Told::fails("the read shows it", MEND)),
    }
}

/// Neither the preview nor the write itself may reach it. The write is made from what the example's preview saw, as
/// somebody would who does not ask first.
pub(super) async fn write(judge: &Judge<'_, '_>, example: &Value, args: Option<&Value>) -> Answered {
    let args = args.ok_or_else(unknown)?;
    let service = judge.service;
    let own = judge.fresh(example).await?;
    let full = service.tool.admit(args).map_err(|problem| {
        Told::fails(Stop::Refused(problem).words(), "mend the arguments under `other_tenant`")
    })?;
    let full = full.value();
    hidden(service.before(&full).await)?;
    let write = service.plan(full, own.before, service.identity());
    let write = write.map_err(|stop| Told::fails(stop.words(), "mend the arguments under `other_tenant`"))?;
    let sent = service.send(&write).await;
    match &sent {
        Sent::Answered(_, Classified::Failed { code, effect: Effect::None, .. })
            if code == "NOT_FOUND" || code == "PERMISSION_DENIED" =>
        {
            judge.must_be(0, &write, None, &format!("read and write refused with {code}")).await
        }
        Sent::Answered(_, Classified::Receipt(_)) => Err(Told::fails("the write was applied", MEND)),
        other => Err(Told::fails(format!("the write came to {}", other.words()), MEND)),
    }
}
