//! `kubectl gc completion`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::args::{Cli, ShellArg};

/// The plugin's own name, which shells complete. kubectl completes `kubectl gc`.
const BINARY: &str = "kubectl-gc";

/// The completion script of a shell for `kubectl-gc`.
pub fn script(shell: ShellArg) -> Vec<u8> {
    let shell = match shell {
        ShellArg::Bash => return bash().into_bytes(),
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
        ShellArg::PowerShell => Shell::PowerShell,
    };
    generated(shell)
}

fn generated(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), BINARY, &mut script);
    script
}

/// clap_complete 4.6 writes the dash in the binary's name in two different ways: where the script finds out the current
/// command, and where it looks up the words of that command, which it therefore doesn't find:
/// <https://github.com/clap-rs/clap/issues/6421>. Once that is fixed, there is nothing left to replace.
fn bash() -> String {
    String::from_utf8_lossy(&generated(Shell::Bash)).replace("kubectl__subcmd__gc", "kubectl__gc")
}
