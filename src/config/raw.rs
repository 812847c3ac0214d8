//! The raw stage: the text with its positions, the environment beside it, and a reader that remembers every key that
//! was asked for. Whatever was not asked for is unknown, so no list of keys can fall behind the code.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Warning};
use super::load::Environment;

/// The text, its findings, and what was asked for.
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    pub(super) env: &'a Environment,
    pub(super) known: BTreeSet<(&'static str, &'static str)>,
    pub(super) known_variables: BTreeSet<String>,
    pub(super) errors: Vec<ConfigError>,
    pub(super) warnings: Vec<Warning>,
}

/// One table being read: a section, or one entry of a list.
pub(super) struct Section<'r, 'a> {
    reader: &'r mut Reader<'a>,
    name: &'static str,
    path: String,
    table: Option<&'a DeTable<'a>>,
    overridable: bool,
    pub(super) line: Option<usize>,
}

/// What stands at a key.
pub(super) enum Given<'a> {
    /// In the file.
    Toml(&'a DeValue<'a>),
    /// In the environment, as text.
    Variable(&'a str),
}

/// Why a value is refused: a code, the meaning, what to do.
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, text: &'a str, env: &'a Environment) -> Reader<'a> {
        Reader {
            file,
            text,
            env,
            known: BTreeSet::new(),
            known_variables: BTreeSet::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The file, as findings name it.
    pub(super) fn file_label(&self) -> &str {
        self.file
    }

    /// A finding in the file.
    pub(super) fn refuse(&mut self, line: Option<usize>, path: impl Into<String>, refusal: Refusal) {
        let Refusal { code, message, help } = refusal;
        let (source, path) = (self.file.to_owned(), path.into());
        self.errors.push(ConfigError { code, source, line, path, message, help });
    }

    /// A warning about the file.
    pub(super) fn warn(&mut self, line: Option<usize>, path: impl Into<String>, refusal: Refusal) {
        let Refusal { code, message, help } = refusal;
        let (source, path) = (self.file.to_owned(), path.into());
        self.warnings.push(Warning { code, source, line, path, message, help });
    }

    pub(super) fn line_of<T>(&self, spanned: &Spanned<T>) -> usize {
        line_at(self.text, spanned.span().start)
    }

    /// The table `[name]`; absent, all its keys have their defaults.
    pub(super) fn section(&mut self, document: &'a DeTable<'a>, name: &'static str) -> Section<'_, 'a> {
        let found = document.get(name);
        let table = found.and_then(|value| value.get_ref().as_table());
        let line = found.map(|value| self.line_of(value));
        if found.is_some() && table.is_none() {
            self.refuse(line, name, wrong_type(&format!("a section: [{name}]")));
        }
        Section { path: name.to_owned(), reader: self, name, table, overridable: true, line }
    }

    /// Reads each `[[name]]`; none if the list is absent, which is not the same as an empty one.
    pub(super) fn list<T>(
        &mut self,
        document: &'a DeTable<'a>,
        name: &'static str,
        mut read: impl FnMut(&mut Section<'_, 'a>) -> T,
    ) -> Option<Vec<T>> {
        // Makes the keys known also where no entry stands.
        let silent = (self.errors.len(), self.warnings.len());
        read(&mut self.entry(name, format!("{name}[1]"), None, None));
        self.errors.truncate(silent.0);
        self.warnings.truncate(silent.1);
        let found = document.get(name)?;
        let line = self.line_of(found);
        let Some(entries) = found.get_ref().as_array() else {
            self.refuse(Some(line), name, wrong_type(&format!("a list of sections: [[{name}]]")));
            return None;
        };
        let mut items = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let path = format!("{name}[{}]", index + 1);
            let line = Some(self.line_of(entry));
            match entry.get_ref().as_table() {
                Some(table) => items.push(read(&mut self.entry(name, path, Some(table), line))),
                None => self.refuse(line, path, wrong_type(&format!("a section: [[{name}]]"))),
            }
        }
        Some(items)
    }

    fn entry(
        &mut self,
        name: &'static str,
        path: String,
        table: Option<&'a DeTable<'a>>,
        line: Option<usize>,
    ) -> Section<'_, 'a> {
        Section { path, reader: self, name, table, overridable: false, line }
    }
}

impl<'a> Section<'_, 'a> {
    /// The path of a key of this table.
    pub(super) fn path_of(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// The line of a key, or of the table.
    pub(super) fn line_of(&self, key: &str) -> Option<usize> {
        let found = self.table.and_then(|table| table.get(key));
        found.map(|value| self.reader.line_of(value)).or(self.line)
    }

    /// A finding at a key.
    pub(super) fn refuse_at(&mut self, key: &str, refusal: Refusal) {
        let (line, path) = (self.line_of(key), self.path_of(key));
        self.reader.refuse(line, path, refusal);
    }

    /// Reads one key; a refused value is reported and counts as absent.
    pub(super) fn get<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(Given<'_>) -> Result<T, Refusal>,
    ) -> Option<T> {
        self.reader.known.insert((self.name, key));
        if self.overridable {
            let variable = format!("WRITD_{}_{}", self.name, key).to_ascii_uppercase();
            self.reader.known_variables.insert(variable.clone());
            if let Some(text) = self.reader.env.get(&variable) {
                return parse(Given::Variable(text))
                    .map_err(|Refusal { code, message, help }| {
                        let source = "environment".to_owned();
                        let error = ConfigError { code, source, line: None, path: variable, message, help };
                        self.reader.errors.push(error);
                    })
                    .ok();
            }
        }
        let value = self.table?.get(key)?;
        match parse(Given::Toml(value.get_ref())) {
            Ok(value) => Some(value),
            Err(refusal) => {
                let line = self.reader.line_of(value);
                self.reader.refuse(Some(line), format!("{}.{key}", self.path), refusal);
                None
            }
        }
    }

    /// Reads a key that has no default.
    pub(super) fn require<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(Given<'_>) -> Result<T, Refusal>,
    ) -> Option<T> {
        let present = self.table.is_some_and(|table| table.contains_key(key));
        let value = self.get(key, parse);
        if !present {
            let message = format!("`{key}` is missing");
            let refusal = Refusal { code: "MISSING_KEY", message, help: None };
            self.reader.refuse(self.line, self.path.clone(), refusal);
        }
        value
    }
}

pub(super) fn wrong_type(expected: &str) -> Refusal {
    Refusal { code: "WRONG_TYPE", message: format!("expected {expected}"), help: None }
}

/// Lines are counted from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
