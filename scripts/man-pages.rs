//! Writes a man page for `kubectl gc` and for each of its commands: `cargo run --example man-pages FOLDER`.

use kubectl_gc::cli::commands::Cli;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("usage: man-pages FOLDER");
    clap_mangen::generate_to(Cli::command().display_name("kubectl-gc"), folder)
}
