//! Violations of a schema as told to a caller: pointer, keyword, what the schema wants. The value that was sent is
//! never repeated; it may be personal, secret or huge.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde::Serialize;
use serde_json::Value;

use super::shape::{Tag, constant, tag_of};
use crate::contracts::finding::child;

/// A caller mends a few at a time; more would not fit the answer.
const MAX_VIOLATIONS: usize = 12;
/// All violations of one answer, in bytes as JSON. With the envelope around them they stay under two kilobytes.
const MAX_TOTAL: usize = 1300;
/// Longest name of an unknown member that is repeated.
const MAX_NAME: usize = 64;
/// Longest list of allowed values that is repeated from the schema.
const MAX_OPTIONS: usize = 160;

/// One thing that a value does wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violation {
    /// JSON pointer into the value.
    pub pointer: String,
    /// The schema's keyword.
    pub keyword: String,
    /// What the schema wants. Never holds a value that was sent.
    pub message: String,
}

fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The value was not looked at: checking it would have cost too much.
pub(super) fn too_costly() -> Violation {
    let message = "the value is too large for this schema: checking it would take too long";
    Violation { pointer: String::new(), keyword: "budget".to_owned(), message: message.to_owned() }
}

pub(super) fn collect<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    schema: &Value,
) -> Vec<Violation> {
    let mut out: Vec<Violation> = Vec::new();
    let mut total = 0;
    for error in errors {
        for violation in violations(&error, schema) {
            let size = serde_json::to_string(&violation).map_or(MAX_TOTAL, |text| text.len());
            if out.len() == MAX_VIOLATIONS || total + size > MAX_TOTAL {
                // At least one is always told, however deep it is and however its schema is written.
                if out.is_empty() {
                    let message = format!("does not pass `{}`", violation.keyword);
                    out.push(Violation { pointer: String::new(), keyword: violation.keyword, message });
                }
                return out;
            }
            total += size;
            out.push(violation);
        }
    }
    out
}

fn violations(error: &ValidationError<'_>, schema: &Value) -> Vec<Violation> {
    let at = error.instance_path().as_str();
    let keyword = error.kind().keyword().to_owned();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| Violation {
                pointer: child(at, &clip(name, MAX_NAME)),
                keyword: keyword.clone(),
                message: "this member is not declared by the schema".to_owned(),
            })
            .collect(),
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
            union(error, context, schema).unwrap_or_else(|| told(error))
        }
        _ => told(error),
    }
}

fn told(error: &ValidationError<'_>) -> Vec<Violation> {
    let keyword = error.kind().keyword().to_owned();
    vec![Violation { pointer: error.instance_path().as_str().to_owned(), keyword, message: describe(error) }]
}

/// The violations of the one branch that the tag chose: what the others want is of no use to anybody.
fn union(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
) -> Option<Vec<Violation>> {
    let branches = schema.pointer(error.schema_path().as_str())?.as_array()?;
    let Tag::Member(name) = tag_of(schema, branches)? else { return None };
    let wanted: Vec<&Value> = branches.iter().filter_map(|branch| constant(schema, branch, &name)).collect();
    let keyword = error.kind().keyword().to_owned();
    let at = error.instance_path().as_str();
    let options = || {
        let options: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        clip(&options.join(", "), MAX_OPTIONS)
    };
    let members = error.instance().as_object()?;
    let Some(tag) = members.get(&name) else {
        let message =
            format!("the member `{}` chooses the form: one of {}", clip(&name, MAX_NAME), options());
        return Some(vec![Violation { pointer: child(at, &name), keyword, message }]);
    };
    let Some(chosen) = wanted.iter().position(|wanted| *wanted == tag) else {
        return Some(vec![Violation {
            pointer: child(at, &name),
            keyword,
            message: format!("must be one of {}", options()),
        }]);
    };
    let form = format!("{} = {}", clip(&name, MAX_NAME), clip(&wanted[chosen].to_string(), MAX_NAME));
    let mut found: Vec<Violation> =
        context.get(chosen)?.iter().flat_map(|error| violations(error, schema)).collect();
    for violation in &mut found {
        violation.message = format!("{} (the form {form})", violation.message);
    }
    Some(found)
}

/// What the schema wants, from the schema's side only.
pub(super) fn describe(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Required { property } => match property {
            Value::String(name) => format!("the member `{}` is required", clip(name, MAX_NAME)),
            _ => "a member is required".to_owned(),
        },
        Kind::Type { kind: TypeKind::Single(wanted) } => format!("must be of type {wanted}"),
        Kind::Type { kind: TypeKind::Multiple(wanted) } => {
            let wanted: Vec<String> = wanted.iter().map(|wanted| wanted.to_string()).collect();
            format!("must be of one of the types {}", wanted.join(", "))
        }
        Kind::Enum { options } => {
            format!("must be one of {}", clip(&options.to_string(), MAX_OPTIONS))
        }
        Kind::Constant { expected_value } => {
            format!("must be {}", clip(&expected_value.to_string(), MAX_OPTIONS))
        }
        Kind::Pattern { pattern } => format!("must match {}", clip(pattern, MAX_OPTIONS)),
        Kind::Format { format } => format!("must have the format {}", clip(format, MAX_NAME)),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::UniqueItems => "must not hold an item twice".to_owned(),
        Kind::OneOfNotValid { .. } | Kind::AnyOf { .. } => "matches none of the declared forms".to_owned(),
        Kind::OneOfMultipleValid { .. } => "matches more than one of the declared forms".to_owned(),
        Kind::FalseSchema => "nothing is allowed here".to_owned(),
        other => format!("does not pass `{}`", clip(other.keyword(), MAX_NAME)),
    }
}
