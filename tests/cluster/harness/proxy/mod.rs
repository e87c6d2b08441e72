//! A reverse proxy in front of the API server that records requests and, where a test wants it, injects faults.

mod counted;
mod gate;
mod line;
mod seeded;
mod serve;
mod spoilt;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

use self::serve::State;
pub use self::{
    gate::Gate,
    line::Line,
    seeded::{Faults, others},
    spoilt::Spoilt,
};
use super::{
    api::{RUNTIME, client},
    cluster::Cluster,
    credentials::{ADMIN, write_kubeconfig},
};

/// A recorded request and its response.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// GET, DELETE, …
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Without the question mark; empty if there is none.
    pub query: String,
    /// The Accept header.
    pub accept: String,
    /// The User-Agent header.
    pub user_agent: String,
    /// The request body, for instance delete options.
    pub body: Vec<u8>,
    /// Whether the proxy keeps it from the API server, maybe for a while.
    pub held: bool,
    /// The status of the response, once there is one.
    pub status: Option<u16>,
    /// The bytes of the response body that were sent to the client so far, as on the wire.
    pub response_bytes: u64,
    /// Whether the whole response was sent; never true for a watch that the client closes.
    pub finished: bool,
}

/// A fault to inject.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The proxy answers with this status, object, and additional headers.
    Answer { status: u16, headers: Vec<(&'static str, &'static str)>, body: Value },
    /// The proxy never answers.
    Hang,
    /// The proxy forwards the request after this time.
    Delay(Duration),
    /// The proxy forwards the request once the gate is open.
    Before(Arc<Gate>),
    /// The proxy forwards the request, and passes the response on once the gate is open.
    After(Arc<Gate>),
    /// The proxy forwards the request with this Accept header instead.
    Accept(&'static str),
    /// The proxy forwards the request, and breaks the connection after this many bytes of the response body.
    CutAfter(u64),
    /// The proxy answers with this status, this text, and additional headers, such as another content type.
    Raw { status: u16, headers: Vec<(&'static str, &'static str)>, body: &'static str },
    /// The proxy closes the connection, and forwards nothing.
    Reset,
    /// The proxy forwards the request, and closes the connection instead of answering: a write is done.
    Lost,
    /// The proxy forwards the request, and spoils the response body.
    Spoilt(Spoilt),
    /// The proxy forwards the request, and copies of the response body what it passes on.
    Copied(Arc<Mutex<Vec<u8>>>),
    /// The proxy forwards the request, and gives a header of the response this value.
    Headed(HeaderName, HeaderValue),
    /// The proxy forwards the request to this path and query instead.
    Elsewhere(String),
    /// The proxy forwards the request with pages of this many objects.
    Pages(usize),
    /// The proxy forwards a list, and asks for it as it was at this resourceVersion.
    AsOf(String),
}

impl Fault {
    /// An error response in the API server's format.
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

/// A hook that answers discovery as servers without aggregated discovery do (before 1.26).
pub fn old_discovery(request: &Request) -> Option<Fault> {
    request.accept.contains("apidiscovery.k8s.io").then_some(Fault::Accept("application/json"))
}

/// The proxy. It adds one user's token, and stops when it is dropped.
pub struct CountingProxy {
    kubeconfig: PathBuf,
    state: Arc<State>,
    listening: AbortHandle,
}

impl CountingProxy {
    /// Starts a proxy that authenticates as admin.
    #[track_caller]
    pub fn start(cluster: &Cluster) -> Self {
        Self::start_as(cluster, ADMIN)
    }

    /// Starts a proxy that authenticates as this user.
    #[track_caller]
    pub fn start_as(cluster: &Cluster, user: &str) -> Self {
        Self::start_over(cluster, user, Line::Plain)
    }

    /// Starts a proxy that authenticates as this user, and is reached over this line.
    #[track_caller]
    pub fn start_over(cluster: &Cluster, user: &str, line: Line) -> Self {
        let client = client(&cluster.kubeconfig(user), None).unwrap_or_else(|error| panic!("{error}"));
        let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port on the loopback interface");
        let address = listener.local_addr().expect("a listener has an address");
        let kubeconfig = cluster.folder().join(format!("{}.kubeconfig", cluster.unique("proxy")));
        let line = line.ready();
        write_kubeconfig(&kubeconfig, &line.cluster(address), user, &json!({})).expect("a kubeconfig can be written");
        let state = Arc::new(State { client, requests: Mutex::default(), hook: Mutex::default() });
        let listening = RUNTIME.spawn(serve::listen(listener, line, Arc::clone(&state))).abort_handle();
        Self { kubeconfig, state, listening }
    }

    /// The kubeconfig file that points to the proxy.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The requests so far, in their order.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.state.requests.lock().unwrap();
        requests.iter().map(|entry| entry.lock().unwrap().clone()).collect()
    }

    /// Forgets all recorded requests.
    pub fn forget(&self) {
        self.state.requests.lock().unwrap().clear();
    }

    /// Calls `hook` for each request from now on.
    pub fn with(&self, hook: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *self.state.hook.lock().unwrap() = Some(Arc::new(hook));
    }

    /// Forwards every request unchanged from now on.
    pub fn without(&self) {
        *self.state.hook.lock().unwrap() = None;
    }
}

impl Drop for CountingProxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
