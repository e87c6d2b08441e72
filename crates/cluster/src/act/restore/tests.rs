//! Restores against a server that interferes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::*;
use crate::cluster::testing::{RecordedRequest, Say, absent, json as say, mix_ups, serve, status};
use gc_core::{model::well_known, restore::ToDo};

/// Objects by path, and a log of all requests: method and path.
#[derive(Default)]
struct Store {
    objects: BTreeMap<String, Value>,
    log: Vec<String>,
    made: usize,
}

impl Store {
    fn answer(&mut self, asked: &RecordedRequest) -> Say {
        let (path, query) = asked.url.split_once('?').unwrap_or((&asked.url, ""));
        self.log.push(format!("{} {}", asked.method, path.rsplit('/').next().unwrap_or_default()));
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        match asked.method.as_str() {
            "GET" => match self.objects.get(path) {
                Some(object) => say(200, object.to_string()),
                None => absent(asked),
            },
            "POST" => self.create(path, query, body),
            "PATCH" => self.patch(path, query, &body),
            other => panic!("{other}"),
        }
    }

    fn create(&mut self, path: &str, query: &str, mut body: Value) -> Say {
        let path = format!("{path}/{}", body["metadata"]["name"].as_str().unwrap());
        if self.objects.contains_key(&path) {
            return status(409, "already exists");
        }
        self.made += 1;
        body["metadata"]["uid"] = json!(format!("new-{}", self.made));
        body["metadata"]["resourceVersion"] = json!("1");
        body["metadata"]["managedFields"] = json!([{"manager": manager_of(query)}]);
        if path.contains("acme.io") {
            body.as_object_mut().unwrap().remove("status");
        }
        self.objects.insert(path, body.clone());
        say(201, body.to_string())
    }

    fn patch(&mut self, path: &str, query: &str, operations: &Value) -> Say {
        let object = self.objects.get_mut(path.trim_end_matches("/status")).expect("what is patched is there");
        for operation in operations.as_array().unwrap() {
            let pointer = operation["path"].as_str().unwrap();
            match operation["op"].as_str().unwrap() {
                "test" if object.pointer(pointer) != Some(&operation["value"]) => {
                    return status(422, "the test failed");
                }
                "test" => {}
                _ => {
                    let (parent, key) = pointer.rsplit_once('/').unwrap();
                    object.pointer_mut(parent).unwrap()[key] = operation["value"].clone();
                }
            }
        }
        let subresource = if path.ends_with("/status") { "status" } else { "" };
        let entry = json!({"manager": manager_of(query), "subresource": subresource});
        object["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
        say(200, object.to_string())
    }
}

fn manager_of(query: &str) -> String {
    query.trim_start_matches("fieldManager=").to_owned()
}

fn namespace() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "n"}})
}

/// The shop as it may be in the cluster, with this uid.
fn shop_now(uid: &str) -> Value {
    json!({"apiVersion": "acme.io/v1", "kind": "Shop", "metadata": {"name": "main", "namespace": "shop", "uid": uid}})
}

/// A shop that owns a ConfigMap, in an existing namespace.
fn objects() -> Vec<Value> {
    let owner = json!([{"apiVersion": "acme.io/v1", "kind": "Shop", "name": "main", "uid": "old-shop"}]);
    vec![
        json!({"apiVersion": "acme.io/v1", "kind": "Shop", "metadata": {"name": "main", "namespace": "shop",
            "uid": "old-shop"},
               "status": {"ready": true}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap",
               "metadata": {"name": "settings", "namespace": "shop", "uid": "old-settings", "ownerReferences": owner}}),
    ]
}

const SHOP: &str = "/apis/acme.io/v1/namespaces/shop/shops/main";
const SETTINGS: &str = "/api/v1/namespaces/shop/configmaps/settings";

fn resources() -> Resources {
    let known = well_known::resources();
    let shops = Resource { has_status: true, ..Resource::named("acme.io", "v1", "shops", "Shop") };
    Resources::new(known.resources.into_iter().chain([shops]).collect(), known.preferred_versions)
}

/// Restores the shop on a server with these objects; `first` may answer instead of it.
async fn run(
    there: Vec<(&str, Value)>,
    first: impl Fn(&RecordedRequest, &mut Store) -> Option<Say> + Send + Sync + 'static,
) -> (Vec<Restored>, Store) {
    run_of(objects(), resources(), there, first).await
}

/// Restores these objects.
async fn run_of(
    objects: Vec<Value>,
    resources: Resources,
    there: Vec<(&str, Value)>,
    first: impl Fn(&RecordedRequest, &mut Store) -> Option<Say> + Send + Sync + 'static,
) -> (Vec<Restored>, Store) {
    let namespace = ("/api/v1/namespaces/shop", namespace());
    let objects_there = there.into_iter().chain([namespace]).map(|(path, object)| (path.to_owned(), object)).collect();
    let store = Arc::new(Mutex::new(Store { objects: objects_there, ..Store::default() }));
    let kept = store.clone();
    let connection = serve(move |asked| {
        let mut store = kept.lock().unwrap();
        first(asked, &mut store).unwrap_or_else(|| store.answer(asked))
    });
    let plan = RestorePlan::new(objects, false).unwrap();
    let restored = restore(&connection.await, &plan, resources, Mode::Apply, &|| false).await;
    let store = std::mem::take(&mut *store.lock().unwrap());
    (restored, store)
}

/// Everything is restored: objects created in this run, and those from an earlier one.
#[track_caller]
fn is_back(restored: &[Restored], store: &Store, outcomes: [Outcome; 2]) {
    assert!(restored.iter().all(Restored::is_fine), "{restored:?}\n{:?}", store.log);
    assert_eq!(restored.iter().map(|it| it.outcome.clone()).collect::<Vec<_>>(), outcomes);
    let shop = &store.objects[SHOP];
    assert_eq!(shop["status"], json!({"ready": true}), "{:?}", store.log);
    assert_eq!(store.objects[SETTINGS]["metadata"]["ownerReferences"][0]["uid"], shop["metadata"]["uid"]);
}

#[tokio::test]
async fn each_object_is_looked_for_its_owner_looked_at_and_then_it_is_created() {
    let (restored, store) = run(vec![], |_, _| None).await;
    is_back(&restored, &store, [Outcome::Created, Outcome::Created]);
    assert_eq!(
        store.log,
        ["GET shop", "GET main", "POST shops", "PATCH status", "GET settings", "GET main", "POST configmaps"]
    );
}

#[tokio::test]
async fn an_answer_that_got_lost_is_found_again() {
    for lost in ["POST", "PATCH"] {
        let (restored, store) = run(vec![], move |asked, store| {
            (asked.method == lost && asked.before == 0).then(|| {
                store.answer(asked);
                Say { status: 0, content_type: "", headers: "", body: Vec::new(), open: false }
            })
        })
        .await;
        is_back(&restored, &store, [Outcome::Created, Outcome::Created]);
        assert_eq!(store.made, 2, "{:?}", store.log);
    }
}

#[tokio::test]
async fn called_off_after_any_request_it_finishes_what_it_began_and_the_next_run_does_the_rest() {
    let (created, not_tried) = (Outcome::Created, Outcome::NotTried);
    // The POST of the shop is its third request; that of the ConfigMap is the seventh, and the last one.
    for (asked, outcomes) in
        [(0..3, [&not_tried, &not_tried]), (3..7, [&created, &not_tried]), (7..8, [&created, &created])]
            .into_iter()
            .flat_map(|(asked, outcomes)| asked.map(move |asked| (asked, outcomes)))
    {
        let there = BTreeMap::from([("/api/v1/namespaces/shop".to_owned(), namespace())]);
        let store = Arc::new(Mutex::new(Store { objects: there, ..Store::default() }));
        let kept = store.clone();
        let connection = serve(move |asked| kept.lock().unwrap().answer(asked)).await;
        let plan = RestorePlan::new(objects(), false).unwrap();
        let run = async |most: usize| {
            let called_off = || store.lock().unwrap().log.len() >= most;
            restore(&connection, &plan, resources(), Mode::Apply, &called_off).await
        };
        let restored = run(asked).await;
        let log = store.lock().unwrap().log.clone();
        assert_eq!(restored.iter().map(|it| &it.outcome).collect::<Vec<_>>(), outcomes, "{asked}: {log:?}");
        assert!(restored.iter().all(|it| it.unfinished.is_empty()), "the status is written, too: {restored:?}");
        let begun = |outcome: &Outcome| if *outcome == created { Outcome::AlreadyBack } else { created.clone() };
        let again = run(usize::MAX).await;
        is_back(&again, &store.lock().unwrap(), outcomes.map(begun));
    }
}

#[tokio::test]
async fn what_an_interrupted_run_left_undone_is_done() {
    // Created, but its status is not written yet.
    let entry = json!([{"manager": "kubectl-gc-restore:old-shop"}]);
    let mut half = shop_now("half");
    (half["metadata"]["resourceVersion"], half["metadata"]["managedFields"]) = (json!("5"), entry);
    let (restored, store) = run(vec![(SHOP, half.clone())], |_, _| None).await;
    is_back(&restored, &store, [Outcome::AlreadyBack, Outcome::Created]);
    // A status that another client has written since stays.
    let mut written = half;
    written["status"] = json!({"ready": false});
    written["metadata"]["managedFields"] =
        json!([{"manager": "kubectl-gc-restore:old-shop"}, {"manager": "operator", "subresource": "status"}]);
    let (restored, store) = run(vec![(SHOP, written)], |_, _| None).await;
    assert_eq!(restored[0].outcome, Outcome::AlreadyBack);
    assert_eq!(store.objects[SHOP]["status"], json!({"ready": false}));
    assert!(!store.log.iter().any(|request| request.starts_with("PATCH")), "{:?}", store.log);
}

#[tokio::test]
async fn only_a_copy_of_this_very_object_is_known_as_one() {
    let entry = json!([{"manager": "kubectl-gc-restore:another"}]);
    let other = json!({"apiVersion": "acme.io/v1", "kind": "Shop", "status": {},
        "metadata": {"name": "main", "namespace": "shop", "uid": "other", "managedFields": entry}});
    let (restored, store) = run(vec![(SHOP, other)], |_, _| None).await;
    assert_eq!(restored[0].outcome, Outcome::Same);
    assert_eq!(store.objects[SHOP]["status"], json!({}), "what others have made is left alone");
    assert_eq!(store.objects[SETTINGS]["metadata"]["ownerReferences"][0]["uid"], "other");
}

#[tokio::test]
async fn whoever_writes_beside_is_not_overwritten() {
    // A controller writes to it between the create and the status.
    let (restored, store) = run(vec![], |asked, store| {
        if asked.method == "PATCH" && asked.before == 0 {
            let shop = store.objects.get_mut(SHOP).unwrap();
            shop["metadata"]["resourceVersion"] = json!("2");
            shop["metadata"]["finalizers"] = json!(["acme.io/operator"]);
        }
        None
    })
    .await;
    is_back(&restored, &store, [Outcome::Created, Outcome::Created]);
    assert_eq!(store.objects[SHOP]["metadata"]["finalizers"], json!(["acme.io/operator"]));
    // If the writes never stop, the restore gives up and reports it.
    let (restored, _) = run(vec![], |asked, _| (asked.method == "PATCH").then(|| status(422, "the test failed"))).await;
    assert_eq!(restored[0].outcome, Outcome::Created);
    assert!(restored[0].unfinished[0].starts_with("its status could not be restored: 422"), "{restored:?}");
    assert!(!restored[0].is_fine());
}

#[tokio::test]
async fn somebody_who_is_faster_is_left_alone() {
    // Another client creates it between the read and the create.
    let (restored, store) = run(vec![], |asked, store| {
        if asked.method == "POST" && asked.url.contains("/shops?") {
            let other = json!({"apiVersion": "acme.io/v1", "kind": "Shop", "spec": {"size": 3},
                "metadata": {"name": "main", "namespace": "shop", "uid": "faster"}});
            store.objects.insert(SHOP.to_owned(), other);
        }
        None
    })
    .await;
    assert!(
        matches!(&restored[0].outcome, Outcome::Different(differences) if differences[0].path == "spec"),
        "{restored:?}"
    );
    assert_eq!(store.objects[SETTINGS]["metadata"]["ownerReferences"][0]["uid"], "faster");
}

#[tokio::test]
async fn what_passes_by_itself_is_waited_for() {
    for message in
        ["pods \"a\" is forbidden: error looking up service account shop/default", "status unknown for quota: few"]
    {
        let (restored, store) =
            run(vec![], move |asked, _| (asked.method == "POST" && asked.before == 0).then(|| status(403, message)))
                .await;
        is_back(&restored, &store, [Outcome::Created, Outcome::Created]);
    }
}

#[tokio::test]
async fn an_owner_that_goes_or_cannot_be_seen_keeps_its_dependents_from_being_created() {
    let describe = async |owner: fn(&RecordedRequest, &mut Store) -> Option<Say>| {
        // Once the owner is created, it is read only for its dependent.
        let (restored, store) =
            run(
                vec![],
                move |asked, store| if store.made == 1 && asked.url == SHOP { owner(asked, store) } else { None },
            )
            .await;
        assert!(!store.objects.contains_key(SETTINGS));
        match &restored[1].outcome {
            Outcome::Failed(why) => why.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(describe(|asked, _| Some(absent(asked))).await.contains("was deleted again"));
    assert!(describe(|_, _| Some(status(403, "not you"))).await.contains("exists: forbidden: not you"));
    let replaced = describe(|_, _| Some(say(200, shop_now("another").to_string()))).await;
    assert!(replaced.contains("was replaced"), "{replaced}");
    let going = |_: &RecordedRequest, store: &mut Store| {
        let mut shop = store.objects[SHOP].clone();
        shop["metadata"]["deletionTimestamp"] = json!("2026-01-31T08:00:00Z");
        Some(say(200, shop.to_string()))
    };
    assert!(describe(going).await.contains("is being deleted"));
}

#[tokio::test]
async fn what_fails_blocks_what_needs_it() {
    let (restored, store) =
        run(vec![], |asked, _| (asked.url.contains("/shops?")).then(|| status(422, "spec is wrong"))).await;
    assert_eq!(restored[0].outcome, Outcome::Failed("422 Unprocessable Entity: spec is wrong".to_owned()));
    assert_eq!(restored[1].outcome, Outcome::Blocked(0));
    assert!(!store.log.iter().any(|request| request.contains("configmaps")), "{:?}", store.log);
}

#[tokio::test]
async fn a_namespace_that_is_not_there_is_told_before_anything_is_sent() {
    let (restored, store) =
        run(vec![], |asked, _| asked.url.ends_with("/namespaces/shop").then(|| absent(asked))).await;
    assert!(
        restored
            .iter()
            .all(|it| matches!(&it.outcome, Outcome::Failed(why) if why.starts_with("namespace shop does not exist")))
    );
    assert_eq!(store.log, [""; 0]);
    // A user who may not read namespaces may still create objects in them.
    let (restored, store) =
        run(vec![], |asked, _| asked.url.ends_with("/namespaces/shop").then(|| status(403, "not you"))).await;
    is_back(&restored, &store, [Outcome::Created, Outcome::Created]);
}

#[tokio::test]
async fn an_owner_that_goes_while_a_refusal_is_waited_for_keeps_its_dependent_from_being_created() {
    for (code, message) in [(429, "busy"), (503, "starting"), (403, "error looking up service account shop/default")] {
        let (restored, store) = run(vec![], move |asked, store| {
            (asked.method == "POST" && asked.url.contains("configmaps") && asked.before == 0).then(|| {
                store.objects.remove(SHOP);
                status(code, message)
            })
        })
        .await;
        assert!(!store.objects.contains_key(SETTINGS), "{:?}", store.log);
        assert!(
            matches!(&restored[1].outcome, Outcome::Failed(why) if why.contains("was deleted again")),
            "{restored:?}"
        );
    }
    // A reference to an owner that isn't in the archive is dropped and reported.
    let mut objects = objects();
    objects.remove(0);
    let there = vec![(SHOP, shop_now("old-shop"))];
    let (restored, store) = run_of(objects, resources(), there, |asked, store| {
        (asked.method == "POST" && asked.before == 0).then(|| {
            store.objects.remove(SHOP);
            status(429, "busy")
        })
    })
    .await;
    assert_eq!(restored[0].outcome, Outcome::Created);
    assert_eq!(restored[0].detached[0].why, "Shop/main -n shop does not exist");
    assert!(store.objects[SETTINGS]["metadata"]["ownerReferences"].is_null());
}

#[tokio::test]
async fn an_owner_that_goes_while_another_is_made_anew_is_seen() {
    const POD: &str = "/api/v1/namespaces/shop/pods/db-0";
    let in_shop = |api_version: &str, kind: &str, name: &str, owners: Value| {
        json!({"apiVersion": api_version, "kind": kind,
               "metadata": {"name": name, "namespace": "shop", "uid": format!("old-{name}"),
                   "ownerReferences": owners}})
    };
    let reference = |api_version: &str, kind: &str, name: &str| {
        json!({"apiVersion": api_version, "kind": kind,
        "name": name, "uid": format!("old-{name}"), "controller": true})
    };
    let both = json!([reference("acme.io/v1", "Shop", "main"), reference("v1", "Pod", "db-0")]);
    let objects = vec![
        in_shop("acme.io/v1", "Shop", "main", json!(null)),
        in_shop("apps/v1", "StatefulSet", "db", json!(null)),
        in_shop("v1", "Pod", "db-0", json!([reference("apps/v1", "StatefulSet", "db")])),
        in_shop("v1", "ConfigMap", "settings", both),
    ];
    let (restored, store) = run_of(objects, resources(), vec![], |asked, store| {
        if asked.url == POD && asked.before == 1 {
            store.objects.remove(SHOP);
            let metadata = json!({"name": "db-0", "namespace": "shop", "uid": "new-pod"});
            store.objects.insert(POD.to_owned(), json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}));
        }
        None
    })
    .await;
    assert!(
        matches!(&restored[3].outcome, Outcome::Failed(why) if why.contains("was deleted again")),
        "{restored:?} {:?}",
        store.log
    );
}

#[tokio::test]
async fn a_server_that_does_not_say_what_it_serves_leaves_definitions_unfinished_and_the_rest_is_told() {
    const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.acme.io";
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "shops.acme.io", "uid": "old-definition"},
        "spec": {"group": "acme.io", "scope": "Namespaced", "names": {"kind": "Shop", "plural": "shops"},
                 "versions": [{"name": "v1", "served": true}]}});
    let plain = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain", "namespace": "shop",
        "uid": "old-plain"}});
    let mut owned_elsewhere = objects().remove(1);
    owned_elsewhere["metadata"]["name"] = json!("elsewhere");
    owned_elsewhere["metadata"]["uid"] = json!("old-elsewhere");
    owned_elsewhere["metadata"]["ownerReferences"][0]["name"] = json!("another");
    owned_elsewhere["metadata"]["ownerReferences"][0]["uid"] = json!("old-another");
    let all = objects().into_iter().chain([definition, plain, owned_elsewhere]).collect();
    let (restored, store) = run_of(all, well_known::served(), vec![], |asked, store| {
        if let Some(definition) = store.objects.get_mut(DEFINITION) {
            definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
        }
        ["/api", "/apis"].contains(&asked.url.as_str()).then(|| status(403, "not you"))
    })
    .await;
    let failed = |item: usize| match &restored[item].outcome {
        Outcome::Failed(why) => why.as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!(restored[2].outcome, Outcome::Created);
    let [unfinished] = restored[2].unfinished.as_slice() else { panic!("{restored:?}") };
    assert!(unfinished.starts_with("it is not known whether its kind is served: "), "{unfinished}");
    assert!(unfinished.ends_with("not you; run this again"), "{unfinished}");
    assert!(failed(0).starts_with("it is not known whether the server serves acme.io/v1 Shop: "), "{}", failed(0));
    assert_eq!(restored[1].outcome, Outcome::Blocked(0));
    assert_eq!(restored[3].outcome, Outcome::Created, "{:?}", store.log);
    // Its owner may exist: the reference is not dropped.
    assert!(
        failed(4).starts_with("its owner Shop/another -n shop: it is not known whether the server serves"),
        "{}",
        failed(4)
    );
}

#[tokio::test]
async fn a_status_that_is_no_subresource_comes_with_the_rest() {
    let resources = || {
        let known = resources();
        let all = known.iter().map(|(_, it)| Resource { has_status: it.has_status && it.kind != "Shop", ..it.clone() });
        Resources::new(all.collect(), known.preferred_versions().to_vec())
    };
    // A webhook adds a field.
    let (restored, store) = run_of(objects(), resources(), vec![], |asked, store| {
        let created = asked.method == "POST" && asked.url.contains("/shops?");
        created.then(|| {
            store.answer(asked);
            let shop = store.objects.get_mut(SHOP).unwrap();
            shop["status"] = json!({"ready": true, "more": 1});
            say(201, shop.to_string())
        })
    })
    .await;
    assert!(restored.iter().all(Restored::is_fine), "{restored:?}");
    assert!(!store.log.iter().any(|request| request.starts_with("PATCH")), "{:?}", store.log);
    // Later, another client changes it.
    let there = store.objects[SHOP].clone();
    let (restored, store) = run_of(objects(), resources(), vec![(SHOP, there)], |_, _| None).await;
    assert_eq!((restored[0].outcome.clone(), restored[0].unfinished.len()), (Outcome::AlreadyBack, 0));
    assert!(!store.log.iter().any(|request| request.starts_with("PATCH")), "{:?}", store.log);
    // The kind may have no such field.
    let (restored, _) = run_of(objects(), resources(), vec![], |_, _| None).await;
    assert_eq!(restored[0].unfinished, ["the server dropped status"]);
}

#[tokio::test]
async fn what_an_interrupted_run_left_undone_is_to_be_created() {
    let circle = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "uid": "old-settings"}]);
    let mut all = objects();
    all[0]["metadata"]["ownerReferences"] = circle.clone();
    let plan = RestorePlan::new(all, false).unwrap();
    let closing = plan.closing.first().expect("it is a circle").0;
    let archived = objects();
    let copy = |uid: &str, status: Value, references: Value| {
        let mut copy = archived.iter().find(|object| object["metadata"]["uid"] == uid).expect("it is archived").clone();
        copy["status"] = status;
        copy["metadata"]["uid"] = json!(format!("new-{uid}"));
        copy["metadata"]["ownerReferences"] = references;
        copy["metadata"]["managedFields"] = json!([{"manager": format!("kubectl-gc-restore:{uid}")}]);
        copy
    };
    let to_do = async |shop: Value, settings: Value| {
        let connection = serve(move |asked| match asked.url.as_str() {
            SHOP => say(200, shop.to_string()),
            SETTINGS => say(200, settings.to_string()),
            _ => say(200, namespace().to_string()),
        });
        let restored = restore(&connection.await, &plan, resources(), Mode::ClientDryRun, &|| false).await;
        assert!(restored.iter().all(|it| it.outcome == Outcome::AlreadyBack), "{restored:?}");
        [restored[0].to_do, restored[1].to_do]
    };
    let owner = objects()[1]["metadata"]["ownerReferences"].clone();
    let mut undone = [ToDo { status: true, references: false }, ToDo::default()];
    undone[closing].references = true;
    let without = |item: usize, references: &Value| if item == closing { json!([]) } else { references.clone() };
    let (of_shop, of_settings) = (without(0, &circle), without(1, &owner));
    assert_eq!(
        to_do(copy("old-shop", json!({}), of_shop), copy("old-settings", json!(null), of_settings)).await,
        undone
    );
    // One that was restored before its owner lacks its reference, too.
    undone.iter_mut().for_each(|to_do| to_do.references = true);
    assert_eq!(
        to_do(copy("old-shop", json!({}), json!([])), copy("old-settings", json!(null), json!([]))).await,
        undone
    );
    let done = to_do(copy("old-shop", json!({"ready": true}), circle), copy("old-settings", json!(null), owner)).await;
    assert_eq!(done, [ToDo::default(), ToDo::default()]);
}

/// Answers to a create that was never done.
const NO_CREATES: [&str; 6] = [
    "",
    "{}",
    "null",
    "\"garbage\"",
    r#"{"kind":"Status","status":"Success"}"#,
    r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other","uid":"other"}}"#,
];

/// robustness line: creates by `restore` that aren't done and answered with garbage and status 200 or 201
///   | {NO_CREATES} kinds of garbage | the object is not restored
#[tokio::test]
async fn garbage_is_no_created_object() {
    for answer in NO_CREATES {
        for code in [200, 201] {
            let (restored, store) = run(vec![], move |asked, _| {
                (asked.method == "POST" && asked.url.contains("shops")).then(|| say(code, answer))
            })
            .await;
            assert_eq!(store.objects.get(SHOP), None);
            let shop = &restored[0];
            assert!(!shop.is_fine() && shop.outcome != Outcome::Created && shop.uid.is_none(), "{answer}: {shop:?}");
        }
    }
}

/// Nothing is created, and no reference is dropped, because of an answer about another object.
#[tokio::test]
async fn no_answer_about_another_object_says_that_one_is_missing() {
    for (what, mixed_up) in mix_ups("acme.io/v1", "Shop", "main") {
        for made in 0..2 {
            let mixed_up = mixed_up.clone();
            let (restored, store) = run(vec![], move |asked, store| {
                (asked.method == "GET" && asked.url == SHOP && store.made == made).then(|| mixed_up.clone())
            })
            .await;
            let unknown = matches!(&restored[made].outcome, Outcome::Failed(why) if why.contains("it is not known"));
            assert!(unknown && store.made == made, "{what}: {restored:?} {:?}", store.log);
        }
    }
}
