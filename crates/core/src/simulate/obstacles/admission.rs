//! Which admission webhooks the API server calls before a write, and which of them it can't call (S9).

use std::sync::OnceLock;

use crate::{
    model::{
        ObjectId, Origin, Resource, ResourceId, Snapshot,
        facts::{LabelSelector, Webhook},
    },
    server::OwnDelete,
    simulate::{context::SimContext, needs::Needs},
};

use super::{
    backend::{Reach, reach},
    policies::{BoundPolicy, bound_policies},
};

/// A write as admission sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    Delete,
    /// A DELETE of a whole list, as the namespace controller sends it: admission sees each object, but no name, so
    /// rules with `resourceNames` don't match (apiserver `handlers/delete.go: DeleteCollection`).
    DeleteCollection,
    /// A PATCH or PUT.
    Update,
    /// A PUT of a Namespace's subresource `finalize` (R9.12).
    Finalize,
    /// A PATCH of a Pod's subresource `status`, by which a kubelet says that the containers have ended, before it
    /// deletes the pod (R9.31).
    Status,
    /// A POST.
    Create,
}

impl Operation {
    pub(super) const ALL: [Operation; 6] = [
        Operation::Delete,
        Operation::DeleteCollection,
        Operation::Update,
        Operation::Finalize,
        Operation::Status,
        Operation::Create,
    ];

    /// How the namespace controller deletes an object.
    pub fn of_content(snapshot: &Snapshot, object: ObjectId) -> Self {
        if snapshot.resources.get(snapshot.object(object).resource).has_verb("deletecollection") {
            Operation::DeleteCollection
        } else {
            Operation::Delete
        }
    }

    pub fn deletes(self) -> bool {
        matches!(self, Operation::Delete | Operation::DeleteCollection)
    }

    /// The operation in admission reviews.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Delete | Operation::DeleteCollection => "DELETE",
            Operation::Update | Operation::Finalize | Operation::Status => "UPDATE",
            Operation::Create => "CREATE",
        }
    }

    pub(super) fn subresource(self) -> &'static str {
        match self {
            Operation::Finalize => "finalize",
            Operation::Status => "status",
            Operation::Delete | Operation::DeleteCollection | Operation::Update | Operation::Create => "",
        }
    }
}

/// A webhook that is called before a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookCall<'a> {
    pub configuration: ObjectId,
    pub place: usize,
    pub webhook: &'a Webhook,
}

/// Every webhook, with its configuration.
pub(crate) fn webhook_calls<'a>(context: &SimContext<'a>, needs: &mut Needs) -> Vec<WebhookCall<'a>> {
    let snapshot: &'a Snapshot = context.snapshot;
    let mut all = Vec::new();
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let Some(resource) = snapshot.resources.by_group_kind("admissionregistration.k8s.io", kind) else { continue };
        for id in context.of_resource(resource) {
            let Some(facts) = snapshot.facts.webhooks(*id) else {
                needs.facts.insert(*id);
                continue;
            };
            all.extend(facts.webhooks.iter().enumerate().map(|(place, webhook)| WebhookCall {
                configuration: *id,
                place,
                webhook,
            }));
        }
    }
    all
}

impl WebhookCall<'_> {
    /// Whether a webhook whose rules match is called for an object (R9.31).
    pub(crate) fn called_for(&self, context: &SimContext<'_>, object: ObjectId) -> Called {
        match called_by(context, object, self.webhook.objects.as_ref(), self.webhook.namespaces.as_ref()) {
            Called::Yes if self.webhook.depends_on_unread() => Called::Perhaps,
            called => called,
        }
    }
}

/// A webhook, and whether it can be reached, which is found out once it matters.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    pub call: WebhookCall<'a>,
    reach: OnceLock<(Reach, Needs)>,
}

impl Hook<'_> {
    pub(crate) fn reach(&self, context: &SimContext<'_>) -> &(Reach, Needs) {
        self.reach.get_or_init(|| {
            let mut needs = Needs::default();
            (reach(context, self.call.webhook.backend.as_ref(), &mut needs), needs)
        })
    }
}

/// Whether a webhook is called before a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    Yes,
    No,
    /// Something that can't be judged decides it: `matchConditions`, or labels that were not read.
    Perhaps,
}

/// All webhooks.
#[derive(Debug, Default)]
pub(crate) struct Admission<'a> {
    pub hooks: Vec<Hook<'a>>,
    pub policies: Vec<BoundPolicy<'a>>,
    /// Whether there may be more webhooks or policies, which could not be read.
    pub unread: bool,
    /// For each operation and resource, the webhooks whose rules match.
    by_rules: OnceLock<Vec<Vec<Vec<u32>>>>,
}

impl<'a> Admission<'a> {
    pub(super) fn of(context: &SimContext<'a>, needs: &mut Needs) -> Self {
        let mut own = Needs::default();
        let calls = webhook_calls(context, &mut own);
        let hooks = calls.into_iter().map(|call| Hook { call, reach: OnceLock::new() }).collect();
        let policies = bound_policies(context, &mut own);
        // What is needed here and was asked for in vain stays needed.
        let unread = !own.is_empty() || some_unlisted(context.snapshot);
        needs.add(&own);
        Admission { hooks, policies, unread, by_rules: OnceLock::new() }
    }

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
            Operation::ALL.into_iter().map(of).collect()
        });
        table[operation as usize].get(resource.index()).map_or(&[], Vec::as_slice)
    }
}

/// Whether a list of webhooks or policies of a live cluster could not be read. Most dumps have none of these.
fn some_unlisted(snapshot: &Snapshot) -> bool {
    let resources = &snapshot.resources;
    let of_admission = resources.iter().filter(|(_, resource)| resource.is_of_admission());
    let mut unlisted = of_admission.filter(|(id, _)| !snapshot.covers(*id, None));
    matches!(snapshot.origin, Origin::Cluster { .. }) && unlisted.next().is_some()
}

/// Whether selectors choose an object.
pub(super) fn called_by(
    context: &SimContext<'_>,
    object: ObjectId,
    objects: Option<&LabelSelector>,
    namespaces: Option<&LabelSelector>,
) -> Called {
    let snapshot = context.snapshot;
    if objects.is_some_and(|selector| !selects(snapshot, selector, object)) {
        return Called::No;
    }
    let Some(selector) = namespaces else { return Called::Yes };
    let namespace = snapshot.object(object).namespace;
    let chosen = if context.rules(object).own_delete == OwnDelete::Namespace {
        Some(selects(snapshot, selector, object))
    } else if namespace.is_empty() {
        // Other cluster-scoped objects are never exempt (`namespace/matcher.go: MatchNamespaceSelector`).
        Some(true)
    } else {
        selects_namespace(context, selector, context.snapshot.text(namespace))
    };
    match chosen {
        Some(true) => Called::Yes,
        Some(false) => Called::No,
        None => Called::Perhaps,
    }
}

/// Whether a selector chooses the namespace with this name; `None` if its labels decide that and were not read.
pub(crate) fn selects_namespace(context: &SimContext<'_>, selector: &LabelSelector, name: &str) -> Option<bool> {
    let snapshot = context.snapshot;
    if let Some(namespace) = snapshot.strings.find(name).and_then(|name| context.namespace_named(name)) {
        return Some(selects(snapshot, selector, namespace));
    }
    // The API server keeps this label right (`registry/core/namespace/strategy.go: Canonicalize`).
    let (by_name, others): (Vec<_>, Vec<_>) =
        selector.0.iter().cloned().partition(|requirement| requirement.key == "kubernetes.io/metadata.name");
    let by_name = LabelSelector(by_name).matches(|_| Some(name));
    (!by_name || others.is_empty()).then_some(by_name)
}

fn selects(snapshot: &Snapshot, selector: &LabelSelector, object: ObjectId) -> bool {
    selector.matches(|key| snapshot.label(object, key))
}
