//! The live part: the questions that any service behind a write tool must answer well, asked of the real one.
//!
//! The answers of the service are not enough: a ledger decides where there is one, a version where there is none, and
//! where nothing decides, the check says that it proved nothing.

mod effects;
mod given;
mod lost;
mod questions;
mod sandbox;
mod service;
mod tenant;

use serde_json::Value;

pub(super) use given::make_true;
pub(super) use sandbox::{Looked, Sandbox};
pub(super) use service::{Sent, Service, Stop, Write};

use self::effects::Judge;
use super::report::{Check, Part, Verdict};
use crate::contracts::EffectClass;
use crate::contracts::cases::Given;

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
pub(super) async fn questions(
    service: &Service<'_>,
    other_tenant: Option<&Value>,
    before: &[Given],
) -> Vec<Check> {
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
    let mut checks = Vec::new();
    if service.contract.class() == EffectClass::Read {
        for (i, example) in examples.iter().enumerate() {
            let answered = match ready(&judge, before).await {
                Ok(()) => questions::answered(service, example).await,
                Err(told) => Err(told),
            };
            checks.push(told(answered).check(&format!("example {} is answered", i + 1)));
        }
        checks.push(told(tenant::read(service, other_tenant).await).check(tenant::NAME));
        return checks;
    }
    // A draft is sent like a write, so it promises the same.
    for question in Question::ALL {
        let answered = match ready(&judge, before).await {
            Ok(()) => match question {
                Question::SameAgain => questions::same_again(&judge, example).await,
                Question::OtherArguments => questions::other_arguments(&judge, example).await,
                Question::AnswerLost => lost::answer(&judge, example).await,
                Question::Changed => questions::changed(&judge, example).await,
                Question::OtherTenant => tenant::write(&judge, example, other_tenant).await,
            },
            Err(told) => Err(told),
        };
        checks.push(told(answered).check(question.name()));
    }
    checks
}

/// What any service behind a write is asked.
#[derive(Clone, Copy)]
enum Question {
    SameAgain,
    OtherArguments,
    AnswerLost,
    Changed,
    OtherTenant,
}

impl Question {
    const ALL: [Question; 5] = [
        Question::SameAgain,
        Question::OtherArguments,
        Question::AnswerLost,
        Question::Changed,
        Question::OtherTenant,
    ];

    const fn name(self) -> &'static str {
        match self {
            Question::SameAgain => "same request again: one effect",
            Question::OtherArguments => "same key, other arguments: refused",
            Question::AnswerLost => "answer lost: the status tells",
            Question::Changed => "resource changed in between: refused",
            Question::OtherTenant => tenant::NAME,
        }
    }
}

/// Makes true what the owner says must be true before a question.
async fn ready(judge: &Judge<'_, '_>, before: &[Given]) -> Result<(), Told> {
    for given in before {
        if let Err(why) = make_true(judge.service, judge.sandbox, given).await {
            let remedy = "see `before_questions` in the *.cases.yaml beside the contract";
            return Err(match judge.sandbox {
                Some(_) => Told::fails(format!("what must be true before is not: {why}"), remedy),
                None => Told::unproven(format!("what must be true before is not: {why}"), remedy),
            });
        }
    }
    Ok(())
}
