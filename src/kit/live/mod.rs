//! The live part: the questions that any service behind a write tool must answer well, asked of the real one.
//!
//! The answers of the service are not enough: a ledger decides where there is one, a version where there is none, and
//! where nothing decides, the check says that it proved nothing.

mod effects;
mod lost;
mod questions;
mod sandbox;
mod service;
mod tenant;

use serde_json::Value;

pub(super) use sandbox::{Looked, Sandbox};
pub(super) use service::{Sent, Service, Stop, Write};

use self::effects::Judge;
use super::report::{Check, Part, Verdict};
use crate::contracts::EffectClass;

/// What a question came to.
pub(super) struct Told {
    verdict: Verdict,
    detail: String,
    remedy: String,
}

/// A question ends early where it has its answer.
type Answered = Result<Told, Told>;

impl Told {
    fn new(verdict: Verdict, detail: impl Into<String>, remedy: impl Into<String>) -> Told {
        Told { verdict, detail: detail.into(), remedy: remedy.into() }
    }

    fn holds(detail: impl Into<String>) -> Told {
        Told::new(Verdict::Passed, detail, "")
    }

    fn fails(detail: impl Into<String>, remedy: impl Into<String>) -> Told {
        Told::new(Verdict::Failed, detail, remedy)
    }

    fn unproven(detail: impl Into<String>, remedy: impl Into<String>) -> Told {
        Told::new(Verdict::Unproven, detail, remedy)
    }

    fn not_asked(detail: impl Into<String>) -> Told {
        Told::new(Verdict::NotAsked, detail, "")
    }

    fn check(self, name: &str) -> Check {
        Check {
            part: Part::Service,
            name: name.to_owned(),
            verdict: self.verdict,
            detail: self.detail,
            remedy: self.remedy,
        }
    }
}

fn told(answered: Answered) -> Told {
    match answered {
        Ok(told) | Err(told) => told,
    }
}

/// Asks everything that applies to the contract.
pub(super) async fn questions(service: &Service<'_>, other_tenant: Option<&Value>) -> Vec<Check> {
    let refused =
        |detail: String, remedy: &str| vec![Told::fails(detail, remedy).check("the service is there")];
    if service.contract.is_retired() {
        return vec![Told::not_asked("the version is retired").check("the service's promises")];
    }
    let sandbox = match service.look().await {
        Looked::Found(sandbox) => Some(sandbox),
        Looked::None => None,
        Looked::Unreachable(cause) => {
            return refused(format!("it does not answer: {cause}"), "start it, or name it with --base URL");
        }
    };
    let examples = service.contract.example_args();
    let Some(example) = examples.first() else {
        let remedy = "add an example to the contract whose values exist at the service";
        let told =
            Told::unproven("the contract has no example, so no value is known that exists there", remedy);
        return vec![told.check("the service's promises")];
    };
    let judge = Judge { service, sandbox: sandbox.as_ref() };
    match service.contract.class() {
        EffectClass::Read => {
            let mut checks = Vec::new();
            for (i, example) in examples.iter().enumerate() {
                let name = format!("example {} is answered", i + 1);
                checks.push(told(questions::answered(service, example).await).check(&name));
            }
            checks.push(told(tenant::read(service, other_tenant).await).check(tenant::NAME));
            checks
        }
        // A draft is sent like a write, so it promises the same.
        EffectClass::Draft | EffectClass::Write => vec![
            told(questions::same_again(&judge, example).await).check("same request again: one effect"),
            told(questions::other_arguments(&judge, example).await)
                .check("same key, other arguments: refused"),
            told(lost::answer(&judge, example).await).check("answer lost: the status tells"),
            told(questions::changed(&judge, example).await).check("resource changed in between: refused"),
            told(tenant::write(&judge, example, other_tenant).await).check(tenant::NAME),
        ],
    }
}
