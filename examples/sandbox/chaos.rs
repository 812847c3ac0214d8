//! Random faults for load tests: which request is hit depends on the seed and the count of requests only, so
//! a run with the same seed and the same order of requests has the same faults.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{domain::Kind, faults::Fault, switchboard::fault_of};

/// Faults with their probabilities, and how far the counts are.
pub(super) struct Chaos {
    seed: u64,
    faults: Vec<(f64, Fault)>,
    writes: u64,
    statuses: u64,
    hits: BTreeMap<&'static str, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    seed: u64,
    /// Name of the fault: probability, or `{"p": probability, …parameters}`.
    probabilities: BTreeMap<String, Value>,
}

impl Chaos {
    /// Reads it from a request body; the error says what is wrong.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let raw: Raw = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let mut faults = Vec::new();
        for (name, value) in raw.probabilities {
            let mut map = match value {
                Value::Object(map) => map,
                number => Map::from_iter([("p".to_owned(), number)]),
            };
            let probability = map
                .remove("p")
                .and_then(|p| p.as_f64())
                .filter(|p| (0.0..=1.0).contains(p))
                .ok_or_else(|| format!("{name}: the probability must be a number from 0 to 1"))?;
            map.insert("fault".to_owned(), Value::String(name));
            faults.push((probability, fault_of(map)?));
        }
        for kind in [Kind::Write, Kind::Status] {
            let sum: f64 = faults.iter().filter(|(_, fault)| kind_of(fault) == kind).map(|(p, _)| p).sum();
            // The sum of decimal fractions may be a little more than the 1 that was meant.
            if sum > 1.0 + 1e-9 {
                return Err(
                    "the probabilities of one kind of request must not add up to more than 1".to_owned()
                );
            }
        }
        Ok(Self { seed: raw.seed, faults, writes: 0, statuses: 0, hits: BTreeMap::new() })
    }

    /// The fault for the next request of this kind, if it is hit.
    pub(super) fn draw(&mut self, kind: Kind, age_ms: Option<u64>) -> Option<Fault> {
        let (count, stream) = match kind {
            Kind::Write => (&mut self.writes, 1),
            Kind::Status => (&mut self.statuses, 2),
            Kind::Read => return None,
        };
        let mut left = fraction(self.seed, stream, *count);
        *count += 1;
        for (probability, fault) in self.faults.iter().filter(|(_, fault)| kind_of(fault) == kind) {
            if left < *probability {
                if !fault.concerns_age(age_ms) {
                    return None;
                }
                *self.hits.entry(fault.name()).or_default() += 1;
                return Some(fault.clone());
            }
            left -= probability;
        }
        None
    }

    /// The settings and how often each fault has hit.
    pub(super) fn show(&self) -> Value {
        let faults: Vec<Value> =
            self.faults.iter().map(|(p, fault)| json!({"p": p, "fault": fault})).collect();
        json!({
            "seed": self.seed,
            "faults": faults,
            "writes": self.writes,
            "statuses": self.statuses,
            "hits": self.hits,
        })
    }
}

fn kind_of(fault: &Fault) -> Kind {
    fault.only().unwrap_or(Kind::Write)
}

/// A number from 0 up to 1, by SplitMix64: well spread, and the same on every machine.
fn fraction(seed: u64, stream: u64, count: u64) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut z = mix(seed.wrapping_add(GOLDEN.wrapping_mul(stream)));
    z = mix(z.wrapping_add(GOLDEN.wrapping_mul(count + 1)));
    // 53 bits are what a double holds exactly.
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
