//! Whether what could not be read might change what a plan says. Whoever acts on a plan has to know that before.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::model::{Gap, ListRecord, Snapshot, Symbol};

use super::plan::{OutcomeKind, Plan, Uncertainty};

/// What could not be read, and may matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incomplete {
    /// How many outcomes are not certain for that reason.
    pub uncertain: usize,
    /// Whose dependents nobody has seen, in words (`secrets in namespace shop: forbidden`), in alphabetical order. They would go, too.
    pub unseen: Vec<String>,
}

impl Incomplete {
    /// What is missing for this plan to be the whole truth.
    ///
    /// A list that failed may hide dependents of what goes. Only what could be a dependent counts: an owner in a namespace has its
    /// dependents in that namespace, while those of a cluster-scoped owner may be anywhere.
    pub fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let uncertain = plan.outcomes.iter().filter(|outcome| outcome.uncertain == Some(Uncertainty::Gap)).count();
        let mut places: FxHashSet<Symbol> = plan.request.targets.iter().map(|target| snapshot.object(*target).namespace).collect();
        let changes = plan.outcomes.iter().filter(|outcome| outcome.kind != OutcomeKind::Unchanged || outcome.uncertain.is_some());
        places.extend(changes.map(|outcome| snapshot.object(outcome.object).namespace));
        let anywhere = places.contains(&Symbol::EMPTY);
        let mut unseen: BTreeSet<String> = BTreeSet::new();
        for list in snapshot.lists.iter().filter(|list| list.failure.is_some()) {
            unseen.extend(hidden(snapshot, list, &places, anywhere));
        }
        // Nobody knows what is served there, namespaced or not.
        let undiscovered = snapshot.undiscovered().map(|place| &snapshot.gaps[place]);
        unseen.extend(undiscovered.filter(|gap| !measures_only(gap)).map(ToString::to_string));
        Incomplete { uncertain, unseen: unseen.into_iter().collect() }
    }

    /// Whether anything is missing.
    pub fn matters(&self) -> bool {
        self.uncertain > 0 || !self.unseen.is_empty()
    }
}

/// What a list that failed may hide of what goes.
fn hidden(snapshot: &Snapshot, list: &ListRecord, places: &FxHashSet<Symbol>, anywhere: bool) -> Vec<String> {
    let resource = snapshot.resources.get(list.resource);
    let reason = list.failure.clone().unwrap_or_default();
    let gap = |namespace: Option<String>| Gap { resource: resource.full_name(), namespace, reason: reason.clone() }.to_string();
    if anywhere {
        return vec![gap(list.namespace.clone())];
    }
    if !resource.namespaced {
        return Vec::new();
    }
    let mut unseen: Vec<&str> = places
        .iter()
        .filter(|place| list.namespace.as_deref().is_none_or(|namespace| namespace == snapshot.text(**place)))
        .filter(|place| !snapshot.covers(list.resource, Some(**place)))
        .map(|place| snapshot.text(*place))
        .collect();
    unseen.sort_unstable();
    unseen.into_iter().map(|namespace| gap(Some(namespace.to_owned()))).collect()
}

/// Whether a group that could not be discovered is one of those that only measure: nothing in them can be deleted, and their servers are
/// those that are most often away.
fn measures_only(gap: &Gap) -> bool {
    let group = gap.resource.split('/').next().unwrap_or_default();
    ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"].contains(&group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        foretell::{Assume, Request, Stage, plan},
        graph::OwnerGraph,
        model::{Origin, RawObject, Resource, Resources, SnapshotBuilder},
        server::Propagation,
    };

    fn resource(group: &str, plural: &str, kind: &str, namespaced: bool) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced,
            verbs: ["delete", "get", "list", "watch"].map(str::to_owned).to_vec(),
            ..Resource::default()
        }
    }

    /// What is unseen when an object of this kind is deleted: lists that failed as `plural[@namespace]`, whether the one of a namespace could
    /// be read instead as `plural=namespace`, and groups that could not be discovered as `group/version`.
    fn unseen(target: &str, failed: &[&str]) -> Vec<String> {
        let all = vec![
            resource("", "configmaps", "ConfigMap", true),
            resource("", "secrets", "Secret", true),
            resource("", "nodes", "Node", false),
        ];
        let mut builder = SnapshotBuilder::new(
            Origin::Cluster { context: "test".to_owned(), server: "test".to_owned() },
            Resources::new(all, Vec::new()),
        );
        let find = |builder: &mut SnapshotBuilder, plural: &str| builder.snapshot().resources.find_type(plural).unwrap();
        let namespace = if target == "nodes" { "" } else { "shop" };
        let raw = RawObject { name: "it".into(), namespace: namespace.into(), uid: "u".into(), ..RawObject::default() };
        let resource = find(&mut builder, target);
        let target = builder.add(resource, &raw);
        for failure in failed {
            if failure.contains('/') {
                let resource = (*failure).to_owned();
                builder.gap(Gap { resource, namespace: None, reason: "away".to_owned() });
                continue;
            }
            let (plural, namespace) = match failure.split_once(['@', '=']) {
                Some((plural, namespace)) => (plural, Some(namespace.to_owned())),
                None => (*failure, None),
            };
            let failure = (!failure.contains('=')).then(|| "forbidden".to_owned());
            let resource = find(&mut builder, plural);
            builder.list(ListRecord { resource, namespace, resource_version: "1".to_owned(), failure });
        }
        let snapshot = builder.build();
        let graph = OwnerGraph::new(&snapshot);
        let stage = Stage::new(&snapshot, &graph, Assume::Known);
        let plan = plan(&stage, &Request::delete(vec![target], Propagation::Background));
        let incomplete = Incomplete::of(&snapshot, &plan);
        assert_eq!(incomplete.matters(), !incomplete.unseen.is_empty());
        incomplete.unseen
    }

    #[test]
    fn what_could_depend_on_a_target_has_to_be_seen() {
        assert_eq!(unseen("configmaps", &[]), [""; 0]);
        assert_eq!(unseen("configmaps", &["secrets"]), ["secrets in namespace shop (forbidden)"]);
        assert_eq!(unseen("configmaps", &["secrets@shop"]), ["secrets in namespace shop (forbidden)"]);
        assert_eq!(unseen("nodes", &["secrets", "configmaps=shop"]), ["secrets (forbidden)"]);
        assert_eq!(unseen("nodes", &["nodes"]), ["nodes (forbidden)"]);
    }

    #[test]
    fn what_could_not_depend_on_it_need_not_be_seen() {
        assert_eq!(unseen("configmaps", &["secrets", "secrets=shop"]), [""; 0], "the namespace itself was read");
        assert_eq!(unseen("configmaps", &["secrets@other"]), [""; 0]);
        assert_eq!(unseen("configmaps", &["nodes"]), [""; 0], "what is cluster-scoped depends on nothing in a namespace");
    }

    #[test]
    fn nobody_knows_what_an_api_serves_that_is_away() {
        assert_eq!(unseen("configmaps", &["acme.io/v1"]), ["acme.io/v1 (away)"]);
        assert_eq!(unseen("configmaps", &["metrics.k8s.io/v1beta1"]), [""; 0], "nothing in it can be deleted");
    }
}
