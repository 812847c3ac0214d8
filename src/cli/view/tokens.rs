//! Tokens, without their secrets.

use crate::api::wire::{Page, TokenView};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::{safe, time};

/// One token.
pub(crate) fn token(view: &TokenView) -> Paper {
    let mut page = Paper::new();
    one(&mut page, view);
    page
}

/// A list of them.
pub(crate) fn tokens(list: &Page<TokenView>) -> Paper {
    let Page { items: views, unreadable, .. } = list;
    let mut page = Paper::new();
    if *unreadable > 0 {
        let text =
            format!("{unreadable} records of tokens cannot be read and are worth nothing: `writd verify`");
        page.prose(Style::Warn, &text);
    }
    if views.is_empty() {
        page.prose(Style::Dim, "there is no token");
    }
    for view in views {
        one(&mut page, view);
        page.gap();
    }
    page
}

fn one(page: &mut Paper, view: &TokenView) {
    let state = view.state.as_str().to_uppercase();
    page.line(vec![Span::plain(format!("{}  ", view.id)), Span::new(Style::Strong, state)]);
    page.field("speaks for", &format!("{} in {}", safe(&view.principal), safe(&view.tenant)));
    if let Some(person) = &view.on_behalf_of {
        page.field("on behalf of", &safe(person));
    }
    let roles: Vec<&str> = view.roles.iter().map(|role| role.as_str()).collect();
    page.field("at most", &if roles.is_empty() { "no role".to_owned() } else { roles.join(", ") });
    page.field("made", &format!("{} by {}", time(view.created), safe(&view.by.name)));
    page.field("expires", &time(view.expires));
    if let (Some(revoked), Some(by)) = (view.revoked, &view.revoked_by) {
        page.field("revoked", &format!("{} by {}", time(revoked), safe(&by.name)));
    }
}
