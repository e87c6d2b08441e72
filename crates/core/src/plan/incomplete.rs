//! Whether something that could not be read might change a plan. Everyone who acts on a plan must check this first.

use std::collections::BTreeSet;

use crate::{
    model::{Gap, ObjectId, Snapshot},
    simulate::{Start, Uncertainty},
};

use super::outcome::Plan;

/// What could not be read and may change the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incomplete {
    /// How many outcomes are uncertain because of gaps, or because the search for other outcomes was cut short.
    pub uncertain: usize,
    /// How many of these are uncertain because the search was cut short.
    pub cut_short: usize,
    /// Lists that failed and may contain dependents of the deleted objects, or what their controllers delete with them.
    pub unseen: Vec<Gap>,
}

impl Incomplete {
    /// Finds what this plan lacks.
    pub fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let open = || plan.both_ends().filter_map(|outcome| outcome.uncertain);
        let named = plan.both_ends().map(|outcome| outcome.object);
        let concerned: BTreeSet<ObjectId> = plan.request.targets.iter().copied().chain(named).collect();
        let mut unseen = snapshot.may_hide(&concerned.into_iter().collect::<Vec<_>>());
        // A sweep reads the cluster by itself, whatever a dump lacks.
        unseen.retain(|gap| plan.request.start == Start::AtRest || snapshot.gaps.contains(gap));
        // What controllers list and delete may be anywhere.
        for gap in plan.listed_unread() {
            if !unseen.contains(gap) {
                unseen.push(gap.clone());
            }
        }
        Incomplete {
            uncertain: open().filter(|why| why.row().incomplete).count(),
            cut_short: open().filter(|why| *why == Uncertainty::Bound).count(),
            unseen,
        }
    }

    /// The gaps for which a plan is incomplete: lists that may contain dependents of the deleted objects, and single
    /// objects that were looked up. If neither explains an uncertain outcome, or if a sweep decides in the collector's
    /// place, all gaps.
    pub fn gaps_in_the_way(snapshot: &Snapshot, plan: &Plan) -> Vec<Gap> {
        let Incomplete { uncertain, unseen, .. } = Incomplete::of(snapshot, plan);
        let of_list = |gap: &Gap| {
            snapshot.lists.iter().any(|list| {
                list.failure.as_ref() == Some(&gap.reason)
                    && snapshot.resources.get(list.resource).full_name() == gap.resource
            })
        };
        let of_object = |gap: &&Gap| !unseen.contains(gap) && !of_list(gap) && !gap.is_undiscovered();
        let found: Vec<Gap> = unseen.iter().chain(snapshot.gaps.iter().filter(of_object)).cloned().collect();
        let all = uncertain > 0 && (found.is_empty() || plan.request.start != Start::AtRest);
        if all { snapshot.gaps.clone() } else { found }
    }

    /// These, and then the gaps because of which the plan assumes something.
    pub fn gaps_that_matter(snapshot: &Snapshot, plan: &Plan) -> Vec<Gap> {
        let is_assumed = |gap: &&Gap| plan.assumptions.iter().any(|assumption| assumption.is_about(gap));
        let mut gaps = Incomplete::gaps_in_the_way(snapshot, plan);
        let assumed = snapshot.gaps.iter().filter(is_assumed).filter(|gap| !gaps.contains(gap)).cloned();
        gaps.extend(assumed.collect::<Vec<_>>());
        gaps
    }

    /// Whether the plan lacks anything.
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
            namespaced,
            ..Resource::named(group, "v1", plural, kind).with_verbs(&["delete", "get", "list", "watch"])
        }
    }

    /// Deletes one object and returns the gaps that may hide its dependents. `failed` names failed lists as
    /// `plural[@namespace]`, lists of which only one namespace was read as `plural=namespace`, and undiscovered groups
    /// as `group/version`.
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
        let raw = RawObject::named(namespace, "it", "u");
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
        let context = SimContext::new(&snapshot, &graph, Assume::Known);
        let plan = plan(&context, &Request::delete(vec![target], Propagation::Background));
        let incomplete = Incomplete::of(&snapshot, &plan);
        assert_eq!(incomplete.matters(), !incomplete.unseen.is_empty());
        assert_eq!(Incomplete::gaps_that_matter(&snapshot, &plan), incomplete.unseen);
        incomplete.unseen.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_that_may_contain_dependents_must_be_read() {
        assert_eq!(unseen("configmaps", &[]), [""; 0]);
        assert_eq!(unseen("configmaps", &["secrets"]), ["secrets (forbidden)"]);
        assert_eq!(unseen("configmaps", &["secrets@shop"]), ["secrets in namespace shop (forbidden)"]);
        assert_eq!(unseen("nodes", &["secrets", "configmaps=shop"]), ["secrets (forbidden)"]);
        assert_eq!(unseen("nodes", &["nodes"]), ["nodes (forbidden)"]);
    }

    #[test]
    fn lists_that_cannot_contain_dependents_are_ignored() {
        assert_eq!(unseen("configmaps", &["secrets", "secrets=shop"]), [""; 0], "the namespace itself was read");
        assert_eq!(unseen("configmaps", &["secrets@other"]), [""; 0]);
        assert_eq!(
            unseen("configmaps", &["nodes"]),
            [""; 0],
            "what is cluster-scoped depends on nothing in a namespace"
        );
    }

    #[test]
    fn an_undiscovered_group_may_contain_dependents() {
        assert_eq!(unseen("configmaps", &["acme.io/v1"]), ["acme.io/v1 (away)"]);
        assert_eq!(unseen("configmaps", &["metrics.k8s.io/v1beta1"]), [""; 0], "nothing in it can be deleted");
    }
}
