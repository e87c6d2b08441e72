//! What the collector could write now, and what of that it should have written by now: signs that it isn't running, or
//! that its writes are refused (S7, S8, R3.22). One judge for plans and for the doctor.

use rustc_hash::FxHashSet;

use crate::{
    graph::{OwnerGraph, Verdict},
    model::{Object, ObjectId, ResourceId, Snapshot, Symbol},
};

use super::{
    context::{COLLECTOR_OVERDUE, SimContext},
    doubt::{Turn, Write},
    projection::Projection,
};

/// The collector may need this many seconds until it watches a new kind.
const NEW: i64 = 60;

/// Whether a working collector has made this write by now. Only a deletionTimestamp shows how long it has been
/// possible; to what was created after that, for less long.
pub(crate) fn is_overdue(turn: &Turn, context: &SimContext<'_>) -> bool {
    let terminating = context.terminating_for(turn.waiting.unwrap_or(turn.object));
    let is_new = context.age_of(turn.object).is_some_and(|seconds| seconds < COLLECTOR_OVERDUE);
    terminating.is_some_and(|seconds| seconds >= COLLECTOR_OVERDUE) && !is_new
}

/// All writes that the collector could make now, or soon, without those that only follow from them.
pub(crate) fn turns(context: &SimContext<'_>, projection: &Projection) -> Vec<Turn> {
    let (snapshot, graph) = (context.snapshot, context.graph);
    let mut turns: FxHashSet<Turn> = FxHashSet::default();
    for (id, object) in snapshot.objects() {
        if snapshot.resources.not_watched(object.resource).is_some() {
            continue;
        }
        if object.terminating() {
            terminating((context, projection), id, object, &mut turns);
        } else if !object.owners.is_empty() && dangles(snapshot, graph, object) {
            match projection.outcome_of(id) {
                _ if projection.uncertain(id) => {}
                Some(outcome) => {
                    turns.insert(Turn { object: id, write: Write::of(outcome), waiting: None });
                }
                None => {}
            }
        }
    }
    let mut turns = Vec::from_iter(turns);
    turns.sort_unstable();
    turns
}

/// Whether an owner of an object is verifiably absent, and all owners could be looked up.
pub(crate) fn dangles(snapshot: &Snapshot, graph: &OwnerGraph, object: &Object) -> bool {
    let verdict = |reference| Verdict::of(snapshot, graph, reference, object.namespace);
    object.owners.iter().any(|reference| matches!(verdict(reference), Verdict::Dangling(_)))
}

fn terminating(
    (context, projection): (&SimContext<'_>, &Projection),
    id: ObjectId,
    object: &Object,
    turns: &mut FxHashSet<Turn>,
) {
    let (snapshot, graph) = (context.snapshot, context.graph);
    if object.finalizers.contains(&Symbol::ORPHAN) {
        let dependents = graph.dependents(id.into());
        // Dependents in resources that could not be listed may have to be freed first.
        if dependents.is_empty() && !snapshot.may_hide_dependents_of(id) {
            turns.insert(Turn { object: id, write: Write::Finalizer, waiting: None });
        }
        turns.extend(dependents.iter().map(|dependent| Turn {
            object: *dependent,
            write: Write::Free,
            waiting: Some(id),
        }));
    } else if object.finalizers.contains(&Symbol::FOREGROUND) {
        let blocks = |dependent: &ObjectId| {
            snapshot.object(*dependent).owners.iter().any(|reference| reference.uid == object.uid && reference.blocks())
        };
        // Dependents in resources that could not be listed may block it.
        if !graph.dependents(id.into()).iter().any(blocks) && !snapshot.may_hide_dependents_of(id) {
            turns.insert(Turn { object: id, write: Write::Finalizer, waiting: None });
        }
        // One that was made since is looked at only once another dependent has gone: a StatefulSet that is being
        // deleted makes its ControllerRevision again.
        let made_since = |id: &ObjectId| snapshot.object(*id).created.get() >= object.deleted.get();
        let all = graph.dependents(id.into());
        let others_are_left = all.iter().any(|id| snapshot.object(*id).terminating() && blocks(id));
        // The collector deletes the others, too, and nothing waits for that.
        for dependent in all.iter().copied().filter(|id| !snapshot.object(*id).terminating()) {
            if others_are_left && made_since(&dependent) {
                continue;
            }
            let waiting = blocks(&dependent).then_some(id);
            if waiting.is_none() && projection.uncertain(dependent) {
                continue;
            }
            // Dependents that the collector can't delete are reported separately.
            if let Some(outcome) = projection.outcome_of(dependent) {
                turns.insert(Turn { object: dependent, write: Write::of(outcome), waiting });
            }
        }
    }
}

/// The resources that the collector may not watch yet: it discovers new ones every 30 seconds, and then lists them
/// (R2.5, R2.7).
pub(crate) fn just_defined(context: &SimContext<'_>) -> FxHashSet<ResourceId> {
    let (snapshot, definitions) = (context.snapshot, context.built_in.definitions);
    let all = context.of_resource(definitions).iter().map(|id| snapshot.object(*id));
    let young =
        all.filter(|object| context.now.zip(object.created.get()).is_some_and(|(now, created)| now - created < NEW));
    let named = young.filter_map(|object| snapshot.text(object.name).split_once('.'));
    named.filter_map(|(plural, group)| snapshot.resources.by_group_plural(group, plural)).collect()
}

/// A write that the collector should have made by now, if nothing that was read explains why it hasn't.
pub(crate) fn overdue_turn(context: &SimContext<'_>) -> Option<Turn> {
    let snapshot = context.snapshot;
    let is_late = |(id, object): (ObjectId, &Object)| {
        object.finalizers.iter().any(|finalizer| finalizer.is_collectors_finalizer())
            && is_overdue(&Turn { object: id, write: Write::Finalizer, waiting: None }, context)
    };
    if !snapshot.objects().any(is_late) {
        return None;
    }
    let present = SimContext::new(snapshot, context.graph, context.assume).at(context.now).with_refused_writes();
    let projection = Projection::of(&present);
    let young = just_defined(context);
    let is_explained = |turn: &Turn| {
        turn.waiting.is_some_and(|waiting| projection.waits_in_cycle(waiting))
            || turn.parties().any(|id| young.contains(&snapshot.object(id).resource))
            || projection.refused.contains_key(&turn.object)
    };
    turns(&present, &projection).into_iter().find(|turn| is_overdue(turn, context) && !is_explained(turn))
}
