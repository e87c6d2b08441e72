//! Probes of a server that acts as a collector, doesn't, or interferes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

use crate::cluster::{
    Connection,
    testing::{RecordedRequest, Say, absent, json as say, mix_ups, serve, status},
};

use super::probe::*;

/// For events that never come.
const PATIENCE: Duration = Duration::from_millis(300);
/// For events that come, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// The one ConfigMap of a server, and a log of requests.
#[derive(Default)]
struct Store {
    object: Option<Value>,
    log: Vec<String>,
    /// How many reads a deleted object survives; none: no collector runs.
    looks: Option<usize>,
    /// A finalizer that a webhook adds to a deleted object.
    adds: Option<&'static str>,
    /// The API server's part of garbage collection is turned off.
    unheld: bool,
}

impl Store {
    fn there(&self, asked: &RecordedRequest) -> Say {
        self.object.as_ref().map_or_else(|| absent(asked), |object| say(200, object.to_string()))
    }

    fn answer(&mut self, asked: &RecordedRequest) -> Say {
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        match asked.method.as_str() {
            "POST" => {
                assert_eq!(asked.url, "/api/v1/namespaces/shop/configmaps");
                self.log.push("create".to_owned());
                if self.object.is_some() {
                    return status(409, "already exists");
                }
                assert_eq!(body["metadata"]["labels"]["app.kubernetes.io/managed-by"], "kubectl-gc");
                assert!(
                    body["immutable"] == true
                        && body["data"]["what"].as_str().is_some_and(|what| what.contains("kubectl gc"))
                );
                let mut object = body;
                object["metadata"]["uid"] = json!("u");
                object["metadata"]["namespace"] = json!("shop");
                self.object = Some(object);
                self.there(asked)
            }
            "GET" => {
                self.check_name(asked);
                self.log.push("look".to_owned());
                if let Some(left) = self.looks.filter(|_| self.object.as_ref().is_some_and(is_terminating)) {
                    match left {
                        0 => self.drop_finalizer("foregroundDeletion"),
                        _ => self.looks = Some(left - 1),
                    }
                }
                self.there(asked)
            }
            "DELETE" => {
                self.check_name(asked);
                assert_eq!(body["preconditions"]["uid"], "u", "nothing but its own object");
                let policy = body["propagationPolicy"].as_str().unwrap_or_default().to_owned();
                self.log.push(policy.clone());
                let Some(object) = &mut self.object else { return absent(asked) };
                let mut finalizers: Vec<&str> = self.adds.into_iter().collect();
                if policy == "Foreground" && !self.unheld {
                    finalizers.push("foregroundDeletion");
                }
                object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                object["metadata"]["finalizers"] = json!(finalizers);
                if finalizers.is_empty() {
                    self.object = None;
                    return say(200, r#"{"kind":"Status","status":"Success","details":{"uid":"u"}}"#);
                }
                self.there(asked)
            }
            other => panic!("{other}"),
        }
    }

    fn check_name(&self, asked: &RecordedRequest) {
        let name = asked.url.strip_prefix("/api/v1/namespaces/shop/configmaps/").unwrap_or_default();
        assert!(name.starts_with("kubectl-gc-probe-"), "{}", asked.url);
        assert!(self.object.as_ref().is_none_or(|object| object["metadata"]["name"] == name), "{}", asked.url);
    }

    fn drop_finalizer(&mut self, dropped: &str) {
        let Some(object) = &mut self.object else { return };
        let finalizers = object["metadata"]["finalizers"].as_array_mut().expect("finalizers");
        finalizers.retain(|finalizer| finalizer != dropped);
        if finalizers.is_empty() {
            self.object = None;
        }
    }
}

fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

type Shared = Arc<Mutex<Store>>;

/// A server with this store; `first` may answer instead of it.
async fn server(
    store: Store,
    first: impl Fn(&RecordedRequest, &mut Store) -> Option<Say> + Send + Sync + 'static,
) -> (Connection, Shared) {
    let store: Shared = Arc::new(Mutex::new(store));
    let kept = store.clone();
    let connection = serve(move |asked| {
        let mut store = kept.lock().unwrap();
        first(asked, &mut store).unwrap_or_else(|| store.answer(asked))
    });
    (connection.await, store)
}

/// No answer: the connection breaks.
fn silence() -> Say {
    Say { status: 0, ..say(503, "") }
}

#[track_caller]
fn is_left_clean(store: &Shared) -> Vec<String> {
    let store = store.lock().unwrap();
    assert_eq!(store.object, None, "{:?}", store.log);
    store.log.clone()
}

#[tokio::test]
async fn a_collector_is_seen() {
    let (connection, store) = server(Store { looks: Some(1), ..Store::default() }, |_, _| None).await;
    let probe = probe(&connection, "shop", LONG).await.unwrap();
    assert!(matches!(probe, Probe::Collected { after } if !after.is_zero()), "{probe:?}");
    assert_eq!(is_left_clean(&store), ["create", "Foreground", "look", "look"]);
}

#[tokio::test]
async fn without_a_collector_the_object_is_removed_again() {
    let (connection, store) = server(Store::default(), |_, _| None).await;
    let probe = probe(&connection, "shop", PATIENCE).await.unwrap();
    assert!(
        matches!(&probe, Probe::NotCollected { waited, name } if *waited >= PATIENCE && name.len() == 33),
        "{probe:?}"
    );
    let log = is_left_clean(&store);
    assert_eq!([&log[..3], &log[log.len() - 1..]].concat(), ["create", "Foreground", "look", "Background"]);
}

/// What is no answer says nothing of a collector, nor of the object.
///
/// robustness line: `doctor --probe`, whose object is read or deleted with another document and status 200 | each | it
///   finds nothing out, and says what it left
#[tokio::test]
async fn garbage_is_no_finding() {
    let garbage = |method: &'static str| {
        move |asked: &RecordedRequest, _: &mut Store| (asked.method == method).then(|| say(200, r#"{"kind":"List"}"#))
    };
    let (connection, store) = server(Store::default(), garbage("GET")).await;
    let found = probe(&connection, "shop", PATIENCE).await;
    assert!(matches!(&found, Err(ProbeError::Failed { doing: "watching", .. })), "{found:?}");
    assert_eq!(is_left_clean(&store), ["create", "Foreground", "Background"]);
    let (connection, store) = server(Store::default(), garbage("DELETE")).await;
    let found = probe(&connection, "shop", PATIENCE).await;
    assert!(matches!(&found, Err(ProbeError::Left { .. })), "{found:?}");
    assert!(store.lock().unwrap().object.is_some());
}

#[tokio::test]
async fn impatience_still_looks_once() {
    let (connection, store) = server(Store { looks: Some(0), ..Store::default() }, |_, _| None).await;
    let probe = probe(&connection, "shop", Duration::ZERO).await.unwrap();
    assert!(matches!(probe, Probe::Collected { .. }), "{probe:?}");
    assert_eq!(is_left_clean(&store), ["create", "Foreground", "look"]);
}

#[tokio::test]
async fn what_refuses_the_object_is_said() {
    for (code, message, describe) in [
        (
            403,
            "configmaps is forbidden: User \"me\" cannot create",
            "use -n to choose a namespace in which you may create",
        ),
        (
            403,
            "unable to create new content in namespace shop because it is being terminated",
            "use -n to choose a namespace that is not being deleted",
        ),
        (403, "exceeded quota: few, requested: count/configmaps=1", "choose a namespace with room in its quota"),
        (404, "namespaces \"shop\" not found", "use -n to choose a namespace that is not being deleted"),
    ] {
        let (connection, store) = server(Store::default(), move |_, store| {
            store.log.push("asked".to_owned());
            Some(status(code, message))
        })
        .await;
        let error = probe(&connection, "shop", PATIENCE).await.unwrap_err();
        let message = message.trim_start_matches("configmaps is ");
        assert!(matches!(&error, ProbeError::Refused { reason, .. } if reason.contains(message)), "{error:?}");
        assert!(error.to_string().starts_with("cannot create the test ConfigMap in namespace shop: "), "{error}");
        assert!(error.to_string().contains(describe), "{error}");
        assert_eq!(is_left_clean(&store), ["asked"]);
    }
    let (connection, store) = server(Store::default(), |_, _| None).await;
    let error = probe(&connection, "a/b", PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("is not a valid namespace name"), "{error}");
    assert!(is_left_clean(&store).is_empty(), "such a namespace has no URL");
}

#[tokio::test]
async fn a_lost_answer_leaves_nothing_behind() {
    // The create was done and its answer lost: the next try finds its own object.
    let lost = |asked: &RecordedRequest, store: &mut Store| {
        (asked.method == "POST" && asked.before == 0).then(|| {
            store.answer(asked);
            silence()
        })
    };
    let (connection, store) = server(Store { looks: Some(0), ..Store::default() }, lost).await;
    assert!(matches!(probe(&connection, "shop", LONG).await, Ok(Probe::Collected { .. })));
    assert_eq!(is_left_clean(&store), ["create", "create", "look", "Foreground", "look"]);

    // The lost create has used up the quota itself.
    let quota = |asked: &RecordedRequest, store: &mut Store| match (asked.method.as_str(), asked.before) {
        ("POST", 0) => {
            store.answer(asked);
            Some(silence())
        }
        ("POST", _) => Some(status(403, "exceeded quota")),
        _ => None,
    };
    let (connection, store) = server(Store::default(), quota).await;
    let error = probe(&connection, "shop", LONG).await.unwrap_err();
    assert!(matches!(error, ProbeError::Refused { .. }), "{error:?}");
    assert_eq!(is_left_clean(&store), ["create", "look", "Background"]);

    // The delete was done, and a collector finished before the second try: the object is gone, but unknown how.
    let taken = |asked: &RecordedRequest, store: &mut Store| {
        (asked.method == "DELETE" && asked.before == 0).then(|| {
            store.object = None;
            silence()
        })
    };
    let (connection, store) = server(Store::default(), taken).await;
    let error = probe(&connection, "shop", LONG).await.unwrap_err();
    assert!(matches!(error, ProbeError::Failed { doing: "deleting", .. }), "{error:?}");
    is_left_clean(&store);
}

#[tokio::test]
async fn whether_it_was_created_may_stay_unknown() {
    let (connection, _store) = server(Store::default(), |asked, _| match asked.method.as_str() {
        "POST" => Some(status(501, "boom")),
        _ => Some(status(403, "configmaps is forbidden")),
    })
    .await;
    let error = probe(&connection, "shop", PATIENCE).await.unwrap_err();
    let ProbeError::Left { name, reason, command, .. } = &error else { panic!("{error:?}") };
    assert_eq!(command.to_string(), format!("kubectl delete configmap/{name} -n shop"));
    assert!(reason.contains("it is not known whether it was created"), "{error}");
}

#[tokio::test]
async fn a_server_that_holds_nothing_says_nothing_of_a_collector() {
    let (connection, store) = server(Store { unheld: true, ..Store::default() }, |_, _| None).await;
    assert_eq!(probe(&connection, "shop", PATIENCE).await, Err(ProbeError::NotHeld));
    is_left_clean(&store);
}

#[tokio::test]
async fn what_cannot_be_deleted_is_told_with_the_command_for_it() {
    let forbidden = |asked: &RecordedRequest, _: &mut Store| (asked.method == "DELETE").then(|| status(403, "not you"));
    let (connection, store) = server(Store::default(), forbidden).await;
    let error = probe(&connection, "shop", PATIENCE).await.unwrap_err();
    let ProbeError::Left { name, .. } = &error else { panic!("{error:?}") };
    assert_eq!(
        error.to_string(),
        format!(
            "deleting the test object failed: forbidden: not you; ConfigMap {name} in namespace shop could not \
             be removed: forbidden: not you; remove it with: kubectl delete configmap/{name} -n shop"
        )
    );
    assert_eq!(store.lock().unwrap().object.as_ref().map(|object| object["metadata"]["name"] == **name), Some(true));
}

#[tokio::test]
async fn what_cannot_be_watched_is_removed() {
    let forbidden = |asked: &RecordedRequest, _: &mut Store| (asked.method == "GET").then(|| status(403, "not you"));
    let (connection, store) = server(Store::default(), forbidden).await;
    let error = probe(&connection, "shop", LONG).await.unwrap_err();
    assert!(matches!(error, ProbeError::Failed { doing: "watching", .. }), "{error:?}");
    assert_eq!(is_left_clean(&store), ["create", "Foreground", "Background"]);
}

#[tokio::test]
async fn a_server_that_stumbles_is_looked_at_again() {
    let stumbles = |asked: &RecordedRequest, _: &mut Store| {
        (asked.method == "GET" && asked.before == 0).then(|| status(503, "a moment"))
    };
    let (connection, store) = server(Store { looks: Some(0), ..Store::default() }, stumbles).await;
    assert!(matches!(probe(&connection, "shop", LONG).await, Ok(Probe::Collected { .. })));
    is_left_clean(&store);
}

#[tokio::test]
async fn what_a_webhook_holds_is_told() {
    let store = Store { looks: Some(0), adds: Some("acme.io/audit"), ..Store::default() };
    let (connection, _store) = server(store, |_, _| None).await;
    let error = probe(&connection, "shop", LONG).await.unwrap_err();
    let ProbeError::Left { name, found, command, .. } = &error else { panic!("{error:?}") };
    assert!(found.starts_with("a garbage collector is running"), "{error}");
    assert_eq!(
        command.to_string(),
        format!(r#"kubectl patch configmap/{name} -n shop --type=merge -p '{{"metadata":{{"finalizers":null}}}}'"#)
    );
}

/// The test object isn't collected because of an answer about another object.
#[tokio::test]
async fn no_answer_about_another_object_shows_a_collector() {
    for number in 0..mix_ups("v1", "ConfigMap", "").len() {
        let (connection, _) = server(Store::default(), move |asked, _| {
            let name = asked.url.rsplit('/').next().unwrap_or_default();
            (asked.method == "GET").then(|| mix_ups("v1", "ConfigMap", name).swap_remove(number).1)
        })
        .await;
        let probed = probe(&connection, "shop", LONG).await;
        assert!(matches!(probed, Err(ProbeError::Failed { .. })), "{number}: {probed:?}");
    }
}
