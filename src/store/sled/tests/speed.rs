//! How long commits take, for people: `cargo test --release --lib store::sled::tests::speed -- --ignored --nocapture`.
//! Beside each figure stands what a bare append and sync of the same file system takes.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use super::super::super::{Batch, Key, Store};
use super::super::SledStore;
use super::options;

const FOR: Duration = Duration::from_secs(4);

fn bare_sync_micros(dir: &std::path::Path, bytes: usize) -> f64 {
    let mut file = File::create(dir.join("bare")).unwrap();
    let (start, mut count) = (Instant::now(), 0.0);
    while start.elapsed() < FOR / 4 {
        file.write_all(&vec![7; bytes]).unwrap();
        file.sync_data().unwrap();
        count += 1.0;
    }
    start.elapsed().as_secs_f64() * 1e6 / count
}

fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn device_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).unwrap();
    line.parse().unwrap()
}

#[test]
#[ignore = "a measurement, not a test"]
fn append_only_commits() {
    for (members, keys) in [(1u64, 1u64), (1, 10), (16, 10), (200, 10), (1000, 10)] {
        let dir = tempfile::tempdir().unwrap();
        let bare = bare_sync_micros(dir.path(), 1_200 * usize::try_from(members).unwrap());
        let store = SledStore::open(options(dir.path())).unwrap();
        let (mut micros, mut next) = (Vec::new(), 0u64);
        let (start, cpu, device) = (Instant::now(), cpu_seconds(), device_bytes());
        while start.elapsed() < FOR {
            let mut batch = Batch::new();
            for _ in 0..members {
                for space in 0..keys {
                    let key = Key::new(b'a' + u8::try_from(space).unwrap(), &[&next.to_be_bytes(), &[0; 8]])
                        .unwrap();
                    batch = batch.put_if(key, 0, vec![u8::try_from(next % 251).unwrap(); 90]);
                }
                next += 1;
            }
            let began = Instant::now();
            store.commit(&batch).unwrap();
            micros.push(began.elapsed().as_micros());
        }
        let (cpu, device) = (cpu_seconds() - cpu, device_bytes() - device);
        let commits = micros.len() as u64;
        micros.sort_unstable();
        println!(
            "{members:>4} x {keys:>2} keys: {commits:>6} commits, p50 {:>6} us, p99 {:>6} us; bare sync {bare:>6.0} us; \
             per key {:>5.1} us CPU, {:>5} device bytes; log {} bytes per commit",
            micros[micros.len() / 2],
            micros[micros.len() * 99 / 100],
            cpu * 1e6 / (next * keys) as f64,
            device / (next * keys),
            store.counters().log_bytes / commits,
        );
    }
}
