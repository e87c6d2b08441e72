//! Writes to all objects of a kind, and whether a webhook must surely allow them: those that its own backend needs to
//! start.

use crate::{
    model::{ObjectId, Resource, facts::Webhook},
    simulate::context::SimContext,
};

use super::admission::selects_namespace;

/// Writes to all objects of a kind, or to a part of them.
pub(crate) struct Writes {
    pub group: &'static str,
    pub plural: &'static str,
    /// A subresource, or empty.
    pub part: &'static str,
    pub operation: &'static str,
}

impl Writes {
    pub(crate) const fn to(
        group: &'static str,
        plural: &'static str,
        part: &'static str,
        operation: &'static str,
    ) -> Self {
        Writes { group, plural, part, operation }
    }

    pub(crate) fn resource(&self) -> Resource {
        Resource { namespaced: self.plural != "nodes", ..Resource::named(self.group, "v1", self.plural, "") }
    }

    /// Whether a webhook is certainly called for all of them in this namespace; empty: in none, or in any.
    pub(crate) fn surely_call(&self, context: &SimContext<'_>, webhook: &Webhook, namespace: &str) -> bool {
        let resource = self.resource();
        let is_selected = || match &webhook.namespaces {
            Some(selector) if !namespace.is_empty() => selects_namespace(context, selector, namespace) == Some(true),
            // Objects of the cluster are never exempt (R9.31).
            Some(_) => !resource.namespaced,
            None => true,
        };
        webhook.matches_part(&resource, self.part, self.operation)
            && webhook.objects.is_none()
            && !webhook.depends_on_unread()
            && is_selected()
    }
}

/// The writes that start a workload, and make its pods the backend of a Service.
const STARTING: [Writes; 5] = [
    Writes::to("apps", "replicasets", "", "UPDATE"),
    Writes::to("", "pods", "", "CREATE"),
    Writes::to("", "pods", "binding", "CREATE"),
    Writes::to("", "pods", "status", "UPDATE"),
    Writes::to("discovery.k8s.io", "endpointslices", "", "UPDATE"),
];

/// Whether a webhook refuses what starts its own workload.
pub(crate) fn refuses_its_start(context: &SimContext<'_>, webhook: &Webhook, workload: ObjectId) -> bool {
    let snapshot = context.snapshot;
    let has_sets = snapshot.resource(workload).kind == "Deployment";
    let mut writes = STARTING.iter().filter(|writes| has_sets || writes.plural != "replicasets");
    writes.any(|writes| writes.surely_call(context, webhook, snapshot.namespace(workload)))
}
