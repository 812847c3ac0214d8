//! The routes of the business part. The hotel stands in the path, and only its own credential gets behind it.

use super::sandbox::{Kind, segments};

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    /// The hotel of the path.
    pub(super) hotel: String,
    pub(super) what: What,
}

/// What is asked for in that hotel. Texts are a tag of an asset or an id of a work order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Asset(String),
    History(String),
    Procedures,
    Draft(String),
    Edit(String),
    Submit(String),
    Cancel(String),
    Notify(String),
    /// Of all hotels: the key says whose it is.
    Operation(String),
    /// Known path, other method.
    OtherMethod,
    Nowhere,
}

impl Route {
    /// Reads the route from method and path.
    pub(super) fn of(method: &str, path: &str) -> Self {
        let segments = segments(path).unwrap_or_default();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (allowed, hotel, what) = match segments.as_slice() {
            ["hotels", hotel, rest @ ..] => {
                let Some((allowed, what)) = below(rest) else { return Self::nowhere(hotel) };
                (allowed, *hotel, what)
            }
            ["operations", key] => ("GET", "", What::Operation((*key).to_owned())),
            _ => return Self::nowhere(""),
        };
        let what = if method == allowed { what } else { What::OtherMethod };
        Self { hotel: hotel.to_owned(), what }
    }

    fn nowhere(hotel: &str) -> Self {
        Self { hotel: hotel.to_owned(), what: What::Nowhere }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.what {
            What::Draft(_) | What::Edit(_) | What::Submit(_) | What::Cancel(_) | What::Notify(_) => {
                Kind::Write
            }
            What::Operation(_) => Kind::Status,
            What::Asset(_) | What::History(_) | What::Procedures | What::OtherMethod | What::Nowhere => {
                Kind::Read
            }
        }
    }

    /// `HOTEL/TAG` of an asset, or the id of a work order.
    pub(super) fn id(&self) -> Option<String> {
        match &self.what {
            What::Asset(tag) | What::History(tag) | What::Draft(tag) => Some(format!("{}/{tag}", self.hotel)),
            What::Edit(id) | What::Submit(id) | What::Cancel(id) | What::Notify(id) => Some(id.clone()),
            What::Procedures | What::Operation(_) | What::OtherMethod | What::Nowhere => None,
        }
    }

    /// What a write is about: each kind of effect is counted by itself.
    pub(super) fn object(&self) -> String {
        let kind = match self.what {
            What::Draft(_) => "draft",
            What::Edit(_) => "edit",
            What::Submit(_) => "order",
            What::Cancel(_) => "cancellation",
            What::Notify(_) => "notification",
            What::Asset(_)
            | What::History(_)
            | What::Procedures
            | What::Operation(_)
            | What::OtherMethod
            | What::Nowhere => "nothing",
        };
        format!("{kind}:{}", self.id().unwrap_or_default())
    }
}

fn below(rest: &[&str]) -> Option<(&'static str, What)> {
    Some(match rest {
        ["assets", tag] => ("GET", What::Asset((*tag).to_owned())),
        ["assets", tag, "history"] => ("GET", What::History((*tag).to_owned())),
        ["assets", tag, "work-orders"] => ("POST", What::Draft((*tag).to_owned())),
        ["procedures"] => ("GET", What::Procedures),
        ["work-orders", id] => ("PUT", What::Edit((*id).to_owned())),
        ["work-orders", id, "submission"] => ("POST", What::Submit((*id).to_owned())),
        ["work-orders", id, "cancellation"] => ("POST", What::Cancel((*id).to_owned())),
        ["work-orders", id, "notifications"] => ("POST", What::Notify((*id).to_owned())),
        _ => return None,
    })
}
