//! `writd contracts reload`: the running daemon reads its contracts again, all of them or none.

use crate::api::wire::ReloadedView;
use crate::api::wire::request::EmptyBody;
use crate::cli::client::Ask;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let reloaded: ReloadedView =
        context.talk(async { Ok(client.ask(Ask::post("/v1/catalog/reload", &EmptyBody {})).await?) })?;
    context.output.answer(&reloaded, || page(&reloaded))
}

fn page(reloaded: &ReloadedView) -> Paper {
    let mut page = Paper::new();
    let words = match reloaded.changed.len() {
        0 => "nothing has changed".to_owned(),
        count => format!("{count} changed"),
    };
    page.prose(Style::Plain, &format!("{} contracts in force, {words}", reloaded.contracts));
    for name in &reloaded.changed {
        page.item(Style::Plain, &safe(name));
    }
    page.field("fingerprint", &reloaded.fingerprint.to_string());
    for warning in &reloaded.warnings {
        page.styled_field("warning", Style::Warn, &safe(warning));
    }
    page
}
