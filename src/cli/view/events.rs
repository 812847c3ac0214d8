//! The journal of an operation, one entry after the other.

use crate::api::wire::EventView;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::{bare, safe, time};

/// Entries: number, time, name, who; then what it says.
pub(crate) fn events(list: &[EventView]) -> Paper {
    let mut page = Paper::new();
    for event in list {
        page.line(vec![
            Span::new(Style::Dim, format!("{:>4}  {}  ", event.number, time(event.at))),
            Span::new(Style::Strong, safe(&event.name)),
            Span::plain(format!("  by {}", safe(&event.by.name))),
        ]);
        // The proposal itself is what `op show` is for.
        if event.name == "proposed" {
            continue;
        }
        match &event.data {
            Some(serde_json::Value::Object(members)) => {
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    let mark = format!("{}: ", safe(name));
                    page.marked_value(6, &mark, Style::Plain, &bare(value));
                }
            }
            Some(other) => page.marked_value(6, "", Style::Plain, &bare(other)),
            None if event.erased => page.marked_value(6, "", Style::Dim, "erased"),
            None => {}
        }
    }
    page
}
