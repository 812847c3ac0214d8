//! Budgets: how much of something may be written in a span of time. A write reserves its amount at the claim and gives it
//! back only when it is proven that it had no effect; while an outcome is unknown it counts, whatever its age.
//! Stored: the order of members is part of the record format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::OperationId;
use super::operation::{Effect, Operation};
use super::{Millis, Time};

/// One budget of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Its name.
    pub name: String,
    /// The tools that it counts: a pattern of `name.vMAJOR`.
    pub tool: String,
    /// JSON pointer of the argument that is summed, a whole number; none counts the writes.
    pub argument: Option<String>,
    /// In which span.
    pub window: Millis,
    /// The most of it.
    pub max: u64,
    /// What is summed apart.
    pub per: Per,
}

/// What is summed apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    /// Each tenant.
    Tenant,
    /// Each principal that asks.
    Requester,
    /// Each run.
    Run,
}

/// What one write takes of a budget; part of its proposal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spend {
    /// The budget's name.
    pub budget: String,
    /// The tenant, principal or run that it is counted for.
    pub key: String,
    /// How much.
    pub amount: u64,
}

/// What a write has taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    amount: u64,
    at: Time,
    /// Its outcome is open: it counts whatever its age.
    open: bool,
}

/// Everything that was taken and may still count.
#[derive(Default, Debug)]
pub struct Spent(BTreeMap<(String, String), BTreeMap<OperationId, Taken>>);

/// A budget that is used up, and when there is enough of it again at the earliest; unknown while outcomes are open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedUp {
    /// The budget's name.
    pub budget: String,
    /// When to look again.
    pub until: Option<Time>,
}

impl Spent {
    /// Takes an operation's new version in: what it takes follows from its attempts and its effect.
    pub fn hear(&mut self, operation: &Operation) {
        let id = operation.id();
        let taken = operation.attempts.first().filter(|_| operation.effect != Effect::None).map(|first| {
            // The last attempt is the one that may have had the effect.
            let at = operation.attempts.last().map_or(first.started, |last| last.started);
            (at, operation.effect == Effect::Unknown && !operation.state.is_ended())
        });
        for spend in &operation.proposal.spends {
            let place = (spend.budget.clone(), spend.key.clone());
            match taken {
                Some((at, open)) => {
                    let amount = spend.amount;
                    self.0.entry(place).or_default().insert(id, Taken { amount, at, open });
                }
                None => {
                    if let Some(known) = self.0.get_mut(&place) {
                        known.remove(&id);
                        if known.is_empty() {
                            self.0.remove(&place);
                        }
                    }
                }
            }
        }
    }

    /// The first budget that has no room for this write now. What is out of its window is forgotten.
    pub fn used_up(&mut self, operation: &Operation, budgets: &[Budget], now: Time) -> Option<UsedUp> {
        let id = operation.id();
        operation.proposal.spends.iter().find_map(|spend| {
            let budget = budgets.iter().find(|budget| budget.name == spend.budget)?;
            let place = (spend.budget.clone(), spend.key.clone());
            let known = self.0.get_mut(&place)?;
            known.retain(|_, taken| taken.open || taken.at.plus(budget.window) > now);
            let others: Vec<Taken> =
                known.iter().filter(|(other, _)| **other != id).map(|(_, taken)| *taken).collect();
            let total: u128 = others.iter().map(|taken| u128::from(taken.amount)).sum();
            let excess = (total + u128::from(spend.amount)).saturating_sub(u128::from(budget.max));
            (excess > 0).then(|| UsedUp {
                budget: budget.name.clone(),
                until: enough_at(others, excess, budget.window),
            })
        })
    }
}

/// When so much has left the window.
fn enough_at(mut taken: Vec<Taken>, excess: u128, window: Millis) -> Option<Time> {
    taken.retain(|taken| !taken.open);
    taken.sort_by_key(|taken| taken.at);
    let mut left = excess;
    for taken in taken {
        left = left.saturating_sub(u128::from(taken.amount));
        if left == 0 {
            return Some(taken.at.plus(window));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::OperationId;
    use crate::domain::operation::samples;
    use crate::domain::operation::{Proposal, State};
    use std::sync::Arc;

    fn budget(max: u64) -> Budget {
        Budget {
            name: "refunds".into(),
            tool: "*".into(),
            argument: Some("/amount".into()),
            window: Millis::secs(300),
            max,
            per: Per::Tenant,
        }
    }

    fn write(n: u128, amount: u64, state: State, effect: Effect, started_ms: i64) -> Operation {
        let mut operation = samples::all()
            .into_iter()
            .map(|sample| sample.story.operation)
            .find(|operation| operation.state == state && !operation.attempts.is_empty())
            .unwrap();
        let spends = vec![Spend { budget: "refunds".into(), key: "acme".into(), amount }];
        let id = OperationId::from_u128(n);
        operation.proposal = Arc::new(Proposal { id, spends, ..operation.proposal.as_ref().clone() });
        operation.effect = effect;
        for attempt in &mut operation.attempts {
            attempt.started = samples::time(started_ms);
        }
        operation
    }

    fn asks(spent: &mut Spent, amount: u64, max: u64, at_ms: i64) -> Option<UsedUp> {
        let mut next = write(99, amount, State::Succeeded, Effect::None, 0);
        next.attempts.clear();
        spent.used_up(&next, &[budget(max)], samples::time(at_ms))
    }

    #[test]
    fn what_was_written_in_the_window_counts_and_then_does_not() {
        let mut spent = Spent::default();
        spent.hear(&write(1, 30, State::Succeeded, Effect::Applied, 0));
        spent.hear(&write(2, 15, State::Succeeded, Effect::Applied, 100_000));
        assert_eq!(asks(&mut spent, 5, 50, 200_000), None);
        let full = asks(&mut spent, 6, 50, 200_000).unwrap();
        assert_eq!(full.until, Some(samples::time(300_000)), "the first one leaves the window then");
        assert_eq!(asks(&mut spent, 6, 50, 300_000), None);
        assert_eq!(asks(&mut spent, 50, 50, 400_000), None);
    }

    #[test]
    fn an_open_outcome_counts_whatever_its_age() {
        let mut spent = Spent::default();
        spent.hear(&write(1, 30, State::Unknown, Effect::Unknown, 0));
        let full = asks(&mut spent, 30, 50, 10_000_000).unwrap();
        assert_eq!(full, UsedUp { budget: "refunds".into(), until: None });
        spent.hear(&write(1, 30, State::Failed, Effect::None, 0));
        assert_eq!(asks(&mut spent, 30, 50, 10_000_000), None, "proven: it had no effect");
    }

    #[test]
    fn a_write_does_not_stand_in_its_own_way() {
        let mut spent = Spent::default();
        let retried = write(1, 40, State::Unknown, Effect::Unknown, 0);
        spent.hear(&retried);
        assert_eq!(spent.used_up(&retried, &[budget(50)], samples::time(1)), None);
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut spent = Spent::default();
        spent.hear(&write(1, u64::MAX, State::Succeeded, Effect::Applied, 0));
        spent.hear(&write(2, u64::MAX, State::Succeeded, Effect::Applied, 0));
        assert!(asks(&mut spent, 1, u64::MAX, 1).is_some());
    }
}
