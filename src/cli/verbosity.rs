//! What `-v` tells of each request, as kubectl does (client-go's `transport/round_trippers.go` and `rest/request.go`).

use std::{collections::HashSet, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use owo_colors::OwoColorize as _;
use parking_lot::Mutex;

use crate::render::escape::visible;
use gc_cluster::cluster::Exchange;
use gc_core::command_line::ShellCommand;

/// From this level on: method, URL, status and time of each request.
const URL: i32 = 6;
/// … and the headers that were sent.
const REQUEST_HEADERS: i32 = 7;
/// … and both bodies and the headers of the answer.
const BODIES: i32 = 8;
/// … as a curl command, and nothing is shortened.
const CURL: i32 = 9;

/// The longest text of a body below [`CURL`].
const LONGEST_BODY: usize = 1024;

const MASKED: &str = "<masked>";

/// The lines about an exchange; none below level 6.
pub(super) fn lines(level: i32, exchange: &Exchange<'_>) -> Vec<String> {
    if level < URL {
        return Vec::new();
    }
    let url = match level {
        CURL.. => exchange.url.to_owned(),
        _ => short(exchange.url),
    };
    let url = format!("{}{}", exchange.server, visible(&url));
    let took = milliseconds(exchange.took);
    let ended = match exchange.status {
        Ok(status) => format!("{} in {took}", reason(status)),
        Err(why) => format!("failed in {took}: {}", visible(why)),
    };
    let method = exchange.method;
    let mut lines = Vec::new();
    match level {
        CURL.. => lines.extend([curl(exchange, &url), format!("{method} {url} {ended}")]),
        REQUEST_HEADERS.. => {
            lines.extend([format!("{method} {url}"), "Request Headers:".to_owned()]);
            lines.extend(headers(exchange.request_headers));
        }
        _ => lines.push(format!("{method} {url} {ended}")),
    }
    if level >= BODIES && !exchange.request_body.is_empty() {
        lines.push(format!("Request Body: {}", body(level, exchange.url, exchange.request_body)));
    }
    if (REQUEST_HEADERS..CURL).contains(&level) {
        lines.push(format!("Response Status: {ended}"));
    }
    if let Some(answered) = exchange.response_headers.filter(|_| level >= BODIES) {
        lines.push("Response Headers:".to_owned());
        lines.extend(headers(answered));
    }
    if let Some(answer) = exchange.response_body.filter(|_| level >= BODIES) {
        lines.push(format!("Response Body: {}", body(level, exchange.url, answer)));
    }
    lines
}

fn milliseconds(took: Duration) -> String {
    format!("{} milliseconds", took.as_millis())
}

fn reason(status: u16) -> String {
    StatusCode::from_u16(status).map_or_else(|_| status.to_string(), |status| status.to_string())
}

/// A URL without its continue token, which is long and meaningless.
fn short(url: &str) -> String {
    let Some((before, token)) = url.split_once("continue=") else { return url.to_owned() };
    let after = token.find('&').map_or("", |end| &token[end..]);
    format!("{before}continue=…{after}")
}

fn curl(exchange: &Exchange<'_>, url: &str) -> String {
    let headers = exchange.request_headers.iter();
    let headers = headers.flat_map(|(name, value)| ["-H".to_owned(), line(name, value)]);
    let command = ShellCommand::new("curl").args(["-v", "-X", exchange.method]).args(headers);
    command.arg(url).to_string()
}

fn headers(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let mut lines: Vec<String> = headers.iter().map(|(name, value)| format!("    {}", line(name, value))).collect();
    lines.sort();
    lines.into_iter()
}

fn line(name: &HeaderName, value: &HeaderValue) -> String {
    format!("{}: {}", title(name), masked(name, value))
}

/// `User-Agent` for `user-agent`.
fn title(name: &HeaderName) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    name.as_str().split('-').map(word).collect::<Vec<_>>().join("-")
}

/// A header's value, without credentials: client-go's `maskValue`, and cookies.
fn masked(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    if name == header::AUTHORIZATION || name == header::PROXY_AUTHORIZATION {
        let kind = text.split(' ').next().unwrap_or_default();
        return match kind.to_ascii_lowercase().as_str() {
            "bearer" | "basic" | "negotiate" => format!("{kind} {MASKED}"),
            _ => MASKED.to_owned(),
        };
    }
    if value.is_sensitive() || name == header::COOKIE || name == header::SET_COOKIE {
        return MASKED.to_owned();
    }
    visible(&text).into_owned()
}

/// A body in one line.
fn body(level: i32, url: &str, body: &[u8]) -> String {
    if is_secret(url) {
        return MASKED.to_owned();
    }
    let longest = if level >= CURL { usize::MAX } else { LONGEST_BODY };
    // What kubectl takes for no text.
    if body.iter().any(|byte| *byte < b'\n') {
        return format!("<{} bytes that are no text>", body.len());
    }
    let text = String::from_utf8_lossy(body);
    let end = text.char_indices().nth(longest).map_or(text.len(), |(end, _)| end);
    let more = text[end..].chars().count();
    let more = if more == 0 { String::new() } else { format!(" [truncated {more} chars]") };
    format!("{}{more}", visible(&text[..end]))
}

/// Whether bodies of this URL are or may contain credentials: kubectl would print them.
fn is_secret(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    path.split('/').any(|word| ["secrets", "token", "tokenreviews", "tokenrequests"].contains(&word))
}

/// A command that runs for months remembers no more than this many.
const MOST: usize = 10_000;

/// The warnings so far.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    /// By the server.
    told: Mutex<HashSet<String>>,
    /// By this program. These are no warnings of the server, which `--warnings-as-errors` is about.
    own: Mutex<HashSet<String>>,
}

impl Warnings {
    /// The line to print; `None` if it was printed before.
    pub(super) fn line(&self, text: &str, coloured: bool) -> Option<String> {
        let mut told = self.told.lock();
        if told.len() >= MOST || !told.insert(text.to_owned()) {
            return None;
        }
        let text = visible(text);
        Some(if coloured { format!("{} {text}", "Warning:".yellow().bold()) } else { format!("Warning: {text}") })
    }

    /// Whether this program has not said this before.
    pub(super) fn is_news(&self, text: &str) -> bool {
        self.own.lock().insert(text.to_owned())
    }

    /// The error of `--warnings-as-errors`; `None` without warnings.
    pub(super) fn as_error(&self) -> Option<String> {
        match self.told.lock().len() {
            0 => None,
            1 => Some("1 warning received".to_owned()),
            count => Some(format!("{count} warnings received")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(level: i32, url: &str, status: Result<u16, &str>, body: &[u8]) -> Vec<String> {
        let mut sent = HeaderMap::new();
        sent.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        sent.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer hidden"));
        let mut answered = HeaderMap::new();
        answered.insert(header::SET_COOKIE, HeaderValue::from_static("hidden"));
        answered.insert("x-text", HeaderValue::from_bytes(b"\xc2\x9b31m").unwrap());
        let answer = status.is_ok();
        let told = lines(
            level,
            &Exchange {
                method: "GET",
                server: "https://h:6443",
                url,
                status,
                took: Duration::from_micros(12_345),
                request_headers: &sent,
                request_body: b"{}",
                response_headers: answer.then_some(&answered),
                response_body: answer.then_some(body),
            },
        );
        assert!(!told.concat().contains("hidden"), "{told:?}");
        told
    }

    #[test]
    fn level_6_tells_each_request_in_a_line() {
        let line = |url, status| told(6, url, status, b"").join("\n");
        assert_eq!(
            line("/api/v1/pods?limit=500", Ok(200)),
            "GET https://h:6443/api/v1/pods?limit=500 200 OK in 12 milliseconds"
        );
        assert_eq!(
            line("/apis", Err("connection refused")),
            "GET https://h:6443/apis failed in 12 milliseconds: connection refused"
        );
        assert!(line("/p?limit=5&continue=eyJ2&a=b", Ok(410)).contains("/p?limit=5&continue=…&a=b 410 Gone"));
        assert!(line("/p?continue=eyJ2", Ok(200)).contains("/p?continue=… 200 OK"));
        assert!(told(5, "/", Ok(200), b"").is_empty());
    }

    #[test]
    fn level_7_tells_the_headers_too() {
        assert_eq!(
            told(7, "/apis", Ok(200), b"{}"),
            [
                "GET https://h:6443/apis",
                "Request Headers:",
                "    Accept: application/json",
                "    Authorization: Bearer <masked>",
                "Response Status: 200 OK in 12 milliseconds",
            ]
        );
    }

    #[test]
    fn level_8_tells_bodies_in_part_and_9_whole() {
        let long = format!("{{\n\"a\": \"\u{9b}{}\"}}", "b".repeat(2000));
        let told_8 = told(8, "/apis", Ok(200), long.as_bytes());
        assert!(
            told_8.contains(&"Request Body: {}".to_owned()) && told_8.contains(&"    Set-Cookie: <masked>".to_owned())
        );
        assert!(told_8.contains(&"    X-Text: \\u{9b}31m".to_owned()), "{told_8:?}");
        let body = told_8.last().unwrap();
        assert!(body.starts_with("Response Body: {\\n\"a\": \"\\u{9b}bbb"), "{body}");
        assert!(body.ends_with("bb [truncated 987 chars]"), "{body}");
        let told_9 = told(9, "/p?continue=eyJ2", Ok(200), long.as_bytes());
        assert_eq!(
            told_9[0],
            "curl -v -X GET -H 'Accept: application/json' -H 'Authorization: Bearer <masked>' \
             'https://h:6443/p?continue=eyJ2'"
        );
        assert!(told_9.last().unwrap().ends_with("bbb\"}"));
        let told_binary = told(8, "/apis", Ok(200), b"k8s\0\n\x0d0123456789abc");
        assert_eq!(told_binary.last().unwrap(), "Response Body: <19 bytes that are no text>");
    }

    #[test]
    fn what_is_in_secrets_is_never_told() {
        for url in ["/api/v1/secrets?limit=5", "/api/v1/namespaces/shop/secrets/a"] {
            let told = told(9, url, Ok(200), b"{\"data\": \"hidden\"}");
            assert!(told.contains(&"Response Body: <masked>".to_owned()), "{told:?}");
        }
    }
}

#[cfg(test)]
mod warnings_tests {
    use super::*;

    #[test]
    fn each_warning_is_told_once() {
        let warnings = Warnings::default();
        assert!(warnings.is_news("old") && !warnings.is_news("old"));
        assert_eq!(warnings.as_error(), None);
        assert_eq!(warnings.line("a\u{202e}b", false).unwrap(), "Warning: a\\u{202e}b");
        assert_eq!(warnings.line("a\u{202e}b", false), None);
        assert_eq!(warnings.as_error().unwrap(), "1 warning received");
        assert!(warnings.line("c", true).unwrap().ends_with("m c"));
        assert_eq!(warnings.as_error().unwrap(), "2 warnings received");
    }
}
