//! The words of the demonstration: who does what, and what came of it. Silent with `--json`.

use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::safe;

/// Tells as things happen.
#[derive(Clone, Copy)]
pub(super) struct Story {
    output: Output,
}

impl Story {
    pub(super) fn new(output: Output) -> Story {
        Story { output }
    }

    /// Begins a scene.
    pub(super) fn scene(self, number: u32, title: &str) -> Result<(), Failure> {
        let mut page = Paper::new();
        page.line(Vec::new());
        page.line(vec![Span::new(Style::Strong, format!("{number}. {title}"))]);
        self.page(&page)
    }

    /// Somebody does or sees something.
    pub(super) fn who(self, who: &str, text: impl AsRef<str>) -> Result<(), Failure> {
        self.styled(who, Style::Plain, text)
    }

    /// Something is proven.
    pub(super) fn proven(self, who: &str, text: impl AsRef<str>) -> Result<(), Failure> {
        self.styled(who, Style::After, text)
    }

    /// Something is refused, or not known.
    pub(super) fn warned(self, who: &str, text: impl AsRef<str>) -> Result<(), Failure> {
        self.styled(who, Style::Warn, text)
    }

    /// Words between the scenes.
    pub(super) fn says(self, text: &str) -> Result<(), Failure> {
        let mut page = Paper::new();
        page.prose(Style::Plain, text);
        self.page(&page)
    }

    /// A page as the command that is meant prints it.
    pub(super) fn page(self, page: &Paper) -> Result<(), Failure> {
        if self.output.wants_json() { Ok(()) } else { self.output.page(page) }
    }

    fn styled(self, who: &str, style: Style, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut page = Paper::new();
        page.styled_field(who, style, &safe(text.as_ref()));
        self.page(&page)
    }
}
