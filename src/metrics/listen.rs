//! The address to listen at, as Kubernetes' own flags take it.

use std::{fmt, str::FromStr};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// A name or an address; empty: every interface.
    pub host: String,
    /// Zero: a free one.
    pub port: u16,
}

/// What can't be listened at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address to listen at: give a host and a port, such as :8080, 127.0.0.1:8080 or [::1]:8080")]
pub struct ListenError(String);

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let wrong = || ListenError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| digits).ok_or_else(wrong)?;
        let bracketed = host.strip_prefix('[').map(|rest| rest.strip_suffix(']').ok_or_else(wrong)).transpose()?;
        let host = match bracketed {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().map(|_| inner).map_err(|_| wrong())?,
            // Without brackets nobody can tell where an IPv6 address ends.
            None => Some(host).filter(|host| !host.contains([':', '/', '@', ' ', '[', ']'])).ok_or_else(wrong)?,
        };
        Ok(Listen { host: host.to_owned(), port })
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_kubernetes_reads_them() {
        for (text, host, port) in [
            (":8080", "", 8080),
            ("127.0.0.1:0", "127.0.0.1", 0),
            ("[::1]:0", "::1", 0),
            ("[::]:9090", "::", 9090),
            ("localhost:65535", "localhost", 65535),
        ] {
            let read: Listen = text.parse().unwrap();
            assert_eq!((read.host.as_str(), read.port), (host, port), "{text}");
            assert_eq!(read.to_string(), text);
        }
        for wrong in [
            "",
            "8080",
            "localhost",
            ":",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[name]:80",
            ":65536",
            ":-1",
            ":+1",
            "http://h:80",
            "a b:80",
        ] {
            let error = wrong.parse::<Listen>().unwrap_err();
            assert!(error.to_string().contains("is no address to listen at"), "{wrong}");
        }
    }
}
