//! The judge: holds what the daemon says of its operations against what the sandbox's ledger says of the world. Pure,
//! so that it can be shown to fail.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::told::{ENDED, text};

/// Faults after which the service says in so many words that it has done nothing: a second request may follow without
/// a question in between.
const DECLARED_NO_EFFECT: [&str; 2] = ["unavailable_before", "rate_limited"];

/// What the ledger tells of one operation.
#[derive(Default)]
struct World<'a> {
    /// Writes as they arrived, without the copies that the sandbox made itself.
    writes: Vec<&'a Value>,
    effects: Vec<&'a Value>,
}

/// Everything that contradicts: empty is the verdict "as promised".
pub(super) fn judge(operations: &[Value], ledger: &[Value]) -> Vec<String> {
    let (mut worlds, mut findings) = (HashMap::<String, World<'_>>::new(), Vec::new());
    let (mut questions, mut per_key) = (HashMap::<String, Vec<u64>>::new(), BTreeMap::<String, u64>::new());
    for record in ledger {
        match (text(record, "type").as_str(), text(record, "method").as_str()) {
            ("request", "GET") => {
                let path = text(record, "path").replace("%3A", ":");
                if let Some(key) = path.strip_prefix("/operations/") {
                    questions.entry(key.to_owned()).or_default().push(number(record));
                }
            }
            ("request", _) if record["redelivered"] == false => {
                let id = text(&record["headers"], "x-operation-id");
                worlds.entry(id).or_default().writes.push(record);
            }
            ("effect", _) => {
                *per_key.entry(text(record, "key")).or_default() += 1;
                worlds.entry(text(record, "operation_id")).or_default().effects.push(record);
            }
            _ => {}
        }
    }
    for (key, count) in per_key.iter().filter(|(_, count)| **count > 1) {
        findings.push(format!("{count} effects under the key {key}"));
    }
    let mut keys = HashSet::new();
    for operation in operations {
        let id = text(operation, "id");
        let world = worlds.remove(&id).unwrap_or_default();
        let mut found = |finding: String| findings.push(format!("{id} ({}): {finding}", operation["state"]));
        effects(operation, &world, &mut found);
        consent(operation, &world, &mut found);
        bytes(operation, &world, &mut found);
        repeats(&world, &questions, &mut found);
        if let Some(key) = world.writes.first().map(|write| key_of(write))
            && !keys.insert(key.clone())
        {
            found(format!("another operation has sent its key {key}"));
        }
    }
    let strangers = worlds.keys().map(|id| format!("the service knows {id:?}, the daemon does not"));
    findings.extend(strangers);
    findings
}

/// INV1, and what the daemon says is what the world is.
fn effects(operation: &Value, world: &World<'_>, found: &mut impl FnMut(String)) {
    let (state, effect) = (text(operation, "state"), text(operation, "effect"));
    let count = world.effects.len();
    if count > 1 {
        found(format!("{count} effects"));
    }
    let right = match (state.as_str(), effect.as_str()) {
        ("succeeded", "applied") | ("failed", "applied") => count == 1,
        ("succeeded", _) => false,
        (_, "none") => count == 0,
        // Nobody knows: visible, and not ended otherwise than by giving it up.
        (state, "unknown") => state == "abandoned" || !ENDED.contains(&state),
        _ => false,
    };
    if !right {
        found(format!("says effect {effect}, the ledger has {count}"));
    }
}

/// Nothing is sent without an approval, and each request belongs to an attempt that was stored before it.
fn consent(operation: &Value, world: &World<'_>, found: &mut impl FnMut(String)) {
    let sent = world.writes.len();
    let decisions = operation["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let approved = decisions.iter().any(|decision| {
        decision["verdict"] == "approve" && decision["digest"] == operation["proposal_sha256"]
    });
    if sent > 0 && !approved {
        found(format!("{sent} requests without an approval of its digest"));
    }
    let attempts = operation["attempts"].as_array().map_or(0, Vec::len);
    if sent > attempts {
        found(format!("{sent} requests, but {attempts} attempts"));
    }
    if ["proposed", "denied"].contains(&text(operation, "state").as_str()) && sent > 0 {
        found(format!("{sent} requests"));
    }
}

/// INV3: the bytes are those that were stored and shown.
fn bytes(operation: &Value, world: &World<'_>, found: &mut impl FnMut(String)) {
    let request = &operation["request"];
    for write in &world.writes {
        for member in ["method", "path", "body"] {
            if write[member] != request[member] {
                found(format!("{member} sent {}, approved {}", write[member], request[member]));
            }
        }
        for header in request["headers"].as_array().into_iter().flatten() {
            let name = header[0].as_str().unwrap_or_default().to_lowercase();
            if write["headers"][&name] != header[1] {
                found(format!("{name} sent {}, approved {}", write["headers"][&name], header[1]));
            }
        }
    }
    let digest = Sha256::digest(text(request, "body").as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    for effect in &world.effects {
        if effect["request_sha256"] != digest.as_str() {
            found(format!("the effect has the bytes {}, approved {digest}", effect["request_sha256"]));
        }
    }
}

/// INV4: a second request only under the same key, only before any effect, and only after the service was asked or
/// has said that nothing happened.
fn repeats(world: &World<'_>, questions: &HashMap<String, Vec<u64>>, found: &mut impl FnMut(String)) {
    for pair in world.writes.windows(2) {
        let (key, (from, to)) = (key_of(pair[1]), (number(pair[0]), number(pair[1])));
        if key_of(pair[0]) != key {
            found(format!("sent again under another key, {key}"));
        }
        if let Some(effect) = world.effects.iter().find(|effect| number(effect) < to) {
            found(format!("sent again (record {to}) after its effect (record {})", number(effect)));
        }
        let declared = DECLARED_NO_EFFECT.contains(&text(pair[0], "fault").as_str());
        let asked = questions.get(&key).is_some_and(|asked| asked.iter().any(|at| from < *at && *at < to));
        if !declared && !asked {
            found(format!("sent again (records {from} and {to}) without a question in between"));
        }
    }
}

fn key_of(write: &Value) -> String {
    text(&write["headers"], "idempotency-key")
}

fn number(record: &Value) -> u64 {
    record["n"].as_u64().unwrap_or(0)
}
