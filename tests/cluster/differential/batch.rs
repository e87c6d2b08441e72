//! Many graphs at once on one cluster: built while no collector runs, left to settle, foretold, deleted, and compared.

use std::{
    thread,
    time::{Duration, Instant},
};

use kubectl_gc::{
    cluster::{Connection, ConnectionOptions, Scope},
    foretell::{Assume, Stage},
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    server::Propagation,
};
use tokio::runtime::Runtime;

use crate::harness::{ADMIN, COLLECTOR, Cluster, NAMESPACES, Options};

use super::{
    build::{self, Place},
    generate::Case,
    judge::{End, Foretold, Verdict},
    kinds,
    report::Report,
    state,
    state::Objects,
};

/// So many graphs are built and deleted side by side.
const THREADS: usize = 6;
/// Nothing happening for so long is rest, where everything is as foretold.
const REST: Duration = Duration::from_secs(3);
/// And where something is not: what failed comes again after a back-off.
const PATIENCE: Duration = Duration::from_secs(20);
/// What no order of events explains is waited for even longer.
const GREAT_PATIENCE: Duration = Duration::from_secs(60);

/// A cluster whose collector is turned on for each batch.
pub struct Bench {
    cluster: Cluster,
    places: Vec<Place>,
    runtime: Runtime,
}

impl Bench {
    /// Starts a cluster that knows the kinds of the graphs.
    pub fn start() -> Self {
        let cluster = Cluster::start(&Options::default());
        cluster.apply_yaml(kinds::DEFINITIONS);
        let runtime = Runtime::new().expect("a tokio runtime can be started");
        Bench { cluster, places: Vec::new(), runtime }
    }

    /// Runs a batch, in so many rounds. Graphs that are gone altogether before anything is deleted make no report.
    pub fn run(&mut self, cases: &[Case], rounds: usize) -> Vec<Report> {
        while self.places.len() < cases.len() {
            self.places.push(Place::prepare(&self.cluster, self.places.len()));
        }
        let jobs: Vec<(&Case, &Place)> = cases.iter().zip(&self.places).collect();
        side_by_side(&jobs, |(case, place)| place.build(&self.cluster, &case.graph));
        self.cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
        let mut reports = Vec::new();
        let mut objects = self.at_rest(REST, |_| true);
        for round in 0..rounds {
            let (after, of_round) = self.round(&jobs, round, &objects);
            reports.extend(of_round);
            objects = after;
        }
        self.cluster.stop_controllers();
        self.clear();
        reports
    }

    fn round(&self, jobs: &[(&Case, &Place)], round: usize, objects: &Objects) -> (Objects, Vec<Report>) {
        let snapshot = self.snapshot();
        let graph = OwnerGraph::new(&snapshot);
        let stage = Stage::new(&snapshot, &graph, Assume::None);
        let foretold: Vec<(&Case, &Place, Foretold<'_>)> =
            jobs.iter().filter_map(|(case, place)| Some((*case, *place, foretell(&stage, case, round, place, objects)?))).collect();
        let deletes: Vec<(Vec<String>, Propagation)> = foretold
            .iter()
            .map(|(case, place, foretold)| (paths(&snapshot, place, foretold, objects), case.rounds[round].propagation))
            .collect();
        side_by_side(&deletes, |(paths, propagation)| {
            for path in paths {
                self.cluster.delete(path, Some(propagation.name()), None);
            }
        });
        let all_exact = |objects: &Objects| foretold.iter().all(|(.., foretold)| foretold.real_end(objects) == foretold.end());
        let judge = |after: &Objects| -> Vec<(Verdict, End)> {
            let real = foretold.iter().map(|(.., foretold)| (foretold, foretold.real_end(after)));
            real.map(|(foretold, real)| (foretold.judge(&real), real)).collect()
        };
        let mut after = self.at_rest(PATIENCE, all_exact);
        let mut verdicts = judge(&after);
        if verdicts.iter().any(|(verdict, _)| *verdict == Verdict::Wrong) {
            after = self.at_rest(GREAT_PATIENCE, all_exact);
            verdicts = judge(&after);
        }
        let report = |((case, place, foretold), (verdict, real)): (&(&Case, &Place, Foretold<'_>), (Verdict, End))| Report {
            case: (*case).clone(),
            round: round + 1,
            before: state::graph(place, objects),
            targets: foretold.targets().iter().map(|target| short(&snapshot, place, *target)).collect(),
            propagation: case.rounds[round].propagation,
            verdict,
            changed: foretold.changed(&real),
            order_dependent: foretold.order_dependent(),
            differences: foretold.differences(&real),
        };
        let reports = foretold.iter().zip(verdicts).map(report).collect();
        (after, reports)
    }

    /// Waits until nothing changes any more: for a short while if everything is as it should be, for `patience` if not.
    fn at_rest(&self, patience: Duration, as_it_should_be: impl Fn(&Objects) -> bool) -> Objects {
        self.cluster.settled();
        let mut objects = state::read(&self.cluster);
        let mut since = Instant::now();
        loop {
            let enough = if as_it_should_be(&objects) { REST } else { patience };
            if since.elapsed() >= enough {
                return objects;
            }
            thread::sleep(Duration::from_millis(500));
            let now = state::read(&self.cluster);
            if now != objects {
                objects = now;
                since = Instant::now();
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
        let options = ConnectionOptions { kubeconfig: Some(self.cluster.kubeconfig(ADMIN)), ..ConnectionOptions::default() };
        self.runtime.block_on(async {
            let connection = Connection::open(&options).await.expect("a connection");
            let (resources, gaps) = connection.discover().await.expect("discovery");
            assert!(gaps.is_empty(), "{gaps:?}");
            let mut snapshot = connection.read(resources, &Scope::Everything).await.expect("a snapshot");
            let everything: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
            connection.fetch_facts(&mut snapshot, &everything).await;
            assert!(snapshot.complete(), "{:?}", snapshot.gaps);
            snapshot
        })
    }

    /// Makes room for the next batch.
    fn clear(&self) {
        let paths: Vec<String> = state::read(&self.cluster)
            .iter()
            .filter_map(|(name, found)| {
                let place = self.places.iter().find(|place| place.name_in_graph(name).is_some())?;
                Some(place.path(found.kind, found.elsewhere, name))
            })
            .collect();
        side_by_side(&paths, |path| build::remove(&self.cluster, path));
    }
}

fn foretell<'s>(stage: &'s Stage<'s>, case: &Case, round: usize, place: &Place, objects: &Objects) -> Option<Foretold<'s>> {
    let delete = &case.rounds[round];
    let by_name = |name: &str| {
        let found = objects.get(name)?;
        stage.snapshot.by_uid(stage.snapshot.strings.find(&found.uid)?)
    };
    let own = objects.keys().filter(|name| place.name_in_graph(name).is_some()).filter_map(|name| by_name(name)).collect();
    let wanted = delete.wanted.iter().map(|line| place.real_name(&case.graph.lines[*line].name));
    let targets: Vec<ObjectId> = wanted.filter_map(|name| by_name(&name)).take(delete.most_targets).collect();
    (!targets.is_empty()).then(|| Foretold::new(stage, own, targets, delete.propagation))
}

fn paths(snapshot: &Snapshot, place: &Place, foretold: &Foretold<'_>, objects: &Objects) -> Vec<String> {
    let path = |target: &ObjectId| {
        let name = snapshot.text(snapshot.object(*target).name);
        let found = &objects[name];
        place.path(found.kind, found.elsewhere, name)
    };
    foretold.targets().iter().map(path).collect()
}

fn short(snapshot: &Snapshot, place: &Place, object: ObjectId) -> String {
    let found = snapshot.object(object);
    let name = snapshot.text(found.name);
    format!("{}/{}", snapshot.resources.get(found.resource).kind, place.name_in_graph(name).unwrap_or(name))
}

/// Does something with every item, several at a time.
fn side_by_side<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let size = items.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        for chunk in items.chunks(size) {
            let work = &work;
            scope.spawn(move || chunk.iter().for_each(work));
        }
    });
}
