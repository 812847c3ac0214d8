//! From bytes to a value, strictly.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::{JsonError, JsonErrorKind};
use super::survey::{place_at, survey};
use super::{Limits, MAX_DEPTH, number};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one JSON text.
///
/// Numbers come out in one form: whatever is a whole decimal of at most 64 bits is an integer, so equal numbers are
/// equal values however they were written.
///
/// # Errors
/// Everything that two readers could understand differently, and everything above the limits; see [`JsonErrorKind`].
/// Nothing has happened to the world.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Value, JsonError> {
    if bytes.len() > limits.max_bytes {
        let limit = format!("{} bytes, the limit is {}", bytes.len(), limits.max_bytes);
        return Err(JsonError::new(JsonErrorKind::TooLarge, String::new(), None).with_detail(limit));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Err(JsonError::new(JsonErrorKind::ByteOrderMark, String::new(), Some(0)));
    }
    let max_depth = limits.max_depth.min(MAX_DEPTH);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.valid_up_to();
            let valid = std::str::from_utf8(&bytes[..offset]).unwrap_or_default();
            let place = place_at(valid, offset, max_depth);
            return Err(JsonError::new(JsonErrorKind::InvalidUtf8, place, Some(offset)));
        }
    };
    // First, because it needs no stack: what passes is flat enough for the parser below, whose own limit is 128.
    survey(text, max_depth)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict
        .deserialize(&mut deserializer)
        .map_err(|error| refusal(text, &error, max_depth, JsonErrorKind::Syntax))?;
    deserializer.end().map_err(|error| refusal(text, &error, max_depth, JsonErrorKind::TrailingData))?;
    Ok(value)
}

/// An error of the parser in our words.
fn refusal(text: &str, error: &serde_json::Error, max_depth: usize, syntax: JsonErrorKind) -> JsonError {
    use serde_json::error::Category;
    let kind = match error.classify() {
        Category::Eof => JsonErrorKind::Incomplete,
        // The visitor below raises one error of its own.
        Category::Data => JsonErrorKind::DuplicateKey,
        Category::Syntax | Category::Io => syntax,
    };
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let reached = (line_start + error.column()).min(text.len());
    // The parser counts the byte that it stumbled over as read; at the end of the text there is none.
    let offset = if kind == JsonErrorKind::Incomplete { text.len() } else { reached.saturating_sub(1) };
    let refusal = JsonError::new(kind, place_at(text, offset, max_depth), Some(offset));
    if kind == JsonErrorKind::Syntax {
        // The parser's own words are fixed phrases; its line and column stand in the offset already.
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default();
        return refusal.with_detail(words.to_owned());
    }
    refusal
}

/// Builds a [`Value`] and refuses duplicate names. A visitor of our own also keeps the parser's magic names (the way
/// it smuggles raw text through a map) plain members.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        number::normal(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(Strict)? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(de::Error::custom("duplicate member"));
            }
            let value = access.next_value_seed(Strict)?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}
