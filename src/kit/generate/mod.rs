//! Inputs made from a contract's input schema: the smallest one that passes, and for every declared boundary one that is
//! just outside, with the place where the refusal must be. Pure: it sends nothing, and what it says about a schema is
//! held against the validator that the daemon uses.

mod build;
mod node;
mod outside;
mod pattern;
mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;

use self::build::{Step, Wanted};
use self::node::{Node, Root};
use self::walk::Found;
use crate::contracts::{Schema, Violation};
use crate::domain::json::pointer;

/// Something that a schema does not let pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Boundary {
    /// Pointer of the keyword in the schema.
    pub schema: String,
    /// The keyword.
    pub keyword: String,
    /// The member that it is about, for `required` and the like.
    pub member: Option<String>,
    /// Pointer of the value in an input.
    pub pointer: String,
}

/// An input just outside a boundary.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The boundary.
    pub boundary: Boundary,
    /// The input: valid except for this.
    pub input: Value,
    /// Where the refusal must be.
    pub refused_at: String,
    /// The choices around that place, where a validator may name one of them instead: which form was meant is not
    /// always known.
    pub unions: Vec<String>,
}

/// Everything that is made from one schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Suite {
    /// The smallest valid input, or why none could be made.
    pub smallest: Result<Value, String>,
    /// One case per boundary that has one.
    pub cases: Vec<Case>,
    /// Boundaries without a case, and why.
    pub without: Vec<(Boundary, String)>,
}

impl Suite {
    /// How many boundaries the schema declares.
    #[must_use]
    pub fn boundaries(&self) -> usize {
        self.cases.len() + self.without.len()
    }
}

impl Case {
    /// Whether a refusal at this place is the one that must be.
    #[must_use]
    pub fn is_refused_at(&self, place: &str) -> bool {
        place == self.refused_at || self.unions.iter().any(|union| union == place)
    }
}

/// Makes the suite of a schema. The examples help where no valid input can be made otherwise.
#[must_use]
pub fn suite(schema: &Schema, examples: &[Value]) -> Suite {
    let root = Root(schema.source());
    let smallest = smallest(schema, root, examples);
    let (mut cases, mut without) = (Vec::new(), Vec::new());
    for found in walk::boundaries(root) {
        let boundary = Boundary {
            schema: found.at.clone(),
            keyword: found.keyword.clone(),
            member: found.name.clone(),
            pointer: found.pointer.clone(),
        };
        match case(schema, root, &found, examples) {
            Ok((input, refused_at)) => {
                let mut unions = found.unions;
                // The tag itself may be what is missing; its own place is then as good as that of the whole.
                if let (false, Some(member)) = (unions.is_empty(), &boundary.member) {
                    unions.push(pointer::join(&boundary.pointer, member));
                }
                cases.push(Case { boundary, input, refused_at, unions });
            }
            Err(why) => without.push((boundary, why)),
        }
    }
    Suite { smallest, cases, without }
}

fn smallest(schema: &Schema, root: Root<'_>, examples: &[Value]) -> Result<Value, String> {
    let made = build::build(root, &root.node(""), Wanted::default(), 0);
    match made {
        Ok(value) if schema.accepts(&value) => Ok(value),
        made => {
            let by_size = |value: &&Value| value.to_string().len();
            let example = examples.iter().filter(|value| schema.accepts(value)).min_by_key(by_size);
            let why =
                made.err().unwrap_or_else(|| "what was made is refused; rules between members?".to_owned());
            example.cloned().ok_or(why)
        }
    }
}

/// An input just outside, and where it must be refused.
fn case(
    schema: &Schema,
    root: Root<'_>,
    found: &Found,
    examples: &[Value],
) -> Result<(Value, String), String> {
    let node = node_at(root, &found.steps);
    let host = host(schema, root, found, &node, examples)?;
    let valid = pointer::lookup(&host, &found.pointer).cloned().unwrap_or(Value::Null);
    let tries = outside::values(root, &node, found, &valid)?;
    let mut first = None;
    let mut second = None;
    for one in tries {
        let mut input = host.clone();
        if !replace(&mut input, &found.pointer, one.value) {
            return Err("the place is not there".to_owned());
        }
        let violations = schema.validate(&input).err().unwrap_or_default();
        match judge(&violations, found, &one.refused_at) {
            Fit::Exact => return Ok((input, one.refused_at)),
            Fit::Place => drop(second.get_or_insert((input, one.refused_at))),
            // A validator that lets everything pass still gets its case, and fails it.
            Fit::None if violations.is_empty() => drop(first.get_or_insert((input, one.refused_at))),
            Fit::None => {}
        }
    }
    second.or(first).ok_or_else(|| "no value outside is known; an example near it may help".to_owned())
}

/// How well the violations of an input are those of a boundary.
enum Fit {
    /// Its own keyword at its place.
    Exact,
    /// Another keyword at its place.
    Place,
    None,
}

fn judge(violations: &[Violation], found: &Found, place: &str) -> Fit {
    let in_union = |violation: &Violation| found.unions.contains(&violation.pointer);
    let at = |violation: &&Violation| violation.pointer == place || in_union(violation);
    let here: Vec<&Violation> = violations.iter().filter(at).collect();
    if here.iter().any(|one| one.keyword == found.keyword || in_union(one)) {
        Fit::Exact
    } else if here.is_empty() {
        Fit::None
    } else {
        Fit::Place
    }
}

/// A valid input in which the place exists and has the type that the keyword is about.
fn host(
    schema: &Schema,
    root: Root<'_>,
    found: &Found,
    node: &Node<'_>,
    examples: &[Value],
) -> Result<Value, String> {
    let kind = match found.keyword.as_str() {
        "minLength" | "maxLength" | "pattern" | "format" => Some("string"),
        "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains" | "maxContains" | "items"
        | "unevaluatedItems" => Some("array"),
        "required"
        | "dependentRequired"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "falseSchema" => Some("object"),
        "multipleOf" if node.types().contains(&"number") => Some("number"),
        "multipleOf" => Some("integer"),
        _ => None,
    };
    let trigger: Vec<&str> =
        found.name.iter().filter(|_| found.keyword == "dependentRequired").map(String::as_str).collect();
    let wanted = Wanted { steps: &found.steps, members: &trigger, kind };
    let made = build::build(root, &root.node(""), wanted, 0);
    let refused = match made {
        Ok(value) if schema.accepts(&value) => return Ok(value),
        Ok(_) => "what was made on the way to it is refused; rules between members?".to_owned(),
        Err(why) => why,
    };
    let fits = |example: &&Value| {
        let there = pointer::lookup(example, &found.pointer);
        let has_trigger = |value: &Value| trigger.iter().all(|name| value.get(*name).is_some());
        schema.accepts(example)
            && there
                .is_some_and(|value| kind.is_none_or(|kind| build::is_of(value, kind)) && has_trigger(value))
    };
    examples.iter().find(fits).cloned().ok_or(format!("no valid input reaches it: {refused}"))
}

/// What applies at the end of a way.
fn node_at<'s>(root: Root<'s>, steps: &[Step]) -> Node<'s> {
    let mut node = root.node("");
    for step in steps {
        node = match step {
            Step::Member(name) => root.member(&node, name),
            Step::Item(index) => root.item(&node, *index),
            Step::Form(at) => match root.alternatives(&node).into_iter().find(|one| one.at == *at) {
                Some(alternative) => root.with(&node, &alternative),
                None => node,
            },
        };
    }
    node
}

/// Puts a value in the place of another one.
fn replace(value: &mut Value, place: &str, new: Value) -> bool {
    match value.pointer_mut(place) {
        Some(old) => {
            *old = new;
            true
        }
        None => false,
    }
}

/// Other valid inputs that differ from this one in a single value, claims and free texts first.
#[must_use]
pub fn variants(schema: &Schema, input: &Value) -> Vec<Value> {
    let root = Root(schema.source());
    let mut found: Vec<(bool, Value)> = Vec::new();
    let mut leaves = Vec::new();
    collect(root, &root.node(""), input, String::new(), &mut leaves, 0);
    for (place, node) in leaves {
        let is_reference = node.all("x-kind").any(|kind| kind == "reference");
        let Some(old) = pointer::lookup(input, &place) else { continue };
        for new in build::variants(&node, old) {
            let mut other = input.clone();
            if replace(&mut other, &place, new) && schema.accepts(&other) {
                found.push((is_reference, other));
                break;
            }
        }
    }
    found.sort_by_key(|(is_reference, _)| *is_reference);
    found.into_iter().map(|(_, other)| other).collect()
}

fn collect<'s>(
    root: Root<'s>,
    node: &Node<'s>,
    value: &Value,
    place: String,
    leaves: &mut Vec<(String, Node<'s>)>,
    depth: usize,
) {
    if depth > crate::domain::json::MAX_DEPTH {
        return;
    }
    // Which form a value has is not asked: every form says what it knows, the validator decides.
    let mut node = node.clone();
    for alternative in root.alternatives(&node) {
        node = root.with(&node, &alternative);
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let place = pointer::join(&place, name);
                collect(root, &root.member(&node, name), member, place, leaves, depth + 1);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let place = pointer::join(&place, &index.to_string());
                collect(root, &root.item(&node, index), item, place, leaves, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push((place, node)),
    }
}
