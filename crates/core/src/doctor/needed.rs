//! What must be read for an answer about some objects: on a large cluster, most references to absent owners are of
//! objects that the answer doesn't name.

use rustc_hash::FxHashSet;

use crate::{
    graph::Address,
    model::{Coordinate, ObjectId},
    simulate::Needs,
    tree::ResolvedReference,
};

use super::case::Case;

/// Leaves out reads that cannot change what is said of these objects: owners and dry runs of objects whose end doesn't
/// touch theirs. What is no owner stays: the Service of a webhook; and field managers, because those of a few objects
/// stand for all with the same finalizer.
pub(super) fn narrow(case: &Case<'_>, wanted: &mut Needs, named: impl IntoIterator<Item = ObjectId>) {
    let of_owners = wanted.absences.len() + wanted.look_ups.len();
    if of_owners + wanted.patches.len() == 0 {
        return;
    }
    let related = related(case, named);
    wanted.patches.retain(|id| related.contains(id));
    if of_owners == 0 {
        return;
    }
    let (mut theirs, mut others): (FxHashSet<Coordinate>, FxHashSet<Coordinate>) = Default::default();
    for (id, object) in case.snapshot().objects() {
        let into = if related.contains(&id) { &mut theirs } else { &mut others };
        for reference in object.owners.iter() {
            if let Address::At(owner) = Address::of(case.snapshot(), case.graph(), reference, object.namespace) {
                into.insert(owner);
            }
        }
    }
    let matters = |owner: &Coordinate| theirs.contains(owner) || !others.contains(owner);
    wanted.absences.retain(matters);
    wanted.look_ups.retain(matters);
}

/// These objects, and all whose end decides theirs: their owners, what is deleted with them, what waits for them or
/// they for it, and the rest of a Namespace that is Terminating, whose content is deleted in order (R9.9).
fn related(case: &Case<'_>, named: impl IntoIterator<Item = ObjectId>) -> FxHashSet<ObjectId> {
    let snapshot = case.snapshot();
    let (mut seen, mut emptied) = (FxHashSet::default(), FxHashSet::default());
    let mut open: Vec<ObjectId> = named.into_iter().collect();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let object = snapshot.object(id);
        let owner = |reference| ResolvedReference::of(snapshot, case.graph(), object, reference).found;
        open.extend(object.owners.iter().filter_map(owner));
        open.extend(case.projection.waits_for(id));
        open.extend(case.projection.waited_for_by(id));
        if object.terminating() || case.projection.leaves(id) {
            open.extend(case.graph().dependents(id.into()));
        }
        let within = if snapshot.is_namespace(id) { object.name } else { object.namespace };
        let ends = case.stage.namespace_named(within).is_some_and(|id| snapshot.object(id).terminating());
        if ends && emptied.insert(within) {
            open.extend(case.stage.in_namespace(within));
        }
    }
    seen
}
