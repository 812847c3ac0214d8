//! Findings: what is wrong with a contract, where, and how to mend it. Owns the stable codes that people search for and
//! that CI greps. Every stage of this module adds to one list; nothing stops at the first finding.

use std::fmt;

use serde::Serialize;

/// A suggestion that is further away than this many edits per ten letters would only confuse.
const SUGGESTION_SIMILARITY: f64 = 0.75;

macro_rules! finding_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The stable code of a finding.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FindingCode {
            $($(#[$doc])* $name,)*
        }

        impl FindingCode {
            /// Every code, for tests and documentation.
            pub const ALL: &'static [FindingCode] = &[$(FindingCode::$name,)*];

            /// As written in reports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(FindingCode::$name => $text,)* }
            }
        }
    };
}

finding_codes! {
    /// The file could not be read or is not UTF-8.
    UnreadableFile = "unreadable-file",
    /// Not YAML, or not exactly one document.
    YamlSyntax = "yaml-syntax",
    /// An anchor, an alias or a tag: a small file could stand for a huge one, or for another type.
    YamlFeature = "yaml-feature",
    /// One key twice in one mapping.
    DuplicateKey = "duplicate-key",
    /// Nested deeper than the limit.
    TooDeep = "too-deep",
    /// Larger than the limit.
    TooLarge = "too-large",
    /// A number that a double does not carry exactly.
    InexactNumber = "inexact-number",
    /// A key that the format does not know.
    UnknownKey = "unknown-key",
    /// A value of another type than the format wants.
    WrongType = "wrong-type",
    /// A key that every contract needs.
    MissingField = "missing-field",
    /// A value that is not among the allowed ones, or not in the wanted form.
    BadValue = "bad-value",
    /// A template that cannot be parsed.
    BadTemplate = "bad-template",
    /// A template names something that does not exist at this place.
    UnknownName = "unknown-name",
    /// The text is not a JSON Schema that can be compiled.
    InvalidSchema = "invalid-schema",
    /// An object that takes members nobody declared.
    OpenObject = "open-object",
    /// A value whose form is left open.
    FreeForm = "free-form",
    /// A string without a bound.
    UnboundedString = "unbounded-string",
    /// An array without a bound.
    UnboundedArray = "unbounded-array",
    /// A number without bounds.
    UnboundedNumber = "unbounded-number",
    /// Alternatives that cannot be told apart by a constant.
    NoDiscriminator = "no-discriminator",
    /// A reference that leaves the file.
    RemoteRef = "remote-ref",
    /// A reference to nothing.
    UnresolvedRef = "unresolved-ref",
    /// A pattern that the linear-time engine does not take.
    NonLinearPattern = "non-linear-pattern",
    /// An input that looks like authority.
    AuthorityInput = "authority-input",
    /// An input that does not say whether it is a fact, a claim or a reference.
    MissingKind = "missing-kind",
    /// A quantity that does not say of what.
    MissingUnit = "missing-unit",
    /// Money that does not say in which currency.
    MissingCurrency = "missing-currency",
    /// A point in time that does not say in which offset.
    MissingOffset = "missing-offset",
    /// A schema beyond the limits: its size, depth, references or alternatives.
    SchemaTooLarge = "schema-too-large",
    /// A reference that comes back to itself without going one level down in the value.
    EndlessReference = "endless-reference",
    /// A default or an example that its own schema refuses.
    InvalidExample = "invalid-example",
    /// A write without a target.
    MissingTarget = "missing-target",
    /// A write without a preview.
    MissingPreview = "missing-preview",
    /// A write without its two clocks.
    MissingApproval = "missing-approval",
    /// A write without a key.
    MissingKey = "missing-key",
    /// A write without a recovery tier, or a tier without what it needs.
    MissingRecovery = "missing-recovery",
    /// A write whose answer proves nothing.
    MissingReceipt = "missing-receipt",
    /// No timeout.
    MissingTimeout = "missing-timeout",
    /// A write without an error table.
    MissingErrors = "missing-errors",
    /// No limits.
    MissingLimits = "missing-limits",
    /// A write without actor headers.
    MissingActor = "missing-actor",
    /// A write without a compensation, and without a reason why there is none.
    MissingCompensation = "missing-compensation",
    /// A retry class that the key or the effect does not support.
    UnsupportedRetry = "unsupported-retry",
    /// A draft that never ends.
    DraftWithoutTtl = "draft-without-ttl",
    /// Correct, but this build cannot execute it yet.
    NotExecutable = "not-yet-executable",
    /// A header that would be forged, repeated or taken from the transport.
    BadHeader = "bad-header",
    /// A path that does not stay where it was declared.
    BadPath = "bad-path",
    /// An error entry that can never match, or that says less than it must.
    BadErrorEntry = "bad-error-entry",
    /// A key that does not belong to this effect class.
    WrongClass = "wrong-class",
    /// Two contracts with one name and version.
    DuplicateTool = "duplicate-tool",
    /// A tool that is not in the catalog, or not of the needed class.
    ToolNotFound = "tool-not-found",
    /// A redacted field used where people or services would see it.
    RedactedPointer = "redacted-pointer",
    /// Another body under a version that is known with a different one.
    ChangedBody = "changed-body",
    /// A new minor that breaks what callers of its major rely on.
    BreakingChange = "breaking-change",
    /// The catalog is not what `catalog.lock` pins.
    LockDrift = "lock-drift",
    /// A warning: nobody looked at the contract again in time.
    OverdueReview = "overdue-review",
    /// A warning: the compensation was not rehearsed in time.
    OverdueDrill = "overdue-drill",
    /// A warning: it should have been retired by now.
    OverdueRetirement = "overdue-retirement",
    /// A warning: more tools than a model can choose from.
    TooManyTools = "too-many-tools",
}

/// Whether a finding keeps the catalog out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// It does.
    Refusal,
    /// It is only told.
    Warning,
}

impl FindingCode {
    /// Whether it keeps the catalog out.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            FindingCode::OverdueReview
            | FindingCode::OverdueDrill
            | FindingCode::OverdueRetirement
            | FindingCode::TooManyTools => Severity::Warning,
            _ => Severity::Refusal,
        }
    }
}

impl Severity {
    /// As written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Refusal => "refusal",
            Severity::Warning => "warning",
        }
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One thing that is wrong with a contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The file, as given to the loader; empty for a contract that comes from the store.
    pub file: String,
    /// Line, from 1; 0 if there is no text.
    pub line: usize,
    /// Column, from 1; 0 if there is no text.
    pub column: usize,
    /// JSON pointer into the contract.
    pub pointer: String,
    /// The stable code.
    pub code: FindingCode,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub remedy: String,
}

impl Serialize for Finding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Finding", 8)?;
        out.serialize_field("file", &self.file)?;
        out.serialize_field("line", &self.line)?;
        out.serialize_field("column", &self.column)?;
        out.serialize_field("pointer", &self.pointer)?;
        out.serialize_field("code", self.code.as_str())?;
        out.serialize_field("severity", self.code.severity().as_str())?;
        out.serialize_field("message", &self.message)?;
        out.serialize_field("remedy", &self.remedy)?;
        out.end()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
        }
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        let pointer = if self.pointer.is_empty() { "(root)" } else { &self.pointer };
        write!(f, " {} [{}] {}\n    {}", pointer, self.code, self.message, self.remedy)
    }
}

/// The list that the stages fill.
#[derive(Default, Debug)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds one; file, line and column are found later from the pointer.
    pub(crate) fn add(
        &mut self,
        code: FindingCode,
        pointer: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.0.push(Finding {
            file: String::new(),
            line: 0,
            column: 0,
            pointer: pointer.into(),
            code,
            message: message.into(),
            remedy: remedy.into(),
        });
    }

    /// Adds one that already knows its place.
    pub(crate) fn add_at(&mut self, line: usize, column: usize, finding: Finding) {
        self.0.push(Finding { line, column, ..finding });
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Finding> {
        self.0.iter_mut()
    }

    pub(crate) fn append(&mut self, other: Findings) {
        self.0.extend(other.0);
    }

    /// Drops what the schema compiler says about a schema in which a more exact finding names the cause.
    pub(crate) fn prefer_exact(&mut self) {
        let root = |finding: &Finding| finding.pointer.split('/').nth(1).unwrap_or_default().to_owned();
        let exact: Vec<String> = self
            .0
            .iter()
            .filter(|finding| {
                use FindingCode as C;
                matches!(
                    finding.code,
                    C::RemoteRef | C::UnresolvedRef | C::NonLinearPattern | C::BadValue | C::EndlessReference
                )
            })
            .map(root)
            .collect();
        self.0
            .retain(|finding| finding.code != FindingCode::InvalidSchema || !exact.contains(&root(finding)));
    }

    /// Sorted by place, for reading.
    pub(crate) fn into_sorted(mut self) -> Vec<Finding> {
        self.0.sort_by(|a, b| {
            (&a.file, a.line, a.column, &a.pointer, a.code, &a.message)
                .cmp(&(&b.file, b.line, b.column, &b.pointer, b.code, &b.message))
        });
        self.0.dedup();
        self.0
    }
}

/// The known word nearest to a misspelt one, if one is near.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity >= SUGGESTION_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or the list of what is known.
pub(crate) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// A JSON pointer one level down; `~` and `/` are escaped.
pub(crate) fn child(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}
