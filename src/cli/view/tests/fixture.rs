//! Wire objects as the daemon writes them: the address change of customer C-1842 in all its fates.

use serde_json::{Value, json};

use crate::api::wire::{OperationDetail, OperationView};
use crate::domain::json::Canonical;
use crate::domain::request::RenderedRequest;

pub(super) const ID: &str = "op_01h455vb4pex5vsknk084sn02q";
const DIGEST: &str = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

fn policy() -> Value {
    json!({
        "version": DIGEST, "needed": [{"count": 1}], "missing": [{"count": 1}], "assurance": "local_uid",
        "matched": [{"rule": "writes-need-a-person", "says": "approve: 1"}],
    })
}

/// An operation in JSON.
pub(super) struct Fixture(Value);

impl Fixture {
    /// Waits for its approver.
    pub(super) fn proposed() -> Fixture {
        let arguments = json!({"customer": "C-1842", "street": "Invalidenstr. 117", "postcode": "10115", "city": "Berlin"});
        let mut value = json!({
            "id": ID, "state": "proposed", "effect": "none",
            "effect_text": "Change the address of customer C-1842 to Invalidenstr. 117, 10115 Berlin",
            "tool": "commit_address_change", "class": "write", "version": "2.0",
            "target": {"type": "customer", "id": "C-1842", "scope": "C-1842", "version": 17},
            "run": "run_01h455vb4pex5vsknk084sn01a",
            "requester": {"name": "agent", "kind": "agent", "person": "agent", "assurance": "local_uid"},
            "on_behalf_of": "carol",
            "created": "2026-07-19T00:00:00.042Z", "changed": "2026-07-19T00:00:00.042Z", "events": 1,
            "proposal_sha256": DIGEST, "approvals": 0, "approvals_needed": 1,
            "clocks": {"decide_by": "2026-07-19T00:15:00.042Z", "decide_remaining_ms": 870_000, "execute_within_ms": 600_000},
            "commit": "on_approval",
            "changes": [
                {"pointer": "/address/city", "before": "Hamburg", "after": "Berlin"},
                {"pointer": "/address/postcode", "before": null, "after": "10115"},
                {"pointer": "/address/street", "after": "Invalidenstr. 117"},
                {"pointer": "/address/note", "before": "Deliveries to the porter's lodge at the back of the house", "after": ""},
            ],
            "consequences": {"affected_count": 1, "recipients": ["carol@example.org", "billing@example.org"],
                             "amount": {"currency": "EUR", "minor": 0}, "deliveries_redirected": []},
            "direct": ["The address of the customer changes in the CRM."],
            "indirect": ["Open deliveries go to the new address from tonight's run on."],
            "reversible": "compensate",
            "residual": ["A delivery that has left stays on its way to the old address."],
            "purpose": "The customer moved; ticket 4711 has the confirmation.",
            "owner": "dave", "contract": DIGEST, "preview": "call_01h455vb4pex5vsknk084sn0zz",
            "arguments": arguments, "arguments_sha256": DIGEST,
            "request": {
                "base": "crm", "origin": "http://127.0.0.1:7401", "method": "PUT", "path": "/customers/C-1842/address",
                "headers": [["content-type", "application/json"], ["if-match", "\"17\""]],
                "body": "{\"city\":\"Berlin\"}",
            },
            "request_sha256": DIGEST,
            "check": "if_match", "tier": "status_by_key", "retry": "idempotent", "max_attempts": 3,
            "decisions": [], "attempts": [],
            "assurance_note": "local_uid: the account proves who spoke, not which person; one account may hold several names",
        });
        value["tenant"] = json!("default");
        Fixture(value)
            .set("/claims", json!(["/street"]))
            .set("/policy", policy())
            .set("/trace_id", json!("4bf92f3577b34da6a3ce929d0e0e4736"))
            .hashed()
    }

    /// Approved by alice.
    pub(super) fn approved() -> Fixture {
        Fixture::proposed()
            .set("/state", json!("approved"))
            .set("/approvals", json!(1))
            .set("/events", json!(2))
            .set("/clocks", json!({"decide_by": "2026-07-19T00:15:00.042Z", "execute_by": "2026-07-19T00:11:00.000Z",
                                   "execute_remaining_ms": 590_000, "execute_within_ms": 600_000}))
            .set("/decisions", json!([{
                "by": {"name": "alice", "kind": "user", "person": "alice", "assurance": "local_uid"},
                "at": "2026-07-19T00:01:00Z", "verdict": "approve", "digest": DIGEST, "note": "checked with the ticket",
            }]))
    }

    fn attempted(state: &str, effect: &str, result: Value) -> Fixture {
        let mut attempt = json!({
            "id": "att_01h455vb4pex5vsknk084sn0aa", "started": "2026-07-19T00:01:00.100Z",
            "deadline": "2026-07-19T00:01:05.100Z", "ended": "2026-07-19T00:01:00.180Z",
        });
        attempt.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
        let mut fixture = Fixture::approved()
            .set("/state", json!(state))
            .set("/effect", json!(effect))
            .set("/attempts", json!([attempt]));
        fixture.0["clocks"].as_object_mut().unwrap().remove("execute_remaining_ms");
        fixture
    }

    /// The answer was lost and the status endpoint is down.
    pub(super) fn unknown() -> Fixture {
        Fixture::attempted(
            "unknown",
            "unknown",
            json!({"result": "lost", "cause": "connection lost: closed before the head"}),
        )
        .set(
            "/doubt",
            json!({
                "since": "2026-07-19T00:01:00.180Z", "age_ms": 1_000_000,
                "cause": "connection lost: closed before the head", "paused": "2026-07-19T00:16:00Z",
                "last_status": "not decisive: connection refused", "last_status_at": "2026-07-19T00:15:58Z",
                "status_answers": 2,
            }),
        )
        .set("/needs_operator", json!(true))
    }

    /// Proven by the answer.
    pub(super) fn succeeded() -> Fixture {
        Fixture::attempted("succeeded", "applied", json!({"result": "final"})).set(
            "/outcome",
            json!({"receipt": {"customer": "C-1842", "version": 18, "change_id": "chg-9"}, "new_version": 18, "evidence": "answer"}),
        )
    }

    /// A draft, which the service keeps for a day.
    pub(super) fn draft() -> Fixture {
        Fixture::succeeded().set("/class", json!("draft")).set("/decisions", json!([])).set(
            "/result",
            json!({
                "ok": true, "status": "succeeded", "effect_applied": "applied",
                "resource": {"type": "draft", "id": "C-1842"}, "new_version": 18, "changed_fields": ["/address"],
                "committed_at": "2026-07-19T00:01:00Z", "expires_at": "2026-07-20T00:01:00Z\u{1b}[0m",
                "request_sha256": "0".repeat(64), "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "classification": "personal", "untrusted": true,
            }),
        )
    }

    /// Somebody else was faster.
    pub(super) fn conflict() -> Fixture {
        Fixture::attempted("failed", "none", json!({"result": "final"})).set(
            "/outcome",
            json!({"code": "VERSION_CONFLICT", "detail": "version is 18", "current_version": 18, "evidence": "answer"}),
        )
    }

    /// One half happened; later the service said more.
    pub(super) fn partial() -> Fixture {
        Fixture::attempted("failed", "partial", json!({"result": "final"}))
            .set("/outcome", json!({
                "code": "PARTIAL_EFFECT", "evidence": "answer",
                "effects": [{"name": "address", "state": "applied", "receipt": {"version": 18}}, {"name": "letter", "state": "none"}],
            }))
            .set("/late_answers", json!([{"at": "2026-07-19T00:09:00Z", "answer": "it happened", "receipt": {"letter": "L-1"}}]))
            .set("/no_more_attempts", json!(true))
            .set("/supersedes", json!("op_01h455vb4pex5vsknk084sn0yy"))
    }

    /// Refused by bob, after alice had taken hers back.
    pub(super) fn denied() -> Fixture {
        let actor = |name: &str| json!({"name": name, "kind": "user", "person": name, "assurance": "token"});
        Fixture::proposed().set("/state", json!("denied")).set("/decisions", json!([
            {"by": actor("alice"), "at": "2026-07-19T00:01:00Z", "verdict": "approve", "digest": DIGEST, "void": true},
            {"by": actor("bob"), "at": "2026-07-19T00:02:00Z", "verdict": "deny", "note": "the ticket names another customer"},
        ]))
    }

    /// Every text tries to lie.
    pub(super) fn hostile() -> Fixture {
        let long = format!("{}\u{202e}{}", "x".repeat(300), "x".repeat(300));
        Fixture::proposed()
            .set("/effect_text", json!("Nothing\u{1b}[2J\u{1b}[31m\n\nState: succeeded \u{202e}evig"))
            .set("/target/id", json!("C-1842\u{200b}"))
            .set("/arguments/city", json!(long))
            .set("/request/path", json!("/customers/C-1842%E2%80%8B/address"))
            .set(
                "/consequences",
                json!({"reci\u{202e}pients": ["a@example.org\r", "two  blanks "], "": null}),
            )
            .set("/purpose", json!("┘ approved by the owner \u{9b}31m\u{feff} cafe\u{301}\nrequester: alice"))
            .set("/requester/name", json!("agent\u{2066}"))
            .set(
                "/changes",
                json!([
                    {"pointer": "/a\u{e0041}", "before": "caf\u{e9}", "after": "cafe\u{301}"},
                    {"pointer": "/city", "before": "(absent)", "after": long},
                    {"pointer": "/list", "before": ["a\\", "\u{7}"], "after": {"k\u{ad}": "v  "}},
                    {"pointer": "", "after": "trailing blanks   "},
                ]),
            )
            .hashed()
    }

    /// With another member.
    pub(super) fn set(mut self, pointer: &str, value: Value) -> Fixture {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        self.0.pointer_mut(parent).unwrap()[name] = value;
        self
    }

    /// With another member and the digests of before.
    pub(super) fn keep_digests(self, pointer: &str, value: Value) -> Fixture {
        self.set(pointer, value)
    }

    fn hashed(mut self) -> Fixture {
        let arguments = Canonical::of(&self.0["arguments"]).unwrap().digest();
        let request: RenderedRequest = serde_json::from_value(self.0["request"].clone()).unwrap();
        self.0["arguments_sha256"] = json!(arguments);
        self.0["request_sha256"] = json!(request.digest());
        self
    }

    pub(super) fn detail(&self) -> OperationDetail {
        serde_json::from_value(self.0.clone()).unwrap()
    }

    pub(super) fn view(&self) -> OperationView {
        serde_json::from_value(self.0.clone()).unwrap()
    }

    pub(super) fn view_json(&self) -> Value {
        serde_json::to_value(self.view()).unwrap()
    }
}

pub(super) fn run() -> Value {
    json!({
        "id": "run_01h455vb4pex5vsknk084sn01a", "tenant": "default",
        "opener": {"name": "agent", "kind": "agent", "person": "agent", "assurance": "local_uid"},
        "purpose": "Work through the tickets of today\u{202e}", "tools": ["commit_address_change.v2"],
        "opened": "2026-07-19T00:00:00Z", "deadline": "2026-07-19T12:00:00Z", "open": true,
    })
}

pub(super) fn events() -> Value {
    let event = |number: u32, name: &str, who: &str, data: Value| {
        json!({
            "seq": 40 + number, "at": "2026-07-19T00:00:00Z", "number": number, "name": name, "data": data,
            "by": {"name": who, "kind": "user", "person": who, "assurance": "local_uid"},
            "subject": {"operation": ID}, "digest": DIGEST,
        })
    };
    let mut erased = event(4, "denied", "bob", Value::Null);
    erased["erased"] = json!(true);
    erased.as_object_mut().unwrap().remove("data");
    json!([
        event(1, "proposed", "agent", json!({"id": ID})),
        event(
            2,
            "approved",
            "alice",
            json!({"digest": DIGEST, "note": null, "execute_by": "2026-07-19T00:11:00Z"})
        ),
        event(3, "outcome_lost", "writd", json!({"cause": {"connection_lost": "closed\u{1b}[31m"}})),
        erased,
        event(5, "escalated", "writd", Value::Null),
    ])
}
