//! What a status answer says about an earlier write. An answer about another call, a contradictory one and one that the
//! contract does not describe decide nothing.

use serde_json::Value;

use super::classify::{Answer, AnswerBody};
use super::contract::Contract;
use super::model::StatusProtocol;
use super::receipt::{Expect, Receipt};
use super::template::{Binding, Scope};
use crate::domain::operation::Effect;

/// What the answer of the status request says.
#[derive(Clone, PartialEq, Debug)]
pub enum StatusAnswer {
    /// It happened, and this proves it.
    Succeeded(Box<Receipt>),
    /// It failed for good.
    Failed {
        /// The code of the dictionary.
        code: String,
        /// What the world looks like.
        effect: Effect,
    },
    /// It is still running.
    InProgress {
        /// The id of the remote operation, if the answer names one.
        remote: Option<String>,
    },
    /// The service knows nothing of it. What that means, and when, is `StatusProtocol::not_found`.
    NotFound,
    /// Nothing can be concluded.
    Inconclusive {
        /// Why; never holds a value.
        cause: String,
    },
}

fn inconclusive(cause: impl Into<String>) -> StatusAnswer {
    StatusAnswer::Inconclusive { cause: cause.into() }
}

impl Contract {
    /// What a status answer says.
    #[must_use]
    pub fn classify_status(&self, answer: &Answer, expect: &Expect<'_>) -> StatusAnswer {
        let Ok(protocol) = self.status_protocol() else {
            return inconclusive("this tool has no status request");
        };
        let body = match &answer.body {
            AnswerBody::Json(body) => body,
            AnswerBody::Empty => &Value::Null,
            AnswerBody::Unreadable(reason) => {
                return inconclusive(format!("the status answer is unreadable: {reason}"));
            }
        };
        let scope = Scope::of([("status", Binding::Number(answer.status)), ("body", Binding::Value(body))]);
        let holds = |condition: &Option<_>| {
            condition.as_ref().is_some_and(|condition: &super::template::Condition| condition.holds(&scope))
        };
        let said = [
            protocol.succeeded.holds(&scope),
            protocol.failed.holds(&scope),
            holds(&protocol.in_progress),
            holds(&protocol.not_found_when),
        ];
        match said {
            [true, false, false, false] => self.status_success(protocol, body, expect),
            [false, true, false, false] => self.status_failure(protocol, body, expect),
            [false, false, true, false] => match protocol.evidence.check(body, expect) {
                Ok(()) => {
                    let remote = protocol.remote.as_ref().and_then(|pointer| pointer.of(body));
                    StatusAnswer::InProgress { remote: remote.and_then(Value::as_str).map(str::to_owned) }
                }
                Err(cause) => inconclusive(cause),
            },
            [false, false, false, true] => StatusAnswer::NotFound,
            [false, false, false, false] => {
                inconclusive(format!("the contract does not describe this status answer ({})", answer.status))
            }
            _ => inconclusive("the status answer says more than one thing at once"),
        }
    }

    fn status_success(&self, protocol: &StatusProtocol, body: &Value, expect: &Expect<'_>) -> StatusAnswer {
        if let Err(cause) = protocol.evidence.check(body, expect) {
            return inconclusive(cause);
        }
        let Some(result) = protocol.result.as_ref().and_then(|pointer| pointer.of(body)) else {
            return inconclusive("the status says succeeded without the result");
        };
        match self.receipt_in(result, expect) {
            Ok(receipt) => StatusAnswer::Succeeded(Box::new(receipt)),
            Err(cause) => inconclusive(cause),
        }
    }

    fn status_failure(&self, protocol: &StatusProtocol, body: &Value, expect: &Expect<'_>) -> StatusAnswer {
        if let Err(cause) = protocol.evidence.check(body, expect) {
            return inconclusive(cause);
        }
        let error = protocol.error.as_ref().and_then(|pointer| pointer.of(body));
        // The status resource repeats the body of the error, not its HTTP status: only lines that name members of the
        // body can be told apart.
        let entry = self.errors.iter().find(|entry| !entry.body.is_empty() && entry.describes(error));
        match entry {
            Some(entry) if matches!(entry.effect, Effect::None | Effect::Applied) => {
                StatusAnswer::Failed { code: entry.code.clone(), effect: entry.effect }
            }
            Some(_) => inconclusive("the status reports an error whose effect is not known"),
            None => inconclusive("the status reports an error that the contract does not declare"),
        }
    }
}
