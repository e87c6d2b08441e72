//! The watched objects, as far as an account needs them.

use std::{cmp::Reverse, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{FOREGROUND_FINALIZER, Identity, ORPHAN_FINALIZER, RawObject, RawReference, Resource};

use super::{
    Account, GoneOwner, STILL,
    draft::{Body, Draft, LookUp},
    happening::{Change, Content, Holds, Millis, Owner, OwnerState, Policy},
};

/// How many objects a line names.
const NAMED: usize = 3;

/// A watched resource.
#[derive(Debug)]
pub(super) struct Kind {
    pub api_version: String,
    pub kind: String,
    /// `deployments.apps`
    pub full_name: String,
    /// How many lists were started. When one ends, objects last shown by an earlier one are gone.
    pub lists: u32,
    pub listing: bool,
    /// Whether any list was complete.
    pub listed: bool,
    /// Why it can't be read at present.
    pub failing: Option<String>,
    /// Whether it is listed again and again, because it can't be watched.
    pub polled: bool,
    /// Objects that only the present list shows: they count once it is complete, after those that are gone.
    pub new: Vec<RawObject<'static>>,
    pub objects: usize,
}

impl Kind {
    pub(super) fn of(resource: &Resource) -> Self {
        Kind {
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            full_name: resource.full_name(),
            lists: 0,
            listing: false,
            listed: false,
            failing: None,
            polled: false,
            new: Vec::new(),
            objects: 0,
        }
    }

    pub(super) fn is_namespaces(&self) -> bool {
        self.full_name == "namespaces"
    }

    pub(super) fn is_definitions(&self) -> bool {
        self.full_name == "customresourcedefinitions.apiextensions.k8s.io"
    }
}

/// An owner reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub api_version: Box<str>,
    pub kind: Box<str>,
    pub name: Box<str>,
    pub uid: Arc<str>,
    pub blocks: bool,
}

impl Reference {
    fn of(raw: &RawReference<'_>) -> Self {
        Reference {
            api_version: (*raw.api_version).into(),
            kind: (*raw.kind).into(),
            name: (*raw.name).into(),
            uid: (*raw.uid).into(),
            blocks: raw.block_owner_deletion == Some(true),
        }
    }
}

#[derive(Debug)]
pub(super) struct Object {
    pub kind: u32,
    pub namespace: Arc<str>,
    pub name: Arc<str>,
    pub owners: Box<[Reference]>,
    pub finalizers: Box<[Box<str>]>,
    /// `deletionTimestamp` in Unix seconds.
    pub deleted: Option<i64>,
    /// `deletionGracePeriodSeconds`
    pub grace: Option<i64>,
    /// The policy of its deletion, once it is Terminating.
    pub policy: Option<Policy>,
    /// The list or watch that showed it last.
    pub seen_in: u32,
    /// Whether the account is about it.
    pub concerned: bool,
    /// When the account saw its deletion being requested, in milliseconds.
    pub terminating_since: Option<i64>,
    /// How often it was told that it is still Terminating.
    pub times_told: u32,
}

impl Object {
    pub(super) fn of(kind: u32, seen_in: u32, raw: &RawObject<'_>, namespace: Arc<str>) -> Self {
        let mut object = Object {
            kind,
            namespace,
            name: (*raw.name).into(),
            owners: raw.owners.iter().map(Reference::of).collect(),
            finalizers: raw.finalizers.iter().map(|finalizer| (**finalizer).into()).collect(),
            deleted: raw.deleted,
            grace: raw.grace,
            policy: None,
            seen_in,
            concerned: false,
            terminating_since: None,
            times_told: 0,
        };
        object.policy = object.deleted.map(|_| policy(&object.finalizers));
        object
    }

    pub(super) fn has_owner(&self, uid: &str) -> bool {
        self.owners.iter().any(|owner| *owner.uid == *uid)
    }

    /// When its deletion was requested, in milliseconds: `deletionTimestamp` is that and the grace period.
    pub(super) fn requested(&self) -> Option<i64> {
        Some((self.deleted? - self.grace.unwrap_or(0)) * 1000)
    }
}

/// The policy that finalizers show.
pub(super) fn policy(finalizers: &[Box<str>]) -> Policy {
    let has = |name: &str| finalizers.iter().any(|finalizer| **finalizer == *name);
    if has(ORPHAN_FINALIZER) {
        Policy::Orphan
    } else if has(FOREGROUND_FINALIZER) {
        Policy::Foreground
    } else {
        Policy::Background
    }
}

/// All watched objects, by uid.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub kinds: FxHashMap<u32, Kind>,
    all: FxHashMap<Arc<str>, Object>,
    /// The dependents that name a uid as their owner, whether or not that owner exists.
    dependents: FxHashMap<Arc<str>, FxHashSet<Arc<str>>>,
    /// The number of objects in each namespace.
    namespaces: FxHashMap<Arc<str>, usize>,
    /// The objects that have finalizers.
    held: FxHashMap<Container, FxHashSet<Arc<str>>>,
}

/// What takes its content with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Container {
    Namespace(Arc<str>),
    Kind(u32),
}

fn containers(object: &Object) -> [Container; 2] {
    [Container::Namespace(object.namespace.clone()), Container::Kind(object.kind)]
}

impl Objects {
    pub(super) fn get(&self, uid: &str) -> Option<&Object> {
        self.all.get(uid)
    }

    pub(super) fn get_mut(&mut self, uid: &str) -> Option<&mut Object> {
        self.all.get_mut(uid)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Object)> {
        self.all.iter()
    }

    /// The shared text of a namespace.
    pub(super) fn namespace(&self, name: &str) -> Arc<str> {
        self.namespaces.get_key_value(name).map_or_else(|| name.into(), |(known, _)| known.clone())
    }

    pub(super) fn add(&mut self, uid: &Arc<str>, object: Object) {
        for owner in &object.owners {
            self.dependents.entry(owner.uid.clone()).or_default().insert(uid.clone());
        }
        *self.namespaces.entry(object.namespace.clone()).or_default() += 1;
        if let Some(kind) = self.kinds.get_mut(&object.kind) {
            kind.objects += 1;
        }
        if !object.finalizers.is_empty() {
            self.hold(uid, containers(&object));
        }
        self.all.insert(uid.clone(), object);
    }

    fn hold(&mut self, uid: &Arc<str>, containers: [Container; 2]) {
        for container in containers {
            self.held.entry(container).or_default().insert(uid.clone());
        }
    }

    fn release(&mut self, uid: &str, containers: [Container; 2]) {
        for container in containers {
            if let Some(held) = self.held.get_mut(&container) {
                held.remove(uid);
                if held.is_empty() {
                    self.held.remove(&container);
                }
            }
        }
    }

    /// Replaces the finalizers of an object. Returns the former ones.
    pub(super) fn set_finalizers(&mut self, uid: &Arc<str>, finalizers: Box<[Box<str>]>) -> Box<[Box<str>]> {
        let Some(object) = self.all.get_mut(uid) else { return Box::default() };
        let held = !finalizers.is_empty();
        let former = std::mem::replace(&mut object.finalizers, finalizers);
        let containers = containers(object);
        match held {
            true => self.hold(uid, containers),
            false => self.release(uid, containers),
        }
        former
    }

    pub(super) fn remove(&mut self, uid: &str) -> Option<Object> {
        let object = self.all.remove(uid)?;
        self.release(uid, containers(&object));
        for owner in &object.owners {
            self.unlink(&owner.uid, uid);
        }
        if let Some(count) = self.namespaces.get_mut(&object.namespace) {
            *count -= 1;
            if *count == 0 {
                self.namespaces.remove(&object.namespace);
            }
        }
        if let Some(kind) = self.kinds.get_mut(&object.kind) {
            kind.objects -= 1;
        }
        Some(object)
    }

    fn unlink(&mut self, owner: &Arc<str>, dependent: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(dependent);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    /// Replaces the owners of an object. Returns the former ones.
    pub(super) fn set_owners(&mut self, uid: &Arc<str>, owners: Box<[Reference]>) -> Box<[Reference]> {
        let Some(object) = self.all.get_mut(uid) else { return Box::default() };
        let former = std::mem::replace(&mut object.owners, owners.clone());
        for owner in &former {
            self.unlink(&owner.uid, uid);
        }
        for owner in owners {
            self.dependents.entry(owner.uid).or_default().insert(uid.clone());
        }
        former
    }

    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Arc<str>> {
        self.dependents.get(uid).into_iter().flatten()
    }

    pub(super) fn identity(&self, uid: &str, object: &Object) -> Identity {
        let kind = self.kinds.get(&object.kind);
        Identity {
            api_version: kind.map(|kind| kind.api_version.clone()).unwrap_or_default(),
            kind: kind.map(|kind| kind.kind.clone()).unwrap_or_default(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
            uid: uid.to_owned(),
        }
    }

    /// What keeps a Terminating object, as far as metadata shows.
    pub(super) fn holds(&self, uid: &str, object: &Object) -> Holds {
        let others = object.finalizers.iter().map(|finalizer| &**finalizer);
        let others = others.filter(|finalizer| ![ORPHAN_FINALIZER, FOREGROUND_FINALIZER].contains(finalizer));
        let mut holds = Holds {
            finalizers: others.map(str::to_owned).collect(),
            grace: object.grace.filter(|grace| *grace > 0),
            orphaning: object.finalizers.iter().any(|finalizer| **finalizer == *ORPHAN_FINALIZER),
            ..Holds::default()
        };
        if object.finalizers.iter().any(|finalizer| **finalizer == *FOREGROUND_FINALIZER) {
            let blocks = |dependent: &&Arc<str>| {
                let owners = self.get(dependent).map(|dependent| &dependent.owners);
                owners.is_some_and(|owners| owners.iter().any(|owner| *owner.uid == *uid && owner.blocks))
            };
            let blocking: Vec<&Arc<str>> = self.dependents(uid).filter(blocks).collect();
            holds.blocking_count = blocking.len();
            holds.blocking = self.named(&blocking);
        }
        holds.content = self.content(object);
        holds
    }

    /// The first of these objects, by kind and name.
    fn named(&self, uids: &[&Arc<str>]) -> Vec<Identity> {
        let kind = |object: &Object| self.kinds.get(&object.kind).map(|kind| kind.kind.as_str());
        let mut objects: Vec<(&str, &Object)> = uids.iter().filter_map(|uid| Some((&***uid, self.get(uid)?))).collect();
        objects.sort_by_key(|(_, object)| (kind(object), &*object.namespace, &*object.name));
        objects.into_iter().take(NAMED).map(|(uid, object)| self.identity(uid, object)).collect()
    }

    /// How many objects are known in a namespace, or of a CRD's kind, and where those are that something holds.
    pub(super) fn contained(&self, object: &Object) -> Option<(usize, Option<Container>)> {
        let kind = self.kinds.get(&object.kind)?;
        if kind.is_namespaces() {
            let objects = self.namespaces.get(&object.name).copied().unwrap_or(0);
            return Some((objects, Some(Container::Namespace(object.name.clone()))));
        }
        kind.is_definitions().then(|| {
            let instances = self.kinds.iter().find(|(_, kind)| kind.full_name == *object.name);
            instances.map_or((0, None), |(id, kind)| (kind.objects, Some(Container::Kind(*id))))
        })
    }

    /// The known content of a namespace, or the known instances of a CRD.
    fn content(&self, object: &Object) -> Option<Content> {
        let (objects, container) = self.contained(object)?;
        let held = container.and_then(|container| self.held.get(&container));
        let held: Vec<&Arc<str>> = held.into_iter().flatten().collect();
        Some(Content { objects, held: self.named(&held) })
    }

    /// Whether the resource with this name was ever listed completely and is not failing.
    pub(super) fn is_watched(&self, full_name: &str) -> bool {
        self.kinds.values().any(|kind| kind.full_name == full_name && kind.listed && kind.failing.is_none())
    }
}

/// Which objects an account tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    Everything,
    /// Those in this namespace, and the namespace.
    Namespace(String),
    /// These, whatever takes their names later, what is in them, and their dependents.
    Targets(Vec<Identity>),
}

/// A scope with its targets by uid and name.
#[derive(Debug)]
pub(super) struct Concern {
    pub scope: Scope,
    uids: FxHashSet<String>,
}

impl Concern {
    pub(super) fn new(scope: Scope) -> Self {
        let uids = match &scope {
            Scope::Targets(targets) => targets.iter().map(|target| target.uid.clone()).collect(),
            _ => FxHashSet::default(),
        };
        Concern { scope, uids }
    }

    /// Whether this is a target, of whatever kind and whether or not it still exists.
    pub(super) fn is_target(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }

    pub(super) fn targets(&self) -> impl Iterator<Item = &String> {
        self.uids.iter()
    }

    /// Whether the object itself is in the scope; its owners are the caller's business.
    pub(super) fn has(&self, kind: &Kind, uid: &str, object: &Object) -> bool {
        match &self.scope {
            Scope::Everything => true,
            Scope::Namespace(namespace) => {
                *object.namespace == **namespace || (kind.is_namespaces() && *object.name == **namespace)
            }
            Scope::Targets(targets) => self.is_target(uid) || targets.iter().any(|target| is_it(target, kind, object)),
        }
    }
}

/// Whether the object has the target's name, or is in it.
fn is_it(target: &Identity, kind: &Kind, object: &Object) -> bool {
    let same_name = target.kind == kind.kind
        && target.api_version == kind.api_version
        && *target.namespace == *object.namespace
        && *target.name == *object.name;
    let in_it = match target.kind.as_str() {
        "Namespace" => target.api_version == "v1" && *object.namespace == *target.name,
        "CustomResourceDefinition" => kind.full_name == target.name,
        _ => false,
    };
    same_name || in_it
}

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
