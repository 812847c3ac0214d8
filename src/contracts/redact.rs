//! Redaction on the way out: what an audience may not see is dropped or masked. Never used on what is sent or hashed.

use serde_json::Value;

use super::model::{Redact, RedactAs};
use super::units::Pointer;

/// What stands for a masked value.
const MASK: &str = "[redacted]";

impl Redact {
    pub(super) fn apply(&self, audience: &str, value: &Value) -> Value {
        let mut value = value.clone();
        for (pointer, how) in self.audiences.get(audience).into_iter().flatten() {
            redact(&mut value, &pointer.0, *how);
        }
        value
    }

    /// The value without what may never be kept.
    pub(super) fn stored(&self, value: &Value) -> Value {
        let mut value = value.clone();
        for pointer in &self.never_store {
            redact(&mut value, &pointer.0, RedactAs::Drop);
        }
        value
    }

    /// Every redacted pointer of any audience, and what is never stored.
    pub(super) fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        let audiences = self.audiences.values().flatten().map(|(pointer, _)| pointer);
        audiences.chain(&self.never_store)
    }
}

fn redact(value: &mut Value, path: &[String], how: RedactAs) {
    match (path, value) {
        ([], value) => *value = Value::String(MASK.to_owned()),
        ([last], Value::Object(members)) if last != "*" => match how {
            RedactAs::Drop => {
                members.remove(last);
            }
            RedactAs::Mask => {
                if let Some(member) = members.get_mut(last) {
                    *member = Value::String(MASK.to_owned());
                }
            }
        },
        ([first, rest @ ..], Value::Object(members)) => {
            if let Some(member) = members.get_mut(first) {
                redact(member, rest, how);
            }
        }
        ([first, rest @ ..], Value::Array(items)) => {
            if first == "*" {
                items.iter_mut().for_each(|item| redact(item, rest, how));
            } else if let Some(item) = first.parse::<usize>().ok().and_then(|i| items.get_mut(i)) {
                redact(item, rest, how);
            }
        }
        (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_dropped_or_masked_and_nothing_else_changes() {
        let mut redact = Redact::default();
        let rule = |text: &str, how| (text.parse::<Pointer>().unwrap(), how);
        redact.audiences.insert(
            "agent".into(),
            vec![
                rule("/notes", RedactAs::Drop),
                rule("/email", RedactAs::Mask),
                rule("/orders/*/card", RedactAs::Mask),
                rule("/missing/deep", RedactAs::Drop),
            ],
        );
        let value = json!({"notes": {"a": 1}, "email": "a@b", "orders": [{"card": 1, "id": 2}], "x": null});
        let seen = redact.apply("agent", &value);
        assert_eq!(seen, json!({"email": MASK, "orders": [{"card": MASK, "id": 2}], "x": null}));
        assert_eq!(redact.apply("operator", &value), value);
        redact.never_store = vec!["/orders/*/card".parse().unwrap(), "/email".parse().unwrap()];
        assert_eq!(redact.stored(&value), json!({"notes": {"a": 1}, "orders": [{"id": 2}], "x": null}));
    }
}
