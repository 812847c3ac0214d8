//! Names that no input may have: what sounds like authority, and texts that would carry a whole request inside.

use super::meaning::words;

/// Names that speak of authority: authority is never an input, whatever a model writes there. In lower case, without
/// anything between the words.
const AUTHORITY: &[&str] = &[
    "accesslevel",
    "accesstoken",
    "actas",
    "actor",
    "apikey",
    "approval",
    "approvals",
    "approvedby",
    "approvedfor",
    "authorization",
    "authorized",
    "authorizedby",
    "authtoken",
    "autoapprove",
    "bearertoken",
    "clientsecret",
    "confirmed",
    "credential",
    "credentials",
    "force",
    "isauthorized",
    "isprivileged",
    "isroot",
    "isstaff",
    "onbehalfof",
    "operationid",
    "override",
    "overridepolicy",
    "password",
    "permission",
    "permissions",
    "preapproved",
    "principal",
    "principalid",
    "privileged",
    "privileges",
    "requester",
    "role",
    "roles",
    "runas",
    "runid",
    "scopes",
    "sessiontoken",
    "skipapproval",
    "skipchecks",
    "skipvalidation",
    "tenant",
    "tenantid",
    "userrole",
    "userroles",
];
/// Words that mean authority in whatever name they stand.
const WORDS: &[&str] = &[
    "admin",
    "administrator",
    "approved",
    "approver",
    "bypass",
    "idempotency",
    "impersonate",
    "sudo",
    "superuser",
];
/// Names of texts that carry a whole request inside.
const BAGS: &[&str] = &["action", "payload", "command", "sql", "script", "rawbody", "rawrequest"];

/// Whether an input of this name would be authority.
pub(super) fn is_authority(name: &str) -> bool {
    let words = words(name);
    AUTHORITY.contains(&words.concat().as_str()) || words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether a text of this name would be a request of its own.
pub(super) fn is_bag(name: &str) -> bool {
    BAGS.contains(&words(name).concat().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authority_is_found_in_any_spelling() {
        for name in
            ["approved", "is_admin", "isAdmin", "Idempotency-Key", "role", "idempotency_key", "SKIP_CHECKS"]
        {
            assert!(is_authority(name), "{name}");
        }
        for name in ["customer_id", "approval_id", "enrolled", "roleplay", "force_newtons", "reason"] {
            assert!(!is_authority(name), "{name}");
        }
    }
}
