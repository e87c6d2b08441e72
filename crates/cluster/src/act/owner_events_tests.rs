use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::owner_events::record_invalid_owner;
use crate::cluster::{
    Connection,
    testing::{json as say, refuse, serve},
};
use gc_core::model::Identity;

fn identity(kind: &str, namespace: &str, name: &str) -> Identity {
    Identity {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        uid: format!("u-{name}"),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

type Log = Arc<Mutex<Vec<(String, Value)>>>;

/// A server that has the event already if it `exists`, and a log of its requests.
async fn server(exists: bool) -> (Connection, Log) {
    let log = Log::default();
    let seen = log.clone();
    let connection = serve(move |asked| {
        seen.lock()
            .unwrap()
            .push((format!("{} {}", asked.method, asked.url), serde_json::from_slice(&asked.body).unwrap()));
        match (asked.method.as_str(), exists) {
            ("POST", true) => refuse(409),
            ("PATCH", _) => say(200, r#"{"count": 4}"#),
            _ => say(201, "{}"),
        }
    });
    (connection.await, log)
}

#[tokio::test]
async fn an_event_has_the_collectors_text() {
    let (connection, log) = server(false).await;
    let owner = identity("Job", "elsewhere", "j");
    record_invalid_owner(&connection, &identity("Pod", "shop", "a"), &owner, at(10)).await.unwrap();
    record_invalid_owner(&connection, &identity("Rack", "", "system:r"), &owner, at(10)).await.unwrap();
    let log = log.lock().unwrap();
    let asked: Vec<&str> = log.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(asked, ["POST /api/v1/namespaces/shop/events", "POST /api/v1/namespaces/default/events"]);
    let message = "ownerRef [v1/Job, namespace: shop, name: j, uid: u-j] does not exist in namespace \"shop\"";
    let [(_, made), (_, of_cluster)] = log.as_slice() else { unreachable!("two") };
    assert_eq!((&made["message"], &made["count"], &made["type"]), (&json!(message), &json!(1), &json!("Warning")));
    assert_eq!(
        made["involvedObject"],
        json!({"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "a", "uid": "u-a"})
    );
    assert_eq!([&made["firstTimestamp"], &made["lastTimestamp"]], ["1970-01-01T00:00:10Z"; 2]);
    assert!(of_cluster["involvedObject"].get("namespace").is_none());
    assert_ne!(made["metadata"]["name"], of_cluster["metadata"]["name"]);
}

#[tokio::test]
async fn what_is_recorded_again_counts_more() {
    let (connection, log) = server(true).await;
    let (pod, owner) = (identity("Pod", "shop", "a"), identity("Job", "elsewhere", "j"));
    record_invalid_owner(&connection, &pod, &owner, at(70)).await.unwrap();
    let log = log.lock().unwrap();
    let name = log[0].1["metadata"]["name"].as_str().unwrap();
    let path = format!("PATCH /api/v1/namespaces/shop/events/{name}");
    assert_eq!(
        log[1..],
        [(path.clone(), json!({"lastTimestamp": "1970-01-01T00:01:10Z"})), (path, json!({"count": 5}))]
    );
}

#[tokio::test]
async fn what_can_not_be_written_is_said() {
    let connection = serve(|_| refuse(403)).await;
    let (pod, owner) = (identity("Pod", "shop", "a"), identity("Job", "elsewhere", "j"));
    assert_eq!(record_invalid_owner(&connection, &pod, &owner, at(10)).await, Err("forbidden: no".to_owned()));
}
