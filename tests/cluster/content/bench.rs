//! Runs many graphs at once on one cluster: builds them while no controller runs, lets them settle, predicts, deletes,
//! and compares.

use std::{
    fmt::{self, Display, Formatter},
    thread,
    time::{Duration, Instant},
};

use kubectl_gc::{
    graph::OwnerGraph,
    model::ObjectId,
    plan::explore,
    render::{output::Output as _, plan::PlanView},
    simulate::{Assume, Request, SimContext},
};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    harness::{COLLECTOR, Cluster, Listed, NAMESPACES, Options},
    plan::compare::{as_most_likely, compare},
    reading::read_all,
};

use super::{
    case::Case,
    place::{Place, define_shared, remove},
};

/// Graphs that are built and deleted in parallel.
const THREADS: usize = 8;
/// The namespace controller starts after 5 seconds and retries after 8. The API server's finalizer for CRDs polls every
/// 5 seconds.
const REST: Duration = Duration::from_secs(11);
/// Longer if something is not as predicted, because controllers retry after a back-off.
const PATIENCE: Duration = Duration::from_secs(45);

/// How a real end compares with the predicted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The end that the plan called most likely.
    Exact,
    /// Another end that the plan names.
    Told,
    Wrong,
}

/// The result of one graph.
#[derive(Clone, Debug)]
pub struct Report {
    pub case: Case,
    pub verdict: Verdict,
    /// The number of objects, and how many of them the plan names.
    pub objects: usize,
    pub named: usize,
    /// Whether the plan predicted several ends.
    pub order_dependent: bool,
    /// The difference from the prediction; empty if there is none.
    pub error: String,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Report { case, verdict, error, .. } = self;
        write!(f, "{verdict:?}: {case}{error}")
    }
}

/// All reports in one line.
pub fn figures(reports: &[Report]) -> String {
    let verdict = |verdict: Verdict| reports.iter().filter(|report| report.verdict == verdict).count();
    format!(
        "{} graphs of {} objects, {} of them named by plans: {} exact, {} another end that was told, {} wrong; {} told \
            to depend on \
         the order",
        reports.len(),
        reports.iter().map(|report| report.objects).sum::<usize>(),
        reports.iter().map(|report| report.named).sum::<usize>(),
        verdict(Verdict::Exact),
        verdict(Verdict::Told),
        verdict(Verdict::Wrong),
        reports.iter().filter(|report| report.order_dependent).count(),
    )
}

/// The prediction for one graph, before anything is deleted.
struct Prediction<'c> {
    case: &'c Case,
    place: Place,
    plan: Value,
    before: Vec<Value>,
}

/// A cluster whose controllers are started for each batch.
pub struct Bench {
    cluster: Cluster,
    runtime: Runtime,
    /// Every graph gets its own place, because what a graph deletes lingers for a while.
    places: usize,
}

impl Bench {
    /// Starts a cluster that serves the kinds that graphs share.
    pub fn start() -> Self {
        let cluster = Cluster::start(&Options::default());
        define_shared(&cluster);
        Bench { cluster, runtime: Runtime::new().expect("a tokio runtime can be started"), places: 0 }
    }

    /// Runs a batch. Makes no report for a graph whose targets are gone before the delete.
    pub fn run(&mut self, cases: &[Case]) -> Vec<Report> {
        let places = self.places..;
        let jobs: Vec<(&Case, Place)> =
            cases.iter().zip(places).map(|(case, number)| (case, Place::new(number, case.has_definitions()))).collect();
        self.places += cases.len();
        side_by_side(&jobs, |(case, place)| place.prepare(&self.cluster, case));
        side_by_side(&jobs, |(case, place)| place.build(&self.cluster, case));
        self.cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
        let kinds: Vec<Listed> =
            self.cluster.listed().into_iter().filter(|kind| jobs.iter().any(|(.., place)| place.lists(kind))).collect();
        let before = self.at_rest(&kinds, |_| true);
        let predicted = self.predict(jobs, &before);
        side_by_side(&predicted, |predicted| predicted.delete(&self.cluster));
        let after = self.at_rest(&kinds, |after| predicted.iter().all(|predicted| predicted.compare(after).is_ok()));
        self.cluster.stop_controllers();
        let reports = predicted.iter().map(|predicted| predicted.report(&after)).collect();
        // The API server makes an APIService again for as long as its CRD exists.
        let after = after.into_iter().filter(|object| object["kind"] != "APIService");
        let left: Vec<Value> =
            after.filter(|object| predicted.iter().any(|predicted| predicted.place.owns(object))).collect();
        side_by_side(&left, |object| remove(&self.cluster, object));
        reports
    }

    /// Waits until nothing changes: for [`REST`] if everything is as it should be, for [`PATIENCE`] if not.
    fn at_rest(&self, kinds: &[Listed], as_it_should_be: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        self.cluster.settled();
        let look = || metadata_that_matters(self.cluster.objects_of(kinds));
        let mut objects = look();
        let mut since = Instant::now();
        loop {
            if since.elapsed() >= if as_it_should_be(&objects) { REST } else { PATIENCE } {
                return objects;
            }
            thread::sleep(Duration::from_secs(1));
            let now = look();
            if now != objects {
                (objects, since) = (now, Instant::now());
            }
        }
    }

    fn predict<'c>(&self, jobs: Vec<(&'c Case, Place)>, before: &[Value]) -> Vec<Prediction<'c>> {
        let snapshot = read_all(&self.cluster, &self.runtime);
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::None);
        let predict = |(case, place): (&'c Case, Place)| {
            let named = |target: &usize| {
                let path = place.path(&case.nodes[*target]);
                let object = before.iter().find(|object| place.owns(object) && self.cluster.path_of(object) == path)?;
                snapshot.by_uid(snapshot.strings.find(object["metadata"]["uid"].as_str()?)?)
            };
            let targets: Vec<ObjectId> = case.targets.iter().filter_map(named).collect();
            let request = Request::delete(targets, case.propagation);
            let plan = (!request.targets.is_empty()).then(|| explore(&stage, &request))?;
            assert!(plan.needs.is_empty(), "everything was read: {:?}", plan.needs);
            let view = PlanView::new(&snapshot, &graph, &plan, &[], None);
            let plan = serde_json::to_value(view.document()).expect("a plan is JSON");
            let before = before.iter().filter(|object| place.owns(object)).cloned().collect();
            Some(Prediction { case, place, plan, before })
        };
        jobs.into_iter().filter_map(predict).collect()
    }
}

impl Prediction<'_> {
    /// Deletes the targets, one right after the other.
    fn delete(&self, cluster: &Cluster) {
        for target in &self.case.targets {
            cluster.delete(&self.place.path(&self.case.nodes[*target]), Some(self.case.propagation.name()), None);
        }
    }

    fn own(&self, objects: &[Value]) -> Vec<Value> {
        objects.iter().filter(|object| self.place.owns(object)).cloned().collect()
    }

    fn compare(&self, after: &[Value]) -> Result<(), String> {
        compare(&self.plan, &self.before, &self.own(after))
    }

    fn report(&self, after: &[Value]) -> Report {
        let after = self.own(after);
        let verdict = compare(&self.plan, &self.before, &after);
        Report {
            case: self.case.clone(),
            verdict: match &verdict {
                Err(_) => Verdict::Wrong,
                Ok(()) if as_most_likely(&self.plan, &after) => Verdict::Exact,
                Ok(()) => Verdict::Told,
            },
            objects: self.before.len(),
            named: self.plan["outcomes"].as_array().map_or(0, Vec::len),
            order_dependent: self.plan.get("jointOutcomes").is_some(),
            error: verdict.err().map(|error| self.place.without_prefix(&error)).unwrap_or_default(),
        }
    }
}

/// The objects without the fields that change all the time.
fn metadata_that_matters(mut objects: Vec<Value>) -> Vec<Value> {
    for object in &mut objects {
        let Some(metadata) = object["metadata"].as_object_mut() else { continue };
        metadata.retain(|key, _| {
            matches!(
                key.as_str(),
                "name"
                    | "namespace"
                    | "uid"
                    | "finalizers"
                    | "ownerReferences"
                    | "deletionTimestamp"
                    | "deletionGracePeriodSeconds"
            )
        });
    }
    objects
}

/// Calls `work` for every item, several at a time.
fn side_by_side<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let size = items.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        for chunk in items.chunks(size) {
            let work = &work;
            scope.spawn(move || chunk.iter().for_each(work));
        }
    });
}
