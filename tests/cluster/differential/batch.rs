//! Runs many graphs at once on one cluster: builds them while no collector runs, predicts what a starting collector
//! does, starts one, and compares. Then, in each round: predicts a delete, deletes, and compares.

use std::{
    cell::OnceCell,
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use kubectl_gc::{
    graph::OwnerGraph,
    model::ObjectId,
    simulate::{Assume, SimContext},
};
use tokio::runtime::Runtime;

use crate::{
    graphs::{
        end::{Changes, End},
        generate::Case,
        judge::{Prediction, Read},
        record::{Start, Trial},
    },
    harness::{ADMIN, Cluster, CountingProxy, Fault, NAMESPACES, Options},
    reading::read_all,
    sweep::seat::{Seat, Seated},
};

use super::{
    build::{self, Place, Uids},
    kinds,
    report::Report,
    state::{self, Objects},
};

/// Graphs that are built and deleted in parallel.
const THREADS: usize = 6;

/// The collector retries a refused list after up to half a minute.
const LISTED: Duration = Duration::from_mins(2);

/// How long to wait for a predicted change that doesn't come.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// If everything is as predicted: the cluster is at rest when nothing has changed for this long.
    rest: Duration,
    /// If something is not as predicted: at least so long, and as long as the collector may pause before it tries
    /// again what has failed.
    more: Duration,
}

impl Patience {
    /// Before a prediction is called wrong.
    pub const GREAT: Patience = Patience { rest: Duration::from_secs(3), more: Duration::from_mins(1) };
    /// For a process that has done everything when it ends.
    pub const NONE: Patience = Patience { rest: Duration::ZERO, more: Duration::ZERO };
    /// For a prediction that a more patient run has already found wrong.
    pub const SMALL: Patience = Patience { rest: Duration::from_secs(3), more: Duration::from_secs(6) };
}

/// What a batch does.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub rounds: usize,
    pub patience: Patience,
    /// Whether to count the possible ends of every graph.
    pub explore_all: bool,
}

/// A cluster whose collector is started for each batch.
pub struct Bench {
    pub(super) cluster: Cluster,
    seat: Seat,
    places: Vec<Place>,
    runtime: Runtime,
    late: Vec<String>,
}

/// A graph that was built on the cluster.
pub(super) struct Job<'j> {
    from: &'j str,
    case: &'j Case,
    place: &'j Place,
    uids: Uids,
}

impl Job<'_> {
    fn graph(&self, objects: &Objects) -> crate::graphs::text::Graph {
        state::graph(self.place, objects, &self.uids)
    }

    /// The delete of this round; `None` if none of its targets is left.
    pub(super) fn delete(&self, round: usize, objects: &Objects) -> Option<Start> {
        let delete = self.case.rounds.get(round)?;
        let graph = self.graph(objects);
        let left = delete.wanted.iter().filter(|target| graph.line(target).is_some());
        let targets: Vec<String> = left.take(delete.most_targets).cloned().collect();
        (!targets.is_empty()).then_some(Start::Delete { targets, propagation: delete.propagation })
    }

    fn path(&self, objects: &Objects, target: &str) -> String {
        let (kind, name) = target.split_once('/').expect("a target is Kind/name");
        let real_name = self.place.real_name(name);
        let found = state::of(self.place, objects).find(|(name, found)| *name == real_name && found.kind.name == kind);
        let found = found.unwrap_or_else(|| panic!("the target {target} is there")).1;
        self.place.path(found.kind, found.elsewhere, &real_name)
    }
}

impl Bench {
    /// Starts a cluster that serves the kinds of the graphs. Kubernetes' own collector collects.
    pub fn start() -> Self {
        Self::with(Seat::Collector)
    }

    /// Like [`Bench::start`], with someone else in the collector's place.
    pub fn with(seat: Seat) -> Self {
        let cluster = Cluster::start(&Options::default());
        cluster.apply_yaml(kinds::DEFINITIONS);
        let runtime = Runtime::new().expect("a tokio runtime can be started");
        Bench { cluster, seat, places: Vec::new(), runtime, late: Vec::new() }
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
        let jobs = self.build(cases);
        let mut objects = state::read(&self.cluster);
        // A sweep examines every object when it starts.
        let begins = if self.seat == Seat::Sweep { Start::Sweep } else { Start::Restarted };
        let trials: Vec<(&Job<'_>, Start)> = jobs.iter().map(|job| (job, begins.clone())).collect();
        let proxy = (!self.late.is_empty()).then(|| self.proxy());
        let kubeconfig =
            proxy.as_ref().map_or_else(|| self.cluster.kubeconfig(ADMIN), |proxy| proxy.kubeconfig().into());
        let seated: OnceCell<Seated<'_>> = OnceCell::new();
        let sit = || seated.get_or_init(|| self.seat.take_beside(&self.cluster, &kubeconfig, &[NAMESPACES]));
        let seat = || Some(sit());
        let mut reports = Vec::new();
        for round in 0..=wanted.rounds {
            let (after, of_round) = if round == 0 {
                let start = || {
                    sit();
                    if let Some(proxy) = &proxy {
                        sit().settled();
                        self.list(proxy);
                    }
                };
                self.round(&trials, round, wanted, &objects, start, seat)
            } else {
                let trials: Vec<(&Job<'_>, Start)> =
                    jobs.iter().filter_map(|job| Some((job, job.delete(round - 1, &objects)?))).collect();
                self.round(&trials, round, wanted, &objects, || self.delete(&trials, &objects), seat)
            };
            reports.extend(of_round);
            objects = after;
        }
        seated.into_inner().into_iter().for_each(Seated::leave);
        self.cluster.stop_controllers();
        self.clear();
        reports
    }

    /// Prepares a place for each of this many graphs.
    pub(super) fn make_room(&mut self, graphs: usize) {
        while self.places.len() < graphs {
            self.places.push(Place::prepare(&self.cluster, self.places.len()));
        }
    }

    /// Builds the graphs of cases while no collector runs.
    pub(super) fn build<'j>(&'j self, cases: &'j [(String, Case)]) -> Vec<Job<'j>> {
        let both: Vec<(&(String, Case), &Place)> = cases.iter().zip(&self.places).collect();
        side_by_side(&both, |((from, case), place)| Job {
            from,
            case,
            place,
            uids: place.build(&self.cluster, &case.graph),
        })
    }

    /// Predicts, acts, waits until the collector or sweep in the seat has settled, and compares.
    pub(super) fn round<'c>(
        &self,
        trials: &[(&Job<'_>, Start)],
        round: usize,
        wanted: Wanted,
        before: &Objects,
        happen: impl FnOnce(),
        seat: impl Fn() -> Option<&'c Seated<'c>>,
    ) -> (Objects, Vec<Report>) {
        let trials: Vec<(&Job<'_>, Trial)> = trials
            .iter()
            .map(|(job, start)| (*job, Trial { graph: job.graph(before), start: start.clone() }))
            .collect();
        let reads: Vec<Read> = trials.iter().map(|(_, trial)| Read::new(trial)).collect();
        let stages: Vec<SimContext<'_>> = reads.iter().map(Read::stage).collect();
        let both: Vec<(&SimContext<'_>, &(&Job<'_>, Trial))> = stages.iter().zip(&trials).collect();
        let predicted: Vec<Prediction<'_>> =
            side_by_side(&both, |(stage, (_, trial))| Prediction::new(stage, &trial.start));
        let read_differently =
            if round == 1 { self.read_differently(&trials, &predicted, before) } else { vec![None; trials.len()] };
        happen();

        let places: Vec<usize> = (0..trials.len()).collect();
        let changes = |objects: &Objects, place: usize| -> Changes {
            let (job, trial) = &trials[place];
            state::changes(&trial.graph, job.place, objects, &job.uids)
        };
        let end = |objects: &Objects, place: usize| changes(objects, place).end(&trials[place].1.graph);
        let verdicts =
            |objects: &Objects| side_by_side(&places, |place| predicted[*place].predicted(&end(objects, *place)));
        let all_foretold = |objects: &Objects| verdicts(objects).iter().all(Option::is_some);
        let after = self.at_rest(seat(), wanted.patience, all_foretold);
        let judged = side_by_side(&places, |place| predicted[*place].judge(&end(&after, *place)));
        let reports = side_by_side(&places, |place| {
            let (job, trial) = &trials[*place];
            let changes = changes(&after, *place);
            let end = changes.end(&trial.graph);
            Report {
                from: job.from.to_owned(),
                case: job.case.clone(),
                round,
                trial: trial.clone(),
                verdict: judged[*place],
                order_dependent: wanted.explore_all.then(|| predicted[*place].order_dependent()),
                differences: predicted[*place].differences(&end),
                as_a_sweep: (round == 0)
                    .then(|| Prediction::new(&stages[*place], &Start::Sweep).end() == predicted[*place].end()),
                read_differently: read_differently[*place].clone(),
                changes,
            }
        });
        (after, reports.into_iter().filter(|report| !report.trial.graph.lines.is_empty()).collect())
    }

    pub(super) fn delete(&self, trials: &[(&Job<'_>, Start)], objects: &Objects) {
        side_by_side(trials, |(job, start)| {
            if let Start::Delete { targets, propagation } = start {
                for path in targets.iter().map(|target| job.path(objects, target)) {
                    self.cluster.delete(&path, Some(propagation.name()), None);
                }
            }
        });
    }

    /// Checks that the snapshot of the cluster yields the same predictions as the text of each graph. Returns the first
    /// end that the snapshot predicts if the text predicts no such end.
    fn read_differently(
        &self,
        trials: &[(&Job<'_>, Trial)],
        predicted: &[Prediction<'_>],
        objects: &Objects,
    ) -> Vec<Option<String>> {
        let snapshot = read_all(&self.cluster, &self.runtime);
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::None);
        let both: Vec<(&(&Job<'_>, Trial), &Prediction<'_>)> = trials.iter().zip(predicted).collect();
        side_by_side(&both, |((job, trial), predicted)| {
            let own = |(_, found): (&str, &state::Found)| snapshot.by_uid(snapshot.strings.find(&found.uid)?);
            let own: Vec<ObjectId> = state::of(job.place, objects).filter_map(own).collect();
            let read = Prediction::among_others(&stage, own, &on_the_cluster(job.place, &trial.start)).end();
            let foretold_objects = state::predicted(job.place, objects, &read);
            let changes = state::changes(&trial.graph, job.place, &foretold_objects, &job.uids);
            let end: End = changes.end(&trial.graph);
            predicted.predicted(&end).is_none().then(|| changes.to_string())
        })
    }

    /// Waits until nothing changes, with this patience.
    fn at_rest(
        &self,
        seated: Option<&Seated<'_>>,
        patience: Patience,
        as_it_should_be: impl Fn(&Objects) -> bool,
    ) -> Objects {
        if let Some(seated) = seated {
            seated.settled();
        }
        let longest = || patience.more.max(seated.map_or(Duration::ZERO, Seated::longest_pause));
        let mut objects = state::read(&self.cluster);
        let (mut since, mut more) = (Instant::now(), longest());
        loop {
            if since.elapsed() >= patience.rest && (since.elapsed() >= more || as_it_should_be(&objects)) {
                return objects;
            }
            thread::sleep(Duration::from_millis(500));
            let now = state::read(&self.cluster);
            if now != objects {
                objects = now;
                (since, more) = (Instant::now(), longest());
            }
        }
    }

    /// Makes room for the next batch.
    pub(super) fn clear(&self) {
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
    match start {
        Start::Delete { targets, propagation } => {
            let real = |target: &String| {
                target.split_once('/').map(|(kind, name)| format!("{kind}/{}", place.real_name(name)))
            };
            Start::Delete { targets: targets.iter().filter_map(real).collect(), propagation: *propagation }
        }
        other => other.clone(),
    }
}

/// Calls `work` for every item, several at a time.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((place, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|place| Some((place, items.get(place)?)))
        {
            done.push((place, work(item)));
        }
        done
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.flatten().collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}
