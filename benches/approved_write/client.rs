//! A lean HTTP/1.1 client over the daemon's socket: the client shares the cores with what is measured.

use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

pub(crate) struct Client {
    stream: UnixStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(socket: &Path) -> Client {
        Client { stream: UnixStream::connect(socket).await.unwrap(), buffer: Vec::with_capacity(16 * 1024) }
    }

    /// One request; the answer's body as text.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        who: &str,
        key: Option<&str>,
        body: &str,
    ) -> String {
        let key = key.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nwritd-as: {who}\r\ncontent-type: application/json\r\n{key}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await.unwrap();
        self.buffer.clear();
        let (mut head_end, mut length) = (None, 0);
        loop {
            if let Some(end) = head_end
                && self.buffer.len() >= end + length
            {
                let status = &self.buffer[9..12];
                assert!(status[0] == b'2', "{}", String::from_utf8_lossy(&self.buffer));
                return String::from_utf8_lossy(&self.buffer[end..end + length]).into_owned();
            }
            let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
            assert!(read > 0, "the daemon closed the connection");
            if head_end.is_none()
                && let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n")
            {
                let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
                length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "))
                    .and_then(|text| text.trim().parse().ok())
                    .expect("an answer of known length");
                head_end = Some(end + 4);
            }
        }
    }
}

/// The text of a member, without parsing the whole.
pub(crate) fn member<'a>(body: &'a str, name: &str) -> &'a str {
    let start =
        body.find(&format!("\"{name}\":\"")).unwrap_or_else(|| panic!("{name} in {body}")) + name.len() + 4;
    let end = start + body[start..].find('"').unwrap();
    &body[start..end]
}
