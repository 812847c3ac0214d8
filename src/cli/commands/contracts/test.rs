//! `writd contracts test`: does a contract refuse what it says it refuses, and does its service keep the promises that
//! any write rests on? The live part writes for real, so it goes to this machine unless somebody says otherwise.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::test_page;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input::duration;
use crate::config::{Config, ConfiguredBase};
use crate::contracts::{Catalog, Contract, EffectClass, Finding, ToolRef, cases};
use crate::daemon::compose_kit;
use crate::domain::Code;
use crate::domain::origin::Origin;
use crate::kit::{self, Ask, Record, Report};

/// As many requests at a time as the kit ever has.
const CONNECTIONS: usize = 2;

/// Hold contracts, and with --base or --live the services behind them, to what they promise.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The directory [default: as the configuration says]
    dir: Option<PathBuf>,
    /// Only this tool, such as commit_address_change.v2; repeat it for more
    #[arg(long = "tool", value_name = "TOOL.vN")]
    tools: Vec<ToolRef>,
    /// Ask the service here, instead of where daemon.toml says, without its credentials: writes for real. NAME=URL
    /// where the contracts use several bases
    #[arg(long = "base", value_name = "URL")]
    bases: Vec<BaseArg>,
    /// Send the credentials of daemon.toml to --base too
    #[arg(long, requires = "bases")]
    send_credentials: bool,
    /// Ask the services where daemon.toml says: writes for real
    #[arg(long)]
    live: bool,
    /// Allow the writes of the test to a service that is not on this machine
    #[arg(long)]
    allow_remote_writes: bool,
    /// How long a status may take to prove one write
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    patience: Duration,
    /// Write a JUnit report for CI to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// `URL` or `NAME=URL`.
#[derive(Clone, Debug)]
pub(crate) struct BaseArg {
    name: Option<String>,
    origin: Origin,
}

impl std::str::FromStr for BaseArg {
    type Err = String;

    fn from_str(text: &str) -> Result<BaseArg, String> {
        let (name, url) = match text.split_once('=') {
            Some((name, url)) => (Some(name.to_owned()), url),
            None => (None, text),
        };
        Ok(BaseArg { name, origin: url.parse().map_err(|error| format!("{error}"))? })
    }
}

/// Runs the kit, tells, and keeps the record of live runs.
pub(super) fn run(args: TestArgs, context: &Context) -> Result<(), Failure> {
    let (mut config, _) = context.config()?;
    let dir = args.dir.clone().unwrap_or_else(|| config.daemon.contracts.clone());
    let (catalog, files) = load(&dir, context)?;
    let wanted = wanted(&catalog, &args.tools)?;
    redirect(&mut config, &wanted, &args)?;
    let live = args.live || !args.bases.is_empty();
    if live && !args.allow_remote_writes {
        refuse_remote(&config, &wanted)?;
    }
    let parts = compose_kit(&config, catalog.clone())
        .map_err(|error| Failure::refusal(Code::ConfigurationInvalid, error.to_string()))?;
    let ask = Ask { only: args.tools, live, patience: args.patience };
    let report = context.talk(async { Ok(kit::run(&parts, &catalog, &files, &ask).await) })?;
    if let Some(path) = &args.junit {
        let written = kit::junit(&report, "writd contracts test").and_then(|text| std::fs::write(path, text));
        written.map_err(|error| Failure::File { path: path.clone(), error })?;
    }
    if live {
        keep(&report, &config.daemon.state_dir, context);
    }
    context.output.answer(&report.to_json(), || test_page::page(&report, live))?;
    if report.is_good() { Ok(()) } else { Err(Failure::Told(Code::ConfigurationInvalid)) }
}

fn load(dir: &Path, context: &Context) -> Result<(Catalog, Vec<cases::CaseFile>), Failure> {
    let catalog = Catalog::load(dir)
        .map_err(|findings| told(&findings, "the daemon would not start with them", context))?;
    let files =
        cases::load(dir, &catalog).map_err(|findings| told(&findings, "nothing was tested", context))?;
    Ok((catalog, files))
}

fn told(findings: &[Finding], meaning: &str, context: &Context) -> Failure {
    if context.output.wants_json() {
        let answer = serde_json::json!({ "valid": false, "findings": findings });
        if let Err(failure) = context.output.object(&answer) {
            return failure;
        }
    } else {
        context.output.note_page(&super::listing(findings, meaning));
    }
    Failure::Told(Code::ConfigurationInvalid)
}

/// The contracts that are tested.
fn wanted<'c>(catalog: &'c Catalog, tools: &[ToolRef]) -> Result<Vec<&'c Contract>, Failure> {
    for tool in tools {
        if catalog.get(tool).is_none() {
            let known: Vec<String> = catalog.list().map(|contract| contract.tool_ref().to_string()).collect();
            let help = format!("known here: {}", known.join(", "));
            return Err(Failure::usage(format!("{tool} is not among the contracts"), help));
        }
    }
    let all = catalog.list().map(|contract| contract.as_ref());
    Ok(all.filter(|contract| tools.is_empty() || tools.contains(&contract.tool_ref())).collect())
}

/// Puts the named origins in the place of the configured ones. A credential goes where it was not meant for only if
/// somebody says so.
fn redirect(config: &mut Config, wanted: &[&Contract], args: &TestArgs) -> Result<(), Failure> {
    let mut used: Vec<&str> = wanted.iter().map(|contract| contract.base()).collect();
    used.sort_unstable();
    used.dedup();
    for base in &args.bases {
        let name = match (&base.name, used.as_slice()) {
            (Some(name), used) if used.contains(&name.as_str()) => name.clone(),
            (None, [only]) => (*only).to_owned(),
            _ => {
                let message = format!("--base must name one of the bases in use: {}", used.join(", "));
                return Err(Failure::usage(message, "write --base NAME=URL, or choose with --tool"));
            }
        };
        let known = config.bases.iter().find(|known| known.name == name).cloned();
        let redirected = match known {
            Some(known) if known.origin == base.origin => continue,
            Some(known) if args.send_credentials => ConfiguredBase { origin: base.origin.clone(), ..known },
            _ => bare(&name, &base.origin),
        };
        config.bases.retain(|known| known.name != name);
        config.bases.push(redirected);
    }
    Ok(())
}

/// A base with nothing but its place.
fn bare(name: &str, origin: &Origin) -> ConfiguredBase {
    ConfiguredBase {
        name: name.to_owned(),
        origin: origin.clone(),
        plain_http: false,
        credential: None,
        credential_header: None,
        read_credential: None,
        ca: None,
        max_connections: CONNECTIONS,
        timeout: Duration::from_secs(5),
    }
}

fn refuse_remote(config: &Config, wanted: &[&Contract]) -> Result<(), Failure> {
    for contract in wanted.iter().filter(|contract| contract.class() != EffectClass::Read) {
        let base = config.bases.iter().find(|base| base.name == contract.base());
        if let Some(base) = base.filter(|base| !base.origin.is_loopback()) {
            let message = format!(
                "{} at {} is not on this machine, and the test would write there for real",
                base.name, base.origin
            );
            let help = "test against a sandbox, or allow it with --allow-remote-writes";
            return Err(Failure::usage(message, help));
        }
    }
    Ok(())
}

/// The run itself is told whatever happens here.
fn keep(report: &Report, state_dir: &Path, context: &Context) {
    let kept = Record::load(state_dir).and_then(|mut record| {
        record.take(report, super::super::now());
        record.save(state_dir)
    });
    if let Err(error) = kept {
        context.output.note(&format!("warning: this run is not recorded for `writd doctor`: {error}"));
    }
}
