//! The machine as two tables: what every command does to every operation, and which events every operation accepts.

use std::fmt::Write as _;

use crate::domain::operation::command::CommandKind;
use crate::domain::operation::record::Operation;
use crate::domain::operation::samples::{
    Asked, Person, When, actor, all, commands_of, event_of, golden, principal,
};
use crate::domain::operation::{Answer, Decided, Event, EventKind, Facts, Recorded, decide, evolve};
use crate::domain::{Millis, Time};

fn at(operation: &Operation, when: When) -> Time {
    let soon = operation.changed.plus(Millis(1));
    match when {
        When::Soon => soon,
        When::Due => operation.next_due().unwrap_or(soon).max(soon),
    }
}

fn ask(operation: &Operation, asked: &Asked) -> Decided {
    let by = principal(asked.by);
    decide(operation, &asked.command, &Facts { now: at(operation, asked.when), by: &by, jitter: 500 })
}

/// What the events of a decision make of the operation.
fn follow(operation: &Operation, events: &[Event], now: Time) -> String {
    let mut after = operation.clone();
    for event in events {
        let recorded = Recorded { at: now, by: actor(Person::Bob), event: event.clone() };
        match evolve(Some(&after), &recorded) {
            Ok(next) => after = next,
            Err(error) => return format!("ILLEGAL: {error}"),
        }
    }
    if events.is_empty() { String::new() } else { format!("{}, {}", after.state, after.effect) }
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Done => "done".to_owned(),
        Answer::Already(_) => "already".to_owned(),
        Answer::Refused(refusal) => format!("refused {}", refusal.code),
    }
}

#[test]
fn every_command_on_every_operation() {
    let mut text =
        String::from("# operation (state, effect): command -> answer | events | state, effect after\n");
    for sample in all() {
        let operation = &sample.story.operation;
        writeln!(text, "\n{} ({}, {})", sample.name, operation.state, operation.effect).unwrap();
        for asked in CommandKind::ALL.iter().copied().flat_map(commands_of) {
            let decided = ask(operation, &asked);
            let events: Vec<&str> = decided.events.iter().map(|event| event.kind().as_str()).collect();
            let after = follow(operation, &decided.events, at(operation, asked.when));
            let line = format!(
                "  {:38} {:32} | {:36} | {after}",
                asked.name,
                told(&decided.answer),
                events.join(" + ")
            );
            writeln!(text, "{}", line.trim_end_matches([' ', '|'])).unwrap();
            assert!(!after.starts_with("ILLEGAL"), "{}: {line}", sample.name);
        }
    }
    golden("operation/commands.txt", &text);
}

#[test]
fn every_event_on_every_operation() {
    let mut text = String::from("# operation (state, effect): event -> state, effect after; or why not\n");
    for sample in all() {
        let operation = &sample.story.operation;
        writeln!(text, "\n{} ({}, {})", sample.name, operation.state, operation.effect).unwrap();
        for kind in EventKind::ALL {
            let event = event_of(kind, operation.proposal.proposal_sha256);
            assert_eq!(event.kind(), kind);
            let recorded = Recorded { at: operation.changed.plus(Millis(1)), by: actor(Person::Bob), event };
            let line = match evolve(Some(operation), &recorded) {
                Ok(after) => format!("{}, {}", after.state, after.effect),
                Err(crate::domain::operation::IllegalEvent::Refused { .. }) => "-".to_owned(),
                Err(error) => error.to_string(),
            };
            writeln!(text, "  {:24} {line}", kind.as_str()).unwrap();
        }
    }
    golden("operation/events.txt", &text);
}
