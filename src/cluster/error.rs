//! Errors that leave nothing to show. If only one list, look-up or group version fails, a [`Gap`](crate::model::Gap) is
//! recorded instead.

use std::path::PathBuf;

use crate::escape::visible;

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
    match names {
        [] => "it has none".to_owned(),
        _ if names.len() > SHOWN => format!("it has {} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
        _ => format!("it has {}", names.join(", ")),
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
}
