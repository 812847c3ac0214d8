//! One rule: what it matches on.

use std::time::Duration;

use super::facts::{Facts, NAMES};
use crate::config::{ConfigError, ConfiguredRule, RuleVerdict};
use crate::contracts::Guard;
use crate::domain::Millis;
use crate::domain::pattern::matches_pattern;

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) of: ConfiguredRule,
    when: Option<Guard>,
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A verdict as the file says it.
pub(super) fn word_of(verdict: RuleVerdict) -> &'static str {
    match verdict {
        RuleVerdict::Deny => "deny",
        RuleVerdict::Approve => "approve",
        RuleVerdict::Allow => "allow",
    }
}

impl Rule {
    pub(super) fn compile(rule: &ConfiguredRule) -> Result<Rule, ConfigError> {
        let error = |message: String, help: String| ConfigError {
            code: "RULE",
            source: rule.place.source.clone(),
            line: rule.place.line,
            path: format!("{}.when", rule.place.path),
            message,
            help: Some(help),
        };
        let when = match &rule.when {
            None => None,
            Some(source) => {
                Some(Guard::compile(source, NAMES).map_err(|why| error(why.message, why.remedy))?)
            }
        };
        if rule.verdict == RuleVerdict::Allow && when.as_ref().is_some_and(|when| when.reads("run")) {
            return Err(error(
                "a rule that allows reads what the requester says of itself".to_owned(),
                "`run` may make a policy stricter, and never easier: decide by `args`, `target` or `requester`"
                    .to_owned(),
            ));
        }
        Ok(Rule { of: rule.clone(), when })
    }

    /// Whether it matches, and whether because its condition could not be evaluated: that counts as the strictest thing
    /// that the rule can do, so a rule that allows does not match then.
    pub(super) fn matches(&self, facts: &Facts<'_>) -> Option<bool> {
        let proposal = facts.proposal;
        let rule = &self.of;
        let tool = proposal.tool_ref();
        let fits = rule.class.is_none_or(|class| class == proposal.rules.class)
            && rule.tool.as_ref().is_none_or(|pattern| {
                matches_pattern(pattern, &tool) || matches_pattern(pattern, &proposal.tool)
            })
            && rule.tenant.as_ref().is_none_or(|tenant| *tenant == proposal.tenant)
            && rule.requester.is_none_or(|kind| kind == proposal.requester.kind)
            && (rule.environment.is_none() || rule.environment == facts.environment);
        if !fits {
            return None;
        }
        let allows = rule.verdict == RuleVerdict::Allow;
        match self.when.as_ref().map(|when| when.holds(&facts.named(allows))) {
            None | Some(Ok(true)) => Some(false),
            Some(Ok(false)) => None,
            Some(Err(_)) => (!allows).then_some(true),
        }
    }

    pub(super) fn decide_within(&self) -> Option<Millis> {
        self.of.decide_within.map(|within| Millis(millis(within)))
    }

    pub(super) fn execute_within(&self) -> Option<Millis> {
        self.of.execute_within.map(|within| Millis(millis(within)))
    }
}
