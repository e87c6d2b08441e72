//! The least rights that a command needs, as RBAC rules: every resource is named, so that nothing else is granted.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cluster::Scope,
    model::{Resource, Resources},
    restore::{Item, Owner, RestorePlan},
};

use super::rbac::{self, rule};

/// What a rule is about: resources of one group, in one namespace or everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    /// Empty for the whole cluster.
    namespace: String,
    group: String,
    /// With a subresource as `plural/subresource`.
    resource: String,
    /// Only objects with these names; empty for all.
    names: Vec<String>,
}

/// What the resources of one rule have in common: the group, the names of objects, and the verbs.
type Alike<'a> = (&'a str, &'a [String], Vec<&'a str>);

/// Rights, each once.
#[derive(Clone, Debug, Default)]
pub struct Rights(BTreeMap<Subject, BTreeSet<&'static str>>);

impl Rights {
    /// Adds rights on a resource; `namespace` is empty for the whole cluster, `names` for all objects.
    pub fn allow(&mut self, namespace: &str, resource: &Resource, names: &[String], verbs: &[&'static str]) {
        let subject = Subject {
            namespace: if resource.namespaced { namespace.to_owned() } else { String::new() },
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            names: names.to_vec(),
        };
        self.0.entry(subject).or_default().extend(verbs);
    }

    /// Adds these rights, too.
    pub fn add(&mut self, other: Rights) {
        for (subject, verbs) in other.0 {
            self.0.entry(subject).or_default().extend(verbs);
        }
    }

    fn allow_status(&mut self, namespace: &str, resource: &Resource, verbs: &[&'static str]) {
        let status = Resource { plural: format!("{}/status", resource.plural), ..resource.clone() };
        self.allow(namespace, &status, &[], verbs);
    }

    /// Adds the rights to list and watch, as `verbs` say, everything in the scope that can be deleted.
    pub fn read(&mut self, resources: &Resources, scope: &Scope, verbs: &[&'static str]) {
        let namespace = match scope {
            Scope::Namespace(namespace) => namespace.as_str(),
            Scope::Everything => "",
        };
        for (_, resource) in resources.deletable() {
            self.allow(namespace, resource, &[], verbs);
        }
    }

    /// The same for one namespace, without anything cluster-scoped.
    pub fn read_namespace(&mut self, resources: &Resources, namespace: &str, verbs: &[&'static str]) {
        for (_, resource) in resources.deletable().filter(|(_, resource)| resource.namespaced) {
            self.allow(namespace, resource, &[], verbs);
        }
    }

    /// Adds the rights to read webhook configurations and admission policies. Without them, a plan assumes that none
    /// refuses.
    pub fn read_admission(&mut self, resources: &Resources, verbs: &[&'static str]) {
        for (_, resource) in resources.deletable().filter(|(_, resource)| resource.is_of_admission()) {
            self.allow("", resource, &[], verbs);
        }
    }

    /// Adds the right to read single objects of a core kind.
    pub fn read_named(&mut self, resources: &Resources, kind: &str, names: BTreeSet<String>) {
        if let Some(id) = resources.by_group_kind("", kind).filter(|_| !names.is_empty()) {
            self.allow("", resources.get(id), &names.into_iter().collect::<Vec<_>>(), &["get"]);
        }
    }

    /// Adds the rights to list events.
    pub fn read_events(&mut self, resources: &Resources) {
        if let Some(events) = resources.by_group_plural("", "events") {
            self.allow("", resources.get(events), &[], &["list"]);
        }
    }

    /// Adds what a restore sends if none of its objects exists.
    pub fn restore(&mut self, resources: &Resources, plan: &RestorePlan) {
        let created: BTreeSet<&str> = plan
            .items
            .iter()
            .filter(|item| item.left_out.is_none() && item.archived.place.is("", "Namespace"))
            .map(|item| item.archived.place.name.as_str())
            .collect();
        // No Role can be in a namespace that doesn't exist yet.
        let place = |namespace: &str| if created.contains(namespace) { String::new() } else { namespace.to_owned() };
        let find = |group: &str, kind: &str| resources.by_group_kind(group, kind).map(|id| resources.get(id));
        for (id, item) in plan.items.iter().enumerate().filter(|(_, item)| item.left_out.is_none()) {
            let Item { archived, owners, status, .. } = item;
            let namespace = place(&archived.place.namespace);
            if let Some(resource) = find(archived.place.group(), &archived.place.kind) {
                self.allow(&namespace, resource, &[], &["create", "get"]);
                if plan.closing_of(id).next().is_some() {
                    self.allow(&namespace, resource, &[], &["patch"]);
                }
                if status.is_some() && resource.has_status {
                    self.allow_status(&namespace, resource, &["patch"]);
                }
            }
            let elsewhere = archived.references.iter().zip(owners).filter(|(_, it)| !matches!(it, Owner::Archived(_)));
            for (reference, _) in elsewhere {
                if let Some(resource) = find(reference.place.group(), &reference.place.kind) {
                    self.allow(&namespace, resource, &[], &["get"]);
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A ClusterRole, and a Role for each namespace, in YAML for `kubectl apply`.
    pub fn yaml(&self, name: &str) -> String {
        let mut rules: BTreeMap<&str, BTreeMap<Alike<'_>, Vec<&str>>> = BTreeMap::new();
        for (subject, verbs) in &self.0 {
            let Subject { namespace, group, resource, names } = subject;
            let alike = (group.as_str(), names.as_slice(), verbs.iter().copied().collect());
            rules.entry(namespace).or_default().entry(alike).or_default().push(resource);
        }
        let documents = rules.into_iter().map(|(namespace, rules)| {
            let rules = rules.into_iter().map(|((group, names, verbs), of)| rule(group, &of, names, &verbs));
            rbac::role(name, namespace, rules.collect())
        });
        documents.collect::<Vec<_>>().join("---\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: plural.to_owned(),
            namespaced,
            verbs: ["delete", "get", "list", "watch"].map(str::to_owned).to_vec(),
            ..Resource::default()
        }
    }

    #[test]
    fn equal_rights_are_one_rule() {
        let nodes = Resource { kind: "Node".to_owned(), ..resource("", "nodes", false) };
        let all = [resource("", "pods", true), nodes, resource("apps", "deployments", true)];
        let resources = Resources::new(all.to_vec(), Vec::new());
        let mut rights = Rights::default();
        rights.read_namespace(&resources, "team", &["list", "get"]);
        rights.read_named(&resources, "Node", BTreeSet::from(["worker-1".to_owned()]));
        rights.read_named(&resources, "Node", BTreeSet::new());
        rights.allow("team", &all[2], &["web".to_owned()], &["delete"]);
        let rule = |lines: &[&str]| lines.join("\n");
        let expected = [
            rule(&["apiVersion: rbac.authorization.k8s.io/v1", "kind: ClusterRole", "metadata:", "  name: gc"]),
            rule(&[
                "rules:",
                "- apiGroups:",
                "  - ''",
                "  resourceNames:",
                "  - worker-1",
                "  resources:",
                "  - nodes",
            ]),
            rule(&[
                "  verbs:",
                "  - get",
                "---",
                "apiVersion: rbac.authorization.k8s.io/v1",
                "kind: Role",
                "metadata:",
            ]),
            rule(&["  name: gc", "  namespace: team", "rules:", "- apiGroups:", "  - ''", "  resources:", "  - pods"]),
            rule(&["  verbs:", "  - get", "  - list", "- apiGroups:", "  - apps", "  resources:", "  - deployments"]),
            rule(&["  verbs:", "  - get", "  - list", "- apiGroups:", "  - apps", "  resourceNames:", "  - web"]),
            rule(&["  resources:", "  - deployments", "  verbs:", "  - delete", ""]),
        ];
        assert_eq!(rights.yaml("gc"), expected.join("\n"));
    }
}
