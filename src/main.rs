//! The thin binary.
#![allow(clippy::print_stdout, clippy::print_stderr)]

fn main() -> std::process::ExitCode {
    let options = writd::daemon::ServeOptions { config: std::env::args().last().map(Into::into) };
    match writd::daemon::serve(&options, |socket| println!("ready {}", socket.display())) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}
