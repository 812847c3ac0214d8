//! Who speaks, at both doors of the real daemon: tokens of principals, tokens of runs, and what nobody learns.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    daemon::{Daemon, Setup},
    sandbox::Sandbox,
    socket::{Client, Trouble, code_of, id_of},
};

/// Three tenants' worth of names: ours, and an agent and an operator of another one.
const PRINCIPALS: &str = r#"
[[principal]]
name = "agent"
kind = "agent"
roles = ["agent"]
uids = ["self"]
default = true
enabled = true

[[principal]]
name = "alice"
kind = "user"
roles = ["approver"]
uids = ["self"]

[[principal]]
name = "carla"
kind = "user"
roles = ["approver"]
uids = []

[[principal]]
name = "oscar"
kind = "operator"
roles = ["operator", "auditor", "admin"]
uids = ["self"]

[[principal]]
name = "remote"
kind = "agent"
roles = ["agent"]
uids = []

[[principal]]
name = "eve"
kind = "operator"
tenant = "other"
roles = ["operator", "auditor", "admin", "approver"]
uids = ["self"]

[[principal]]
name = "spy"
kind = "agent"
tenant = "other"
roles = ["agent"]
uids = ["self"]
"#;
const ABSENT_OPERATION: &str = "op_7zzzzzzzzzzzzzzzzzzzzzzzzz";
const ABSENT_RUN: &str = "run_7zzzzzzzzzzzzzzzzzzzzzzzzz";

fn setup(sandbox: &Sandbox) -> Setup {
    Setup::new(sandbox).append(PRINCIPALS).config("http", "listen", "\"127.0.0.1:0\"")
}

/// Makes a token and answers with a client that brings it; and with its id.
#[track_caller]
fn token(daemon: &Daemon, admin: &str, body: &Value) -> (Client, String) {
    let made = daemon.client(admin).post("/v1/tokens", body).expect("a token");
    (daemon.anonymous().bearing(made["token"].as_str().expect("its secret")), id_of(&made))
}

/// Opens a run; its id, and a client that brings its token.
#[track_caller]
fn run(opener: &Client) -> (String, Client) {
    let opened = opener.open_run(&[]).expect("a run");
    (id_of(&opened), opener.bearing(opened["token"].as_str().expect("a token")))
}

/// Status and body of a refusal, without the place and the id that it was about.
#[track_caller]
fn refusal(reply: Result<Value, Trouble>, ids: &[&str]) -> (u16, String) {
    match reply {
        Err(Trouble::Refused(status, mut problem)) => {
            problem.as_object_mut().expect("an object").remove("instance");
            let text = ids.iter().fold(problem.to_string(), |text, id| text.replace(id, "ID"));
            (status, text)
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn verified(daemon: &mut Daemon) {
    assert!(daemon.stop().success());
    let verify = daemon.command(&["verify"]).output().expect("it runs");
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
}

#[test]
fn a_run_on_the_network_is_proposed_approved_and_executed_by_tokens() {
    let sandbox = Sandbox::start();
    let mut daemon = setup(&sandbox).start();
    let (remote, _) = token(&daemon, "oscar", &json!({"principal": "remote"}));
    let (carla, _) = token(&daemon, "oscar", &json!({"principal": "carla", "expires_in": "1h"}));
    let network = daemon.network();
    let (run, worker) = run(&remote.over(network));
    let operation =
        id_of(&worker.propose_address(&run, "k", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    assert_eq!(code_of(&worker.approve(&operation)), "PERMISSION_DENIED");
    carla.over(network).approve(&operation).expect("an approval");
    let done = worker.wait_state(&operation, &["succeeded"]);
    assert_eq!(
        done["requester"],
        json!({"name": "remote", "kind": "agent", "person": "remote", "assurance": "token"})
    );
    assert_eq!(done["decisions"][0]["by"]["assurance"], "token");
    assert_eq!(sandbox.writes().len(), 1);
    // Tokens outlive the process, and a run's token its restarts.
    daemon.restart();
    let network = daemon.network();
    assert_eq!(worker.over(network).operation(&operation).expect("the operation")["state"], "succeeded");
    carla.over(network).get("/v1/inbox").expect("an inbox");
    verified(&mut daemon);
    sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn absence_and_denial_look_the_same_at_both_doors() {
    let sandbox = Sandbox::start();
    let daemon = setup(&sandbox).start();
    let (agent, network) = (daemon.client("agent"), daemon.network());
    let (own_run, worker) = run(&agent);
    let held =
        id_of(&worker.propose_address(&own_run, "k", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    let (_, foreign_worker) = run(&agent);
    let (eve, _) = token(&daemon, "eve", &json!({"principal": "eve"}));
    let (spy, _) = token(&daemon, "eve", &json!({"principal": "spy"}));
    let (remote, _) = token(&daemon, "oscar", &json!({"principal": "remote"}));
    let askers = [
        ("another tenant's operator", daemon.client("eve")),
        ("the same by a token", eve.clone()),
        ("the same over the network", eve.over(network)),
        ("another tenant's agent", spy.over(network)),
        ("another agent", remote.over(network)),
        ("another run of the same agent", foreign_worker.clone()),
        ("the same over the network", foreign_worker.over(network)),
    ];
    let reason = json!({"reason": "x"});
    let commands = [("commit", json!({})), ("cancel", json!({}))];
    let more = [
        ("approve", json!({"digest": "0".repeat(64)})),
        ("deny", reason.clone()),
        ("revoke", json!({})),
        ("reconcile", json!({})),
        ("resolve", json!({"outcome": "applied", "note": "x"})),
        ("abandon", reason),
        ("compensate", json!({})),
    ];
    let ids = [held.as_str(), ABSENT_OPERATION, own_run.as_str(), ABSENT_RUN];
    for (who, asker) in &askers {
        let same = |what: &str, ask: &dyn Fn(&str) -> Result<Value, Trouble>, pair: [&str; 2]| {
            let [foreign, absent] = pair.map(|id| refusal(ask(id), &ids));
            assert_eq!(foreign, absent, "{who}: {what}");
            foreign.0
        };
        let operations = [held.as_str(), ABSENT_OPERATION];
        for path in ["", "?wait=1s", "/events"] {
            let ask = |id: &str| asker.get(&format!("/v1/operations/{id}{path}"));
            assert_eq!(same(path, &ask, operations), 404, "{who}: {path}");
        }
        for (verb, body) in &commands {
            let ask = |id: &str| asker.command(id, verb, body);
            assert_eq!(same(verb, &ask, operations), 404, "{who}: {verb}");
        }
        for (verb, body) in &more {
            same(verb, &|id: &str| asker.command(id, verb, body), operations);
        }
        let runs = [own_run.as_str(), ABSENT_RUN];
        assert_eq!(same("run", &|id: &str| asker.get(&format!("/v1/runs/{id}")), runs), 404, "{who}");
        for verb in ["cancel", "token"] {
            same(verb, &|id: &str| asker.post(&format!("/v1/runs/{id}/{verb}"), &json!({})), runs);
        }
        let read = |id: &str| asker.call(id, "get_customer.v1", &json!({"customer_id": "C-1842"}));
        assert_eq!(same("call", &read, runs), 404, "{who}");
        // A key of somebody else conflicts with nothing.
        let propose = |id: &str| asker.propose_address(id, "k", "C-1842", 17, "Kungsgatan 7");
        assert_eq!(same("propose", &propose, runs), 404, "{who}");
        assert_eq!(asker.operations("").expect("a list"), Vec::<Value>::new(), "{who}");
    }
    assert_eq!(
        agent.operation(&held).expect("it is there")["state"],
        "proposed",
        "nothing of this did anything"
    );
}

#[test]
fn whoever_holds_the_target_in_another_run_is_not_named() {
    let sandbox = Sandbox::start();
    let daemon = setup(&sandbox).start();
    let (agent, alice) = (daemon.client("agent"), daemon.client("alice"));
    sandbox.fault(json!({"fault": "apply_then_drop", "times": 1}));
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let ((first_run, first), (second_run, second)) = (run(&agent), run(&agent));
    let holder =
        id_of(&first.propose_address(&first_run, "a", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    alice.approve(&holder).expect("an approval");
    first.wait_state(&holder, &["unknown"]);
    let waiting =
        id_of(&second.propose_address(&second_run, "b", "C-1842", 18, "Kungsgatan 6").expect("a proposal"));
    alice.approve(&waiting).expect("an approval");
    let seen =
        second.wait_until(&waiting, "behind the first", |seen| seen["wait"]["reason"] == "target_busy");
    assert!(!seen.to_string().contains(&holder), "{seen}");
    let busy = second.command(&waiting, "commit", &json!({}));
    assert_eq!(code_of(&busy), "TARGET_BUSY");
    assert!(!refusal(busy, &[]).1.contains(&holder));
    assert!(!Value::from(second.events(&waiting).expect("events")).to_string().contains(&holder));
    assert!(
        agent.operation(&waiting).expect("seen").to_string().contains(&holder),
        "the agent itself may know"
    );
    sandbox.clear_faults();
    first.wait_state(&holder, &["succeeded"]);
}

#[test]
fn every_token_that_is_worth_nothing_is_answered_alike() {
    let sandbox = Sandbox::start();
    let mut daemon = setup(&sandbox).start();
    let (revoked, id) = token(&daemon, "oscar", &json!({"principal": "remote"}));
    let (short, _) = token(&daemon, "oscar", &json!({"principal": "remote", "expires_in": "1ms"}));
    let (gone, _) = token(&daemon, "oscar", &json!({"principal": "carla"}));
    let (own_run, cancelled) = run(&daemon.client("agent"));
    let (other_run, replaced) = run(&daemon.client("agent"));
    daemon.client("oscar").post(&format!("/v1/tokens/{id}/revoke"), &json!({})).expect("revoked");
    daemon.client("agent").post(&format!("/v1/runs/{own_run}/cancel"), &json!({})).expect("cancelled");
    daemon.client("agent").post(&format!("/v1/runs/{other_run}/token"), &json!({})).expect("another token");
    let config = fs::read_to_string(daemon.config_path()).expect("the configuration");
    let without = config.replace("name = \"carla\"", "enabled = false\nname = \"carla\"");
    assert_ne!(config, without);
    fs::write(daemon.config_path(), without).expect("it is written");
    daemon.restart();
    let unknown = daemon.anonymous().bearing(&format!("writd_t_{}", "0".repeat(64)));
    let malformed = daemon.anonymous().bearing("not-a-token");
    let all = [&revoked, &short, &gone, &cancelled, &replaced, &unknown, &malformed];
    let mut bodies: Vec<_> = all
        .iter()
        .flat_map(|bearer| [(*bearer).clone(), bearer.over(daemon.network())])
        .map(|bearer| refusal(bearer.get("/v1/operations"), &[]))
        .collect();
    bodies.push(refusal(daemon.anonymous().over(daemon.network()).get("/v1/operations"), &[]));
    assert_eq!(bodies[0].0, 401);
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:#?}");
}

#[test]
fn what_a_disabled_principal_proposed_is_not_executed_though_it_was_approved() {
    let sandbox = Sandbox::start();
    let mut daemon = setup(&sandbox).start();
    let (oscar, alice) = (daemon.client("oscar"), daemon.client("alice"));
    sandbox.fault(json!({"fault": "apply_then_drop", "times": 1}));
    sandbox.fault(json!({"fault": "status_down", "times": null}));
    let (run, worker) = run(&daemon.client("agent"));
    let first = id_of(&worker.propose_address(&run, "a", "C-1842", 17, "Kungsgatan 5").expect("a proposal"));
    alice.approve(&first).expect("an approval");
    worker.wait_state(&first, &["unknown"]);
    let second = id_of(&worker.propose_address(&run, "b", "C-1842", 18, "Kungsgatan 6").expect("a proposal"));
    alice.approve(&second).expect("an approval");
    worker.wait_until(&second, "behind the first", |seen| seen["wait"]["reason"] == "target_busy");
    assert!(daemon.stop().success());
    let config = fs::read_to_string(daemon.config_path()).expect("the configuration");
    let disabled = config.replace("enabled = true", "enabled = false");
    assert_ne!(config, disabled);
    fs::write(daemon.config_path(), disabled).expect("it is written");
    sandbox.clear_faults();
    daemon.restart();
    assert_eq!(code_of(&worker.get("/v1/operations")), "UNAUTHENTICATED");
    // What has begun is learned to its end; then the target is free, and the second one has its turn.
    oscar.wait_state(&first, &["succeeded"]);
    let (remote, _) = token(&daemon, "oscar", &json!({"principal": "remote"}));
    let run = id_of(&remote.open_run(&[]).expect("a run"));
    let third = id_of(&remote.propose_address(&run, "c", "C-1842", 18, "Kungsgatan 7").expect("a proposal"));
    alice.approve(&third).expect("an approval");
    remote.wait_state(&third, &["succeeded"]);
    let seen = oscar.operation(&second).expect("it is there");
    assert_eq!(
        (&seen["state"], &seen["effect"], &seen["attempts"]),
        (&json!("approved"), &json!("none"), &json!([]))
    );
    assert_eq!(sandbox.writes().len(), 2, "the second write of the disabled agent was never sent");
}

#[test]
fn a_backup_brings_no_token_back() {
    let sandbox = Sandbox::start();
    let mut daemon = setup(&sandbox).start();
    let (bearer, id) = token(&daemon, "oscar", &json!({"principal": "remote"}));
    bearer.get("/v1/operations").expect("it is good");
    assert!(daemon.stop().success());
    let backup = daemon.folder().join("backup.ndjson.gz");
    let done = |output: std::process::Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let path = backup.to_str().expect("text");
    done(daemon.command(&["export", path]).output().expect("it runs"));
    fs::rename(daemon.state_dir(), daemon.folder().join("before")).expect("moved");
    done(daemon.command(&["import", path]).output().expect("it runs"));
    daemon.restart();
    assert_eq!(code_of(&bearer.get("/v1/operations")), "UNAUTHENTICATED");
    let list = daemon.client("oscar").get("/v1/tokens").expect("a list");
    assert_eq!((&list["items"][0]["id"], &list["items"][0]["state"]), (&json!(id), &json!("void")));
    verified(&mut daemon);
}

#[test]
fn a_listener_that_others_could_read_refuses_the_start() {
    let sandbox = Sandbox::start();
    for (listen, more, said) in [
        ("\"0.0.0.0:0\"", ("hosts", "[\"writd.example\"]"), "http.listen"),
        ("\"127.0.0.1:0\"", ("tls_cert", "\"none.pem\""), "http.tls_cert"),
    ] {
        let daemon = Setup::new(&sandbox).config("http", "listen", listen).config("http", more.0, more.1);
        let daemon = daemon.prepare();
        let output = daemon.command(&["serve"]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(said) && text.contains("help:"), "{text}");
        assert!(!daemon.state_dir().exists(), "a refused start makes nothing");
    }
}

#[test]
fn the_command_line_takes_tokens_from_the_environment_or_a_file_and_prints_them_once() {
    let sandbox = Sandbox::start();
    let daemon = setup(&sandbox).start();
    let run = |arguments: &[&str], token: Option<&str>| {
        let mut command = daemon.command(arguments);
        if let Some(token) = token {
            command.env("WRITD_TOKEN", token);
        }
        let output = command.output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, made, _) = run(&["token", "create", "--principal", "remote", "--as", "oscar"], None);
    let secret = made.trim();
    daemon.anonymous().bearing(secret);
    assert_eq!(
        (code, secret.len(), made.lines().count()),
        (Some(0), "writd_t_".len() + 64, 1),
        "alone on its line"
    );
    let file = daemon.folder().join("token");
    fs::write(&file, &made).expect("it is written");
    let (code, opened, _) = run(&["run", "open", "--purpose", "x", "--json"], Some(secret));
    assert!(code == Some(0) && opened.contains("\"remote\"") && !opened.contains("writd_r_"), "{opened}");
    let path = file.to_str().expect("text");
    let with_file = ["run", "open", "--purpose", "x", "--token", "--token-file", path];
    let (code, opened, _) = run(&with_file, None);
    let of_run = opened.lines().last().unwrap_or_default();
    daemon.anonymous().bearing(of_run);
    assert!(code == Some(0) && of_run.starts_with("writd_r_"), "{opened}");
    let (code, listed, _) = run(&["op", "list", "--json"], Some(of_run));
    assert!(code == Some(0) && listed.contains("\"items\":[]"), "{listed}");
    assert_eq!(run(&["token", "list", "--as", "oscar"], Some(secret)).0, Some(2), "two ways to say who");
    assert_eq!(run(&["op", "list"], Some("writd_t_")).0, Some(3));
    let (code, listed, _) = run(&["token", "list", "--as", "oscar"], None);
    assert!(code == Some(0) && listed.contains("ACTIVE") && !listed.contains(secret), "{listed}");
}
