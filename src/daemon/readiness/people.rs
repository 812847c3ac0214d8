//! Principals: are there two sides, and somebody for each duty.

use std::collections::BTreeSet;

use super::{Gap, Look, Report};
use crate::config::{Config, ConfiguredPrincipal};
use crate::domain::principal::Role;

pub(super) fn having(config: &Config, role: Role) -> impl Iterator<Item = &ConfiguredPrincipal> {
    config.principals.iter().filter(move |known| known.roles.contains(&role))
}

pub(super) fn check(look: Look<'_>, report: &mut Report) {
    let config = look.config;
    both_sides(config, report);
    if config.approval.allow_same_uid {
        report.add(
            Gap::SameUidAllowed,
            "approval.allow_same_uid",
            "one account may propose under one name and approve under another",
            "set allow_same_uid = false, and give people accounts of their own",
        );
    }
    for agent in having(config, Role::Agent) {
        let place = format!("principal {}", agent.name);
        if agent.uids.contains(&look.own_uid) {
            report.add(
                Gap::AgentIsDaemon,
                &place,
                "it has the account of the daemon: it can read the store and the credentials",
                "run the daemon under an account of its own",
            );
        }
        owner(config, agent, place, report);
    }
    duties(config, report);
}

fn both_sides(config: &Config, report: &mut Report) {
    let uids: BTreeSet<u32> = having(config, Role::Agent).flat_map(|known| known.uids.clone()).collect();
    for uid in uids {
        let names = |role| -> Vec<&str> {
            let own = having(config, role).filter(|known| known.uids.contains(&uid));
            own.map(|known| known.name.as_str()).collect()
        };
        let (asks, says) = (names(Role::Agent), names(Role::Approver));
        if !says.is_empty() {
            report.add(
                Gap::OneUidBothSides,
                format!("uid {uid}"),
                format!("it proposes as {} and approves as {}", asks.join(", "), says.join(", ")),
                "list an account of its own in the uids of each side",
            );
        }
    }
}

fn owner(config: &Config, agent: &ConfiguredPrincipal, place: String, report: &mut Report) {
    match &agent.owner {
        None => report.add(
            Gap::NoOwner,
            place,
            "no person answers for it, and nobody is kept from approving its writes",
            "set owner to the person who runs it",
        ),
        Some(owner) if !config.principals.iter().any(|known| known.person == *owner) => report.add(
            Gap::OwnerUnknown,
            place,
            "its owner is the person of no principal: nobody is kept from approving",
            "name the person of a principal",
        ),
        Some(_) => {}
    }
}

fn duties(config: &Config, report: &mut Report) {
    let tenants: BTreeSet<&str> = having(config, Role::Agent).map(|agent| agent.tenant.as_str()).collect();
    for tenant in tenants {
        if !having(config, Role::Operator).any(|known| known.tenant == tenant) {
            report.add(
                Gap::NoOperator,
                format!("tenant {tenant}"),
                "nobody can settle an unknown outcome there",
                "give a person of this tenant the role \"operator\"",
            );
        }
    }
    if having(config, Role::Admin).next().is_none() {
        report.add(
            Gap::NoAdmin,
            "principal",
            "nobody may accept a restore or look after principals",
            "give a person the role \"admin\"",
        );
    }
    if having(config, Role::Auditor).next().is_none() {
        report.add(
            Gap::NoAuditor,
            "principal",
            "nobody sees everything without being able to change it",
            "give a person the role \"auditor\"",
        );
    }
}
