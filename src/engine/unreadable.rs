//! What a caller is told when the store does not answer a read: a closed store is not a damaged record.

use crate::domain::Code;
use crate::domain::operation::Effect;
use crate::domain::problem::Problem;
use crate::store::ReadError;
use crate::store::records::RecordError;

/// Between two asks: the writer opens the store again at once, and then once a second.
const RETRY_AFTER_SECONDS: u64 = 1;

/// The problem, and a line in the log.
pub(super) fn unreadable(error: &RecordError) -> Box<Problem> {
    match error {
        RecordError::Read(ReadError::Dead { .. } | ReadError::Io { .. }) => {
            // What it is about may have happened long ago: a read that fails says nothing about that.
            tracing::warn!(%error, "the store cannot be read now");
            let detail = "the store is being opened again after an error; ask again";
            let problem = Problem::new(Code::Unavailable, detail).effect(Effect::Unknown);
            Box::new(problem.retry_after(RETRY_AFTER_SECONDS))
        }
        RecordError::Read(
            ReadError::Damaged { .. } | ReadError::NewerFormat { .. } | ReadError::Page { .. },
        )
        | RecordError::Decode { .. } => {
            tracing::error!(%error, "a record cannot be read");
            Box::new(Problem::new(Code::Internal, "a stored record cannot be read; run `writd verify`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Damage, Key};

    #[test]
    fn a_closed_store_is_no_damage() {
        let closed = unreadable(&ReadError::Dead { what: "disk full".to_owned() }.into());
        assert_eq!(
            (closed.code, closed.effect, closed.retry_after),
            (Code::Unavailable, Effect::Unknown, Some(1))
        );
        let damaged = ReadError::Damaged { key: Key::space(b'p'), what: Damage::Checksum };
        assert_eq!(unreadable(&damaged.into()).code, Code::Internal);
    }
}
