//! Resolves resource types as a user types them, by kubectl's rules.

use super::{
    nearest::{OFFERED, nearest},
    resources::{Resource, ResourceId, Resources},
};
use crate::wording::each_once;

/// No resource has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server has no resource type {text:?}{}", did_you_mean(nearest))]
pub struct UnknownType {
    /// What was typed.
    pub text: String,
    /// Suggestions, best first.
    pub nearest: Vec<String>,
}

/// `; did you mean a, b?`, or nothing.
pub fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(", ")) }
}

impl Resources {
    /// The resources of a TYPE in any letter case: those of a category (`all`), or the one of [`Resources::find_type`].
    /// A category has precedence over a type of the same name.
    pub fn find_types(&self, text: &str) -> Result<Vec<ResourceId>, UnknownType> {
        let members = self.category(text);
        if members.is_empty() { self.find_type(text).map(|id| vec![id]) } else { Ok(members) }
    }

    /// The members of a category, in discovery order, each in its picked version; empty if there is no such category.
    pub fn category(&self, text: &str) -> Vec<ResourceId> {
        let mut members = Vec::new();
        for (id, resource) in self.iter().filter(|(_, resource)| has_named_objects(resource)) {
            let picked = self.picked(id);
            if resource.categories.iter().any(|category| category.eq_ignore_ascii_case(text))
                && !members.contains(&picked)
            {
                members.push(picked);
            }
        }
        members
    }

    /// The resource of a TYPE: its plural, singular, short name or kind, alone or followed by `.group` (a prefix is
    /// enough) or `.version.group`. The first in discovery order wins, as in kubectl's mapper.
    ///
    /// The version only selects the resource: the result is its picked version (`Resources::picked`).
    pub fn find_type(&self, text: &str) -> Result<ResourceId, UnknownType> {
        let (name, rest) = text.split_once('.').map_or((text, None), |(name, rest)| (name, Some(rest)));
        // `a.b.c` may be `type.version.group` or `type.group`; kubectl tries them in this order.
        let versioned = rest.and_then(|rest| rest.split_once('.'));
        let found = match (rest, versioned) {
            _ if name.is_empty() => None,
            (None, _) => self.named(name, |_| true),
            (Some(group), None) => self.in_group(name, group),
            (Some(group), Some((version, shorter))) => self
                .named(name, |resource| {
                    resource.version == version && (shorter.is_empty() || resource.group == shorter)
                })
                .or_else(|| self.in_group(name, group)),
        };
        found.ok_or_else(|| UnknownType { text: text.to_owned(), nearest: self.nearest_types(name) })
    }

    fn in_group(&self, name: &str, group: &str) -> Option<ResourceId> {
        if group.is_empty() {
            return self.named(name, |_| true);
        }
        self.named(name, |resource| resource.group.eq_ignore_ascii_case(group)).or_else(|| {
            self.named(name, |resource| {
                resource.group.get(..group.len()).is_some_and(|start| start.eq_ignore_ascii_case(group))
            })
        })
    }

    /// Full names have precedence over short names, and these over kinds, regardless of discovery order.
    fn named(&self, name: &str, matches: impl Fn(&Resource) -> bool) -> Option<ResourceId> {
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        let find = |means: &dyn Fn(&Resource) -> bool| {
            let mut all = self.iter().filter(|(_, resource)| has_named_objects(resource) && matches(resource));
            all.find(|(_, resource)| means(resource)).map(|(id, _)| self.picked(id))
        };
        find(&|resource| is(&resource.plural) || is(&resource.singular))
            .or_else(|| find(&|resource| resource.short_names.iter().any(|short| is(short))))
            .or_else(|| find(&|resource| is(&resource.kind)))
    }

    fn nearest_types(&self, name: &str) -> Vec<String> {
        let names = self
            .iter()
            .filter(|(id, resource)| has_named_objects(resource) && self.picked(*id) == *id)
            .flat_map(|(id, resource)| {
                let names =
                    [&resource.plural, &resource.singular, &resource.kind].into_iter().chain(&resource.short_names);
                names.map(move |name| (id, name.as_str()))
            });
        // A dump has no short names of custom resources.
        let short = self.iter().filter(|(_, it)| !it.is_kubernetes() && abbreviates(name, &it.kind));
        let short = short.map(|(id, _)| self.picked(id));
        let all = each_once(short.chain(nearest(name, names)));
        all.take(OFFERED).map(|id| self.typeable_name(id)).collect()
    }

    /// The shortest of `plural` and `plural.group` that resolves to this resource.
    fn typeable_name(&self, id: ResourceId) -> String {
        let resource = self.get(id);
        let unique = self.named(&resource.plural, |_| true) == Some(self.picked(id));
        if unique { resource.plural.clone() } else { resource.full_name() }
    }
}

/// Whether a text may be short for a kind: by its capitals (`vmi`), or some letters of its only word (`cert`).
fn abbreviates(text: &str, kind: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let capitals: String = kind.chars().filter(char::is_ascii_uppercase).collect();
    let mut letters = kind.chars().map(|letter| letter.to_ascii_lowercase());
    let is_part = || (2..5).contains(&text.len()) && kind.to_ascii_lowercase().starts_with(&text[..1]);
    capitals.to_ascii_lowercase() == text
        || capitals.len() == 1 && text.is_ascii() && is_part() && text.chars().all(|one| letters.any(|it| it == one))
}

/// Whether a resource has objects with names, unlike reviews and bindings.
fn has_named_objects(resource: &Resource) -> bool {
    ["list", "get", "delete"].into_iter().any(|verb| resource.has_verb(verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::well_known;

    fn resource(group: &str, plural: &str, kind: &str, short: &[&str], categories: &[&str]) -> Resource {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Resource {
            short_names: owned(short),
            categories: owned(categories),
            ..Resource::named(group, "v1", plural, kind).with_verbs(&["list"])
        }
    }

    fn known() -> Resources {
        let mut known = well_known::resources();
        known.resources.push(resource("example.com", "deployments", "Deployment", &["dep"], &["all", "mine"]));
        known.resources.push(resource("example.com", "sts", "Thing", &["svc", "th"], &[]));
        Resources::new(known.resources, known.preferred_versions)
    }

    #[test]
    fn types_are_found_by_every_name() {
        let resources = known();
        let cases = [
            ("pods", "v1 pods"),
            ("POD", "v1 pods"),
            ("po", "v1 pods"),
            ("Pod", "v1 pods"),
            ("pods.", "v1 pods"),
            ("pods.v1", "-"),
            ("pods.v1.", "v1 pods"),
            ("deploy", "apps/v1 deployments"),
            ("Deployment", "apps/v1 deployments"),
            ("deployments.apps", "apps/v1 deployments"),
            ("deployments.v1.apps", "apps/v1 deployments"),
            ("Deployment.v1.apps", "apps/v1 deployments"),
            ("deployments.v2.apps", "-"),
            ("deployments.example.com", "example.com/v1 deployments"),
            ("deployments.v1.example.com", "example.com/v1 deployments"),
            ("deployments.exam", "example.com/v1 deployments"),
            ("dep", "example.com/v1 deployments"),
            ("sc.storage", "storage.k8s.io/v1 storageclasses"),
            ("hpa", "autoscaling/v2 horizontalpodautoscalers"),
            ("hpa.v1.autoscaling", "autoscaling/v2 horizontalpodautoscalers"),
            ("events", "v1 events"),
            ("events.events.k8s.io", "events.k8s.io/v1 events"),
            ("crd", "apiextensions.k8s.io/v1 customresourcedefinitions"),
            // Full names precede short names; earlier groups precede later ones.
            ("sts", "example.com/v1 sts"),
            ("svc", "v1 services"),
            ("svc.example.com", "example.com/v1 sts"),
            ("thing", "example.com/v1 sts"),
            ("th", "example.com/v1 sts"),
            ("tokenreviews", "-"),
            ("", "-"),
            (".", "-"),
            (".apps", "-"),
            ("...", "-"),
            ("pods.apps", "-"),
            ("pods/x", "-"),
            ("deployments.ä", "-"),
        ];
        for (text, expected) in cases {
            let found = resources.find_type(text).map(|id| resources.get(id));
            let found =
                found.map_or("-".to_owned(), |resource| format!("{} {}", resource.api_version(), resource.plural));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn categories_are_several_types() {
        let resources = known();
        let names = |text| -> Vec<String> {
            resources.find_types(text).unwrap().into_iter().map(|id| resources.get(id).full_name()).collect()
        };
        assert_eq!(
            names("ALL"),
            [
                "pods",
                "replicationcontrollers",
                "services",
                "daemonsets.apps",
                "deployments.apps",
                "replicasets.apps",
                "statefulsets.apps",
                "horizontalpodautoscalers.autoscaling",
                "cronjobs.batch",
                "jobs.batch",
                "deployments.example.com",
            ]
        );
        assert_eq!(names("mine"), ["deployments.example.com"]);
        assert!(resources.find_type("mine").is_err());
    }

    #[test]
    fn unknown_types_get_near_ones() {
        let resources = known();
        let text = |text| resources.find_types(text).unwrap_err().to_string();
        assert_eq!(text("deploi"), "the server has no resource type \"deploi\"; did you mean deployments?");
        assert_eq!(text("pdos"), "the server has no resource type \"pdos\"; did you mean pods?");
        assert_eq!(text("qqqqqqqq"), "the server has no resource type \"qqqqqqqq\"");
        assert_eq!(
            text("deployment.aps"),
            "the server has no resource type \"deployment.aps\"; did you mean deployments, deployments.example.com?"
        );
    }

    /// A dump says nothing of the short names of custom resources.
    #[test]
    fn short_names_are_guessed_by_kinds() {
        let kinds = [
            ("kubevirt.io", "virtualmachines", "VirtualMachine"),
            ("kubevirt.io", "virtualmachineinstances", "VirtualMachineInstance"),
            ("cert-manager.io", "certificates", "Certificate"),
            ("helm.toolkit.fluxcd.io", "helmreleases", "HelmRelease"),
        ];
        let kinds = kinds.map(|(group, plural, kind)| resource(group, plural, kind, &[], &[]));
        let resources = Resources::new(kinds.to_vec(), Vec::new());
        let offers = |text| resources.find_types(text).unwrap_err().nearest;
        assert_eq!(offers("vmi"), ["virtualmachineinstances"]);
        assert_eq!(offers("HR"), ["helmreleases"]);
        assert_eq!(offers("cert"), ["certificates"]);
        assert!(offers("ct").contains(&"certificates".to_owned()) && offers("xy").is_empty());
    }
}
