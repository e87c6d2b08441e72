//! What the watches show of single objects.

use std::{cmp::Reverse, sync::Arc};

use crate::model::RawObject;

use super::{
    Account, GoneOwner, STILL,
    asked::LookUp,
    draft::{Body, Draft},
    happening::{Change, Millis, Owner, OwnerState, Policy},
    objects::{Object, Reference, policy},
};

impl Account {
    /// A watch or a list shows an object, or that it is gone; then this is its last state.
    pub fn see(&mut self, id: u32, raw: &RawObject<'_>, gone: bool, now: Millis) {
        self.clock += 1;
        self.version = raw.resource_version.parse().ok();
        let uid: Arc<str> = (*raw.uid).into();
        if gone {
            return self.remove(&uid, Some(raw), now, false);
        }
        if self.objects.get(&uid).is_some() {
            return self.change(id, &uid, raw, now);
        }
        match self.objects.kinds.get_mut(&id).filter(|kind| kind.listing && kind.listed) {
            Some(kind) => kind.new.push(raw.clone().into_owned()),
            None => self.appear(id, &uid, raw, now),
        }
    }

    /// Whether the account tells of this object.
    pub(super) fn is_told(&self, object: &Object) -> bool {
        if object.concerned {
            return true;
        }
        let definition = self.objects.kinds.get(&object.kind).is_some_and(super::Kind::is_definitions);
        let by_namespace = matches!(self.concern.scope, super::Scope::Namespace(_));
        definition && by_namespace && self.objects.contained(object).is_some_and(|(objects, _)| objects > 0)
    }

    /// Whether a new object belongs to the scope, by itself or by an owner.
    fn concerns(&self, uid: &str, object: &Object) -> bool {
        let owner_concerns = |owner: &Reference| {
            self.concern.is_target(&owner.uid)
                || self.objects.get(&owner.uid).is_some_and(|owner| owner.concerned)
                || self.gone.get(&owner.uid).is_some_and(|owner| owner.concerned)
        };
        let own = self.objects.kinds.get(&object.kind).is_some_and(|kind| self.concern.has(kind, uid, object));
        let by_owner = matches!(self.concern.scope, super::Scope::Targets(_));
        own || (by_owner && object.owners.iter().any(owner_concerns))
    }

    /// The object's known dependents belong to the scope, too.
    fn spread(&mut self, uid: &Arc<str>) {
        if !matches!(self.concern.scope, super::Scope::Targets(_)) {
            return;
        }
        let mut left = vec![uid.clone()];
        while let Some(owner) = left.pop() {
            for dependent in self.objects.dependents(&owner).cloned().collect::<Vec<_>>() {
                if let Some(object) = self.objects.get_mut(&dependent).filter(|object| !object.concerned) {
                    object.concerned = true;
                    left.push(dependent);
                }
            }
        }
    }

    /// An object is seen for the first time.
    pub(super) fn appear(&mut self, id: u32, uid: &Arc<str>, raw: &RawObject<'_>, now: Millis) {
        let Some(kind) = self.objects.kinds.get(&id) else { return };
        let new = kind.listed;
        let lists = kind.lists;
        let mut object = Object::of(id, lists, raw, self.objects.namespace(&raw.namespace));
        object.terminating_since = object.requested();
        let name = (id, object.namespace.clone(), object.name.clone());
        let past = if new { self.names.made(&name) } else { None };
        let past = past.map(|past| (past.times, past.uid.to_string(), past.concerned));
        object.concerned = self.concerns(uid, &object) || past.as_ref().is_some_and(|(.., concerned)| *concerned);
        let concerned = object.concerned;
        self.note_container(&object);
        self.objects.add(uid, object);
        if concerned {
            self.spread(uid);
        }
        if raw.deleted.is_some() {
            // What is Terminating already is told when the account begins.
            self.still.push(Reverse((if new { now + STILL } else { now }, uid.clone())));
        }
        let Some(object) = self.objects.get(uid).filter(|object| new && self.is_told(object)) else { return };
        // An owner that is watched exists, so the object isn't dangling.
        let owned = object.owners.iter().any(|owner| self.objects.get(&owner.uid).is_some());
        let references = if owned { Vec::new() } else { object.owners.to_vec() };
        if past.is_some() || !references.is_empty() {
            let manager = Some(raw.manager.to_string()).filter(|manager| !manager.is_empty());
            let past = past.map(|(times, former, _)| (times, former));
            let draft = self.draft_about(uid, Body::Appeared { manager, past }, references, now);
            self.push(draft);
        }
    }

    /// Remembers that everything in a namespace, or all instances of a definition, go.
    fn note_container(&mut self, object: &Object) {
        let Some(kind) = self.objects.kinds.get(&object.kind) else { return };
        if kind.is_namespaces() || kind.is_definitions() {
            let key = (kind.is_namespaces(), object.name.clone());
            match object.deleted {
                Some(_) => self.containers.set(key, true),
                None if self.containers.get(&key).is_some() => self.containers.set(key, false),
                None => {}
            }
        }
    }

    /// A known object has a new state.
    fn change(&mut self, id: u32, uid: &Arc<str>, raw: &RawObject<'_>, now: Millis) {
        let lists = self.objects.kinds.get(&id).map_or(0, |kind| kind.lists);
        let Some(object) = self.objects.get_mut(uid) else { return };
        object.seen_in = lists;
        let after = Object::of(object.kind, lists, raw, object.namespace.clone());
        let was = (object.deleted, object.policy);
        (object.deleted, object.grace) = (after.deleted, after.grace);
        let left = after.finalizers.clone();
        let newly = was.0.is_none() && object.deleted.is_some();
        let again = was.0.is_some().then(|| policy(&left)).filter(|policy| {
            // Only an added finalizer shows a second delete: the collector removes its own.
            *policy != Policy::Background && was.1 != Some(*policy)
        });
        if newly {
            object.policy = after.policy;
            object.terminating_since = Some(now);
        } else if again.is_some() {
            object.policy = again;
        }
        let same_owners = object.owners == after.owners;
        let finalizers = self.objects.set_finalizers(uid, after.finalizers);
        let told = {
            let Some(object) = self.objects.get(uid) else { return };
            self.is_told(object)
        };
        // Before the owners change: they decided.
        if newly {
            self.request_deletion(uid, told, now);
        }
        if let Some(policy) = again.filter(|_| told) {
            self.tell_change(uid, Change::PolicyChanged { policy }, now);
        }
        let removed: Vec<String> =
            finalizers.iter().filter(|finalizer| !left.contains(finalizer)).map(ToString::to_string).collect();
        if told && !removed.is_empty() && was.0.is_some() {
            let left = left.iter().map(ToString::to_string).collect();
            self.tell_change(uid, Change::FinalizersRemoved { removed, left }, now);
        }
        if !same_owners {
            self.change_owners(uid, after.owners, told, now);
        }
    }

    /// The deletion of an object is requested.
    fn request_deletion(&mut self, uid: &Arc<str>, told: bool, now: Millis) {
        let Some(object) = self.objects.get(uid) else { return };
        let requested = told.then(|| {
            let policy = object.policy.unwrap_or(Policy::Background);
            let body = Body::Requested { policy, holds: Box::new(self.objects.holds(uid, object)) };
            (body, object.owners.to_vec())
        });
        if let Some(kind) = self.objects.kinds.get(&object.kind)
            && (kind.is_namespaces() || kind.is_definitions())
        {
            self.containers.set((kind.is_namespaces(), object.name.clone()), true);
        }
        if let Some((body, references)) = requested {
            let draft = self.draft_about(uid, body, references, now);
            self.push(draft);
            self.still.push(Reverse((now + STILL, uid.clone())));
        }
    }

    fn change_owners(&mut self, uid: &Arc<str>, owners: Box<[Reference]>, told: bool, now: Millis) {
        let former = self.objects.set_owners(uid, owners);
        let Some(object) = self.objects.get(uid) else { return };
        let removed: Vec<Reference> = former.iter().filter(|owner| !object.has_owner(&owner.uid)).cloned().collect();
        let has_had = |owner: &&Reference| former.iter().any(|known| known.uid == owner.uid);
        let added: Vec<Reference> = object.owners.iter().filter(|owner| !has_had(owner)).cloned().collect();
        let left = object.owners.len() - added.len();
        let concerned = object.concerned || self.concerns(uid, object);
        let newly = concerned && !object.concerned;
        if let Some(object) = self.objects.get_mut(uid) {
            object.concerned = concerned;
        }
        if newly {
            self.spread(uid);
        }
        if !told && !newly {
            return;
        }
        if !removed.is_empty() {
            let draft = self.draft_about(uid, Body::OwnersRemoved { left }, removed, now);
            self.push(draft);
        }
        if !added.is_empty() {
            let owners = added.iter().map(|owner| self.named(owner)).collect();
            self.tell_change(uid, Change::OwnersAdded { owners }, now);
        }
    }

    /// An owner that was only named.
    fn named(&self, owner: &Reference) -> Owner {
        let watched = self.objects.get(&owner.uid).is_some();
        owner_of(owner, if watched { OwnerState::Watched } else { OwnerState::Unknown("not looked up".to_owned()) })
    }

    /// An object is gone: a watch says so, with its last state, or a list lacks it. `quietly` tells nothing.
    pub(super) fn remove(&mut self, uid: &Arc<str>, last: Option<&RawObject<'_>>, now: Millis, quietly: bool) {
        if let Some(last) = last
            && self.objects.get(uid).is_some_and(|object| object.deleted.is_none() && last.deleted.is_some())
            && let Some(id) = self.objects.get(uid).map(|object| object.kind)
        {
            // One event shows both the request and the end.
            self.change(id, uid, last, now);
        }
        let Some(known) = self.objects.get(uid) else { return };
        let (told, references) = (self.is_told(known) && !quietly, known.owners.to_vec());
        // The API server deletes an object instead of storing it without its last finalizers.
        let left = known.finalizers.iter().filter(|_| last.is_some());
        let removed: Vec<String> = left.map(ToString::to_string).collect();
        let requested = known.deleted.is_some();
        let after = known.terminating_since.filter(|_| requested).map(|since| (now - since).max(0));
        let body = Body::Gone { requested, after, removed, lost: last.is_none() };
        let draft = told.then(|| {
            let references = if requested || last.is_none() { Vec::new() } else { references };
            self.draft_about(uid, body, references, now)
        });
        let Some(object) = self.objects.remove(uid) else { return };
        let version = self.version.filter(|_| last.is_some());
        let known_policy =
            if last.is_some() { Some(object.policy.unwrap_or(Policy::Background)) } else { object.policy };
        self.gone.set(uid.clone(), GoneOwner { at: now, version, policy: known_policy, concerned: object.concerned });
        self.names.gone((object.kind, object.namespace, object.name), uid, object.concerned);
        if let Some(draft) = draft {
            self.push(draft);
        }
    }

    pub(super) fn tell_change(&mut self, uid: &Arc<str>, change: Change, now: Millis) {
        let draft = self.draft_about(uid, Body::Changed(Box::new(change)), Vec::new(), now);
        self.push(draft);
    }

    /// A draft about an object that is known at this moment.
    pub(super) fn draft_about(&self, uid: &Arc<str>, body: Body, references: Vec<Reference>, now: Millis) -> Draft {
        let object = self.objects.get(uid).map(|object| (self.objects.identity(uid, object), object.kind));
        let (object, kind) = object.map_or((None, None), |(identity, kind)| (Some(identity), Some(kind)));
        Draft { object, kind, version: self.version, references, ..self.draft(body, now) }
    }

    pub(super) fn draft(&self, body: Body, now: Millis) -> Draft {
        Draft { at: now, order: self.clock, object: None, kind: None, version: None, references: Vec::new(), body }
    }

    /// Adds a draft, and asks for what it needs.
    pub(super) fn push(&mut self, draft: Draft) {
        for look_up in self.needs(&draft) {
            self.look_ups.want(look_up);
        }
        self.place(draft);
    }

    /// A look-up to make, if any is left.
    pub fn next_look_up(&mut self) -> Option<LookUp> {
        self.look_ups.next(self.clock)
    }

    /// The answer to a look-up.
    pub fn answered(&mut self, look_up: &LookUp, answer: super::Answer) {
        self.clock += 1;
        self.look_ups.answered(look_up, answer);
    }
}

/// A reference, with what is known of the owner.
pub(super) fn owner_of(reference: &Reference, state: OwnerState) -> Owner {
    Owner {
        api_version: reference.api_version.to_string(),
        kind: reference.kind.to_string(),
        name: reference.name.to_string(),
        uid: reference.uid.to_string(),
        state,
    }
}
