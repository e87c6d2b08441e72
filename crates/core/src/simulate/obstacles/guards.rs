//! Which objects a value guards, and who refuses to delete them for it (R9.48).

use crate::{
    model::{
        ObjectId, Snapshot,
        effects::{Guard, GuardValue, protected},
    },
    server::OwnDelete,
    simulate::{context::SimContext, world::World},
};

use super::heeded::Hook;

impl Hook<'_> {
    /// Whether this webhook heeds a guard.
    pub(super) fn heeds(&self, context: &SimContext<'_>, guard: &Guard) -> bool {
        let webhook = self.call.webhook;
        let service = webhook.backend.as_ref().and_then(|backend| backend.service());
        let (namespace, service) = service.unwrap_or_default();
        guard.is_heeded_by(&[context.snapshot.name(self.call.configuration), &webhook.name, namespace, service])
    }
}

/// Whether an object has the value of a guard, as far as was read.
pub fn is_on(snapshot: &Snapshot, object: ObjectId, guard: &Guard) -> bool {
    match &guard.value {
        GuardValue::Label(key, value) => snapshot.label(object, key) == Some(*value),
        GuardValue::Annotation(_) => snapshot.object(object).spared.is_protected(),
        GuardValue::Unconfirmed(_) => !snapshot.object(object).spared.is_confirmed(),
        GuardValue::Field(fields, value, _) => {
            let facts = snapshot.facts.policy(object);
            facts.is_some_and(|facts| fields.iter().any(|field| facts.is(&format!("spec.{field}"), value)))
        }
    }
}

/// What a guard depends on: all there is of it.
fn users_of(context: &SimContext<'_>, guard: &Guard) -> Vec<ObjectId> {
    let kinds = guard.while_any.iter();
    let kinds = kinds.filter_map(|(group, kind)| context.snapshot.resources.by_group_kind(group, kind));
    kinds.flat_map(|kind| context.of_resource(kind)).copied().collect()
}

/// Whether something that a guard depends on protects this very object, as far as was read.
fn protects(snapshot: &Snapshot, user: ObjectId, object: ObjectId) -> bool {
    let name = protected(&snapshot.resource(object).kind, snapshot.name(object));
    snapshot.facts.uses(user).is_some_and(|uses| uses.contains(&name))
}

impl World<'_, '_> {
    /// Whether something in force protects an object: it is there with the webhook that heeds the guard, read or not.
    pub(super) fn is_surely_guarded(&self, object: ObjectId, guard: &Guard) -> bool {
        let users = users_of(self.context, guard);
        users.into_iter().any(|user| protects(self.context.snapshot, user, object)) && self.still_applies(object, guard)
    }

    /// The guards that an object has now. Nothing guards what is being deleted already.
    pub(super) fn guards_on(&mut self, object: ObjectId) -> Vec<&'static Guard> {
        let resource = self.context.snapshot.resource(object);
        let is_deleted = self.stored(object).is_none_or(|stored| stored.terminating);
        let guards = Guard::of_kind(resource).filter(|_| !is_deleted);
        guards
            .filter(|guard| is_on(self.context.snapshot, object, guard) && self.still_applies(object, guard))
            .collect()
    }

    /// The guards with a value on an object that a webhook which was not read may heed, going by what these depend on.
    pub(super) fn may_be_guarded_by(&self, object: ObjectId) -> Vec<&'static Guard> {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let admission = context.obstacles.as_ref().map(|obstacles| &obstacles.admission);
        let is_read =
            |guard: &Guard| admission.is_some_and(|it| it.hooks.iter().any(|hook| hook.heeds(context, guard)));
        let exists = |guard: &Guard| users_of(context, guard).into_iter().any(|user| self.exists(user));
        let is_deleted = self.stored(object).is_none_or(|stored| stored.terminating);
        let guards = Guard::of_kind(snapshot.resource(object)).filter(|guard| !is_deleted && !guard.is_built_in());
        guards
            .filter(|guard| is_on(snapshot, object, guard) && !is_read(guard))
            .filter(|guard| guard.while_any.is_empty() || exists(guard))
            .collect()
    }

    /// Whether what a guard depends on is there.
    fn still_applies(&self, object: ObjectId, guard: &Guard) -> bool {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let lives = |id: &ObjectId| self.stored(*id).is_some_and(|stored| !stored.terminating);
        // What goes with its owner or its namespace will be gone when this is tried again.
        let stays = |user: &ObjectId| {
            let found = snapshot.object(*user);
            let owners = found.owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
            let above = owners.chain(context.namespace_named(found.namespace));
            lives(user) && above.into_iter().all(|above| lives(&above))
        };
        if !guard.while_any.is_empty() {
            let users = users_of(context, guard);
            let mut naming = users.iter().filter(|user| protects(snapshot, **user, object)).peekable();
            return match naming.peek() {
                // One that was Terminating before may stay so: until it is gone, it protects.
                Some(_) => naming.any(|user| stays(user) || snapshot.object(*user).terminating() && self.exists(*user)),
                None => !users.is_empty() && users.iter().all(stays),
            };
        }
        if !guard.only_populated {
            return true;
        }
        match context.rules(object).own_delete {
            OwnDelete::Namespace => {
                let runs = |id: &ObjectId| {
                    Some(snapshot.object(*id).resource) == context.built_in.pods
                        && lives(id)
                        && snapshot.facts.pod(*id).is_some_and(|pod| !pod.finished())
                };
                context.in_namespace(snapshot.object(object).name).iter().any(runs)
            }
            OwnDelete::Definition => {
                let facts = snapshot.facts.definition(object);
                let kind = facts.and_then(|facts| snapshot.resources.by_group_kind(&facts.group, &facts.kind));
                kind.is_some_and(|kind| context.of_resource(kind).iter().any(lives))
            }
            OwnDelete::Generic => {
                snapshot.facts.workload(object).and_then(|facts| facts.wanted).is_some_and(|wanted| wanted > 0)
            }
        }
    }
}
