//! Whether to use a proxy: the environment's rules, read as in kubectl. kube would also use the environment's proxy,
//! but matches NO_PROXY against the proxy instead of the server.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// The proxy to use for `server`, from the environment.
pub(super) fn from_environment(server: &Uri, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Uri>, String> {
    let names =
        if server.scheme_str() == Some("http") { ["HTTP_PROXY", "http_proxy"] } else { ["HTTPS_PROXY", "https_proxy"] };
    let first = |names: [&str; 2]| names.into_iter().filter_map(&variable).find(|value| !value.trim().is_empty());
    let Some(proxy) = first(names) else { return Ok(None) };
    // As in Go, loopback addresses are never reached through a proxy.
    if is_loopback(server) || bypasses(server, &first(["NO_PROXY", "no_proxy"]).unwrap_or_default()) {
        return Ok(None);
    }
    parse(&proxy).map(Some)
}

/// Reads a proxy's address; without a scheme it means HTTP.
pub(super) fn parse(proxy: &str) -> Result<Uri, String> {
    let proxy = proxy.trim();
    let whole = match proxy.split_once("://") {
        // The proxy resolves the name in both cases.
        Some(("socks5h", rest)) => format!("socks5://{rest}"),
        Some(_) => proxy.to_owned(),
        None => format!("http://{proxy}"),
    };
    // The address may contain a password: don't repeat it in the error.
    whole
        .parse::<Uri>()
        .ok()
        .filter(|uri| matches!(uri.scheme_str(), Some("http" | "https" | "socks5")) && uri.host().is_some())
        .ok_or_else(|| "not the address of an HTTP or SOCKS5 proxy".to_owned())
}

/// Whether the server is on this machine.
pub(super) fn is_loopback(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether NO_PROXY excludes the server: `*`, addresses, CIDR ranges, or hosts with their subdomains, each with or
/// without a port.
fn bypasses(server: &Uri, no_proxy: &str) -> bool {
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    let entries: Vec<&str> = no_proxy.split(',').filter_map(|entry| for_port(entry.trim(), port)).collect();
    if entries.contains(&"*") {
        return true;
    }
    // The proxy's address doesn't matter here.
    let matcher = Matcher::builder().all("http://proxy.invalid").no(entries.join(",")).build();
    matcher.intercept(server).is_none()
}

/// An entry without its port; `None` if it is for another port.
fn for_port(entry: &str, wanted: u16) -> Option<&str> {
    let entry = entry.strip_prefix("*.").unwrap_or(entry);
    if entry.is_empty() || entry.parse::<IpAddr>().is_ok() {
        return Some(entry).filter(|entry| !entry.is_empty());
    }
    match entry.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
        Some((host, Ok(port))) => (port == wanted).then(|| host.trim_start_matches('[').trim_end_matches(']')),
        _ => Some(entry.trim_start_matches('[').trim_end_matches(']')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bypassed(server: &str, no_proxy: &str) -> bool {
        bypasses(&server.parse().unwrap(), no_proxy)
    }

    #[test]
    fn no_proxy_takes_hosts_and_their_subdomains() {
        for no_proxy in ["example.com", ".example.com", "*.example.com", "a, example.com ,", "example.com:6443", "*"] {
            assert!(bypassed("https://api.example.com:6443", no_proxy), "{no_proxy}");
        }
        for no_proxy in ["", ",", "ample.com", "other.com", "example.com:443", "example.com.org", "example"] {
            assert!(!bypassed("https://api.example.com:6443", no_proxy), "{no_proxy}");
        }
        assert!(bypassed("https://example.com", "example.com:443"), "the scheme's port is the port");
    }

    #[test]
    fn no_proxy_takes_addresses_and_ranges() {
        for no_proxy in ["10.1.2.3", "10.0.0.0/8", "x,10.1.0.0/16", "10.1.2.3:6443"] {
            assert!(bypassed("https://10.1.2.3:6443", no_proxy), "{no_proxy}");
        }
        for no_proxy in ["10.1.2.4", "192.168.0.0/16", "10.0.0.0/99", "10.1.2.3:443"] {
            assert!(!bypassed("https://10.1.2.3:6443", no_proxy), "{no_proxy}");
        }
        for no_proxy in ["fd00::1", "fd00::/8", "[fd00::1]", "[fd00::1]:6443"] {
            assert!(bypassed("https://[fd00::1]:6443", no_proxy), "{no_proxy}");
        }
    }

    #[test]
    fn the_environment_is_read_as_kubectl_reads_it() {
        let proxy = |server: &str, variables: &[(&str, &str)]| {
            let found = from_environment(&server.parse().unwrap(), |name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            });
            found.map(|uri| uri.map(|uri| uri.to_string()))
        };
        let both = [("HTTPS_PROXY", "proxy:3128"), ("no_proxy", "example.com")];
        assert_eq!(proxy("https://api.example.org", &both), Ok(Some("http://proxy:3128/".to_owned())));
        assert_eq!(proxy("https://api.example.com", &both), Ok(None));
        assert_eq!(proxy("https://127.0.0.1:6443", &both), Ok(None));
        assert_eq!(proxy("https://localhost:6443", &both), Ok(None));
        assert_eq!(proxy("https://[::1]:6443", &both), Ok(None));
        assert_eq!(proxy("http://api.example.org", &both), Ok(None), "HTTPS_PROXY is for https");
        assert_eq!(proxy("https://h", &[("https_proxy", "socks5h://p:1")]), Ok(Some("socks5://p:1/".to_owned())));
        assert_eq!(
            proxy("https://h", &[("HTTPS_PROXY", " "), ("https_proxy", "p:1")]),
            Ok(Some("http://p:1/".to_owned()))
        );
        assert!(proxy("https://h", &[("HTTPS_PROXY", "ftp://p")]).is_err());
        assert!(proxy("https://h", &[("HTTPS_PROXY", "http://")]).is_err());
    }
}
