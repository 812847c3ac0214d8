//! One failing example per finding code; its exact report is a golden file (`UPDATE=1` rewrites them).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use super::super::{Catalog, Finding, FindingCode as Code, LOCK_FILE, Lock, Source};
use super::{report, shipped_dir};

const READ: &str = "get_customer.tool.yaml";
const WRITE: &str = "commit_address_change.tool.yaml";
const MAIL: &str = "send_confirmation.tool.yaml";

/// A member of the answer that can stand for any other.
const NAME: &str = "name: { type: string, maxLength: 200 }";
const EMAIL: &str = "email: { type: string, maxLength: 254 }";
const INPUT: &str = "customer_id: { type: string, pattern: \"^C-[0-9]{1,9}$\", x-kind: reference }";

/// Further refusals of codes that have several: a name for the golden file, and the same as above.
const MORE: &[(&str, Code, &str, &str, &str)] = &[
    ("bare-object", Code::FreeForm, READ, NAME, "name: { type: object }"),
    ("no-type", Code::FreeForm, READ, NAME, "name: { maxLength: 9 }"),
    ("action", Code::FreeForm, READ, INPUT, "action: { type: string, maxLength: 9, x-kind: claim }"),
    ("payload", Code::FreeForm, READ, INPUT, "payload: { type: string, maxLength: 9, x-kind: claim }"),
    ("no-items", Code::FreeForm, READ, NAME, "name: { type: array, maxItems: 3 }"),
    ("root", Code::FreeForm, READ, "  type: object\n", "  type: array\n"),
    ("true", Code::OpenObject, READ, "      additionalProperties: false", "      additionalProperties: true"),
    ("approved", Code::AuthorityInput, READ, INPUT, "approved: { type: boolean, x-kind: claim }"),
    ("role", Code::AuthorityInput, READ, INPUT, "role: { type: string, enum: [boss], x-kind: claim }"),
    (
        "idempotency-key",
        Code::AuthorityInput,
        READ,
        INPUT,
        "idempotency_key: { type: string, maxLength: 9, x-kind: claim }",
    ),
    ("no-lower", Code::UnboundedNumber, READ, "minimum: 0, maximum: 9007199254740991", "maximum: 9"),
    ("pattern", Code::UnboundedString, READ, EMAIL, "email: { type: string, pattern: \"^a+$\" }"),
    (
        "any-of",
        Code::NoDiscriminator,
        READ,
        EMAIL,
        "email: { anyOf: [{ $ref: \"#/$defs/address\" }, { $ref: \"#/$defs/address\" }] }",
    ),
    ("dynamic", Code::RemoteRef, READ, "$ref: \"#/$defs/address\"", "$dynamicRef: \"#address\""),
    ("no-schema", Code::UnresolvedRef, READ, "$ref: \"#/$defs/address\"", "$ref: \"#/required\""),
    ("kind", Code::BadValue, READ, "x-kind: reference", "x-kind: guess"),
    ("epoch", Code::MissingUnit, READ, NAME, "seen_at: { type: integer, minimum: 0, maximum: 9 }"),
    ("target", Code::MissingTarget, WRITE, "\ntarget:", "\nx_target:"),
    ("preview", Code::MissingPreview, WRITE, "\npreview:", "\nx_preview:"),
    ("idempotency", Code::MissingKey, WRITE, "\nidempotency:", "\nx_idempotency:"),
    ("recovery", Code::MissingRecovery, WRITE, "\nrecovery:", "\nx_recovery:"),
    ("receipt", Code::MissingReceipt, WRITE, "\nreceipt:", "\nx_receipt:"),
    ("limits", Code::MissingLimits, WRITE, "\nlimits:", "\nx_limits:"),
    ("errors", Code::MissingErrors, WRITE, "\nerrors:", "\nx_errors:"),
    ("actor", Code::MissingActor, WRITE, "\nactor:", "\nx_actor:"),
    ("no-reason", Code::BadValue, MAIL, "none: a mail that was sent cannot be taken back", "none: \"\""),
    ("write", Code::UnsupportedRetry, WRITE, "class: idempotent", "class: safe_read"),
    ("key-window", Code::UnsupportedRetry, WRITE, "key_window: 24h", "key_window: 5m"),
    ("after", Code::RedactedPointer, WRITE, "after: { shipping_address:", "after: { email:"),
    (
        "target",
        Code::RedactedPointer,
        WRITE,
        "  id: \"${args.customer_id}\"",
        "  id: \"${preview.before.email}\"",
    ),
    (
        "compensation",
        Code::RedactedPointer,
        WRITE,
        "  with: { customer_id: \"${args.customer_id}\", destination",
        "  with: { customer_id: \"${preview.before.internal_notes}\", destination",
    ),
    (
        "both",
        Code::BadValue,
        WRITE,
        "read: get_customer.v1",
        "read: get_customer.v1\n  call: get_customer.v1",
    ),
    ("no-tool", Code::MissingPreview, WRITE, "  read: get_customer.v1\n", ""),
    ("version", Code::RedactedPointer, WRITE, "log: {", "redact: { agent: { /new_version: mask } }\nlog: {"),
    ("until", Code::MissingField, READ, "{ state: active }", "{ state: deprecated }"),
    (
        "successor",
        Code::ToolNotFound,
        READ,
        "{ state: active }",
        "{ state: deprecated, until: 2027-01-01, successor: get_custmer.v2 }",
    ),
];

/// A code, and how a shipped contract is spoiled so that it appears: file, text, replacement.
const CASES: &[(Code, &str, &str, &str)] = &[
    (Code::YamlSyntax, READ, "effect: { class: read }", "effect: { class: read"),
    (Code::YamlFeature, READ, "title: Read a customer", "title: &t Read a customer\nowner2: *t"),
    (Code::DuplicateKey, READ, "owner: crm-team", "owner: crm-team\nowner: other-team"),
    (
        Code::TooDeep,
        READ,
        "examples:",
        "examples: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\nx:",
    ),
    (Code::InexactNumber, READ, "maximum: 9007199254740991", "maximum: 9007199254740993"),
    (Code::UnknownKey, READ, "timeout: 2s", "timeuot: 2s"),
    (Code::WrongType, READ, "title: Read a customer", "title: 7"),
    (Code::MissingField, READ, "owner: crm-team\n", ""),
    (Code::BadValue, READ, "timeout: 2s", "timeout: 2 parsecs"),
    (Code::BadTemplate, READ, "/customers/${args.customer_id}", "/customers/${args.customer_id +}"),
    (Code::UnknownName, READ, "/customers/${args.customer_id}", "/customers/${args.custmer_id}"),
    (Code::InvalidSchema, READ, "maxLength: 254", "maxLength: -254"),
    (Code::OpenObject, READ, "      additionalProperties: false\n", ""),
    (Code::FreeForm, READ, "name: { type: string, maxLength: 200 }", "name: true"),
    (Code::UnboundedString, READ, "email: { type: string, maxLength: 254 }", "email: { type: string }"),
    (
        Code::UnboundedArray,
        READ,
        "email: { type: string, maxLength: 254 }",
        "email: { type: array, items: { type: boolean } }",
    ),
    (Code::UnboundedNumber, READ, "minimum: 0, maximum: 9007199254740991", "minimum: 0"),
    (
        Code::NoDiscriminator,
        READ,
        "email: { type: string, maxLength: 254 }",
        "email: { oneOf: [{ type: string, maxLength: 9 }, { type: string, format: uuid }] }",
    ),
    (Code::RemoteRef, READ, "$ref: \"#/$defs/address\"", "$ref: \"https://example.test/a.json\""),
    (Code::UnresolvedRef, READ, "$ref: \"#/$defs/address\"", "$ref: \"#/$defs/adress\""),
    (
        Code::NonLinearPattern,
        READ,
        "email: { type: string, maxLength: 254 }",
        "email: { type: string, maxLength: 254, pattern: \"^(?=a)b$\" }",
    ),
    (
        Code::AuthorityInput,
        READ,
        "x-kind: reference }",
        "x-kind: reference }\n    is_admin: { type: boolean }",
    ),
    (Code::MissingKind, READ, ", x-kind: reference }", " }"),
    (Code::MissingUnit, READ, NAME, "weight: { type: number, minimum: 0, maximum: 9 }"),
    (Code::MissingCurrency, READ, NAME, "balance: { type: integer, minimum: 0, maximum: 9 }"),
    (Code::MissingOffset, READ, NAME, "seen_at: { type: string, maxLength: 40 }"),
    (
        Code::EndlessReference,
        READ,
        "  $defs:\n",
        "  $defs:\n    loop: { allOf: [{ $ref: \"#/$defs/loop\" }] }\n",
    ),
    (Code::InvalidExample, READ, "args: { customer_id: C-1842 }", "args: { customer_id: 1842 }"),
    (Code::MissingTarget, WRITE, "  check: if_match\n", ""),
    (
        Code::MissingPreview,
        WRITE,
        "  effect_text: \"Replace the shipping address of customer ${args.customer_id}\"\n",
        "",
    ),
    (Code::MissingApproval, WRITE, "approval: { decide_within: 30m, execute_within: 15m }\n", ""),
    (Code::MissingKey, WRITE, "idempotency: { carry: header, name: Idempotency-Key, key_window: 24h }\n", ""),
    (
        Code::MissingRecovery,
        WRITE,
        "    not_found: status == 404 && body.code == \"NO_SUCH_OPERATION\"\n",
        "",
    ),
    (
        Code::MissingReceipt,
        WRITE,
        "  match: { operation_id: /receipt/operation_id, request_sha256: /receipt/request_sha256, key: /receipt/key }\n",
        "",
    ),
    (Code::MissingTimeout, WRITE, "timeout: 5s\n", ""),
    (Code::MissingErrors, MAIL, "errors:", "errors: []\nx-errors:"),
    (Code::MissingLimits, READ, "concurrency: 32, ", ""),
    (Code::MissingActor, WRITE, ", on_behalf_of: X-On-Behalf-Of", ""),
    (
        Code::MissingCompensation,
        MAIL,
        "compensation: { none: a mail that was sent cannot be taken back }\n",
        "",
    ),
    (Code::UnsupportedRetry, READ, "class: safe_read", "class: idempotent"),
    (Code::DraftWithoutTtl, READ, "effect: { class: read }", "effect: { class: draft }"),
    (Code::NotExecutable, WRITE, "tier: status_by_key", "tier: replay_by_key"),
    (
        Code::BadHeader,
        WRITE,
        "headers: { If-Match: \"\\\"${target.version}\\\"\" }",
        "headers: { Host: example.test }",
    ),
    (Code::BadPath, READ, "/customers/${args.customer_id}", "/customers/../${args.customer_id}"),
    (Code::BadErrorEntry, READ, "code: NOT_FOUND,", "code: NOTFOUND,"),
    (Code::WrongClass, READ, "timeout: 2s", "timeout: 2s\ncommit: explicit"),
    (Code::ToolNotFound, WRITE, "read: get_customer.v1", "read: get_custmer.v1"),
    (Code::RedactedPointer, WRITE, "recipients: []", "recipients: [\"${preview.before.email}\"]"),
];

pub(super) fn sources(spoil: Option<(&str, &str, &str)>) -> Vec<Source> {
    let files = [READ, WRITE, MAIL].map(|file| {
        let mut text = std::fs::read_to_string(shipped_dir().join("customers").join(file)).unwrap();
        if let Some((spoiled, from, to)) = spoil
            && spoiled == file
        {
            assert!(text.contains(from), "{file} has no `{from}`");
            text = text.replace(from, to);
        }
        Source { file: file.to_owned(), text }
    });
    files.into()
}

fn load(sources: Vec<Source>) -> Vec<Finding> {
    Catalog::from_sources(sources).err().unwrap_or_default()
}

fn unreadable() -> Vec<Finding> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("latin1.tool.yaml"), b"title: caf\xe9\n").unwrap();
    let mut findings = Catalog::load(dir.path()).unwrap_err();
    for finding in &mut findings {
        finding.file = Path::new(&finding.file).file_name().unwrap().to_string_lossy().into_owned();
    }
    findings
}

/// Every example that spoils a shipped contract, by the name of its golden file.
pub(super) fn all_cases() -> Vec<(String, Code, (&'static str, &'static str, &'static str))> {
    let first = CASES.iter().map(|(code, file, from, to)| (code.to_string(), *code, (*file, *from, *to)));
    let more = MORE
        .iter()
        .map(|(name, code, file, from, to)| (format!("{code}.{name}"), *code, (*file, *from, *to)));
    first.chain(more).collect()
}

/// The shipped contracts in a folder of their own, with a lock that is changed on the way.
fn locked(change: impl Fn(String) -> String) -> Vec<Finding> {
    let dir = tempfile::tempdir().unwrap();
    let all = sources(None);
    for source in &all {
        std::fs::write(dir.path().join(&source.file), &source.text).unwrap();
    }
    let lock = Lock::default().renewed(dir.path(), &Catalog::from_sources(all).unwrap()).unwrap();
    let text = change(lock.text());
    assert_ne!(text, lock.text(), "nothing was changed");
    std::fs::write(dir.path().join(LOCK_FILE), text).unwrap();
    let mut findings = Catalog::load(dir.path()).unwrap_err();
    findings.iter_mut().for_each(|finding| finding.file = LOCK_FILE.to_owned());
    findings
}

fn another_body(lock: String) -> String {
    let (head, rest) = lock.split_once("fingerprint: \"").unwrap();
    format!("{head}fingerprint: \"{}{}", "0".repeat(64), &rest[64..])
}

fn breaking() -> Vec<Finding> {
    let mut both = sources(None);
    let newer = both[0].text.replace("version: \"1.0\"", "version: \"1.1\"");
    let newer =
        newer.replace(INPUT, "customer_id: { type: string, pattern: \"^D-[0-9]{1,9}$\", x-kind: reference }");
    let newer =
        newer.replace("C-1842", "D-1842").replace("scope: customers.read", "scope: customers.everything");
    both.push(Source { file: "newer.tool.yaml".to_owned(), text: newer });
    load(both)
}

/// The warnings of the shipped contracts, spoiled, on a day that is long after all of theirs.
fn overdue(file: &str, from: &str, to: &str) -> Vec<Finding> {
    let catalog = Catalog::from_sources(sources(Some((file, from, to)))).unwrap();
    catalog.warnings("2031-01-01")
}

fn many_tools() -> Vec<Finding> {
    let read = sources(None).remove(0);
    let copies = (0..129).map(|i| Source {
        file: format!("tool_{i}.tool.yaml"),
        text: read.text.replace("tool: get_customer", &format!("tool: get_customer{i}")),
    });
    let all = Catalog::from_sources(copies.collect()).unwrap();
    all.warnings("2026-01-01")
}

type Reports = BTreeMap<&'static str, (Code, Vec<Finding>)>;

/// Made once for all tests: some of them load many contracts.
static REPORTS: LazyLock<Reports> = LazyLock::new(reports);

fn reports() -> Reports {
    let mut out = BTreeMap::new();
    let mut add = |code: Code, findings| {
        assert!(out.insert(code.as_str(), (code, findings)).is_none(), "two cases for {code}");
    };
    for (code, file, from, to) in CASES {
        add(*code, load(sources(Some((file, from, to)))));
    }
    add(Code::UnreadableFile, unreadable());
    let large = format!("#{}\n", "x".repeat(300_000));
    add(Code::TooLarge, load(vec![Source { file: READ.to_owned(), text: large }]));
    let values: Vec<String> = (0..5000).map(|i| i.to_string()).collect();
    let huge = format!("name: {{ type: integer, enum: [{}] }}", values.join(", "));
    add(Code::SchemaTooLarge, load(sources(Some((READ, NAME, &huge)))));
    add(Code::ChangedBody, locked(another_body));
    add(Code::LockDrift, locked(|text| text.replace("get_customer:", "get_custmer:")));
    add(Code::BreakingChange, breaking());
    add(Code::OverdueReview, overdue(READ, "1KiB", "2KiB"));
    add(Code::OverdueDrill, overdue(WRITE, "drill_every: 90d", "drill_every: 90d\n  drilled_on: 2026-11-01"));
    let deprecated = "{ state: deprecated, until: 2027-01-01, successor: get_customer.v1 }";
    add(Code::OverdueRetirement, overdue(READ, "{ state: active }", deprecated));
    add(Code::TooManyTools, many_tools());
    let mut twice = sources(None);
    twice.push(Source { file: "again.tool.yaml".to_owned(), ..twice[0].clone() });
    add(Code::DuplicateTool, load(twice));
    out
}

#[test]
fn every_code_has_an_example_with_its_exact_report() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/contracts");
    let reports = &*REPORTS;
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = String::new();
    let golden = |name: &str, findings: &[Finding], wrong: &mut String| {
        let (path, text) = (dir.join(format!("{name}.txt")), report(findings));
        if update {
            std::fs::write(&path, &text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            let _ = writeln!(wrong, "{} differs (UPDATE=1 rewrites it):\n{text}", path.display());
        }
    };
    for (name, code, file, from, to) in MORE {
        let findings = load(sources(Some((file, from, to))));
        if !findings.iter().any(|finding| finding.code == *code) {
            let _ = writeln!(wrong, "the example {name} for {code} gives:\n{}", report(&findings));
        }
        golden(&format!("{code}.{name}"), &findings, &mut wrong);
    }
    for code in Code::ALL {
        let Some((_, findings)) = reports.get(code.as_str()) else {
            let _ = writeln!(wrong, "no example for {code}");
            continue;
        };
        if !findings.iter().any(|finding| finding.code == *code) {
            let _ = writeln!(wrong, "the example for {code} gives:\n{}", report(findings));
            continue;
        }
        golden(code.as_str(), findings, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_finding_of_a_text_has_a_place_and_a_remedy() {
    for (code, findings) in REPORTS.values() {
        for finding in findings {
            let placed = finding.line > 0
                || matches!(
                    code,
                    Code::UnreadableFile | Code::TooLarge | Code::TooManyTools | Code::LockDrift
                );
            let filed = !finding.file.is_empty() || *code == Code::TooManyTools;
            assert!(placed && filed && !finding.remedy.is_empty(), "{finding}");
        }
    }
}

#[test]
fn one_bad_contract_keeps_the_whole_set_out_and_all_findings_are_told() {
    let mut all = sources(Some((READ, "timeout: 2s", "timeout: never")));
    all[1].text = all[1].text.replace("tier: status_by_key", "tier: guess").replace("title:", "titel:");
    let findings = load(all);
    let files: Vec<&str> = findings.iter().map(|finding| finding.file.as_str()).collect();
    assert!(files.contains(&READ) && files.contains(&WRITE), "{}", report(&findings));
    assert!(findings.len() >= 4, "{}", report(&findings));
    assert!(report(&findings).contains("did you mean `title`?"), "{}", report(&findings));
}

#[test]
fn a_torn_file_is_a_finding_and_never_a_panic() {
    let whole = sources(None).remove(1).text;
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..40 {
        let cut = random.usize(0..whole.len());
        let end = (0..=cut).rev().find(|end| whole.is_char_boundary(*end)).unwrap();
        let text = whole[..end].to_owned();
        assert!(!load(vec![Source { file: WRITE.to_owned(), text }]).is_empty(), "cut at {end}");
        let (from, to) = (random.usize(0..whole.len()), random.usize(1..40));
        let bytes: Vec<u8> =
            whole.bytes().enumerate().filter(|(i, _)| *i < from || *i >= from + to).map(|(_, b)| b).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = load(vec![Source { file: WRITE.to_owned(), text }]);
    }
}
