//! Deletes with `--keep`, with the real controllers, which adopt freed objects within milliseconds.

mod guard;
mod workloads;

use std::time::Duration;

use gc_cluster::{
    act::{self, DetachedObject, Released},
    cluster::{Connection, EarlyLists, Wanted},
};
use gc_core::{
    graph::OwnerGraph,
    model::{Coordinate, ObjectId, Presence, Snapshot},
    plan::{KeepPlan, explore, keep},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};
use serde_json::{Value, json};

use crate::{
    harness::{ADMIN, Cluster, uid, wait_until},
    plan::trial::{Prediction, Trial},
    reading::connect,
};

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `--keep` needs: a connection, and a snapshot read over it.
struct Keeper {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
    snapshot: Snapshot,
}

impl Keeper {
    /// Reads the whole cluster.
    fn read(cluster: &Cluster) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let connection = connect(cluster, ADMIN, &runtime);
        let (resources, _) = runtime.block_on(connection.discover()).expect("discovery");
        let snapshot =
            runtime.block_on(connection.read(resources, &Wanted::default(), &EarlyLists::default())).expect("lists").0;
        Keeper { runtime, connection, snapshot }
    }

    /// The object with this uid.
    fn id(&self, uid: &str) -> ObjectId {
        let symbol = self.snapshot.strings.find(uid).unwrap_or_else(|| panic!("nothing has the uid {uid}"));
        self.snapshot.by_uid(symbol).unwrap_or_else(|| panic!("nothing has the uid {uid}"))
    }

    /// Plans the delete, reading everything that the plan depends on.
    fn plan(&mut self, targets: &[ObjectId], propagation: Propagation, wanted: &[ObjectId]) -> KeepPlan {
        loop {
            let graph = OwnerGraph::new(&self.snapshot);
            let stage = SimContext::new(&self.snapshot, &graph, Assume::Known);
            let keeping = keep(&stage, &Request::delete(targets.to_vec(), propagation), wanted, explore);
            let facts: Vec<ObjectId> = keeping.needs.facts.iter().copied().collect();
            let unknown = |coordinate: &Coordinate| self.snapshot.look_up(*coordinate) == Presence::Unknown;
            let look_ups: Vec<Coordinate> = keeping.needs.look_ups.iter().copied().filter(unknown).collect();
            if facts.is_empty() && look_ups.is_empty() {
                return keeping;
            }
            let before = self.snapshot.facts.len();
            self.runtime.block_on(self.connection.fetch_facts(&mut self.snapshot, &facts));
            self.runtime.block_on(self.connection.look_up(&mut self.snapshot, &look_ups));
            if self.snapshot.facts.len() == before && look_ups.is_empty() {
                return keeping;
            }
        }
    }

    fn cut(&self, keeping: &KeepPlan) -> Vec<DetachedObject> {
        let cut = act::cut(&self.connection, &self.snapshot, &keeping.plan.request.cuts);
        self.runtime.block_on(cut).unwrap_or_else(|error| panic!("{error}"))
    }

    fn release(&self, keeping: &KeepPlan, detached: &[DetachedObject]) {
        let release = act::release(&self.connection, &self.snapshot, &keeping.plan, detached, PATIENCE);
        let released = self.runtime.block_on(release).unwrap_or_else(|error| panic!("{error}"));
        for (object, released) in released {
            assert_eq!(released, Released::Free, "{}", self.snapshot.short_name(object));
        }
    }
}

/// Carries out the plan: cuts, deletes, and releases.
#[track_caller]
fn keep_and_delete(predicted: &Prediction<'_>) {
    let plan = &predicted.plan;
    let mut keeper = Keeper::read(predicted.case.trial.cluster);
    let ids = |objects: &Value, at: &str| -> Vec<ObjectId> {
        let objects = objects.as_array().into_iter().flatten();
        objects.map(|object| keeper.id(object.pointer(at).and_then(Value::as_str).unwrap_or_default())).collect()
    };
    let (targets, wanted) = (ids(&plan["targets"], "/uid"), ids(&plan["kept"], "/object/uid"));
    assert!(!wanted.is_empty(), "nothing is kept: {plan}");
    let policy = policy(predicted.case.trial.policy);
    let keeping = keeper.plan(&targets, policy, &wanted);
    assert_eq!((keeping.kept.len(), &keeping.lost[..]), (wanted.len(), &[][..]));
    let detached = keeper.cut(&keeping);
    predicted.delete();
    keeper.release(&keeping, &detached);
}

fn policy(name: &str) -> Propagation {
    match name {
        "Background" => Propagation::Background,
        "Foreground" => Propagation::Foreground,
        _ => Propagation::Orphan,
    }
}

/// A Deployment of two pods that no node runs. Returns the Deployment, its ReplicaSet, and the pods.
#[track_caller]
fn deployment(trial: &Trial<'_>) -> (Value, Value, Vec<Value>) {
    let made = trial.deployment(2);
    let pods = trial.cluster.list(&format!("/api/v1/namespaces/{}/pods", trial.namespace));
    let sets = trial.cluster.list(&format!("/apis/apps/v1/namespaces/{}/replicasets", trial.namespace));
    (made, typed("apps/v1", "ReplicaSet", &sets[0]), pods.iter().map(|pod| typed("v1", "Pod", pod)).collect())
}

/// Adds the type to an item of a list: items have none.
fn typed(api_version: &str, kind: &str, item: &Value) -> Value {
    let mut item = item.clone();
    item["apiVersion"] = json!(api_version);
    item["kind"] = json!(kind);
    item
}

/// Reads an object again; `None` if it is gone or replaced.
fn now(trial: &Trial<'_>, object: &Value) -> Option<Value> {
    trial.cluster.get(&trial.cluster.path_of(object)).filter(|now| uid(now) == uid(object))
}

/// Waits until an object is gone.
#[track_caller]
fn gone(trial: &Trial<'_>, object: &Value) {
    wait_until("it is gone", PATIENCE, || now(trial, object).is_none());
}
