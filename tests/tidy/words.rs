//! Words that may not stay in the sources, and the arms that would hide a new state.

use std::collections::BTreeSet;

use crate::lexer::{code_only, line_of};
use crate::nothing_found;
use crate::sources::{Source, everything, production, rust};

const DIRS: &[&str] = &["src", "tests", "examples", "benches"];

fn find(source: &Source, text: &str, word: &str, message: &str) -> Vec<String> {
    let line = |(at, _)| format!("{}:{}: {message}", source.path, line_of(text, at));
    text.match_indices(word).map(line).collect()
}

#[test]
fn nothing_is_left_for_later() {
    let mut findings = Vec::new();
    for source in rust(DIRS) {
        let code = code_only(&source.text);
        findings.extend(find(&source, &code, "todo!", "`todo!`: finish it, or refuse with a code"));
        findings.extend(find(
            &source,
            &code,
            "unimplemented!",
            "`unimplemented!`: finish it, or refuse with a code",
        ));
        let silent = "`#[ignore]` without a reason: write `#[ignore = \"why, and how it is run\"]`";
        findings.extend(find(&source, &code, "#[ignore]", silent));
        // The words are put together so that this file does not find itself.
        for word in [concat!("FIX", "ME"), concat!("TO", "DO")] {
            findings.extend(find(&source, &source.text, word, "a note to oneself: do it, or file it"));
        }
    }
    nothing_found(&findings);
}

#[test]
fn no_wildcard_arm_hides_a_state() {
    let mut findings = Vec::new();
    for source in production().iter().filter(|source| source.path.starts_with("src/domain/operation/")) {
        let code = source.production();
        let message =
            "a wildcard arm; name every case, so that a new one does not compile until it is decided";
        findings.extend(find(source, &code, " _ =>", message));
        findings.extend(find(source, &code, " _ if ", message));
    }
    // The textual check sees the plain form; the lint sees what is matched on.
    let lint = production().into_iter().any(|source| {
        source.path == "src/domain/mod.rs"
            && source.text.contains("#![warn(clippy::wildcard_enum_match_arm)]")
    });
    if !lint {
        findings.push("src/domain/mod.rs: the lint `clippy::wildcard_enum_match_arm` is off".to_owned());
    }
    nothing_found(&findings);
}

#[test]
fn no_test_file_is_forgotten() {
    let sources = rust(&["tests", "src"]);
    let paths: BTreeSet<_> = sources.iter().map(|source| source.path.as_str()).collect();
    let mut reached: BTreeSet<String> =
        ["tests/integration/main.rs", "tests/tidy/main.rs", "src/lib.rs", "src/main.rs"]
            .map(str::to_owned)
            .into();
    let mut open: Vec<String> = reached.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let source = sources.iter().find(|source| source.path == path).expect("a file that was found");
        for child in declared(source).into_iter().filter(|child| paths.contains(child.as_str())) {
            if reached.insert(child.clone()) {
                open.push(child);
            }
        }
    }
    let forgotten = paths.iter().filter(|path| !reached.contains(**path));
    nothing_found(
        &forgotten
            .map(|path| format!("{path}: no `mod` leads to it, so it is not compiled"))
            .collect::<Vec<_>>(),
    );
}

/// The files that the `mod` lines of a file may mean.
fn declared(source: &Source) -> Vec<String> {
    let stem = source.path.trim_end_matches(".rs");
    let dir = ["/mod", "/lib", "/main"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
    let code = code_only(&source.text);
    let names =
        code.split("mod ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(name, _)| name.trim());
    names.flat_map(|name| [format!("{dir}/{name}.rs"), format!("{dir}/{name}/mod.rs")]).collect()
}

#[test]
fn no_machine_stands_in_a_file() {
    // Put together, so that this file does not find itself.
    let places =
        [concat!("/wo", "rk/"), concat!("/tmp/w", "t/"), concat!("/ro", "ot/"), concat!("/hom", "e/")];
    let mut findings = Vec::new();
    for source in everything() {
        for place in places {
            findings.extend(find(&source, &source.text, place, "the path of one machine"));
        }
    }
    nothing_found(&findings);
}
