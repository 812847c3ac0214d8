//! Templates: JSON values with `${…}` in their texts. Owns their syntax and their evaluation. A text that is exactly
//! one `${…}` keeps the type of its value; any other text is interpolated and takes only text, whole numbers and
//! booleans. `$$` stands for one `$`. Nothing here reads anything but the names of its scope.

mod expr;
mod scope;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::finding::{FindingCode, Findings, child};

pub(super) use expr::{Condition, Expr};
pub(super) use scope::{Binding, Scope};

/// Longest text with templates in it, so that a contract cannot hide a program in a string.
const MAX_TEMPLATE: usize = 4096;

/// Why a template gave no value. Never holds a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the template at {place} {reason}")]
pub struct TemplateError {
    /// JSON pointer of the template in its contract.
    pub place: String,
    /// What happened.
    pub reason: TemplateReason,
}

/// What happened in a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TemplateReason {
    /// A member that this value does not have.
    #[error("uses a member that is not there")]
    NoSuchMember,
    /// The value cannot stand inside a text.
    #[error("puts something other than text, a whole number or a boolean into a text")]
    NotText,
    /// The value cannot be written as JSON.
    #[error("gives a value that JSON cannot carry exactly")]
    NotJson,
    /// Types that do not fit, overflow, division by zero and the like.
    #[error("cannot be evaluated on these values")]
    Evaluation,
    /// The value has another type than this place needs.
    #[error("gives a value of a type that does not fit here")]
    WrongType,
}

/// One text with `${…}` in it.
#[derive(Debug)]
pub(super) struct Text {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Literal(String),
    Expr(Expr),
}

/// A JSON value with templates in it.
#[derive(Debug)]
pub(super) enum Template {
    /// No template inside.
    Literal(Value),
    /// Exactly one `${…}`: keeps its type.
    Expr(Expr),
    /// An interpolated text.
    Text(Text),
    /// A list with templates inside.
    Seq(Vec<Template>),
    /// A mapping with templates inside.
    Map(BTreeMap<String, Template>),
}

/// Splits a text into literals and the sources between `${` and the matching `}`.
fn split(text: &str) -> Result<Vec<Result<String, String>>, &'static str> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        literal.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix('$') {
            literal.push('$');
            rest = tail;
        } else if let Some(tail) = after.strip_prefix('{') {
            let end = closing(tail).ok_or("`${` without its `}`")?;
            if !literal.is_empty() {
                parts.push(Ok(std::mem::take(&mut literal)));
            }
            parts.push(Err(tail[..end].trim().to_owned()));
            rest = &tail[end + 1..];
        } else {
            literal.push('$');
            rest = after;
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Ok(literal));
    }
    Ok(parts)
}

/// The place of the `}` that closes an expression: not one inside quotes or braces of its own.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

impl Text {
    /// Parses a text; reports what is wrong with it.
    pub(super) fn parse(text: &str, at: &str, names: &[&str], findings: &mut Findings) -> Option<Text> {
        if text.len() > MAX_TEMPLATE {
            let message = format!("the template has {} bytes; the limit is {MAX_TEMPLATE}", text.len());
            findings.add(FindingCode::BadTemplate, at, message, "shorten it");
            return None;
        }
        let parts = match split(text) {
            Ok(parts) => parts,
            Err(message) => {
                findings.add(
                    FindingCode::BadTemplate,
                    at,
                    message,
                    "close it, or write `$$` for a plain `$`",
                );
                return None;
            }
        };
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            out.push(match part {
                Ok(literal) => Part::Literal(literal),
                Err(source) => Part::Expr(Expr::parse(&source, at, names, findings)?),
            });
        }
        Some(Text { parts: out })
    }

    /// The text with its values; `each` may encode what an expression gave.
    pub(super) fn render_with(
        &self,
        scope: &Scope<'_>,
        mut each: impl FnMut(&mut String, &str),
    ) -> Result<String, TemplateError> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => out.push_str(literal),
                Part::Expr(expr) => each(&mut out, &expr.text(scope)?),
            }
        }
        Ok(out)
    }

    /// The text with its values as they are.
    pub(super) fn render(&self, scope: &Scope<'_>) -> Result<String, TemplateError> {
        self.render_with(scope, |out, value| out.push_str(value))
    }

    /// Renders where null means "leave it out": only a text that is exactly one expression can be null.
    pub(super) fn render_optional(&self, scope: &Scope<'_>) -> Result<Option<String>, TemplateError> {
        if let [Part::Expr(expr)] = self.parts.as_slice()
            && expr.evaluate(scope)?.is_null()
        {
            return Ok(None);
        }
        self.render(scope).map(Some)
    }

    /// Splits at a character of the literal parts: the segments of a path.
    pub(super) fn split_on(self, separator: char) -> Vec<Text> {
        let mut out = vec![Text { parts: Vec::new() }];
        for part in self.parts {
            match part {
                Part::Literal(literal) => {
                    for (i, piece) in literal.split(separator).enumerate() {
                        if i > 0 {
                            out.push(Text { parts: Vec::new() });
                        }
                        if let (Some(last), false) = (out.last_mut(), piece.is_empty()) {
                            last.parts.push(Part::Literal(piece.to_owned()));
                        }
                    }
                }
                Part::Expr(expr) => {
                    if let Some(last) = out.last_mut() {
                        last.parts.push(Part::Expr(expr));
                    }
                }
            }
        }
        out
    }

    /// What is written literally, with each expression as one `x`: for checking paths and headers at load.
    pub(super) fn skeleton(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Literal(literal) => literal.as_str(),
            Part::Expr(_) => "x",
        });
        parts.collect()
    }

    /// Visits the expressions.
    pub(super) fn each_expr<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        for part in &self.parts {
            if let Part::Expr(expr) = part {
                visit(expr);
            }
        }
    }
}

impl Template {
    /// Parses every text inside a value.
    pub(super) fn parse(
        value: &Value,
        at: &str,
        names: &[&str],
        findings: &mut Findings,
    ) -> Option<Template> {
        match value {
            Value::String(text) if text.contains('$') => {
                let text = Text::parse(text, at, names, findings)?;
                Some(text.into_template())
            }
            Value::Array(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| Template::parse(item, &child(at, &i.to_string()), names, findings))
                    .collect::<Vec<_>>();
                items.into_iter().collect::<Option<Vec<_>>>().map(Template::Seq)
            }
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| {
                        (key.clone(), Template::parse(value, &child(at, key), names, findings))
                    })
                    .collect::<Vec<_>>();
                let members = members.into_iter().map(|(key, value)| value.map(|value| (key, value)));
                members.collect::<Option<BTreeMap<_, _>>>().map(Template::Map)
            }
            other => Some(Template::Literal(other.clone())),
        }
    }

    /// The value.
    pub(super) fn render<'a>(&'a self, scope: &'a Scope<'_>) -> Result<Cow<'a, Value>, TemplateError> {
        Ok(match self {
            Template::Literal(value) => Cow::Borrowed(value),
            Template::Expr(expr) => expr.evaluate(scope)?,
            Template::Text(text) => Cow::Owned(Value::String(text.render(scope)?)),
            Template::Seq(items) => Cow::Owned(Value::Array(
                items.iter().map(|item| Ok(item.render(scope)?.into_owned())).collect::<Result<_, _>>()?,
            )),
            Template::Map(members) => Cow::Owned(Value::Object(
                members
                    .iter()
                    .map(|(key, item)| Ok((key.clone(), item.render(scope)?.into_owned())))
                    .collect::<Result<_, _>>()?,
            )),
        })
    }

    /// Visits the expressions.
    pub(super) fn each_expr<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        match self {
            Template::Literal(_) => {}
            Template::Expr(expr) => visit(expr),
            Template::Text(text) => text.each_expr(visit),
            Template::Seq(items) => items.iter().for_each(|item| item.each_expr(visit)),
            Template::Map(members) => members.values().for_each(|item| item.each_expr(visit)),
        }
    }
}

impl Text {
    fn into_template(mut self) -> Template {
        match self.parts.len() {
            0 => Template::Literal(Value::String(String::new())),
            1 => match self.parts.remove(0) {
                Part::Expr(expr) => Template::Expr(expr),
                Part::Literal(text) => Template::Literal(Value::String(text)),
            },
            _ => Template::Text(self),
        }
    }
}

#[cfg(test)]
mod tests;
