//! Standard operating procedures, and the search in them: by the kind of machine, ordered by how many of the words
//! they hold.

use serde::Serialize;

use super::directory::Equipment;

/// One procedure.
#[derive(Debug, Serialize)]
pub(super) struct Procedure {
    pub(super) sop_id: &'static str,
    pub(super) equipment: Equipment,
    title: &'static str,
    revision: u32,
    excerpt: &'static str,
    safety: &'static str,
}

const PROCEDURES: &[Procedure] = &[
    Procedure {
        sop_id: "SOP-AHU-011",
        equipment: Equipment::AirHandling,
        title: "No air flow: belt, fan and fire damper",
        revision: 7,
        excerpt: "Check the fire damper before the fan. A closed damper looks like a broken belt.",
        safety: "Lock out the fan motor. Two persons in the plant room.",
    },
    Procedure {
        sop_id: "SOP-AHU-014",
        equipment: Equipment::AirHandling,
        title: "Noise and vibration of fans",
        revision: 3,
        excerpt: "Measure at both bearings before the belt is touched.",
        safety: "Lock out the fan motor.",
    },
    Procedure {
        sop_id: "SOP-ELV-002",
        equipment: Equipment::Elevator,
        title: "Doors that reopen or close early",
        revision: 12,
        excerpt: "Take the car out of service first. Clean the light curtain, then measure the closing force.",
        safety: "Only the contractor opens the machine room.",
    },
    Procedure {
        sop_id: "SOP-BLR-004",
        equipment: Equipment::Boiler,
        title: "Pressure drops overnight",
        revision: 2,
        excerpt: "Look for a leak at the expansion vessel before water is filled up.",
        safety: "Let it cool down below 40 °C.",
    },
    Procedure {
        sop_id: "SOP-CHL-001",
        equipment: Equipment::Chiller,
        title: "Chiller trips on high pressure",
        revision: 5,
        excerpt: "Clean the condenser before refrigerant is looked at.",
        safety: "Refrigerant only by certified contractors.",
    },
];

/// No list is longer.
const MOST: usize = 10;

/// What a query calls the kind of machine.
pub(super) fn equipment(name: &str) -> Option<Equipment> {
    match name {
        "air_handling" => Some(Equipment::AirHandling),
        "elevator" => Some(Equipment::Elevator),
        "boiler" => Some(Equipment::Boiler),
        "chiller" => Some(Equipment::Chiller),
        _ => None,
    }
}

/// A procedure by its id.
pub(super) fn procedure(id: &str) -> Option<&'static Procedure> {
    PROCEDURES.iter().find(|procedure| procedure.sop_id == id)
}

/// The procedures for such machines that hold at least one of the words, the best first.
pub(super) fn search(equipment: Equipment, words: &str) -> Vec<&'static Procedure> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let hits = |procedure: &Procedure| {
        let text = format!("{} {}", procedure.title, procedure.excerpt).to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let mut found: Vec<(usize, &Procedure)> = PROCEDURES
        .iter()
        .filter(|procedure| procedure.equipment == equipment)
        .map(|procedure| (hits(procedure), procedure))
        .filter(|(hits, _)| *hits > 0)
        .collect();
    found.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    found.into_iter().map(|(_, procedure)| procedure).take(MOST).collect()
}
