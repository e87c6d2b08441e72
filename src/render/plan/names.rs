//! How a plan names objects, one or many.

use crate::{
    model::{ObjectId, Snapshot},
    plan::Outcome,
    render::words::{count_kinds, kinds_of},
    simulate::State,
};

use super::PlanView;

/// At most this many kinds are named, or one more if that is all.
const NAMED_KINDS: usize = 4;

/// `Kind/name`, with the namespace unless it is the one looked at, or that of the object above.
pub(super) fn name(view: &PlanView<'_>, object: ObjectId, above: Option<ObjectId>) -> String {
    let expected = match above.map(|above| (above, view.snapshot.object(above))) {
        Some((_, found)) if !found.namespace.is_empty() => Some(view.snapshot.text(found.namespace)),
        // Everything below a Namespace is in it.
        Some((above, found)) if view.snapshot.is_namespace(above) => Some(view.snapshot.text(found.name)),
        _ => view.namespace,
    };
    located(view.snapshot, object, expected)
}

/// `Kind/name`, with its namespace unless that is the expected one.
pub(crate) fn located(snapshot: &Snapshot, object: ObjectId, expected: Option<&str>) -> String {
    let namespace = snapshot.text(snapshot.object(object).namespace);
    let short = snapshot.short_name(object);
    if namespace.is_empty() || expected == Some(namespace) { short } else { format!("{short} -n {namespace}") }
}

/// `2 Pods, 1 ConfigMap`
pub(super) fn by_kind(view: &PlanView<'_>, objects: impl Iterator<Item = ObjectId>) -> String {
    kinds_of(view.snapshot, count_kinds(view.snapshot, objects), usize::MAX)
}

/// The same with a few kinds only: `12 Pods, 3 Services, 2 ConfigMaps and 9 more kinds`.
pub(super) fn by_some_kinds(view: &PlanView<'_>, objects: impl Iterator<Item = ObjectId>) -> String {
    kinds_of(view.snapshot, count_kinds(view.snapshot, objects), NAMED_KINDS)
}

/// The pods that have finished and that nothing deletes, for which this object waits.
pub(super) fn finished_pods(view: &PlanView<'_>, outcome: &Outcome) -> Vec<ObjectId> {
    let lasts = |pod: &ObjectId| view.snapshot.facts.has_finished(*pod) && view.outcome(*pod).is_none();
    outcome.waits_for.iter().copied().filter(lasts).collect()
}

/// The outcomes of objects that get stuck.
pub(super) fn stuck<'v>(view: &PlanView<'v>) -> impl Iterator<Item = &'v Outcome> {
    view.plan.outcomes.iter().chain(&view.plan.stays).filter(|outcome| outcome.state == Some(State::Stuck))
}
