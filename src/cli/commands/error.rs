//! `writd error`: the page of a code.

use clap::Args;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::Code;
use crate::domain::json::display::escape_and_cut;

/// How much of a word that is no code is repeated.
const SHOWN: usize = 40;
/// Codes that are less alike than this would only confuse.
const ALIKE: f64 = 0.6;

/// What an error code means and what to do.
#[derive(Args, Debug)]
pub(crate) struct ErrorArgs {
    /// The code, such as VERSION_CONFLICT; without it: all of them
    code: Option<String>,
}

/// Prints the page, or the list.
pub(super) fn run(args: ErrorArgs, context: &Context) -> Result<(), Failure> {
    let output = context.output;
    let Some(text) = args.code else {
        if output.wants_json() {
            return output.object(&Code::ALL.iter().map(|code| entry(*code)).collect::<Vec<_>>());
        }
        let lines: String = Code::ALL.iter().map(|code| format!("{:<24} {}\n", code, code.title())).collect();
        return output.data(lines.as_bytes());
    };
    let code = find(&text)?;
    if output.wants_json() { output.object(&entry(code)) } else { output.data(code.page().as_bytes()) }
}

fn find(text: &str) -> Result<Code, Failure> {
    let wanted = text.trim_start_matches(crate::domain::problem::Problem::TYPE_PREFIX).to_ascii_uppercase();
    let wanted = wanted.replace('-', "_");
    if let Ok(code) = wanted.parse::<Code>() {
        return Ok(code);
    }
    let near = Code::ALL
        .iter()
        .map(|code| (strsim::normalized_damerau_levenshtein(&wanted, code.as_str()), *code))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(alike, _)| *alike >= ALIKE);
    let help = match near {
        Some((_, code)) => format!("did you mean {code}?"),
        None => "writd error lists all of them; a code that is not in the list means stop".to_owned(),
    };
    Err(Failure::usage(format!("`{}` is no error code of this version", escape_and_cut(text, SHOWN)), help))
}

fn entry(code: Code) -> serde_json::Value {
    json!({
        "code": code, "title": code.title(), "category": code.category(), "effect": code.default_effect(),
        "retryable": code.retryable(), "status": code.http_status(), "exit": code.exit_code(),
        "owner": code.owner(), "since": code.since(), "page": code.page(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_any_case_and_near_ones_are_named() {
        assert_eq!(find("version-conflict").unwrap(), Code::VersionConflict);
        assert_eq!(find("urn:writd:error:DENIED").unwrap(), Code::Denied);
        let Err(Failure::Usage { help, .. }) = find("VERSION_CONFLIT") else { panic!() };
        assert_eq!(help, "did you mean VERSION_CONFLICT?");
        let Err(Failure::Usage { message, .. }) = find("\u{202e}x") else { panic!() };
        assert!(message.contains("\\u{202e}"), "{message}");
    }
}
