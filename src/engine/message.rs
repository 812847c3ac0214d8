//! What the writer is asked to do.

use tokio::sync::oneshot;

use super::contracts_seen::Seen;
use super::handle::CommandDone;
use super::propose::Draft;
use super::propose::Proposed;
use crate::domain::Digest;
use crate::domain::ids::{AttemptId, OperationId, RunId};
use crate::domain::operation::Actor;
use crate::domain::operation::command::{AttemptAnswer, Command, StatusAnswer, VersionCheck};
use crate::domain::operation::{RawAnswer, Readback};
use crate::domain::pause::{Pause, PauseScope};
use crate::domain::principal::Principal;
use crate::domain::problem::Problem;
use crate::domain::run::Run;
use crate::domain::token::{RunToken, Token};
use std::sync::Arc;

/// The answer goes to somebody who waits for it.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Box<Problem>>>;

/// What belongs to an answer and is recorded with it.
#[derive(Clone, Default)]
pub(super) struct Beside {
    /// Of an answer that claims success and proves nothing.
    pub(super) raw: Option<RawAnswer>,
    /// What an independent read saw after a success.
    pub(super) readback: Option<Readback>,
}

/// One member of a group.
pub(super) enum Message {
    /// A finished draft: store it, or find the one that its key names.
    Propose { draft: Box<Draft>, reply: Reply<Proposed> },
    /// Somebody's command.
    Command { id: OperationId, command: Box<Command>, by: Principal, reply: Reply<CommandDone> },
    /// Execute by id, asked for by its requester.
    Commit { id: OperationId, by: Principal, reply: Reply<CommandDone> },
    /// The target's version was read for an operation that is to be executed.
    VersionRead { id: OperationId, version: VersionCheck },
    /// An attempt was answered.
    Answer { id: OperationId, attempt: AttemptId, answer: Box<AttemptAnswer>, beside: Box<Beside> },
    /// An attempt's task has ended: its place is free, its connection is gone.
    AttemptEnded { attempt: AttemptId },
    /// The status protocol has answered.
    Status { id: OperationId, answer: StatusAnswer, readback: Option<Readback> },
    /// A run is opened.
    OpenRun {
        run: Box<Run>,
        token: RunToken,
        seen: Arc<Seen>,
        key: Option<(Digest, Digest)>,
        reply: Reply<(Arc<Run>, bool)>,
    },
    /// A run gets another token in place of the one before.
    IssueRunToken { token: RunToken, by: Actor, reply: Reply<()> },
    /// A token is made for a principal.
    CreateToken { sha256: Digest, token: Box<Token>, reply: Reply<()> },
    /// A token is revoked.
    RevokeToken { sha256: Digest, by: Actor, reply: Reply<Token> },
    /// A run is cancelled.
    CancelRun { id: RunId, by: Principal, reply: Reply<Arc<Run>> },
    /// Writes of this epoch are released.
    AcceptRestore { by: Principal, reply: Reply<u64> },
    /// A catalog or configuration came into force.
    Loaded { catalog: Digest, configuration: Digest },
    /// A catalog is about to come into force while the daemon runs: journal it.
    Reloaded { catalog: Digest, by: Actor, reply: Reply<()> },
    /// What is paused?
    Pauses { reply: Reply<Vec<Pause>> },
    /// Nothing more starts somewhere.
    Pause { pause: Pause, reply: Reply<Vec<Pause>> },
    /// It goes on there.
    Resume { scope: PauseScope, name: String, by: Principal, reply: Reply<Vec<Pause>> },
    /// Start nothing any more; outcomes are still stored.
    Drain,
    /// Stop after what is queued before this.
    Stop { reply: oneshot::Sender<()> },
}
