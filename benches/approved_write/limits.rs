//! The limits of this machine, measured in the same run: a synced append, an echo over a Unix socket.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Synced appends of 4 KiB per second, one after the other.
pub(crate) fn raw_sync(dir: &Path, time: Duration) -> f64 {
    let path = dir.join("raw-sync");
    let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
    let start = Instant::now();
    let mut count = 0u32;
    while start.elapsed() < time {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    let rate = f64::from(count) / start.elapsed().as_secs_f64();
    std::fs::remove_file(path).unwrap();
    rate
}

/// Round trips of 512 bytes per second between two processes, one after the other.
pub(crate) fn raw_echo(dir: &Path, time: Duration) -> f64 {
    let path = dir.join("echo.sock");
    let mut server = Command::new(std::env::current_exe().unwrap()).arg("--echo").arg(&path).spawn().unwrap();
    let mut stream = loop {
        match UnixStream::connect(&path) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let start = Instant::now();
    let mut count = 0u32;
    let mut buffer = [1u8; 512];
    while start.elapsed() < time {
        stream.write_all(&buffer).unwrap();
        stream.read_exact(&mut buffer).unwrap();
        count += 1;
    }
    let rate = f64::from(count) / start.elapsed().as_secs_f64();
    drop(stream);
    let _ = server.wait();
    let _ = std::fs::remove_file(path);
    rate
}

/// Echoes one connection to its end.
pub(crate) fn echo_server(path: &str) {
    let listener = UnixListener::bind(path).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut buffer = [0u8; 512];
    while stream.read_exact(&mut buffer).is_ok() {
        if stream.write_all(&buffer).is_err() {
            return;
        }
    }
}
