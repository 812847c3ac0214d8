//! What the status task remembers of one unknown outcome between two queries. Memory only, in monotonic time: the settle
//! time and the confirmations begin anew with each start of the daemon.

use std::time::{Duration, Instant};

use super::Cadence;
use crate::ports::Settlement;

/// One unknown outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// Since when the connection of its last attempt is known to be gone.
    gone: Option<Instant>,
    /// When it is asked next.
    pub(super) next: Instant,
    interval: Duration,
    not_found: u32,
    last_not_found: Option<Instant>,
}

/// What a "not found" is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotFound {
    /// Proof by the contract.
    Proven,
    /// Not yet; ask again after this.
    AskAgain(Duration),
}

impl Watch {
    pub(super) fn new(now: Instant, cadence: &Cadence) -> Watch {
        Watch { gone: None, next: now, interval: cadence.interval, not_found: 0, last_not_found: None }
    }

    /// The connection is gone; the settle time runs from the first time that this is seen.
    pub(super) fn connection_is_gone(&mut self, now: Instant) {
        self.gone.get_or_insert(now);
    }

    /// Another attempt's connection lives: what was learned before says nothing about it.
    pub(super) fn connection_lives(&mut self) {
        self.gone = None;
        self.not_found = 0;
        self.last_not_found = None;
    }

    /// The service knows no such key. Proof needs the settle time and consistent answers, apart from each other, all of
    /// them after it.
    pub(super) fn not_found(&mut self, now: Instant, settlement: &Settlement) -> NotFound {
        let Some(gone) = self.gone else { return NotFound::AskAgain(settlement.settle) };
        if !settlement.not_found_is_no_effect {
            return NotFound::AskAgain(self.interval);
        }
        let settled = now.saturating_duration_since(gone);
        if settled < settlement.settle {
            return NotFound::AskAgain(settlement.settle.saturating_sub(settled));
        }
        let apart = self
            .last_not_found
            .is_none_or(|last| now.saturating_duration_since(last) >= settlement.confirm_interval);
        if apart {
            self.not_found = self.not_found.saturating_add(1);
            self.last_not_found = Some(now);
        }
        if self.not_found >= settlement.confirmations.max(1) {
            return NotFound::Proven;
        }
        NotFound::AskAgain(settlement.confirm_interval)
    }

    /// Anything else was answered: consistent means without a gap.
    pub(super) fn other_answer(&mut self) {
        self.not_found = 0;
        self.last_not_found = None;
    }

    /// Sets the next query: after the back-off, or sooner if `wish` says so. Never later: what is not found yet may be
    /// found before its absence proves anything.
    pub(super) fn schedule(
        &mut self,
        now: Instant,
        wish: Option<Duration>,
        paused: bool,
        cadence: &Cadence,
        draw: f64,
    ) {
        let backoff = if paused { cadence.slow_interval } else { self.interval };
        self.interval = self.interval.saturating_mul(2).min(cadence.max_interval);
        let jittered = if cadence.jitter { backoff.mul_f64(0.5 + draw / 2.0) } else { backoff };
        self.next = now + wish.map_or(jittered, |wish| wish.min(jittered));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const CADENCE: Cadence = Cadence {
        interval: SECOND,
        max_interval: Duration::from_secs(8),
        slow_interval: Duration::from_secs(60),
        jitter: false,
        concurrency: 1,
    };
    const SETTLEMENT: Settlement = Settlement {
        not_found_is_no_effect: true,
        settle: Duration::from_secs(30),
        confirmations: 2,
        confirm_interval: Duration::from_secs(10),
    };

    #[test]
    fn not_found_proves_nothing_before_the_settle_time_and_the_confirmations() {
        let start = Instant::now();
        let mut watch = Watch::new(start, &CADENCE);
        assert_eq!(watch.not_found(start, &SETTLEMENT), NotFound::AskAgain(SETTLEMENT.settle));
        watch.connection_is_gone(start);
        watch.connection_is_gone(start + SECOND * 20);
        assert_eq!(watch.not_found(start + SECOND * 29, &SETTLEMENT), NotFound::AskAgain(SECOND));
        assert_eq!(watch.not_found(start + SECOND * 30, &SETTLEMENT), NotFound::AskAgain(SECOND * 10));
        assert_eq!(watch.not_found(start + SECOND * 35, &SETTLEMENT), NotFound::AskAgain(SECOND * 10));
        assert_eq!(watch.not_found(start + SECOND * 45, &SETTLEMENT), NotFound::Proven);
    }

    #[test]
    fn another_answer_or_another_connection_begins_anew() {
        let start = Instant::now();
        let mut watch = Watch::new(start, &CADENCE);
        watch.connection_is_gone(start);
        let later = start + SECOND * 40;
        assert_ne!(watch.not_found(later, &SETTLEMENT), NotFound::Proven);
        watch.other_answer();
        assert_ne!(watch.not_found(later + SECOND * 10, &SETTLEMENT), NotFound::Proven);
        watch.connection_lives();
        watch.connection_is_gone(later + SECOND * 20);
        assert_ne!(watch.not_found(later + SECOND * 21, &SETTLEMENT), NotFound::Proven);
    }

    #[test]
    fn without_the_contracts_word_not_found_is_never_proof() {
        let start = Instant::now();
        let mut watch = Watch::new(start, &CADENCE);
        watch.connection_is_gone(start);
        let settlement = Settlement { not_found_is_no_effect: false, ..SETTLEMENT };
        for hours in 0..100 {
            let now = start + SECOND * 3600 * hours;
            assert_ne!(watch.not_found(now, &settlement), NotFound::Proven);
        }
    }

    #[test]
    fn the_settle_time_does_not_put_off_the_next_question() {
        let start = Instant::now();
        let mut watch = Watch::new(start, &CADENCE);
        watch.schedule(start, Some(SECOND * 30), false, &CADENCE, 1.0);
        assert_eq!(watch.next, start + SECOND);
        watch.schedule(start, Some(SECOND / 2), false, &CADENCE, 1.0);
        assert_eq!(watch.next, start + SECOND / 2);
    }

    #[test]
    fn intervals_double_to_the_longest_and_are_slow_after_escalation() {
        let start = Instant::now();
        let mut watch = Watch::new(start, &CADENCE);
        let mut seen = Vec::new();
        for _ in 0..5 {
            watch.schedule(start, None, false, &CADENCE, 1.0);
            seen.push(watch.next.duration_since(start).as_secs());
        }
        assert_eq!(seen, [1, 2, 4, 8, 8]);
        watch.schedule(start, None, true, &CADENCE, 1.0);
        assert_eq!(watch.next.duration_since(start).as_secs(), 60);
    }
}
