//! The service's state and the two ways to it: `decide` says what a write comes to, `apply` and `change` make a record
//! true, live and when the ledger is read at start. No clock, no file, no network.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    customer::{Address, Customer, is_of_another_tenant},
    render,
    routes::Route,
    sandbox::{
        Answer, Change, Decision, Domain, Effect, KeyRecord, Kind, OtherChange, Refused, Request, Write,
    },
};

/// Everything the service knows.
#[derive(Default)]
pub(super) struct Customers {
    /// Only customers that were changed; the others are as `Customer::original` says.
    changed: HashMap<String, Customer>,
}

/// What a write came to.
pub(super) enum Outcome {
    Changed { record: u64, previous_version: u64, before: Address },
    Sent { record: u64, recipient: String },
}

impl Customers {
    /// The customer as it is now.
    fn customer(&self, id: &str) -> Option<Customer> {
        self.changed.get(id).cloned().or_else(|| Customer::original(id))
    }

    /// The same, as our tenant sees it.
    fn visible(&self, id: &str, ignores_tenant: bool) -> Option<Customer> {
        let visible = ignores_tenant || !is_of_another_tenant(id);
        visible.then(|| self.customer(id)).flatten()
    }

    fn customer_of(&mut self, object: &str) -> Option<&mut Customer> {
        let id = object.strip_prefix("customer:")?;
        if !self.changed.contains_key(id) {
            self.changed.insert(id.to_owned(), Customer::original(id)?);
        }
        self.changed.get_mut(id)
    }
}

/// Decides a change of a shipping address.
fn change_of(customer: Customer, write: &Write<'_, Route>) -> Decision<Address> {
    let expected = write.expected_version()?;
    let address =
        Address::parse(write.body).map_err(|detail| Refused::ForGood { code: "INVALID_ADDRESS", detail })?;
    if expected != customer.version {
        return Err(Refused::stale(customer.version));
    }
    Ok(Change {
        before_version: expected,
        after_version: expected + 1,
        before: Some(customer.shipping_address),
        after: Some(address),
    })
}

/// Decides a confirmation: a mail that cannot be taken back.
fn confirmation(write: &Write<'_, Route>, sent: u64) -> Decision<Address> {
    let detail = match serde_json::from_slice::<Value>(write.body) {
        Ok(Value::Object(_)) => {
            let (before_version, after_version) = (sent, sent + 1);
            return Ok(Change { before_version, after_version, before: None, after: None });
        }
        Ok(_) => "the body must be an object".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Refused::ForGood { code: "INVALID_MESSAGE", detail })
}

impl Domain for Customers {
    type Route = Route;
    type Snapshot = Address;
    type Outcome = Outcome;

    const ID_NAME: &'static str = "customer_id";
    const MISSING: &'static str = "NO_SUCH_CUSTOMER";
    const HALF_A_BODY: &'static [u8] = b"{\"customer_id\":\"C-18";

    fn route(method: &str, path: &str) -> Route {
        Route::of(method, path)
    }

    fn kind(route: &Route) -> Kind {
        route.kind()
    }

    fn id(route: &Route) -> Option<String> {
        route.customer_id().map(str::to_owned)
    }

    fn status_key(route: &Route) -> Option<&str> {
        match route {
            Route::Operation(key) => Some(key),
            Route::Customer(_)
            | Route::Change(_)
            | Route::Confirm(_)
            | Route::OtherMethod
            | Route::Nowhere => None,
        }
    }

    fn object(route: &Route) -> String {
        let kind = if matches!(route, Route::Confirm(_)) { "mail" } else { "customer" };
        format!("{kind}:{}", route.customer_id().unwrap_or_default())
    }

    fn turned_away(&self, _: &Request, _: &Route) -> Option<Answer> {
        None
    }

    fn shows(&self, _: &Request, _: &KeyRecord<Outcome>) -> bool {
        true
    }

    fn read(&self, request: &Request, route: &Route, _: u64) -> Answer {
        match route {
            Route::Customer(id) => match self.visible(id, request.ignores_tenant()) {
                Some(customer) => render::customer(id, &customer),
                None => Answer::json(404, &json!({"code": Self::MISSING})),
            },
            Route::OtherMethod => Answer::json(405, &json!({"code": "METHOD_NOT_ALLOWED"})),
            Route::Change(_) | Route::Confirm(_) | Route::Operation(_) | Route::Nowhere => {
                Answer::json(404, &json!({"code": "NO_SUCH_ROUTE"}))
            }
        }
    }

    fn decide(&self, write: &Write<'_, Route>, so_far: u64, _: u64) -> Decision<Address> {
        let visible = |id| self.visible(id, write.ignores_tenant);
        let Some(customer) = write.route.customer_id().and_then(visible) else {
            return Err(Refused::now(404, json!({"code": Self::MISSING})));
        };
        match write.route {
            Route::Confirm(_) => confirmation(write, so_far),
            _ => change_of(customer, write),
        }
    }

    fn apply(&mut self, record: u64, effect: &Effect<Address>) -> Outcome {
        match (&effect.before, &effect.after) {
            (Some(before), Some(after)) => {
                if let Some(customer) = self.customer_of(&effect.object) {
                    customer.version = effect.after_version;
                    customer.shipping_address = after.clone();
                }
                let (previous_version, before) = (effect.before_version, before.clone());
                Outcome::Changed { record, previous_version, before }
            }
            _ => {
                let id = effect.object.strip_prefix("mail:").unwrap_or_default();
                let recipient = self.customer(id).map(|customer| customer.email).unwrap_or_default();
                Outcome::Sent { record, recipient }
            }
        }
    }

    /// The next version, and the address only if somebody put another one there.
    fn change(&mut self, change: &OtherChange) {
        if let Some(customer) = self.customer_of(&change.object) {
            customer.version = change.after_version;
            customer.internal_notes = format!("Changed by somebody else at {}.", change.after_version);
            let after = change.after.clone().and_then(|after| serde_json::from_value(after).ok());
            customer.shipping_address = after.unwrap_or_else(|| customer.shipping_address.clone());
        }
    }

    fn version_of(&self, id: &str) -> Option<(String, u64)> {
        Some((format!("customer:{id}"), self.customer(id)?.version))
    }

    fn put(&self, _: &str, body: &[u8]) -> Result<Option<Value>, String> {
        let address = Address::parse(body)?;
        serde_json::to_value(address).map(Some).map_err(|error| error.to_string())
    }

    fn render(key: &str, record: &KeyRecord<Outcome>, outcome: &Outcome) -> (u16, Value) {
        render::outcome(key, record, outcome)
    }
}
