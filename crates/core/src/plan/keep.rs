//! Keeping dependents alive: references to deleted owners are removed first, and the delete is simulated again with
//! these cuts, until no event order removes the objects to keep, or no further cut can save them.
//!
//! Only the necessary references are cut: dependents of a kept object survive with it. A cut object keeps references to
//! owners that exist and survive. Dangling references are cut as well, or the collector would delete the object at its
//! next examination.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::Verdict,
    model::{ObjectId, Reference, ResourceId, Symbol, effects::EffectKind},
    server::OwnDelete,
    simulate::{Cause, Cut, Needs, Request, SimContext, Uncertainty},
};

use super::outcome::{Outcome, Plan};

/// A delete that keeps some objects.
#[derive(Clone, Debug)]
pub struct KeepPlan {
    /// The delete with these objects kept; its request contains the cuts.
    pub plan: Plan,
    /// Objects that would be deleted and are kept, in the order of the command line.
    pub kept: Vec<ObjectId>,
    /// Objects to keep that would not be deleted anyway.
    pub safe: Vec<ObjectId>,
    /// Other objects that survive because something is kept, in plan order.
    pub stays: Vec<ObjectId>,
    /// Objects that can't be kept, and why.
    pub lost: Vec<(ObjectId, Unkeepable)>,
    /// What should be read to be certain.
    pub needs: Needs,
}

/// What `--keep` does to a plan.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Objects that would be deleted and are kept.
    pub kept: Vec<ObjectId>,
    /// Other objects that survive because of that.
    pub stays: Vec<ObjectId>,
    /// The flag's values, as typed.
    pub asked: Vec<String>,
}

/// Why an object can't be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unkeepable {
    /// It is a target of the delete.
    Target,
    /// It is already terminating, which can't be undone.
    Terminating,
    /// Its Namespace is deleted with all its contents (R9.9).
    Namespace(ObjectId),
    /// Its CustomResourceDefinition is deleted with all its instances (R1.26).
    Definition(ObjectId),
    /// It is removed because of this object, without an owner reference.
    WithContents(ObjectId),
    /// Whether it is deleted is open: something could not be read, or the search was cut short.
    Open(Uncertainty),
    /// It is deleted for another reason than its owners.
    OtherReason(Option<Cause>),
}

/// Plans a delete that these objects survive. `play` simulates it: [`explore`](super::explore()) for real deletes,
/// [`plan`](super::plan()) for a comparison. Objects that the delete doesn't remove are not changed.
pub fn keep(
    context: &SimContext<'_>,
    request: &Request,
    keep_list: &[ObjectId],
    play: impl Fn(&SimContext<'_>, &Request) -> Plan,
) -> KeepPlan {
    let without = play(context, request);
    if keep_list.is_empty() {
        let needs = without.needs.clone();
        return KeepPlan {
            plan: without,
            kept: Vec::new(),
            safe: Vec::new(),
            stays: Vec::new(),
            lost: Vec::new(),
            needs,
        };
    }
    let mut planner = KeepPlanner {
        context,
        request: request.clone(),
        targets: request.targets.iter().copied().collect(),
        cut_index: FxHashMap::default(),
        lost: Vec::new(),
        is_lost: FxHashSet::default(),
    };
    let mut needs = without.needs.clone();
    for object in keep_list {
        if planner.targets.contains(object) {
            planner.lose(*object, Unkeepable::Target);
        }
    }
    let mut plan = without.clone();
    // Each round cuts more references or gives up an object.
    while planner.cut_more(&plan, keep_list) {
        plan = play(context, &planner.request);
        needs.add(&plan.needs);
    }
    let going = |plan: &Plan| plan.going().into_iter().collect::<FxHashSet<ObjectId>>();
    let (before, after) = (going(&without), going(&plan));
    let cut: FxHashSet<ObjectId> = plan.request.cuts.iter().map(|cut| cut.object).collect();
    let is_saved = |object: &ObjectId| before.contains(object) && !after.contains(object);
    let (kept, safe): (Vec<ObjectId>, Vec<ObjectId>) = keep_list
        .iter()
        .copied()
        .filter(|object| !planner.is_lost.contains(object))
        .partition(|object| is_saved(object) || cut.contains(object));
    let is_in_keep_list: FxHashSet<ObjectId> = keep_list.iter().copied().collect();
    let mut seen = FxHashSet::default();
    let others = without.both_ends().map(|outcome| outcome.object).filter(|object| seen.insert(*object));
    // An object that was terminating before is only delayed.
    let lives = |object: &ObjectId| !context.snapshot.object(*object).terminating();
    let stays =
        others.filter(|object| is_saved(object) && lives(object) && !is_in_keep_list.contains(object)).collect();
    KeepPlan { plan, kept, safe, stays, lost: planner.lost, needs }
}

/// What a plan removes, and what it removes without owner references.
struct Removals {
    dying: FxHashSet<ObjectId>,
    /// Objects that are removed without an owner reference, by what removes them.
    without_reference: FxHashMap<ObjectId, ObjectId>,
    /// Resources whose instances are removed, by the CustomResourceDefinition that is deleted.
    instances: FxHashMap<ResourceId, ObjectId>,
}

struct KeepPlanner<'s, 'a> {
    context: &'s SimContext<'a>,
    /// The delete with the cuts found so far.
    request: Request,
    targets: FxHashSet<ObjectId>,
    /// The index of each object's cut in the request.
    cut_index: FxHashMap<ObjectId, usize>,
    lost: Vec<(ObjectId, Unkeepable)>,
    is_lost: FxHashSet<ObjectId>,
}

impl KeepPlanner<'_, '_> {
    fn lose(&mut self, object: ObjectId, why: Unkeepable) {
        if self.is_lost.insert(object) {
            self.lost.push((object, why));
        }
    }

    /// Cuts references so that fewer of the objects to keep are removed than in this plan; objects without a reference
    /// to cut are lost. Returns whether anything was cut.
    fn cut_more(&mut self, plan: &Plan, keep_list: &[ObjectId]) -> bool {
        let mut dying: FxHashSet<ObjectId> = plan.going().into_iter().collect();
        dying.extend(
            plan.request.targets.iter().filter(|target| plan.refused.iter().all(|(refused, _)| refused != *target)),
        );
        let outcomes: FxHashMap<ObjectId, &Outcome> =
            plan.both_ends().map(|outcome| (outcome.object, outcome)).collect();
        let removals = Removals {
            without_reference: self.removed_without_reference(plan),
            instances: self.removed_instances(&dying),
            dying,
        };
        let dying = &removals.dying;
        // A lost object may be above others: each iteration cuts something or gives up an object.
        loop {
            let going = self.going(keep_list, &removals);
            let is_going: FxHashSet<ObjectId> = going.iter().copied().collect();
            let topmost: Vec<ObjectId> =
                going.iter().copied().filter(|object| !self.is_below(*object, &is_going, dying)).collect();
            // In a cycle, every object is below another.
            let candidates = if topmost.is_empty() { going } else { topmost };
            if candidates.is_empty() {
                return false;
            }
            let doomed: FxHashSet<Symbol> =
                dying.iter().map(|object| self.context.snapshot.object(*object).uid).collect();
            let mut progress = false;
            for object in candidates {
                if self.cut(object, &doomed) {
                    progress = true;
                    if self.has_only_unverified_owners(object) {
                        self.lose(object, Unkeepable::Open(Uncertainty::Gap));
                    }
                } else {
                    self.lose(
                        object,
                        outcomes.get(&object).map_or(Unkeepable::OtherReason(None), |outcome| reason(outcome)),
                    );
                }
            }
            if progress {
                return true;
            }
        }
    }

    /// The objects to keep that are removed and that a cut may save. The others are lost.
    fn going(&mut self, keep_list: &[ObjectId], removals: &Removals) -> Vec<ObjectId> {
        let mut going = Vec::new();
        for object in keep_list {
            if self.is_lost.contains(object) {
                continue;
            }
            let goes = removals.dying.contains(object);
            match self.why_unsavable(*object, goes, removals) {
                Some(why) => self.lose(*object, why),
                None if goes => going.push(*object),
                None => {}
            }
        }
        going
    }

    /// Why no cut can save an object, if none can.
    fn why_unsavable(&self, object: ObjectId, goes: bool, removals: &Removals) -> Option<Unkeepable> {
        let snapshot = self.context.snapshot;
        let found = snapshot.object(object);
        if found.terminating() && goes {
            return Some(Unkeepable::Terminating);
        }
        if let Some(namespace) = self.context.namespace_named(found.namespace)
            && (removals.dying.contains(&namespace) || goes && snapshot.object(namespace).terminating())
        {
            return Some(Unkeepable::Namespace(namespace));
        }
        let definition = removals.instances.get(&found.resource).map(|definition| Unkeepable::Definition(*definition));
        definition.or_else(|| removals.without_reference.get(&object).map(|by| Unkeepable::WithContents(*by)))
    }

    /// The CustomResourceDefinition of each resource whose instances are all removed.
    fn removed_instances(&self, dying: &FxHashSet<ObjectId>) -> FxHashMap<ResourceId, ObjectId> {
        let is_definition = |object: &&ObjectId| self.context.rules(**object).own_delete == OwnDelete::Definition;
        let defined = |definition: &ObjectId| Some((self.context.instances(*definition)?, *definition));
        dying.iter().filter(is_definition).filter_map(defined).collect()
    }

    /// Objects removed without an owner reference: pods of a Node, a claim's volume, a Service's Endpoints.
    fn removed_without_reference(&self, plan: &Plan) -> FxHashMap<ObjectId, ObjectId> {
        let removes_others = |kind: EffectKind| {
            matches!(
                kind,
                EffectKind::PodsDeleted
                    | EffectKind::ObjectsDeleted
                    | EffectKind::DataLost
                    | EffectKind::ExternalDeleted
            )
        };
        let effects = plan.all_effects().filter(|effect| removes_others(effect.kind));
        let of_effects = effects.flat_map(|effect| effect.related.iter().map(|related| (*related, effect.object)));
        let of_causes = plan.both_ends().filter_map(|outcome| {
            let others = outcome.alternatives.iter().map(|other| &other.because);
            let gone = std::iter::once(&outcome.because).chain(others).flatten().find_map(Cause::gone);
            Some((outcome.object, gone?))
        });
        of_effects.chain(of_causes).collect()
    }

    /// Whether an object depends, through removed objects, on another object to keep.
    fn is_below(&self, object: ObjectId, is_going: &FxHashSet<ObjectId>, dying: &FxHashSet<ObjectId>) -> bool {
        let mut seen = FxHashSet::from_iter([object]);
        let mut open = vec![object];
        while let Some(below) = open.pop() {
            let owners = self.context.snapshot.object(below).owners.iter();
            let owners =
                owners.filter_map(|reference| self.context.graph.object(self.context.graph.by_uid(reference.uid)?));
            // A target is deleted whatever its owners.
            let dies_with_its_owner = |owner: &ObjectId| dying.contains(owner) && !self.targets.contains(owner);
            for owner in owners.filter(dies_with_its_owner) {
                if owner != object && is_going.contains(&owner) {
                    return true;
                }
                if seen.insert(owner) {
                    open.push(owner);
                }
            }
        }
        false
    }

    /// Cuts an object's references to owners with these uids, and those whose owner is dangling or waiting. Returns
    /// whether that is more than before.
    fn cut(&mut self, object: ObjectId, doomed: &FxHashSet<Symbol>) -> bool {
        let context = self.context;
        let found = context.snapshot.object(object);
        let known = self.cut_index.get(&object).copied();
        let before: &[Reference] = known.map_or(&[], |place| &self.request.cuts[place].loses);
        let is_dangling_or_waiting = |reference: &Reference| {
            let verdict = Verdict::of(context.snapshot, context.graph, reference, found.namespace);
            matches!(verdict, Verdict::Dangling(_) | Verdict::Waiting(_))
        };
        let is_cut = |reference: &&Reference| {
            before.contains(reference) || doomed.contains(&reference.uid) || is_dangling_or_waiting(reference)
        };
        let loses: Vec<Reference> = found.owners.iter().filter(is_cut).copied().collect();
        let more = loses.len() > before.len();
        if more {
            match known {
                Some(place) => self.request.cuts[place].loses = loses,
                None => {
                    self.cut_index.insert(object, self.request.cuts.len());
                    self.request.cuts.push(Cut { object, loses });
                }
            }
        }
        more
    }

    /// Whether the remaining references of an object are all unverified. The collector may examine it before it
    /// observes the cut.
    fn has_only_unverified_owners(&self, object: ObjectId) -> bool {
        let found = self.context.snapshot.object(object);
        let cut = self.cut_index.get(&object).map(|place| &self.request.cuts[*place]);
        let left = cut.map_or_else(|| found.owners.to_vec(), |cut| cut.leaves(&found.owners));
        let verdict =
            |reference: &Reference| Verdict::of(self.context.snapshot, self.context.graph, reference, found.namespace);
        left.iter().any(|reference| verdict(reference) == Verdict::Unknown)
            && !left.iter().any(|reference| matches!(verdict(reference), Verdict::Solid(_)))
    }
}

/// Why an object without a reference to cut is removed: the cause in its first outcome that removes it.
fn reason(outcome: &Outcome) -> Unkeepable {
    if let Some(open) = outcome.uncertain.filter(|why| why.row().incomplete) {
        return Unkeepable::Open(open);
    }
    let others = outcome.alternatives.iter().map(|other| (other.kind, &other.because));
    let mut ends = std::iter::once((outcome.kind, &outcome.because)).chain(others);
    Unkeepable::OtherReason(ends.find(|(kind, _)| kind.removes()).and_then(|(_, because)| because.clone()))
}
