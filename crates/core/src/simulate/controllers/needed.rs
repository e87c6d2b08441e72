//! What a controller needs, or may need, to remove its finalizer: the ServiceAccount as which it acts (R9.46), and what
//! the object names in its spec (R9.47).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    groups::Groups,
    model::{
        ObjectId, Presence, ResourceId, Snapshot, Symbol,
        effects::{NamedObject, PolicyEffect, known_finalizer, known_users, may_need, surely_needs},
    },
    simulate::{context::SimContext, state::Liveness},
    wording::each_once,
};

use super::{
    FinalizerController,
    lacks::{Lack, Need, Needed},
};

/// At most this many objects are read to find what names another.
const MOST_READ: usize = 100;

impl SimContext<'_> {
    /// What the controller of a finalizer of an object needs, or may need, as far as it was read.
    fn needed(&self, object: ObjectId, finalizer: Symbol) -> Vec<Needed> {
        let snapshot = self.snapshot;
        let (resource, text) = (snapshot.resource(object), snapshot.text(finalizer));
        let Some(facts) = snapshot.facts.policy(object) else { return Vec::new() };
        let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
        let acts_as = known_finalizer(text, group, kind)
            .and_then(|known| known.policy)
            .filter(|policy| policy.needs_account())
            .and_then(|_| facts.account());
        let account = acts_as.and_then(|name| {
            let (accounts, found) = (self.built_in.accounts?, self.account_of(object, name)?);
            (found != Presence::Unknown).then(|| Needed {
                name: format!("ServiceAccount/{name}"),
                id: found.object(),
                need: Need::ActsAs,
                place: (snapshot.resources.get(accounts).full_name(), snapshot.namespace(object).to_owned()),
            })
        });
        let names = if may_need(text, group, kind) { &facts.names[..] } else { &[] };
        // Of the others, the tables say what keeps them.
        let is_sure = surely_needs(text, group, kind);
        let is_known = known_finalizer(text, group, kind).is_some() && !is_sure;
        let keeps = known_finalizer(text, group, kind)
            .and_then(|known| known.policy)
            .is_some_and(|policy| matches!(policy.says(facts), PolicyEffect::Keep(_)));
        let mut needed: Vec<Needed> = account.into_iter().collect();
        for named in names {
            let is_needed = is_sure || named.is_needed_for(text) && !keeps;
            if !is_known || is_needed || named.is_secret() {
                let found = self.named(object, named, is_needed);
                let config = found.as_ref().and_then(|found| found.id).filter(|_| named.is_needed_for(text));
                needed.extend(config.and_then(|config| self.needed_by(config)).into_iter().flatten());
                needed.extend(found);
            }
        }
        needed
    }

    /// The Secrets that an object names which a controller surely needs.
    fn needed_by(&self, config: ObjectId) -> Option<impl Iterator<Item = Needed>> {
        let (object, kind) = (self.snapshot.object(config), self.snapshot.resource(config));
        let may_need = |finalizer: &Symbol| may_need(self.snapshot.text(*finalizer), &kind.group, &kind.kind);
        let facts = self.snapshot.facts.policy(config);
        let facts = if object.finalizers.iter().any(may_need) { self.evidence(config, facts) } else { facts }?;
        let secrets = facts.names.iter().filter(|named| named.is_secret());
        Some(secrets.filter_map(move |named| self.named(config, named, true)))
    }

    /// Asks for what an object names, if the controller of a finalizer may need that.
    pub(crate) fn read_what_it_names(&self, object: ObjectId, finalizer: Symbol) {
        let (resource, text) = (self.snapshot.resource(object), self.snapshot.text(finalizer));
        if may_need(text, &resource.group, &resource.kind) {
            self.evidence(object, self.snapshot.facts.policy(object));
        }
    }

    /// What names an object in its spec, and may need it, as far as was read.
    pub(crate) fn named_by(&self, object: ObjectId) -> &[ObjectId] {
        let index = self.controllers.named_by.get_or_init(|| {
            let mut index = Groups::default();
            for (by, _) in self.snapshot.objects() {
                let names = self.snapshot.facts.policy(by).map_or(&[][..], |facts| &facts.names);
                let is_sure = !names.is_empty() && self.surely_needs(by);
                let is_needed = |named: &NamedObject| {
                    let mut finalizers = self.snapshot.object(by).finalizers.iter();
                    is_sure || finalizers.any(|finalizer| named.is_needed_for(self.snapshot.text(*finalizer)))
                };
                let needed = names.iter().filter_map(|named| self.named(by, named, is_needed(named))?.id);
                index.extend(needed.map(|id| (id, by)));
            }
            index
        });
        index.of(&object)
    }

    /// Whether the controller of one of its finalizers surely needs what an object names.
    pub(crate) fn surely_needs(&self, object: ObjectId) -> bool {
        let kind = self.snapshot.resource(object);
        let is_sure = |finalizer: &Symbol| surely_needs(self.snapshot.text(*finalizer), &kind.group, &kind.kind);
        self.snapshot.object(object).finalizers.iter().any(is_sure)
    }

    /// Asks for what may name one of these objects: most of that is where the object is. Where there is much, nothing
    /// is read.
    pub(crate) fn read_what_may_name(&self, objects: impl IntoIterator<Item = ObjectId>) {
        let snapshot = self.snapshot;
        // Secrets are named from every group.
        let mut groups: FxHashMap<Symbol, FxHashSet<&str>> = FxHashMap::default();
        for id in objects {
            let namespace = snapshot.object(id).namespace;
            groups.entry(namespace).or_default().insert(&snapshot.resource(id).group);
        }
        groups.remove(&Symbol::EMPTY);
        for (namespace, groups) in groups {
            let may_name = |id: &ObjectId| {
                let kind = snapshot.resource(*id);
                let may_need = |finalizer: &Symbol| may_need(snapshot.text(*finalizer), &kind.group, &kind.kind);
                (groups.contains("") || groups.contains(kind.group.as_str()))
                    && snapshot.facts.policy(*id).is_none()
                    && snapshot.object(*id).finalizers.iter().any(may_need)
            };
            let unread: Vec<ObjectId> = self.in_namespace(namespace).iter().copied().filter(may_name).collect();
            if unread.len() <= MOST_READ {
                self.lacks(|needs| needs.evidence.extend(unread));
            }
        }
    }

    /// The object that another names, or surely names though it doesn't exist, if that matters to the other's
    /// controller, or if its controller surely needs that.
    fn named(&self, by: ObjectId, named: &NamedObject, is_needed: bool) -> Option<Needed> {
        let snapshot = self.snapshot;
        let namespace = match named.namespace.as_str() {
            "" => snapshot.namespace(by),
            _ if named.is_anywhere() => snapshot.namespace(by),
            other => other,
        };
        let own = snapshot.resource(by);
        let all = self.controllers.kinds.get_or_init(|| kinds_of_groups(snapshot));
        let of_group = |group: &str| all.of(group).iter().copied();
        let kind_of = |id: &ResourceId| snapshot.resources.get(*id).kind.as_str();
        let secrets = of_group("").find(|id| kind_of(id) == "Secret").filter(|_| named.may_be_secret());
        let is_of_group = named.group.is_empty() || named.group == own.group;
        // What configures several groups is in that above them: `aws.upbound.io` for `s3.aws.upbound.io`.
        let above = own.group.split_once('.').map(|(_, above)| above).filter(|_| named.group.is_empty());
        let elsewhere = above.or(Some(&*named.group)).filter(|group| is_needed && !group.is_empty());
        let kinds = is_of_group.then_some(&*own.group).into_iter().chain(elsewhere).flat_map(of_group);
        let kinds = kinds.filter(|id| named.may_be(kind_of(id)));
        let need = if is_needed { Need::Surely } else { Need::Perhaps };
        let mut missing = None;
        for kind in secrets.into_iter().chain(kinds) {
            let resource = snapshot.resources.get(kind);
            let is_secret = Some(kind) == secrets;
            let place = if resource.namespaced { namespace } else { "" };
            if resource.namespaced && place.is_empty() {
                continue;
            }
            let is_sure = if is_secret { named.is_secret() } else { named.is(&resource.kind) };
            let found = match snapshot.look_up_named(kind, place, &named.name) {
                Presence::Present(id) => Presence::Present(id),
                _ if named.is_anywhere() => self.look_up_anywhere(kind, &named.name),
                found => found,
            };
            match found {
                Presence::Present(id) => {
                    let matters = match is_secret {
                        _ if is_needed => by != id,
                        true => !self.is_kin(by, id),
                        false => self.is_relied_on(by, id),
                    };
                    return matters.then(|| Needed {
                        name: snapshot.located(id, Some(snapshot.namespace(by))),
                        id: Some(id),
                        need,
                        place: (resource.full_name(), place.to_owned()),
                    });
                }
                Presence::Absent if is_sure => {
                    let kind = (&*resource.kind, resource.full_name());
                    missing = Some(Needed::missing(snapshot, by, kind, (place, &named.name), need));
                }
                _ => {}
            }
        }
        missing
    }

    /// The only object of a kind with this name, in whichever namespace it is.
    fn look_up_anywhere(&self, kind: ResourceId, name: &str) -> Presence {
        let mut found = self.of_resource(kind).iter().copied().filter(|id| self.snapshot.name(*id) == name);
        match (found.next(), found.next()) {
            (Some(id), None) => Presence::Present(id),
            (None, _) if self.snapshot.covers(kind, None) => Presence::Absent,
            _ => Presence::Unknown,
        }
    }

    /// Whether one of two objects owns the other, or both have an owner in common: their controllers know of both.
    fn is_kin(&self, one: ObjectId, other: ObjectId) -> bool {
        let uids = |id: ObjectId| {
            let object = self.snapshot.object(id);
            let owners = object.owners.iter().map(|owner| owner.uid);
            owners.chain([object.uid]).filter(|uid| *uid != Symbol::EMPTY)
        };
        one == other || uids(one).any(|uid| uids(other).any(|of_other| of_other == uid))
    }

    /// Whether an object of the same group is more than a description: it has a finalizer, dependents or credentials.
    /// Not if somebody made the other that names it, who knows of both, or if its controller keeps it for the other.
    fn is_relied_on(&self, by: ObjectId, named: ObjectId) -> bool {
        let snapshot = self.snapshot;
        let object = snapshot.object(named);
        let (user, used) = (snapshot.resource(by), snapshot.resource(named));
        let is_user = |(group, kind): &(&str, &str)| *kind == user.kind && (*group == "*" || *group == user.group);
        let keeps = |finalizer: &Symbol| {
            known_users(snapshot.text(*finalizer), &used.kind).any(|users| users.kinds.iter().any(is_user))
        };
        let has_credentials =
            || snapshot.facts.policy(named).is_some_and(|facts| facts.names.iter().any(NamedObject::is_secret));
        by != named
            && snapshot.object(by).owners.is_empty()
            && !self.is_kin(by, named)
            && !object.finalizers.iter().any(keeps)
            && (!object.finalizers.is_empty() || !self.graph.dependents(named.into()).is_empty() || has_credentials())
    }

    /// The controller of a finalizer where something goes that it needs, or may need; `None`: nothing does. Of one that
    /// is not seen, only what it surely needs counts.
    pub(crate) fn without_what_goes(
        &self,
        controller: &FinalizerController,
        (object, finalizer): (ObjectId, Symbol),
        goes: impl Fn(ObjectId) -> bool,
    ) -> Option<Arc<FinalizerController>> {
        let needed = self.needed(object, finalizer);
        let is_seen = matches!(controller.liveness, Liveness::Alive(_)) || !controller.acting().is_empty();
        let counts = |needed: &Needed| is_seen || needed.need != Need::Perhaps;
        let gone = needed.into_iter().filter(|needed| counts(needed) && needed.id.is_some_and(&goes));
        let gone: Vec<Needed> = gone.collect();
        let told = controller.told(self.snapshot).unwrap_or_else(|| "its controller".to_owned());
        let words = Needed::in_words(&gone, ["goes in this delete, too", "go in this delete, too"])?;
        let liveness = Liveness::Unknown(format!("{told} {words}"));
        let loses = gone.iter().filter_map(|needed| needed.id).collect();
        Some(Arc::new(FinalizerController { liveness, loses, paused: None, ..controller.clone() }))
    }

    /// What somebody can make again, and is not found, as is said of an object since it was deleted.
    pub(crate) fn said_to_be_missing(&self, object: ObjectId) -> Option<Needed> {
        // Nobody makes these by hand: what goes on without them is up to the controller.
        const MADE: [&str; 4] = ["Node", "PersistentVolume", "Pod", "VolumeAttachment"];
        let snapshot = self.snapshot;
        let said = snapshot.facts.why_not_deleted(object).filter(|said| said.source.is_of_deletion())?;
        let (called, name) = said.missing()?;
        let (namespace, name) = name.split_once('/').unwrap_or((snapshot.namespace(object), name));
        let own = snapshot.resource(object);
        let (kind, group) = called.split_once('.').map_or((called, None), |(kind, group)| (kind, Some(group)));
        let groups = group.map_or(vec!["", &own.group], |group| vec![group]);
        let known = groups.into_iter().find_map(|group| snapshot.resources.by_group_and_name(group, kind));
        let Some(resource) = known.map(|known| snapshot.resources.get(known)) else {
            // A dump may lack its kind.
            let word = group.filter(|group| group.contains('.')).map(|_| called.to_ascii_lowercase())?;
            return Some(Needed::missing(snapshot, object, (kind, word), (namespace, name), Need::Surely));
        };
        let place = if resource.namespaced { namespace } else { "" };
        let is_there = matches!(snapshot.look_up_named(known?, place, name), Presence::Present(_));
        let is_own = resource == own && name == snapshot.name(object);
        if is_own || MADE.contains(&&*resource.kind) || is_there {
            return None;
        }
        let kind = (&*resource.kind, resource.full_name());
        Some(Needed::missing(snapshot, object, kind, (place, name), Need::Surely))
    }

    /// The controller of a finalizer, with what it needs or may need and what doesn't exist.
    pub(super) fn without_what_is_missing(
        &self,
        controller: Arc<FinalizerController>,
        object: ObjectId,
        finalizer: Symbol,
    ) -> Arc<FinalizerController> {
        let mut missing = self.needed(object, finalizer);
        missing.retain(|needed| needed.id.is_none());
        let said = self.said_to_be_missing(object);
        missing.extend(said.filter(|said| !missing.iter().any(|needed| needed.is_same(said))));
        let Some(words) = Needed::in_words(&missing, ["does not exist", "do not exist"]) else { return controller };
        match &controller.liveness {
            // It runs, and isn't expected to do anything.
            Liveness::Alive(alive) if missing.iter().any(|needed| needed.need == Need::ActsAs) => {
                let liveness = Liveness::Unknown(format!("{alive}, but {words}"));
                Arc::new(FinalizerController { name: None, liveness, ..(*controller).clone() })
            }
            Liveness::Alive(_) | Liveness::Unknown(_) => {
                let mut lacks = controller.lacks.clone();
                lacks.extend(missing.into_iter().map(Lack::Object));
                Arc::new(FinalizerController { lacks, ..(*controller).clone() })
            }
            _ => controller,
        }
    }
}

/// The kinds of each group.
fn kinds_of_groups(snapshot: &Snapshot) -> Groups<String, ResourceId> {
    let kinds = snapshot.resources.iter();
    each_once(kinds.map(|(id, resource)| (resource.group.clone(), snapshot.resources.picked(id)))).collect()
}

/// Whether a spec may name an object, and a controller need it.
pub(crate) fn may_be_named(snapshot: &Snapshot) -> impl Fn(ObjectId) -> bool {
    let secrets = snapshot.resources.by_group_kind("", "Secret");
    move |id| {
        let kind = snapshot.object(id).resource;
        let group = &snapshot.resources.get(kind).group;
        Some(kind) == secrets || group.contains('.') && !group.ends_with(".k8s.io")
    }
}
