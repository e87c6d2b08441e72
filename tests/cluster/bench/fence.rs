//! What shows that the collector has seen everything that was written before.

use serde_json::json;

use crate::{
    differential::{
        build::{GROUP, Place, VERSIONS, definition},
        state,
    },
    graphs::{
        generate::KINDS,
        kinds::Kind,
        text::{Graph, Line},
    },
    harness::Cluster,
};

/// An object of each kind of the random graphs, whose owner is absent: whoever collects removes it once its watch of
/// this kind has told all that was written before.
pub struct Fence {
    place: Place,
    graph: Graph,
}

impl Fence {
    /// Serves the kinds of the random graphs, too; `Region` in these versions.
    #[track_caller]
    pub fn prepare(cluster: &Cluster, regions: &[&str]) -> Self {
        for (kind, versions) in [("Shop", VERSIONS), ("Region", regions)] {
            let kind = Kind::named(kind);
            let metadata = json!({"name": format!("{}.{GROUP}", kind.plural)});
            let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": metadata, "spec": definition(GROUP, kind.name, versions)});
            cluster.await_kind(&cluster.create(definition));
        }
        let line = |kind: &&str| Line::parse(&format!("{kind} last <- ClusterRole/absent"));
        let graph = Graph { lines: KINDS.iter().map(line).collect(), ..Graph::default() };
        Fence { place: Place::prepare(cluster, "fence"), graph }
    }

    #[track_caller]
    pub fn pass(&self, cluster: &Cluster) {
        self.place.build(cluster, &self.graph);
        cluster.wait_until_done("the collector to remove", || {
            let objects = state::read(cluster);
            state::of(&self.place, &objects).map(|(name, found)| format!("{}/{name}", found.kind.name)).collect()
        });
    }
}
