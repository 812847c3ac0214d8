//! Customers and addresses: who exists from the start, who exists on demand, and what an address may be.

use serde::{Deserialize, Serialize};

/// Long enough for any real line, short enough that a runaway text is refused.
const MAX_TEXT: usize = 200;
/// `C-` and at most nine digits.
const MAX_DIGITS: usize = 9;

/// A postal address. Unknown members are refused: a misspelt one would be lost without a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Address {
    pub(super) line1: String,
    pub(super) postal_code: String,
    pub(super) city: String,
    /// ISO 3166-1 alpha-2.
    pub(super) country: String,
}

impl Address {
    /// Reads an address from a request body; the error is a sentence about the first thing wrong.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let address: Self = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        for (name, text) in
            [("line1", &address.line1), ("postal_code", &address.postal_code), ("city", &address.city)]
        {
            if text.trim().is_empty() || text.chars().count() > MAX_TEXT {
                return Err(format!("{name} must have 1 to {MAX_TEXT} characters"));
            }
        }
        if address.country.len() != 2 || !address.country.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err("country must be two capital letters".to_owned());
        }
        Ok(address)
    }
}

/// One customer as the service holds it.
#[derive(Debug, Clone)]
pub(super) struct Customer {
    pub(super) name: String,
    pub(super) email: String,
    pub(super) shipping_address: Address,
    pub(super) version: u64,
    pub(super) internal_notes: String,
}

impl Customer {
    /// How the customer is before anybody has changed it; none if there is no such id.
    ///
    /// Made from the id and not stored, so that tests and benchmarks have a thousand million of them.
    pub(super) fn original(id: &str) -> Option<Self> {
        if !exists(id) {
            return None;
        }
        if id == "C-1842" {
            return Some(Self {
                name: "Marta Lindqvist".to_owned(),
                email: "marta.lindqvist@example.test".to_owned(),
                shipping_address: Address {
                    line1: "Storgatan 12".to_owned(),
                    postal_code: "114 55".to_owned(),
                    city: "Stockholm".to_owned(),
                    country: "SE".to_owned(),
                },
                version: 17,
                internal_notes: "Prefers delivery before noon.".to_owned(),
            });
        }
        let number: u64 = id[2..].parse().ok()?;
        const CITIES: [(&str, &str); 4] =
            [("Uppsala", "SE"), ("Bergen", "NO"), ("Aarhus", "DK"), ("Turku", "FI")];
        let (city, country) = CITIES[usize::try_from(number % 4).ok()?];
        Some(Self {
            name: format!("Customer {id}"),
            email: format!("{}@example.test", id.to_ascii_lowercase()),
            shipping_address: Address {
                line1: format!("Example Street {}", number % 500 + 1),
                postal_code: format!("{:05}", number % 100_000),
                city: city.to_owned(),
                country: country.to_owned(),
            },
            version: 1,
            internal_notes: String::new(),
        })
    }
}

/// Whether it is a customer of somebody else, who is answered as if there were none.
pub(super) fn is_of_another_tenant(id: &str) -> bool {
    id.len() == 2 + MAX_DIGITS && id.starts_with("C-9")
}

fn exists(id: &str) -> bool {
    id.strip_prefix("C-").is_some_and(|digits| {
        (1..=MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
