use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;
use crate::cluster::{
    Exchange, ReadEvent,
    testing::{json, refuse, serve},
};

/// Parses the text as a strict scraper does: samples by name and labels.
fn scraped(text: &str) -> BTreeMap<String, f64> {
    let lines = text.strip_suffix("# EOF\n").expect("the end is marked");
    let mut types = BTreeMap::new();
    let mut with_help = BTreeSet::new();
    let mut samples = BTreeMap::new();
    for line in lines.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect(line);
            assert!(with_help.insert(name.to_owned()) && help.ends_with('.') && !help.ends_with(".."), "{line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect(line);
            assert!(types.insert(name.to_owned(), kind.to_owned()).is_none(), "{line}");
        } else {
            let (sample, value) = line.rsplit_once(' ').expect(line);
            let name = sample.split('{').next().unwrap_or_default();
            let labels = sample.strip_prefix(name).unwrap_or_default();
            if let Some(labels) = labels.strip_prefix('{') {
                for label in labels.strip_suffix('}').expect(line).split("\",") {
                    let (key, value) = label.split_once("=\"").expect(line);
                    assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
                    assert!(!value.trim_end_matches('"').contains(['"', '\n']), "{line}");
                }
            }
            let family = ["_total", "_bucket", "_sum", "_count"].into_iter().find_map(|suffix| {
                let family = name.strip_suffix(suffix)?;
                let allowed = if suffix == "_total" { "counter" } else { "histogram" };
                (types.get(family).map(String::as_str) == Some(allowed)).then_some(family)
            });
            let family = family.unwrap_or(name);
            assert!(types.contains_key(family) && with_help.contains(family), "{line} has neither help nor type");
            assert!(family != name || types[family] == "gauge", "{line}");
            let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(samples.insert(sample.to_owned(), value).is_none(), "{line} comes twice");
        }
    }
    samples
}

#[test]
fn queues_export_the_metrics_of_client_go() {
    let metrics = Metrics::new();
    let queue = metrics.queue(Queue::AttemptToDelete);
    queue.added();
    queue.added();
    queue.retried();
    queue.set_depth(2);
    queue.begun(0, Duration::from_millis(5));
    metrics.queue(Queue::AttemptToDelete).begun(1, Duration::from_secs(20));
    std::thread::sleep(Duration::from_millis(20));
    let of = |samples: &BTreeMap<String, f64>, name: &str| {
        samples[&format!("workqueue_{name}{{name=\"garbage_collector_attempt_to_delete\"}}")]
    };
    let during = scraped(&metrics.text());
    assert_eq!(of(&during, "adds_total"), 2.0);
    assert_eq!(of(&during, "retries_total"), 1.0);
    assert_eq!(of(&during, "depth"), 2.0);
    assert_eq!(of(&during, "queue_duration_seconds_count"), 2.0);
    assert_eq!(of(&during, "work_duration_seconds_count"), 0.0);
    let longest = of(&during, "longest_running_processor_seconds");
    assert!(longest >= 0.02 && of(&during, "unfinished_work_seconds") >= longest + 0.02, "{during:?}");
    queue.done(0);
    queue.done(1);
    let after = scraped(&metrics.text());
    assert_eq!(of(&after, "work_duration_seconds_count"), 2.0);
    assert_eq!([of(&after, "unfinished_work_seconds"), of(&after, "longest_running_processor_seconds")], [0.0, 0.0]);
    // Buckets from 10 ns to 10 s by powers of ten, and +Inf: one of the two items waited longer.
    let buckets: Vec<f64> = after
        .iter()
        .filter(|(name, _)| name.starts_with("workqueue_queue_duration_seconds_bucket") && name.contains("to_delete"))
        .map(|(_, value)| *value)
        .collect();
    assert_eq!(buckets.len(), 11);
    assert_eq!(
        after["workqueue_queue_duration_seconds_bucket{le=\"+Inf\",name=\"garbage_collector_attempt_to_delete\"}"],
        2.0
    );
    for queue in ["attempt_to_orphan", "graph_changes"] {
        assert_eq!(after[&format!("workqueue_adds_total{{name=\"garbage_collector_{queue}\"}}")], 0.0);
    }
}

#[test]
fn requests_are_counted_as_client_go_counts_them() {
    let metrics = Metrics::new();
    let requests = metrics.requests("api.test:6443");
    let took = Duration::from_millis(30);
    let exchanged =
        |method, status| requests(ReadEvent::Exchanged(&exchange(method, "/api/v1/pods?limit=500", status, took)));
    exchanged("GET", Ok(200));
    exchanged("GET", Ok(200));
    exchanged("DELETE", Ok(409));
    exchanged("PATCH", Err("connection refused"));
    let samples = scraped(&metrics.text());
    let counted = |code: &str, method: &str| {
        samples[&format!("rest_client_requests_total{{code=\"{code}\",method=\"{method}\",host=\"api.test:6443\"}}")]
    };
    assert_eq!([counted("200", "GET"), counted("409", "DELETE"), counted("<error>", "PATCH")], [2.0, 1.0, 1.0]);
    let took = |le: &str| {
        samples
            [&format!("rest_client_request_duration_seconds_bucket{{le=\"{le}\",verb=\"GET\",host=\"api.test:6443\"}}")]
    };
    assert_eq!([took("0.025"), took("0.1"), took("60.0"), took("+Inf")], [0.0, 2.0, 2.0, 2.0]);
}

#[test]
fn sweep_metrics_are_exported() {
    let metrics = Metrics::new();
    metrics.set_objects(5, 1);
    metrics.set_resources(60, 2);
    metrics.sync_failed();
    metrics.wrote(Write::Delete, Ok(()));
    metrics.clone().wrote(Write::Delete, Ok(()));
    metrics.wrote(Write::Detach, Err(Unwritten::Conflict));
    let samples = scraped(&metrics.text());
    for (name, value) in [
        ("kubectl_gc_sweep_objects", 5.0),
        ("kubectl_gc_sweep_virtual_objects", 1.0),
        ("kubectl_gc_sweep_resources{synced=\"true\"}", 60.0),
        ("kubectl_gc_sweep_resources{synced=\"false\"}", 2.0),
        ("garbagecollector_controller_resources_sync_error_total", 1.0),
        ("kubectl_gc_sweep_writes_total{write=\"delete\",result=\"done\"}", 2.0),
        ("kubectl_gc_sweep_writes_total{write=\"detach\",result=\"conflict\"}", 1.0),
    ] {
        assert_eq!(samples.get(name), Some(&value), "{name}");
    }
    assert!(samples["process_start_time_seconds"] > 1.6e9);
    if cfg!(target_os = "linux") {
        assert!(samples["process_resident_memory_bytes"] > 1e6);
    }
}

/// Sends a request and returns the whole response.
async fn response_to(at: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn metrics_and_health_are_served() {
    let (metrics, health) = (Metrics::new(), Health::new(Duration::from_secs(60)));
    let bound = bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = bound.address();
    assert_ne!(address.port(), 0);
    let server = tokio::spawn(bound.serve(metrics.clone(), health.clone()));
    metrics.set_objects(7, 0);
    let response = response_to(address, "GET /metrics").await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert_eq!(scraped(body)["kubectl_gc_sweep_objects"], 7.0);
    let status = async |request| response_to(address, request).await.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status("GET /healthz").await, "200");
    assert!(response_to(address, "GET /readyz").await.ends_with("\r\n\r\nnot synced yet\n"));
    health.set_ready(Ok(()));
    assert_eq!(status("GET /readyz?verbose").await, "200");
    assert_eq!(status("HEAD /metrics").await, "200");
    assert_eq!(status("GET /debug").await, "404");
    assert_eq!(status("POST /metrics").await, "405");
    // A client that doesn't speak HTTP blocks no one.
    let mut garbage = TcpStream::connect(address).await.unwrap();
    garbage.write_all(b"\x16\x03\x01 hello\r\n\r\n").await.unwrap();
    assert_eq!(status("GET /healthz").await, "200");
    // The address is in use, and free again once the server is dropped.
    let taken = bind(&address.to_string().parse().unwrap()).await.unwrap_err();
    assert!(taken.to_string().starts_with(&format!("cannot listen on {address}: ")), "{taken}");
    server.abort();
    let _ = server.await;
    bind(&address.to_string().parse().unwrap()).await.unwrap();
}

#[tokio::test]
async fn every_kind_of_address_can_be_listened_at() {
    for text in [":0", "127.0.0.1:0", "localhost:0", "0.0.0.0:0"] {
        let bound = bind(&text.parse().unwrap()).await.unwrap_or_else(|error| panic!("{error}"));
        let at = (std::net::Ipv4Addr::LOCALHOST, bound.address().port()).into();
        if bound.address().is_ipv4() || text == ":0" {
            let server = tokio::spawn(bound.serve(Metrics::new(), Health::new(Duration::from_secs(60))));
            assert!(response_to(at, "GET /healthz").await.starts_with("HTTP/1.1 200 "), "{text}");
            server.abort();
        }
    }
    let nowhere = bind(&"203.0.113.1:0".parse().unwrap()).await.unwrap_err();
    assert!(nowhere.to_string().starts_with("cannot listen on 203.0.113.1:0: "), "{nowhere}");
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_no_sign_of_life_is_not_healthy() {
    let health = Health::new(Duration::from_secs(60));
    assert_eq!(health.alive(), Ok(()));
    assert_eq!(health.ready(), Err("not synced yet".to_owned()));
    health.set_ready(Ok(()));
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!((health.alive(), health.ready()), (Ok(()), Ok(())));
    health.beat();
    tokio::time::advance(Duration::from_secs(61)).await;
    let silent = Err("no activity for 61s (limit 60s)".to_owned());
    assert_eq!((health.alive(), health.ready()), (silent.clone(), silent));
    health.beat();
    assert_eq!(health.ready(), Ok(()));
    health.set_ready(Err("nothing can be read".to_owned()));
    assert_eq!((health.alive(), health.ready()), (Ok(()), Err("nothing can be read".to_owned())));
}

/// A connection counts all of its requests, also failed ones.
#[tokio::test]
async fn a_connection_is_counted() {
    let metrics = Metrics::new();
    let connection = serve(|response_to| match response_to.before {
        0 => refuse(429),
        _ => json(200, r#"{"kind":"EventList","metadata":{},"items":[]}"#),
    });
    let connection = connection.await;
    let connection = connection.clone().also_telling(metrics.requests(&connection.endpoint().server));
    connection.invalid_owner_events().await.unwrap();
    let samples = scraped(&metrics.text());
    let counted = |code: &str| {
        samples[&format!(
            "rest_client_requests_total{{code=\"{code}\",method=\"GET\",host=\"{}\"}}",
            connection.endpoint().server
        )]
    };
    assert_eq!([counted("429"), counted("200")], [1.0, 1.0]);
}

/// The documentation lists exactly the exported metrics.
#[test]
fn every_metric_is_in_the_documentation() {
    let metrics = Metrics::new();
    metrics.set_resources(1, 0);
    metrics.wrote(Write::Delete, Ok(()));
    metrics.requests("h")(ReadEvent::Exchanged(&exchange("GET", "/", Ok(200), Duration::ZERO)));
    let text = metrics.text();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let documented: BTreeSet<String> =
        types.map(|(name, kind)| if kind == "counter" { format!("{name}_total") } else { name.to_owned() }).collect();
    let page = include_str!("../../../../docs/sweep.md");
    let (_, rows) = page.split_once("## Metrics").unwrap();
    let names = rows.split('`').filter(|word| word.contains('_') && !word.contains("garbage_collector_"));
    let written: BTreeSet<String> = names.map(str::to_owned).collect();
    let written: BTreeSet<String> =
        written.into_iter().filter(|name| cfg!(target_os = "linux") || !name.contains("memory")).collect();
    assert_eq!(documented, written);
}

fn exchange<'a>(method: &'a str, url: &'a str, status: Result<u16, &'a str>, took: Duration) -> Exchange<'a> {
    static NONE: LazyLock<http::HeaderMap> = LazyLock::new(http::HeaderMap::new);
    let (request_headers, request_body) = (&*NONE, &[][..]);
    let (response_headers, response_body) = (None, None);
    Exchange { method, server: "", url, status, took, request_headers, request_body, response_headers, response_body }
}
