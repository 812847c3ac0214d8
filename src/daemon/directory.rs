//! Principals and bounds of the configuration, as the engine asks for them at every commit.

use std::sync::Arc;

use crate::config::{Config, ConfiguredPrincipal};
use crate::domain::Millis;
use crate::domain::budget::Budget;
use crate::domain::operation::Actor;
use crate::domain::pattern::matches_pattern;
use crate::domain::principal::{Principal, Role};
use crate::ports::Directory;

pub(super) struct Configured(pub(super) Arc<Config>);

pub(super) fn millis(duration: std::time::Duration) -> Millis {
    Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

impl Configured {
    fn known(&self, name: &str, tenant: &str) -> Option<&ConfiguredPrincipal> {
        self.0.enabled().find(|known| known.name == name && known.tenant == tenant)
    }
}

impl Directory for Configured {
    fn may_write(&self, requester: &Actor, on_behalf_of: Option<&str>, tenant: &str, tool: &str) -> bool {
        let known = self.known(&requester.name, tenant);
        known.is_some_and(|known| known.roles.contains(&Role::Agent))
            && self.may_use(&requester.name, on_behalf_of, tenant, tool)
    }

    fn may_use(&self, name: &str, on_behalf_of: Option<&str>, tenant: &str, tool: &str) -> bool {
        let granted =
            |known: &ConfiguredPrincipal| known.tools.iter().any(|pattern| matches_pattern(pattern, tool));
        // A person may do what any of their names may.
        let of_person = |person: &str| {
            self.0.enabled().any(|known| known.person == person && known.tenant == tenant && granted(known))
        };
        self.known(name, tenant).is_some_and(granted) && on_behalf_of.is_none_or(of_person)
    }

    fn may_be_acted_for(&self, person: &str, tenant: &str) -> bool {
        self.0.enabled().any(|known| known.person == person && known.tenant == tenant)
    }

    fn principal(&self, name: &str) -> Option<Principal> {
        self.0.principal(name)
    }

    fn owner_of(&self, requester: &Principal) -> Option<String> {
        self.0.owner_of(&requester.name).map(str::to_owned)
    }

    fn approver_groups(&self, approver: &Actor, tenant: &str) -> Option<Vec<String>> {
        let known = self.0.enabled().find(|known| {
            known.name == approver.name
                && known.person == approver.person
                && known.tenant == tenant
                && known.roles.contains(&Role::Approver)
        });
        known.map(|known| known.groups.clone())
    }

    fn same_account(&self, requester: &Actor) -> Vec<String> {
        if self.0.approval.allow_same_uid {
            return Vec::new();
        }
        let uids = |name: &str| {
            self.0.principals.iter().find(|known| known.name == name).map(|known| known.uids.as_slice())
        };
        let own = uids(&requester.name).unwrap_or_default();
        let shares = |known: &&ConfiguredPrincipal| known.uids.iter().any(|uid| own.contains(uid));
        self.0.principals.iter().filter(shares).map(|known| known.name.clone()).collect()
    }

    fn budgets(&self) -> &[Budget] {
        &self.0.budgets
    }

    fn clock_bounds(&self) -> (Millis, Millis) {
        (millis(self.0.approval.decide_within_max), millis(self.0.approval.execute_within_max))
    }

    fn escalate_after(&self) -> Millis {
        millis(self.0.reconcile.escalate_after)
    }
}
