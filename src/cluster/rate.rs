//! Limits the number of requests per second.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

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
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let due = now.max(*next);
        *next = due + self.every;
        due.checked_sub(self.ahead).map_or(now, |earliest| earliest.max(now))
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::cluster::testing::{Say, json, serve};

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
