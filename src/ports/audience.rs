//! Who looks at what services say, and what a receipt says to them.

/// Who looks at data that came from a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// A program that asks.
    Agent,
    /// A person who decides.
    Approver,
    /// A person who settles.
    Operator,
    /// A person who looks at everything and changes nothing.
    Auditor,
}

impl Audience {
    /// As contracts write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Audience::Agent => "agent",
            Audience::Approver => "approver",
            Audience::Operator => "operator",
            Audience::Auditor => "auditor",
        }
    }
}

/// What a receipt says; everything in it is the service's word.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiptFacts {
    /// Its id at the service.
    pub id: Option<String>,
    /// The version that was replaced.
    pub previous_version: Option<String>,
    /// The version after.
    pub new_version: Option<String>,
    /// What was changed.
    pub changed_fields: Option<Vec<String>>,
    /// When it happened.
    pub committed_at: Option<String>,
    /// When a draft ends by itself.
    pub expires_at: Option<String>,
}
