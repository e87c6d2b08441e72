//! Admission webhooks that must be called before a write, and that can't be reached (S9).

use serde_json::json;

use crate::{
    model::{ObjectId, Resource, effects::Severity},
    simulate::{
        BlockedBy,
        obstacles::{Called, Operation, Reach, WebhookCall, reach, selects_namespace},
    },
    wording::count,
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    code::Code,
    collector::{Turn, Write},
    finding::{Finding, Remedy},
    limit::Limit,
};

/// The webhooks that are called before an operation on a resource.
pub(super) fn asked<'c, 'a>(
    calls: &'c [WebhookCall<'a>],
    resource: &Resource,
    operation: Operation,
) -> impl Iterator<Item = &'c WebhookCall<'a>> {
    calls.iter().filter(move |asked| asked.webhook.matches(resource, operation.name()))
}

/// Whether a webhook can be called for anything in scope: its selector may name other namespaces only.
fn concerns(case: &Case<'_>, asked: &WebhookCall<'_>, concerned: &[&Resource]) -> bool {
    let (Limit::Only { namespaces, .. }, Some(selector)) = (case.limit, &asked.webhook.namespaces) else { return true };
    // Other cluster-scoped objects are never exempt.
    concerned.iter().any(|resource| !resource.namespaced && resource.kind != "Namespace")
        || namespaces.is_empty()
        || namespaces.iter().any(|namespace| selects_namespace(case.stage, selector, *namespace) != Some(false))
}

/// Finds webhooks that can't be reached, and which writes of the collector they prevent.
pub(super) fn gather(case: &Case<'_>, calls: &[WebhookCall<'_>], turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    for asked in calls.iter().filter(|asked| asked.webhook.required) {
        let matches = |resource: &Resource, write: Write| asked.webhook.matches(resource, write.operation().name());
        let concerned: Vec<&Resource> = snapshot
            .resources
            .deletable()
            .map(|(_, resource)| resource)
            .filter(|resource| {
                let finalizes =
                    resource.kind == "Namespace" && asked.webhook.matches_part(resource, "finalize", "UPDATE");
                matches(resource, Write::Delete) || matches(resource, Write::References) || finalizes
            })
            .collect();
        if concerned.is_empty() || !concerns(case, asked, &concerned) {
            continue;
        }
        let backend = asked.webhook.backend.as_ref();
        let Reach::Unreachable(lack) = reach(case.stage, backend, &mut findings.wanted) else { continue };
        let why = lack.describe(backend);
        let resource_of = |id: ObjectId| snapshot.resources.get(snapshot.object(id).resource);
        let refuses = |turn: &&Turn| {
            matches(resource_of(turn.object), turn.write) && asked.called_for(case.stage, turn.object) != Called::No
        };
        let held: Vec<&Turn> = turns.iter().filter(refuses).collect();
        findings.refused.extend(held.iter().map(|turn| turn.object));
        // What is terminating already waits for more than that.
        let mut content = case.projection.refused_by(BlockedBy::Webhook(asked.configuration, asked.place as u32));
        let finalized: Vec<ObjectId> = content.iter().copied().filter(|id| snapshot.is_namespace(*id)).collect();
        content.extend(content_to_refuse(case, asked));
        let content = sorted(content.into_iter().filter(|id| !snapshot.object(*id).terminating()));
        let is_kept = |id: &ObjectId| {
            matches(resource_of(*id), Write::References) && asked.called_for(case.stage, *id) == Called::Yes
        };
        let mut releases: Vec<ObjectId> = case.held_by_controllers().filter(is_kept).collect();
        releases.extend(finalized.into_iter().filter(|id| snapshot.object(*id).terminating() && content.is_empty()));
        let finding = finding(case, asked, &why, &concerned, Kept { held: &held, content: &content, releases });
        findings.findings.push(finding);
    }
}

/// What is left in Terminating namespaces and this webhook surely keeps there, though something else may be in the way
/// until then: pods are deleted first.
fn content_to_refuse(case: &Case<'_>, asked: &WebhookCall<'_>) -> Vec<ObjectId> {
    let snapshot = case.snapshot();
    let namespaces = case.stage.built_in.namespaces.map_or(&[][..], |namespaces| case.stage.of_resource(namespaces));
    let going = namespaces.iter().filter(|namespace| snapshot.object(**namespace).terminating());
    let content = going.flat_map(|namespace| case.stage.in_namespace(snapshot.object(*namespace).name)).copied();
    let is_refused = |object: &ObjectId| {
        let resource = snapshot.resources.get(snapshot.object(*object).resource);
        asked.webhook.matches(resource, Write::Delete.operation().name())
            && asked.called_for(case.stage, *object) == Called::Yes
    };
    content.filter(is_refused).collect()
}

/// What a webhook keeps from being written to.
struct Kept<'k> {
    /// By the collector.
    held: &'k [&'k Turn],
    /// By the namespace controller, in Terminating namespaces.
    content: &'k [ObjectId],
    /// By controllers that would remove their finalizers.
    releases: Vec<ObjectId>,
}

fn finding(
    case: &Case<'_>,
    asked: &WebhookCall<'_>,
    why: &str,
    concerned: &[&Resource],
    Kept { held, content, releases }: Kept<'_>,
) -> Finding {
    let snapshot = case.snapshot();
    let object = snapshot.object(asked.configuration);
    let names: Vec<String> = concerned.iter().map(|resource| resource.full_name()).collect();
    let of = match names.as_slice() {
        [] => String::new(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(", "),
        many => format!("{} and {} more kinds", many[..2].join(", "), many.len() - 2),
    };
    let asked_before = asked.webhook.asked_before(concerned.iter().copied());
    let selective = match (asked.webhook.selective, asked.webhook.conditional) {
        (_, true) => ", as far as its matchConditions and selectors match",
        (true, false) => ", as far as its selectors match",
        (false, false) => "",
    };
    // Nothing here evaluates matchConditions: they may exempt the controllers.
    let are = if asked.webhook.conditional { "may be" } else { "are" };
    let mut related = sorted(held.iter().flat_map(|turn| [Some(turn.object), turn.waiting]).flatten());
    let live = |id: &&ObjectId| !snapshot.object(**id).terminating() && case.projection.goes(**id);
    let deleted: Vec<ObjectId> = related.iter().filter(live).copied().collect();
    let fires = deleted.len() + case.goes_below(&deleted).len();
    let mut then: Vec<String> = Vec::new();
    if !held.is_empty() {
        let names = case.names(&related, None);
        then.push(format!("The collector's requests for {names} {are} rejected, and it retries forever."));
    }
    if fires > 0 {
        let those = count(fires, "existing object", "existing objects");
        then.push(format!("Once the webhook answers or is removed, it deletes {those}. Decide about that first."));
    }
    if !content.is_empty() {
        let is_emptied = |id: &&ObjectId| {
            let name = snapshot.object(**id).name;
            snapshot.is_namespace(**id) && content.iter().any(|object| snapshot.object(*object).namespace == name)
        };
        let namespaces =
            case.stage.built_in.namespaces.map_or(&[][..], |namespaces| case.stage.of_resource(namespaces));
        let emptied: Vec<ObjectId> = namespaces.iter().filter(is_emptied).copied().collect();
        then.push(format!(
            "The namespace controller's requests for {} {are} rejected: {} {} Terminating until the webhook answers \
             or is removed.",
            case.names(content, None),
            case.names(&emptied, None),
            if emptied.len() == 1 { "stays" } else { "stay" },
        ));
        related.extend(content.iter().chain(&emptied));
    }
    if !releases.is_empty() {
        then.push(format!(
            "{}: {} Terminating until the webhook answers or is removed.",
            case.cannot_be_released(&releases),
            if releases.len() == 1 { "it stays" } else { "they stay" },
        ));
    }
    if then.is_empty() {
        then.push(
            match asked_before {
                _ if asked.webhook.conditional => {
                    "Requests that its matchConditions don't exempt fail: perhaps the collector's, too."
                }
                "finalizes" => "A namespace that is deleted stays Terminating, also once it is empty.",
                "changes" => {
                    "No client can change them: controllers cannot remove their finalizers, nor the collector owner \
                 references."
                }
                _ => {
                    "No client can delete or change them, including the collector: it cannot collect anything of these \
                 kinds."
                }
            }
            .to_owned(),
        );
    }
    related.extend(&releases);
    let related = sorted(related);
    let populated = concerned.iter().any(|resource| {
        let id = snapshot.resources.by_group_plural(&resource.group, &resource.plural);
        id.is_some_and(|id| !case.stage.of_resource(id).is_empty())
    });
    let severe = !related.is_empty() || (populated && !asked.webhook.selective && !asked.webhook.conditional);
    let patch = vec![
        json!({"op": "test", "path": format!("/webhooks/{}/name", asked.place), "value": asked.webhook.name}),
        json!({"op": "replace", "path": format!("/webhooks/{}/failurePolicy", asked.place), "value": "Ignore"}),
    ];
    Finding {
        severity: if severe { Severity::Error } else { Severity::Warning },
        objects: vec![asked.configuration],
        related,
        message: format!(
            "The API server must call the webhook {} before it {asked_before} {of}{selective}; {why}.",
            asked.webhook.name
        ),
        consequence: then.join(" "),
        remedies: vec![
            Remedy::new(
                "allow writes while the webhook is unreachable: they are then not checked",
                case.commands().patch(asked.configuration, patch),
            ),
            Remedy::new(
                "delete the configuration, if its application is no longer installed",
                case.commands().delete(&[asked.configuration], "background", &[]),
            ),
        ],
        ..Finding::of(Code::WebhookUnreachable, format!("{} {}", snapshot.text(object.uid), asked.webhook.name))
    }
}
