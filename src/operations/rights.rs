//! The least rights that a command needs, as RBAC rules: every resource is named, so that nothing else is granted;
//! and whether the user has those of a write.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    api::rbac::v1::{ClusterRole, PolicyRule, Role},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use gc_cluster::{
    act::{Access, Verdicts, review},
    cluster::Scope,
};
use gc_core::model::{Resource, Resources};

use super::{LiveSession, OperationError, live::Cluster};

/// What a right is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    /// Empty for the whole cluster.
    namespace: String,
    group: String,
    /// With a subresource as `plural/subresource`.
    resource: String,
    /// Empty for all objects.
    name: String,
}

/// What the resources of one rule have in common: the group, the names of objects, and the verbs.
type Alike<'a> = (&'a str, Vec<&'a str>, Vec<&'a str>);

/// Rights, each once.
#[derive(Clone, Debug, Default)]
pub struct Rights(BTreeMap<Subject, BTreeSet<&'static str>>);

impl Rights {
    /// Adds the right to all objects of a resource; `namespace` is empty for the whole cluster.
    pub fn allow(&mut self, namespace: &str, resource: &Resource, verbs: &[&'static str]) {
        self.add(resource, namespace, &resource.plural, "", verbs);
    }

    /// Adds the right to make these requests, as they are reviewed before a write.
    pub fn grant(&mut self, resources: &Resources, requests: impl IntoIterator<Item = Access>) {
        for Access { verb, resource, subresource, namespace, name } in requests {
            let resource = resources.get(resource);
            match subresource {
                "" => self.add(resource, &namespace, &resource.plural, &name, &[verb]),
                _ => self.add(resource, &namespace, &format!("{}/{subresource}", resource.plural), &name, &[verb]),
            }
        }
    }

    fn add(&mut self, of: &Resource, namespace: &str, resource: &str, name: &str, verbs: &[&'static str]) {
        let subject = Subject {
            namespace: if of.namespaced { namespace.to_owned() } else { String::new() },
            group: of.group.clone(),
            resource: resource.to_owned(),
            name: name.to_owned(),
        };
        self.0.entry(subject).or_default().extend(verbs);
    }

    /// Adds the rights to list and watch, as `verbs` say, everything in the scope that can be deleted.
    pub fn read(&mut self, resources: &Resources, scope: &Scope, verbs: &[&'static str]) {
        let namespace = match scope {
            Scope::Namespace(namespace) => namespace.as_str(),
            Scope::Everything => "",
        };
        for (_, resource) in resources.deletable() {
            self.allow(namespace, resource, verbs);
        }
    }

    /// The same for one namespace, without anything cluster-scoped.
    pub fn read_namespace(&mut self, resources: &Resources, namespace: &str, verbs: &[&'static str]) {
        for (_, resource) in resources.deletable().filter(|(_, resource)| resource.namespaced) {
            self.allow(namespace, resource, verbs);
        }
    }

    /// Adds the rights to read webhook configurations and admission policies. Without them, a plan assumes that none
    /// refuses.
    pub fn read_admission(&mut self, resources: &Resources, verbs: &[&'static str]) {
        for (_, resource) in resources.deletable().filter(|(_, resource)| resource.is_of_admission()) {
            self.allow("", resource, verbs);
        }
    }

    /// Adds the right to read single objects of a core kind.
    pub fn read_named(&mut self, resources: &Resources, kind: &str, names: BTreeSet<String>) {
        let id = resources.by_group_kind("", kind);
        let requests = names.iter().zip(id.into_iter().cycle());
        self.grant(resources, requests.flat_map(|(name, id)| Access::each(&["get"], id, "", name)));
    }

    /// Adds the rights to list events.
    pub fn read_events(&mut self, resources: &Resources) {
        if let Some(events) = resources.by_group_plural("", "events") {
            self.allow("", resources.get(events), &["list"]);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A ClusterRole, and a Role for each namespace, in YAML for `kubectl apply`.
    pub fn yaml(&self, name: &str) -> String {
        let mut named: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for (Subject { namespace, group, resource, name }, verbs) in &self.0 {
            named.entry((namespace, group, resource, name.is_empty(), verbs)).or_default().push(name);
        }
        let mut rules: BTreeMap<&str, BTreeMap<Alike<'_>, Vec<&str>>> = BTreeMap::new();
        for ((namespace, group, resource, is_all, verbs), names) in named {
            let names = if is_all { Vec::new() } else { names };
            let alike = (group.as_str(), names, verbs.iter().copied().collect());
            rules.entry(namespace).or_default().entry(alike).or_default().push(resource);
        }
        let documents = rules.into_iter().map(|(namespace, rules)| {
            let rules = rules.into_iter().map(|((group, names, verbs), of)| rule(group, &of, &names, &verbs));
            role(name, namespace, rules.collect())
        });
        documents.collect::<Vec<_>>().join("---\n")
    }
}

/// What may be done to some resources; to any of them if no names are given.
pub fn rule(group: &str, resources: &[&str], names: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    PolicyRule {
        api_groups: Some(owned(&[group])),
        resources: Some(owned(resources)),
        resource_names: Some(owned(names)).filter(|names| !names.is_empty()),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

/// A Role in this namespace, or a ClusterRole if there is none.
pub fn role(name: &str, namespace: &str, rules: Vec<PolicyRule>) -> String {
    let mut metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let yaml = if namespace.is_empty() {
        serde_yaml::to_string(&ClusterRole { metadata, rules: Some(rules), ..ClusterRole::default() })
    } else {
        metadata.namespace = Some(namespace.to_owned());
        serde_yaml::to_string(&Role { metadata, rules: Some(rules) })
    };
    // Strings and lists of strings can't fail.
    yaml.unwrap_or_default()
}

impl Cluster {
    /// Which of these requests the user may not make.
    pub(super) fn review(&self, resources: &Resources, wanted: &BTreeSet<Access>) -> Verdicts {
        self.runtime.block_on(review(&self.connection, resources, wanted))
    }

    /// Fails if the user lacks permissions; returns a note if that could not be checked.
    ///
    /// # Errors
    /// All requests that the API server would forbid. `done` says what was not done because of that.
    pub(super) fn require_allowed(
        &self,
        resources: &Resources,
        wanted: &BTreeSet<Access>,
        done: &'static str,
    ) -> Result<Option<String>, OperationError> {
        let verdicts = self.review(resources, wanted);
        if let Some(what) = verdicts.forbidden(resources) {
            return Err(OperationError::Forbidden { done, what, may_be_more: false });
        }
        Ok(verdicts.unknown.map(|why| format!("Your permissions could not be checked beforehand ({why}).")))
    }
}

impl LiveSession {
    /// See [`Cluster::require_allowed`].
    pub(super) fn require_allowed(
        &self,
        wanted: &BTreeSet<Access>,
        done: &'static str,
    ) -> Result<Option<String>, OperationError> {
        self.source.require_allowed(&self.snapshot.resources, wanted, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            namespaced,
            ..Resource::named(group, "v1", plural, plural).with_verbs(&["delete", "get", "list", "watch"])
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
        let web = resources.by_group_kind("apps", "deployments").unwrap();
        rights.grant(&resources, Access::each(&["delete"], web, "team", "web"));
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
