//! The collector of a cluster: the real one, or `sweep --watch` in its place. Tests ask the same of both.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::harness::{
    Alone, Api, COLLECTOR, Cluster, NAMESPACES, Program, Retry, Supervised, WORKLOADS, poll, settled,
};

/// After half a minute a sweep reports what it can't see; and a busy machine must not make a test fail.
const SYNC: Duration = Duration::from_mins(5);
/// How long a sweep may take to end after a signal.
const END: Duration = Duration::from_secs(20);

/// The flags of every `sweep --watch` in these tests. They turn off limits that would only slow the tests down.
const FLAGS: [&str; 6] =
    ["sweep", "--watch", "--trust-missing-apis", "--qps=0", "--resync=2s", "--metrics-bind-address=127.0.0.1:0"];
/// A sweep prints where it serves its metrics before it prints anything about the cluster.
const SERVING: &str = "serving /metrics, /healthz and /readyz at ";

/// The collector of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// kube-controller-manager's garbage collector.
    Collector,
    /// `sweep --watch`, and a kube-controller-manager that collects nothing.
    Sweep,
}

/// A cluster with a running collector.
pub struct Seated<'c> {
    pub cluster: &'c Cluster,
    sweeping: Option<SweepSettings>,
}

impl Seat {
    /// Starts the collector or sweep, and the controllers beside it, and waits until it works. It connects by this
    /// kubeconfig file.
    #[track_caller]
    pub fn take<'c>(self, cluster: &'c Alone, kubeconfig: &Path) -> Seated<'c> {
        self.take_beside(cluster, kubeconfig, &[&[NAMESPACES], WORKLOADS].concat())
    }

    /// The same with these controllers beside it.
    #[track_caller]
    pub fn take_beside<'c>(self, cluster: &'c Alone, kubeconfig: &Path, others: &[&str]) -> Seated<'c> {
        let sweeping = match self {
            Self::Collector => {
                cluster.start_controllers_with(kubeconfig, &[others, &[COLLECTOR]].concat());
                None
            }
            Self::Sweep => {
                cluster.start_controllers(others);
                let sweeping = SweepSettings::start(cluster, kubeconfig);
                sweeping.wait_for_sync();
                Some(sweeping)
            }
        };
        Seated { cluster, sweeping }
    }
}

impl<'c> Seated<'c> {
    /// A cluster whose own collector is already running.
    pub fn with_collector_of(cluster: &'c Cluster) -> Self {
        Self { cluster, sweeping: None }
    }

    /// Waits until the collector or sweep has nothing to do; see [`Cluster::settled`].
    #[track_caller]
    pub fn settled(&self) {
        match &self.sweeping {
            None => self.cluster.settled(),
            Some(sweeping) => settled(&sweeping.metrics()),
        }
    }

    /// How long it may pause before it tries again what has failed. A sweep's pauses double, too, and what it discovers
    /// ends them: the next is hardly longer than it has been running.
    #[track_caller]
    pub fn longest_pause(&self) -> Duration {
        match &self.sweeping {
            None => self.cluster.longest_pause(),
            Some(sweeping) => sweeping.process.age(),
        }
    }

    /// Ends a sweep, which must end successfully.
    #[track_caller]
    pub fn leave(self) {
        if let Some(sweeping) = self.sweeping {
            sweeping.terminate();
        }
    }

    /// The running sweep; `None` with the real collector.
    pub fn sweeping(&self) -> Option<&SweepSettings> {
        self.sweeping.as_ref()
    }
}

/// A running `sweep --watch`. Dropping it ends it; if a test fails, its output is printed.
pub struct SweepSettings {
    process: Supervised,
    kubeconfig: PathBuf,
}

impl SweepSettings {
    /// Starts a sweep, and doesn't wait for its lists.
    #[track_caller]
    pub fn start(cluster: &Cluster, kubeconfig: &Path) -> Self {
        Self::start_with(cluster, kubeconfig, &[])
    }

    /// The same with more flags.
    #[track_caller]
    pub fn start_with(cluster: &Cluster, kubeconfig: &Path, more: &[&str]) -> Self {
        Self::start_as(cluster, kubeconfig, &[&FLAGS, more].concat())
    }

    /// The same with this whole command line.
    #[track_caller]
    pub fn start_as(cluster: &Cluster, kubeconfig: &Path, args: &[&str]) -> Self {
        let program = cluster.gc_program(kubeconfig, args);
        Self::run(cluster, kubeconfig, program)
    }

    /// The same with these variables in its environment.
    #[track_caller]
    pub fn start_in(cluster: &Cluster, kubeconfig: &Path, variables: &[(&str, &str)]) -> Self {
        let program = cluster.gc_program(kubeconfig, &FLAGS);
        Self::run(
            cluster,
            kubeconfig,
            variables.iter().fold(program, |program, (name, value)| program.env(name, value)),
        )
    }

    #[track_caller]
    fn run(cluster: &Cluster, kubeconfig: &Path, program: Program) -> Self {
        let name = cluster.unique("sweep");
        let program = program.in_folder(cluster.folder());
        let process = Supervised::start(&name, cluster.folder(), program);
        let process = process.unwrap_or_else(|error| panic!("cannot run kubectl-gc: {error}"));
        Self { process, kubeconfig: kubeconfig.to_owned() }
    }

    /// Waits until it works, and returns its line about that: `synced`, or `partly synced: …` with what it can't see.
    #[track_caller]
    pub fn wait_for_sync(&self) -> String {
        self.wait_for_line("a sweep to sync", SYNC, |line| line == "synced" || line.starts_with("partly synced: "))
    }

    /// Waits until its last line about syncing meets a condition, and returns the line.
    #[track_caller]
    pub fn wait_for_line(&self, what: &str, patience: Duration, is_it: impl Fn(&str) -> bool) -> String {
        let verdict = poll(patience, || {
            let said = self.said();
            let last = said.lines().rfind(|line| line.ends_with("synced") || line.starts_with("partly synced: "));
            match last {
                Some(line) if is_it(line) => Ok(line.to_owned()),
                _ => Err(self.process.obituary().map_or_else(|| Retry::Later(said), Retry::Never)),
            }
        });
        verdict.unwrap_or_else(|error| panic!("waited up to {patience:?} for {what}:\n{error}"))
    }

    /// A connection to its metrics server.
    #[track_caller]
    pub fn metrics(&self) -> Api {
        let verdict = poll(SYNC, || {
            let said = self.said();
            let address = said.lines().find_map(|line| line.strip_prefix(SERVING)).map(str::to_owned);
            address.ok_or_else(|| self.process.obituary().map_or_else(|| Retry::Later(said), Retry::Never))
        });
        let address = verdict.unwrap_or_else(|said| panic!("it does not say where its metrics are:\n{said}"));
        Api::anonymous(&address).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The process.
    pub fn process(&self) -> &Supervised {
        &self.process
    }

    /// Everything that it has printed.
    pub fn said(&self) -> String {
        self.process.log()
    }

    /// Ends it as Kubernetes ends a pod: it must finish its current work and exit with code 0.
    #[track_caller]
    pub fn terminate(self) {
        self.process.signal(Signal::TERM);
        let status = poll(END, || self.process.ended().ok_or_else(|| Retry::Later(self.said())));
        let status = status.unwrap_or_else(|said| panic!("a sweep did not end within {END:?}:\n{said}"));
        assert_eq!(status.code(), Some(0), "how a sweep ends that is told to:\n{}", self.said());
    }

    /// Kills it, whatever it is doing, and starts another in its place once `between` is done.
    #[track_caller]
    pub fn killed(self, cluster: &Cluster, between: impl FnOnce()) -> Self {
        if let Some(obituary) = self.process.obituary() {
            panic!("nobody has killed it yet: {obituary}");
        }
        self.process.signal(Signal::KILL);
        poll(END, || self.process.ended().ok_or_else(|| Retry::Later(String::new()))).expect("whoever is killed ends");
        between();
        Self::start(cluster, &self.kubeconfig)
    }
}

impl Drop for SweepSettings {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- what sweep --watch said ({})\n{}", self.kubeconfig.display(), self.said());
        }
    }
}
