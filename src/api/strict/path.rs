//! Ids in paths. What is no id is answered like an id that nobody has.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::api::Api;
use crate::api::answer::Refused;
use crate::engine::not_found;

/// The id in the path.
pub(in crate::api) struct Id<T>(pub(in crate::api) T);

impl<T: FromStr + Send> FromRequestParts<Api> for Id<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Id<T>, Refused> {
        let Path(text) = Path::<String>::from_request_parts(parts, api).await.map_err(|_| not_found())?;
        text.parse().map(Id).map_err(|_| not_found().into())
    }
}
