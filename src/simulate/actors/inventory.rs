//! What controllers delete because the status of their object lists it: Argo CD, Flux (R9.38).

use crate::{
    model::{
        ANY_RESOURCE, Gap, ObjectId, Presence, Symbol,
        effects::{InventoryObject, Policy, PolicyEffect, known_finalizer},
    },
    server::{DeleteOptions, Propagation},
    simulate::{cause::Cause, world::World},
};

impl World<'_, '_> {
    /// Lets the controllers of these finalizers delete what the object lists. Takes away those that stay until that is
    /// gone, and returns whether there are any. Adds what they may delete, too, but could not be read.
    pub(super) fn delete_inventory(
        &mut self,
        object: ObjectId,
        finalizers: &mut Vec<Symbol>,
        unread: &mut Vec<Gap>,
    ) -> bool {
        let snapshot = self.context.snapshot;
        let resource = snapshot.resources.get(snapshot.object(object).resource);
        let before = finalizers.len();
        finalizers.retain(|finalizer| {
            let text = snapshot.text(*finalizer);
            let policy = known_finalizer(text, &resource.group, &resource.kind).and_then(|known| known.policy());
            let in_background = text.ends_with("/background");
            policy.is_none_or(|policy| !self.delete_listed(object, policy, in_background, unread))
        });
        finalizers.len() < before
    }

    /// The same for one controller, which heeds this policy. Returns whether it keeps its finalizer.
    fn delete_listed(&mut self, object: ObjectId, policy: Policy, in_background: bool, unread: &mut Vec<Gap>) -> bool {
        let snapshot = self.context.snapshot;
        let Some(facts) = snapshot.facts.policy(object) else {
            self.needs.facts.insert(object);
            if policy.lists_objects() {
                let reason = format!("the status of {} was not read", snapshot.short_name(object));
                unread.push(Gap { resource: ANY_RESOURCE.to_owned(), namespace: None, reason: reason.into() });
            }
            return false;
        };
        let Some(inventory) = facts.inventory.as_ref().filter(|inventory| !inventory.elsewhere) else { return false };
        if matches!(policy.says(facts), PolicyEffect::Keep(_)) {
            return false;
        }
        // Argo CD deletes in the foreground, unless its finalizer says otherwise; Flux never does.
        let propagation = match policy {
            Policy::ArgoCd if !in_background => Propagation::Foreground,
            _ => Propagation::Background,
        };
        let listed: Vec<ObjectId> =
            inventory.objects.iter().filter_map(|listed| self.listed(object, policy, listed, unread)).collect();
        for id in &listed {
            if self.stored(*id).is_some_and(|stored| !stored.terminating) {
                let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
                self.delete(*id, &options, Cause::Inventory(object));
            }
        }
        inventory.waits && listed.into_iter().any(|id| self.exists(id))
    }

    /// An object that another lists, if its controller deletes it.
    fn listed(
        &mut self,
        lists: ObjectId,
        policy: Policy,
        listed: &InventoryObject,
        unread: &mut Vec<Gap>,
    ) -> Option<ObjectId> {
        let snapshot = self.context.snapshot;
        let resource = snapshot.resources.by_group_kind(&listed.group, &listed.kind)?;
        let namespace = if snapshot.resources.get(resource).namespaced { listed.namespace.as_str() } else { "" };
        let at = snapshot.locate(resource, namespace, &listed.name).ok()?;
        let id = match snapshot.look_up(at) {
            Presence::Present(id) => id,
            Presence::Absent => return None,
            Presence::Unknown => {
                self.needs.look_ups.insert(at);
                let gap = snapshot.gap_of_listed(lists, at);
                if !unread.contains(&gap) {
                    unread.push(gap);
                }
                return None;
            }
        };
        let is_definition = Some(resource) == self.context.built_in.definitions;
        // Flux deletes what still carries its own labels.
        let owner = snapshot.object(lists);
        let label = |key: &str| snapshot.label(id, &format!("kustomize.toolkit.fluxcd.io/{key}"));
        let is_tracked = match policy {
            Policy::ArgoCd => !is_definition && id != lists,
            Policy::Kustomization => {
                label("name") == Some(snapshot.text(owner.name))
                    && label("namespace") == Some(snapshot.text(owner.namespace))
            }
            _ => false,
        };
        let mut spared = snapshot.object(id).spared;
        for (key, value) in snapshot.object(id).labels.iter().filter(|_| policy == Policy::Kustomization) {
            spared.heed(snapshot.text(*key), snapshot.text(*value));
        }
        (is_tracked && self.exists(id) && !spared.by(policy)).then_some(id)
    }
}
