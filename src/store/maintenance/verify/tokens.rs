//! Tokens in the second pass. A record that is gone is no finding: a secret without a record is worth nothing.

use super::ledger::Ledger;
use super::others::unreadable;
use crate::domain::token::{RunToken, Token};
use crate::store::maintenance::finding::FindingCode;
use crate::store::records::{decode_row, digest_at_end, keys};
use crate::store::{Damage, Key, ReadError, Record};

pub(super) fn token(
    ledger: &mut Ledger<'_>,
    key: &Key,
    record: Result<Record, Damage>,
) -> Result<(), ReadError> {
    let token: Token = match decode_row(key, record) {
        Ok(token) => token,
        Err(error) => {
            unreadable(ledger, "token", key, error);
            return Ok(());
        }
    };
    let sha256 = digest_at_end(key);
    let Some(known) = ledger.tokens.get(&token.id) else {
        ledger.find(FindingCode::RecordWithoutJournal, token.id, "the journal does not know this token");
        return Ok(());
    };
    let same = known.made.as_ref().is_some_and(|(digest, made)| *digest == sha256 && *made == token);
    if !known.erased && !same {
        ledger.find(
            FindingCode::TokenDiffers,
            token.id,
            "its secret, what it is worth, or whether it is revoked",
        );
    }
    Ok(())
}

pub(super) fn run_token(
    ledger: &mut Ledger<'_>,
    key: &Key,
    record: Result<Record, Damage>,
) -> Result<(), ReadError> {
    let token: RunToken = match decode_row(key, record) {
        Ok(token) => token,
        Err(error) => {
            unreadable(ledger, "token of a run", key, error);
            return Ok(());
        }
    };
    let known = ledger.runs.get(&token.run);
    let same = known.is_some_and(|known| known.erased || known.token.as_ref() == Some(&token));
    if keys::run_token(token.run) != *key || !same {
        ledger.find(FindingCode::TokenDiffers, token.run, "the token of this run");
    }
    Ok(())
}
