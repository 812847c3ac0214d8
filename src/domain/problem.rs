//! Problem details (RFC 9457): the one envelope in which every refusal leaves the daemon, over HTTP as
//! `application/problem+json` and as the same object inside other results. Who may call it: everybody who answers.
//! What it never does: carry argument values or secrets. Programs act on `code`, never on `detail`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::code::{Category, Code};
use super::ids::OperationId;
use super::json::JsonError;
use super::operation::Effect;

/// One part of an effect that has several.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EffectPart {
    /// The name that the contract gives this part.
    pub name: String,
    /// What is known about it.
    pub state: Effect,
    /// The evidence, where there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
}

/// One finding in a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Where, as an RFC 6901 pointer into the request.
    pub pointer: String,
    /// What kind.
    pub code: Code,
    /// What is wrong and how to mend it, for people.
    pub detail: String,
}

/// The envelope. Members that nobody knows are left out, never null.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// `urn:writd:error:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The title of the code.
    pub title: String,
    /// The HTTP status of the code.
    pub status: u16,
    /// What happened this time, for people.
    pub detail: String,
    /// The request or resource this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// What programs act on.
    pub code: Code,
    /// The category of the code.
    pub category: Category,
    /// What the world looks like now.
    pub effect: Effect,
    /// The parts of the effect, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectPart>,
    /// Whether the same request may simply be sent again.
    pub retryable: bool,
    /// Not before this many seconds have passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The place in the request, as an RFC 6901 pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// All findings, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Finding>,
    /// The version that the target has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_version: Option<Value>,
    /// The operation this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The state that the operation is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Who can do something about it: a group, an owner, a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_to: Option<String>,
    /// The trace of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl Problem {
    /// The media type of the envelope.
    pub const MEDIA_TYPE: &'static str = "application/problem+json";
    /// What stands before the code in `type`.
    pub const TYPE_PREFIX: &'static str = "urn:writd:error:";

    /// A problem with everything that the dictionary says about its code.
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem {
            kind: format!("{}{code}", Problem::TYPE_PREFIX),
            title: code.title().to_owned(),
            status: code.http_status(),
            detail: detail.into(),
            instance: None,
            code,
            category: code.category(),
            effect: code.default_effect(),
            effects: Vec::new(),
            retryable: code.retryable(),
            retry_after: None,
            pointer: None,
            errors: Vec::new(),
            current_version: None,
            operation_id: None,
            state: None,
            route_to: None,
            trace_id: None,
        }
    }

    /// The request or resource this is about, as a URI reference.
    #[must_use]
    pub fn instance(mut self, instance: impl Into<String>) -> Problem {
        self.instance = Some(instance.into());
        self
    }

    /// What is known about the effect, in place of the default. Unless it is `none`, the request is not retryable
    /// any more: a problem that says "it may have happened" never invites a repetition.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Problem {
        self.effect = effect;
        self.retryable = self.retryable && effect == Effect::None;
        self
    }

    /// The parts of the effect.
    #[must_use]
    pub fn effects(mut self, effects: Vec<EffectPart>) -> Problem {
        self.effects = effects;
        self
    }

    /// How many seconds to wait before the request is sent again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Problem {
        self.retry_after = Some(seconds);
        self
    }

    /// The place in the request, as an RFC 6901 pointer.
    #[must_use]
    pub fn pointer(mut self, pointer: impl Into<String>) -> Problem {
        self.pointer = Some(pointer.into());
        self
    }

    /// One more finding; the first one also names the place of the whole problem.
    #[must_use]
    pub fn finding(mut self, pointer: impl Into<String>, code: Code, detail: impl Into<String>) -> Problem {
        let finding = Finding { pointer: pointer.into(), code, detail: detail.into() };
        self.pointer.get_or_insert_with(|| finding.pointer.clone());
        self.errors.push(finding);
        self
    }

    /// The version that the target has now.
    #[must_use]
    pub fn current_version(mut self, version: impl Into<Value>) -> Problem {
        self.current_version = Some(version.into());
        self
    }

    /// The operation this is about.
    #[must_use]
    pub fn operation(mut self, id: OperationId) -> Problem {
        self.operation_id = Some(id);
        self
    }

    /// The state that the operation is in.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Problem {
        self.state = Some(state.into());
        self
    }

    /// Who can do something about it.
    #[must_use]
    pub fn route_to(mut self, whom: impl Into<String>) -> Problem {
        self.route_to = Some(whom.into());
        self
    }

    /// The trace of this request.
    #[must_use]
    pub fn trace_id(mut self, trace: impl Into<String>) -> Problem {
        self.trace_id = Some(trace.into());
        self
    }
}

impl From<&JsonError> for Problem {
    fn from(error: &JsonError) -> Problem {
        Problem::new(error.code(), error.to_string()).pointer(error.pointer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::json::{Limits, parse};
    use serde_json::json;

    #[test]
    fn what_nobody_knows_is_left_out() {
        let problem = Problem::new(Code::TargetBusy, "customer C-1842 is held");
        let expected = json!({
            "type": "urn:writd:error:TARGET_BUSY", "title": "Another write holds the target", "status": 409,
            "detail": "customer C-1842 is held", "code": "TARGET_BUSY", "category": "capacity", "effect": "none",
            "retryable": true
        });
        assert_eq!(serde_json::to_value(&problem).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Problem>(expected).unwrap(), problem);
    }

    #[test]
    fn everything_that_is_known_survives_the_trip() {
        let part =
            EffectPart { name: "order".into(), state: Effect::Applied, receipt: Some(json!({"id": 7})) };
        let problem = Problem::new(Code::PartialEffect, "order created, notification failed")
            .instance("/v1/operations/op_01h455vb4pex5vsknk084sn02q")
            .effects(vec![part])
            .retry_after(30)
            .finding("/a", Code::InvalidArgument, "first")
            .finding("/b", Code::InvalidArgument, "second")
            .current_version(18)
            .operation(OperationId::from_u128(7))
            .state("failed")
            .route_to("crm-oncall")
            .trace_id("4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(problem.pointer.as_deref(), Some("/a"));
        let text = serde_json::to_string(&problem).unwrap();
        assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem);
    }

    #[test]
    fn an_effect_that_may_exist_never_invites_a_repetition() {
        assert!(Problem::new(Code::Unavailable, "").retryable);
        for effect in [Effect::Applied, Effect::Partial, Effect::Unknown] {
            assert!(!Problem::new(Code::Unavailable, "").effect(effect).retryable);
        }
        assert!(Problem::new(Code::Unavailable, "").effect(Effect::None).retryable);
    }

    #[test]
    fn members_of_a_newer_peer_are_ignored_but_its_codes_are_not() {
        let mut value = serde_json::to_value(Problem::new(Code::Conflict, "x")).unwrap();
        value["later"] = json!(1);
        assert!(serde_json::from_value::<Problem>(value.clone()).is_ok());
        value["code"] = json!("LATER");
        let error = serde_json::from_value::<Problem>(value).unwrap_err();
        assert!(error.to_string().contains("`LATER` is not known"), "{error}");
    }

    #[test]
    fn a_refused_text_becomes_a_problem_with_its_place() {
        let error = parse(br#"{"a":[1,{"b":1,"b":2}]}"#, Limits::default()).unwrap_err();
        let problem = Problem::from(&error);
        assert_eq!((problem.code, problem.pointer.as_deref()), (Code::InvalidArgument, Some("/a/1/b")));
        let error = parse(b"[1,2]", Limits::bytes(4)).unwrap_err();
        assert_eq!(Problem::from(&error).status, 413);
    }
}
