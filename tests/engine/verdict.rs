//! The verdict on a plan, and the gates on effects and verdicts. Most rows are in `rows/verdict.txt`.

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{EffectClass, Gates, Plan, Verdict, VerdictResult, explore, gate_violations, unlisted_contents},
    server::Propagation::{Background, Orphan},
    simulate::{Assume, Request, SimContext, Uncertainty},
};

use crate::scene::Scene;

/// `RESULT[?]: KIND objects, …`, with a question mark if it is not certain; then the violated gates, each with its
/// objects: `; data-loss PersistentVolumeClaim/data`.
pub fn tell(
    scene: &Scene,
    stage: &SimContext<'_>,
    plan: &Plan,
    deny: &[EffectClass],
    fail_on: Option<VerdictResult>,
) -> String {
    let snapshot = &scene.snapshot;
    let mut unlisted = unlisted_contents(stage, plan);
    unlisted.iter_mut().flat_map(|of| &mut of.unlisted).for_each(|unlisted| unlisted.count = Some(0));
    let gates = Gates { deny_effects: deny.to_vec(), fail_on, ..Gates::default() };
    let violations = gate_violations(snapshot, plan, &unlisted, &gates, |_| false);
    let verdict = Verdict::of(snapshot, plan, &unlisted, &[]);
    let names = |objects: &[gc_core::model::ObjectId]| {
        objects.iter().map(|object| format!(" {}", snapshot.short_name(*object))).collect::<String>()
    };
    let reasons: Vec<String> =
        verdict.reasons.iter().map(|reason| format!("{}{}", reason.kind.name(), names(&reason.objects))).collect();
    let sure = if verdict.certain { "" } else { "?" };
    let mut text = format!("{}{sure}: {}", verdict.result.name(), reasons.join(", "));
    for violation in &violations {
        let gate = match violation.gate {
            gc_core::plan::Gate::DenyEffect { effect } => effect.name(),
            gc_core::plan::Gate::FailOn { result } => result.name(),
            other => panic!("{other:?}"),
        };
        let unread: String = violation.unread.iter().map(|gap| format!(" {gap}?")).collect();
        text += &format!("; {gate}{}{unread}", names(&violation.objects));
    }
    assert_eq!(
        Verdict::of(snapshot, plan, &unlisted, &violations).result == VerdictResult::Refused,
        !violations.is_empty() || verdict.result == VerdictResult::Refused
    );
    text
}

pub const ALL: &[EffectClass] = &[EffectClass::DataLoss, EffectClass::External, EffectClass::Unknown];

fn describe(graph: &str, start: &str, deny: &[EffectClass], fail_on: Option<VerdictResult>) -> String {
    let scene = Scene::new(graph);
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    tell(&scene, &stage, &explore(&stage, &scene.request(start)), deny, fail_on)
}

/// Reads objects as a complete dump.
pub fn dumped(name: &str, objects: &[String]) -> Snapshot {
    let file = std::env::temp_dir().join(format!("kubectl-gc-{name}-{}.yaml", std::process::id()));
    std::fs::write(&file, objects.join("---\n")).unwrap();
    let snapshot = gc_cluster::dump::read(&[file.display().to_string()], true).unwrap();
    std::fs::remove_file(file).unwrap();
    snapshot
}

/// An object of a dump. `more` is added to its metadata.
fn object(kind: &str, name: &str, more: &str) -> String {
    format!("{kind}\nmetadata: {{name: {name}, namespace: ns, uid: {name}{more}}}\n")
}

pub fn id(snapshot: &Snapshot, name: &str) -> ObjectId {
    snapshot.objects().find(|(id, _)| snapshot.short_name(*id) == name).unwrap().0
}

/// All outcomes that rest on an assumption that may be wrong, or are uncertain for another reason, which is named.
/// Kubernetes' own controllers are no such assumption.
pub fn assumed(snapshot: &Snapshot, plan: &Plan) -> String {
    let names = plan.outcomes.iter().filter_map(|outcome| {
        let why = match outcome.uncertain? {
            Uncertainty::Assumption => String::new(),
            other => format!(" ({other:?})"),
        };
        Some(format!("{} {}{why}", snapshot.short_name(outcome.object), outcome.kind.name()))
    });
    names.collect::<Vec<_>>().join(", ")
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap";

/// An add-on that may run where it can't be seen. If it must run in the cluster, it doesn't run.
#[test]
fn what_rests_on_an_add_on_elsewhere_is_not_certain() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application";
    let machine = "apiVersion: machine.openshift.io/v1beta1\nkind: Machine";
    let owned = |kind: &str, owner: &str| {
        let api_version = if kind == "Machine" { "machine.openshift.io/v1beta1" } else { "argoproj.io/v1alpha1" };
        format!(", ownerReferences: [{{apiVersion: {api_version}, kind: {kind}, name: {owner}, uid: {owner}}}]")
    };
    let workloads = ["apps/v1\nkind: Deployment", "apps/v1\nkind: StatefulSet", "apps/v1\nkind: DaemonSet"]
        .iter()
        .chain(&["coordination.k8s.io/v1\nkind: Lease"])
        .enumerate()
        .map(|(index, kind)| object(&format!("apiVersion: {kind}"), &format!("any{index}"), ""));
    let objects: Vec<String> = workloads
        .chain([
            object(machine, "m", ", finalizers: [machine.machine.openshift.io]"),
            object(CONFIG_MAP, "of-m", &owned("Machine", "m")),
            object(application, "a", ", finalizers: [resources-finalizer.argocd.argoproj.io]"),
            object(CONFIG_MAP, "of-a", &owned("Application", "a")),
        ])
        .collect();
    let snapshot = dumped("add-ons", &objects);
    let graph = OwnerGraph::new(&snapshot);
    let stage = SimContext::new(&snapshot, &graph, Assume::Known);
    for (target, expected) in [("Machine/m", "Machine/m Terminating, ConfigMap/of-m Unchanged"), ("Application/a", "")]
    {
        let plan = explore(&stage, &Request::delete(vec![id(&snapshot, target)], Background));
        assert_eq!(assumed(&snapshot, &plan), expected, "{target}");
        assert_eq!(plan.certain(), expected.is_empty(), "{target}");
    }
}

/// R2.5: what the collector doesn't watch yet it doesn't free, and then deletes.
#[test]
fn an_orphan_of_a_young_kind_is_not_certain() {
    let owned =
        |name: &str| format!(", ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: {name}, uid: {name}}}]");
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
        metadata: {name: shops.acme.io, uid: crd, creationTimestamp: 2026-01-31T08:00:00Z}\n\
        spec: {group: acme.io, names: {plural: shops, kind: Shop}, scope: Namespaced, versions: [{name: v1}]}\n";
    let service = |name: &str, spec: &str| {
        format!(
            "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\n\
             metadata: {{name: {name}, uid: {name}, creationTimestamp: 2026-01-31T08:00:00Z}}\nspec: {{{spec}}}\n"
        )
    };
    let mut snapshot = dumped(
        "young",
        &[
            definition.to_owned(),
            // The API server's own, as old as the server.
            service("v1.", "version: v1"),
            service("v1.pond.io", "group: pond.io, version: v1, service: {namespace: ns, name: pond}"),
            object("apiVersion: pond.io/v1\nkind: Fish", "aggregated", &owned("root")),
            object(CONFIG_MAP, "root", ""),
            object("apiVersion: acme.io/v1\nkind: Shop", "young", &owned("root")),
            object(CONFIG_MAP, "old", &owned("root")),
        ],
    );
    let root = id(&snapshot, "ConfigMap/root");
    let created: i64 = 1_769_846_400;
    for (now, policy, expected) in [
        (Some(created + 12), Orphan, "Fish/aggregated Orphaned, Shop/young Orphaned"),
        (Some(created + 34), Orphan, "Fish/aggregated Orphaned, Shop/young Orphaned"),
        (Some(created + 35), Orphan, ""),
        (Some(created + 12), Background, ""),
        // A dump was read at some time before.
        (None, Orphan, ""),
    ] {
        snapshot.read_at = now;
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::Known);
        let plan = explore(&stage, &Request::delete(vec![root], policy));
        assert_eq!(assumed(&snapshot, &plan), expected, "{now:?} {policy:?}");
        let named = plan.assumptions.iter().any(|assumption| assumption.to_string().contains("watches Shop"));
        let aggregated = plan.assumptions.iter().any(|assumption| assumption.to_string().contains("watches Fish"));
        assert_eq!(aggregated, named);
        assert_eq!(named, !expected.is_empty());
    }
}

/// Contents of a Namespace that are deleted only after a pod have no outcomes, but the effects count.
#[test]
fn what_is_lost_later_counts() {
    let graph = "
        Namespace ns
        Pod held fin=acme.io/x
        PersistentVolumeClaim data
        PersistentVolume pv
        facts Pod/held worker Running
        facts PersistentVolume/pv Delete ns/data Bound";
    let found = describe(graph, "delete Background Namespace/ns", &[EffectClass::DataLoss], Some(VerdictResult::Stuck));
    assert_eq!(
        found,
        "data-loss: data-loss PersistentVolumeClaim/data, stuck Namespace/ns Pod/held; data-loss \
         PersistentVolumeClaim/data; stuck"
    );
}

#[test]
fn the_level_of_fail_on_includes_everything_worse() {
    let verdict = |graph: &str, fail_on| {
        let found = describe(graph, "delete Background ConfigMap/c", &[], Some(fail_on));
        found.contains("; ")
    };
    use VerdictResult::{DataLoss, Depends, External, Stuck, Unsure, Waits};
    let forbidden_by = |graph: &str| -> Vec<VerdictResult> {
        let all = [DataLoss, Stuck, Depends, Waits, Unsure, External, VerdictResult::Deletes];
        all.into_iter().filter(|fail_on| verdict(graph, *fail_on)).collect()
    };
    let deletes = VerdictResult::Deletes;
    let argo = "ConfigMap c fin=argoproj.io/x";
    assert_eq!(forbidden_by(argo), [Depends, Waits, Unsure, External, deletes]);
    let stuck = "ConfigMap c fin=acme.io/x";
    assert_eq!(forbidden_by(stuck), [Stuck, Depends, Waits, Unsure, External, deletes]);
    // What could not be read may be lost, which `--deny-effect=data-loss` forbids: the verdict is unsure.
    let unsure = "unread Secret\nConfigMap c";
    assert_eq!(forbidden_by(unsure), [Unsure, External, deletes]);
    assert_eq!(forbidden_by("ConfigMap c"), [deletes]);
}
