//! Bad input: a typed error with its pointer, nothing stored, nothing sent.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::{OURS, Tester, proposal};

/// Sends these bytes as a proposal; nothing may come of it.
async fn refused(t: &Tester, run: &str, bytes: &[u8], status: u16, code: &str) -> Value {
    let reads = t.world.service.reads();
    let request = Request::post(format!("/v1/runs/{run}/proposals"))
        .header("content-type", "application/json; charset=utf-8")
        .body(Body::from(bytes.to_vec()))
        .unwrap();
    let got = t.send(OURS, request).await;
    let problem = got.problem(status, code).clone();
    assert_eq!(problem["effect"], "none");
    assert_eq!(t.world.service.reads(), reads, "nothing is sent");
    assert_eq!(t.get("oscar", "/v1/operations").await.ok(200)["items"], json!([]), "nothing is stored");
    problem
}

fn with(arguments: &str) -> String {
    format!(r#"{{"tool":"set_note.v1","arguments":{arguments},"based_on":17,"purpose":"x"}}"#)
}

#[tokio::test]
async fn text_that_is_not_strict_json_is_refused() {
    let t = Tester::start();
    let run = t.open_run().await;
    let deep = with(&format!("{}{}", "[".repeat(70), "]".repeat(70)));
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("duplicate key", with(r#"{"id":"n1","text":"a","text":"b"}"#).into(), "/arguments/text"),
        ("escaped duplicate", with(r#"{"id":"n1","text":"a","te\u0078t":"b"}"#).into(), "/arguments/text"),
        ("lone surrogate", with(r#"{"id":"n1","text":"\ud800"}"#).into(), "/arguments/text"),
        ("inexact number", with(r#"{"id":"n1","n":9007199254740993}"#).into(), "/arguments/n"),
        (
            "invalid utf-8",
            [with(r#"{"id":""#).trim_end_matches(r#","based_on":17,"purpose":"x"}"#).as_bytes(), b"\xff"]
                .concat(),
            "/arguments/id",
        ),
        ("not json", b"{\"tool\":".to_vec(), "/tool"),
        ("trailing", format!("{} x", with("{}")).into(), ""),
        ("nothing", Vec::new(), ""),
        ("a byte order mark", [b"\xef\xbb\xbf".as_slice(), with("{}").as_bytes()].concat(), ""),
        ("not an object", b"[]".to_vec(), ""),
    ];
    for (what, bytes, pointer) in cases {
        let problem = refused(&t, &run, &bytes, 400, "INVALID_ARGUMENT").await;
        assert_eq!(problem["pointer"], pointer, "{what}: {problem}");
    }
    let problem = refused(&t, &run, deep.as_bytes(), 400, "INVALID_ARGUMENT").await;
    assert!(problem["pointer"].as_str().unwrap().starts_with("/arguments/0"), "{problem}");
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let t = Tester::start();
    let run = t.open_run().await;
    let large = with(&format!(r#"{{"id":"n1","text":"{}"}}"#, "x".repeat(4096)));
    refused(&t, &run, large.as_bytes(), 413, "PAYLOAD_TOO_LARGE").await;
    // A length that is only claimed is enough.
    let request = Request::post("/v1/runs").header("content-length", "99999999").body(Body::empty()).unwrap();
    t.send(OURS, request).await.problem(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn all_findings_are_told_with_pointers_and_suggestions() {
    let t = Tester::start();
    let run = t.open_run().await;
    let body = json!({"tool": "set_note", "arguments": [], "purpose": 7, "basedon": 17, "requester": "bob", "supersedes": null});
    let problem = refused(&t, &run, body.to_string().as_bytes(), 400, "INVALID_ARGUMENT").await;
    let found: Vec<_> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["pointer"].as_str().unwrap(), error["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("/tool", "a tool is named with its major version, such as `get_customer.v1`"),
            ("/arguments", "expected an object, this is an array"),
            ("/purpose", "expected a string, this is a number"),
            ("/supersedes", "null is no value here: leave the member out"),
            ("/basedon", "`basedon` is not known here: did you mean `based_on`?"),
            (
                "/requester",
                "`requester` is not known here: there is tool, arguments, based_on, purpose, supersedes"
            ),
        ]
    );
    assert_eq!(problem["pointer"], "/tool");
}

#[tokio::test]
async fn hostile_names_are_shown_escaped_and_cut() {
    let t = Tester::start();
    let run = t.open_run().await;
    let mut body = proposal("set_note.v1", "x");
    body[format!("a/b~\u{202e}{}", "z".repeat(500))] = json!(1);
    let problem = refused(&t, &run, body.to_string().as_bytes(), 400, "INVALID_ARGUMENT").await;
    let shown = problem["detail"].as_str().unwrap();
    assert!(!shown.contains('\u{202e}') && shown.len() < 300, "{shown}");
}

#[tokio::test]
async fn wrong_types_in_lists_name_their_place() {
    let t = Tester::start();
    let body = json!({"purpose": "x", "tools": ["set_note.v1", 7, "get"], "deadline": "tomorrow"});
    let got = t.post("agent", "/v1/runs", &body).await;
    let pointers: Vec<_> = got.problem(400, "INVALID_ARGUMENT")["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["pointer"].clone())
        .collect();
    assert_eq!(pointers, ["/tools/1", "/tools/2", "/deadline"]);
}

#[tokio::test]
async fn the_engine_refuses_with_its_own_pointers() {
    let t = Tester::start();
    let run = t.open_run().await;
    let path = format!("/v1/runs/{run}/proposals");
    let mut old = proposal("set_note.v1", "x");
    old["based_on"] = json!(16);
    let got = t.post("agent", &path, &old).await;
    let problem = got.problem(409, "VERSION_CONFLICT");
    assert_eq!((&problem["pointer"], &problem["current_version"]), (&json!("/based_on"), &json!(17)));
    let got = t.post("agent", &path, &proposal("delete_note.v1", "x")).await;
    got.problem(403, "PERMISSION_DENIED");
    let mut wrong = proposal("set_note.v1", "x");
    wrong["arguments"] = json!({"id": 7});
    assert_eq!(
        t.post("agent", &path, &wrong).await.problem(400, "INVALID_ARGUMENT")["pointer"],
        "/arguments/id"
    );
    t.post("alice", "/v1/runs", &json!({"purpose": "x"})).await.problem(403, "PERMISSION_DENIED");
}

#[tokio::test]
async fn unknown_query_parameters_are_refused() {
    let t = Tester::start();
    let (id, _) = t.propose("set_note.v1").await;
    let one = format!("/v1/operations/{id}");
    let cases = [
        ("/v1/operations?sate=proposed".to_owned(), "/query/sate", "did you mean `state`?"),
        ("/v1/operations?state=open".to_owned(), "/query/state", "proposed, approved"),
        ("/v1/operations?limit=0".to_owned(), "/query/limit", "at least one"),
        ("/v1/operations?limit=-1".to_owned(), "/query/limit", "without sign"),
        ("/v1/operations?limit=1&limit=2".to_owned(), "/query/limit", "given twice"),
        ("/v1/operations?cursor=x".to_owned(), "/query/cursor", "no cursor"),
        (format!("{one}?wait=soon"), "/query/wait", "such as 30s"),
        (format!("{one}?after=3"), "/query/after", "goes with `wait`"),
        (format!("{one}/events?after=1&cursor=1"), "/query/cursor", "not both"),
        ("/v1/catalog?x=1".to_owned(), "/query/x", "nothing is taken here"),
        ("/healthz?verbose=1".to_owned(), "/query/verbose", "nothing is taken here"),
    ];
    for (path, pointer, words) in cases {
        let got = t.get("alice", &path).await;
        assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], pointer);
        assert!(got.text.contains(words), "{path}: {}", got.text);
    }
    let got = t.post("alice", &format!("{one}/deny?wait=1s"), &json!({"reason": "x"})).await;
    assert_eq!(got.problem(400, "INVALID_ARGUMENT")["pointer"], "/query/wait");
}

#[tokio::test]
async fn unknown_paths_and_wrong_methods_are_problems() {
    let t = Tester::start();
    let got = t.get("alice", "/v1/operation").await;
    assert!(
        got.problem(404, "NOT_FOUND")["detail"].as_str().unwrap().contains("did you mean /v1/operations?")
    );
    for path in ["/", "/v1", "/v2/runs", "/v1/operations/", "/v1/operations/x/explode", "/v1/runs/x/y/z"] {
        t.get("alice", path).await.problem(404, "NOT_FOUND");
    }
    let got = t.send(OURS, Tester::request("DELETE", "/v1/operations", "alice", None)).await;
    got.problem(405, "INVALID_ARGUMENT");
    assert_eq!(got.headers["allow"], "GET,HEAD");
    let got = t.get("alice", "/v1/runs").await;
    got.problem(405, "INVALID_ARGUMENT");
    assert_eq!(got.headers["allow"], "POST");
}

#[tokio::test]
async fn bodies_need_their_type() {
    let t = Tester::start();
    let body = json!({"purpose": "x"}).to_string();
    for kind in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
    {
        let request = Request::post("/v1/runs");
        let request = if let Some(kind) = kind { request.header("content-type", kind) } else { request };
        let got = t.send(OURS, request.body(Body::from(body.clone())).unwrap()).await;
        got.problem(415, "INVALID_ARGUMENT");
    }
    for kind in ["application/json", "Application/JSON;charset=utf-8"] {
        let request = Request::post("/v1/runs").header("content-type", kind);
        t.send(OURS, request.body(Body::from(body.clone())).unwrap()).await.ok(201);
    }
}
