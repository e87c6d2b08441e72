//! What blocks the objects that stay terminating, and whether they will ever be removed (§5.4).

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    graph::{Address, NodeId},
    model::{
        ObjectId, Reference, Symbol,
        effects::{When, known_users},
    },
    server::{OwnDelete, Stored},
    wording::age,
};

use super::{
    actors::Assumption,
    blocked_by::{
        definition_without_conversion, foreign_spec_finalizers, is_removed_by_controller_manager,
        left_by_job_controller,
    },
    context::{Assume, SimContext},
    controllers::{Controllers, FinalizerController, Lack, Question, RightsGone, finalizer_controller, may_be_named},
    obstacles::Operation,
    projection::Blockers,
    state::{BlockedBy, Kubelet, Liveness, State},
    world::World,
};

impl Blockers {
    /// Which objects wait for which now, before anything else happens. Whether they will ever be removed is
    /// for [`super::Projection`] to predict: most blockers are about to go.
    pub(crate) fn now(context: &SimContext<'_>) -> Self {
        let mut world = World::at_rest(context);
        let terminating = context.snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id);
        Blockers::at_end_of(&mut world, &terminating.collect::<Vec<_>>())
    }

    /// Inspects all touched objects that are terminating, these others, and everything they wait for.
    pub(crate) fn at_end_of(world: &mut World<'_, '_>, others: &[ObjectId]) -> Self {
        let mut open = world.touched();
        open.extend(others);
        Blockers::beneath(world, open)
    }

    /// Inspects those of these objects that are terminating, and everything they wait for.
    pub(super) fn beneath(world: &mut World<'_, '_>, mut open: Vec<ObjectId>) -> Self {
        let mut blockers = Blockers::default();
        let gone = gone(world);
        let mut roots: Vec<(State, ObjectId)> = Vec::new();
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        while let Some(object) = open.pop() {
            if !world.exists(object) || !seen.insert(object) {
                continue;
            }
            let (waits_for, holders, root) = inspect_terminating(world, object, &gone, &mut blockers.controllers);
            for other in &waits_for {
                blockers.waited_for_by.entry(*other).or_default().push(object);
            }
            open.extend(&waits_for);
            roots.extend(root.map(|state| (state, object)));
            blockers.own_states.extend(root.map(|state| (object, state)));
            blockers.waits_for.insert(object, waits_for);
            blockers.holders.insert(object, holders);
        }
        // Everything that waits for a stuck object is stuck, whatever else it waits for.
        for state in [State::Stuck, State::Unknown, State::Waiting] {
            let mut open: Vec<ObjectId> =
                roots.iter().filter(|(root, _)| *root == state).map(|(_, object)| *object).collect();
            while let Some(object) = open.pop() {
                if blockers.states.contains_key(&object) {
                    continue;
                }
                blockers.states.insert(object, state);
                open.extend(blockers.waited_for_by(object));
            }
        }
        blockers
    }
}

/// Objects that wait for their dependents or must orphan them (R8.1, R8.2), may be written to, and have not changed.
pub(crate) fn unfinished_by_sweep(world: &World<'_, '_>) -> Vec<ObjectId> {
    let is_examined = |id: ObjectId, before: &Stored<'_>| {
        let collected = before.terminating && (before.waiting() || before.orphaning());
        collected && world.may_write(id) && world.collector.watches(id)
    };
    let is_unchanged =
        |id: ObjectId, before: &Stored<'_>| world.stored(id).is_some_and(|after| after.same_state(before));
    let objects = world.context.snapshot.objects().map(|(id, object)| (id, Stored::of(object)));
    objects.filter(|(id, before)| is_examined(*id, before) && is_unchanged(*id, before)).map(|(id, _)| id).collect()
}

/// What one object waits for, what else blocks it, and its state by its own causes.
fn inspect_terminating(
    world: &mut World<'_, '_>,
    object: ObjectId,
    gone: &Gone<'_, '_>,
    controllers: &mut Controllers,
) -> (Vec<ObjectId>, Vec<BlockedBy>, Option<State>) {
    let Some(stored) = world.stored(object) else { return Default::default() };
    if !stored.terminating {
        return (Vec::new(), Vec::new(), Some(inspect_living(world, object)));
    }
    let mut waits_for: Vec<ObjectId> = Vec::new();
    let mut holders: Vec<BlockedBy> = Vec::new();
    let mut causes: Vec<State> = Vec::new();
    let (snapshot, known) = (world.context.snapshot, world.known_finalizers_of(object));
    for finalizer in stored.finalizers.iter().copied() {
        match finalizer {
            Symbol::FOREGROUND => {
                let blocking = world.collector.blocking_dependents(NodeId::from(object));
                if blocking.is_empty() {
                    // Forgotten by the collector (R3.22), or of an unwatched kind (S10).
                    holders.push(BlockedBy::Finalizer(finalizer));
                    causes.push(State::Stuck);
                }
                waits_for.extend(blocking);
            }
            Symbol::ORPHAN if !world.may_patch_all_dependents(object) => {
                waits_for
                    .extend(world.collector.dependents(object.into()).into_iter().filter(|id| !world.may_write(*id)));
            }
            // The API server refuses to free these.
            Symbol::ORPHAN
                if let kept = refused_dependents(world, object)
                    && !kept.is_empty() =>
            {
                waits_for.extend(kept)
            }
            Symbol::DEFINITION if world.context.rules(object).own_delete == OwnDelete::Definition => {
                holders.push(BlockedBy::Finalizer(finalizer));
                let instances = instances_of(world, object);
                if world.context.hides_instances(object) {
                    read_conversion(world, object);
                    causes.push(State::Stuck);
                }
                if let Some(state) = world.said_to_keep(object) {
                    holders.push(BlockedBy::Said);
                    causes.push(state);
                }
                match instances {
                    Some(instances) if !instances.is_empty() => waits_for.extend(instances),
                    Some(_) => causes.push(State::Waiting),
                    None => causes.push(State::Unknown),
                }
            }
            // One command removes both finalizers of a hold.
            _ if BlockedBy::Finalizer(finalizer).is_hold(snapshot) && holders.iter().any(|it| it.is_hold(snapshot)) => {
            }
            _ => {
                holders.push(BlockedBy::Finalizer(finalizer));
                let text = world.context.snapshot.text(finalizer);
                // Another than the Job controller decides over this one.
                let is_others = world.is_managed_elsewhere(object, finalizer);
                let Some(known) = known.iter().find(|known| known.finalizer == text && !is_others) else {
                    world.note_refused_release(object);
                    let controller = controller_in_the_end(world, object, finalizer, gone);
                    // What is known to stay does, from the first moment.
                    let is_left = BlockedBy::Finalizer(finalizer).is_hold(snapshot)
                        || left_by_job_controller(snapshot, object, finalizer).is_some();
                    causes.push(match state_by(world.context, &controller) {
                        State::Stuck if !controller.is_away() && !is_left && world.context.is_at_work(object) => {
                            State::Unknown
                        }
                        state => state,
                    });
                    let users = world.context.users_that_keep(object, finalizer);
                    for user in users.found.iter().copied().filter(|user| world.keeps(&users, *user)) {
                        let user = world.context.known_as(user, |claim| world.exists(claim));
                        let is_living = world.stored(user).is_some_and(|stored| !stored.terminating);
                        // Unlike what uses a claim, nothing deletes a claim because of what its data is in. One that is
                        // being filled will be done, unless that fails.
                        let facts = &world.context.snapshot.facts;
                        let is_filled = facts.is_being_taken(user);
                        if is_living && facts.why_not_taken(user).is_some() {
                            causes.push(State::Unknown);
                        }
                        if is_living && world.context.is_stored(user) && !is_filled {
                            causes.push(State::Stuck);
                        }
                        waits_for.push(user);
                    }
                    if !users.unread.is_empty() {
                        world.doubtful.insert(object);
                        world.context.lacks(|needs| needs.evidence.extend(users.unread));
                    }
                    if controller.name.is_some() && matches!(controller.liveness, Liveness::Unread(_)) {
                        world.doubtful.insert(object);
                    }
                    controllers.insert(object, finalizer, controller);
                    continue;
                };
                if world.manager_away() && is_removed_by_controller_manager(text) {
                    causes.push(State::Stuck);
                } else if world.doubtful.contains(&object) || world.context.is_left(object, known) {
                    causes.push(State::Unknown);
                } else {
                    let (mut users, mut state) = (users_of_claim(world, object), State::Waiting);
                    match known.when {
                        When::VolumeUnbound => {
                            users.extend(world.claim_of_volume(object));
                            if known_users(known.finalizer, "PersistentVolume").next().is_some() {
                                users.extend(world.failing_attachments(object));
                            }
                        }
                        When::Unused => {
                            let found = world.users_of(object);
                            users.extend(found.found);
                            if found.others {
                                state = State::Unknown;
                            }
                        }
                        _ => {}
                    }
                    if world.context.assume == Assume::Known {
                        world.assumptions.insert(Assumption::of_finalizer(known));
                    }
                    if users.is_empty() || state == State::Unknown {
                        causes.push(state);
                    }
                    waits_for.extend(users);
                }
            }
        }
    }
    let awaits_kubelet = stored.in_grace() && world.context.rules(object).graceful;
    // If its containers have ended, it waits for whoever refuses what its kubelet writes then.
    if awaits_kubelet && !world.ended.contains(&object) {
        let kubelet = world.kubelet_of(object);
        holders.push(BlockedBy::Kubelet(kubelet));
        causes.push(match kubelet {
            Kubelet::Reports | Kubelet::Unread => {
                if world.context.assume == Assume::Known {
                    world.assume_kubelet(object, false);
                }
                State::Waiting
            }
            Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService if world.manager_away() => State::Stuck,
            Kubelet::Absent if world.is_left_by_pod_gc(object) => State::Stuck,
            Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService => {
                world.assumptions.insert(Assumption::PodGarbageCollector);
                State::Waiting
            }
            Kubelet::Silent | Kubelet::Late => State::Stuck,
            Kubelet::NotReady | Kubelet::Overdue | Kubelet::Unknown => State::Unknown,
        });
    }
    if world.held_by_spec(object) {
        holders.push(BlockedBy::SpecFinalizers);
        let mut content: Vec<ObjectId> =
            world.context.in_namespace(world.context.snapshot.object(object).name).to_vec();
        content.retain(|id| world.exists(*id));
        // R9.10: pods first. While any is left, nothing else is deleted.
        let is_pod = |id: &ObjectId| world.context.rules(*id).graceful;
        if content.iter().any(is_pod)
            && !content.iter().any(|id| is_pod(id) && world.is_refused(*id, Operation::deletes))
        {
            content.retain(|id| world.context.rules(*id).graceful);
        }
        let snapshot = world.context.snapshot;
        let api = world.held_by_api.get(&object).copied();
        // The same cause has one name.
        let facts = api.and_then(|api| snapshot.facts.api_service(api));
        let of_api = facts.map(|facts| format!("{}/{}", facts.group, facts.version));
        let is_other = |gap: &usize| of_api.as_ref() != Some(&snapshot.gaps[*gap].resource);
        let unreadable: Vec<usize> = snapshot.unreadable_by_all().filter(is_other).collect();
        for definition in unreadable.iter().filter_map(|gap| definition_without_conversion(snapshot, *gap)) {
            read_conversion(world, definition);
        }
        let said = world.said_to_keep(object);
        if content.is_empty() && said.is_none() && !world.is_empty_for_long(object) {
            let is_at_work = world.context.is_at_work(object) && !foreign_spec_finalizers(snapshot, object).is_empty();
            causes.push(if is_at_work { State::Unknown } else { State::Stuck });
        }
        if !unreadable.is_empty() || api.is_some() {
            causes.push(State::Stuck);
        }
        if let Some(state) = said {
            holders.push(BlockedBy::Said);
            causes.push(state);
        }
        if world.is_empty_for_long(object) {
            holders.push(BlockedBy::Unseen);
            causes.push(State::Unknown);
        }
        holders.extend(api.map(BlockedBy::Api));
        holders.extend(unreadable.into_iter().map(BlockedBy::Unreadable));
        waits_for.extend(content);
        if !world.manager_away() {
            world.assumptions.insert(Assumption::NamespaceController);
        }
    }
    if let Some(refused_by) = world.refused_by(object) {
        holders.push(refused_by);
        causes.push(State::Stuck);
    }
    // No controller handles a Namespace whose spec.finalizers are empty.
    if world.context.rules(object).own_delete == OwnDelete::Namespace
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
        // Not settled: the end is unknown.
        causes = vec![State::Unknown];
    }
    (waits_for, holders, causes.into_iter().max())
}

fn refused_dependents(world: &World<'_, '_>, object: ObjectId) -> Vec<ObjectId> {
    let mut dependents = world.collector.dependents(object.into());
    dependents.retain(|id| world.refused.contains_key(id) && world.exists(*id));
    dependents
}

/// Asks for the conversion webhook of a CRD, so that what blocks can be named.
fn read_conversion(world: &mut World<'_, '_>, definition: ObjectId) {
    world.fact(definition, world.context.snapshot.facts.definition(definition));
}

/// The state of an object that only a finalizer of this controller blocks. What no controller is known to remove is
/// stuck, but for a diagnosis that could read more.
fn state_by(context: &SimContext<'_>, controller: &FinalizerController) -> State {
    let is_known = controller.name.is_some() || controller.manager.is_some();
    match controller.liveness {
        Liveness::Alive(_) => State::Waiting,
        Liveness::Away(_) | Liveness::Nobody(_) => State::Stuck,
        Liveness::Unread(_) if !is_known && !context.can_look_again() => State::Stuck,
        Liveness::Unknown(_) | Liveness::Unread(_) => State::Unknown,
    }
}

/// What this course has removed that controllers need.
struct Gone<'c, 'a> {
    rights: RightsGone<'c, 'a>,
    /// Whether a spec may name something of it (R9.47).
    may_be_named: bool,
}

/// What this course has removed that controllers need. The API server heeds no ServiceAccount that is Terminating
/// (kubernetes/kubernetes pkg/serviceaccount/claims.go: Validate).
fn gone<'c, 'a>(world: &World<'c, 'a>) -> Gone<'c, 'a> {
    let context = world.context;
    let is_gone = |id: &ObjectId| match world.stored(*id) {
        Some(stored) => {
            Some(context.snapshot.object(*id).resource) == context.built_in.accounts
                && stored.terminating
                && !context.snapshot.object(*id).terminating()
        }
        None => true,
    };
    let touched = world.touched();
    let may_be_named = touched.iter().copied().any(may_be_named(context.snapshot));
    let gone = touched.into_iter().filter(is_gone);
    let rights = RightsGone::of(context, gone);
    Gone { rights, may_be_named }
}

/// The controller of a finalizer at the end of a simulation: it may be deleted itself, or lose its rights.
fn controller_in_the_end(
    world: &mut World<'_, '_>,
    object: ObjectId,
    finalizer: Symbol,
    gone: &Gone<'_, '_>,
) -> Arc<FinalizerController> {
    let question = Question { object, finalizer, exact: false };
    let mut controller = finalizer_controller(world.context, &question);
    let snapshot = world.context.snapshot;
    let namespace = snapshot.object(object).namespace;
    if is_namespace_terminating(world, namespace) {
        controller = controller.in_leaving_namespace(snapshot, object, finalizer, false);
    }
    // Whether it was being deleted before, or its namespace was.
    let was_leaving = |id: &ObjectId| world.context.is_leaving(*id);
    let goes = |id: &ObjectId| was_leaving(id) || world.stored(*id).is_none_or(|stored| stored.terminating);
    // A namesake that does not run is no substitute.
    let is_known = !controller.running.is_empty();
    let workloads = controller.acting();
    if !matches!(controller.liveness, Liveness::Alive(_) | Liveness::Unknown(_))
        || workloads.is_empty()
        || !workloads.iter().all(goes)
        || !is_known && workloads.iter().all(was_leaving)
    {
        let is_alive = matches!(controller.liveness, Liveness::Alive(_));
        let is_unseen = workloads.is_empty() && !controller.is_away() && world.context.surely_needs(object);
        let may_run = !workloads.is_empty() && matches!(controller.liveness, Liveness::Unknown(_));
        if is_alive || is_unseen || may_run {
            let may_act = is_alive == is_known && (is_alive || !is_unseen);
            let taken = gone.rights.taken(workloads, object).filter(|_| may_act);
            if let Some(taken) = taken {
                return Arc::new(taken.from(snapshot, &controller));
            }
            if gone.may_be_named {
                world.context.read_what_it_names(object, finalizer);
            }
            let is_leaving =
                |id: ObjectId| !was_leaving(&id) && world.stored(id).is_none_or(|stored| stored.terminating);
            if let Some(without) = world.context.without_what_goes(&controller, (object, finalizer), is_leaving) {
                return without;
            }
        }
        let lasts = |id: ObjectId| world.stored(id).is_some_and(|stored| !stored.terminating);
        let mut undrained = controller.undrained.iter().filter(|it| lasts(it.pod) && it.budget.is_none_or(lasts));
        let told = || controller.told(snapshot).unwrap_or_else(|| "its controller".to_owned());
        if let Some(lacks) = Lack::in_words(&controller.lacks, snapshot).filter(|_| is_alive) {
            let liveness = Liveness::Unknown(format!("{} runs, but {lacks}", told()));
            return Arc::new(FinalizerController { liveness, ..(*controller).clone() });
        }
        if let Some(undrained) = undrained.next().filter(|_| is_alive) {
            let liveness = Liveness::Unknown(format!("{} runs, but {}", told(), undrained.in_words(snapshot)));
            return Arc::new(FinalizerController { liveness, ..(*controller).clone() });
        }
        let overdue = world.context.overdue_for(object).filter(|_| is_alive);
        let Some(seconds) = overdue else { return controller };
        let liveness = Liveness::Unknown(format!("{} runs, and has not removed it for {}", told(), age(seconds)));
        return Arc::new(FinalizerController { liveness, ..(*controller).clone() });
    }
    let names: Vec<String> = workloads.iter().map(|id| snapshot.short_name(*id)).collect();
    let names = names.join(" and ");
    if workloads.iter().all(was_leaving) {
        let is = if workloads.len() == 1 { "is" } else { "are" };
        let liveness = Liveness::Unknown(format!("{names} {is} being deleted"));
        return Arc::new(FinalizerController { liveness, paused: None, ..(*controller).clone() });
    }
    let go = if workloads.len() == 1 { "goes" } else { "go" };
    // R9.10: in a namespace, the pods are deleted first, and nothing else before they are gone.
    let in_namespace = |id: &ObjectId| !namespace.is_empty() && snapshot.object(*id).namespace == namespace;
    let liveness = if !is_known {
        Liveness::Unknown(format!("{names}, which may be its controller, {go} in this delete, too"))
    } else if workloads.iter().all(in_namespace) && is_namespace_terminating(world, namespace) {
        Liveness::Away(format!("{names} {go} in this delete, before it"))
    } else {
        Liveness::Unknown(format!("{names} {go} in this delete, too"))
    };
    Arc::new(FinalizerController { liveness, goes: true, paused: None, ..(*controller).clone() })
}

fn is_namespace_terminating(world: &World<'_, '_>, name: Symbol) -> bool {
    let namespace = world.context.namespace_named(name);
    namespace.is_some_and(|id| world.stored(id).is_none_or(|stored| stored.terminating))
}

/// The state of a live pod that others wait for. One that has ended stays, unless its controller deletes it (R12.11):
/// StatefulSets and DaemonSets delete those that have failed; a Job's go with it, after its `ttlSecondsAfterFinished`
/// or with its own owner.
fn state_of_pod(world: &mut World<'_, '_>, pod: ObjectId) -> State {
    let snapshot = world.context.snapshot;
    if !snapshot.facts.has_finished(pod) {
        return State::Waiting;
    }
    let Some(reference) = Reference::controller_of(&snapshot.object(pod).owners) else { return State::Stuck };
    let Some(controller) = snapshot.by_uid(reference.uid) else { return State::Unknown };
    let resource = snapshot.resource(controller);
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("apps", "StatefulSet" | "DaemonSet") => State::Waiting,
        ("batch", "Job") if snapshot.controller_of(controller).is_some() => State::Waiting,
        ("batch", "Job") => match world.fact(controller, snapshot.facts.job(controller)) {
            Some(facts) if facts.seconds_after_finished.is_some() => State::Waiting,
            Some(_) => State::Stuck,
            None => State::Unknown,
        },
        _ => State::Stuck,
    }
}

/// The state of a live object that others wait for: nothing deletes it, unless that is unknown.
fn inspect_living(world: &mut World<'_, '_>, object: ObjectId) -> State {
    let found = world.context.snapshot.object(object);
    let built_in = world.context.built_in;
    let kinds = [built_in.claims, built_in.volumes, built_in.volume_snapshots];
    let is_user = |resource| kinds.contains(&resource) || resource == built_in.attachments;
    let immune = found.owners.iter().any(|reference| {
        matches!(
            Address::of(world.context.snapshot, world.context.graph, reference, found.namespace),
            Address::Unmappable | Address::InvalidScope | Address::DoubtedPath
        )
    });
    if world.context.snapshot.facts.runs_hooks(object) {
        // Its operation may end.
        State::Unknown
    } else if !world.may_write(object) || world.refused.contains_key(&object) {
        State::Stuck
    } else if !immune && world.doubtful.contains(&object) {
        State::Unknown
    } else if world.context.rules(object).graceful && !world.collector.node(object.into()).being_deleted && !immune {
        // It uses a claim.
        state_of_pod(world, object)
    } else if is_user(Some(found.resource)) && !immune {
        // It uses something: a claim its volume, or what else a finalizer keeps for it.
        State::Waiting
    } else {
        State::Stuck
    }
}

/// The scheduled pods that use a claim protected by its finalizer (S14).
fn users_of_claim(world: &World<'_, '_>, claim: ObjectId) -> Vec<ObjectId> {
    let snapshot = world.context.snapshot;
    let is_claim = Some(snapshot.object(claim).resource) == world.context.built_in.claims;
    if world.context.assume == Assume::None || !is_claim {
        return Vec::new();
    }
    world.context.users_of_claim(claim).iter().copied().filter(|pod| world.protects_claim(*pod, claim)).collect()
}

/// The instances that a CRD's clean-up waits for.
fn instances_of(world: &World<'_, '_>, definition: ObjectId) -> Option<Vec<ObjectId>> {
    let resource = world.context.instances(definition)?;
    debug_assert_eq!(world.context.rules(definition).own_delete, OwnDelete::Definition);
    Some(world.context.of_resource(resource).iter().copied().filter(|id| world.exists(*id)).collect())
}
