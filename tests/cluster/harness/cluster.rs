//! Starting and stopping a cluster.

use std::{
    net::TcpListener,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    api::Api,
    binaries::Binaries,
    controllers::{self, Controllers},
    credentials::{ADMIN, Credentials},
    fixtures,
    objects::Resources,
    supervisor::{Folder, Program, Supervised},
    wait::{Retry, poll},
};

/// Generous, so that no test fails because the machine is busy.
const START: Duration = Duration::from_mins(5);

/// For Go's own garbage collector: a fifth less processor time for a start, and 100 MB more.
pub const RARELY_COLLECTED: &str = "400";

/// Another process can take a free port before it is used; hardly this many times in a row.
pub const ATTEMPTS: usize = 5;

/// The cluster that all tests share, with the kinds of [`fixtures`], the collector, and the controllers of workloads,
/// namespaces and claims, and the pod garbage collector.
#[track_caller]
pub fn shared() -> &'static Cluster {
    // Keeps a failure: it wouldn't go away, only cost time in every test.
    static SHARED: LazyLock<Result<Cluster, String>> = LazyLock::new(|| Ok(Alone::try_usual()?.share()));
    match &*SHARED {
        Ok(cluster) => cluster,
        Err(error) => panic!("the shared test cluster could not be started: {error}"),
    }
}

/// Deviations from the usual cluster.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// More flags for kube-apiserver. The last one wins.
    pub api_server: Vec<String>,
    /// More flags for kube-controller-manager.
    pub controller_manager: Vec<String>,
}

/// What every test may do in a cluster, also in one that others use: read it, make namespaces, and write to them.
pub struct Cluster {
    // Rust drops fields from top to bottom: etcd must stop after its clients.
    pub(super) controllers: Mutex<Option<Controllers>>,
    api_server: Mutex<Supervised>,
    port: u16,
    etcd: Supervised,
    pub(super) etcd_url: String,
    pub(super) api: Api,
    pub(super) credentials: Credentials,
    pub(super) options: Options,
    pub(super) resources: Resources,
    pub(super) counter: AtomicUsize,
    /// No test may write what is in no namespace: others read the whole cluster.
    is_shared: bool,
    folder: Folder,
}

/// A cluster that one test has for itself: an API server with its etcd, and a controller manager if the test wants one.
/// The test may write anything, and stop and start its servers.
///
/// All servers stop when the value is dropped or the test process ends.
pub struct Alone(Cluster);

impl Deref for Alone {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.0
    }
}

impl Alone {
    /// Starts a cluster without controllers; panics with the end of the servers' logs if it doesn't start.
    #[track_caller]
    pub fn start(options: &Options) -> Self {
        Self::try_start(options).unwrap_or_else(|error| panic!("a test cluster could not be started: {error}"))
    }

    /// Starts a cluster with the kinds of the tests, in which these controllers run.
    #[track_caller]
    pub fn with(controllers: &[&'static str]) -> Self {
        let cluster = Self::start(&Options::default());
        cluster.apply_yaml(fixtures::KINDS);
        if !controllers.is_empty() {
            cluster.start_controllers(controllers);
        }
        cluster
    }

    /// Starts a cluster that is as the [`shared`] one.
    #[track_caller]
    pub fn usual() -> Self {
        Self::try_usual().unwrap_or_else(|error| panic!("a test cluster could not be started: {error}"))
    }

    fn try_usual() -> Result<Self, String> {
        let cluster = Self::try_start(&Options::default())?;
        // Before the controllers start, because the collector refreshes discovery only every 30 seconds.
        cluster.apply_yaml(fixtures::KINDS);
        cluster.age_kinds();
        let others =
            [controllers::COLLECTOR, controllers::NAMESPACES, controllers::CLAIM_PROTECTION, controllers::POD_GC];
        cluster.try_start_controllers(&[&others, controllers::WORKLOADS].concat())?;
        Ok(cluster)
    }

    fn try_start(options: &Options) -> Result<Self, String> {
        let binaries = Binaries::find()?;
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt(&binaries, options) {
                Err(error) if error.contains("address already in use") => last = error,
                result => return result,
            }
        }
        Err(last)
    }

    fn attempt(binaries: &Binaries, options: &Options) -> Result<Self, String> {
        let folder = Folder::new().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let credentials = Credentials::create(folder.path().join("credentials"))
            .map_err(|error| format!("cannot write credentials: {error}"))?;
        let [client_port, peer_port, port] = free_ports()?;
        let etcd_url = format!("http://127.0.0.1:{client_port}");
        let etcd = etcd(binaries, folder.path(), &etcd_url, &format!("http://127.0.0.1:{peer_port}"))?;
        let api_server = api_server(binaries, folder.path(), &credentials, &etcd_url, port, &options.api_server)?;
        let url = format!("https://127.0.0.1:{port}");
        let api = poll(START, || connect(&credentials, &url, [&etcd, &api_server]))?;
        Ok(Self(Cluster {
            controllers: Mutex::default(),
            api_server: Mutex::new(api_server),
            port,
            etcd,
            etcd_url,
            api,
            credentials,
            options: options.clone(),
            resources: Resources::default(),
            counter: AtomicUsize::new(0),
            is_shared: false,
            folder,
        }))
    }

    /// From now on, tests share this cluster.
    #[must_use]
    pub fn share(mut self) -> Cluster {
        self.0.is_shared = true;
        self.0
    }

    /// The pids of the running servers.
    pub fn pids(&self) -> Vec<u32> {
        let controllers = self.controllers.lock().unwrap();
        let api_server = self.api_server.lock().unwrap();
        let servers = [Some(&self.etcd), Some(&*api_server), controllers.as_ref().map(Controllers::process)];
        servers.into_iter().flatten().filter_map(Supervised::pid).collect()
    }

    /// Kills the API server with SIGKILL.
    #[track_caller]
    pub fn kill_api_server(&self) {
        let server = self.api_server.lock().unwrap();
        let pid = server.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("the API server runs");
        kill_process(pid, Signal::KILL).expect("it can be killed");
        server.wait().expect("it ends");
    }

    /// Restarts the API server at the same address, and waits until it serves.
    #[track_caller]
    pub fn start_api_server_again(&self) {
        let mut server = self.api_server.lock().unwrap();
        let binaries = Binaries::find().unwrap_or_else(|error| panic!("{error}"));
        let (folder, more) = (self.folder.path(), &self.options.api_server);
        let started = api_server(&binaries, folder, &self.credentials, &self.etcd_url, self.port, more);
        *server = started.unwrap_or_else(|error| panic!("{error}"));
        let url = format!("https://127.0.0.1:{}", self.port);
        let served = poll(START, || connect(&self.credentials, &url, [&self.etcd, &server]));
        served.unwrap_or_else(|error| panic!("the API server does not come back: {error}"));
    }
}

impl Cluster {
    /// Panics if tests share this cluster, and a write to this path would change something outside of namespaces. A
    /// test makes namespaces, and may ask for a review.
    #[track_caller]
    pub(super) fn may_write(&self, path: &str) {
        let is_inside = path.contains("/namespaces") || path.ends_with("reviews") || path.ends_with("dryRun=All");
        assert!(
            is_inside || !self.is_shared,
            "tests share this cluster, and {path} is in no namespace: start another one"
        );
    }

    /// A kubeconfig file for one of the users [`ADMIN`], `VIEWER` and `NOBODY`; its only context is `test`.
    #[track_caller]
    pub fn kubeconfig(&self, user: &str) -> PathBuf {
        self.credentials.kubeconfig(user)
    }

    /// A folder with the servers' logs, removed with the cluster.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A name that is unique in this cluster.
    pub fn unique(&self, prefix: &str) -> String {
        format!("{prefix}-{}", self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Like [`wait_until`](super::wait_until), but fails at once if a server has died.
    #[track_caller]
    pub fn wait_until(&self, what: &str, timeout: Duration, mut done: impl FnMut() -> bool) {
        let verdict = poll(timeout, || {
            if done() {
                return Ok(());
            }
            Err(self.obituary().map_or_else(|| Retry::Later("not yet".to_owned()), Retry::Never))
        });
        if let Err(last) = verdict {
            panic!("waited up to {timeout:?} for {what}: {last}");
        }
    }

    fn obituary(&self) -> Option<String> {
        let controllers = self.controllers.lock().unwrap();
        let controllers = controllers.as_ref().and_then(|controllers| controllers.process().obituary());
        self.etcd.obituary().or_else(|| self.api_server.lock().unwrap().obituary()).or(controllers)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // All at once, so that they shut down in parallel.
        if let Ok(Some(controllers)) = self.controllers.get_mut() {
            controllers.process().release();
        }
        if let Ok(api_server) = self.api_server.get_mut() {
            api_server.release();
        }
        self.etcd.release();
    }
}

/// Checks once whether the API server serves.
fn connect(credentials: &Credentials, url: &str, servers: [&Supervised; 2]) -> Result<Api, Retry> {
    if let Some(obituary) = servers.iter().find_map(|server| server.obituary()) {
        return Err(Retry::Never(obituary));
    }
    // The server writes the key after the certificate.
    if !credentials.certificate_key().exists() {
        return Err(Retry::Later("kube-apiserver has not made its certificate yet".to_owned()));
    }
    credentials.write_kubeconfigs(url).map_err(|error| Retry::Never(format!("cannot write a kubeconfig: {error}")))?;
    let api = Api::connect(&credentials.kubeconfig(ADMIN), None).map_err(Retry::Later)?;
    for path in ["/readyz", "/api/v1/namespaces/default"] {
        let answer = api.get(path).map_err(|error| Retry::Later(format!("{path}: {error}")))?;
        if !answer.is_success() {
            return Err(Retry::Later(format!("{path}: {} {}", answer.status, answer.text())));
        }
    }
    Ok(api)
}

fn etcd(binaries: &Binaries, folder: &Path, url: &str, peer_url: &str) -> Result<Supervised, String> {
    let program = Program::new(&binaries.etcd).without_proxies().args([
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        format!("--listen-peer-urls={peer_url}"),
        format!("--initial-advertise-peer-urls={peer_url}"),
        format!("--initial-cluster=default={peer_url}"),
        // No data has to survive a crash.
        "--unsafe-no-fsync".to_owned(),
        "--quota-backend-bytes=8589934592".to_owned(),
        "--log-level=error".to_owned(),
    ]);
    Supervised::start("etcd", folder, program).map_err(|error| format!("cannot run etcd: {error}"))
}

fn api_server(
    binaries: &Binaries,
    folder: &Path,
    credentials: &Credentials,
    etcd_url: &str,
    port: u16,
    more: &[String],
) -> Result<Supervised, String> {
    let key = credentials.signing_key();
    // No controller creates service accounts here, and no pod ever mounts a volume. Several such flags add up.
    let disable = "--disable-admission-plugins=";
    let disabled = (!more.iter().any(|flag| flag.starts_with(disable)))
        .then(|| format!("{disable}ServiceAccount,StorageObjectInUseProtection"));
    let program = Program::new(&binaries.api_server).without_proxies().env("GOGC", RARELY_COLLECTED).args([
        format!("--etcd-servers={etcd_url}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--cert-dir={}", credentials.certificates().display()),
        format!("--token-auth-file={}", credentials.token_file().display()),
        "--authorization-mode=RBAC".to_owned(),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--max-requests-inflight=4000".to_owned(),
        "--max-mutating-requests-inflight=2000".to_owned(),
        "--event-ttl=10m".to_owned(),
        "--profiling=false".to_owned(),
    ]);
    Supervised::start("kube-apiserver", folder, program.args(disabled).args(more))
        .map_err(|error| format!("cannot run kube-apiserver: {error}"))
}

/// Free ports. All differ, because they are reserved at the same time.
pub fn free_ports<const N: usize>() -> Result<[u16; N], String> {
    let failed = |error| format!("cannot find a free port: {error}");
    let mut listeners = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        *port = listener.local_addr().map_err(failed)?.port();
        listeners.push(listener);
    }
    Ok(ports)
}
