//! Findings that are the cause of others: their cure comes first there, whatever the scope of the diagnosis.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::ObjectId,
    simulate::obstacles::{Called, Operation, WebhookCall},
    wording::count,
};

use super::{
    case::{Case, some_of, sorted},
    code::{Code, Trait},
    finding::{Finding, Remedy},
    webhooks::asked,
};

/// Connects findings with their causes, and marks remedies that start deletions.
pub(super) fn connect(case: &Case<'_>, calls: &[WebhookCall<'_>], findings: &mut [Finding]) {
    let webhooks: FxHashMap<String, usize> = findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| finding.code == Code::WebhookUnreachable)
        .map(|(place, finding)| (finding.cause.clone(), place))
        .collect();
    let mut all: Vec<(usize, Vec<usize>)> = Vec::new();
    for place in 0..findings.len() {
        let causes = match findings[place].code {
            code if code.has(Trait::Causes) => continue,
            Code::NamespaceStuck => [
                of_namespace(findings, place),
                refusing(case, calls, findings, place, &findings[place].remedies, &webhooks),
            ]
            .concat(),
            _ => refusing(case, calls, findings, place, &findings[place].remedies, &webhooks),
        };
        // Each cause is then reported whatever the scope.
        let sufferers = findings[place].objects.clone();
        for cause in &causes {
            add(&mut findings[*cause].related, sufferers.iter().copied());
        }
        all.push((place, causes));
    }
    for finding in findings.iter_mut() {
        mark_decisions(case, finding);
    }
    for (place, causes) in all {
        // The cure may start deletions: it comes first only where nothing else can be decided any more.
        if findings[place].objects.iter().any(|id| case.snapshot().object(*id).terminating()) {
            attach(case, findings, place, &causes);
        } else {
            put_before_refused(case, calls, findings, place, &webhooks);
        }
    }
}

/// A remedy that lets the collector write again decides about existing objects that it then deletes.
fn mark_decisions(case: &Case<'_>, finding: &mut Finding) {
    if !finding.code.has(Trait::Causes) && !matches!(finding.code, Code::CollectorRefused | Code::NamespaceMissing) {
        return;
    }
    let goes = |id: &ObjectId| !case.snapshot().object(*id).terminating() && case.projection.goes(*id);
    let going: Vec<ObjectId> = finding.named().filter(goes).collect();
    if going.is_empty() {
        return;
    }
    let deleted = going.len() + case.goes_below(&going).len();
    for remedy in finding.remedies.iter_mut().filter(|remedy| operation(remedy).is_some() || starts(remedy)) {
        remedy.decides = true;
        remedy.what.push_str(&format!("; that deletes {}", count(deleted, "object", "objects")));
    }
}

/// The findings about APIs that a namespace can't be emptied without.
fn of_namespace(findings: &[Finding], place: usize) -> Vec<usize> {
    let namespace = findings[place].objects.first();
    let is_cause = |finding: &Finding| {
        finding.code.has(Trait::Causes)
            && finding.code != Code::WebhookUnreachable
            && namespace.is_some_and(|namespace| finding.related.contains(namespace))
    };
    (0..findings.len()).filter(|other| is_cause(&findings[*other])).collect()
}

/// Puts what mends webhooks before the first remedy that they refuse: the others may heal without that. Where a webhook
/// also keeps the collector from deleting anything, mending it first would let that go: then it is only named.
fn put_before_refused(
    case: &Case<'_>,
    calls: &[WebhookCall<'_>],
    findings: &mut [Finding],
    place: usize,
    webhooks: &FxHashMap<String, usize>,
) {
    let refusing = |remedy: &Remedy| refusing(case, calls, findings, place, std::slice::from_ref(remedy), webhooks);
    let Some(first) = findings[place].remedies.iter().position(|remedy| !refusing(remedy).is_empty()) else { return };
    let causes = refusing(&findings[place].remedies[first]);
    let culprits: Vec<ObjectId> = causes.iter().flat_map(|cause| findings[*cause].objects.clone()).collect();
    let cures: Vec<Remedy> = causes.iter().filter_map(|cause| findings[*cause].remedies.first().cloned()).collect();
    if cures.iter().any(|cure| cure.decides) {
        let (names, refuse) = (case.names(&culprits, None), if culprits.len() == 1 { "refuses" } else { "refuse" });
        findings[place].consequence.push_str(&format!(" {names} {refuse} remedies below: no webhook answers there."));
    } else {
        let cures: Vec<Remedy> = cures.into_iter().map(Remedy::before_others).collect();
        findings[place].remedies.splice(first..first, cures);
    }
    add(&mut findings[place].related, culprits);
}

/// The findings about webhooks that refuse the requests of some remedies.
fn refusing(
    case: &Case<'_>,
    calls: &[WebhookCall<'_>],
    findings: &[Finding],
    place: usize,
    remedies: &[Remedy],
    webhooks: &FxHashMap<String, usize>,
) -> Vec<usize> {
    if webhooks.is_empty() {
        return Vec::new();
    }
    let (snapshot, finding) = (case.snapshot(), &findings[place]);
    let operations = sorted(remedies.iter().filter_map(operation));
    let mut causes: Vec<usize> = Vec::new();
    for id in finding.objects.iter().chain(&finding.related) {
        let resource = snapshot.resources.get(snapshot.object(*id).resource);
        for operation in &operations {
            let calls = asked(calls, resource, *operation).filter(|call| match call.called_for(case.stage, *id) {
                Called::Yes => true,
                Called::No => false,
                // What nothing else explains is worth the doubt.
                Called::Perhaps => finding.code == Code::NamespaceStuck,
            });
            causes.extend(calls.filter_map(|call| {
                let uid = snapshot.text(snapshot.object(call.configuration).uid);
                webhooks.get(&format!("{uid} {}", call.webhook.name)).copied()
            }));
        }
    }
    sorted(causes)
}

/// What the API server asks webhooks about when a remedy's first command runs; `None` if it writes no object.
pub(super) fn operation(remedy: &Remedy) -> Option<Operation> {
    let command = remedy.commands.first()?;
    match command.has_word("delete") {
        true => Some(Operation::Delete),
        false => command.has_word("patch").then_some(Operation::Update),
    }
}

/// Whether a remedy starts a workload.
fn starts(remedy: &Remedy) -> bool {
    remedy.commands.iter().any(|command| command.has_word("scale"))
}

/// Names the causes in a finding, and puts their remedies first.
fn attach(case: &Case<'_>, findings: &mut [Finding], place: usize, causes: &[usize]) {
    if causes.is_empty() {
        return;
    }
    let name = |cause: &usize| {
        let cause = &findings[*cause];
        format!("{} ({})", cause.code.name(), case.names(&cause.objects, None))
    };
    let names: Vec<String> = causes.iter().map(name).collect();
    // Its own finding has the others.
    let first = causes.iter().filter_map(|cause| findings[*cause].remedies.first());
    let mut remedies: Vec<Remedy> = first.cloned().map(Remedy::before_others).collect();
    let culprits: Vec<ObjectId> = causes.iter().flat_map(|cause| findings[*cause].objects.clone()).collect();
    let finding = &mut findings[place];
    finding.consequence.push_str(&format!(" First mend {}.", some_of(&names)));
    remedies.append(&mut finding.remedies);
    finding.remedies = remedies;
    add(&mut finding.related, culprits);
}

fn add(objects: &mut Vec<ObjectId>, others: impl IntoIterator<Item = ObjectId>) {
    let mut known: FxHashSet<ObjectId> = objects.iter().copied().collect();
    objects.extend(others.into_iter().filter(|other| known.insert(*other)));
}
