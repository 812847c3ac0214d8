//! The raw stage: YAML text becomes a JSON value and the place of each member. Refuses what would make the text stand
//! for something else than it shows: anchors, aliases, tags, repeated keys, numbers that JSON cannot carry, depth and
//! size over the limit. Works on parser events with a stack of its own, so that depth costs no call stack.

use std::collections::HashMap;

use saphyr::{Scalar, ScalarStyle};
use saphyr_parser::{Event, Marker, Parser};
use serde_json::{Map, Number, Value};

use super::finding::{Finding, FindingCode, Findings, child};

/// The same depth limit as for arguments: every later stage works on any value that passed this one.
pub(super) const MAX_DEPTH: usize = 64;
/// A contract is read by people; a larger file is a mistake or an attack.
pub(super) const MAX_BYTES: usize = 256 * 1024;
/// Whole numbers up to here are exact in a double, and so in RFC 8785.
const MAX_EXACT: u64 = 1 << 53;

/// A contract file as a JSON value, with the place of every member.
#[derive(Debug)]
pub(crate) struct Document {
    /// The contract as JSON; `version` is always text.
    pub(crate) value: Value,
    marks: HashMap<String, (usize, usize)>,
}

impl Document {
    /// A document that has no text, such as a stored body.
    pub(super) fn without_text(value: Value) -> Document {
        Document { value, marks: HashMap::new() }
    }

    /// Line and column (from 1) of the member at the pointer, or of its nearest parent.
    pub(super) fn place(&self, pointer: &str) -> (usize, usize) {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.marks.get(pointer) {
                return *place;
            }
            match pointer.rfind('/') {
                Some(end) => pointer = &pointer[..end],
                None => return (0, 0),
            }
        }
    }

    /// Gives each finding that has none its file and place.
    pub(super) fn place_all(&self, file: &str, findings: &mut Findings) {
        for finding in findings.iter_mut() {
            if finding.file.is_empty() {
                file.clone_into(&mut finding.file);
            }
            if finding.line == 0 {
                (finding.line, finding.column) = self.place(&finding.pointer);
            }
        }
    }
}

/// What is being built.
enum Open {
    Seq(Vec<Value>),
    Map { members: Map<String, Value>, key: Option<Key> },
}

/// The key that waits for its value.
enum Key {
    Keep(String),
    /// Repeated or unusable: reported, its value goes nowhere.
    Drop,
}

struct Builder<'f> {
    stack: Vec<(Open, String)>,
    root: Option<Value>,
    marks: HashMap<String, (usize, usize)>,
    findings: &'f mut Findings,
    /// Open containers inside something that is not kept: too deep, or used as a key.
    skipping: usize,
}

/// Reads one document. Adds findings; the value is there unless the text is not YAML at all.
pub(crate) fn parse(text: &str, findings: &mut Findings) -> Option<Document> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}", text.len());
        findings.add(
            FindingCode::TooLarge,
            "",
            message,
            "split it: one tool per file, texts in documentation",
        );
        return None;
    }
    let before = findings.len();
    let mut builder = Builder { stack: Vec::new(), root: None, marks: HashMap::new(), findings, skipping: 0 };
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        match event {
            Ok((Event::DocumentStart(_), span)) => {
                documents += 1;
                if documents > 1 {
                    let message = "a second document in one file";
                    builder.add(FindingCode::YamlSyntax, span.start, "", message, "one contract per file");
                    return None;
                }
            }
            Ok((event, span)) => builder.event(event, span.start),
            Err(error) => {
                let message = format!("not YAML: {}", error.info());
                builder.add(FindingCode::YamlSyntax, *error.marker(), "", &message, "mend the syntax here");
                return None;
            }
        }
    }
    let (root, marks) = (builder.root, builder.marks);
    match root {
        Some(value) => Some(Document { value, marks }),
        None => {
            if findings.len() == before {
                findings.add(
                    FindingCode::YamlSyntax,
                    "",
                    "the file is empty",
                    "write a contract, or remove it",
                );
            }
            None
        }
    }
}

impl Builder<'_> {
    fn add(&mut self, code: FindingCode, mark: Marker, pointer: &str, message: &str, remedy: &str) {
        let finding = Finding {
            file: String::new(),
            line: 0,
            column: 0,
            pointer: pointer.to_owned(),
            code,
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        };
        self.findings.add_at(mark.line(), mark.col() + 1, finding);
    }

    /// The pointer of the value that comes next.
    fn here(&self) -> String {
        match self.stack.last() {
            None => String::new(),
            Some((Open::Seq(items), at)) => child(at, &items.len().to_string()),
            Some((Open::Map { key, .. }, at)) => match key {
                Some(Key::Keep(key)) => child(at, key),
                Some(Key::Drop) | None => at.clone(),
            },
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some((Open::Map { key: None, .. }, _)))
    }

    fn event(&mut self, event: Event<'_>, mark: Marker) {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.skipping > 0 {
                    return;
                }
                self.check_features(anchor, tag.is_some(), mark);
                if self.wants_key() { self.key(&text, mark) } else { self.scalar(&text, style, mark) }
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(Open::Seq(Vec::new()), anchor, tag.is_some(), mark);
            }
            Event::MappingStart(anchor, tag) => {
                self.open(Open::Map { members: Map::new(), key: None }, anchor, tag.is_some(), mark);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(_) => {
                if self.skipping == 0 {
                    self.check_features(1, false, mark);
                    self.put(Value::Null, mark);
                }
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn check_features(&mut self, anchor: usize, tagged: bool, mark: Marker) {
        let at = self.here();
        if anchor > 0 {
            let message = "anchors and aliases are not part of the format";
            self.add(FindingCode::YamlFeature, mark, &at, message, "write the value out where it is used");
        }
        if tagged {
            let message = "tags are not part of the format";
            self.add(
                FindingCode::YamlFeature,
                mark,
                &at,
                message,
                "remove the tag; quote the value for text",
            );
        }
    }

    fn open(&mut self, container: Open, anchor: usize, tagged: bool, mark: Marker) {
        if self.skipping > 0 {
            self.skipping += 1;
            return;
        }
        let at = self.here();
        self.check_features(anchor, tagged, mark);
        if self.wants_key() {
            let message = "a key must be text";
            self.add(FindingCode::WrongType, mark, &at, message, "use a plain word as the key");
            self.skipping = 1;
            return;
        }
        if self.stack.len() >= MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            self.add(FindingCode::TooDeep, mark, &at, &message, "flatten the structure");
            self.skipping = 1;
            return;
        }
        self.marks.entry(at.clone()).or_insert((mark.line(), mark.col() + 1));
        self.stack.push((container, at));
    }

    fn close(&mut self) {
        if self.skipping > 0 {
            self.skipping -= 1;
            if self.skipping == 0 {
                self.after_skipped();
            }
            return;
        }
        let value = match self.stack.pop() {
            Some((Open::Seq(items), _)) => Value::Array(items),
            Some((Open::Map { members, .. }, _)) => Value::Object(members),
            None => return,
        };
        self.attach(value);
    }

    /// A skipped container was a value (stands as null) or a key (its value is skipped by an unusable name).
    fn after_skipped(&mut self) {
        if self.wants_key() { self.drop_key() } else { self.attach(Value::Null) }
    }

    fn drop_key(&mut self) {
        if let Some((Open::Map { key, .. }, _)) = self.stack.last_mut() {
            *key = Some(Key::Drop);
        }
    }

    fn key(&mut self, text: &str, mark: Marker) {
        let Some((Open::Map { members, key }, at)) = self.stack.last_mut() else { return };
        let pointer = child(at, text);
        let repeated = members.contains_key(text);
        *key = Some(if repeated { Key::Drop } else { Key::Keep(text.to_owned()) });
        if repeated {
            let message = format!("the key `{text}` stands twice in one mapping");
            self.add(FindingCode::DuplicateKey, mark, &pointer, &message, "keep one of the two");
        } else {
            self.marks.insert(pointer, (mark.line(), mark.col() + 1));
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, mark: Marker) {
        let at = self.here();
        // `2.10` as a number would be `2.1`: a version is taken as it is written.
        if style != ScalarStyle::Plain || at == "/version" {
            return self.put(Value::String(text.to_owned()), mark);
        }
        let value = match Scalar::parse_from_cow_and_metadata(text.into(), style, None) {
            Some(Scalar::Null) | None => Some(Value::Null),
            Some(Scalar::Boolean(flag)) => Some(Value::Bool(flag)),
            Some(Scalar::String(text)) => Some(Value::String(text.into_owned())),
            Some(Scalar::Integer(number)) => {
                (number.unsigned_abs() <= MAX_EXACT).then(|| Value::Number(number.into()))
            }
            Some(Scalar::FloatingPoint(number)) => {
                let digits_only = text.bytes().all(|c| c.is_ascii_digit() || c == b'-' || c == b'+');
                let number = if digits_only { None } else { Number::from_f64(number.into_inner()) };
                number.map(Value::Number)
            }
        };
        let value = value.unwrap_or_else(|| {
            let message = "a number that JSON and a double do not carry exactly";
            let remedy = "stay within ±9007199254740992, or quote it as text";
            self.add(FindingCode::InexactNumber, mark, &at, message, remedy);
            Value::from(0)
        });
        self.put(value, mark);
    }

    fn put(&mut self, value: Value, mark: Marker) {
        let at = self.here();
        self.marks.entry(at).or_insert((mark.line(), mark.col() + 1));
        if self.wants_key() {
            // An alias used as a key: reported, and its value goes nowhere.
            return self.drop_key();
        }
        self.attach(value);
    }

    fn attach(&mut self, value: Value) {
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some((Open::Seq(items), _)) => items.push(value),
            Some((Open::Map { members, key }, _)) => {
                if let Some(Key::Keep(key)) = key.take() {
                    members.insert(key, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
