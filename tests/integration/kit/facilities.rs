//! The second system: a service with credentials, drafts, and orders that can be submitted once.

use super::{Kit, with_verdict};
use crate::support::sandbox::FACILITIES;

#[test]
fn the_facilities_pass_with_a_new_order_for_every_question() {
    let kit = Kit::of(FACILITIES);
    let (code, report) = kit.live(&["--send-credentials"]);
    assert_eq!((code, with_verdict(&report, "failed")), (0, Vec::new()), "{report:#}");
    let passed = with_verdict(&report, "passed");
    for line in [
        "create_work_order_draft.v1: same request again: one effect: the same answer; 1 effect in the ledger",
        "submit_work_order.v1: answer lost: the status tells: the connection was closed, the status proves it; 1 effect \
         in the ledger",
        "submit_work_order.v1: resource changed in between: refused: refused with VERSION_CONFLICT; 0 effects in the \
         ledger",
        "cancel_work_order.v1: same key, other arguments: refused: refused with IDEMPOTENCY_CONFLICT; 1 effect in the \
         ledger",
        "notify_contractor.v1: another tenant's id: not found: read and write refused with NOT_FOUND; 0 effects in the \
         ledger",
    ] {
        assert!(passed.contains(&line.to_owned()), "{line}\n{passed:#?}");
    }
    // The body of a submission is empty, so no other arguments for the same order are known.
    for line in with_verdict(&report, "unproven") {
        assert!(line.contains("same key, other arguments"), "{line}");
    }
    kit.sandbox.assert_at_most_one_effect_per_key();
}

#[test]
fn a_credential_goes_to_another_place_only_if_somebody_says_so() {
    let kit = Kit::of(FACILITIES);
    let (code, report) = kit.live(&["--tool", "search_sop.v1"]);
    let failed = with_verdict(&report, "failed");
    assert_eq!(code, 2);
    assert!(failed.iter().any(|line| line.contains("PERMISSION_DENIED")), "{failed:?}");
    for request in kit.sandbox.requests() {
        assert!(request["headers"].get("authorization").is_none(), "{request}");
    }
}
