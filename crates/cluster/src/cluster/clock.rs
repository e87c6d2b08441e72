//! The time by the API server's clock. Its times, and those of the leases beside it, say nothing on another clock: that
//! of a laptop may be minutes off.

use std::sync::atomic::{AtomicI64, Ordering};

use http::{HeaderMap, header};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822};

/// Less than this many seconds are the way of an answer, and the `Date` header has whole seconds.
const SAME: i64 = 5;

/// How many seconds the clock of the API server is ahead of this machine's: a process speaks with one server.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// The time by the clock of the API server that has answered; by this machine's, if none has.
pub fn now() -> Timestamp {
    let here = Timestamp::now();
    here.checked_add(SignedDuration::from_secs(AHEAD.load(Ordering::Relaxed))).unwrap_or(here)
}

/// Reads the time of an answer (RFC 9110, 6.6.1).
pub(super) fn hear(headers: &HeaderMap) {
    let ahead = headers.get(header::DATE).and_then(|date| ahead(date.to_str().ok()?, Timestamp::now()));
    if let Some(ahead) = ahead {
        AHEAD.store(ahead, Ordering::Relaxed);
    }
}

/// How many seconds a date is ahead of this time; `None` if it is none.
fn ahead(date: &str, here: Timestamp) -> Option<i64> {
    let there = rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    let ahead = there.as_second().checked_sub(here.as_second())?;
    Some(if ahead.abs() < SAME { 0 } else { ahead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_none() {
        let here = Timestamp::from_second(784_111_777).unwrap();
        let of = |date| ahead(date, here);
        assert_eq!(of("Sun, 06 Nov 1994 08:49:37 GMT"), Some(0));
        assert_eq!(of("Sun, 06 Nov 1994 08:49:41 GMT"), Some(0));
        assert_eq!(of("Sun, 06 Nov 1994 08:39:37 GMT"), Some(-600));
        assert_eq!(of("Mon, 07 Nov 1994 08:49:37 GMT"), Some(86_400));
        assert_eq!(of("soon"), None);
    }
}
