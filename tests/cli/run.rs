//! Running the binary away from whatever the machine has: no kubeconfig, no colours, no width.

use std::path::Path;

use assert_cmd::Command;

/// A dump to look at.
pub const SHOP: &str = "examples/shop.yaml";

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The binary, in the root of the repository.
pub fn kubectl_gc() -> Command {
    let mut command = Command::cargo_bin("kubectl-gc").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for variable in ["KUBECONFIG", "COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "KUBERNETES_SERVICE_HOST"] {
        command.env_remove(variable);
    }
    command.env("HOME", "/nonexistent").env("TERM", "xterm-256color");
    command
}

/// Runs it with these words as arguments; what has spaces is in single quotes.
pub fn run(line: &str) -> Ended {
    run_with(line, "")
}

/// Runs it with this on standard input.
pub fn run_with(line: &str, stdin: &str) -> Ended {
    ended(kubectl_gc().args(words(line)).write_stdin(stdin))
}

/// Runs a command that is ready.
pub fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Writes a file for a test.
pub fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(index, part)| if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .map(str::to_owned)
        .collect()
}
