//! Programs that cannot outlive the test process.
//!
//! A killed process runs no destructor, and Rust never drops a `static`, so cleaning up must not depend on this
//! process. Each program therefore runs under a small shell script that reads a pipe from this process as standard
//! input. When this process ends, the kernel closes the pipe, and the script ends its program. Each script has its own
//! process group; otherwise Ctrl-C in a terminal would end it before it has cleaned up.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::wait::{Retry, poll};

const SERVER: &str = include_str!("server.sh");
const JANITOR: &str = include_str!("janitor.sh");

/// How long a shell may take to start its program.
const STARTED: Duration = Duration::from_secs(30);

/// Servers on the loopback interface must not use a proxy.
const PROXY_VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// A program that ends when this value is dropped or when this process ends.
pub struct Supervised {
    name: String,
    log: PathBuf,
    pid_file: PathBuf,
    child: Mutex<Child>,
    lifeline: Mutex<Option<ChildStdin>>,
    started: Instant,
}

impl Supervised {
    /// Starts a program. `<folder>/<name>.log` gets its output, and `<folder>/<name>.pid` exists while it runs.
    pub fn start(name: &str, folder: &Path, mut program: Program) -> io::Result<Self> {
        let log = folder.join(name).with_extension("log");
        let pid_file = folder.join(name).with_extension("pid");
        let output = File::create(&log)?;
        // Before the script writes it, so that the janitor can't miss a program that is just starting.
        File::create(&pid_file)?;
        let spawned = program.0.env("PID_FILE", &pid_file).stdout(output.try_clone()?).stderr(output).spawn();
        let mut child = spawned.inspect_err(|_| {
            let _ = fs::remove_file(&pid_file);
        })?;
        let lifeline = Mutex::new(child.stdin.take());
        let started = Instant::now();
        Ok(Self { name: name.to_owned(), log, pid_file, child: Mutex::new(child), lifeline, started })
    }

    /// The program's own pid (not its supervisor's), while it runs.
    pub fn pid(&self) -> Option<u32> {
        fs::read_to_string(&self.pid_file).ok()?.trim().parse().ok()
    }

    /// How long ago it was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// The program's exit status, if it has ended.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap().try_wait().ok().flatten()
    }

    /// How the program ended and the end of its log, if it has ended.
    pub fn obituary(&self) -> Option<String> {
        let status = self.ended()?;
        Some(format!("{} ended by itself ({status}); the end of its log:\n{}", self.name, self.log_tail()))
    }

    /// The program's whole output.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The last lines of the program's output.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }

    /// Sends a signal to the program itself, once it has started.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        let pid = poll(STARTED, || match self.pid() {
            Some(pid) => Ok(pid),
            None => Err(self.obituary().map_or_else(|| Retry::Later("it has not started".to_owned()), Retry::Never)),
        });
        let pid = pid.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process has such a number");
        kill_process(pid, signal).unwrap_or_else(|error| panic!("{}: {signal:?}: {error}", self.name));
    }

    /// Asks the program to end, and doesn't wait.
    pub fn release(&self) {
        drop(self.lifeline.lock().unwrap().take());
    }

    /// Waits until the program has ended.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        self.child.lock().unwrap().wait()
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.release();
        let _ = self.wait();
    }
}

/// A command line to run under supervision.
pub struct Program(Command);

impl Program {
    /// Prepares a command. [`Supervised::start`] starts it.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let mut command = shell(SERVER);
        command.arg(path.as_ref());
        Self(command)
    }

    /// Sets the working folder.
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Changes the underlying command.
    pub fn with(mut self, change: impl FnOnce(&mut Command)) -> Self {
        change(&mut self.0);
        self
    }

    /// Removes the proxy settings from the environment.
    pub fn without_proxies(mut self) -> Self {
        without_proxies(&mut self.0);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(args);
        self
    }
}

/// A temporary folder. It is removed when this value is dropped or this process ends, but after the programs in it have
/// ended.
pub struct Folder {
    path: PathBuf,
    janitor: Child,
}

impl Folder {
    /// Creates a new folder that only this user can read.
    pub fn new() -> io::Result<Self> {
        let path = tempfile::Builder::new().prefix("kubectl-gc-test-").tempdir()?.keep();
        let janitor = shell(JANITOR).arg(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { path, janitor })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        let _ = self.janitor.wait();
    }
}

/// A shell that runs `script`; its standard input is a pipe from this process.
fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "supervisor"]).stdin(Stdio::piped()).process_group(0);
    command
}

/// Removes the proxy settings from a program's environment.
pub fn without_proxies(command: &mut Command) {
    for variable in PROXY_VARIABLES {
        command.env_remove(variable);
    }
}
