//! Paths and queries of requests.

/// The segments of a path with their `%XX` taken back; none if one is empty or not UTF-8.
pub(crate) fn segments(path: &str) -> Option<Vec<String>> {
    path.strip_prefix('/')?.split('/').map(percent_decoded).collect()
}

/// The members of a query, decoded; none if one of them is not `name=value`.
#[allow(dead_code, reason = "what one service does not use, another does")]
pub(super) fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let decoded = |text: &str| match text {
        "" => Some(String::new()),
        text => percent_decoded(&text.replace('+', "%20")),
    };
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((decoded(name)?, decoded(value)?))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn percent_decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(first);
        }
    }
    if bytes.is_empty() { None } else { String::from_utf8(bytes).ok() }
}
