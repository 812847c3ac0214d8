//! Answers rendered from what is stored: the same outcome gives the same bytes, today and after a restart.

use hyper::header::ETAG;
use serde_json::{Value, json};

use super::{
    directory::{self, Asset, Case},
    orders::{State, WorkOrder},
    sandbox::{Answer, KeyRecord, rfc3339},
    state::{Notification, Outcome, Snapshot},
};

/// An asset as a read sees it, with one of its work orders if it was asked for.
pub(super) fn asset(
    asset: &Asset,
    version: u64,
    open_cases: Vec<&Case>,
    order: Option<&WorkOrder>,
    now_ms: u64,
) -> Answer {
    let mut body = json!({
        "hotel_id": asset.hotel,
        "hotel_name": directory::hotel(asset.hotel).map(|hotel| hotel.name),
        "asset_id": asset.tag,
        "name": asset.name,
        "equipment": asset.equipment,
        "location": asset.location,
        "criticality": asset.criticality,
        "version": version,
        "access_notes": asset.access_notes,
        "open_cases": open_cases,
    });
    if let Some(order) = order {
        body["work_order"] = work_order(order, now_ms);
    }
    Answer::json(200, &body).with(ETAG, &format!("\"{version}\""))
}

fn work_order(order: &WorkOrder, now_ms: u64) -> Value {
    let mut body = json!({
        "work_order_id": order.id,
        "case_id": order.case_id,
        "state": order.state_name(now_ms),
        "version": order.version,
        "symptom": order.content.symptom,
        "summary": order.content.summary,
        "urgency_claim": order.content.urgency_claim,
        "sop_id": order.content.sop_id,
        "priority": order.priority,
    });
    if let Some(end) = order.expires_at_ms {
        body["expires_at"] = json!(rfc3339(end));
    }
    body
}

/// What was done to an asset, newest first.
pub(super) fn history(asset: &Asset, most: usize) -> Answer {
    let entries: Vec<_> = asset.history.iter().take(most).collect();
    Answer::json(200, &json!({"asset_id": asset.tag, "hotel_id": asset.hotel, "entries": entries}))
}

/// The answer to the write that has this outcome.
pub(super) fn outcome(key: &str, record: &KeyRecord<Outcome>, outcome: &Outcome) -> (u16, Value) {
    let number = outcome.record;
    let receipt = json!({
        "id": format!("rcp_{number}"),
        "operation_id": record.operation_id,
        "key": key,
        "request_sha256": record.request_sha256,
    });
    let at = rfc3339(record.at_ms);
    match (&outcome.before, &outcome.after) {
        (_, Some(Snapshot::Notification(notification))) => {
            (201, notified(number, notification, &at, receipt))
        }
        (None, Some(Snapshot::WorkOrder(order))) => (201, drafted(order, &at, receipt)),
        (Some(before), Some(Snapshot::WorkOrder(after))) => moved(before, after, &at, receipt),
        (_, None) => (500, json!({"code": "INTERNAL"})),
    }
}

fn notified(number: u64, notification: &Notification, at: &str, receipt: Value) -> Value {
    json!({
        "notification_id": format!("ntf_{number}"),
        "work_order_id": notification.work_order,
        "contractor_id": notification.contractor_id,
        "contractor_name": notification.contractor_name,
        "sent_at": at,
        "receipt": receipt,
    })
}

fn drafted(order: &WorkOrder, at: &str, receipt: Value) -> Value {
    json!({
        "work_order_id": order.id,
        "state": order.state,
        "version": order.version,
        "priority": order.priority,
        "expires_at": order.expires_at_ms.map(rfc3339),
        "created_at": at,
        "receipt": receipt,
    })
}

fn moved(before: &WorkOrder, after: &WorkOrder, at: &str, receipt: Value) -> (u16, Value) {
    let mut body = json!({
        "work_order_id": after.id,
        "state": after.state,
        "previous_version": before.version,
        "new_version": after.version,
        "priority": after.priority,
        "receipt": receipt,
    });
    match after.state {
        State::Draft => {
            body["changed_fields"] = json!(before.changed_fields(after));
            body["expires_at"] = json!(after.expires_at_ms.map(rfc3339));
            body["updated_at"] = json!(at);
            (200, body)
        }
        State::Submitted => {
            body["submitted_at"] = json!(at);
            (201, body)
        }
        State::Cancelled => {
            body["cancelled_at"] = json!(at);
            (200, body)
        }
    }
}
