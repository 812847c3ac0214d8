//! Reading all records of a kind, a page at a time: memory does not grow with the store.

use crate::store::{Damage, Key, Range, ReadError, Record, Store};

/// Rows of one scan.
const ROWS: usize = 256;

/// Calls `each` with every row of a kind, in order of the keys.
///
/// # Errors
/// The store cannot be read further. What was read before has been handed over.
pub(super) fn rows<E: From<ReadError>>(
    store: &dyn Store,
    prefix: &Key,
    mut each: impl FnMut(Key, Result<Record, Damage>) -> Result<(), E>,
) -> Result<(), E> {
    let mut range = Range::prefix(prefix);
    loop {
        let page = store.scan(&range, ROWS)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        range = range.after(last);
        for (key, record) in page {
            each(key, record)?;
        }
    }
}
