//! What can go wrong before there is anything to show. What goes wrong with one list, look-up or group version is a
//! [`Gap`](crate::model::Gap) instead.

use std::path::PathBuf;

/// Where a connection leads, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The kubeconfig context; empty inside a pod, or when only `--server` was given.
    pub context: String,
    /// The kubeconfig user; empty where there is none.
    pub user: String,
    /// `host:port` of the API server.
    pub server: String,
    /// `host:port` of the proxy in between; empty where there is none.
    pub proxy: String,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.server)?;
        if !self.proxy.is_empty() {
            write!(f, " through the proxy {}", self.proxy)?;
        }
        match (self.context.as_str(), self.user.as_str()) {
            ("", "") => Ok(()),
            (context, "") => write!(f, " (context {context})"),
            ("", user) => write!(f, " (user {user})"),
            (context, user) => write!(f, " (context {context}, user {user})"),
        }
    }
}

/// Why there is no connection, or no answer that anything could be built on. Every message says what happened, to what,
/// and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is no kubeconfig, and this is not inside a pod.
    #[error(
        "no kubeconfig: looked for {}, and this is not inside a pod; set KUBECONFIG or give --kubeconfig",
        list_paths(.looked_at)
    )]
    NoKubeconfig {
        /// The files that were looked for.
        looked_at: Vec<PathBuf>,
    },
    /// A kubeconfig file, or one that it refers to, cannot be used.
    #[error("kubeconfig {}: {reason}", .file.display())]
    Kubeconfig {
        /// The file at fault.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No context is chosen.
    #[error(
        "the kubeconfig has no current context; give --context, or choose one with kubectl config use-context ({})",
        list_names(.known)
    )]
    NoContext {
        /// The contexts there are.
        known: Vec<String>,
    },
    /// The context that was asked for, or that is current, does not exist.
    #[error("there is no context {context:?} in the kubeconfig ({})", list_names(.known))]
    ContextNotFound {
        /// The one that was asked for.
        context: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The cluster that was asked for, or that the context names, does not exist.
    #[error("there is no cluster {cluster:?} in the kubeconfig ({})", list_names(.known))]
    ClusterNotFound {
        /// The one that was asked for.
        cluster: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The user that was asked for does not exist.
    #[error("there is no user {user:?} in the kubeconfig ({})", list_names(.known))]
    UserNotFound {
        /// The one that was asked for.
        user: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// A setting, wherever it comes from, makes no sense.
    #[error("{what}: {reason}")]
    Setting {
        /// Which setting: `server "…"`, `--certificate-authority …`.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The credentials could not be had: a plugin failed, a token file is missing.
    #[error("no credentials for {endpoint}: {reason}")]
    Credentials {
        /// For what.
        endpoint: Endpoint,
        /// What failed, in the plugin's own words where it has any.
        reason: String,
    },
    /// The server did not answer.
    #[error("cannot reach {endpoint}: {reason}")]
    Unreachable {
        /// What was tried.
        endpoint: Endpoint,
        /// Refused, unresolvable, timed out, a certificate that is not trusted.
        reason: String,
    },
    /// The server does not know who is asking (401).
    #[error(
        "{endpoint} does not accept the credentials (401 Unauthorized); they may have expired: log in again, or choose \
            another --context"
    )]
    Unauthorized {
        /// What was tried.
        endpoint: Endpoint,
    },
    /// The server answers, but not with what can be worked with: discovery is refused or garbled.
    #[error("{endpoint} fails discovery: {reason}")]
    Discovery {
        /// What was asked.
        endpoint: Endpoint,
        /// What it says instead.
        reason: String,
    },
    /// Every single list failed.
    #[error(
        "{endpoint} refuses all reads: all {lists} lists failed, the first with: {reason}; ask for permission \
         to list, or choose another namespace or --context"
    )]
    NothingRead {
        /// What was asked.
        endpoint: Box<Endpoint>,
        /// How many lists were tried.
        lists: usize,
        /// The first failure.
        reason: String,
    },
    /// One request that the whole command depends on was refused: a selector that the server can't evaluate, say.
    #[error("cannot list {resource}: {reason}")]
    Refused {
        /// What was asked for, as `plural.group`.
        resource: String,
        /// The server's own words.
        reason: String,
    },
}

fn list_paths(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "~/.kube/config, but there is no home directory".to_owned() } else { paths.join(", ") }
}

fn list_names(names: &[String]) -> String {
    /// More names than this help nobody.
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
        let error = ConnectError::ContextNotFound { context: "prod".into(), known: vec!["dev".into(), "test".into()] };
        assert_eq!(error.to_string(), "there is no context \"prod\" in the kubeconfig (it has dev, test)");
        let error = ConnectError::NoContext { known: vec![] };
        assert!(error.to_string().ends_with("(it has none)"));
        let endpoint = Endpoint {
            context: "dev".into(),
            user: "me".into(),
            server: "localhost:6443".into(),
            ..Default::default()
        };
        let error = ConnectError::Unreachable { endpoint: endpoint.clone(), reason: "connection refused".into() };
        assert_eq!(error.to_string(), "cannot reach localhost:6443 (context dev, user me): connection refused");
        let endpoint = Endpoint { proxy: "proxy:3128".into(), ..endpoint };
        assert_eq!(endpoint.to_string(), "localhost:6443 through the proxy proxy:3128 (context dev, user me)");
    }
}
