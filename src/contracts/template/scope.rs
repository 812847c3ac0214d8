//! The names that a template can see, bound to borrowed values: nothing is copied unless an expression needs it.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Binding<'a> {
    /// A JSON value.
    Value(&'a Value),
    /// A text.
    Text(&'a str),
    /// A whole number, such as an HTTP status.
    Number(u16),
    /// Nothing known: null.
    Null,
    /// A fixed set of members: `preview` has `before`, `target` has `id`.
    Members(Vec<(&'static str, Binding<'a>)>),
}

/// The names of one evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope<'a>(pub(crate) Vec<(&'static str, Binding<'a>)>);

impl<'a> Binding<'a> {
    pub(super) fn to_value(&self) -> Cow<'a, Value> {
        match self {
            Binding::Value(value) => Cow::Borrowed(value),
            Binding::Text(text) => Cow::Owned(Value::String((*text).to_owned())),
            Binding::Number(number) => Cow::Owned(Value::from(*number)),
            Binding::Null => Cow::Owned(Value::Null),
            Binding::Members(members) => {
                let members =
                    members.iter().map(|(name, member)| ((*name).to_owned(), member.to_value().into_owned()));
                Cow::Owned(Value::Object(members.collect::<Map<_, _>>()))
            }
        }
    }
}

impl<'a> Scope<'a> {
    /// With the names given.
    pub(crate) fn of<const N: usize>(names: [(&'static str, Binding<'a>); N]) -> Scope<'a> {
        Scope(names.into())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Binding<'a>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, binding)| binding)
    }

    /// A dotted path, without any evaluation.
    pub(super) fn lookup(&self, path: &[String]) -> Option<Cow<'a, Value>> {
        let (root, mut rest) = path.split_first()?;
        let mut binding = self.get(root)?;
        while let (Binding::Members(members), Some((name, tail))) = (binding, rest.split_first()) {
            binding = members.iter().find(|(known, _)| known == name).map(|(_, binding)| binding)?;
            rest = tail;
        }
        match binding {
            Binding::Value(value) => {
                let found = rest.iter().try_fold(*value, |value, member| value.as_object()?.get(member))?;
                Some(Cow::Borrowed(found))
            }
            other if rest.is_empty() => Some(other.to_value()),
            Binding::Text(_) | Binding::Number(_) | Binding::Null | Binding::Members(_) => None,
        }
    }
}
