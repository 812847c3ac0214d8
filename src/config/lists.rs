//! The lists: `[[principal]]` and `[[base]]`, entry by entry.

use std::path::Path;
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::raw::{Given, Reader, Refusal, Section, wrong_type};
use super::sections::{flag, invalid, number, one_of, text};
use super::{ConfiguredBase, ConfiguredPrincipal, SecretRef, values};
use crate::domain::origin::Origin;
use crate::domain::principal::{PrincipalKind, Role};

/// Every role by its name in the file.
pub(super) const ROLES: [(&str, Role); 6] = [
    ("agent", Role::Agent),
    ("approver", Role::Approver),
    ("operator", Role::Operator),
    ("contract_owner", Role::ContractOwner),
    ("auditor", Role::Auditor),
    ("admin", Role::Admin),
];
pub(super) const KINDS: [(&str, PrincipalKind); 4] = [
    ("agent", PrincipalKind::Agent),
    ("user", PrincipalKind::User),
    ("operator", PrincipalKind::Operator),
    ("service", PrincipalKind::Service),
];
/// One request each; beyond this the service and this machine's ports are the limit.
const MAX_CONNECTIONS: usize = 4096;
pub(super) const DEFAULT_CONNECTIONS: usize = 256;
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
pub(super) const DEFAULT_TENANT: &str = "default";

/// An entry and where it stands, for the rules between entries.
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) path: String,
    pub(super) line: Option<usize>,
}

/// All `[[principal]]`; none if the file has no such list.
pub(super) fn principals<'a>(
    reader: &mut Reader<'a>,
    document: &'a DeTable<'a>,
    own_uid: u32,
) -> Option<Vec<Placed<ConfiguredPrincipal>>> {
    let read = |section: &mut Section<'_, 'a>| {
        let name = section.require("name", text(values::name));
        let kind = section.require("kind", choice_of_kind);
        let person = section.get("person", text(values::name));
        let tenant = section.get("tenant", text(values::name));
        let roles = section.require("roles", |given| elements(given, "a list of role names", role));
        let groups = section.get("groups", |given| elements(given, "a list of group names", group));
        let tools = section.get("tools", |given| elements(given, "a list of tools", tool));
        let uids =
            section.require("uids", |given| elements(given, "a list of uids", |value| uid(value, own_uid)));
        let owner = section.get("owner", text(values::name));
        let default = section.get("default", flag).unwrap_or(false);
        let enabled = section.get("enabled", flag).unwrap_or(true);
        let name = name?;
        let value = ConfiguredPrincipal {
            person: person.unwrap_or_else(|| name.clone()),
            name,
            kind: kind?,
            tenant: tenant.unwrap_or_else(|| DEFAULT_TENANT.to_owned()),
            roles: roles?,
            groups: groups.unwrap_or_default(),
            tools: tools.unwrap_or_else(|| vec!["*".to_owned()]),
            enabled,
            uids: uids?,
            owner,
            default,
        };
        Some(Placed { value, path: section.path_of("name"), line: section.line_of("name") })
    };
    Some(reader.list(document, "principal", read)?.into_iter().flatten().collect())
}

/// All `[[base]]`; none if the file has no such list.
pub(super) fn bases<'a>(
    reader: &mut Reader<'a>,
    document: &'a DeTable<'a>,
    root: &Path,
) -> Option<Vec<Placed<ConfiguredBase>>> {
    let reference = |text: &str| -> Result<SecretRef, &'static str> { values::secret(root, text) };
    let read = |section: &mut Section<'_, 'a>| {
        let name = section.require("name", text(values::name));
        let origin = section.require("origin", origin);
        let plain_http = section.get("plain_http", flag).unwrap_or(false);
        let credential = section.get("credential", text(reference));
        let credential_header = section.get("credential_header", text(values::header));
        let read_credential = section.get("read_credential", text(reference));
        let ca = section.get("ca", text(|text| values::path(root, text)));
        let max_connections = section.get("max_connections", number(1..=MAX_CONNECTIONS));
        let timeout = section.get("timeout", text(values::duration));
        let value = ConfiguredBase {
            name: name?,
            origin: origin?,
            plain_http,
            credential,
            credential_header,
            read_credential,
            ca,
            max_connections: max_connections.unwrap_or(DEFAULT_CONNECTIONS),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        };
        Some(Placed { value, path: section.path_of("name"), line: section.line_of("name") })
    };
    Some(reader.list(document, "base", read)?.into_iter().flatten().collect())
}

fn choice_of_kind(given: Given<'_>) -> Result<PrincipalKind, Refusal> {
    super::sections::choice(&KINDS)(given)
}

fn origin(given: Given<'_>) -> Result<Origin, Refusal> {
    let text = match &given {
        Given::Toml(DeValue::String(text)) => text.as_ref(),
        Given::Variable(text) => text,
        Given::Toml(_) => return Err(wrong_type("a text in quotes")),
    };
    text.parse().map_err(|error: crate::domain::origin::OriginError| invalid(&error.to_string()))
}

pub(super) fn elements<T>(
    given: Given<'_>,
    expected: &str,
    mut read: impl FnMut(&DeValue<'_>) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let Given::Toml(DeValue::Array(values)) = given else { return Err(wrong_type(expected)) };
    values.iter().map(|value| read(value.get_ref())).collect()
}

fn role(value: &DeValue<'_>) -> Result<Role, Refusal> {
    one_of(&ROLES, value.as_str().ok_or_else(|| wrong_type("a list of role names"))?)
}

pub(super) fn group(value: &DeValue<'_>) -> Result<String, Refusal> {
    let name = value.as_str().ok_or_else(|| wrong_type("a list of names"))?;
    values::name(name).map_err(invalid)
}

fn tool(value: &DeValue<'_>) -> Result<String, Refusal> {
    let name = value.as_str().ok_or_else(|| wrong_type("a list of tools"))?;
    values::tool_pattern(name).map_err(invalid)
}

fn uid(value: &DeValue<'_>, own: u32) -> Result<u32, Refusal> {
    const EXPECTED: &str = "a list of uids: numbers, or \"self\" for the account that runs the daemon";
    if value.as_str() == Some("self") {
        return Ok(own);
    }
    let number = value.as_integer().ok_or_else(|| wrong_type(EXPECTED))?;
    u32::from_str_radix(number.as_str(), number.radix()).map_err(|_| wrong_type(EXPECTED))
}
