//! What a write comes to: who asks has been admitted, the key is new. Nothing is changed here.
//!
//! The order of the checks is the same for all: is it there, does the caller say a version, is the body what it must
//! be, does its state allow it, is the version the current one, do the ids that it names fit.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    directory,
    orders::{self, Content, DRAFT_TTL_MS, Reason, State, Symptom, Urgency, WorkOrder},
    procedures,
    routes::{Route, What},
    sandbox::{Change, Decision, Refused, Write},
    state::{Facilities, Notification, Snapshot},
};

/// The body of a new draft.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDraft {
    case_id: String,
    symptom: Symptom,
    summary: String,
    urgency_claim: Urgency,
    sop_id: String,
}

/// The body of a submission: all that is submitted stands in the draft.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Submission {}

/// The body of a cancellation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancellation {
    reason: Reason,
}

/// The body of a notification.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notice {
    contractor_id: String,
}

/// An asset that is not there, or not for this caller: the same words for both.
pub(super) fn no_such_asset() -> Value {
    json!({
        "code": "NO_SUCH_ASSET",
        "needs": "person",
        "detail": "no asset has exactly this id; ask the staff of the hotel which one is meant, and do not guess",
    })
}

/// A work order that is not there, or not for this caller.
pub(super) fn no_such_order() -> Value {
    json!({"code": "NO_SUCH_WORK_ORDER"})
}

pub(super) fn decide(
    world: &Facilities,
    write: &Write<'_, Route>,
    so_far: u64,
    now_ms: u64,
) -> Decision<Snapshot> {
    let hotel = &write.route.hotel;
    match &write.route.what {
        What::Draft(tag) => draft(world, write, tag, now_ms),
        What::Edit(id) => with_order(world, hotel, id, |order| edit(order, write, now_ms)),
        What::Submit(id) => with_order(world, hotel, id, |order| submit(world, order, write, now_ms)),
        What::Cancel(id) => with_order(world, hotel, id, |order| cancel(order, write)),
        What::Notify(id) => with_order(world, hotel, id, |order| notify(order, write, so_far)),
        What::Asset(_)
        | What::History(_)
        | What::Procedures
        | What::Operation(_)
        | What::OtherMethod
        | What::Nowhere => Err(Refused::now(404, json!({"code": "NO_SUCH_ROUTE"}))),
    }
}

fn with_order(
    world: &Facilities,
    hotel: &str,
    id: &str,
    decide: impl FnOnce(&WorkOrder) -> Decision<Snapshot>,
) -> Decision<Snapshot> {
    match world.order(hotel, id) {
        Some(order) => decide(order),
        None => Err(Refused::now(404, no_such_order())),
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))
}

fn invalid(detail: String) -> Refused {
    Refused::ForGood { code: "INVALID_WORK_ORDER", detail }
}

fn conflict(code: &str, detail: &str) -> Refused {
    Refused::now(409, json!({"code": code, "detail": detail}))
}

fn unfit(code: &str, detail: &str) -> Refused {
    Refused::now(422, json!({"code": code, "detail": detail}))
}

fn draft(world: &Facilities, write: &Write<'_, Route>, tag: &str, now_ms: u64) -> Decision<Snapshot> {
    let hotel = write.route.hotel.as_str();
    let Some(asset) = directory::asset(hotel, tag) else {
        return Err(Refused::now(404, no_such_asset()));
    };
    let expected = write.expected_version()?;
    let NewDraft { case_id, symptom, summary, urgency_claim, sop_id } = parsed(write.body)?;
    let content = Content { symptom, summary, urgency_claim, sop_id };
    content.check().map_err(invalid)?;
    let current = world.asset_version(asset);
    if expected != current {
        return Err(Refused::stale(current));
    }
    if !asset.cases.iter().any(|case| case.case_id == case_id) {
        return Err(unfit("CASE_MISMATCH", "no open fault report of this asset has this id"));
    }
    if world.submitted_for(&case_id).is_some() {
        return Err(conflict("CASE_HAS_ORDER", "a work order was submitted for this fault report already"));
    }
    fitting_procedure(&content, asset)?;
    let after = WorkOrder {
        id: world.next_id(),
        hotel: hotel.to_owned(),
        asset: tag.to_owned(),
        case_id,
        state: State::Draft,
        version: 1,
        priority: orders::priority(asset.criticality, content.symptom),
        content,
        expires_at_ms: Some(now_ms + DRAFT_TTL_MS),
        cancelled_for: None,
    };
    let after = Some(Snapshot::WorkOrder(after));
    Ok(Change { before_version: 0, after_version: 1, before: None, after })
}

fn fitting_procedure(content: &Content, asset: &directory::Asset) -> Result<(), Refused> {
    match procedures::procedure(&content.sop_id) {
        Some(procedure) if procedure.equipment == asset.equipment => Ok(()),
        _ => Err(unfit("UNKNOWN_PROCEDURE", "no procedure for such machines has this id")),
    }
}

/// A draft that is still alive, at the version that the caller has read.
fn living_draft(order: &WorkOrder, expected: u64, now_ms: u64) -> Result<(), Refused> {
    if order.state != State::Draft {
        return Err(conflict("NOT_A_DRAFT", "it was submitted or cancelled"));
    }
    if order.is_expired(now_ms) {
        return Err(conflict("DRAFT_EXPIRED", "a draft lives for 24 hours; write a new one"));
    }
    if expected != order.version {
        return Err(Refused::stale(order.version));
    }
    Ok(())
}

/// A submitted order at the version that the caller has read.
fn submitted(order: &WorkOrder, expected: u64) -> Result<(), Refused> {
    if order.state != State::Submitted {
        return Err(conflict(
            "NOT_SUBMITTED",
            "only a submitted order can be cancelled or given to a contractor",
        ));
    }
    if expected != order.version {
        return Err(Refused::stale(order.version));
    }
    Ok(())
}

fn next(order: &WorkOrder, after: WorkOrder) -> Change<Snapshot> {
    let after = WorkOrder { version: order.version + 1, ..after };
    Change {
        before_version: order.version,
        after_version: after.version,
        before: Some(Snapshot::WorkOrder(order.clone())),
        after: Some(Snapshot::WorkOrder(after)),
    }
}

fn edit(order: &WorkOrder, write: &Write<'_, Route>, now_ms: u64) -> Decision<Snapshot> {
    let expected = write.expected_version()?;
    let content: Content = parsed(write.body)?;
    content.check().map_err(invalid)?;
    living_draft(order, expected, now_ms)?;
    let Some(asset) = directory::asset(&order.hotel, &order.asset) else {
        return Err(Refused::now(404, no_such_asset()));
    };
    fitting_procedure(&content, asset)?;
    let priority = orders::priority(asset.criticality, content.symptom);
    let expires_at_ms = Some(now_ms + DRAFT_TTL_MS);
    Ok(next(order, WorkOrder { content, priority, expires_at_ms, ..order.clone() }))
}

fn submit(
    world: &Facilities,
    order: &WorkOrder,
    write: &Write<'_, Route>,
    now_ms: u64,
) -> Decision<Snapshot> {
    let expected = write.expected_version()?;
    let Submission {} = parsed(write.body)?;
    living_draft(order, expected, now_ms)?;
    if world.submitted_for(&order.case_id).is_some() {
        return Err(conflict("CASE_HAS_ORDER", "a work order was submitted for this fault report already"));
    }
    Ok(next(order, WorkOrder { state: State::Submitted, expires_at_ms: None, ..order.clone() }))
}

fn cancel(order: &WorkOrder, write: &Write<'_, Route>) -> Decision<Snapshot> {
    let expected = write.expected_version()?;
    let Cancellation { reason } = parsed(write.body)?;
    submitted(order, expected)?;
    Ok(next(order, WorkOrder { state: State::Cancelled, cancelled_for: Some(reason), ..order.clone() }))
}

/// A message that cannot be taken back. It is about one version of the order and changes nothing of it.
fn notify(order: &WorkOrder, write: &Write<'_, Route>, so_far: u64) -> Decision<Snapshot> {
    let expected = write.expected_version()?;
    let Notice { contractor_id } = parsed(write.body)?;
    submitted(order, expected)?;
    let asset = directory::asset(&order.hotel, &order.asset);
    let contractor =
        asset.and_then(|asset| directory::contractor(&contractor_id, &order.hotel, asset.equipment));
    let Some(contractor) = contractor else {
        return Err(unfit("UNKNOWN_CONTRACTOR", "no contractor with this id works on this machine"));
    };
    let notification = Notification {
        work_order: order.id.clone(),
        contractor_id,
        contractor_name: contractor.name.to_owned(),
    };
    let after = Some(Snapshot::Notification(notification));
    Ok(Change { before_version: so_far, after_version: so_far + 1, before: None, after })
}
