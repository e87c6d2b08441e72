//! The request metrics of client-go.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};

use crate::cluster::{Exchange, Progress};

/// Counts requests to one server.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    host: String,
    requests: Requests,
}

type Labels<const N: usize> = [(&'static str, String); N];

#[derive(Clone, Debug)]
pub(super) struct Requests {
    total: Family<Labels<3>, Counter>,
    took: Family<Labels<2>, Histogram, fn() -> Histogram>,
}

impl Requests {
    pub(super) fn register(registry: &mut Registry) -> Self {
        /// Buckets from five milliseconds to a minute, as in client-go.
        fn histogram() -> Histogram {
            Histogram::new([0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0])
        }
        let requests = Requests { total: Family::default(), took: Family::new_with_constructor(histogram) };
        let help = "Number of HTTP requests, partitioned by status code, method, and host";
        registry.register("rest_client_requests", help, requests.total.clone());
        let help = "Request latency in seconds. Broken down by verb, and host";
        registry.register("rest_client_request_duration_seconds", help, requests.took.clone());
        requests
    }

    pub(super) fn to(&self, host: &str) -> RequestMetrics {
        RequestMetrics { host: host.to_owned(), requests: self.clone() }
    }
}

impl Progress for RequestMetrics {
    fn exchanged(&self, exchange: &Exchange<'_>) {
        let host = || ("host", self.host.clone());
        let code = exchange.status.map_or_else(|_| "<error>".to_owned(), |status| status.to_string());
        self.requests.total.get_or_create(&[("code", code), ("method", exchange.method.to_owned()), host()]).inc();
        self.requests
            .took
            .get_or_create(&[("verb", exchange.method.to_owned()), host()])
            .observe(exchange.took.as_secs_f64());
    }
}
