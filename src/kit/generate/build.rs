//! The smallest value that a schema takes, on the way to a place: everything required and nothing else, except what
//! the way needs.

use serde_json::{Map, Number, Value};

use super::node::{Node, Root, count, list};
use super::pattern;
use crate::domain::json::MAX_DEPTH;

/// Longest text or array that is made.
pub(super) const MAX_MADE: usize = 1 << 20;
/// Members that are made to reach a least number.
const MAX_MEMBERS: usize = 1000;
/// Formats and a text that has each.
const FORMATS: &[(&str, &str)] = &[
    ("date", "2026-01-31"),
    ("date-time", "2026-01-31T12:00:00Z"),
    ("time", "12:00:00Z"),
    ("duration", "P1D"),
    ("uuid", "01890a5d-ac96-774b-bcce-b302099a8057"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("email", "a@example.test"),
    ("idn-email", "a@example.test"),
    ("hostname", "example.test"),
    ("idn-hostname", "example.test"),
    ("uri", "https://example.test/"),
    ("uri-reference", "/a"),
    ("iri", "https://example.test/"),
    ("iri-reference", "/a"),
    ("uri-template", "/a"),
    ("json-pointer", "/a"),
    ("relative-json-pointer", "0"),
    ("regex", "a"),
];

/// One step from a value into it, or to one of its forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Into a member.
    Member(String),
    /// Into an item.
    Item(usize),
    /// The alternative whose schema is at this pointer.
    Form(String),
}

/// Why no value could be made; about the schema only.
pub(super) type NotMade = String;

/// What is wanted beyond the smallest value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted<'w> {
    /// The place that must exist.
    pub(super) steps: &'w [Step],
    /// Members that the value at the place must have.
    pub(super) members: &'w [&'w str],
    /// The type of the value at the place.
    pub(super) kind: Option<&'w str>,
}

/// The smallest value with what is wanted.
pub(super) fn build(
    root: Root<'_>,
    node: &Node<'_>,
    wanted: Wanted<'_>,
    depth: usize,
) -> Result<Value, NotMade> {
    if depth > MAX_DEPTH / 2 {
        return Err("the schema needs a value that never ends".to_owned());
    }
    if let Some(at) = &node.never {
        return Err(format!("{at} takes nothing"));
    }
    if let Some(alternative) = next_form(root, node, &wanted)? {
        let rest = match wanted.steps {
            [Step::Form(at), rest @ ..] if *at == alternative.at => rest,
            steps => steps,
        };
        return build(root, &root.with(node, &alternative), Wanted { steps: rest, ..wanted }, depth);
    }
    if let Some(listed) = node.listed() {
        let fits = |value: &&&Value| wanted.kind.is_none_or(|kind| is_of(value, kind));
        let first = listed.iter().find(fits).or(listed.first());
        return first.map(|value| (**value).clone()).ok_or("no listed value is allowed".to_owned());
    }
    match kind(node, &wanted) {
        "object" => object(root, node, wanted, depth),
        "array" => array(root, node, wanted, depth),
        "string" => text(node).map(Value::String),
        kind @ ("integer" | "number") => number(node, kind == "integer"),
        "boolean" => Ok(Value::Bool(false)),
        _ => Ok(Value::Null),
    }
}

/// The form to take next: the one on the way, or the first of a choice that is not made yet. A condition (`then`,
/// `else`) is only taken where the way goes through it.
fn next_form<'s>(
    root: Root<'s>,
    node: &Node<'s>,
    wanted: &Wanted<'_>,
) -> Result<Option<super::node::Alternative<'s>>, NotMade> {
    let open = root.alternatives(node);
    if let [Step::Form(at), ..] = wanted.steps {
        let found = open.into_iter().find(|alternative| alternative.at == *at);
        return found.map(Some).ok_or(format!("the form at {at} cannot be taken here"));
    }
    let choice = |keyword: &str| keyword == "oneOf" || keyword == "anyOf";
    Ok(open.into_iter().find(|alternative| choice(alternative.keyword)))
}

/// The type to make: as wanted, as the way needs it, else the first that is not null.
fn kind<'n>(node: &Node<'n>, wanted: &Wanted<'n>) -> &'n str {
    let types = node.types();
    match (wanted.steps.first(), wanted.kind) {
        (Some(Step::Member(_)), _) => return "object",
        (Some(Step::Item(_)), _) => return "array",
        (_, Some(kind)) if types.is_empty() || types.contains(&kind) => return kind,
        _ => {}
    }
    if let Some(first) = types.iter().find(|kind| **kind != "null").or(types.first()) {
        return first;
    }
    let by_keyword = [
        ("object", ["properties", "required", "additionalProperties"]),
        ("array", ["items", "prefixItems", "maxItems"]),
        ("string", ["maxLength", "pattern", "format"]),
        ("number", ["maximum", "minimum", "multipleOf"]),
    ];
    let says = |keywords: &[&str]| keywords.iter().any(|keyword| node.get(keyword).is_some());
    by_keyword.iter().find(|(_, keywords)| says(keywords)).map_or("null", |(kind, _)| kind)
}

/// Whether a value has a type of JSON Schema.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            let whole = number.as_f64().is_some_and(|f| f.fract() == 0.0);
            kind == "number" || (kind == "integer" && whole)
        }
    }
}

fn object(root: Root<'_>, node: &Node<'_>, wanted: Wanted<'_>, depth: usize) -> Result<Value, NotMade> {
    let (way, rest) = match wanted.steps {
        [Step::Member(name), rest @ ..] => (Some(name.as_str()), rest),
        _ => (None, wanted.steps),
    };
    let mut names: Vec<&str> = node.required();
    names.extend(way);
    if wanted.steps.is_empty() {
        names.extend(wanted.members);
    }
    let least = node.most("minProperties").unwrap_or(0);
    // Free names stand for those that a schema leaves open; how many there are is bounded by the least that is needed.
    let free: Vec<String> = (0..least.min(MAX_MEMBERS)).map(|n| format!("name{n}")).collect();
    let open = node.all("additionalProperties").any(|value| value != &Value::Bool(false));
    let mut optional = node.members().into_iter().chain(free.iter().map(String::as_str).filter(|_| open));
    let mut at = 0;
    let mut made = Map::new();
    while at < names.len() || made.len() < least {
        let name = match names.get(at) {
            Some(name) => *name,
            None => optional.next().ok_or("too few members are declared")?,
        };
        at = (at + 1).min(names.len());
        if made.contains_key(name) {
            continue;
        }
        let inner = match way {
            Some(way) if way == name => Wanted { steps: rest, ..wanted },
            _ => Wanted::default(),
        };
        made.insert(name.to_owned(), build(root, &root.member(node, name), inner, depth + 1)?);
        names.extend(node.dependents(name));
    }
    Ok(Value::Object(made))
}

fn array(root: Root<'_>, node: &Node<'_>, wanted: Wanted<'_>, depth: usize) -> Result<Value, NotMade> {
    let (way, rest) = match wanted.steps {
        [Step::Item(index), rest @ ..] => (Some(*index), rest),
        _ => (None, wanted.steps),
    };
    let contains = node.get("contains").is_some();
    let least = node.most("minItems").unwrap_or(0).max(way.map_or(0, |index| index + 1));
    let least = least.max(usize::from(contains) * node.most("minContains").unwrap_or(1));
    if least > MAX_MADE {
        return Err("the array would be too large to try".to_owned());
    }
    let mut items = Vec::with_capacity(least);
    for index in 0..least {
        let mut item = root.item(node, index);
        for layer in node.layers.iter().filter(|layer| contains && layer.schema.contains_key("contains")) {
            let at = crate::domain::json::pointer::join(&layer.at, "contains");
            item.layers.extend(root.node(&at).layers);
        }
        let inner = match way {
            Some(way) if way == index => Wanted { steps: rest, ..wanted },
            _ => Wanted::default(),
        };
        items.push(build(root, &item, inner, depth + 1)?);
    }
    if node.all("uniqueItems").any(|unique| unique == &Value::Bool(true)) {
        make_distinct(root, node, &mut items);
    }
    Ok(Value::Array(items))
}

/// Varies items that are equal to an earlier one, as far as their schema says how.
fn make_distinct(root: Root<'_>, node: &Node<'_>, items: &mut [Value]) {
    for index in 1..items.len() {
        let item = root.item(node, index);
        let other = variants(&item, &items[index]).into_iter().find(|other| !items[..index].contains(other));
        if items[..index].contains(&items[index])
            && let Some(other) = other
        {
            items[index] = other;
        }
    }
}

/// Other values of the same kind that probably pass too. Whoever asks checks them against the schema.
pub(super) fn variants(node: &Node<'_>, value: &Value) -> Vec<Value> {
    if let Some(listed) = node.listed() {
        return listed.into_iter().filter(|other| *other != value).cloned().collect();
    }
    match value {
        Value::String(text) => text_variants(text).into_iter().map(Value::String).collect(),
        Value::Number(number) => {
            let step = node.get("multipleOf").and_then(Value::as_f64).unwrap_or(1.0);
            let from = number.as_f64().unwrap_or(0.0);
            (1..=64)
                .flat_map(|n| [from + step * f64::from(n), from - step * f64::from(n)])
                .map(exact)
                .collect()
        }
        Value::Bool(flag) => vec![Value::Bool(!flag)],
        Value::Null | Value::Array(_) | Value::Object(_) => Vec::new(),
    }
}

/// The text with its last letter or digit changed, or one character longer or shorter.
fn text_variants(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let last = text.char_indices().rev().find(|(_, c)| c.is_ascii_alphanumeric());
    if let Some((at, old)) = last {
        let kinds = ['0'..='9', 'a'..='z', 'A'..='Z'];
        let of_kind = kinds.into_iter().find(|kind| kind.contains(&old));
        for new in of_kind.into_iter().flatten().filter(|new| *new != old) {
            found.push(format!("{}{new}{}", &text[..at], &text[at + 1..]));
        }
    }
    found.push(format!("{text}a"));
    if let Some((at, _)) = text.char_indices().next_back() {
        found.push(text[..at].to_owned());
    }
    found
}

/// The number in its shortest form: whole where it is whole.
pub(super) fn exact(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn text(node: &Node<'_>) -> Result<String, NotMade> {
    let least = node.most("minLength").unwrap_or(0);
    if least > MAX_MADE {
        return Err("the text would be too large to try".to_owned());
    }
    if let Some(format) = node.get("format").and_then(Value::as_str) {
        let known = FORMATS.iter().find(|(name, _)| *name == format);
        return known
            .map(|(_, text)| (*text).to_owned())
            .ok_or(format!("no text of the format {format} is known"));
    }
    match node.get("pattern").and_then(Value::as_str) {
        Some(pattern) => pattern::text(pattern, least).ok_or("no text for the pattern was found".to_owned()),
        None => Ok("a".repeat(least)),
    }
}

fn number(node: &Node<'_>, whole: bool) -> Result<Value, NotMade> {
    let bound = |keyword| node.all(keyword).filter_map(Value::as_f64);
    let step = node.get("multipleOf").and_then(Value::as_f64).or(whole.then_some(1.0));
    let low = bound("minimum").fold(f64::NEG_INFINITY, f64::max);
    let above = bound("exclusiveMinimum").fold(f64::NEG_INFINITY, f64::max);
    let high = bound("maximum").chain(bound("exclusiveMaximum")).fold(f64::INFINITY, f64::min);
    let start = match (low.max(above).is_finite(), high.is_finite()) {
        (true, _) => low.max(above),
        (false, true) => high,
        (false, false) => 0.0,
    };
    let Some(step) = step else {
        // Between two bounds there is room; a bound that is itself allowed is the smallest.
        let number = if above >= low && above.is_finite() {
            if high.is_finite() { above + (high - above) / 2.0 } else { above + 1.0 }
        } else if bound("exclusiveMaximum").any(|bound| bound <= start) {
            start - 1.0
        } else {
            start
        };
        return Ok(exact(number));
    };
    let mut number = (start / step).ceil() * step;
    if number <= above {
        number += step;
    }
    if !low.max(above).is_finite() {
        number = (start / step).floor() * step;
        if bound("exclusiveMaximum").any(|bound| number >= bound) {
            number -= step;
        }
    }
    Ok(exact(number))
}

/// How many items a tuple declares.
pub(super) fn tuple(node: &Node<'_>) -> usize {
    node.all("prefixItems").map(|items| list(Some(items)).len()).max().unwrap_or(0)
}

/// The number of a keyword that counts.
pub(super) fn counted(value: &Value) -> usize {
    count(value).unwrap_or(0)
}
