//! The canonical form: the only thing that can be hashed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

use super::error::{JsonError, JsonErrorKind};
use super::{Limits, MAX_DEPTH, number, parse, pointer};
use crate::domain::Digest;

/// The RFC 8785 form of a JSON value: members sorted by UTF-16 code units, numbers as ECMAScript writes them, no white
/// space. Equal values have equal bytes, and the digest is taken over these bytes and nothing else.
///
/// It prints as its length only: arguments do not belong in logs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Canonical(String);

impl Canonical {
    /// The canonical form of a value. What came out of [`parse`] cannot fail here.
    ///
    /// # Errors
    /// [`JsonErrorKind::InexactNumber`] for a number whose decimal value a double does not carry (it would be hashed
    /// rounded), [`JsonErrorKind::TooDeep`] above [`MAX_DEPTH`]. Nothing has happened to the world.
    pub fn of(value: &Value) -> Result<Canonical, JsonError> {
        check(value, &mut Vec::new())?;
        let text = match is_plain(value) {
            // Nothing in it where the two differ: the members are kept sorted, and strings are escaped alike.
            true => serde_json::to_string(value),
            false => serde_json_canonicalizer::to_string(value),
        };
        match text {
            Ok(text) => Ok(Canonical(text)),
            // Only numbers outside the doubles can be refused, and the check above knows them; but a digest must never
            // rest on that reasoning alone.
            Err(_) => Err(JsonError::new(JsonErrorKind::InexactNumber, String::new(), None)),
        }
    }

    /// Takes bytes that are said to be canonical, from a store or a peer, and proves it.
    ///
    /// # Errors
    /// Those of [`parse`], and [`JsonErrorKind::NotCanonical`] when the value has another form.
    pub fn reread(bytes: &[u8]) -> Result<Canonical, JsonError> {
        // The bound on the size was the business of whoever let the bytes in.
        let canonical = Canonical::of(&parse(bytes, Limits::bytes(usize::MAX))?)?;
        if canonical.as_bytes() == bytes {
            return Ok(canonical);
        }
        let same = canonical.as_bytes().iter().zip(bytes).take_while(|(ours, theirs)| ours == theirs).count();
        Err(JsonError::new(JsonErrorKind::NotCanonical, String::new(), Some(same)))
    }

    /// The bytes that are hashed and sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The same as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, as [`parse`] gives it.
    #[must_use]
    pub fn value(&self) -> Value {
        parse(self.as_bytes(), Limits::bytes(usize::MAX))
            .expect("a Canonical is made only from a checked value, and its form parses back to that value")
    }

    /// SHA-256 over the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.as_bytes())
    }
}

impl fmt::Debug for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Canonical({} bytes)", self.0.len())
    }
}

/// In records and messages it is one string that holds the JSON text.
impl Serialize for Canonical {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Proves the form again: stored bytes are not believed.
impl<'de> Deserialize<'de> for Canonical {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Canonical, D::Error> {
        let text = String::deserialize(deserializer)?;
        Canonical::reread(text.as_bytes()).map_err(serde::de::Error::custom)
    }
}

/// Refuses what the canonical form would change. The path is kept in pieces, so that it costs nothing while all is
/// well; the recursion ends at [`MAX_DEPTH`].
fn check<'v>(value: &'v Value, path: &mut Vec<Step<'v>>) -> Result<(), JsonError> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => match is_carried(number) {
            true => Ok(()),
            false => Err(JsonError::new(JsonErrorKind::InexactNumber, place(path), None)),
        },
        Value::Array(_) | Value::Object(_) if path.len() >= MAX_DEPTH => {
            let limit = format!("the limit is {MAX_DEPTH}");
            Err(JsonError::new(JsonErrorKind::TooDeep, place(path), None).with_detail(limit))
        }
        Value::Array(elements) => elements.iter().enumerate().try_for_each(|(index, element)| {
            path.push(Step::Index(index));
            check(element, path)?;
            path.pop();
            Ok(())
        }),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            path.push(Step::Name(name));
            check(member, path)?;
            path.pop();
            Ok(())
        }),
    }
}

/// Whether the ordinary form is the canonical one: only whole numbers of a double's exact range, and only names whose
/// order by bytes is their order by UTF-16 units. Nearly every value is so, and the ordinary form is made much faster.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => is_safe_integer(number),
        Value::Array(elements) => elements.iter().all(is_plain),
        Value::Object(members) => members.iter().all(|(name, member)| name.is_ascii() && is_plain(member)),
    }
}

/// One step of a path.
enum Step<'v> {
    Index(usize),
    Name(&'v str),
}

fn place(path: &[Step<'_>]) -> String {
    let mut place = String::new();
    for step in path {
        let fits = match step {
            Step::Index(index) => pointer::push_bounded(&mut place, &index.to_string()),
            Step::Name(name) => pointer::push_bounded(&mut place, name),
        };
        if !fits {
            break;
        }
    }
    place
}

fn is_safe_integer(value: &Number) -> bool {
    const SAFE: u64 = 1 << 53;
    value.as_i64().map(i64::unsigned_abs).or(value.as_u64()).is_some_and(|whole| whole <= SAFE)
}

/// Integers up to 2^53 and doubles need no look at their decimals.
fn is_carried(value: &Number) -> bool {
    is_safe_integer(value) || value.is_f64() || number::is_exact(&value.to_string()) == Some(true)
}
