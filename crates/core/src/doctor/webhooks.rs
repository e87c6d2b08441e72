//! Admission webhooks that must be called before a write, and that can't be reached (S9).

use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray as _;

use crate::{
    model::{ObjectId, Resource, Symbol, effects::Severity, facts::Webhook},
    simulate::{
        BlockedBy, ObstacleKind,
        actors::ENDS_A_POD,
        doubt::{Turn, Write},
        obstacles::{
            Called, Operation, Reach, WebhookCall, Writes, reach, refuses_its_start, selects_namespace, why_unreachable,
        },
    },
    wording::{count, each_once, grouped},
};

use super::{
    case::{Case, FindingsBuilder, some_of, sorted},
    code::Code,
    finding::Finding,
    limit::Limit,
};

/// The webhooks that are called before an operation on a resource.
pub(super) fn asked<'c, 'a>(
    calls: &'c [WebhookCall<'a>],
    resource: &Resource,
    operation: Operation,
) -> impl Iterator<Item = &'c WebhookCall<'a>> {
    calls.iter().filter(move |asked| asked.webhook.matches_part(resource, operation.subresource(), operation.name()))
}

/// Whether a webhook can be called for anything in scope: its selector may name other namespaces only, and without one,
/// these may have nothing that it is asked about.
fn concerns(case: &Case<'_>, asked: &WebhookCall<'_>, concerned: &[Resource]) -> bool {
    let Limit::Only { namespaces, .. } = case.limit else { return true };
    // Other cluster-scoped objects are never exempt.
    let has_cluster_scoped = concerned.iter().any(|resource| !resource.namespaced && resource.kind != "Namespace");
    has_cluster_scoped
        || namespaces.is_empty()
        || namespaces.iter().any(|namespace| match &asked.webhook.namespaces {
            Some(selector) => selects_namespace(case.stage, selector, case.snapshot().text(*namespace)) != Some(false),
            None => is_asked_in(case, asked, concerned, *namespace),
        })
}

/// Whether a webhook may be asked about a Namespace, or something in it.
fn is_asked_in(case: &Case<'_>, asked: &WebhookCall<'_>, concerned: &[Resource], namespace: Symbol) -> bool {
    let snapshot = case.snapshot();
    let is_asked = |id: &ObjectId| asked.called_for(case.stage, *id) != Called::No;
    concerned.iter().any(|resource| {
        if resource.kind == "Namespace" && resource.group.is_empty() {
            return true;
        }
        let Some(id) = snapshot.resources.by_group_plural(&resource.group, &resource.plural) else { return true };
        let content = case.stage.in_namespace(namespace).iter();
        !snapshot.covers(id, Some(namespace))
            || content.filter(|object| snapshot.object(**object).resource == id).any(is_asked)
    })
}

/// Whether a webhook is called for nothing that there is: its selector matches no namespace.
fn selects_nothing(case: &Case<'_>, asked: &WebhookCall<'_>, concerned: &[Resource]) -> bool {
    let (Some(selector), Some(namespaces)) = (&asked.webhook.namespaces, case.stage.built_in.namespaces) else {
        return false;
    };
    let selects = |id: &ObjectId| {
        let name = case.snapshot().name(*id);
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

/// How sure it is that a webhook which can't be reached prevents anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    Certain,
    Doubtful,
    /// Its selector matches nothing.
    Idle,
}

/// A webhook that can't be reached, and what it prevents.
struct Unreached<'c, 'a> {
    asked: &'c WebhookCall<'a>,
    /// What is not written without it.
    concerned: Vec<Resource>,
    /// The collector's writes.
    held: Vec<&'c Turn>,
    /// What the namespace controller would write to, in Terminating namespaces.
    content: Vec<ObjectId>,
    /// What controllers would remove their finalizers from.
    releases: Vec<ObjectId>,
    /// What kubelets would write about pods whose containers have ended.
    pods: Vec<ObjectId>,
    /// The writes that keep the cluster going.
    vital: Vec<&'static Vital>,
}

/// Webhooks that can't be reached for one reason.
struct Group<'c, 'a> {
    webhooks: Vec<Unreached<'c, 'a>>,
    /// The reason, as a clause.
    why: String,
    /// The workload that would answer, if it is scaled to 0.
    idle: Option<ObjectId>,
}

/// Finds webhooks that can't be reached, and which writes of the collector they prevent. Those with one reason, such as
/// a Service that is gone, are one finding.
pub(super) fn gather(case: &Case<'_>, calls: &[WebhookCall<'_>], turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let pods = case.stage.of_resource(case.stage.built_in.pods);
    let populated: BTreeSet<Symbol> = pods.iter().map(|pod| snapshot.object(*pod).namespace).collect();
    let mut groups: BTreeMap<(Certainty, String), Group<'_, '_>> = BTreeMap::new();
    for asked in calls.iter().filter(|asked| asked.webhook.required) {
        let vital: Vec<&Vital> = VITAL.iter().filter(|vital| vital.needs(case, asked.webhook, &populated)).collect();
        let concerned = concerned(case, asked, &vital);
        if concerned.is_empty() || !concerns(case, asked, &concerned) {
            continue;
        }
        let backend = asked.webhook.backend.as_ref();
        let (lack, certainty) = match reach(case.stage, backend) {
            Reach::Unreachable(lack) => (lack, Certainty::Certain),
            Reach::Doubtful(lack) => (lack, Certainty::Doubtful),
            Reach::Served { .. } | Reach::Outside | Reach::Unknown => continue,
        };
        let is_idle = vital.is_empty() && selects_nothing(case, asked, &concerned);
        let certainty = if is_idle { Certainty::Idle } else { certainty };
        let (held, content, releases, pods) = Default::default();
        let mut unreached = Unreached { asked, concerned, held, content, releases, pods, vital: vec![] };
        if certainty == Certainty::Certain {
            unreached.vital = vital;
            unreached.keep(case, turns);
            findings.refused.extend(unreached.held.iter().map(|turn| turn.object));
        }
        let group = groups.entry((certainty, lack.describe(backend))).or_insert_with(|| {
            let (why, idle) = why_unreachable(case.stage, backend, lack);
            Group { webhooks: Vec::new(), why, idle }
        });
        group.webhooks.push(unreached);
    }
    for ((certainty, cause), group) in groups {
        let mut finding = finding(case, &cause, &group, certainty);
        match certainty {
            Certainty::Certain => {}
            Certainty::Doubtful => finding.severity = Severity::Warning,
            Certainty::Idle => {
                finding.severity = Severity::Note;
                finding.consequence = match group.webhooks.len() {
                    1 => "It selects none of the namespaces that exist, so it prevents nothing now.",
                    _ => "They select none of the namespaces that exist, so they prevent nothing now.",
                }
                .to_owned();
            }
        }
        findings.findings.push(finding);
    }
}

/// What is not deleted or changed without a webhook; or else the first of what the cluster needs.
fn concerned(case: &Case<'_>, asked: &WebhookCall<'_>, vital: &[&Vital]) -> Vec<Resource> {
    let is_concerned = |resource: &&Resource| {
        let is_called =
            |it: &Operation| asked.webhook.matches_part(resource, it.subresource(), it.name()) && it.ends(resource);
        Operation::VARIANTS.iter().any(is_called)
    };
    let resources = case.snapshot().resources.deletable().map(|(_, resource)| resource);
    let concerned: Vec<Resource> = resources.filter(is_concerned).cloned().collect();
    if !concerned.is_empty() || *case.limit != Limit::Everything {
        return concerned;
    }
    let whole = vital.iter().filter(|vital| vital.writes.part.is_empty());
    whole.map(|vital| vital.writes.resource()).take(1).collect()
}

impl<'c> Unreached<'c, '_> {
    fn matches(&self, resource: &Resource, write: Write) -> bool {
        self.asked.webhook.matches(resource, write.operation().name())
    }

    /// Finds what it keeps from being written to.
    fn keep(&mut self, case: &Case<'_>, turns: &'c [Turn]) {
        let (snapshot, asked) = (case.snapshot(), self.asked);
        let resource_of = |id: ObjectId| snapshot.resource(id);
        let refuses = |turn: &&Turn| {
            self.matches(resource_of(turn.object), turn.write)
                && asked.called_for(case.stage, turn.object) != Called::No
        };
        let held = turns.iter().filter(refuses).collect();
        // What is terminating already waits for more than that.
        let mut content = case.projection.refused_by(BlockedBy::Webhook(asked.configuration, asked.place as u32));
        let finalized: Vec<ObjectId> = content.iter().copied().filter(|id| snapshot.is_namespace(*id)).collect();
        content.extend(content_to_refuse(case, asked));
        let content = sorted(content.into_iter().filter(|id| !snapshot.object(*id).terminating()));
        let is_kept = |id: &ObjectId| {
            self.matches(resource_of(*id), Write::References) && asked.called_for(case.stage, *id) == Called::Yes
        };
        let mut releases: Vec<ObjectId> = case.held_by_controllers().filter(is_kept).collect();
        releases.extend(finalized.into_iter().filter(|id| snapshot.object(*id).terminating() && content.is_empty()));
        let ends_by = |id: &ObjectId, write: Operation| {
            asked.webhook.matches_part(resource_of(*id), write.subresource(), write.name())
                && asked.called_for(case.stage, *id) == Called::Yes
        };
        self.pods = case.ending_pods().filter(|id| ENDS_A_POD.into_iter().any(|write| ends_by(id, write))).collect();
        (self.held, self.content, self.releases) = (held, content, releases);
    }

    /// Whether it keeps objects from being written to that are to be written to now.
    fn keeps(&self) -> bool {
        !(self.held.is_empty() && self.content.is_empty() && self.releases.is_empty() && self.pods.is_empty())
    }

    fn severity(&self, case: &Case<'_>) -> Severity {
        let Webhook { selective, conditional, .. } = self.asked.webhook;
        let populated = self.concerned.iter().any(|resource| {
            let id = case.snapshot().resources.by_group_plural(&resource.group, &resource.plural);
            id.is_some_and(|id| !case.stage.of_resource(id).is_empty())
        });
        let is_severe = !self.vital.is_empty() || self.keeps() || populated && !selective && !conditional;
        if is_severe { Severity::Error } else { Severity::Warning }
    }

    /// What is done with the objects that it concerns.
    fn asked_before(&self) -> &'static str {
        self.asked.webhook.asked_before(self.concerned.iter())
    }

    /// The kinds that it concerns.
    fn kinds(&self) -> String {
        let names: Vec<String> = self.concerned.iter().map(Resource::full_name).collect();
        match names.as_slice() {
            few @ ([] | [_] | [_, _] | [_, _, _]) => few.join(", "),
            many => format!("{} and {} more kinds", many[..2].join(", "), many.len() - 2),
        }
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
        let (Some(what), Reach::Served { service, pods }) = (what, reach(case.stage, backend)) else {
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
    let namespaces = case.stage.of_resource(case.stage.built_in.namespaces);
    let going = namespaces.iter().filter(|namespace| snapshot.object(**namespace).terminating());
    let content = going.flat_map(|namespace| case.stage.in_namespace(snapshot.object(*namespace).name)).copied();
    let is_refused = |object: &ObjectId| {
        let resource = snapshot.resource(*object);
        asked.webhook.matches(resource, Write::Delete.operation().name())
            && asked.called_for(case.stage, *object) == Called::Yes
    };
    content.filter(is_refused).collect()
}

/// Before what the API server must call these webhooks: `the webhook NAME before it deletes or changes pods`.
fn calls_before(webhooks: &[&Unreached<'_, '_>]) -> String {
    let its = if webhooks.len() == 1 { "its" } else { "their" };
    let writes = |webhook: &Unreached<'_, '_>| {
        let selective = match (webhook.asked.webhook.selective, webhook.asked.webhook.conditional) {
            (_, true) => format!(", as far as {its} matchConditions and selectors match"),
            (true, false) => format!(", as far as {its} selectors match"),
            (false, false) => String::new(),
        };
        format!("before it {} {}{selective}", webhook.asked_before(), webhook.kinds())
    };
    let clauses = grouped(webhooks.iter().map(|webhook| (writes(webhook), webhook.asked.webhook.name.as_str())));
    let clause = |(writes, names): &(String, Vec<&str>)| {
        let names: Vec<&str> = each_once(names.iter().copied()).collect();
        let webhooks = if names.len() == 1 { "the webhook" } else { "the webhooks" };
        format!("{webhooks} {} {writes}", some_of(&names))
    };
    let said: Vec<String> = clauses.iter().map(clause).collect();
    match said.as_slice() {
        [first, second] => format!("{first}, and {second}"),
        said => some_of(said),
    }
}

/// What follows from webhooks that keep nothing back now, once something is to be written.
fn no_writes(webhooks: &[&Unreached<'_, '_>], is_alone: bool) -> Option<String> {
    let first = webhooks.first()?;
    let kinds: Vec<String> =
        webhooks.iter().map(|webhook| webhook.kinds()).collect::<BTreeSet<_>>().into_iter().collect();
    let them = if is_alone { "them".to_owned() } else { some_of(&kinds) };
    if webhooks.iter().all(|webhook| webhook.asked.webhook.conditional) {
        let its = if webhooks.len() == 1 { "its" } else { "their" };
        return Some(format!("Requests that {its} matchConditions don't exempt fail; the collector's may fail, too."));
    }
    let before = first.asked_before();
    let before = if webhooks.iter().all(|webhook| webhook.asked_before() == before) { before } else { "" };
    Some(match before {
        "deletes" => {
            format!("No client can delete {them}, including the collector: it cannot collect anything of these kinds.")
        }
        "finalizes" => "A namespace that is deleted stays Terminating, also once it is empty.".to_owned(),
        "changes" => format!(
            "No client can change {them}: controllers cannot remove their finalizers, nor the collector owner \
             references."
        ),
        _ => format!(
            "No client can delete or change {them}, including the collector: it cannot collect anything of these kinds."
        ),
    })
}

/// `cause` is the same in every look.
fn finding(case: &Case<'_>, cause: &str, group: &Group<'_, '_>, certainty: Certainty) -> Finding {
    let snapshot = case.snapshot();
    let mut webhooks: Vec<&Unreached<'_, '_>> = group.webhooks.iter().collect();
    webhooks.sort_by_cached_key(|webhook| (snapshot.short_name(webhook.asked.configuration), webhook.asked.place));
    let one = webhooks.len() == 1;
    let pick = |singular: &'static str, plural: &'static str| if one { singular } else { plural };
    let until = pick("until the webhook answers or is removed", "until the webhooks answer or are removed");
    // Nothing here evaluates matchConditions: they may exempt the controllers.
    let is_exempt = |webhook: &&Unreached<'_, '_>| webhook.asked.webhook.conditional;
    let are = if webhooks.iter().filter(|webhook| webhook.keeps()).all(is_exempt) { "may be" } else { "are" };
    let held = webhooks.iter().flat_map(|webhook| &webhook.held);
    let mut related = sorted(held.flat_map(|turn| [Some(turn.object), turn.waiting]).flatten());
    let content = sorted(webhooks.iter().flat_map(|webhook| webhook.content.iter().copied()));
    let releases = sorted(webhooks.iter().flat_map(|webhook| webhook.releases.iter().copied()));
    let live = |id: &&ObjectId| !snapshot.object(**id).terminating() && case.projection.goes(**id);
    let deleted: Vec<ObjectId> = related.iter().filter(live).copied().collect();
    let fires = deleted.len() + case.goes_below(&deleted).len();
    let mut then: Vec<String> = Vec::new();
    if !related.is_empty() {
        let names = case.names(&related, None);
        then.push(format!("The collector's requests for {names} {are} rejected, and it retries forever."));
    }
    if fires > 0 {
        let those = count(fires, "existing object", "existing objects");
        let once = pick("Once the webhook answers or is removed", "Once the webhooks answer or are removed");
        then.push(format!("{once}, it deletes {those}. Decide first whether you want that."));
    }
    if !content.is_empty() {
        let is_emptied = |id: &&ObjectId| {
            let name = snapshot.object(**id).name;
            snapshot.is_namespace(**id) && content.iter().any(|object| snapshot.object(*object).namespace == name)
        };
        let namespaces = case.stage.of_resource(case.stage.built_in.namespaces);
        let emptied: Vec<ObjectId> = namespaces.iter().filter(is_emptied).copied().collect();
        then.push(format!(
            "The namespace controller's requests for {} {are} rejected: {} {} Terminating {until}.",
            case.names(&content, None),
            case.names(&emptied, None),
            if emptied.len() == 1 { "stays" } else { "stay" },
        ));
        related.extend(content.iter().chain(&emptied));
    }
    if !releases.is_empty() {
        then.push(format!(
            "{}: {} Terminating {until}.",
            case.cannot_be_released(&releases),
            if releases.len() == 1 { "it stays" } else { "they stay" },
        ));
        related.extend(&releases);
    }
    let pods = sorted(webhooks.iter().flat_map(|webhook| webhook.pods.iter().copied()));
    if !pods.is_empty() {
        then.push(format!(
            "What kubelets write to end {} {}: {} Terminating {until}.",
            case.names(&pods, None),
            if are == "are" { "is rejected" } else { "may be rejected" },
            if pods.len() == 1 { "it stays" } else { "they stay" },
        ));
        related.extend(&pods);
    }
    let vital = webhooks.iter().flat_map(|webhook| webhook.vital.iter().map(|it| it.follows(webhook.asked.webhook)));
    let vital: Vec<String> = each_once(vital).collect();
    if !vital.is_empty() {
        then.push(format!("The cluster itself needs such writes: {}.", vital.join("; ")));
    }
    let others: Vec<&Unreached<'_, '_>> =
        webhooks.iter().copied().filter(|webhook| !webhook.keeps() && webhook.vital.is_empty()).collect();
    then.extend(no_writes(&others, then.is_empty()));
    let places = grouped(webhooks.iter().map(|webhook| (webhook.asked.configuration, webhook.asked.place)));
    let commands = case.commands();
    let idle = group.idle.filter(|_| certainty == Certainty::Certain);
    let refuses =
        |workload| webhooks.iter().any(|webhook| refuses_its_start(case.stage, webhook.asked.webhook, workload));
    Finding {
        severity: webhooks.iter().map(|webhook| webhook.severity(case)).min().unwrap_or(Severity::Warning),
        objects: places.iter().map(|(configuration, _)| *configuration).collect(),
        webhooks: webhooks.iter().map(|webhook| (webhook.asked.configuration, webhook.asked.place)).collect(),
        related: sorted(related),
        message: format!(
            "The API server must call {}; {}.",
            calls_before(&webhooks),
            if one { group.why.clone() } else { group.why.replacen("its ", "their ", 1) },
        ),
        consequence: then.join(" "),
        remedies: commands.past_webhooks(&places, webhooks.len(), idle, idle.is_some_and(refuses)),
        ..Finding::of(Code::WebhookUnreachable, cause)
    }
}
