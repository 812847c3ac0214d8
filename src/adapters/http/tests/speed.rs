//! A measurement, not a test: `cargo test --release --lib adapters::http::tests::speed -- --ignored --nocapture`.

use std::io::{Read, Write};

use super::*;

/// A peer on a thread of its own that answers every read with one answer.
fn blocking_peer() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut buffer = [0_u8; 4096];
        while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
            stream.write_all(OK).unwrap();
        }
    });
    address
}

#[tokio::test]
#[ignore = "a measurement"]
async fn one_connection_requests_per_second() {
    const COUNT: u32 = 50_000;
    let address = blocking_peer();
    let adapter = adapter(address);
    let request = put(address);
    // Nanoseconds on the processor, the first number there.
    let cpu = || -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let (start, cpu_start) = (std::time::Instant::now(), cpu());
    for _ in 0..COUNT {
        adapter.send(&request, options(RequestKind::Write)).await.unwrap();
    }
    let (wall, cpu_end) = (start.elapsed(), cpu());
    println!("{:.0} requests/s in a closed loop", f64::from(COUNT) / wall.as_secs_f64());
    println!("{:.1} us of CPU per request", (cpu_end - cpu_start) / 1000.0 / f64::from(COUNT));
}
