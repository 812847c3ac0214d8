//! Combining all rules that match: the strictest of everything.

use std::collections::BTreeMap;

use super::rule::{Rule, says};
use crate::config::RuleVerdict;
use crate::domain::Digest;
use crate::domain::operation::{MatchedRule, Needed, Requirement};
use crate::ports::{Refused, Ruling};

/// What the rules that matched say together; each with whether it matched by an error only.
pub(super) fn combine(version: Digest, matched: Vec<(&Rule, bool)>) -> Ruling {
    let mut requirement = Requirement::of(0);
    let mut groups = BTreeMap::<Option<String>, u32>::new();
    let mut refused = None;
    let (mut decide_within, mut execute_within) = (None, None);
    let shorter = |known: &mut Option<_>, new: Option<_>| {
        *known = [*known, new].into_iter().flatten().min();
    };
    for (rule, _) in &matched {
        let of = &rule.of;
        shorter(&mut decide_within, rule.decide_within());
        shorter(&mut execute_within, rule.execute_within());
        match of.verdict {
            RuleVerdict::Allow => {}
            RuleVerdict::Deny => {
                let reason = of.reason.clone().unwrap_or_default();
                refused.get_or_insert(Refused { rule: of.name.clone(), reason });
            }
            RuleVerdict::Approve => {
                let count = groups.entry(of.group.clone()).or_default();
                *count = (*count).max(of.count);
                requirement.assurance = requirement.assurance.max(of.assurance);
                requirement.exclude.extend(of.exclude.iter().cloned());
                requirement.reason_required |= of.reason_required;
                requirement.survive_transient &= of.survive_transient;
            }
        }
    }
    if matched.is_empty() {
        refused = Some(Refused {
            rule: "(none)".to_owned(),
            reason: "no rule of the policy allows it or says who may approve it".to_owned(),
        });
    }
    requirement.exclude.sort();
    requirement.exclude.dedup();
    requirement.needed = groups.into_iter().map(|(group, count)| Needed { group, count }).collect();
    requirement.denied = refused.as_ref().map(|refused| refused.rule.clone());
    let matched = matched.into_iter().map(|(rule, by_error)| said(rule, by_error)).collect();
    Ruling { version, requirement, refused, decide_within, execute_within, matched }
}

fn said(rule: &Rule, by_error: bool) -> MatchedRule {
    MatchedRule { rule: rule.of.name.clone(), says: says(rule), by_error }
}
