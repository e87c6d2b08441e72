//! The address to listen on, in the format of Kubernetes' own flags.

use std::{fmt, str::FromStr};

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// A host name or address; empty: all interfaces.
    pub host: String,
    /// Zero: any free port.
    pub port: u16,
}

/// An invalid address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a listen address: give a host and a port, such as :8080, 127.0.0.1:8080 or [::1]:8080")]
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
            // Without brackets, the end of an IPv6 address is ambiguous.
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
    fn addresses_are_parsed_as_by_kubernetes() {
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
            assert!(error.to_string().contains("is not a listen address"), "{wrong}");
        }
    }
}
