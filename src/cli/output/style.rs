//! Colours: what a piece of text means, and how a terminal shows it. Nothing is said by colour alone.

/// What a piece of text means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Style {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading, or the one thing to read first.
    Strong,
    /// Labels and other things beside the matter.
    Dim,
    /// What was, and what is refused.
    Before,
    /// What will be, and what is proven.
    After,
    /// What somebody has to look at.
    Warn,
}

impl Style {
    /// The escape sequence that switches it on.
    fn sequence(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "\u{1b}[1m",
            Style::Dim => "\u{1b}[2m",
            Style::Before => "\u{1b}[31m",
            Style::After => "\u{1b}[32m",
            Style::Warn => "\u{1b}[33m",
        }
    }
}

/// A piece of text with one meaning. The text is already safe to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Span {
    /// This text with this meaning.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Span {
        Span { text: text.into(), style }
    }

    /// Plain text.
    pub(crate) fn plain(text: impl Into<String>) -> Span {
        Span::new(Style::Plain, text)
    }

    /// Adds it to a line, coloured or not.
    pub(crate) fn write(&self, line: &mut String, colour: bool) {
        let sequence = self.style.sequence();
        if colour && !sequence.is_empty() && !self.text.is_empty() {
            line.push_str(sequence);
            line.push_str(&self.text);
            line.push_str("\u{1b}[0m");
        } else {
            line.push_str(&self.text);
        }
    }
}
