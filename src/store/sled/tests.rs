//! The rules of this engine, each by a test. What every engine must do is tested by the conformance suite.

use std::path::Path;

use super::super::{Batch, Key, Range, Record, Store};
use super::{Options, SledStore};

fn options(dir: &Path) -> Options {
    Options { reserve_bytes: 1 << 20, ..Options::new(dir.join("store")) }
}

fn key(text: &str) -> Key {
    Key::from_bytes(text.as_bytes()).unwrap()
}

#[test]
fn what_was_committed_is_there_after_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let store = SledStore::open(options(dir.path())).unwrap();
    store.commit(&Batch::new().put_if(key("o1"), 0, vec![7; 20_000]).put_if(key("o2"), 0, vec![8])).unwrap();
    store.reopen().unwrap();
    assert_eq!(store.get(&key("o1")).unwrap(), Some(Record { version: 1, payload: vec![7; 20_000] }));
    let rows = store.scan(&Range::prefix(&key("o")).reversed(), 10).unwrap();
    assert_eq!(rows.iter().map(|row| row.0.to_string()).collect::<Vec<_>>(), ["o2", "o1"]);
    assert_eq!(store.last_key(&key("o")).unwrap(), Some(key("o2")));
    assert_eq!(store.counters().syncs, 1);
}
