//! The service's state and how records change it, live and when the ledger is read at start. No clock, no file, no
//! network. What a write comes to is decided in `decide`.

use std::collections::{BTreeMap, HashMap};

use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    decide, directory,
    directory::Asset,
    orders::{State, WorkOrder},
    procedures, render,
    routes::{Route, What},
    sandbox::{Answer, Decision, Domain, Effect, KeyRecord, Kind, OtherChange, Request, Write},
};

/// Everything that changes.
#[derive(Default)]
pub(super) struct Facilities {
    /// Versions of assets that somebody has changed, by `HOTEL/TAG`.
    assets: HashMap<String, u64>,
    orders: BTreeMap<String, WorkOrder>,
}

/// A message to a contractor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Notification {
    pub(super) work_order: String,
    pub(super) contractor_id: String,
    pub(super) contractor_name: String,
}

/// What the ledger keeps of an effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Snapshot {
    WorkOrder(WorkOrder),
    Notification(Notification),
}

/// What a write came to.
pub(super) struct Outcome {
    /// The number of its record.
    pub(super) record: u64,
    pub(super) before: Option<WorkOrder>,
    /// None only if the ledger was written by another service.
    pub(super) after: Option<Snapshot>,
}

impl Facilities {
    /// The current version of an asset.
    pub(super) fn asset_version(&self, asset: &Asset) -> u64 {
        let id = format!("{}/{}", asset.hotel, asset.tag);
        self.assets.get(&id).copied().unwrap_or(asset.version)
    }

    /// A work order of this hotel.
    pub(super) fn order(&self, hotel: &str, id: &str) -> Option<&WorkOrder> {
        self.orders.get(id).filter(|order| order.hotel == hotel)
    }

    /// The submitted order for a fault report.
    pub(super) fn submitted_for(&self, case_id: &str) -> Option<&WorkOrder> {
        self.orders.values().find(|order| order.state == State::Submitted && order.case_id == case_id)
    }

    /// The id of the next work order.
    pub(super) fn next_id(&self) -> String {
        format!("WO-{:06}", self.orders.len() + 1)
    }

    /// The hotel that an object of the ledger belongs to.
    fn hotel_of(&self, object: &str) -> Option<&str> {
        let (kind, id) = object.split_once(':')?;
        match kind {
            "draft" => {
                id.split_once('/').map(|(hotel, _)| hotel).and_then(directory::hotel).map(|hotel| hotel.id)
            }
            _ => self.orders.get(id).map(|order| order.hotel.as_str()),
        }
    }

    fn read_asset(&self, request: &Request, hotel: &str, tag: &str, now_ms: u64) -> Answer {
        let Some(asset) = directory::asset(hotel, tag) else {
            return Answer::json(404, &decide::no_such_asset());
        };
        let wanted = match request.query_of(&["work_order_id"]) {
            Ok(query) => query.into_iter().next().map(|(_, id)| id).filter(|id| !id.is_empty()),
            Err(detail) => return invalid_query(detail),
        };
        let order = match wanted {
            None => None,
            Some(id) => match self.order(hotel, &id).filter(|order| order.asset == tag) {
                Some(order) => Some(order),
                None => return Answer::json(404, &decide::no_such_order()),
            },
        };
        let open = asset.cases.iter().filter(|case| self.submitted_for(case.case_id).is_none()).collect();
        render::asset(asset, self.asset_version(asset), open, order, now_ms)
    }

    fn read_history(request: &Request, hotel: &str, tag: &str) -> Answer {
        let Some(asset) = directory::asset(hotel, tag) else {
            return Answer::json(404, &decide::no_such_asset());
        };
        let most = match request.query_of(&["max_entries"]) {
            Ok(query) => query.into_iter().next().map_or(Some(20), |(_, most)| most.parse().ok()),
            Err(detail) => return invalid_query(detail),
        };
        match most.filter(|most| (1..=50).contains(most)) {
            Some(most) => render::history(asset, most),
            None => invalid_query("max_entries is 1 to 50"),
        }
    }

    fn search(request: &Request) -> Answer {
        let query = match request.query_of(&["equipment", "text"]) {
            Ok(query) => query,
            Err(detail) => return invalid_query(detail),
        };
        let of = |name: &str| query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (of("equipment").and_then(procedures::equipment), of("text")) {
            (Some(equipment), Some(text)) => {
                Answer::json(200, &json!({"procedures": procedures::search(equipment, text)}))
            }
            _ => invalid_query("equipment and text are needed"),
        }
    }
}

/// The hotel that the caller's credential reaches.
fn hotel_of_caller(request: &Request) -> Option<&'static directory::Hotel> {
    request.header(AUTHORIZATION.as_str()).and_then(directory::hotel_of)
}

fn invalid_query(detail: &str) -> Answer {
    Answer::json(400, &json!({"code": "INVALID_QUERY", "detail": detail}))
}

impl Domain for Facilities {
    type Route = Route;
    type Snapshot = Snapshot;
    type Outcome = Outcome;

    const ID_NAME: &'static str = "id";
    const MISSING: &'static str = "NO_SUCH_WORK_ORDER";
    const HALF_A_BODY: &'static [u8] = b"{\"work_order_id\":\"WO-00";

    fn route(method: &str, path: &str) -> Route {
        Route::of(method, path)
    }

    fn kind(route: &Route) -> Kind {
        route.kind()
    }

    fn id(route: &Route) -> Option<String> {
        route.id()
    }

    fn status_key(route: &Route) -> Option<&str> {
        if let What::Operation(key) = &route.what { Some(key) } else { None }
    }

    fn object(route: &Route) -> String {
        route.object()
    }

    /// The credential decides on the hotel. Another hotel looks exactly like one where nothing is.
    fn turned_away(&self, request: &Request, route: &Route) -> Option<Answer> {
        let Some(caller) = hotel_of_caller(request) else {
            let answer = Answer::json(401, &json!({"code": "NOT_AUTHENTICATED"}));
            return Some(answer.with(WWW_AUTHENTICATE, "Bearer"));
        };
        let missing = match &route.what {
            What::Operation(_) | What::OtherMethod | What::Nowhere => return None,
            _ if route.hotel == caller.id => return None,
            What::Asset(_) | What::History(_) | What::Draft(_) => decide::no_such_asset(),
            What::Procedures => json!({"code": "NO_SUCH_HOTEL"}),
            What::Edit(_) | What::Submit(_) | What::Cancel(_) | What::Notify(_) => decide::no_such_order(),
        };
        Some(Answer::json(404, &missing))
    }

    fn shows(&self, request: &Request, record: &KeyRecord<Outcome>) -> bool {
        hotel_of_caller(request).is_some_and(|caller| self.hotel_of(&record.object) == Some(caller.id))
    }

    fn read(&self, request: &Request, route: &Route, now_ms: u64) -> Answer {
        match &route.what {
            What::Asset(tag) => self.read_asset(request, &route.hotel, tag, now_ms),
            What::History(tag) => Self::read_history(request, &route.hotel, tag),
            What::Procedures => Self::search(request),
            What::OtherMethod => Answer::json(405, &json!({"code": "METHOD_NOT_ALLOWED"})),
            What::Draft(_)
            | What::Edit(_)
            | What::Submit(_)
            | What::Cancel(_)
            | What::Notify(_)
            | What::Operation(_)
            | What::Nowhere => Answer::json(404, &json!({"code": "NO_SUCH_ROUTE"})),
        }
    }

    fn decide(&self, write: &Write<'_, Route>, so_far: u64, now_ms: u64) -> Decision<Snapshot> {
        decide::decide(self, write, so_far, now_ms)
    }

    fn apply(&mut self, record: u64, effect: &Effect<Snapshot>) -> Outcome {
        if let Some(Snapshot::WorkOrder(order)) = &effect.after {
            self.orders.insert(order.id.clone(), order.clone());
        }
        let before = match &effect.before {
            Some(Snapshot::WorkOrder(order)) => Some(order.clone()),
            Some(Snapshot::Notification(_)) | None => None,
        };
        Outcome { record, before, after: effect.after.clone() }
    }

    /// The next version, and nothing of what stands in it.
    fn change(&mut self, change: &OtherChange) {
        match change.object.split_once(':') {
            Some(("asset", id)) => {
                self.assets.insert(id.to_owned(), change.after_version);
            }
            Some(("order", id)) => {
                if let Some(order) = self.orders.get_mut(id) {
                    order.version = change.after_version;
                }
            }
            _ => {}
        }
    }

    fn version_of(&self, id: &str) -> Option<(String, u64)> {
        if let Some((hotel, tag)) = id.split_once('/') {
            let asset = directory::asset(hotel, tag)?;
            return Some((format!("asset:{id}"), self.asset_version(asset)));
        }
        Some((format!("order:{id}"), self.orders.get(id)?.version))
    }

    fn render(key: &str, record: &KeyRecord<Outcome>, outcome: &Outcome) -> (u16, Value) {
        render::outcome(key, record, outcome)
    }
}
