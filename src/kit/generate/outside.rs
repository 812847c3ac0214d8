//! Just outside a boundary: for each keyword the values to try, the nearest first, each with the place where the
//! refusal must be.

use serde_json::{Map, Value};

use super::build::{MAX_MADE, NotMade, Wanted, build, counted, exact, is_of, tuple, variants};
use super::node::{Node, Root, list};
use super::walk::Found;
use crate::domain::json::pointer;

/// A value for the place of the boundary, and where it must be refused.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Try {
    pub(super) value: Value,
    pub(super) refused_at: String,
}

/// Names that no schema declares on purpose.
const UNDECLARED: [&str; 3] = ["undeclared", "undeclared_member", "undeclared member"];

/// Values just outside, from a valid one at the place. An error says why none is known.
pub(super) fn values(
    root: Root<'_>,
    node: &Node<'_>,
    found: &Found,
    valid: &Value,
) -> Result<Vec<Try>, NotMade> {
    let Some(layer_at) = found.at.strip_suffix(&format!("/{}", found.keyword)) else {
        return Err("the boundary has no schema".to_owned());
    };
    let layer =
        node.layers.iter().find(|layer| layer.at == layer_at).ok_or("the schema is not on the way")?;
    let bound = layer.schema.get(&found.keyword).unwrap_or(&Value::Null);
    let here = |values: Vec<Value>| {
        values.into_iter().map(|value| Try { value, refused_at: found.pointer.clone() }).collect()
    };
    Ok(match found.keyword.as_str() {
        "type" => here(other_types(bound)),
        "enum" => here(beside(list(Some(bound)))),
        "const" => here(beside(std::slice::from_ref(bound))),
        "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {
            here(beyond(&found.keyword, bound, node))
        }
        "multipleOf" => here(between(bound, valid)),
        "minLength" | "maxLength" => here(lengths(&found.keyword, counted(bound), valid)?),
        "pattern" | "format" => here(texts(valid)),
        "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains" | "maxContains" => {
            here(arrays(root, node, &found.keyword, counted(bound), valid)?)
        }
        "items" | "unevaluatedItems" => extra_item(node, found, valid),
        "required" | "dependentRequired" => without(found, bound, valid),
        "additionalProperties" | "unevaluatedProperties" => extra_member(node, found, valid),
        "falseSchema" => forbidden(found, valid),
        "propertyNames" => here(strange_names(valid)),
        "minProperties" => here(fewer_members(counted(bound), valid)),
        "maxProperties" => here(more_members(root, node, counted(bound), valid)?),
        "not" => here(vec![denied(root, node, layer_at)?]),
        "oneOf" | "anyOf" => forms(root, node, found, valid),
        other => return Err(format!("no value outside of `{other}` is known")),
    })
}

fn samples() -> [Value; 7] {
    let (list, object) = (Value::Array(Vec::new()), Value::Object(Map::new()));
    ["text".into(), 7.into(), exact(0.5), true.into(), Value::Null, list, object]
}

fn other_types(bound: &Value) -> Vec<Value> {
    let one = std::slice::from_ref(bound);
    let types: Vec<&str> = match bound {
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => one.iter().filter_map(Value::as_str).collect(),
    };
    let mut others: Vec<Value> =
        samples().into_iter().filter(|value| !types.iter().any(|kind| is_of(value, kind))).collect();
    // The digits of a number as text, and half a number where whole ones are wanted, are what callers send.
    others.sort_by_key(|value| match value {
        Value::Number(number) if types.contains(&"integer") => u8::from(number.is_i64()),
        Value::String(_) if types.contains(&"number") => 0,
        Value::Number(_) if types.contains(&"string") => 0,
        _ => 2,
    });
    others
}

/// Values of the same type as the listed ones that are not listed.
fn beside(listed: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    for value in listed {
        found.extend(variants(&Node::default(), value));
        found.extend(match value {
            Value::String(text) => vec![Value::from(format!("{text}x")), text.to_uppercase().into()],
            _ => samples().to_vec(),
        });
    }
    found.retain(|value| !listed.contains(value));
    found
}

fn beyond(keyword: &str, bound: &Value, node: &Node<'_>) -> Vec<Value> {
    let Some(limit) = bound.as_f64() else { return Vec::new() };
    let up = keyword.ends_with("aximum");
    let whole = node.types().contains(&"integer") && !node.types().contains(&"number");
    let step = node.get("multipleOf").and_then(Value::as_f64);
    let nearest = match (keyword.starts_with("exclusive"), whole, step) {
        (true, ..) => bound.clone(),
        (false, _, Some(step)) => exact(if up { limit + step } else { limit - step }),
        (false, true, None) => whole_neighbour(bound, up).unwrap_or_else(|| bound.clone()),
        (false, false, None) => exact(if up { limit.next_up() } else { limit.next_down() }),
    };
    let farther = exact(if up { limit + 1.0 } else { limit - 1.0 });
    vec![nearest, farther]
}

/// The whole number beside a bound, exact beyond what a double holds.
fn whole_neighbour(bound: &Value, up: bool) -> Option<Value> {
    match (bound.as_i64(), bound.as_u64(), bound.as_f64()) {
        (Some(bound), _, _) => {
            let next = if up { bound.checked_add(1) } else { bound.checked_sub(1) };
            next.map(Value::from).or_else(|| u64::try_from(bound).ok().map(|bound| Value::from(bound + 1)))
        }
        (None, Some(bound), _) => {
            if up { bound.checked_add(1) } else { bound.checked_sub(1) }.map(Value::from)
        }
        (None, None, Some(bound)) => Some(exact(if up { bound.floor() + 1.0 } else { bound.ceil() - 1.0 })),
        (None, None, None) => None,
    }
}

fn between(bound: &Value, valid: &Value) -> Vec<Value> {
    let (step, from) = (bound.as_f64().unwrap_or(1.0), valid.as_f64().unwrap_or(0.0));
    let whole = step.fract() == 0.0 && step > 1.0;
    let mut found: Vec<Value> = if whole { vec![exact(from + 1.0), exact(from - 1.0)] } else { Vec::new() };
    found.extend([exact(from + step / 2.0), exact(from - step / 2.0)]);
    found
}

fn lengths(keyword: &str, bound: usize, valid: &Value) -> Result<Vec<Value>, NotMade> {
    if bound > MAX_MADE {
        return Err("the text would be too large to try".to_owned());
    }
    let text = valid.as_str().unwrap_or_default();
    let wanted = if keyword == "minLength" { bound.saturating_sub(1) } else { bound + 1 };
    let fill = text.chars().next_back().unwrap_or('a');
    let made: String = text.chars().chain(std::iter::repeat(fill)).take(wanted).collect();
    Ok(vec![made.into()])
}

/// Texts near a valid one, and some that are far from any.
fn texts(valid: &Value) -> Vec<Value> {
    let text = valid.as_str().unwrap_or_default();
    let mut found = Vec::new();
    if let Some((at, last)) = text.char_indices().next_back() {
        found.push(text[..at].to_owned());
        found.push(format!("{text}{last}"));
    }
    found.push(format!("{text}!"));
    found.push(format!("!{text}"));
    found.push(format!("{text}\n"));
    found.extend([text.to_lowercase(), text.to_uppercase(), String::new()]);
    found.extend(["!", "x", "7", "not one", "\u{1f600}", "2026-02-30", ":"].map(str::to_owned));
    found.retain(|other| other != text);
    found.into_iter().map(Value::String).collect()
}

fn arrays(
    root: Root<'_>,
    node: &Node<'_>,
    keyword: &str,
    bound: usize,
    valid: &Value,
) -> Result<Vec<Value>, NotMade> {
    if bound > MAX_MADE {
        return Err("the array would be too large to try".to_owned());
    }
    let items = list(Some(valid));
    let item = || match items.last() {
        Some(item) => Ok(item.clone()),
        None => build(root, &root.item(node, 0), Wanted::default(), 0),
    };
    let of = |count: usize| -> Result<Value, NotMade> {
        let mut made: Vec<Value> = items.iter().take(count).cloned().collect();
        while made.len() < count {
            made.push(build(root, &root.item(node, made.len()), Wanted::default(), 0).or_else(|_| item())?);
        }
        Ok(Value::Array(made))
    };
    Ok(match keyword {
        "minItems" => vec![of(bound.saturating_sub(1))?],
        "maxItems" => vec![of(bound + 1)?],
        "maxContains" => vec![Value::Array(vec![item()?; bound + 1])],
        "minContains" => vec![of(bound.saturating_sub(1))?],
        "uniqueItems" => {
            let one = item()?;
            vec![Value::Array(vec![one.clone(), one])]
        }
        _ => {
            let plain = build(root, &root.item(node, 0), Wanted::default(), 0)?;
            let mut found = vec![Value::Array(Vec::new()), Value::Array(vec![plain.clone()])];
            let others = variants(&root.item(node, 0), &plain);
            found.extend(others.into_iter().map(|other| Value::Array(vec![other])));
            found
        }
    })
}

fn extra_item(node: &Node<'_>, found: &Found, valid: &Value) -> Vec<Try> {
    let mut items = list(Some(valid)).to_vec();
    items.resize(tuple(node).max(items.len()), Value::Null);
    let value = |mut items: Vec<Value>| {
        items.push(Value::Bool(true));
        Value::Array(items)
    };
    let at = pointer::join(&found.pointer, &items.len().to_string());
    // Some validators name the item, some the array that has too many.
    [at, found.pointer.clone()].map(|refused_at| Try { value: value(items.clone()), refused_at }).to_vec()
}

fn without(found: &Found, bound: &Value, valid: &Value) -> Vec<Try> {
    let Some(name) = &found.name else { return Vec::new() };
    let dependents = || list(bound.get(name)).iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let names: Vec<String> = if found.keyword == "required" { vec![name.clone()] } else { dependents() };
    let lacking = names.into_iter().filter_map(|name| {
        let mut members = valid.as_object()?.clone();
        members.remove(&name)?;
        // The tag of a union is missed at its own place.
        let at = [found.pointer.clone(), pointer::join(&found.pointer, &name)];
        Some(at.map(|refused_at| Try { value: Value::Object(members.clone()), refused_at }))
    });
    lacking.flatten().collect()
}

fn with_member(valid: &Value, name: &str, value: Value) -> Value {
    let mut members = valid.as_object().cloned().unwrap_or_default();
    members.insert(name.to_owned(), value);
    Value::Object(members)
}

fn extra_member(node: &Node<'_>, found: &Found, valid: &Value) -> Vec<Try> {
    let known = node.members();
    let names = UNDECLARED.iter().filter(|name| !known.contains(name));
    names
        .map(|name| Try {
            value: with_member(valid, name, Value::Bool(true)),
            refused_at: pointer::join(&found.pointer, name),
        })
        .collect()
}

fn forbidden(found: &Found, valid: &Value) -> Vec<Try> {
    let Some(name) = &found.name else { return Vec::new() };
    let refused_at = pointer::join(&found.pointer, name);
    vec![Try { value: with_member(valid, name, Value::Bool(true)), refused_at }]
}

fn strange_names(valid: &Value) -> Vec<Value> {
    let long = "x".repeat(300);
    ["", "!", " ", "UPPER", "lower", "\u{1f600}", &long]
        .map(|name| with_member(valid, name, Value::Null))
        .to_vec()
}

fn fewer_members(bound: usize, valid: &Value) -> Vec<Value> {
    let members = valid.as_object().cloned().unwrap_or_default();
    let fewer: Map<String, Value> = members.into_iter().take(bound.saturating_sub(1)).collect();
    vec![Value::Object(fewer)]
}

fn more_members(root: Root<'_>, node: &Node<'_>, bound: usize, valid: &Value) -> Result<Vec<Value>, NotMade> {
    let mut members = valid.as_object().cloned().unwrap_or_default();
    let free = (0..=bound).map(|n| format!("name{n}"));
    let names = node.members().into_iter().map(str::to_owned).chain(free);
    for name in names {
        if members.len() > bound {
            break;
        }
        if !members.contains_key(&name) {
            let value = build(root, &root.member(node, &name), Wanted::default(), 0)?;
            members.insert(name, value);
        }
    }
    Ok(vec![Value::Object(members)])
}

/// A value that the `not` beside the other keywords denies.
fn denied(root: Root<'_>, node: &Node<'_>, layer_at: &str) -> Result<Value, NotMade> {
    let mut both = node.clone();
    both.layers.extend(root.node(&pointer::join(layer_at, "not")).layers);
    build(root, &both, Wanted::default(), 0)
}

/// Outside of all forms: a tag that none has, else a value of no form.
fn forms(root: Root<'_>, node: &Node<'_>, found: &Found, valid: &Value) -> Vec<Try> {
    let branches: Vec<Node<'_>> = root
        .alternatives(node)
        .into_iter()
        .filter(|alternative| alternative.of == found.at)
        .map(|alternative| root.with(&Node::default(), &alternative))
        .collect();
    let tags = branches.first().map(Node::members).unwrap_or_default();
    let is_tag = |name: &&str| branches.iter().all(|branch| root.member(branch, name).get("const").is_some());
    let mut tries = Vec::new();
    for tag in tags.into_iter().filter(is_tag) {
        let known: Vec<Value> =
            branches.iter().filter_map(|branch| root.member(branch, tag).get("const").cloned()).collect();
        for value in beside(&known) {
            let value = with_member(valid, tag, value);
            tries.push(Try { value: value.clone(), refused_at: pointer::join(&found.pointer, tag) });
            tries.push(Try { value, refused_at: found.pointer.clone() });
        }
    }
    let constants: Vec<Value> = branches.iter().filter_map(|branch| branch.get("const").cloned()).collect();
    let others = beside(&constants).into_iter().chain(samples());
    tries.extend(others.map(|value| Try { value, refused_at: found.pointer.clone() }));
    tries
}
