//! The event stream: from a place on, without gaps, and only what the reader may see.

use axum::http::StatusCode;
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::json;

use super::{MALLORY, OURS, Tester};
use crate::api::Peer;
use crate::api::wire::EventView;

/// Reads events off a stream; signs of life are skipped.
struct Reader {
    body: axum::body::Body,
    buffer: String,
}

impl Reader {
    async fn open(t: &Tester, uid: u32, name: &str, last: Option<&str>) -> Result<Reader, StatusCode> {
        let mut request = Tester::request("GET", "/v1/events", name, None);
        if let Some(last) = last {
            request.headers_mut().insert("Last-Event-ID", last.parse().unwrap());
        }
        let response: Response = t.service.answer(Peer { uid }, request).await;
        if response.status() != StatusCode::OK {
            return Err(response.status());
        }
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Ok(Reader { body: response.into_body(), buffer: String::new() })
    }

    /// The next event; none at the end of the stream.
    async fn next(&mut self) -> Option<EventView> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
                if let Some(data) = field("data: ") {
                    let event: EventView = serde_json::from_str(data).unwrap();
                    assert_eq!(field("id: "), Some(event.seq.to_string().as_str()));
                    assert_eq!(field("event: "), Some(event.name.as_str()));
                    return Some(event);
                }
            }
            let frame = self.body.frame().await?.unwrap();
            self.buffer.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    async fn take(&mut self, count: usize) -> Vec<EventView> {
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(self.next().await.expect("the stream goes on"));
        }
        events
    }
}

fn names(events: &[EventView]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn a_reader_sees_what_happens_from_now_on() {
    let t = Tester::start();
    let (_, _) = t.propose("set_note.v1").await;
    let mut reader = Reader::open(&t, OURS, "alice", None).await.unwrap();
    // The first frame shows that it has subscribed.
    assert!(reader.body.frame().await.is_some());
    let (id, digest) = t.propose("set_note.v1").await;
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);
    let events = reader.take(6).await;
    let expected =
        ["run_opened", "run_token_issued", "proposed", "approved", "execution_started", "succeeded"];
    assert_eq!(names(&events), expected);
    assert!(events.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
}

#[tokio::test]
async fn a_resumed_reader_misses_nothing_and_repeats_nothing() {
    let t = Tester::start();
    let mut whole = Reader::open(&t, OURS, "alice", Some("0")).await.unwrap();
    let (id, digest) = t.propose("set_note.v1").await;
    let first = whole.take(2).await;
    drop(whole);
    let path = format!("/v1/operations/{id}/approve?wait=20s");
    t.post("alice", &path, &json!({"digest": digest})).await.ok(200);
    let last = first.last().unwrap().seq.to_string();
    let mut resumed = Reader::open(&t, OURS, "alice", Some(&last)).await.unwrap();
    let rest = resumed.take(4).await;
    let seqs: Vec<_> = first.iter().chain(&rest).map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
    let mut again = Reader::open(&t, OURS, "alice", Some("0")).await.unwrap();
    let all = again.take(6).await;
    assert_eq!(all, first.into_iter().chain(rest).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_that_lags_goes_on_from_the_store() {
    let t = Tester::start();
    let run = t.open_run().await;
    let mut reader = Reader::open(&t, OURS, "alice", Some("0")).await.unwrap();
    assert_eq!(names(&reader.take(2).await), ["run_opened", "run_token_issued"]);
    // More than the frames that wait for a reader and more than one batch from the store, while it does not read.
    let count = 600;
    for number in 0..count {
        let body = super::proposal("set_note.v1", &format!("{number}"));
        t.post("agent", &format!("/v1/runs/{run}/proposals"), &body).await.ok(201);
    }
    let events = reader.take(count).await;
    let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (3..3 + u64::try_from(count).unwrap()).collect::<Vec<_>>());
}

#[tokio::test]
async fn nobody_sees_the_events_of_others() {
    let t = Tester::start();
    t.propose("set_note.v1").await;
    let mut reader = Reader::open(&t, MALLORY, "", Some("0")).await.unwrap();
    let body = json!({"purpose": "mine"}).to_string();
    let own = t.send(MALLORY, Tester::request("POST", "/v1/runs", "", Some(&body))).await;
    own.ok(201);
    let event = reader.next().await.unwrap();
    assert_eq!((event.name.as_str(), event.by.name.as_str()), ("run_opened", "mallory"));
    assert_eq!(event.seq, 4);
}

#[tokio::test]
async fn a_place_that_does_not_exist_is_refused() {
    let t = Tester::start();
    for bad in ["1", "x", "-1", "99999999999999999999999"] {
        assert_eq!(
            Reader::open(&t, OURS, "alice", Some(bad)).await.err(),
            Some(StatusCode::BAD_REQUEST),
            "{bad}"
        );
    }
}

#[tokio::test]
async fn a_stop_ends_the_stream() {
    let t = Tester::start();
    let mut reader = Reader::open(&t, OURS, "alice", None).await.unwrap();
    assert!(reader.body.frame().await.is_some());
    t.api.stop();
    assert!(reader.next().await.is_none());
}
