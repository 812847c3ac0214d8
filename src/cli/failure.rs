//! How a command ends that does not do what it was asked to: what happened to the world, in which words, with which
//! exit code.

use std::io;
use std::path::PathBuf;

use super::client::ClientError;
use super::output::Output;
use super::output::paper::Paper;
use super::output::style::{Span, Style};
use super::output::values::safe;
use crate::config::ConfigError;
use crate::domain::Code;
use crate::domain::operation::Effect;
use crate::domain::problem::Problem;

/// How many lines of "What to do" stand below an error; the page has them all.
const ADVICE_LINES: usize = 6;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The daemon, or a file, says no.
    Problem(Box<Problem>),
    /// The socket.
    Client(ClientError),
    /// The configuration has errors.
    Config(Vec<ConfigError>),
    /// The command line asks for something that does not make sense.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do; empty for nothing.
        help: String,
    },
    /// A file of the command line cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The findings are already told; only the exit code is left.
    Told(Code),
    /// The standard output.
    Output(io::Error),
}

impl Failure {
    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: help.into() }
    }

    /// A mistake of this program.
    pub(crate) fn internal(detail: impl Into<String>) -> Failure {
        // Nothing was sent, whatever the dictionary says about the daemon's own mistakes.
        Failure::Problem(Box::new(Problem::new(Code::Internal, detail).effect(Effect::None)))
    }

    /// A refusal of this program, in the words of the dictionary.
    pub(crate) fn refusal(code: Code, detail: impl Into<String>) -> Failure {
        Failure::Problem(Box::new(Problem::new(code, detail)))
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            // Whoever reads has read enough.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Output(_) => Code::Internal.exit_code(),
            Failure::Problem(problem) => problem.code.exit_code(),
            Failure::Client(error) => error.code().exit_code(),
            Failure::Config(_) => Code::ConfigurationInvalid.exit_code(),
            Failure::Usage { .. } | Failure::File { .. } => Code::InvalidArgument.exit_code(),
            Failure::Told(code) => code.exit_code(),
        }
    }

    /// Says it on the standard error: words, or with `--json` one problem object.
    pub(crate) fn tell(&self, output: Output) {
        match self {
            Failure::Told(_) => return,
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            _ => {}
        }
        if output.wants_json() {
            if let Ok(text) = serde_json::to_string(&self.as_problem()) {
                output.note(&text);
            }
            return;
        }
        output.note_page(&self.page());
    }

    /// The words.
    pub(crate) fn page(&self) -> Paper {
        match self {
            Failure::Problem(problem) => problem_page(problem),
            Failure::Client(error) => titled(error.code(), &error.to_string(), &error.help()),
            Failure::Config(errors) => {
                let mut page = Paper::new();
                for error in errors {
                    for line in error.to_string().lines() {
                        page.line(vec![Span::plain(safe(line))]);
                    }
                }
                page
            }
            Failure::Usage { message, help } => {
                let mut page = Paper::new();
                page.prose(Style::Plain, &format!("error: {message}"));
                if !help.is_empty() {
                    page.prose(Style::Plain, &format!("help: {help}"));
                }
                page
            }
            Failure::File { path, error } => {
                let mut page = Paper::new();
                page.prose(Style::Plain, &format!("error: {}: {error}", safe(&path.display().to_string())));
                page
            }
            Failure::Output(error) => {
                let mut page = Paper::new();
                page.prose(Style::Plain, &format!("error: the output cannot be written: {error}"));
                page
            }
            Failure::Told(_) => Paper::new(),
        }
    }

    /// The same as the one envelope of all refusals.
    fn as_problem(&self) -> Problem {
        match self {
            Failure::Problem(problem) => (**problem).clone(),
            Failure::Client(error) => Problem::new(error.code(), error.to_string()).effect(error.effect()),
            Failure::Config(errors) => {
                let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Problem::new(Code::ConfigurationInvalid, all.join("\n"))
            }
            Failure::Usage { message, .. } => Problem::new(Code::InvalidArgument, message.clone()),
            Failure::File { path, error } => {
                Problem::new(Code::InvalidArgument, format!("{}: {error}", path.display()))
            }
            Failure::Output(error) => Problem::new(Code::Internal, error.to_string()).effect(Effect::None),
            Failure::Told(code) => Problem::new(*code, code.title()),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Failure {
        match error {
            ClientError::Refused(problem) => Failure::Problem(problem),
            other => Failure::Client(other),
        }
    }
}

fn titled(code: Code, message: &str, help: &[String]) -> Paper {
    let mut page = Paper::new();
    head(&mut page, code);
    page.prose(Style::Plain, message);
    for line in help {
        page.item(Style::Plain, line);
    }
    page
}

fn head(page: &mut Paper, code: Code) {
    page.line(vec![
        Span::new(Style::Before, format!("error[{code}]")),
        Span::plain(": "),
        Span::new(Style::Strong, code.title()),
    ]);
}

fn problem_page(problem: &Problem) -> Paper {
    let mut page = Paper::new();
    head(&mut page, problem.code);
    page.prose(Style::Plain, &safe(&problem.detail));
    for finding in &problem.errors {
        let place = if finding.pointer.is_empty() { "(the whole)" } else { &finding.pointer };
        page.item(Style::Plain, &format!("{}: {}", safe(place), safe(&finding.detail)));
    }
    if let Some(pointer) = problem.pointer.as_deref().filter(|_| problem.errors.is_empty()) {
        page.field("where", &safe(if pointer.is_empty() { "(the whole)" } else { pointer }));
    }
    if let Some(id) = problem.operation_id {
        let state = problem.state.as_deref().map(|state| format!(", {}", safe(state))).unwrap_or_default();
        page.field("operation", &format!("{id}{state}"));
    }
    page.field("effect", effect_words(problem.effect));
    for part in &problem.effects {
        page.field("", &format!("{}: {}", safe(&part.name), part.state));
    }
    if let Some(version) = &problem.current_version {
        page.value_field("version now", &super::output::values::json(Some(version)));
    }
    if let Some(seconds) = problem.retry_after {
        page.field("again", &format!("not before {seconds}s have passed"));
    }
    page.heading("What to do");
    for line in advice(problem.code).iter().take(ADVICE_LINES) {
        page.item(Style::Plain, line);
    }
    page.item(Style::Dim, &format!("writd error {}", problem.code));
    page
}

/// What an effect means for whoever reads it.
pub(crate) fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "none: nothing has happened",
        Effect::Applied => "applied: it has happened",
        Effect::Partial => "partial: some of it has happened",
        Effect::Unknown => "unknown: it may have happened, do not repeat it",
    }
}

/// The points of "What to do" of the page of a code, each as one line of prose.
fn advice(code: Code) -> Vec<String> {
    let section = code.page().split("## What to do").nth(1).unwrap_or_default();
    let mut points: Vec<String> = Vec::new();
    for line in section.lines().map(str::trim).take_while(|line| !line.starts_with("## ")) {
        match (line.strip_prefix("- "), points.last_mut()) {
            (Some(point), _) => points.push(point.to_owned()),
            (None, Some(last)) if !line.is_empty() => {
                last.push(' ');
                last.push_str(line);
            }
            _ => {}
        }
    }
    points.into_iter().map(|point| point.replace('`', "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_advice() {
        for code in Code::ALL {
            assert!(!advice(*code).is_empty(), "{code}: its page has a section \"What to do\" with points");
        }
    }

    #[test]
    fn a_closed_pipe_is_success() {
        let closed = Failure::Output(io::Error::from(io::ErrorKind::BrokenPipe));
        let full = Failure::Output(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!((closed.exit_code(), full.exit_code()), (0, 1));
    }
}
