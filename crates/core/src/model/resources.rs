//! The resources that a server serves, which of them the collector watches (§2), and how a
//! reference's apiVersion and kind map to one of them (R3.13–R3.17).

use std::{borrow::Cow, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ServerVersion;

/// The verbs that the collector requires of a resource (R2.2).
pub(crate) const DELETABLE_VERBS: [&str; 3] = ["delete", "list", "watch"];

/// The group of an apiVersion; empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The index of a resource in its [`Resources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ResourceId(pub u32);

impl ResourceId {
    /// The id as an index into per-resource tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One resource in one version, as discovery describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    /// The name in URLs: `deployments`.
    #[serde(rename = "name")]
    pub plural: String,
    /// Empty if the server doesn't say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub singular: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    pub namespaced: bool,
    pub verbs: Vec<String>,
    /// Whether `status` is a subresource: it is then written separately and ignored on creation. Unknown in dumps.
    #[serde(skip)]
    pub has_status: bool,
    /// Whether one of Kubernetes' own kinds that is served has the same name.
    #[serde(skip)]
    pub shares_kind: bool,
    /// Whether the plural is a guess that is often wrong, of a dump without its CRD: `ServiceDefaults` have no plural
    /// of their own, and `Gateway` has `gateways`.
    #[serde(skip)]
    pub doubtful_plural: bool,
}

impl Resource {
    /// A namespaced resource of which nothing else is known, or matters.
    pub fn named(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        let [group, version, plural, kind] = [group, version, plural, kind].map(str::to_owned);
        Resource { group, version, plural, kind, namespaced: true, ..Resource::default() }
    }

    /// The same with these verbs.
    #[must_use]
    pub fn with_verbs(self, verbs: &[&str]) -> Self {
        Resource { verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(), ..self }
    }

    /// The resources that the API server serves because of this CustomResourceDefinition, one for each served version.
    pub(crate) fn defined_by(definition: &Value) -> impl Iterator<Item = Resource> + '_ {
        let spec = &definition["spec"];
        let names = &spec["names"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let served = spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] == true);
        served.map(move |version| Resource {
            group: text(&spec["group"]),
            version: text(&version["name"]),
            plural: text(&names["plural"]),
            singular: text(&names["singular"]),
            short_names: names["shortNames"].as_array().into_iter().flatten().map(text).collect(),
            kind: text(&names["kind"]),
            namespaced: spec["scope"] == "Namespaced",
            has_status: version["subresources"]["status"].is_object(),
            ..Resource::default()
        })
    }

    /// Whether its group is one of Kubernetes' own.
    pub fn is_kubernetes(&self) -> bool {
        !self.group.contains('.') || self.group.ends_with(".k8s.io")
    }

    /// The kind, as texts name it: with its group if one of Kubernetes' own is called the same (`Node.longhorn.io`).
    pub fn named_kind(&self) -> Cow<'_, str> {
        match self.shares_kind {
            true => Cow::Owned(format!("{}.{}", self.kind, self.group)),
            false => Cow::Borrowed(&self.kind),
        }
    }

    /// What commands call it: its plural, or its singular if the plural is a doubtful guess.
    pub fn type_word(&self) -> &str {
        if self.doubtful_plural { &self.singular } else { &self.plural }
    }

    /// `group/version`, or `version` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `deployments.apps`, or `pods` for the core group, as in messages and gaps.
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Whether both are the same resource in the same version: its kind may have another name by now.
    pub fn has_path_of(&self, other: &Resource) -> bool {
        (&self.group, &self.version, &self.plural) == (&other.group, &other.version, &other.plural)
    }

    /// Whether its objects are webhook configurations, admission policies or their bindings.
    pub fn is_of_admission(&self) -> bool {
        self.group == "admissionregistration.k8s.io"
    }

    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|offered| offered == verb)
    }

    /// The verbs of [`DELETABLE_VERBS`] that it lacks.
    pub fn missing_verbs(&self) -> Vec<&'static str> {
        DELETABLE_VERBS.into_iter().filter(|verb| !self.has_verb(verb)).collect()
    }

    /// Whether these are events, of either API group. The collector ignores them.
    pub(crate) fn is_events(&self) -> bool {
        self.plural == "events" && matches!(self.group.as_str(), "" | "events.k8s.io")
    }
}

/// Whether a group is built into Kubernetes. Groups of CRDs contain a dot; those under `k8s.io` (Gateway API,
/// snapshots, metrics) are listed by name.
pub fn is_built_in_group(group: &str) -> bool {
    matches!(group, "" | "apps" | "autoscaling" | "batch" | "extensions" | "policy")
        || matches!(
            group.strip_suffix(".k8s.io"),
            Some(
                "admissionregistration"
                    | "apiextensions"
                    | "apiregistration"
                    | "authentication"
                    | "authorization"
                    | "certificates"
                    | "coordination"
                    | "discovery"
                    | "events"
                    | "flowcontrol.apiserver"
                    | "internal.apiserver"
                    | "networking"
                    | "node"
                    | "rbac.authorization"
                    | "resource"
                    | "scheduling"
                    | "storage"
                    | "storagemigration"
            )
        )
}

/// Why the collector runs no informer for a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotWatched {
    /// The collector picks another version of the same resource (R2.1).
    OtherVersion(String),
    /// It lacks these verbs (R2.2).
    MissingVerbs(Vec<&'static str>),
    /// The collector ignores events (R2.3).
    Ignored,
}

impl std::fmt::Display for NotWatched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotWatched::OtherVersion(version) => write!(f, "watched as {version}"),
            NotWatched::MissingVerbs(verbs) => write!(f, "cannot {}", verbs.join(", ")),
            NotWatched::Ignored => f.write_str("ignored by the collector"),
        }
    }
}

/// What a reference's apiVersion and kind map to (L2, R3.14, R3.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// This resource, in exactly this version.
    Served(ResourceId),
    /// A list kind: it maps to a plural that doesn't exist, so every look-up returns 404 (R3.15).
    ListKind {
        /// The scope of the mapping.
        namespaced: bool,
    },
    /// No such version and kind is served (R3.13).
    Unmappable,
    /// Unknown: the group version could not be discovered.
    Undiscovered,
}

/// The group versions that discovery described, also those without a resource.
#[derive(Clone, Debug, Default)]
pub struct Described(Arc<FxHashSet<String>>);

impl Described {
    /// Whether discovery failed to name this group version; no if nothing was discovered.
    pub fn lacks(&self, group_version: &str) -> bool {
        !self.0.is_empty() && !self.0.contains(group_version)
    }
}

/// All served resources in all versions, in the server's order of preference.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    all: Vec<Resource>,
    not_watched: Vec<Option<NotWatched>>,
    picked: Vec<ResourceId>,
    by_kind: FxHashMap<(String, String), ResourceId>,
    by_group_version: FxHashSet<String>,
    described: Described,
    preferred_versions: Vec<(String, String)>,
    /// The version of the server; `None` if it didn't say.
    server: Option<ServerVersion>,
}

impl Resources {
    /// Builds the table from discovery.
    ///
    /// `all` is in discovery order: groups, and versions of a group, by preference. `preferred_versions` names each
    /// group's preferred version; the default is the first.
    pub fn new(mut all: Vec<Resource>, preferred_versions: Vec<(String, String)>) -> Self {
        let own: FxHashSet<&str> =
            all.iter().filter(|resource| resource.is_kubernetes()).map(|resource| resource.kind.as_str()).collect();
        let shares_kind = |resource: &Resource| !resource.is_kubernetes() && own.contains(resource.kind.as_str());
        let shared: Vec<bool> = all.iter().map(shares_kind).collect();
        all.iter_mut().zip(shared).for_each(|(resource, shared)| resource.shares_kind = shared);
        let preferred: FxHashMap<&str, &str> =
            preferred_versions.iter().map(|(group, version)| (group.as_str(), version.as_str())).collect();
        let mut pick: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        for (index, resource) in all.iter().enumerate() {
            let key = (resource.group.as_str(), resource.plural.as_str());
            let is_preferred =
                preferred.get(resource.group.as_str()).is_some_and(|version| *version == resource.version);
            let best = pick.entry(key).or_insert(index);
            if is_preferred && *best != index && all[*best].version != resource.version {
                *best = index;
            }
        }
        let picked: Vec<ResourceId> = all
            .iter()
            .map(|resource| ResourceId(pick[&(resource.group.as_str(), resource.plural.as_str())] as u32))
            .collect();
        let not_watched = all
            .iter()
            .zip(&picked)
            .enumerate()
            .map(|(index, (resource, picked))| {
                if picked.index() != index {
                    Some(NotWatched::OtherVersion(all[picked.index()].version.clone()))
                } else if resource.is_events() {
                    Some(NotWatched::Ignored)
                } else {
                    let missing = resource.missing_verbs();
                    (!missing.is_empty()).then_some(NotWatched::MissingVerbs(missing))
                }
            })
            .collect();
        let mut by_kind = FxHashMap::default();
        let mut by_group_version = FxHashSet::default();
        for (index, resource) in all.iter().enumerate() {
            let api_version = resource.api_version();
            by_group_version.insert(api_version.clone());
            by_kind.insert((api_version.clone(), resource.kind.to_lowercase()), ResourceId(index as u32));
            by_kind.insert((api_version, resource.kind.clone()), ResourceId(index as u32));
        }
        let described = Described::default();
        Resources { all, not_watched, picked, by_kind, by_group_version, described, preferred_versions, server: None }
    }

    /// The same, once these are served, too.
    #[must_use]
    pub(super) fn with(&self, new: Vec<Resource>) -> Self {
        let all = self.all.iter().cloned().chain(new).collect();
        let resources = Resources::new(all, self.preferred_versions.clone()).of_server(self.server.clone());
        Resources { described: self.described.clone(), ..resources }
    }

    /// The same, of a server whose discovery described these group versions.
    #[must_use]
    pub fn described(mut self, group_versions: Vec<String>) -> Self {
        self.described = Described(Arc::new(group_versions.into_iter().collect()));
        self
    }

    /// What discovery described.
    pub fn described_by_discovery(&self) -> &Described {
        &self.described
    }

    /// The same, of a server with this version.
    #[must_use]
    pub fn of_server(mut self, server: Option<ServerVersion>) -> Self {
        self.server = server;
        self
    }

    /// The version of the server; `None` if it didn't say.
    pub fn server(&self) -> Option<&ServerVersion> {
        self.server.as_ref()
    }

    pub fn get(&self, id: ResourceId) -> &Resource {
        &self.all[id.index()]
    }

    /// All resources in all versions.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, &Resource)> {
        self.all.iter().enumerate().map(|(index, resource)| (ResourceId(index as u32), resource))
    }

    /// How many resources there are, counting versions.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Why the collector doesn't watch this version of the resource; `None` if it does (R2.1–R2.3).
    pub fn not_watched(&self, id: ResourceId) -> Option<&NotWatched> {
        self.not_watched[id.index()].as_ref()
    }

    /// The version of this resource that the collector picks (R2.1).
    pub fn picked(&self, id: ResourceId) -> ResourceId {
        self.picked[id.index()]
    }

    /// All deletable resources: those that the collector watches (R2.1–R2.3).
    pub fn deletable(&self) -> impl Iterator<Item = (ResourceId, &Resource)> {
        self.iter().filter(|(id, _)| self.not_watched(*id).is_none())
    }

    /// What an apiVersion and kind map to, with the quirks of the collector's mapper (R3.14, R3.15).
    pub fn map(&self, api_version: &str, kind: &str) -> Mapping {
        if let Some(id) = self.by_kind.get(&(api_version.to_owned(), kind.to_owned())) {
            return Mapping::Served(*id);
        }
        if kind == "List" && self.by_group_version.contains(api_version) {
            return Mapping::ListKind { namespaced: false };
        }
        match kind.strip_suffix("List").and_then(|item| self.by_kind.get(&(api_version.to_owned(), item.to_owned()))) {
            Some(id) if self.get(*id).kind.len() + 4 == kind.len() && kind.starts_with(&self.get(*id).kind) => {
                Mapping::ListKind { namespaced: self.get(*id).namespaced }
            }
            _ => Mapping::Unmappable,
        }
    }

    /// The picked version of the resource with this group and plural.
    pub fn by_group_plural(&self, group: &str, plural: &str) -> Option<ResourceId> {
        self.iter()
            .find(|(_, resource)| resource.group == group && resource.plural == plural)
            .map(|(id, _)| self.picked(id))
    }

    /// The picked version of the resource with this group and kind.
    pub fn by_group_kind(&self, group: &str, kind: &str) -> Option<ResourceId> {
        self.iter()
            .find(|(_, resource)| resource.group == group && resource.kind == kind)
            .map(|(id, _)| self.picked(id))
    }

    /// The resource of a group that is called so by its kind, however its letters are written, or its plural.
    pub(crate) fn by_group_and_name(&self, group: &str, name: &str) -> Option<ResourceId> {
        let is_called = |it: &Resource| it.kind.eq_ignore_ascii_case(name) || it.plural == name;
        self.iter().find(|(_, resource)| resource.group == group && is_called(resource)).map(|(id, _)| self.picked(id))
    }

    /// The preferred version of each group.
    pub fn preferred_versions(&self) -> &[(String, String)] {
        &self.preferred_versions
    }
}
