//! The APIServices that the API server makes for definitions (R9.21).

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::model::{ObjectId, Snapshot};

use super::world::SimContext;

/// These APIServices and the definitions that they serve, found once they matter.
#[derive(Debug, Default)]
pub(crate) struct ManagedApis(OnceLock<Index>);

#[derive(Debug, Default)]
struct Index {
    /// The APIServices of a group.
    of_group: FxHashMap<String, Vec<ObjectId>>,
    /// The definitions that serve an APIService's group and version.
    behind: FxHashMap<ObjectId, Vec<ObjectId>>,
}

impl ManagedApis {
    /// The APIServices of a group.
    pub(crate) fn of_group(&self, context: &SimContext<'_>, group: &str) -> &[ObjectId] {
        self.get(context).of_group.get(group).map_or(&[], Vec::as_slice)
    }

    /// The definitions that serve an APIService's group and version.
    pub(crate) fn behind(&self, context: &SimContext<'_>, service: ObjectId) -> &[ObjectId] {
        self.get(context).behind.get(&service).map_or(&[], Vec::as_slice)
    }

    fn get(&self, context: &SimContext<'_>) -> &Index {
        self.0.get_or_init(|| {
            let snapshot = context.snapshot;
            let all = context.built_in.api_services.map_or(&[][..], |resource| context.of_resource(resource));
            let mut index = Index::default();
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
                let definition = context.definition_of(snapshot.resources.picked(id));
                index.behind.entry(*service).or_default().extend(definition);
            }
            index
        })
    }
}

fn is_managed(snapshot: &Snapshot, service: ObjectId) -> bool {
    snapshot.label(service, "kube-aggregator.kubernetes.io/automanaged") == Some("true")
}
