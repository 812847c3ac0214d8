//! Parse → run → exit code.

/// A write makes and drops many small values on several threads; the allocator is a third of what it costs otherwise.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    writd::cli::run(std::env::args_os())
}
