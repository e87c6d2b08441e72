//! Plays many cases at once on one cluster with every controller: builds, waits until all is at rest, plans, deletes,
//! waits again, and compares.

use std::{
    collections::BTreeSet,
    panic,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};

use super::{
    case::Case,
    compare::{Compared, Difference, Sort, compare, items, text},
    kubelet::Kubelet,
    place::Place,
    report::Report,
};
use crate::{
    harness::{COLLECTOR, Cluster, Listed, Options, Retry, poll},
    plan::compare::{State, by_uid, described_real},
};

/// Cases that are built at once.
const THREADS: usize = 6;
/// How long everything must be unchanged: the namespace controller tries again after up to 8 seconds, the API server's
/// clean-up of CRDs polls every 5 seconds, a Job is looked at again after 10.
const REST: Duration = Duration::from_secs(11);
/// The same before anything is deleted, once every workload is up.
const UP: Duration = Duration::from_secs(6);
/// The pod garbage collector looks every 20 seconds for Nodes that don't exist, and waits 40 seconds for each
/// (pkg/controller/podgc/gc_controller.go: gcCheckPeriod, quarantineTime): it sees a Node's end at its next look, and
/// acts at the first look after the 40 seconds, up to 80 seconds after the delete.
const POD_COLLECTION: Duration = Duration::from_secs(100);
/// Longer if something is not as predicted: controllers try again after a back-off.
const PATIENCE: Duration = Duration::from_secs(45);
/// How long a workload may take to come up.
const COME_UP: Duration = Duration::from_mins(3);

/// A cluster with every controller, and a kubelet that is played.
pub struct Bench {
    cluster: Cluster,
    kubelet: Kubelet,
}

/// What is predicted for one case.
struct Prediction<'c> {
    case: &'c Case,
    place: Place,
    plan: Value,
    /// The command that makes the plan.
    command: String,
}

impl Bench {
    pub fn start() -> Self {
        let options = Options {
            api_server: vec![
                // As on every real cluster; the usual test cluster goes without these.
                "--disable-admission-plugins=".to_owned(),
                "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            ],
            controller_manager: vec!["--use-service-account-credentials=true".to_owned()],
        };
        let cluster = Cluster::start(&options);
        cluster.start_controllers(&["*", COLLECTOR]);
        Bench { cluster, kubelet: Kubelet::new() }
    }

    /// The version of Kubernetes.
    pub fn version(&self) -> String {
        let version = self.cluster.get("/version").unwrap_or_default();
        text(&version["gitVersion"]).to_owned()
    }

    /// Plays these cases side by side.
    pub fn run(self, cases: &[Case]) -> Vec<Report> {
        let stop = StopAtEnd(&self.kubelet);
        thread::scope(|scope| {
            scope.spawn(|| self.kubelet.play(&self.cluster));
            let reports = panic::catch_unwind(panic::AssertUnwindSafe(|| self.play(cases)));
            drop(stop);
            reports.unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    fn play(&self, cases: &[Case]) -> Vec<Report> {
        let begun = Instant::now();
        let places: Vec<(&Case, Place)> = side_by_side(cases, |case| {
            let place = Place::prepare(&self.cluster);
            place.build(&self.cluster, &self.kubelet, case);
            (case, place)
        });
        let built = begun.elapsed();
        places.iter().for_each(|(case, place)| place.wait_for_kinds(&self.cluster, case));
        self.all_up(&places);
        self.kubelet.fall_silent(&self.cluster);
        places.iter().for_each(|(case, place)| place.close(&self.cluster, case));
        let kinds = self.cluster.listed();
        let before = self.at_rest(&kinds, Instant::now(), UP, UP, |_| true);
        let up = begun.elapsed();
        let predicted: Vec<Prediction<'_>> =
            side_by_side(&places, |(case, place)| self.predict(case, place, &before)).into_iter().flatten().collect();
        let planned = begun.elapsed();
        let deleted = Instant::now();
        side_by_side(&predicted, |predicted| self.delete(predicted));
        let least = if predicted.iter().any(waits_for_pod_collection) { POD_COLLECTION } else { REST };
        let as_told = |after: &[Value]| {
            predicted.iter().all(|predicted| predicted.compare(&before, after).differences.is_empty())
                && strays(&predicted, &before, after).is_empty()
        };
        // The kinds of now: CRDs may be gone.
        let after = self.at_rest(&kinds, deleted, REST, least, as_told);
        println!(
            "{} cases, {} objects: built in {} s, at rest after {} s, planned after {} s, at rest again after {} s",
            cases.len(),
            before.len(),
            built.as_secs(),
            up.as_secs(),
            planned.as_secs(),
            begun.elapsed().as_secs(),
        );
        let mut reports: Vec<Report> = predicted
            .iter()
            .map(|predicted| Report {
                case: predicted.case.clone(),
                command: predicted.command.clone(),
                objects: before.iter().filter(|object| predicted.place.owns(object)).count(),
                compared: predicted.compare(&before, &after),
            })
            .collect();
        let strays = strays(&predicted, &before, &after);
        if !strays.is_empty() {
            reports.push(Report::of_strays(strays));
        }
        reports
    }

    /// Waits until every workload is as its spec says.
    fn all_up(&self, places: &[(&Case, Place)]) {
        let lists = [
            ("/apis/apps/v1/deployments", "Deployment"),
            ("/apis/apps/v1/replicasets", "ReplicaSet"),
            ("/apis/apps/v1/statefulsets", "StatefulSet"),
            ("/apis/apps/v1/daemonsets", "DaemonSet"),
            ("/apis/batch/v1/jobs", "Job"),
            ("/api/v1/persistentvolumeclaims", "PersistentVolumeClaim"),
            ("/api/v1/replicationcontrollers", "ReplicationController"),
        ];
        let verdict = poll(COME_UP, || {
            for (path, kind) in lists {
                for object in self.cluster.list(path) {
                    let is_own = places.iter().any(|(_, place)| place.owns(&object));
                    if is_own && !is_up(kind, &object) {
                        return Err(Retry::Later(format!("{kind} {object}")));
                    }
                }
            }
            Ok(())
        });
        verdict.unwrap_or_else(|last| panic!("it doesn't come up: {last}"));
    }

    /// All objects, with what only their content says: whose an IPAddress or a volume is.
    fn look(&self, kinds: &[Listed]) -> Vec<Value> {
        let mut objects = self.cluster.objects_of(kinds);
        let mut namespaces: Vec<(String, Value)> = Vec::new();
        for (path, of) in [
            ("/apis/networking.k8s.io/v1/ipaddresses", "/spec/parentRef/namespace"),
            ("/api/v1/persistentvolumes", "/spec/claimRef/namespace"),
        ] {
            let list = self.cluster.list(path);
            namespaces.extend(
                list.iter().filter_map(|object| {
                    Some((text(&object["metadata"]["uid"]).to_owned(), object.pointer(of)?.clone()))
                }),
            );
        }
        for object in &mut objects {
            if let Some((_, namespace)) = namespaces.iter().find(|(uid, _)| object["metadata"]["uid"] == uid.as_str()) {
                object["of"] = namespace.clone();
            }
            for field in ["managedFields", "resourceVersion", "generation", "annotations", "labels"] {
                object["metadata"].as_object_mut().map(|metadata| metadata.remove(field));
            }
        }
        objects
    }

    /// Waits until nothing changes: for `rest` if everything is as told, for [`PATIENCE`] if not, and until `least` has
    /// passed since the beginning.
    fn at_rest(
        &self,
        kinds: &[Listed],
        begun: Instant,
        rest: Duration,
        least: Duration,
        as_told: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        let mut objects = self.look(kinds);
        let mut since = Instant::now();
        loop {
            let rest = if as_told(&objects) { rest } else { PATIENCE };
            if since.elapsed() >= rest && begun.elapsed() >= least {
                self.cluster.all_settled();
                return objects;
            }
            thread::sleep(Duration::from_millis(1500));
            let now = self.look(kinds);
            if now != objects {
                (objects, since) = (now, Instant::now());
            }
        }
    }

    /// Plans one case with the built program; `None` if a target isn't there.
    fn predict<'c>(&self, case: &'c Case, place: &Place, before: &[Value]) -> Option<Prediction<'c>> {
        let targets = case.targets.iter().filter_map(|target| place.target(case, before, target));
        let targets: BTreeSet<String> = targets.collect();
        if targets.is_empty() {
            return None;
        }
        let propagation = format!("--propagation={}", case.policy.to_lowercase());
        let mut args = vec!["plan", "-o", "json", "-n", &place.namespace, &propagation];
        args.extend(targets.iter().map(String::as_str));
        let command = format!("kubectl gc {}", args.join(" "));
        let ran = self.cluster.gc(&args);
        assert!(matches!(ran.code, Some(0 | 2)), "{command}: {:?}\n{}{}", ran.code, ran.stdout, ran.stderr);
        let mut plan = ran.json();
        if plan["assumes"].to_string().contains("the collector already watches") {
            self.cluster.kinds_grow_old();
            plan = self.cluster.gc(&args).json();
        }
        assert_eq!(plan["complete"], true, "{command}: {}", plan["gaps"]);
        Some(Prediction { case, place: place.clone(), plan, command })
    }

    /// Deletes the targets in the order of the plan, the way kubectl does. A refusal is an end like any other.
    fn delete(&self, predicted: &Prediction<'_>) {
        for target in items(&predicted.plan["targets"]) {
            let mut metadata = json!({"name": target["name"]});
            if target["namespace"].is_string() {
                metadata["namespace"] = target["namespace"].clone();
            }
            let object = json!({"apiVersion": target["apiVersion"], "kind": target["kind"], "metadata": metadata});
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                "propagationPolicy": predicted.case.policy});
            let path = self.cluster.path_of(&object);
            let answer = self.cluster.ask(&Method::DELETE, &path, Some(("application/json", &options)));
            if !answer.is_success() {
                println!("{}: DELETE {path}: {} {}", predicted.case.from, answer.status, answer.text());
            }
        }
    }
}

impl Prediction<'_> {
    /// Compares what belongs to this case, and whatever the plan names.
    fn compare(&self, before: &[Value], after: &[Value]) -> Compared {
        let named = named(&self.plan);
        let own = |objects: &[Value]| -> Vec<Value> {
            let is_own = |object: &&Value| self.place.owns(object) || named.contains(text(&object["metadata"]["uid"]));
            objects.iter().filter(is_own).cloned().collect()
        };
        compare(&self.plan, &own(before), &own(after))
    }
}

/// The uids of all objects that have an outcome, or that an effect or a reaction is about.
fn named(plan: &Value) -> BTreeSet<&str> {
    let outcomes = items(&plan["outcomes"]).map(|outcome| &outcome["object"]);
    let effects = items(&plan["effects"]).flat_map(|effect| items(&effect["related"]));
    let reactions = items(&plan["outcomes"]).flat_map(|outcome| items(&outcome["afterwards"]));
    let objects = outcomes.chain(effects).chain(reactions.map(|after| &after["object"]));
    objects.map(|object| text(&object["uid"])).collect()
}

/// Whether a case waits for the pod garbage collector: a Node goes, or pods terminate on one that is silent.
fn waits_for_pod_collection(predicted: &Prediction<'_>) -> bool {
    predicted.case.pieces.iter().any(|piece| piece.sort == "node")
        && (predicted.case.pieces.iter().any(|piece| piece.get("silent").is_some())
            || items(&predicted.plan["outcomes"]).any(|outcome| outcome["object"]["kind"] == "Node"))
}

/// Changes of objects that belong to no case, and that no plan names.
fn strays(predicted: &[Prediction<'_>], before: &[Value], after: &[Value]) -> Vec<Difference> {
    let named: BTreeSet<&str> = predicted.iter().flat_map(|predicted| named(&predicted.plan)).collect();
    let is_stray = |object: &&Value| {
        !predicted.iter().any(|predicted| predicted.place.owns(object))
            && !named.contains(text(&object["metadata"]["uid"]))
    };
    let [before, after] = [before, after].map(|objects| objects.iter().filter(is_stray).cloned().collect::<Vec<_>>());
    let (before, after) = (by_uid(&before), by_uid(&after));
    let changed = before.iter().filter_map(|(uid, was)| {
        let (old, new) = (State::of(was), after.get(uid).map(|object| State::of(object)));
        State::outcome(&old, new.as_ref()).map(|change| (*was, change.to_owned()))
    });
    let new = after.iter().filter(|(uid, _)| !before.contains_key(**uid)).map(|(_, is)| (*is, "new".to_owned()));
    changed
        .chain(new)
        .map(|(object, change)| Difference {
            sort: Sort::Missed,
            object: described_real(object),
            predicted: "nothing, in no plan".to_owned(),
            cause: format!("stray {}: {change}", text(&object["kind"])),
            real: change,
        })
        .collect()
}

/// Whether a workload is as its spec says.
fn is_up(kind: &str, object: &Value) -> bool {
    let (spec, status) = (&object["spec"], &object["status"]);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let seen = number(&status["observedGeneration"]) >= number(&object["metadata"]["generation"]);
    let has = |condition: &str| {
        items(&status["conditions"]).any(|known| known["type"] == condition && known["status"] == "True")
    };
    let end = object.pointer("/spec/template/metadata/annotations/play~1end").map(text).unwrap_or_default();
    let on_node = object.pointer("/spec/template/metadata/annotations/play~1node").is_some();
    match kind {
        // A pause may come in the middle of a rollout.
        "Deployment" if spec["paused"] == true => seen,
        "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController" => {
            let ready = number(&status["readyReplicas"]) == number(&spec["replicas"]);
            seen && number(&status["replicas"]) == number(&spec["replicas"]) && (ready || !on_node || end != "run")
        }
        "DaemonSet" => seen && status["currentNumberScheduled"] == status["desiredNumberScheduled"],
        "Job" if spec["suspend"] == true || spec["managedBy"].is_string() => true,
        "Job" if on_node && end == "succeed" => has("Complete"),
        "Job" if on_node && end == "fail" => has("Failed"),
        "Job" => number(&status["active"]) == number(&spec["parallelism"]),
        _ => spec["volumeName"].is_null() || status["phase"] == "Bound",
    }
}

struct StopAtEnd<'k>(&'k Kubelet);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Does something for each item, a few at a time; results in order.
fn side_by_side<'i, T: Sync, R: Send>(items: &'i [T], act: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some((index, item)) = next.lock().unwrap().next() else { return };
            let result = act(item);
            done.lock().unwrap().push((index, result));
        }
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        for thread in running {
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
