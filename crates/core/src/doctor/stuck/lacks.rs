//! What gives a controller what it lacks.

use serde_json::json;

use crate::{
    doctor::{Remedy, Step, case::Case},
    model::{ObjectId, Presence, facts::PodFacts},
    simulate::controllers::Lack,
};

/// Gives a controller back what it lacks, to go on with an object; `None` if nothing is known to. `start` is what it
/// means to start it.
pub(super) fn give(case: &Case<'_>, lack: &Lack, object: ObjectId, start: Step) -> Option<Remedy> {
    let (snapshot, commands) = (case.snapshot(), case.commands());
    let create = |what: &str, name: &str| case.kubectl.verb("create").args([what, name]);
    let named = |workload: ObjectId| case.name(workload, Some(object));
    Some(match lack {
        Lack::Account { workload, account: (place, name) } => {
            let restart = case.kubectl.verb("rollout").arg("restart");
            let restart = commands.word(*workload).and_then(|word| restart.arg(word).in_namespace(place));
            let anew = create("serviceaccount", name).in_namespace(place).zip(restart);
            let what = format!(
                "make ServiceAccount/{name} -n {place} again, and restart {}, best by its installer",
                named(*workload)
            );
            Step::Heal.by(what, anew.map(|(account, restart)| account.and(restart)))
        }
        Lack::Right { account: (place, name), verbs, resource } => {
            // No role that is there: its rules may give more, to whom it was not meant for.
            let plural = resource.split(['.', '/']).next().unwrap_or_default();
            let new = format!("{name}-{plural}");
            let bind = [format!("--clusterrole={new}"), format!("--serviceaccount={place}:{name}")];
            let bind = create("clusterrolebinding", &new).args(bind);
            let role = create("clusterrole", &new).args([format!("--verb={verbs}"), format!("--resource={resource}")]);
            let what = format!("give {place}/{name} that right back, best by its installer");
            Step::Heal.by(what, [role.and(bind)]).deciding(true)
        }
        // Whoever may write a status or an Event may have written that.
        Lack::Refused { account: (place, name), verb, resource } => {
            let namespace = snapshot.namespace(object);
            let (resource, below) = resource.split_once('/').unwrap_or((resource, ""));
            let can = case.kubectl.verb("auth").args(["can-i", verb, resource]).in_namespace(namespace);
            let can = can.map(|can| can.arg(format!("--as=system:serviceaccount:{place}:{name}")));
            let can = can.map(|can| if below.is_empty() { can } else { can.arg(format!("--subresource={below}")) });
            let what = format!("see whether {place}/{name} has that right: if not, its installer gives it back");
            Step::Look.by(what, can)
        }
        Lack::Object(needed) => {
            let (kind, namespace) = (&needed.place.0, needed.place.1.as_str());
            let place = case.stage.built_in.namespaces.map(|all| snapshot.look_up_named(all, "", namespace));
            let is_leaving = place.and_then(Presence::object).is_some_and(|id| snapshot.object(id).terminating());
            let get = case.kubectl.verb("get").arg(kind);
            let get = if namespace.is_empty() { Some(get) } else { get.in_namespace(namespace) };
            let what =
                format!("make {} again, as it was: its controller then goes on. See what there is", needed.name());
            // A namespace that is being deleted takes nothing new.
            Step::Heal.by(what, get.filter(|_| !is_leaving))
        }
        Lack::Scope(workload) => {
            let what = format!("let {} handle it, too, best by its installer. See what limits it", named(*workload));
            Step::Heal.by(what, commands.about("describe", *workload))
        }
        Lack::Pods { workload, idle: true, .. } => {
            let what = format!("start {}, if that is its controller", named(*workload));
            let scale = commands.scale_up(*workload).filter(|_| !case.stage.is_leaving(*workload));
            start.by(what, scale).deciding(true)
        }
        Lack::Pods { workload, .. } => {
            let what = format!("see why {} has no ready pod", named(*workload));
            Step::Look.by(what, commands.about("describe", *workload))
        }
        Lack::Workloads(_) => return None,
    })
}

/// Lets a pod go that a controller can't evict: by the budget that forbids it, or the pod's own annotation; or deletes
/// it, which neither prevents.
pub(super) fn evict(case: &Case<'_>, pod: ObjectId, budget: Option<ObjectId>) -> [Remedy; 2] {
    let (commands, named) = (case.commands(), case.name(pod, None));
    let allow = match budget {
        Some(budget) => {
            let what = format!(
                "let {} allow that: run more pods, or ask for fewer. See what it asks for",
                case.name(budget, Some(pod))
            );
            Step::Heal.by(what, commands.get(budget))
        }
        None => {
            let without = json!({"metadata": {"annotations": {PodFacts::DO_NOT_DISRUPT: null}}});
            Step::Heal.by(format!("let {named} be evicted"), commands.merge(pod, &without)).deciding(true)
        }
    };
    let delete = commands.delete(&[pod], "background", &[]);
    [allow, Step::GiveUp.by(format!("delete {named} without asking its budget"), delete).deciding(true)]
}
