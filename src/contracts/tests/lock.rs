use std::path::Path;

use super::super::{BODIES, Catalog, FindingCode as Code, LOCK_FILE, Lock};
use super::findings::sources;
use super::{report, shipped_dir};

#[test]
fn the_shipped_lock_pins_what_is_shipped() {
    let catalog = Catalog::load_unlocked(&shipped_dir()).unwrap();
    let (path, bodies) = (shipped_dir().join(LOCK_FILE), shipped_dir().join(BODIES));
    if std::env::var_os("UPDATE").is_some() {
        let before = Lock::load(&shipped_dir()).unwrap_or_default();
        std::fs::write(&path, before.pinning(&catalog).text()).unwrap();
        let _ = std::fs::remove_dir_all(&bodies);
        std::fs::create_dir(&bodies).unwrap();
        for contract in catalog.list() {
            std::fs::write(bodies.join(format!("{}.json", contract.fingerprint())), contract.body()).unwrap();
        }
    }
    let lock = Lock::load(&shipped_dir()).unwrap();
    assert_eq!(lock, lock.pinning(&catalog), "UPDATE=1 rewrites {}", path.display());
    assert!(Catalog::load(&shipped_dir()).is_ok());
    for contract in catalog.list() {
        let body = std::fs::read(bodies.join(format!("{}.json", contract.fingerprint()))).unwrap_or_default();
        assert_eq!(body, contract.body(), "UPDATE=1 rewrites {}", bodies.display());
    }
}

#[test]
fn a_lock_is_read_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Lock::load(dir.path()).unwrap(), Lock::default());
    let catalog = Catalog::from_sources(sources(None)).unwrap();
    let lock = Lock::default().renewed(dir.path(), &catalog).unwrap();
    std::fs::write(dir.path().join(LOCK_FILE), lock.text()).unwrap();
    assert_eq!(Lock::load(dir.path()).unwrap(), lock);
}

#[test]
fn roles_keep_their_tools_and_what_is_new_goes_to_the_agent() {
    let dir = tempfile::tempdir().unwrap();
    let some = Catalog::from_sources(vec![sources(None).remove(0)]).unwrap();
    let text = Lock::default().renewed(dir.path(), &some).unwrap().text().replace("agent:", "reader:");
    std::fs::write(dir.path().join(LOCK_FILE), text).unwrap();
    let all = Catalog::from_sources(sources(None)).unwrap();
    let text = Lock::load(dir.path()).unwrap().renewed(dir.path(), &all).unwrap().text();
    let (agent, reader) = text.split_once("reader:").unwrap();
    assert!(reader.contains("get_customer") && !reader.contains("commit_address_change"), "{text}");
    assert!(!agent.contains("get_customer:") && agent.contains("commit_address_change"), "{text}");
}

#[test]
fn another_body_is_not_pinned_under_the_version_of_the_first() {
    let first = Catalog::from_sources(sources(None)).unwrap();
    let lock = Lock::default().renewed(Path::new("/nowhere"), &first).unwrap();
    let spoilt = ("get_customer.tool.yaml", "timeout: 2s", "timeout: 3s");
    let other = Catalog::from_sources(sources(Some(spoilt))).unwrap();
    let refused = lock.renewed(Path::new("/nowhere"), &other).unwrap_err();
    assert_eq!(refused.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::ChangedBody]);
    let codes: Vec<Code> = other.breaks(&first).iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::ChangedBody]);
    assert!(first.breaks(&first).is_empty());
}

const READ: &str = "get_customer.tool.yaml";

/// The shipped read under another version, with another timeout.
fn read_of(version: &str, timeout: &str) -> Catalog {
    let mut read = sources(Some((READ, "timeout: 2s", &format!("timeout: {timeout}")))).remove(0);
    read.text = read.text.replace("version: \"1.0\"", &format!("version: \"{version}\""));
    Catalog::from_sources(vec![read]).unwrap_or_else(|found| panic!("{}", report(&found)))
}

/// A folder with a lock for this catalog, and the bodies that it pins.
fn keep(dir: &Path, lock: &Lock, catalog: &Catalog) {
    std::fs::write(dir.join(LOCK_FILE), lock.text()).unwrap();
    std::fs::create_dir_all(dir.join(BODIES)).unwrap();
    for contract in catalog.list() {
        let name = format!("{}.json", contract.fingerprint());
        std::fs::write(dir.join(BODIES).join(name), contract.body()).unwrap();
    }
}

#[test]
fn a_lower_minor_is_not_put_in_the_place_of_a_higher_one() {
    let dir = tempfile::tempdir().unwrap();
    let (high, low) = (read_of("1.2", "2s"), read_of("1.1", "3s"));
    let lock = Lock::default().renewed(dir.path(), &high).unwrap();
    keep(dir.path(), &lock, &high);
    let refused = lock.renewed(dir.path(), &low).unwrap_err();
    assert_eq!(refused.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::BreakingChange]);
    let refused: Vec<Code> = low.breaks(&high).iter().map(|finding| finding.code).collect();
    assert_eq!(refused, [Code::BreakingChange]);
}

#[test]
fn a_version_that_was_pinned_may_be_gone_back_to_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (low, high) = (read_of("1.0", "2s"), read_of("1.1", "3s"));
    let first = Lock::default().renewed(dir.path(), &low).unwrap();
    keep(dir.path(), &first, &low);
    let second = first.renewed(dir.path(), &high).unwrap();
    keep(dir.path(), &second, &high);
    // Its body is kept, so it is known for what it was.
    assert!(second.renewed(dir.path(), &low).is_ok());
    let other = read_of("1.0", "4s");
    let refused = second.renewed(dir.path(), &other).unwrap_err();
    assert!(refused.iter().any(|finding| finding.code == Code::ChangedBody), "{}", report(&refused));
}

#[test]
fn what_was_pinned_once_still_holds_for_a_new_minor() {
    let dir = tempfile::tempdir().unwrap();
    let old = read_of("1.0", "2s");
    let lock = Lock::default().renewed(dir.path(), &old).unwrap();
    keep(dir.path(), &lock, &old);
    let none = lock.renewed(dir.path(), &Catalog::empty()).unwrap();
    assert!(none.renewed(dir.path(), &read_of("1.1", "3s")).is_ok());
    let mut read = sources(Some((READ, "scope: customers.read", "scope: customers.everything"))).remove(0);
    read.text = read.text.replace("version: \"1.0\"", "version: \"1.1\"");
    let refused = none.renewed(dir.path(), &Catalog::from_sources(vec![read]).unwrap()).unwrap_err();
    assert_eq!(refused.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::BreakingChange]);
}
