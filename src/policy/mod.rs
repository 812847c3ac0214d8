//! The policy table: which write may be proposed, and who has to approve it. Owns matching and combining; the engine
//! asks it at the proposal and again at every claim, both times on the facts that are stored with the proposal. It
//! reads no clock and keeps nothing.
//!
//! All rules that match are combined by strictness: a denial, then every approval that is asked for, then leave. Their
//! order does not matter. What no rule matches is denied.

pub mod cases;
mod combine;
mod facts;
mod given;
mod rule;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::config::{ConfigError, ConfiguredRule};
use crate::domain::json::Canonical;
use crate::domain::operation::{Body, Proposal};
use crate::domain::{Digest, Time};
use crate::ports::{Explained, Policy, Ruling};

use facts::Facts;
use rule::Rule;

pub use facts::NAMES;
pub use given::{Changed, Given};

/// A compiled table.
#[derive(Debug)]
pub struct Table {
    rules: Vec<Rule>,
    body: Canonical,
}

impl Table {
    /// Compiles the rules of a configuration.
    ///
    /// # Errors
    /// Everything that is wrong with their conditions.
    pub fn compile(rules: &[ConfiguredRule]) -> Result<Arc<Table>, Vec<ConfigError>> {
        let (mut compiled, mut errors) = (Vec::new(), Vec::new());
        for rule in rules {
            match Rule::compile(rule) {
                Ok(rule) => compiled.push(rule),
                Err(error) => errors.push(*error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Arc::new(Table { rules: compiled, body: body_of(rules) }))
    }

    /// Its version.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.body.digest()
    }

    /// What the table says about these facts, wherever they come from.
    #[must_use]
    pub fn judge_given(&self, given: &Given) -> Ruling {
        let facts = Facts::of(given);
        let matched = self.rules.iter().filter_map(|rule| Some((rule, rule.fit(&facts).matched()?)));
        combine::combine(self.version(), matched.collect())
    }
}

impl Policy for Table {
    fn version(&self) -> Digest {
        self.body.digest()
    }

    fn body(&self) -> &[u8] {
        self.body.as_str().as_bytes()
    }

    fn judge(&self, proposal: &Proposal, body: &Body, now: Time) -> Ruling {
        self.judge_given(&Given::of(proposal, body, now))
    }

    fn explain(&self, proposal: &Proposal, body: &Body, now: Time) -> Explained {
        let given = Given::of(proposal, body, now);
        let facts = Facts::of(&given);
        let rules = self.rules.iter().map(|rule| rule.said(rule.fit(&facts))).collect();
        Explained { ruling: self.judge_given(&given), rules }
    }
}

/// The canonical table: what it says, in an order of its own, and not where it stands. Its digest is its version.
fn body_of(rules: &[ConfiguredRule]) -> Canonical {
    let mut rules: Vec<(&str, Value)> = rules
        .iter()
        .map(|rule| {
            let said = json!({
                "name": rule.name,
                "verdict": rule::word_of(rule.verdict),
                "class": rule.class.map(crate::domain::operation::WriteClass::as_str),
                "tool": rule.tool,
                "tenant": rule.tenant,
                "environment": rule.environment,
                "requester": rule.requester.map(crate::domain::principal::PrincipalKind::as_str),
                "when": rule.when,
                "reason": rule.reason,
                "count": rule.count,
                "group": rule.group,
                "assurance": rule.assurance.as_str(),
                "exclude": rule.exclude,
                "decide_within_ms": rule.decide_within.map(rule::millis),
                "execute_within_ms": rule.execute_within.map(rule::millis),
                "reason_required": rule.reason_required,
                "survive_transient": rule.survive_transient,
            });
            (rule.name.as_str(), said)
        })
        .collect();
    rules.sort_by_key(|(name, _)| *name);
    let table = Value::Array(rules.into_iter().map(|(_, said)| said).collect());
    Canonical::of(&table).expect("texts, booleans and small whole numbers have a canonical form")
}
