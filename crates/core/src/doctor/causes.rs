//! Findings that are the cause of others: their cure comes first there, whatever the scope of the diagnosis.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    command_line::{ShellCommand, WriteKind},
    model::ObjectId,
    simulate::{
        BlockedBy,
        obstacles::{Called, Operation, WebhookCall},
    },
    wording::count,
};

use super::{
    case::{Case, some_of, sorted},
    code::{Code, Trait},
    commands::one_after_another,
    finding::{Finding, Remedy, Step},
    webhooks::asked,
};

/// The findings about webhooks, by these.
type Webhooks = FxHashMap<(ObjectId, usize), usize>;

/// Findings that cause others, and which of their objects do.
type Causes = BTreeMap<usize, BTreeSet<ObjectId>>;

/// Connects findings with their causes, and marks remedies that start deletions.
pub(super) fn connect(case: &Case<'_>, calls: &[WebhookCall<'_>], findings: &mut [Finding]) {
    let all_webhooks =
        findings.iter().enumerate().flat_map(|(at, finding)| finding.webhooks.iter().map(move |it| (*it, at)));
    let webhooks: Webhooks = all_webhooks.collect();
    let mut all: Vec<(usize, Causes)> = Vec::new();
    for place in 0..findings.len() {
        let causes = match findings[place].code {
            code if code.has(Trait::Causes) => continue,
            Code::NamespaceStuck => {
                let mut causes = of_namespace(findings, place);
                causes.extend(refusing_to_finalize(case, &findings[place], &webhooks));
                causes.extend(refusing(case, calls, findings, place, &findings[place].remedies, &webhooks));
                causes
            }
            _ => {
                let mut causes = refusing(case, calls, findings, place, &findings[place].remedies, &webhooks);
                causes.extend(said_to_be_waited_for(case, findings, place));
                causes.extend(roots_below(findings, place));
                causes
            }
        };
        // Each cause is then reported whatever the scope.
        let sufferers = findings[place].objects.clone();
        for cause in causes.keys() {
            findings[*cause].is_cause = true;
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
    for remedy in finding.remedies.iter_mut().filter(|remedy| writes(remedy).next().is_some()) {
        remedy.decides = true;
        remedy.what.push_str(&format!("; that deletes {}", count(deleted, "object", "objects")));
    }
}

/// The findings about APIs that a namespace can't be emptied without.
fn of_namespace(findings: &[Finding], place: usize) -> Causes {
    let namespace = findings[place].objects.first();
    let is_cause = |finding: &Finding| {
        finding.code.has(Trait::Causes)
            && finding.code != Code::WebhookUnreachable
            && namespace.is_some_and(|namespace| finding.related.contains(namespace))
    };
    let causes = findings.iter().enumerate().filter(|(_, finding)| is_cause(finding));
    causes.map(|(place, finding)| (place, finding.objects.iter().copied().collect())).collect()
}

/// The findings about what keeps objects that a status names as what its object waits for, with their kinds.
fn said_to_be_waited_for(case: &Case<'_>, findings: &[Finding], place: usize) -> Causes {
    let snapshot = case.snapshot();
    let names = |of: ObjectId, other: ObjectId| {
        let said = snapshot.facts.why_not_deleted(of).filter(|said| said.source.is_of_deletion());
        said.is_some_and(|said| {
            let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '.');
            said.words.contains(&snapshot.resource(other).kind)
                && said.words.split(|letter| !is_part(letter)).any(|word| word == snapshot.name(other))
                && snapshot.namespace(of) == snapshot.namespace(other)
        })
    };
    let is_of_finalizers = |finding: &Finding| matches!(finding.code, Code::SlowFinalizer | Code::StuckFinalizer);
    let waiting = &findings[place].objects;
    let named = |finding: &Finding| -> BTreeSet<ObjectId> {
        let is_named = |other: &ObjectId| waiting.iter().any(|of| names(*of, *other) && !names(*other, *of));
        finding.objects.iter().copied().filter(is_named).collect()
    };
    let others = findings.iter().enumerate().filter(|(other, finding)| *other != place && is_of_finalizers(finding));
    let causes = others.filter(|_| is_of_finalizers(&findings[place])).map(|(other, finding)| (other, named(finding)));
    causes.filter(|(_, named)| !named.is_empty()).collect()
}

/// The findings about what keeps the objects for which a controller waits, or may wait: of a chain of these, the last.
fn roots_below(findings: &[Finding], place: usize) -> Causes {
    let (mut causes, mut seen) = (Causes::new(), BTreeSet::from([place]));
    let mut open = vec![place];
    while let Some(above) = open.pop() {
        let below: FxHashSet<ObjectId> = findings[above].below.iter().copied().collect();
        if below.is_empty() {
            continue;
        }
        for (other, finding) in findings.iter().enumerate() {
            let kept: BTreeSet<ObjectId> = finding.objects.iter().copied().filter(|id| below.contains(id)).collect();
            let is_root = finding.below.is_empty() && finding.code != Code::DeletionInProgress;
            match kept.is_empty() || !seen.insert(other) {
                true => {}
                false if is_root => _ = causes.insert(other, kept),
                false => open.push(other),
            }
        }
    }
    causes
}

/// The finding about the webhook that refuses that an emptied namespace is finalized.
fn refusing_to_finalize(case: &Case<'_>, finding: &Finding, webhooks: &Webhooks) -> Causes {
    let refused = finding.objects.first().and_then(|namespace| case.projection.refused(*namespace));
    let Some(BlockedBy::Webhook(configuration, place)) = refused else { return Causes::new() };
    let cause = webhooks.get(&(configuration, place as usize));
    cause.map(|cause| (*cause, BTreeSet::from([configuration]))).into_iter().collect()
}

/// What mends a cause first, as far as it is about these of its objects.
fn cure(cause: &Finding, culprits: &BTreeSet<ObjectId>) -> Option<Remedy> {
    let mut cure = cause.remedies.first()?.clone();
    cure.commands.retain(|command| {
        culprits.iter().any(|id| command.names(*id)) || !cause.objects.iter().any(|id| command.names(*id))
    });
    Some(cure)
}

/// Lets what holds data past webhooks that can't be called and refuse to change its policy. Who lets everything past
/// them first loses the data: so that comes after, and only if the data is kept.
pub(super) fn keep_past_webhooks(case: &Case<'_>, unreachable: &[(ObjectId, usize)], findings: &mut [Finding]) {
    for finding in findings.iter_mut() {
        for at in 0..finding.remedies.len() {
            let refusing = refusing_to_keep(case, unreachable, &finding.remedies[at].holders);
            if !refusing.is_empty() {
                keep_past(case, &refusing, &mut finding.remedies[at..]);
            }
        }
    }
}

/// The webhooks that findings are about.
pub(super) fn unreachable(findings: &[Finding]) -> Vec<(ObjectId, usize)> {
    sorted(findings.iter().flat_map(|finding| finding.webhooks.iter().copied()))
}

/// By resource, the webhooks of each configuration that refuse changes of these objects.
type Refusing<'a> = BTreeMap<&'a str, BTreeMap<ObjectId, Vec<usize>>>;

fn refusing_to_keep<'a>(case: &Case<'a>, unreachable: &[(ObjectId, usize)], holders: &[ObjectId]) -> Refusing<'a> {
    let snapshot = case.snapshot();
    let mut refusing = Refusing::new();
    for (configuration, place) in unreachable {
        let facts = snapshot.facts.webhooks(*configuration);
        let Some(webhook) = facts.and_then(|facts| facts.webhooks.get(*place)) else { continue };
        let call = WebhookCall { configuration: *configuration, place: *place, webhook };
        for holder in holders {
            let resource = snapshot.resource(*holder);
            if webhook.matches(resource, Operation::Update.name()) && call.called_for(case.stage, *holder) != Called::No
            {
                let places = refusing.entry(&resource.plural).or_default().entry(*configuration).or_default();
                if !places.contains(place) {
                    places.push(*place);
                }
            }
        }
    }
    refusing
}

/// Changes the first of these remedies so that it passes these webhooks, and those after it that let others pass.
fn keep_past(case: &Case<'_>, refusing: &Refusing<'_>, remedies: &mut [Remedy]) {
    let commands = case.commands();
    let Some((keep, others)) = remedies.split_first_mut() else { return };
    let Some(retain) = one_after_another(keep.commands.iter().cloned()) else { return };
    let configurations = sorted(refusing.values().flat_map(BTreeMap::keys).copied());
    let names = case.names(&configurations, None);
    let each = || refusing.iter().flat_map(|(plural, by)| by.iter().map(move |(at, places)| (*plural, *at, places)));
    let exempt: Option<Vec<ShellCommand>> =
        each().map(|(plural, configuration, places)| commands.exempt(configuration, places, plural)).collect();
    let plurals: Vec<&str> = refusing.keys().copied().collect();
    let (before, what) = match exempt {
        Some(exempt) => {
            (exempt, format!("exempt {} from {names}, which refuses that before; then ", some_of(&plurals)))
        }
        // Nothing but all can pass there: both are one step.
        None => {
            let pass = each().filter_map(|(_, configuration, places)| commands.let_pass(configuration, places));
            keep.commands = one_after_another(pass.chain([retain.clone()])).into_iter().collect();
            keep.decides = true;
            (Vec::new(), format!("let {names}, which refuses that, pass everything, and at once "))
        }
    };
    if let Some(place) = keep.what.find(": ") {
        keep.what.insert_str(place + 2, &what);
    }
    keep.commands.splice(0..0, before);
    let is_about_webhooks =
        |command: &ShellCommand| configurations.iter().any(|configuration| command.names(*configuration));
    for command in others.iter_mut().flat_map(|remedy| &mut remedy.commands).filter(|it| is_about_webhooks(it)) {
        *command = retain.clone().and(command.clone());
    }
}

/// Puts what mends webhooks before the first remedy that they refuse: the others may heal without that. Where a webhook
/// also keeps the collector from deleting anything, mending it first would let that go: then it is only named.
fn put_before_refused(
    case: &Case<'_>,
    calls: &[WebhookCall<'_>],
    findings: &mut [Finding],
    place: usize,
    webhooks: &Webhooks,
) {
    let refusing = |remedy: &Remedy| refusing(case, calls, findings, place, std::slice::from_ref(remedy), webhooks);
    let Some(first) = findings[place].remedies.iter().position(|remedy| !refusing(remedy).is_empty()) else { return };
    let causes = refusing(&findings[place].remedies[first]);
    let culprits = all_culprits(findings, &causes);
    let cures: Vec<Remedy> = causes.iter().filter_map(|(cause, culprits)| cure(&findings[*cause], culprits)).collect();
    if cures.iter().any(|cure| cure.decides) {
        let (names, refuse) = (case.names(&culprits, None), if culprits.len() == 1 { "refuses" } else { "refuse" });
        findings[place].consequence.push_str(&format!(" {names} {refuse} remedies below: no webhook answers there."));
    } else {
        let cures: Vec<Remedy> = cures.into_iter().map(Remedy::before_others).collect();
        findings[place].remedies.splice(first..first, cures);
    }
    add_culprits(&mut findings[place], culprits);
}

/// The findings about webhooks that refuse the requests of some remedies.
fn refusing(
    case: &Case<'_>,
    calls: &[WebhookCall<'_>],
    findings: &[Finding],
    place: usize,
    remedies: &[Remedy],
    webhooks: &Webhooks,
) -> Causes {
    if webhooks.is_empty() {
        return Causes::new();
    }
    let mut causes = Causes::new();
    for (id, operation) in sorted(remedies.iter().flat_map(writes)) {
        let calls = asked(calls, case.snapshot().resource(id), operation);
        let calls = calls.filter(|call| match call.called_for(case.stage, id) {
            Called::Yes => true,
            Called::No => false,
            // What nothing else explains is worth the doubt.
            Called::Perhaps => findings[place].code == Code::NamespaceStuck,
        });
        for WebhookCall { configuration, place, .. } in calls {
            if let Some(cause) = webhooks.get(&(*configuration, *place)) {
                causes.entry(*cause).or_default().insert(*configuration);
            }
        }
    }
    causes
}

/// What the API server asks webhooks and policies about when the commands of a remedy run.
pub(super) fn writes(remedy: &Remedy) -> impl Iterator<Item = (ObjectId, Operation)> {
    let all = remedy.commands.iter().flat_map(ShellCommand::writes);
    all.map(|(object, write)| match write {
        WriteKind::Change => (object, Operation::Update),
        WriteKind::Scale => (object, Operation::Scale),
        WriteKind::Delete => (object, Operation::Delete),
    })
}

/// The objects that cause a finding, in the order in which the causes name them.
fn all_culprits(findings: &[Finding], causes: &Causes) -> Vec<ObjectId> {
    let culprits = |(cause, culprits): (&usize, &BTreeSet<ObjectId>)| -> Vec<ObjectId> {
        findings[*cause].objects.iter().copied().filter(|id| culprits.contains(id)).collect()
    };
    causes.iter().flat_map(culprits).collect()
}

/// Names the causes in a finding, and puts their remedies first.
fn attach(case: &Case<'_>, findings: &mut [Finding], place: usize, causes: &Causes) {
    if causes.is_empty() {
        return;
    }
    let name = |(cause, culprits): (&usize, &BTreeSet<ObjectId>)| {
        let culprits = all_culprits(findings, &Causes::from([(*cause, culprits.clone())]));
        format!("{} ({})", findings[*cause].code.name(), case.names(&culprits, None))
    };
    let names: Vec<String> = causes.iter().map(name).collect();
    // Its own finding has the others.
    let first = causes.iter().filter_map(|(cause, culprits)| cure(&findings[*cause], culprits));
    let is_own = |cure: &Remedy| findings[place].remedies.iter().any(|remedy| remedy.commands == cure.commands);
    let cures: Vec<Remedy> = first.filter(|cure| cure.step != Step::Force && !is_own(cure)).collect();
    let culprits = all_culprits(findings, causes);
    let finding = &mut findings[place];
    // What keeps data comes before what lets it go.
    match finding.remedies.first_mut().filter(|first| !first.holders.is_empty()) {
        Some(keep) => {
            *keep = keep.clone().before_others();
            finding.consequence.push_str(&format!(" Keep the data before you mend {}.", some_of(&names)));
            let cures = cures.into_iter().map(|cure| Remedy { step: Step::First, ..cure });
            finding.remedies.splice(1..1, cures);
        }
        None => {
            finding.consequence.push_str(&format!(" First mend {}.", some_of(&names)));
            finding.remedies.splice(0..0, cures.into_iter().map(Remedy::before_others));
        }
    }
    add_culprits(finding, culprits);
}

fn add_culprits(finding: &mut Finding, culprits: Vec<ObjectId>) {
    let known = finding.related.len();
    add(&mut finding.related, culprits);
    finding.culprits.extend(&finding.related[known..]);
}

fn add(objects: &mut Vec<ObjectId>, others: impl IntoIterator<Item = ObjectId>) {
    let mut known: FxHashSet<ObjectId> = objects.iter().copied().collect();
    objects.extend(others.into_iter().filter(|other| known.insert(*other)));
}
