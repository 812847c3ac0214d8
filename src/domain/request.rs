//! The rendered request: the exact bytes that an approved write sends, without secrets.

use serde::{Deserialize, Serialize};

use super::Digest;

/// One HTTP request, rendered and stored at proposal time. Exactly this is sent; a later change of a base address or a
/// contract cannot redirect it. The credential is a reference and is resolved at the last moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RenderedRequest {
    /// The named base it belongs to, for credentials and limits.
    pub base: String,
    /// Scheme, host and port, as the base said at proposal time: `http://127.0.0.1:9000`.
    pub origin: String,
    /// Upper-case method.
    pub method: String,
    /// Path and query, percent-encoded, starting with `/`.
    pub path: String,
    /// Header names in lower case and values, in the order in which they are sent; no secrets.
    pub headers: Vec<(String, String)>,
    /// The body, as sent.
    #[serde(default, with = "text_body")]
    pub body: Option<Vec<u8>>,
}

impl RenderedRequest {
    /// `request_sha256`: what the daemon stored, will send and has approved.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let body = self.body.as_deref().unwrap_or_default();
        let mut parts: Vec<Vec<u8>> = vec![
            b"writd request 1".to_vec(),
            self.origin.clone().into_bytes(),
            self.method.clone().into_bytes(),
            self.path.clone().into_bytes(),
        ];
        for (name, value) in &self.headers {
            parts.push(name.clone().into_bytes());
            parts.push(value.clone().into_bytes());
        }
        parts.push(vec![u8::from(self.body.is_some())]);
        parts.push(body.to_vec());
        // Each part is preceded by its length, so that no two requests share one sequence of bytes.
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            bytes.extend_from_slice(&part);
        }
        Digest::of(&bytes)
    }
}

/// Bodies are JSON text in every shipped adapter; in JSON they are shown as text, in stored records as bytes.
mod text_body {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(body: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            body.as_ref().map(|bytes| String::from_utf8_lossy(bytes)).serialize(serializer)
        } else {
            body.serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        if deserializer.is_human_readable() {
            Ok(Option::<String>::deserialize(deserializer)?.map(String::into_bytes))
        } else {
            Option::<Vec<u8>>::deserialize(deserializer)
        }
    }
}
