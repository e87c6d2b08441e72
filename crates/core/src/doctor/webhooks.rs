//! Admission webhooks that must be called before a write, and that can't be reached (S9).

use std::collections::BTreeSet;

use crate::{
    model::{ObjectId, Resource, Symbol, effects::Severity, facts::Webhook},
    simulate::{
        BlockedBy, Needs, ObstacleKind,
        obstacles::{
            Called, Operation, Reach, WebhookCall, Writes, reach, refuses_its_start, selects_namespace, why_unreachable,
        },
    },
    wording::count,
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    code::Code,
    collector::{Turn, Write},
    commands::one_after_another,
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
        || namespaces
            .iter()
            .any(|namespace| selects_namespace(case.stage, selector, case.snapshot().text(*namespace)) != Some(false))
}

/// Whether a webhook is called for nothing that there is: its selector matches no namespace.
fn selects_nothing(case: &Case<'_>, asked: &WebhookCall<'_>, concerned: &[&Resource]) -> bool {
    let (Some(selector), Some(namespaces)) = (&asked.webhook.namespaces, case.stage.built_in.namespaces) else {
        return false;
    };
    let selects = |id: &ObjectId| {
        let name = case.snapshot().text(case.snapshot().object(*id).name);
        selects_namespace(case.stage, selector, name) != Some(false)
    };
    // Objects of the cluster are never exempt, but for Namespaces, which are chosen by their own labels (R9.31).
    concerned.iter().all(|resource| resource.namespaced || resource.kind == "Namespace")
        && case.snapshot().covers(namespaces, None)
        && !case.stage.of_resource(namespaces).is_empty()
        && !case.stage.of_resource(namespaces).iter().any(selects)
}

/// Writes without which a cluster doesn't go on.
struct Vital {
    writes: Writes,
    /// The namespace of these objects; empty: none or any.
    namespace: &'static str,
    /// What comes of it if the API server refuses this.
    then: &'static str,
}

/// All of them.
const VITAL: [Vital; 7] = [
    // kubernetes/kubernetes pkg/kubelet/kubelet.go: NewController of its Lease; pkg/controller/nodelifecycle.
    Vital {
        namespace: "kube-node-lease",
        ..vital(
            Writes::to("coordination.k8s.io", "leases", "", "UPDATE"),
            "kubelets can't renew their Leases: Nodes become NotReady, and their pods are evicted",
        )
    },
    // k8s.io/client-go/tools/leaderelection.
    Vital {
        namespace: "kube-system",
        ..vital(
            Writes::to("coordination.k8s.io", "leases", "", "UPDATE"),
            "the controller manager and the scheduler can't renew theirs, and stop",
        )
    },
    vital(Writes::to("", "nodes", "status", "UPDATE"), "kubelets can't report the state of Nodes"),
    vital(Writes::to("", "pods", "", "CREATE"), "no pod is made in place of one that is gone"),
    vital(Writes::to("", "pods", "binding", "CREATE"), "no pod gets a Node"),
    vital(Writes::to("", "pods", "status", "UPDATE"), "no pod becomes ready"),
    vital(Writes::to("discovery.k8s.io", "endpointslices", "", "UPDATE"), "Services don't learn of other pods"),
];

const fn vital(writes: Writes, then: &'static str) -> Vital {
    Vital { writes, namespace: "", then }
}

impl Vital {
    /// Whether a webhook is certainly called for all such writes, or for all in a namespace with pods that it selects.
    /// `populated`: the namespaces with pods.
    fn needs(&self, case: &Case<'_>, webhook: &Webhook, populated: &BTreeSet<Symbol>) -> bool {
        let calls = |namespace: &str| self.writes.surely_call(case.stage, webhook, namespace);
        let by_namespace = self.namespace.is_empty() && webhook.namespaces.is_some();
        calls(self.namespace)
            || by_namespace && populated.iter().any(|namespace| calls(case.snapshot().text(*namespace)))
    }

    /// What comes of it if a webhook can't be called.
    fn follows(&self, webhook: &Webhook) -> String {
        let where_selected = match self.writes.resource().namespaced && self.namespace.is_empty() {
            true if webhook.namespaces.is_some() => ", in the namespaces that it selects",
            _ => "",
        };
        format!("{}{where_selected}", self.then)
    }
}

/// Finds webhooks that can't be reached, and which writes of the collector they prevent.
pub(super) fn gather(case: &Case<'_>, calls: &[WebhookCall<'_>], turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let pods = case.stage.built_in.pods.map_or(&[][..], |pods| case.stage.of_resource(pods));
    let populated: BTreeSet<Symbol> = pods.iter().map(|pod| snapshot.object(*pod).namespace).collect();
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
        let vital: Vec<&Vital> = VITAL.iter().filter(|vital| vital.needs(case, asked.webhook, &populated)).collect();
        let others: Vec<Resource> = match concerned.is_empty() && *case.limit == Limit::Everything {
            true => {
                let whole = vital.iter().filter(|vital| vital.writes.part.is_empty());
                whole.map(|vital| vital.writes.resource()).take(1).collect()
            }
            false => Vec::new(),
        };
        let concerned: Vec<&Resource> = concerned.into_iter().chain(&others).collect();
        if concerned.is_empty() || !concerns(case, asked, &concerned) {
            continue;
        }
        let backend = asked.webhook.backend.as_ref();
        let (lack, is_certain) = match reach(case.stage, backend, &mut findings.wanted) {
            Reach::Unreachable(lack) => (lack, true),
            Reach::Doubtful(lack) => (lack, false),
            Reach::Served { .. } | Reach::Outside | Reach::Unknown => continue,
        };
        let (why, idle) = why_unreachable(case.stage, backend, lack, &mut findings.wanted);
        if vital.is_empty() && selects_nothing(case, asked, &concerned) {
            let consequence = "It selects none of the namespaces that exist, so it prevents nothing now.".to_owned();
            let finding = finding(case, asked, &why, &concerned, Kept::default());
            findings.findings.push(Finding { severity: Severity::Note, consequence, ..finding });
            continue;
        }
        if !is_certain {
            let finding = finding(case, asked, &why, &concerned, Kept::default());
            findings.findings.push(Finding { severity: Severity::Warning, ..finding });
            continue;
        }
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
        let mut finding =
            finding(case, asked, &why, &concerned, Kept { held: &held, content: &content, releases, vital });
        match case.start(idle) {
            // The webhook must allow that first.
            Some(start) if idle.is_some_and(|workload| refuses_its_start(case.stage, asked.webhook, workload)) => {
                let allow = &mut finding.remedies[0];
                allow.what = format!(
                    "{}; then {}, which the webhook refuses before; set failurePolicy to Fail again once it answers",
                    allow.what, start.what
                );
                allow.commands =
                    one_after_another(allow.commands.drain(..).chain(start.commands)).into_iter().collect();
            }
            start => drop(finding.remedies.splice(..0, start)),
        }
        findings.findings.push(finding);
    }
}

/// Says of the findings about what goes by itself which webhooks and APIs lose their backend with it.
pub(super) fn tell_taken_down(case: &Case<'_>, findings: &mut [Finding]) {
    let snapshot = case.snapshot();
    for obstacle in &case.projection.taken_down {
        let object = obstacle.kind.object();
        let (what, backend) = match obstacle.kind {
            ObstacleKind::WebhookUnreachable { place, .. } => {
                let facts = snapshot.facts.webhooks(object);
                let webhook = facts.and_then(|facts| facts.webhooks.get(place as usize));
                let name = webhook.map(|webhook| format!("the webhook {}", webhook.name));
                (name, webhook.and_then(|webhook| webhook.backend.as_ref()))
            }
            ObstacleKind::ConversionBroken { .. } => {
                let definition = format!("the conversion webhook of {}", snapshot.short_name(object));
                let facts = snapshot.facts.definition(object);
                (Some(definition), facts.and_then(|facts| facts.conversion.as_deref()))
            }
            ObstacleKind::PolicyRefuses { .. } => continue,
            _ => {
                let facts = snapshot.facts.api_service(object);
                (Some(snapshot.short_name(object)), facts.and_then(|facts| facts.service.as_ref()))
            }
        };
        let (Some(what), Reach::Served { service, pods }) = (what, reach(case.stage, backend, &mut Needs::default()))
        else {
            continue;
        };
        let goes: Vec<ObjectId> = pods.into_iter().chain([service]).filter(|id| case.projection.goes(*id)).collect();
        let takes = |finding: &Finding| {
            let named: Vec<ObjectId> = finding.named().collect();
            goes.iter().any(|id| named.contains(id)) || case.goes_below(&named).iter().any(|id| goes.contains(id))
        };
        if let Some(finding) = findings.iter_mut().find(|finding| takes(finding)) {
            finding.severity = finding.severity.min(Severity::Warning);
            finding.related.push(object);
            finding
                .irreversible
                .push(format!("TAKES DOWN: {what} loses its backend, and the API server then refuses what needs it."));
        }
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
#[derive(Default)]
struct Kept<'k> {
    /// By the collector.
    held: &'k [&'k Turn],
    /// By the namespace controller, in Terminating namespaces.
    content: &'k [ObjectId],
    /// By controllers that would remove their finalizers.
    releases: Vec<ObjectId>,
    /// By what keeps the cluster going.
    vital: Vec<&'k Vital>,
}

fn finding(
    case: &Case<'_>,
    asked: &WebhookCall<'_>,
    why: &str,
    concerned: &[&Resource],
    Kept { held, content, releases, vital }: Kept<'_>,
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
    if !vital.is_empty() {
        let each: Vec<String> = vital.iter().map(|vital| vital.follows(asked.webhook)).collect();
        then.push(format!("The cluster itself needs such writes: {}.", each.join("; ")));
    }
    if then.is_empty() {
        then.push(
            match asked_before {
                _ if asked.webhook.conditional => {
                    "Requests that its matchConditions don't exempt fail: perhaps the collector's, too."
                }
                "deletes" => {
                    "No client can delete them, including the collector: it cannot collect anything of these kinds."
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
    let severe = !vital.is_empty()
        || !related.is_empty()
        || (populated && !asked.webhook.selective && !asked.webhook.conditional);
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
                case.commands().let_pass(asked.configuration, asked.place),
            ),
            Remedy::new(
                "delete the configuration and keep a copy, if its application is no longer installed",
                case.commands().take_away(asked.configuration),
            ),
        ],
        ..Finding::of(Code::WebhookUnreachable, format!("{} {}", snapshot.text(object.uid), asked.webhook.name))
    }
}
