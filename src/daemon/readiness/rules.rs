//! The policy table: what it lets through, and whether it can be satisfied.

use std::collections::BTreeSet;

use super::people::having;
use super::{Gap, Look, Report};
use crate::config::{Config, ConfiguredPrincipal, ConfiguredRule, RuleVerdict};
use crate::domain::operation::WriteClass;
use crate::domain::pattern::matches_pattern;
use crate::domain::principal::{Assurance, Role};
use crate::policy::cases::DEFAULT_CASES;

fn is_for_writes(rule: &ConfiguredRule) -> bool {
    rule.class.is_none_or(|class| class == WriteClass::Write)
}

pub(super) fn check(look: Look<'_>, report: &mut Report) {
    for rule in &look.config.rules {
        let place = match &rule.place.line {
            Some(line) => format!("{}:{line}: rule {}", rule.place.source, rule.name),
            None => format!("rule {}", rule.name),
        };
        match rule.verdict {
            RuleVerdict::Allow if is_for_writes(rule) => allowed(rule, &place, report),
            RuleVerdict::Approve => {
                if is_for_writes(rule) && rule.assurance == Assurance::LocalUid {
                    report.add(
                        Gap::WeakAssurance,
                        &place,
                        "whoever has the account of an approver can approve: an agent under it, too",
                        "set assurance = \"token\" or \"console\"",
                    );
                }
                approvers(look.config, rule, &place, report);
            }
            RuleVerdict::Allow | RuleVerdict::Deny => {}
        }
        let fits = |pattern: &str| {
            look.catalog.list().any(|contract| {
                let tool = contract.tool_ref();
                matches_pattern(pattern, &tool.to_string()) || matches_pattern(pattern, &tool.name)
            })
        };
        if rule.tool.as_deref().is_some_and(|pattern| !fits(pattern)) {
            let meaning = "its pattern fits no contract: it decides nothing";
            report.add(Gap::RuleWithoutTool, &place, meaning, "mend the pattern, or remove the rule");
        }
    }
    let decides = |rule: &&ConfiguredRule| is_for_writes(rule) && rule.verdict != RuleVerdict::Deny;
    if !look.config.rules.iter().any(|rule| decides(&rule)) {
        let meaning = "no rule asks for approvals of writes: every write is denied";
        report.add(Gap::NoRuleForWrites, "policy", meaning, "add a rule with verdict = \"approve\"");
    }
    cases(look, report);
}

fn allowed(rule: &ConfiguredRule, place: &str, report: &mut Report) {
    if rule.tool.is_some() || rule.when.is_some() {
        let meaning = "writes that it matches need no approval, where no other rule asks for one";
        let remedy = "make sure of it with cases: writd policy test";
        report.add(Gap::AllowsSomeWrites, place, meaning, remedy);
    } else {
        report.add(
            Gap::AllowsWrites,
            place,
            "it allows class \"write\" without an approval, for every tool",
            "say class = \"draft\" or verdict = \"approve\", or narrow it by tool or when",
        );
    }
}

/// Persons who can approve by a rule what this agent proposes.
fn persons<'c>(config: &'c Config, rule: &ConfiguredRule, agent: &ConfiguredPrincipal) -> BTreeSet<&'c str> {
    let can = |known: &&ConfiguredPrincipal| {
        known.tenant == agent.tenant
            && known.person != agent.person
            && Some(&known.person) != agent.owner.as_ref()
            && rule.group.as_ref().is_none_or(|group| known.groups.contains(group))
            && !rule.exclude.iter().any(|who| *who == known.name || *who == known.person)
    };
    having(config, Role::Approver).filter(can).map(|known| known.person.as_str()).collect()
}

fn approvers(config: &Config, rule: &ConfiguredRule, place: &str, report: &mut Report) {
    let concerned = having(config, Role::Agent).filter(|agent| {
        rule.tenant.as_ref().is_none_or(|tenant| *tenant == agent.tenant)
            && rule.requester.is_none_or(|kind| kind == agent.kind)
    });
    let (mut few, mut just) = (Vec::new(), Vec::new());
    for agent in concerned {
        match persons(config, rule, agent).len().cmp(&(rule.count as usize)) {
            std::cmp::Ordering::Less => few.push(agent.name.as_str()),
            std::cmp::Ordering::Equal => just.push(agent.name.as_str()),
            std::cmp::Ordering::Greater => {}
        }
    }
    let asked = rule.group.as_ref().map_or_else(String::new, |group| format!(" of {group}"));
    if !few.is_empty() {
        report.add(
            Gap::TooFewApprovers,
            place,
            format!(
                "it asks for {}{asked}; fewer persons can approve writes of {}",
                rule.count,
                few.join(", ")
            ),
            "give more persons the role \"approver\" and the group; owners of an agent do not count",
        );
    }
    if !just.is_empty() {
        report.add(
            Gap::NoSpareApprover,
            place,
            format!("exactly as many persons as it asks for can approve writes of {}", just.join(", ")),
            "one more person, for when one of them is away",
        );
    }
}

fn cases(look: Look<'_>, report: &mut Report) {
    let Some(folder) = look.file.and_then(std::path::Path::parent) else { return };
    let path = folder.join(DEFAULT_CASES);
    if !path.exists() {
        let meaning = "nothing holds the table to what it must say";
        let remedy = "write cases, and run: writd policy test";
        report.add(Gap::NoPolicyCases, path.display().to_string(), meaning, remedy);
    }
}
