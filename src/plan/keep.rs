//! Keeping dependents alive that a delete would take: references to what dies are cut first, and the delete is played
//! again with these cuts before it, until nothing that is to be kept goes in any order of events, or it turns out that
//! no cut can save it.
//!
//! Nothing more is cut than has to be: who depends on somebody who is kept, too, is saved by that. What a cut object
//! has left are references to owners that are there and stay. One that leads nowhere is cut as well, or else the
//! collector would take the object for garbage the next time that it looks at it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::Verdict,
    model::{Coordinate, ObjectId, Presence, Reference, ResourceId, Symbol, effects::EffectKind},
    server::OwnDelete,
    simulate::{Cause, Cut, Needs, Request, SimContext},
};

use super::{
    outcome::{Outcome, Plan, Uncertainty},
    reaction::Afterwards,
};

/// A delete that keeps something.
#[derive(Clone, Debug)]
pub struct KeepPlan {
    /// The delete with everything that is kept; its request says what is cut.
    pub plan: Plan,
    /// What would go without being kept, and stays; in the order in which it was asked for.
    pub kept: Vec<ObjectId>,
    /// What was to be kept, and would not go anyway.
    pub safe: Vec<ObjectId>,
    /// What else would go, and stays because something is kept; in the order in which it would go.
    pub stays: Vec<ObjectId>,
    /// What can't be kept, and why.
    pub lost: Vec<(ObjectId, Unkeepable)>,
    /// What would have to be read to be sure.
    pub needs: Needs,
}

/// Why an object can't be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unkeepable {
    /// It is what is to be deleted.
    Target,
    /// It is being deleted already, which can't be taken back.
    Terminating,
    /// It is in a Namespace that goes, with everything in it (R9.9).
    Namespace(ObjectId),
    /// It is an instance of a definition that goes, with all of them (R1.26).
    Definition(ObjectId),
    /// It goes because of this object, although no reference says so.
    WithContents(ObjectId),
    /// Whether it goes rests on something that could not be read.
    Unread,
    /// Whether it goes in some order of events could not be found out: there are too many.
    Unexplored,
    /// It goes for another reason than its owners.
    OtherReason(Option<Cause>),
}

/// Plays a delete so that these objects survive it. `play` is how: [`explore`](super::explore()) for what is to be
/// relied on, [`plan`](super::plan()) for a comparison. Of the objects, those that the delete would not take are left
/// alone.
pub fn keep(
    stage: &SimContext<'_>,
    request: &Request,
    wanted: &[ObjectId],
    play: impl Fn(&SimContext<'_>, &Request) -> Plan,
) -> KeepPlan {
    let without = play(stage, request);
    if wanted.is_empty() {
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
    let mut keeping = KeepPlanner {
        stage,
        request: request.clone(),
        targets: request.targets.iter().copied().collect(),
        places: FxHashMap::default(),
        lost: Vec::new(),
        is_lost: FxHashSet::default(),
    };
    let mut needs = without.needs.clone();
    for object in wanted {
        if keeping.targets.contains(object) {
            keeping.lose(*object, Unkeepable::Target);
        }
    }
    let mut plan = without.clone();
    // Each round cuts something more, or gives something up.
    while keeping.cut_more(&plan, wanted) {
        plan = play(stage, &keeping.request);
        needs.add(&plan.needs);
    }
    let (before, after) = (removed(&without), removed(&plan));
    let cut: FxHashSet<ObjectId> = plan.request.cuts.iter().map(|cut| cut.object).collect();
    let is_saved = |object: &ObjectId| before.contains(object) && !after.contains(object);
    let (kept, safe): (Vec<ObjectId>, Vec<ObjectId>) = wanted
        .iter()
        .copied()
        .filter(|object| !keeping.is_lost.contains(object))
        .partition(|object| is_saved(object) || cut.contains(object));
    let is_wanted: FxHashSet<ObjectId> = wanted.iter().copied().collect();
    let others = without.outcomes.iter().map(|outcome| outcome.object);
    // What was terminating before only stays so for longer.
    let lives = |object: &ObjectId| !stage.snapshot.object(*object).terminating();
    let stays = others.filter(|object| is_saved(object) && lives(object) && !is_wanted.contains(object)).collect();
    KeepPlan { plan, kept, safe, stays, lost: keeping.lost, needs }
}

/// What a plan removes, in any end.
fn removed(plan: &Plan) -> FxHashSet<ObjectId> {
    plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).collect()
}

/// What a plan takes, and by what else than by owner references.
struct Takes {
    dying: FxHashSet<ObjectId>,
    /// Objects by what takes them along.
    unlisted_contents: FxHashMap<ObjectId, ObjectId>,
    /// Definitions that go, by what they define.
    instances: FxHashMap<ResourceId, ObjectId>,
}

struct KeepPlanner<'s, 'a> {
    stage: &'s SimContext<'a>,
    /// The delete with the cuts that were found to be needed so far.
    request: Request,
    targets: FxHashSet<ObjectId>,
    /// Where in the request each object's cut is.
    places: FxHashMap<ObjectId, usize>,
    lost: Vec<(ObjectId, Unkeepable)>,
    is_lost: FxHashSet<ObjectId>,
}

impl KeepPlanner<'_, '_> {
    fn lose(&mut self, object: ObjectId, why: Unkeepable) {
        if self.is_lost.insert(object) {
            self.lost.push((object, why));
        }
    }

    /// Finds what has to be cut so that less of what is wanted goes than in this plan; what nothing can be cut from is
    /// lost. Says whether anything was cut.
    fn cut_more(&mut self, plan: &Plan, wanted: &[ObjectId]) -> bool {
        let mut dying = removed(plan);
        dying.extend(
            plan.request.targets.iter().filter(|target| plan.refused.iter().all(|(refused, _)| refused != *target)),
        );
        let outcomes: FxHashMap<ObjectId, &Outcome> =
            plan.outcomes.iter().map(|outcome| (outcome.object, outcome)).collect();
        let takes =
            Takes { unlisted_contents: self.goes_besides(plan), instances: self.instances_that_go(&dying), dying };
        let dying = &takes.dying;
        // What is given up may be in the way of what is below it: each turn cuts something, or gives something up.
        loop {
            let going = self.going(wanted, &takes);
            let is_going: FxHashSet<ObjectId> = going.iter().copied().collect();
            let topmost: Vec<ObjectId> =
                going.iter().copied().filter(|object| !self.is_below(*object, &is_going, dying)).collect();
            // In a circle of such objects, each is below another.
            let chosen = if topmost.is_empty() { going } else { topmost };
            if chosen.is_empty() {
                return false;
            }
            let doomed: FxHashSet<Symbol> =
                dying.iter().map(|object| self.stage.snapshot.object(*object).uid).collect();
            let mut progress = false;
            for object in chosen {
                if self.cut(object, &doomed) {
                    progress = true;
                    if self.rests_on_what_is_not_known(object) {
                        self.lose(object, Unkeepable::Unread);
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

    /// What goes of what is wanted, and may be saved by a cut; what may not is lost.
    fn going(&mut self, wanted: &[ObjectId], takes: &Takes) -> Vec<ObjectId> {
        let mut going = Vec::new();
        for object in wanted {
            if self.is_lost.contains(object) {
                continue;
            }
            let goes = takes.dying.contains(object);
            match self.beyond_saving(*object, goes, takes) {
                Some(why) => self.lose(*object, why),
                None if goes => going.push(*object),
                None => {}
            }
        }
        going
    }

    /// Why no cut helps an object, if that is so.
    fn beyond_saving(&self, object: ObjectId, goes: bool, takes: &Takes) -> Option<Unkeepable> {
        let snapshot = self.stage.snapshot;
        let found = snapshot.object(object);
        if found.terminating() && goes {
            return Some(Unkeepable::Terminating);
        }
        if let Some(namespaces) = self.stage.built_in.namespaces.filter(|_| !found.namespace.is_empty()) {
            let coordinate = Coordinate { resource: namespaces, namespace: Symbol::EMPTY, name: found.namespace };
            if let Presence::Present(namespace) = snapshot.look_up(coordinate)
                && (takes.dying.contains(&namespace) || goes && snapshot.object(namespace).terminating())
            {
                return Some(Unkeepable::Namespace(namespace));
            }
        }
        let definition = takes.instances.get(&found.resource).map(|definition| Unkeepable::Definition(*definition));
        definition.or_else(|| takes.unlisted_contents.get(&object).map(|by| Unkeepable::WithContents(*by)))
    }

    /// The definition of each resource whose instances all go.
    fn instances_that_go(&self, dying: &FxHashSet<ObjectId>) -> FxHashMap<ResourceId, ObjectId> {
        let is_definition = |object: &&ObjectId| self.stage.rules(**object).own_delete == OwnDelete::Definition;
        let defined = |definition: &ObjectId| Some((self.stage.instances(*definition)?, *definition));
        dying.iter().filter(is_definition).filter_map(defined).collect()
    }

    /// What goes because of something that goes, although no reference says so: pods of a Node, a claim's volume, a
    /// Service's Endpoints.
    fn goes_besides(&self, plan: &Plan) -> FxHashMap<ObjectId, ObjectId> {
        let takes_others = |kind: EffectKind| {
            matches!(
                kind,
                EffectKind::PodsDeleted
                    | EffectKind::ObjectsDeleted
                    | EffectKind::DataDestroyed
                    | EffectKind::ExternalDeleted
            )
        };
        let effects = plan.effects.iter().filter(|effect| takes_others(effect.kind));
        let of_effects = effects.flat_map(|effect| effect.related.iter().map(|related| (*related, effect.object)));
        let removes = |outcome: &Outcome| {
            let by = outcome.object;
            let removed = |after: &Afterwards| match after {
                Afterwards::Removes { object } => Some((*object, by)),
                _ => None,
            };
            outcome.afterwards.iter().filter_map(removed).collect::<Vec<_>>()
        };
        of_effects.chain(plan.outcomes.iter().flat_map(removes)).collect()
    }

    /// Whether an object depends, by way of what goes, on another of those that are to be kept and go.
    fn is_below(&self, object: ObjectId, is_going: &FxHashSet<ObjectId>, dying: &FxHashSet<ObjectId>) -> bool {
        let mut seen = FxHashSet::from_iter([object]);
        let mut open = vec![object];
        while let Some(below) = open.pop() {
            let owners = self.stage.snapshot.object(below).owners.iter();
            let owners =
                owners.filter_map(|reference| self.stage.graph.object(self.stage.graph.by_uid(reference.uid)?));
            // A target goes, whoever owns it.
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

    /// Cuts an object's references to owners with these uids, and those that keep nobody alive. Says whether that is
    /// more than was cut before.
    fn cut(&mut self, object: ObjectId, doomed: &FxHashSet<Symbol>) -> bool {
        let stage = self.stage;
        let found = stage.snapshot.object(object);
        let known = self.places.get(&object).copied();
        let before: &[Reference] = known.map_or(&[], |place| &self.request.cuts[place].loses);
        let keeps_nobody = |reference: &Reference| {
            let verdict = Verdict::of(stage.snapshot, stage.graph, reference, found.namespace);
            matches!(verdict, Verdict::Dangling(_) | Verdict::Waiting(_))
        };
        let is_cut = |reference: &&Reference| {
            before.contains(reference) || doomed.contains(&reference.uid) || keeps_nobody(reference)
        };
        let loses: Vec<Reference> = found.owners.iter().filter(is_cut).copied().collect();
        let more = loses.len() > before.len();
        if more {
            match known {
                Some(place) => self.request.cuts[place].loses = loses,
                None => {
                    self.places.insert(object, self.request.cuts.len());
                    self.request.cuts.push(Cut { object, loses });
                }
            }
        }
        more
    }

    /// Whether nothing is left to an object but references of which nobody knows whether they lead anywhere. The
    /// collector may look at it before it sees what was cut.
    fn rests_on_what_is_not_known(&self, object: ObjectId) -> bool {
        let found = self.stage.snapshot.object(object);
        let cut = self.places.get(&object).map(|place| &self.request.cuts[*place]);
        let left = cut.map_or_else(|| found.owners.to_vec(), |cut| cut.leaves(&found.owners));
        let verdict =
            |reference: &Reference| Verdict::of(self.stage.snapshot, self.stage.graph, reference, found.namespace);
        left.iter().any(|reference| verdict(reference) == Verdict::Unknown)
            && !left.iter().any(|reference| matches!(verdict(reference), Verdict::Solid(_)))
    }
}

/// Why an object goes from which nothing can be cut: what takes it in the first of its ends in which it goes.
fn reason(outcome: &Outcome) -> Unkeepable {
    match outcome.uncertain {
        Some(Uncertainty::Gap) => return Unkeepable::Unread,
        Some(Uncertainty::Bound) => return Unkeepable::Unexplored,
        Some(Uncertainty::Order) | None => {}
    }
    let others = outcome.alternatives.iter().map(|other| (other.kind, &other.because));
    let mut ends = std::iter::once((outcome.kind, &outcome.because)).chain(others);
    Unkeepable::OtherReason(ends.find(|(kind, _)| kind.removes()).and_then(|(_, because)| because.clone()))
}
