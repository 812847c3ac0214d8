//! The inventory: every boundary that a schema declares, where it applies and how to get there.

use std::collections::BTreeSet;

use serde_json::Value;

use super::build::{Step, counted};
use super::node::{FALSE_SCHEMA, Layer, Node, Root, list};
use crate::domain::json::pointer;

/// Boundaries of one schema; more is a schema that nobody reads.
const MAX_BOUNDARIES: usize = 10_000;
/// Nesting that is followed; recursion ends where a schema comes a second time on one way.
const MAX_WAY: usize = 64;
/// The keywords whose bound is a number, a text or a flag of their own.
const PLAIN: [&str; 21] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "format",
    "maxItems",
    "minItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "maxProperties",
    "minProperties",
    "not",
];

/// One thing that a schema does not let pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Pointer of the keyword in the schema.
    pub(super) at: String,
    /// The keyword.
    pub(super) keyword: String,
    /// The member that it is about, for keywords over names.
    pub(super) name: Option<String>,
    /// Pointer of the value in an input.
    pub(super) pointer: String,
    /// Pointers of the choices around the value, outermost first.
    pub(super) unions: Vec<String>,
    /// The way to the value.
    pub(super) steps: Vec<Step>,
}

/// Where the walk is.
#[derive(Clone, Default)]
struct Way {
    steps: Vec<Step>,
    pointer: String,
    unions: Vec<String>,
    /// Pointers of the schemas on the way.
    passed: Vec<String>,
}

impl Way {
    fn to(&self, step: Step, node: &Node<'_>) -> Way {
        let mut way = self.clone();
        match &step {
            Step::Member(name) => pointer::push(&mut way.pointer, name),
            Step::Item(index) => pointer::push(&mut way.pointer, &index.to_string()),
            Step::Form(_) => {}
        }
        if !matches!(step, Step::Form(_)) {
            way.passed.extend(node.layers.iter().map(|layer| layer.at.clone()));
        }
        way.steps.push(step);
        way
    }
}

struct Walk<'s> {
    root: Root<'s>,
    seen: BTreeSet<(String, String, Option<String>)>,
    found: Vec<Found>,
}

/// Every boundary, each once per place in an input.
pub(super) fn boundaries(root: Root<'_>) -> Vec<Found> {
    let mut walk = Walk { root, seen: BTreeSet::new(), found: Vec::new() };
    walk.node(&root.node(""), &Way::default());
    walk.found
}

impl<'s> Walk<'s> {
    fn add(&mut self, layer: &Layer<'s>, keyword: &str, name: Option<&str>, way: &Way) {
        let at = pointer::join(&layer.at, keyword);
        let name = name.map(str::to_owned);
        let new = self.seen.insert((at.clone(), way.pointer.clone(), name.clone()));
        if new && self.found.len() < MAX_BOUNDARIES {
            self.found.push(Found {
                at,
                keyword: keyword.to_owned(),
                name,
                pointer: way.pointer.clone(),
                unions: way.unions.clone(),
                steps: way.steps.clone(),
            });
        }
    }

    fn node(&mut self, node: &Node<'s>, way: &Way) {
        if way.steps.len() > MAX_WAY || node.never.is_some() {
            return;
        }
        for layer in node.layers.iter().filter(|layer| !layer.asks) {
            self.keywords(layer, node, way);
        }
        for name in node.members() {
            self.child(self.root.member(node, name), node, Step::Member(name.to_owned()), way);
        }
        // An object with free names: one name stands for all.
        if node.all("additionalProperties").any(Value::is_object) {
            let name =
                (0..).map(|n| format!("name{n}")).find(|name| !node.members().contains(&name.as_str()));
            if let Some(name) = name {
                self.child(self.root.member(node, &name), node, Step::Member(name), way);
            }
        }
        let tuple = super::build::tuple(node);
        for index in 0..tuple {
            self.child(self.root.item(node, index), node, Step::Item(index), way);
        }
        if node.all("items").any(Value::is_object) {
            self.child(self.root.item(node, tuple), node, Step::Item(tuple), way);
        }
        for alternative in self.root.alternatives(node) {
            let mut way = way.to(Step::Form(alternative.at.clone()), node);
            if matches!(alternative.keyword, "oneOf" | "anyOf") {
                way.unions.push(way.pointer.clone());
            }
            self.node(&self.root.with(node, &alternative), &way);
        }
    }

    fn child(&mut self, child: Node<'s>, node: &Node<'s>, step: Step, way: &Way) {
        let way = way.to(step, node);
        // A schema inside itself says nothing new.
        if child.layers.iter().any(|layer| way.passed.contains(&layer.at)) {
            return;
        }
        self.node(&child, &way);
    }

    fn keywords(&mut self, layer: &Layer<'s>, node: &Node<'s>, way: &Way) {
        for (keyword, value) in layer.schema {
            match (keyword.as_str(), value) {
                ("required", names) => {
                    for name in list(Some(names)).iter().filter_map(Value::as_str) {
                        self.add(layer, keyword, Some(name), way);
                    }
                }
                ("dependentRequired", Value::Object(triggers)) => {
                    for name in triggers.iter().filter(|(_, names)| !list(Some(names)).is_empty()) {
                        self.add(layer, keyword, Some(name.0), way);
                    }
                }
                ("properties", Value::Object(members)) => {
                    for name in members.iter().filter(|(_, member)| **member == Value::Bool(false)) {
                        self.add(layer, FALSE_SCHEMA, Some(name.0), way);
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false))
                | ("items" | "unevaluatedItems", Value::Bool(false))
                | ("propertyNames", _)
                | ("oneOf" | "anyOf", _) => self.add(layer, keyword, None, way),
                (plain, value) if PLAIN.contains(&plain) && bounds(plain, value, node) => {
                    self.add(layer, keyword, None, way);
                }
                _ => {}
            }
        }
    }
}

/// Whether anything at all is outside.
fn bounds(keyword: &str, value: &Value, node: &Node<'_>) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" | "minContains" => counted(value) > 0,
        "uniqueItems" => value == &Value::Bool(true) && node.least("maxItems").is_none_or(|most| most > 1),
        // Fewer members than the bound are declared, and no others are taken.
        "maxProperties" => {
            let closed = ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|keyword| node.all(keyword).any(|value| value == &Value::Bool(false)));
            !closed || node.members().len() > counted(value)
        }
        "contains" => node.get("minContains").is_none_or(|least| counted(least) > 0),
        _ => true,
    }
}
