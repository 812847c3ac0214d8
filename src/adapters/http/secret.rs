//! Credentials by reference. The value exists from the last moment before a request to the end of its write, and no
//! `Debug`, `Display` or error ever shows it.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::error::Cause;

/// Tokens are short; a larger file is a wrong path.
const MAX_SECRET_BYTES: u64 = 16 * 1024;

/// A secret value. It has no `Display`, and its `Debug` hides it.
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Where the value of a credential is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CredentialRef {
    /// An environment variable of the daemon.
    Env(String),
    /// The content of a file, without its last line break.
    File(PathBuf),
}

/// A credential of a base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credential {
    /// Where its value is.
    pub reference: CredentialRef,
    /// The header that carries the bare value; none: `authorization: Bearer VALUE`.
    pub header: Option<HeaderName>,
}

impl fmt::Display for CredentialRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialRef::Env(name) => write!(f, "env:{name}"),
            CredentialRef::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl CredentialRef {
    /// The value, as it is now: a rotated secret is used at the next request.
    fn resolve(&self) -> Result<Secret, &'static str> {
        let mut text = match self {
            CredentialRef::Env(name) => {
                std::env::var(name).map_err(|_| "the environment variable is not set, or not UTF-8")?
            }
            CredentialRef::File(path) => {
                let file = std::fs::File::open(path).map_err(|_| "the file cannot be opened")?;
                let mut text = String::new();
                file.take(MAX_SECRET_BYTES + 1)
                    .read_to_string(&mut text)
                    .map_err(|_| "the file cannot be read as UTF-8")?;
                text
            }
        };
        if text.len() as u64 > MAX_SECRET_BYTES {
            return Err("the value is larger than 16 KiB");
        }
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
        if text.is_empty() {
            return Err("the value is empty");
        }
        Ok(Secret(text))
    }
}

impl Credential {
    /// The header name that it occupies.
    pub(super) fn header_name(&self) -> HeaderName {
        self.header.clone().unwrap_or(AUTHORIZATION)
    }

    /// The header value, marked as sensitive.
    pub(super) fn header_value(&self) -> Result<HeaderValue, Cause> {
        let refuse = |why| Cause::Credential { reference: self.reference.to_string(), why };
        let secret = self.reference.resolve().map_err(refuse)?;
        let value = if self.header.is_some() {
            HeaderValue::from_str(&secret.0)
        } else {
            HeaderValue::from_str(&format!("Bearer {}", secret.0))
        };
        let mut value = value
            .map_err(|_| refuse("the value has characters that a header cannot carry (a line break?)"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}
