//! A misspelt key protects nothing, so it refuses the start, and `check-config` says the same without starting.

use std::{fs, process::Output};

use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::PATIENCE,
};

/// The exit code of a configuration that is refused.
const INVALID: Option<i32> = Some(2);

fn run(daemon: &Daemon, command: &str) -> (Output, String) {
    let output = daemon.command(&[command]).output().expect("the binary starts");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output, said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Puts the lines behind the line of this section, or at the end.
fn misspelt(daemon: &Daemon, section: &str, lines: &str) {
    let own = fs::read_to_string(daemon.config_path()).expect("the configuration");
    let head = format!("[{section}]\n");
    let text = match own.contains(&head) {
        true => own.replacen(&head, &format!("{head}{lines}\n"), 1),
        false => format!("{own}\n{lines}\n"),
    };
    fs::write(daemon.config_path(), text).expect("it is written");
}

#[test]
fn c68_a_misspelt_key_refuses_the_start_and_names_the_right_one() {
    let cases = [
        ("limits", "page_mxa = 2", "limits.page_mxa", "did you mean `page_max`?"),
        ("approval", "allow_same_uids = false", "approval.allow_same_uids", "did you mean `allow_same_uid`?"),
        ("", "[aproval]\nallow_same_uid = true", "aproval", "did you mean `approval`?"),
        (
            "log",
            "escalate_after = \"1m\"",
            "log.escalate_after",
            "did you mean `escalate_after` of [reconcile]?",
        ),
        ("log", "format = \"jsn\"", "log.format", "did you mean `json`?"),
        ("limits", "page_max = 1\npage_max = 2", "page_max", ""),
        ("limits", "page_max = \"two\"", "limits.page_max", ""),
    ];
    let sandbox = Sandbox::start();
    for (section, lines, path, help) in cases {
        let daemon = Setup::new(&sandbox).prepare();
        misspelt(&daemon, section, lines);
        for command in ["serve", "check-config"] {
            let (output, said) = run(&daemon, command);
            assert_eq!(output.status.code(), INVALID, "{command}, {lines}: {said}");
            assert!(said.contains(path) && said.contains(help), "{command}, {lines}: {said}");
            assert!(said.contains("error["), "{command}, {lines}: {said}");
        }
        assert!(!daemon.state_dir().exists(), "{lines}: a refused start makes nothing");
    }
}

#[test]
fn c68_a_removed_key_only_warns() {
    let sandbox = Sandbox::start();
    let mut daemon = Setup::new(&sandbox).prepare();
    misspelt(&daemon, "daemon", "socket_path = \"state/old.sock\"");
    let (output, said) = run(&daemon, "check-config");
    assert!(output.status.success(), "{said}");
    assert!(said.contains("daemon.socket_path") && said.contains("use `daemon.socket`"), "{said}");
    daemon.restart();
    assert!(daemon.log().contains("daemon.socket_path"), "{}", daemon.log());
    assert!(daemon.socket_path().exists() && !daemon.state_dir().join("old.sock").exists());
    assert!(daemon.ended_within(PATIENCE / 600).is_none());
}

#[test]
fn c68_a_misspelt_variable_refuses_the_start_too() {
    let sandbox = Sandbox::start();
    let daemon = Setup::new(&sandbox).environment("WRITD_LIMITS_PAGE_MXA", "2").prepare();
    for command in ["serve", "check-config"] {
        let (output, said) = run(&daemon, command);
        assert_eq!(output.status.code(), INVALID, "{said}");
        assert!(said.contains("WRITD_LIMITS_PAGE_MXA") && said.contains("WRITD_LIMITS_PAGE_MAX"), "{said}");
    }
}
