//! The table: what matches, what combines to what, and that order and spelling change nothing.

use super::*;
use crate::config::{RulePlace, RuleVerdict};
use crate::domain::operation::{Needed, Requirement, samples};
use crate::domain::principal::Assurance;
use crate::ports::Fit;

fn rule(name: &str, verdict: RuleVerdict) -> ConfiguredRule {
    ConfiguredRule {
        place: RulePlace { path: "policy[1]".to_owned(), line: Some(1), source: "daemon.toml".to_owned() },
        reason: (verdict == RuleVerdict::Deny).then(|| "not on a sample".to_owned()),
        ..ConfiguredRule::new(name, verdict)
    }
}

fn approve(name: &str, when: Option<&str>) -> ConfiguredRule {
    ConfiguredRule { when: when.map(str::to_owned), ..rule(name, RuleVerdict::Approve) }
}

fn allow(when: &str) -> ConfiguredRule {
    ConfiguredRule { when: Some(when.to_owned()), ..rule("allow", RuleVerdict::Allow) }
}

fn judge(rules: &[ConfiguredRule]) -> Ruling {
    judge_with(rules, |_| {})
}

fn judge_with(rules: &[ConfiguredRule], change: impl FnOnce(&mut Body)) -> Ruling {
    let mut body = samples::body();
    change(&mut body);
    // 2026-11-27 was a Friday.
    let now: Time = "2026-11-27T18:30:00Z".parse().unwrap();
    Table::compile(rules).unwrap().judge(&samples::proposal(samples::rules()), &body, now)
}

fn names(ruling: &Ruling) -> Vec<&str> {
    ruling.matched.iter().map(|matched| matched.rule.as_str()).collect()
}

#[test]
fn what_no_rule_matches_is_denied() {
    for rules in [vec![], vec![ConfiguredRule { tenant: Some("other".into()), ..approve("a", None) }]] {
        let ruling = judge(&rules);
        assert!(ruling.refused.is_some() && ruling.matched.is_empty(), "{ruling:?}");
        assert!(ruling.requirement.denied.is_some(), "nobody can approve it either");
    }
}

#[test]
fn every_matcher_must_fit() {
    let fits: [fn(&mut ConfiguredRule); 7] = [
        |rule| rule.class = Some(crate::domain::operation::WriteClass::Write),
        |rule| rule.tool = Some("commit_*.v2".into()),
        |rule| rule.tool = Some("commit_address_change".into()),
        |rule| rule.tenant = Some("acme".into()),
        |rule| rule.environment = Some("production".into()),
        |rule| rule.requester = Some(crate::domain::principal::PrincipalKind::Agent),
        |rule| rule.when = Some("args.customer_id == 'c-1'".into()),
    ];
    for change in fits {
        let mut one = approve("one", None);
        change(&mut one);
        assert_eq!(names(&judge(&[one.clone()])), ["one"], "{one:?}");
    }
    let misses: [fn(&mut ConfiguredRule); 7] = [
        |rule| rule.class = Some(crate::domain::operation::WriteClass::Draft),
        |rule| rule.tool = Some("commit_*.v1".into()),
        |rule| rule.tool = Some("commit".into()),
        |rule| rule.tenant = Some("other".into()),
        |rule| rule.environment = Some("test".into()),
        |rule| rule.requester = Some(crate::domain::principal::PrincipalKind::Service),
        |rule| rule.when = Some("args.customer_id == 'c-2'".into()),
    ];
    for change in misses {
        let mut one = approve("one", None);
        change(&mut one);
        assert!(judge(&[one.clone()]).refused.is_some(), "{one:?}");
    }
}

#[test]
fn conditions_see_the_stored_facts() {
    for holds in [
        "target.type == 'customer' && target.version == 7",
        "before.shipping_address.city == 'Basel'",
        "diff.exists(d, d.field == '/shipping_address/city' && d.after == 'Bern')",
        "consequences.affected_count <= 1 && size(consequences.recipients) == 0",
        "requester.kind == 'agent' && requester.owner == 'otto' && requester.on_behalf_of == 'carla'",
        "tool.name == 'commit_address_change' && tool.class == 'write'",
        "now.hour == 18 && now.weekday == 5 && now.date == '2026-11-27'",
        "run.purpose.contains('moved')",
    ] {
        assert_eq!(names(&judge(&[approve("one", Some(holds))])), ["one"], "{holds}");
        let not = format!("!({holds})");
        assert!(judge(&[approve("one", Some(&not))]).refused.is_some(), "{not}");
    }
}

#[test]
fn an_error_counts_as_the_strictest_thing_that_a_rule_can_do() {
    for broken in ["args.nothing > 1", "args.customer_id > 1", "args.customer_id", "1 / 0 == 1"] {
        let asked = judge(&[approve("one", Some(broken))]);
        assert!(asked.matched[0].by_error && asked.requirement.persons() == 1, "{broken}");
        let mut deny = rule("deny", RuleVerdict::Deny);
        deny.when = Some(broken.into());
        assert!(judge(&[approve("one", None), deny]).refused.is_some(), "{broken}");
        assert!(judge(&[allow(broken)]).refused.is_some(), "it allows nothing: {broken}");
    }
}

#[test]
fn a_claim_makes_nothing_easier() {
    let rules = [allow("args.destination.city == 'Bern'")];
    assert!(judge(&rules).refused.is_none());
    for claims in ["/destination/city", "/destination"] {
        let claimed = judge_with(&rules, |body| body.claims = vec![claims.to_owned()]);
        assert!(claimed.refused.is_some(), "{claims}");
    }
    // Neither does what the contract makes of one.
    for made in [
        "diff.exists(d, d.field == '/shipping_address/city' && d.after == 'Bern')",
        "consequences.affected_count == 1",
        "target.scope == 'c-1'",
        "target.id == 'c-1'",
    ] {
        assert!(judge(&[allow(made)]).refused.is_none(), "without claims it is seen: {made}");
        let claimed = judge_with(&[allow(made)], |body| body.claims = vec!["/destination/city".to_owned()]);
        assert!(claimed.refused.is_some(), "{made}");
    }
    let here = ConfiguredRule { environment: Some("production".into()), ..allow("true") };
    let said = |body: &mut Body| {
        body.arguments = r#"{"customer_id":"c-1","where":"production"}"#.into();
        body.claims = vec!["/where".to_owned()];
    };
    assert!(
        judge_with(std::slice::from_ref(&here), said).refused.is_some(),
        "the environment is what a claim says"
    );
    assert!(judge(&[here]).refused.is_none());
    let stricter = [approve("one", None), approve("two", Some("args.destination.city == 'Bern'"))];
    let claimed = judge_with(&stricter, |body| body.claims = vec!["/destination/city".to_owned()]);
    assert_eq!(names(&claimed), ["one", "two"], "it may make the policy stricter");
    let error = Table::compile(&[allow("run.purpose == 'urgent'")]).unwrap_err().remove(0);
    assert_eq!((error.path.as_str(), error.line), ("policy[1].when", Some(1)));
}

#[test]
fn the_strictest_of_everything_holds() {
    let first = ConfiguredRule {
        count: 2,
        group: Some("crm".into()),
        decide_within: Some(std::time::Duration::from_secs(60)),
        exclude: vec!["zoe".into()],
        ..approve("first", None)
    };
    let second = ConfiguredRule {
        group: Some("crm".into()),
        assurance: Assurance::Token,
        reason_required: true,
        execute_within: Some(std::time::Duration::from_secs(30)),
        ..approve("second", None)
    };
    let third = ConfiguredRule {
        group: Some("money".into()),
        survive_transient: false,
        decide_within: Some(std::time::Duration::from_secs(30)),
        exclude: vec!["bob".into(), "zoe".into()],
        ..approve("third", None)
    };
    let mut rules = vec![first, allow("true"), second, third];
    let ruling = judge(&rules);
    let needed = |group: &str, count| Needed { group: Some(group.into()), count };
    assert_eq!(
        ruling.requirement,
        Requirement {
            denied: None,
            needed: vec![needed("crm", 2), needed("money", 1)],
            assurance: Assurance::Token,
            exclude: vec!["bob".into(), "zoe".into()],
            reason_required: true,
            survive_transient: false,
        }
    );
    assert_eq!(ruling.decide_within, Some(crate::domain::Millis::secs(30)));
    assert_eq!(ruling.execute_within, Some(crate::domain::Millis::secs(30)));
    rules.reverse();
    let reversed = judge(&rules);
    assert_eq!((&reversed.requirement, reversed.version), (&ruling.requirement, ruling.version));
    rules.push(rule("never", RuleVerdict::Deny));
    let denied = judge(&rules);
    assert_eq!(denied.refused.map(|refused| refused.rule).as_deref(), Some("never"));
    assert_ne!(denied.version, ruling.version);
}

#[test]
fn every_rule_says_why_it_matches_or_not() {
    let mut rules = vec![
        rule("other-class", RuleVerdict::Deny),
        rule("other-tool", RuleVerdict::Deny),
        rule("other-tenant", RuleVerdict::Deny),
        rule("other-kind", RuleVerdict::Deny),
        rule("other-place", RuleVerdict::Deny),
        approve("false", Some("args.customer_id == 'nobody'")),
        approve("broken", Some("args.no_such_member == 1")),
        allow("args.no_such_member == 1"),
        approve("fits", None),
    ];
    rules[0].class = Some(crate::domain::operation::WriteClass::Draft);
    rules[1].tool = Some("set_*".into());
    rules[2].tenant = Some("other".into());
    rules[3].requester = Some(crate::domain::principal::PrincipalKind::Service);
    rules[4].environment = Some("test".into());
    let (proposal, body) = (samples::proposal(samples::rules()), samples::body());
    let now = Time::from_millis(0);
    let table = Table::compile(&rules).unwrap();
    let explained = table.explain(&proposal, &body, now);
    assert_eq!(explained.ruling, table.judge(&proposal, &body, now), "the same judgement");
    let missed = |matcher, wanted: &str, found: &str| Fit::Missed {
        matcher,
        wanted: wanted.to_owned(),
        found: Some(found.to_owned()),
    };
    let fits: Vec<Fit> = explained.rules.iter().map(|rule| rule.fit.clone()).collect();
    let wanted = [
        missed("class", "draft", "write"),
        missed("tool", "set_*", "commit_address_change.v2"),
        missed("tenant", "other", "acme"),
        missed("requester", "service", "agent"),
        missed("environment", "test", "production"),
        Fit::ConditionFalse,
        Fit::MatchedByError,
        Fit::ConditionUndecided,
        Fit::Matched,
    ];
    assert_eq!(fits, wanted);
    assert_eq!(names(&explained.ruling), ["broken", "fits"]);
    assert_eq!(explained.rules[5].condition.as_deref(), Some("args.customer_id == 'nobody'"));
}

#[test]
fn names_and_syntax_are_checked_at_load() {
    for (wrong, says) in [
        ("arg.customer_id == '1'", "`arg.customer_id` does not exist"),
        ("requester.role == 'x'", "`requester.role` does not exist"),
        ("args.", "is not a CEL expression"),
        ("args.a ==", "is not a CEL expression"),
    ] {
        let errors =
            Table::compile(&[approve("one", Some(wrong)), approve("two", Some("args.x"))]).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert!(errors[0].message.contains(says), "{wrong}: {}", errors[0].message);
    }
}
