//! The obstacles that a simulation heeds: webhooks, policies and APIs, and whether their backends can be reached.

use std::sync::OnceLock;

use strum::VariantArray;

use crate::{
    model::{
        ObjectId, Resource, ResourceId, Snapshot,
        facts::{AdmissionPolicyFacts, Backend, PolicyBindingFacts, Webhook},
    },
    simulate::{
        doubt::ManagerDoubt,
        needs::{Needs, Once},
    },
};

/// The obstacles that a simulation heeds.
#[derive(Debug)]
pub(crate) struct Obstacles<'a> {
    pub admission: Admission<'a>,
    pub apis: Apis,
    /// The controller manager's Lease, and why it shows that no controller manager runs.
    pub manager_away: Option<(ObjectId, String)>,
    /// What raises a doubt whether a controller manager works that isn't away.
    pub doubt: Option<ManagerDoubt>,
    /// Whether a sweep does the collector's work, so that only the other controllers may be away.
    pub swept: bool,
    /// Whether only what empties namespaces is refused, and the collector's writes are not.
    pub of_content: bool,
    /// What must be read to know them.
    pub needs: Needs,
}

/// All webhooks.
#[derive(Debug, Default)]
pub(crate) struct Admission<'a> {
    pub hooks: Vec<Hook<'a>>,
    pub policies: Vec<BoundPolicy<'a>>,
    /// Whether there may be more webhooks or policies, which could not be read.
    pub unread: bool,
    /// For each operation and resource, the webhooks whose rules match.
    pub(super) by_rules: OnceLock<Vec<Vec<Vec<u32>>>>,
}

impl Admission<'_> {
    /// The webhooks whose rules match a write, by their position.
    pub(crate) fn by_rules(&self, snapshot: &Snapshot, resource: ResourceId, operation: Operation) -> &[u32] {
        if self.hooks.is_empty() {
            return &[];
        }
        let table = self.by_rules.get_or_init(|| {
            let matching = |resource: &Resource, operation: Operation| -> Vec<u32> {
                let hooks = self.hooks.iter().zip(0..);
                let matches = |hook: &Hook<'_>| {
                    hook.call.webhook.matches_part(resource, operation.subresource(), operation.name())
                };
                hooks.filter(|(hook, _)| matches(hook)).map(|(_, place)| place).collect()
            };
            let of = |operation| snapshot.resources.iter().map(|(_, resource)| matching(resource, operation)).collect();
            Operation::VARIANTS.iter().copied().map(of).collect()
        });
        table[operation as usize].get(resource.index()).map_or(&[], Vec::as_slice)
    }
}

/// A webhook, and whether it can be reached, which is found out once it matters.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    pub call: WebhookCall<'a>,
    pub(super) reach: Once<Reach>,
}

/// A webhook that is called before a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookCall<'a> {
    pub configuration: ObjectId,
    pub place: usize,
    pub webhook: &'a Webhook,
}

/// Whether a webhook is called before a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    Yes,
    No,
    /// Something that can't be judged decides it: `matchConditions`, or labels that were not read.
    Perhaps,
}

/// A policy, and a binding that puts it in force.
#[derive(Debug)]
pub(crate) struct BoundPolicy<'a> {
    pub policy: ObjectId,
    pub binding: ObjectId,
    /// Whether it is a MutatingAdmissionPolicy.
    pub mutates: bool,
    pub(super) facts: &'a AdmissionPolicyFacts,
    pub(super) bound: &'a PolicyBindingFacts,
}

/// A write as admission sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray)]
pub enum Operation {
    Delete,
    /// A DELETE of a whole list, as the namespace controller sends it: admission sees each object, but no name, so
    /// rules with `resourceNames` don't match (apiserver `handlers/delete.go: DeleteCollection`).
    DeleteCollection,
    /// A PATCH or PUT.
    Update,
    /// A PUT of a Namespace's subresource `finalize` (R9.12).
    Finalize,
    /// A PATCH or PUT of the subresource `status`: a kubelet or the pod garbage collector says that a pod has ended,
    /// before it deletes that (R9.31); the Job controller counts a pod before it lets go of it (R9.8); and so the
    /// finalizer of a CRD is removed (R1.26).
    Status,
    /// A PATCH of the subresource `scale`, as `kubectl scale` sends it.
    Scale,
    /// A POST.
    Create,
}

impl Operation {
    /// How the namespace controller deletes an object.
    pub fn of_content(snapshot: &Snapshot, object: ObjectId) -> Self {
        if snapshot.resource(object).has_verb("deletecollection") {
            Operation::DeleteCollection
        } else {
            Operation::Delete
        }
    }

    pub fn deletes(self) -> bool {
        matches!(self, Operation::Delete | Operation::DeleteCollection)
    }

    /// Whether a webhook that is called before this write may keep an object of a kind from going.
    pub(crate) fn ends(self, resource: &Resource) -> bool {
        match self {
            Operation::Create | Operation::Scale => false,
            Operation::Finalize => resource.kind == "Namespace",
            Operation::Status => matches!(resource.kind.as_str(), "Pod" | "Job" | "CustomResourceDefinition"),
            Operation::Delete | Operation::DeleteCollection | Operation::Update => true,
        }
    }

    /// The operation in admission reviews.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Delete | Operation::DeleteCollection => "DELETE",
            Operation::Update | Operation::Finalize | Operation::Status | Operation::Scale => "UPDATE",
            Operation::Create => "CREATE",
        }
    }

    pub(crate) fn subresource(self) -> &'static str {
        match self {
            Operation::Finalize => "finalize",
            Operation::Status => "status",
            Operation::Scale => "scale",
            Operation::Delete | Operation::DeleteCollection | Operation::Update | Operation::Create => "",
        }
    }
}

/// All aggregated APIs, found once they matter.
#[derive(Debug, Default)]
pub(crate) struct Apis(pub(super) Once<Vec<Api>>);

/// An API that another server serves.
#[derive(Debug)]
pub(crate) struct Api {
    pub service: ObjectId,
    /// Whether it answered when it was read; `None` if unknown.
    pub available: Option<bool>,
    pub reach: Reach,
    /// Whether a namespace can contain its objects, so that its content must be deleted and listed.
    pub has_content: bool,
}

/// Whether a backend can be reached, as far as the snapshot shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Unreachable(Lack),
    /// This Service exists, and perhaps only these pods are behind it; empty: others, too.
    Served {
        service: ObjectId,
        pods: Vec<ObjectId>,
    },
    /// Only an API server with a certain flag can reach it.
    Doubtful(Lack),
    /// It is outside the cluster.
    Outside,
    /// Something that decides it was not read.
    Unknown,
}

/// What a backend lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lack {
    Service,
    /// Its Service doesn't have its port (apiserver `util/proxy/proxy.go: findServicePort`).
    Port,
    Endpoint,
    /// Its Service is headless. By default, the API server calls the Service's IP (apiserver `util/proxy/proxy.go:
    /// ResolveCluster`); with `--enable-aggregator-routing`, its endpoints.
    ClusterIp,
}

impl Lack {
    /// The same as a clause about a backend.
    pub(crate) fn describe(self, backend: Option<&Backend>) -> String {
        let service = backend.map_or("its service".to_owned(), Backend::to_string);
        match self {
            Lack::Service => format!("{service} does not exist"),
            Lack::Port => {
                let port = backend.and_then(Backend::port).map(|port| format!(" {port}")).unwrap_or_default();
                format!("{service} has no port{port}")
            }
            Lack::Endpoint => format!("{service} has no endpoint that is ready"),
            Lack::ClusterIp => format!(
                "{service} is headless, and only an API server with --enable-aggregator-routing can call \
                 that"
            ),
        }
    }
}
