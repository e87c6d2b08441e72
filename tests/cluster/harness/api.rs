//! Blocking requests to one API server.

use std::{
    path::Path,
    sync::{LazyLock, mpsc},
    time::Duration,
};

use futures::StreamExt as _;
use http::{Method, Request, header};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
    core::WatchEvent,
};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Runs everything asynchronous in the tests, so that tests are plain functions on plain threads.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("harness").enable_all().build().expect("a tokio runtime can be started")
});

/// No request in a test takes longer. A server that hangs must not block the test run.
const DEADLINE: Duration = Duration::from_mins(5);

/// A connection as one user.
#[derive(Clone)]
pub struct Api {
    client: Client,
}

/// The server's response.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The raw body.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Whether the status code is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Api {
    /// Prepares a connection with a kubeconfig file. `server` replaces the file's server, if given.
    pub fn connect(kubeconfig: &Path, server: Option<&str>) -> Result<Self, String> {
        Ok(Self { client: client(kubeconfig, server)? })
    }

    /// Prepares a connection to a server without authentication.
    pub fn anonymous(url: &str) -> Result<Self, String> {
        let mut config = Config::new(url.parse().map_err(|error| format!("{url}: {error}"))?);
        exactly_as_told(&mut config);
        let client = RUNTIME.block_on(async { Client::try_from(config) });
        Ok(Self { client: client.map_err(|error| format!("{url}: {}", chain(&error)))? })
    }

    /// Sends a request. Errors if no response comes.
    pub fn send(&self, request: Request<Vec<u8>>) -> Result<Answer, String> {
        let exchange = async {
            let response = self.client.send(request.map(Body::from)).await?;
            let status = response.status().as_u16();
            let bytes = response.into_body().collect_bytes().await?.to_vec();
            Ok::<_, kube::Error>(Answer { status, bytes })
        };
        match RUNTIME.block_on(async { tokio::time::timeout(DEADLINE, exchange).await }) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(chain(&error)),
            Err(_) => Err(format!("no answer within {DEADLINE:?}")),
        }
    }

    /// Follows a watch on a thread of its own until the receiver is dropped. It ends when the server ends it.
    pub fn follow(&self, path: &str) -> mpsc::Receiver<WatchEvent<Value>> {
        let (sender, receiver) = mpsc::channel();
        let (client, request) = (self.client.clone(), Request::get(path).body(Vec::new()));
        RUNTIME.spawn(async move {
            let Ok(request) = request else { return };
            let Ok(events) = client.request_events::<Value>(request).await else { return };
            let mut events = std::pin::pin!(events);
            while let Some(Ok(event)) = events.next().await {
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        receiver
    }

    /// Sends a request with a body of the given type; panics if no response comes.
    #[track_caller]
    pub fn ask(&self, method: &Method, path: &str, body: Option<(&str, &Value)>) -> Answer {
        self.try_to_ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// The same; errors if no response comes.
    pub fn try_to_ask(&self, method: &Method, path: &str, body: Option<(&str, &Value)>) -> Result<Answer, String> {
        let mut request = Request::builder().method(method).uri(path).header(header::ACCEPT, "application/json");
        let mut bytes = Vec::new();
        if let Some((content_type, body)) = body {
            request = request.header(header::CONTENT_TYPE, content_type);
            bytes = body.to_string().into_bytes();
        }
        self.send(request.body(bytes).map_err(|error| error.to_string())?)
    }

    /// GET; errors if no response comes.
    pub fn get(&self, path: &str) -> Result<Answer, String> {
        self.send(Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?)
    }
}

/// A plain client: no retries, no compression, no proxy.
pub fn client(kubeconfig: &Path, server: Option<&str>) -> Result<Client, String> {
    let failed = |error: &dyn std::error::Error| format!("{}: {}", kubeconfig.display(), chain(error));
    RUNTIME.block_on(async {
        let file = Kubeconfig::read_from(kubeconfig).map_err(|error| failed(&error))?;
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(file, &options).await.map_err(|error| failed(&error))?;
        if let Some(server) = server {
            config.cluster_url = server.parse().map_err(|error| failed(&error))?;
        }
        exactly_as_told(&mut config);
        Client::try_from(config).map_err(|error| failed(&error))
    })
}

fn exactly_as_told(config: &mut Config) {
    config.default_retry = false;
    config.disable_compression = true;
    config.proxy_url = None;
}

/// An error with all its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
