//! What a token is worth, and what no text gives away.

use super::*;
use crate::domain::Millis;
use crate::domain::run::RunEnd;

const RUN: RunId = RunId::from_u128(7);

fn principal(name: &str, kind: PrincipalKind, roles: &[Role]) -> Principal {
    Principal {
        name: name.into(),
        kind,
        person: format!("{name}-person"),
        tenant: "acme".into(),
        roles: roles.to_vec(),
        groups: Vec::new(),
        assurance: Assurance::LocalUid,
        on_behalf_of: None,
        token: None,
        run: None,
    }
}

fn known(name: &str) -> Option<Principal> {
    match name {
        "bot" => Some(principal("bot", PrincipalKind::Agent, &[Role::Agent])),
        "ada" => Some(principal("ada", PrincipalKind::User, &[Role::Approver, Role::Auditor])),
        "eve" => Some(Principal {
            tenant: "other".into(),
            ..principal("eve", PrincipalKind::User, &[Role::Admin])
        }),
        _ => None,
    }
}

fn token(principal: &str, roles: &[Role]) -> Token {
    Token {
        id: TokenId::from_u128(1),
        principal: principal.into(),
        tenant: "acme".into(),
        roles: roles.to_vec(),
        on_behalf_of: None,
        created: Time::from_millis(0),
        by: Actor::daemon(),
        expires: Time::from_millis(1000),
        epoch: 3,
        revoked: None,
    }
}

fn at(millis: i64) -> (Time, u64) {
    (Time::from_millis(millis), 3)
}

#[test]
fn a_secret_has_one_form_and_no_debug_text() {
    for secret in [Secret::of_principal([0xab; 32]), Secret::of_run(RUN, [0x12; 32])] {
        let (run, digest, shown) = (secret.run(), secret.digest(), format!("{secret:?}"));
        let text = secret.reveal();
        let again = Secret::parse(&text).unwrap();
        assert_eq!((again.run(), again.digest()), (run, digest));
        assert_eq!(shown, "Secret(…)");
        for wrong in [text.to_uppercase(), format!("{text} "), format!("{text}0"), text[1..].to_owned()] {
            assert!(Secret::parse(&wrong).is_none(), "{wrong}");
        }
        assert!(Secret::parse(&text[..text.len() - 1]).is_none());
    }
    assert_eq!(Secret::of_run(RUN, [0; 32]).run(), Some(RUN));
    let swapped = Secret::of_principal([1; 32]).reveal().replace("writd_t_", "writd_r_");
    for wrong in ["", "writd_t_", "writd_r_", "writd_r__", swapped.as_str(), "Bearer x"] {
        assert!(Secret::parse(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn a_token_is_worth_what_its_principal_is_worth_now_and_no_more() {
    let sha = Digest::of(b"x");
    let worth = |token: &Token, when| token.bearer(sha, when, &known).map(|bearer| bearer.roles);
    let ada = token("ada", &[Role::Approver, Role::Admin]);
    assert_eq!(worth(&ada, at(999)), Some(vec![Role::Approver]), "the role that ada lost is gone");
    let bearer = ada.bearer(sha, at(0), &known).unwrap();
    assert_eq!((bearer.assurance, bearer.token), (Assurance::Token, Some(sha)));
    assert_eq!(worth(&ada, at(1000)), None, "its time is over");
    assert_eq!(worth(&ada, (Time::from_millis(0), 4)), None, "the store was brought back");
    let revoked = Token { revoked: Some((Time::from_millis(1), Actor::daemon())), ..ada };
    assert_eq!(worth(&revoked, at(0)), None);
    assert_eq!(worth(&token("nobody", &[Role::Agent]), at(0)), None, "its principal is gone or disabled");
    assert_eq!(
        worth(&token("eve", &[Role::Admin]), at(0)),
        None,
        "its principal has moved to another tenant"
    );
}

#[test]
fn a_delegation_names_a_person_who_is_there() {
    let sha = Digest::of(b"x");
    let for_whom = |principal: &str, user: &str| {
        let token = Token { on_behalf_of: Some(user.into()), ..token(principal, &[Role::Agent]) };
        token.bearer(sha, at(0), &known).map(|bearer| bearer.on_behalf_of)
    };
    assert_eq!(for_whom("bot", "ada"), Some(Some("ada-person".into())), "the person, whatever name she uses");
    for gone in ["nobody", "eve"] {
        assert_eq!(for_whom("bot", gone), None);
    }
    assert_eq!(for_whom("ada", "bot"), None, "people act for themselves");
}

#[test]
fn the_states_of_a_token() {
    let active = token("bot", &[]);
    let states = [
        (active.clone(), at(0), TokenState::Active),
        (active.clone(), at(1000), TokenState::Expired),
        (active.clone(), (Time::from_millis(0), 0), TokenState::Void),
        (
            Token { revoked: Some((Time::from_millis(0), Actor::daemon())), ..active },
            at(5000),
            TokenState::Revoked,
        ),
    ];
    for (token, (now, epoch), state) in states {
        assert_eq!(token.state(now, epoch), state, "{}", state.as_str());
    }
}

#[test]
fn the_token_of_a_run_is_worth_nothing_but_its_run_and_dies_with_it() {
    let bot = principal("bot", PrincipalKind::Agent, &[Role::Agent, Role::Operator]);
    let run = Run {
        id: RUN,
        tenant: "acme".into(),
        opener: Actor::from(&bot),
        on_behalf_of: Some("ada-person".into()),
        purpose: String::new(),
        tools: Vec::new(),
        opened: Time::from_millis(0),
        deadline: Some(Time::from_millis(500)),
        trace: crate::domain::trace::TraceId::of_run(RUN),
        contracts: Digest::ZERO,
        ended: None,
    };
    let token = RunToken {
        run: RUN,
        sha256: Digest::of(b"r"),
        issued: run.opened,
        count: 1,
        through: None,
        epoch: 3,
    };
    let bearer = |run: &Run, when, opener: &Principal| token.bearer(run, when, opener.clone(), &|_| true);
    let is = bearer(&run, at(0), &bot).unwrap();
    assert_eq!((is.run, is.on_behalf_of.as_deref()), (Some(RUN), Some("ada-person")));
    assert_eq!((is.roles, is.assurance), (vec![Role::Agent], Assurance::Token), "no role beside the agent's");
    assert_eq!(bearer(&run, at(500), &bot), None, "the deadline has passed");
    assert_eq!(bearer(&run, (Time::from_millis(0), 4), &bot), None, "the store was brought back");
    let ended = Run { ended: Some((Time::from_millis(1).plus(Millis(1)), RunEnd::Cancelled)), ..run.clone() };
    assert_eq!(bearer(&ended, at(2), &bot), None);
    assert_eq!(bearer(&run, at(0), &principal("other", PrincipalKind::Agent, &[Role::Agent])), None);
    assert_eq!(token.bearer(&run, at(0), bot, &|_| false), None, "the person is gone");
}
