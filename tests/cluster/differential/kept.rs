//! Random graphs with `--keep`: predicts, removes owner references, deletes under the real collector, and compares.

use std::{collections::BTreeMap, time::Duration};

use gc_cluster::act::{self, DetachedObject, Released};
use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{After, KeepPlan, Outcome, OutcomeKind, explore, keep, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};
use serde_json::json;

use crate::{
    bench::{PATIENCE, Prediction, at_rest, number, play},
    graphs::{end::State, generate::Mix, judge},
    harness::ADMIN,
    reading::{connect, read_all},
    sweep::seat::Seat,
};

use super::{
    batch::{Bench, Job},
    seeded,
    state::{self, Objects},
};

/// A graph that was built, and a delete that keeps some of its objects.
struct Keeping<'k> {
    job: &'k Job<'k>,
    snapshot: &'k Snapshot,
    before: &'k Objects,
    /// The graph's objects, and its namespaces.
    objects: Vec<ObjectId>,
    target: ObjectId,
    propagation: Propagation,
    plan: KeepPlan,
    detached: Vec<DetachedObject>,
    /// Those whose former owner lives on in one of several ends. They only have to live.
    guarded: Vec<ObjectId>,
}

/// Keeps everything that is deleted except the target, every second of these, or only one; without those that can't be
/// kept. `None` if nothing is kept.
fn keeping<'k>(stage: &SimContext<'k>, job: &'k Job<'k>, before: &'k Objects, number: usize) -> Option<Keeping<'k>> {
    let snapshot = stage.snapshot;
    let is_own = |id: &ObjectId| job.place.name_in_graph(snapshot.text(snapshot.object(*id).name)).is_some();
    let objects: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_own).collect();
    // The target that deletes most objects: many graphs have little left once the collector has processed them. In
    // every second graph that is a namespace.
    let kind = |id: ObjectId| &snapshot.resources.get(snapshot.object(id).resource).kind;
    let may_go = |id: &ObjectId| number % 2 == 1 || kind(*id) != "Namespace";
    let of_case = job.case.rounds[0].propagation;
    let propagation = [Propagation::Background, Propagation::Foreground, of_case][number / 3 % 3];
    let takes = |target: &ObjectId| plan(stage, &Request::delete(vec![*target], propagation)).outcomes.len();
    let target = objects.iter().copied().filter(may_go).max_by_key(takes)?;
    let request = Request::delete(vec![target], propagation);
    let going =
        plan(stage, &request).outcomes.into_iter().filter(Outcome::may_be_removed).map(|outcome| outcome.object);
    let going: Vec<ObjectId> = going.filter(|id| *id != target && !snapshot.object(*id).terminating()).collect();
    let every = [1, 2, going.len().max(1)][number % 3];
    let mut wanted: Vec<ObjectId> =
        going.iter().copied().skip(number % every.min(going.len().max(1))).step_by(every).collect();
    let plan = loop {
        let plan = keep(stage, &request, &wanted, explore);
        if plan.lost.is_empty() {
            break plan;
        }
        wanted.retain(|object| plan.lost.iter().all(|(lost, _)| lost != object));
    };
    let (detached, guarded) = (Vec::new(), Vec::new());
    let keeping = Keeping { job, snapshot, before, objects, target, propagation, plan, detached, guarded };
    (!keeping.plan.kept.is_empty()).then_some(keeping)
}

impl Prediction<Objects> for Keeping<'_> {
    /// What differs from every predicted end, and which objects should live but don't.
    type Report = Vec<String>;

    fn is_told(&self, seen: &Objects) -> bool {
        self.report(seen).is_empty()
    }

    fn report(&self, seen: &Objects) -> Vec<String> {
        let snapshot = self.snapshot;
        let [was, is] = [self.before, seen].map(|objects| {
            let states = state::of(self.job.place, objects).map(|(_, found)| (found.uid.as_str(), &found.state));
            let states: BTreeMap<&str, &State> = states.collect();
            move |object: ObjectId| states.get(snapshot.text(snapshot.object(object).uid)).copied()
        });
        let mut wrong = Vec::new();
        let KeepPlan { kept, safe, stays, plan, .. } = &self.plan;
        for (list, objects) in [("kept", kept), ("safe", safe), ("stays", stays)] {
            let gone = objects.iter().filter(|object| is(**object).is_none_or(|state| state.terminating));
            wrong.extend(gone.map(|object| format!("{} is to live ({list})", snapshot.short_name(*object))));
        }
        let told = |after: &After| judge::state(snapshot, after.terminating, &after.finalizers, &after.owners);
        for object in self.objects.iter().filter(|object| !self.guarded.contains(object)) {
            let ends: Vec<Option<State>> = match plan.outcome(*object) {
                None => vec![was(*object).cloned()],
                Some(outcome) => {
                    let others = outcome.alternatives.iter().map(|other| &other.after);
                    std::iter::once(&outcome.after).chain(others).map(|after| after.as_ref().map(told)).collect()
                }
            };
            if !ends.iter().any(|end| end.as_ref() == is(*object)) {
                wrong.push(format!("{}: told {ends:?}, is {:?}", snapshot.short_name(*object), is(*object)));
            }
        }
        wrong.into_iter().map(|what| format!("{}: {what}", self.job.from)).collect()
    }
}

#[test]
fn graphs_of_which_something_is_kept_end_as_foretold() {
    kept_ones_end_as_foretold(1, 5);
}

/// As many graphs of each mix as `KEPT` says, starting with `SEED`.
#[test]
#[ignore = "long: as many graphs as KEPT says"]
fn random_graphs_of_which_something_is_kept_end_as_foretold() {
    kept_ones_end_as_foretold(number("SEED", 6), number("KEPT", 60));
}

fn kept_ones_end_as_foretold(first: u64, graphs: u64) {
    let seeds = || Mix::ALL.into_iter().flat_map(move |mix| (first..first + graphs).map(move |seed| (seed, mix)));
    let cases: Vec<_> = seeds().map(|(seed, mix)| seeded(seed, mix)).collect();
    let mut bench = Bench::start();
    bench.make_room(cases.len());
    let (jobs, world) = (bench.build(&cases), bench.graphs());
    world.start(Seat::Collector, &bench.cluster.kubeconfig(ADMIN));
    let before = at_rest(&world);

    let connection = connect(&bench.cluster, ADMIN, &bench.runtime);
    let snapshot = read_all(&bench.cluster, &bench.runtime);
    let graph = OwnerGraph::new(&snapshot);
    let stage = SimContext::new(&snapshot, &graph, Assume::None);
    let both = jobs.iter().zip(seeds());
    let mut keepings: Vec<Keeping<'_>> =
        both.filter_map(|(job, (seed, _))| keeping(&stage, job, &before, seed as usize)).collect();
    let kept: usize = keepings.iter().map(|keeping| keeping.plan.kept.len()).sum();
    assert!(kept as u64 > graphs / 2, "of {} graphs {kept} objects are kept: nothing was put to the test", jobs.len());

    for keeping in &mut keepings {
        let cut = act::cut(&connection, &snapshot, &keeping.plan.plan.request.cuts);
        let cut = bench.runtime.block_on(cut);
        keeping.detached = cut.unwrap_or_else(|error| panic!("{}: {error}", keeping.job.from));
        let object = snapshot.object(keeping.target);
        let resource = snapshot.resources.get(object.resource);
        let mut metadata = json!({"name": snapshot.text(object.name)});
        if !object.namespace.is_empty() {
            metadata["namespace"] = json!(snapshot.text(object.namespace));
        }
        let target = json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": metadata});
        let path = bench.cluster.path_of(&target);
        bench.cluster.delete(&path, Some(keeping.propagation.name()), None);
    }
    at_rest(&world);
    for keeping in &mut keepings {
        let (from, plan) = (keeping.job.from, &keeping.plan.plan);
        let release = act::release(&connection, &snapshot, plan, &keeping.detached, Duration::from_secs(1));
        let released = bench.runtime.block_on(release).unwrap_or_else(|error| panic!("{from}: {error}"));
        for (object, released) in released {
            match released {
                Released::Free => {}
                Released::Guarded(owner) => {
                    let outcome = plan.outcome(owner).expect("it is said to go");
                    let mut ends = outcome.alternatives.iter().map(|other| other.kind).chain([outcome.kind]);
                    assert!(ends.any(|end| !matches!(end, OutcomeKind::Deleted)), "{from}");
                    keeping.guarded.push(object);
                }
                Released::Lost => panic!("{from}: {} is lost", snapshot.short_name(object)),
            }
        }
    }
    let (_, wrong) = play(&world, &keepings, PATIENCE, || ());
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "of {} graphs:\n{}", keepings.len(), wrong.join("\n"));
    let guarded: usize = keepings.iter().map(|keeping| keeping.guarded.len()).sum();
    println!("{} graphs, {kept} objects kept, {guarded} keep their guards", keepings.len());
}
