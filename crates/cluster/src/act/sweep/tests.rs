//! Sweeps against a server that answers as the API server may.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use crate::cluster::testing::{RecordedRequest, Say, absent, json as say, mix_ups, pods, refuse, removed, serve};
use gc_core::{
    collector::live::Limit,
    model::{RawObject, RawReference, Resource},
};

/// How long to wait for further writes: a sweeper's pauses double from five milliseconds on.
const QUIET: Duration = Duration::from_millis(300);
/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A reference to a pod.
fn to(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": format!("u-{name}"), "blockOwnerDeletion": true})
}

/// A pod in this version.
fn pod(name: &str, version: u32, owners: &[Value], rest: &Value) -> Value {
    let mut metadata = json!({
        "name": name,
        "namespace": "shop",
        "uid": format!("u-{name}"),
        "resourceVersion": version.to_string(),
        "ownerReferences": owners,
    });
    metadata.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
}

/// A cluster-scoped kind, whose list never ends.
fn regions() -> Resource {
    Resource { namespaced: false, ..Resource::named("acme.io", "v1", "regions", "Region") }
}

fn to_region(name: &str) -> Value {
    json!({"apiVersion": "acme.io/v1", "kind": "Region", "name": name, "uid": format!("u-{name}")})
}

fn region(name: &str, owners: &[Value]) -> Value {
    let metadata = json!({"name": name, "uid": format!("u-{name}"), "resourceVersion": "9", "ownerReferences": owners});
    json!({"apiVersion": "acme.io/v1", "kind": "Region", "metadata": metadata})
}

fn waiting(more: &[&str]) -> Value {
    let finalizers: Vec<&str> = more.iter().copied().chain(["foregroundDeletion"]).collect();
    json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers})
}

fn there(object: &Value) -> Say {
    say(200, object.to_string())
}

fn conflict() -> Say {
    say(409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": {"name": "x"}}).to_string())
}

/// All writes: method, name and body.
type Writes = Arc<Mutex<Vec<(String, String, Value)>>>;

/// A sweeper that has seen these pods, and what it writes to the server.
struct Scene {
    sweeper: Sweeper,
    writes: Writes,
}

fn settings() -> Settings {
    Settings { workers: 4, trust_missing_apis: false, limit: Limit::None }
}

impl Scene {
    /// `answer` gets the name in the request's path. Objects whose DELETE it lets succeed are gone afterwards.
    async fn begin(
        seen: impl IntoIterator<Item = Value>,
        settings: Settings,
        answer: impl Fn(&str, &RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> Self {
        let scene = Self::ready(seen, settings, answer).await;
        scene.sweeper.begin();
        scene
    }

    /// The same, before the sweeper begins.
    async fn ready(
        seen: impl IntoIterator<Item = Value>,
        settings: Settings,
        answer: impl Fn(&str, &RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> Self {
        let writes = Writes::default();
        let log = writes.clone();
        let deleted = Mutex::new(BTreeSet::new());
        let connection = serve(move |asked| {
            let name =
                asked.url.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
            let mut writes = log.lock().unwrap();
            if asked.method == "GET" && deleted.lock().unwrap().contains(&name) {
                return absent(asked);
            }
            if asked.method != "GET" {
                let body = serde_json::from_slice(&asked.body).unwrap();
                writes.push((asked.method.clone(), name.clone(), body));
            }
            let answer = answer(&name, asked);
            if asked.method == "DELETE" && answer.body == removed(&name).body {
                deleted.lock().unwrap().insert(name);
            }
            answer
        });
        let sweeper = Sweeper::new(connection.await, settings, Arc::new(|_| ()));
        sweeper.serve(Resources::new(vec![pods(), regions()], Vec::new()), &[]);
        let (kind, regions) = (sweeper.kind(&pods()), sweeper.kind(&regions()));
        sweeper.tell(|live| live.begin_list(kind));
        for object in seen {
            see(&sweeper, if object["kind"] == "Region" { regions } else { kind }, &object);
        }
        sweeper.tell(|live| live.end_list(kind));
        Scene { sweeper, writes }
    }

    /// Waits for this many writes, and checks that no more follow.
    async fn writes(&self, count: usize) -> Vec<(String, String, Value)> {
        let enough = async {
            while self.writes.lock().unwrap().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let in_time = timeout(PATIENCE, enough).await;
        tokio::time::sleep(QUIET).await;
        let writes = self.writes.lock().unwrap().clone();
        assert!(in_time.is_ok() && writes.len() == count, "{count} writes are to come: {writes:#?}");
        writes
    }

    /// Waits until objects fail, and returns their names and why.
    async fn fails(&self) -> Vec<(String, String)> {
        let failing = async {
            loop {
                let failing = self.sweeper.standing().failing;
                if !failing.is_empty() {
                    return failing.into_iter().map(|(object, why)| (object.name, why)).collect();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, failing).await.expect("something fails")
    }
}

/// Reports an object to a sweeper as the API server writes it.
fn see(sweeper: &Sweeper, kind: KindId, object: &Value) {
    sweeper.tell(|live| live.see(kind, &raw(object)));
}

fn raw(object: &Value) -> RawObject<'static> {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned().into();
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten().map(|reference| RawReference {
        api_version: text(&reference["apiVersion"]),
        kind: text(&reference["kind"]),
        name: text(&reference["name"]),
        uid: text(&reference["uid"]),
        controller: reference["controller"].as_bool(),
        block_owner_deletion: reference["blockOwnerDeletion"].as_bool(),
    });
    RawObject {
        resource_version: text(&metadata["resourceVersion"]),
        deleted: metadata["deletionTimestamp"].is_string().then_some(1),
        finalizers: metadata["finalizers"].as_array().into_iter().flatten().map(text).collect(),
        owners: owners.collect(),
        ..RawObject::named(text(&metadata["namespace"]), text(&metadata["name"]), text(&metadata["uid"]))
    }
}

fn preconditions(uid: &str, version: Option<u32>) -> Value {
    match version {
        Some(version) => json!({"uid": uid, "resourceVersion": version.to_string()}),
        None => json!({"uid": uid}),
    }
}

fn none() -> Value {
    json!({})
}

#[tokio::test]
async fn a_delete_names_what_it_was_decided_on() {
    let lost = pod("lost", 7, &[to("owner")], &none());
    let scene = Scene::begin([lost], settings(), |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("DELETE", "lost") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(1).await;
    assert_eq!(writes[0].2["preconditions"], preconditions("u-lost", Some(7)));
    assert_eq!(writes[0].2["propagationPolicy"], "Background");
}

/// A watch that works tells what the sweep itself has written.
#[tokio::test]
async fn what_was_written_is_unobserved_until_an_event_tells_it() {
    let lost = pod("lost", 7, &[to("owner")], &none());
    let below = pod("below", 8, &[to("lost")], &none());
    let scene = Scene::begin([lost, below], settings(), |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("DELETE", "lost" | "below") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let scene = scene.await;
    // The first one is examined again, and then known to be absent.
    scene.writes(2).await;
    let kind = scene.sweeper.kind(&pods());
    assert_eq!(scene.sweeper.unobserved().into_iter().collect::<Vec<_>>(), [kind]);
    scene.sweeper.tell(|live| live.gone("u-below"));
    assert!(scene.sweeper.unobserved().is_empty());
}

/// No event follows a DELETE that was not done.
#[tokio::test]
async fn a_delete_is_repeated_until_its_answer_is_one() {
    let lost = pod("lost", 7, &[to("owner")], &none());
    let now = lost.clone();
    let scene = Scene::begin([lost], settings(), move |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("GET", "lost") => there(&now),
        ("DELETE", "lost") if asked.before == 0 => say(200, "{}"),
        ("DELETE", "lost") if asked.before == 1 => there(&pod("another", 7, &[], &none())),
        ("DELETE", "lost") if asked.before == 2 => removed("another"),
        ("DELETE", "lost") if asked.before == 3 => say(200, r#"{"kind":"Status","status":"Success"}"#),
        ("DELETE", "lost") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(5).await;
    assert!(writes.iter().all(|(method, _, _)| method == "DELETE"), "{writes:#?}");
}

/// Another client may have added an owner that exists.
#[tokio::test]
async fn a_conflict_is_looked_at_again() {
    let (lost, saved) = (pod("lost", 7, &[to("owner")], &none()), pod("lost", 8, &[to("owner"), to("solid")], &none()));
    let stripped = pod("lost", 9, &[to("solid")], &none());
    let is_stripped = AtomicBool::new(false);
    let scene = Scene::begin([lost], settings(), move |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("GET", "lost") if is_stripped.load(Ordering::Relaxed) => there(&stripped),
        ("GET", "lost") => there(&saved),
        ("GET", "solid") => there(&pod("solid", 1, &[], &none())),
        ("DELETE", "lost") => conflict(),
        ("PATCH", "lost") => {
            is_stripped.store(true, Ordering::Relaxed);
            there(&stripped)
        }
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(2).await;
    let words: Vec<&str> = writes.iter().map(|(method, _, _)| method.as_str()).collect();
    assert_eq!(words, ["DELETE", "PATCH"], "it is not deleted, and keeps the owner that is there: {writes:#?}");
    assert_eq!(
        writes[1].2,
        json!({"metadata": {"uid": "u-lost", "resourceVersion": "8", "ownerReferences": [to("solid")]}})
    );
}

/// R4.2: another client keeps writing to the object without changing its owners. The real collector would repeat the
/// DELETE by uid alone.
#[tokio::test]
async fn no_delete_goes_by_the_uid_alone() {
    let lost = |version| pod("lost", version, &[to("owner")], &none());
    let scene = Scene::begin([lost(7)], settings(), move |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("GET", "lost") => there(&lost(20 + u32::try_from(asked.before).unwrap())),
        ("DELETE", "lost") if asked.before < 7 => conflict(),
        ("DELETE", "lost") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(8).await;
    let versions: Vec<Value> = writes.iter().map(|(_, _, body)| body["preconditions"].clone()).collect();
    assert_eq!(versions[0], preconditions("u-lost", Some(7)));
    for versioned in &versions {
        assert!(versioned["resourceVersion"].is_string(), "{versions:#?}");
    }
    let mut different = versions.clone();
    different.dedup();
    assert_eq!(different.len(), versions.len(), "each by what was read last: {versions:#?}");
}

/// Forbidden is not absent, and neither is a missing API path or a failing server.
#[tokio::test]
async fn what_is_not_known_to_be_gone_is_not_acted_on() {
    for (status, observer) in
        [(403, "forbidden"), (404, "its API path is not served"), (501, "501"), (410, "410"), (301, "301")]
    {
        let lost = pod("lost", 7, &[to("owner")], &none());
        let scene = Scene::begin([lost], settings(), move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => refuse(status),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let scene = scene.await;
        let failing = scene.fails().await;
        assert!(failing[0].0 == "lost" && failing[0].1.contains(observer), "{status}: {failing:?}");
        scene.writes(0).await;
    }
    // Only a 404 for the path is trusted.
    for (status, writes) in [(404, 1), (403, 0)] {
        let lost = pod("lost", 7, &[to("owner")], &none());
        let trusting = Settings { trust_missing_apis: true, ..settings() };
        let scene = Scene::begin([lost], trusting, move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => refuse(status),
            ("DELETE", "lost") => removed(name),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        scene.await.writes(writes).await;
    }
}

/// The answer may be about another object with the owner's name: without a uid, it proves nothing.
#[tokio::test]
async fn an_owner_without_a_uid_is_no_answer() {
    let lost = pod("lost", 7, &[to("owner")], &none());
    let scene = Scene::begin([lost], settings(), |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => say(200, r#"{"kind":"Pod","metadata":{"name":"owner","namespace":"shop"}}"#),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let scene = scene.await;
    assert_eq!(scene.fails().await, [("lost".to_owned(), "unreadable answer: it has no uid".to_owned())]);
    scene.writes(0).await;
}

/// What was hidden when an orphaning began, and is read before it ends, isn't among those that it frees: the owner
/// keeps its finalizer until they are free, too.
#[tokio::test]
async fn what_becomes_known_during_an_orphaning_is_freed_first() {
    let orphaning = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["orphan"]});
    let (owner, dependent) = (pod("owner", 7, &[], &orphaning), pod("dependent", 8, &[to("owner")], &none()));
    let owner_then = owner.clone();
    let sweeping = Arc::new(OnceLock::<(Arc<Shared>, KindId)>::new());
    let known = sweeping.clone();
    let scene = Scene::ready([owner], settings(), move |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => {
            let (shared, kind) = known.get().expect("it has begun");
            shared.change(|state| {
                state.live.see(*kind, &raw(&dependent));
                state.unseen.clear();
            });
            there(&owner_then)
        }
        ("GET", "dependent") => there(&dependent),
        ("PATCH", "dependent") => there(&pod("dependent", 9, &[], &none())),
        ("DELETE", "owner") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let scene = scene.await;
    let hidden = Unseen { name: "acme.io/v1".to_owned(), why: "unknown".to_owned(), cluster_scoped: false };
    scene.sweeper.set_unseen(vec![hidden]);
    drop(sweeping.set((scene.sweeper.shared.clone(), scene.sweeper.kind(&pods()))));
    scene.sweeper.begin();
    let writes = scene.writes(2).await;
    let names: Vec<&str> = writes.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(names, ["dependent", "owner"], "{writes:#?}");
}

/// An overloaded server says when to retry.
#[tokio::test]
async fn a_busy_server_is_given_its_time() {
    let begun = Instant::now();
    let lost = pod("lost", 7, &[to("owner")], &none());
    let scene = Scene::begin([lost], settings(), |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => absent(asked),
        ("DELETE", "lost") if asked.before == 0 => Say { headers: "retry-after: 1\r\n", ..refuse(429) },
        ("DELETE", "lost") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(2).await;
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(writes[0], writes[1]);
}

/// A DELETE takes the last finalizer, because the API server checks its uid to the very end; if the DELETE is refused,
/// the collector's PATCH does it (R1.7, R1.47, R4.10).
#[tokio::test]
async fn the_last_finalizer_goes_by_the_uid() {
    for refused in [false, true] {
        let owner = pod("owner", 7, &[], &waiting(&[]));
        let scene = Scene::begin([owner.clone()], settings(), move |name, asked| match (asked.method.as_str(), name) {
            ("GET" | "PATCH", "owner") => there(&owner),
            ("DELETE", "owner") if refused => refuse(403),
            ("DELETE", "owner") => removed(name),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let writes = scene.await.writes(1 + usize::from(refused)).await;
        assert_eq!(writes[0].2["propagationPolicy"], "Background");
        assert_eq!(writes[0].2["preconditions"], preconditions("u-owner", None));
        if refused {
            assert_eq!(writes[1].2, json!({"metadata": {"uid": "u-owner", "resourceVersion": "7", "finalizers": []}}));
        }
    }
}

/// A sweep leaves other finalizers alone, even those it has not observed.
#[tokio::test]
async fn finalizers_of_others_stay() {
    let seen = pod("owner", 7, &[], &waiting(&[]));
    let now = pod("owner", 8, &[], &waiting(&["acme.io/first", "acme.io/second"]));
    let scene = Scene::begin([seen], settings(), move |name, asked| match (asked.method.as_str(), name) {
        ("GET", "owner") => there(&now),
        ("PATCH", "owner") => there(&now),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(1).await;
    assert_eq!(
        writes[0].2,
        json!({"metadata": {"uid": "u-owner", "resourceVersion": "8", "finalizers": ["acme.io/first",
            "acme.io/second"]}})
    );
}

/// Unblocking starts from the current references, so that it reverts no write made since the observation (§4.3).
#[tokio::test]
async fn unblocking_takes_nothing_back() {
    // A circle: each waits for the other.
    let owner = pod("owner", 3, &[to("item")], &waiting(&[]));
    let seen = pod("item", 7, &[to("owner")], &none());
    let (now, late) = (pod("item", 8, &[to("owner"), to("late")], &none()), pod("late", 1, &[], &waiting(&[])));
    let scene =
        Scene::begin([owner.clone(), seen], settings(), move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => there(&owner),
            ("GET", "item") => there(&now),
            ("GET", "late") => there(&late),
            ("PATCH", "item") if String::from_utf8_lossy(&asked.body).contains("\"resourceVersion\":\"7\"") => {
                conflict()
            }
            ("PATCH", "item") => there(&now),
            ("DELETE", "item") => removed(name),
            _ => panic!("{} {}", asked.method, asked.url),
        });
    let writes = scene.await.writes(3).await;
    let words: Vec<&str> = writes.iter().map(|(method, _, _)| method.as_str()).collect();
    assert_eq!(words, ["PATCH", "PATCH", "DELETE"], "{writes:#?}");
    let freed = ["owner", "late"].map(|name| {
        let mut reference = to(name);
        reference["blockOwnerDeletion"] = json!(false);
        reference
    });
    assert_eq!(writes[1].2, json!({"metadata": {"uid": "u-item", "resourceVersion": "8", "ownerReferences": freed}}));
}

/// A sweep writes only to objects within its limit. An owner keeps its finalizer while a dependent outside the limit
/// needs work.
#[tokio::test]
async fn limits_hold() {
    let orphaning = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["orphan"]});
    let owner = pod("owner", 3, &[], &orphaning);
    let mut elsewhere = pod("elsewhere", 5, &[to("owner")], &none());
    elsewhere["metadata"]["namespace"] = json!("other");
    let dependent = pod("dependent", 4, &[to("owner")], &none());
    let lost = pod("lost", 7, &[to("never")], &none());
    let seen = [owner.clone(), elsewhere, dependent.clone(), lost];
    let only = Limit::Uids(["u-owner".to_owned(), "u-dependent".to_owned()].into_iter().collect());
    for limit in [Limit::Namespace("shop".to_owned()), only] {
        let all_of_shop = matches!(limit, Limit::Namespace(_));
        let (owner, dependent) = (owner.clone(), dependent.clone());
        let limited = Settings { limit, ..settings() };
        let scene = Scene::begin(seen.clone(), limited, move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => there(&owner),
            ("GET", "never") => absent(asked),
            ("GET" | "PATCH", "dependent") => there(&dependent),
            ("DELETE", "lost") => removed(name),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let scene = scene.await;
        let enough = async {
            while scene.writes.lock().unwrap().len() < 1 + usize::from(all_of_shop) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, enough).await.expect("it writes");
        tokio::time::sleep(QUIET).await;
        let writes = scene.writes.lock().unwrap().clone();
        let names: BTreeSet<&str> = writes.iter().map(|(_, name, _)| name.as_str()).collect();
        let expected: &[&str] = if all_of_shop { &["dependent", "lost"] } else { &["dependent"] };
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected, "the owner keeps its finalizer: {writes:#?}");
    }
}

/// R3.2: an object that no list has shown gets the coordinates by which its first dependent names it, with the
/// dependent's namespace. A sweep looks for its owners from its real scope: a cluster-scoped object has none in a
/// namespace, and is left alone (L3).
#[tokio::test]
async fn a_cluster_scoped_object_is_not_in_its_dependents_namespace() {
    let hub = region("hub", &[to("never")]);
    let scene =
        Scene::begin([pod("dependent", 4, &[to_region("hub")], &none())], settings(), move |name, asked| {
            match (asked.method.as_str(), name) {
                ("GET", "hub") => there(&hub),
                _ => panic!("{} {}", asked.method, asked.url),
            }
        });
    scene.await.writes(0).await;
}

/// Such an object isn't within the limit of that namespace either, even if its owners are gone.
#[tokio::test]
async fn a_limit_to_a_namespace_holds_for_what_nobody_has_shown() {
    for (limit, writes) in [(Limit::Namespace("shop".to_owned()), 0), (Limit::None, 2)] {
        let hub = region("hub", &[to_region("never")]);
        let limited = Settings { limit, ..settings() };
        let scene =
            Scene::begin([pod("dependent", 4, &[to_region("hub")], &none())], limited, move |name, asked| {
                match (asked.method.as_str(), name) {
                    ("GET", "hub") => there(&hub),
                    ("GET", "never") => absent(asked),
                    ("DELETE", "hub" | "dependent") => removed(name),
                    _ => panic!("{} {}", asked.method, asked.url),
                }
            });
        scene.await.writes(writes).await;
    }
}

/// A missing API path in a namespace proves no absence for a cluster-scoped object: it can't have a namespaced owner
/// (L3), whichever object was examined first.
#[tokio::test]
async fn an_absence_in_a_namespace_says_nothing_of_other_scopes() {
    let list = json!({"apiVersion": "v1", "kind": "PodList", "name": "never", "uid": "u-never"});
    let trusting = Settings { trust_missing_apis: true, workers: 1, ..settings() };
    let seen = [pod("lost", 7, std::slice::from_ref(&list), &none()), region("hub", &[list])];
    let scene = Scene::begin(seen, trusting, move |name, asked| match (asked.method.as_str(), name) {
        ("DELETE", "lost") => removed(name),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    scene.await.writes(1).await;
}

/// Pods are listed because they can't be watched. An owner keeps its finalizer until a list is read that began after
/// the sweep wanted to take it: the list before may lack a dependent.
#[tokio::test]
async fn an_owner_waits_for_a_list_of_its_dependents() {
    for finalizer in ["orphan", "foregroundDeletion"] {
        let terminating = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [finalizer]});
        let owner = pod("owner", 3, &[], &terminating);
        let late = pod("late", 4, &[to("owner")], &none());
        let now = [owner.clone(), late.clone()];
        let scene = Scene::ready([owner], settings(), move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => there(&now[0]),
            ("GET" | "PATCH", "late") => there(&now[1]),
            ("DELETE", _) => removed(name),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let scene = scene.await;
        let sweeper = &scene.sweeper;
        let kind = sweeper.kind(&pods());
        sweeper.cover(kind, Coverage::Listed(Some(Instant::now())));
        sweeper.begin();
        let wanted = async {
            while !sweeper.wants_lists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, wanted).await.expect("it wants lists");
        sweeper.cover(kind, Coverage::Listed(None));
        scene.writes(0).await;
        assert_eq!(sweeper.standing().failing, [], "that is no failure");
        // The list shows a dependent.
        let begun = Instant::now();
        see(sweeper, kind, &late);
        sweeper.cover(kind, Coverage::Listed(Some(begun)));
        if finalizer == "foregroundDeletion" {
            scene.writes(1).await;
            sweeper.tell(|live| live.gone("u-late"));
        }
        let writes = scene.writes(2).await;
        let names: Vec<&str> = writes.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, ["late", "owner"], "{finalizer}: {writes:#?}");
        assert!(!sweeper.wants_lists());
    }
}

/// An owner lives until the server says of this very owner that it doesn't exist, or that it is another one.
#[tokio::test]
async fn no_answer_about_another_object_is_an_owners_end() {
    for (what, mixed_up) in mix_ups("v1", "Pod", "owner") {
        let lost = pod("lost", 7, &[to("owner")], &none());
        let trusting = Settings { trust_missing_apis: true, ..settings() };
        let scene = Scene::begin([lost], trusting, move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => mixed_up.clone(),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let scene = scene.await;
        assert_eq!(scene.fails().await[0].0, "lost", "{what}");
        scene.writes(0).await;
    }
}

/// The owner's name is also that of an object of another kind, whose metadata come once in place of its own.
#[tokio::test]
async fn metadata_of_another_kind_are_no_new_owner() {
    let lost = pod("lost", 7, &[to("gone"), to("owner")], &none());
    let scene = Scene::begin([lost], settings(), |name, asked| match (asked.method.as_str(), name) {
        ("GET", "gone") => absent(asked),
        ("GET", "owner") if asked.accept.contains("PartialObjectMetadata") => {
            let metadata = json!({"name": "owner", "namespace": "shop", "uid": "u-of-a-service"});
            there(&json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}))
        }
        ("GET", "owner") => there(&pod("owner", 1, &[], &none())),
        ("GET" | "PATCH", "lost") => there(&pod("lost", 8, &[to("owner")], &none())),
        _ => panic!("{} {}", asked.method, asked.url),
    });
    let writes = scene.await.writes(1).await;
    assert_eq!(writes[0].2["metadata"]["ownerReferences"], json!([to("owner")]));
}

/// After a conflict, the object is read again; and an answer about another object is not its end.
#[tokio::test]
async fn no_answer_about_another_object_is_an_objects_end() {
    for (what, mixed_up) in mix_ups("v1", "Pod", "lost") {
        let lost = pod("lost", 7, &[to("owner")], &none());
        let scene = Scene::begin([lost], settings(), move |name, asked| match (asked.method.as_str(), name) {
            ("GET", "owner") => absent(asked),
            ("GET", "lost") => mixed_up.clone(),
            ("DELETE", "lost") => conflict(),
            _ => panic!("{} {}", asked.method, asked.url),
        });
        let scene = scene.await;
        assert_eq!(scene.fails().await[0].0, "lost", "{what}");
        scene.writes(1).await;
    }
}
