//! Which modules may name which library. A library that is named in one place can be exchanged in one place.

use crate::lexer::{is_name, line_of};
use crate::nothing_found;
use crate::sources::{Source, production, root};

/// The demonstration sets up a world of its own: it writes a configuration and speaks to the sandbox.
const DEMO: &str = "src/cli/commands/demo/stage";

/// The library as code names it, and the paths that may.
const OWNERS: &[(&str, &[&str])] = &[
    ("sled", &["src/store/sled"]),
    ("bincode", &["src/store/codec.rs"]),
    ("crc32c", &["src/store/frame.rs"]),
    ("axum", &["src/api"]),
    ("hyper", &["src/adapters/http", "src/api", "src/cli/client", DEMO]),
    ("hyper_util", &["src/adapters/http", "src/api/server.rs", "src/cli/client", DEMO]),
    ("http_body_util", &["src/adapters/http", "src/api", "src/cli/client", DEMO]),
    ("tokio_rustls", &["src/adapters/http", "src/api/network.rs"]),
    ("rustls_native_certs", &["src/adapters/http"]),
    (
        "tokio",
        &["src/adapters", "src/api", "src/cli", "src/daemon", "src/engine", "src/kit", "src/reconcile"],
    ),
    ("tokio_util", &["src/adapters", "src/api", "src/cli", "src/daemon", "src/engine", "src/reconcile"]),
    ("clap", &["src/cli"]),
    ("clap_complete", &["src/cli/commands/completions.rs"]),
    ("jsonschema", &["src/contracts/schema"]),
    ("cel", &["src/contracts/template"]),
    ("saphyr", &["src/contracts/yaml.rs"]),
    ("saphyr_parser", &["src/contracts/yaml.rs"]),
    ("regex_syntax", &["src/kit/generate/pattern.rs"]),
    ("quick_xml", &["src/kit/junit.rs"]),
    ("getrandom", &["src/engine/system.rs"]),
    ("mimalloc", &["src/main.rs"]),
    ("serde_json_canonicalizer", &["src/contracts/mod.rs", "src/domain/json"]),
    ("sha2", &["src/domain/digest.rs"]),
    ("unicode_normalization", &["src/domain/json/display.rs"]),
    ("toml", &["src/config", DEMO]),
    ("tracing_subscriber", &["src/observe"]),
];

/// Where code names the library: at the beginning of a path, not as a module of that name.
fn places(code: &str, library: &str) -> Vec<usize> {
    let found = code.match_indices(library).filter(|(at, _)| {
        // `::sled` is the library, `store::sled` a module.
        let before = match code[..*at].strip_suffix("::") {
            Some(path) if path.ends_with(|c: char| is_name(c) || c == '>') => return false,
            Some(path) => path,
            None => &code[..*at],
        };
        let starts = !before.ends_with(|c: char| is_name(c) || c == '.');
        let after = &code[at + library.len()..];
        let used = code[..*at].trim_end().ends_with("use") && after.starts_with([';', ' ']);
        starts && (after.starts_with("::") || used)
    });
    found.map(|(at, _)| at).collect()
}

#[test]
fn libraries_are_named_by_their_owners_only() {
    let mut findings = Vec::new();
    for source in production() {
        let code = source.production();
        for (library, owners) in OWNERS {
            let owned = owners.iter().any(|owner| {
                source.path == *owner
                    || source.path.starts_with(&format!("{owner}/"))
                    || source.path == format!("{owner}.rs")
            });
            for at in places(&code, library).into_iter().filter(|_| !owned) {
                let (line, owners) = (line_of(&code, at), owners.join(", "));
                findings.push(format!("{}:{line}: `{library}` is named only in {owners}", source.path));
            }
        }
    }
    nothing_found(&findings);
}

#[test]
fn every_owner_exists_and_owns() {
    let sources: Vec<_> = production().iter().map(Source::production).collect();
    let mut findings = Vec::new();
    for (library, owners) in OWNERS {
        for owner in *owners {
            if !root().join(owner).exists() && !root().join(format!("{owner}.rs")).exists() {
                findings.push(format!("`{library}`: there is no {owner}"));
            }
        }
        let used = sources.iter().any(|code| !places(code, library).is_empty());
        if !used && *library != "tokio_util" {
            findings.push(format!("`{library}` is named nowhere; remove its line, and the library"));
        }
    }
    nothing_found(&findings);
}

#[test]
fn a_library_is_told_from_a_module_of_its_name() {
    let code = "use sled::Db; x(sled::open()); crate::store::sled::open(); use super::sled; mysled::x(); mod sled; ::sled::x();";
    assert_eq!(places(code, "sled").len(), 3);
    assert_eq!(places("use toml; toml_edit::x();", "toml").len(), 1);
}
