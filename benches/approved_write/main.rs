//! *Approved write*: propose → approve → execute → result seen, in a closed loop, against the real daemon in its own
//! process and a fast stub in another. Beside each figure stands a limit that was measured in the same run: raw syncs of
//! the same disk and raw echoes over a Unix socket.
//!
//! `cargo bench --bench approved_write` prints a table; `-- --seconds 3 --in-flight 1,16` narrows it. The first line says
//! what the machine is. Nothing here asserts a time.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, clippy::expect_used)]

mod client;
mod daemon;
mod limits;
mod load;
mod startup;
mod stub;

use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|arg| arg == "--stub") {
        return stub::run();
    }
    if args.get(1).is_some_and(|arg| arg == "--echo") {
        return limits::echo_server(&args[2]);
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let seconds = option("--seconds").and_then(|text| text.parse().ok()).unwrap_or(5u64);
    let in_flight: Vec<usize> = option("--in-flight")
        .map_or("1,16,64,256", String::as_str)
        .split(',')
        .filter_map(|text| text.parse().ok())
        .collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("approved write: {cores} cores, daemon, client and stub on them; {seconds} s each");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut rows = Vec::new();
    for n in in_flight {
        let dir = tempfile::tempdir_in(daemon::base_dir()).unwrap();
        let sync = limits::raw_sync(dir.path(), Duration::from_secs(1));
        let echo = limits::raw_echo(dir.path(), Duration::from_secs(1));
        let stub = stub::Stub::start();
        let daemon = daemon::Daemon::start(dir.path(), &stub.origin);
        let row = runtime.block_on(load::run(&daemon, n, Duration::from_secs(seconds)));
        rows.push((row, sync, echo));
        let (row, sync, echo) = rows.last().unwrap();
        row.print(*sync, *echo, rows.len() == 1);
        drop(daemon);
        drop(stub);
    }
    let count = option("--start-up").and_then(|text| text.parse().ok()).unwrap_or(100_000);
    if count > 0 {
        runtime.block_on(startup::run(count, count / 10));
    }
}
