//! The world of random content: graphs that are built while no controller runs, and settle before the delete.

use std::fmt::{self, Display, Formatter};

use gc_core::{
    graph::OwnerGraph,
    model::ObjectId,
    plan::explore,
    simulate::{Assume, Request, SimContext},
};
use kubectl_gc::render::{output::Output as _, plan::PlanView};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    bench::{self, Fence, Objects, PATIENCE, at_rest, play, side_by_side},
    differential::build::VERSIONS,
    graphs::judge::Verdict,
    harness::{Alone, COLLECTOR, Cluster, NAMESPACES, Options},
    plan::compare::{as_most_likely, compare},
    reading::read_all,
};

use super::{
    case::Case,
    place::{Place, remove},
};

/// The result of one graph.
#[derive(Clone, Debug)]
pub struct Report {
    case: Case,
    verdict: Verdict,
    /// The number of objects, and how many of them the plan names.
    objects: usize,
    named: usize,
    /// Whether the plan predicted several ends.
    order_dependent: bool,
    /// The difference from the prediction; empty if there is none.
    error: String,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Report { case, verdict, error, .. } = self;
        write!(f, "{verdict:?}: {case}{error}")
    }
}

impl bench::Verdict for Report {
    fn is_wrong(&self) -> bool {
        self.verdict == Verdict::Wrong
    }

    fn figures(reports: &[Self]) -> String {
        let verdict = |verdict: Verdict| reports.iter().filter(|report| report.verdict == verdict).count();
        format!(
            "{} graphs of {} objects, {} of them named by plans: {} exact, {} another end that was told, {} wrong; {} \
             told to depend on the order",
            reports.len(),
            reports.iter().map(|report| report.objects).sum::<usize>(),
            reports.iter().map(|report| report.named).sum::<usize>(),
            verdict(Verdict::Exact),
            verdict(Verdict::Told),
            verdict(Verdict::Wrong),
            reports.iter().filter(|report| report.order_dependent).count(),
        )
    }
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
    cluster: Alone,
    fence: Fence,
    runtime: Runtime,
    /// Every graph gets its own place, because what a graph deletes lingers for a while.
    places: usize,
}

impl Bench {
    /// Starts a cluster that serves the kinds that graphs share.
    pub fn start() -> Self {
        let cluster = Alone::start(&Options::default());
        let fence = Fence::prepare(&cluster, VERSIONS);
        Bench { cluster, fence, runtime: Runtime::new().expect("a tokio runtime can be started"), places: 0 }
    }

    /// Runs a batch. Makes no report for a graph whose targets are gone before the delete.
    pub fn run(&mut self, cases: &[Case]) -> Vec<Report> {
        let cluster = &self.cluster;
        let places = self.places..;
        let jobs: Vec<(&Case, Place)> =
            cases.iter().zip(places).map(|(case, number)| (case, Place::new(number, case.has_definitions()))).collect();
        self.places += cases.len();
        side_by_side(&jobs, |(case, place)| place.0.build(cluster, &case.graph));
        cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
        let kinds = cluster.listed().into_iter().filter(|kind| jobs.iter().any(|(.., place)| place.lists(kind)));
        let fence = || {
            self.fence.pass(cluster);
            cluster.retried_by_collector();
        };
        let world = Objects { cluster, kinds: kinds.collect(), fence: &fence };
        let before = at_rest(&world);
        let predicted = self.predict(jobs, &before);
        let act = || drop(side_by_side(&predicted, |predicted| predicted.delete(cluster)));
        let (after, reports) = play(&world, &predicted, PATIENCE, act);
        cluster.stop_controllers();
        // The API server makes an APIService again for as long as its CRD exists.
        let after = after.into_iter().filter(|object| object["kind"] != "APIService");
        let left: Vec<Value> =
            after.filter(|object| predicted.iter().any(|predicted| predicted.place.owns(object))).collect();
        side_by_side(&left, |object| remove(cluster, object));
        reports
    }

    fn predict<'c>(&self, jobs: Vec<(&'c Case, Place)>, before: &[Value]) -> Vec<Prediction<'c>> {
        let snapshot = read_all(&self.cluster, &self.runtime);
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::None);
        let predict = |(case, place): (&'c Case, Place)| {
            let named = |target: &usize| {
                let path = place.0.path_of(&case.graph.lines[*target]);
                let object = before.iter().find(|object| place.owns(object) && self.cluster.path_of(object) == path)?;
                snapshot.by_uid(snapshot.strings.find(object["metadata"]["uid"].as_str()?)?)
            };
            let targets: Vec<ObjectId> = case.targets.iter().filter_map(named).collect();
            let request = Request::delete(targets, case.propagation);
            let plan = (!request.targets.is_empty()).then(|| explore(&stage, &request))?;
            assert!(plan.needs.is_empty(), "everything was read: {:?}", plan.needs);
            let view = PlanView::new(&snapshot, &graph, &plan, &[], None);
            let plan = serde_json::to_value(view.document()).expect("a plan is JSON");
            let before = place.own(before);
            Some(Prediction { case, place, plan, before })
        };
        jobs.into_iter().filter_map(predict).collect()
    }
}

impl Prediction<'_> {
    /// Deletes the targets, one right after the other.
    fn delete(&self, cluster: &Cluster) {
        for target in &self.case.targets {
            let path = self.place.0.path_of(&self.case.graph.lines[*target]);
            cluster.delete(&path, Some(self.case.propagation.name()), None);
        }
    }
}

impl bench::Prediction<Vec<Value>> for Prediction<'_> {
    type Report = Report;

    fn is_told(&self, seen: &Vec<Value>) -> bool {
        compare(&self.plan, &self.before, &self.place.own(seen)).is_ok()
    }

    fn report(&self, seen: &Vec<Value>) -> Report {
        let after = self.place.own(seen);
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
