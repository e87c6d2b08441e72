//! Runs the built `kubectl-gc` on a terminal, and answers its questions.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use serde_json::Value;

use super::{
    CountingProxy, Fault,
    cluster::Cluster,
    credentials::ADMIN,
    uid,
    wait::{Retry, poll, wait_until},
};

/// No command in a test takes longer.
const DEADLINE: Duration = Duration::from_mins(2);
/// Nor does an event take longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A `kubectl-gc` on a terminal of 80 columns.
pub struct Terminal {
    child: std::process::Child,
    ours: File,
    shown: Arc<Mutex<String>>,
    reader: Option<thread::JoinHandle<()>>,
}

impl Cluster {
    /// Starts `kubectl-gc` as the admin on a terminal, in the cluster's folder.
    #[track_caller]
    pub fn gc_on_terminal(&self, args: &[&str]) -> Terminal {
        self.gc_on_terminal_by(&self.kubeconfig(ADMIN), args)
    }

    /// The same, and a look at what its watches bring it.
    #[track_caller]
    pub fn gc_on_watched_terminal(&self, args: &[&str]) -> (Terminal, Watched) {
        let (proxy, events) = (CountingProxy::start(self), Arc::<Mutex<Vec<u8>>>::default());
        proxy.with({
            let events = Arc::clone(&events);
            move |request| request.query.contains("watch=").then(|| Fault::Copied(Arc::clone(&events)))
        });
        let terminal = self.gc_on_terminal_by(proxy.kubeconfig(), args);
        (terminal, Watched { _proxy: proxy, events })
    }

    /// The same with any kubeconfig file, for instance for a proxy.
    #[track_caller]
    pub fn gc_on_terminal_by(&self, kubeconfig: &Path, args: &[&str]) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let theirs = || Stdio::from(OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap());
        let mut command = self.gc_command(kubeconfig);
        command
            .args(args)
            .current_dir(self.folder())
            .env("TERM", "xterm")
            .stdin(theirs())
            .stdout(theirs())
            .stderr(theirs());
        let child = command.spawn().unwrap();
        drop(command);
        let ours = File::from(ours);
        let shown: Arc<Mutex<String>> = Arc::default();
        let (mut screen, text) = (ours.try_clone().unwrap(), shown.clone());
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            // When the other end of the terminal is closed, Linux returns EIO, and other systems the end of the file.
            while let Ok(read @ 1..) = screen.read(&mut bytes) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Terminal { child, ours, shown, reader: Some(reader) }
    }
}

impl Terminal {
    /// Everything shown so far, without escape sequences.
    pub fn shown(&self) -> String {
        plain(&self.shown.lock().unwrap())
    }

    /// Waits until the terminal has shown these words, however they are wrapped.
    #[track_caller]
    pub fn shows(&self, words: &str) {
        let in_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_there = || in_one_line(self.shown()).contains(words);
        let waited = poll(DEADLINE, || if is_there() { Ok(()) } else { Err(Retry::Later(self.shown())) });
        waited.unwrap_or_else(|shown| panic!("{words:?} is not shown:\n{shown}"));
    }

    /// Types a line.
    pub fn types(&mut self, line: &str) {
        self.ours.write_all(format!("{line}\r").as_bytes()).unwrap();
    }

    /// Types a line, and waits until the program ends, as [`Self::ends`] does.
    #[track_caller]
    pub fn answered(mut self, line: &str) -> (Option<i32>, String) {
        self.types(line);
        self.ends()
    }

    /// Presses Ctrl-C.
    pub fn interrupts(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// Waits until the program ends. Returns the exit code and everything shown.
    #[track_caller]
    pub fn ends(mut self) -> (Option<i32>, String) {
        let status = poll(DEADLINE, || {
            let status = self.child.try_wait().map_err(|error| Retry::Never(error.to_string()))?;
            status.ok_or_else(|| Retry::Later(format!("it did not end:\n{}", self.shown())))
        });
        if status.is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let shown = self.shown();
        match status {
            Ok(status) => (status.code(), shown),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A text without the line breaks of the terminal.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without escape sequences, with plain line ends.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.next_if_eq(&'[').is_some() {
            // A control sequence ends with the first letter.
            while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        }
    }
    out.replace("\r\n", "\n")
}

/// The events that the watches of a program have brought it.
pub struct Watched {
    _proxy: CountingProxy,
    events: Arc<Mutex<Vec<u8>>>,
}

impl Watched {
    /// Waits until an event of this object, in this version, has passed.
    #[track_caller]
    pub fn have_brought(&self, object: &Value) {
        let version = object["metadata"]["resourceVersion"].as_str().expect("an object of the API server");
        let parts = [uid(object).as_bytes(), version.as_bytes()];
        let has = |events: &[u8], wanted: &[u8]| events.windows(wanted.len()).any(|part| part == wanted);
        wait_until("an event", PATIENCE, || parts.iter().all(|part| has(&self.events.lock().unwrap(), part)));
    }
}
