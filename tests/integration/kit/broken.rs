//! Services that break a promise. The kit finds each, and by the question that is about it.

use serde_json::{Value, json};

use super::{Kit, with_verdict};

const ADDRESS: &str = "commit_address_change.v2";
const MAIL: &str = "send_confirmation.v1";

/// What the kit says is wrong, while this fault is armed for good.
#[track_caller]
fn found(tool: &str, fault: Value) -> Vec<String> {
    let kit = Kit::new();
    kit.without_cases();
    let mut armed = fault.clone();
    armed["times"] = Value::Null;
    kit.sandbox.fault(armed);
    let (code, report) = kit.live(&["--tool", tool, "--patience", "2s"]);
    let failed = with_verdict(&report, "failed");
    assert_eq!((code, report["passed"].clone()), (2, json!(false)), "{fault}: {failed:?}");
    let doctor = kit.writd(&["doctor"]);
    assert!(
        doctor.out.contains(&format!("{tool} (")),
        "{fault}: no passing run may be recorded\n{}",
        doctor.out
    );
    failed
}

/// The question fails, and says this.
#[track_caller]
fn fails(failed: &[String], question: &str, why: &str) {
    let hit = failed.iter().any(|line| line.contains(&format!(": {question}")) && line.contains(why));
    assert!(hit, "`{question}` should fail with `{why}`: {failed:#?}");
}

#[test]
fn a_service_that_forgets_keys_is_found() {
    let failed = found(ADDRESS, json!({"fault": "ignore_key"}));
    fails(&failed, "same request again", "VERSION_CONFLICT");
    // A mail has no version that stops the second one: only the ledger shows it.
    let failed = found(MAIL, json!({"fault": "ignore_key"}));
    fails(&failed, "same request again", "the ledger has 2 effects, not 1");
    fails(&failed, "same key, other arguments", "it was answered as done");
}

#[test]
fn a_service_that_applies_twice_is_found() {
    let failed = found(MAIL, json!({"fault": "apply_twice"}));
    fails(&failed, "same request again", "the ledger has");
}

#[test]
fn a_service_that_takes_other_bytes_under_a_key_is_found() {
    let failed = found(ADDRESS, json!({"fault": "ignore_reuse"}));
    fails(&failed, "same key, other arguments", "it was answered as done");
    assert_eq!(failed.len(), 1, "everything else holds: {failed:#?}");
}

#[test]
fn a_service_that_does_not_compare_versions_is_found() {
    let failed = found(ADDRESS, json!({"fault": "ignore_version"}));
    fails(&failed, "resource changed in between", "it came to");
    assert_eq!(failed.len(), 1, "everything else holds: {failed:#?}");
}

#[test]
fn a_service_that_does_not_look_at_the_tenant_is_found() {
    let fault = json!({"fault": "ignore_tenant", "match": {"path_prefix": "/customers/"}});
    let failed = found(ADDRESS, fault.clone());
    fails(&failed, "another tenant's id", "the read shows it");
    assert_eq!(failed.len(), 1, "everything else holds: {failed:#?}");
    fails(&found("get_customer.v1", fault), "another tenant's id", "the read shows it");
    // The read hides it and the write does not.
    let fault = json!({"fault": "ignore_tenant", "match": {"method": "PUT"}});
    fails(&found(ADDRESS, fault), "another tenant's id", "the write came to");
    let fault = json!({"fault": "ignore_tenant", "match": {"method": "POST"}});
    fails(&found(MAIL, fault), "another tenant's id", "the write was applied");
}

#[test]
fn a_status_route_that_does_not_tell_is_found() {
    for (fault, why) in [
        (json!({"fault": "status_lag", "ms": 3_600_000}), "the status does not find it"),
        (json!({"fault": "status_down"}), "the status never proves it"),
        (json!({"fault": "status_wrong"}), "the answer is about another operation id"),
        (json!({"fault": "status_in_progress"}), "it is still running"),
    ] {
        let failed = found(ADDRESS, fault);
        fails(&failed, "answer lost", why);
        assert_eq!(failed.len(), 1, "everything else holds: {failed:#?}");
    }
}

#[test]
fn an_answer_that_is_no_receipt_is_found() {
    for fault in ["apply_then_wrong_shape", "apply_then_malformed", "apply_then_5xx", "reject"] {
        let failed = found(ADDRESS, json!({"fault": fault}));
        fails(&failed, "same request again", "the example came to");
    }
}

#[test]
fn a_contract_that_says_less_than_its_service_is_found() {
    let kit = Kit::new();
    kit.without_cases();
    kit.edit("commit_address_change.tool.yaml", "code: KEY_REUSED", "code: NO_SUCH_CODE");
    kit.edit("commit_address_change.tool.yaml", "code: STALE", "code: NO_SUCH_CODE");
    let (code, report) = kit.live(&["--tool", ADDRESS]);
    let failed = with_verdict(&report, "failed");
    assert_eq!(code, 2);
    fails(&failed, "same key, other arguments", "does not declare (422)");
    fails(&failed, "resource changed in between", "does not declare this answer (status 409)");
}

#[test]
fn a_case_that_does_not_come_true_is_found_and_a_wrong_file_is_refused() {
    let kit = Kit::new();
    let file = "customers.cases.yaml";
    kit.edit(file, "/previous_version: 17, /new_version: 18", "/previous_version: 17, /new_version: 19");
    let (code, report) = kit.live(&["--tool", ADDRESS]);
    let failed = with_verdict(&report, "failed");
    assert_eq!((code, failed.len()), (2, 1), "{failed:?}");
    fails(&failed, "a move makes version 18", "the answer has another value at /new_version");
    kit.edit(file, "outcome: answered, effects: 0", "outcome: answered, effect: 0");
    let run = kit.writd(&["contracts", "test"]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(
        run.err.contains("customers.cases.yaml:16:") && run.err.contains("did you mean `effects`?"),
        "{}",
        run.err
    );
}
