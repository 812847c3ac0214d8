//! What every command needs: where the daemon is, as whom, and where words go.

use std::future::Future;
use std::path::PathBuf;

use super::args::Global;
use super::client::{Bearer, Client};
use super::failure::Failure;
use super::output::Output;
use crate::config::{Config, Environment, Warning};

/// The global arguments, resolved as far as needed.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) output: Output,
    global: Global,
}

impl Context {
    pub(crate) fn new(global: &Global) -> Context {
        Context { output: Output::new(global.json, global.color), global: global.clone() }
    }

    /// The configuration file that was named.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        self.global.config.clone()
    }

    /// The configuration, with its warnings.
    pub(crate) fn config(&self) -> Result<(Config, Vec<Warning>), Failure> {
        Config::load(self.global.config.as_deref(), &Environment::of_process()).map_err(Failure::Config)
    }

    /// The state directory of an offline command: as its own argument says, else as the configuration says.
    pub(crate) fn state_dir(&self, named: Option<PathBuf>) -> Result<PathBuf, Failure> {
        match named {
            Some(dir) => Ok(dir),
            None => Ok(self.config()?.0.daemon.state_dir),
        }
    }

    /// The name to act as, if one was given.
    pub(crate) fn as_name(&self) -> Option<&str> {
        self.global.as_name.as_deref()
    }

    /// Where the daemon listens: as the command line says, else as the configuration says.
    pub(crate) fn socket(&self) -> Result<PathBuf, Failure> {
        match &self.global.socket {
            Some(socket) => Ok(socket.clone()),
            None => Ok(self.config()?.0.daemon.socket),
        }
    }

    /// The token that was brought, if one was; never from the command line, which others can read.
    fn token(&self) -> Result<Option<Bearer>, Failure> {
        let text = match &self.global.token_file {
            Some(path) => {
                std::fs::read_to_string(path).map_err(|error| Failure::File { path: path.clone(), error })?
            }
            None => match std::env::var_os("WRITD_TOKEN") {
                None => return Ok(None),
                // What is not text is no token; the daemon answers it like any other that is worth nothing.
                Some(text) => text.to_string_lossy().into_owned(),
            },
        };
        match Bearer::new(text.trim()) {
            Some(token) => Ok(Some(token)),
            None => Err(Failure::usage(
                "this is no token",
                "a token is one word, as `writd token create` printed it",
            )),
        }
    }

    /// The client of the daemon.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let name = self.global.as_name.clone();
        if let Some(token) = self.token()? {
            if name.is_some() {
                return Err(Failure::usage(
                    "a token and --as are both given",
                    "a token says who you are: leave --as (WRITD_AS) or the token (WRITD_TOKEN) away",
                ));
            }
            return Ok(Client::new(self.socket()?, None).with_token(token));
        }
        if name.as_deref().is_some_and(|name| name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic()))
        {
            return Err(Failure::usage("--as takes the name of a principal", "names are in daemon.toml"));
        }
        Ok(Client::new(self.socket()?, name))
    }

    /// Runs a conversation with the daemon to its end.
    pub(crate) fn talk<T>(&self, talk: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::internal(format!("the runtime cannot be started: {error}")))?;
        runtime.block_on(talk)
    }
}
