//! URLs as messages and files show them: without what may be secret.

/// A URL without its name and password: what stands before the host, the host with its port, and what comes after it.
pub fn parts(url: &str) -> [&str; 3] {
    let (scheme, rest) = url.split_at(url.find("//").map_or(0, |at| at + 2));
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    [scheme, host, rest]
}

/// Whether this is a URL that can be fetched, and no path of a file.
pub fn is_fetched(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
}

/// A URL without its name and password.
pub fn without_password(url: &str) -> String {
    parts(url).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_left_out() {
        for (url, shown) in [
            ("https://u:p@h:1/a?b#c", "https://h:1/a?b#c"),
            ("ftp://u:p@x@h", "ftp://h"),
            ("//u:p@h/a@b", "//h/a@b"),
            ("u:p@h", "h"),
            ("https://h?u:p@x", "https://h?u:p@x"),
            ("", ""),
        ] {
            assert_eq!(without_password(url), shown);
        }
        assert_eq!(parts("https://h:8443/T0/SECRET"), ["https://", "h:8443", "/T0/SECRET"]);
    }
}
