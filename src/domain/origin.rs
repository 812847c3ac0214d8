//! An origin: scheme, host and port, and nothing else. One parser for configuration and for the edge, so that the
//! comparison "is this stored request for this base" can never disagree with what was configured.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The longest host name that DNS carries.
const MAX_HOST: usize = 253;

/// How the bytes travel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

/// Scheme, host (lower case) and port. Two origins are equal if they name the same peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// How the bytes travel.
    pub scheme: Scheme,
    /// Host name or address, without the brackets of IPv6.
    pub host: String,
    /// The port; the scheme's own if none was written.
    pub port: u16,
}

/// Why a text is no origin. It never repeats the text: people paste credentials into URLs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OriginError {
    /// Another scheme, or none.
    #[error("an origin starts with http:// or https://")]
    Scheme,
    /// Path, query, fragment or user information after the scheme.
    #[error("an origin ends after the port: no path, query, fragment, user or trailing slash")]
    Extra,
    /// No host, or one with characters that no host has.
    #[error("the host is empty, too long, or has characters that no host name or address has")]
    Host,
    /// Not a port.
    #[error("the port is not a number from 1 to 65535")]
    Port,
}

impl Scheme {
    fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl Origin {
    /// Whether it names this machine: `localhost`, 127.0.0.0/8 or ::1.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Host and port as the `host` header writes them: the port only where it is not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> String {
        let v6 = self.host.contains(':');
        let (open, close) = if v6 { ("[", "]") } else { ("", "") };
        let host = &self.host;
        if self.port == self.scheme.default_port() {
            format!("{open}{host}{close}")
        } else {
            format!("{open}{host}{close}:{}", self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Origin, OriginError> {
        let (scheme, rest) = if let Some(rest) = text.strip_prefix("http://") {
            (Scheme::Http, rest)
        } else if let Some(rest) = text.strip_prefix("https://") {
            (Scheme::Https, rest)
        } else {
            return Err(OriginError::Scheme);
        };
        if rest.contains(['/', '?', '#', '@', '\\']) {
            return Err(OriginError::Extra);
        }
        let (host, port) = split_port(rest)?;
        let port = match port {
            None => scheme.default_port(),
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().ok().filter(|port| *port != 0).ok_or(OriginError::Port)?
            }
            Some(_) => return Err(OriginError::Port),
        };
        Ok(Origin { scheme, host, port })
    }
}

fn split_port(rest: &str) -> Result<(String, Option<&str>), OriginError> {
    if let Some(inner) = rest.strip_prefix('[') {
        let (address, after) = inner.split_once(']').ok_or(OriginError::Host)?;
        let address: std::net::Ipv6Addr = address.parse().map_err(|_| OriginError::Host)?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((address.to_string(), Some(port))),
            None if after.is_empty() => Ok((address.to_string(), None)),
            None => Err(OriginError::Extra),
        };
    }
    let (host, port) = match rest.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    let fits = !host.is_empty() && host.len() <= MAX_HOST && !host.starts_with(['-', '.']);
    let clean = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    if !fits || !clean || host.contains("..") {
        return Err(OriginError::Host);
    }
    Ok((host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_peers_are_equal_origins() {
        let same = [("http://CRM.example:80", "http://crm.example"), ("https://a:443", "https://a")];
        for (one, other) in same {
            assert_eq!(one.parse::<Origin>(), other.parse::<Origin>());
        }
        let v6: Origin = "http://[0:0::1]:7401".parse().unwrap();
        assert_eq!((v6.to_string().as_str(), v6.is_loopback()), ("http://[::1]:7401", true));
        assert!(!"http://127.0.0.1.example".parse::<Origin>().unwrap().is_loopback());
    }

    #[test]
    fn anything_else_is_refused() {
        let wrong = [
            ("ftp://a", OriginError::Scheme),
            ("a:80", OriginError::Scheme),
            ("http://a/", OriginError::Extra),
            ("http://user:secret@a", OriginError::Extra),
            ("http://a?x", OriginError::Extra),
            ("http://", OriginError::Host),
            ("http://a b", OriginError::Host),
            ("http://[::1", OriginError::Host),
            ("http://[::1]x", OriginError::Extra),
            ("http://a:0", OriginError::Port),
            ("http://a:65536", OriginError::Port),
            ("http://a:+80", OriginError::Port),
            ("http://a:", OriginError::Port),
        ];
        for (text, error) in wrong {
            assert_eq!(text.parse::<Origin>(), Err(error), "{text}");
        }
    }
}
