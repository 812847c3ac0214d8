//! From a verified configuration and a verified catalog to the parts of the engine.

use std::collections::HashMap;
use std::sync::Arc;

use super::current::Current;
use super::directory::{Configured, millis};
use super::invoker::Http;
use super::tools::Tools;
use crate::adapters::http::{Base, Credential, CredentialRef, HeaderName, HttpAdapter, SetupError};
use crate::config::{Config, ConfiguredBase, SecretRef};
use crate::contracts::Catalog;
use crate::domain::Millis;
use crate::engine::system::{SystemClock, SystemIds};
use crate::engine::{Limits, Parts};
use crate::kit;
use crate::ports::{Clock, Policy, Toolbox};
use crate::store::Store;

/// The parts through which the contract kit asks: the daemon's own, without a store. Touches nothing but the CA files of
/// the bases.
///
/// # Errors
/// A base cannot be set up.
pub fn compose_kit(config: &Config, catalog: Catalog) -> Result<kit::Parts, SetupError> {
    let adapter = HttpAdapter::new(config.bases.iter().map(base).collect())?;
    let origins = origins(config);
    Ok(kit::Parts {
        tools: Arc::new(Tools::new(catalog, origins.clone())),
        invoker: Arc::new(Http::new(adapter)),
        ids: Arc::new(SystemIds),
        origins,
    })
}

fn origins(config: &Config) -> HashMap<String, String> {
    config.bases.iter().map(|base| (base.name.clone(), base.origin.to_string())).collect()
}

/// The parts, and what is worth a warning.
pub struct Composed {
    /// The parts of the engine.
    pub parts: Parts,
    /// In words, for the log and for `doctor`.
    pub warnings: Vec<String>,
}

/// Puts the parts together. Touches nothing but the CA files of the bases.
///
/// # Errors
/// A base cannot be set up.
pub fn compose(
    config: &Arc<Config>,
    catalog: Catalog,
    policy: Arc<dyn Policy>,
    store: Arc<dyn Store>,
) -> Result<Composed, SetupError> {
    let bases = config.bases.iter().map(base).collect();
    let adapter = HttpAdapter::new(bases)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let tools = Current::new(&config.daemon.contracts, origins(config), Arc::clone(&clock), catalog);
    let warnings = tools.warnings();
    let tools: Arc<dyn Toolbox> = Arc::new(tools);
    let parts = Parts {
        store,
        clock,
        ids: Arc::new(SystemIds),
        invoker: Arc::new(Http::new(adapter)),
        tools,
        directory: Arc::new(Configured(Arc::clone(config))),
        policy,
        limits: limits(config),
    };
    Ok(Composed { parts, warnings })
}

fn limits(config: &Config) -> Limits {
    let retention = config.limits.idempotency_retention.as_millis();
    Limits {
        group_max: config.store.group_max,
        attempts: config.limits.max_concurrent_attempts,
        grace: config.daemon.grace,
        idempotency_retention: Millis(u64::try_from(retention).unwrap_or(u64::MAX)),
        token_lifetime: (millis(config.tokens.default_expiry), millis(config.tokens.max_expiry)),
    }
}

fn base(base: &ConfiguredBase) -> Base {
    let header = base.credential_header.as_deref().and_then(|name| HeaderName::try_from(name).ok());
    let credential = |reference: &SecretRef| Credential {
        reference: match reference {
            SecretRef::Env(name) => CredentialRef::Env(name.clone()),
            SecretRef::File(path) => CredentialRef::File(path.clone()),
        },
        header: header.clone(),
    };
    Base {
        name: base.name.clone(),
        origin: base.origin.clone(),
        plain_http: base.plain_http,
        credential: base.credential.as_ref().map(credential),
        read_credential: base.read_credential.as_ref().map(credential),
        ca: base.ca.clone(),
        max_connections: base.max_connections,
    }
}
