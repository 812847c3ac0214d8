//! Bodies: bounded, `application/json`, strictly parsed, every member known.

use std::error::Error;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::LengthLimitError;
use serde_json::{Map, Value};

use super::fields::{Fields, FromFields};
use crate::api::Api;
use crate::api::answer::{Refused, invalid};
use crate::domain::Code;
use crate::domain::json::{Limits, parse};
use crate::domain::problem::Problem;

/// A local client that needs longer than this for a few kilobytes is stuck.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A body that was read strictly.
pub(in crate::api) struct JsonBody<T>(pub(in crate::api) T);

impl<T: FromFields> FromRequest<Api> for JsonBody<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<JsonBody<T>, Refused> {
        let max = api.settings().max_request;
        let declared =
            request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if declared.is_some_and(|length: u64| length > u64::try_from(max).unwrap_or(u64::MAX)) {
            return Err(too_large(max));
        }
        let is_json = is_json(request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes()));
        let bytes = match tokio::time::timeout(BODY_TIMEOUT, to_bytes(request.into_body(), max)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) if is_limit(&error) => return Err(too_large(max)),
            Ok(Err(_)) => return Err(invalid(StatusCode::BAD_REQUEST, "the body ended before it was whole")),
            Err(_) => return Err(invalid(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
        };
        let members = if bytes.is_empty() && T::MAY_BE_EMPTY {
            Map::new()
        } else {
            match is_json {
                Some(true) => members(&bytes, max)?,
                // An empty body needs no type, but it is not JSON.
                None if bytes.is_empty() => members(&bytes, max)?,
                Some(false) | None => {
                    let detail = "a body is sent as `content-type: application/json`";
                    return Err(invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
                }
            }
        };
        let mut fields = Fields::new("", members);
        let value = T::read(&mut fields);
        Ok(JsonBody(fields.finish(value)?))
    }
}

fn members(bytes: &[u8], max: usize) -> Result<Map<String, Value>, Refused> {
    match parse(bytes, Limits::bytes(max)).map_err(|error| Problem::from(&error))? {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Problem::new(Code::InvalidArgument, "expected an object").pointer("").into())
        }
    }
}

/// `None` when there is no type. JSON is always UTF-8; other parameters say nothing.
fn is_json(content_type: Option<&[u8]>) -> Option<bool> {
    let content_type = content_type?;
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    Some(essence.trim_ascii().eq_ignore_ascii_case(b"application/json"))
}

fn too_large(max: usize) -> Refused {
    Problem::new(Code::PayloadTooLarge, format!("a body has at most {max} bytes")).into()
}

fn is_limit(error: &axum::Error) -> bool {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}
