//! What stands before and beside every command. The arguments of a command stand in its own file.

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser};

use super::commands::Command;

/// The table of contents; a test holds it to the commands that exist.
const HELP: &str = "\
{about}

Usage: {usage}

For the agent or script that wants a write:
  run open|show|cancel   One activity: what it may propose, and why
  run token              A token that is worth one run and nothing else
  call                   Read through a contract
  propose                Propose a write; nothing happens before it is approved

For the approver:
  inbox                  What waits for a decision, and what nobody knows
  op show                Everything about one write, as it is to be judged
  op approve|deny        Say yes to exactly what was shown, or no
  op revoke              Take an approval back

  policy explain         What the policy says of a write, rule by rule

For the operator:
  op list|events         Writes by state, and the journal of one
  op commit|cancel       Execute an approved write now, or stop one
  op reconcile|answer    Ask the service again; read an answer that is no proof
  op resolve|abandon     Settle an unknown outcome by evidence, or give it up
  pause list|tool|adapter|tenant
                         What is paused; keep something from starting
  resume tool|adapter|tenant
                         Let it go on
  restore accept         Release the writes that an import holds back
  doctor                 Look for what is missing or wrong

For whoever runs the daemon:
  serve                  Run the daemon
  check-config           Read daemon.toml and say what is wrong with it
  policy test|shadow     Hold the policy to its cases, or to what was proposed
  token create|list      Tokens that speak for a principal without its account
  token revoke           End one
  verify                 Walk the journal, recompute every operation (offline)
  export, import         Write a backup, read one (offline)
  recover                Save what can be read of a damaged store (offline)

For the owner of a contract:
  contracts check|test   Say what is wrong with contracts, and their services
  contracts lock|reload  Pin them; let the daemon read them again, all or none
  contracts diff|shadow  What a new version changes; what it had said so far
  contracts retire       What still hangs on a tool

For everybody:
  demo                   See the main job and its faults on a sandbox
  error                  What an error code means and what to do
  completions            Completions for your shell
  help                   This, or the help of a command

Options:
{options}

Exit codes: 0 done, 1 mistake of the program, 2 wrong input, 3 who asks is not
known, 4 not permitted or not there, 5 conflict, 6 not approved, 7 not now,
8 service or daemon does not answer, 9 it may have happened, 10 storage.
";

/// A durable workflow orchestrator daemon for writes: no write without a writ.
#[derive(Parser, Debug)]
#[command(name = "writd", version, about, help_template = HELP, max_term_width = 100)]
#[command(propagate_version = false, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The daemon's socket [default: as the configuration says, else state/writd.sock]
    #[arg(long, global = true, value_name = "PATH", env = "WRITD_SOCKET", hide_env_values = true)]
    pub(crate) socket: Option<PathBuf>,

    /// The configuration [default: daemon.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "WRITD_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,

    /// Which of your account's names you act as
    #[arg(long = "as", global = true, value_name = "NAME", env = "WRITD_AS", hide_env_values = true)]
    pub(crate) as_name: Option<String>,

    /// A file with a token that says who you are; without it the environment's WRITD_TOKEN, if it is set
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Print the daemon's own objects, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, value_enum)]
    pub(crate) color: ColorChoice,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_table_of_contents_names_every_command_and_no_other() {
        let mut named = std::collections::BTreeSet::new();
        for line in HELP.lines().filter(|line| line.starts_with("  ")) {
            // Indented like this, it goes on from the line before.
            if line.starts_with("                         ") {
                continue;
            }
            let names = line.trim_start().split("  ").next().unwrap();
            match names.split_once(' ') {
                Some((group, verbs)) if !group.ends_with(',') => {
                    named.extend(verbs.split('|').map(|verb| format!("{group} {verb}")));
                }
                _ => named.extend(names.split(", ").map(str::to_owned)),
            }
        }
        named.remove("help");
        let mut there = std::collections::BTreeSet::new();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let inner: Vec<_> = command.get_subcommands().map(|inner| inner.get_name()).collect();
            if inner.is_empty() {
                there.insert(command.get_name().to_owned());
            }
            there.extend(inner.into_iter().map(|inner| format!("{} {inner}", command.get_name())));
        }
        assert_eq!(named, there);
    }

    #[test]
    fn the_table_of_contents_fits_into_eighty_columns() {
        for line in HELP.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
