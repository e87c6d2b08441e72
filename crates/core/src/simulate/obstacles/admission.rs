//! Which admission webhooks the API server calls before a write, and which of them it can't call (S9).

use crate::{
    model::{ObjectId, Snapshot, facts::LabelSelector},
    server::OwnDelete,
    simulate::context::SimContext,
};

use super::{
    backend::reach,
    heeded::{Called, Hook, Reach, WebhookCall},
};

/// Every webhook, with its configuration.
pub(crate) fn webhook_calls<'a>(context: &SimContext<'a>) -> Vec<WebhookCall<'a>> {
    let snapshot: &'a Snapshot = context.snapshot;
    let mut all = Vec::new();
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let Some(resource) = snapshot.resources.by_group_kind("admissionregistration.k8s.io", kind) else { continue };
        for id in context.of_resource(resource) {
            let Some(facts) = context.fact(*id, snapshot.facts.webhooks(*id)) else { continue };
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

impl Hook<'_> {
    pub(crate) fn reach(&self, context: &SimContext<'_>) -> &Reach {
        context.once(&self.reach, || reach(context, self.call.webhook.backend.as_ref()))
    }
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
