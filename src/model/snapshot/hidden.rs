//! Which lists that could not be read may hide dependents.

use std::collections::BTreeSet;

use crate::model::{Gap, ListRecord, ObjectId, Resource, ResourceId, Symbol};

use super::Snapshot;

/// Why the objects of a group version are unknown that discovery didn't name.
pub(crate) const UNDISCOVERED: &str = "an APIService names it, but discovery does not";

/// What an APIService with this name serves: it is called after that. `None` for the core group.
pub(crate) fn group_version_of_service(name: &str) -> Option<String> {
    let (version, group) = name.split_once('.').filter(|(_, group)| !group.is_empty())?;
    Some(format!("{group}/{version}"))
}

/// The resource of which APIServices are: its group and kind.
pub(crate) const API_SERVICE: (&str, &str) = ("apiregistration.k8s.io", "APIService");

impl Snapshot {
    /// Gaps for the group versions that an APIService names, and discovery doesn't: an aggregator or a gateway left
    /// them out. Whoever may not list APIServices learns of none.
    pub(crate) fn named_by_services_only(&self) -> Vec<Gap> {
        let Some(services) = self.resources.by_group_kind(API_SERVICE.0, API_SERVICE.1) else {
            return Vec::new();
        };
        let is_new = |resource: &String| {
            self.resources.described_by_discovery().lacks(resource)
                && !self.gaps.iter().any(|gap| gap.resource == *resource)
        };
        let living = self.objects().filter(|(_, object)| object.resource == services && !object.terminating());
        let missing = living.filter_map(|(_, object)| group_version_of_service(self.text(object.name))).filter(is_new);
        missing.map(|resource| Gap { resource, namespace: None, reason: UNDISCOVERED.to_owned().into() }).collect()
    }

    /// Whether a list or a group version is missing that may contain dependents of anything.
    pub(crate) fn may_hide_dependents(&self) -> bool {
        let failed = |list: &ListRecord| list.failure.is_some() && self.resources.not_watched(list.resource).is_none();
        self.lists.iter().any(failed) || self.undiscovered().next().is_some()
    }

    /// What may hide objects of this namespace (`None`: of the cluster) that a sweep would write to: resources of which
    /// no list was read, and group versions that are not known.
    pub(crate) fn may_hide_in(&self, namespace: Option<&str>) -> Vec<String> {
        let is_read = |id: ResourceId| {
            let here = |list: &ListRecord| list.namespace.is_none() || list.namespace.as_deref() == namespace;
            self.lists.iter().any(|list| list.resource == id && list.failure.is_none() && here(list))
        };
        let resources = &self.resources;
        let hides = |id: ResourceId, resource: &Resource| {
            (namespace.is_none() || resource.namespaced) && resources.not_watched(id).is_none() && !is_read(id)
        };
        let unread = resources.deletable().filter(|(id, resource)| hides(*id, resource));
        let unread: Vec<String> = unread.map(|(_, resource)| resource.full_name()).collect();
        let unknown = self.gaps.iter().filter(|gap| gap.is_undiscovered() && !gap.serves_only_metrics());
        unread.into_iter().chain(unknown.map(|gap| gap.resource.clone())).collect()
    }

    /// Gaps that may hide dependents or contents of these objects. Dependents of a namespaced object are in its
    /// namespace; a reference from elsewhere is invalid (R3.7).
    pub fn may_hide(&self, objects: &[ObjectId]) -> Vec<Gap> {
        let namespaces: BTreeSet<Symbol> = objects.iter().map(|object| self.object(*object).namespace).collect();
        let any_cluster_scoped = namespaces.iter().any(|namespace| namespace.is_empty());
        let resources = &self.resources;
        let hides = |id: ResourceId| {
            let elsewhere = any_cluster_scoped && !self.covers(id, None);
            let is_read = |namespace: &Symbol| namespace.is_empty() || self.covers(id, Some(*namespace));
            resources.not_watched(id).is_none()
                && (elsewhere || resources.get(id).namespaced && !namespaces.iter().all(is_read))
        };
        let hiding: BTreeSet<String> =
            resources.deletable().filter(|(id, _)| hides(*id)).map(|(_, resource)| resource.full_name()).collect();
        // An undiscovered group version may contain anything.
        let undiscovered = |gap: &Gap| gap.is_undiscovered() && !gap.serves_only_metrics();
        let is_here = |gap: &Gap| {
            let here = |namespace: &String| namespaces.iter().any(|one| self.text(*one) == namespace.as_str());
            any_cluster_scoped || gap.namespace.as_ref().is_none_or(here)
        };
        let hides = |gap: &Gap| hiding.contains(&gap.resource) && is_here(gap);
        let gaps = self.gaps.iter().filter(|gap| undiscovered(gap) || hides(gap));
        gaps.filter(|_| !objects.is_empty()).cloned().collect()
    }
}
