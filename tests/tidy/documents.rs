//! Documents: links lead somewhere, and what the failure contract names exists.

use std::collections::BTreeSet;

use crate::lexer::{code_only, is_name};
use crate::nothing_found;
use crate::sources::{Source, everything, root, rust};

/// Lines of the README: what a newcomer reads before trying.
const README: usize = 130;

fn markdown() -> Vec<Source> {
    let mut pages = everything();
    pages.retain(|source| source.path.ends_with(".md"));
    pages
}

/// The targets of the links of a page, without those inside code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Every second part stands between backticks.
        for part in line.split('`').step_by(2) {
            found.extend(
                part.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned),
            );
        }
    }
    // A link whose text is code is cut at its backticks; its target still follows a `](`.
    for line in text.lines().filter(|line| line.contains("`](")) {
        found.extend(line.split("`](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned));
    }
    found
}

/// The anchors of a page: each heading in lower case, with hyphens for spaces, without punctuation.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut findings = Vec::new();
    for page in markdown() {
        for link in links(&page.text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let here = root().join(&page.path);
            let target =
                if file.is_empty() { here } else { here.parent().expect("below the root").join(file) };
            if !target.exists() {
                findings.push(format!("{}: the link `{link}` leads nowhere", page.path));
            } else if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap_or_default();
                if !anchors(&text).contains(anchor) {
                    findings.push(format!("{}: `{link}`: the page has no such heading", page.path));
                }
            }
        }
    }
    nothing_found(&findings);
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_readme_stays_short() {
    let lines = page("README.md").lines().count();
    assert!(lines <= README, "README.md has {lines} lines; what is more belongs into docs/");
}

/// All functions under test in the sources.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in rust(&["src", "tests"]) {
        let code = code_only(&source.text);
        let marks = code.match_indices("#[test]").chain(code.match_indices("#[tokio::test"));
        for (at, _) in marks {
            let name = code[at..].split_once("fn ").map(|(_, rest)| rest).unwrap_or_default();
            found.insert(name.chars().take_while(|c| is_name(*c)).collect());
        }
        // Cases of proptest are functions inside its macro.
        for block in code.split("proptest!").skip(1) {
            for rest in block.split("fn ").skip(1) {
                found.insert(rest.chars().take_while(|c| is_name(*c)).collect());
            }
        }
    }
    found
}

/// The last cells of the rows of the tables of a page, each with the first.
fn rows(text: &str) -> Vec<(String, String)> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    rows.filter_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        Some(((*cells.first()?).to_owned(), (*cells.last()?).to_owned()))
    })
    .collect()
}

#[test]
fn the_failure_contract_names_tests_that_exist() {
    let tests = tests();
    let mut findings = Vec::new();
    for (first, last) in rows(&page("docs/guarantees.md")) {
        if first == "what" {
            continue;
        }
        let names: Vec<_> = last.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            findings.push(format!("docs/guarantees.md: the line `{first}` names no test"));
        }
        for name in names.iter().filter(|name| !tests.contains(**name)) {
            findings.push(format!("docs/guarantees.md: `{first}`: there is no test `{name}`"));
        }
    }
    nothing_found(&findings);
}

#[test]
fn the_failure_contract_has_a_line_for_every_guarantee_and_every_fail_point() {
    let source = page("src/engine/failpoint.rs");
    let list =
        source.split_once("pub const POINTS").and_then(|(_, rest)| rest.split_once(';')?.1.split_once(';'));
    let points: Vec<_> = list.expect("the list of fail points").0.split('"').skip(1).step_by(2).collect();
    assert!(points.contains(&"P1") && points.len() >= 6, "{points:?}");
    let rows = rows(&page("docs/guarantees.md"));
    let wanted = points.into_iter().chain(["G1", "G2", "G3", "G4", "G5", "G6", "G7"]);
    let has = |name: &str| rows.iter().any(|(first, _)| first.split(' ').next() == Some(name));
    nothing_found(
        &wanted.filter(|name| !has(name)).map(|name| format!("no line for {name}")).collect::<Vec<_>>(),
    );
}

#[test]
fn links_and_anchors_are_found() {
    let text = "see [a](b.md#c-d) and `[x](no)` and [`e`](f)\n```\n[g](h)\n```\n# C: d\n";
    assert_eq!(links(text), ["b.md#c-d", "f", "f"]);
    assert!(anchors(text).contains("c-d"));
}

/// How the reader of contracts asks for a key; the name follows in quotes.
const ASKS: [&str; 9] =
    [".object(", ".text(", ".texts(", ".parsed(", ".one_of(", ".count(", ".items(", ".entries(", ".get("];

#[test]
fn every_key_of_a_contract_is_documented() {
    let page = page("docs/contracts.md");
    let words: BTreeSet<&str> = page.split(|c: char| !is_name(c)).filter(|word| !word.is_empty()).collect();
    let mut findings = Vec::new();
    let mut count = 0;
    for source in rust(&["src/contracts/resolve", "src/contracts/cases"]) {
        for ask in ASKS {
            for rest in source.text.split(ask).skip(1) {
                let Some(key) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                    continue;
                };
                count += 1;
                if !words.contains(key) {
                    findings.push(format!("docs/contracts.md does not name `{key}` ({})", source.path));
                }
            }
        }
    }
    assert!(count > 60, "only {count} keys were found");
    nothing_found(&findings);
}
