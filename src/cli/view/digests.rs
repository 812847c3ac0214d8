//! Contract version and digests, and whether what is shown is what was hashed.

use crate::api::wire::{OperationDetail, RequestView};
use crate::cli::output::paper::Paper;
use crate::cli::output::style::Style;
use crate::cli::output::values::safe;
use crate::domain::json::Canonical;
use crate::domain::request::RenderedRequest;

/// The contract and the four digests, each whole on one line.
pub(super) fn digests(page: &mut Paper, detail: &OperationDetail) {
    let view = &detail.summary;
    page.heading("Contract and digests (SHA-256)");
    page.field("tool", &format!("{} {}", safe(&view.tool), safe(&view.version)));
    page.field("request", &format!("{} {}", safe(&detail.request.method), safe(&detail.request.path)));
    page.field("contract", &detail.contract.to_string());
    page.field("arguments", &detail.arguments_sha256.to_string());
    page.field("sent request", &detail.request_sha256.to_string());
    page.styled_field("PROPOSAL", Style::Strong, &view.proposal_sha256.to_string());
    if !digests_hold(detail) {
        page.styled_field(
            "WARNING",
            Style::Before,
            "what is shown here does not have the digests that are shown here: do not approve it",
        );
    }
}

/// Whether arguments and request, hashed again here, have the digests that stand beside them.
pub(crate) fn digests_hold(detail: &OperationDetail) -> bool {
    let arguments =
        Canonical::of(&detail.arguments).is_ok_and(|canonical| canonical.digest() == detail.arguments_sha256);
    arguments && rendered(&detail.request).digest() == detail.request_sha256
}

fn rendered(request: &RequestView) -> RenderedRequest {
    RenderedRequest {
        base: request.base.clone(),
        origin: request.origin.clone(),
        method: request.method.clone(),
        path: request.path.clone(),
        headers: request.headers.clone(),
        body: request.body.clone().map(String::into_bytes),
    }
}
