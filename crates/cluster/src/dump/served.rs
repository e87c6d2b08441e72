//! What is served according to a plain dump: Kubernetes' default resources, those of its CustomResourceDefinitions, and
//! the kinds of its objects and owner references.

use std::{cmp::Ordering, collections::BTreeMap};

use rustc_hash::FxHashSet;
use serde_json::Value;

use gc_core::model::{NOT_IN_THE_DUMP, Resource, Resources, well_known};

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// The verbs of a terminating CustomResourceDefinition's resource.
const VERBS_TERMINATING: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];

/// The kind of an object or reference in the dump.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Seen {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub namespaced: bool,
}

/// Collects what is served.
#[derive(Debug)]
pub(super) struct Served {
    /// In order of preference.
    well_known: Vec<Group>,
    others: BTreeMap<String, Group>,
    /// Kinds defined by a CustomResourceDefinition in the dump: no other versions are served.
    defined: FxHashSet<(String, String)>,
    /// The server that the default resources were recorded from.
    server: String,
}

#[derive(Debug, Default)]
struct Group {
    name: String,
    preferred: Option<String>,
    /// In order of preference if the group is a default one.
    versions: Vec<(String, Vec<Resource>)>,
}

impl Group {
    fn version(&mut self, version: &str) -> &mut Vec<Resource> {
        let index = match self.versions.iter().position(|(known, _)| known == version) {
            Some(index) => index,
            None => {
                self.versions.push((version.to_owned(), Vec::new()));
                self.versions.len() - 1
            }
        };
        &mut self.versions[index].1
    }

    fn has_version(&self, version: &str) -> bool {
        self.versions.iter().any(|(known, _)| known == version)
    }

    fn all(&self) -> impl Iterator<Item = &Resource> {
        self.versions.iter().flat_map(|(_, resources)| resources)
    }
}

impl Served {
    /// Starts with Kubernetes' default resources.
    pub(super) fn new() -> Self {
        let known = well_known::resources();
        let mut groups: Vec<Group> = Vec::new();
        for resource in known.resources {
            if groups.last().is_none_or(|group| group.name != resource.group) {
                let preferred = known.preferred_versions.iter().find(|(group, _)| *group == resource.group);
                let preferred = preferred.map(|(_, version)| version.clone());
                groups.push(Group { name: resource.group.clone(), preferred, versions: Vec::new() });
            }
            if let Some(group) = groups.last_mut() {
                let version = resource.version.clone();
                group.version(&version).push(resource);
            }
        }
        Served { well_known: groups, others: BTreeMap::new(), defined: FxHashSet::default(), server: known.server }
    }

    fn group(&self, name: &str) -> Option<&Group> {
        self.well_known.iter().find(|group| group.name == name).or_else(|| self.others.get(name))
    }

    fn group_mut(&mut self, name: &str) -> &mut Group {
        match self.well_known.iter().position(|group| group.name == name) {
            Some(index) => &mut self.well_known[index],
            None => self
                .others
                .entry(name.to_owned())
                .or_insert_with(|| Group { name: name.to_owned(), ..Group::default() }),
        }
    }

    /// Adds the resource of a CustomResourceDefinition in the dump.
    pub(super) fn define(&mut self, definition: &Definition) {
        let Definition { resource, versions } = definition;
        self.defined.insert((resource.group.clone(), resource.kind.clone()));
        for version in versions {
            let resources = self.group_mut(&resource.group).version(version);
            if !resources.iter().any(|known| known.plural == resource.plural || known.kind == resource.kind) {
                resources.push(Resource { version: version.clone(), ..resource.clone() });
            }
        }
    }

    /// Gives Namespaces another short name.
    pub(super) fn call_namespaces(&mut self, name: &str) {
        let resources = self.group_mut("").version("v1").iter_mut();
        let namespaces = resources.filter(|resource| resource.kind == "Namespace");
        namespaces.for_each(|namespaces| namespaces.short_names.push(name.to_owned()));
    }

    /// Adds the kind and version of an object in the dump: it must have been served.
    pub(super) fn see(&mut self, seen: &Seen) {
        let group = self.group_mut(&seen.group);
        let known = group.all().find(|resource| resource.kind == seen.kind).cloned();
        let taken: FxHashSet<String> = group.all().map(|resource| resource.plural.clone()).collect();
        let resources = group.version(&seen.version);
        if resources.iter().any(|resource| resource.kind == seen.kind) {
            return;
        }
        let resource = match known {
            Some(known) => Resource { version: seen.version.clone(), ..known },
            None => guessed(seen, &taken),
        };
        resources.push(resource);
    }

    /// Adds the kind of a referenced owner, if unknown. It may be served, so look-ups must return "unknown", not "no
    /// such kind".
    pub(super) fn name(&mut self, seen: &Seen) {
        let of_kubernetes = self.well_known.iter().any(|group| group.name == seen.group);
        // The collector's mapper accepts kinds in lower case, and list kinds (R3.15).
        let known = |resource: &Resource| {
            let item = seen.kind.strip_suffix("List").unwrap_or(&seen.kind);
            [&seen.kind, item].into_iter().any(|kind| resource.kind == kind || resource.kind.to_lowercase() == kind)
        };
        if of_kubernetes || seen.kind == "List" || self.group(&seen.group).is_some_and(|group| group.all().any(known)) {
            return;
        }
        self.see(seen);
    }

    /// Whether this kind is certainly not served in this version, given that it isn't among the resources.
    pub(crate) fn surely_not_served(&self, group: &str, version: &str, kind: &str) -> bool {
        self.defined.contains(&(group.to_owned(), kind.to_owned()))
            || self.well_known.iter().any(|known| known.name == group && known.has_version(version))
    }

    /// Why a kind of this group may be served nevertheless, as the reason of a gap.
    pub(super) fn doubt(&self, group: &str) -> String {
        if self.well_known.iter().any(|known| known.name == group) {
            format!("not in the dump, and not served by Kubernetes {}", self.server)
        } else {
            NOT_IN_THE_DUMP.to_owned()
        }
    }

    /// All resources in order of preference: Kubernetes' default ones first, then the other groups alphabetically.
    pub(super) fn resources(mut self) -> Resources {
        for group in self.others.values_mut() {
            group.versions.sort_by(|(a, _), (b, _)| by_preference(a, b));
            for (_, resources) in &mut group.versions {
                resources.sort_by(|a, b| a.plural.cmp(&b.plural));
            }
            group.preferred = group.versions.first().map(|(version, _)| version.clone());
        }
        let mut all = Vec::new();
        let mut preferred = Vec::new();
        for group in self.well_known.into_iter().chain(self.others.into_values()) {
            preferred.extend(group.preferred.map(|version| (group.name, version)));
            all.extend(group.versions.into_iter().flat_map(|(_, resources)| resources));
        }
        Resources::new(all, preferred)
    }
}

fn guessed(seen: &Seen, taken: &FxHashSet<String>) -> Resource {
    // Two kinds never share a plural; if the guess collides, it is wrong.
    let mut plural = guessed_plural(&seen.kind);
    while taken.contains(&plural) {
        plural.push_str("-2");
    }
    let singular = seen.kind.to_lowercase();
    Resource {
        group: seen.group.clone(),
        version: seen.version.clone(),
        doubtful_plural: singular.ends_with(['s', 'y', 'x', 'z', 'h']),
        plural,
        singular,
        kind: seen.kind.clone(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: seen.namespaced,
        verbs: VERBS.iter().map(|verb| (*verb).to_owned()).collect(),
        ..Resource::default()
    }
}

/// The plural of a kind, as generators of CRDs make it in most cases.
pub(super) fn guessed_plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        return singular;
    }
    match singular.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "z", "ch", "sh"].iter().any(|end| singular.ends_with(end)) => format!("{singular}es"),
        None => format!("{singular}s"),
    }
}

/// Compares versions by Kubernetes' order of preference (`CompareKubeAwareVersionStrings`): stable, beta, alpha, then
/// the higher number first; other names last, alphabetically.
pub(crate) fn by_preference(a: &str, b: &str) -> Ordering {
    match (stability(a), stability(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stage (stable 2, beta 1, alpha 0), major and minor number of `v1`, `v2beta1`.
fn stability(version: &str) -> Option<(u8, u64, u64)> {
    let numbers = version.strip_prefix('v')?;
    let number = |text: &str| if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
    for (word, stage) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = numbers.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((2, number(numbers)?, 0))
}

/// The resource that a CustomResourceDefinition defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    /// In any version.
    pub resource: Resource,
    /// The served versions, in the order of the definition.
    pub versions: Vec<String>,
}

impl Definition {
    /// Reads a whole object; `None` if it serves nothing, because it is incomplete or its names were not accepted.
    pub(super) fn read(object: &Value) -> Option<Definition> {
        let condition = |name: &str| {
            let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
            conditions
                .into_iter()
                .flatten()
                .find(|condition| condition["type"] == name)
                .map(|condition| condition["status"] == "True")
        };
        if condition("Established") == Some(false) {
            return None;
        }
        // The accepted names are served; a trimmed dump may only have the requested ones.
        let names = ["/status/acceptedNames", "/spec/names"]
            .into_iter()
            .filter_map(|names| object.pointer(names))
            .find(|names| names["plural"].as_str().is_some_and(|plural| !plural.is_empty()))?;
        let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
        let texts = |key: &str| {
            let list = names[key].as_array().into_iter().flatten();
            list.filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let spec = object.get("spec")?;
        let mut versions: Vec<String> = spec["versions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|version| version["served"] != false)
            .filter_map(|version| version["name"].as_str().map(str::to_owned))
            .collect();
        if versions.is_empty() && spec["versions"].is_null() {
            // apiextensions.k8s.io/v1beta1.
            versions.extend(spec["version"].as_str().map(str::to_owned));
        }
        let group = spec["group"].as_str().filter(|group| !group.is_empty())?.to_owned();
        let kind = Some(text("kind")).filter(|kind| !kind.is_empty())?;
        let singular =
            Some(text("singular")).filter(|singular| !singular.is_empty()).unwrap_or_else(|| kind.to_lowercase());
        // A terminating one doesn't have the verbs that create objects.
        let verbs: &[&str] = if condition("Terminating") == Some(true) { &VERBS_TERMINATING } else { &VERBS };
        let resource = Resource {
            group,
            plural: text("plural"),
            singular,
            kind,
            short_names: texts("shortNames"),
            categories: texts("categories"),
            namespaced: spec["scope"] == "Namespaced",
            ..Resource::default()
        };
        Some(Definition { resource: resource.with_verbs(verbs), versions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_guessed_as_generators_make_them() {
        let cases = [
            ("Pod", "pods"),
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
        ];
        for (kind, expected) in
            cases.into_iter().chain([("Gateway", "gateways"), ("Bus", "buses"), ("Y", "ies"), ("Switch", "switches")])
        {
            assert_eq!(guessed_plural(kind), expected);
        }
    }

    #[test]
    fn versions_are_preferred_as_apimachinery_does() {
        let mut versions =
            ["foo10", "v3alpha1", "v1", "v11alpha2", "v10", "foo1", "v2", "v10beta3", "v3beta1", "v12alpha1", "v1x"];
        versions.sort_by(|a, b| by_preference(a, b));
        let expected =
            ["v10", "v2", "v1", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "v3alpha1", "foo1", "foo10", "v1x"];
        assert_eq!(versions, expected);
        assert_eq!(stability("v99999999999999999999"), None);
        assert_eq!(stability("v+1"), None);
    }
}
