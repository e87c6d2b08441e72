//! The APIServices that the API server makes for definitions (R9.21).

use rustc_hash::FxHashMap;

use crate::model::{ObjectId, Snapshot};

use super::{context::SimContext, index::ManagedApis};

impl SimContext<'_> {
    /// These APIServices and the definitions that they serve, found once they matter.
    pub(crate) fn managed_apis(&self) -> &ManagedApis {
        self.managed_apis.get_or_init(|| {
            let snapshot = self.snapshot;
            let all = self.built_in.api_services.map_or(&[][..], |resource| self.of_resource(resource));
            let mut index = ManagedApis::default();
            let mut by_name: FxHashMap<&str, ObjectId> = FxHashMap::default();
            for service in all.iter().copied().filter(|service| is_managed(snapshot, *service)) {
                let name = snapshot.text(snapshot.object(service).name);
                let Some((_, group)) = name.split_once('.') else { continue };
                index.of_group.entry(group.to_owned()).or_default().push(service);
                by_name.insert(name, service);
            }
            for (id, resource) in snapshot.resources.iter() {
                let name = format!("{}.{}", resource.version, resource.group);
                let Some(service) = by_name.get(name.as_str()) else { continue };
                let definition = self.definition_of(snapshot.resources.picked(id));
                index.behind.entry(*service).or_default().extend(definition);
            }
            index
        })
    }
}

fn is_managed(snapshot: &Snapshot, service: ObjectId) -> bool {
    snapshot.label(service, "kube-aggregator.kubernetes.io/automanaged") == Some("true")
}
