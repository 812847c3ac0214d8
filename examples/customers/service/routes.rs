//! The routes of the business part.

use super::sandbox::{Kind, segments};

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Customer(String),
    Change(String),
    Confirm(String),
    Operation(String),
    /// Known path, other method.
    OtherMethod,
    Nowhere,
}

impl Route {
    /// Reads the route from method and path.
    pub(super) fn of(method: &str, path: &str) -> Self {
        let Some(segments) = segments(path) else { return Self::Nowhere };
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (allowed, route) = match segments.as_slice() {
            ["customers", id] => ("GET", Self::Customer((*id).to_owned())),
            ["customers", id, "shipping-address"] => ("PUT", Self::Change((*id).to_owned())),
            ["customers", id, "confirmations"] => ("POST", Self::Confirm((*id).to_owned())),
            ["operations", key] => ("GET", Self::Operation((*key).to_owned())),
            _ => return Self::Nowhere,
        };
        if method == allowed { route } else { Self::OtherMethod }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Change(_) | Self::Confirm(_) => Kind::Write,
            Self::Operation(_) => Kind::Status,
            Self::Customer(_) | Self::OtherMethod | Self::Nowhere => Kind::Read,
        }
    }

    /// The customer it is about.
    pub(super) fn customer_id(&self) -> Option<&str> {
        match self {
            Self::Customer(id) | Self::Change(id) | Self::Confirm(id) => Some(id),
            Self::Operation(_) | Self::OtherMethod | Self::Nowhere => None,
        }
    }
}
