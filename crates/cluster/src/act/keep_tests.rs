//! Cutting, putting back and releasing, against a server that interferes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

use super::keep::*;
use crate::cluster::{
    Connection,
    testing::{RecordedRequest, Say, absent, json as say, pods, serve, serving, status},
};
use gc_core::{
    command_line::{Kubectl, PLAIN},
    graph::OwnerGraph,
    model::{ListRecord, ObjectId, RawObject, RawReference, Resource, Snapshot},
    plan::{Plan, plan},
    server::Propagation,
    simulate::{Assume, Cut, Request, SimContext},
};

/// A server's objects by path, and a log of writes.
#[derive(Default)]
struct Store {
    objects: BTreeMap<String, Value>,
    version: u64,
    log: Vec<String>,
}

impl Store {
    /// Creates an object, or changes it as another client would.
    fn put(&mut self, path: &str, mut object: Value) {
        self.version += 1;
        let (api_version, kind) = if path == SET { ("apps/v1", "ReplicaSet") } else { ("v1", "Pod") };
        (object["apiVersion"], object["kind"]) = (json!(api_version), json!(kind));
        object["metadata"]["namespace"] = json!("shop");
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object);
    }

    fn answer(&mut self, asked: &RecordedRequest) -> Say {
        let Some(object) = self.objects.get(&asked.url).cloned() else { return absent(asked) };
        if asked.method == "PATCH" {
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            let metadata = &body["metadata"];
            for field in ["uid", "resourceVersion"] {
                if metadata[field] != object["metadata"][field] {
                    self.log.push("conflict".to_owned());
                    return status(409, "the object has been modified");
                }
            }
            let mut after = object;
            after["metadata"]["ownerReferences"] = metadata["ownerReferences"].clone();
            self.log.push(format!("{}: {}", name_of(&asked.url), owners_of(&after)));
            self.put(&asked.url, after);
        }
        say(200, self.objects[&asked.url].to_string())
    }

    fn owners(&self, pod: &str) -> String {
        owners_of(&self.objects[&path(pod)])
    }
}

fn path(pod: &str) -> String {
    format!("/api/v1/namespaces/shop/pods/{pod}")
}

fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or_default()
}

/// The names of an object's owners; a controller with a star.
fn owners_of(object: &Value) -> String {
    let owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let describe = owners.map(|owner| {
        format!("{}{}", owner["uid"].as_str().unwrap(), if owner["controller"] == true { "*" } else { "" })
    });
    describe.collect::<Vec<_>>().join(" ")
}

fn reference(kind: &str, uid: &str, controller: bool) -> Value {
    json!({"apiVersion": if kind == "Pod" { "v1" } else { "apps/v1" }, "kind": kind, "name": uid, "uid": uid,
        "controller": controller})
}

fn sets() -> Resource {
    Resource { group: "apps".into(), plural: "replicasets".into(), kind: "ReplicaSet".into(), ..pods() }
}

const SET: &str = "/apis/apps/v1/namespaces/shop/replicasets/r";

/// A ReplicaSet `r` that controls the pods `a` and `b`, and is to be deleted.
struct Scene {
    snapshot: Snapshot,
    plan: Plan,
    connection: Connection,
    store: Arc<Mutex<Store>>,
}

impl Scene {
    /// `first` may answer instead of the store.
    async fn new(first: impl Fn(&RecordedRequest, &mut Store) -> Option<Say> + Send + Sync + 'static) -> Self {
        let mut builder = serving([pods(), sets()]);
        let mut store = Store::default();
        let raw = |uid: &'static str, owners: Vec<RawReference<'static>>| RawObject {
            owners,
            ..RawObject::named("shop", uid, uid)
        };
        let [pod, set] = ["", "apps"].map(|group| {
            let kind = if group.is_empty() { "Pod" } else { "ReplicaSet" };
            builder.snapshot().resources.by_group_kind(group, kind).unwrap()
        });
        for resource in [pod, set] {
            builder.list(ListRecord::complete(resource));
        }
        let set_owner = RawReference { controller: Some(true), ..RawReference::to("apps/v1", "ReplicaSet", "r", "r") };
        let r = builder.add(set, &raw("r", Vec::new()));
        store.put(SET, json!({"metadata": {"name": "r", "uid": "r"}}));
        for name in ["a", "b"] {
            builder.add(pod, &raw(name, vec![set_owner.clone()]));
            let owners = json!([reference("ReplicaSet", "r", true)]);
            store.put(&path(name), json!({"metadata": {"name": name, "uid": name, "ownerReferences": owners}}));
        }
        let snapshot = builder.build();
        let graph = OwnerGraph::new(&snapshot);
        let plan = plan(
            &SimContext::new(&snapshot, &graph, Assume::Known),
            &Request::delete(vec![r], Propagation::Background),
        );
        let store = Arc::new(Mutex::new(store));
        let kept = store.clone();
        let connection = serve(move |asked| {
            let mut store = kept.lock().unwrap();
            first(asked, &mut store).unwrap_or_else(|| store.answer(asked))
        });
        Scene { snapshot, plan, connection: connection.await, store }
    }

    fn cuts(&self) -> Vec<Cut> {
        let pods: Vec<ObjectId> =
            self.snapshot.objects().filter(|(_, object)| !object.owners.is_empty()).map(|(id, _)| id).collect();
        pods.into_iter().map(|object| Cut { object, loses: self.snapshot.object(object).owners.to_vec() }).collect()
    }

    async fn cut(&self) -> Result<Vec<DetachedObject>, KeepError> {
        cut(&self.connection, &self.snapshot, &self.cuts()).await
    }

    async fn release(&self, detached: &[DetachedObject]) -> Vec<Released> {
        let patience = Duration::from_millis(50);
        let released = release(&self.connection, &self.snapshot, &self.plan, detached, patience).await.unwrap();
        released.into_iter().map(|(_, released)| released).collect()
    }

    /// Changes the store as another client would.
    fn change(&self, change: impl FnOnce(&mut Store)) {
        change(&mut self.store.lock().unwrap());
    }

    /// All writes so far, sorted: objects are cut in parallel.
    fn log(&self) -> Vec<String> {
        let mut log = std::mem::take(&mut self.store.lock().unwrap().log);
        log.sort();
        log
    }

    fn owners(&self) -> [String; 2] {
        ["a", "b"].map(|pod| self.store.lock().unwrap().owners(pod))
    }
}

#[tokio::test]
async fn what_is_cut_has_itself_as_controller_until_it_is_released() {
    let scene = Scene::new(|_, _| None).await;
    let detached = scene.cut().await.unwrap();
    assert_eq!(scene.log(), ["a: a*", "b: b*"], "one write each");
    assert!(detached.iter().all(|one| one.guarded));
    let kubectl = Kubectl::new(vec!["--context=x".to_owned()]);
    let command = detached[0].release_command(&scene.snapshot, &kubectl).unwrap().to_string();
    assert_eq!(
        command,
        "kubectl --context=x patch pods/a -n shop --type=json -p \
         '[{\"op\":\"test\",\"path\":\"/metadata/ownerReferences/0/uid\",\"value\":\"a\"},{\"op\":\"remove\",\
             \"path\":\"/metadata/ownerReferences/0\"}]'"
    );
    // What was done before an interruption is not repeated.
    scene.cut().await.unwrap();
    assert_eq!(scene.log(), [] as [String; 0]);
    let set = scene.snapshot.by_uid(scene.snapshot.strings.find("r").unwrap()).unwrap();
    assert_eq!(scene.release(&detached).await, [Released::Guarded(set), Released::Guarded(set)]);
    assert_eq!(scene.owners(), ["a*", "b*"]);
    // An owner that is terminating adopts nothing, so the guard can go; references added meanwhile go with it.
    scene.change(|store| {
        store.put(SET, json!({"metadata": {"name": "r", "uid": "r", "deletionTimestamp": "2026-01-01T00:00:00Z"}}));
        let guard = store.objects[&path("b")]["metadata"]["ownerReferences"][0].clone();
        let owners = json!([reference("Pod", "other", false), reference("ReplicaSet", "r", false), guard]);
        store.put(&path("b"), json!({"metadata": {"name": "b", "uid": "b", "ownerReferences": owners}}));
    });
    assert_eq!(scene.release(&detached).await, [Released::Free, Released::Free]);
    assert_eq!(scene.owners(), ["", "other"]);
}

#[tokio::test]
async fn released_is_what_is_there() {
    let scene = Scene::new(|_, _| None).await;
    let detached = scene.cut().await.unwrap();
    scene.change(|store| {
        store.objects.remove(SET);
        store.objects.remove(&path("a"));
        store.put(&path("b"), json!({"metadata": {"name": "b", "uid": "another"}}));
    });
    assert_eq!(scene.release(&detached).await, [Released::Lost, Released::Lost]);
}

#[tokio::test]
async fn who_is_overtaken_reads_again() {
    let scene = Scene::new(|asked, store| {
        // Another client writes to it between the read and the patch, once.
        if asked.method == "PATCH" && asked.before == 0 {
            let object = store.objects[&asked.url].clone();
            store.put(&asked.url, object);
        }
        None
    })
    .await;
    scene.cut().await.unwrap();
    assert_eq!(scene.log(), ["a: a*", "b: b*", "conflict", "conflict"]);
}

/// A write was done and its answer lost: the next read shows it, and the former references can be put back.
#[tokio::test]
async fn an_answer_that_gets_lost() {
    let scene = Scene::new(|asked, store| {
        (asked.method == "PATCH" && asked.before == 0).then(|| {
            store.answer(asked);
            Say { status: 0, content_type: "", headers: "", body: Vec::new(), open: false }
        })
    })
    .await;
    let detached = scene.cut().await.unwrap();
    assert_eq!(scene.log(), ["a: a*", "b: b*"]);
    assert_eq!(put_back(&scene.connection, &scene.snapshot, &detached).await, []);
    assert_eq!(scene.owners(), ["r*", "r*"]);
}

/// If the second object fails for any reason, the first gets its owners back.
#[tokio::test]
async fn nothing_stays_cut_if_something_can_not_be() {
    type Spoil = fn(&mut Value);
    let spoilt: [(Spoil, &str); 5] = [
        (|metadata| metadata["uid"] = json!("another"), "it no longer exists; plan again"),
        (|metadata| metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"), "somebody else is deleting it"),
        (
            |metadata| {
                metadata["ownerReferences"] =
                    json!([reference("ReplicaSet", "r", true), reference("ReplicaSet", "s", false)])
            },
            "its owner references have changed since the plan (ReplicaSet/s is new); plan again",
        ),
        (
            |metadata| metadata["ownerReferences"] = json!([reference("ReplicaSet", "another", true)]),
            "its owner references have changed since the plan (ReplicaSet/another is new); plan again",
        ),
        (
            |metadata| *metadata = json!({"name": "b", "uid": "b", "labels": {"forbidden": "yes"}}),
            "patching it failed: forbidden: not you",
        ),
    ];
    for (spoil, why) in spoilt {
        let scene = Scene::new(|asked, store| {
            let forbidden =
                store.objects.get(&asked.url).is_some_and(|object| object["metadata"]["labels"]["forbidden"] == "yes");
            (asked.method == "PATCH" && forbidden).then(|| status(403, "not you"))
        })
        .await;
        scene.change(|store| {
            let mut object = store.objects[&path("b")].clone();
            spoil(&mut object["metadata"]);
            store.put(&path("b"), object);
        });
        let error = scene.cut().await.unwrap_err().to_string();
        assert_eq!(error, format!("Pod/b -n shop can't be kept: {why}; all references are as they were"));
        assert_eq!(scene.owners()[0], "r*", "{why}");
    }
}

/// Objects that can't be put back are reported, with their state and the command to restore them.
#[tokio::test]
async fn what_can_not_be_put_back() {
    let scene = Scene::new(|asked, _| match (asked.method.as_str(), name_of(&asked.url)) {
        ("PATCH", "a") if asked.before > 0 => Some(status(403, "not again")),
        ("PATCH", "b") => Some(status(403, "not you")),
        _ => None,
    })
    .await;
    let error = scene.cut().await.unwrap_err().to_string();
    let describe = "Pod/b -n shop can't be kept: patching it failed: forbidden: not you; these \
        objects have lost their owner references and are kept:\nPod/a -n shop could not be restored \
        (patching it failed: forbidden: not again); it temporarily has itself as its controller; remove that \
        with: kubectl patch pods/a -n shop --type=json -p ";
    assert!(error.starts_with(describe), "{error}");
    assert_eq!(scene.owners(), ["a*", "r*"]);
}

/// A client that rewrites the whole list after each change: nothing can be kept, so nothing may be deleted.
#[tokio::test]
async fn somebody_who_puts_everything_back() {
    let scene = Scene::new(|asked, store| {
        if asked.method == "GET" && name_of(&asked.url) == "a" {
            let mut object = store.objects[&asked.url].clone();
            object["metadata"]["ownerReferences"] = json!([reference("ReplicaSet", "r", true)]);
            store.put(&asked.url, object);
        }
        None
    })
    .await;
    let error = scene.cut().await.unwrap_err();
    assert_eq!(error.why, KeepFailure::Unstable);
    assert_eq!(scene.owners()[1], "r*", "the other one is put back");
}

/// All futures can be sent to another thread.
#[tokio::test]
async fn everything_can_be_sent_to_another_thread() {
    fn sendable<T: Send>(what: T) -> T {
        what
    }
    let scene = Scene::new(|_, _| None).await;
    let cuts = scene.cuts();
    let detached = sendable(cut(&scene.connection, &scene.snapshot, &cuts)).await.unwrap();
    assert_eq!(sendable(put_back(&scene.connection, &scene.snapshot, &detached)).await, []);
    sendable(release(&scene.connection, &scene.snapshot, &scene.plan, &detached, Duration::ZERO)).await.unwrap();
}

/// If another controller stays, no other adopts the object.
#[tokio::test]
async fn another_controller_is_guard_enough() {
    let scene = Scene::new(|_, _| None).await;
    let mut cuts = scene.cuts();
    cuts.truncate(1);
    cuts[0].loses.clear();
    let detached = cut(&scene.connection, &scene.snapshot, &cuts).await.unwrap();
    assert!(!detached[0].guarded && detached[0].release_command(&scene.snapshot, &PLAIN).is_none());
    assert_eq!((scene.log(), scene.owners()[0].as_str()), (Vec::new(), "r*"));
}
