//! A walk over the text before it is parsed. It finds what a JSON parser lets pass (depth, half surrogates, numbers
//! that a double does not carry) and knows the place as a pointer. It keeps its own bounded stack instead of
//! recursing, and it leaves every question of grammar to the parser that follows.

use super::error::{JsonError, JsonErrorKind};
use super::{number, pointer};

/// An open array or object.
enum Frame {
    /// The index of the element that is being read.
    Array(usize),
    /// The member that is being read (its name as written, with quotes), and whether the next string is a name.
    Object { name: Option<(usize, usize)>, name_next: bool },
}

/// The walk.
pub(super) struct Survey<'t> {
    text: &'t str,
    at: usize,
    stack: Vec<Frame>,
    max_depth: usize,
}

/// Refuses what the parser would let pass.
pub(super) fn survey(text: &str, max_depth: usize) -> Result<(), JsonError> {
    Survey { text, at: 0, stack: Vec::new(), max_depth }.run(text.len())
}

/// The pointer of the value around a byte of a text whose first `offset` bytes have been surveyed before.
pub(super) fn place_at(text: &str, offset: usize, max_depth: usize) -> String {
    let mut walk = Survey { text, at: 0, stack: Vec::new(), max_depth };
    // An error only ends the walk early; the place is then that of the error.
    let _ = walk.run(offset);
    walk.place()
}

impl Survey<'_> {
    /// Walks until `end` or the first finding.
    fn run(&mut self, end: usize) -> Result<(), JsonError> {
        while self.at < end {
            let Some(byte) = self.byte(0) else { break };
            match byte {
                b'[' => self.open(Frame::Array(0))?,
                b'{' => self.open(Frame::Object { name: None, name_next: true })?,
                b']' | b'}' => {
                    self.stack.pop();
                }
                b',' => match self.stack.last_mut() {
                    Some(Frame::Array(index)) => *index += 1,
                    Some(Frame::Object { name, name_next }) => (*name, *name_next) = (None, true),
                    None => {}
                },
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    self.number()?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn refuse(&self, kind: JsonErrorKind, offset: usize) -> JsonError {
        JsonError::new(kind, self.place(), Some(offset))
    }

    fn open(&mut self, frame: Frame) -> Result<(), JsonError> {
        if self.stack.len() >= self.max_depth {
            let limit = format!("the limit is {}", self.max_depth);
            return Err(self.refuse(JsonErrorKind::TooDeep, self.at).with_detail(limit));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// Steps over a string; a name is remembered for the pointer.
    fn string(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    break;
                }
                b'\\' if self.byte(1) == Some(b'u') => self.unicode_escape()?,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        if let Some(Frame::Object { name, name_next }) = self.stack.last_mut()
            && *name_next
        {
            (*name, *name_next) = (Some((start, self.at)), false);
        }
        Ok(())
    }

    /// Steps over `\uXXXX`, or over both halves of a pair.
    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        match self.hex(0) {
            Some(0xd800..=0xdbff) if matches!(self.hex(6), Some(0xdc00..=0xdfff)) => self.at += 12,
            Some(0xd800..=0xdfff) => return Err(self.refuse(JsonErrorKind::LoneSurrogate, self.at)),
            Some(_) => self.at += 6,
            // Not four digits: the parser will say so.
            None => self.at += 2,
        }
        Ok(())
    }

    /// The value of a `\uXXXX` that begins `ahead` bytes from here.
    fn hex(&self, ahead: usize) -> Option<u16> {
        let escape = self.text.as_bytes().get(self.at + ahead..self.at + ahead + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0u16, |value, digit| {
            let nibble = char::from(*digit).to_digit(16)?;
            Some((value << 4) | u16::try_from(nibble).ok()?)
        })
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.byte(0), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        match number::is_exact(&self.text[start..self.at]) {
            Some(false) => Err(self.refuse(JsonErrorKind::InexactNumber, start)),
            Some(true) | None => Ok(()),
        }
    }

    /// The pointer of the value that is being read.
    fn place(&self) -> String {
        let mut place = String::new();
        for frame in &self.stack {
            let token = match frame {
                Frame::Array(index) => index.to_string(),
                Frame::Object { name: Some((start, end)), .. } => {
                    let written = self.text.get(*start..*end).unwrap_or_default();
                    match serde_json::from_str::<String>(written) {
                        Ok(name) => name,
                        Err(_) => break,
                    }
                }
                Frame::Object { name: None, .. } => break,
            };
            if !pointer::push_bounded(&mut place, &token) {
                break;
            }
        }
        place
    }
}
