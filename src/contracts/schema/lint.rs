//! What a schema of a contract must not leave open. The walk follows the declared shape, not instances; each rule is
//! about what a model, a service or an approver could otherwise be handed without bound.

use serde_json::{Map, Value};

use super::authority::{is_authority, is_bag};
use super::meaning::Member;
use super::shape::{deref, is_bounded_pattern, tag_of};
use super::{is_known_format, is_linear, resolve};
use crate::contracts::finding::{FindingCode, Findings, child, suggestion};

/// The keywords that are understood. A misspelt one would silently not constrain anything, so others are findings.
const KEYWORDS: &[&str] = &[
    "$schema",
    "$ref",
    "$defs",
    "definitions",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
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
    "prefixItems",
    "items",
    "contains",
    "minContains",
    "maxContains",
    "maxProperties",
    "minProperties",
    "required",
    "properties",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "dependentRequired",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
/// Formats whose texts are short by their own definition.
const BOUNDED_FORMATS: &[&str] = &["date", "date-time", "time", "uuid", "ipv4", "ipv6", "email", "hostname"];
/// What the schema describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::contracts) enum Use {
    /// What a caller sends.
    Input,
    /// What a service answers.
    Output,
}

struct Lint<'a, 'f> {
    root: &'a Value,
    of: Use,
    findings: &'f mut Findings,
}

/// How much of the shape a subschema has to say itself.
#[derive(Clone, Copy)]
struct Level {
    /// The schema around it already closed the object.
    closed: bool,
    /// It only narrows what the schema around it declares.
    narrows: bool,
    /// It is a question (`if`, `not`), not a shape.
    asks: bool,
}

const WHOLE: Level = Level { closed: false, narrows: false, asks: false };

/// Walks a schema and adds a finding for everything that it leaves open.
pub(in crate::contracts) fn lint(root: &Value, at: &str, of: Use, findings: &mut Findings) {
    if root.get("type").and_then(Value::as_str) != Some("object") {
        let message = "the root of a schema must say `type: object`";
        findings.add(FindingCode::FreeForm, at, message, "describe the members of an object");
        return;
    }
    if let Some(dialect) = root.get("$schema")
        && dialect.as_str() != Some("https://json-schema.org/draft/2020-12/schema")
    {
        let message = "only JSON Schema 2020-12 is understood";
        let remedy = "write `$schema: \"https://json-schema.org/draft/2020-12/schema\"`";
        findings.add(FindingCode::InvalidSchema, child(at, "$schema"), message, remedy);
    }
    Lint { root, of, findings }.schema(root, at, WHOLE);
}

fn types_of(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_object(schema: &Value) -> bool {
    schema.get("properties").is_some()
        || schema.as_object().is_some_and(|own| types_of(own).contains(&"object"))
}

impl<'a> Lint<'a, '_> {
    fn add(&mut self, code: FindingCode, at: &str, message: &str, remedy: &str) {
        self.findings.add(code, at, message, remedy);
    }

    fn schema(&mut self, schema: &'a Value, at: &str, level: Level) {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => return,
            Value::Bool(true) => {
                let message = "`true` takes any value";
                return self.add(FindingCode::FreeForm, at, message, "declare the type and its bounds");
            }
            other => {
                return crate::contracts::read::wrong_type(at, "a schema", other, self.findings);
            }
        };
        self.keywords(members, at);
        self.subschemas(members, at, level);
        self.opens(members, at, level);
        if members.contains_key("$ref") {
            return self.reference(members, at);
        }
        if members.contains_key("const") || members.contains_key("enum") {
            return;
        }
        let types = types_of(members);
        let chooses = ["oneOf", "anyOf", "allOf"].iter().any(|key| members.contains_key(*key));
        if types.is_empty() && !chooses && !level.narrows {
            let message = "no type is declared, so any value passes";
            return self.add(FindingCode::FreeForm, at, message, "declare `type` and its bounds");
        }
        for wanted in types {
            match wanted {
                "object" => self.object(members, at, level),
                "array" => self.array(members, at),
                "string" => self.string(members, at),
                "integer" | "number" => self.number(members, at),
                _ => {}
            }
        }
    }

    fn keywords(&mut self, members: &Map<String, Value>, at: &str) {
        for (key, value) in members {
            let place = child(at, key);
            if key == "x-kind" {
                let kinds = ["fact", "claim", "reference"];
                if !kinds.iter().any(|kind| value.as_str() == Some(kind)) {
                    let message = "`x-kind` is one of: fact, claim, reference";
                    self.add(FindingCode::BadValue, &place, message, "choose one of the three");
                }
            } else if key == "$dynamicRef" || key == "$id" || key == "$anchor" || key == "$dynamicAnchor" {
                let message = format!("`{key}` makes references mean something outside this place");
                self.add(FindingCode::RemoteRef, &place, &message, "use `$ref: \"#/$defs/…\"`");
            } else if !key.starts_with("x-") && !KEYWORDS.contains(&key.as_str()) {
                let message = format!("unknown key `{key}` in a schema");
                let near = crate::contracts::finding::nearest(key, KEYWORDS.iter().copied());
                let remedy = near.map_or_else(|| "remove it".to_owned(), |_| suggestion(key, KEYWORDS));
                self.add(FindingCode::UnknownKey, &place, &message, &remedy);
            }
        }
        if let Some(pattern) = members.get("pattern").and_then(Value::as_str)
            && !is_linear(pattern)
        {
            let message = "the pattern needs backtracking or is not a regular expression";
            let remedy = "write it without look-around and back-references";
            self.add(FindingCode::NonLinearPattern, &child(at, "pattern"), message, remedy);
        }
        if let Some(format) = members.get("format").and_then(Value::as_str)
            && !is_known_format(format)
        {
            let message = format!("the format `{format}` is not checked by anything");
            let remedy = suggestion(format, BOUNDED_FORMATS);
            self.add(FindingCode::BadValue, &child(at, "format"), &message, &remedy);
        }
    }

    fn subschemas(&mut self, members: &'a Map<String, Value>, at: &str, level: Level) {
        let closes = members.get("unevaluatedProperties") == Some(&Value::Bool(false));
        let typed = members.contains_key("type");
        let branch =
            Level { closed: level.closed || closes, narrows: level.narrows || typed, asks: level.asks };
        let question = Level { closed: true, narrows: true, asks: true };
        for (key, value) in members {
            let place = child(at, key);
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    let inner = if level.asks { question } else { WHOLE };
                    for (name, property) in properties {
                        let at = child(&place, name);
                        let member =
                            Member { root: self.root, name, schema: property, beside: properties, at: &at };
                        self.property(&member, level);
                        self.schema(property, &at, inner);
                    }
                }
                ("$defs" | "definitions", Value::Object(definitions)) => {
                    for (name, definition) in definitions {
                        self.schema(definition, &child(&place, name), WHOLE);
                    }
                }
                ("items", of) => self.schema(of, &place, WHOLE),
                ("prefixItems", Value::Array(items)) => {
                    for (i, item) in items.iter().enumerate() {
                        self.schema(item, &child(&place, &i.to_string()), WHOLE);
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                    for (i, one) in branches.iter().enumerate() {
                        self.schema(one, &child(&place, &i.to_string()), branch);
                    }
                    // A choice between scalars is told apart by its types.
                    let objects = branches.iter().filter(|one| is_object(deref(self.root, one))).count();
                    let choice = key == "oneOf" || (key == "anyOf" && objects > 1);
                    if choice && tag_of(self.root, branches).is_none() {
                        let message = "the alternatives cannot be told apart by a constant";
                        let remedy =
                            "give each branch a required member with a different `const`, such as `kind`";
                        self.add(FindingCode::NoDiscriminator, &place, message, remedy);
                    }
                }
                ("then" | "else", one) => self.schema(one, &place, branch),
                ("if" | "not" | "contains" | "propertyNames", one) => self.schema(one, &place, question),
                _ => {}
            }
        }
    }

    fn property(&mut self, member: &Member<'_>, level: Level) {
        let (name, property, at) = (member.name, member.schema, member.at);
        if self.of == Use::Input && is_authority(name) {
            let message = format!("the input `{name}` looks like authority, which is never an input");
            let remedy =
                "remove it: authority comes from the run and the approval; rename it if it means a fact";
            self.add(FindingCode::AuthorityInput, at, &message, remedy);
        }
        let is_open_text = property.get("type").and_then(Value::as_str) == Some("string")
            && property.get("enum").is_none()
            && property.get("const").is_none();
        if self.of == Use::Input && is_open_text && is_bag(name) {
            let message = format!("the text `{name}` would carry a whole request inside");
            self.add(FindingCode::FreeForm, at, &message, "one tool per action, with typed members");
        }
        if level.asks {
            return;
        }
        member.measure(self.findings);
        if self.of == Use::Input {
            member.kind(self.findings);
        }
    }

    fn reference(&mut self, members: &Map<String, Value>, at: &str) {
        let place = child(at, "$ref");
        match members.get("$ref").and_then(Value::as_str) {
            Some(target) if !target.starts_with('#') => {
                let message = "a reference must stay inside its schema";
                self.add(FindingCode::RemoteRef, &place, message, "copy the definition into `$defs`");
            }
            Some(target) if resolve(self.root, target).is_none() => {
                let message = format!("`{target}` points at nothing");
                self.add(FindingCode::UnresolvedRef, &place, &message, "define it in `$defs`");
            }
            Some(_) => {}
            None => self.add(FindingCode::UnresolvedRef, &place, "`$ref` must be text", "write `#/$defs/…`"),
        }
    }

    fn object(&mut self, members: &Map<String, Value>, at: &str, level: Level) {
        let closed = [members.get("additionalProperties"), members.get("unevaluatedProperties")]
            .contains(&Some(&Value::Bool(false)));
        if closed || level.closed {
            return;
        }
        let declares = ["properties", "oneOf", "anyOf", "allOf"].iter().any(|key| members.contains_key(*key));
        if declares {
            let message = "the object takes members that nobody declared";
            self.add(FindingCode::OpenObject, at, message, "add `additionalProperties: false`");
        } else {
            let message = "a bare object takes anything";
            let remedy = "declare `properties` and add `additionalProperties: false`";
            self.add(FindingCode::FreeForm, at, message, remedy);
        }
    }

    /// What a schema lets in is evaluated, so that no `unevaluatedProperties: false` around it closes the object again.
    fn opens(&mut self, members: &Map<String, Value>, at: &str, level: Level) {
        let keys = ["additionalProperties", "unevaluatedProperties"];
        let closed = level.closed || keys.iter().any(|key| members.get(*key) == Some(&Value::Bool(false)));
        let told = types_of(members).contains(&"object") && !members.contains_key("$ref");
        if told && !closed {
            return;
        }
        for key in keys.iter().filter(|key| members.get(**key).is_some_and(|of| *of != Value::Bool(false))) {
            let message = "it lets in members that nobody declared, whatever is around it";
            self.add(FindingCode::OpenObject, &child(at, key), message, "declare them, or write `false`");
        }
    }

    fn array(&mut self, members: &Map<String, Value>, at: &str) {
        let tuple = members.contains_key("prefixItems") && members.get("items") == Some(&Value::Bool(false));
        if !members.contains_key("maxItems") && !tuple {
            let message = "the array has no bound";
            self.add(FindingCode::UnboundedArray, at, message, "add `maxItems`");
        }
        if !members.contains_key("items") {
            let (message, remedy) = if members.contains_key("prefixItems") {
                (
                    "the items after the first ones are not declared",
                    "add `items: false`, or `items` with a type",
                )
            } else {
                ("the items of the array are not declared", "add `items` with a type")
            };
            self.add(FindingCode::FreeForm, at, message, remedy);
        }
    }

    fn string(&mut self, members: &Map<String, Value>, at: &str) {
        let format = members.get("format").and_then(Value::as_str);
        let pattern = members.get("pattern").and_then(Value::as_str);
        let bounded = members.contains_key("maxLength")
            || format.is_some_and(|format| BOUNDED_FORMATS.contains(&format))
            || pattern.is_some_and(is_bounded_pattern);
        if !bounded {
            let message = "the string has no bound";
            let remedy =
                "add `maxLength`, `enum`, a bounded format, or an anchored pattern without `*` and `+`";
            self.add(FindingCode::UnboundedString, at, message, remedy);
        }
    }

    fn number(&mut self, members: &Map<String, Value>, at: &str) {
        let lower = members.contains_key("minimum") || members.contains_key("exclusiveMinimum");
        let upper = members.contains_key("maximum") || members.contains_key("exclusiveMaximum");
        if !(lower && upper) {
            let message = match (lower, upper) {
                (true, _) => "the number has no upper bound",
                (_, true) => "the number has no lower bound",
                _ => "the number has no bounds",
            };
            self.add(FindingCode::UnboundedNumber, at, message, "add `minimum` and `maximum`");
        }
    }
}
