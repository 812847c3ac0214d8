//! `writd demo`: the main job and its faults on a sandbox, played by real processes and held against the sandbox's
//! ledger.
//!
//! It starts this program twice more, as the sandbox and as the daemon, in a private directory, and speaks to the daemon
//! over its socket only. What it never does: look into the store, or call something true that it has not looked up.

mod checks;
mod scenes;
mod stage;
mod story;
mod summary;

use std::time::Instant;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::domain::Code;
use crate::domain::ids::{OperationId, RunId};
use checks::Checks;
use stage::Stage;
use story::Story;

/// See the main job and its faults on a sandbox.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep the directory with configuration, contracts, state, log and ledger
    #[arg(long)]
    keep: bool,
    /// Give the sandbox a second effect, to see that the checks can fail
    #[arg(long, hide = true)]
    sabotage: bool,
}

/// What the scenes share.
struct Play {
    stage: Stage,
    story: Story,
    checks: Checks,
    /// The agent's run.
    run: RunId,
    /// The writes that were proposed: by which scene, and what each was about.
    writes: Vec<(OperationId, u32, &'static str)>,
}

impl Play {
    /// Remembers a write for the table at the end.
    fn wrote(&mut self, id: OperationId, what: &'static str) {
        self.writes.push((id, self.checks.scene, what));
    }
}

/// Plays all scenes; an error is the first thing that went wrong, or that some fact is not what it must be.
pub(super) fn run(args: DemoArgs, context: &Context) -> Result<(), Failure> {
    let story = Story::new(context.output);
    context.talk(async {
        let no_signal = |error: std::io::Error| Failure::internal(format!("signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signal)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_signal)?;
        // Whichever comes first; the stage is dropped with the play and takes its processes along.
        tokio::select! {
            played = play(&args, context, story) => played,
            _ = interrupt.recv() => Err(stopped()),
            _ = terminate.recv() => Err(stopped()),
        }
    })
}

fn stopped() -> Failure {
    Failure::refusal(Code::Cancelled, "the demonstration was stopped; its processes are ended")
}

async fn play(args: &DemoArgs, context: &Context, story: Story) -> Result<(), Failure> {
    let began = Instant::now();
    story.says(
        "writd demo: an agent proposes, a person approves, the daemon executes once and proves it. Sandbox and daemon \
         are real processes; every fact below is held against the sandbox's own ledger.",
    )?;
    let stage = Stage::set(args.keep).await?;
    let (daemon, sandbox) = stage.processes();
    story.who("daemon", format!("process {daemon}, in {}", stage.path().display()))?;
    story.who("sandbox", format!("process {sandbox}, at {}", stage.world.origin()))?;
    let run = stage.people.open_run(&scenes::TOOLS).await?;
    let mut play = Play { stage, story, checks: Checks::default(), run, writes: Vec::new() };
    scenes::all(&mut play).await?;
    if args.sabotage {
        sabotage(&play).await?;
    }
    let broken = summary::tell(&mut play, context.output, began).await?;
    play.stage.clear();
    // The differences are told already; the code says that this program does not keep its word.
    if broken == 0 { Ok(()) } else { Err(Failure::Told(Code::Internal)) }
}

async fn sabotage(play: &Play) -> Result<(), Failure> {
    match play.writes.first() {
        Some((id, ..)) => play.stage.world.apply_twice(*id).await,
        None => Err(Failure::internal("there is no write to repeat")),
    }
}
