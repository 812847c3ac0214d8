//! `[[policy]]`: the rules of the policy table, entry by entry. Their conditions are compiled by whoever evaluates them.

use std::collections::BTreeSet;
use std::time::Duration;

use toml::de::DeTable;

use super::lists::{Placed, elements, group};
use super::raw::{Reader, Refusal, Section};
use super::sections::{choice, flag, number, text};
use super::{ConfiguredPrincipal, values};
use crate::domain::operation::WriteClass;
use crate::domain::principal::{Assurance, PrincipalKind, Role};

/// More persons than this and nothing is ever approved.
const MAX_COUNT: usize = 16;
/// More rules than this are a program, and nobody can say what they allow.
const MAX_RULES: usize = 256;

const VERDICTS: [(&str, RuleVerdict); 3] =
    [("deny", RuleVerdict::Deny), ("approve", RuleVerdict::Approve), ("allow", RuleVerdict::Allow)];
const CLASSES: [(&str, WriteClass); 2] = [("draft", WriteClass::Draft), ("write", WriteClass::Write)];
const ASSURANCES: [(&str, Assurance); 3] =
    [("local_uid", Assurance::LocalUid), ("token", Assurance::Token), ("console", Assurance::Console)];

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleVerdict {
    /// Nobody may do it.
    Deny,
    /// Somebody has to approve it.
    Approve,
    /// It needs no approval.
    Allow,
}

/// Where a rule stands. It says nothing about what the rule says: all places are equal.
#[derive(Clone, Eq, Debug)]
pub struct RulePlace {
    /// `policy[2]`.
    pub path: String,
    /// Its line.
    pub line: Option<usize>,
    /// The file.
    pub source: String,
}

impl PartialEq for RulePlace {
    fn eq(&self, _: &RulePlace) -> bool {
        true
    }
}

/// `[[policy]]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredRule {
    /// Unique; what the journal records.
    pub name: String,
    /// Where it stands.
    pub place: RulePlace,
    /// What it says.
    pub verdict: RuleVerdict,
    /// Drafts or writes; both when none.
    pub class: Option<WriteClass>,
    /// `name.vMAJOR`, with `*` for any text.
    pub tool: Option<String>,
    /// A tenant.
    pub tenant: Option<String>,
    /// What the contract's consequences call `environment`.
    pub environment: Option<String>,
    /// The requester's kind.
    pub requester: Option<PrincipalKind>,
    /// One CEL expression.
    pub when: Option<String>,
    /// Why it is denied.
    pub reason: Option<String>,
    /// Distinct persons.
    pub count: u32,
    /// Whose approval; any approver's when none.
    pub group: Option<String>,
    /// How surely approvers must be known.
    pub assurance: Assurance,
    /// Who cannot approve.
    pub exclude: Vec<String>,
    /// Bound of the time to decide.
    pub decide_within: Option<Duration>,
    /// Bound of the time from the approval to the execution.
    pub execute_within: Option<Duration>,
    /// An approval needs a reason.
    pub reason_required: bool,
    /// Later attempts run under the same approvals.
    pub survive_transient: bool,
}

impl ConfiguredRule {
    /// A rule that matches everything, and asks one approver where it asks.
    #[must_use]
    pub fn new(name: &str, verdict: RuleVerdict) -> ConfiguredRule {
        ConfiguredRule {
            name: name.to_owned(),
            place: RulePlace { path: "policy".to_owned(), line: None, source: "defaults".to_owned() },
            verdict,
            class: None,
            tool: None,
            tenant: None,
            environment: None,
            requester: None,
            when: None,
            reason: None,
            count: 1,
            group: None,
            assurance: Assurance::LocalUid,
            exclude: Vec::new(),
            decide_within: None,
            execute_within: None,
            reason_required: false,
            survive_transient: true,
        }
    }
}

/// All `[[policy]]`; none if the file has no such list.
pub(super) fn rules<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Option<Vec<ConfiguredRule>> {
    let source = reader.file_label().to_owned();
    let rules = reader.list(document, "policy", |section| rule(section, &source))?;
    Some(rules.into_iter().flatten().collect())
}

fn rule(section: &mut Section<'_, '_>, source: &str) -> Option<ConfiguredRule> {
    let name = section.require("name", text(values::name));
    let verdict = section.require("verdict", choice(&VERDICTS));
    let class = section.get("class", choice(&CLASSES));
    let tool = section.get("tool", text(values::tool_pattern));
    let tenant = section.get("tenant", text(values::name));
    let environment = section.get("environment", text(words));
    let requester = section.get("requester", choice(&super::lists::KINDS));
    let when = section.get("when", text(words));
    let reason = section.get("reason", text(words));
    let count = section.get("count", number(1..=MAX_COUNT));
    let of_group = section.get("group", text(values::name));
    let assurance = section.get("assurance", choice(&ASSURANCES));
    let exclude = section.get("exclude", |given| elements(given, "a list of names", group));
    let decide_within = section.get("decide_within", text(values::duration));
    let execute_within = section.get("execute_within", text(values::duration));
    let reason_required = section.get("reason_required", flag);
    let survive_transient = section.get("survive_transient", flag);
    let asks = [
        ("count", count.is_some()),
        ("group", of_group.is_some()),
        ("assurance", assurance.is_some()),
        ("exclude", exclude.is_some()),
        ("reason_required", reason_required.is_some()),
        ("survive_transient", survive_transient.is_some()),
    ];
    let rule = ConfiguredRule {
        name: name?,
        place: RulePlace {
            path: section.path_of("name").trim_end_matches(".name").to_owned(),
            line: section.line_of("name"),
            source: source.to_owned(),
        },
        verdict: verdict?,
        class,
        tool,
        tenant,
        environment,
        requester,
        when,
        reason,
        count: count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1),
        group: of_group,
        assurance: assurance.unwrap_or(Assurance::LocalUid),
        exclude: exclude.unwrap_or_default(),
        decide_within,
        execute_within,
        reason_required: reason_required.unwrap_or(false),
        survive_transient: survive_transient.unwrap_or(true),
    };
    let useless = asks.into_iter().find(|(_, given)| *given && rule.verdict != RuleVerdict::Approve);
    if let Some((key, _)) = useless {
        let message = format!("`{key}` has a meaning for verdict = \"approve\" only");
        section.refuse_at(key, Refusal { code: "RULE", message, help: Some("remove it".to_owned()) });
    }
    if rule.verdict == RuleVerdict::Deny && rule.reason.is_none() {
        let message = "a rule that denies needs a reason: it is what the requester is told".to_owned();
        section.refuse_at("verdict", Refusal { code: "RULE", message, help: Some("add reason".to_owned()) });
    }
    Some(rule)
}

fn words(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() || text.len() > 512 {
        return Err("expected a text of 1 to 512 bytes");
    }
    Ok(text.to_owned())
}

/// The rules between the rules.
pub(super) fn check(
    reader: &mut Reader<'_>,
    rules: &[ConfiguredRule],
    principals: &[Placed<ConfiguredPrincipal>],
) {
    let refusal = |message: &str, help: &str| Refusal {
        code: "RULE",
        message: message.to_owned(),
        help: Some(help.to_owned()),
    };
    if rules.len() > MAX_RULES {
        let message = format!("there are more than {MAX_RULES} rules");
        reader.refuse(None, "policy", refusal(&message, "say it with fewer rules"));
    }
    let mut names = BTreeSet::new();
    for rule in rules {
        if !names.insert(rule.name.as_str()) {
            let refusal = refusal("another rule has this name", "names are what the journal records");
            reader.refuse(rule.place.line, format!("{}.name", rule.place.path), refusal);
        }
        let may_approve = |placed: &&Placed<ConfiguredPrincipal>| {
            placed.value.roles.contains(&Role::Approver)
                && rule.group.as_ref().is_none_or(|group| placed.value.groups.contains(group))
                && !rule.exclude.iter().any(|who| *who == placed.value.name || *who == placed.value.person)
        };
        let persons: BTreeSet<&str> =
            principals.iter().filter(may_approve).map(|placed| placed.value.person.as_str()).collect();
        if rule.verdict == RuleVerdict::Approve && persons.len() < rule.count as usize {
            let message = "fewer persons than it asks for can approve by this rule".to_owned();
            let help = Some("add the group to principals with the role \"approver\"".to_owned());
            let warning = Refusal { code: "TOO_FEW_APPROVERS", message, help };
            reader.warn(rule.place.line, rule.place.path.clone(), warning);
        }
    }
}

/// What is used without any `[[policy]]`: a person approves every write, drafts need nobody.
pub(super) fn shipped() -> Vec<ConfiguredRule> {
    let one =
        |name, class, verdict| ConfiguredRule { class: Some(class), ..ConfiguredRule::new(name, verdict) };
    vec![
        one("writes-need-a-person", WriteClass::Write, RuleVerdict::Approve),
        one("drafts-need-nobody", WriteClass::Draft, RuleVerdict::Allow),
    ]
}
