//! What can go wrong between a command and the daemon, and what it means for the world.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::Code;
use crate::domain::json::display::escape_and_cut;
use crate::domain::operation::Effect;
use crate::domain::problem::Problem;

/// How much of a foreign answer is shown.
pub(super) const SHOWN: usize = 120;

/// Why there is no answer, or not the wanted one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The daemon refused, in its own words.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
    /// Nobody listens. Nothing was sent.
    #[error("the daemon is not running: nobody listens on {}", .0.display())]
    NotRunning(PathBuf),
    /// There is a socket, or something else, but no way in. Nothing was sent.
    #[error("the socket {} cannot be used: {error}", socket.display())]
    NoWayIn {
        /// Where.
        socket: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The request left, the whole answer did not come back.
    #[error("the answer to {request} was lost: {cause}")]
    Lost {
        /// Method and path.
        request: String,
        /// How.
        cause: String,
        /// It only asked for something.
        read: bool,
    },
    /// No answer within the time.
    #[error("no answer to {request} within {}", humantime::format_duration(*after))]
    TimedOut {
        /// Method and path.
        request: String,
        /// How long.
        after: Duration,
        /// It only asked for something.
        read: bool,
    },
    /// An answer that this version does not understand.
    #[error("the answer to {request} (status {status}) is not one of this version: {cause}")]
    Foreign {
        /// Method and path.
        request: String,
        /// The HTTP status.
        status: u16,
        /// What is strange about it.
        cause: String,
        /// It only asked for something.
        read: bool,
    },
}

impl ClientError {
    /// The code of the dictionary that comes nearest; it decides the exit code.
    pub(crate) fn code(&self) -> Code {
        match self {
            ClientError::Refused(problem) => problem.code,
            ClientError::NotRunning(_) | ClientError::NoWayIn { .. } => Code::Unavailable,
            ClientError::Lost { read, .. }
            | ClientError::TimedOut { read, .. }
            | ClientError::Foreign { read, .. } => {
                if *read {
                    Code::Unavailable
                } else {
                    Code::OutcomeUnknown
                }
            }
        }
    }

    /// What is known about the effect of the request on the daemon.
    pub(crate) fn effect(&self) -> Effect {
        match self {
            ClientError::Refused(problem) => problem.effect,
            ClientError::NotRunning(_) | ClientError::NoWayIn { .. } => Effect::None,
            ClientError::Lost { read, .. }
            | ClientError::TimedOut { read, .. }
            | ClientError::Foreign { read, .. } => {
                if *read {
                    Effect::None
                } else {
                    Effect::Unknown
                }
            }
        }
    }

    /// What to do, one line each.
    pub(crate) fn help(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            ClientError::Refused(_) => &[],
            ClientError::NotRunning(_) => &[
                "Nothing was sent. Start the daemon: writd serve",
                "If it listens somewhere else, say where: --socket PATH, or WRITD_SOCKET, or run the command beside \
                 the daemon's daemon.toml (--config FILE).",
            ],
            ClientError::NoWayIn { .. } => &[
                "Nothing was sent. Check that the path is the daemon's socket and that your account may use it: \
                 socket_mode and socket_group in daemon.toml.",
                "writd doctor looks at both.",
            ],
            ClientError::Lost { read: true, .. } | ClientError::TimedOut { read: true, .. } => {
                &["It only asked; ask again. If it stays like this: writd doctor"]
            }
            ClientError::Lost { .. } | ClientError::TimedOut { .. } => &[
                "The daemon may have done it. Look before you repeat it: writd op show, writd op list, writd inbox.",
                "A proposal or a run that is sent again with the same --key is found, not made again.",
            ],
            ClientError::Foreign { .. } => &[
                "Stop, and do not repeat the request: compare the versions of command and daemon (writd --version, \
                 writd doctor).",
            ],
        };
        lines.iter().map(|line| (*line).to_owned()).collect()
    }
}

/// A foreign text, made safe and short.
pub(super) fn shown(bytes: &[u8]) -> String {
    escape_and_cut(&String::from_utf8_lossy(bytes), SHOWN)
}
