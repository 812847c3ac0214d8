//! `[[budget]]`: how much of something may be written in a span of time.

use std::collections::BTreeSet;

use toml::de::DeTable;

use super::lists::Placed;
use super::raw::{Reader, Refusal, Section};
use super::sections::{choice, number, text};
use super::values;
use crate::domain::Millis;
use crate::domain::budget::{Budget, Per};

const PER: [(&str, Per); 3] = [("tenant", Per::Tenant), ("requester", Per::Requester), ("run", Per::Run)];

/// All `[[budget]]`; none by default.
pub(super) fn budgets<'a>(reader: &mut Reader<'a>, document: &'a DeTable<'a>) -> Vec<Placed<Budget>> {
    let read = |section: &mut Section<'_, 'a>| {
        let name = section.require("name", text(values::name));
        let tool = section.get("tool", text(values::tool_pattern));
        let argument = section.get("argument", text(pointer));
        let window = section.require("window", text(values::duration));
        let max = section.require("max", number(1..=usize::try_from(1u64 << 53).unwrap_or(usize::MAX)));
        let per = section.get("per", choice(&PER));
        let window = window?.as_millis();
        let value = Budget {
            name: name?,
            tool: tool.unwrap_or_else(|| "*".to_owned()),
            argument,
            window: Millis(u64::try_from(window).unwrap_or(u64::MAX)),
            max: u64::try_from(max?).unwrap_or(u64::MAX),
            per: per.unwrap_or(Per::Tenant),
        };
        Some(Placed { value, path: section.path_of("name"), line: section.line_of("name") })
    };
    reader.list(document, "budget", read).unwrap_or_default().into_iter().flatten().collect()
}

fn pointer(text: &str) -> Result<String, &'static str> {
    let fits = text.starts_with('/') && text.len() <= 256 && !text.ends_with('~');
    if fits { Ok(text.to_owned()) } else { Err("expected a JSON pointer, such as \"/amount_cents\"") }
}

/// Names are what refusals say.
pub(super) fn check(reader: &mut Reader<'_>, budgets: &[Placed<Budget>]) {
    let mut names = BTreeSet::new();
    for Placed { value, path, line } in budgets {
        if !names.insert(value.name.as_str()) {
            let message = "another budget has this name".to_owned();
            let help = Some("choose another name".to_owned());
            reader.refuse(*line, path.clone(), Refusal { code: "RULE", message, help });
        }
    }
}
