//! Plays an owner's cases against a sandbox: GIVEN is made true by its own routes, WHEN goes the way of the daemon, THEN
//! is held against the answer and the ledger.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::live::{Looked, Sandbox, Sent, Service, Stop, make_true};
use super::report::{Check, Part};
use crate::contracts::cases::{Case, CaseFile, Outcome, Then, When};
use crate::contracts::{Classified, EffectClass, StatusAnswer};
use crate::domain::json::pointer;
use crate::domain::problem::Problem;

/// Between two questions to a status route that does not know yet.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// What a case came to.
struct Came {
    outcome: Outcome,
    code: Option<String>,
    /// Pointers of a refusal, into the arguments.
    at: Vec<String>,
    answer: Option<Value>,
    words: String,
}

/// Plays every case of the files that is about the contract of this service.
pub(super) async fn play(service: &Service<'_>, files: &[CaseFile]) -> Vec<Check> {
    let tool = service.contract.tool_ref();
    let cases = files.iter().flat_map(|file| &file.cases).filter(|case| case.when.tool == tool);
    let cases: Vec<&Case> = cases.collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let sandbox = match service.look().await {
        Looked::Found(sandbox) => sandbox,
        Looked::None | Looked::Unreachable(_) => {
            let why = "there is no sandbox: what is given cannot be made true";
            let unproven =
                |case: &&Case| Check::unproven(Part::Case, &case.name, why, "try it against a sandbox");
            return cases.iter().map(unproven).collect();
        }
    };
    let mut checks = Vec::new();
    for case in cases {
        checks.push(match one(service, &sandbox, case).await {
            Ok(()) => Check::passed(Part::Case, &case.name, ""),
            Err(why) => {
                Check::failed(Part::Case, &case.name, why, "mend the service, the contract or the case")
            }
        });
    }
    checks
}

async fn one(service: &Service<'_>, sandbox: &Sandbox<'_>, case: &Case) -> Result<(), String> {
    for given in &case.given {
        make_true(service, Some(sandbox), given).await.map_err(|why| format!("given: {why}"))?;
    }
    let before = sandbox.effects_in_all().await?;
    let came = when(service, &case.when).await;
    let effects = sandbox.effects_in_all().await?.saturating_sub(before);
    // A fault that was not used up is not for the next case.
    sandbox.set("DELETE", "faults", &Value::Null).await?;
    compare(&case.then, &came, effects)
}

async fn when(service: &Service<'_>, when: &When) -> Came {
    if service.contract.class() == EffectClass::Read {
        let mut came = read(service, &when.args).await;
        for _ in 1..when.times {
            came = read(service, &when.args).await;
        }
        return came;
    }
    let write = match service.prepare(&when.args, service.identity()).await {
        Ok(write) => write,
        Err(stop) => return stopped(stop),
    };
    let mut sent = service.send(&write).await;
    for _ in 1..when.times {
        sent = service.send(&write).await;
    }
    if when.ask_status {
        return settled(service, &write).await;
    }
    written(sent)
}

async fn read(service: &Service<'_>, args: &Value) -> Came {
    match service.read(service.tool(), args).await {
        Ok(data) => Came { answer: Some(data), ..Came::of(Outcome::Answered, "it was answered") },
        Err(stop) => stopped(stop),
    }
}

async fn settled(service: &Service<'_>, write: &super::live::Write) -> Came {
    let began = Instant::now();
    loop {
        let words = match service.status(write).await {
            StatusAnswer::Succeeded(receipt) => {
                return Came {
                    answer: Some(receipt.data),
                    ..Came::of(Outcome::Succeeded, "the status proves it")
                };
            }
            StatusAnswer::Failed { code, .. } => {
                return Came {
                    code: Some(code),
                    ..Came::of(Outcome::Failed, "the status says that it failed")
                };
            }
            StatusAnswer::NotFound => "the status does not find it".to_owned(),
            StatusAnswer::InProgress { .. } => "the status says that it is running".to_owned(),
            StatusAnswer::Inconclusive { cause } => cause,
        };
        if began.elapsed() >= service.patience() {
            return Came::of(Outcome::Unknown, words);
        }
        sleep(ASK_EVERY).await;
    }
}

fn stopped(stop: Stop) -> Came {
    let words = stop.words();
    let of_problem = |outcome, problem: &Problem| Came {
        code: Some(problem.code.to_string()),
        at: places(problem),
        ..Came::of(outcome, words.clone())
    };
    match &stop {
        Stop::Refused(problem) => of_problem(Outcome::Refused, problem),
        Stop::Read(problem) => of_problem(Outcome::Failed, problem),
        Stop::NoAnswer(_) => Came::of(Outcome::Unknown, words),
    }
}

/// Pointers into the arguments.
fn places(problem: &Problem) -> Vec<String> {
    let all = problem.errors.iter().map(|error| error.pointer.as_str()).chain(problem.pointer.as_deref());
    all.map(|place| place.strip_prefix("/arguments").unwrap_or(place).to_owned()).collect()
}

fn written(sent: Sent) -> Came {
    let words = sent.words();
    match sent {
        Sent::Answered(_, Classified::Receipt(receipt)) => {
            Came { answer: Some(receipt.data), ..Came::of(Outcome::Succeeded, words) }
        }
        Sent::Answered(answer, Classified::Failed { code, .. }) => {
            Came { code: Some(code), answer: answer.into_json(), ..Came::of(Outcome::Failed, words) }
        }
        Sent::Answered(answer, Classified::NoEffectRetryable { code, .. }) => {
            Came { code: Some(code), answer: answer.into_json(), ..Came::of(Outcome::TryAgain, words) }
        }
        Sent::Answered(answer, Classified::Partial { code, .. }) => {
            Came { code: Some(code), answer: answer.into_json(), ..Came::of(Outcome::Partial, words) }
        }
        Sent::Answered(answer, Classified::Accepted { .. }) => {
            Came { answer: answer.into_json(), ..Came::of(Outcome::Accepted, words) }
        }
        Sent::Answered(answer, Classified::Ambiguous { .. }) => {
            Came { answer: answer.into_json(), ..Came::of(Outcome::Unknown, words) }
        }
        Sent::Lost(_) => Came::of(Outcome::Unknown, words),
        Sent::Nothing(_) => Came::of(Outcome::TryAgain, words),
    }
}

impl Came {
    fn of(outcome: Outcome, words: impl Into<String>) -> Came {
        Came { outcome, code: None, at: Vec::new(), answer: None, words: words.into() }
    }
}

/// The first difference, without values of the service.
fn compare(then: &Then, came: &Came, effects: u64) -> Result<(), String> {
    if then.outcome != came.outcome {
        let (wanted, found) = (then.outcome.as_str(), came.outcome.as_str());
        return Err(format!("it came to {found}, not {wanted}: {}", came.words));
    }
    if let Some(wanted) = &then.code
        && came.code.as_ref() != Some(wanted)
    {
        let found = came.code.as_deref().unwrap_or("none");
        return Err(format!("the code is {found}, not {wanted}"));
    }
    if let Some(wanted) = then.at.iter().find(|place| !came.at.contains(place)) {
        return Err(format!("it was refused at {}, not at {wanted}", came.at.join(", ")));
    }
    if let Some(wanted) = then.effects.filter(|wanted| u64::from(*wanted) != effects) {
        return Err(format!("the ledger has {effects} effects of this case, not {wanted}"));
    }
    for (place, wanted) in &then.answer {
        match came.answer.as_ref().and_then(|answer| pointer::lookup(answer, place)) {
            None => return Err(format!("the answer has nothing at {place}")),
            Some(found) if found != wanted => return Err(format!("the answer has another value at {place}")),
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn then() -> Then {
        let answer = vec![("/a/b".to_owned(), json!(1))];
        Then {
            outcome: Outcome::Failed,
            code: Some("NOT_FOUND".into()),
            at: vec!["/x".into()],
            effects: Some(0),
            answer,
        }
    }

    fn came() -> Came {
        Came {
            code: Some("NOT_FOUND".into()),
            at: vec!["/x".into()],
            answer: Some(json!({"a": {"b": 1}})),
            ..Came::of(Outcome::Failed, "words")
        }
    }

    #[test]
    fn every_part_of_then_can_fail() {
        assert_eq!(compare(&then(), &came(), 0), Ok(()));
        let wrong = [
            (Came { outcome: Outcome::Unknown, ..came() }, 0, "it came to unknown, not failed: words"),
            (Came { code: None, ..came() }, 0, "the code is none, not NOT_FOUND"),
            (Came { at: vec!["/y".into()], ..came() }, 0, "it was refused at /y, not at /x"),
            (came(), 1, "the ledger has 1 effects of this case, not 0"),
            (Came { answer: None, ..came() }, 0, "the answer has nothing at /a/b"),
            (
                Came { answer: Some(json!({"a": {"b": 2}})), ..came() },
                0,
                "the answer has another value at /a/b",
            ),
        ];
        for (came, effects, why) in wrong {
            assert_eq!(compare(&then(), &came, effects), Err(why.to_owned()));
        }
    }
}
