//! Names of tools in rules and grants.

/// `*` stands for any text; everything else for itself.
#[must_use]
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = pattern.rfind('*').map(|star| &pattern[star + 1..]) else { return rest.is_empty() };
    let middle: Vec<&str> = parts.collect();
    for part in &middle[..middle.len().saturating_sub(1)] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, fits) in [
            ("*", "set_price.v1", true),
            ("set_*", "set_price.v1", true),
            ("set_*.v1", "set_price.v1", true),
            ("set_*.v1", "set_price.v12", false),
            ("*price*", "set_price.v1", true),
            ("*price", "set_price.v1", false),
            ("set_price.v1", "set_price.v1", true),
            ("set_price.v1", "set_price.v10", false),
            ("s*e*1", "set_price.v1", true),
            ("ab*ba", "aba", false),
            ("", "x", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }
}
