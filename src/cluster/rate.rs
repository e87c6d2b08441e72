//! How many requests a second are sent.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// A token bucket, as client-go has one: `burst` requests at once, and from then on so many a second. A clone is the
/// same bucket.
///
/// Each request gets its moment when it comes, and all wait in that order: nobody is overtaken for ever. (The limiters
/// that can be had measure time with clocks of their own, which tests can't put forward.)
#[derive(Clone, Debug)]
pub(super) struct Rate {
    /// How long it takes until there is one more.
    every: Duration,
    /// How far one may be ahead of that.
    ahead: Duration,
    /// When the request is due that comes next, if they come evenly.
    next: Arc<Mutex<Instant>>,
}

impl Rate {
    /// So many a second; none where that is no limit.
    pub(super) fn new(qps: f64, burst: u32) -> Option<Self> {
        /// Fewer than one in this time is nothing that somebody could mean.
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

    /// Waits until one more may be sent.
    pub(super) async fn pass(&self) {
        tokio::time::sleep_until(self.take(Instant::now())).await;
    }

    /// Takes the next moment at which one may be sent.
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

    /// How long so many take.
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
        // Timers are good to the millisecond.
        let took = taken(&rate.clone(), 20).await;
        assert!((Duration::from_millis(2000)..Duration::from_millis(2010)).contains(&took), "{took:?}");
        // A pause gives them back, and no more than the burst.
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
        // Absurdly few are few, and nothing breaks.
        for few in [1e-300, f64::MIN_POSITIVE] {
            assert_eq!(Rate::new(few, 1).unwrap().every, Duration::from_secs(3600));
            let rate = Rate::new(few, u32::MAX).unwrap();
            rate.pass().await;
            rate.pass().await;
        }
    }

    /// All requests of a connection share the bucket, writes and reads, and those of its clones; a watch needs no turn.
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
