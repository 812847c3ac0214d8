//! Which module may name which other one. The table is the architecture; `src/lib.rs` draws it.

use crate::lexer::{is_name, line_of};
use crate::nothing_found;
use crate::sources::{Source, production};

/// A module below `src/`, the paths that it may name, and why not more.
struct Arrow {
    from: &'static str,
    to: &'static [&'static str],
    why: &'static str,
}

const fn arrow(from: &'static str, to: &'static [&'static str], why: &'static str) -> Arrow {
    Arrow { from, to, why }
}

/// Everything that is not here is forbidden. A path allows what is below it; `!` before a path takes it out again.
const ARROWS: &[Arrow] = &[
    arrow("domain", &[], "the domain decides on values that it is given; it reaches nothing"),
    arrow("ports", &["domain"], "the traits of the outside speak of the domain only"),
    arrow("store", &["domain"], "the store keeps records; it does not know who writes them or why"),
    arrow(
        "engine",
        &["domain", "ports", "store", "!store::sled", "!store::faulty", "!store::lock"],
        "the engine sees the outside through ports and the store through its trait; engines of the store, adapters, \
         contracts and the API are given to it",
    ),
    arrow(
        "contracts",
        &["domain"],
        "contracts become values that the domain knows; they send and keep nothing",
    ),
    arrow(
        "policy",
        &["domain", "ports", "contracts", "config"],
        "the table is compiled from the configuration, with the expressions of contracts, for the engine's port",
    ),
    arrow(
        "kit",
        &["domain", "ports", "contracts"],
        "the kit asks through the ports that the daemon fills, and never in a way of its own",
    ),
    arrow("config", &["domain"], "the configuration is read by whoever composes"),
    arrow(
        "adapters",
        &["domain"],
        "an adapter performs one stored request; what it is for is not its business",
    ),
    arrow(
        "reconcile",
        &["domain", "ports", "engine", "store::records"],
        "reconcilers act through the engine's handle",
    ),
    arrow(
        "api",
        &["domain", "ports", "engine"],
        "the API translates; it reads and writes through the engine's handle",
    ),
    arrow("observe", &["config", "domain"], "logs are set up as the configuration says"),
    arrow(
        "daemon",
        &[
            "domain",
            "ports",
            "store",
            "engine",
            "contracts",
            "policy",
            "kit",
            "config",
            "adapters",
            "reconcile",
            "api",
            "observe",
        ],
        "the composition root names everything, except the command line that calls it",
    ),
    arrow(
        "cli",
        &[
            "domain",
            "config",
            "contracts",
            "kit",
            "policy",
            "daemon",
            "api::wire",
            "engine::StartError",
            "engine::system",
            "ports::Clock",
            "store",
            "!store::sled",
        ],
        "commands speak to the daemon over its socket in the wire types; offline commands maintain a store, at a \
         time that they read",
    ),
];

/// The paths behind `crate::` in a file, each with its place: `engine::Handle`, and for a group as far as it is the
/// same for all (`crate::{a::B, c}` gives both).
fn named(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if code[..at].ends_with(|c: char| is_name(c) || c == '$') {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(group) => found.extend(members(group).into_iter().map(|path| (at, path))),
            None => found.push((at, path(rest))),
        }
    }
    found
}

fn path(text: &str) -> String {
    let path: String = text.chars().take_while(|c| is_name(*c) || *c == ':').collect();
    path.trim_end_matches(':').to_owned()
}

fn members(group: &str) -> Vec<String> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(path(group[start..at].trim()));
                return found;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(path(group[start..at].trim()));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn is_below(path: &str, root: &str) -> bool {
    path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with("::"))
}

fn may(arrow: &Arrow, to: &str) -> bool {
    let taken_out = arrow.to.iter().filter_map(|path| path.strip_prefix('!')).any(|path| is_below(to, path));
    let allowed = is_below(to, arrow.from) || arrow.to.iter().any(|path| is_below(to, path));
    allowed && !taken_out
}

fn wrong(source: &Source, code: &str) -> Vec<String> {
    let Some(arrow) = ARROWS.iter().find(|arrow| arrow.from == source.module()) else {
        return vec![format!("{}: the module has no line in the table of arrows", source.path)];
    };
    let complaint = |(at, to): (usize, String)| {
        let allowed = if arrow.to.is_empty() { "nothing".to_owned() } else { arrow.to.join(", ") };
        let (line, from, why) = (line_of(code, at), arrow.from, arrow.why);
        format!("{}:{line}: {from} → {to}; {from} may name {allowed}: {why}", source.path)
    };
    let bad = named(code).into_iter().filter(|(_, to)| !to.is_empty() && !may(arrow, to));
    bad.map(complaint).collect()
}

#[test]
fn imports_point_down() {
    let mut findings = Vec::new();
    for source in production() {
        match source.path.as_str() {
            "src/lib.rs" => {}
            "src/main.rs" => {
                let code = source.production();
                for (at, _) in
                    code.match_indices("writd::").filter(|(at, _)| !code[*at..].starts_with("writd::cli"))
                {
                    let line = line_of(&code, at);
                    findings
                        .push(format!("src/main.rs:{line}: the program calls `writd::cli` and nothing else"));
                }
            }
            _ => findings.extend(wrong(&source, &source.production())),
        }
    }
    nothing_found(&findings);
}

#[test]
fn every_module_of_the_library_has_its_line() {
    let mut modules: Vec<_> = production().iter().map(|source| source.module().to_owned()).collect();
    modules.retain(|module| module != "lib" && module != "main");
    modules.dedup();
    let mut known: Vec<_> = ARROWS.iter().map(|arrow| arrow.from.to_owned()).collect();
    known.sort();
    assert_eq!(modules, known);
}

#[test]
fn a_wrong_arrow_is_seen() {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let cases = [
        ("src/domain/x.rs", "use crate::store::Key;", 1),
        ("src/domain/x.rs", "use crate::domain::Code; use super::y;", 0),
        ("src/engine/x.rs", "use crate::store::sled::SledStore;", 1),
        ("src/engine/x.rs", "use crate::{domain::Code, api::{Api, Peer}, store::Store, config};", 2),
        ("src/cli/x.rs", "use crate::api::wire::EventView; fn f() { crate::api::Api::new() }", 1),
        ("src/novel/x.rs", "", 1),
    ];
    for (path, text, expected) in cases {
        let source = source(path, text);
        let found = wrong(&source, &source.production());
        assert_eq!(found.len(), expected, "{text}: {found:?}");
    }
}
