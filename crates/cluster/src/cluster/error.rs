//! Errors that leave nothing to show. If only one list, look-up or group version fails, a [`Gap`](gc_core::model::Gap)
//! is recorded instead.

use std::{error::Error, io, path::PathBuf, time::Duration};

use gc_core::{escape::visible, wording::some_of};

use super::{
    answer::{Answer, Malformed, Refusal},
    path::ObjectPath,
    transport::Unprocessed,
};

/// The server and user of a connection, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The kubeconfig context; empty inside a pod, or when only `--server` was given.
    pub context: String,
    /// Who asks, in words: `user me`, or `me as user you` with `--as`; empty if the kubeconfig names no user.
    pub who: String,
    /// `host:port` of the API server.
    pub server: String,
    /// `host:port` of the proxy; empty if there is none.
    pub proxy: String,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.server)?;
        if !self.proxy.is_empty() {
            write!(f, " through the proxy {}", self.proxy)?;
        }
        let context = (!self.context.is_empty()).then(|| format!("context {}", visible(&self.context)));
        let who = (!self.who.is_empty()).then(|| visible(&self.who).into_owned());
        let both: Vec<String> = context.into_iter().chain(who).collect();
        if both.is_empty() { Ok(()) } else { write!(f, " ({})", both.join(", ")) }
    }
}

/// Who asks: the kubeconfig's user, and the one that this user acts as. Either may be empty.
pub(super) fn who_asks(user: &str, acting_as: &str) -> String {
    match (user, acting_as) {
        ("", "") => String::new(),
        (user, "") => format!("user {user}"),
        ("", other) => format!("as user {other}"),
        (user, other) => format!("{user} as user {other}"),
    }
}

/// Why there is no connection, or no usable answer. Every message says what happened, to what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is no kubeconfig, and this is not inside a pod.
    #[error(
        "no kubeconfig: looked for {}, and this is not inside a pod; set KUBECONFIG or give --kubeconfig",
        list_paths(.looked_at)
    )]
    NoKubeconfig {
        /// The files that were tried.
        looked_at: Vec<PathBuf>,
    },
    /// All kubeconfig files that exist are empty.
    #[error(
        "kubeconfig {}: empty, without a cluster, context or user; give another with KUBECONFIG or --kubeconfig",
        list_paths(.files)
    )]
    EmptyKubeconfig {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// A kubeconfig file, or a file that it names, cannot be used.
    #[error("kubeconfig {}: {reason}", .file.display())]
    Kubeconfig {
        /// The file at fault.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No context is selected.
    #[error(
        "the kubeconfig has no current context; give --context, or choose one with kubectl config use-context ({})",
        list_names(.known)
    )]
    NoContext {
        /// The contexts in the kubeconfig.
        known: Vec<String>,
    },
    /// The requested context, cluster or user does not exist, or the one that is named by what is used.
    #[error("there is no {sort} {name:?} in the kubeconfig ({})", list_names(.known))]
    NotFound {
        /// `context`, `cluster` or `user`.
        sort: &'static str,
        /// The one that is missing.
        name: String,
        /// Those in the kubeconfig.
        known: Vec<String>,
    },
    /// An invalid setting, from any source.
    #[error("{what}: {reason}")]
    Setting {
        /// Which setting: `server "…"`, `--certificate-authority …`.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There are no credentials: a plugin failed, or a token file is missing.
    #[error("no credentials for {endpoint}: {reason}")]
    Credentials {
        /// The server that they are for.
        endpoint: Endpoint,
        /// What failed, in the plugin's own words if it printed any.
        reason: String,
    },
    /// The server did not answer.
    #[error("cannot reach {endpoint}: {reason}")]
    Unreachable {
        /// The server that was tried.
        endpoint: Endpoint,
        /// Why: connection refused, name not resolved, timeout, or an untrusted certificate.
        reason: String,
    },
    /// The server rejects the credentials (401).
    #[error(
        "{endpoint} does not accept the credentials (401 Unauthorized); they may have expired: log in again, or choose \
            another --context"
    )]
    Unauthorized {
        /// The server that was asked.
        endpoint: Endpoint,
    },
    /// The server answers, but discovery is refused or malformed.
    #[error("{endpoint} fails discovery: {reason}")]
    Discovery {
        /// The server that was asked.
        endpoint: Endpoint,
        /// What it answered instead.
        reason: String,
    },
    /// Every list failed.
    #[error(
        "{endpoint} refuses all lists: {lists} failed, the first of them {first}; ask for permission to list, or \
         choose another namespace or --context"
    )]
    NothingRead {
        /// The server that was asked.
        endpoint: Box<Endpoint>,
        /// How many lists were tried.
        lists: usize,
        /// The first of them, and why it failed.
        first: String,
    },
    /// The server refused the one request that the whole command depends on, for example because of an invalid
    /// selector.
    #[error("cannot list {resource}: {reason}")]
    Refused {
        /// The resource, as `plural.group`.
        resource: String,
        /// The server's message.
        reason: String,
    },
}

fn list_paths(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "~/.kube/config, but there is no home directory".to_owned() } else { paths.join(", ") }
}

fn list_names(names: &[String]) -> String {
    /// The largest number of names in one message.
    const SHOWN: usize = 10;
    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", some_of(names, SHOWN)) }
}

/// Why a request failed. Displayed as the reason of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with an error.
    Refused(Refusal),
    /// Nothing reached the server: connection refused, name not resolved, an untrusted certificate; or the server says
    /// that it has not processed the request.
    Unconnected(String),
    /// An open connection broke.
    Interrupted(String),
    /// Nothing arrived for this long.
    TimedOut(Duration),
    /// The credentials could not be renewed.
    Credentials(String),
    /// Nothing was sent: the name or namespace can't be part of a URL.
    InvalidName,
    /// The answer can't be decoded.
    Malformed(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(refusal) => refusal.fmt(f),
            Failure::Unconnected(why) | Failure::Interrupted(why) => f.write_str(why),
            Failure::TimedOut(limit) => write!(f, "timed out after {limit:?}"),
            Failure::Credentials(why) => write!(f, "no credentials: {why}"),
            Failure::InvalidName => f.write_str("not a valid object name"),
            Failure::Malformed(why) => write!(f, "unreadable answer: {why}"),
        }
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Failure::Malformed(malformed.0)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl Answer {
    /// Any answer but a success is a failure.
    pub fn success(self) -> Result<Answer, Failure> {
        if self.status.is_success() { Ok(self) } else { Err(self.refusal().into()) }
    }
}

impl Failure {
    /// The full reason, for an error about this failure alone: also includes the server's message on why it is
    /// forbidden.
    pub fn in_full(&self) -> String {
        match self {
            Failure::Refused(refusal)
                if refusal.status == http::StatusCode::FORBIDDEN && !refusal.message.is_empty() =>
            {
                format!("forbidden: {}", without_preamble(&refusal.message))
            }
            failure => failure.to_string(),
        }
    }

    /// This failure of a request for an object. A 404 that names another object is no answer to it.
    pub fn about(self, path: &ObjectPath) -> Self {
        match self.not_found() {
            Some(refusal) if refusal.named.as_ref().is_some_and(|named| !path.is_named(named)) => {
                Failure::Malformed(format!("it is about another object: {}", refusal.message))
            }
            _ => self,
        }
    }

    /// Whether the server says that this very object doesn't exist. A 404 for an unserved path doesn't say that
    /// (R3.16), nor one about another object.
    pub(crate) fn proves_absence(&self, path: &ObjectPath) -> bool {
        self.not_found().and_then(|refusal| refusal.named.as_ref()).is_some_and(|named| path.is_named(named))
    }

    /// Whether the requested path isn't served (any more).
    pub(crate) fn is_missing_api(&self) -> bool {
        self.not_found().is_some_and(|refusal| refusal.named.is_none())
    }

    fn not_found(&self) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) if refusal.status == http::StatusCode::NOT_FOUND => Some(refusal),
            _ => None,
        }
    }

    /// The status of the answer, if there is one.
    pub fn status(&self) -> Option<http::StatusCode> {
        match self {
            Failure::Refused(refusal) => Some(refusal.status),
            _ => None,
        }
    }

    /// Classifies an error of the HTTP client, which wraps errors several times.
    pub(super) fn of_transport(error: &(dyn Error + 'static)) -> Failure {
        let mut chain = Vec::new();
        let mut kind = None;
        let mut next = Some(error);
        while let Some(error) = next {
            chain.push(error.to_string());
            next = error.source();
            if error.is::<Unprocessed>() {
                return Failure::Unconnected(error.to_string());
            }
            if let Some(error) = error.downcast_ref::<io::Error>() {
                kind = Some(error.kind());
                // `source()` of an io::Error skips the error that it wraps.
                next = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
            }
            if let Some(error) = error.downcast_ref::<h2::Error>() {
                kind = error.get_io().map_or(kind, |error| Some(error.kind()));
                if error.is_go_away() && error.is_remote() {
                    return Failure::Interrupted("the server closed the connection".to_owned());
                }
            }
        }
        let innermost = chain.last().cloned().unwrap_or_default();
        let says = |text: &str| chain.iter().any(|message| message.contains(text));
        match kind {
            _ if says("dns error") => Failure::Unconnected(format!("its name cannot be resolved: {innermost}")),
            _ if says("invalid peer certificate") => Failure::Unconnected(format!(
                "its certificate is not trusted: {}",
                innermost.trim_start_matches("invalid peer certificate: ")
            )),
            Some(io::ErrorKind::ConnectionRefused) => {
                Failure::Unconnected("connection refused; is it running?".to_owned())
            }
            Some(io::ErrorKind::TimedOut) => Failure::Unconnected("the connection timed out".to_owned()),
            Some(
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => Failure::Interrupted("the connection was lost".to_owned()),
            _ if says("connection closed before message completed") => {
                Failure::Interrupted("the connection was lost".to_owned())
            }
            _ if says("(Connect)") => Failure::Unconnected(innermost),
            _ => Failure::Interrupted(innermost),
        }
    }
}

impl Refusal {
    /// Whether the user lacks the right.
    pub fn is_of_authorizer(&self) -> bool {
        self.status == http::StatusCode::FORBIDDEN && without_preamble(&self.message) != self.message
    }

    /// Whether admission failed because a webhook could not be called: then nothing is stored
    /// (kubernetes/apiserver pkg/util/webhook/error.go: ErrCallingWebhook).
    pub fn is_of_webhook(&self) -> bool {
        self.status == http::StatusCode::INTERNAL_SERVER_ERROR
            && self.message.starts_with("Internal error occurred: failed calling webhook ")
    }
}

/// What the authorizer says, without the words that it begins with: `pods "web" is forbidden: User "me" cannot get …`.
/// What admission says stays whole.
fn without_preamble(message: &str) -> &str {
    match message.split_once("forbidden: User ") {
        Some((before, _)) if before.is_empty() || before.ends_with(" is ") => {
            &message[before.len() + "forbidden: ".len()..]
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_what_there_is() {
        let known = vec!["dev".into(), "test".into()];
        let error = ConnectError::NotFound { sort: "context", name: "prod".into(), known };
        assert_eq!(error.to_string(), "there is no context \"prod\" in the kubeconfig (it has dev, test)");
        let error = ConnectError::NoContext { known: vec![] };
        assert!(error.to_string().ends_with("(it has none)"));
        let endpoint = Endpoint {
            context: "dev".into(),
            who: who_asks("me", ""),
            server: "localhost:6443".into(),
            ..Default::default()
        };
        let error = ConnectError::Unreachable { endpoint: endpoint.clone(), reason: "connection refused".into() };
        assert_eq!(error.to_string(), "cannot reach localhost:6443 (context dev, user me): connection refused");
        let other = Endpoint { who: who_asks("me", "you"), ..endpoint.clone() };
        assert_eq!(other.to_string(), "localhost:6443 (context dev, me as user you)");
        let endpoint = Endpoint { proxy: "proxy:3128".into(), ..endpoint };
        assert_eq!(endpoint.to_string(), "localhost:6443 through the proxy proxy:3128 (context dev, user me)");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Wrapped(&'static str, #[source] io::Error);

    #[test]
    fn forbidden_is_said_once() {
        for (message, rest) in [
            ("forbidden: User \"me\" cannot get path \"/api\"", "User \"me\" cannot get path \"/api\""),
            ("pods \"web\" is forbidden: User \"me\" cannot get", "User \"me\" cannot get"),
            ("pods \"web\" is forbidden: exceeded quota", "pods \"web\" is forbidden: exceeded quota"),
            ("says the test", "says the test"),
        ] {
            assert_eq!(without_preamble(message), rest);
        }
    }

    #[test]
    fn causes_are_found_behind_their_wrappings() {
        let refused = Wrapped("client error (Connect)", io::ErrorKind::ConnectionRefused.into());
        assert_eq!(Failure::of_transport(&refused).to_string(), "connection refused; is it running?");
        let dns =
            Wrapped("dns error", io::Error::other("failed to lookup address information: Name or service not known"));
        assert_eq!(
            Failure::of_transport(&dns),
            Failure::Unconnected(
                "its name cannot be resolved: failed to lookup address information: Name or service not known".into()
            )
        );
        let tls = Wrapped(
            "client error (Connect)",
            io::Error::new(io::ErrorKind::InvalidData, io::Error::other("invalid peer certificate: UnknownIssuer")),
        );
        assert_eq!(Failure::of_transport(&tls).to_string(), "its certificate is not trusted: UnknownIssuer");
        let reset = Wrapped("client error (SendRequest)", io::ErrorKind::ConnectionReset.into());
        assert!(matches!(Failure::of_transport(&reset), Failure::Interrupted(_)));
    }
}
