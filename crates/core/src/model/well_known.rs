//! What Kubernetes serves by default; replaces discovery if there is none, as in a dump.
//!
//! `well_known.json` was recorded from a kube-apiserver v1.36.3 that was given no `--runtime-config`, with nothing
//! aggregated. To record it again, from `kubectl proxy --port=8001`, in the root of the repository:
//!
//! ```text
//! for path in api apis; do
//!   curl -s localhost:8001/$path -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
//! done | jq -rs '
//!   [.[].items[] | (.metadata.name // "") as $group | .versions[] | .version as $version | .resources[]
//!     | {group: $group, version: $version, name: .resource, singular: .singularResource, kind: .responseKind.kind}
//!       + (if .shortNames then {shortNames} else {} end) + (if .categories then {categories} else {} end)
//!       + {namespaced: (.scope == "Namespaced"), verbs}] as $resources
//!   | [.[].items[] | [.metadata.name // "", .versions[0].version]] as $preferred
//!   | "{\"server\":\"v1.36.3\",\n\"preferredVersions\":[", ([$preferred[] | tojson] | join(",\n")),
//!     "],\n\"resources\":[", ([$resources[] | tojson] | join(",\n")), "]}"' > crates/core/src/model/well_known.json
//! ```

use serde::Deserialize;

use super::resources::{Resource, Resources};

/// What a kube-apiserver serves by default, in its own order of preference.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WellKnown {
    /// The version of the kube-apiserver that it was recorded from.
    pub server: String,
    /// The preferred version of each group.
    pub preferred_versions: Vec<(String, String)>,
    /// Every resource in every version.
    pub resources: Vec<Resource>,
}

/// The recorded discovery, as input for [`super::Resources::new`].
pub fn resources() -> WellKnown {
    serde_json::from_str(include_str!("well_known.json")).expect("a test of this file parses the recording")
}

/// What such a server serves.
pub fn served() -> Resources {
    let known = resources();
    Resources::new(known.resources, known.preferred_versions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Mapping, NotWatched};

    #[test]
    fn the_recording_is_what_a_server_serves() {
        let known = resources();
        assert_eq!(known.server, "v1.36.3");
        let groups: std::collections::BTreeSet<&str> =
            known.resources.iter().map(|resource| resource.group.as_str()).collect();
        assert_eq!(groups.len(), known.preferred_versions.len());
        for (group, version) in &known.preferred_versions {
            assert!(
                known.resources.iter().any(|resource| resource.group == *group && resource.version == *version),
                "{group}"
            );
        }
        assert!(known.resources.iter().all(|resource| !resource.singular.is_empty() && !resource.verbs.is_empty()));
    }

    #[test]
    fn it_maps_and_picks_as_the_collector_does() {
        let known = resources();
        let resources = Resources::new(known.resources, known.preferred_versions);
        let Mapping::Served(old) = resources.map("autoscaling/v1", "HorizontalPodAutoscaler") else {
            panic!("autoscaling/v1 is served")
        };
        assert_eq!(resources.get(resources.picked(old)).version, "v2");
        let Mapping::Served(event) = resources.map("v1", "Event") else { panic!("events are served") };
        assert_eq!(resources.not_watched(event), Some(&NotWatched::Ignored));
        let deletable: Vec<String> = resources.deletable().map(|(_, resource)| resource.full_name()).collect();
        assert!(deletable.contains(&"deployments.apps".to_owned()));
        assert!(!deletable.contains(&"bindings".to_owned()));
    }
}
