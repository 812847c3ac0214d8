//! What nobody asked for: unknown sections, keys and variables, with the nearest known one, and the keys of earlier
//! releases, which only warn.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::raw::{Reader, Refusal};

/// Keys of earlier releases: full path, and what to use. They warn, so that an upgrade does not end in a refused start.
const REMOVED: [(&str, &str); 1] = [("daemon.socket_path", "daemon.socket")];
/// Variables that other parts of the product and its tests read.
const OTHER_VARIABLES: [&str; 7] = [
    "WRITD_LOG",
    "WRITD_CONFIG",
    "WRITD_SOCKET",
    "WRITD_AS",
    "WRITD_TOKEN",
    "WRITD_FAIL_POINT",
    "WRITD_SHARED_DATA",
];

impl<'a> Reader<'a> {
    /// After everything was asked for: what is left is unknown.
    pub(super) fn refuse_unknown(&mut self, document: &'a DeTable<'a>, referenced: &BTreeSet<String>) {
        for (key, value) in document {
            let (line, name) = (self.line_of(key), key.get_ref().as_ref());
            let tables: Vec<(String, &DeTable<'_>)> = match value.get_ref() {
                DeValue::Table(table) => vec![(name.to_owned(), table)],
                DeValue::Array(entries) => {
                    let tables = entries.iter().enumerate();
                    let tables = tables.filter_map(|(i, entry)| Some((i, entry.get_ref().as_table()?)));
                    tables.map(|(i, table)| (format!("{name}[{}]", i + 1), table)).collect()
                }
                _ => Vec::new(),
            };
            if !self.known.iter().any(|(section, _)| *section == name) {
                let refusal = if tables.is_empty() {
                    Refusal {
                        code: "UNKNOWN_KEY",
                        message: "unknown key".to_owned(),
                        help: self.help_for("", name),
                    }
                } else {
                    let sections: BTreeSet<&str> = self.known.iter().map(|(section, _)| *section).collect();
                    let help =
                        suggest(name, &sections).unwrap_or_else(|| format!("sections: {}", join(&sections)));
                    Refusal {
                        code: "UNKNOWN_SECTION",
                        message: "unknown section".to_owned(),
                        help: Some(help),
                    }
                };
                self.refuse(Some(line), name, refusal);
                continue;
            }
            for (path, table) in tables {
                self.refuse_unknown_keys(name, &path, table);
            }
        }
        self.refuse_unknown_variables(referenced);
    }

    fn refuse_unknown_keys(&mut self, section: &str, path: &str, table: &DeTable<'_>) {
        for (key, _) in table {
            let (line, name) = (Some(self.line_of(key)), key.get_ref().as_ref());
            if self.known.iter().any(|(s, k)| *s == section && *k == name) {
                continue;
            }
            let full = format!("{path}.{name}");
            if let Some((_, instead)) = REMOVED.iter().find(|(removed, _)| *removed == full) {
                let message = "this key was removed and is ignored".to_owned();
                self.warn(
                    line,
                    full,
                    Refusal { code: "REMOVED_KEY", message, help: Some(format!("use `{instead}`")) },
                );
                continue;
            }
            let help = self.help_for(section, name);
            self.refuse(line, full, Refusal { code: "UNKNOWN_KEY", message: "unknown key".to_owned(), help });
        }
    }

    /// The nearest key of the section, or the section that has this key, or what there is.
    fn help_for(&self, section: &str, name: &str) -> Option<String> {
        let own: BTreeSet<&str> = self.known.iter().filter(|(s, _)| *s == section).map(|(_, k)| *k).collect();
        if let Some(near) = suggest(name, &own) {
            return Some(near);
        }
        let elsewhere: Vec<String> =
            self.known.iter().filter(|(_, k)| *k == name).map(|(s, k)| format!("`{k}` of [{s}]")).collect();
        if !elsewhere.is_empty() {
            return Some(format!("did you mean {}?", elsewhere.join(" or ")));
        }
        (!own.is_empty()).then(|| format!("keys of this section: {}", join(&own)))
    }

    fn refuse_unknown_variables(&mut self, referenced: &BTreeSet<String>) {
        let known: BTreeSet<&str> =
            self.known_variables.iter().map(String::as_str).chain(OTHER_VARIABLES).collect();
        for name in self.env.names() {
            if known.contains(name) || referenced.contains(name) {
                continue;
            }
            self.errors.push(ConfigError {
                code: "UNKNOWN_VARIABLE",
                source: "environment".to_owned(),
                line: None,
                path: name.to_owned(),
                message: "no key has this variable".to_owned(),
                help: Some(suggest(name, &known).unwrap_or_else(|| {
                    "variables are WRITD_, the section and the key, such as WRITD_DAEMON_SOCKET".to_owned()
                })),
            });
        }
    }
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

/// "did you mean", if one of the names is near.
pub(super) fn suggest(given: &str, names: &BTreeSet<&str>) -> Option<String> {
    // A third of the letters wrong is another word.
    let bound = (given.chars().count() / 3).clamp(1, 4);
    let near = names.iter().map(|name| (strsim::damerau_levenshtein(given, name), *name)).min()?;
    (near.0 <= bound).then(|| format!("did you mean `{}`?", near.1))
}
