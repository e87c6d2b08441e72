//! The checked-in completion scripts equal the binary's output. `UPDATE_COMPLETIONS=1` rewrites them.

use std::{fs, path::Path};

use kubectl_gc::cli::{args::ShellArg, completion::script};

const FILES: [(ShellArg, &str); 4] = [
    (ShellArg::Bash, "kubectl-gc.bash"),
    (ShellArg::Zsh, "_kubectl-gc"),
    (ShellArg::Fish, "kubectl-gc.fish"),
    (ShellArg::PowerShell, "_kubectl-gc.ps1"),
];

#[test]
fn the_scripts_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let update = std::env::var_os("UPDATE_COMPLETIONS").is_some_and(|value| value == "1");
    for (shell, file) in FILES {
        let path = folder.join(file);
        let script = String::from_utf8(script(shell)).unwrap();
        if update {
            fs::write(&path, &script).unwrap();
        }
        // `assert_eq` would print both scripts completely.
        let checked_in = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            checked_in == script,
            "completions/{file} is out of date: UPDATE_COMPLETIONS=1 cargo test --test packaging"
        );
    }
}

#[test]
fn every_command_is_completed() {
    for (shell, file) in FILES {
        let script = String::from_utf8(script(shell)).unwrap();
        for word in ["tree", "plan", "resources", "snapshot", "completion", "version", "no-fold", "assume-complete"] {
            assert!(script.contains(word), "{word} in {file}");
        }
        assert!(script.contains("kubectl-gc") && !script.contains("kubectl__subcmd__gc"), "{file}");
    }
}

/// Bash's script first determines the command, then its words: both steps must use the same name for it.
#[test]
fn bash_finds_the_words_of_every_command() {
    let script = String::from_utf8(script(ShellArg::Bash)).unwrap();
    let found: Vec<&str> = script.split("cmd=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let commands: Vec<&&str> = found.iter().filter(|command| !command.is_empty()).collect();
    assert!(commands.len() > 7, "{commands:?}");
    for command in commands {
        assert!(script.contains(&format!("\n        {command})\n")), "{command}");
    }
}
