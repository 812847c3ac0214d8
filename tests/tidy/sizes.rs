//! Files have one subject and functions fit on a screen.

use crate::lexer::{closed_at, code_only, is_name, line_of};
use crate::nothing_found;
use crate::sources::{Source, rust};

/// Lines of a file: what can be read at one sitting.
const FILE: usize = 400;
/// Lines of a function, with its signature: what can be seen at once.
const FUNCTION: usize = 70;

/// Files that are longer, with the most lines that they may have. May shrink, never grow.
const LONGER_FILES: &[(&str, usize)] = &[];

/// Functions that are longer (`path::name`), with the most lines that they may have. May shrink, never grow.
const LONGER_FUNCTIONS: &[(&str, usize)] = &[];

const DIRS: &[&str] = &["src", "tests", "examples", "benches"];

/// Compares what there is with a limit and its exceptions.
fn over(found: &[(String, usize)], limit: usize, ratchet: &[(&str, usize)]) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, lines) in found.iter().filter(|(_, lines)| *lines > limit) {
        match ratchet.iter().find(|(known, _)| known == name) {
            Some((_, most)) if lines <= most => {}
            Some((_, most)) => {
                findings.push(format!("{name}: {lines} lines; it may shrink below {most}, not grow"))
            }
            None => findings.push(format!("{name}: {lines} lines; the limit is {limit}")),
        }
    }
    for (known, most) in ratchet {
        match found.iter().find(|(name, _)| name == known) {
            Some((_, lines)) if lines > &limit && lines == most => {}
            Some((_, lines)) if lines > &limit && lines < most => {
                findings.push(format!("{known}: {lines} lines now; lower its exception from {most}"));
            }
            Some((_, lines)) if lines > most => {}
            _ => findings
                .push(format!("{known}: not longer than {limit} lines any more; remove its exception")),
        }
    }
    findings
}

/// The functions of a file with their lines.
fn functions(source: &Source) -> Vec<(String, usize)> {
    let code = code_only(&source.text);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(is_name) {
            continue;
        }
        let name: String = code[at + 3..].chars().take_while(|c| is_name(*c)).collect();
        // A declaration without a body, or the type of a pointer.
        let Some(open) = body(&code[at..]).filter(|_| !name.is_empty()) else { continue };
        let end = closed_at(&code, at + open);
        let lines = line_of(&code, end) - line_of(&code, at) + 1;
        found.push((format!("{}::{name}", source.path), lines));
    }
    found
}

/// Where the body of a function opens.
fn body(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[test]
fn files_have_one_subject() {
    let files: Vec<_> =
        rust(DIRS).iter().map(|source| (source.path.clone(), source.text.lines().count())).collect();
    nothing_found(&over(&files, FILE, LONGER_FILES));
}

#[test]
fn functions_fit_on_a_screen() {
    let all: Vec<_> = rust(DIRS).iter().flat_map(functions).collect();
    assert!(all.len() > 1_000, "only {} functions were found", all.len());
    nothing_found(&over(&all, FUNCTION, LONGER_FUNCTIONS));
}

#[test]
fn lengths_are_counted_and_the_ratchet_holds() {
    let text = "fn a(x: [u8; 3]) -> u8 {\n  let s = \"}\";\n  1\n}\ntrait T { fn b(&self); fn c() {\n} }\ntype F = fn (u8);\n";
    let source = Source { path: "x.rs".to_owned(), text: text.to_owned() };
    assert_eq!(functions(&source), [("x.rs::a".to_owned(), 4), ("x.rs::c".to_owned(), 2)]);
    let found = [("a".to_owned(), 9), ("b".to_owned(), 12), ("c".to_owned(), 5)];
    assert_eq!(over(&found, 9, &[("b", 12)]).len(), 0);
    assert_eq!(over(&found, 9, &[]).len(), 1, "too long");
    assert_eq!(over(&found, 9, &[("b", 11)]).len(), 1, "grown");
    assert_eq!(over(&found, 9, &[("b", 13)]).len(), 1, "shrunk");
    assert_eq!(over(&found, 9, &[("b", 12), ("c", 5)]).len(), 1, "not needed");
    assert_eq!(over(&found, 9, &[("b", 12), ("gone", 50)]).len(), 1, "gone");
}
