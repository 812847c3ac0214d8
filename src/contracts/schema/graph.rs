//! A schema as a graph: which schemas look at the same value as this one, and which look one level down. References stay
//! references; nothing is copied in. The limits and the budget are counted on it.

use std::collections::HashMap;

use serde_json::Value;

use crate::contracts::finding::child;
use crate::contracts::units::Pointer;

/// Where in a value a schema looks, one level down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Down {
    /// At this member.
    Member(String),
    /// At every member whose name is not among the others.
    Members,
    /// At the item of this number.
    Item(usize),
    /// At every item.
    Items,
}

#[derive(Debug, Default)]
struct Node {
    pointer: String,
    here: Vec<usize>,
    down: Vec<(Down, usize)>,
}

/// All schemas of a document, the root first.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    strays: Vec<(usize, String)>,
}

impl Graph {
    /// The graph of a schema. References that lead nowhere, or out of the document, have no edge.
    pub(super) fn of(root: &Value) -> Graph {
        let mut build = Build { nodes: Vec::new(), known: HashMap::new(), refs: Vec::new() };
        build.schema(root, String::new());
        let Build { mut nodes, known, refs } = build;
        let mut strays = Vec::new();
        for (from, target) in refs {
            let pointer = target.strip_prefix('#').and_then(|rest| rest.parse::<Pointer>().ok());
            let Some(pointer) = pointer else { continue };
            match known.get(&pointer.to_string()) {
                Some(to) => nodes[from].here.push(*to),
                // What is not there at all is said where it is looked up.
                None if pointer.of(root).is_some() => strays.push((from, target)),
                None => {}
            }
        }
        Graph { nodes, strays }
    }

    /// References to a part of the document where no schema stands: nothing has looked at what is there.
    pub(super) fn strays(&self) -> impl Iterator<Item = (&str, &str)> {
        self.strays.iter().map(|(node, target)| (self.pointer(*node), target.as_str()))
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Schemas that look at the same value.
    pub(super) fn here(&self, node: usize) -> &[usize] {
        &self.nodes[node].here
    }

    /// Schemas that look one level down.
    pub(super) fn down(&self, node: usize) -> &[(Down, usize)] {
        &self.nodes[node].down
    }

    /// Where the schema stands.
    pub(super) fn pointer(&self, node: usize) -> &str {
        &self.nodes[node].pointer
    }
}

struct Build {
    nodes: Vec<Node>,
    known: HashMap<String, usize>,
    refs: Vec<(usize, String)>,
}

impl Build {
    /// Depth is bounded: by the limits of a schema, and before them by those of the document.
    fn schema(&mut self, schema: &Value, at: String) -> usize {
        let own = self.nodes.len();
        self.known.insert(at.clone(), own);
        self.nodes.push(Node { pointer: at.clone(), ..Node::default() });
        for (key, value) in schema.as_object().into_iter().flatten() {
            let place = child(&at, key);
            match (key.as_str(), value) {
                ("$ref", Value::String(target)) => self.refs.push((own, target.clone())),
                ("oneOf" | "anyOf" | "allOf", Value::Array(all)) => {
                    for (i, one) in all.iter().enumerate() {
                        let part = self.schema(one, child(&place, &i.to_string()));
                        self.nodes[own].here.push(part);
                    }
                }
                ("dependentSchemas", Value::Object(all)) => {
                    for (name, one) in all {
                        let part = self.schema(one, child(&place, name));
                        self.nodes[own].here.push(part);
                    }
                }
                ("not" | "if" | "then" | "else", one) => {
                    let part = self.schema(one, place);
                    self.nodes[own].here.push(part);
                }
                ("$defs" | "definitions", Value::Object(all)) => {
                    for (name, one) in all {
                        self.schema(one, child(&place, name));
                    }
                }
                _ => self.down(own, key, value, &place),
            }
        }
        own
    }

    fn down(&mut self, own: usize, key: &str, value: &Value, place: &str) {
        match (key, value) {
            ("properties", Value::Object(all)) => {
                for (name, one) in all {
                    let part = self.schema(one, child(place, name));
                    self.nodes[own].down.push((Down::Member(name.clone()), part));
                }
            }
            ("patternProperties", Value::Object(all)) => {
                for (name, one) in all {
                    let part = self.schema(one, child(place, name));
                    self.nodes[own].down.push((Down::Members, part));
                }
            }
            ("prefixItems", Value::Array(all)) => {
                for (i, one) in all.iter().enumerate() {
                    let part = self.schema(one, child(place, &i.to_string()));
                    self.nodes[own].down.push((Down::Item(i), part));
                }
            }
            ("additionalProperties" | "unevaluatedProperties" | "propertyNames", one) => {
                let part = self.schema(one, place.to_owned());
                self.nodes[own].down.push((Down::Members, part));
            }
            ("items" | "contains" | "unevaluatedItems", one) => {
                let part = self.schema(one, place.to_owned());
                self.nodes[own].down.push((Down::Items, part));
            }
            _ => {}
        }
    }
}
