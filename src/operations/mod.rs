//! The use cases: what a command does between its checked arguments and its output.
//!
//! They read no command line and know no terminal: questions, progress and time are inputs. What is asked of them may
//! say itself which arguments it is given as.

pub mod account;
pub mod apply;
pub mod approve;
pub mod archive;
pub mod delete;
mod error;
pub mod evidence;
pub mod examine;
pub mod hold;
pub mod live;
pub mod manifests;
pub mod open;
pub mod predict;
pub mod restore;
pub mod rights;
pub mod session;
pub mod signals;
pub mod sweep;
pub mod targets;
pub mod unread;

pub use error::{OperationError, usage};
pub use live::LiveSession;
pub use open::{ClusterConfig, Discovered, Lists, Opening, ReadScope, SourceConfig, TargetConfig};
pub use session::{DumpSession, Session, Source};

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// No file names anything that reads a command line or drives a terminal.
    #[test]
    fn no_command_line_and_no_terminal() {
        let forbidden = [
            "clap::{",
            "clap::Parser",
            "clap::Subcommand",
            "ArgMatches",
            "dialoguer",
            "indicatif",
            "owo_colors",
            "terminal_size",
            "IsTerminal",
            "stdout",
            "stderr",
            "print!",
            "println!",
            "crate::cli",
        ];
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/operations")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("operations/mod.rs") {
                    files += 1;
                    let text = fs::read_to_string(&path).unwrap();
                    let named: Vec<&str> = forbidden.into_iter().filter(|name| text.contains(name)).collect();
                    assert!(named.is_empty(), "{} names {named:?}", path.display());
                }
            }
        }
        assert!(files > 20, "{files} files were read");
    }
}
