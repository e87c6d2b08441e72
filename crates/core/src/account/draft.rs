//! Happenings whose reason may still have to be looked up, and what is known of owners.

use std::sync::Arc;

use crate::model::Identity;

use super::{
    Account,
    asked::{Answer, LookUp},
    happening::{Change, Holds, Millis, Owner, OwnerState, Policy, What},
    objects::Reference,
    see::owner_of,
};

/// How long a look-up may take before its owner counts as unknown, in milliseconds.
const PATIENCE: Millis = 5_000;
/// How long a draft waits for others that happened before it, in milliseconds: each resource has its own watch.
const ORDERED: Millis = 300;
/// How much later than a look-up the watch may show that an owner is gone.
const LATE: Millis = 1_000;

/// A happening to be.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub at: Millis,
    /// When it happened, by the account's clock.
    pub order: u64,
    pub object: Option<Identity>,
    pub kind: Option<u32>,
    /// The resourceVersion of the event; none if it has none. Of one store, they are in the order of the changes.
    pub version: Option<u64>,
    /// The owners whose state matters.
    pub references: Vec<Reference>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Told(Box<What>),
    Changed(Box<Change>),
    Requested { policy: Policy, holds: Box<Holds> },
    Gone { requested: bool, after: Option<Millis>, removed: Vec<String>, lost: bool },
    OwnersRemoved { left: usize },
    Appeared { manager: Option<String>, past: Option<(u32, String)> },
}

impl Body {
    /// Whether it needs to know why an object goes.
    fn needs_reason(&self) -> bool {
        matches!(self, Body::Requested { .. } | Body::Gone { requested: false, lost: false, .. })
    }
}

/// What is known at the moment when a draft is told.
pub(super) struct Known {
    pub owners: Vec<Owner>,
    /// Whether the namespace is being deleted.
    pub namespace_goes: bool,
}

impl Account {
    /// The look-ups that a draft needs.
    pub(super) fn needs(&self, draft: &Draft) -> Vec<LookUp> {
        let Some(object) = &draft.object else { return Vec::new() };
        let owners = draft.references.iter().filter(|owner| self.gone.get(&owner.uid).is_none());
        let mut needs: Vec<LookUp> = owners.map(|owner| of_owner(owner, object)).collect();
        needs.extend(self.of_namespace(draft));
        needs
    }

    /// The look-up of the namespace, if no watch shows it.
    fn of_namespace(&self, draft: &Draft) -> Option<LookUp> {
        let object = draft.object.as_ref().filter(|object| !object.namespace.is_empty())?;
        let needed = draft.body.needs_reason() && !self.objects.is_watched("namespaces");
        needed.then(|| LookUp {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: object.namespace.clone(),
            uid: String::new(),
        })
    }

    /// What is known for a draft; none while a look-up may still tell more.
    pub(super) fn known(&self, draft: &Draft, now: Millis) -> Option<Known> {
        let age = now.saturating_sub(draft.at);
        if age < ORDERED {
            return None;
        }
        let Some(object) = &draft.object else { return Some(Known { owners: Vec::new(), namespace_goes: false }) };
        let owners: Option<Vec<Owner>> = draft
            .references
            .iter()
            .map(|owner| Some(owner_of(owner, self.owner_state(owner, object, draft, age)?)))
            .collect();
        let watched = self.containers.get(&(true, Arc::from(object.namespace.as_str()))).copied().unwrap_or(false);
        let namespace_goes = match self.of_namespace(draft) {
            _ if watched => true,
            Some(look_up) => match self.look_ups.answer(&look_up, draft.order) {
                Some(Answer::Found { terminating, .. }) => *terminating,
                // Its content went first.
                Some(Answer::Absent { .. }) => true,
                Some(Answer::Unknown(_)) => false,
                None if age < PATIENCE => return None,
                None => false,
            },
            None => false,
        };
        Some(Known { owners: owners?, namespace_goes })
    }

    fn owner_state(&self, owner: &Reference, object: &Identity, draft: &Draft, age: Millis) -> Option<OwnerState> {
        let order = draft.order;
        if let Some(gone) = self.gone.get(&owner.uid) {
            // In a circle of owners, the last to go is not why the first went. An owner that waited for its dependents,
            // or freed them, goes last, though.
            let later = |(gone, this): (u64, u64)| gone > this;
            let is_later = gone.version.zip(draft.version).is_some_and(later) && gone.at + ORDERED >= draft.at;
            if is_later && gone.policy == Some(Policy::Background) {
                return Some(OwnerState::Watched);
            }
            return Some(OwnerState::SeenGoing { at: gone.at, policy: gone.policy });
        }
        let watched = self.objects.get(&owner.uid);
        let shown = |why: &str| match watched {
            Some(owner) if owner.deleted.is_some() && owner.policy == Some(Policy::Foreground) => OwnerState::Waiting,
            Some(_) => OwnerState::Watched,
            None => OwnerState::Unknown(why.to_owned()),
        };
        Some(match self.look_ups.answer(&of_owner(owner, object), order) {
            // Its watch will show how it went.
            Some(Answer::Absent { .. }) if age < LATE && self.is_at(owner, object) => return None,
            Some(Answer::Absent { current_uid }) => OwnerState::Absent { current_uid: current_uid.clone() },
            Some(Answer::Found { waiting: true, .. }) => OwnerState::Waiting,
            // Other finalizers may keep an owner that waited for its dependents before: its watch has shown that.
            Some(Answer::Found { terminating: true, orphaning: false, .. }) => match watched.and_then(|one| one.policy)
            {
                Some(Policy::Foreground) => OwnerState::Waiting,
                Some(_) => OwnerState::Exists { terminating: true, orphaning: false },
                None if watched.is_some() && age < LATE => return None,
                None => OwnerState::Unknown("it is Terminating, and may have waited for its dependents".to_owned()),
            },
            Some(Answer::Found { terminating, orphaning, .. }) => {
                OwnerState::Exists { terminating: *terminating, orphaning: *orphaning }
            }
            Some(Answer::Unknown(why)) => shown(why),
            None if age < PATIENCE => return None,
            None => shown("it was not looked up in time"),
        })
    }

    /// Adds a draft in the order of the changes: watches of several resources are some milliseconds apart.
    pub(super) fn place(&mut self, draft: Draft) {
        let is_later = |other: &Draft| match (other.version, draft.version) {
            (Some(other_version), Some(version)) => other_version > version && draft.at - other.at < ORDERED,
            _ => false,
        };
        let later = self.drafts.iter().rev().take_while(|other| is_later(other)).count();
        self.drafts.insert(self.drafts.len() - later, draft);
    }

    /// Whether watches show the owner where the reference leads.
    fn is_at(&self, owner: &Reference, object: &Identity) -> bool {
        self.objects.get(&owner.uid).is_some_and(|known| {
            let here = known.namespace.is_empty() || *known.namespace == *object.namespace;
            let kind = self.objects.kinds.get(&known.kind);
            here && *known.name == *owner.name && kind.is_some_and(|kind| kind.kind == *owner.kind)
        })
    }

    /// When the first draft must be told although look-ups are missing.
    pub(super) fn draft_due(&self, now: Millis) -> Option<Millis> {
        let draft = self.drafts.front()?;
        let due = [ORDERED, LATE, PATIENCE].map(|pause| draft.at + pause);
        // After the last one, it is told: never earlier than in a moment.
        Some(due.into_iter().find(|due| *due > now).unwrap_or(now + ORDERED))
    }
}

fn of_owner(owner: &Reference, object: &Identity) -> LookUp {
    LookUp {
        api_version: owner.api_version.to_string(),
        kind: owner.kind.to_string(),
        namespace: object.namespace.clone(),
        name: owner.name.to_string(),
        uid: owner.uid.to_string(),
    }
}
