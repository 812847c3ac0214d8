//! Who acts in the samples.

use crate::domain::operation::Actor;
use crate::domain::principal::{Assurance, Principal, PrincipalKind, Role};

/// Who.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Person {
    /// The agent that asks.
    Planner,
    /// An approver.
    Ada,
    /// Another approver.
    Bob,
    /// A second identity of the person Ada.
    AdaToo,
    /// The owner of the agent; an approver by role.
    Otto,
    /// The person for whom the agent acts; an approver by role.
    Carla,
    /// An operator.
    Olga,
    /// An administrator.
    Root,
    /// Somebody without a role.
    Nobody,
    /// The daemon.
    Daemon,
}

impl Person {
    /// All of them.
    pub(crate) const ALL: [Person; 10] = [
        Person::Planner,
        Person::Ada,
        Person::Bob,
        Person::AdaToo,
        Person::Otto,
        Person::Carla,
        Person::Olga,
        Person::Root,
        Person::Nobody,
        Person::Daemon,
    ];
}

/// The principal.
pub(crate) fn principal(person: Person) -> Principal {
    let user = |name: &str, person: &str, kind: PrincipalKind, roles: &[Role]| Principal {
        name: name.into(),
        kind,
        person: person.into(),
        tenant: "acme".into(),
        roles: roles.to_vec(),
        groups: Vec::new(),
        assurance: Assurance::Token,
        on_behalf_of: None,
        token: None,
        run: None,
    };
    match person {
        Person::Planner => user("planner", "planner", PrincipalKind::Agent, &[Role::Agent]),
        Person::Ada => user("ada", "ada", PrincipalKind::User, &[Role::Approver]),
        Person::Bob => user("bob", "bob", PrincipalKind::User, &[Role::Approver]),
        Person::AdaToo => user("ada-ops", "ada", PrincipalKind::User, &[Role::Approver]),
        Person::Otto => user("otto", "otto", PrincipalKind::User, &[Role::Approver]),
        Person::Carla => user("carla", "carla", PrincipalKind::User, &[Role::Approver]),
        Person::Olga => user("olga", "olga", PrincipalKind::Operator, &[Role::Operator]),
        Person::Root => user("root", "root", PrincipalKind::User, &[Role::Admin]),
        Person::Nobody => user("nobody", "nobody", PrincipalKind::User, &[]),
        Person::Daemon => Principal::daemon(),
    }
}

/// As it is recorded.
pub(crate) fn actor(person: Person) -> Actor {
    Actor::from(&principal(person))
}
