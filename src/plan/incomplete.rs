//! Whether what could not be read might change what a plan says. Whoever acts on a plan has to know that before.

use std::collections::BTreeSet;

use crate::model::{Gap, ObjectId, Snapshot};

use super::{
    outcome::{Plan, Uncertainty},
    possible_deletions::may_hide,
};

/// What could not be read, and may matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incomplete {
    /// How many outcomes are not certain for that reason, or because the search for other ends was given up.
    pub uncertain: usize,
    /// What may hold dependents that nobody has seen: they would go, too.
    pub unseen: Vec<Gap>,
}

impl Incomplete {
    /// What is missing for this plan to be the whole truth.
    pub fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let uncertain = plan
            .outcomes
            .iter()
            .filter(|outcome| matches!(outcome.uncertain, Some(Uncertainty::Gap | Uncertainty::Bound)))
            .count();
        let named = plan.outcomes.iter().map(|outcome| outcome.object);
        let concerned: BTreeSet<ObjectId> = plan.request.targets.iter().copied().chain(named).collect();
        Incomplete { uncertain, unseen: may_hide(snapshot, &concerned.into_iter().collect::<Vec<_>>()) }
    }

    /// Whether anything is missing.
    pub fn matters(&self) -> bool {
        self.uncertain > 0 || !self.unseen.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::OwnerGraph,
        model::{ListRecord, Origin, RawObject, Resource, Resources, SnapshotBuilder},
        plan::plan,
        server::Propagation,
        simulate::{Assume, Request, SimContext},
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

    /// What is unseen when an object of this kind is deleted: lists that failed as `plural[@namespace]`, whether the
    /// one of a namespace could be read instead as `plural=namespace`, and groups that could not be discovered as
    /// `group/version`.
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
        let find =
            |builder: &mut SnapshotBuilder, plural: &str| builder.snapshot().resources.find_type(plural).unwrap();
        let namespace = if target == "nodes" { "" } else { "shop" };
        let raw = RawObject { name: "it".into(), namespace: namespace.into(), uid: "u".into(), ..RawObject::default() };
        let resource = find(&mut builder, target);
        let target = builder.add(resource, &raw);
        for failure in failed {
            if failure.contains('/') {
                let resource = (*failure).to_owned();
                builder.gap(Gap { resource, namespace: None, reason: "away".into() });
                continue;
            }
            let (plural, namespace) = match failure.split_once(['@', '=']) {
                Some((plural, namespace)) => (plural, Some(namespace.to_owned())),
                None => (*failure, None),
            };
            let failure = (!failure.contains('=')).then(|| "forbidden".into());
            let resource = find(&mut builder, plural);
            builder.list(ListRecord { resource, namespace, resource_version: "1".to_owned(), failure });
        }
        let snapshot = builder.build();
        let graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &graph, Assume::Known);
        let plan = plan(&stage, &Request::delete(vec![target], Propagation::Background));
        let incomplete = Incomplete::of(&snapshot, &plan);
        assert_eq!(incomplete.matters(), !incomplete.unseen.is_empty());
        incomplete.unseen.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_could_depend_on_a_target_has_to_be_seen() {
        assert_eq!(unseen("configmaps", &[]), [""; 0]);
        assert_eq!(unseen("configmaps", &["secrets"]), ["secrets (forbidden)"]);
        assert_eq!(unseen("configmaps", &["secrets@shop"]), ["secrets in namespace shop (forbidden)"]);
        assert_eq!(unseen("nodes", &["secrets", "configmaps=shop"]), ["secrets (forbidden)"]);
        assert_eq!(unseen("nodes", &["nodes"]), ["nodes (forbidden)"]);
    }

    #[test]
    fn what_could_not_depend_on_it_need_not_be_seen() {
        assert_eq!(unseen("configmaps", &["secrets", "secrets=shop"]), [""; 0], "the namespace itself was read");
        assert_eq!(unseen("configmaps", &["secrets@other"]), [""; 0]);
        assert_eq!(
            unseen("configmaps", &["nodes"]),
            [""; 0],
            "what is cluster-scoped depends on nothing in a namespace"
        );
    }

    #[test]
    fn nobody_knows_what_an_api_serves_that_is_away() {
        assert_eq!(unseen("configmaps", &["acme.io/v1"]), ["acme.io/v1 (away)"]);
        assert_eq!(unseen("configmaps", &["metrics.k8s.io/v1beta1"]), [""; 0], "nothing in it can be deleted");
    }
}
