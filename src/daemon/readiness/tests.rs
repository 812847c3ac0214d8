//! The configuration in the documents has nothing that blocks, and each gap is seen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::config::Environment;
use crate::domain::Time;
use crate::kit::{Check, Part, Record, ToolReport};

const PRODUCTION: &str = include_str!("../../../docs/production.toml");

/// A directory with everything that the configuration names.
struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Site {
        let site = Site { dir: tempfile::tempdir().unwrap() };
        let contracts = site.path("workflows");
        fs::create_dir(&contracts).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/customers");
        for entry in fs::read_dir(shipped).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, contracts.join(path.file_name().unwrap())).unwrap();
        }
        fs::write(contracts.join(crate::contracts::LOCK_FILE), "").unwrap();
        fs::create_dir(site.path("state")).unwrap();
        fs::write(site.path("crm.token"), "secret").unwrap();
        fs::write(site.path("policy.cases.yaml"), "about: tests\ncases: []\n").unwrap();
        site.chmod("workflows", 0o755);
        site.chmod("state", 0o700);
        site.chmod("crm.token", 0o600);
        site.record(&[]);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    fn catalog(&self) -> Catalog {
        Catalog::load_unlocked(&self.path("workflows")).unwrap()
    }

    /// All contracts passed, but for what is not proven.
    fn record(&self, unproven: &[&str]) {
        let mut checks = vec![Check::passed(Part::Service, "same request again", "")];
        checks.extend(unproven.iter().map(|name| Check::unproven(Part::Service, *name, "", "")));
        let catalog = self.catalog();
        let tools = catalog.list().map(|contract| ToolReport {
            tool: contract.tool_ref().to_string(),
            version: contract.version.to_string(),
            fingerprint: contract.fingerprint().to_string(),
            boundaries: 0,
            origin: Some("http://127.0.0.1:1".to_owned()),
            checks: checks.clone(),
        });
        let mut record = Record::default();
        record.take(&crate::kit::Report { tools: tools.collect() }, Time::from_millis(0));
        record.save(&self.path("state")).unwrap();
    }

    fn report(&self, text: &str, today: &str) -> Report {
        let file = self.path("daemon.toml");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        self.look(today)
    }

    fn look(&self, today: &str) -> Report {
        self.look_as(rustix::process::geteuid().as_raw(), today)
    }

    fn look_as(&self, own_uid: u32, today: &str) -> Report {
        let file = self.path("daemon.toml");
        let (config, _) = Config::load(Some(&file), &Environment::default()).unwrap();
        let catalog = self.catalog();
        report(Look { config: &config, file: Some(&file), catalog: &catalog, own_uid, today })
    }
}

const TODAY: &str = "2026-12-01";

fn codes(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn the_configuration_of_the_documents_has_nothing_that_blocks() {
    let report = Site::new().report(PRODUCTION, TODAY);
    // The shipped contracts: nobody has rehearsed the compensation yet, and a mail cannot be taken back.
    assert_eq!(codes(&report), ["OVERDUE", "IRREVERSIBLE"], "{report:#?}");
    assert!(report.is_ready());
}

#[test]
fn every_gap_of_the_configuration_is_seen() {
    let site = Site::new();
    let approver = "name = \"bob\"\nkind = \"user\"\nroles = [\"approver\"]";
    let no_approver = "name = \"bob\"\nkind = \"user\"\nroles = [\"auditor\"]";
    let own = format!("uids = [{}]", rustix::process::geteuid().as_raw());
    for (from, to, gap) in [
        ("allow_same_uid = false", "allow_same_uid = true", "SAME_UID_ALLOWED"),
        ("uids = [64102]", "uids = [64101]", "ONE_UID_BOTH_SIDES"),
        ("uids = [64101]", own.as_str(), "AGENT_IS_DAEMON"),
        ("owner = \"dave\"", "", "NO_OWNER"),
        ("owner = \"dave\"", "owner = \"nobody\"", "OWNER_UNKNOWN"),
        ("\"operator\", \"auditor\"", "\"auditor\"", "NO_OPERATOR"),
        (", \"admin\"", "", "NO_ADMIN"),
        (", \"auditor\"", "", "NO_AUDITOR"),
        ("class = \"draft\"", "", "ALLOWS_WRITES"),
        ("class = \"draft\"", "tool = \"get_*\"", "ALLOWS_SOME_WRITES"),
        ("assurance = \"token\"\n", "", "WEAK_ASSURANCE"),
        ("group = \"crm\"", "group = \"crm\"\ncount = 3", "TOO_FEW_APPROVERS"),
        ("group = \"crm\"", "group = \"crm\"\nexclude = [\"alice\", \"bob\"]", "TOO_FEW_APPROVERS"),
        (approver, no_approver, "NO_SPARE_APPROVER"),
        ("class = \"write\"", "class = \"draft\"", "NO_RULE_FOR_WRITES"),
        ("class = \"write\"", "class = \"write\"\ntool = \"no_such_*\"", "RULE_WITHOUT_TOOL"),
        ("name = \"crm\"", "name = \"other\"", "NO_BASE"),
        ("file:crm.token", "env:NO_SUCH_VARIABLE", "SECRET_NOT_SET"),
        ("file:crm.token", "file:no.token", "SECRET_UNREADABLE"),
        ("credential = \"file:crm.token\"", "", "NO_CREDENTIAL"),
        ("\"https://crm.example.com\"", "\"http://crm.example.com\"\nplain_http = true", "PLAIN_HTTP"),
        ("socket_group = \"writd\"", "", "SOCKET_OPEN"),
        ("\"0660\"", "\"0600\"", "SOCKET_CLOSED"),
        ("[log]", "[store]\nreserve = \"16MiB\"\n[log]", "RESERVE_SMALL"),
        ("[log]", "[reconcile]\nescalate_after = \"5h\"\n[log]", "ESCALATES_LATE"),
        ("[approval]", "[approval]\nexecute_within_max = \"48h\"", "LONG_CLOCKS"),
        ("[log]", "[log]\nlevel = \"debug\"", "LOG_VERBOSE"),
    ] {
        assert!(PRODUCTION.contains(from), "{from}");
        let report = site.report(&PRODUCTION.replace(from, to), TODAY);
        assert!(codes(&report).contains(&gap), "{gap}: {report:#?}");
        let blocks = report.findings.iter().find(|found| found.code.as_str() == gap).unwrap().blocks;
        assert!(!blocks || !report.is_ready(), "{gap}");
    }
}

#[test]
fn every_gap_of_files_and_contracts_is_seen() {
    let site = Site::new();
    let first = site.report(PRODUCTION, TODAY);
    let overdue = site.report(PRODUCTION, "2030-01-01");
    assert!(codes(&overdue).contains(&"OVERDUE") && overdue.is_ready(), "a date that passes stops no daemon");
    assert!(codes(&site.look_as(64_999, TODAY)).contains(&"STATE_NOT_OURS"));
    let expect = |gap: &'static str, site: &Site| {
        let report = site.look(TODAY);
        assert!(codes(&report).contains(&gap), "{gap}: {report:#?}");
    };
    for (name, mode, gap) in [
        ("state", 0o750, "STATE_OPEN"),
        ("daemon.toml", 0o620, "FILES_OPEN"),
        ("workflows", 0o775, "FILES_OPEN"),
        ("crm.token", 0o644, "SECRET_OPEN"),
    ] {
        let before = fs::metadata(site.path(name)).unwrap().permissions();
        site.chmod(name, mode);
        expect(gap, &site);
        fs::set_permissions(site.path(name), before).unwrap();
    }
    assert_eq!(site.look(TODAY), first, "each was put back");
    fs::write(site.path("crm.token"), "").unwrap();
    expect("SECRET_EMPTY", &site);
    fs::remove_file(site.path("policy.cases.yaml")).unwrap();
    expect("NO_POLICY_CASES", &site);
    fs::remove_file(site.path("workflows").join(crate::contracts::LOCK_FILE)).unwrap();
    expect("NOT_LOCKED", &site);
    site.record(&["answer lost"]);
    expect("UNPROVEN", &site);
    fs::write(site.path("state/contract-tests.json"), "{").unwrap();
    expect("RECORD_UNREADABLE", &site);
    fs::remove_file(site.path("state/contract-tests.json")).unwrap();
    expect("NOT_TESTED", &site);
    let mail = site.path("workflows/send_confirmation.tool.yaml");
    let text = fs::read_to_string(&mail).unwrap();
    let (head, rest) = text.split_once("recovery:\n").unwrap();
    let tail = rest.split_once("confirm_interval: 1s\n").unwrap().1;
    fs::write(&mail, format!("{head}recovery: {{ tier: none }}\n{tail}")).unwrap();
    expect("TIER_NONE", &site);
    for entry in fs::read_dir(site.path("workflows")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    expect("NO_CONTRACTS", &site);
}

#[test]
fn the_document_names_every_code() {
    let page = include_str!("../../../docs/operations.md");
    for gap in Gap::ALL {
        let code = format!("`{}`", gap.as_str());
        let line = page.lines().find(|line| line.contains(&code));
        let line = line.unwrap_or_else(|| panic!("docs/operations.md does not name {code}"));
        assert_eq!(line.starts_with("| blocks |"), gap.blocks(), "{code} stands in the wrong row");
    }
}
