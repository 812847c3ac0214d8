//! The commands of a README are run as they stand there, in one shell, and print what the README shows.
//!
//! Only three things differ from a newcomer's machine: the program is the one under test, so nothing is built again; free
//! ports take the place of the sandboxes' usual ones; and the working directory is a copy of what a clone holds.

use std::{
    ffi::OsString,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::support::sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The addresses in the shipped configuration: the sandboxes', and the listener's.
const USUAL: [&str; 3] = ["127.0.0.1:7401", "127.0.0.1:7402", "127.0.0.1:7400"];
/// Commands that are known and not run: they would build and run what is running.
const NOT_AGAIN: [&str; 2] = ["cargo test", "cargo bench --bench approved_write"];

/// A fenced block: its language and text.
struct Block {
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(Block { language: language.to_owned(), text: text.join("\n") });
        }
    }
    found
}

/// A line as shown, where `…` stands for anything, is a line that was printed, or its beginning.
fn was_printed(shown: &str, printed: &str) -> bool {
    printed.lines().any(|line| {
        let mut rest = line;
        shown.split('…').enumerate().all(|(at, part)| match rest.find(part) {
            Some(0) => {
                rest = &rest[part.len()..];
                true
            }
            Some(found) if at > 0 => {
                rest = &rest[found + part.len()..];
                true
            }
            _ => false,
        })
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory that is there") {
        let entry = entry.expect("a readable directory");
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

/// Free addresses in the places of the usual ones.
struct Addresses([String; 3]);

impl Addresses {
    fn free() -> Self {
        // Held together, so that they are three.
        let sockets = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        Self(sockets.map(|socket| socket.local_addr().expect("an address").to_string()))
    }

    fn put(&self, text: &str) -> String {
        let Self(free) = self;
        USUAL.iter().zip(free).fold(text.to_owned(), |text, (usual, free)| text.replace(usual, free))
    }
}

/// What a clone holds and the commands need, with other ports.
fn clone_of_the_package(addresses: &Addresses) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    copy(&Path::new(ROOT).join("workflows"), &here.join("workflows"));
    let configuration = fs::read_to_string(Path::new(ROOT).join("daemon.toml")).expect("daemon.toml");
    for usual in USUAL {
        assert!(configuration.contains(usual), "the shipped configuration names {usual}");
    }
    fs::write(here.join("daemon.toml"), addresses.put(&configuration)).expect("daemon.toml");
    // As git makes it.
    fs::create_dir(here.join("state")).expect("state");
    for file in ["README.md", ".gitignore"] {
        fs::copy(Path::new(ROOT).join("state").join(file), here.join("state").join(file)).expect("state");
    }
    folder
}

/// `PATH` with the programs under test in front.
fn path() -> OsString {
    let programs = [PathBuf::from(env!("CARGO_BIN_EXE_writd")), sandbox::binary()]
        .map(|program| program.parent().expect("a directory").to_owned());
    let known = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&known))).expect("a path")
}

/// The commands of a block as they are run here; nothing for those that are not run again.
fn commands(block: &Block, addresses: &Addresses) -> String {
    let lines =
        block.text.lines().filter(|line| !NOT_AGAIN.contains(line) && !line.starts_with("cargo build "));
    let lines = lines.filter(|line| !line.starts_with("export PATH="));
    let text = addresses.put(&lines.collect::<Vec<_>>().join("\n"));
    let text = text.replace("cargo run --release -- ", "writd ");
    assert!(!text.contains("cargo "), "a command that this test does not know:\n{text}");
    text
}

/// The shell reads it like a script and stops at the first command that fails; whatever it started is ended.
fn script(blocks: &[Block], addresses: &Addresses) -> String {
    let mut script = String::from("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n");
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "sh") {
        script.push_str(&format!("echo '==== {number}'\n{}\n", commands(block, addresses)));
    }
    script.push_str("echo '==== end'\n");
    script
}

/// Runs the commands of a page and holds every shown line against what was printed; the folder they ran in, and how
/// many lines are shown.
fn play(page: &str) -> (tempfile::TempDir, usize) {
    let page = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
    let blocks = blocks(&page);
    let addresses = Addresses::free();
    let folder = clone_of_the_package(&addresses);
    let log = folder.path().join("script.log");
    let output = fs::File::create(&log).expect("a log");
    let script = script(&blocks, &addresses);
    let status = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", path())
        .env_remove("WRITD_SOCKET")
        .env_remove("WRITD_CONFIG")
        .env_remove("WRITD_AS")
        .env_remove("WRITD_TOKEN")
        .env_remove("FACILITIES_TOKEN")
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("the log"))
        .stderr(output)
        .status()
        .expect("bash runs");
    let printed = fs::read_to_string(&log).expect("the log");
    assert!(status.success(), "{status}\n{script}\n---\n{printed}");
    let mut shown = 0;
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "text") {
        // It shows what the block of commands before it printed.
        let from = printed.split_once(&format!("==== {}\n", number - 1)).expect("its commands ran").1;
        let part = from.split("\n==== ").next().unwrap_or_default();
        for line in block.text.lines() {
            assert!(was_printed(line, part), "the README shows `{line}`; printed was:\n{part}");
            shown += 1;
        }
    }
    (folder, shown)
}

/// The effects in a ledger that the commands have left behind.
fn effects(folder: &tempfile::TempDir, ledger: &str) -> usize {
    let ledger = fs::read_to_string(folder.path().join(ledger)).expect("the ledger");
    ledger.matches("\"type\":\"effect\"").count()
}

#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    let (folder, shown) = play("README.md");
    assert!(shown >= 15, "only {shown} lines are shown");
    assert_eq!(effects(&folder, "customers-ledger.ndjson"), 1);
}

#[test]
fn the_commands_of_the_facilities_readme_print_what_it_shows() {
    let (folder, shown) = play("examples/facilities/README.md");
    assert!(shown >= 6, "only {shown} lines are shown");
    assert_eq!(effects(&folder, "facilities-ledger.ndjson"), 2, "a draft and its submission");
}

#[test]
fn the_commands_of_the_page_about_identity_print_what_it_shows() {
    let (folder, shown) = play("docs/identity.md");
    assert!(shown >= 6, "only {shown} lines are shown");
    assert_eq!(effects(&folder, "customers-ledger.ndjson"), 1);
}

#[test]
fn shown_lines_are_compared_by_their_parts() {
    let printed = "  op_1   PROPOSED\nat 12:00 by alice\n";
    assert!(was_printed("at … by alice", printed) && was_printed("  op_…PROPOSED", printed));
    assert!(was_printed("at 12", printed), "a beginning");
    assert!(!was_printed("by alice", printed) && !was_printed("at … by bob", printed));
}

/// The commands that a page names: after `writd` in code, words up to the first that is no command.
fn named(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = None;
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fenced = if fenced.is_some() { None } else { Some(language.to_owned()) };
        } else if fenced.as_deref() == Some("sh") || line.starts_with("    ") {
            found.push(line.to_owned());
        } else if fenced.is_none() {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found.retain(|text| text.contains("writd "));
    found
}

fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "examples/facilities/README.md",
        "workflows/README.md",
        "state/README.md",
    ]
    .map(|page| Path::new(ROOT).join(page))
    .to_vec();
    for dir in ["docs", "docs/errors"] {
        let entries = fs::read_dir(Path::new(ROOT).join(dir)).expect("documents");
        found.extend(entries.map(|entry| entry.expect("a document").path()));
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

fn help(words: &[&str]) -> Option<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_writd")).args(words).arg("--help").output().expect("it runs");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What is wrong with the words after `writd`: a command or an option that does not exist.
fn wrong(text: &str) -> Option<String> {
    let words: Vec<_> =
        text.split_whitespace().map(|word| word.trim_matches(['"', '\'', ')', ';', '(', ','])).collect();
    let mut words = words.into_iter().skip_while(|word| *word == "--as" || *word == "--json").peekable();
    // The name behind --as.
    if text.trim_start().starts_with("--as ") {
        words.next();
        while words.peek().is_some_and(|word| word.starts_with("--")) {
            words.next();
        }
    }
    let mut command: Vec<&str> = Vec::new();
    let mut options = Vec::new();
    for word in words {
        if word == "|" || word == "&" || word == ">" || word == "…" {
            break;
        }
        if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
            options.push(format!("--{}", option.split('=').next().unwrap_or_default()));
        } else if options.is_empty()
            && command.len() < 2
            && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        {
            command.push(word);
        }
    }
    if command.is_empty() {
        return None;
    }
    let page = help(&command).or_else(|| {
        // The second word may be an argument, but not where the first one is a group.
        let group = help(&command[..1])?;
        (command.len() == 2 && !group.contains("<COMMAND>")).then_some(group)
    });
    let Some(page) = page else { return Some(format!("there is no command `writd {}`", command.join(" "))) };
    let unknown = options.into_iter().find(|option| !page.contains(option.as_str()))?;
    Some(format!("`writd {}` has no {unknown}", command.join(" ")))
}

#[test]
fn the_commands_that_documents_name_exist() {
    let mut findings = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a document");
        for code in named(&text) {
            for command in code.split("writd ").skip(1) {
                count += 1;
                findings.extend(wrong(command).map(|what| format!("{}: {what} (`{code}`)", page.display())));
            }
        }
    }
    assert!(count > 20, "only {count} commands were found");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn commands_that_do_not_exist_are_seen() {
    assert_eq!(wrong("--as alice op show OP"), None);
    assert_eq!(wrong("error NOT_FOUND"), None);
    assert!(
        wrong("op undo OP").is_some() && wrong("serve --rehearsal").is_some() && wrong("console").is_some()
    );
}
