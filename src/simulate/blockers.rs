//! What holds the objects that stay terminating, and whether anybody will finish them (§5.4).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{Address, NodeId},
    model::{ObjectId, Symbol},
    server::{OwnDelete, Stored},
};

use super::{
    actors::{Assumption, has_living_controller, kubelet::Kubelet},
    world::{Assume, Needs, SimContext, World},
};

/// What holds an object itself, beside the objects it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockedBy {
    /// A finalizer in its metadata.
    Finalizer(Symbol),
    /// The kubelet, which has to confirm that the pod's containers have ended.
    Kubelet,
    /// A Namespace's `spec.finalizers`.
    SpecFinalizers,
    /// What nobody can list, by the place of its gap: a Namespace may have content of it (R9.11).
    Unreadable(usize),
}

/// Whether an object that stays terminating will go in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// A living controller will finish it.
    Waiting,
    /// What decides that could not be read.
    Unknown,
    /// Nobody is known to finish it.
    Stuck,
}

impl State {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Unknown => "unknown",
            State::Stuck => "stuck",
        }
    }
}

/// Who waits for whom at the end of a course of events.
#[derive(Clone, Debug, Default)]
pub struct Blockers {
    waits_for: FxHashMap<ObjectId, Vec<ObjectId>>,
    waited_for_by: FxHashMap<ObjectId, Vec<ObjectId>>,
    holders: FxHashMap<ObjectId, Vec<BlockedBy>>,
    /// What an object alone makes of it; none where it only waits for others.
    own: FxHashMap<ObjectId, State>,
    states: FxHashMap<ObjectId, State>,
}

impl Blockers {
    /// Who waits for whom as things stand, before anything more happens, and what would have to be read to be sure.
    /// Whether anybody will finish it is for [`super::Projection`] to say: most of what is waited for now is about to
    /// go.
    pub fn now(stage: &SimContext<'_>) -> (Self, Needs) {
        let mut world = World::at_rest(stage);
        let terminating = stage.snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id);
        let held = Blockers::at_end_of(&mut world, &terminating.collect::<Vec<_>>());
        (held, world.needs)
    }

    /// Looks at everything that was touched and is terminating, at these others that are, and at what that waits for.
    pub(crate) fn at_end_of(world: &mut World<'_, '_>, others: &[ObjectId]) -> Self {
        let mut held = Blockers::default();
        let mut roots: Vec<(State, ObjectId)> = Vec::new();
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        let mut open = world.touched();
        open.extend(others);
        while let Some(object) = open.pop() {
            if !world.exists(object) || !seen.insert(object) {
                continue;
            }
            let (waits_for, holders, root) = why_it_stays(world, object);
            for other in &waits_for {
                held.waited_for_by.entry(*other).or_default().push(object);
            }
            open.extend(&waits_for);
            roots.extend(root.map(|state| (state, object)));
            held.own.extend(root.map(|state| (object, state)));
            held.waits_for.insert(object, waits_for);
            held.holders.insert(object, holders);
        }
        // What is stuck keeps stuck whoever waits for it, whatever else they wait for.
        for state in [State::Stuck, State::Unknown, State::Waiting] {
            let mut open: Vec<ObjectId> =
                roots.iter().filter(|(root, _)| *root == state).map(|(_, object)| *object).collect();
            while let Some(object) = open.pop() {
                if held.states.contains_key(&object) {
                    continue;
                }
                held.states.insert(object, state);
                open.extend(held.waited_for_by(object));
            }
        }
        held
    }

    /// Everything that was looked at: what is terminating, and what that waits for. In the order of the snapshot.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = self.waits_for.keys().copied().collect();
        objects.sort_unstable();
        objects
    }

    /// The objects that an object waits for.
    pub fn waits_for(&self, object: ObjectId) -> &[ObjectId] {
        self.waits_for.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The objects that wait for an object.
    pub fn waited_for_by(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.waited_for_by.get(&object).into_iter().flatten().copied()
    }

    /// What holds the object itself.
    pub fn holders(&self, object: ObjectId) -> &[BlockedBy] {
        self.holders.get(&object).map_or(&[], Vec::as_slice)
    }

    /// What an object alone makes of it, whatever it waits for besides: a cause, where it is not waiting. None where it
    /// only waits for others.
    pub fn own_state(&self, object: ObjectId) -> Option<State> {
        self.own.get(&object).copied()
    }

    /// Whether an object only waits for what waits for it in turn, or for such a circle (§5.3).
    pub fn waits_in_a_circle(&self, object: ObjectId) -> bool {
        self.waits_for.contains_key(&object) && !self.states.contains_key(&object)
    }

    /// Whether it will go. Whoever waits in a circle, with no cause outside of it, is stuck (§5.3).
    pub fn state(&self, object: ObjectId) -> State {
        self.states.get(&object).copied().unwrap_or(State::Stuck)
    }
}

/// What waits for its dependents or is to free them (R8.1, R8.2), may be written to, and looks as it did at the
/// beginning.
pub(crate) fn unfinished(world: &World<'_, '_>) -> Vec<ObjectId> {
    let taken_up = |id: ObjectId, before: &Stored<'_>| {
        let collected = before.terminating && (before.waiting() || before.orphaning());
        collected && world.may_write(id) && world.collector.watches(id)
    };
    let as_before = |id: ObjectId, before: &Stored<'_>| world.stored(id).is_some_and(|after| after.same_state(before));
    let objects = world.stage.snapshot.objects().map(|(id, object)| (id, Stored::of(object)));
    objects.filter(|(id, before)| taken_up(*id, before) && as_before(*id, before)).map(|(id, _)| id).collect()
}

/// What one object waits for, what holds it, and what that alone makes of it.
fn why_it_stays(world: &mut World<'_, '_>, object: ObjectId) -> (Vec<ObjectId>, Vec<BlockedBy>, Option<State>) {
    let Some(stored) = world.stored(object) else { return Default::default() };
    if !stored.terminating {
        return (Vec::new(), Vec::new(), Some(why_it_lives(world, object)));
    }
    let mut waits_for: Vec<ObjectId> = Vec::new();
    let mut holders: Vec<BlockedBy> = Vec::new();
    let mut causes: Vec<State> = Vec::new();
    let known = world.known_finalizers_of(object);
    let resource = world.stage.snapshot.resources.get(world.stage.snapshot.object(object).resource);
    for finalizer in stored.finalizers.iter().copied() {
        match finalizer {
            Symbol::FOREGROUND => {
                let blocking = world.collector.blocking_dependents(NodeId::from(object));
                if blocking.is_empty() {
                    // Forgotten (R3.22), or of a kind the collector doesn't watch (S10).
                    holders.push(BlockedBy::Finalizer(finalizer));
                    causes.push(State::Stuck);
                }
                waits_for.extend(blocking);
            }
            Symbol::ORPHAN if !world.frees_all_dependents(object) => {
                waits_for
                    .extend(world.collector.dependents(object.into()).into_iter().filter(|id| !world.may_write(*id)));
            }
            Symbol::DEFINITION => {
                holders.push(BlockedBy::Finalizer(finalizer));
                let instances = instances_of(world, object);
                if world.stage.conversion_fails(object) {
                    causes.push(State::Stuck);
                }
                match instances {
                    Some(instances) if !instances.is_empty() => waits_for.extend(instances),
                    Some(_) => causes.push(State::Waiting),
                    None => causes.push(State::Unknown),
                }
            }
            _ => {
                holders.push(BlockedBy::Finalizer(finalizer));
                let text = world.stage.snapshot.text(finalizer);
                let Some(known) = known.iter().find(|known| known.finalizer == text) else {
                    causes.push(if has_living_controller(text, &resource.group, &resource.kind) {
                        State::Unknown
                    } else {
                        State::Stuck
                    });
                    continue;
                };
                if world.doubtful.contains(&object) {
                    causes.push(State::Unknown);
                } else {
                    let users = users_of_claim(world, object);
                    if world.stage.assume == Assume::Known {
                        world.assumptions.insert(Assumption::Finalizer { finalizer: known.finalizer, by: known.by });
                    }
                    if users.is_empty() {
                        causes.push(State::Waiting);
                    }
                    waits_for.extend(users);
                }
            }
        }
    }
    if stored.in_grace() && world.stage.rules(object).graceful {
        holders.push(BlockedBy::Kubelet);
        causes.push(match world.kubelet_of(object) {
            Kubelet::On(node) => {
                if world.stage.assume == Assume::Known {
                    world.assumptions.insert(Assumption::Kubelet { node });
                }
                State::Waiting
            }
            Kubelet::Absent => State::Stuck,
            Kubelet::Deleted => {
                world.assumptions.insert(Assumption::PodGarbageCollector);
                State::Waiting
            }
            Kubelet::Unknown => State::Unknown,
        });
    }
    if world.held_by_spec(object) {
        holders.push(BlockedBy::SpecFinalizers);
        let mut content: Vec<ObjectId> = world.stage.in_namespace(world.stage.snapshot.object(object).name).to_vec();
        content.retain(|id| world.exists(*id));
        // R9.10: pods first. While any is left, the rest is not even tried.
        if content.iter().any(|id| world.stage.rules(*id).graceful) {
            content.retain(|id| world.stage.rules(*id).graceful);
        }
        let unreadable: Vec<BlockedBy> = world.stage.snapshot.unreadable_by_all().map(BlockedBy::Unreadable).collect();
        if content.is_empty() || !unreadable.is_empty() {
            causes.push(State::Stuck);
        }
        holders.extend(unreadable);
        waits_for.extend(content);
        world.assumptions.insert(Assumption::NamespaceController);
    }
    // With nothing left in its spec.finalizers, no controller looks at a namespace any more.
    if world.stage.rules(object).own_delete == OwnDelete::Namespace
        && stored.finalizers.is_empty()
        && !world.held_by_spec(object)
    {
        causes.push(State::Stuck);
    }
    let mut seen = FxHashSet::default();
    waits_for.retain(|other| seen.insert(*other));
    if waits_for.is_empty() && causes.is_empty() {
        causes.push(State::Unknown);
    }
    if world.out_of_bounds {
        // The search stopped: what it would have come to is not known.
        causes = vec![State::Unknown];
    }
    (waits_for, holders, causes.into_iter().max())
}

/// What a live object does to whoever waits for it: nothing will delete it, unless that is not known.
fn why_it_lives(world: &World<'_, '_>, object: ObjectId) -> State {
    let found = world.stage.snapshot.object(object);
    let immune = found.owners.iter().any(|reference| {
        matches!(
            Address::of(world.stage.snapshot, world.stage.graph, reference, found.namespace),
            Address::Unmappable | Address::InvalidScope | Address::DoubtedPath
        )
    });
    if !world.may_write(object) {
        State::Stuck
    } else if !immune && world.doubtful.contains(&object) {
        State::Unknown
    } else if world.stage.rules(object).graceful && !world.collector.node(object.into()).being_deleted && !immune {
        // A pod that goes on running, and uses a claim that is to go.
        State::Waiting
    } else {
        State::Stuck
    }
}

/// The scheduled pods that use a claim which its protection holds (S14).
fn users_of_claim(world: &World<'_, '_>, claim: ObjectId) -> Vec<ObjectId> {
    let snapshot = world.stage.snapshot;
    let is_claim = Some(snapshot.object(claim).resource) == world.stage.built_in.claims;
    if world.stage.assume == Assume::None || !is_claim {
        return Vec::new();
    }
    world.stage.users_of_claim(claim).iter().copied().filter(|pod| world.uses_claim(*pod, claim)).collect()
}

/// The instances that a definition's clean-up waits for.
fn instances_of(world: &World<'_, '_>, definition: ObjectId) -> Option<Vec<ObjectId>> {
    let resource = world.stage.instances(definition)?;
    debug_assert_eq!(world.stage.rules(definition).own_delete, OwnDelete::Definition);
    Some(world.stage.of_resource(resource).iter().copied().filter(|id| world.exists(*id)).collect())
}
