//! Reads one mapping of the format, member by member. What was asked for is what is known: everything else in the
//! mapping is an unknown key, reported with the nearest known one. Used by the resolving stage only.

use serde_json::{Map, Value};

use super::finding::{FindingCode, Findings, child, suggestion};
use super::units::NotThis;

/// Longest single text of the format (descriptions are read by models and people).
const MAX_TEXT: usize = 4096;

/// One mapping being read.
pub(crate) struct Fields<'v> {
    members: Option<&'v Map<String, Value>>,
    at: String,
    asked: Vec<&'static str>,
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl<'v> Fields<'v> {
    /// Opens a mapping; anything else is reported and reads as empty.
    pub(crate) fn open(value: &'v Value, at: &str, findings: &mut Findings) -> Fields<'v> {
        let members = value.as_object();
        if members.is_none() {
            wrong_type(at, "a mapping", value, findings);
        }
        Fields { members, at: at.to_owned(), asked: Vec::new() }
    }

    /// The pointer of this mapping.
    pub(crate) fn pointer(&self) -> &str {
        &self.at
    }

    /// The pointer of a member.
    pub(crate) fn at(&self, name: &str) -> String {
        child(&self.at, name)
    }

    /// A member as it is.
    pub(crate) fn get(&mut self, name: &'static str) -> Option<&'v Value> {
        self.asked.push(name);
        self.members?.get(name)
    }

    /// A nested mapping.
    pub(crate) fn object(&mut self, name: &'static str, findings: &mut Findings) -> Option<Fields<'v>> {
        let value = self.get(name)?;
        Some(Fields::open(value, &self.at(name), findings))
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self, name: &'static str, findings: &mut Findings) -> Option<String> {
        let value = self.get(name)?;
        text_of(value, &self.at(name), findings)
    }

    /// A text in a certain form.
    pub(crate) fn parsed<T>(
        &mut self,
        name: &'static str,
        findings: &mut Findings,
        parse: impl Fn(&str) -> Result<T, NotThis>,
    ) -> Option<T> {
        let text = self.text(name, findings)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(wanted) => {
                let message = format!("`{text}` is not {}", wanted.0);
                findings.add(FindingCode::BadValue, self.at(name), message, format!("write {}", wanted.0));
                None
            }
        }
    }

    /// One word of a closed set.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        name: &'static str,
        known: &[(&str, T)],
        findings: &mut Findings,
    ) -> Option<T> {
        let text = self.text(name, findings)?;
        let found = known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            let message = format!("`{text}` is not one of: {}", words.join(", "));
            findings.add(FindingCode::BadValue, self.at(name), message, suggestion(&text, &words));
        }
        found
    }

    /// A whole number within bounds.
    pub(crate) fn count(
        &mut self,
        name: &'static str,
        bounds: std::ops::RangeInclusive<u32>,
        findings: &mut Findings,
    ) -> Option<u32> {
        let value = self.get(name)?;
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| bounds.contains(number)) {
            Some(number) => Some(number),
            None => {
                let wanted = format!("a whole number from {} to {}", bounds.start(), bounds.end());
                let message = format!("the value is not {wanted}");
                findings.add(FindingCode::BadValue, self.at(name), message, format!("write {wanted}"));
                None
            }
        }
    }

    /// A list of texts; absent reads as empty.
    pub(crate) fn texts(&mut self, name: &'static str, findings: &mut Findings) -> Vec<String> {
        let at = self.at(name);
        self.items(name, findings)
            .iter()
            .enumerate()
            .filter_map(|(i, item)| text_of(item, &child(&at, &i.to_string()), findings))
            .collect()
    }

    /// A list; absent reads as empty.
    pub(crate) fn items(&mut self, name: &'static str, findings: &mut Findings) -> &'v [Value] {
        match self.get(name) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(other) => {
                wrong_type(&self.at(name), "a list", other, findings);
                &[]
            }
        }
    }

    /// A mapping with free keys, such as header names.
    pub(crate) fn entries(
        &mut self,
        name: &'static str,
        findings: &mut Findings,
    ) -> Vec<(&'v str, &'v Value)> {
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Object(members)) => {
                members.iter().map(|(key, value)| (key.as_str(), value)).collect()
            }
            Some(other) => {
                wrong_type(&self.at(name), "a mapping", other, findings);
                Vec::new()
            }
        }
    }

    /// Reports that a member is needed and not there (and only then).
    pub(crate) fn need(&self, name: &str, code: FindingCode, why: &str, findings: &mut Findings) {
        if self.members.is_some_and(|members| !members.contains_key(name)) {
            let message = format!("`{name}` is missing: {why}");
            findings.add(code, self.at.clone(), message, format!("add `{name}`"));
        }
    }

    /// Reports every member that nobody asked for.
    pub(crate) fn done(self, findings: &mut Findings) {
        for key in self.members.into_iter().flat_map(Map::keys) {
            if !self.asked.contains(&key.as_str()) {
                let message = format!("unknown key `{key}`");
                let remedy = suggestion(key, &self.asked);
                findings.add(FindingCode::UnknownKey, child(&self.at, key), message, remedy);
            }
        }
    }
}

/// A text that is not empty and not longer than the limit.
pub(crate) fn text_of(value: &Value, at: &str, findings: &mut Findings) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => {
            findings.add(FindingCode::BadValue, at, "the text is empty", "write it, or remove the key");
            None
        }
        Value::String(text) if text.len() > MAX_TEXT => {
            let message = format!("the text has {} bytes; the limit is {MAX_TEXT}", text.len());
            findings.add(FindingCode::TooLarge, at, message, "shorten it");
            None
        }
        Value::String(text) => Some(text.clone()),
        other => {
            wrong_type(at, "text", other, findings);
            None
        }
    }
}

pub(crate) fn wrong_type(at: &str, wanted: &str, found: &Value, findings: &mut Findings) {
    let message = format!("this must be {wanted}, not {}", type_name(found));
    let remedy = match (wanted, found) {
        ("text", Value::Number(_) | Value::Bool(_)) => "put it in quotes".to_owned(),
        _ => format!("write {wanted}"),
    };
    findings.add(FindingCode::WrongType, at, message, remedy);
}
