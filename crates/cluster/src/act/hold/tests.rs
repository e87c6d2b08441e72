//! What is sent, and what isn't.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::cluster::testing::{RecordedRequest, Say, json as say, mix_ups, refuse, serve};
use gc_core::{
    hold::{About, HeldDependent, HoldRecord, Stage},
    model::{HOLD, UNCANCELLED},
};

use super::*;

const PATH: &str = "/apis/apps/v1/namespaces/shop/deployments/web";
const SECRETS: &str = "/api/v1/namespaces/shop/secrets";

fn object(finalizers: &[&str], terminating: bool) -> Value {
    let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1},
        "metadata": {"name": "web", "namespace": "shop", "uid": "u-1", "resourceVersion": "7",
            "finalizers": finalizers}});
    if terminating {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
    }
    object
}

fn record(stage: Stage) -> HoldRecord {
    let about = About {
        path: PATH.to_owned(),
        identity: Identity {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            uid: "u-1".to_owned(),
        },
        has_status: true,
        until: "2026-01-02T03:14:05Z".to_owned(),
        stage,
        new_uid: None,
        dependents: Vec::new(),
    };
    HoldRecord { about, object: object(&[], false) }
}

/// The Secret of a record, as the API server returns it.
fn stored(record: &HoldRecord) -> Value {
    let mut secret = record.secret("shop");
    let data = record.data().map(|(name, text)| {
        (name.to_owned(), json!(base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text)))
    });
    secret["data"] = data.into_iter().collect::<serde_json::Map<_, _>>().into();
    secret["metadata"]["uid"] = json!("s-1");
    secret["metadata"]["resourceVersion"] = json!("3");
    secret
}

fn absent() -> Say {
    say(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"web","kind":"deployments"}}"#)
}

/// Every request, in order: method, path and body.
type Log = Arc<Mutex<Vec<(String, String, Value)>>>;

fn logged(log: &Log, asked: &RecordedRequest) -> (String, String) {
    let path = asked.url.split('?').next().unwrap_or_default().to_owned();
    let method = asked.method.to_string();
    let body = serde_json::from_slice(&asked.body).unwrap_or_default();
    log.lock().unwrap().push((method.clone(), path.clone(), body));
    (method, path)
}

/// A hold whose record is read from a server that answers so to all about the object.
async fn stored_hold(
    log: &Log,
    stage: Stage,
    about_object: impl Fn(&str) -> Say + Send + Sync + 'static,
) -> (Connection, StoredHold) {
    let (secret, log) = (stored(&record(stage)), log.clone());
    let connection = serve(move |asked| {
        let (method, path) = logged(&log, asked);
        match (method.as_str(), path.as_str()) {
            (method, PATH) => about_object(method),
            ("GET", path) if path.starts_with(SECRETS) => say(200, secret.to_string()),
            (_, path) if path.starts_with(SECRETS) => say(200, secret.to_string()),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let hold = find_hold(&connection, "shop", "kubectl-gc-hold-u-1").await.unwrap().unwrap().unwrap();
    (connection, hold)
}

fn writes(log: &Log) -> Vec<(String, String, Value)> {
    log.lock().unwrap().iter().filter(|(method, ..)| method != "GET").cloned().collect()
}

/// The archive comes first, then the finalizers, then a DELETE of that very version.
#[tokio::test]
async fn nothing_is_deleted_before_it_is_stored_and_held() {
    let log = Log::default();
    let seen = log.clone();
    let state = Mutex::new(object(&[], false));
    let connection = serve(move |asked| {
        let (method, path) = logged(&seen, asked);
        let mut state = state.lock().unwrap();
        match (method.as_str(), path.as_str()) {
            ("POST", SECRETS) => return say(201, stored(&record(Stage::Held)).to_string()),
            ("GET", PATH) => {}
            ("PATCH", PATH) => {
                *state = object(&[HOLD, UNCANCELLED], false);
                state["metadata"]["resourceVersion"] = json!("8");
            }
            ("DELETE", PATH) => *state = object(&[HOLD, UNCANCELLED], true),
            other => panic!("{other:?}"),
        }
        say(200, state.to_string())
    })
    .await;
    let holding = hold(&connection, "shop", record(Stage::Held), None, false).await.unwrap();
    assert!(!holding.again);
    let writes = writes(&log);
    let sent: Vec<(&str, &str)> = writes.iter().map(|(method, path, _)| (method.as_str(), path.as_str())).collect();
    assert_eq!(sent, [("POST", SECRETS), ("PATCH", PATH), ("DELETE", PATH)]);
    assert_eq!(writes[1].2["metadata"]["finalizers"], json!([HOLD, UNCANCELLED]));
    assert_eq!(writes[2].2["preconditions"], json!({"uid": "u-1", "resourceVersion": "8"}));
    assert_eq!(writes[2].2["propagationPolicy"], "Background");
}

/// If the finalizers can't be written, nothing is deleted, and no Secret stays.
#[tokio::test]
async fn what_is_refused_leaves_nothing_behind() {
    let log = Log::default();
    let seen = log.clone();
    let connection = serve(move |asked| {
        let (method, path) = logged(&seen, asked);
        match (method.as_str(), path.as_str()) {
            ("POST", SECRETS) => say(201, stored(&record(Stage::Held)).to_string()),
            ("GET", PATH) => say(200, object(&[], false).to_string()),
            ("PATCH", PATH) => refuse(403),
            ("DELETE", path) if path.starts_with(SECRETS) => say(200, stored(&record(Stage::Held)).to_string()),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let failed = hold(&connection, "shop", record(Stage::Held), None, false).await.unwrap_err();
    assert!(matches!(failed, HoldFailure::Failed { .. }), "{failed}");
    let last = writes(&log).pop().unwrap();
    assert_eq!((last.0.as_str(), last.1), ("DELETE", format!("{SECRETS}/kubectl-gc-hold-u-1")));
}

/// In a namespace that goes, no Secret can be made. What is held, and is to go now, needs none.
#[tokio::test]
async fn what_is_let_go_at_once_needs_no_secret() {
    for (finalizers, at_once, holds) in [
        (&[HOLD, UNCANCELLED][..], true, true),
        (&[HOLD, UNCANCELLED], false, false),
        (&[HOLD], true, false),
        (&[], true, false),
    ] {
        let log = Log::default();
        let seen = log.clone();
        let connection = serve(move |asked| {
            let (method, path) = logged(&seen, asked);
            match (method.as_str(), path.as_str()) {
                ("POST", SECRETS) => refuse(403),
                ("GET", PATH) => say(200, object(finalizers, true).to_string()),
                _ => absent(),
            }
        })
        .await;
        let held = hold(&connection, "shop", record(Stage::Held), None, at_once).await;
        assert_eq!(held.is_ok_and(|held| held.again), holds, "{finalizers:?} {at_once}");
    }
}

/// What is being taken back is never let go.
#[tokio::test]
async fn what_is_taken_back_is_not_let_go() {
    let log = Log::default();
    let (connection, hold) = stored_hold(&log, Stage::Held, |_| say(200, object(&[HOLD], true).to_string())).await;
    assert_eq!(go_on(&connection, &hold).await, Err(HoldFailure::BeingTakenBack));
    assert_eq!(writes(&log), []);
    assert_eq!(look(&connection, &hold).await.unwrap(), Seen::TakenBack);
}

/// What was let go isn't created again.
#[tokio::test]
async fn what_is_gone_is_not_created_unless_it_was_being_taken_back() {
    let log = Log::default();
    let (connection, hold) = stored_hold(&log, Stage::Held, |_| absent()).await;
    let mut work = TakeBack::new(&connection, hold, false);
    assert_eq!(work.begin().await, Ok(Begun::GoneOn));
    let sent: Vec<String> = writes(&log).into_iter().map(|(method, path, _)| format!("{method} {path}")).collect();
    assert_eq!(sent, [format!("DELETE {SECRETS}/kubectl-gc-hold-u-1")]);

    let log = Log::default();
    let (connection, hold) = stored_hold(&log, Stage::BeingTakenBack, |_| absent()).await;
    assert_eq!(TakeBack::new(&connection, hold, false).begin().await, Ok(Begun::Guarded));
    assert_eq!(writes(&log), []);
}

/// Another object of the name is neither changed nor made an owner.
#[tokio::test]
async fn another_object_of_the_name_is_left_alone() {
    let other = |_: &str| {
        let mut other = object(&[], false);
        other["metadata"]["uid"] = json!("u-2");
        say(200, other.to_string())
    };
    let log = Log::default();
    let (connection, hold) = stored_hold(&log, Stage::BeingTakenBack, other).await;
    let mut work = TakeBack::new(&connection, hold.clone(), false);
    assert!(matches!(work.create(&[]).await, Err(HoldFailure::Replaced(_))));
    assert_eq!((writes(&log), work.new_uid), (vec![], None));
    // Unless the user says so: then it is still not changed.
    let mut work = TakeBack::new(&connection, hold, true);
    assert_eq!(work.create(&[]).await, Ok(()));
    assert_eq!(work.new_uid.as_deref(), Some("u-2"));
    assert!(writes(&log).iter().all(|(_, path, _)| path.starts_with(SECRETS)));
}

/// A dependent is guarded only after it is recorded.
#[tokio::test]
async fn what_is_guarded_is_recorded_first() {
    let log = Log::default();
    let seen = log.clone();
    let reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u-1"});
    let leaf = "/apis/apps/v1/namespaces/shop/replicasets/web-1";
    let dependent = HeldDependent {
        path: leaf.to_owned(),
        identity: Identity {
            api_version: "apps/v1".to_owned(),
            kind: "ReplicaSet".to_owned(),
            namespace: "shop".to_owned(),
            name: "web-1".to_owned(),
            uid: "rs".to_owned(),
        },
        reference: reference.clone(),
        adopted: true,
    };
    let secret = stored(&record(Stage::Held));
    let connection = serve(move |asked| {
        let (_, path) = logged(&seen, asked);
        let there = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "rs", "resourceVersion": "1",
            "ownerReferences": [reference]}});
        say(200, if path == leaf { there.to_string() } else { secret.to_string() })
    })
    .await;
    let hold = find_hold(&connection, "shop", "kubectl-gc-hold-u-1").await.unwrap().unwrap().unwrap();
    TakeBack::new(&connection, hold, false).guard(vec![dependent]).await.unwrap();
    let writes = writes(&log);
    let paths: Vec<&str> = writes.iter().map(|(_, path, _)| path.as_str()).collect();
    assert_eq!(paths, [&format!("{SECRETS}/kubectl-gc-hold-u-1"), leaf]);
    assert!(writes[0].2["stringData"]["hold.json"].as_str().unwrap().contains("\"stage\":\"beingTakenBack\""));
    let guard = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "rs"}]);
    assert_eq!(writes[1].2["metadata"]["ownerReferences"], guard);
}

/// A hold doesn't end because of an answer about another object.
#[tokio::test]
async fn no_answer_about_another_object_ends_a_hold() {
    for (what, mixed_up) in mix_ups("apps/v1", "Deployment", "web") {
        for stage in [Stage::Held, Stage::BeingTakenBack, Stage::Created] {
            let (log, mixed_up) = (Log::default(), mixed_up.clone());
            let (connection, hold) = stored_hold(&log, stage, move |_| mixed_up.clone()).await;
            let begun = TakeBack::new(&connection, hold.clone(), false).begin().await;
            assert!(matches!(begun, Err(HoldFailure::Failed { .. })), "{what}: {begun:?}");
            let gone_on = go_on(&connection, &hold).await;
            assert!(matches!(gone_on, Err(HoldFailure::Failed { .. })), "{what}: {gone_on:?}");
            assert!(look(&connection, &hold).await.is_err(), "{what}");
            assert_eq!(writes(&log), [], "{what}");
        }
    }
}
