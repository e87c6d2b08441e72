//! What the environment says about HTTP/2, as client-go reads it (apimachinery's `util/net/http.go`).

use std::time::Duration;

const READ_IDLE: u64 = 30;
const PING: u64 = 15;
/// A day.
const LONGEST: u64 = 24 * 60 * 60;

/// Whether HTTP/2 is used, and how it is noticed that a connection is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub http2: bool,
    /// After how much silence the server is pinged; `None`: never.
    pub read_idle: Option<Duration>,
    /// How long its answer may take.
    pub ping: Duration,
}

impl Settings {
    pub(super) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        // As in client-go: what is no number means the default.
        let seconds = |name: &str, usual: u64| {
            let set = variable(name).and_then(|text| text.parse::<i64>().ok());
            // Longer makes no difference, and much longer is no time any more.
            set.map_or(usual, |seconds| u64::try_from(seconds).unwrap_or(0).min(LONGEST))
        };
        let some = |seconds: u64| Some(Duration::from_secs(seconds)).filter(|time| !time.is_zero());
        Settings {
            http2: variable("DISABLE_HTTP2").is_none_or(|value| value.is_empty()),
            read_idle: some(seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", READ_IDLE)),
            // Zero means the default of Go's package http2.
            ping: some(seconds("HTTP2_PING_TIMEOUT_SECONDS", PING)).unwrap_or(Duration::from_secs(PING)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Settings {
        Settings::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_is_read_as_client_go_reads_it() {
        let seconds = Duration::from_secs;
        let usual = Settings { http2: true, read_idle: Some(seconds(30)), ping: seconds(15) };
        assert_eq!(of(&[]), usual);
        assert_eq!(of(&[("DISABLE_HTTP2", "")]), usual);
        // Any value: client-go looks only at its length.
        for value in ["1", "true", "false", "0"] {
            assert_eq!(of(&[("DISABLE_HTTP2", value)]), Settings { http2: false, ..usual });
        }
        let (read_idle, ping) = ("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS");
        let given = Settings { read_idle: Some(seconds(5)), ping: seconds(2), ..usual };
        assert_eq!(of(&[(read_idle, "5"), (ping, "2")]), given);
        assert_eq!(of(&[(read_idle, "soon"), (ping, "1.5")]), usual);
        assert_eq!(of(&[(read_idle, "0"), (ping, "0")]), Settings { read_idle: None, ..usual });
    }
}
