//! Random graphs with `--keep`: predicts, removes owner references, deletes under the real collector, and compares.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use kubectl_gc::{
    act::{self, DetachedObject, Released},
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{After, KeepPlan, Outcome, Plan, explore, keep, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};

use crate::{
    graphs::{
        end::{State, Written},
        generate::{Case, Mix, case},
    },
    harness::{ADMIN, COLLECTOR, Cluster, NAMESPACES, Options},
    reading::{connect, read_all},
};

use super::{build::Place, kinds, number, state};

/// The cluster is at rest when nothing has changed for this long.
const REST: Duration = Duration::from_secs(3);
/// If something is not as predicted: at least so long, and as long as the collector may pause before it tries again what
/// has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A graph that was built, and a delete that keeps some of its objects.
struct Job {
    from: String,
    targets: Vec<ObjectId>,
    propagation: Propagation,
    keeping: KeepPlan,
    detached: Vec<DetachedObject>,
    objects: Vec<ObjectId>,
}

/// The objects on the cluster by uid.
fn now(cluster: &Cluster) -> BTreeMap<String, State> {
    state::read(cluster).into_values().map(|found| (found.uid, found.state)).collect()
}

fn at_rest(cluster: &Cluster) -> BTreeMap<String, State> {
    cluster.settled();
    let (mut seen, mut since) = (now(cluster), Instant::now());
    while since.elapsed() < REST {
        std::thread::sleep(Duration::from_millis(500));
        let again = now(cluster);
        if again != seen {
            (seen, since) = (again, Instant::now());
        }
    }
    seen
}

/// The objects to keep: everything that is deleted except the targets, every second of these, or only one; without
/// those that can't be kept.
fn job(stage: &SimContext<'_>, from: String, case: &Case, place: &Place, seed: u64) -> Option<Job> {
    let snapshot = stage.snapshot;
    let is_own = |id: &ObjectId| place.name_in_graph(snapshot.text(snapshot.object(*id).name)).is_some();
    let objects: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_own).collect();
    let round = &case.rounds[0];
    // The target that deletes most objects: many graphs have little left once the collector has processed them.
    let propagation = [Propagation::Background, Propagation::Foreground, round.propagation][seed as usize / 3 % 3];
    let takes = |target: &ObjectId| plan(stage, &Request::delete(vec![*target], propagation)).outcomes.len();
    let targets: Vec<ObjectId> = objects.iter().copied().max_by_key(takes).into_iter().collect();
    let request = Request::delete(targets.clone(), propagation);
    let going =
        plan(stage, &request).outcomes.into_iter().filter(Outcome::may_be_removed).map(|outcome| outcome.object);
    let going: Vec<ObjectId> =
        going.filter(|id| !targets.contains(id) && !snapshot.object(*id).terminating()).collect();
    let every = [1, 2, going.len().max(1)][seed as usize % 3];
    let mut wanted: Vec<ObjectId> =
        going.iter().copied().skip(seed as usize % every.min(going.len().max(1))).step_by(every).collect();
    loop {
        let keeping = keep(stage, &request, &wanted, explore);
        if keeping.lost.is_empty() {
            let detached = Vec::new();
            return (!keeping.kept.is_empty()).then_some(Job {
                from,
                targets,
                propagation,
                keeping,
                detached,
                objects,
            });
        }
        wanted.retain(|object| keeping.lost.iter().all(|(lost, _)| lost != object));
    }
}

fn predicted(snapshot: &Snapshot, after: &After) -> State {
    let text = |symbol| snapshot.text(symbol).to_owned();
    State {
        terminating: after.terminating,
        finalizers: after.finalizers.iter().map(|finalizer| text(*finalizer)).collect(),
        owners: after
            .owners
            .iter()
            .map(|reference| Written {
                api_version: text(reference.api_version),
                kind: text(reference.kind),
                name: text(reference.name),
                uid: text(reference.uid),
                controller: reference.controller,
                block: reference.block_owner_deletion,
            })
            .collect(),
    }
}

/// What differs from every predicted end, and which objects should live but don't. A guarded object (one whose former
/// owner lives on in one of several ends) only has to live.
fn wrong(
    snapshot: &Snapshot,
    job: &Job,
    guarded: &[ObjectId],
    before: &BTreeMap<String, State>,
    now: &BTreeMap<String, State>,
) -> Vec<String> {
    let plan: &Plan = &job.keeping.plan;
    let is = |object: ObjectId| now.get(snapshot.text(snapshot.object(object).uid));
    let mut wrong = Vec::new();
    let KeepPlan { kept, safe, stays, .. } = &job.keeping;
    for (list, objects) in [("kept", kept), ("safe", safe), ("stays", stays)] {
        let gone = objects.iter().filter(|object| is(**object).is_none_or(|state| state.terminating));
        wrong.extend(gone.map(|object| format!("{} is to live ({list})", snapshot.short_name(*object))));
    }
    for object in job.objects.iter().filter(|object| !guarded.contains(object)) {
        let ends: Vec<Option<State>> = match plan.outcome(*object) {
            None => vec![before.get(snapshot.text(snapshot.object(*object).uid)).cloned()],
            Some(outcome) => {
                let after =
                    std::iter::once(&outcome.after).chain(outcome.alternatives.iter().map(|other| &other.after));
                after.map(|after| after.as_ref().map(|after| predicted(snapshot, after))).collect()
            }
        };
        if !ends.iter().any(|end| end.as_ref() == is(*object)) {
            wrong.push(format!("{}: told {ends:?}, is {:?}", snapshot.short_name(*object), is(*object)));
        }
    }
    wrong.into_iter().map(|what| format!("{}: {what}", job.from)).collect()
}

#[test]
fn graphs_of_which_something_is_kept_end_as_foretold() {
    kept_ones_end_as_foretold(1, 15);
}

/// As many graphs of each mix as `KEPT` says, starting with `SEED`.
#[test]
#[ignore = "long: as many graphs as KEPT says"]
fn random_graphs_of_which_something_is_kept_end_as_foretold() {
    kept_ones_end_as_foretold(number("SEED", 16), number("KEPT", 50));
}

fn kept_ones_end_as_foretold(first: u64, graphs: u64) {
    let cluster = Cluster::start(&Options::default());
    cluster.apply_yaml(kinds::DEFINITIONS);
    let seeds = Mix::ALL.into_iter().flat_map(|mix| (first..first + graphs).map(move |seed| (mix, seed)));
    let built: Vec<(String, Case, Place, u64)> = seeds
        .enumerate()
        .map(|(index, (mix, seed))| {
            let (place, case) = (Place::prepare(&cluster, index), case(seed, mix));
            place.build(&cluster, &case.graph);
            (format!("{} {seed}", mix.name()), case, place, seed)
        })
        .collect();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let before = at_rest(&cluster);

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = connect(&cluster, ADMIN, &runtime);
    let snapshot = read_all(&cluster, &runtime);
    let graph = OwnerGraph::new(&snapshot);
    let stage = SimContext::new(&snapshot, &graph, Assume::None);
    let jobs = built.iter().filter_map(|(from, case, place, seed)| job(&stage, from.clone(), case, place, *seed));
    let mut jobs: Vec<Job> = jobs.collect();
    let kept: usize = jobs.iter().map(|job| job.keeping.kept.len()).sum();
    assert!(kept as u64 > graphs / 2, "of {} graphs {kept} objects are kept: nothing was put to the test", built.len());

    for job in &mut jobs {
        let cut = act::cut(&connection, &snapshot, &job.keeping.plan.request.cuts);
        job.detached = runtime.block_on(cut).unwrap_or_else(|error| panic!("{}: {error}", job.from));
        for target in &job.targets {
            let object = snapshot.object(*target);
            let resource = snapshot.resources.get(object.resource);
            let mut metadata = serde_json::json!({"name": snapshot.text(object.name)});
            if !object.namespace.is_empty() {
                metadata["namespace"] = serde_json::json!(snapshot.text(object.namespace));
            }
            let named =
                serde_json::json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": metadata});
            cluster.delete(&cluster.path_of(&named), Some(job.propagation.name()), None);
        }
    }
    at_rest(&cluster);
    let mut guarded: Vec<ObjectId> = Vec::new();
    for job in &jobs {
        let release = act::release(&connection, &snapshot, &job.keeping.plan, &job.detached, Duration::from_secs(1));
        for (object, released) in runtime.block_on(release).unwrap_or_else(|error| panic!("{}: {error}", job.from)) {
            match released {
                Released::Free => {}
                Released::Guarded(owner) => {
                    let lives = |kind| !matches!(kind, kubectl_gc::plan::OutcomeKind::Deleted);
                    let outcome = job.keeping.plan.outcome(owner).expect("it is said to go");
                    assert!(
                        lives(outcome.kind) || outcome.alternatives.iter().any(|other| lives(other.kind)),
                        "{}",
                        job.from
                    );
                    guarded.push(object);
                }
                Released::Lost => panic!("{}: {} is lost", job.from, snapshot.short_name(object)),
            }
        }
    }
    let (begun, longest_pause) = (Instant::now(), cluster.longest_pause());
    loop {
        let now = at_rest(&cluster);
        let wrong: Vec<String> = jobs.iter().flat_map(|job| wrong(&snapshot, job, &guarded, &before, &now)).collect();
        if wrong.is_empty() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE.max(longest_pause), "of {} graphs:\n{}", jobs.len(), wrong.join("\n"));
    }
    println!("{} graphs, {kept} objects kept, {} keep their guards", jobs.len(), guarded.len());
}
