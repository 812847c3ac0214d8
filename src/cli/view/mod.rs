//! Operations, runs, lists and events as pages of 80 columns, made from wire objects only. The console shows the same
//! things in the same order. What it never does: cut a changed value, show a foreign character that cannot be seen, or
//! say anything by colour alone.

mod digests;
mod effect;
mod events;
mod explain;
mod history;
mod lists;
mod next;
mod people;
mod policy;
mod readiness;
#[cfg(test)]
mod tests;
mod tokens;

use super::failure::effect_words;
use super::output::paper::Paper;
use super::output::style::{Span, Style};
use super::output::values::safe;
use super::output::wrap;
use crate::api::wire::{OperationDetail, OperationView};
use crate::domain::operation::{State, WriteClass};

pub(crate) use digests::digests_hold;
pub(crate) use events::events;
pub(crate) use explain::explained;
pub(crate) use history::raw_answer;
pub(crate) use lists::{inbox, operations, run};
pub(crate) use next::leading;
pub(crate) use readiness::readiness;
pub(crate) use tokens::{token, tokens};

/// The approval view: everything that is known of one operation.
pub(crate) fn operation(detail: &OperationDetail) -> Paper {
    let mut page = Paper::new();
    head(&mut page, &detail.summary);
    history::now(&mut page, detail);
    effect::changes(&mut page, detail);
    policy::claims(&mut page, detail);
    policy::since(&mut page, detail);
    effect::target(&mut page, detail);
    effect::consequences(&mut page, detail);
    effect::effects(&mut page, detail);
    people::asked(&mut page, detail);
    policy::rules(&mut page, detail);
    people::decided(&mut page, detail);
    history::clocks(&mut page, &detail.summary);
    history::attempts(&mut page, detail);
    history::late(&mut page, detail);
    digests::digests(&mut page, detail);
    next::next(&mut page, &detail.summary, true);
    page
}

/// The answer to a command: what is true now, in a few lines.
pub(crate) fn brief(view: &OperationView, words: &str) -> Paper {
    let mut page = Paper::new();
    if !words.is_empty() {
        page.prose(Style::Strong, &safe(words));
    }
    head(&mut page, view);
    if let Some(outcome) = &view.outcome {
        history::outcome(&mut page, outcome);
    }
    if let Some(doubt) = &view.doubt {
        history::doubt(&mut page, doubt);
    }
    history::waits(&mut page, view);
    next::next(&mut page, view, false);
    page
}

/// Id and state on one line, the effect sentence, and what the world looks like.
fn head(page: &mut Paper, view: &OperationView) {
    let (id, state) = (view.id.to_string(), view.state.as_str().to_uppercase());
    let between = super::output::paper::WIDTH.saturating_sub(wrap::columns(&id) + wrap::columns(&state));
    page.line(vec![
        Span::plain(id),
        Span::plain(" ".repeat(between)),
        Span::new(style_of(view.state), state),
    ]);
    page.prose(Style::Strong, &safe(&view.effect_text));
    page.gap();
    page.field("effect", effect_words(view.effect));
    if view.class == WriteClass::Draft {
        page.field("class", "draft: nobody decides about it, and it ends by itself");
    }
}

/// How a state looks on a terminal.
fn style_of(state: State) -> Style {
    match state {
        State::Succeeded | State::Compensated => Style::After,
        State::Failed | State::Denied | State::Abandoned | State::CompensationFailed => Style::Before,
        State::Proposed | State::Unknown => Style::Warn,
        State::Approved | State::Executing | State::Expired | State::Cancelled | State::Compensating => {
            Style::Strong
        }
    }
}
