//! `kubectl-gc`: kubectl runs it for `kubectl gc`.

fn main() -> std::process::ExitCode {
    kubectl_gc::cli::run().into()
}
