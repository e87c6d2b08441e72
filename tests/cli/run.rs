//! Running the program: always in the repository's folder, and with nothing of the surroundings but what a test gives
//! it.

use std::path::Path;

use assert_cmd::Command;

/// The dump that the README and most tests use.
pub const SHOP: &str = "examples/shop.yaml";

/// The dump of what is left where no collector ran.
pub const LEFTOVERS: &str = "examples/leftovers.yaml";

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The program, with no kubeconfig to be found and no variable set.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-gc"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_clear().env("HOME", "/nonexistent/home");
    command
}

/// Runs to the end. A panic or a signal is no end.
pub fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!err.contains("panicked"), "{err}");
    Ran { code: output.status.code().expect("ends by itself"), out, err }
}

/// Runs with these arguments.
pub fn gc(args: &[&str]) -> Ran {
    finish(program().args(args))
}

/// Runs with these arguments on the example.
pub fn on_shop(args: &[&str]) -> Ran {
    finish(program().args(args).args(["--from", SHOP]))
}

/// Runs with this on standard input.
pub fn with_input(args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
    finish(program().args(args).write_stdin(input))
}

/// Arguments as one would type them; what has spaces is in single quotes.
pub fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(index, part)| if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// Runs a line.
pub fn run(line: &str) -> Ran {
    gc(&words(line))
}

/// Runs a line with this on standard input.
pub fn run_with(line: &str, input: &str) -> Ran {
    with_input(&words(line), input)
}

/// Writes a file for a test.
pub fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A file of this repository.
pub fn repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Ran {
    /// Standard output of a run that was fine.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// Standard output of a run that was done, whatever the answer.
    #[track_caller]
    pub fn done(self) -> String {
        assert!(self.code == 0 || self.code == 2, "{}", self.err);
        self.out
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ran { code, out, err } = self;
        f.write_str(out)?;
        if !err.is_empty() {
            write!(f, "--- standard error\n{err}")?;
        }
        write!(f, "--- exit code {code}")
    }
}
