//! When to retry a request, and how long to wait before; how long between lists that take a watch's place; and how many
//! requests are sent a second. kube's own policy goes on for 15 minutes, but a user is waiting here, and a list that
//! stays unreadable becomes a gap.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::error::Failure;

/// The largest number of tries of one request.
const TRIES: u32 = 4;
/// More tries for a server that sheds load: it says when to come back, and will accept the request later.
const TRIES_WHEN_BUSY: u32 = 8;
/// The first pause; it doubles with each retry.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause, even if the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The longest pause that the server may ask for between endless retries. Their own are no longer than others: a line
/// that is sound again is used soon.
const LONGEST_WISH: Duration = Duration::from_mins(5);

/// The shortest and the longest pause between lists that take a watch's place. In a pass, somebody waits for what they
/// tell.
pub(super) const BETWEEN_LISTS_OF_A_PASS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
const BETWEEN_LISTS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));
/// How many times as long as a list the pause after it is at least, up to the longest.
const PAUSE_TO_A_LIST: u32 = 20;

/// How long to wait before the next try; `None` to give up. `tried` is the number of tries so far. `reached` says
/// whether the server has ever answered: if the very first connection is refused, the address is wrong, and waiting
/// does not help.
pub(crate) fn pause_after(failure: &Failure, tried: u32, reached: bool) -> Option<Duration> {
    let (tries, wished) = match failure {
        Failure::Refused(refusal) => match refusal.status {
            StatusCode::TOO_MANY_REQUESTS => (TRIES_WHEN_BUSY, refusal.retry_after),
            status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => (TRIES, refusal.retry_after),
            _ => return None,
        },
        Failure::Interrupted(_) => (TRIES, None),
        Failure::Unconnected(_) if reached => (TRIES, None),
        // The timeout has already taken as long as the user is willing to wait.
        Failure::Unconnected(_)
        | Failure::TimedOut(_)
        | Failure::Credentials(_)
        | Failure::InvalidName
        | Failure::Malformed(_) => return None,
    };
    if tried >= tries {
        return None;
    }
    let doubled = doubled(tried);
    Some(wished.map_or(doubled, |seconds| Duration::from_secs(seconds).max(doubled)).min(LONGEST_PAUSE))
}

/// How long to wait before the next of endless retries, after any failure; `tried` is the number of tries so far. As
/// long as the server asks for, and a little longer: `number` spreads the retries of requests that failed together.
pub(super) fn pause_for_ever(failure: Option<&Failure>, tried: u32, number: usize) -> Duration {
    let wished = match failure {
        Some(Failure::Refused(refusal)) => refusal.retry_after.map_or(Duration::ZERO, Duration::from_secs),
        _ => Duration::ZERO,
    };
    let pause = doubled(tried).min(LONGEST_PAUSE);
    pause.max(wished.min(LONGEST_WISH)) + pause.saturating_mul((number * 7 % 20) as u32) / 40
}

/// The pause after a list that took so long, between endless lists.
pub(super) fn between_lists(took: Duration) -> Duration {
    let (shortest, longest) = BETWEEN_LISTS;
    took.saturating_mul(PAUSE_TO_A_LIST).clamp(shortest, longest)
}

/// The pause after this many failed tries; it doubles with each.
fn doubled(tried: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << tried.saturating_sub(1).min(10))
}

/// A token bucket, as in client-go: a burst of `burst` requests, then a fixed rate. Clones share the bucket.
///
/// Each request reserves its time on arrival, and requests are sent in that order, so none starves. (Existing crates
/// use their own clocks, which tests can't advance.)
#[derive(Clone, Debug)]
pub(super) struct Rate {
    /// The interval between two requests.
    every: Duration,
    /// How far ahead of that schedule a burst may be.
    ahead: Duration,
    /// When the next request is due in an even schedule.
    next: Arc<Mutex<Instant>>,
}

impl Rate {
    /// A rate of `qps` requests per second; none if that means no limit.
    pub(super) fn new(qps: f64, burst: u32) -> Option<Self> {
        /// A longer interval can't be intended.
        const LONGEST: Duration = Duration::from_secs(3600);
        if qps.is_nan() || qps <= 0.0 {
            return None;
        }
        let every = Duration::try_from_secs_f64(1.0 / qps).unwrap_or(LONGEST).min(LONGEST);
        if every.is_zero() {
            return None;
        }
        let ahead = every.saturating_mul(burst.saturating_sub(1));
        Some(Rate { every, ahead, next: Arc::new(Mutex::new(Instant::now())) })
    }

    /// Waits until one more request may be sent.
    pub(super) async fn pass(&self) {
        tokio::time::sleep_until(self.take(Instant::now())).await;
    }

    /// Reserves the next time to send a request.
    fn take(&self, now: Instant) -> Instant {
        let mut next = self.next.lock();
        let due = now.max(*next);
        *next = due + self.every;
        due.checked_sub(self.ahead).map_or(now, |earliest| earliest.max(now))
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use crate::cluster::{
        answer::Refusal,
        testing::{Say, json, serve},
    };

    use super::*;

    fn refused(status: u16, retry_after: Option<u64>) -> Failure {
        let status = StatusCode::from_u16(status).unwrap();
        Failure::Refused(Refusal { status, message: String::new(), named: None, retry_after })
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        for failure in
            [refused(429, None), refused(500, None), refused(503, None), Failure::Interrupted("reset".into())]
        {
            assert_eq!(pause_after(&failure, 1, true), Some(Duration::from_millis(200)), "{failure}");
            assert_eq!(pause_after(&failure, 2, true), Some(Duration::from_millis(400)), "{failure}");
        }
    }

    #[test]
    fn what_stays_is_not() {
        for status in [400, 401, 403, 404, 405, 406, 409, 410, 422, 501] {
            assert_eq!(pause_after(&refused(status, Some(1)), 1, true), None, "{status}");
        }
        assert_eq!(pause_after(&Failure::TimedOut(Duration::from_secs(30)), 1, true), None);
        assert_eq!(pause_after(&Failure::Malformed("x".into()), 1, true), None);
    }

    #[test]
    fn a_server_that_never_answered_is_not_waited_for() {
        let refused = Failure::Unconnected("connection refused".into());
        assert_eq!(pause_after(&refused, 1, false), None);
        assert_eq!(pause_after(&refused, 1, true), Some(Duration::from_millis(200)));
    }

    #[test]
    fn the_servers_wish_counts_within_reason() {
        assert_eq!(pause_after(&refused(429, Some(1)), 1, true), Some(Duration::from_secs(1)));
        assert_eq!(pause_after(&refused(429, Some(0)), 1, true), Some(Duration::from_millis(200)));
        assert_eq!(pause_after(&refused(429, Some(9999)), 1, true), Some(Duration::from_secs(10)));
    }

    /// A line that is sound again is used within 15 seconds, unless the server asks for more.
    #[test]
    fn who_goes_on_for_ever_waits_longer_and_longer_up_to_a_limit() {
        let pause = |failure: &Failure, tried| pause_for_ever(Some(failure), tried, 0).as_millis();
        let lost = Failure::Interrupted("reset".into());
        assert_eq!([1, 2, 3, 6, 7, u32::MAX].map(|tried| pause(&lost, tried)), [200, 400, 800, 6_400, 10_000, 10_000]);
        let asked = [None, Some(0), Some(1), Some(60), Some(u64::MAX)].map(|wish| pause(&refused(429, wish), 1));
        assert_eq!(asked, [200, 200, 1000, 60_000, 300_000]);
        assert_eq!(pause_for_ever(None, 1, 0), Duration::from_millis(200));
        let spread = |failure| [1, 2, 19].map(|number| pause_for_ever(Some(failure), 9, number).as_millis());
        assert_eq!(spread(&lost), [11_750, 13_500, 13_250]);
        assert_eq!(spread(&refused(429, Some(60))), [61_750, 63_500, 63_250]);
        let all = (0..1000).map(|number| pause_for_ever(None, u32::MAX, number));
        assert_eq!(all.max(), Some(Duration::from_millis(14_750)));
    }

    #[test]
    fn long_lists_are_read_less_often_up_to_a_limit() {
        let pause = |took| between_lists(Duration::from_millis(took)).as_millis();
        assert_eq!([0, 250, 1000, 1500, 60_000].map(pause), [5_000, 5_000, 20_000, 30_000, 30_000]);
    }

    #[test]
    fn there_is_an_end() {
        assert_eq!(pause_after(&refused(503, None), 4, true), None);
        assert!(pause_after(&refused(429, None), 7, true).is_some());
        assert_eq!(pause_after(&refused(429, None), 8, true), None);
        assert_eq!(pause_after(&refused(429, None), u32::MAX, true), None);
    }

    /// How long this many requests take.
    async fn taken(rate: &Rate, requests: u32) -> Duration {
        let begun = Instant::now();
        for _ in 0..requests {
            rate.pass().await;
        }
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_is_held() {
        let rate = Rate::new(10.0, 5).unwrap();
        assert_eq!(taken(&rate, 5).await, Duration::ZERO);
        // Timers have a resolution of one millisecond.
        let took = taken(&rate.clone(), 20).await;
        assert!((Duration::from_millis(2000)..Duration::from_millis(2010)).contains(&took), "{took:?}");
        // A pause refills the bucket, up to the burst.
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(taken(&rate, 5).await, Duration::ZERO);
        assert!(taken(&rate, 1).await >= Duration::from_millis(100));
    }

    #[tokio::test(start_paused = true)]
    async fn all_at_once_are_no_faster_than_one_by_one() {
        let rate = Rate::new(2.5, 1).unwrap();
        let begun = Instant::now();
        futures::future::join_all((0..6).map(|_| rate.pass())).await;
        assert!(
            (Duration::from_secs(2)..Duration::from_millis(2010)).contains(&begun.elapsed()),
            "{:?}",
            begun.elapsed()
        );
    }

    #[tokio::test]
    async fn zero_is_no_limit() {
        for unlimited in [0.0, -1.0, f64::INFINITY, f64::NAN, 1e300] {
            assert!(Rate::new(unlimited, 100).is_none(), "{unlimited}");
        }
        // Absurdly low rates work, too.
        for few in [1e-300, f64::MIN_POSITIVE] {
            assert_eq!(Rate::new(few, 1).unwrap().every, Duration::from_secs(3600));
            let rate = Rate::new(few, u32::MAX).unwrap();
            rate.pass().await;
            rate.pass().await;
        }
    }

    /// All requests of a connection and its clones share the bucket, reads and writes; watches don't count.
    #[tokio::test]
    async fn a_connection_holds_the_rate() {
        let connection = serve(|asked| if asked.url.contains("watch") { watching() } else { json(200, "{}") }).await;
        let connection = connection.with_limits(20.0, 2);
        let begun = Instant::now();
        let request = |method: &str, url: &str| Request::builder().method(method).uri(url).body(Vec::new()).unwrap();
        for _ in 0..4 {
            connection.send(request("DELETE", "/api/v1/pods/x")).await.unwrap();
            connection.clone().get("/api/v1/pods", "application/json").await.unwrap();
        }
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(295), "6 of 8 had to wait 50 ms each, and took {took:?}");
        let slow = connection.with_limits(0.001, 1);
        slow.get("/api/v1/pods", "application/json").await.unwrap();
        let watched = slow.stream(request("GET", "/api/v1/pods?watch=1"), Duration::from_secs(5));
        let watched = tokio::time::timeout(Duration::from_secs(5), watched).await;
        assert!(watched.is_ok_and(|watched| watched.is_ok()));
        assert!(
            tokio::time::timeout(Duration::from_millis(50), slow.get("/api/v1/pods", "application/json"))
                .await
                .is_err()
        );
    }

    fn watching() -> Say {
        Say { open: true, ..json(200, "{}") }
    }
}
