//! `writd policy shadow NEW.toml`: what the table of another configuration would have said of stored operations, beside
//! what was asked of them. A report: nothing changes, nothing is sent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::api::wire::OperationDetail;
use crate::cli::client::Ask;
use crate::cli::commands::contracts::each_operation;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::config::{Config, Environment};
use crate::domain::Code;
use crate::domain::Digest;
use crate::domain::ids::OperationId;
use crate::domain::operation::{Compared, Needed, Requirement, Target, version_text};
use crate::policy::{Changed, Given, Table};

/// Say what another policy table would have said of stored operations. Nothing changes.
#[derive(Args, Debug)]
pub(crate) struct ShadowArgs {
    /// A configuration file with other [[policy]] rules
    #[arg(value_name = "NEW.toml")]
    new: PathBuf,
    /// Look at this many operations at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 500)]
    limit: usize,
}

/// One operation of which the other table says something else.
#[derive(Debug, Serialize)]
struct Different {
    operation: OperationId,
    tool: String,
    state: String,
    compared: Compared,
    asked: String,
    would_ask: String,
    rules: Vec<String>,
}

/// Everything that was found.
#[derive(Debug, Default, Serialize)]
struct Shadow {
    operations: usize,
    cut: bool,
    unreadable: u64,
    counts: BTreeMap<&'static str, usize>,
    different: Vec<Different>,
}

/// Judges each stored operation by the other table, at the time at which it was proposed.
pub(super) fn run(args: &ShadowArgs, context: &Context) -> Result<(), Failure> {
    let (config, _) = Config::load(Some(&args.new), &Environment::of_process()).map_err(Failure::Config)?;
    let table = Table::compile(&config.rules).map_err(Failure::Config)?;
    let client = context.client()?;
    let (mut found, limit) = (Vec::new(), args.limit.max(1));
    let unreadable = context.talk(each_operation(&client, "", |operation| {
        found.push(operation.id);
        found.len() < limit
    }))?;
    let mut shadow = Shadow {
        operations: found.len(),
        cut: found.len() >= limit,
        unreadable,
        counts: [Compared::Same, Compared::Weaker, Compared::Stricter, Compared::Denied]
            .map(|compared| (compared.as_str(), 0))
            .into(),
        different: Vec::new(),
    };
    for id in found {
        let path = format!("/v1/operations/{id}");
        let detail: OperationDetail = context.talk(async { Ok(client.ask(Ask::get(path)).await?) })?;
        one(&mut shadow, &detail, &table);
    }
    let answer = serde_json::json!({ "table": table.digest(), "shadow": shadow });
    context.output.answer(&answer, || page(&shadow, table.digest()))?;
    if shadow.different.is_empty() && unreadable == 0 { Ok(()) } else { Err(Failure::Told(Code::Conflict)) }
}

fn one(shadow: &mut Shadow, detail: &OperationDetail, table: &Table) {
    let ruling = table.judge_given(&given(detail));
    let known = known(detail);
    let compared = ruling.requirement.compared_with(&known);
    *shadow.counts.entry(compared.as_str()).or_default() += 1;
    if compared != Compared::Same {
        shadow.different.push(Different {
            operation: detail.summary.id,
            tool: detail.summary.tool.clone(),
            state: detail.summary.state.as_str().to_owned(),
            compared,
            asked: words(&known),
            would_ask: words(&ruling.requirement),
            rules: ruling.matched.iter().map(|matched| matched.rule.clone()).collect(),
        });
    }
}

/// The facts that the daemon shows of an operation: those that its own table was asked on.
fn given(detail: &OperationDetail) -> Given {
    let summary = &detail.summary;
    let value = |value: &Option<serde_json::Value>| value.clone().unwrap_or_default();
    let changed = |change: &crate::api::wire::ChangeView| Changed {
        field: change.pointer.clone(),
        before: value(&change.before),
        after: value(&change.after),
    };
    Given {
        class: summary.class,
        tool: summary.tool.clone(),
        version: summary.version.clone(),
        tenant: detail.tenant.clone(),
        requester: summary.requester.clone(),
        owner: detail.owner.clone(),
        on_behalf_of: summary.on_behalf_of.clone(),
        target: Target {
            kind: summary.target.kind.clone(),
            id: summary.target.id.clone(),
            scope: summary.target.scope.clone(),
            version: summary.target.version.as_ref().and_then(version_text),
        },
        args: detail.arguments.clone(),
        claims: detail.claims.clone(),
        changes: detail.changes.iter().map(changed).collect(),
        consequences: detail.consequences.clone(),
        run: summary.run.to_string(),
        purpose: detail.purpose.clone(),
        now: summary.created,
    }
}

/// What is asked of it, as it is shown.
fn known(detail: &OperationDetail) -> Requirement {
    let policy = &detail.policy;
    let needed =
        policy.needed.iter().map(|needed| Needed { group: needed.group.clone(), count: needed.count });
    Requirement {
        denied: policy.denied_by.clone(),
        needed: needed.collect(),
        assurance: policy.assurance,
        exclude: policy.excluded.clone(),
        reason_required: policy.reason_required,
        survive_transient: !policy.each_attempt,
    }
}

fn words(requirement: &Requirement) -> String {
    if let Some(rule) = &requirement.denied {
        return format!("denied by {rule}");
    }
    if requirement.needed.is_empty() {
        return "nobody".to_owned();
    }
    let needed: Vec<String> = requirement.needed.iter().map(ToString::to_string).collect();
    let mut words = format!("{} ({})", needed.join(" and "), requirement.assurance.as_str());
    if !requirement.exclude.is_empty() {
        words.push_str(&format!(", not {}", requirement.exclude.join(", not ")));
    }
    if requirement.reason_required {
        words.push_str(", with a reason");
    }
    if !requirement.survive_transient {
        words.push_str(", each attempt anew");
    }
    words
}

fn page(shadow: &Shadow, table: Digest) -> Paper {
    let mut page = Paper::new();
    page.field("table", &table.to_string());
    for (word, count) in &shadow.counts {
        page.field(word, &count.to_string());
    }
    for different in &shadow.different {
        let head = format!("{} {} ({})", different.operation, different.tool, different.state);
        page.heading(&safe(&head));
        page.styled_field("would be", Style::Warn, different.compared.as_str());
        page.field("asked", &safe(&different.asked));
        page.field("would ask", &safe(&different.would_ask));
        page.field("rules", &safe(&different.rules.join(", ")));
    }
    page.gap();
    let older = if shadow.cut { "; older ones were not looked at" } else { "" };
    let sum = format!("{} operations were looked at, nothing was changed{older}", shadow.operations);
    page.prose(Style::Plain, &sum);
    if shadow.unreadable > 0 {
        page.prose(Style::Warn, &format!("{} could not be read: run writd verify", shadow.unreadable));
    }
    page
}
