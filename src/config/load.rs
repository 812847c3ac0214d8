//! From file and environment to a verified [`Config`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::error::{ConfigError, Warning};
use super::raw::{Reader, line_at};
use super::{Config, SecretRef, budget, lists, policy, sections, verify};

/// The file that is read if nobody names one.
pub const DEFAULT_FILE: &str = "daemon.toml";

/// The `WRITD_…` variables of the environment.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Those of this process. What is not UTF-8 in them is replaced, as in any other text that is shown to people.
    #[must_use]
    pub fn of_process() -> Environment {
        let all = std::env::vars_os();
        Environment::from_pairs(
            all.map(|(name, value)| {
                (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
            }),
        )
    }

    /// These, as far as they begin with `WRITD_`.
    #[must_use]
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Environment {
        Environment(pairs.into_iter().filter(|(name, _)| name.starts_with("WRITD_")).collect())
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Config {
    /// Reads the file at `path`, else at `WRITD_CONFIG`, else `daemon.toml` in the working directory if there is one,
    /// and puts the environment over it.
    ///
    /// # Errors
    /// All findings at once; any of them means that the daemon does not start.
    pub fn load(path: Option<&Path>, env: &Environment) -> Result<(Config, Vec<Warning>), Vec<ConfigError>> {
        let named = path.map(Path::to_owned).or_else(|| env.get("WRITD_CONFIG").map(PathBuf::from));
        let file = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        let label = file.display().to_string();
        let unreadable = |message: String| {
            vec![ConfigError {
                code: "UNREADABLE",
                source: label.clone(),
                line: None,
                path: String::new(),
                message,
                help: Some("name the file with --config or WRITD_CONFIG".to_owned()),
            }]
        };
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            // Only the file that nobody named may be absent.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => String::new(),
            Err(error) => return Err(unreadable(format!("the file cannot be read: {error}"))),
        };
        // Relative paths are relative to the file, so the working directory of a service manager does not matter.
        let root = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let root = std::path::absolute(&root)
            .map_err(|error| unreadable(format!("its directory cannot be found: {error}")))?;
        Config::parse(&label, &text, &root, env, rustix::process::geteuid().as_raw())
    }

    /// The defaults with their paths below `root`.
    #[must_use]
    pub fn default_for(root: &Path) -> Config {
        let env = Environment::default();
        let defaults = Config::parse("defaults", "", root, &env, rustix::process::geteuid().as_raw());
        defaults.expect("the defaults are verified by the tests and depend on no input").0
    }

    /// All stages on a text. `own_uid` is the account that "self" means.
    pub(super) fn parse(
        file: &str,
        text: &str,
        root: &Path,
        env: &Environment,
        own_uid: u32,
    ) -> Result<(Config, Vec<Warning>), Vec<ConfigError>> {
        let (document, syntax) = DeTable::parse_recoverable(text);
        if !syntax.is_empty() {
            return Err(syntax_errors(file, text, &syntax));
        }
        let document = document.get_ref();
        let mut reader = Reader::new(file, text, env);
        let resolved = verify::Resolved {
            daemon: sections::daemon(&mut reader, document, root),
            store: sections::store(&mut reader, document),
            http: sections::http(&mut reader, document, root),
            tokens: sections::tokens(&mut reader, document),
            limits: sections::limits(&mut reader, document),
            reconcile: sections::reconcile(&mut reader, document),
            approval: sections::approval(&mut reader, document),
            log: sections::log(&mut reader, document),
            principals: lists::principals(&mut reader, document, own_uid),
            bases: lists::bases(&mut reader, document, root),
            rules: policy::rules(&mut reader, document),
            budgets: budget::budgets(&mut reader, document),
        };
        reader.refuse_unknown(document, &referenced_variables(&resolved));
        let config = verify::verify(&mut reader, resolved, own_uid);
        if reader.errors.is_empty() {
            return Ok((config, reader.warnings));
        }
        let mut errors = reader.errors;
        errors.sort_by_key(|error| error.line.unwrap_or(usize::MAX));
        Err(errors)
    }
}

/// Variables that credentials refer to are no keys, whatever their names.
fn referenced_variables(resolved: &verify::Resolved) -> BTreeSet<String> {
    let bases = resolved.bases.iter().flatten();
    let references = bases.flat_map(|base| [&base.value.credential, &base.value.read_credential]);
    let names = references.flatten().filter_map(|reference| match reference {
        SecretRef::Env(name) => Some(name.clone()),
        SecretRef::File(_) => None,
    });
    names.collect()
}

/// What the TOML parser found. Duplicates are named with their full path; after any other error the parser guesses,
/// so only the first one is told.
fn syntax_errors(file: &str, text: &str, syntax: &[toml::de::Error]) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for error in syntax {
        let span = error.span().unwrap_or(0..0);
        let line = line_at(text, span.start);
        let duplicate = error.message().starts_with("duplicate key");
        let (code, path, message, help) = if duplicate {
            let key = text.get(span.clone()).unwrap_or_default().trim_matches(['[', ']', '"', ' ', '\'']);
            let message = "this key stands here for the second time".to_owned();
            let help = Some("keep one of them: nobody can see which one is meant".to_owned());
            ("DUPLICATE_KEY", full_path(text, span.start, key), message, help)
        } else {
            // The message of the parser names what it expected, not what it read.
            ("SYNTAX", String::new(), format!("this is not TOML: {}", error.message()), None)
        };
        errors.push(ConfigError { code, source: file.to_owned(), line: Some(line), path, message, help });
    }
    if let Some(first) = errors.iter().position(|error| error.code != "DUPLICATE_KEY") {
        errors.truncate(first + 1);
    }
    errors
}

/// The section above an offset, and the key.
fn full_path(text: &str, offset: usize, key: &str) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let mut header = None;
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for line in before.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("[[").and_then(|rest| rest.split_once("]]")) {
            let count = entries.entry(name.0.trim()).or_default();
            *count += 1;
            header = Some(format!("{}[{count}]", name.0.trim()));
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            header = Some(name.0.trim().to_owned());
        }
    }
    let is_header = before.lines().last().is_some_and(|line| line.trim_start().starts_with('['));
    match header {
        Some(header) if !is_header => format!("{header}.{key}"),
        _ => key.to_owned(),
    }
}
