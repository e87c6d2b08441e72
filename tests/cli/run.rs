//! Runs the program in the repository's folder, without any environment variables except those that a test sets.

use std::path::Path;

use assert_cmd::Command;

/// The dump that the README and most tests use.
pub const SHOP: &str = "examples/shop.yaml";

/// The dump of a cluster where no collector was running.
pub const LEFTOVERS: &str = "examples/leftovers.yaml";
/// A dump with old objects of many sorts.
pub const OLD: &str = "examples/old.yaml";

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The program, without a kubeconfig and without environment variables.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-gc"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_clear().env("HOME", "/nonexistent/home");
    command
}

/// Runs the program to its end. Panics if it panics or is killed by a signal.
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

/// Runs with these arguments and this standard input.
pub fn with_input(args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
    finish(program().args(args).write_stdin(input))
}

/// Splits a command line into arguments; single quotes enclose arguments with spaces.
pub fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(index, part)| if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// Runs a command line.
pub fn run(line: &str) -> Ran {
    gc(&words(line))
}

/// Runs a command line with this standard input.
pub fn run_with(line: &str, input: &str) -> Ran {
    with_input(&words(line), input)
}

/// Writes a file for a test, and returns its path.
pub fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The content of a file of this repository.
pub fn repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Ran {
    /// Standard output of a run that must exit with 0.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// Standard output of a run that must exit with 0 or 2.
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

/// The error of a failed command.
#[track_caller]
pub fn describe(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    ran.err.strip_prefix("error: ").expect("an error").trim_end()
}
