//! Who collects on a cluster: the real collector, or `sweep --watch` in its place. Whatever sits there is held to the
//! same.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::harness::{Api, COLLECTOR, Cluster, NAMESPACES, Retry, Supervised, WORKLOADS, poll, settled};

/// It says after half a minute what it can't see; and a busy machine is no reason for a test to fail.
const SYNC: Duration = Duration::from_mins(5);
/// From the signal to the end.
const END: Duration = Duration::from_secs(20);

/// What every `sweep --watch` of these tests is run with: what makes it wait for tests' sake only is off.
const FLAGS: [&str; 6] =
    ["sweep", "--watch", "--trust-missing-apis", "--qps=0", "--resync=2s", "--metrics-bind-address=127.0.0.1:0"];
/// It says where it serves its metrics before it says anything of the cluster.
const SERVING: &str = "serving /metrics, /healthz and /readyz at ";

/// Who collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// kube-controller-manager's garbage collector.
    Collector,
    /// `sweep --watch`, and a kube-controller-manager that collects nothing.
    Sweep,
}

/// A cluster on which somebody collects.
pub struct Seated<'c> {
    pub cluster: &'c Cluster,
    sweeping: Option<SweepSettings>,
}

impl Seat {
    /// Starts whoever collects, and the controllers beside it, and waits until it works. Its requests go by this
    /// kubeconfig file.
    #[track_caller]
    pub fn take<'c>(self, cluster: &'c Cluster, kubeconfig: &Path) -> Seated<'c> {
        self.take_beside(cluster, kubeconfig, &[&[NAMESPACES], WORKLOADS].concat())
    }

    /// The same beside these controllers.
    #[track_caller]
    pub fn take_beside<'c>(self, cluster: &'c Cluster, kubeconfig: &Path, others: &[&str]) -> Seated<'c> {
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
    /// A cluster whose own collector runs already.
    pub fn with_collector_of(cluster: &'c Cluster) -> Self {
        Self { cluster, sweeping: None }
    }

    /// Waits until whoever collects has nothing to do; see [`Cluster::settled`].
    #[track_caller]
    pub fn settled(&self) {
        match &self.sweeping {
            None => self.cluster.settled(),
            Some(sweeping) => settled(&sweeping.metrics()),
        }
    }

    /// Frees the seat: a sweep has to end in peace then.
    #[track_caller]
    pub fn leave(self) {
        if let Some(sweeping) = self.sweeping {
            sweeping.terminate();
        }
    }

    /// The sweep in the seat; none if it is the real collector.
    pub fn sweeping(&self) -> Option<&SweepSettings> {
        self.sweeping.as_ref()
    }
}

/// A `sweep --watch` that runs. It ends when this is dropped; what it said is told if a test fails.
pub struct SweepSettings {
    process: Supervised,
    kubeconfig: PathBuf,
}

impl SweepSettings {
    /// Starts one; it has seen nothing yet.
    #[track_caller]
    pub fn start(cluster: &Cluster, kubeconfig: &Path) -> Self {
        Self::start_with(cluster, kubeconfig, &[])
    }

    /// The same with more on its command line.
    #[track_caller]
    pub fn start_with(cluster: &Cluster, kubeconfig: &Path, more: &[&str]) -> Self {
        Self::start_as(cluster, kubeconfig, &[&FLAGS, more].concat())
    }

    /// The same with this command line.
    #[track_caller]
    pub fn start_as(cluster: &Cluster, kubeconfig: &Path, args: &[&str]) -> Self {
        let name = cluster.unique("sweep");
        let program = cluster.gc_program(kubeconfig, args).in_folder(cluster.folder());
        let process = Supervised::start(&name, cluster.folder(), program);
        let process = process.unwrap_or_else(|error| panic!("cannot run kubectl-gc: {error}"));
        Self { process, kubeconfig: kubeconfig.to_owned() }
    }

    /// Waits until it works, and returns the line that says so: `synced`, or `partly synced: …` with what it can't see.
    #[track_caller]
    pub fn wait_for_sync(&self) -> String {
        self.wait_for_line("a sweep to sync", SYNC, |line| line == "synced" || line.starts_with("partly synced: "))
    }

    /// Waits for the last line of its that speaks of its picture to be one like this.
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

    /// What it serves metrics with.
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

    /// All that it said.
    pub fn said(&self) -> String {
        self.process.log()
    }

    /// Ends it as Kubernetes ends a pod: it has to finish what it is at, and to call that success.
    #[track_caller]
    pub fn terminate(self) {
        self.process.signal(Signal::TERM);
        let status = poll(END, || self.process.ended().ok_or_else(|| Retry::Later(self.said())));
        let status = status.unwrap_or_else(|said| panic!("a sweep did not end within {END:?}:\n{said}"));
        assert_eq!(status.code(), Some(0), "how a sweep ends that is told to:\n{}", self.said());
    }

    /// Kills it in the midst of whatever it does, and starts another in its place.
    #[track_caller]
    pub fn killed(self, cluster: &Cluster) -> Self {
        if let Some(obituary) = self.process.obituary() {
            panic!("nobody has killed it yet: {obituary}");
        }
        self.process.signal(Signal::KILL);
        poll(END, || self.process.ended().ok_or_else(|| Retry::Later(String::new()))).expect("whoever is killed ends");
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
