//! The watched objects, as far as an account needs them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{FOREGROUND_FINALIZER, Identity, ORPHAN_FINALIZER, RawObject, RawReference, Resource};

use super::happening::{Content, Holds, Policy};

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
