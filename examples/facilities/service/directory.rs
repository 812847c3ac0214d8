//! What does not change here: hotels with their credentials, assets with their history, fault reports, contractors. An
//! id is known or it is not; nothing is ever guessed from a part of one.

use serde::Serialize;

/// A hotel, and the credential that reaches it and no other.
pub(super) struct Hotel {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    credential: &'static str,
}

const HOTELS: &[Hotel] = &[
    Hotel { id: "HTL-084", name: "Hotel Kungsparken", credential: "Bearer sandbox-htl-084" },
    Hotel { id: "HTL-117", name: "Hotel Skeppsbron", credential: "Bearer sandbox-htl-117" },
];

/// What an asset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Equipment {
    AirHandling,
    Elevator,
    Boiler,
    Chiller,
}

/// What it means for the hotel when an asset stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Criticality {
    Comfort,
    Operation,
    Safety,
}

/// An asset as it is before anybody has changed it.
pub(super) struct Asset {
    pub(super) hotel: &'static str,
    pub(super) tag: &'static str,
    pub(super) name: &'static str,
    pub(super) equipment: Equipment,
    pub(super) location: &'static str,
    pub(super) criticality: Criticality,
    pub(super) version: u64,
    /// For the staff of the hotel.
    pub(super) access_notes: &'static str,
    /// Newest first.
    pub(super) history: &'static [Entry],
    pub(super) cases: &'static [Case],
}

/// Something that was done to an asset.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    entry_id: &'static str,
    performed_on: &'static str,
    kind: &'static str,
    summary: &'static str,
    downtime_minutes: u32,
    technician: &'static str,
}

/// A fault that somebody has reported and nobody has worked on.
#[derive(Debug, Serialize)]
pub(super) struct Case {
    pub(super) case_id: &'static str,
    reported_at: &'static str,
    summary: &'static str,
}

const ASSETS: &[Asset] = &[
    Asset {
        hotel: "HTL-084",
        tag: "AHU-3F-02",
        name: "Air handling unit, third floor east",
        equipment: Equipment::AirHandling,
        location: "Third floor, plant room 3E",
        criticality: Criticality::Operation,
        version: 184,
        access_notes: "Key 31 at the reception; alarm code of the plant room 4711.",
        history: &[
            Entry {
                entry_id: "MH-20931",
                performed_on: "2026-05-04",
                kind: "inspection",
                summary: "Filters replaced, belt worn but within limits.",
                downtime_minutes: 45,
                technician: "Eva Holm",
            },
            Entry {
                entry_id: "MH-20117",
                performed_on: "2026-01-19",
                kind: "repair",
                summary: "Fan bearing replaced after vibration alarm.",
                downtime_minutes: 210,
                technician: "Jonas Berg",
            },
            Entry {
                entry_id: "MH-18842",
                performed_on: "2025-10-02",
                kind: "inspection",
                summary: "No findings.",
                downtime_minutes: 30,
                technician: "Eva Holm",
            },
        ],
        cases: &[Case {
            case_id: "FAC-2026-0719-0042",
            reported_at: "2026-07-19T05:12:00Z",
            summary: "Guests in 312 to 318 report no air from the vents since the night.",
        }],
    },
    Asset {
        hotel: "HTL-084",
        tag: "ELV-01",
        name: "Guest elevator, north",
        equipment: Equipment::Elevator,
        location: "Lobby, north core",
        criticality: Criticality::Safety,
        version: 52,
        access_notes: "Machine room on the roof, key 4.",
        history: &[Entry {
            entry_id: "MH-20502",
            performed_on: "2026-03-11",
            kind: "inspection",
            summary: "Yearly inspection passed.",
            downtime_minutes: 90,
            technician: "Liftkontroll Syd",
        }],
        cases: &[Case {
            case_id: "FAC-2026-0718-0007",
            reported_at: "2026-07-18T16:40:00Z",
            summary: "The doors close again before everybody is in.",
        }],
    },
    // The same name as in the other hotel, and another machine.
    Asset {
        hotel: "HTL-117",
        tag: "AHU-3F-02",
        name: "Air handling unit, conference floor",
        equipment: Equipment::AirHandling,
        location: "Third floor, behind room Vinga",
        criticality: Criticality::Comfort,
        version: 61,
        access_notes: "Ask the night porter.",
        history: &[],
        cases: &[Case {
            case_id: "FAC-2026-0719-0043",
            reported_at: "2026-07-19T07:30:00Z",
            summary: "The conference rooms are too warm.",
        }],
    },
    Asset {
        hotel: "HTL-117",
        tag: "CHL-RF-01",
        name: "Chiller, roof",
        equipment: Equipment::Chiller,
        location: "Roof, south",
        criticality: Criticality::Operation,
        version: 9,
        access_notes: "Roof door, badge only.",
        history: &[],
        cases: &[],
    },
];

/// Who is told of a work order, for which hotels and machines.
pub(super) struct Contractor {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    hotels: &'static [&'static str],
    equipment: &'static [Equipment],
}

const CONTRACTORS: &[Contractor] = &[
    Contractor {
        id: "CTR-NORDKYL",
        name: "Nordkyl AB",
        hotels: &["HTL-084", "HTL-117"],
        equipment: &[Equipment::AirHandling, Equipment::Chiller],
    },
    Contractor {
        id: "CTR-LYFTEN",
        name: "Lyften i Malmö AB",
        hotels: &["HTL-084"],
        equipment: &[Equipment::Elevator],
    },
];

/// The hotel that this credential reaches.
pub(super) fn hotel_of(credential: &str) -> Option<&'static Hotel> {
    HOTELS.iter().find(|hotel| hotel.credential == credential)
}

/// A hotel by its id.
pub(super) fn hotel(id: &str) -> Option<&'static Hotel> {
    HOTELS.iter().find(|hotel| hotel.id == id)
}

/// Exactly this asset of exactly this hotel.
pub(super) fn asset(hotel: &str, tag: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.hotel == hotel && asset.tag == tag)
}

/// The contractor with this id, if it works on such machines in this hotel.
pub(super) fn contractor(id: &str, hotel: &str, equipment: Equipment) -> Option<&'static Contractor> {
    CONTRACTORS.iter().find(|contractor| {
        contractor.id == id && contractor.hotels.contains(&hotel) && contractor.equipment.contains(&equipment)
    })
}
