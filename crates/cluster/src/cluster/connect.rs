//! Opens a connection. Sends nothing to the server: discovery, the first request, shows whether it answers.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use gc_core::model::{Origin, Resources, ServerVersion, well_known};

use super::{
    ConnectionOptions, ReadEvent, ReadObserver,
    cache::{DiscoveryCache, cache_folder},
    credentials::Clients,
    error::{ConnectError, Endpoint, Failure, who_asks},
    kubeconfig::{self, Chosen},
    retry::Rate,
};

/// How long the server may be silent if no `--request-timeout` is given. `--request-timeout` limits a whole request, as
/// in kubectl; this limit doesn't cut off a long list over a slow line.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// The time limits of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// For the whole request.
    pub(super) whole: Option<Duration>,
    /// Between two pieces of the answer.
    pub(super) silence: Option<Duration>,
}

impl Limits {
    /// The limits for a `--request-timeout`; zero means none.
    pub(super) fn new(request_timeout: Option<Duration>) -> Self {
        match request_timeout {
            None => Limits { whole: None, silence: Some(LONGEST_SILENCE) },
            Some(limit) => Limits { whole: Some(limit).filter(|limit| !limit.is_zero()), silence: None },
        }
    }

    /// The same, but with the default limit if there is none, for background tasks, where a hanging request would go
    /// unnoticed.
    pub(super) fn or_some(self) -> Self {
        if self.whole.is_some() || self.silence.is_some() { self } else { Limits::new(None) }
    }
}

/// An open connection to one API server; a clone is the same connection.
#[derive(Clone)]
pub struct Connection {
    pub(super) clients: Arc<Clients>,
    endpoint: Endpoint,
    /// Scheme, host and port of the server, with the path if there is one.
    pub(super) server_url: Arc<str>,
    default_namespace: String,
    pub(super) fallback_namespace: Option<String>,
    pub(super) limits: Limits,
    /// Whether a 404 for an API path counts as the absence of its objects (R3.16).
    pub(super) trusts_missing_apis: bool,
    pub(super) rate: Option<Rate>,
    /// Whether the server has answered anything yet.
    pub(super) reached: Arc<AtomicBool>,
    /// The version of the server, once it was asked; `None` if it didn't say.
    pub(super) server_version: Arc<OnceLock<Option<ServerVersion>>>,
    observer: ReadObserver,
    /// `None` without a cache folder.
    cache: Option<DiscoveryCache>,
}

impl Connection {
    /// Chooses a server as kubectl does (`--kubeconfig`, else the merged files of `KUBECONFIG`, else `~/.kube/config`,
    /// else the pod's service account), applies the options, and gets the credentials, running a credential plugin
    /// once. Sends nothing to the server. Needs a tokio runtime.
    ///
    /// # Errors
    /// No server is configured, the chosen context, cluster or user doesn't exist, a setting is invalid, or there are
    /// no credentials.
    pub async fn open(options: &ConnectionOptions) -> Result<Connection, ConnectError> {
        let request_timeout = options.request_timeout;
        let user_agent = options.user_agent.clone();
        let options = options.clone();
        let folder = cache_folder(options.cache_dir.as_deref(), &kubeconfig::Process);
        // This reads files.
        let (chosen, endpoint) = tokio::task::spawn_blocking(move || Self::prepare(&options))
            .await
            .map_err(|error| ConnectError::Setting { what: "connecting".to_owned(), reason: error.to_string() })??;
        let scheme = chosen.config.cluster_url.scheme_str().unwrap_or("https").to_owned();
        let default_namespace = chosen.config.default_namespace.clone();
        let server_url = format!("{scheme}://{}", endpoint.server);
        let cache = folder.map(|folder| {
            let authority = chosen.config.root_cert.as_deref();
            DiscoveryCache::of(&folder, &server_url, authority, &endpoint.who)
        });
        let clients = Clients::new(chosen.config, chosen.origin, user_agent.as_deref(), &endpoint)?;
        // A plugin may wait for a log-in in the browser: no time limit applies to that yet.
        if let Err(failure) = clients.lease().await {
            let reason = match failure {
                Failure::Credentials(reason) => reason,
                failure => failure.to_string(),
            };
            return Err(ConnectError::Credentials { endpoint, reason });
        }
        Ok(Connection {
            clients: Arc::new(clients),
            server_url: server_url.into(),
            endpoint,
            default_namespace,
            fallback_namespace: None,
            limits: Limits::new(request_timeout),
            trusts_missing_apis: false,
            rate: None,
            reached: Arc::new(AtomicBool::new(false)),
            server_version: Arc::default(),
            observer: Arc::new(|_| ()),
            cache,
        })
    }

    /// What this server probably serves: what it served this user the last time, if that isn't long ago, else what
    /// Kubernetes serves by default. It may serve something else.
    pub fn expected_resources(&self) -> Resources {
        let last = self.cache.as_ref().and_then(DiscoveryCache::read);
        last.unwrap_or_else(well_known::served)
    }

    /// Keeps what is served for the next time.
    pub fn keep_served(&self, resources: &Resources) {
        if let Some(cache) = &self.cache {
            cache.write(resources);
        }
    }

    fn prepare(options: &ConnectionOptions) -> Result<(Chosen, Endpoint), ConnectError> {
        let chosen = kubeconfig::choose(options, &kubeconfig::Process)?;
        let proxy = chosen.config.proxy_url.as_ref().map(host_and_port).unwrap_or_default();
        let server = host_and_port(&chosen.config.cluster_url);
        let who = who_asks(&chosen.user, chosen.config.auth_info.impersonate.as_deref().unwrap_or_default());
        let endpoint = Endpoint { context: chosen.context.clone(), who, server, proxy };
        Ok((chosen, endpoint))
    }

    /// Tells what happens to this observer alone.
    #[must_use]
    pub fn telling(self, observer: ReadObserver) -> Self {
        Connection { observer, ..self }
    }

    /// Tells it to this one, too, after the others.
    #[must_use]
    pub fn also_telling(self, other: ReadObserver) -> Self {
        let before = self.observer.clone();
        self.telling(Arc::new(move |event| {
            before(event);
            other(event);
        }))
    }

    pub(super) fn tell(&self, event: ReadEvent<'_>) {
        (self.observer)(event);
    }

    /// Limits the rate to `qps` requests a second, after a burst of `burst`; a `qps` of zero means no limit. All clones
    /// of the returned connection share the limit. Watches don't count: they are few, and the data depends on them. The
    /// time that a request waits for its turn doesn't count towards its timeout.
    #[must_use]
    pub fn with_limits(mut self, qps: f64, burst: u32) -> Self {
        self.rate = Rate::new(qps, burst);
        self
    }

    /// The namespace to list instead if a cluster-wide list is forbidden; [`Connection::default_namespace`] if unset.
    #[must_use]
    pub fn with_fallback_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.fallback_namespace = Some(namespace.into());
        self
    }

    /// Treats a 404 for an API path as the absence of its objects, as the collector does (R3.16).
    pub fn trust_missing_apis(&mut self) {
        self.trusts_missing_apis = true;
    }

    /// The namespace of the kubeconfig's context, or `default`; inside a pod, the pod's own.
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
    }

    /// Context, user and server of this connection, for messages.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The origin to record in a snapshot read from this connection.
    pub fn origin(&self) -> Origin {
        Origin::Cluster { context: self.endpoint.context.clone(), server: self.endpoint.server.clone() }
    }

    /// The error for this failure if no request succeeds; `None` if the failure only concerns the requested resource.
    pub(super) fn connect_error(&self, failure: &Failure) -> Option<ConnectError> {
        let endpoint = self.endpoint.clone();
        match failure {
            Failure::Unconnected(_) | Failure::Interrupted(_) | Failure::TimedOut(_) => {
                Some(ConnectError::Unreachable { endpoint, reason: failure.to_string() })
            }
            Failure::Credentials(reason) => Some(ConnectError::Credentials { endpoint, reason: reason.clone() }),
            Failure::Refused(refusal) if refusal.status == http::StatusCode::UNAUTHORIZED => {
                Some(ConnectError::Unauthorized { endpoint })
            }
            Failure::Refused(_) | Failure::InvalidName | Failure::Malformed(_) => None,
        }
    }
}

/// `host:port`, with the path if there is one (several clusters behind one host).
fn host_and_port(url: &http::Uri) -> String {
    let port = url.port_u16().unwrap_or(match url.scheme_str() {
        Some("http") => 80,
        Some("socks5") => 1080,
        _ => 443,
    });
    format!("{}:{port}{}", url.host().unwrap_or_default(), url.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn servers_are_named_with_their_port() {
        assert_eq!(host_and_port(&"https://api.example.com".parse().unwrap()), "api.example.com:443");
        assert_eq!(host_and_port(&"http://user:secret@[::1]:8080/".parse().unwrap()), "[::1]:8080");
        assert_eq!(
            host_and_port(&"https://r.example.com/k8s/clusters/c-1/".parse().unwrap()),
            "r.example.com:443/k8s/clusters/c-1"
        );
    }
}
