//! Where the words go: data to the standard output, everything else to the standard error, colour only on a terminal.
//! Who may call it: the commands. What it never does: decide what is shown.

pub(crate) mod paper;
pub(crate) mod style;
pub(crate) mod values;
pub(crate) mod wrap;

use std::io::{self, IsTerminal as _, Write as _};

use clap::ColorChoice;
use serde::Serialize;

use super::failure::Failure;
use paper::Paper;

/// The two streams and how they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    colour: bool,
    colour_of_notes: bool,
}

impl Output {
    /// As the command line and the terminals say.
    pub(crate) fn new(json: bool, choice: ColorChoice) -> Output {
        // https://no-color.org: any value that is not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let colour = |terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !refused,
        };
        Output {
            json,
            colour: colour(io::stdout().is_terminal()),
            colour_of_notes: colour(io::stderr().is_terminal()),
        }
    }

    /// Whether wire objects are wanted.
    pub(crate) fn wants_json(self) -> bool {
        self.json
    }

    /// Whether a person can be asked and can see the question.
    pub(crate) fn can_ask(self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal() && io::stdout().is_terminal()
    }

    /// The answer: the wire object with `--json`, else what `page` makes of it.
    pub(crate) fn answer<T: Serialize>(self, wire: &T, page: impl FnOnce() -> Paper) -> Result<(), Failure> {
        if self.json { self.object(wire) } else { self.page(&page()) }
    }

    /// A page of data.
    pub(crate) fn page(self, page: &Paper) -> Result<(), Failure> {
        self.data(page.render(self.colour).as_bytes())
    }

    /// One object on one line.
    pub(crate) fn object<T: Serialize>(self, object: &T) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(object)
            .map_err(|error| Failure::internal(format!("the answer cannot be written as JSON: {error}")))?;
        text.push(b'\n');
        self.data(&text)
    }

    /// Bytes exactly as they are.
    pub(crate) fn data(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Output)
    }

    /// A page beside the data.
    pub(crate) fn note_page(self, page: &Paper) {
        self.note(&page.render(self.colour_of_notes));
    }

    /// A remark for people. If it cannot be written, there is nobody to tell.
    pub(crate) fn note(self, text: &str) {
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = err.write_all(b"\n");
        }
    }

    /// A question on the standard error, and the line that a person typed; `None` at the end of the input.
    pub(crate) fn ask(self, question: &str) -> Result<Option<String>, Failure> {
        let mut err = io::stderr().lock();
        let _ = err.write_all(question.as_bytes());
        let _ = err.flush();
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line).map_err(|error| Failure::Usage {
            message: format!("the terminal cannot be read: {error}"),
            help: String::new(),
        })?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }
}
