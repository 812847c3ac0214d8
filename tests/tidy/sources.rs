//! Which files there are, and which of their lines are tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::lexer::{closed_at, code_only};

/// One file of the package.
pub(crate) struct Source {
    /// Relative to the root of the package, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Without comments, literals and the modules that are compiled for tests only.
    pub(crate) fn production(&self) -> String {
        let mut code = code_only(&self.text);
        while let Some(start) = code.find("#[cfg(test)]") {
            let rest = &code[start..];
            // What it stands before ends with a `;` (a module elsewhere, a use) or with its block.
            let end = match (rest.find('{'), rest.find(';')) {
                (Some(open), Some(end)) if open > end => start + end + 1,
                (None, Some(end)) => start + end + 1,
                (Some(open), _) => closed_at(&code, start + open),
                (None, None) => code.len(),
            };
            let blank: String = code[start..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            code.replace_range(start..end, &blank);
        }
        code
    }

    /// The module below `src/`: `engine` for `src/engine.rs` and everything in `src/engine/`.
    pub(crate) fn module(&self) -> &str {
        let inner = self.path.strip_prefix("src/").unwrap_or_default();
        inner.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }
}

/// The root of the package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.map(|entry| entry.expect("a readable directory")) {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn read(paths: Vec<PathBuf>) -> Vec<Source> {
    let mut sources: Vec<_> = paths
        .into_iter()
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let relative = path.strip_prefix(root()).expect("below the root");
            Some(Source { path: relative.to_str().expect("a name in UTF-8").replace('\\', "/"), text })
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// All Rust files below these directories.
pub(crate) fn rust(dirs: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    for dir in dirs {
        walk(&root().join(dir), &mut paths);
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let sources = read(paths);
    assert!(!sources.is_empty(), "no Rust files below {dirs:?}");
    sources
}

/// The files of `src/` that are compiled into the program. Which files are not, their parents say with `cfg(test)`.
pub(crate) fn production() -> Vec<Source> {
    let mut sources = rust(&["src"]);
    let tests: Vec<String> = sources.iter().flat_map(test_modules).collect();
    sources.retain(|source| {
        !tests
            .iter()
            .any(|test| source.path == format!("{test}.rs") || source.path.starts_with(&format!("{test}/")))
    });
    sources
}

/// The modules in files of their own that a file declares for tests only, as paths without `.rs`.
fn test_modules(source: &Source) -> Vec<String> {
    let stem = source.path.trim_end_matches(".rs");
    let dir = stem.strip_suffix("/mod").or(stem.strip_suffix("/lib")).unwrap_or(stem);
    let code = code_only(&source.text);
    let mut found = Vec::new();
    for part in code.split("#[cfg(test)]").skip(1) {
        let declaration = part.split([';', '{']).next().unwrap_or_default();
        let declared = part[declaration.len()..].starts_with(';');
        if let Some((_, name)) = declaration.rsplit_once("mod ").filter(|_| declared) {
            found.push(format!("{dir}/{}", name.trim()));
        }
    }
    found
}

/// Everything that people read or run: text files of the package, without what is built, stored or fetched.
pub(crate) fn everything() -> Vec<Source> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root()).expect("the root of the package") {
        let path = entry.expect("a readable directory").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match (path.is_dir(), name.as_str()) {
            (true, "target" | ".git" | "state") => {}
            (true, _) => walk(&path, &mut paths),
            // A worktree has a file there that names another directory.
            (false, ".git") => {}
            (false, _) => paths.push(path),
        }
    }
    walk(&root().join("state"), &mut paths);
    paths.retain(|path| !path.starts_with(root().join("state")) || path.ends_with("README.md"));
    read(paths)
}

#[test]
fn test_code_is_told_from_the_program() {
    let text =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { c::d() }\n}\n#[cfg(test)]\nuse e::f;\nfn g() {}\n";
    let source = Source { path: "src/x/mod.rs".to_owned(), text: text.to_owned() };
    let code = source.production();
    assert!(code.contains("fn a") && code.contains("fn g"), "{code}");
    assert!(!code.contains("fn b") && !code.contains("e::f"), "{code}");
    let text = "#[cfg(test)]\npub(crate) mod testing;\nmod other;\n#[cfg(test)]\nmod tests;\n";
    let source = Source { path: "src/x/mod.rs".to_owned(), text: text.to_owned() };
    assert_eq!(test_modules(&source), ["src/x/testing", "src/x/tests"]);
    assert_eq!((source.module(), production().is_empty()), ("x", false));
}
