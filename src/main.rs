//! `kubectl-gc`: the program that kubectl runs for `kubectl gc`.

/// musl's own allocator is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    kubectl_gc::cli::run().into()
}
