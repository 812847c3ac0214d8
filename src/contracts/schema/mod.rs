//! JSON Schemas of a contract, compiled once at load: draft 2020-12, formats asserted, patterns in the linear-time
//! engine only, nothing ever retrieved. Validates, fills in declared defaults and knows which members exist.

mod authority;
mod budget;
mod claims;
mod graph;
mod limits;
mod lint;
mod meaning;
mod shape;
mod violation;

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::finding::{FindingCode, Findings};
use super::units::Pointer;

use self::budget::Budget;
pub(super) use lint::{Use, lint};
pub(super) use shape::{constant, deref, tag_of};
pub use violation::Violation;

/// Nesting of schemas that default filling and path look-ups follow; recursion through `$ref` ends here.
const MAX_DEPTH: usize = 64;

/// A compiled schema.
#[derive(Clone)]
pub struct Schema {
    source: Arc<Value>,
    validator: Arc<Validator>,
    budget: Arc<Budget>,
    has_defaults: bool,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("source", &self.source).finish_non_exhaustive()
    }
}

fn options() -> jsonschema::ValidationOptions<'static> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_pattern_options(PatternOptions::regex())
        .offline()
}

fn compile(schema: &Value) -> Result<Validator, jsonschema::ValidationError<'static>> {
    options().build(schema)
}

/// Whether the linear-time engine takes the pattern.
fn is_linear(pattern: &str) -> bool {
    compile(&serde_json::json!({ "pattern": pattern })).is_ok()
}

/// Whether the format is one that is checked.
fn is_known_format(format: &str) -> bool {
    jsonschema::options().is_known_format(Draft::Draft202012, format)
}

fn mentions_default(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.contains_key("default") || members.values().any(mentions_default),
        Value::Array(items) => items.iter().any(mentions_default),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

impl Schema {
    /// Compiles. What is wrong beyond the lint is one finding; what is too large or never ends is not compiled at all.
    pub(super) fn compile(schema: &Value, at: &str, findings: &mut Findings) -> Option<Schema> {
        let before = findings.len();
        limits::limits(schema, at, findings);
        if findings.len() > before {
            return None;
        }
        match compile(schema) {
            Ok(validator) => Some(Schema {
                source: Arc::new(schema.clone()),
                validator: Arc::new(validator),
                budget: Arc::new(Budget::of(schema)),
                has_defaults: mentions_default(schema),
            }),
            Err(error) => {
                let place = format!("{at}{}", error.instance_path().as_str());
                let message = format!("not a JSON Schema that can be used: {}", violation::describe(&error));
                findings.add(FindingCode::InvalidSchema, place, message, "mend it by JSON Schema 2020-12");
                None
            }
        }
    }

    /// A schema alone, for tests of what is made from schemas.
    #[cfg(test)]
    pub(crate) fn alone(schema: &Value) -> Schema {
        let mut findings = Findings::default();
        Schema::compile(schema, "", &mut findings).unwrap_or_else(|| panic!("{findings:?}"))
    }

    /// The schema as written.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// All violations, without values, under the size limit of an answer.
    ///
    /// # Errors
    /// The violations.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if self.budget.allows(value).is_err() {
            return Err(vec![violation::too_costly()]);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(violation::collect(self.validator.iter_errors(value), &self.source))
    }

    /// Whether the value passes.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        self.budget.allows(value).is_ok() && self.validator.is_valid(value)
    }

    /// The value with the declared defaults of absent members filled in.
    #[must_use]
    pub fn with_defaults(&self, value: &Value) -> Value {
        let mut value = value.clone();
        if self.has_defaults {
            self.fill(&self.source, &mut value, 0);
        }
        value
    }

    fn fill(&self, schema: &Value, value: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let schema = self.deref(schema);
        match value {
            Value::Object(members) => {
                let declared = schema.get("properties").and_then(Value::as_object);
                for (name, property) in declared.into_iter().flatten() {
                    if !members.contains_key(name)
                        && let Some(default) = self.deref(property).get("default")
                    {
                        members.insert(name.clone(), default.clone());
                    }
                    if let Some(member) = members.get_mut(name) {
                        self.fill(property, member, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(of) = schema.get("items") {
                    items.iter_mut().for_each(|item| self.fill(of, item, depth + 1));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Follows `$ref` within the document, a bounded number of times.
    fn deref<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            match schema.get("$ref").and_then(Value::as_str).and_then(|target| resolve(&self.source, target))
            {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// JSON pointers of what in a value is a claim.
    pub(super) fn claims(&self, value: &Value) -> Vec<String> {
        claims::claims(&self.source, value)
    }

    /// Pointers of the declared defaults that their own schemas refuse.
    pub(super) fn refused_defaults(&self) -> Vec<String> {
        if !self.has_defaults {
            return Vec::new();
        }
        let Ok(parts) = options().build_map(&self.source) else { return Vec::new() };
        let refused = parts.keys().filter_map(|key| {
            let pointer = key.strip_prefix('#')?;
            let default = self.source.pointer(pointer)?.get("default")?;
            let accepted = parts.get(key)?.is_valid(default);
            (!accepted).then(|| format!("{pointer}/default"))
        });
        let mut refused: Vec<String> = refused.collect();
        refused.sort();
        refused
    }

    /// A member that the schema itself declares, and whether it must be there.
    pub(super) fn member(&self, name: &str) -> Option<(&Value, bool)> {
        let root = self.deref(&self.source);
        let of = root.get("properties")?.get(name)?;
        Some((self.deref(of), shape::requires(root, name)))
    }

    /// The names of the members that the schema itself declares.
    pub(super) fn members(&self) -> Vec<&str> {
        let declared = self.deref(&self.source).get("properties").and_then(Value::as_object);
        declared.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// The types that a part of the schema allows; nothing where it does not say.
    pub(super) fn types<'s>(&'s self, part: &'s Value) -> Option<Vec<&'s str>> {
        let part = self.deref(part);
        match part.get("type") {
            Some(Value::String(one)) => Some(vec![one]),
            Some(Value::Array(all)) => all.iter().map(Value::as_str).collect(),
            _ => {
                let branches = ["oneOf", "anyOf"].iter().find_map(|key| part.get(*key)?.as_array())?;
                let types = branches.iter().map(|branch| self.types(branch));
                Some(types.collect::<Option<Vec<_>>>()?.concat())
            }
        }
    }

    /// Whether a dotted path can exist. `Err` names the members that are known where it stops.
    pub(super) fn has_path<'s>(&'s self, path: &[String]) -> Result<(), Vec<&'s str>> {
        let mut schema: &Value = &self.source;
        for member in path {
            schema = self.deref(schema);
            if let Some(items) = schema.get("items").filter(|_| member == "*") {
                schema = items;
                continue;
            }
            let Some(declared) = schema.get("properties").and_then(Value::as_object) else {
                // Alternatives may declare it; a scalar or a list has no members.
                let open = ["oneOf", "anyOf", "allOf", "if"].iter().any(|key| schema.get(*key).is_some());
                return if open { Ok(()) } else { Err(Vec::new()) };
            };
            match declared.get(member) {
                Some(next) => schema = next,
                None if ["oneOf", "anyOf", "allOf", "if"].iter().any(|key| schema.get(*key).is_some()) => {
                    return Ok(());
                }
                None => return Err(declared.keys().map(String::as_str).collect()),
            }
        }
        Ok(())
    }
}

/// The target of a local reference.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer: Pointer = reference.strip_prefix('#')?.parse().ok()?;
    pointer.of(root)
}

#[cfg(test)]
mod tests;
