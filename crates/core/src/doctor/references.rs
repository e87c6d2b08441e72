//! References that don't match their owner (§3.4, §3.6), and what the collector does because of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use crate::{
    command_line::ShellCommand,
    graph::Address,
    model::{Mapping, Object, ObjectId, Presence, Reference, Snapshot, Symbol, effects::Severity, group_of},
    simulate::{Next, OutcomeKind},
    tree::{ReferenceStatus, ResolvedReference},
    wording::{age, count, each_once, thousands},
};

use super::{
    case::{Case, FindingsBuilder, some_of, sorted},
    code::Code,
    evidence::{RecordedDelete, RecordedName},
    finding::{Finding, Remedy, Step, one_cause},
    limit::Limit,
    losses::Losses,
};

/// Dependents whose references have the same faults: the code, the causes, what will happen to the dependents, and what
/// else decides what is said of them.
type Group = (Code, BTreeSet<String>, HolderOutcome, Shape);

/// Whether dependents that the collector never deletes block their owners, whether all their owners are gone, and
/// whether they may own the dependents: remedies and consequences differ.
type Shape = [bool; 3];

/// What will happen to the dependent that has a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HolderOutcome {
    Gone,
    Stripped,
    Kept,
    Unsure,
}

/// The references of one object that have the same kind of fault.
#[derive(Clone, Debug)]
struct Fault {
    holder: ObjectId,
    /// Their indexes, in order; at least one.
    places: Vec<usize>,
    /// The resolved references of the object.
    links: Rc<[ResolvedReference]>,
}

impl Fault {
    /// The index, the reference and what it resolves to.
    fn references<'a>(&'a self, case: &Case<'a>) -> impl Iterator<Item = (usize, Reference, ResolvedReference)> + 'a {
        let owners = &case.snapshot().object(self.holder).owners;
        self.places.iter().map(move |place| (*place, owners[*place], self.links[*place]))
    }

    /// The dependent, and the uid in the first of them.
    fn owner(&self, case: &Case<'_>) -> (ObjectId, Symbol) {
        (self.holder, case.snapshot().object(self.holder).owners[self.places[0]].uid)
    }

    /// What the first of them resolves to.
    fn link(&self) -> ResolvedReference {
        self.links[self.places[0]]
    }
}

/// Examines every reference of every live object; those of terminating objects no longer matter (R8.3). The references
/// of an object with one kind of fault are one finding, and so are objects whose references have the same faults.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let mut groups: BTreeMap<Group, Vec<Fault>> = BTreeMap::new();
    let snapshot = case.snapshot();
    for (id, object) in snapshot.objects().filter(|(_, object)| !object.owners.is_empty() && !object.terminating()) {
        if snapshot.resources.not_watched(object.resource).is_some() {
            // The collector never examines it (R2.7).
            continue;
        }
        let link = |reference| ResolvedReference::of(snapshot, case.graph(), object, reference);
        let links: Rc<[ResolvedReference]> = object.owners.iter().map(link).collect();
        for (reference, link) in object.owners.iter().zip(links.iter()) {
            want(case, object, reference, link.standing);
        }
        if findings.explained.contains(&id) || case.fresh.contains(&id) {
            continue;
        }
        let mut faults: BTreeMap<Code, (BTreeSet<String>, Vec<usize>)> = BTreeMap::new();
        let doubled = doubled(object, &links);
        for (place, (reference, link)) in object.owners.iter().zip(links.iter()).enumerate() {
            if let Some(code) = code_of(case, reference, link.standing, &doubled) {
                let (causes, places) = faults.entry(code).or_default();
                causes.insert(cause_of(case, object, reference, code));
                places.push(place);
            }
        }
        for (code, (causes, places)) in faults {
            let fault = Fault { holder: id, places, links: Rc::clone(&links) };
            let shape = match code {
                Code::OwnerNotServed | Code::OwnerInvalidScope => {
                    [blocks(case, &fault), owners_are_gone(case, &fault), all_may_own(case, &fault)]
                }
                _ => Shape::default(),
            };
            groups.entry((code, causes, becomes(case, id), shape)).or_default().push(fault);
        }
    }
    for ((code, causes, becomes, _), mut faults) in groups {
        narrow(case, code, &mut faults);
        let finding = finding(case, code, &causes, becomes, &faults);
        findings.findings.push(finding);
    }
}

/// Leaves out what is in other namespaces than the requested one, if anything is in that: one cause may have effects in
/// many, and nobody wants commands for all of them. Beside requested objects, only what has lost the same owner counts.
fn narrow(case: &Case<'_>, code: Code, faults: &mut Vec<Fault>) {
    let asked = |id: ObjectId| case.limit.asks_about(case.snapshot(), id);
    let is_here =
        |fault: &Fault| asked(fault.holder) || fault.references(case).filter_map(|(_, _, link)| link.found).any(asked);
    if case.limit.has_namespaces() && faults.iter().any(is_here) {
        faults.retain(is_here);
    } else if code == Code::OwnerAbsent && *case.limit != Limit::Everything {
        let owner = |fault: &Fault| fault.owner(case).1;
        let lost: FxHashSet<Symbol> = faults.iter().filter(|fault| is_here(fault)).map(owner).collect();
        faults.retain(|fault| lost.is_empty() || lost.contains(&owner(fault)));
    }
}

/// The uids that several references of an object share, if one of those leads to the owner.
fn doubled(object: &Object, links: &[ResolvedReference]) -> FxHashSet<Symbol> {
    let mut by_uid: FxHashMap<Symbol, (usize, bool)> = FxHashMap::default();
    for (reference, link) in object.owners.iter().zip(links) {
        let (number, valid) = by_uid.entry(reference.uid).or_default();
        *number += 1;
        *valid |= link.standing.valid();
    }
    by_uid.into_iter().filter(|(_, (number, valid))| *number > 1 && *valid).map(|(uid, _)| uid).collect()
}

/// An owner that is missing in lists must be looked up before it is called absent (R8.7).
fn want(case: &Case<'_>, object: &Object, reference: &Reference, standing: ReferenceStatus) {
    let snapshot = case.snapshot();
    if standing.valid() {
        return;
    }
    let Address::At(coordinate) = Address::of(snapshot, case.graph(), reference, object.namespace) else { return };
    if snapshot.was_looked_up(coordinate) {
        return;
    }
    if snapshot.look_up(coordinate) == Presence::Unknown {
        case.stage.lacks(|needs| needs.look_ups.insert(coordinate));
    } else {
        case.stage.lacks(|needs| needs.absences.insert(coordinate));
    }
}

fn code_of(
    case: &Case<'_>,
    reference: &Reference,
    standing: ReferenceStatus,
    doubled: &FxHashSet<Symbol>,
) -> Option<Code> {
    if malformed(case, reference).is_some() {
        return Some(Code::OwnerMalformed);
    }
    // A failing lookup is more important than a duplicate; and if none of the duplicates leads to an owner, that is the
    // problem.
    let fails =
        matches!(standing, ReferenceStatus::NotServed | ReferenceStatus::InvalidScope | ReferenceStatus::Unread);
    if !fails && doubled.contains(&reference.uid) {
        return Some(Code::OwnerDuplicated);
    }
    standing.code().and_then(Code::named)
}

/// What a reference lacks, or what is invalid in it (R1.31, R1.33).
fn malformed(case: &Case<'_>, reference: &Reference) -> Option<&'static str> {
    let text = |symbol| case.snapshot().text(symbol);
    let api_version = text(reference.api_version);
    if reference.uid.is_empty() {
        Some("has no uid")
    } else if reference.name.is_empty() {
        Some("has no name")
    } else if reference.kind.is_empty() {
        Some("has no kind")
    } else if api_version.is_empty() {
        Some("has no apiVersion")
    } else if api_version.split('/').count() > 2 || api_version.ends_with('/') {
        Some("has an invalid apiVersion")
    } else if api_version == "v1" && text(reference.kind) == "Event" {
        Some("names an Event, which cannot own anything")
    } else {
        None
    }
}

/// What references with one cause have in common.
fn cause_of(case: &Case<'_>, object: &Object, reference: &Reference, code: Code) -> String {
    let text = |symbol| case.snapshot().text(symbol);
    match code {
        // A kind that isn't served is one cause, for all owners of that kind.
        Code::OwnerNotServed | Code::OwnerListKind => {
            format!("{} {}", text(reference.api_version), text(reference.kind))
        }
        // Rights may differ by namespace, and each namespace has another object of that name.
        Code::OwnerUnread => {
            let namespace = match Address::of(case.snapshot(), case.graph(), reference, object.namespace) {
                Address::At(at) => text(at.namespace),
                _ => "",
            };
            format!("{} {} {namespace}", text(reference.api_version), text(reference.kind))
        }
        Code::OwnerMalformed | Code::OwnerDuplicated => text(object.uid).to_owned(),
        // What deleted several owners of one kind is one cause, unless a record tells who deleted this one.
        Code::OwnerAbsent if record_of(case, object, reference).is_some() => text(reference.uid).to_owned(),
        Code::OwnerAbsent => format!("{} {}", text(reference.api_version), text(reference.kind)),
        // In each namespace, another object has that name.
        Code::OwnerOtherUid => {
            format!("{} {} {}", case.reference(reference), text(reference.uid), text(object.namespace))
        }
        _ => format!("{} {}", case.reference(reference), text(reference.uid)),
    }
}

fn becomes(case: &Case<'_>, id: ObjectId) -> HolderOutcome {
    // What it waits for then may not be known; that the collector deletes it is.
    let begins = || case.projection.leaves(id) && matches!(Next::of(case.stage, id), Next::Delete(..));
    match case.projection.outcome_of(id) {
        _ if case.projection.uncertain(id) && !begins() => HolderOutcome::Unsure,
        Some(OutcomeKind::Deleted | OutcomeKind::Terminating) => HolderOutcome::Gone,
        Some(OutcomeKind::Orphaned | OutcomeKind::Detached) => HolderOutcome::Stripped,
        Some(OutcomeKind::Unblocked | OutcomeKind::Unchanged) | None => HolderOutcome::Kept,
    }
}

fn finding(
    case: &Case<'_>,
    code: Code,
    causes: &BTreeSet<String>,
    becomes: HolderOutcome,
    faults: &[Fault],
) -> Finding {
    let objects: Vec<ObjectId> = faults.iter().map(|fault| fault.holder).collect();
    let first = &faults[0];
    let mut related = sorted(first.references(case).filter_map(|(_, _, link)| link.found));
    related.retain(|found| objects.binary_search(found).is_err());
    let (consequence, loses) = consequence(case, code, becomes, faults);
    Finding {
        severity: severity(code, becomes, loses),
        related,
        references: first.references(case).map(|(_, reference, _)| reference).collect(),
        missing: faults.iter().filter(|_| code == Code::OwnerAbsent).map(|fault| fault.owner(case)).collect(),
        message: match code {
            Code::OwnerUnread => unread(&unread_owners(case, faults)),
            Code::OwnerAbsent
                if faults.len() > 1
                    && let Some(message) = missing(case, faults) =>
            {
                message
            }
            _ => {
                message(case, code, first, objects.len()) + &recorded(case, code, first) + &and_more(case, code, first)
            }
        },
        consequence,
        remedies: remedies(case, code, becomes, faults),
        objects,
        ..Finding::of(code, format!("{} {becomes:?}", one_cause(causes)))
    }
}

/// A sentence about the other references at fault; empty if there are none.
fn and_more(case: &Case<'_>, code: Code, fault: &Fault) -> String {
    let object = case.snapshot().object(fault.holder);
    // The message about the first reference is true of these, too.
    let told = |reference: &Reference| match code {
        Code::OwnerMalformed => String::new(),
        Code::OwnerDuplicated | Code::OwnerAbsent => case.snapshot().text(reference.uid).to_owned(),
        _ => cause_of(case, object, reference, code),
    };
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut others: Vec<Reference> = Vec::new();
    for (_, reference, _) in fault.references(case) {
        if seen.insert(told(&reference)) || code == Code::OwnerMalformed {
            others.push(reference);
        }
    }
    others.remove(0);
    let names: Vec<String> = others.iter().map(|reference| case.reference(reference)).collect();
    match others.len() {
        0 => String::new(),
        1 => format!(" 1 more reference has the same fault: {}.", some_of(&names)),
        more => format!(" {} more references have the same fault: {}.", thousands(more), some_of(&names)),
    }
}

/// Deleting an object whose owner exists is worse than deleting one whose owner is gone, unless data goes with it.
fn severity(code: Code, becomes: HolderOutcome, loses: bool) -> Severity {
    match (code, becomes) {
        (_, HolderOutcome::Gone) if loses => Severity::Error,
        (Code::OwnerAbsent, HolderOutcome::Gone) => Severity::Warning,
        (Code::OwnerUnread, _) => Severity::Note,
        (Code::OwnerDuplicated, HolderOutcome::Kept | HolderOutcome::Unsure) => Severity::Note,
        (_, HolderOutcome::Gone) => code.severity(),
        _ => code.severity().max(Severity::Warning),
    }
}

/// The problem of the first of some references, as a message about this many objects.
fn message(case: &Case<'_>, code: Code, fault: &Fault, objects: usize) -> String {
    let snapshot = case.snapshot();
    let reference = &snapshot.object(fault.holder).owners[fault.places[0]];
    let says = case.reference(reference);
    let found = fault.link().found.map(|found| case.name(found, Some(fault.holder))).unwrap_or_default();
    match code {
        Code::OwnerAbsent => format!("The owner {says} is missing{}.", where_it_would_be(case, fault, reference)),
        Code::OwnerOtherUid => {
            let now = fault.link().found.map_or("", |found| snapshot.text(snapshot.object(found).uid));
            format!(
                "The owner {says} with uid {} is missing; the object of that name now has uid {now}.",
                snapshot.text(reference.uid)
            )
        }
        Code::OwnerOtherName => format!("The reference says {says}; the object with that uid is {found}."),
        Code::OwnerOtherKind => {
            let kind = fault.link().found.map(|found| snapshot.resource(found).api_version());
            format!("The reference says {says}; the object with that uid is {} {found}.", kind.unwrap_or_default())
        }
        Code::OwnerOtherNamespace => {
            format!(
                "The owner {found} is in another namespace; owners must be in the same namespace or \
                cluster-scoped."
            )
        }
        Code::OwnerListKind => format!("The reference says {says}; list kinds are never found."),
        Code::OwnerInvalidScope => {
            let (they_are, their) = if objects == 1 { ("It is", "its") } else { ("They are", "their") };
            let owner = if found.is_empty() { says } else { found };
            format!("{they_are} cluster-scoped, but {their} owner is the namespaced {owner}.")
        }
        Code::OwnerNotServed => {
            let served = served_as(case, reference).map(|served| format!(", only {served}")).unwrap_or_default();
            let (version, kind) = (snapshot.text(reference.api_version), snapshot.text(reference.kind));
            format!("The owner's kind, {version} {kind}, is not served{served}.")
        }
        Code::OwnerMalformed => {
            format!("A reference {} ({says}).", malformed(case, reference).unwrap_or("is malformed"))
        }
        Code::OwnerDuplicated => {
            let uid = snapshot.text(reference.uid);
            let same = snapshot.object(fault.holder).owners.iter().filter(|other| other.uid == reference.uid).count();
            format!("{same} references have the uid {uid}; the first says {says}.")
        }
        _ => unread(&unread_owners(case, std::slice::from_ref(fault))),
    }
}

/// The owners of these faults, each once.
fn unread_owners(case: &Case<'_>, faults: &[Fault]) -> Vec<String> {
    let snapshot = case.snapshot();
    let name = |fault: &Fault, reference: Reference| match served_under(snapshot, fault.holder, &reference) {
        Some(known) => format!("{} (which exists as {known})", case.reference(&reference)),
        None => case.reference(&reference),
    };
    let of_one = |fault: &Fault| -> Vec<String> {
        fault.references(case).map(|(_, reference, _)| name(fault, reference)).collect()
    };
    let names = faults.iter().flat_map(of_one);
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The version under which the object of a reference was read, where that says another one: it may have moved to
/// another group, too.
pub(super) fn served_under(snapshot: &Snapshot, holder: ObjectId, reference: &Reference) -> Option<String> {
    let found = snapshot.object(snapshot.by_uid(reference.uid)?);
    let known = snapshot.resources.get(found.resource);
    let said = snapshot.text(reference.api_version);
    let is_same_kind = snapshot.text(reference.kind) == known.kind;
    let is_in_reach = !known.namespaced || found.namespace == snapshot.object(holder).namespace;
    let is_it = is_in_reach && is_same_kind && found.name == reference.name && known.api_version() != said;
    is_it.then(|| known.api_version())
}

/// Whether each owner exists under another version.
fn exists_otherwise(case: &Case<'_>, fault: &Fault) -> bool {
    let known = |reference: &Reference| served_under(case.snapshot(), fault.holder, reference);
    fault.references(case).all(|(_, reference, _)| known(&reference).is_some())
}

/// Which owners could not be read.
fn unread(owners: &[String]) -> String {
    match owners {
        [owner] => format!("The owner {owner} could not be read."),
        owners => format!("The owners {} could not be read.", some_of(owners)),
    }
}

/// Who deleted the owner that a reference names, if a record tells.
fn record_of<'a>(case: &Case<'a>, holder: &Object, reference: &Reference) -> Option<&'a RecordedDelete> {
    let snapshot = case.snapshot();
    let text = |symbol| snapshot.text(symbol).to_owned();
    let name = || {
        let Mapping::Served(served) = snapshot.resources.map(&text(reference.api_version), &text(reference.kind))
        else {
            return None;
        };
        let resource = snapshot.resources.get(snapshot.resources.picked(served));
        let namespace = if resource.namespaced { text(holder.namespace) } else { String::new() };
        let (group, plural) = (resource.group.clone(), resource.plural.clone());
        Some(RecordedName { group, resource: plural, namespace, name: text(reference.name) })
    };
    case.evidence.of(snapshot.text(reference.uid), name, holder.created.get())
}

/// The same of the first reference at fault.
fn deleted_by<'a>(case: &Case<'a>, code: Code, fault: &Fault) -> Option<&'a RecordedDelete> {
    let holder = case.snapshot().object(fault.holder);
    let is_gone = matches!(code, Code::OwnerAbsent | Code::OwnerOtherUid);
    is_gone.then(|| record_of(case, holder, &holder.owners[fault.places[0]]))?
}

/// That several owners of these dependents are missing; `None` if there is only one.
fn missing(case: &Case<'_>, faults: &[Fault]) -> Option<String> {
    let owners = |fault: &Fault| -> Vec<(Symbol, String, String)> {
        let name = |(_, reference, _): (usize, Reference, ResolvedReference)| {
            (reference.uid, case.reference(&reference), where_it_would_be(case, fault, &reference))
        };
        fault.references(case).map(name).collect()
    };
    let owners: Vec<(Symbol, String, String)> = each_once(faults.iter().flat_map(owners)).collect();
    let (_, _, place) = owners.get(1..)?.first()?;
    let is_shared = owners.iter().all(|(_, _, other)| other == place);
    let names: Vec<String> = match is_shared {
        true => owners.iter().map(|(_, name, _)| name.clone()).collect(),
        false => owners.iter().map(|(_, name, place)| format!("{name}{place}")).collect(),
    };
    let place = if is_shared { place } else { "" };
    Some(format!("{} owners are missing{place}: {}.", thousands(owners.len()), some_of(&names)))
}

/// A sentence about who deleted the owner; empty if no record tells.
fn recorded(case: &Case<'_>, code: Code, fault: &Fault) -> String {
    let Some(RecordedDelete { by, time, propagation, is_sure, source, .. }) = deleted_by(case, code, fault) else {
        return String::new();
    };
    let policy = propagation.as_ref().map(|policy| format!(" with the policy {policy}")).unwrap_or_default();
    let ago = case.now.zip(*time).map(|(now, time)| format!(" {} ago", age((now - time).max(0)))).unwrap_or_default();
    match by {
        Some(by) if *is_sure => format!(" {by} deleted it{ago}{policy} ({source})."),
        Some(by) => format!(" {by} deleted an object of that name{ago}{policy} ({source}, which tells no uid)."),
        None => format!(" It was archived{ago} for a delete{policy} ({source})."),
    }
}

/// Where an absent owner was looked for, unless that is the whole cluster: objects in namespaces that could not be read
/// are no owners here, whatever their uids.
fn where_it_would_be(case: &Case<'_>, fault: &Fault, reference: &Reference) -> String {
    let snapshot = case.snapshot();
    match Address::of(snapshot, case.graph(), reference, snapshot.object(fault.holder).namespace) {
        Address::At(at) if !at.namespace.is_empty() => format!(" in namespace {}", snapshot.text(at.namespace)),
        _ => String::new(),
    }
}

/// The version in which a kind is served, if not in the one that a reference names.
fn served_as(case: &Case<'_>, reference: &Reference) -> Option<String> {
    let (api_version, kind) = (case.snapshot().text(reference.api_version), case.snapshot().text(reference.kind));
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let resources = &case.snapshot().resources;
    let (_, resource) =
        resources.iter().find(|(_, resource)| resource.group == group && resource.kind.eq_ignore_ascii_case(kind))?;
    Some(format!("{} {}", resource.api_version(), resource.kind))
}

/// Whether a reference names a workload as API servers before 1.16 did.
fn is_no_longer_served(case: &Case<'_>, reference: &Reference) -> bool {
    let text = |symbol| case.snapshot().text(symbol);
    text(reference.api_version) == "extensions/v1beta1"
        && matches!(text(reference.kind), "Deployment" | "ReplicaSet" | "DaemonSet")
}

/// What comes of it, and whether stored data is certainly lost with that.
fn consequence(case: &Case<'_>, code: Code, becomes: HolderOutcome, faults: &[Fault]) -> (String, bool) {
    let mut loses = false;
    let one = faults.len() == 1;
    let pick = |singular: &'static str, plural: &'static str| if one { singular } else { plural };
    let (they_stay, them) = (pick("It stays", "They stay"), pick("it", "them"));
    let consequence = match (code, becomes) {
        (Code::OwnerUnread, _) if faults.iter().all(|fault| exists_otherwise(case, fault)) => {
            let said =
                |fault: &Fault| fault.references(case).all(|(_, reference, _)| is_no_longer_served(case, &reference));
            let since = if faults.iter().all(said) { " Since Kubernetes 1.16, none does." } else { "" };
            format!("It is not known whether the API server serves the version that the reference names.{since}")
        }
        (Code::OwnerUnread, _) => match unread_owners(case, faults).len() {
            1 => "It is not known whether this owner exists.".to_owned(),
            _ => "It is not known whether these owners exist.".to_owned(),
        },
        (_, HolderOutcome::Gone) => {
            let objects: Vec<ObjectId> = faults.iter().map(|fault| fault.holder).collect();
            let below = case.goes_below(&objects);
            let more = match below.len() {
                0 => String::new(),
                number => format!(", and {} below", count(number, "object", "objects")),
            };
            let mut later = case.goes_below_later(&objects);
            later.retain(|id| !below.contains(id));
            let lost = Losses::of(case, objects.into_iter().chain(below)).told(case, true);
            loses = !lost.is_empty();
            let lost_later = Losses::of(case, later).told(case, false);
            format!("The collector will delete {}{more}.{lost}{lost_later}", pick("it", "them all"))
        }
        (Code::OwnerDuplicated, HolderOutcome::Stripped) => {
            "The collector removes all references with that uid at once, also the correct one; an object \
             without owners is never collected."
                .to_owned()
        }
        (_, HolderOutcome::Stripped) => {
            let references = if references_at_fault(faults) == 1 { "this reference" } else { "these references" };
            format!("{they_stay} because of another owner; the collector will remove {references}.")
        }
        (Code::OwnerDuplicated, _) => {
            "If one of them is wrong, the collector removes all references with that uid at once.".to_owned()
        }
        (Code::OwnerInvalidScope, _) => {
            let outlives = pick(
                "The collector gives up on it: it is never collected, and outlives its owner.",
                "The collector gives up on them: they are never collected, and outlive their owner.",
            );
            outlives.to_owned() + block(case, faults)
        }
        (Code::OwnerNotServed, _) if faults.iter().all(|fault| owners_are_gone(case, fault)) => {
            let objects: Vec<ObjectId> = faults.iter().map(|fault| fault.holder).collect();
            let below = case.all_below(&objects);
            let lost = Losses::of(case, objects.into_iter().chain(below)).told(case, false);
            let armed = pick(
                "The collector fails on it and retries forever: it stays as long as that kind is not served. Once it \
                 is, as after its CRD is installed again, the collector deletes it: its owner is missing.",
                "The collector fails on them and retries forever: they stay as long as that kind is not served. Once \
                 it is, as after its CRD is installed again, the collector deletes them: their owners are missing.",
            );
            armed.to_owned() + &lost + block(case, faults)
        }
        (Code::OwnerNotServed, _) => {
            let never = pick(
                "The collector fails on it and retries forever: it is never collected, even if its owners are deleted.",
                "The collector fails on them and retries forever: they are never collected, even if their owners are \
                 deleted.",
            );
            never.to_owned() + block(case, faults)
        }
        (Code::OwnerMalformed, _) => pick(
            "The collector cannot look up the owner, and the API server rejects every update of the object until \
             the reference is fixed.",
            "The collector cannot look up the owner, and the API server rejects every update of these objects until \
             the references are fixed.",
        )
        .to_owned(),
        (_, HolderOutcome::Unsure) => "What the collector does depends on something that is not known.".to_owned(),
        (_, HolderOutcome::Kept) => format!(
            "{they_stay} for now, because another reference cannot be looked up. Once it can be, the collector \
             deletes {them}."
        ),
    };
    (consequence, loses)
}

/// Whether an owner exists that a foreground delete of it would wait for this object.
fn blocks(case: &Case<'_>, fault: &Fault) -> bool {
    let snapshot = case.snapshot();
    fault.references(case).any(|(_, reference, _)| reference.blocks() && snapshot.by_uid(reference.uid).is_some())
}

/// A sentence if these objects block their owners; otherwise empty.
fn block(case: &Case<'_>, faults: &[Fault]) -> &'static str {
    match faults.iter().all(|fault| blocks(case, fault)) {
        true if faults.len() == 1 => " It blocks a foreground delete of the owner forever.",
        true => " They block a foreground delete of the owner forever.",
        false => "",
    }
}

/// The number of references at fault.
fn references_at_fault(faults: &[Fault]) -> usize {
    faults.iter().map(|fault| fault.places.len()).sum()
}

fn remedies(case: &Case<'_>, code: Code, becomes: HolderOutcome, faults: &[Fault]) -> Vec<Remedy> {
    let objects: Vec<ObjectId> = faults.iter().map(|fault| fault.holder).collect();
    let (commands, snapshot) = (case.commands(), case.snapshot());
    let each = |commands: &dyn Fn(&Fault) -> Vec<ShellCommand>| -> Vec<ShellCommand> {
        faults.iter().flat_map(commands).collect()
    };
    let change = |fields: &dyn Fn(ObjectId) -> Vec<(&'static str, Value)>| {
        each(&|fault| {
            let changes = fault.references(case).filter_map(|(place, _, link)| Some((place, fields(link.found?))));
            commands.change_references(fault.holder, &changes.collect::<Vec<_>>())
        })
    };
    let correct_names = || change(&|found| right_names(case, found));
    let reference = |number: usize| if number == 1 { "reference" } else { "references" };
    let references = reference(references_at_fault(faults));
    let one = objects.len() == 1;
    let keep = if one { "keep the object" } else { "keep the objects" };
    let invalid: usize = faults.iter().map(|fault| invalid_places(fault).len()).sum();
    let that = if invalid == 1 { "that" } else { "those" };
    // What goes with its namespace in any case can't be kept.
    let is_kept = !objects.iter().all(|id| case.stage.leaving_namespace_of(*id).is_some());
    let drops = is_kept.then(|| each(&|fault| commands.drop_references(fault.holder, &invalid_places(fault))));
    // What the delete asked for comes first.
    let asked = deleted_by(case, code, &faults[0]).is_some_and(RecordedDelete::takes_dependents);
    let (dropping, letting_go) = if asked { (Step::GiveUp, Step::Heal) } else { (Step::Heal, Step::GiveUp) };
    let drop = dropping
        .by(format!("{keep}: remove {that} owner {}", reference(invalid)), drops.unwrap_or_default())
        .deciding(becomes == HolderOutcome::Gone);
    let delete = if one { "delete it, as the collector would" } else { "delete them, as the collector would" };
    let let_go = letting_go.by(delete, commands.delete(&objects, "background", &[])).deciding(true);
    match code {
        Code::OwnerUnread => {
            let namespace = |fault: &Fault| snapshot.object(fault.holder).namespace;
            let look = |fault: &Fault| -> Vec<ShellCommand> {
                let look = |(_, reference, _)| commands.look_at_owner(&reference, case.graph(), namespace(fault));
                fault.references(case).filter_map(look).collect()
            };
            let look: BTreeSet<ShellCommand> = faults.iter().flat_map(look).collect();
            vec![Step::Look.by("find out why the owner cannot be read", look)]
        }
        Code::OwnerOtherUid => {
            let repoint = change(&|found| vec![("uid", json!(snapshot.text(snapshot.object(found).uid)))]);
            let then = if one { "it is then" } else { "they are then" };
            let what = format!(
                "put the uid of the object that now has this name into the {references}: {then} deleted with that \
                    object"
            );
            let repoint = Step::Heal.by(what, repoint).deciding(becomes == HolderOutcome::Gone);
            if becomes == HolderOutcome::Gone { vec![drop, repoint, let_go] } else { vec![drop, repoint] }
        }
        Code::OwnerOtherName | Code::OwnerOtherKind => {
            vec![Step::Heal.by(format!("correct the owner's name and kind in the {references}"), correct_names()), drop]
        }
        Code::OwnerNotServed | Code::OwnerListKind if faults.iter().all(|fault| all_may_own(case, fault)) => {
            vec![Step::Heal.by(format!("use the served kind of the owner in the {references}"), correct_names()), drop]
        }
        Code::OwnerAbsent | Code::OwnerListKind | Code::OwnerOtherNamespace if becomes == HolderOutcome::Gone => {
            vec![drop, let_go]
        }
        Code::OwnerInvalidScope if objects.iter().all(|id| snapshot.facts.webhooks(*id).is_some()) => {
            let gone = faults.iter().filter(|fault| fault.link().found.is_none());
            vec![drop, commands.without_webhooks(&sorted(gone.map(|fault| fault.holder)))]
        }
        // What the collector would do if it could resolve the reference.
        Code::OwnerNotServed | Code::OwnerInvalidScope if faults.iter().all(|fault| owners_are_gone(case, fault)) => {
            let delete = if one { "delete it: its owner is missing" } else { "delete them: their owners are missing" };
            vec![drop, Step::GiveUp.by(delete, commands.delete(&objects, "background", &[])).deciding(true)]
        }
        Code::OwnerDuplicated => {
            let on_each = if one { "" } else { " on each object" };
            let single = each(&|fault| commands.drop_references(fault.holder, &superfluous(case, fault)));
            vec![Step::Heal.by(format!("keep only one of these references{on_each}, the correct one"), single)]
        }
        Code::OwnerMalformed => {
            let mend = each(&|fault| commands.drop_references(fault.holder, &fault.places));
            let mend = Step::Heal.by(format!("{keep} and remove the malformed {references}"), mend);
            vec![mend.deciding(becomes == HolderOutcome::Gone)]
        }
        _ => vec![drop],
    }
}

/// Whether nothing that was read is an owner of a dependent, by uid, and all kinds of its owners were read: another
/// version of a kind, or the kind in its own namespace.
fn owners_are_gone(case: &Case<'_>, fault: &Fault) -> bool {
    let snapshot = case.snapshot();
    let holder = snapshot.object(fault.holder);
    let is_gone = |reference: &Reference| {
        let (api_version, kind) = (snapshot.text(reference.api_version), snapshot.text(reference.kind));
        let resource = snapshot.resources.by_group_kind(group_of(api_version), kind);
        let is_read = |id| snapshot.covers(id, Some(holder.namespace).filter(|namespace| !namespace.is_empty()));
        // Of a kind that is not served, the owner may be anything that was not read.
        let all_read = || !snapshot.may_be_part() && snapshot.may_hide(&[fault.holder]).is_empty();
        snapshot.by_uid(reference.uid).is_none() && resource.map_or_else(all_read, is_read)
    };
    holder.owners.iter().all(is_gone)
}

/// Whether every reference at fault leads to an object that may own the dependent.
fn all_may_own(case: &Case<'_>, fault: &Fault) -> bool {
    fault.references(case).all(|(_, _, link)| link.found.is_some_and(|owner| may_own(case, owner, fault.holder)))
}

/// The fields of a correct reference to this owner.
fn right_names(case: &Case<'_>, owner: ObjectId) -> Vec<(&'static str, serde_json::Value)> {
    let snapshot = case.snapshot();
    let object = snapshot.object(owner);
    let resource = snapshot.resources.get(object.resource);
    vec![
        ("apiVersion", json!(resource.api_version())),
        ("kind", json!(resource.kind)),
        ("name", json!(snapshot.text(object.name))),
    ]
}

/// Whether an object may own another, depending on their namespaces.
fn may_own(case: &Case<'_>, owner: ObjectId, holder: ObjectId) -> bool {
    let namespace = case.snapshot().object(owner).namespace;
    namespace == Symbol::EMPTY || namespace == case.snapshot().object(holder).namespace
}

/// All invalid references of a dependent: if one remained, the collector would delete the object for it.
fn invalid_places(fault: &Fault) -> Vec<usize> {
    let leads_nowhere = |place: &usize| {
        let standing = fault.links[*place].standing;
        !(standing.valid() || standing == ReferenceStatus::Unread) || fault.places.binary_search(place).is_ok()
    };
    (0..fault.links.len()).filter(leads_nowhere).collect()
}

/// For each uid at fault, all references except for the one that leads to the owner, or else the first.
fn superfluous(case: &Case<'_>, fault: &Fault) -> Vec<usize> {
    let owners = &case.snapshot().object(fault.holder).owners;
    let uids: FxHashSet<Symbol> = fault.references(case).map(|(_, reference, _)| reference.uid).collect();
    let mut by_uid: BTreeMap<Symbol, Vec<usize>> = BTreeMap::new();
    for (place, reference) in owners.iter().enumerate().filter(|(_, reference)| uids.contains(&reference.uid)) {
        by_uid.entry(reference.uid).or_default().push(place);
    }
    let valid = |place: &&usize| fault.links[**place].standing.valid();
    // Of the valid ones, prefer a controller reference, then a blocking one.
    let weight = |place: &&usize| (owners[**place].is_controller(), owners[**place].blocks());
    let all_but_one = |places: Vec<usize>| {
        let keep = places.iter().filter(valid).rev().max_by_key(weight).or(places.first()).copied();
        places.into_iter().filter(move |place| Some(*place) != keep)
    };
    by_uid.into_values().flat_map(all_but_one).collect()
}
