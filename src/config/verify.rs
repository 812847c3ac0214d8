//! The rules between keys. What passes is a [`Config`].

use std::collections::BTreeSet;

use super::lists::{DEFAULT_CONNECTIONS, DEFAULT_TENANT, DEFAULT_TIMEOUT, Placed};
use super::raw::{Reader, Refusal};
use super::{
    Approval, Config, ConfiguredBase, ConfiguredPrincipal, ConfiguredRule, Daemon, Http, Limits, Log,
    Reconcile, SecretRef, Store, Tokens, budget, policy,
};
use crate::domain::budget::Budget;
use crate::domain::origin::{Origin, Scheme};
use crate::domain::principal::{PrincipalKind, Role};

/// The daemon acts under this name itself.
const RESERVED: &str = "writd";

/// Every key has a value of its type; the rules between them are not checked yet.
pub(super) struct Resolved {
    pub(super) daemon: Daemon,
    pub(super) store: Store,
    pub(super) http: Http,
    pub(super) tokens: Tokens,
    pub(super) limits: Limits,
    pub(super) reconcile: Reconcile,
    pub(super) approval: Approval,
    pub(super) log: Log,
    pub(super) principals: Option<Vec<Placed<ConfiguredPrincipal>>>,
    pub(super) bases: Option<Vec<Placed<ConfiguredBase>>>,
    pub(super) rules: Option<Vec<ConfiguredRule>>,
    pub(super) budgets: Vec<Placed<Budget>>,
}

/// Checks every rule and reports to the reader; the result counts only if it has no errors.
pub(super) fn verify(reader: &mut Reader<'_>, resolved: Resolved, own_uid: u32) -> Config {
    let shipped = resolved.principals.is_none();
    let principals = resolved.principals.unwrap_or_else(|| single_user(own_uid));
    let bases = resolved.bases.unwrap_or_else(default_bases);
    let rules = resolved.rules.unwrap_or_else(policy::shipped);
    check_principals(reader, &principals);
    check_bases(reader, &bases);
    policy::check(reader, &rules, &principals);
    budget::check(reader, &resolved.budgets);
    check_times(reader, &resolved.reconcile, &resolved.limits);
    check_doors(reader, &resolved.http, &resolved.tokens);
    warn_about_people(reader, &principals, own_uid, resolved.approval.allow_same_uid, shipped);
    Config {
        daemon: resolved.daemon,
        store: resolved.store,
        http: resolved.http,
        tokens: resolved.tokens,
        limits: resolved.limits,
        reconcile: resolved.reconcile,
        approval: resolved.approval,
        log: resolved.log,
        principals: principals.into_iter().map(|placed| placed.value).collect(),
        bases: bases.into_iter().map(|placed| placed.value).collect(),
        rules,
        budgets: resolved.budgets.into_iter().map(|placed| placed.value).collect(),
    }
}

fn rule(message: &str, help: &str) -> Refusal {
    Refusal { code: "RULE", message: message.to_owned(), help: Some(help.to_owned()) }
}

fn check_principals(reader: &mut Reader<'_>, principals: &[Placed<ConfiguredPrincipal>]) {
    let mut names = BTreeSet::new();
    let mut defaults = BTreeSet::new();
    for Placed { value, path, line } in principals {
        let mut refuse = |message: &str, help: &str| reader.refuse(*line, path.clone(), rule(message, help));
        if value.name == RESERVED {
            refuse("this name belongs to the daemon itself", "choose another name");
        }
        if !names.insert(value.name.as_str()) {
            refuse("another principal has this name", "names are what the journal records: choose another");
        }
        let program = matches!(value.kind, PrincipalKind::Agent | PrincipalKind::Service);
        if program && value.roles.contains(&Role::Approver) {
            refuse(
                "a program cannot be an approver",
                "remove the role, or give it to a principal of kind \"user\" or \"operator\"",
            );
        }
        let mut own: Vec<Role> = value.roles.clone();
        own.sort_unstable();
        own.dedup();
        if own.len() != value.roles.len() {
            refuse("a role is listed twice", "keep it once");
        }
        // An entry that lists one uid twice has one default for it.
        let uids: BTreeSet<u32> = value.uids.iter().copied().collect();
        if value.default && uids.into_iter().filter(|uid| !defaults.insert(*uid)).count() > 0 {
            refuse("another principal is the default of this uid", "keep default = true on one of them");
        }
    }
}

fn check_bases(reader: &mut Reader<'_>, bases: &[Placed<ConfiguredBase>]) {
    let mut names = BTreeSet::new();
    for Placed { value, path, line } in bases {
        let mut refuse = |message: &str, help: &str| reader.refuse(*line, path.clone(), rule(message, help));
        if !names.insert(value.name.as_str()) {
            refuse("another base has this name", "contracts refer to the name: choose another");
        }
        let plain = value.origin.scheme == Scheme::Http;
        if plain && !value.plain_http && !value.origin.is_loopback() {
            refuse(
                "plain http to another machine shows everything, credentials too, to the network",
                "use https, or say plain_http = true",
            );
        }
        if plain && value.ca.is_some() {
            refuse("ca has no meaning for http", "use https, or remove ca");
        }
        let anonymous = value.credential.is_none() && value.read_credential.is_none();
        if value.credential_header.is_some() && anonymous {
            refuse("credential_header without a credential", "add credential, or remove credential_header");
        }
    }
}

fn check_times(reader: &mut Reader<'_>, reconcile: &Reconcile, limits: &Limits) {
    if reconcile.interval > reconcile.max_interval {
        let refusal = rule("it is longer than reconcile.max_interval", "make max_interval at least as long");
        reader.refuse(None, "reconcile.interval", refusal);
    }
    if limits.page_default > limits.page_max {
        let refusal = rule("it is larger than limits.page_max", "make page_max at least as large");
        reader.refuse(None, "limits.page_default", refusal);
    }
}

/// Tokens go over the listener: nobody between may read them, and no web page may use it behind its user's back.
fn check_doors(reader: &mut Reader<'_>, http: &Http, tokens: &Tokens) {
    let mut refuse = |path: &str, message, help| reader.refuse(None, path, rule(message, help));
    if tokens.default_expiry > tokens.max_expiry {
        refuse(
            "tokens.default_expiry",
            "it is longer than tokens.max_expiry",
            "make max_expiry at least as long",
        );
    }
    if http.tls_cert.is_some() != http.tls_key.is_some() {
        refuse(
            "http.tls_cert",
            "a certificate and its key go together",
            "give tls_cert and tls_key, or neither",
        );
    }
    let Some(listen) = http.listen.filter(|listen| !listen.ip().is_loopback()) else { return };
    if http.tls_cert.is_none() && !http.behind_proxy {
        refuse(
            "http.listen",
            "beyond this machine everybody between could read the tokens",
            "listen on 127.0.0.1; or give tls_cert and tls_key; or say behind_proxy = true where a proxy speaks TLS",
        );
    }
    if http.hosts.is_empty() && listen.ip().is_unspecified() {
        refuse(
            "http.hosts",
            "an address that means all of them is nothing that clients write into `host`",
            "list in http.hosts the names by which clients reach it",
        );
    }
}

fn warn_about_people(
    reader: &mut Reader<'_>,
    principals: &[Placed<ConfiguredPrincipal>],
    own_uid: u32,
    allow_same_uid: bool,
    shipped: bool,
) {
    let persons: BTreeSet<&str> = principals.iter().map(|placed| placed.value.person.as_str()).collect();
    for Placed { value, path, line } in principals {
        if value.owner.as_deref().is_some_and(|owner| !persons.contains(owner)) {
            let message = "its owner is the person of no principal".to_owned();
            let help =
                Some("an owner is kept from approving only under a name that is known here".to_owned());
            reader.warn(*line, path.clone(), Refusal { code: "OWNER_UNKNOWN", message, help });
        }
    }
    let owned = |value: &ConfiguredPrincipal| value.enabled && value.uids.contains(&own_uid);
    if !principals.iter().any(|placed| owned(&placed.value)) {
        let message = "no principal has the uid that runs the daemon".to_owned();
        let help = Some("add uids = [\"self\"] to a principal, if this account is to use it".to_owned());
        reader.warn(None, "principal", Refusal { code: "NO_OWN_PRINCIPAL", message, help });
    }
    let holders = |role: Role| {
        let having = principals
            .iter()
            .filter(move |placed| placed.value.enabled && placed.value.roles.contains(&role));
        having.flat_map(|placed| placed.value.uids.iter().copied()).collect::<BTreeSet<u32>>()
    };
    let both = holders(Role::Agent).intersection(&holders(Role::Approver)).count();
    if allow_same_uid && both > 0 {
        let message = if shipped {
            "the shipped principals are used: one uid plays agent, approvers and operator".to_owned()
        } else {
            "one uid may both propose and approve, under two names".to_owned()
        };
        let help = "fine where one person tries things out; else give people accounts of their own \
                    and set approval.allow_same_uid = false";
        let code = "ONE_UID_SEVERAL_ROLES";
        reader.warn(None, "principal", Refusal { code, message, help: Some(help.to_owned()) });
    }
}

/// The shipped principals: one account plays all of them, and says so.
fn single_user(own_uid: u32) -> Vec<Placed<ConfiguredPrincipal>> {
    let one = |name: &str, kind, roles: &[Role]| {
        let value = ConfiguredPrincipal {
            name: name.to_owned(),
            kind,
            person: name.to_owned(),
            tenant: DEFAULT_TENANT.to_owned(),
            roles: roles.to_vec(),
            groups: Vec::new(),
            tools: vec!["*".to_owned()],
            enabled: true,
            uids: vec![own_uid],
            owner: None,
            default: kind == PrincipalKind::Agent,
        };
        Placed { value, path: "principal".to_owned(), line: None }
    };
    vec![
        one("agent", PrincipalKind::Agent, &[Role::Agent]),
        one("workflow", PrincipalKind::Service, &[Role::Agent]),
        one("alice", PrincipalKind::User, &[Role::Approver]),
        one("bob", PrincipalKind::User, &[Role::Approver]),
        // Who settles what nobody knows does not approve as well.
        one("oscar", PrincipalKind::Operator, &[Role::Operator, Role::Auditor, Role::Admin]),
    ]
}

/// The sandboxes of the examples.
fn default_bases() -> Vec<Placed<ConfiguredBase>> {
    let one = |name: &str, port, credential| {
        let value = ConfiguredBase {
            name: name.to_owned(),
            origin: Origin { scheme: Scheme::Http, host: "127.0.0.1".to_owned(), port },
            plain_http: false,
            credential,
            credential_header: None,
            read_credential: None,
            ca: None,
            max_connections: DEFAULT_CONNECTIONS,
            timeout: DEFAULT_TIMEOUT,
        };
        Placed { value, path: "base".to_owned(), line: None }
    };
    let hotel = SecretRef::Env("FACILITIES_TOKEN".to_owned());
    vec![one("crm", 7401, None), one("facilities", 7402, Some(hotel))]
}
