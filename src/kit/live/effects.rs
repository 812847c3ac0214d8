//! How many effects a write had: by the ledger where there is one, else by the version of its target.

use serde_json::Value;

use super::service::{Identity, Sent, Service, Stop, Write};
use super::{Sandbox, Told};
use crate::contracts::{Classified, Receipt};
use crate::kit::generate;

/// Variants of an input that are tried as "other arguments".
const MAX_VARIANTS: usize = 8;

/// The service, with what can be known about its effects.
pub(super) struct Judge<'j, 'p> {
    pub(super) service: &'j Service<'p>,
    pub(super) sandbox: Option<&'j Sandbox<'p>>,
}

/// What is known about the number of effects.
pub(super) enum Count {
    /// From the ledger.
    Ledger(u64),
    /// The version is where this many effects would put it.
    ByVersion,
    /// The version is somewhere else.
    OtherVersion,
    /// Nothing.
    Unknown,
}

fn stopped(stop: &Stop) -> Told {
    let remedy = match stop {
        Stop::Refused(_) => "mend the example of the contract",
        Stop::Read(_) => "the example must name something that exists at the service",
        Stop::NoAnswer(_) => "see that the service answers",
    };
    Told::fails(stop.words(), remedy)
}

impl Judge<'_, '_> {
    /// A write of these arguments, from what is there now.
    pub(super) async fn prepare(&self, args: &Value, id: Identity) -> Result<Write, Told> {
        self.service.prepare(args, id).await.map_err(|stop| stopped(&stop))
    }

    /// The same under new names.
    pub(super) async fn fresh(&self, args: &Value) -> Result<Write, Told> {
        self.prepare(args, self.service.identity()).await
    }

    /// Sends a write that must be applied.
    pub(super) async fn applied(&self, write: &Write) -> Result<Receipt, Told> {
        match self.service.send(write).await {
            Sent::Answered(_, Classified::Receipt(receipt)) => Ok(*receipt),
            other => {
                let remedy =
                    "the example must be applied and answered with a receipt; see `receipt` and `output`";
                Err(Told::fails(format!("the example came to {}", other.words()), remedy))
            }
        }
    }

    /// A valid write of other arguments on the same target under these names, if one is known.
    pub(super) async fn other(&self, write: &Write, id: &Identity) -> Option<Write> {
        let contract = &self.service.contract;
        let examples = contract.example_args();
        let variants = generate::variants(contract.input(), &write.args);
        for args in variants.iter().take(MAX_VARIANTS).chain(examples.iter()) {
            let Ok(other) = self.service.prepare(args, id.clone()).await else { continue };
            let (one, two) = (&write.plan.request, &other.plan.request);
            let differs = (&one.path, &one.body) != (&two.path, &two.body);
            if differs
                && (&write.plan.target.id, &write.plan.target.kind)
                    == (&other.plan.target.id, &other.plan.target.kind)
            {
                return Some(other);
            }
        }
        None
    }

    /// Lets somebody else change the target of a write; says whether that could be had.
    pub(super) async fn bumped(&self, write: &Write) -> bool {
        let id = &write.plan.target.id;
        // Of ids with other characters the sandbox's own route may mean another thing.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_path = id.split('/').all(|part| !part.is_empty() && part.chars().all(plain));
        match self.sandbox {
            Some(sandbox) if is_path => {
                sandbox.set("POST", &format!("bump/{id}"), &Value::Null).await.is_ok()
            }
            _ => false,
        }
    }

    /// The version of the target now; none for a create.
    pub(super) async fn version_now(&self, write: &Write) -> Option<String> {
        write.plan.target.version.as_ref()?;
        let before = self.service.before(&write.args).await.ok()?;
        self.service.tool.version_in(&write.args, &before).ok()?
    }

    /// How many effects there are under the key of the write. `expected` is the version that the right number leaves.
    pub(super) async fn count(&self, write: &Write, expected: Option<&str>) -> Result<Count, Told> {
        if let Some(sandbox) = self.sandbox {
            let count = sandbox.effects_under(&write.id.key).await;
            return count.map(Count::Ledger).map_err(|why| Told::fails(why, "see what the sandbox says"));
        }
        match (expected, self.version_now(write).await) {
            (Some(expected), Some(now)) if now == expected => Ok(Count::ByVersion),
            (Some(_), Some(_)) => Ok(Count::OtherVersion),
            _ => Ok(Count::Unknown),
        }
    }

    /// The end of a question that went well so far: the effects must be as many as they should.
    pub(super) async fn must_be(
        &self,
        wanted: u64,
        write: &Write,
        expected: Option<&str>,
        so_far: &str,
    ) -> Result<Told, Told> {
        let effects =
            |count: u64| if count == 1 { "1 effect".to_owned() } else { format!("{count} effects") };
        match self.count(write, expected).await? {
            Count::Ledger(count) if count == wanted => {
                Ok(Told::holds(format!("{so_far}; {} in the ledger", effects(count))))
            }
            Count::Ledger(count) => Err(Told::fails(
                format!("{so_far}, but the ledger has {}, not {wanted}", effects(count)),
                "the service must look at the key before it applies anything",
            )),
            Count::ByVersion => Ok(Told::holds(format!("{so_far}; the version is as it should be"))),
            Count::OtherVersion => Err(Told::fails(
                format!("{so_far}, but the version is not the one that this leaves behind"),
                "the service applied something else, or somebody writes to the same target",
            )),
            Count::Unknown => Ok(Told::unproven(
                format!("{so_far}; without a ledger or a version nothing shows how many effects there were"),
                "try it against a sandbox with a ledger",
            )),
        }
    }
}
