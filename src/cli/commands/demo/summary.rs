//! The end: every write and what became of it, the sandbox's ledger, and whether the two agree.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use super::Play;
use super::checks::Fact;
use crate::api::wire::OperationView;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::output::paper::Paper;
use crate::cli::output::style::{Span, Style};
use crate::cli::output::values::{json as shown, safe};
use crate::domain::ids::OperationId;
use crate::domain::operation::{Effect, State};

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    scene: u32,
    id: OperationId,
    what: &'static str,
    state: State,
    effect: Effect,
    attempts: usize,
    /// In the sandbox's ledger.
    effects: usize,
}

/// Everything, for `--json`.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    facts: &'a [Fact],
    operations: &'a [Row],
    ledger: &'a Value,
}

/// Holds daemon and ledger against each other, tells the end, and says how many facts are not what they must be.
pub(super) async fn tell(play: &mut Play, output: Output, began: Instant) -> Result<usize, Failure> {
    play.checks.scene = 0;
    let rows = rows(play).await?;
    let effects = play.stage.world.effects().await?;
    agree(play, &rows, &effects);
    let broken = play.checks.broken().count();
    if output.wants_json() {
        let facts = play.checks.facts();
        output.object(&Report { ok: broken == 0, facts, operations: &rows, ledger: &effects })?;
        return Ok(broken);
    }
    let mut page = Paper::new();
    page.line(Vec::new());
    table(&mut page, &rows);
    ledger(&mut page, &effects);
    verdict(&mut page, play, &rows, began);
    output.page(&page)?;
    Ok(broken)
}

async fn rows(play: &Play) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (id, scene, what) in &play.writes {
        let detail = play.stage.people.show(*id).await?;
        let OperationView { state, effect, .. } = detail.summary;
        let effects = play.stage.world.effects_of(*id).await?.len();
        rows.push(Row {
            scene: *scene,
            id: *id,
            what,
            state,
            effect,
            attempts: detail.attempts.len(),
            effects,
        });
    }
    Ok(rows)
}

/// What is true whatever the scenes were about.
fn agree(play: &mut Play, rows: &[Row], effects: &Value) {
    for row in rows {
        let wanted = usize::from(row.effect == Effect::Applied);
        play.checks.equal(format!("{}: effects in the ledger at the end", row.what), row.effects, wanted);
    }
    let applied = rows.iter().filter(|row| row.effect == Effect::Applied).count();
    play.checks.equal("keys with more than one effect", &effects["keys_with_more_than_one"], json!([]));
    play.checks.equal("effects in all", &effects["total"], applied);
}

fn table(page: &mut Paper, rows: &[Row]) {
    let head = format!(
        "{:<5} {:<11} {:<16} {:<10} {:<8} {:>8} {:>7}",
        "scene", "operation", "what", "state", "effect", "attempts", "effects"
    );
    page.line(vec![Span::new(Style::Strong, head)]);
    for row in rows {
        let id = row.id.to_string();
        // The end differs from write to write, the beginning is the time.
        let id = format!("…{}", &id[id.len().saturating_sub(8)..]);
        let style = if row.state == State::Succeeded { Style::After } else { Style::Plain };
        page.line(vec![
            Span::plain(format!("{:<5} {id:<11} {:<16} ", row.scene, row.what)),
            Span::new(style, format!("{:<10}", row.state)),
            Span::plain(format!(" {:<8} {:>8} {:>7}", row.effect, row.attempts, row.effects)),
        ]);
    }
}

fn ledger(page: &mut Paper, effects: &Value) {
    page.heading("The sandbox's ledger");
    for (object, count) in effects["per_object"].as_object().into_iter().flatten() {
        page.line(vec![Span::plain(format!("  {:<17} effects: {count}", safe(object)))]);
    }
    let twice: Vec<String> = effects["keys_with_more_than_one"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|key| shown(Some(key)))
        .collect();
    let twice = if twice.is_empty() { "none".to_owned() } else { twice.join(", ") };
    page.line(vec![Span::plain(format!("  keys with more than one effect: {twice}"))]);
}

fn verdict(page: &mut Paper, play: &Play, rows: &[Row], began: Instant) {
    page.gap();
    for fact in play.checks.broken() {
        let (is, must_be) = (shown(Some(&fact.is)), shown(Some(&fact.must_be)));
        page.prose(Style::Before, &safe(&format!("NOT AS IT MUST BE (scene {}): {}", fact.scene, fact.what)));
        page.value_field("is", &is);
        page.value_field("must be", &must_be);
    }
    let (broken, facts) = (play.checks.broken().count(), play.checks.facts().len());
    let effects: usize = rows.iter().map(|row| row.effects).sum();
    let seconds = began.elapsed().as_secs_f64();
    let words = format!(
        "{} writes, {effects} effects, {} of {facts} facts as they must be, {seconds:.1} s",
        rows.len(),
        facts - broken
    );
    page.prose(if broken == 0 { Style::After } else { Style::Before }, &words);
}
