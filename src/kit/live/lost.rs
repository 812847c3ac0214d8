//! The answer is lost: the status route must tell, by the key, what became of the write, and nothing else.

use serde_json::Value;
use tokio::time::{Instant, sleep};

use std::time::Duration;

use super::effects::Judge;
use super::service::{Sent, Write};
use super::{Answered, Told};
use crate::contracts::{Classified, Receipt, StatusAnswer};

/// Between two questions to a status route that does not know yet.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Sends a write, loses its answer, asks the status, and settles.
pub(super) async fn answer(judge: &Judge<'_, '_>, example: &Value) -> Answered {
    if judge.service.protocol().is_none() {
        return Ok(Told::not_asked("the contract declares no status route: a person settles a lost answer"));
    }
    let write = judge.fresh(example).await?;
    let dropped = match judge.sandbox {
        Some(sandbox) => sandbox.lose_the_answer(&write.id.key).await,
        None => false,
    };
    let lost = match judge.service.send(&write).await {
        Sent::Lost(_) if dropped => true,
        // Without a switchboard the answer came and is not looked at any more.
        Sent::Answered(_, Classified::Receipt(_)) => false,
        other => {
            let detail = format!("the example came to {}", other.words());
            return Err(Told::fails(detail, "the write must be applied before its answer can be lost"));
        }
    };
    let receipt = settled(judge, &write).await?;
    match judge.service.send(&write).await {
        Sent::Answered(_, Classified::Receipt(again)) if again.data == receipt.data => {}
        Sent::Answered(_, Classified::Receipt(_)) => {
            let remedy = "status and answer must tell the same outcome";
            return Err(Told::fails("sent again, it brings back another receipt than the status", remedy));
        }
        other => {
            let detail = format!("the status proves it, but sent again it came to {}", other.words());
            return Err(Told::fails(detail, "the key must bring back the stored answer"));
        }
    }
    never_sent(judge, example).await?;
    let how = if lost { "the connection was closed" } else { "the answer was not looked at" };
    judge.must_be(1, &write, receipt.new_version.as_deref(), &format!("{how}, the status proves it")).await
}

/// Asks until the status says what happened to an applied write.
async fn settled(judge: &Judge<'_, '_>, write: &Write) -> Result<Receipt, Told> {
    let began = Instant::now();
    let Some(protocol) = judge.service.protocol() else {
        return Err(Told::not_asked("the contract declares no status route"));
    };
    let proof = protocol.settle.to_std() + protocol.confirm_interval.to_std() * protocol.confirmations;
    loop {
        let last = match judge.service.status(write).await {
            StatusAnswer::Succeeded(receipt) => return Ok(*receipt),
            StatusAnswer::Failed { code, .. } => {
                let remedy = "the status must tell the outcome that the write had";
                return Err(Told::fails(format!("the write was applied, the status says {code}"), remedy));
            }
            StatusAnswer::NotFound if began.elapsed() >= proof => return Err(not_found(judge)),
            StatusAnswer::NotFound => "it is not found".to_owned(),
            StatusAnswer::InProgress { .. } => "it is still running".to_owned(),
            StatusAnswer::Inconclusive { cause } => cause,
        };
        if began.elapsed() >= judge.service.patience {
            let remedy = "the status route must prove an applied write by its key; see `recovery`";
            return Err(Told::fails(
                format!("the write was applied, and the status never proves it: {last}"),
                remedy,
            ));
        }
        sleep(ASK_EVERY).await;
    }
}

fn not_found(judge: &Judge<'_, '_>) -> Told {
    let detail = "the write was applied, and the status does not find it";
    if judge.service.not_found_is_proof() {
        let remedy = "the contract takes this as proof of no effect and would send it again: make `settle` longer, \
                      say `not_found: inconclusive`, or mend the service";
        return Told::fails(detail, remedy);
    }
    Told::fails(detail, "the status route must know every key that was applied")
}

/// A key that nobody used: the status must not invent an outcome.
async fn never_sent(judge: &Judge<'_, '_>, example: &Value) -> Result<(), Told> {
    let unused = judge.fresh(example).await?;
    let remedy = "see `recovery.outcomes.not_found` and what the status route answers to an unknown key";
    match judge.service.status(&unused).await {
        StatusAnswer::NotFound => Ok(()),
        StatusAnswer::Inconclusive { .. } if !judge.service.not_found_is_proof() => Ok(()),
        StatusAnswer::Inconclusive { cause } => Err(Told::fails(
            format!("the status of a key that nobody used is not \"not found\": {cause}"),
            remedy,
        )),
        StatusAnswer::Succeeded(_) | StatusAnswer::Failed { .. } | StatusAnswer::InProgress { .. } => {
            Err(Told::fails("the status tells an outcome for a key that nobody used", remedy))
        }
    }
}
