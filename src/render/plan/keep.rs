//! What to do so that data, claims and what is outside of the cluster stay.

use std::collections::BTreeSet;

use gc_core::{
    command_line::ShellCommand,
    doctor::{Remedy, Step},
    model::{ObjectId, effects::EffectKind},
    plan::OutsideEffect,
    simulate::Cause,
    wording::count,
};

use super::{
    PlanView,
    next::{MOST_TARGETS, Way, command_about, delete_command, either},
};

/// How to keep the data of volumes that go with their claims, also if these go only once somebody starts a controller;
/// and what the controllers of objects delete with them.
pub(super) fn keep_data(view: &PlanView<'_>) -> Vec<Way> {
    let losses = view.plan.all_effects().chain(&view.plan.lost_once_started);
    let losses = losses.filter(|effect| effect.may_be(EffectKind::DataLost));
    let commands = view.commands();
    let holders = losses.flat_map(|effect| effect.related.iter().copied().chain([effect.object]));
    let holders: BTreeSet<ObjectId> = holders.filter(|id| commands.holds_data(*id)).collect();
    let acting = view.plan.all_effects().filter(|effect| takes_more_along(effect)).map(|effect| effect.object);
    let acting: BTreeSet<ObjectId> = acting.collect();
    let of_object = |object: ObjectId| Some((object, commands.keep_outside(object)?));
    let (acting, keep): (Vec<ObjectId>, Vec<ShellCommand>) = acting.into_iter().filter_map(of_object).unzip();
    let with = match acting.as_slice() {
        [one] => view.name(*one),
        many => count(many.len(), "object", "objects"),
    };
    let outside = Step::Keep.by(format!("keep what is deleted with {with}"), keep);
    let mut ways: Vec<Remedy> = commands.keep_volumes(holders).into_iter().chain([outside]).collect();
    ways.retain(|remedy| !remedy.commands.is_empty());
    if let Some(first) = ways.first_mut() {
        *first = first.clone().before_others();
    }
    ways.extend(stop_first(view));
    either(ways)
}

/// The same delete without the claims that lose their data, if they go for nothing but their owners: whoever uses them
/// still can, which a volume alone that is kept doesn't do.
pub(super) fn keep_claims(view: &PlanView<'_>) -> Option<Remedy> {
    let kind = view.snapshot.resources.by_group_kind("", "PersistentVolumeClaim")?;
    let mut claims = view.plan.going();
    claims.retain(|id| view.snapshot.object(*id).resource == kind);
    let effects = view.plan.all_effects();
    let of_others = effects.flat_map(|effect| effect.related.iter().filter(|id| **id != effect.object));
    let of_others: BTreeSet<ObjectId> = of_others.copied().collect();
    let is_collected = |id: &ObjectId| {
        let ends = || view.outcome(*id).into_iter().chain(view.later(*id));
        let by_others =
            ends().any(|outcome| outcome.because.as_ref().and_then(Cause::gone).is_some()) || of_others.contains(id);
        let by_collector = ends().any(|outcome| matches!(outcome.because, Some(Cause::Collector(_))));
        by_collector && !by_others && !view.snapshot.object(*id).terminating()
    };
    let loses = |id: &ObjectId| view.effects_of(*id).any(|effect| effect.may_be(EffectKind::DataLost));
    if view.kept.is_some() || !claims.iter().any(loses) || !claims.iter().all(is_collected) {
        return None;
    }
    let delete = delete_command(view, view.plan.request.propagation)?.commands.pop()?.arg("--keep=pvc");
    let kept = match claims.as_slice() {
        [claim] => format!("{} and its data", view.name(*claim)),
        _ => format!("{} and their data", view.by_kind(claims.iter().copied())),
    };
    Some(Step::Keep.by(format!("delete all but {kept}"), [delete]))
}

/// Whether a controller deletes more than the object: data, other objects, or what is outside the cluster.
pub(super) fn takes_more_along(effect: &OutsideEffect) -> bool {
    use EffectKind::{DataLost, ExternalDeleted, ObjectsDeleted};
    [DataLost, ExternalDeleted, ObjectsDeleted].iter().any(|kind| effect.may_be(*kind))
}

/// The pods to stop before the volumes that they use are detached (R9.49): then Kubernetes does that by itself.
fn stop_first(view: &PlanView<'_>) -> Option<Remedy> {
    let pods = view.snapshot.resources.by_group_kind("", "Pod");
    let is_pod = |id: &&ObjectId| Some(view.snapshot.object(**id).resource) == pods;
    let unreached = view.plan.all_effects().filter(|effect| effect.kind == EffectKind::DataUnreachable);
    let users = unreached.flat_map(|effect| effect.related.iter().filter(is_pod)).copied();
    let users: Vec<ObjectId> = users.collect::<BTreeSet<ObjectId>>().into_iter().take(MOST_TARGETS).collect();
    let command = command_about(view, "plan", &users).filter(|_| !users.is_empty());
    let what = "to have the volume detached once nothing uses it, stop its pods first; see what that takes along";
    command.map(|command| Step::First.by(what, [command]))
}
