//! Writes whose preview a preview tool answers: the real daemon before a service that quotes, books and keeps a list of
//! what it was asked.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{
    daemon::{Daemon, Setup},
    socket::{Client, Reply, code_of, id_of},
};

/// The contracts of that service.
const CONTRACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/quotes");
const BOOK: &str = "book_shipping.v1";
/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(3600);

/// What the service was asked, and the quote that it gives.
struct Desk {
    quote: Value,
    quotes: Vec<Value>,
    bookings: Vec<Request>,
}

/// One request as it came.
struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().expect("a length"))];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Some(Self { line: lines.remove(0), headers, body })
    }

    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// The service as a thread of the test; it ends with the test binary.
#[derive(Clone)]
struct Shipping {
    base: String,
    desk: Arc<Mutex<Desk>>,
}

impl Shipping {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let desk = Desk { quote: quote("Q-17", LONG), quotes: Vec::new(), bookings: Vec::new() };
        let shipping = Self { base, desk: Arc::new(Mutex::new(desk)) };
        let serving = shipping.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serving.answer(&stream);
            }
        });
        shipping
    }

    fn answer(&self, mut stream: &TcpStream) {
        let Some(request) = Request::read(stream) else { return };
        let mut desk = self.desk.lock().expect("the desk");
        let (status, answer) = if request.line.starts_with("POST /quotes ") {
            desk.quotes.push(request.body);
            ("200 OK", desk.quote.clone())
        } else {
            let receipt = json!({"operation_id": request.header("x-operation-id"), "key": request.header("idempotency-key")});
            desk.bookings.push(request);
            ("200 OK", json!({"version": 4, "receipt": receipt}))
        };
        drop(desk);
        let (body, kind) = (answer.to_string(), "content-type: application/json");
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\n{kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    }

    fn gives(&self, quote: Value) {
        self.desk.lock().expect("the desk").quote = quote;
    }

    fn bookings(&self) -> usize {
        self.desk.lock().expect("the desk").bookings.len()
    }
}

/// A quote for an order at version 3 that holds for so long.
fn quote(id: &str, holds: Duration) -> Value {
    json!({
        "before": {"version": 3, "carrier": "dhl"},
        "after": {"carrier": "nordpost", "price_eur": 12.5},
        "defaults": {"carrier": "nordpost"},
        "consequences": {"environment": "test", "affected_count": 1},
        "expires_at": (Timestamp::now() + holds).to_string(),
        "id": id,
    })
}

struct House {
    shipping: Shipping,
    // Held: dropping it ends the process.
    _daemon: Daemon,
    agent: Client,
    alice: Client,
    run: String,
}

impl House {
    /// With a text of the write's contract replaced.
    fn open_with(from: &str, to: &str) -> Self {
        let shipping = Shipping::open();
        let mut daemon = Setup::to(&shipping.base).prepare();
        fs::remove_dir_all(daemon.contracts_dir()).expect("the shipped contracts go");
        fs::create_dir(daemon.contracts_dir()).expect("a folder");
        for entry in fs::read_dir(Path::new(CONTRACTS)).expect("the contracts are there") {
            let entry = entry.expect("an entry");
            let text = fs::read_to_string(entry.path()).expect("a contract is text").replace(from, to);
            fs::write(daemon.contracts_dir().join(entry.file_name()), text).expect("a contract is written");
        }
        daemon.restart();
        let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
        let run = id_of(&agent.open_run(&[BOOK]).expect("a run"));
        Self { shipping, _daemon: daemon, agent, alice, run }
    }

    fn open() -> Self {
        Self::open_with("", "")
    }

    fn propose(&self, key: &str, arguments: Value, based_on: u64) -> Reply {
        let body = json!({
            "tool": BOOK, "arguments": arguments, "based_on": based_on, "purpose": "the order is packed",
        });
        self.agent.propose(&self.run, key, &body)
    }

    /// Nothing is stored, and nothing but quotes was asked for.
    #[track_caller]
    fn nothing_stored(&self) {
        assert_eq!(self.alice.operations("").expect("a list").len(), 0);
        assert_eq!(self.shipping.bookings(), 0);
    }
}

#[test]
fn a_quote_is_filled_in_shown_approved_and_sent_with_its_id() {
    let house = House::open();
    let id = id_of(&house.propose("k", json!({"order_id": "O-7"}), 3).expect("a proposal"));
    let seen = house.alice.operation(&id).expect("the operation");
    assert_eq!(seen["arguments"], json!({"order_id": "O-7", "carrier": "nordpost"}), "{seen:#}");
    assert_eq!(seen["claims"].as_array().map_or(0, Vec::len), 0, "nobody claims what was filled in");
    assert_eq!(seen["effect_text"], "Ship order O-7 with nordpost, by quote Q-17");
    assert_eq!(
        seen["changes"],
        json!([
            {"pointer": "/carrier", "before": "dhl", "after": "nordpost"},
            {"pointer": "/price_eur", "after": 12.5},
        ])
    );
    assert_eq!((&seen["preview"], &seen["consequences"]["affected_count"]), (&json!("Q-17"), &json!(1)));
    let expires = house.shipping.desk.lock().expect("the desk").quote["expires_at"].clone();
    let at = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok()).expect("a time");
    assert_eq!(at(&seen["clocks"]["expires"]).as_millisecond(), at(&expires).as_millisecond());

    // Looked at again just before it is sent; what is sent was approved, though.
    house.shipping.gives(quote("Q-18", LONG));
    house.alice.approve(&id).expect("an approval");
    let ended = house.agent.wait_state(&id, &["succeeded"]);
    assert_eq!(ended["outcome"]["new_version"], 4, "{ended:#}");
    let desk = house.shipping.desk.lock().expect("the desk");
    assert_eq!(
        desk.quotes,
        [json!({"order": "O-7", "carrier": null}), json!({"order": "O-7", "carrier": "nordpost"})]
    );
    let [booking] = desk.bookings.as_slice() else { panic!("{} bookings", desk.bookings.len()) };
    assert_eq!(booking.line, "POST /orders/O-7/shipping HTTP/1.1");
    assert_eq!(booking.header("x-quote-id"), "Q-17");
    assert_eq!(booking.body, json!({"carrier": "nordpost", "quote_id": "Q-17"}));
}

#[test]
fn what_the_proposer_gave_is_not_overwritten() {
    let house = House::open();
    let proposed = house.propose("k", json!({"order_id": "O-7", "carrier": "bike"}), 3).expect("a proposal");
    let seen = house.alice.operation(&id_of(&proposed)).expect("the operation");
    assert_eq!(seen["arguments"]["carrier"], "bike");
    assert_eq!(seen["claims"], json!(["/carrier"]));
}

#[test]
fn a_quote_that_has_expired_is_refused() {
    let house = House::open();
    let mut old = quote("Q-17", LONG);
    old["expires_at"] = json!((Timestamp::now() - Duration::from_secs(1)).to_string());
    house.shipping.gives(old);
    let refused = house.propose("k", json!({"order_id": "O-7"}), 3);
    assert_eq!(code_of(&refused), "PRECONDITION_FAILED", "{refused:?}");
    house.nothing_stored();
    // The same request under the same key succeeds with a new quote.
    house.shipping.gives(quote("Q-18", LONG));
    house.propose("k", json!({"order_id": "O-7"}), 3).expect("a proposal");
}

#[test]
fn an_answer_that_does_not_fit_is_refused() {
    let house = House::open();
    let mut unknown = quote("Q-17", LONG);
    unknown["surprise"] = json!(1);
    let mut nothing = quote("Q-17", LONG);
    nothing.as_object_mut().expect("an object").remove("after");
    let mut undated = quote("Q-17", LONG);
    undated["expires_at"] = json!("soon");
    // It fits its own schema, and not the input of the write.
    let mut too_long = quote("Q-17", LONG);
    too_long["defaults"]["carrier"] = json!("n".repeat(50));
    for wrong in [unknown, nothing, undated, too_long] {
        house.shipping.gives(wrong.clone());
        let refused = house.propose("k", json!({"order_id": "O-7"}), 3);
        assert_eq!(code_of(&refused), "OUTPUT_INVALID", "{wrong:#}");
        house.nothing_stored();
    }
    // A plan that was made on old facts is not made on new ones.
    house.shipping.gives(quote("Q-17", LONG));
    assert_eq!(code_of(&house.propose("k", json!({"order_id": "O-7"}), 2)), "VERSION_CONFLICT");
    house.nothing_stored();
}

#[test]
fn an_approved_write_whose_quote_has_expired_is_never_sent() {
    let house = House::open_with("commit: on_approval", "commit: explicit");
    // Short, and longer where the machine is too slow to approve it in time.
    let approved = [3, 9, 27].into_iter().find_map(|seconds| {
        house.shipping.gives(quote("Q-17", Duration::from_secs(seconds)));
        let key = format!("k{seconds}");
        let id = id_of(&house.propose(&key, json!({"order_id": "O-7"}), 3).expect("a proposal"));
        house.alice.approve(&id).is_ok().then_some(id)
    });
    let id = approved.expect("an approval");
    let clocks = &house.alice.operation(&id).expect("the operation")["clocks"];
    assert_eq!(clocks["execute_by"], clocks["expires"]);
    assert_eq!(clocks["decide_by"], clocks["expires"]);
    let ended = house.agent.wait_state(&id, &["expired"]);
    assert_eq!(ended["outcome"]["code"], "APPROVAL_EXPIRED", "{ended:#}");
    // Not even by who asks for it, whatever a new quote says.
    house.shipping.gives(quote("Q-18", LONG));
    assert_eq!(code_of(&house.agent.command(&id, "commit", &json!({}))), "APPROVAL_EXPIRED");
    assert_eq!(house.shipping.bookings(), 0);
}
