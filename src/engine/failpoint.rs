//! Named points at which the process can be told to die, so that a test can kill it exactly there. Off unless
//! `WRITD_FAIL_POINT` is set: `P4` kills at the first pass, `P4:7` at the seventh, `P4:1/20` with that chance each time.
//!
//! | point | where |
//! |---|---|
//! | P1 | a proposal is stored, its caller is not answered |
//! | P2 | an approval is stored, its caller is not answered |
//! | P3 | the intent is stored, not a byte has been sent |
//! | P4 | the answer of the downstream has begun, nothing of it was used |
//! | P5 | the answer was read, the outcome is not stored |
//! | P6 | the outcome is stored, nobody was told |

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// All points, with one line each; the failure contract in the documentation has a line for each of them.
pub const POINTS: [&str; 6] = ["P1", "P2", "P3", "P4", "P5", "P6"];

struct Armed {
    point: String,
    when: When,
    passed: AtomicU64,
}

enum When {
    Pass(u64),
    Chance(u64, u64),
}

static ARMED: OnceLock<Vec<Armed>> = OnceLock::new();

/// The setting names no point or no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("WRITD_FAIL_POINT: expected `P1` to `P6`, `P4:7` or `P4:1/20`, several separated by commas")]
pub struct NotAFailPoint;

/// Arms the points of a setting. Called once by the composition root.
///
/// # Errors
/// [`NotAFailPoint`].
pub fn arm(setting: &str) -> Result<(), NotAFailPoint> {
    let armed = setting.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    let _ = ARMED.set(armed);
    Ok(())
}

fn parse(text: &str) -> Result<Armed, NotAFailPoint> {
    let (point, when) = text.split_once(':').unwrap_or((text, "1"));
    if !POINTS.contains(&point) {
        return Err(NotAFailPoint);
    }
    let number = |text: &str| text.parse::<u64>().ok().filter(|n| *n > 0).ok_or(NotAFailPoint);
    let when = match when.split_once('/') {
        Some((some, of)) => When::Chance(number(some)?, number(of)?),
        None => When::Pass(number(when)?),
    };
    Ok(Armed { point: point.to_owned(), when, passed: AtomicU64::new(0) })
}

/// Dies here if the point is armed and due: SIGKILL to the own process, so that nothing is flushed or unwound.
pub fn pass(point: &str) {
    let Some(armed) = ARMED.get() else { return };
    for armed in armed.iter().filter(|armed| armed.point == point) {
        let passed = armed.passed.fetch_add(1, Ordering::Relaxed) + 1;
        let due = match armed.when {
            When::Pass(at) => passed == at,
            When::Chance(some, of) => fastrand::u64(0..of) < some,
        };
        if due {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            // The signal is on its way; nothing may happen after this line.
            loop {
                std::thread::park();
            }
        }
    }
}
