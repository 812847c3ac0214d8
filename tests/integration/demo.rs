//! `writd demo` as people run it: the story, the facts, what it leaves behind, and that its own checks can fail.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// From another working directory: nothing but the binary is needed.
fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_writd"));
    command.arg("demo").args(arguments).current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (Output, String) {
    let output = demo(arguments).output().expect("the demonstration runs");
    let text = String::from_utf8(output.stdout.clone()).expect("its words are UTF-8");
    (output, text)
}

/// The words after this label, on the same line.
fn after<'a>(text: &'a str, label: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(label));
    line.unwrap_or_else(|| panic!("`{label}` is not in:\n{text}")).trim()
}

/// The process that the line of `daemon` or `sandbox` names.
fn process(text: &str, who: &str) -> String {
    let words = after(text, &format!("{who}       ").replace("sandbox       ", "sandbox      "));
    words.trim_start_matches("process ").chars().take_while(char::is_ascii_digit).collect()
}

/// The private directory, which may stand on a line of its own.
fn folder(text: &str) -> String {
    let start = text.find("writd-demo-").expect("the directory is named");
    let name: String = text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    std::env::temp_dir().join(name).display().to_string()
}

/// Waits until it is true; killed processes are gone a little later.
fn soon(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn nothing_is_left(text: &str) {
    for who in ["daemon", "sandbox"] {
        let pid = process(text, who);
        assert!(!pid.is_empty(), "{who} has a process:\n{text}");
        soon(&format!("{who} {pid} still runs"), || !Path::new("/proc").join(&pid).exists());
    }
    let folder = folder(text);
    soon(&format!("{folder} is still there"), || !Path::new(&folder).exists());
}

#[test]
fn the_story_is_told_and_every_fact_holds() {
    let (output, text) = run(&[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert_eq!(errors, "");
    for line in [
        "1. An address change, from the proposal to the receipt",
        "daemon        sends it once; C-1842 goes from version 17 to 18",
        "2. The answer is lost after the write was applied",
        "daemon        the target is busy: it waits, not sent, behind",
        "daemon        VERSION_CONFLICT: nothing was sent, and the approval is not used",
        "you           kill -9 ",
        "alice         approves after that: PROPOSAL_EXPIRED",
        "daemon        IDEMPOTENCY_CONFLICT: that key stands for other arguments",
        "keys with more than one effect: none",
        "9 writes, 6 effects, ",
    ] {
        assert!(text.contains(line), "`{line}` is not in:\n{text}");
    }
    assert!(!text.contains("NOT AS IT MUST BE"), "{text}");
    assert!(!text.contains('\u{1b}'), "colour is for terminals");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    nothing_is_left(&text);
}

#[test]
fn the_facts_can_be_had_as_json_and_a_second_effect_is_noticed() {
    let (output, text) = run(&["--json", "--sabotage"]);
    assert_eq!(output.status.code(), Some(1), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(report["ok"], false);
    assert_eq!(report["operations"].as_array().map(Vec::len), Some(9));
    let broken: Vec<&str> = report["facts"]
        .as_array()
        .expect("facts")
        .iter()
        .filter(|fact| fact["holds"] == false)
        .map(|fact| fact["what"].as_str().expect("a name"))
        .collect();
    let wanted = [
        "address change: effects in the ledger at the end",
        "keys with more than one effect",
        "effects in all",
    ];
    assert_eq!(broken, wanted, "exactly what the sabotage broke is named");
}

#[test]
fn an_interrupt_ends_everything() {
    let mut child = demo(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut text = String::new();
    while !text.contains("1. An address change") {
        text.push_str(&lines.next().expect("it goes on").expect("a line"));
        text.push('\n');
    }
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    for _ in lines {}
    let status = child.wait().expect("it ends");
    assert!(!status.success(), "{status}");
    nothing_is_left(&text);
}
