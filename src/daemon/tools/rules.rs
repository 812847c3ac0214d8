//! The rules of execution that a contract declares, as the engine names them.

use std::time::Duration;

use crate::contracts::{
    Commit, Contract, EffectClass, NotFound, Recovery, RetryClass as ContractRetry, VersionCheck,
};
use crate::domain::operation::{CommitMode, RecoveryTier, RetryClass, TargetCheck, WriteClass};
use crate::ports::{Settlement, ToolRules};

/// None for a read.
pub(super) fn rules(contract: &Contract) -> Option<ToolRules> {
    let write = contract.as_write().ok()?;
    Some(ToolRules {
        class: match contract.class() {
            EffectClass::Draft => WriteClass::Draft,
            EffectClass::Write | EffectClass::Read => WriteClass::Write,
        },
        decide_within: write.approval.decide_within,
        execute_within: write.approval.execute_within,
        commit: match write.commit {
            Commit::OnApproval => CommitMode::OnApproval,
            Commit::Explicit => CommitMode::Explicit,
        },
        check: match write.target.check {
            VersionCheck::IfMatch => TargetCheck::IfMatch,
            VersionCheck::Read => TargetCheck::Read,
            VersionCheck::Absent => TargetCheck::Absent,
        },
        retry: match contract.retry.class {
            ContractRetry::Never => RetryClass::Never,
            ContractRetry::SafeRead => RetryClass::SafeRead,
            ContractRetry::Idempotent => RetryClass::Idempotent,
        },
        max_attempts: contract.retry.max_attempts,
        budget: contract.retry.budget,
        backoff_initial: contract.retry.initial,
        backoff_max: contract.retry.max,
        tier: match &write.recovery {
            Recovery::StatusByKey(_) => RecoveryTier::StatusByKey,
            Recovery::None => RecoveryTier::None,
        },
        timeout: contract.timeout,
        direct: contract.effect.direct.clone(),
        indirect: contract.effect.indirect.clone(),
        reversible: contract.effect.reversible.as_str().to_owned(),
        residual: contract.effect.residual.clone(),
    })
}

/// When "not found" is proof.
pub(super) fn settlement(contract: &Contract) -> Settlement {
    match contract.as_write().map(|write| &write.recovery) {
        Ok(Recovery::StatusByKey(protocol)) => Settlement {
            not_found_is_no_effect: protocol.not_found == NotFound::NoEffect,
            settle: protocol.settle.to_std(),
            confirmations: protocol.confirmations,
            confirm_interval: protocol.confirm_interval.to_std(),
        },
        Ok(Recovery::None) | Err(_) => Settlement {
            not_found_is_no_effect: false,
            settle: Duration::MAX,
            confirmations: u32::MAX,
            confirm_interval: Duration::MAX,
        },
    }
}
