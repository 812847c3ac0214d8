//! The chain: any changed header or payload breaks it, an erased payload does not, and a vector for other readers.

use std::collections::BTreeMap;

use super::{Entry, Fact, Head, Subject};
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::operation::samples::{Person, actor, golden, time};
use crate::domain::principal::{Assurance, PrincipalKind};
use crate::domain::{Digest, Time};
use crate::store::codec::encode;

fn entry(seq: u64, number: u32, subject: Subject, fact: &Fact, before: Digest) -> Entry {
    let salt = [u8::try_from(seq).unwrap(); 16];
    let payload = encode(fact).unwrap();
    Entry {
        seq,
        at: time(1_000 * i64::try_from(seq).unwrap()),
        by: actor(Person::Ada),
        subject,
        number,
        name: fact.name().to_owned(),
        commitment: Entry::commit(&salt, &payload),
        before,
        salt,
        payload,
    }
}

fn chain() -> Vec<Entry> {
    let operation = Subject::Operation(OperationId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0b01));
    let run = Subject::Run(RunId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0c01));
    let loaded = Fact::CatalogLoaded { catalog: Digest::of(b"catalog"), before: Digest::ZERO };
    let denied =
        Fact::Operation(crate::domain::operation::Event::Denied { reason: "no".into(), last: false });
    let first = entry(1, 0, Subject::System, &loaded, Digest::ZERO);
    let second = entry(2, 1, run, &Fact::RunEnded(crate::domain::run::RunEnd::Cancelled), first.digest());
    let third = entry(3, 2, operation, &denied, second.digest());
    vec![first, second, third]
}

/// As `verify` walks it.
fn holds(entries: &[Entry], head: Head) -> bool {
    let mut before = Digest::ZERO;
    for (place, entry) in (1u64..).zip(entries) {
        if entry.seq != place || entry.before != before || !entry.payload_matches() {
            return false;
        }
        before = entry.digest();
    }
    head.seq == entries.len() as u64 && head.digest == before
}

fn head(entries: &[Entry]) -> Head {
    let last = entries.last().unwrap();
    Head { seq: last.seq, digest: last.digest(), at: last.at }
}

type Change = fn(&mut Entry);

#[rustfmt::skip]
const HEADER: &[(&str, Change)] = &[
    ("seq", |e| e.seq += 1),
    ("at", |e| e.at = Time::from_millis(e.at.as_millis() + 1)),
    ("by.name", |e| e.by.name.push('x')),
    ("by.person", |e| e.by.person.push('x')),
    ("by.kind", |e| e.by.kind = PrincipalKind::Agent),
    ("by.assurance", |e| e.by.assurance = Assurance::LocalUid),
    ("name moved to person", |e| { e.by.person = format!("{}{}", e.by.name, e.by.person); e.by.name.clear(); }),
    ("subject, system", |e| e.subject = Subject::System),
    ("subject, a token", |e| e.subject = Subject::Token(TokenId::from_u128(7))),
    ("subject, another operation", |e| e.subject = Subject::Operation(OperationId::from_u128(7))),
    ("subject, a run of the same number", |e| e.subject = match e.subject {
        Subject::Operation(id) => Subject::Run(RunId::from_u128(id.as_u128())),
        Subject::Run(id) => Subject::Operation(OperationId::from_u128(id.as_u128())),
        Subject::System => Subject::Run(RunId::from_u128(0)),
        Subject::Token(id) => Subject::Run(RunId::from_u128(id.as_u128())),
    }),
    ("number", |e| e.number += 1),
    ("name", |e| e.name.push('x')),
    ("commitment", |e| e.commitment = Digest::ZERO),
    ("before", |e| e.before = Digest::of(b"another")),
];

#[test]
fn any_changed_header_breaks_the_chain_at_every_place() {
    let good = chain();
    let head = head(&good);
    assert!(holds(&good, head));
    let mut seen = BTreeMap::new();
    for place in 0..good.len() {
        for (name, change) in HEADER {
            let mut changed = good.clone();
            change(&mut changed[place]);
            if changed[place] == good[place] {
                continue;
            }
            assert_ne!(changed[place].digest(), good[place].digest(), "{name}");
            assert!(!holds(&changed, head), "{name} of entry {place}");
            if let Some(other) = seen.insert(changed[place].digest(), (place, name)) {
                panic!("{name} and {other:?} have one digest");
            }
        }
    }
}

#[test]
fn a_changed_payload_or_salt_breaks_it_and_an_erased_payload_does_not() {
    let good = chain();
    let head = head(&good);
    for place in 0..good.len() {
        for byte in 0..good[place].payload.len() {
            let mut changed = good.clone();
            changed[place].payload[byte] ^= 1;
            assert!(!changed[place].payload_matches());
            assert!(!holds(&changed, head));
        }
        let mut longer = good.clone();
        longer[place].payload.push(0);
        assert!(!holds(&longer, head));
        let mut salted = good.clone();
        salted[place].salt[0] ^= 1;
        assert!(!holds(&salted, head));
        let mut erased = good.clone();
        erased[place].payload.clear();
        assert!(erased[place].is_erased());
        assert!(holds(&erased, head), "erasing personal data leaves the chain as it is");
    }
}

#[test]
fn a_lost_repeated_or_exchanged_entry_breaks_it() {
    let good = chain();
    let head = head(&good);
    for place in 0..good.len() {
        let mut lost = good.clone();
        lost.remove(place);
        assert!(!holds(&lost, head));
        let mut twice = good.clone();
        twice.insert(place, good[place].clone());
        assert!(!holds(&twice, head));
    }
    let mut exchanged = good.clone();
    exchanged.swap(1, 2);
    assert!(!holds(&exchanged, head));
    assert!(!holds(&good[..2], head), "cut off at the end: the head that was kept elsewhere knows");
}

#[test]
fn the_published_vector_of_the_chain_holds() {
    let mut text = String::from(
        "# digest = SHA-256 over: \"writd journal 1\", seq (8 bytes), at (8), subject (1 and id, 2 and id, or 3), number (4),\n\
         # name, by.name, by.person, by.kind, by.assurance (each behind its length in 4 bytes), commitment, before.\n\
         # All numbers most significant byte first. commitment = SHA-256 over salt and payload.\n",
    );
    for entry in chain() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        text += &format!(
            "\nseq {}\nat {} ({})\nsubject {:?}\nnumber {}\nname {}\nby {} / {} / {} / {}\nsalt {}\npayload {}\n\
             commitment {}\nbefore {}\ndigest {}\n",
            entry.seq,
            entry.at.as_millis(),
            entry.at,
            entry.subject,
            entry.number,
            entry.name,
            entry.by.name,
            entry.by.person,
            entry.by.kind.as_str(),
            entry.by.assurance.as_str(),
            hex(&entry.salt),
            hex(&entry.payload),
            entry.commitment,
            entry.before,
            entry.digest(),
        );
    }
    golden("digests/journal.txt", &text);
}
