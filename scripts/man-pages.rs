//! Writes a man page for `kubectl gc` and for each of its commands: `cargo run --example man-pages FOLDER`.

use std::{env, fs, path::PathBuf};

use kubectl_gc::cli::completion::man_pages;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).expect("usage: man-pages FOLDER"));
    man_pages().try_for_each(|(name, page)| fs::write(folder.join(name), page))
}
