//! Plays seeds on one cluster: writes objects to etcd, predicts, starts the controllers, and looks.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::{
    expect::{Expected, SLACK, expected, text},
    make::{FOREIGN, Making, controlled_by, time},
    sorts::{self, PERIOD_HOURS},
};
use crate::harness::{Alone, Cluster, Listed, Options};

/// All that remove something, and those whose work they wait for. Not those that act on Nodes which nobody renews.
const CONTROLLERS: [&str; 17] = [
    "certificatesigningrequest-cleaner-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "garbage-collector-controller",
    "job-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "namespace-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "statefulset-controller",
    "token-cleaner-controller",
    "ttl-after-finished-controller",
];
/// The ConfigMap that says since when uses of tokens are recorded.
const TRACKING: &str = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking";
/// The type of such a token's Secret.
pub const ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";
/// Objects that are written at the same time.
const AT_ONCE: usize = 6;
/// Clocks of servers and of this test are the same; timestamps have no fractions.
const ROUNDED: i64 = 1;
/// The pod garbage collector's look, a controller's start, and a busy machine. Only what stays takes so long.
const PATIENCE: Duration = Duration::from_mins(5);

pub fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// What was seen of the cluster: by uid, whether an object is terminating.
type Seen = BTreeMap<String, bool>;

struct Bench {
    cluster: Alone,
    kinds: Vec<Listed>,
    /// By uid, as it was stored.
    objects: BTreeMap<String, Value>,
    expected: BTreeMap<String, Expected>,
}

/// Plays these seeds side by side. Once all has gone that must, looks so much longer.
pub fn play(seeds: &[u64], longer: Duration) {
    let begun = Instant::now();
    let made: Vec<Making> = seeds.iter().map(|seed| sorts::objects(*seed, now())).collect();
    let ended = made.iter().flat_map(|making| &making.objects).filter(|object| has_ended(object)).count();
    // Some Pods are above it, and some are not.
    let threshold = (ended * 2 / 3).max(1);
    let (threshold, period) = (threshold.to_string(), format!("{PERIOD_HOURS}h"));
    let options = Options {
        controller_manager: vec![
            // So that no controller looks before its caches are filled: the cleaner of requests looks once an hour.
            "--controller-start-interval=1500ms".to_owned(),
            format!("--terminated-pod-gc-threshold={threshold}"),
            format!("--legacy-service-account-token-clean-up-period={period}"),
        ],
        ..Options::default()
    };
    let cluster = Alone::start(&options);
    let objects = build(&cluster, made);
    let stored = begun.elapsed();
    let document = cluster.gc(&[
        "reclaim",
        "-A",
        "--never",
        "-o",
        "json",
        "--terminated-pod-gc-threshold",
        &threshold,
        "--legacy-service-account-token-clean-up-period",
        &period,
    ]);
    document.expect(0);
    let document = document.json();
    assert_eq!(document["complete"], true, "{}", document["gaps"]);
    explained_alike(&cluster, &document, &objects);
    let foreign = |uid: &str| objects.get(uid).is_some_and(|object| finalizers(object).any(|one| one == FOREIGN));
    let expected = expected(&document, foreign);
    let kinds: BTreeSet<&str> = objects.values().map(|object| text(&object["kind"])).collect();
    let kinds = cluster.listed().into_iter().filter(|kind| kinds.contains(kind.kind())).collect();
    let bench = Bench { cluster, kinds, objects, expected };
    let figures = bench.look_on(longer);
    println!(
        "{} seeds: {} objects stored in {} s; {figures}; {} s",
        seeds.len(),
        bench.objects.len(),
        stored.as_secs(),
        begun.elapsed().as_secs()
    );
}

/// At most so many objects of a cluster are explained.
const EXPLAINED: usize = 24;

/// Of what goes by itself, `explain` says the same, from a few requests about the object and its kin. It knows nothing
/// of the number of all Pods (R12.6) and of what is in Secrets; and what is Terminating has another story.
fn explained_alike(cluster: &Alone, document: &Value, objects: &BTreeMap<String, Value>) {
    const RULES: [&str; 8] = ["R12.1", "R12.2", "R12.3", "R12.4", "R12.5", "R12.7", "R12.10", "R12.13"];
    let rules = |removal: &Value| -> Vec<String> {
        let reasons = removal["reasons"].as_array().into_iter().flatten();
        reasons.map(|reason| text(&reason["rule"]["id"]).to_owned()).collect()
    };
    let lives = |removal: &Value| {
        let stored = objects.get(text(&removal["object"]["uid"]));
        // What nobody controls yet, some controller adopts within moments.
        let is_adopted = |object: &Value| {
            !matches!(text(&object["kind"]), "ReplicaSet" | "ControllerRevision" | "Job")
                || object["metadata"]["ownerReferences"].is_array()
        };
        stored.is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null() && is_adopted(object))
    };
    let all = document["removals"].as_array().into_iter().flatten();
    let told: Vec<&Value> = all
        .filter(|removal| lives(removal) && rules(removal).iter().all(|rule| RULES.contains(&rule.as_str())))
        .collect();
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    // One for each reason first, whatever number it names.
    let why = |removal: &Value| -> String {
        let reasons = removal["reasons"].as_array().into_iter().flatten();
        reasons.flat_map(|reason| text(&reason["why"]).chars()).filter(|c| !c.is_ascii_digit()).collect()
    };
    let mut whys: BTreeSet<String> = BTreeSet::new();
    let (first, others): (Vec<&Value>, Vec<&Value>) = told.iter().partition(|removal| whys.insert(why(removal)));
    let others = others.iter().step_by((others.len() / EXPLAINED).max(1)).take(EXPLAINED);
    for removal in first.iter().take(EXPLAINED).chain(others) {
        let object = &removal["object"];
        let target = format!("{}/{}", text(&object["kind"]), text(&object["name"]));
        let place = object["namespace"].as_str().map_or(Vec::new(), |namespace| vec!["-n", namespace]);
        let ran = cluster.gc(&[&["explain", &target, "-o", "json"], &place[..]].concat()).ended(0);
        let story = ran.json()["explanations"][0]["removal"].clone();
        let same = |key: &str| {
            let of = |removal: &Value| -> Vec<Value> {
                removal["reasons"].as_array().into_iter().flatten().map(|reason| reason[key].clone()).collect()
            };
            of(&story) == of(removal)
        };
        // What nobody controls yet counts as old only in the whole forecast: the words may have another number.
        assert!(same("rule") && same("controller"), "{target}: {story:#} for {removal:#}");
        seen.insert(rules(removal));
    }
    println!("explained alike: {} objects, by {seen:?}", told.len().min(EXPLAINED));
}

fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object["metadata"]["finalizers"].as_array().into_iter().flatten().map(text)
}

fn has_ended(object: &Value) -> bool {
    object["kind"] == "Pod" && matches!(text(&object["status"]["phase"]), "Succeeded" | "Failed")
}

/// Writes all objects to etcd. Returns them by uid, as the API server reads them.
fn build(cluster: &Alone, mut made: Vec<Making>) -> BTreeMap<String, Value> {
    track_for_long(cluster);
    made.iter_mut().flat_map(|making| &mut making.objects).for_each(|object| fill_token(cluster, object));
    let namespace = |name: &str| object!("v1 Namespace", {"name": name});
    if cluster.get("/api/v1/namespaces/kube-node-lease").is_none() {
        cluster.create(namespace("kube-node-lease"));
    }
    made.iter().for_each(|making| drop(cluster.create(namespace(&making.namespace))));
    let objects = put(cluster, made.iter().flat_map(|making| &making.objects).cloned().collect());
    let is_set = |object: &&Value| matches!(text(&object["kind"]), "StatefulSet" | "DaemonSet");
    let seeds: BTreeMap<&str, &Making> = made.iter().map(|making| (making.namespace.as_str(), making)).collect();
    let sets = objects.values().filter(is_set);
    let revisions = sets.flat_map(|set| revisions(seeds[text(&set["metadata"]["namespace"])], set));
    let revisions = put(cluster, revisions.collect());
    objects.into_iter().chain(revisions).collect()
}

/// Makes an API server have recorded uses of tokens for a month.
pub fn track_for_long(cluster: &Cluster) {
    cluster.wait_until("the ConfigMap of tracked tokens", Duration::from_secs(60), || cluster.get(TRACKING).is_some());
    let since = jiff::Timestamp::from_second(now() - 30 * 86_400).expect("a time").to_string();
    cluster.patch(TRACKING, &json!({"data": {"since": &since[..10]}}));
}

/// Fills the token of a ServiceAccount as its controller does, which runs in each controller manager: it would write
/// what is missing, and a cleaner that hasn't seen this would leave the token until the next day (R12.15).
pub fn fill_token(cluster: &Cluster, object: &mut Value) {
    if object["type"] == ACCOUNT_TOKEN {
        let namespace = text(&object["metadata"]["namespace"]).to_owned();
        object["data"]["namespace"] = json!(BASE64_STANDARD.encode(namespace));
        object["data"]["ca.crt"] = json!(BASE64_STANDARD.encode(cluster.root_certificate()));
    }
}

/// Writes objects to etcd, kind by kind and many at once, and reads them.
fn put(cluster: &Alone, objects: Vec<Value>) -> BTreeMap<String, Value> {
    let mut by_kind: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for object in objects {
        by_kind.entry(text(&object["kind"]).to_owned()).or_default().push(object);
    }
    let mut stored = BTreeMap::new();
    for objects in by_kind.values() {
        let Some((last, others)) = objects.split_last() else { continue };
        // All keys of a kind have one beginning.
        let key = cluster.etcd_key(last);
        let place = |object: &Value| match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{namespace}/{}", text(&object["metadata"]["name"])),
            None => text(&object["metadata"]["name"]).to_owned(),
        };
        let beginning = key.strip_suffix(&place(last)).unwrap_or_else(|| panic!("{key}"));
        let all = |objects: &[Value]| {
            objects.iter().for_each(|object| {
                cluster.etcd_put(&format!("{beginning}{}", place(object)), object.to_string().as_bytes());
            });
        };
        thread::scope(|scope| {
            others
                .chunks(others.len().div_ceil(AT_ONCE).max(1))
                .for_each(|objects| drop(scope.spawn(move || all(objects))));
        });
        // Once the last is read, so are all.
        cluster.store(last);
        let collection = cluster.collection_of(last);
        let base = collection.split("/namespaces/").next().unwrap_or_default();
        let list = match last["metadata"]["namespace"].is_string() {
            true => format!("{base}/{}", collection.rsplit('/').next().unwrap_or_default()),
            false => collection,
        };
        let wanted: BTreeSet<&str> = objects.iter().map(|object| text(&object["metadata"]["uid"])).collect();
        for mut object in cluster.list(&list) {
            if wanted.contains(text(&object["metadata"]["uid"])) {
                object["apiVersion"] = last["apiVersion"].clone();
                object["kind"] = last["kind"].clone();
                stored.insert(text(&object["metadata"]["uid"]).to_owned(), object);
            }
        }
        assert!(wanted.iter().all(|uid| stored.contains_key(*uid)), "{list}: not all were stored");
    }
    stored
}

/// The revisions of a StatefulSet or DaemonSet, as its annotations want them: old ones, and those of its template.
fn revisions(making: &Making, set: &Value) -> Vec<Value> {
    let name = text(&set["metadata"]["name"]);
    let wanted = |key: &str| text(&set["metadata"]["annotations"][key]).parse::<i64>().expect("a number");
    let (old, copies) = (wanted("test/revisions"), wanted("test/copies"));
    let number = text(&set["metadata"]["uid"]).get(9..13).and_then(|part| i64::from_str_radix(part, 16).ok());
    let number = number.expect("a number in the uid");
    let revision = |version: i64, of: i64| {
        let mut template = set["spec"]["template"].clone();
        if of != 9 {
            template["spec"]["containers"][0]["image"] = json!(format!("registry.example.com/app:{of}"));
        }
        template["$patch"] = json!("replace");
        let uid = format!("{:08x}-{number:04x}-4000-8000-0000000000{version:02}", making.seed);
        object!("apps/v1 ControllerRevision", {"name": format!("{name}-v{version}"), "namespace": making.namespace,
            "uid": uid, "creationTimestamp": time(making.now - 1_000 + version),
            "labels": {"app": name, "controller-revision-hash": format!("v{version}")},
            "ownerReferences": controlled_by(set), "data": sorted(&json!({"spec": {"template": template}})),
            "revision": version})
    };
    let old = (1..=old).map(|version| revision(version, version));
    old.chain((0..copies).map(|copy| revision(20 + copy, 9))).collect()
}

/// With sorted keys, as the controllers write it: they compare bytes.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect::<Map<_, _>>())
        }
        Value::Array(all) => Value::Array(all.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

impl Bench {
    /// Starts the controllers, and compares what goes with what is predicted.
    fn look_on(&self, longer: Duration) -> String {
        let before = self.look();
        // An API server looks for old Leases when it begins, and then once an hour.
        self.cluster.kill_api_server();
        self.cluster.start_api_server_again();
        self.cluster.start_controllers(&CONTROLLERS);
        let (begun, started) = (now(), Instant::now());
        let mut went: BTreeMap<String, (i64, bool)> = BTreeMap::new();
        let mut quiet_since: Option<Instant> = None;
        let mut wrong: BTreeSet<String> = BTreeSet::new();
        loop {
            let seen = self.look();
            let at = now();
            for (uid, was_terminating) in &before {
                let gone = !seen.contains_key(uid);
                let changed = gone || seen.get(uid).is_some_and(|is| *is && !was_terminating);
                if changed && went.get(uid).is_none_or(|(_, was_gone)| gone && !was_gone) {
                    wrong.extend(self.judge_end(uid, at, gone, &went));
                    went.insert(uid.clone(), (at, gone));
                }
            }
            let left = self.left(begun, at, &before, &went);
            if left.is_empty() {
                let since = *quiet_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= longer.min(Duration::from_secs(4)) && started.elapsed() >= longer {
                    break;
                }
            } else {
                quiet_since = None;
            }
            if started.elapsed() > PATIENCE.max(longer + Duration::from_secs(u64::try_from(SLACK).unwrap_or(0))) {
                wrong.extend(left);
                break;
            }
            thread::sleep(Duration::from_millis(500));
        }
        wrong.extend(self.rewritten());
        let wrong: Vec<String> = wrong.into_iter().collect();
        assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
        let uncertain = self.expected.values().filter(|expected| !expected.certain).count();
        format!("{} predicted ({uncertain} not certain), {} went", self.expected.len(), went.len())
    }

    /// What is wrong with an end that was seen at this time.
    fn judge_end(&self, uid: &str, at: i64, gone: bool, went: &BTreeMap<String, (i64, bool)>) -> Option<String> {
        let name = self.name(uid);
        let how = if gone { "is gone" } else { "is terminating" };
        let Some(expected) = self.expected.get(uid) else {
            return Some(format!("{name} {how}, which was not predicted: {}", self.objects[uid]));
        };
        if gone && expected.ends == Some(false) {
            return Some(format!("{name} is gone, though something was to hold it: {}", expected.told));
        }
        if expected.earliest.is_some_and(|earliest| at + ROUNDED < earliest) {
            return Some(format!("{name} {how} too early, at {at}: {}", expected.told));
        }
        // It may have ended in the same look.
        let early = expected.after.iter().find(|other| !went.contains_key(*other) && self.look().contains_key(*other));
        early.map(|other| format!("{name} {how} before {}: {}", self.name(other), expected.told))
    }

    /// What must have gone by now, and hasn't.
    fn left(&self, begun: i64, at: i64, before: &Seen, went: &BTreeMap<String, (i64, bool)>) -> Vec<String> {
        let is_over = |uid: &String, ends: Option<bool>| match went.get(uid) {
            Some((_, gone)) => *gone || ends != Some(true),
            // It was terminating before.
            None => ends != Some(true) && before.get(uid) == Some(&true),
        };
        let logged = |uid: &str| {
            let name = text(&self.objects[uid]["metadata"]["name"]);
            self.cluster.log_of_controllers(name).join("\n  ")
        };
        let due = self.expected.iter().filter(|(uid, expected)| {
            let is_free = expected.after.iter().all(|other| went.get(other).is_some_and(|(_, gone)| *gone));
            let is_due = expected.must(begun).is_some_and(|must| must <= at);
            before.contains_key(*uid) && is_due && is_free && !is_over(uid, expected.ends)
        });
        due.map(|(uid, expected)| format!("{} is still there: {}\n  {}", self.name(uid), expected.told, logged(uid)))
            .collect()
    }

    /// The tokens whose content someone has written: see [`fill_token`].
    fn rewritten(&self) -> Vec<String> {
        let of = |secret: &Value| self.objects.get(text(&secret["metadata"]["uid"]));
        let is_written = |secret: &Value| of(secret).is_some_and(|stored| secret["data"] != stored["data"]);
        let tokens = self.cluster.list("/api/v1/secrets").into_iter().filter(|secret| secret["type"] == ACCOUNT_TOKEN);
        tokens.filter(is_written).map(|secret| format!("its controller has written {secret}")).collect()
    }

    fn name(&self, uid: &str) -> String {
        let Some(object) = self.objects.get(uid) else { return uid.to_owned() };
        format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))
    }

    /// The objects that were stored, as they are now.
    fn look(&self) -> Seen {
        let all = self.cluster.objects_of(&self.kinds);
        let metadata = all.iter().map(|object| &object["metadata"]);
        let known = metadata.filter(|metadata| self.objects.contains_key(text(&metadata["uid"])));
        known.map(|metadata| (text(&metadata["uid"]).to_owned(), metadata["deletionTimestamp"].is_string())).collect()
    }
}
