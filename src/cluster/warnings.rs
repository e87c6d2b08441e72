//! The `Warning` headers of answers, read as kubectl reads them (apimachinery's `util/net/http.go`,
//! `ParseWarningHeaders`).

use http::{HeaderMap, Method, header};

/// The code of the API server's warnings; kubectl shows no others (client-go's `rest/warnings.go`).
const MISCELLANEOUS: &str = "299";

/// Resources of which each read has the same warning: they are deprecated, and nothing else has their objects. Commands
/// read them because they read everything; nobody has asked for them.
const READ_ANYWAY: [&str; 2] = ["endpoints", "componentstatuses"];

/// The warnings in the answer to a request.
pub(super) fn of(method: &Method, url: &str, headers: &HeaderMap) -> Vec<String> {
    if method == Method::GET && is_read_anyway(url) {
        return Vec::new();
    }
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
    texts.flat_map(parse).collect()
}

fn is_read_anyway(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    let Some(core) = path.split("/api/v1/").nth(1) else { return false };
    let words: Vec<&str> = core.split('/').collect();
    let plural = if words[0] == "namespaces" { words.get(2) } else { words.first() };
    plural.is_some_and(|plural| READ_ANYWAY.contains(plural))
}

/// The texts in one header: `CODE AGENT "TEXT" "DATE", …`. From the first mistake on, nothing more is read.
fn parse(header: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut rest = header.trim();
    while let Some((code, text, next)) = first(rest) {
        if code == MISCELLANEOUS && !text.is_empty() {
            warnings.push(text);
        }
        rest = next;
    }
    warnings
}

/// The code and the text of the first warning, and what follows it.
fn first(header: &str) -> Option<(&str, String, &str)> {
    let mut parts = header.splitn(3, ' ');
    let (code, agent, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let valid_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    if !valid_code || agent.is_empty() || agent.chars().any(char::is_control) {
        return None;
    }
    let (text, rest) = quoted(rest)?;
    if text.chars().any(char::is_control) {
        return None;
    }
    let rest = rest.trim();
    let rest = match rest.strip_prefix('"') {
        Some(date) => date.split_once('"')?.1.trim(),
        None => rest,
    };
    match rest.strip_prefix(',') {
        Some(next) => Some((code, text, next.trim())),
        None if rest.is_empty() => Some((code, text, "")),
        None => None,
    }
}

/// A quoted text without its quotes and backslashes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut unquoted = String::new();
    let text = text.strip_prefix('"')?;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((unquoted, &text[at + 1..])),
            '\\' => unquoted.push(chars.next()?.1),
            c => unquoted.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// The cases of apimachinery's `TestParseWarningHeaders`, and some more.
    #[test]
    fn headers_are_read_as_kubectl_reads_them() {
        assert_eq!(parse(r#"299 - "test warning""#), ["test warning"]);
        assert_eq!(parse(r#"299 - "a \"quoted\" \\ b""#), [r#"a "quoted" \ b"#]);
        assert_eq!(parse(r#"  299 - "a" "Mon, 1 Jan 2001 00:00:00 GMT" ,  299 - "b" , 299 x "c""#), ["a", "b", "c"]);
        assert_eq!(parse(r#"299 - "Iñtërnâtiônàlizætiøn, ok""#), ["Iñtërnâtiônàlizætiøn, ok"]);
        assert_eq!(parse(r#"199 - "other", 299 - "b""#), ["b"], "kubectl shows only 299");
        assert_eq!(parse(r#"299 - """#), [""; 0]);
        for broken in
            ["", "299", "299 -", "299 - ", "299 - a", r#"299 - "a"#, r#"2990 - "a""#, "299  \"a\"", r#"x - "a""#]
        {
            assert_eq!(parse(broken), [""; 0], "{broken}");
        }
        assert_eq!(parse("299 - \"a\u{1b}[31m\""), [""; 0], "control characters");
        assert_eq!(parse(r#"299 - "a" "date"#), [""; 0], "a date without an end");
        assert_eq!(parse(r#"299 - "a" b"#), [""; 0], "no comma between two warnings");
        assert_eq!(parse(r#"299 - "a", 299 - b"#), ["a"], "what was read before the mistake counts");
    }

    #[test]
    fn what_is_read_anyway_has_no_warnings() {
        let mut headers = HeaderMap::new();
        headers.append(header::WARNING, HeaderValue::from_static(r#"299 - "a""#));
        headers.append(header::WARNING, HeaderValue::from_static(r#"299 - "b""#));
        let told = |method: Method, url: &str| of(&method, url, &headers).len();
        for url in ["/api/v1/endpoints?limit=5", "/api/v1/namespaces/shop/endpoints", "/api/v1/componentstatuses/a"] {
            assert_eq!((told(Method::GET, url), told(Method::DELETE, url)), (0, 2), "{url}");
        }
        for url in ["/api/v1/pods", "/api/v1/namespaces/endpoints", "/apis/discovery.k8s.io/v1/endpointslices"] {
            assert_eq!(told(Method::GET, url), 2, "{url}");
        }
    }
}
