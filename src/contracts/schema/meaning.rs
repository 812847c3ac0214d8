//! What the members of a schema have to say about themselves: a quantity its unit, money its currency, a point in time
//! its offset, an input whether it is a fact, a claim or a reference. Names are read as people read them, by their last
//! word (`unit_price` is a price); nothing here looks at values.

use serde_json::{Map, Value};

use super::shape::deref;
use crate::contracts::finding::{FindingCode, Findings};

/// Last words of names that measure something.
const QUANTITIES: &[&str] = &[
    "quantity",
    "qty",
    "weight",
    "length",
    "width",
    "height",
    "depth",
    "distance",
    "duration",
    "timeout",
    "delay",
    "interval",
    "temperature",
    "volume",
    "area",
    "speed",
    "power",
    "energy",
    "pressure",
    "age",
    "size",
];
/// Last words of names that are money.
const MONEY: &[&str] = &[
    "amount", "price", "cost", "fee", "salary", "wage", "budget", "balance", "refund", "charge", "payment",
    "payout", "subtotal", "deposit", "discount", "money",
];
/// Last words of names that are points in time.
const TIMES: &[&str] = &[
    "at",
    "timestamp",
    "datetime",
    "deadline",
    "until",
    "since",
    "expires",
    "due",
    "begins",
    "ends",
    "starts",
];
/// Last words that are a part of a currency and not one: the currency still has to be said.
const MINOR: &[&str] = &["minor", "cents", "major", "value"];
/// The words of a name in lower case: `unitPrice`, `unit-price` and `unit_price` are one name.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts =
            !before.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && !before.is_ascii_uppercase());
        if c.is_ascii_alphanumeric() {
            match out.last_mut() {
                Some(word) if !starts => word.push(c.to_ascii_lowercase()),
                _ => out.push(c.to_ascii_lowercase().to_string()),
            }
        }
        before = c;
    }
    out
}

/// Whether the name ends in one of the words.
fn ends_in(words: &[String], known: &[&str]) -> bool {
    words.last().is_some_and(|last| known.contains(&last.as_str()))
}

fn is_type(schema: &Value, wanted: &[&str]) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => wanted.contains(&one.as_str()),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).any(|one| wanted.contains(&one)),
        _ => false,
    }
}

/// One member of an object, with what stands beside it.
pub(super) struct Member<'a> {
    pub(super) root: &'a Value,
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) beside: &'a Map<String, Value>,
    pub(super) at: &'a str,
}

impl Member<'_> {
    /// A word that the schema says itself, directly or where it refers to.
    fn says(&self, key: &str) -> bool {
        self.schema.get(key).is_some() || deref(self.root, self.schema).get(key).is_some()
    }

    /// A sibling of this name, or one that begins or ends with it.
    fn beside(&self, word: &str) -> bool {
        self.beside.keys().any(|key| key != self.name && words(key).iter().any(|part| part == word))
    }

    /// What it measures, costs, or when it is.
    pub(super) fn measure(&self, findings: &mut Findings) {
        let name = words(self.name);
        let schema = deref(self.root, self.schema);
        if schema.get("const").is_some() || schema.get("enum").is_some() {
            return;
        }
        let stem = if ends_in(&name, MINOR) && name.len() > 1 { &name[..name.len() - 1] } else { &name };
        let number = is_type(schema, &["integer", "number"]);
        if ends_in(stem, MONEY) {
            return self.money(schema, number, findings);
        }
        if number && (ends_in(&name, QUANTITIES) || ends_in(&name, TIMES)) {
            let told = self.says("x-unit") || self.beside("unit") || self.beside("uom");
            if !told {
                let message = format!("the number `{}` does not say in which unit", self.name);
                let remedy =
                    "put the unit into the name (`weight_kg`), add `x-unit`, or a member `unit` beside it";
                findings.add(FindingCode::MissingUnit, self.at, message, remedy);
            }
        }
        if ends_in(&name, TIMES) && is_type(schema, &["string"]) {
            let format = schema.get("format").and_then(Value::as_str);
            if !matches!(format, Some("date-time" | "date" | "time")) && !self.says("x-offset") {
                let message = format!("the time `{}` may be sent without its offset", self.name);
                let remedy =
                    "add `format: date-time`, which wants an offset, `format: date` for a day, or `x-offset`";
                findings.add(FindingCode::MissingOffset, self.at, message, remedy);
            }
        }
    }

    fn money(&self, schema: &Value, number: bool, findings: &mut Findings) {
        let text = is_type(schema, &["string"]);
        let inside = schema.get("properties").and_then(Value::as_object);
        let told = self.says("x-currency")
            || self.beside("currency")
            || inside
                .is_some_and(|inside| inside.keys().any(|key| words(key).iter().any(|w| w == "currency")));
        if (number || text || inside.is_some()) && !told {
            let message = format!("the money `{}` does not say in which currency", self.name);
            let remedy =
                "add a member `currency` beside it, `x-currency: EUR`, or put it into the name (`price_eur`)";
            findings.add(FindingCode::MissingCurrency, self.at, message, remedy);
        }
    }

    /// Whether an input says what kind of statement it is.
    pub(super) fn kind(&self, findings: &mut Findings) {
        let schema = deref(self.root, self.schema);
        let one = schema.get("items").map_or(schema, |items| deref(self.root, items));
        let told = self.says("x-kind") || one.get("x-kind").is_some();
        if told || !is_leaf(one) || schema.get("const").is_some() {
            return;
        }
        let message = format!("the input `{}` does not say what kind of statement it is", self.name);
        let remedy = "add `x-kind`: `fact` (a service checks it), `claim` (somebody says so) or `reference` (a record)";
        findings.add(FindingCode::MissingKind, self.at, message, remedy);
    }
}

/// A statement by itself: not an object or a list, whose members make their own.
fn is_leaf(schema: &Value) -> bool {
    let typed = schema.get("type").is_some() && !is_type(schema, &["object", "array"]);
    typed || schema.get("enum").is_some() || scalar_choice(schema)
}

/// A choice between scalars only, such as text or null.
fn scalar_choice(schema: &Value) -> bool {
    let branches =
        ["oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key).and_then(Value::as_array)).flatten();
    let mut seen = false;
    for branch in branches {
        seen = true;
        if !is_type(branch, &["string", "integer", "number", "boolean", "null"]) {
            return false;
        }
    }
    seen && schema.get("properties").is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(name: &str, schema: &Value, beside: &[&str]) -> Vec<&'static str> {
        let mut siblings: Map<String, Value> =
            beside.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
        siblings.insert(name.to_owned(), schema.clone());
        let mut findings = Findings::default();
        let root = json!({});
        let member = Member { root: &root, name, schema, beside: &siblings, at: "" };
        member.measure(&mut findings);
        findings.into_sorted().iter().map(|finding| finding.code.as_str()).collect()
    }

    #[test]
    fn names_are_read_by_their_words() {
        assert_eq!(words("unitPrice"), ["unit", "price"]);
        assert_eq!(words("Idempotency-Key"), ["idempotency", "key"]);
        assert_eq!(words("committed_at"), ["committed", "at"]);
        assert_eq!(words("URL"), ["url"]);
    }

    #[test]
    fn what_measures_says_its_unit_in_one_of_three_ways() {
        let number = json!({"type": "number"});
        assert_eq!(codes("weight", &number, &[]), ["missing-unit"]);
        assert_eq!(codes("started_at", &json!({"type": "integer"}), &[]), ["missing-unit"]);
        assert!(codes("weight_kg", &number, &[]).is_empty());
        assert!(codes("weight", &number, &["weight_unit"]).is_empty());
        assert!(codes("weight", &json!({"type": "number", "x-unit": "kg"}), &[]).is_empty());
        assert!(codes("count", &json!({"type": "integer"}), &[]).is_empty());
        assert!(codes("size", &json!({"type": "string", "enum": ["S", "M"]}), &[]).is_empty());
    }

    #[test]
    fn money_says_its_currency() {
        let number = json!({"type": "integer"});
        for name in ["amount", "unitPrice", "amount_minor", "price_cents"] {
            assert_eq!(codes(name, &number, &[]), ["missing-currency"], "{name}");
            assert!(codes(name, &number, &["currency"]).is_empty(), "{name}");
        }
        assert_eq!(codes("cost", &json!({"type": "string"}), &[]), ["missing-currency"]);
        assert_eq!(
            codes("cost", &json!({"type": "object", "properties": {"value": {}}}), &[]),
            ["missing-currency"]
        );
        assert!(codes("cost", &json!({"type": "object", "properties": {"currency": {}}}), &[]).is_empty());
        assert!(codes("price_eur", &number, &[]).is_empty());
        assert!(codes("cost_center", &json!({"type": "string"}), &[]).is_empty());
    }

    #[test]
    fn a_time_says_its_offset() {
        assert_eq!(codes("sent_at", &json!({"type": "string", "maxLength": 30}), &[]), ["missing-offset"]);
        assert!(codes("sent_at", &json!({"type": "string", "format": "date-time"}), &[]).is_empty());
        assert!(codes("due", &json!({"type": "string", "format": "date"}), &[]).is_empty());
        let local = json!({"type": "string", "maxLength": 19, "x-offset": "Europe/Stockholm"});
        assert!(codes("sent_at", &local, &[]).is_empty());
    }
}
