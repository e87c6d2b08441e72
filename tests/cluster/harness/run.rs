//! Running the built `kubectl-gc` against a cluster.

use std::{
    env,
    ffi::OsString,
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{
    cluster::Cluster,
    credentials::ADMIN,
    supervisor::{Program, without_proxies},
    wait::{Retry, poll},
};

/// The built program.
const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-gc");

/// No command in a test takes longer, even on a busy machine. One that hangs must not block the test run.
const DEADLINE: Duration = Duration::from_mins(10);

/// A `PATH` in which kubectl finds the built program as its plugin.
pub fn with_plugin() -> OsString {
    let folder = Path::new(BINARY).parent().map(Path::to_path_buf);
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(folder.into_iter().chain(env::split_paths(&rest))).unwrap_or(rest)
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ran {
    /// The same; panics unless the exit code is this one.
    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        self.expect(code);
        self
    }

    /// Its standard output; panics unless the exit code is this one.
    #[track_caller]
    pub fn expect(&self, code: i32) -> &str {
        let Self { stdout, stderr, .. } = self;
        assert_eq!(self.code, Some(code), "exit code\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
        &self.stdout
    }

    /// Its standard output as JSON; panics if it is no JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("not JSON: {error}\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr)
        })
    }

    /// Its standard output; a document without what it says of where and when it was read.
    pub fn told(&self) -> String {
        let Ok(Value::Object(mut document)) = serde_json::from_str(&self.stdout) else { return self.stdout.clone() };
        document.remove("read");
        Value::Object(document).to_string()
    }
}

impl Cluster {
    /// Runs `kubectl-gc` as the admin.
    #[track_caller]
    pub fn gc(&self, args: &[&str]) -> Ran {
        self.gc_as(ADMIN, args)
    }

    /// Runs `kubectl-gc` as one of the users.
    #[track_caller]
    pub fn gc_as(&self, user: &str, args: &[&str]) -> Ran {
        self.gc_with(&self.kubeconfig(user), args)
    }

    /// Runs `kubectl-gc` with any kubeconfig file, for instance for a proxy.
    #[track_caller]
    pub fn gc_with(&self, kubeconfig: &Path, args: &[&str]) -> Ran {
        self.gc_within(DEADLINE, kubeconfig, args).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, with an error if it doesn't end in time.
    #[track_caller]
    pub fn gc_within(&self, deadline: Duration, kubeconfig: &Path, args: &[&str]) -> Result<Ran, String> {
        let mut command = self.gc_command(kubeconfig);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let ended = poll(deadline, || {
            let status = child.try_wait().map_err(|error| Retry::Never(error.to_string()))?;
            status.ok_or_else(|| Retry::Later(format!("it did not end within {deadline:?}")))
        });
        let ended = ended.map_err(|error| format!("{error}\n{}", state_of(child.id())));
        if ended.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
        match ended {
            Ok(status) => Ok(Ran { code: status.code(), stdout, stderr }),
            Err(error) => Err(format!("kubectl-gc {args:?}: {error}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")),
        }
    }

    /// Runs kubectl as the admin.
    #[track_caller]
    pub fn kubectl(&self, args: &[&str]) -> Ran {
        self.kubectl_with(&self.kubeconfig(ADMIN), args)
    }

    /// Runs kubectl with any kubeconfig file.
    #[track_caller]
    pub fn kubectl_with(&self, kubeconfig: &Path, args: &[&str]) -> Ran {
        let mut command = Command::new("kubectl");
        let home = self.folder().join("kubectl-home");
        command.args(args).env("NO_PROXY", "*").env("KUBECONFIG", kubeconfig).env("HOME", home);
        let output = command.stdin(Stdio::null()).output().expect("kubectl is installed");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The command that runs `kubectl-gc`, for tests that write to its input or send it signals. The developer's
    /// environment doesn't affect it.
    pub fn gc_command(&self, kubeconfig: &Path) -> Command {
        let mut command = Command::new(BINARY);
        self.at_home(kubeconfig, &mut command);
        command
    }

    /// The same under supervision, for a `kubectl-gc` that runs until it is stopped.
    pub fn gc_program(&self, kubeconfig: &Path, args: &[&str]) -> Program {
        Program::new(BINARY).with(|command| self.at_home(kubeconfig, command)).args(args)
    }

    fn at_home(&self, kubeconfig: &Path, command: &mut Command) {
        let home = self.folder().join("home");
        let _ = fs::create_dir_all(&home);
        command.env("KUBECONFIG", kubeconfig).env("HOME", &home).env("XDG_CACHE_HOME", home.join(".cache"));
        without_proxies(command);
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"] {
            command.env_remove(variable);
        }
    }
}

/// Reads a stream to its end on its own thread, so that a full pipe can't block the program.
fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What a process that doesn't end was doing, as Linux tells it: whether it computes, or waits, and for how busy a
/// machine.
fn state_of(process: u32) -> String {
    let tell =
        |file: String| fs::read_to_string(&file).map_or_else(|error| error.to_string(), |it| it.trim().to_owned());
    format!("its times: {}\nload: {}", tell(format!("/proc/{process}/stat")), tell("/proc/loadavg".to_owned()))
}
