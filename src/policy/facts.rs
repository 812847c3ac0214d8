//! What conditions can see: the facts that are stored with a proposal, so that the table in force judges the same ones
//! at the claim.

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::given::{Changed, Given};
use crate::domain::Time;
use crate::domain::operation::version_value;

/// The names of a condition. `args` are the canonical arguments; `before` and `diff` are what the approver is shown.
pub const NAMES: &[&str] = &[
    "args",
    "target.type",
    "target.id",
    "target.scope",
    "target.version",
    "before",
    "diff",
    "consequences",
    "requester.name",
    "requester.kind",
    "requester.person",
    "requester.owner",
    "requester.on_behalf_of",
    "requester.assurance",
    "run.id",
    "run.purpose",
    "tool.name",
    "tool.version",
    "tool.class",
    "now.unix",
    "now.date",
    "now.hour",
    "now.weekday",
];

/// The facts of one judgement.
pub(super) struct Facts<'a> {
    pub(super) given: &'a Given,
    pub(super) environment: Option<&'a str>,
    named: Vec<(&'static str, Value)>,
    /// The facts without what somebody merely says: a claim may make a policy stricter, and never easier.
    proven: Vec<(&'static str, Value)>,
    /// The values of the claims.
    claimed: Vec<Value>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(given: &'a Given) -> Facts<'a> {
        let environment = given.consequences.get("environment").and_then(Value::as_str);
        let requester = json!({
            "name": given.requester.name,
            "kind": given.requester.kind.as_str(),
            "person": given.requester.person,
            "owner": given.owner,
            "on_behalf_of": given.on_behalf_of,
            "assurance": given.requester.assurance.as_str(),
        });
        let target = json!({
            "type": given.target.kind,
            "id": given.target.id,
            "scope": given.target.scope,
            "version": given.target.version.as_deref().map(version_value),
        });
        let tool = json!({ "name": given.tool, "version": given.version, "class": given.class.as_str() });
        let named = vec![
            ("args", given.args.clone()),
            ("target", target),
            ("before", before(&given.changes)),
            ("diff", diff(&given.changes)),
            ("consequences", given.consequences.clone()),
            ("requester", requester),
            ("run", json!({ "id": given.run, "purpose": given.purpose })),
            ("tool", tool),
            ("now", clock(given.now)),
        ];
        let claimed =
            given.claims.iter().filter_map(|pointer| given.args.pointer(pointer).cloned()).collect();
        Facts { given, environment, proven: proven(&named, given), claimed, named }
    }

    /// What a condition sees; without claims, and what may be made of them, where a match makes something easier.
    pub(super) fn named(&self, allows: bool) -> Vec<(&'static str, &Value)> {
        let seen = if allows { &self.proven } else { &self.named };
        seen.iter().map(|(name, value)| (*name, value)).collect()
    }

    /// Whether the environment is what a claim says.
    pub(super) fn environment_is_claimed(&self) -> bool {
        let same = |claim: &Value| claim.as_str().is_some_and(|claim| Some(claim) == self.environment);
        self.claimed.iter().any(same)
    }
}

/// Consequences, the target and what fields become are made of the arguments by the contract: where some of those are
/// claims, nobody can say here which value comes from one of them, so none of these is seen.
fn proven(named: &[(&'static str, Value)], given: &Given) -> Vec<(&'static str, Value)> {
    if given.claims.is_empty() {
        return named.to_vec();
    }
    let mut proven: Vec<(&'static str, Value)> =
        named.iter().filter(|(name, _)| !matches!(*name, "target" | "consequences")).cloned().collect();
    for (name, value) in &mut proven {
        match (*name, &mut *value) {
            ("args", args) => given.claims.iter().for_each(|pointer| remove(args, pointer)),
            ("diff", Value::Array(changes)) => {
                for change in changes.iter_mut().filter_map(Value::as_object_mut) {
                    change.remove("after");
                }
            }
            _ => {}
        }
    }
    proven
}

/// In UTC: what the daemon runs under says nothing about where the company is.
fn clock(now: Time) -> Value {
    let unix = now.as_millis().div_euclid(1000);
    match jiff::Timestamp::from_second(unix) {
        Ok(at) => {
            let at = TimeZone::UTC.to_datetime(at);
            json!({
                "unix": unix,
                "date": at.date().to_string(),
                "hour": at.hour(),
                "weekday": at.weekday().to_monday_one_offset(),
            })
        }
        Err(_) => json!({ "unix": unix }),
    }
}

fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.remove(&name.replace("~1", "/").replace("~0", "~"))),
        // Its place says something about the others: it is emptied instead.
        Some(Value::Array(items)) => {
            if let Some(item) = name.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

fn diff(changes: &[Changed]) -> Value {
    let one =
        |change: &Changed| json!({ "field": change.field, "before": change.before, "after": change.after });
    Value::Array(changes.iter().map(one).collect())
}

/// The shown fields as they were, nested as they are named.
fn before(changes: &[Changed]) -> Value {
    let mut root = Map::new();
    'changes: for change in changes {
        let mut path: Vec<String> =
            change.field.split('/').skip(1).map(|word| word.replace("~1", "/").replace("~0", "~")).collect();
        let Some(last) = path.pop() else { continue };
        let mut at = &mut root;
        for word in path {
            let next = at.entry(word).or_insert_with(|| Value::Object(Map::new()));
            match next {
                Value::Object(members) => at = members,
                // A field inside a list: conditions read it from `diff`.
                _ => continue 'changes,
            }
        }
        at.insert(last, change.before.clone());
    }
    Value::Object(root)
}
