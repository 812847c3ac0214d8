//! What may be found wrong with a store: a closed list of codes, each with what it means and what to do.

use serde::{Serialize, Serializer};

/// Findings that are listed; of a store that is damaged all over, the first ones say enough.
pub(super) const MAX_LISTED: usize = 1000;

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub code: FindingCode,
    /// Where: an entry, an operation, a record.
    pub place: String,
    /// What exactly.
    pub detail: String,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// Findings in the order in which they were made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Findings {
    /// The first ones.
    pub listed: Vec<Finding>,
    /// How many there are in all.
    pub total: u64,
}

impl Findings {
    pub(super) fn add(&mut self, code: FindingCode, place: impl ToString, detail: impl ToString) {
        self.total += 1;
        if self.listed.len() >= MAX_LISTED {
            return;
        }
        let (meaning, remedy) = code.explain();
        let (place, detail) = (place.to_string(), detail.to_string());
        self.listed.push(Finding { code, place, detail, meaning, remedy });
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

const RECOVER: &str = "keep a copy of the directory; then `writd recover`, or import the last export";
const BY_HAND: &str =
    "nothing that writd writes looks like this: find out who changed the files; compare with the last export";
const ASK: &str = "compare with the service what happened; then `writd recover`, or import the last export";

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $meaning:expr, $remedy:expr;)*) => {
        /// The kinds of findings.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum FindingCode {
            $($(#[$doc])* $name,)*
        }

        impl FindingCode {
            /// All kinds.
            pub const ALL: &[FindingCode] = &[$(FindingCode::$name,)*];

            /// As printed and as programs read it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(FindingCode::$name => $text,)*
                }
            }

            /// What it means, and what to do.
            #[must_use]
            pub const fn explain(self) -> (&'static str, &'static str) {
                match self {
                    $(FindingCode::$name => ($meaning, $remedy),)*
                }
            }
        }
    };
}

codes! {
    /// A part of the store cannot be read.
    PartUnreadable = "PART_UNREADABLE":
        "a part of the store's files is damaged; what lies in it was not looked at", RECOVER;
    /// A record is of no kind that is known.
    UnknownRecord = "UNKNOWN_RECORD": "there is a record of a kind that this release does not know",
        "use the release that wrote it";
    /// A page of the journal cannot be read.
    PageUnreadable = "PAGE_UNREADABLE": "a page of the journal is damaged: its entries are lost", RECOVER;
    /// A page lies under another number than its first entry has.
    PageMisplaced = "PAGE_MISPLACED": "a page of the journal lies where it was not written", BY_HAND;
    /// Entries are missing.
    JournalGap = "JOURNAL_GAP": "entries of the journal are missing", RECOVER;
    /// An entry does not follow the one before.
    ChainBroken = "CHAIN_BROKEN": "an entry was changed, replaced or moved after it was written", BY_HAND;
    /// The head that was kept elsewhere is not on the chain.
    HeadNotOnChain = "HEAD_NOT_ON_CHAIN":
        "this journal is not a continuation of the one whose head was kept: it was cut, or rewritten",
        "keep this directory as evidence; import the last export whose head is on your chain";
    /// A payload is not the one that was committed to.
    PayloadChanged = "PAYLOAD_CHANGED": "the content of an entry was changed after it was written", BY_HAND;
    /// A payload cannot be read by this release.
    PayloadUnreadable = "PAYLOAD_UNREADABLE": "the content of an entry is none that this release knows",
        "use the release that wrote it";
    /// The header of an entry says something else than its content.
    FactMismatch = "FACT_MISMATCH": "the header of an entry contradicts its content", BY_HAND;
    /// Entries of one subject are not numbered one after the other.
    NumberGap = "NUMBER_GAP": "an entry of this subject is missing or stands twice", RECOVER;
    /// An event does not fit what was before it.
    IllegalEvent = "ILLEGAL_EVENT": "the journal tells of an event that could not happen then", BY_HAND;
    /// The record of an operation cannot be read.
    RecordUnreadable = "RECORD_UNREADABLE": "a record is damaged; the daemon quarantines its operation", RECOVER;
    /// The record is not what its events make.
    RecordDiffers = "RECORD_DIFFERS": "the record is not what the journal makes of it", BY_HAND;
    /// The journal goes on where the record ends.
    RecordBehind = "RECORD_BEHIND": "the journal knows more events than the record: a commit was torn", ASK;
    /// The record goes on where the journal ends.
    RecordAhead = "RECORD_AHEAD": "the record has more events than the journal: a commit was torn", ASK;
    /// The journal knows an operation that has no record.
    RecordMissing = "RECORD_MISSING": "the record of an operation is gone", RECOVER;
    /// A record that the journal does not know.
    RecordWithoutJournal = "RECORD_WITHOUT_JOURNAL": "the journal does not know this record", BY_HAND;
    /// Open and ended at once.
    RecordTwice = "RECORD_TWICE": "the operation is stored both as open and as ended: a commit was torn", ASK;
    /// Under a key that does not belong to its state.
    RecordMisplaced = "RECORD_MISPLACED": "the record lies under a key of another operation or state", BY_HAND;
    /// Its version is not its number of events.
    VersionDiffers = "VERSION_DIFFERS": "the version of the record is not its number of events", BY_HAND;
    /// The places of its events differ.
    HistoryDiffers = "HISTORY_DIFFERS":
        "the record names other places in the journal than its events have", RECOVER;
    /// No index entry.
    EndIndexMissing = "END_INDEX_MISSING": "an ended operation is missing from the lists by state", RECOVER;
    /// An index entry for nothing.
    EndIndexStray = "END_INDEX_STRAY": "a list by state names an operation that is not in this state", RECOVER;
    /// The bodies of a proposal are gone.
    BodyMissing = "BODY_MISSING": "what was proposed is gone: the operation cannot be executed or shown", RECOVER;
    /// Bodies of no operation.
    BodyStray = "BODY_STRAY": "there are bodies of an operation that does not exist", BY_HAND;
    /// The arguments are not those that were approved.
    ArgumentsChanged = "ARGUMENTS_CHANGED":
        "the stored arguments are not those that were proposed; nothing will be executed from them", BY_HAND;
    /// The request is not the one that was approved.
    RequestChanged = "REQUEST_CHANGED":
        "the stored request is not the one that was proposed; it will not be sent", BY_HAND;
    /// What the approver saw is not what is stored.
    ProposalChanged = "PROPOSAL_CHANGED":
        "what is stored is not what was shown to approvers; nothing will be executed from it", BY_HAND;
    /// The contract is gone.
    ContractMissing = "CONTRACT_MISSING":
        "the contract of an operation is gone: it can neither be executed nor settled by itself", RECOVER;
    /// The contract is another one.
    ContractChanged = "CONTRACT_CHANGED": "a stored contract is not the one that its fingerprint names", BY_HAND;
    /// The run of an operation or of the journal is gone.
    RunMissing = "RUN_MISSING": "the record of a run is gone", RECOVER;
    /// The run is not what the journal says.
    RunDiffers = "RUN_DIFFERS": "the record of a run is not what the journal says", BY_HAND;
    /// A token is not what the journal says.
    TokenDiffers = "TOKEN_DIFFERS": "the record of a token is not what the journal says", BY_HAND;
    /// An operation names another one that does not exist.
    LinkDangling = "LINK_DANGLING": "an operation names another operation that does not exist", RECOVER;
    /// An idempotency record names nothing.
    IdempotencyDangling = "IDEMPOTENCY_DANGLING":
        "an Idempotency-Key is remembered for something that does not exist: a repeat finds nothing", RECOVER;
    /// The daemon's own record is not what the journal says.
    MetaDiffers = "META_DIFFERS": "the daemon's own record is not what the journal says", BY_HAND;
    /// Something that is true of every operation is not.
    InvariantBroken = "INVARIANT_BROKEN": "something that is true of every operation is not true of this one",
        "report it with this output; nothing in the store is damaged by it";
    /// Two operations hold a target.
    TargetTwice = "TARGET_TWICE": "two operations hold one target at the same time",
        "settle both by asking the service what happened; report it with this output";
    /// Two operations share a downstream key.
    KeyTwice = "KEY_TWICE": "two operations share one key at the service", BY_HAND;
    /// A client was told of something that is not there.
    AckMissing = "ACK_MISSING": "a client was told of something that is not in the store", ASK;
    /// A client was told of more events.
    AckBehind = "ACK_BEHIND": "a client was told of more events than the store has", ASK;
    /// A client was told of a state that never was.
    AckState = "ACK_STATE": "a client was told of a state that the history does not have", ASK;
}

impl Serialize for FindingCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl std::fmt::Display for FindingCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
