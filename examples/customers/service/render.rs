//! Answers rendered from what is stored: the same outcome gives the same bytes, today and after a restart.

use hyper::header::ETAG;
use serde_json::{Value, json};

use super::{
    customer::Customer,
    sandbox::{Answer, KeyRecord, rfc3339},
    state::Outcome,
};

/// The customer as a read sees it.
pub(super) fn customer(id: &str, customer: &Customer) -> Answer {
    let body = json!({
        "customer_id": id,
        "name": customer.name,
        "email": customer.email,
        "shipping_address": customer.shipping_address,
        "version": customer.version,
        "internal_notes": customer.internal_notes,
    });
    Answer::json(200, &body).with(ETAG, &format!("\"{}\"", customer.version))
}

/// The answer to the write that has this outcome.
pub(super) fn outcome(key: &str, record: &KeyRecord<Outcome>, outcome: &Outcome) -> (u16, Value) {
    let id = record.object.split_once(':').map_or("", |(_, id)| id);
    let receipt = |number: &u64| {
        json!({
            "id": format!("rcp_{number}"),
            "operation_id": record.operation_id,
            "key": key,
            "request_sha256": record.request_sha256,
        })
    };
    match outcome {
        Outcome::Changed { record: number, previous_version, before } => {
            let mut receipt = receipt(number);
            receipt["before"] = json!({"shipping_address": before});
            let body = json!({
                "customer_id": id,
                "previous_version": previous_version,
                "new_version": previous_version + 1,
                "changed_fields": ["shipping_address"],
                "committed_at": rfc3339(record.at_ms),
                "receipt": receipt,
            });
            (200, body)
        }
        Outcome::Sent { record: number, recipient } => {
            let body = json!({
                "message_id": format!("msg_{number}"),
                "customer_id": id,
                "recipient": recipient,
                "sent_at": rfc3339(record.at_ms),
                "receipt": receipt(number),
            });
            (201, body)
        }
    }
}
