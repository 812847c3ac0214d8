//! The HTTP adapter as the engine sees it.

use std::time::Duration;

use crate::adapters::http::{Hooks, HttpAdapter, Point, RequestKind, SendError, SendOptions};
use crate::domain::request::RenderedRequest;
use crate::engine::failpoint;
use crate::ports::{Invoker, Later, NoReply, Purpose, Reply};
use std::sync::Arc;

pub(super) struct Http {
    adapter: HttpAdapter,
    hooks: Hooks,
}

impl Http {
    pub(super) fn new(adapter: HttpAdapter) -> Http {
        let hooks: Hooks = Arc::new(|point| match point {
            Point::AnswerHeadSeen => failpoint::pass("P4"),
            Point::BeforeFirstByte | Point::AnswerRead => {}
        });
        Http { adapter, hooks }
    }
}

impl Invoker for Http {
    fn send(
        &self,
        request: RenderedRequest,
        purpose: Purpose,
        deadline: Duration,
        max_bytes: usize,
    ) -> Later<'_, Result<Reply, NoReply>> {
        Box::pin(async move {
            let (kind, hooks) = match purpose {
                Purpose::Read => (RequestKind::Read, None),
                Purpose::Write => (RequestKind::Write, Some(Arc::clone(&self.hooks))),
                Purpose::Status => (RequestKind::Status, None),
            };
            let options = SendOptions { deadline, max_response_bytes: max_bytes, kind, hooks };
            match self.adapter.send(&request, options).await {
                Ok(answer) => Ok(Reply { status: answer.status, headers: answer.headers, body: answer.body }),
                Err(SendError::NothingSent { cause }) => {
                    Err(NoReply::NothingSent { cause: cause.to_string() })
                }
                Err(SendError::MayHaveArrived { cause, .. }) => {
                    Err(NoReply::MayHaveArrived { cause: cause.to_string() })
                }
            }
        })
    }
}
