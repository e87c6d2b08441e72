//! The proxy that counts requests and injects faults.

use std::time::Duration;

use http::{Request, header};

use crate::harness::{Api, CountingProxy, Fault, Spoilt, old_discovery, shared};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn get(proxy: &CountingProxy, target: &str, accept: &str) -> Result<(u16, String), String> {
    let request = Request::get(target).header(header::ACCEPT, accept).body(Vec::new()).unwrap();
    let answer = Api::connect(proxy.kubeconfig(), None).unwrap().send(request)?;
    Ok((answer.status, answer.text()))
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn requests_and_bytes_are_counted() {
    let cluster = shared();
    let proxy = CountingProxy::start(cluster);
    let (status, text) = get(&proxy, "/api/v1/namespaces?limit=1", "application/json").unwrap();
    assert_eq!(status, 200);
    let requests = proxy.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/api/v1/namespaces"));
    assert_eq!((request.query.as_str(), request.accept.as_str()), ("limit=1", "application/json"));
    assert_eq!((request.status, request.response_bytes), (Some(200), text.len() as u64));
    assert!(request.finished);
    proxy.forget();
    assert!(proxy.requests().is_empty());
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn requests_fail_as_a_test_wants() {
    let proxy = CountingProxy::start(shared());
    let secrets = "/api/v1/secrets";
    proxy.with(move |request| (request.path == secrets).then(|| Fault::status(403, "Forbidden")));
    assert_eq!(get(&proxy, secrets, "*/*").unwrap().0, 403);
    assert_eq!(get(&proxy, "/api/v1/pods", "*/*").unwrap().0, 200);
    proxy.with(|_| Some(Fault::CutAfter(10)));
    get(&proxy, "/api/v1/namespaces", "*/*").expect_err("the answer breaks off");
    assert_eq!(proxy.requests().last().unwrap().response_bytes, 10);
    proxy.with(|_| Some(Fault::Delay(Duration::from_millis(1))));
    assert_eq!(get(&proxy, secrets, "*/*").unwrap().0, 200);
    proxy.without();
    assert_eq!(get(&proxy, secrets, "*/*").unwrap().0, 200);
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn answers_are_spoilt_as_a_test_wants() {
    let cluster = shared();
    let proxy = CountingProxy::start(cluster);
    let whole = get(&proxy, "/version", "*/*").unwrap().1;
    let says = |fault: Fault| {
        proxy.with(move |_| Some(fault.clone()));
        get(&proxy, "/version", "*/*").map(|(status, text)| (status, text == whole, text.len()))
    };
    assert_eq!(says(Fault::Spoilt(Spoilt::Truncated(7))), Ok((200, false, 7)));
    assert_eq!(says(Fault::Spoilt(Spoilt::Garbled(3, b"xy"))), Ok((200, false, whole.len() + 2)));
    assert_eq!(says(Fault::Spoilt(Spoilt::Garbled(1 << 20, b"xy"))), Ok((200, false, whole.len() + 2)));
    assert_eq!(says(Fault::Spoilt(Spoilt::Dripping(50, Duration::from_millis(1)))), Ok((200, true, whole.len())));
    assert_eq!(says(Fault::Raw { status: 502, headers: Vec::new(), body: "<html>" }), Ok((502, false, 6)));
    assert!(!says(Fault::Elsewhere("/api/v1".to_owned())).unwrap().1);
    says(Fault::Reset).expect_err("nothing comes");
    // A write whose answer is lost is done; one whose connection breaks before isn't.
    let namespace = cluster.namespace("lost");
    let path = format!("/api/v1/namespaces/{namespace}");
    let delete = |fault: Fault| {
        proxy.with(move |_| Some(fault.clone()));
        let request = Request::delete(&path).body(Vec::new()).unwrap();
        Api::connect(proxy.kubeconfig(), None).unwrap().send(request).expect_err("no answer");
        cluster.get(&path).is_none_or(|namespace| namespace["metadata"]["deletionTimestamp"].is_string())
    };
    assert!(!delete(Fault::Reset));
    assert!(delete(Fault::Lost));
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn pages_are_as_small_as_a_test_wants() {
    let proxy = CountingProxy::start(shared());
    proxy.with(|_| Some(Fault::Pages(1)));
    let list = get(&proxy, "/api/v1/namespaces?limit=500", "application/json").unwrap().1;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn discovery_can_answer_like_an_old_server() {
    let proxy = CountingProxy::start(shared());
    assert!(get(&proxy, "/apis", AGGREGATED).unwrap().1.contains("APIGroupDiscoveryList"));
    proxy.with(old_discovery);
    assert!(get(&proxy, "/apis", AGGREGATED).unwrap().1.contains("\"kind\":\"APIGroupList\""));
}
