//! The same request again, the same key with other arguments, a resource that changed in between.

use serde_json::Value;

use super::effects::Judge;
use super::service::{Sent, Service};
use super::{Answered, Told};
use crate::contracts::{Classified, VersionCheck};
use crate::domain::operation::Effect;

/// A read: the example is answered as the contract says.
pub(super) async fn answered(service: &Service<'_>, example: &Value) -> Answered {
    match service.read(service.tool.as_ref(), example).await {
        Ok(_) => Ok(Told::holds("its answer passes the output schema")),
        Err(stop) => Err(Told::fails(stop.words(), "mend the example, the output schema or the service")),
    }
}

/// The very same bytes twice: the same answer, and one effect.
pub(super) async fn same_again(judge: &Judge<'_, '_>, example: &Value) -> Answered {
    let write = judge.fresh(example).await?;
    let first = judge.applied(&write).await?;
    match judge.service.send(&write).await {
        Sent::Answered(_, Classified::Receipt(again)) if again.data == first.data => {}
        Sent::Answered(_, Classified::Receipt(_)) => {
            let remedy = "the key must bring back the stored answer, unchanged";
            return Err(Told::fails("the second answer is a receipt, but another one", remedy));
        }
        other => {
            let detail = format!("the second time it came to {}", other.words());
            return Err(Told::fails(detail, "the key must bring back the stored answer"));
        }
    }
    judge.must_be(1, &write, first.new_version.as_deref(), "the same answer").await
}

/// The same key with other bytes: refused as such, and no second effect.
pub(super) async fn other_arguments(judge: &Judge<'_, '_>, example: &Value) -> Answered {
    let write = judge.fresh(example).await?;
    let first = judge.applied(&write).await?;
    let Some(other) = judge.other(&write, &write.id).await else {
        let remedy = "add a second example for the same target";
        return Err(Told::unproven("no other valid arguments for the same target are known", remedy));
    };
    let remedy = "the service must compare the request with the one that the key was first used for";
    let sent = judge.service.send(&other).await;
    let Sent::Answered(answer, classified) = &sent else {
        return Err(Told::fails(format!("it came to {}", sent.words()), remedy));
    };
    let declared = judge.service.contract.declared_error(answer);
    match (classified, declared) {
        (Classified::Receipt(_), _) => return Err(Told::fails("it was answered as done", remedy)),
        (_, Some(entry)) if entry.code == "IDEMPOTENCY_CONFLICT" => {}
        (_, Some(entry)) => {
            return Err(Told::fails(format!("refused with {}, not because of the key", entry.code), remedy));
        }
        (_, None) if (200..300).contains(&answer.status) => {
            return Err(Told::fails(format!("it was answered as done: {}", sent.words()), remedy));
        }
        (_, None) => {
            let remedy = "declare it in `errors` with the code IDEMPOTENCY_CONFLICT";
            let detail =
                format!("refused with an answer that the contract does not declare ({})", answer.status);
            return Err(Told::fails(detail, remedy));
        }
    }
    judge.must_be(1, &write, first.new_version.as_deref(), "refused with IDEMPOTENCY_CONFLICT").await
}

/// Somebody else writes between the read and the write: refused with the declared conflict, and no effect.
pub(super) async fn changed(judge: &Judge<'_, '_>, example: &Value) -> Answered {
    let check = judge.service.contract.as_write().map(|write| write.target.check);
    match check {
        Ok(VersionCheck::IfMatch) => {}
        Ok(VersionCheck::Read) => {
            return Ok(Told::not_asked(
                "the service does not compare; the daemon reads just before the write",
            ));
        }
        Ok(VersionCheck::Absent) | Err(_) => return Ok(Told::not_asked("a create has no version")),
    }
    let stale = judge.fresh(example).await?;
    // Where nobody else can be asked to change it, a write of our own does.
    let left_behind = if judge.bumped(&stale).await {
        None
    } else {
        let names = judge.service.identity();
        let between = match judge.other(&stale, &names).await {
            Some(other) => other,
            None => judge.prepare(example, names).await?,
        };
        let left_behind = judge.applied(&between).await?.new_version;
        if judge.version_now(&stale).await == stale.plan.target.version {
            let remedy = "try it against a sandbox in which somebody else can change the target";
            return Err(Told::unproven("a write of our own does not change this version", remedy));
        }
        left_behind
    };
    let remedy = "the service must compare the version together with the write, and refuse without effect";
    let sent = judge.service.send(&stale).await;
    let Sent::Answered(_, Classified::Failed { code, effect: Effect::None, current_version }) = &sent else {
        return Err(Told::fails(format!("it came to {}", sent.words()), remedy));
    };
    if !matches!(code.as_str(), "VERSION_CONFLICT" | "PRECONDITION_FAILED") {
        return Err(Told::fails(
            format!("refused with {code}, which does not name a changed version"),
            remedy,
        ));
    }
    let now = judge.version_now(&stale).await;
    if left_behind.is_some() && now.is_some() && left_behind != now {
        let detail = format!("refused with {code}, but the version moved all the same");
        return Err(Told::fails(detail, remedy));
    }
    if current_version.is_some() && now.is_some() && *current_version != now {
        let detail = "the current version in the refusal is not the one that a read shows";
        return Err(Told::fails(detail, "mend `current_version` in `errors`, or the service"));
    }
    judge.must_be(0, &stale, now.as_deref(), &format!("refused with {code}")).await
}
