//! The world of random workloads: every controller runs, and a kubelet is played.

use std::{
    collections::BTreeSet,
    panic, thread,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};

use super::{
    case::{Case, Piece},
    compare::{Compared, compare, items, text},
    kubelet::Kubelet,
    place::Place,
    report::Report,
};
use crate::{
    bench::{self, Objects, PATIENCE, at_rest, play, side_by_side},
    harness::{Alone, COLLECTOR, Options, Retry, poll},
};

/// How long a workload may take to come up.
const COME_UP: Duration = Duration::from_mins(3);
/// What is in [`all_up`]'s care.
const WORKLOADS: [(&str, &str); 7] = [
    ("/apis/apps/v1/deployments", "Deployment"),
    ("/apis/apps/v1/replicasets", "ReplicaSet"),
    ("/apis/apps/v1/statefulsets", "StatefulSet"),
    ("/apis/apps/v1/daemonsets", "DaemonSet"),
    ("/apis/batch/v1/jobs", "Job"),
    ("/api/v1/persistentvolumeclaims", "PersistentVolumeClaim"),
    ("/api/v1/replicationcontrollers", "ReplicationController"),
];
/// What else controllers make of [`FENCE`].
const MADE: [&str; 4] = [
    "/api/v1/pods",
    "/api/v1/endpoints",
    "/apis/apps/v1/controllerrevisions",
    "/apis/discovery.k8s.io/v1/endpointslices",
];
/// Once this has come up, was deleted and is gone, every controller and kubelet has done what came before.
const FENCE: &str = "
    deployment web replicas=1 on=n0
    statefulset db replicas=1 on=n0
    daemonset agent
    job run end=succeed on=n0
    replicationcontroller set replicas=1 on=n0
    service web selects=web
    delete namespace/own Foreground";
/// A Job that has ended goes by itself after this many seconds or fewer, while the others wait.
const SOON: i64 = 60;

/// A cluster with every controller, and a kubelet that is played.
pub struct Bench {
    cluster: Alone,
    kubelet: Kubelet,
    /// Where [`FENCE`] is built, on a node of its own.
    fence: Place,
}

/// What is predicted for one case, or for all that belongs to none.
struct Prediction<'c> {
    case: Case,
    plan: Value,
    /// The command that makes the plan.
    command: String,
    /// Whether an object belongs to this case, or its plan names it.
    is_own: Box<dyn Fn(&Value) -> bool + Sync + Send + 'c>,
    before: Vec<Value>,
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
        let cluster = Alone::start(&options);
        cluster.start_controllers(&["*", COLLECTOR]);
        let (kubelet, fence) = (Kubelet::new(), Place::prepare(&cluster));
        fence.build(&cluster, &kubelet, &Case::of("the node of the fence", vec![Piece::new("node", "n0")]));
        Bench { cluster, kubelet, fence }
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
        self.all_up(&places.iter().map(|(_, place)| place).collect::<Vec<_>>());
        self.kubelet.fall_silent(&self.cluster);
        places.iter().for_each(|(case, place)| place.close(&self.cluster, case));
        let fence = || self.pass_fence();
        let world = Objects { cluster: &self.cluster, kinds: self.cluster.listed(), fence: &fence };
        let before = at_rest(&world);
        let up = begun.elapsed();
        let planned: Vec<Prediction<'_>> =
            side_by_side(&places, |(case, place)| self.predict(case, place, &before)).into_iter().flatten().collect();
        let planned_in = begun.elapsed();
        let waits = planned.iter().any(Prediction::waits_for_pod_collection);
        let named: BTreeSet<String> = planned.iter().flat_map(|one| named(&one.plan)).collect();
        let (deleted, mut predicted) = (planned.len(), planned);
        let is_stray = |object: &Value| {
            !places.iter().any(|(_, place)| place.owns(object)) && !named.contains(text(&object["metadata"]["uid"]))
        };
        let strays = Case::of("objects of no case", Vec::new());
        predicted.push(Prediction::new(strays, Value::Null, String::new(), Box::new(is_stray), &before));
        let act = || {
            side_by_side(&predicted[..deleted], |predicted| self.delete(predicted));
            if waits {
                self.pods_are_collected();
            }
        };
        let (_, mut reports) = play(&world, &predicted, PATIENCE, act);
        println!(
            "{} cases, {} objects: built in {} s, at rest after {} s, planned after {} s, at rest again after {} s",
            cases.len(),
            before.len(),
            built.as_secs(),
            up.as_secs(),
            planned_in.as_secs(),
            begun.elapsed().as_secs(),
        );
        reports.retain(|report| !report.case.targets.is_empty() || bench::Verdict::is_wrong(report));
        reports
    }

    /// Waits until every workload is as its spec says.
    fn all_up(&self, places: &[&Place]) {
        let verdict = poll(COME_UP, || {
            for (path, kind) in WORKLOADS {
                for object in self.cluster.list(path) {
                    if places.iter().any(|place| place.owns(&object)) && !is_up(kind, &object) {
                        return Err(Retry::Later(format!("{kind} {object}")));
                    }
                }
            }
            Ok(())
        });
        verdict.unwrap_or_else(|last| panic!("it doesn't come up: {last}"));
    }

    /// Waits until every controller and kubelet has done what was to do before, and no Job expires soon.
    fn pass_fence(&self) {
        let case = &Case::parse(FENCE)[0];
        self.fence.build(&self.cluster, &self.kubelet, case);
        self.all_up(&[&self.fence]);
        for object in case.pieces.iter().flat_map(|piece| self.fence.objects(piece)) {
            self.cluster.delete(&self.cluster.path_of(&object), Some("Foreground"), None);
        }
        let expires = |job: &&Value| {
            let ends = items(&job["status"]["conditions"])
                .any(|known| matches!(text(&known["type"]), "Complete" | "Failed") && known["status"] == "True");
            let soon = job["spec"]["ttlSecondsAfterFinished"].as_i64().is_some_and(|ttl| ttl <= SOON);
            ends && soon && job["metadata"]["deletionTimestamp"].is_null()
        };
        self.cluster.wait_until_done("the controllers to remove", || {
            let paths = WORKLOADS.iter().map(|(path, _)| *path).chain(MADE);
            let all = paths.flat_map(|path| self.cluster.list(path));
            let left = all.filter(|object| self.fence.owns(object) || expires(&object));
            left.map(|object| text(&object["metadata"]["name"]).to_owned()).collect()
        });
    }

    /// Waits until the pod garbage collector has done what was to do before. It looks every 20 seconds for Nodes that
    /// don't exist, and waits 40 seconds for each (pkg/controller/podgc/gc_controller.go: gcCheckPeriod,
    /// quarantineTime).
    fn pods_are_collected(&self) {
        let spec = json!({"nodeName": self.fence.global("absent"), "containers": [{"name": "main", "image": "main"}]});
        let pod = self.cluster.create(object!("v1 Pod", {"name": "last", "namespace": self.fence.namespace,
            "spec": spec}));
        let path = self.cluster.path_of(&pod);
        self.cluster.wait_until_done("the pod garbage collector to remove", || {
            self.cluster.get(&path).map(|pod| pod.to_string()).into_iter().collect()
        });
    }

    /// Plans one case with the built program; `None` if a target isn't there.
    fn predict<'c>(&self, case: &Case, place: &'c Place, before: &[Value]) -> Option<Prediction<'c>> {
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
        let names = named(&plan);
        let is_own = move |object: &Value| place.owns(object) || names.contains(text(&object["metadata"]["uid"]));
        Some(Prediction::new(case.clone(), plan, command, Box::new(is_own), before))
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

impl<'c> Prediction<'c> {
    fn new(
        case: Case,
        plan: Value,
        command: String,
        is_own: Box<dyn Fn(&Value) -> bool + Sync + Send + 'c>,
        before: &[Value],
    ) -> Self {
        let before = before.iter().filter(|object| is_own(object)).cloned().collect();
        Prediction { case, plan, command, is_own, before }
    }

    fn compare(&self, after: &[Value]) -> Compared {
        let after: Vec<Value> = after.iter().filter(|object| (self.is_own)(object)).cloned().collect();
        compare(&self.plan, &self.before, &after)
    }

    /// Whether a Node goes, or pods terminate on one that is silent.
    fn waits_for_pod_collection(&self) -> bool {
        self.case.pieces.iter().any(|piece| piece.sort == "node")
            && (self.case.pieces.iter().any(|piece| piece.get("silent").is_some())
                || items(&self.plan["outcomes"]).any(|outcome| outcome["object"]["kind"] == "Node"))
    }
}

impl bench::Prediction<Vec<Value>> for Prediction<'_> {
    type Report = Report;

    fn is_told(&self, seen: &Vec<Value>) -> bool {
        self.compare(seen).differences.is_empty()
    }

    fn report(&self, seen: &Vec<Value>) -> Report {
        let objects = if self.case.targets.is_empty() { 0 } else { self.before.len() };
        Report { case: self.case.clone(), command: self.command.clone(), objects, compared: self.compare(seen) }
    }
}

/// The uids of all objects that have an outcome, or that an effect or a reaction is about.
fn named(plan: &Value) -> BTreeSet<String> {
    let outcomes = items(&plan["outcomes"]).map(|outcome| &outcome["object"]);
    let effects = items(&plan["effects"]).flat_map(|effect| items(&effect["related"]));
    let reactions = items(&plan["outcomes"]).flat_map(|outcome| items(&outcome["afterwards"]));
    let objects = outcomes.chain(effects).chain(reactions.map(|after| &after["object"]));
    objects.map(|object| text(&object["uid"]).to_owned()).collect()
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
