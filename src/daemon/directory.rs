//! Principals and bounds of the configuration, as the engine asks for them at every commit.

use std::sync::Arc;

use crate::config::Config;
use crate::domain::Millis;
use crate::domain::operation::Actor;
use crate::domain::principal::{Principal, Role};
use crate::ports::Directory;

pub(super) struct Configured(pub(super) Arc<Config>);

fn millis(duration: std::time::Duration) -> Millis {
    Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

impl Directory for Configured {
    fn may_write(&self, requester: &Actor, tenant: &str) -> bool {
        self.0.principals.iter().any(|known| {
            known.name == requester.name && known.tenant == tenant && known.roles.contains(&Role::Agent)
        })
    }

    fn owner_of(&self, requester: &Principal) -> Option<String> {
        self.0.owner_of(&requester.name).map(str::to_owned)
    }

    fn approver_groups(&self, approver: &Actor, tenant: &str) -> Option<Vec<String>> {
        let known = self.0.principals.iter().find(|known| {
            known.name == approver.name
                && known.person == approver.person
                && known.tenant == tenant
                && known.roles.contains(&Role::Approver)
        });
        known.map(|known| known.groups.clone())
    }

    fn clock_bounds(&self) -> (Millis, Millis) {
        (millis(self.0.approval.decide_within_max), millis(self.0.approval.execute_within_max))
    }

    fn escalate_after(&self) -> Millis {
        millis(self.0.reconcile.escalate_after)
    }
}
