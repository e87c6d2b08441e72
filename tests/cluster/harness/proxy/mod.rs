//! A reverse proxy in front of the API server that counts what is asked, and spoils some of it where a test wants it.

mod counted;
mod serve;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

use self::serve::State;
use super::{
    api::{RUNTIME, client},
    cluster::Cluster,
    credentials::{ADMIN, write_kubeconfig},
};

/// A request that came to the proxy, and how it was answered.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// GET, DELETE, …
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Without the question mark; empty if there is none.
    pub query: String,
    /// What the client accepts.
    pub accept: String,
    /// What it sent, for instance its delete options.
    pub body: Vec<u8>,
    /// The status it was answered with, once it was.
    pub status: Option<u16>,
    /// How much of the answer's body has gone to the client so far, as it is on the wire.
    pub response_bytes: u64,
    /// Whether the whole answer has gone to the client; a watch that the client leaves never does.
    pub finished: bool,
}

/// What happens to a request instead of just passing on.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is answered with this status and this object, with these headers besides.
    Answer { status: u16, headers: Vec<(&'static str, &'static str)>, body: Value },
    /// It gets no answer at all, until the client gives up.
    Hang,
    /// It passes on, but only after a while.
    Delay(Duration),
    /// It passes on as if the client accepted this instead.
    Accept(&'static str),
    /// It passes on; the connection breaks after so many bytes of the answer's body.
    CutAfter(u64),
}

impl Fault {
    /// A failure as the API server reports failures.
    pub fn status(code: u16, reason: &str) -> Self {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Status",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": format!("{reason}, says the test's proxy"),
        });
        Self::Answer { status: code, headers: Vec::new(), body }
    }
}

/// A hook that makes discovery answer like servers that know no aggregated discovery (before 1.26).
pub fn old_discovery(request: &Request) -> Option<Fault> {
    request.accept.contains("apidiscovery.k8s.io").then_some(Fault::Accept("application/json"))
}

/// The proxy; it listens on plain HTTP, adds the token of one user, and ends when it is dropped.
pub struct CountingProxy {
    kubeconfig: PathBuf,
    state: Arc<State>,
    listening: AbortHandle,
}

impl CountingProxy {
    /// Starts a proxy that speaks for the admin.
    #[track_caller]
    pub fn start(cluster: &Cluster) -> Self {
        Self::start_as(cluster, ADMIN)
    }

    /// Starts a proxy that speaks for one of the users.
    #[track_caller]
    pub fn start_as(cluster: &Cluster, user: &str) -> Self {
        let client = client(&cluster.kubeconfig(user), None).unwrap_or_else(|error| panic!("{error}"));
        let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port on the loopback interface");
        let address = listener.local_addr().expect("a listener has an address");
        let kubeconfig = cluster.folder().join(format!("{}.kubeconfig", cluster.unique("proxy")));
        let server = json!({"server": format!("http://{address}")});
        write_kubeconfig(&kubeconfig, &server, user, &json!({})).expect("a kubeconfig can be written");
        let state = Arc::new(State { client, requests: Mutex::default(), hook: Mutex::default() });
        let listening = RUNTIME.spawn(serve::listen(listener, Arc::clone(&state))).abort_handle();
        Self { kubeconfig, state, listening }
    }

    /// The kubeconfig file that points to the proxy.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// What was asked so far, in the order in which it came.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.state.requests.lock().unwrap();
        requests.iter().map(|entry| entry.lock().unwrap().clone()).collect()
    }

    /// Starts to count anew.
    pub fn forget(&self) {
        self.state.requests.lock().unwrap().clear();
    }

    /// From now on asks `hook` about each request.
    pub fn with(&self, hook: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *self.state.hook.lock().unwrap() = Some(Arc::new(hook));
    }

    /// From now on passes everything on as it is.
    pub fn without(&self) {
        *self.state.hook.lock().unwrap() = None;
    }
}

impl Drop for CountingProxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
