//! Tests of the state machine: golden tables, properties, clocks, digests.

mod golden;

use std::path::Path;

/// Compares with a file under tests/golden; UPDATE=1 rewrites it.
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "golden file {name}; UPDATE=1 rewrites it");
}
