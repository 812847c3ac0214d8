//! Answers: JSON, or a problem. A handler only says which problem; the envelope is written in one place, so that every
//! error of every route looks the same.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::domain::Code;
use crate::domain::problem::Problem;

/// What every route answers.
pub(super) type Answer = Result<Response, Refused>;

/// The first guess at the size of an answer: an operation in list form.
const USUAL_BYTES: usize = 2048;
/// How much of the path stands in `instance`; ours are far shorter.
const SHOWN_PATH: usize = 256;

/// A problem on its way out.
#[derive(Debug)]
pub(super) struct Refused(pub(super) Box<Problem>);

impl From<Box<Problem>> for Refused {
    fn from(problem: Box<Problem>) -> Refused {
        Refused(problem)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused(Box::new(problem))
    }
}

/// The problem of a response whose body is not written yet.
#[derive(Clone)]
struct Carried(Box<Problem>);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status_of(&self.0);
        response.extensions_mut().insert(Carried(self.0));
        response
    }
}

fn status_of(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A value as JSON.
pub(super) fn json<T: Serialize>(status: StatusCode, value: &T) -> Answer {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    if let Err(error) = serde_json::to_writer(&mut bytes, value) {
        tracing::error!(%error, "an answer could not be written");
        return Err(Problem::new(Code::Internal, "the answer could not be written; look again").into());
    }
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Writes the envelope of a problem; anything else passes.
pub(super) fn finish(path: &str, mut response: Response) -> Response {
    let problem = match response.extensions_mut().remove::<Carried>() {
        Some(Carried(problem)) => problem,
        None if response.status().is_client_error() || response.status().is_server_error() => {
            let code =
                if response.status().is_client_error() { Code::InvalidArgument } else { Code::Internal };
            let mut problem = Problem::new(code, "the request could not be answered");
            problem.status = response.status().as_u16();
            Box::new(problem)
        }
        None => return response,
    };
    let shown: String = path.chars().take(SHOWN_PATH).collect();
    let problem = problem.instance(shown);
    let headers = response.headers_mut();
    // The router has counted the empty body that stood for this one.
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(Problem::MEDIA_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = problem.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    // Strings, numbers and lists of them: this cannot fail.
    *response.body_mut() = Body::from(serde_json::to_vec(&problem).unwrap_or_default());
    response
}

/// A refusal of a request that is not of ours: right code, another status where HTTP has a better one.
pub(super) fn invalid(status: StatusCode, detail: impl Into<String>) -> Refused {
    let mut problem = Problem::new(Code::InvalidArgument, detail);
    problem.status = status.as_u16();
    problem.into()
}
