//! A sheet of 80 columns: headings, labelled fields, lists, boxes, commands. It knows nothing of operations.

use super::style::{Span, Style};
use super::wrap;

/// The width that everything fits into: the narrowest terminal that people still use.
pub(crate) const WIDTH: usize = 80;
/// How far everything below a heading stands from the edge.
const INDENT: usize = 2;
/// The width of labels; what remains beside them holds a digest on one line.
pub(crate) const LABEL: usize = 14;

/// Lines, written one after the other.
#[derive(Debug, Default)]
pub(crate) struct Paper {
    lines: Vec<Vec<Span>>,
}

impl Paper {
    /// An empty sheet.
    pub(crate) fn new() -> Paper {
        Paper::default()
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, spans: Vec<Span>) {
        self.lines.push(spans);
    }

    /// An empty line, never two.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(Vec::new());
        }
    }

    /// A heading over what follows.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.line(vec![Span::new(Style::Strong, text)]);
    }

    /// Prose from the edge.
    pub(crate) fn prose(&mut self, style: Style, text: &str) {
        for line in wrap::text(text, WIDTH) {
            self.line(vec![Span::new(style, line)]);
        }
    }

    /// A label and a text, broken between words below itself.
    pub(crate) fn field(&mut self, label: &str, text: &str) {
        self.styled_field(label, Style::Plain, text);
    }

    /// The same with a meaning.
    pub(crate) fn styled_field(&mut self, label: &str, style: Style, text: &str) {
        self.labelled(LABEL, label, style, wrap::text(text, WIDTH - INDENT - LABEL));
    }

    /// A label and a value: never cut, every character shown.
    pub(crate) fn value_field(&mut self, label: &str, text: &str) {
        self.wide_value_field(LABEL, label, text);
    }

    /// The same with labels of another width.
    pub(crate) fn wide_value_field(&mut self, width: usize, label: &str, text: &str) {
        self.labelled(width, label, Style::Plain, wrap::value(text, WIDTH - INDENT - width));
    }

    fn labelled(&mut self, width: usize, label: &str, style: Style, lines: Vec<String>) {
        let narrow = wrap::columns(label) < width;
        let mut label = Some(label.to_owned());
        if !narrow {
            for line in wrap::value(&label.take().unwrap_or_default(), WIDTH - INDENT) {
                self.line(vec![Span::plain(" ".repeat(INDENT)), Span::new(Style::Dim, line)]);
            }
        }
        for line in lines {
            let shown = label.take().unwrap_or_default();
            let margin = " ".repeat(width - wrap::columns(&shown));
            self.line(vec![
                Span::plain(" ".repeat(INDENT)),
                Span::new(Style::Dim, shown),
                Span::plain(margin),
                Span::new(style, line),
            ]);
        }
    }

    /// A point of a list.
    pub(crate) fn item(&mut self, style: Style, text: &str) {
        for (index, line) in wrap::text(text, WIDTH - INDENT - 2).into_iter().enumerate() {
            let mark = if index == 0 { "- " } else { "  " };
            self.line(vec![Span::plain(" ".repeat(INDENT)), Span::plain(mark), Span::new(style, line)]);
        }
    }

    /// A value below a mark, never cut.
    pub(crate) fn marked_value(&mut self, indent: usize, mark: &str, style: Style, text: &str) {
        let start = indent + wrap::columns(mark);
        for (index, line) in wrap::styled_value(text, WIDTH - start, style).into_iter().enumerate() {
            let before = if index == 0 { mark.to_owned() } else { " ".repeat(wrap::columns(mark)) };
            self.line(vec![Span::plain(" ".repeat(indent)), Span::new(style, before), line]);
        }
    }

    /// A text that somebody else wrote, in a box that says so. The text cannot end the box: it has no line breaks of
    /// its own, and each of its lines stands between two bars.
    pub(crate) fn boxed(&mut self, title: &str, text: &str) {
        let inner = WIDTH - INDENT - 4;
        let rule = "─".repeat((inner + 1).saturating_sub(wrap::columns(title) + 2));
        self.line(vec![Span::new(Style::Warn, format!("  ┌─ {title} {rule}┐"))]);
        for line in wrap::text(text, inner) {
            let margin = " ".repeat(inner.saturating_sub(wrap::columns(&line)));
            self.line(vec![
                Span::new(Style::Warn, "  │ "),
                Span::plain(line),
                Span::plain(margin),
                Span::new(Style::Warn, " │"),
            ]);
        }
        self.line(vec![Span::new(Style::Warn, format!("  └{}┘", "─".repeat(inner + 2)))]);
    }

    /// A command to type. It is never broken: it is meant to be copied.
    pub(crate) fn command(&mut self, text: &str) {
        self.line(vec![Span::plain("  "), Span::plain(text)]);
    }

    /// Everything as text, each line ended.
    pub(crate) fn render(&self, colour: bool) -> String {
        let mut text = String::new();
        for spans in &self.lines {
            let mut line = String::new();
            for span in spans {
                span.write(&mut line, colour);
            }
            text.push_str(line.trim_end_matches(' '));
            text.push('\n');
        }
        text
    }
}
