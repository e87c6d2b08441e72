//! `kubectl-gc`: the program that kubectl runs for `kubectl gc`.

fn main() -> std::process::ExitCode {
    kubectl_gc::cli::run().into()
}
