//! What a schema says about one value: every schema object that applies to it, with `$ref` and `allOf` followed.

use serde_json::{Map, Value};

use crate::domain::json::pointer;

/// References and `allOf` followed for one value; more is a loop.
const MAX_LAYERS: usize = 64;
/// The keyword that is used in error reports for what a `false` schema refuses.
pub(super) const FALSE_SCHEMA: &str = "falseSchema";

/// One schema object that applies, and its pointer in the whole schema.
#[derive(Clone, Debug)]
pub(super) struct Layer<'s> {
    pub(super) schema: &'s Map<String, Value>,
    pub(super) at: String,
    /// It only asks (`if`): what it does not take is not refused.
    pub(super) asks: bool,
}

/// One of several forms that a value may take, or a form that it takes under a condition.
#[derive(Clone, Debug)]
pub(super) struct Alternative<'s> {
    /// Pointer of its schema: its name in a path.
    pub(super) at: String,
    /// Pointer of the keyword that offers it.
    pub(super) of: String,
    /// `oneOf`, `anyOf`, `then` or `else`.
    pub(super) keyword: &'static str,
    layers: Vec<Layer<'s>>,
}

/// Everything that applies to one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Node<'s> {
    pub(super) layers: Vec<Layer<'s>>,
    /// A `false` schema applies: no value passes. Its pointer.
    pub(super) never: Option<String>,
}

/// The schema and the values that can be looked up in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root<'s>(pub(super) &'s Value);

impl<'s> Root<'s> {
    /// The node of the schema at a pointer.
    pub(super) fn node(self, at: &str) -> Node<'s> {
        let mut node = Node::default();
        if let Some(schema) = pointer::lookup(self.0, at) {
            self.apply(schema, at, false, &mut node);
        }
        node
    }

    fn apply(self, schema: &'s Value, at: &str, asks: bool, node: &mut Node<'s>) {
        let known = node.layers.iter().any(|layer| layer.at == at);
        if known || node.layers.len() >= MAX_LAYERS {
            return;
        }
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => {
                node.never.get_or_insert_with(|| at.to_owned());
                return;
            }
            _ => return,
        };
        node.layers.push(Layer { schema: members, at: at.to_owned(), asks });
        if let Some(target) = members.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'))
            && let Some(found) = pointer::lookup(self.0, target)
        {
            self.apply(found, target, asks, node);
        }
        for (i, part) in list(members.get("allOf")).iter().enumerate() {
            let at = pointer::join(&pointer::join(at, "allOf"), &i.to_string());
            self.apply(part, &at, asks, node);
        }
    }

    /// The node with one alternative taken.
    pub(super) fn with(self, node: &Node<'s>, alternative: &Alternative<'s>) -> Node<'s> {
        let mut node = node.clone();
        for layer in &alternative.layers {
            if !node.layers.iter().any(|known| known.at == layer.at) {
                node.layers.push(layer.clone());
            }
        }
        node
    }

    /// The alternatives that the node offers and that are not taken yet.
    pub(super) fn alternatives(self, node: &Node<'s>) -> Vec<Alternative<'s>> {
        let mut found = Vec::new();
        for layer in &node.layers {
            for keyword in ["oneOf", "anyOf"] {
                let of = pointer::join(&layer.at, keyword);
                let branches = list(layer.schema.get(keyword));
                let ats: Vec<String> =
                    (0..branches.len()).map(|i| pointer::join(&of, &i.to_string())).collect();
                if ats.iter().any(|at| node.has(at)) {
                    continue;
                }
                for at in ats {
                    let layers = self.node(&at).layers;
                    found.push(Alternative { at, of: of.clone(), keyword, layers });
                }
            }
            if !layer.schema.contains_key("if") {
                continue;
            }
            for keyword in ["then", "else"] {
                let at = pointer::join(&layer.at, keyword);
                if !layer.schema.contains_key(keyword) || node.has(&at) {
                    continue;
                }
                let mut layers = self.node(&at).layers;
                if keyword == "then" {
                    let question = self.node(&pointer::join(&layer.at, "if")).layers;
                    layers.extend(question.into_iter().map(|layer| Layer { asks: true, ..layer }));
                }
                found.push(Alternative { of: at.clone(), at, keyword, layers });
            }
        }
        found
    }

    /// What applies to a member of this name.
    pub(super) fn member(self, node: &Node<'s>, name: &str) -> Node<'s> {
        let mut child = Node::default();
        for layer in &node.layers {
            let declared = layer.schema.get("properties").and_then(|properties| properties.get(name));
            let (schema, at) = match (declared, layer.schema.get("additionalProperties")) {
                (Some(schema), _) => (schema, pointer::join(&pointer::join(&layer.at, "properties"), name)),
                (None, Some(schema)) => (schema, pointer::join(&layer.at, "additionalProperties")),
                (None, None) => continue,
            };
            self.apply(schema, &at, layer.asks, &mut child);
        }
        child
    }

    /// What applies to the item at this index.
    pub(super) fn item(self, node: &Node<'s>, index: usize) -> Node<'s> {
        let mut child = Node::default();
        for layer in &node.layers {
            let prefix = list(layer.schema.get("prefixItems"));
            if let Some(schema) = prefix.get(index) {
                let at = pointer::join(&pointer::join(&layer.at, "prefixItems"), &index.to_string());
                self.apply(schema, &at, layer.asks, &mut child);
            } else if let Some(schema) = layer.schema.get("items") {
                self.apply(schema, &pointer::join(&layer.at, "items"), layer.asks, &mut child);
            }
        }
        child
    }
}

impl<'s> Node<'s> {
    fn has(&self, at: &str) -> bool {
        self.layers.iter().any(|layer| layer.at == at)
    }

    /// The values of a keyword, over all layers.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        let found: Vec<&'s Value> =
            self.layers.iter().filter_map(|layer| layer.schema.get(keyword)).collect();
        found.into_iter()
    }

    /// The first value of a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.all(keyword).next()
    }

    /// The largest of a keyword that counts.
    pub(super) fn most(&self, keyword: &str) -> Option<usize> {
        self.all(keyword).filter_map(count).max()
    }

    /// The smallest of a keyword that counts.
    pub(super) fn least(&self, keyword: &str) -> Option<usize> {
        self.all(keyword).filter_map(count).min()
    }

    /// The types that pass every layer, in the order of the first one; empty if none is declared.
    pub(super) fn types(&self) -> Vec<&'s str> {
        let mut layers = self.all("type").map(|value| match value {
            Value::String(one) => vec![one.as_str()],
            Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        });
        let Some(mut types) = layers.next() else { return Vec::new() };
        for other in layers {
            let numbers = other.contains(&"number");
            types.retain(|wanted| other.contains(wanted) || (numbers && *wanted == "integer"));
        }
        types
    }

    /// The names of the declared members, each once, in order.
    pub(super) fn members(&self) -> Vec<&'s str> {
        let mut names: Vec<&'s str> = Vec::new();
        for properties in self.all("properties") {
            for name in properties.as_object().into_iter().flat_map(Map::keys) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The names of the required members.
    pub(super) fn required(&self) -> Vec<&'s str> {
        let mut names: Vec<&'s str> = Vec::new();
        for name in self.all("required").flat_map(|value| list(Some(value))).filter_map(Value::as_str) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The members that a member brings along.
    pub(super) fn dependents(&self, name: &str) -> Vec<&'s str> {
        let lists = self.all("dependentRequired").filter_map(|value| value.get(name));
        lists.flat_map(|value| list(Some(value))).filter_map(Value::as_str).collect()
    }

    /// The values of `const` or `enum` that all layers allow; `None` if no layer lists any.
    pub(super) fn listed(&self) -> Option<Vec<&'s Value>> {
        let mut lists = self.layers.iter().filter_map(|layer| match layer.schema.get("const") {
            Some(only) => Some(vec![only]),
            None => layer.schema.get("enum").map(|values| list(Some(values)).iter().collect()),
        });
        let mut first: Vec<&Value> = lists.next()?;
        for other in lists {
            first.retain(|value| other.contains(value));
        }
        Some(first)
    }
}

/// A list, or nothing.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A count of the schema; `5.0` is one.
pub(super) fn count(value: &Value) -> Option<usize> {
    match value.as_u64() {
        Some(count) => usize::try_from(count).ok(),
        None => value.as_f64().filter(|f| f.fract() == 0.0 && (0.0..1e15).contains(f)).map(|f| f as usize),
    }
}
