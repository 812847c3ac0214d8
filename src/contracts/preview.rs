//! The canonical proposal: target, before and after by field, effect sentence, consequences. Pure functions of the
//! arguments and of what the preview's read saw.

use serde_json::{Map, Value};

use super::contract::Contract;
use super::finding::child;
use super::model::{Compensation, VersionCheck};
use super::render::RenderError;
use super::template::{Binding, Scope, Template, TemplateError, TemplateReason};
use super::units::ToolRef;

/// The version of a target that does not exist yet.
pub const TARGET_ABSENT: &str = "absent";

/// The resource that a write changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Its type.
    pub kind: String,
    /// Its id; for a create, its scope.
    pub id: String,
    /// What is locked and limited together.
    pub scope: String,
    /// Its version as text, as the preview saw it; [`TARGET_ABSENT`] for a create.
    pub version: Option<String>,
}

/// One field that changes.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Change {
    /// JSON pointer into the state of the target.
    pub field: String,
    /// The value before; `None` if the field was not there.
    pub before: Option<Value>,
    /// The value after; `None` if the field goes away.
    pub after: Option<Value>,
}

pub use crate::domain::operation::version_text;

pub(super) fn preview_scope<'a>(args: &'a Value, before: &'a Value) -> Scope<'a> {
    Scope::of([
        ("args", Binding::Value(args)),
        ("preview", Binding::Members(vec![("before", Binding::Value(before))])),
    ])
}

impl Contract {
    /// Which read shows the state before, and with which arguments.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn preview_read(&self, args: &Value) -> Result<(ToolRef, Value), RenderError> {
        let preview = &self.as_write()?.preview;
        let scope = Scope::of([("args", Binding::Value(args))]);
        Ok((preview.read.clone(), preview.with.render(&scope)?.into_owned()))
    }

    /// The target, as the arguments name it and the preview saw it.
    ///
    /// # Errors
    /// Not a write, a template without a value, or a version that is neither text nor a whole number.
    pub fn target(&self, args: &Value, before: &Value) -> Result<Target, RenderError> {
        let spec = &self.as_write()?.target;
        let scope = preview_scope(args, before);
        let version = match (&spec.version, spec.check) {
            (_, VersionCheck::Absent) | (None, _) => TARGET_ABSENT.to_owned(),
            (Some(template), VersionCheck::IfMatch | VersionCheck::Read) => {
                let value = template.render(&scope)?;
                version_text(&value).ok_or_else(|| TemplateError {
                    place: "/target/version".to_owned(),
                    reason: TemplateReason::WrongType,
                })?
            }
        };
        Ok(Target {
            kind: spec.kind.clone(),
            id: spec.id.render(&scope)?,
            scope: spec.scope.render(&scope)?,
            version: Some(version),
        })
    }

    /// One sentence that says what happens.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn effect_text(&self, args: &Value, before: &Value) -> Result<String, RenderError> {
        Ok(self.as_write()?.preview.effect_text.render(&preview_scope(args, before))?)
    }

    /// Environment, recipients, money, number of affected things.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn consequences(&self, args: &Value, before: &Value) -> Result<Value, RenderError> {
        Ok(self.as_write()?.preview.consequences.render(&preview_scope(args, before))?.into_owned())
    }

    /// The write that undoes this one, with its arguments; `None` if there is none. `result` is the receipt's data.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn compensation_args(
        &self,
        args: &Value,
        before: &Value,
        result: &Value,
    ) -> Result<Option<(ToolRef, Value)>, RenderError> {
        let Compensation::Tool(undo) = &self.as_write()?.compensation else { return Ok(None) };
        let mut scope = preview_scope(args, before);
        scope.0.push(("result", Binding::Value(result)));
        Ok(Some((undo.tool.clone(), undo.with.render(&scope)?.into_owned())))
    }

    /// Every field that changes. A mapping that the contract writes out is merged into the state before; a value that
    /// comes from an expression replaces what was there, so that its missing members are shown as going away.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn changes(&self, args: &Value, before: &Value) -> Result<Vec<Change>, RenderError> {
        let mut out = Vec::new();
        let scope = preview_scope(args, before);
        merge(&self.as_write()?.preview.after, "", Some(before), &scope, &mut out)?;
        Ok(out)
    }
}

fn merge(
    after: &Template,
    at: &str,
    before: Option<&Value>,
    scope: &Scope<'_>,
    out: &mut Vec<Change>,
) -> Result<(), TemplateError> {
    match after {
        Template::Map(members) => {
            for (name, member) in members {
                let before = before.and_then(|before| before.get(name));
                merge(member, &child(at, name), before, scope, out)?;
            }
        }
        Template::Literal(Value::Object(members)) => {
            for (name, member) in members {
                diff(&child(at, name), before.and_then(|before| before.get(name)), Some(member), out);
            }
        }
        other => diff(at, before, Some(other.render(scope)?.as_ref()), out),
    }
    Ok(())
}

fn diff(at: &str, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let empty = Map::new();
    let members = match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => Some((before, after)),
        (None, Some(Value::Object(after))) if !after.is_empty() => Some((&empty, after)),
        (Some(Value::Object(before)), None) if !before.is_empty() => Some((before, &empty)),
        _ => None,
    };
    let Some((old, new)) = members else {
        out.push(Change { field: at.to_owned(), before: before.cloned(), after: after.cloned() });
        return;
    };
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        diff(&child(at, name), old.get(name), new.get(name), out);
    }
}

#[cfg(test)]
mod tests;
