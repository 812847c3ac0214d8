//! The shipped file is the defaults, every mistake has a golden message, and names belong to their accounts.

use std::path::Path;

use super::*;
use crate::domain::principal::Assurance;

const SHIPPED: &str = include_str!("../../daemon.toml");
const SELF: u32 = 1000;

fn parse(text: &str) -> Result<(Config, Vec<Warning>), Vec<ConfigError>> {
    parse_with(text, &[])
}

fn parse_with(text: &str, env: &[(&str, &str)]) -> Result<(Config, Vec<Warning>), Vec<ConfigError>> {
    let env =
        Environment::from_pairs(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Config::parse("daemon.toml", text, Path::new("/srv/writd"), &env, SELF)
}

/// Compares with tests/golden/config/NAME.txt; UPDATE=1 rewrites it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/config/{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "golden file {name}; UPDATE=1 rewrites it");
}

fn findings(text: &str, env: &[(&str, &str)]) -> String {
    let lines: Vec<String> = match parse_with(text, env) {
        Ok((_, warnings)) => warnings.iter().map(ToString::to_string).collect(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    };
    lines.join("\n") + "\n"
}

#[test]
fn the_shipped_file_is_the_defaults() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("daemon.toml");
    std::fs::write(&file, SHIPPED).unwrap();
    let (config, warnings) = Config::load(Some(&file), &Environment::default()).unwrap();
    assert_eq!(config, Config::default_for(root.path()));
    let codes: Vec<_> = warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["ONE_UID_SEVERAL_ROLES"], "one account plays several roles, and the start says so");
}

#[test]
fn every_commented_out_key_is_a_key() {
    // "#key" directly is a key, "# text" is prose. The CA is for https only, and so is the origin then.
    let keys: Vec<&str> =
        SHIPPED.lines().filter(|line| line.starts_with('#') && !line[1..].starts_with(' ')).collect();
    let keys: Vec<&str> = keys.into_iter().filter(|line| line.len() > 1).collect();
    assert_eq!(keys.len(), 26, "{keys:?}");
    let uncommented: Vec<String> = SHIPPED
        .lines()
        .map(|line| if keys.contains(&line) { line[1..].to_owned() } else { line.to_owned() })
        .collect();
    let (config, _) =
        parse(&uncommented.join("\n").replace("http://127.0.0.1:7401", "https://crm.example")).unwrap();
    assert_eq!(config.daemon.socket_group.as_deref(), Some("writd"));
    assert_eq!(config.owner_of("agent"), Some("alice"));
    let base = &config.bases[0];
    assert_eq!(base.credential, Some(SecretRef::Env("CRM_TOKEN".to_owned())));
    assert_eq!(base.ca.as_deref(), Some(Path::new("/srv/writd/crm-ca.pem")));
}

#[test]
fn every_key_stands_in_the_shipped_file() {
    // The messages list all keys of a section; each must be written in the file, as a key or commented out.
    let sections = [
        "daemon",
        "store",
        "http",
        "tokens",
        "limits",
        "reconcile",
        "approval",
        "log",
        "principal",
        "base",
        "policy",
        "budget",
    ];
    for section in sections {
        let list = if ["principal", "base", "policy", "budget"].contains(&section) {
            format!("[[{section}]]")
        } else {
            format!("[{section}]")
        };
        let errors = parse(&format!("{list}\nqqqqqqqqqqqqqqqq = 1")).unwrap_err();
        let help = errors.iter().find(|e| e.code == "UNKNOWN_KEY").unwrap().help.clone().unwrap();
        for key in help.strip_prefix("keys of this section: ").unwrap().split(", ") {
            let written =
                SHIPPED.lines().any(|line| line.trim_start_matches('#').starts_with(&format!("{key} = ")));
            assert!(written, "{section}.{key} is not in daemon.toml");
        }
    }
}

#[test]
fn paths_are_relative_to_the_file() {
    let (config, _) = parse("[daemon]\nstate_dir = \"/var/lib/writd\"\nsocket = \"run/s\"").unwrap();
    assert_eq!(config.daemon.state_dir, Path::new("/var/lib/writd"));
    assert_eq!(config.daemon.socket, Path::new("/srv/writd/run/s"));
    assert_eq!(config.daemon.contracts, Path::new("/srv/writd/workflows"));
}

#[test]
fn misspelt_configuration_is_refused() {
    let cases = [
        ("unknown_key", "[limits]\npage_mxa = 2\n\n[store]\nrequred = true\n"),
        ("unknown_section", "[securty]\nx = 1\n[limit]\nmax_wait = \"1s\"\n[redaction]\nfield = []\n"),
        ("wrong_table", "[daemon]\nescalate_after = \"1m\"\n[log]\nname = \"x\"\n"),
        ("top_level", "grace = \"1s\"\nlog = 3\nbase = 1\n"),
        ("enum", "[log]\nformat = \"jsn\"\nlevel = \"verbose\"\n[store]\nengine = \"sqlite\"\n"),
        ("duplicate", "[log]\nlevel = \"info\"\nformat = \"text\"\nlevel = \"warn\"\n"),
        ("duplicate_section", "[log]\nlevel = \"info\"\n[store]\n[log]\nformat = \"text\"\n"),
        ("syntax", "[log]\nlevel = info\n"),
        ("removed", "[daemon]\nsocket_path = \"x\"\n"),
        (
            "types",
            "[daemon]\ngrace = 10\nsocket_mode = 600\n[approval]\ndecide_within_max = 1\nallow_same_uid = \"yes\"\n",
        ),
        (
            "values",
            "[daemon]\ngrace = \"10\"\nsocket_mode = \"0666\"\n[store]\ncache = \"64MB\"\nreserve = \"8MiB\"\n[approval]\ndecide_within_max = \"0s\"\n\
             [reconcile]\ninterval = \"2m\"\n[limits]\npage_default = 501\n",
        ),
        (
            "principals",
            "[[principal]]\nname = \"bot\"\nkind = \"agent\"\nroles = [\"agent\", \"approver\"]\nuids = [\"self\"]\n\
             default = true\n[[principal]]\nname = \"bot\"\nkind = \"user\"\nroles = [\"approver\"]\nuids = [1000]\n\
             default = true\n[[principal]]\nname = \"Eve\"\nkind = \"person\"\nroles = [\"aprover\"]\nuids = [\"me\"]\n\
             [[principal]]\nname = \"writd\"\nkind = \"service\"\nroles = []\nuids = []\n[[principal]]\nnmae = \"x\"\n",
        ),
        (
            "bases",
            "[[base]]\nname = \"a\"\norigin = \"http://crm.example\"\n[[base]]\nname = \"a\"\n\
             origin = \"https://user:pw@crm.example\"\ncredential = \"s3cr3t\"\n[[base]]\nname = \"b\"\n\
             origin = \"https://crm.example/v1\"\n[[base]]\nname = \"a\"\norigin = \"https://x\"\n\
             credential_header = \"x-key\"\n[[base]]\nname = \"a\"\norigin = \"https://y\"\nmax_connections = 0\n",
        ),
        (
            "doors",
            "[http]\nlisten = \"0.0.0.0:7400\"\ntls_key = \"k\"\nhosts = []\n[tokens]\ndefault_expiry = \"91d\"\n",
        ),
        (
            "door_values",
            "[http]\nlisten = \"localhost\"\nhosts = [\"a/b\"]\norigins = [\"null\"]\nmax_connections = 0\nbehind_proxy = 1\n",
        ),
        (
            "people",
            "[[principal]]\nname = \"bot\"\nkind = \"agent\"\nroles = [\"agent\"]\nuids = [7]\nowner = \"zoe\"\n",
        ),
    ];
    for (name, text) in cases {
        let found = findings(text, &[]);
        golden(name, &found);
        let warns_only = matches!(name, "removed" | "people");
        assert_eq!(parse(text).is_ok(), warns_only, "{name}");
        assert!(!found.contains("s3cr3t") && !found.contains("pw@"), "{name} shows a value");
    }
}

#[test]
fn the_environment_wins_and_is_checked_like_the_file() {
    let env = [
        ("WRITD_DAEMON_STATE_DIR", "/data"),
        ("WRITD_LIMITS_PAGE_MAX", "200"),
        ("WRITD_RECONCILE_JITTER", "false"),
        ("WRITD_LOG_LEVEL", "debug"),
        ("WRITD_LOG", "writd=trace"),
        ("WRITD_AS", "alice"),
    ];
    let (config, _) = parse_with("[log]\nlevel = \"error\"\n[limits]\npage_max = 100\n", &env).unwrap();
    assert_eq!(config.daemon.state_dir, Path::new("/data"));
    assert_eq!((config.limits.page_max, config.reconcile.jitter), (200, false));
    assert_eq!(config.log.level, LogLevel::Debug);
    let wrong = [
        ("WRITD_LOG_LEVEL", "verbos"),
        ("WRITD_LOG_LEVLE", "info"),
        ("WRITD_STOR_CACHE", "1MiB"),
        ("WRITD_LIMITS_PAGE_MAX", "many"),
        ("WRITD_BASE_ORIGIN", "http://127.0.0.1:1"),
    ];
    golden("environment", &findings("", &wrong));
    assert!(parse_with("", &wrong).is_err());
    let own = "[[base]]\nname = \"crm\"\norigin = \"https://crm\"\ncredential = \"env:WRITD_CRM_TOKEN\"\n";
    assert!(parse_with(own, &[("WRITD_CRM_TOKEN", "x")]).is_ok(), "a credential may have any name");
    assert!(parse_with("", &[("WRITD_CRM_TOKEN", "x")]).is_err());
}

#[test]
fn a_named_file_must_exist() {
    let missing = Path::new("/no/such/daemon.toml");
    let errors = Config::load(Some(missing), &Environment::default()).unwrap_err();
    assert_eq!((errors.len(), errors[0].code), (1, "UNREADABLE"));
    let env = Environment::from_pairs([("WRITD_CONFIG".to_owned(), "/no/such/daemon.toml".to_owned())]);
    assert_eq!(Config::load(None, &env).unwrap_err()[0].code, "UNREADABLE");
}

#[test]
fn names_belong_to_their_accounts() {
    let text = "[[principal]]\nname = \"bot\"\nkind = \"agent\"\nroles = [\"agent\"]\nuids = [\"self\"]\ndefault = true\n\
                [[principal]]\nname = \"alice\"\nkind = \"user\"\nroles = [\"approver\"]\nuids = [\"self\", 1]\n\
                [[principal]]\nname = \"bob\"\nperson = \"robert\"\nkind = \"user\"\nroles = [\"approver\"]\nuids = [1]\n\
                [[principal]]\nname = \"cron\"\nkind = \"service\"\nroles = [\"agent\"]\nuids = [2]\n";
    let (config, _) = parse(text).unwrap();
    let name = |uid, as_name| config.identify(uid, as_name).map(|principal| principal.name);
    assert_eq!(name(SELF, None).unwrap(), "bot");
    assert_eq!(name(SELF, Some("alice")).unwrap(), "alice");
    assert_eq!(name(2, None).unwrap(), "cron");
    let names = vec!["bot".to_owned(), "alice".to_owned()];
    let foreign = name(SELF, Some("bob"));
    assert_eq!(foreign, Err(IdentifyError::UnknownName { names }));
    assert_eq!(foreign, name(SELF, Some("nobody")), "a foreign name answers like an unknown one");
    let names = vec!["alice".to_owned(), "bob".to_owned()];
    assert_eq!(name(1, None), Err(IdentifyError::Ambiguous { names }));
    assert_eq!(name(9, Some("alice")), name(9, None));
    let bob = config.identify(1, Some("bob")).unwrap();
    assert_eq!((bob.person.as_str(), bob.assurance), ("robert", Assurance::LocalUid));
}

#[test]
fn the_listener_is_off_and_goes_beyond_this_machine_only_with_tls() {
    let http = |text: &str| parse(text).map(|(config, _)| config.http).map_err(|errors| errors.len());
    assert_eq!(http("").unwrap().listen, None);
    let there = http("[http]\nlisten = \"[::1]:7400\"\nhosts = [\"Writd.example:80\"]\n").unwrap();
    assert_eq!(there.hosts, ["writd.example"]);
    let beyond = "[http]\nlisten = \"192.0.2.1:7400\"\n";
    assert_eq!(http(beyond), Err(1));
    assert!(http(&format!("{beyond}behind_proxy = true\n")).is_ok());
    assert!(http(&format!("{beyond}tls_cert = \"c\"\ntls_key = \"k\"\n")).is_ok());
    let env = [("WRITD_HTTP_HOSTS", "a.example, b.example"), ("WRITD_HTTP_LISTEN", "127.0.0.1:1")];
    let (config, _) = parse_with("", &env).unwrap();
    assert_eq!(config.http.hosts, ["a.example", "b.example"]);
}

#[test]
fn a_disabled_name_is_answered_like_one_that_does_not_exist() {
    let text = "[[principal]]\nname = \"bot\"\nkind = \"agent\"\nroles = [\"agent\"]\nuids = [1000]\n\
                [[principal]]\nname = \"alice\"\nkind = \"user\"\nroles = [\"approver\"]\nuids = [1000, 1]\nenabled = false\n\
                [[principal]]\nname = \"remote\"\nkind = \"agent\"\nroles = [\"agent\"]\nuids = []\n";
    let (config, _) = parse(text).unwrap();
    assert_eq!(config.identify(SELF, Some("alice")), config.identify(SELF, Some("nobody")));
    assert_eq!(config.identify(1, None), Err(IdentifyError::NoPrincipal { uid: 1 }));
    assert_eq!(config.identify(SELF, None).unwrap().name, "bot", "the only name that is left");
    assert_eq!(config.identify(SELF, Some("remote")), config.identify(SELF, Some("nobody")));
    let known = |name: &str| config.principal(name).is_some();
    assert_eq!((known("remote"), known("alice"), known("nobody")), (true, false, false));
}
