use std::sync::{Arc, Mutex};

use super::*;
use crate::cluster::testing::{json as say, refuse, serve};

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

/// A server that has every event created so far, or whose events expire, and a log of its requests.
async fn server(expire: bool) -> (OwnerEventRecorder, Log) {
    let log = Log::default();
    let seen = log.clone();
    let connection = serve(move |asked| {
        seen.lock()
            .unwrap()
            .push((format!("{} {}", asked.method, asked.url), serde_json::from_slice(&asked.body).unwrap()));
        if asked.method == "PATCH" && expire { refuse(404) } else { say(201, "{}") }
    });
    (OwnerEventRecorder::new(connection.await), log)
}

#[tokio::test]
async fn what_is_recorded_again_counts_more() {
    let (recorder, log) = server(false).await;
    let (pod, owner) = (identity("Pod", "shop", "a"), identity("Job", "elsewhere", "j"));
    recorder.record_at(&pod, &owner, at(10)).await.unwrap();
    recorder.record_at(&pod, &owner, at(70)).await.unwrap();
    let log = log.lock().unwrap();
    let asked: Vec<&str> = log.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(asked, ["POST /api/v1/namespaces/shop/events", "PATCH /api/v1/namespaces/shop/events/a.2540be400"]);
    let message = "ownerRef [v1/Job, namespace: shop, name: j, uid: u-j] does not exist in namespace \"shop\"";
    let made = &log[0].1;
    assert_eq!((&made["message"], &made["count"], &made["type"]), (&json!(message), &json!(1), &json!("Warning")));
    assert_eq!(
        made["involvedObject"],
        json!({"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "a", "uid": "u-a"})
    );
    assert_eq!([&made["firstTimestamp"], &made["lastTimestamp"]], ["1970-01-01T00:00:10Z"; 2]);
    assert_eq!(log[1].1, json!({"count": 2, "lastTimestamp": "1970-01-01T00:01:10Z", "message": message}));
}

#[tokio::test]
async fn an_event_that_has_expired_is_made_anew() {
    let (recorder, log) = server(true).await;
    let (rack, owner) = (identity("Rack", "", "r"), identity("Job", "elsewhere", "j"));
    for second in [10, 7200] {
        recorder.record_at(&rack, &owner, at(second)).await.unwrap();
    }
    let log = log.lock().unwrap();
    let (asked, again) = log.last().unwrap();
    assert_eq!((log.len(), asked.as_str()), (3, "POST /api/v1/namespaces/default/events"));
    assert_eq!((&again["count"], &again["firstTimestamp"]), (&json!(2), &json!("1970-01-01T00:00:10Z")));
    assert_eq!(again["metadata"], log[0].1["metadata"]);
    assert!(again["involvedObject"].get("namespace").is_none());
}

#[tokio::test]
async fn what_can_not_be_written_is_said() {
    let recorder = OwnerEventRecorder::new(serve(|_| refuse(403)).await);
    let (pod, owner) = (identity("Pod", "shop", "a"), identity("Job", "elsewhere", "j"));
    assert_eq!(recorder.record(&pod, &owner).await, Err("forbidden: no".to_owned()));
    let there = OwnerEventRecorder::new(serve(|_| refuse(409)).await);
    assert_eq!(there.record(&pod, &owner).await, Ok(()));
}
