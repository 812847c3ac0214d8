//! The first pass: the chain, the numbers, and every operation folded.

use super::ledger::{Fold, Known, KnownRun, KnownToken, Ledger, run_digest};
use super::{HeadClaim, tolerate};
use crate::domain::ids::{OperationId, RunId, TokenId};
use crate::domain::journal::{Entry, Fact, Head, Subject};
use crate::domain::operation::{Event, Recorded, evolve};
use crate::domain::run::RunEnd;
use crate::store::maintenance::finding::FindingCode;
use crate::store::maintenance::walk;
use crate::store::records::{RecordError, Stored, decode_row, keys};
use crate::store::{ReadError, append, codec};

/// Walks the journal; holds a head that was kept elsewhere against it.
pub(super) fn walk(ledger: &mut Ledger<'_>, claim: Option<HeadClaim>) -> Result<(), ReadError> {
    let mut chain =
        Chain { head: Head::default(), claim, on_chain: claim.is_none_or(|claim| claim.seq == 0) };
    let store = ledger.store;
    let walked = walk::rows(store, &keys::space(b'j'), |key, record| {
        match decode_row::<Vec<Entry>>(&key, record) {
            Err(error) => ledger.find(FindingCode::PageUnreadable, format!("journal page {key}"), error),
            Ok(page) => {
                if page.first().is_none_or(|first| keys::page(first.seq) != key) {
                    let detail = "the first entry has another number than the page";
                    ledger.find(FindingCode::PageMisplaced, format!("journal page {key}"), detail);
                }
                for entry in page {
                    chain.take(ledger, &entry);
                    ledger.take(&entry)?;
                }
            }
        }
        Ok(())
    });
    tolerate(ledger, "the journal", walked)?;
    ledger.report.head = chain.head;
    if let (Some(claim), false) = (claim, chain.on_chain) {
        let detail = format!("the kept head is {claim}; the journal ends at {}", ledger.report.head_claim());
        ledger.find(FindingCode::HeadNotOnChain, format!("entry {}", claim.seq), detail);
    }
    ledger.settle_the_rest()
}

struct Chain {
    head: Head,
    claim: Option<HeadClaim>,
    on_chain: bool,
}

impl Chain {
    fn take(&mut self, ledger: &mut Ledger<'_>, entry: &Entry) {
        let place = format!("entry {}", entry.seq);
        let expected = self.head.seq.saturating_add(1);
        if entry.seq != expected {
            let detail = format!("expected entry {expected}");
            ledger.find(FindingCode::JournalGap, &place, detail);
        } else if entry.before != self.head.digest {
            let detail = "it does not carry the digest of the entry before";
            ledger.find(FindingCode::ChainBroken, &place, detail);
        }
        self.head = append::head_of(entry);
        if self.claim.is_some_and(|claim| claim.seq == entry.seq && claim.digest == self.head.digest) {
            self.on_chain = true;
        }
    }
}

/// What an entry says.
enum Said {
    Fact(Fact),
    Erased,
    /// A finding says why not.
    Nothing,
}

impl Ledger<'_> {
    fn take(&mut self, entry: &Entry) -> Result<(), ReadError> {
        self.report.counts.entries += 1;
        let said = self.said(entry);
        match entry.subject {
            Subject::Operation(id) => self.operation(id, entry, said),
            Subject::Run(id) => {
                self.run(id, entry, said);
                Ok(())
            }
            Subject::System => {
                self.system(entry, said);
                Ok(())
            }
            Subject::Token(id) => {
                self.token(id, entry, said);
                Ok(())
            }
        }
    }

    fn said(&mut self, entry: &Entry) -> Said {
        let place = format!("entry {}", entry.seq);
        if entry.is_erased() {
            self.report.counts.erased_entries += 1;
            return Said::Erased;
        }
        if !entry.payload_matches() {
            self.find(FindingCode::PayloadChanged, &place, "the content does not match its commitment");
            return Said::Nothing;
        }
        match codec::decode::<Fact>(&entry.payload) {
            Err(error) => {
                self.find(FindingCode::PayloadUnreadable, &place, error);
                Said::Nothing
            }
            Ok(fact) if fact.name() != entry.name || !fits(&fact, entry) => {
                let detail = format!("the header says `{}`, the content `{}`", entry.name, fact.name());
                self.find(FindingCode::FactMismatch, &place, detail);
                Said::Nothing
            }
            Ok(fact) => Said::Fact(fact),
        }
    }

    fn operation(&mut self, id: OperationId, entry: &Entry, said: Said) -> Result<(), ReadError> {
        let known = self.operations.remove(&id);
        let expected = known.as_ref().map_or(0, Known::events).saturating_add(1);
        let in_order = entry.number == expected;
        let after = match (known, said) {
            (Some(Known::Broken(_)), _) => Known::Broken(entry.number),
            _ if !in_order => {
                let detail = format!("entry {} has number {}, expected {expected}", entry.seq, entry.number);
                self.find(FindingCode::NumberGap, id, detail);
                Known::Broken(entry.number)
            }
            (_, Said::Nothing) => Known::Broken(entry.number),
            (Some(Known::Erased(_)), _) => Known::Erased(entry.number),
            (Some(Known::Settled(events)), _) => {
                let detail = format!("the record has {events} events, the journal at least {}", entry.number);
                self.find(FindingCode::RecordBehind, id, detail);
                Known::Broken(entry.number)
            }
            (_, Said::Erased) => {
                self.report.counts.erased_operations += 1;
                Known::Erased(entry.number)
            }
            (None, Said::Fact(fact)) => self.fold(id, None, entry, fact)?,
            (Some(Known::Folding(fold)), Said::Fact(fact)) => self.fold(id, Some(fold), entry, fact)?,
        };
        self.operations.insert(id, after);
        Ok(())
    }

    fn fold(
        &mut self,
        id: OperationId,
        before: Option<Box<Fold>>,
        entry: &Entry,
        fact: Fact,
    ) -> Result<Known, ReadError> {
        // `fits` has seen to it that a fact of an operation is an event.
        let Fact::Operation(event) = fact else { return Ok(Known::Broken(entry.number)) };
        let recorded = Recorded { at: entry.at, by: entry.by.clone(), event };
        let operation = match evolve(before.as_ref().map(|fold| &fold.operation), &recorded) {
            Ok(operation) => operation,
            Err(error) => {
                self.find(FindingCode::IllegalEvent, format!("{id}, entry {}", entry.seq), error);
                return Ok(Known::Broken(entry.number));
            }
        };
        if self.acks.operations.contains_key(&id) {
            self.seen.entry(id).or_default().insert(operation.state, operation.events);
        }
        let mut fold = match before {
            Some(fold) => Fold { operation, ..*fold },
            None => Fold { operation, history: Vec::new(), until: None },
        };
        fold.history.push(entry.seq);
        let due = match fold.until {
            None => fold.operation.state.is_ended(),
            Some(until) => until == fold.operation.events,
        };
        if due { self.compare(id, Box::new(fold), false) } else { Ok(Known::Folding(Box::new(fold))) }
    }

    /// Compares a fold with its record. `last` says that the journal has no more.
    fn compare(&mut self, id: OperationId, mut fold: Box<Fold>, last: bool) -> Result<Known, ReadError> {
        let events = fold.operation.events;
        let stored = match self.records().operation(id) {
            Ok(Some(stored)) => stored,
            Ok(None) if last => {
                self.find(FindingCode::RecordMissing, id, format!("the journal has {events} events of it"));
                return Ok(Known::Broken(events));
            }
            Ok(None) => return Ok(Known::Folding(fold)),
            Err(RecordError::Read(error @ (ReadError::Io { .. } | ReadError::Dead { .. }))) => {
                return Err(error);
            }
            // The second pass reports it.
            Err(_) => return Ok(Known::Broken(events)),
        };
        let recorded = stored.operation.events;
        if recorded > events && !last {
            fold.until = Some(recorded);
            return Ok(Known::Folding(fold));
        }
        if recorded == events {
            self.equal(id, &fold, &stored);
            return Ok(Known::Settled(events));
        }
        let code = if recorded > events { FindingCode::RecordAhead } else { FindingCode::RecordBehind };
        let more = if last { "" } else { "at least " };
        self.find(code, id, format!("the record has {recorded} events, the journal {more}{events}"));
        Ok(Known::Broken(events))
    }

    fn equal(&mut self, id: OperationId, fold: &Fold, stored: &Stored) {
        if stored.operation != fold.operation {
            let detail = format!(
                "the record says {} with effect {}, the journal {} with effect {}",
                stored.operation.state, stored.operation.effect, fold.operation.state, fold.operation.effect
            );
            self.find(FindingCode::RecordDiffers, id, detail);
        }
        if stored.history != fold.history {
            let detail = format!("the record names {:?}, the journal {:?}", stored.history, fold.history);
            self.find(FindingCode::HistoryDiffers, id, detail);
        }
    }

    /// What the journal has not told to the end: open operations, and records that go on.
    fn settle_the_rest(&mut self) -> Result<(), ReadError> {
        let mut rest: Vec<OperationId> = self
            .operations
            .iter()
            .filter(|(_, known)| matches!(known, Known::Folding(_)))
            .map(|(id, _)| *id)
            .collect();
        rest.sort_unstable();
        for id in rest {
            if let Some(Known::Folding(fold)) = self.operations.remove(&id) {
                let known = self.compare(id, fold, true)?;
                self.operations.insert(id, known);
            }
        }
        Ok(())
    }

    fn run(&mut self, id: RunId, entry: &Entry, said: Said) {
        let known = self.runs.entry(id).or_default();
        let expected = known.number.saturating_add(1);
        known.number = entry.number;
        match said {
            Said::Fact(Fact::RunOpened(run)) => known.opened = Some(run_digest(&run)),
            Said::Fact(Fact::RunEnded(end @ RunEnd::Cancelled)) => known.ended = Some(end),
            Said::Fact(Fact::RunTokenIssued(token)) => known.token = Some(*token),
            Said::Fact(_) => {}
            Said::Erased | Said::Nothing => known.erased = true,
        }
        if entry.number != expected {
            *known = KnownRun { number: entry.number, erased: true, ..KnownRun::default() };
            let detail = format!("entry {} has number {}, expected {expected}", entry.seq, entry.number);
            self.find(FindingCode::NumberGap, id, detail);
        }
    }

    fn token(&mut self, id: TokenId, entry: &Entry, said: Said) {
        let known = self.tokens.entry(id).or_default();
        let expected = known.number.saturating_add(1);
        known.number = entry.number;
        match said {
            Said::Fact(Fact::TokenCreated { token, sha256 }) => known.made = Some((sha256, *token)),
            Said::Fact(Fact::TokenRevoked { .. }) => {
                if let Some((_, token)) = &mut known.made {
                    token.revoked = Some((entry.at, entry.by.clone()));
                }
            }
            Said::Fact(_) => {}
            Said::Erased | Said::Nothing => known.erased = true,
        }
        if entry.number != expected {
            *known = KnownToken { number: entry.number, erased: true, made: None };
            let detail = format!("entry {} has number {}, expected {expected}", entry.seq, entry.number);
            self.find(FindingCode::NumberGap, id, detail);
        }
    }

    fn system(&mut self, entry: &Entry, said: Said) {
        if entry.number != 0 {
            let detail = format!("number {} for the daemon itself", entry.number);
            self.find(FindingCode::NumberGap, format!("entry {}", entry.seq), detail);
        }
        match said {
            Said::Fact(fact) => self.meta.known.hear(&fact),
            Said::Erased | Said::Nothing => self.meta.uncertain = true,
        }
    }
}

/// Whether the content belongs under this header.
fn fits(fact: &Fact, entry: &Entry) -> bool {
    match fact {
        Fact::Operation(Event::Proposed(proposal)) => entry.subject == Subject::Operation(proposal.id),
        Fact::Operation(_) => matches!(entry.subject, Subject::Operation(_)),
        Fact::RunOpened(run) => entry.subject == Subject::Run(run.id),
        Fact::RunTokenIssued(token) => entry.subject == Subject::Run(token.run),
        Fact::RunEnded(_) => matches!(entry.subject, Subject::Run(_)),
        Fact::TokenCreated { token, .. } => entry.subject == Subject::Token(token.id),
        Fact::TokenRevoked { .. } => matches!(entry.subject, Subject::Token(_)),
        Fact::CatalogLoaded { .. }
        | Fact::ConfigurationLoaded { .. }
        | Fact::PolicyLoaded { .. }
        | Fact::Paused(_)
        | Fact::Resumed { .. }
        | Fact::Imported { .. }
        | Fact::RestoreAccepted { .. } => entry.subject == Subject::System,
    }
}
