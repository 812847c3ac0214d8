//! The canonical proposal: target, before and after by field, effect sentence, consequences. Pure functions of the
//! arguments and of what the preview answered: the state before, or, from a preview tool, everything.

use serde_json::{Map, Value};

use super::contract::Contract;
use super::finding::child;
use super::model::{Compensation, PreviewSpec, VersionCheck};
use super::render::RenderError;
use super::template::{Binding, Scope, Template, TemplateError, TemplateReason};
use super::units::ToolRef;
use crate::domain::Time;

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

/// What a preview tool answered besides the states before and after.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Quoted {
    /// The arguments with what was filled in; none where nothing was.
    pub arguments: Option<Value>,
    /// Until when the answer holds.
    pub expires_at: Option<Time>,
    /// Its id at the service.
    pub id: Option<String>,
}

impl PreviewSpec {
    fn before<'a>(&self, answer: &'a Value) -> &'a Value {
        if self.is_tool() { answer.get("before").unwrap_or(&Value::Null) } else { answer }
    }

    /// What templates see under the name `preview`.
    pub(super) fn binding<'a>(&self, answer: &'a Value) -> Binding<'a> {
        let mut members = vec![("before", Binding::Value(self.before(answer)))];
        if self.is_tool() {
            members.push(("id", answer.get("id").map_or(Binding::Null, Binding::Value)));
        }
        Binding::Members(members)
    }

    fn scope<'a>(&self, args: &'a Value, answer: &'a Value) -> Scope<'a> {
        Scope::of([("args", Binding::Value(args)), ("preview", self.binding(answer))])
    }
}

/// A member that a preview tool may leave out, or answer as null.
fn said<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    answer.get(name).filter(|value| !value.is_null())
}

/// The arguments with the members that were left out; none where there are none.
fn filled(args: &Value, defaults: &Map<String, Value>) -> Option<Value> {
    let mut members = args.as_object()?.clone();
    let known = members.len();
    for (name, value) in defaults {
        members.entry(name).or_insert_with(|| value.clone());
    }
    (members.len() > known).then_some(Value::Object(members))
}

impl Contract {
    /// Which read shows the state before, or answers the whole preview, and with which arguments.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn preview_read(&self, args: &Value) -> Result<(ToolRef, Value), RenderError> {
        let preview = &self.as_write()?.preview;
        let scope = Scope::of([("args", Binding::Value(args))]);
        Ok((preview.read.clone(), preview.with.render(&scope)?.into_owned()))
    }

    /// What a preview tool filled in and promised; nothing where a plain read shows the state before. What the proposer
    /// gave is never changed.
    ///
    /// # Errors
    /// Not a write, or an answer that is not one of a preview tool.
    pub fn quoted(&self, args: &Value, answer: &Value) -> Result<Quoted, RenderError> {
        if !self.as_write()?.preview.is_tool() {
            return Ok(Quoted::default());
        }
        let wrong = |member| RenderError::Quote { member };
        let defaults = said(answer, "defaults").map(|value| value.as_object().ok_or(wrong("defaults")));
        let time =
            |value: &Value| value.as_str().and_then(|text| text.parse().ok()).ok_or(wrong("expires_at"));
        let id = said(answer, "id").map(|id| id.as_str().map(str::to_owned).ok_or(wrong("id")));
        Ok(Quoted {
            arguments: defaults.transpose()?.and_then(|defaults| filled(args, defaults)),
            expires_at: said(answer, "expires_at").map(time).transpose()?,
            id: id.transpose()?,
        })
    }

    /// The target, as the arguments name it and the preview saw it.
    ///
    /// # Errors
    /// Not a write, a template without a value, or a version that is neither text nor a whole number.
    pub fn target(&self, args: &Value, answer: &Value) -> Result<Target, RenderError> {
        let parts = self.as_write()?;
        let (spec, scope) = (&parts.target, parts.preview.scope(args, answer));
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
    pub fn effect_text(&self, args: &Value, answer: &Value) -> Result<String, RenderError> {
        let preview = &self.as_write()?.preview;
        Ok(preview.effect_text.render(&preview.scope(args, answer))?)
    }

    /// Environment, recipients, money, number of affected things.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn consequences(&self, args: &Value, answer: &Value) -> Result<Value, RenderError> {
        let preview = &self.as_write()?.preview;
        match &preview.templates {
            Some(templates) => Ok(templates.consequences.render(&preview.scope(args, answer))?.into_owned()),
            None => Ok(said(answer, "consequences").cloned().unwrap_or_else(|| Map::new().into())),
        }
    }

    /// The write that undoes this one, with its arguments; `None` if there is none. `result` is the receipt's data.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn compensation_args(
        &self,
        args: &Value,
        answer: &Value,
        result: &Value,
    ) -> Result<Option<(ToolRef, Value)>, RenderError> {
        let parts = self.as_write()?;
        let Compensation::Tool(undo) = &parts.compensation else { return Ok(None) };
        let mut scope = parts.preview.scope(args, answer);
        scope.0.push(("result", Binding::Value(result)));
        Ok(Some((undo.tool.clone(), undo.with.render(&scope)?.into_owned())))
    }

    /// Every field that changes. A mapping that the contract writes out is merged into the state before; a value that
    /// comes from an expression replaces what was there, so that its missing members are shown as going away. The members
    /// of a preview tool's `after` replace those of its `before`; the others stay.
    ///
    /// # Errors
    /// Not a write, a template without a value, or an answer that is not one of a preview tool.
    pub fn changes(&self, args: &Value, answer: &Value) -> Result<Vec<Change>, RenderError> {
        let preview = &self.as_write()?.preview;
        let (mut out, before) = (Vec::new(), Some(preview.before(answer)));
        match &preview.templates {
            Some(templates) => {
                merge(&templates.after, "", before, &preview.scope(args, answer), &mut out)?;
            }
            None => {
                let after = answer.get("after").and_then(Value::as_object);
                replace(after.ok_or(RenderError::Quote { member: "after" })?, "", before, &mut out);
            }
        }
        Ok(out)
    }
}

/// These members replace those before; the others stay.
fn replace(after: &Map<String, Value>, at: &str, before: Option<&Value>, out: &mut Vec<Change>) {
    for (name, member) in after {
        diff(&child(at, name), before.and_then(|before| before.get(name)), Some(member), out);
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
        Template::Literal(Value::Object(members)) => replace(members, at, before, out),
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
