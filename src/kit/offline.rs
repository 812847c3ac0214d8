//! The offline part: what the admission of the daemon says to the smallest valid input, to the examples, and to every
//! input just outside a boundary. Nothing can be sent here: there is nothing to send with.

use serde_json::Value;

use super::generate::{self, Case, Suite};
use super::report::{Check, Part};
use crate::contracts::Contract;
use crate::domain::Code;
use crate::ports::Tool;

/// Where arguments stand in a request: in front of every pointer of a refusal.
const ARGUMENTS: &str = "/arguments";

/// The suite of a contract's input.
#[must_use]
pub fn suite_of(contract: &Contract) -> Suite {
    generate::suite(contract.input(), &contract.example_args())
}

/// Holds the admission to the suite.
#[must_use]
pub fn checks(contract: &Contract, tool: &dyn Tool, suite: &Suite) -> Vec<Check> {
    if contract.is_retired() {
        return vec![retired(tool, suite)];
    }
    let mut checks = vec![smallest(tool, suite)];
    for (i, args) in contract.example_args().iter().enumerate() {
        checks.push(admitted(
            tool,
            format!("example {} is taken", i + 1),
            args,
            "mend the example or the schema",
        ));
    }
    checks.extend(suite.cases.iter().map(|case| boundary(tool, case)));
    for (found, why) in &suite.without {
        let name = format!("{} at {}", found.keyword, found.schema);
        let remedy = "add an example that comes near it, or write the schema in a simpler way";
        checks.push(Check::failed(
            Part::Boundary,
            name,
            format!("no input outside it could be made: {why}"),
            remedy,
        ));
    }
    checks
}

fn retired(tool: &dyn Tool, suite: &Suite) -> Check {
    let name = "every input is refused: the version is retired";
    let input = suite.smallest.clone().unwrap_or(Value::Null);
    match tool.admit(&input) {
        Err(problem) if problem.code == Code::ToolRetired => Check::passed(Part::Input, name, ""),
        _ => Check::failed(Part::Input, name, "it is not", "this is a mistake of the daemon"),
    }
}

fn smallest(tool: &dyn Tool, suite: &Suite) -> Check {
    let name = "the smallest valid input is taken";
    let remedy = "add an example, or write the schema in a simpler way";
    match &suite.smallest {
        Ok(input) => admitted(tool, name.to_owned(), input, remedy),
        Err(why) => Check::failed(Part::Input, name, format!("none could be made: {why}"), remedy),
    }
}

fn admitted(tool: &dyn Tool, name: String, input: &Value, remedy: &str) -> Check {
    match tool.admit(input) {
        Ok(_) => Check::passed(Part::Input, name, ""),
        Err(problem) => {
            let place = problem.pointer.as_deref().unwrap_or(ARGUMENTS);
            Check::failed(Part::Input, name, format!("refused at {place}: {}", problem.detail), remedy)
        }
    }
}

fn boundary(tool: &dyn Tool, case: &Case) -> Check {
    let found = &case.boundary;
    let member = found.member.as_deref().map(|member| format!(" `{member}`")).unwrap_or_default();
    let place = if found.pointer.is_empty() { "the whole" } else { &found.pointer };
    let name = format!("{}{member} of {place}", found.keyword);
    let remedy = format!("{} of the input schema is not what it says", found.schema);
    let failed = |detail: String| Check::failed(Part::Boundary, name.clone(), detail, remedy.clone());
    match tool.admit(&case.input) {
        Ok(_) => failed("an input outside it was taken".to_owned()),
        Err(problem) if problem.code != Code::InvalidArgument => {
            failed(format!("refused with {}, not with INVALID_ARGUMENT", problem.code))
        }
        Err(problem) => {
            let places = || problem.errors.iter().filter_map(|error| error.pointer.strip_prefix(ARGUMENTS));
            if places().any(|place| case.is_refused_at(place)) {
                Check::passed(Part::Boundary, name, "")
            } else {
                let found: Vec<&str> = places().collect();
                failed(format!("refused at {}, not at {}", found.join(", "), case.refused_at))
            }
        }
    }
}
