//! The codes of the readiness report. Stable: people search for them, and CI greps them.

use serde::{Serialize, Serializer};

macro_rules! gaps {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $weight:ident;)*) => {
        /// What can be missing or weak.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Gap {
            $($(#[$doc])* $name,)*
        }

        impl Gap {
            /// Every one, for tests and documents.
            pub const ALL: &'static [Gap] = &[$(Gap::$name,)*];

            /// As written in reports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Gap::$name => $text,)* }
            }

            const fn weight(self) -> Weight {
                match self { $(Gap::$name => Weight::$weight,)* }
            }
        }
    };
}

#[derive(PartialEq, Eq)]
enum Weight {
    /// Something does not work at all.
    Broken,
    /// Not for production.
    Blocks,
    /// Somebody should know.
    Advice,
}

gaps! {
    /// One account proposes and approves.
    OneUidBothSides = "ONE_UID_BOTH_SIDES", Blocks;
    /// `approval.allow_same_uid`
    SameUidAllowed = "SAME_UID_ALLOWED", Blocks;
    /// An agent has the account of the daemon: store and secrets are open to it.
    AgentIsDaemon = "AGENT_IS_DAEMON", Blocks;
    /// Nobody owns an agent.
    NoOwner = "NO_OWNER", Blocks;
    /// The owner is nobody who is known.
    OwnerUnknown = "OWNER_UNKNOWN", Blocks;
    /// Nobody settles unknown outcomes.
    NoOperator = "NO_OPERATOR", Blocks;
    /// Nobody looks after principals and restores.
    NoAdmin = "NO_ADMIN", Blocks;
    /// Nobody only looks.
    NoAuditor = "NO_AUDITOR", Advice;
    /// A rule allows writes without an approval.
    AllowsWrites = "ALLOWS_WRITES", Blocks;
    /// A rule allows some writes without an approval.
    AllowsSomeWrites = "ALLOWS_SOME_WRITES", Advice;
    /// Approvals of writes by whoever has the account.
    WeakAssurance = "WEAK_ASSURANCE", Blocks;
    /// A rule asks for more persons than can approve.
    TooFewApprovers = "TOO_FEW_APPROVERS", Blocks;
    /// Nobody may be away.
    NoSpareApprover = "NO_SPARE_APPROVER", Advice;
    /// Every write is denied.
    NoRuleForWrites = "NO_RULE_FOR_WRITES", Advice;
    /// A rule names no tool that exists.
    RuleWithoutTool = "RULE_WITHOUT_TOOL", Advice;
    /// Nobody holds the table to what it must say.
    NoPolicyCases = "NO_POLICY_CASES", Advice;
    /// Nothing can be read or written.
    NoContracts = "NO_CONTRACTS", Advice;
    /// Only a person can settle an unknown outcome.
    TierNone = "TIER_NONE", Blocks;
    /// What it does cannot be undone.
    Irreversible = "IRREVERSIBLE", Advice;
    /// Nobody knows whether its service keeps the promises of a write.
    NotTested = "NOT_TESTED", Blocks;
    /// Some of them were not proven.
    Unproven = "UNPROVEN", Advice;
    /// The record of the tests cannot be read.
    RecordUnreadable = "RECORD_UNREADABLE", Blocks;
    /// A contract names a base that is not configured.
    NoBase = "NO_BASE", Broken;
    /// A review, a drill or a retirement is overdue.
    Overdue = "OVERDUE", Advice;
    /// The contracts are not pinned.
    NotLocked = "NOT_LOCKED", Advice;
    /// A variable is not in the environment.
    SecretNotSet = "SECRET_NOT_SET", Blocks;
    /// A file cannot be read.
    SecretUnreadable = "SECRET_UNREADABLE", Broken;
    /// A file is empty.
    SecretEmpty = "SECRET_EMPTY", Broken;
    /// Others can read it.
    SecretOpen = "SECRET_OPEN", Blocks;
    /// A service on another machine is asked without a credential.
    NoCredential = "NO_CREDENTIAL", Advice;
    /// The network sees everything.
    PlainHttp = "PLAIN_HTTP", Blocks;
    /// More accounts can connect than have a name.
    SocketOpen = "SOCKET_OPEN", Blocks;
    /// Accounts with names cannot connect.
    SocketClosed = "SOCKET_CLOSED", Advice;
    /// Others can look into the state directory.
    StateOpen = "STATE_OPEN", Blocks;
    /// It belongs to somebody else.
    StateNotOurs = "STATE_NOT_OURS", Blocks;
    /// Others can change configuration or contracts.
    FilesOpen = "FILES_OPEN", Blocks;
    /// Too little for the outcomes of all attempts in flight.
    ReserveSmall = "RESERVE_SMALL", Blocks;
    /// Unknown outcomes wait long for a person.
    EscalatesLate = "ESCALATES_LATE", Advice;
    /// Approvals are good for very long.
    LongClocks = "LONG_CLOCKS", Advice;
    /// The log says more than operations need.
    LogVerbose = "LOG_VERBOSE", Advice;
}

impl Gap {
    /// Whether it keeps a daemon from production.
    #[must_use]
    pub const fn blocks(self) -> bool {
        match self.weight() {
            Weight::Broken | Weight::Blocks => true,
            Weight::Advice => false,
        }
    }

    /// Whether something does not work at all, in production or elsewhere.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        match self.weight() {
            Weight::Broken => true,
            Weight::Blocks | Weight::Advice => false,
        }
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
