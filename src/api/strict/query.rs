//! Query parameters: the same rules as for members of a body. Their pointers begin with `/query`.

use axum::extract::FromRequestParts;
use axum::extract::Query as Pairs;
use axum::http::request::Parts;
use serde_json::{Map, Value};

use super::fields::{Fields, FromFields};
use crate::api::Api;
use crate::api::answer::Refused;
use crate::domain::Code;
use crate::domain::problem::Problem;

/// Query parameters that were read strictly.
pub(in crate::api) struct Query<T>(pub(in crate::api) T);

impl<T: FromFields> FromRequestParts<Api> for Query<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Query<T>, Refused> {
        let mut fields = Fields::new("/query", members(parts)?);
        let value = T::read(&mut fields);
        Ok(Query(fields.finish(value)?))
    }
}

fn members(parts: &Parts) -> Result<Map<String, Value>, Refused> {
    let mut members = Map::new();
    if parts.uri.query().is_none_or(str::is_empty) {
        return Ok(members);
    }
    let Pairs(pairs) = Pairs::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|_| {
        Problem::new(Code::InvalidArgument, "the query parameters cannot be read").pointer("/query")
    })?;
    for (name, value) in pairs {
        let value = Value::String(value);
        match members.get_mut(&name) {
            None => drop(members.insert(name, value)),
            Some(Value::Array(several)) => several.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(members)
}
