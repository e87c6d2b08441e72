//! How one request can fail, grouped by how the caller has to react.

use std::{error::Error, io, time::Duration};

use super::{
    answer::{Malformed, Refusal},
    path::ObjectPath,
    transport::Unprocessed,
};

/// Why a request failed. Displayed as the reason of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
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

impl Failure {
    /// The full reason, for an error about this failure alone: also includes the server's message on why it is
    /// forbidden.
    pub(crate) fn in_full(&self) -> String {
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
    pub(crate) fn about(self, path: &ObjectPath) -> Self {
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
    pub(crate) fn status(&self) -> Option<http::StatusCode> {
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
