//! Parse → run → exit code.

fn main() -> std::process::ExitCode {
    writd::cli::run(std::env::args_os())
}
