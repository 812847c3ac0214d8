//! Who has to approve: what the policy table asked for, and whether decisions satisfy it.
//! Stored: the order of members is part of the record format.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Verdict;
use super::record::Decision;
use crate::domain::principal::Assurance;

/// So many distinct persons, of a group or of all approvers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Needed {
    /// Whose approval; any approver's when none.
    pub group: Option<String>,
    /// Of how many distinct persons.
    pub count: u32,
}

/// What has to be satisfied before a write may be executed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Requirement {
    /// The rule that forbids the write: nobody can approve it.
    pub denied: Option<String>,
    /// All of these, a person counts in each group of theirs. None: no approval is needed.
    pub needed: Vec<Needed>,
    /// How surely an approver must be known.
    pub assurance: Assurance,
    /// Names and persons who cannot approve it.
    pub exclude: Vec<String>,
    /// An approval needs a reason.
    pub reason_required: bool,
    /// Later attempts of the same operation run under the same approvals.
    pub survive_transient: bool,
}

/// Why a decision does not count, or would not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotCounted {
    /// Its author is excluded by a rule.
    Excluded,
    /// Its author is in none of the groups that are asked.
    OtherGroup,
    /// Its author was not known surely enough.
    Assurance,
    /// A reason is required.
    NoReason,
}

/// What one requirement asks for, beside another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// The same.
    Same,
    /// Less.
    Weaker,
    /// More, at least in one way.
    Stricter,
    /// Nobody can approve it, and somebody could.
    Denied,
}

impl Compared {
    /// As written in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Compared::Same => "same",
            Compared::Weaker => "weaker",
            Compared::Stricter => "stricter",
            Compared::Denied => "denied",
        }
    }
}

impl Requirement {
    /// So many approvers, known at least by their local account.
    #[must_use]
    pub fn of(count: u32) -> Requirement {
        let needed = if count == 0 { Vec::new() } else { vec![Needed { group: None, count }] };
        Requirement {
            denied: None,
            needed,
            assurance: Assurance::LocalUid,
            exclude: Vec::new(),
            reason_required: false,
            survive_transient: true,
        }
    }

    /// Whether somebody has to decide.
    #[must_use]
    pub fn asks_somebody(&self) -> bool {
        self.denied.is_some() || !self.needed.is_empty()
    }

    /// The least number of persons that can satisfy it.
    #[must_use]
    pub fn persons(&self) -> u32 {
        self.needed.iter().map(|needed| needed.count).max().unwrap_or(0)
    }

    /// Whether an approval by this principal would count, with these groups of theirs.
    ///
    /// # Errors
    /// Why not.
    pub fn counts(
        &self,
        (name, person): (&str, &str),
        assurance: Assurance,
        groups: &[String],
        note: Option<&str>,
    ) -> Result<(), NotCounted> {
        if self.exclude.iter().any(|excluded| excluded == name || excluded == person) {
            return Err(NotCounted::Excluded);
        }
        let asked = |needed: &Needed| needed.group.as_ref().is_none_or(|group| groups.contains(group));
        if !self.needed.iter().any(asked) {
            return Err(NotCounted::OtherGroup);
        }
        if assurance < self.assurance {
            return Err(NotCounted::Assurance);
        }
        if self.reason_required && note.is_none_or(|note| note.trim().is_empty()) {
            return Err(NotCounted::NoReason);
        }
        Ok(())
    }

    /// Whether a recorded decision is an approval that counts.
    #[must_use]
    pub fn counts_decision(&self, decision: &Decision) -> bool {
        let who = (decision.by.name.as_str(), decision.by.person.as_str());
        decision.verdict == Verdict::Approve
            && !decision.void
            && self.counts(who, decision.by.assurance, &decision.groups, decision.note.as_deref()).is_ok()
    }

    /// Who is still waited for, after these decisions. Distinct persons count, not names.
    #[must_use]
    pub fn missing<'a>(&self, decisions: impl Iterator<Item = &'a Decision> + Clone) -> Vec<Needed> {
        let mut missing = Vec::new();
        for needed in &self.needed {
            let in_group = |decision: &&Decision| {
                needed.group.as_ref().is_none_or(|group| decision.groups.contains(group))
            };
            let persons: BTreeSet<&str> = decisions
                .clone()
                .filter(|decision| self.counts_decision(decision))
                .filter(in_group)
                .map(|decision| decision.by.person.as_str())
                .collect();
            let have = u32::try_from(persons.len()).unwrap_or(u32::MAX);
            if have < needed.count {
                missing.push(Needed { group: needed.group.clone(), count: needed.count - have });
            }
        }
        missing
    }

    /// Whether whatever satisfies the known one satisfies this one, too.
    #[must_use]
    pub fn is_met_with(&self, known: &Requirement) -> bool {
        let asked = |needed: &Needed| {
            known.needed.iter().any(|known| {
                (needed.group.is_none() || known.group == needed.group) && known.count >= needed.count
            })
        };
        self.denied.is_none()
            && self.needed.iter().all(asked)
            && self.assurance <= known.assurance
            && self.exclude.iter().all(|excluded| known.exclude.contains(excluded))
            && self.reason_required <= known.reason_required
            && self.survive_transient >= known.survive_transient
    }

    /// Whether it asks for more than a known one. What asks for more in one way and for less in another is stricter:
    /// approvals of the known one may not be enough.
    #[must_use]
    pub fn compared_with(&self, known: &Requirement) -> Compared {
        match (&self.denied, &known.denied) {
            (Some(_), Some(_)) => Compared::Same,
            (Some(_), None) => Compared::Denied,
            (None, Some(_)) => Compared::Weaker,
            // Where nobody is asked, how surely somebody must be known says nothing.
            (None, None) if self.needed.is_empty() && known.needed.is_empty() => Compared::Same,
            (None, None) if self.needed.is_empty() => Compared::Weaker,
            (None, None) => match (self.is_met_with(known), known.is_met_with(self)) {
                (true, true) => Compared::Same,
                (true, false) => Compared::Weaker,
                (false, _) => Compared::Stricter,
            },
        }
    }

    /// Whether these decisions are enough.
    #[must_use]
    pub fn is_satisfied<'a>(&self, decisions: impl Iterator<Item = &'a Decision> + Clone) -> bool {
        self.denied.is_none() && self.missing(decisions).is_empty()
    }
}

impl std::fmt::Display for Needed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.group {
            Some(group) => write!(f, "{} of {group}", self.count),
            None => write!(f, "{}", self.count),
        }
    }
}

/// A rule of the policy table that matched, as it was when it did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchedRule {
    /// Its name.
    pub rule: String,
    /// What it says: `deny`, `allow`, or `approve` with whose approval.
    pub says: String,
    /// Its condition could not be evaluated, which counts as a match.
    pub by_error: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_compared_by_what_satisfies_them() {
        let group = |group: &str, count| Needed { group: Some(group.to_owned()), count };
        let asks = |needed: Vec<Needed>| Requirement { needed, ..Requirement::of(1) };
        let denied = Requirement { denied: Some("never".to_owned()), ..Requirement::of(0) };
        let token = Requirement { assurance: Assurance::Token, ..Requirement::of(1) };
        let nobody = Requirement { assurance: Assurance::Token, ..Requirement::of(0) };
        for (new, known, says) in [
            (Requirement::of(1), Requirement::of(1), Compared::Same),
            (Requirement::of(2), Requirement::of(1), Compared::Stricter),
            (Requirement::of(1), Requirement::of(2), Compared::Weaker),
            (Requirement::of(0), nobody.clone(), Compared::Same),
            (Requirement::of(0), Requirement::of(1), Compared::Weaker),
            (nobody, Requirement::of(1), Compared::Weaker),
            (token.clone(), Requirement::of(1), Compared::Stricter),
            (Requirement::of(1), token.clone(), Compared::Weaker),
            // More persons, known less surely: neither satisfies the other.
            (Requirement::of(2), token, Compared::Stricter),
            (asks(vec![group("crm", 1)]), Requirement::of(1), Compared::Stricter),
            (Requirement::of(1), asks(vec![group("crm", 1)]), Compared::Weaker),
            (asks(vec![group("crm", 1)]), asks(vec![group("money", 1)]), Compared::Stricter),
            (denied.clone(), Requirement::of(2), Compared::Denied),
            (denied.clone(), denied.clone(), Compared::Same),
            (Requirement::of(2), denied, Compared::Weaker),
        ] {
            assert_eq!(new.compared_with(&known), says, "{new:?} beside {known:?}");
        }
    }
}
