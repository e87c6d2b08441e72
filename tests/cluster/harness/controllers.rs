//! The controller manager, with the collector and the controllers that create objects with owners.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    api::Api,
    binaries::Binaries,
    cluster::{ATTEMPTS, Alone, Cluster, RARELY_COLLECTED, free_ports},
    credentials::ADMIN,
    everything::Listed,
    objects::{owner_reference, uid},
    supervisor::{Program, Supervised},
    wait::{Retry, poll},
};

/// The garbage collector.
pub const COLLECTOR: &str = "garbage-collector-controller";
/// Deletes the content of terminating namespaces.
pub const NAMESPACES: &str = "namespace-controller";
/// The controllers that create objects with owners.
pub const WORKLOADS: &[&str] = &[
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "job-controller",
    "cronjob-controller",
];

/// Protects claims that pods use; it adds its finalizer itself.
pub const CLAIM_PROTECTION: &str = "persistentvolumeclaim-protection-controller";

/// Deletes the pods of Nodes that don't exist, a minute later.
pub const POD_GC: &str = "pod-garbage-collector-controller";

const FAILED: &str = "the controller manager could not be started";
/// The collector refreshes discovery every 30 seconds.
const NEW_KIND: Duration = Duration::from_mins(1);
/// Plans call kinds young for 35 seconds.
const OLD_KIND: Duration = Duration::from_secs(36);
/// Generous, so that no test fails because the machine is busy.
const START: Duration = Duration::from_mins(5);
/// The collector's queues, without their prefix.
const QUEUES: [&str; 3] = ["attempt_to_delete", "attempt_to_orphan", "graph_changes"];
/// Queues are empty for moments while events are on their way, so this many looks in a row must find them empty.
const QUIET_LOOKS: usize = 8;
/// So long nothing changes if all that is left fails each time.
const UNCHANGED: Duration = Duration::from_secs(20);
/// A collector that is still busy after this time is a defect.
const SETTLE: Duration = Duration::from_mins(5);
/// The collector's first and longest pause between two attempts (R2.9).
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1000);

/// The finalizer by which the API server cleans up after a CRD.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// What the collector logs of an object with which it fails.
const IN_VAIN: &str = "rror syncing item";
/// A namespace that the API server never deletes, and what it says.
const UNDELETABLE: &str = "kube-public";
const REFUSED: &str = "this namespace may not be deleted";
/// What the collector logs of an object that it leaves alone.
const SPARED: &str = "item doesn't have an owner";
/// How often this fails until everything that failed before has been tried again: a conflict with another writer is
/// over at the next try.
const TRIES: usize = 2;

/// A running controller manager.
pub struct Controllers {
    process: Supervised,
    api: Api,
    collects: bool,
}

impl Controllers {
    /// Its process.
    pub fn process(&self) -> &Supervised {
        &self.process
    }
}

impl Alone {
    /// Starts a controller manager with these controllers. Returns when it is ready and the collector, if included, has
    /// synced. The collector notices a kind that is created later only after up to 30 seconds.
    #[track_caller]
    pub fn start_controllers(&self, names: &[&str]) {
        self.try_start_controllers(names).unwrap_or_else(|error| panic!("{FAILED}: {error}"));
    }

    /// The same with another kubeconfig file, for instance for a proxy.
    #[track_caller]
    pub fn start_controllers_with(&self, kubeconfig: &Path, names: &[&str]) {
        self.try_start_controllers_with(kubeconfig, names).unwrap_or_else(|error| panic!("{FAILED}: {error}"));
    }

    pub(super) fn try_start_controllers(&self, names: &[&str]) -> Result<(), String> {
        self.try_start_controllers_with(&self.kubeconfig(ADMIN), names)
    }

    fn try_start_controllers_with(&self, kubeconfig: &Path, names: &[&str]) -> Result<(), String> {
        let mut running = self.controllers.lock().unwrap();
        if running.is_some() {
            return Err("there is one already; stop it first".to_owned());
        }
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            match self.launch(kubeconfig, names) {
                Ok(started) => {
                    *running = Some(started);
                    return Ok(());
                }
                Err(error) if error.contains("address already in use") => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Stops the controller manager, and with it the collector. The API server keeps running.
    pub fn stop_controllers(&self) {
        drop(self.controllers.lock().unwrap().take());
    }

    /// Makes every CRD an hour old, so that plans are certain (R2.5). For CRDs that are there before the collector
    /// starts: it watches their kinds from its start, whatever their age.
    #[track_caller]
    pub fn age_kinds(&self) {
        let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
        for mut definition in self.list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions") {
            definition["apiVersion"] = json!("apiextensions.k8s.io/v1");
            definition["kind"] = json!("CustomResourceDefinition");
            definition["metadata"]["creationTimestamp"] = json!(hour_ago.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            self.store(&definition);
        }
    }

    /// Waits until every CRD is so old that the collector certainly watches its kind, so that plans are certain (R2.5).
    pub fn kinds_grow_old(&self) {
        let definitions = self.list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        let created = definitions.iter().filter_map(|object| object["metadata"]["creationTimestamp"].as_str());
        let newest = created.filter_map(|time| time.parse::<jiff::Timestamp>().ok()).max();
        let age = newest.map(|newest| jiff::Timestamp::now().duration_since(newest).unsigned_abs());
        std::thread::sleep(age.map_or(Duration::ZERO, |age| OLD_KIND.saturating_sub(age)));
    }
}

impl Cluster {
    fn launch(&self, kubeconfig: &Path, names: &[&str]) -> Result<Controllers, String> {
        let [port] = free_ports()?;
        let name = self.unique("kube-controller-manager");
        let program = self.controller_manager(kubeconfig, names, port)?;
        let process = Supervised::start(&name, self.folder(), program)
            .map_err(|error| format!("cannot run kube-controller-manager: {error}"))?;
        let api = Api::connect(&self.kubeconfig(ADMIN), Some(&format!("https://127.0.0.1:{port}")))?;
        let collects = names.contains(&COLLECTOR);
        let ready = poll(START, || {
            if let Some(obituary) = process.obituary() {
                return Err(Retry::Never(obituary));
            }
            let answer = api.get("/healthz").map_err(Retry::Later)?;
            if !answer.is_success() {
                return Err(Retry::Later(format!("/healthz: {} {}", answer.status, answer.text())));
            }
            // Only the log shows that the collector has started: its queues are empty before, too.
            if collects && !process.log().contains("Proceeding to collect garbage") {
                return Err(Retry::Later(format!("the collector has not begun:\n{}", process.log_tail())));
            }
            Ok(())
        });
        ready.map(|()| Controllers { process, api, collects })
    }

    fn controller_manager(&self, kubeconfig: &Path, names: &[&str], port: u16) -> Result<Program, String> {
        let own = self.kubeconfig(ADMIN);
        let own = own.display();
        let program =
            Program::new(Binaries::find()?.controller_manager).without_proxies().env("GOGC", RARELY_COLLECTED).args([
                format!("--controllers={}", names.join(",")),
                format!("--kubeconfig={}", kubeconfig.display()),
                format!("--authentication-kubeconfig={own}"),
                format!("--authorization-kubeconfig={own}"),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--secure-port={port}"),
                // The API server's certificate: it is for the same address, and the kubeconfig files already trust it.
                format!("--tls-cert-file={}", self.credentials.certificate().display()),
                format!("--tls-private-key-file={}", self.credentials.certificate_key().display()),
                "--leader-elect=false".to_owned(),
                // For the controllers of ServiceAccounts, their tokens, and the root certificate of each namespace.
                format!("--service-account-private-key-file={}", self.credentials.signing_key().display()),
                format!("--root-ca-file={}", self.credentials.certificate().display()),
                "--kube-api-qps=1000".to_owned(),
                "--kube-api-burst=2000".to_owned(),
                // Only its log says when the namespace controller has looked at a namespace, and what the collector has
                // tried in vain.
                "--vmodule=namespace_controller=4,garbagecollector=5".to_owned(),
            ]);
        Ok(program.args(&self.options.controller_manager))
    }

    /// What the controller manager publishes as the root certificate, and writes into tokens of ServiceAccounts.
    pub fn root_certificate(&self) -> Vec<u8> {
        std::fs::read(self.credentials.certificate()).expect("the API server has made its certificate")
    }

    /// The lines of the controller manager's log with this text; none if it doesn't run.
    pub fn log_of_controllers(&self, text: &str) -> Vec<String> {
        let running = self.controllers.lock().unwrap();
        let log = running.as_ref().map(|controllers| controllers.process().log()).unwrap_or_default();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    /// Waits until the collector is idle: its queues stay empty, and it processes nothing, for some time. It may also
    /// try again and again what fails each time, so that on a slow machine its queues are never seen empty for long:
    /// then it is idle if no object changes for long.
    ///
    /// This isn't the end: failed items wait for their retry outside the queues, longer after each failure. A test must
    /// look again before it reports an unexpected state.
    #[track_caller]
    pub fn settled(&self) {
        self.idle(is_of_collectors_queue);
    }

    /// The same for the queues of all controllers that run. Items that wait for a timer aren't in a queue.
    #[track_caller]
    pub fn all_settled(&self) {
        self.idle(is_of_queue);
    }

    #[track_caller]
    fn idle(&self, is_of_queue: fn(&str) -> bool) {
        let objects = || {
            let kinds: Vec<Listed> = self.listed().into_iter().filter(|kind| kind.kind != "Lease").collect();
            self.objects_of(&kinds)
        };
        idle(&self.collector(), is_of_queue, Some(&objects));
    }

    /// Waits until the collector has tried again whatever has failed up to now. Retries wait outside the queues, in
    /// the order of their failures, so this one comes last: the API server refuses to delete this namespace.
    #[track_caller]
    pub fn retried_by_collector(&self) {
        let path = format!("/api/v1/namespaces/{UNDELETABLE}");
        let owners = |owners: Value| self.patch(&path, &json!({"metadata": {"ownerReferences": owners}}));
        let failures = || self.log_of_controllers(IN_VAIN).iter().filter(|it| it.contains(REFUSED)).count();
        let before = failures();
        owners(json!([{"apiVersion": "v1", "kind": "Namespace", "name": "absent", "uid": self.unique("absent")}]));
        self.wait_until("the collector to try again what has failed", SETTLE, || failures() >= before + TRIES);
        // Each failure in a row makes the next pause twice as long. One success, and they begin anew.
        let successes = || self.log_of_controllers(SPARED).iter().filter(|it| it.contains(UNDELETABLE)).count();
        let before = successes();
        owners(Value::Null);
        self.wait_until("the collector to leave alone what it could not delete", SETTLE, || successes() > before);
    }

    /// Waits until the namespace controller has looked once more at each namespace that is being deleted. It begins
    /// with one after 5 seconds, and comes back after at most 8, or after a back-off (`namespace_controller.go`).
    #[track_caller]
    pub fn namespaces_are_treated(&self) {
        let looks = || {
            let mut looks: BTreeMap<String, usize> = BTreeMap::new();
            for line in self.log_of_controllers("Finished syncing namespace") {
                // Some versions name the logger before it.
                let name = line.split_once("namespace=\"").and_then(|(_, rest)| rest.split('"').next());
                *looks.entry(name.unwrap_or_default().to_owned()).or_default() += 1;
            }
            looks
        };
        let before = looks();
        self.wait_until_done("the namespace controller to look at", || {
            let now = looks();
            let namespaces = self.list("/api/v1/namespaces").into_iter();
            // Without this entry it doesn't come back.
            let dying = namespaces
                .filter(|namespace| is_terminating(namespace) && has(&namespace["spec"]["finalizers"], "kubernetes"));
            let names = dying.map(|namespace| namespace["metadata"]["name"].as_str().unwrap_or_default().to_owned());
            names.filter(|name| now.get(name) <= before.get(name)).collect()
        });
    }

    /// Waits until the API server has done with CRDs that are being deleted all that it can do (`crd_finalizer.go`): it
    /// has deleted their instances, looks every 5 seconds whether any is left, and removes its finalizer, and the
    /// APIServices of the group. It works on five at a time.
    #[track_caller]
    pub fn definitions_are_treated(&self) {
        self.wait_until_done("the API server to clean up", || {
            let definitions = self.list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
            let dying = definitions
                .iter()
                .filter(|definition| is_terminating(definition) && has(&definition["metadata"]["finalizers"], CLEANUP));
            let busy = dying.filter(|definition| {
                let spec = &definition["spec"];
                let parts = [&spec["group"], &spec["versions"][0]["name"], &spec["names"]["plural"]];
                let list = format!("/apis/{}", parts.map(|part| part.as_str().unwrap_or_default()).join("/"));
                let instances = self.get(&list).unwrap_or_default()["items"].as_array().cloned().unwrap_or_default();
                let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
                let has_begun = conditions.into_iter().any(|condition| condition["type"] == "Terminating");
                !has_begun || instances.is_empty() || !instances.iter().all(is_terminating)
            });
            let serves = |service: &Value| {
                definitions.iter().any(|definition| definition["spec"]["group"] == service["spec"]["group"])
            };
            let services = self.list("/apis/apiregistration.k8s.io/v1/apiservices");
            let left = services.iter().filter(|service| {
                service["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"] == "true" && !serves(service)
            });
            busy.chain(left).map(|object| object["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
        });
    }

    /// Waits until nothing of this is left to do.
    #[track_caller]
    pub fn wait_until_done(&self, what: &str, mut left: impl FnMut() -> Vec<String>) {
        let verdict = poll(SETTLE, || match left() {
            left if left.is_empty() => Ok(()),
            left => Err(Retry::Later(left.join(", "))),
        });
        verdict.unwrap_or_else(|left| panic!("waited {SETTLE:?} for {what} {left}"));
    }

    /// How often items of this controller's queue have failed, and were put into it again.
    #[track_caller]
    pub fn retries_of(&self, queue: &str) -> u64 {
        let metrics = text(&self.collector(), "/metrics").unwrap_or_else(|error| panic!("{error}"));
        let line = format!("workqueue_retries_total{{name=\"{queue}\"}} ");
        let count = metrics.lines().find_map(|metric| metric.strip_prefix(&line));
        count.map_or(0, |count| count.parse().unwrap_or_else(|error| panic!("{line}{count}: {error}")))
    }

    /// How long the collector may pause before it tries again what has failed so far. The pause of an object doubles
    /// with each failure (R2.9), also of an attempt that an event asks for: it may be longer than the collector runs.
    #[track_caller]
    pub fn longest_pause(&self) -> Duration {
        let mut failures: BTreeMap<String, u32> = BTreeMap::new();
        for line in self.log_of_controllers(IN_VAIN) {
            let uid = line.split_once("uid: ").and_then(|(_, rest)| rest.split([']', ',']).next());
            *failures.entry(uid.unwrap_or_default().to_owned()).or_default() += 1;
        }
        let most = failures.into_values().max().unwrap_or_default();
        FIRST_PAUSE.saturating_mul(1 << most.min(30)).min(LONGEST_PAUSE)
    }

    /// The part of the collector's graph around these objects, or all of it, in DOT. An edge points from a dependent to
    /// its owner. The collector leaves out objects that have neither owners nor dependents.
    #[track_caller]
    pub fn collector_graph(&self, uids: &[&str]) -> String {
        let mut path = "/debug/controllers/garbage-collector-controller/graph".to_owned();
        for (index, uid) in uids.iter().enumerate() {
            let _ = write!(path, "{}uid={uid}", if index == 0 { '?' } else { '&' });
        }
        text(&self.collector(), &path).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until the collector's watches have reported these objects. Each must have an owner or a dependent.
    #[track_caller]
    pub fn seen_by_collector(&self, uids: &[&str]) {
        self.wait_until(&format!("the collector to see {uids:?}"), NEW_KIND, || {
            let graph = self.collector_graph(uids);
            uids.iter().all(|uid| graph.split("];").any(|node| is_observed(node, uid)))
        });
    }

    /// Waits until the collector watches the kind of this object and has seen the object. Gives it a dependent
    /// meanwhile, because the graph shows only objects with owners or dependents.
    #[track_caller]
    pub fn watched_by_collector(&self, object: &Value) {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
        let probe = self.create(object!("v1 ConfigMap", {
            "name": self.unique("probe"), "namespace": namespace, "ownerReferences": [owner_reference(object)],
        }));
        self.seen_by_collector(&[uid(object)]);
        self.delete(&self.path_of(&probe), None, None);
        self.wait_until("the collector to forget a probe", START, || {
            !self.collector_graph(&[uid(object)]).contains(uid(&probe))
        });
    }

    #[track_caller]
    fn collector(&self) -> Api {
        self.with_collector(|collector| collector.api.clone())
    }

    #[track_caller]
    fn with_collector<T>(&self, get: impl FnOnce(&Controllers) -> T) -> T {
        let controllers = self.controllers.lock().unwrap();
        match &*controllers {
            Some(controllers) if controllers.collects => get(controllers),
            _ => panic!("this cluster has no collector running"),
        }
    }
}

/// Waits until any collector is idle, given an API that serves its metrics.
#[track_caller]
pub fn settled(collector: &Api) {
    idle(collector, is_of_collectors_queue, None);
}

/// Waits until all queues of these metrics stay empty for some time, or none of these objects changes for
/// [`UNCHANGED`].
#[track_caller]
fn idle(controllers: &Api, is_of_queue: fn(&str) -> bool, objects: Option<&dyn Fn() -> Vec<Value>>) {
    let mut quiet = 0;
    let mut added_items = Vec::new();
    let mut seen: (Instant, Option<Vec<Value>>) = (Instant::now(), None);
    let mut unchanged = || {
        let Some(objects) = objects.filter(|_| seen.0.elapsed() > UNCHANGED) else { return false };
        let now = Some(objects());
        let before = std::mem::replace(&mut seen.1, now.clone());
        seen.0 = Instant::now();
        before == now
    };
    let verdict = poll(SETTLE, || {
        let metrics = text(controllers, "/metrics").map_err(Retry::Later)?;
        added_items.push(items_added(&metrics, is_of_queue));
        if !metrics.lines().any(is_of_queue) {
            return Err(Retry::Never(format!("nothing is said of its queues:\n{metrics}")));
        }
        let busy: Vec<&str> = metrics.lines().filter(|line| is_of_queue(line) && is_work(line)).collect();
        if !busy.is_empty() {
            quiet = 0;
            return if unchanged() { Ok(()) } else { Err(Retry::Later(busy.join(", "))) };
        }
        quiet += 1;
        if quiet < QUIET_LOOKS && !unchanged() {
            Err(Retry::Later("quiet only for a moment".to_owned()))
        } else {
            Ok(())
        }
    });
    // Whether an item comes again and again, or much is to do.
    let added = |metrics: Option<&String>| metrics.cloned().unwrap_or_default();
    verdict.unwrap_or_else(|error| {
        let (first, last) = (added(added_items.first()), added(added_items.last()));
        panic!(
            "the controllers did not come to rest within {SETTLE:?}, {} looks: {error}\nfirst: {first}\nlast: {last}",
            added_items.len()
        )
    });
}

/// The lines of the metrics that count what was ever put into the queues, and tried again.
fn items_added(metrics: &str, is_of_queue: fn(&str) -> bool) -> String {
    let of_queue = |line: &&str| {
        let counted = line.strip_prefix("workqueue_adds_total{").or(line.strip_prefix("workqueue_retries_total{"));
        counted.is_some_and(|rest| is_of_queue(&format!("workqueue_depth{{{rest}")))
    };
    metrics.lines().filter(of_queue).collect::<Vec<_>>().join(", ")
}

/// Whether an object is being deleted.
fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Whether a list has a text.
fn has(list: &Value, text: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|one| one == text))
}

/// Whether a part of the graph is the node of an object that the collector's watches have reported.
fn is_observed(node: &str, uid: &str) -> bool {
    let has = |key: &str, value: &str| node.lines().any(|line| line.trim() == format!("{key}={value:?}"));
    has("uid", uid) && has("virtual", "false") && has("missing", "false")
}

/// Whether a line of the metrics counts waiting or unfinished items in any controller's queue.
fn is_of_queue(line: &str) -> bool {
    line.starts_with("workqueue_depth{") || line.starts_with("workqueue_unfinished_work_seconds{")
}

/// The same for the collector's queues only.
fn is_of_collectors_queue(line: &str) -> bool {
    is_of_queue(line) && QUEUES.iter().any(|queue| line.contains(&format!("name=\"garbage_collector_{queue}\"")))
}

/// Whether such a line counts at least one item.
fn is_work(line: &str) -> bool {
    line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok_and(|value| value > 0.0))
}

fn text(api: &Api, path: &str) -> Result<String, String> {
    let answer = api.get(path).map_err(|error| format!("{path}: {error}"))?;
    if answer.is_success() { Ok(answer.text()) } else { Err(format!("{path}: {} {}", answer.status, answer.text())) }
}
