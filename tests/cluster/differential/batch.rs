//! The world of random graphs: builds many at once while no collector runs, predicts what a starting collector does,
//! starts one, and compares. Then, in each round: predicts a delete, deletes, and compares.

use std::{cell::OnceCell, path::Path, time::Duration};

use gc_core::{
    graph::OwnerGraph,
    model::ObjectId,
    simulate::{Assume, SimContext},
};
use tokio::runtime::Runtime;

use crate::{
    bench::{self, Fence, World, side_by_side},
    graphs::{
        end::{Changes, End},
        generate::Case,
        judge::{Prediction, Read},
        record::{Start, Trial},
        text::Graph,
    },
    harness::{ADMIN, Alone, CountingProxy, Fault, NAMESPACES, Options},
    reading::read_all,
    sweep::seat::{Seat, Seated},
};

use super::{
    build::{self, Place, Uids},
    report::Report,
    state::{self, Found, Objects},
};

/// The collector retries a refused list after up to half a minute.
const LISTED: Duration = Duration::from_mins(2);

/// What a batch does.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub rounds: usize,
    /// See [`bench::play`](crate::bench::play). Shorter for a prediction that is known to be wrong.
    pub patience: Duration,
    /// Whether to count the possible ends of every graph.
    pub explore_all: bool,
}

/// A cluster whose collector is started for each batch.
pub struct Bench {
    pub(crate) cluster: Alone,
    seat: Seat,
    places: Vec<Place>,
    fence: Fence,
    pub(crate) runtime: Runtime,
    late: Vec<String>,
}

/// The graphs on a cluster, and who collects there, once it was started.
pub(crate) struct Graphs<'b> {
    bench: &'b Bench,
    seated: OnceCell<Seated<'b>>,
}

impl<'b> Graphs<'b> {
    /// Starts the collector or sweep, and the namespace controller. It connects by this kubeconfig file.
    pub fn start(&self, seat: Seat, kubeconfig: &Path) -> &Seated<'b> {
        self.seated.get_or_init(|| seat.take_beside(&self.bench.cluster, kubeconfig, &[NAMESPACES]))
    }

    /// Stops all that was started, and makes room for the next batch.
    pub fn end(self) {
        self.seated.into_inner().into_iter().for_each(Seated::leave);
        self.bench.cluster.stop_controllers();
        self.bench.clear();
    }
}

impl World for Graphs<'_> {
    type Seen = Objects;

    fn look(&self) -> Objects {
        state::read(&self.bench.cluster)
    }

    fn settle(&self) {
        self.seated.get().into_iter().for_each(Seated::settled);
    }

    fn fence(&self) {
        let Some(seated) = self.seated.get() else { return };
        self.bench.fence.pass(&self.bench.cluster);
        if seated.sweeping().is_none() {
            self.bench.cluster.retried_by_collector();
        }
        self.bench.cluster.namespaces_are_treated();
    }

    fn longest_pause(&self) -> Duration {
        self.seated.get().map_or(Duration::ZERO, Seated::longest_pause)
    }
}

/// A graph that was built on the cluster.
pub(crate) struct Job<'j> {
    pub from: &'j str,
    pub case: &'j Case,
    pub place: &'j Place,
    uids: Uids,
}

impl Job<'_> {
    fn graph(&self, objects: &Objects) -> Graph {
        state::graph(self.place, objects, &self.uids)
    }

    /// The delete of this round; `None` if none of its targets is left.
    pub fn delete(&self, round: usize, objects: &Objects) -> Option<Start> {
        let delete = self.case.rounds.get(round)?;
        let graph = self.graph(objects);
        let left = delete.wanted.iter().filter(|target| graph.line(target).is_some());
        let targets: Vec<String> = left.take(delete.most_targets).cloned().collect();
        (!targets.is_empty()).then_some(Start::Delete { targets, propagation: delete.propagation })
    }

    /// A target on the cluster.
    pub fn found<'o>(&self, objects: &'o Objects, target: &str) -> (&'o str, &'o Found) {
        let (kind, name) = target.split_once('/').expect("a target is Kind/name");
        let real_name = self.place.real_name(name);
        let found = state::of(self.place, objects).find(|(name, found)| *name == real_name && found.kind.name == kind);
        found.unwrap_or_else(|| panic!("the target {target} is there"))
    }
}

/// What is predicted for one graph.
struct Foretold<'t> {
    job: &'t Job<'t>,
    trial: &'t Trial,
    stage: &'t SimContext<'t>,
    prediction: Prediction<'t>,
    round: usize,
    explore_all: bool,
    read_differently: Option<String>,
}

impl Foretold<'_> {
    fn changes(&self, objects: &Objects) -> Changes {
        state::changes(&self.trial.graph, self.job.place, objects, &self.job.uids)
    }
}

impl bench::Prediction<Objects> for Foretold<'_> {
    type Report = Report;

    fn is_told(&self, seen: &Objects) -> bool {
        self.prediction.predicted(&self.changes(seen).end(&self.trial.graph)).is_some()
    }

    fn report(&self, seen: &Objects) -> Report {
        let changes = self.changes(seen);
        let end = changes.end(&self.trial.graph);
        Report {
            from: self.job.from.to_owned(),
            case: self.job.case.clone(),
            round: self.round,
            trial: self.trial.clone(),
            verdict: self.prediction.judge(&end),
            order_dependent: self.explore_all.then(|| self.prediction.order_dependent()),
            differences: self.prediction.differences(&end),
            as_a_sweep: (self.round == 0)
                .then(|| Prediction::new(self.stage, &Start::Sweep).end() == self.prediction.end()),
            read_differently: self.read_differently.clone(),
            changes,
        }
    }
}

impl Bench {
    /// Starts a cluster that serves the kinds of the graphs. Kubernetes' own collector collects.
    pub fn start() -> Self {
        Self::with(Seat::Collector)
    }

    /// Like [`Bench::start`], with someone else in the collector's place.
    pub fn with(seat: Seat) -> Self {
        let cluster = Alone::start(&Options::default());
        let fence = Fence::prepare(&cluster, &["v1"]);
        let runtime = Runtime::new().expect("a tokio runtime can be started");
        Bench { cluster, seat, places: Vec::new(), fence, runtime, late: Vec::new() }
    }

    /// Refuses the collector its first lists of these resources (plural names) until it has done everything that it
    /// does without them. It starts to work half a minute later (R2.6).
    pub fn listing_late(self, late: Vec<String>) -> Self {
        Bench { late, ..self }
    }

    /// A proxy between the API server and the collector that refuses the late lists.
    fn proxy(&self) -> CountingProxy {
        let proxy = CountingProxy::start(&self.cluster);
        let late = self.late.clone();
        let is_list = move |path: &str| late.iter().any(|late| path.ends_with(&format!("/{late}")));
        proxy.with(move |request| is_list(&request.path).then(|| Fault::status(403, "Forbidden")));
        proxy
    }

    /// Stops refusing the late lists, and waits until the collector has read them.
    fn list(&self, proxy: &CountingProxy) {
        proxy.without();
        proxy.forget();
        self.cluster.wait_until("the collector to list what it had to do without", LISTED, || {
            let requests = proxy.requests();
            let listed = |late: &String| {
                let is_list = |path: &str| path.ends_with(&format!("/{late}"));
                requests.iter().any(|request| is_list(&request.path) && request.status == Some(200))
            };
            self.late.iter().all(listed)
        });
    }

    /// The version of the API server.
    pub fn version(&self) -> String {
        let version = self.cluster.get("/version").expect("every API server has a version");
        version["gitVersion"].as_str().unwrap_or_default().to_owned()
    }

    /// Runs a batch of cases, each with its origin. Makes no report for a delete if no target is left.
    pub fn run(&mut self, cases: &[(String, Case)], wanted: Wanted) -> Vec<Report> {
        self.make_room(cases.len());
        let (jobs, graphs) = (self.build(cases), self.graphs());
        let mut objects = graphs.look();
        // A sweep examines every object when it starts.
        let begins = if self.seat == Seat::Sweep { Start::Sweep } else { Start::Restarted };
        let mut trials: Vec<(&Job<'_>, Start)> = jobs.iter().map(|job| (job, begins.clone())).collect();
        let proxy = (!self.late.is_empty()).then(|| self.proxy());
        let kubeconfig =
            proxy.as_ref().map_or_else(|| self.cluster.kubeconfig(ADMIN), |proxy| proxy.kubeconfig().into());
        let start = || {
            let seated = graphs.start(self.seat, &kubeconfig);
            if let Some(proxy) = &proxy {
                seated.settled();
                self.list(proxy);
            }
        };
        let mut reports = Vec::new();
        for round in 0..=wanted.rounds {
            let act = || if round == 0 { start() } else { self.delete(&trials, &objects) };
            let (after, of_round) = self.round(&graphs, &trials, round, wanted, &objects, act);
            reports.extend(of_round);
            objects = after;
            trials = jobs.iter().filter_map(|job| Some((job, job.delete(round, &objects)?))).collect();
        }
        graphs.end();
        reports
    }

    /// The graphs that are built here. Nobody collects yet.
    pub(crate) fn graphs(&self) -> Graphs<'_> {
        Graphs { bench: self, seated: OnceCell::new() }
    }

    /// Prepares a place for each of this many graphs.
    pub(crate) fn make_room(&mut self, graphs: usize) {
        while self.places.len() < graphs {
            self.places.push(Place::prepare(&self.cluster, self.places.len()));
        }
    }

    /// Builds the graphs of cases while no collector runs.
    pub(crate) fn build<'j>(&'j self, cases: &'j [(String, Case)]) -> Vec<Job<'j>> {
        let both: Vec<(&(String, Case), &Place)> = cases.iter().zip(&self.places).collect();
        side_by_side(&both, |((from, case), place)| Job {
            from,
            case,
            place,
            uids: place.build(&self.cluster, &case.graph),
        })
    }

    /// Predicts, acts, waits until all is at rest, and compares.
    pub(super) fn round(
        &self,
        graphs: &Graphs<'_>,
        trials: &[(&Job<'_>, Start)],
        round: usize,
        wanted: Wanted,
        before: &Objects,
        act: impl FnOnce(),
    ) -> (Objects, Vec<Report>) {
        let trials: Vec<(&Job<'_>, Trial)> = trials
            .iter()
            .map(|(job, start)| (*job, Trial { graph: job.graph(before), start: start.clone() }))
            .collect();
        let reads: Vec<Read> = trials.iter().map(|(_, trial)| Read::new(trial)).collect();
        let stages: Vec<SimContext<'_>> = reads.iter().map(Read::stage).collect();
        let both: Vec<(&SimContext<'_>, &(&Job<'_>, Trial))> = stages.iter().zip(&trials).collect();
        let mut foretold: Vec<Foretold<'_>> = side_by_side(&both, |(stage, (job, trial))| Foretold {
            job,
            trial,
            stage,
            prediction: Prediction::new(stage, &trial.start),
            round,
            explore_all: wanted.explore_all,
            read_differently: None,
        });
        if round == 1 {
            let read = self.read_differently(&foretold, before);
            foretold.iter_mut().zip(read).for_each(|(foretold, read)| foretold.read_differently = read);
        }
        let (after, reports) = bench::play(graphs, &foretold, wanted.patience, act);
        (after, reports.into_iter().filter(|report| !report.trial.graph.lines.is_empty()).collect())
    }

    /// Deletes the targets, one right after the other.
    pub(super) fn delete(&self, trials: &[(&Job<'_>, Start)], objects: &Objects) {
        side_by_side(trials, |(job, start)| {
            if let Start::Delete { targets, propagation } = start {
                for (name, found) in targets.iter().map(|target| job.found(objects, target)) {
                    let path = job.place.path(found.kind, found.elsewhere, name);
                    self.cluster.delete(&path, Some(propagation.name()), None);
                }
            }
        });
    }

    /// Checks that the snapshot of the cluster yields the same predictions as the text of each graph. Returns the first
    /// end that the snapshot predicts if the text predicts no such end.
    fn read_differently(&self, foretold: &[Foretold<'_>], objects: &Objects) -> Vec<Option<String>> {
        let snapshot = read_all(&self.cluster, &self.runtime);
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::None);
        side_by_side(foretold, |Foretold { job, trial, prediction, .. }| {
            let own = |(_, found): (&str, &Found)| snapshot.by_uid(snapshot.strings.find(&found.uid)?);
            let own: Vec<ObjectId> = state::of(job.place, objects).filter_map(own).collect();
            let read = Prediction::among_others(&stage, own, &on_the_cluster(job.place, &trial.start)).end();
            let foretold_objects = state::predicted(job.place, objects, &read);
            let changes = state::changes(&trial.graph, job.place, &foretold_objects, &job.uids);
            let end: End = changes.end(&trial.graph);
            prediction.predicted(&end).is_none().then(|| changes.to_string())
        })
    }

    /// Makes room for the next batch.
    fn clear(&self) {
        let objects = state::read(&self.cluster);
        let paths: Vec<String> = self
            .places
            .iter()
            .flat_map(|place| {
                state::of(place, &objects).map(|(name, found)| place.path(found.kind, found.elsewhere, name))
            })
            .collect();
        side_by_side(&paths, |path| build::remove(&self.cluster, path));
    }
}

/// The same start, with the targets' names on the cluster.
fn on_the_cluster(place: &Place, start: &Start) -> Start {
    let real = |targets: &[String]| -> Vec<String> {
        let named = targets.iter().filter_map(|target| target.split_once('/'));
        named.map(|(kind, name)| format!("{kind}/{}", place.real_name(name))).collect()
    };
    match start {
        Start::Delete { targets, propagation } => Start::Delete { targets: real(targets), propagation: *propagation },
        Start::Finish { targets, propagation } => Start::Finish { targets: real(targets), propagation: *propagation },
        other => other.clone(),
    }
}
