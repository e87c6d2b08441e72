//! Deletes beyond owner references: a Namespace's contents (§9.4) and a CustomResourceDefinition's instances (R1.26).
//!
//! Objects are deleted one after the other while the collector works, so the outcome of those that stay may depend on
//! the order. [`ContentOrder`] defines the order and the speed of the collector.

use std::{cmp::Reverse, sync::Arc};

use crate::{
    model::{
        ObjectId, ResourceId, Symbol,
        facts::{CONTENT_FAILURE, Condition, FINALIZERS_REMAIN, REMAINS},
    },
    server::{DeleteOptions, OwnDelete, Patch, Propagation},
    simulate::{
        cause::Cause,
        context::{LATE, SimContext},
        foreign_spec_finalizers,
        obstacles::{Operation, reach},
        state::State,
        world::World,
    },
};

use super::{ActorResult, Assumption, ContentOrder, progress::Pass};

/// How many objects are deleted before the collector catches up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchSize {
    /// All objects of one resource in one namespace.
    Resource,
    Object,
    Everything,
}

impl ContentOrder {
    /// The order with this number; 0 is simulated first.
    pub(crate) fn new(number: u64) -> Self {
        ContentOrder(number)
    }

    fn batch_size(self) -> BatchSize {
        match self.0 % 3 {
            0 => BatchSize::Resource,
            1 => BatchSize::Object,
            _ => BatchSize::Everything,
        }
    }

    /// The sort key of a resource. The first two orders are the snapshot's and its reverse.
    fn sort_key(self, resource: ResourceId) -> (u64, Reverse<u32>, u32) {
        match self.0 / 3 {
            0 => (0, Reverse(0), resource.0),
            1 => (0, Reverse(resource.0), 0),
            shuffle => (mixed(shuffle << 32 | u64::from(resource.0)), Reverse(0), resource.0),
        }
    }
}

impl SimContext<'_> {
    /// What goes with an object because of its kind: a Namespace's content, a CRD's instances.
    pub fn contents(&self, object: ObjectId) -> &[ObjectId] {
        match self.rules(object).own_delete {
            OwnDelete::Namespace => self.in_namespace(self.snapshot.object(object).name),
            OwnDelete::Definition => self.of_resource(self.instances(object)),
            _ => &[],
        }
    }

    /// Whether nobody can read a CRD's instances: its conversion webhook fails, or one of them can't be decoded. Then
    /// the CRD finalizer controller can't read them either, and deletes nothing (S19).
    pub(crate) fn hides_instances(&self, definition: ObjectId) -> bool {
        self.instances(definition).is_some_and(|resource| self.snapshot.is_unreadable_by_all(resource))
    }
}

/// What the API server says keeps a Terminating object.
impl SimContext<'_> {
    /// Whether the conditions of a Terminating Namespace or CustomResourceDefinition say that its end fails
    /// ([`State::Stuck`]), or that something is left where not all that is in it was read ([`State::Unknown`]).
    /// Where a cluster was read completely, that is of the past.
    pub fn said_to_keep(&self, object: ObjectId) -> Option<State> {
        let found = self.snapshot.object(object);
        let said = self.still_said_to_keep(object);
        if said.is_empty() || !found.terminating() {
            return None;
        }
        if said.iter().any(|condition| condition.fails()) {
            return Some(State::Stuck);
        }
        let is_empty = match self.rules(object).own_delete {
            OwnDelete::Definition => self.instances(object).is_none_or(|kind| self.of_resource(kind).is_empty()),
            _ => self.in_namespace(found.name).is_empty(),
        };
        let may_hide = !self.snapshot.may_hide(&[object]).is_empty();
        (may_hide || is_empty && self.snapshot.is_dump()).then_some(State::Unknown)
    }

    /// Whether the API server says that a Namespace or CustomResourceDefinition can't be emptied.
    pub(crate) fn said_to_fail(&self, object: ObjectId) -> bool {
        self.still_said_to_keep(object).iter().any(|condition| condition.fails())
    }

    /// What the API server says of the delete of a living object, if it has refused that: a condition of its
    /// Terminating Namespace (R9.30). It names the object, or else the resource of what is left.
    pub(crate) fn said_to_refuse(&self, object: ObjectId) -> Option<&Condition> {
        let snapshot = self.snapshot;
        let (found, namespace) = (snapshot.object(object), self.leaving_namespace_of(object)?);
        let said = self.still_said_to_keep(namespace);
        let refusal = said.iter().copied().find(|condition| condition.refuses())?;
        let left: Vec<String> = said.iter().flat_map(|condition| condition.remaining_resources()).collect();
        let is_named = |id: ObjectId| {
            let resource = snapshot.resource(id);
            let is_left = left.contains(&resource.full_name());
            (is_left || refusal.names(&resource.kind) || refusal.names(&resource.plural))
                && refusal.names(snapshot.name(id))
        };
        let is_left = || {
            let content = || self.in_namespace(found.namespace).iter();
            left.contains(&snapshot.resource(object).full_name()) && !content().any(|other| is_named(*other))
        };
        (!found.terminating() && (is_named(object) || is_left())).then_some(refusal)
    }

    /// The conditions that say what keeps a Namespace or CustomResourceDefinition, without those of the past.
    pub(crate) fn still_said_to_keep(&self, object: ObjectId) -> Vec<&Condition> {
        let mut said = self.snapshot.facts.said_to_keep(object);
        said.retain(|condition| !self.is_of_the_past(object, condition));
        said
    }

    /// Whether what was read shows that a condition of a Namespace no longer holds: all APIs answer again, or nothing
    /// is left of what it names. The namespace controller has not looked again, which takes it up to a minute.
    fn is_of_the_past(&self, namespace: ObjectId, condition: &Condition) -> bool {
        let snapshot = self.snapshot;
        let name = snapshot.object(namespace).name;
        let content = self.in_namespace(name);
        let all_answer = || !snapshot.is_dump() && snapshot.undiscovered().next().is_none();
        let all_is_read = || !snapshot.is_dump() && snapshot.may_hide(&[namespace]).is_empty();
        // A dump, or a cluster that could not be read completely, says nothing about resources that it lacks.
        let is_gone = |full_name: &String| {
            let (plural, group) = full_name.split_once('.').unwrap_or((full_name, ""));
            match snapshot.resources.by_group_plural(group, plural) {
                Some(resource) => {
                    let is_left = |id: &ObjectId| snapshot.object(*id).resource == resource;
                    snapshot.covers(resource, Some(name)) && !content.iter().any(is_left)
                }
                None => all_is_read(),
            }
        };
        match condition.kind.as_str() {
            "NamespaceDeletionDiscoveryFailure" => all_answer(),
            REMAINS | CONTENT_FAILURE => {
                let named = condition.remaining_resources();
                let is_empty = || content.is_empty() && all_answer() && all_is_read();
                if named.is_empty() { is_empty() } else { named.iter().all(is_gone) }
            }
            FINALIZERS_REMAIN => {
                let mut finalizers = content.iter().flat_map(|id| snapshot.object(*id).finalizers.iter());
                let words: Vec<&str> = condition.message.split([' ', ',']).collect();
                all_is_read() && !finalizers.any(|finalizer| words.contains(&snapshot.text(*finalizer)))
            }
            _ => false,
        }
    }
}

/// A pseudo-random number (the end of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl World<'_, '_> {
    /// A copy of this world that deletes contents in another order.
    pub(crate) fn with_content_order(&self, order: ContentOrder) -> Self {
        let mut world = self.clone();
        world.actors.content_order = order;
        world
    }

    /// The namespace controller: deletes pods first, then everything else, then the namespace (R9.9–R9.12).
    pub(super) fn clear_namespace(&mut self, object: ObjectId) -> ActorResult {
        let context = self.context;
        let is_terminating = self.stored(object).is_some_and(|stored| stored.terminating);
        if context.rules(object).own_delete != OwnDelete::Namespace || !is_terminating {
            return ActorResult::Done;
        }
        if self.finalized_namespaces.contains(&object) && !self.held_by_spec(object) {
            // Others have removed their entries after this controller removed its own.
            self.finalize_namespace(object);
        }
        if !self.held_by_spec(object) || self.finalized_namespaces.contains(&object) || self.manager_away() {
            return ActorResult::Done;
        }
        self.fact(object, context.snapshot.facts.namespace(object));
        self.assumptions.insert(Assumption::NamespaceController);
        let content = |world: &Self| -> Vec<ObjectId> {
            let has_delete = |id: &ObjectId| context.snapshot.resource(*id).has_verb("delete");
            let all = context.in_namespace(context.snapshot.object(object).name).iter().copied();
            all.filter(|id| world.exists(*id)).filter(has_delete).collect()
        };
        if !self.actors.content.contains_key(&object) {
            let mut pass = content(self);
            // R9.10: while any pod is left, nothing else is deleted; R9.30: unless their DELETEs fail.
            let pods: Vec<ObjectId> = pass.iter().copied().filter(|id| context.rules(*id).graceful).collect();
            if !pods.is_empty()
                && !pods.iter().any(|pod| self.refuses(*pod, Operation::of_content(context.snapshot, *pod)))
            {
                pass = pods;
            }
            if self.said_to_keep(object).is_some() {
                pass.retain(|id| context.said_to_refuse(*id).is_none());
            }
            match self.dead_api() {
                Some((service, true)) => {
                    self.held_by_api.insert(object, service);
                }
                Some((service, false)) => self.doubt_api(object, service),
                None => {}
            }
            let order = self.actors.content_order;
            pass.sort_by_cached_key(|id| order.sort_key(context.snapshot.object(*id).resource));
            self.actors.content.insert(object, Pass { left: pass.into(), begun: self.log.len() });
        }
        let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
        let Some(begun) = self.delete_content(object, &options, Cause::Namespace(object)) else {
            return ActorResult::Continues;
        };
        // R9.11: unreadable resources may have contents.
        let readable = context.snapshot.unreadable_by_all().next().is_none()
            && !self.held_by_api.contains_key(&object)
            && self.said_to_keep(object).is_none()
            && !self.is_empty_for_long(object);
        if content(self).is_empty() && readable {
            // In the same pass, it may have been asked for its content before or after its backend went.
            if let Some((service, _)) = self.dead_api() {
                self.doubt_api(object, service);
            }
            self.finalize_namespace(object);
            return ActorResult::Done;
        }
        self.look_again(object, begun)
    }

    /// Whether a Namespace should be gone long ago: nothing that was read is left in it, or keeps it.
    pub(crate) fn is_empty_for_long(&self, object: ObjectId) -> bool {
        let (context, found) = (self.context, self.context.snapshot.object(object));
        context.rules(object).own_delete == OwnDelete::Namespace
            && context.terminating_for(object).is_some_and(|seconds| seconds >= LATE)
            && context.in_namespace(found.name).is_empty()
            && found.finalizers.is_empty()
            && foreign_spec_finalizers(context.snapshot, object).is_empty()
            && !self.manager_away()
            && !self.tried_again.contains(&object)
            && self.said_to_keep(object).is_none()
    }

    /// What the API server says keeps an object, unless others have mended that.
    pub fn said_to_keep(&self, object: ObjectId) -> Option<State> {
        let is_mended = self.freed.contains(&object) || self.tried_again.contains(&object);
        self.context.said_to_keep(object).filter(|_| !is_mended)
    }

    /// Notes that an API without a backend may keep a namespace from being emptied.
    fn doubt_api(&mut self, namespace: ObjectId, service: ObjectId) {
        let api = self.context.snapshot.name(service).to_owned();
        self.assumptions.insert(Assumption::ApiLasts { api });
        self.doubtful.insert(namespace);
    }

    /// The CRD finalizer controller: deletes every instance without options, then removes its finalizer.
    pub(super) fn clear_definition(&mut self, object: ObjectId) -> ActorResult {
        let context = self.context;
        let Some(stored) = self.stored(object) else { return ActorResult::Done };
        let clears = context.rules(object).own_delete == OwnDelete::Definition
            && stored.terminating
            && stored.has_finalizer(Symbol::DEFINITION);
        if !clears {
            return ActorResult::Done;
        }
        // It writes a condition first, and the finalizer is removed in the same way.
        if self.surely_refuses(object, Operation::Status) {
            return ActorResult::Waits;
        }
        let Some(facts) = self.fact(object, context.snapshot.facts.definition(object)) else {
            self.doubtful.insert(object);
            return ActorResult::Done;
        };
        let searches = facts.deletes_instances();
        // A CRD without a served version may still have instances, which are deleted.
        if searches && !context.instances(object).is_some_and(|resource| context.snapshot.covers(resource, None)) {
            self.doubtful.insert(object);
        }
        let fails = context.hides_instances(object) || self.said_to_keep(object).is_some();
        let instances = |world: &Self| -> Vec<ObjectId> {
            let resource = context.instances(object).filter(|_| searches && !fails);
            let all = context.of_resource(resource).iter().copied();
            all.filter(|id| world.exists(*id)).collect()
        };
        if !self.actors.content.contains_key(&object) {
            let mut pass = instances(self);
            pass.sort_by_cached_key(|id| {
                let found = context.snapshot.object(*id);
                (context.snapshot.text(found.namespace), context.snapshot.text(found.name))
            });
            if !pass.is_empty() && !fails {
                let rests: Vec<ObjectId> = pass.iter().copied().chain([object]).collect();
                self.doubt_conversion(object, &rests);
            }
            self.actors.content.insert(object, Pass { left: pass.into(), begun: self.log.len() });
        }
        let Some(begun) = self.delete_content(object, &DeleteOptions::default(), Cause::Definition(object)) else {
            return ActorResult::Continues;
        };
        if instances(self).is_empty() && !fails {
            let patch = Patch::RemoveFinalizer { finalizer: Symbol::DEFINITION, version: stored.version };
            self.patch(object, &patch, Cause::DefinitionEmpty);
            return ActorResult::Done;
        }
        self.look_again(object, begun)
    }

    /// After a pass that left something: the controller looks again at once if anything was written since the pass
    /// began, and else after the next write.
    fn look_again(&mut self, above: ObjectId, begun: usize) -> ActorResult {
        if self.log.len() == begun {
            return ActorResult::Waits;
        }
        self.actors.notice(above);
        ActorResult::Continues
    }

    /// Notes that a conversion webhook without a backend keeps a CRD's instances from being deleted, unless all are
    /// stored in the CRD's storage version: then nothing is converted (S9). What becomes of these rests on that.
    pub(crate) fn doubt_conversion(&mut self, definition: ObjectId, rests: &[ObjectId]) {
        let Some(facts) = self.context.snapshot.facts.definition(definition).filter(|_| self.heeds) else { return };
        let Some(backend) = &facts.conversion else { return };
        let context = self.context;
        let reach = self.converters.entry(definition).or_insert_with(|| Arc::new(reach(context, Some(backend))));
        let reach = Arc::clone(reach);
        if self.is_unreachable(&reach) {
            let kind = facts.kind.clone();
            self.assumptions.insert(Assumption::NothingConverted { kind });
            self.rests_on_others.extend(rests);
        }
    }

    /// Deletes one batch of a pass ([`ContentOrder`]). Returns when the pass began, as a length of the log, once it has
    /// ended; `None` if it continues.
    fn delete_content(&mut self, above: ObjectId, options: &DeleteOptions, cause: Cause) -> Option<usize> {
        let context = self.context;
        let resource_of = |id: ObjectId| (context.snapshot.object(id).resource, context.snapshot.object(id).namespace);
        let Pass { left: mut pass, begun } = self.actors.content.remove(&above).unwrap_or_default();
        let first = pass.front().copied().map(resource_of);
        let batch_size = self.actors.content_order.batch_size();
        while let Some(id) = pass.front().copied() {
            if batch_size == BatchSize::Resource && Some(resource_of(id)) != first {
                break;
            }
            pass.pop_front();
            self.delete(id, options, cause.clone());
            // R9.30: a collection is deleted object by object, until one fails.
            if matches!(cause, Cause::Namespace(_)) && self.exists(id) && self.is_refused(id, Operation::deletes) {
                pass.retain(|other| resource_of(*other) != resource_of(id));
            }
            // A DELETE doesn't change an object that was already terminating, but its controllers may finish it.
            self.actors.notice_once(id);
            if batch_size == BatchSize::Object {
                break;
            }
        }
        if pass.is_empty() {
            return Some(begun);
        }
        self.actors.content.insert(above, Pass { left: pass, begun });
        self.actors.notice(above);
        None
    }
}
