//! `kubectl gc completion`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::args::{Cli, ShellArg};

/// What shells complete: the plugin's own name. `kubectl gc` is completed by kubectl.
const BINARY: &str = "kubectl-gc";

/// The script that teaches a shell to complete `kubectl-gc`.
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

/// clap_complete 4.6 has two ways to write a dash in the binary's name, one where the script finds out which command it
/// is in, the other where it then looks for the words of that command, and so finds none:
/// <https://github.com/clap-rs/clap/issues/6421>. Where that is mended, nothing is left to replace.
fn bash() -> String {
    String::from_utf8_lossy(&generated(Shell::Bash)).replace("kubectl__subcmd__gc", "kubectl__gc")
}
