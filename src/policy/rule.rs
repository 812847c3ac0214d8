//! One rule: what it matches on.

use std::time::Duration;

use super::facts::{Facts, NAMES};
use crate::config::{ConfigError, ConfiguredRule, RuleVerdict};
use crate::contracts::Guard;
use crate::domain::Millis;
use crate::domain::pattern::matches_pattern;
use crate::ports::{Fit, RuleSaid};

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

/// What it says where it matches: `deny`, `allow`, `approve: 2 of crm`.
pub(super) fn says(rule: &Rule) -> String {
    let of = &rule.of;
    match (of.verdict, &of.group) {
        (RuleVerdict::Approve, Some(group)) => format!("approve: {} of {group}", of.count),
        (RuleVerdict::Approve, None) => format!("approve: {}", of.count),
        (RuleVerdict::Deny | RuleVerdict::Allow, _) => word_of(of.verdict).to_owned(),
    }
}

impl Rule {
    pub(super) fn compile(rule: &ConfiguredRule) -> Result<Rule, Box<ConfigError>> {
        let error = |message: String, help: String| {
            Box::new(ConfigError {
                code: "RULE",
                source: rule.place.source.clone(),
                line: rule.place.line,
                path: format!("{}.when", rule.place.path),
                message,
                help: Some(help),
            })
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

    /// Whether it matches. A condition that cannot be evaluated counts as the strictest thing that the rule can do, so a
    /// rule that allows does not match then.
    pub(super) fn fit(&self, facts: &Facts<'_>) -> Fit {
        if let Some(missed) = self.missed(facts) {
            return missed;
        }
        let allows = self.of.verdict == RuleVerdict::Allow;
        match self.when.as_ref().map(|when| when.holds(&facts.named(allows))) {
            None | Some(Ok(true)) => Fit::Matched,
            Some(Ok(false)) => Fit::ConditionFalse,
            Some(Err(_)) if allows => Fit::ConditionUndecided,
            Some(Err(_)) => Fit::MatchedByError,
        }
    }

    /// The first matcher that wants something else.
    fn missed(&self, facts: &Facts<'_>) -> Option<Fit> {
        let (rule, given) = (&self.of, facts.given);
        let tool = format!("{}.v{}", given.tool, given.version.split('.').next().unwrap_or_default());
        let fits_tool =
            |pattern: &str| matches_pattern(pattern, &tool) || matches_pattern(pattern, &given.tool);
        let missed = |matcher, wanted: &str, found: Option<&str>| {
            Some(Fit::Missed { matcher, wanted: wanted.to_owned(), found: found.map(str::to_owned) })
        };
        if let Some(class) = rule.class.filter(|class| *class != given.class) {
            return missed("class", class.as_str(), Some(given.class.as_str()));
        }
        if let Some(pattern) = rule.tool.as_deref().filter(|pattern| !fits_tool(pattern)) {
            return missed("tool", pattern, Some(&tool));
        }
        if let Some(tenant) = rule.tenant.as_deref().filter(|tenant| *tenant != given.tenant) {
            return missed("tenant", tenant, Some(&given.tenant));
        }
        if let Some(kind) = rule.requester.filter(|kind| *kind != given.requester.kind) {
            return missed("requester", kind.as_str(), Some(given.requester.kind.as_str()));
        }
        let environment = rule.environment.as_deref();
        let claimed = rule.verdict == RuleVerdict::Allow && facts.environment_is_claimed();
        if let Some(wanted) = environment.filter(|wanted| claimed || Some(*wanted) != facts.environment) {
            return missed("environment", wanted, facts.environment.filter(|_| !claimed));
        }
        None
    }

    /// What it has to do with these facts, in words of the port.
    pub(super) fn said(&self, fit: Fit) -> RuleSaid {
        RuleSaid {
            rule: self.of.name.clone(),
            says: says(self),
            tenant: self.of.tenant.clone(),
            condition: self.of.when.clone(),
            fit,
        }
    }

    pub(super) fn decide_within(&self) -> Option<Millis> {
        self.of.decide_within.map(|within| Millis(millis(within)))
    }

    pub(super) fn execute_within(&self) -> Option<Millis> {
        self.of.execute_within.map(|within| Millis(millis(within)))
    }
}
