//! What the line of an object says: a fate, and remarks.

use rustc_hash::FxHashSet;

use crate::render::{
    states::{DOUBT, Fate},
    style::{Tone, Toned},
};
use gc_core::{
    collector::Reason,
    hold::Held,
    model::{ObjectId, Reference, Symbol, facts::PodFacts},
    plan::{Outcome, OutcomeKind},
    simulate::{BlockedBy, Cause, State, Uncertainty, foreign_spec_finalizers},
    tree::{ReferenceStatus, ResolvedReference},
    wording::and_more,
};

use super::{PlanView, because::owners_named, effects};

/// What is said beside a name, each with its tone.
pub(super) type Remarks = Vec<Toned>;

/// How the remark on a pod begins that its kubelet ends.
const GRACE: &str = "grace period";
/// How the doubt about a volume ends that goes with its claim.
const PROVISIONER: &str = "its provisioner must run";
/// At most this many blockers are named.
const NAMED_BLOCKERS: usize = 2;
/// At most this many of those who hold an object are described: there may be a million finalizers.
const NAMED_HOLDERS: usize = 8;

/// The remarks without what is the same in every delete: that a kubelet ends a pod after its grace period, and that a
/// volume goes only if its provisioner runs.
pub(super) fn without_usual(mut remarks: Remarks) -> Remarks {
    remarks.retain(|(_, remark)| !remark.starts_with(GRACE) && !remark.ends_with(PROVISIONER));
    remarks
}

/// The fate that is an outcome.
pub(super) fn fate(outcome: &Outcome) -> Fate {
    match (outcome.kind, outcome.state) {
        (OutcomeKind::Deleted, _) => Fate::Deleted,
        (OutcomeKind::Terminating | OutcomeKind::Unchanged, Some(State::Waiting)) => Fate::Waits,
        // It waits for the same without this delete.
        (OutcomeKind::Terminating, None) => Fate::Waits,
        (OutcomeKind::Terminating | OutcomeKind::Unchanged, Some(State::Unknown)) => Fate::Depends,
        (OutcomeKind::Terminating, _) | (OutcomeKind::Unchanged, Some(State::Stuck)) => Fate::Stuck,
        // It only loses a finalizer.
        (OutcomeKind::Unchanged, None) if outcome.order.is_some() && outcome.uncertain.is_none() => Fate::Kept,
        (OutcomeKind::Unchanged, None) => Fate::Unsure,
        (OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked, _) => Fate::Kept,
    }
}

/// The fate that is shown of an object.
pub(super) fn fate_of(view: &PlanView<'_>, shown: &Outcome) -> Fate {
    let is_later = view.later(shown.object).is_some() || released_by(view, shown).is_some();
    if is_later { Fate::Later } else { fate(shown) }
}

/// The remarks on an outcome; none if the word says enough.
pub(super) fn remarks(view: &PlanView<'_>, outcome: &Outcome) -> Remarks {
    let loses_finalizer = outcome.order.is_some() && outcome.uncertain.is_none();
    let own = match outcome.kind {
        OutcomeKind::Deleted => {
            let remark = grace(view, outcome).or_else(|| mismatched_reference(view, outcome));
            let failure = view.snapshot.facts.volume(outcome.object).and_then(|facts| facts.failure.as_deref());
            let failed = failure.map(|failure| format!("it is Failed: {failure}"));
            vec![held_later(view, outcome.object), remark.or(failed).unwrap_or_default()]
        }
        OutcomeKind::Terminating if outcome.is_spared() => {
            vec![held(view, outcome), "Terminating with or without this delete".to_owned()]
        }
        OutcomeKind::Terminating => vec![held(view, outcome)],
        // A sweep begins to handle it and cannot finish.
        OutcomeKind::Unchanged if outcome.state.is_some() => vec![held(view, outcome)],
        OutcomeKind::Orphaned | OutcomeKind::Detached if outcome.because == Some(Cause::Kept) => {
            vec![effects::kept_remark(view, outcome.object).unwrap_or_default()]
        }
        OutcomeKind::Orphaned => vec!["no owner left".to_owned()],
        OutcomeKind::Detached => vec![detached(view, outcome)],
        OutcomeKind::Unblocked => vec!["no longer blocks its owner".to_owned()],
        OutcomeKind::Unchanged if outcome.uncertain.is_some_and(Uncertainty::has_alternatives) => Vec::new(),
        OutcomeKind::Unchanged if loses_finalizer => vec!["loses a finalizer, and is not deleted".to_owned()],
        OutcomeKind::Unchanged if outcome.is_assumed() => match released_by(view, outcome) {
            Some(held) => vec![if_released(view, held)],
            None => vec!["depends on something that cannot be foreseen".to_owned()],
        },
        OutcomeKind::Unchanged => vec![unread(view, outcome.object)],
    };
    let lost = (Tone::Error, effects::losses(view, outcome).join("; "));
    let doubt = match outcome.uncertain {
        Some(Uncertainty::Order) => Some(or_else(outcome, "events come in another order")),
        Some(Uncertainty::ComesBack) => Some(or_else(outcome, "the collector, which is late, acts first")),
        Some(Uncertainty::Overdue) => Some(or_else(outcome, "the collector doesn't come back to it")),
        // The word says it.
        Some(_) if outcome.is_assumed() && outcome.state == Some(State::Unknown) => None,
        Some(why) if outcome.kind != OutcomeKind::Unchanged => {
            let why = doubted(view, outcome, why);
            Some(format!("{DOUBT} not certain{}{why}", if why.is_empty() { "" } else { ": " }))
        }
        _ => None,
    };
    let plain = own.into_iter().chain(effects::remarks(view, outcome)).chain(doubt);
    let all = std::iter::once(lost).chain(plain.map(|remark| (Tone::Plain, remark)));
    all.filter(|(_, remark)| !remark.is_empty()).collect()
}

/// The object above one that is deleted only if a controller removes a finalizer from that: it may, or may not.
fn released_by<'v>(view: &PlanView<'v>, outcome: &Outcome) -> Option<&'v Outcome> {
    if outcome.kind != OutcomeKind::Unchanged || outcome.state.is_some() || !view.goes_later(outcome.object) {
        return None;
    }
    let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([outcome.object]);
    let mut open = vec![outcome.object];
    while let Some(object) = open.pop() {
        let owners = view.snapshot.object(object).owners.iter().filter_map(|owner| view.snapshot.by_uid(owner.uid));
        for owner in owners.filter(|owner| seen.insert(*owner)).collect::<Vec<_>>() {
            let above = view.outcome(owner).filter(|above| above.state == Some(State::Unknown));
            if above.is_some_and(|above| above.held_by.iter().any(|holder| holder.finalizer().is_some())) {
                return above;
            }
            open.push(owner);
        }
    }
    None
}

/// What must happen to an object before what is below it is deleted.
fn if_released(view: &PlanView<'_>, held: &Outcome) -> String {
    let finalizers = held.held_by.iter().filter_map(|holder| holder.finalizer());
    let finalizers: Vec<&str> = finalizers.map(|finalizer| view.snapshot.text(finalizer)).collect();
    match finalizers.as_slice() {
        [finalizer] => format!("if the controller removes finalizer {finalizer}"),
        [first, rest @ ..] => format!("if the controllers remove finalizer {first}{}", and_more(rest.len())),
        [] => String::new(),
    }
}

/// Why an outcome is not certain, as a clause.
fn doubted(view: &PlanView<'_>, outcome: &Outcome, why: Uncertainty) -> String {
    match why {
        Uncertainty::Gap => unread(view, outcome.object),
        Uncertainty::Provisioner
            if let Some(provisioner) = view.plan.controllers.unseen_provisioner(outcome.object) =>
        {
            provisioner.liveness.evidence().to_owned()
        }
        _ if outcome.is_assumed() && outcome.goes_with_claim() => PROVISIONER.to_owned(),
        _ => why.row().remark.to_owned(),
    }
}

/// The remarks on a root in a sweep. They start with the reason, because no line above gives it.
pub(super) fn remarks_of_root(view: &PlanView<'_>, outcome: &Outcome) -> Remarks {
    let mut remarks = remarks(view, outcome);
    let tells_why = matches!(outcome.kind, OutcomeKind::Detached | OutcomeKind::Unchanged)
        || outcome.kind == OutcomeKind::Deleted && mismatched_reference(view, outcome).is_some();
    if let Some(why) = view.because(outcome.object, outcome.because.as_ref()).filter(|_| !tells_why) {
        // Where the reason leads, nothing else stands out.
        remarks.iter_mut().for_each(|(tone, _)| *tone = Tone::Plain);
        let is_reused = faults(view, outcome.object).any(|(standing, _)| standing == ReferenceStatus::OtherUid);
        let reused = if is_reused { ": that name now has another uid" } else { "" };
        remarks.insert(0, (Tone::Plain, why.message + reused));
    }
    remarks
}

/// The remark that folded roots of a sweep share: it doesn't name the owners, which differ.
pub(super) fn shared_by_roots(outcome: &Outcome) -> Option<&'static str> {
    match (&outcome.because, outcome.kind, outcome.uncertain) {
        (Some(Cause::Collector(Reason::NoOwnerLeft)), OutcomeKind::Deleted, None) => Some("their owners are missing"),
        (Some(Cause::Collector(Reason::OtherOwnerSolid(_))), OutcomeKind::Detached, None) => {
            Some("still owned by others; references to missing owners removed")
        }
        (_, OutcomeKind::Unchanged, Some(Uncertainty::Gap)) => Some("their owners could not be read"),
        _ => None,
    }
}

/// The remarks on what goes, and which other owners it has than the one `above` it.
pub(super) fn with_other_owners(view: &PlanView<'_>, outcome: &Outcome, above: ObjectId, remarks: Remarks) -> Remarks {
    let owners = view.snapshot.object(outcome.object).owners.iter();
    let (same, others): (Vec<ObjectId>, Vec<ObjectId>) =
        owners.filter_map(|owner| view.snapshot.by_uid(owner.uid)).partition(|owner| *owner == above);
    let is_said = outcome.kind.removes() && !others.is_empty() && !same.is_empty();
    let more = is_said.then(|| (Tone::Plain, format!("also owned by {}", view.some(&others))));
    remarks.into_iter().chain(more).collect()
}

/// The other possible outcomes, and what leads to them, in words.
fn or_else(outcome: &Outcome, if_what: &str) -> String {
    let mut others: Vec<&str> = Vec::new();
    for other in &outcome.alternatives {
        let describe = match (other.kind, other.state) {
            (kind, state) if kind == outcome.kind && state == outcome.state => "with other owner references",
            (OutcomeKind::Deleted, _) => "deleted",
            (OutcomeKind::Terminating, Some(State::Stuck)) => "STUCK",
            (OutcomeKind::Terminating, _) => "Terminating",
            (OutcomeKind::Orphaned, _) => "kept without an owner",
            (OutcomeKind::Detached | OutcomeKind::Unblocked, _) => "kept by its other owners",
            (OutcomeKind::Unchanged, _) => "unchanged",
        };
        if !others.contains(&describe) {
            others.push(describe);
        }
    }
    format!("{DOUBT} or {} if {if_what}", others.join(" or "))
}

/// Which owner references the object loses, and which it keeps.
fn detached(view: &PlanView<'_>, outcome: &Outcome) -> String {
    let before = &view.snapshot.object(outcome.object).owners;
    let after = outcome.after.as_ref().map_or(&[][..], |after| &after.owners);
    let kept: FxHashSet<Symbol> = after.iter().map(|reference| reference.uid).collect();
    let lost: Vec<Reference> = before.iter().filter(|reference| !kept.contains(&reference.uid)).copied().collect();
    let missing = |owner: &Reference| {
        let is_missing = |standing| matches!(standing, ReferenceStatus::Absent | ReferenceStatus::OtherUid);
        faults(view, outcome.object).any(|(standing, fault)| fault.uid == owner.uid && is_missing(standing))
    };
    let kept = match after.iter().all(missing) {
        true => format!("its owner {} is missing", owners_named(view.snapshot, after)),
        false => format!("still owned by {}", owners_named(view.snapshot, after)),
    };
    format!("{kept}; reference to {} removed", owners_named(view.snapshot, &lost))
}

/// The grace period of a pod, if the kubelet has to end it.
fn grace(view: &PlanView<'_>, outcome: &Outcome) -> Option<String> {
    if matches!(outcome.because, Some(Cause::NodeGone(_))) {
        return Some("40s after its node is gone".to_owned());
    }
    let facts: &PodFacts = view.snapshot.facts.pod(outcome.object)?;
    let on_a_node = facts.node.is_some() && !facts.finished();
    let seconds = view.plan.request.grace.or(facts.grace).filter(|seconds| on_a_node && *seconds > 0)?;
    let ended_by_kubelet = !matches!(outcome.because, Some(Cause::Kubelet));
    ended_by_kubelet.then(|| format!("{GRACE} {seconds}s"))
}

/// Why an object is deleted although its owner exists: its reference doesn't match the owner, which surprises users.
fn mismatched_reference(view: &PlanView<'_>, outcome: &Outcome) -> Option<String> {
    if !matches!(outcome.because, Some(Cause::Collector(_))) {
        return None;
    }
    let (fault, reference) = faults(view, outcome.object).find(|(standing, _)| {
        matches!(
            standing,
            ReferenceStatus::OtherNamespace
                | ReferenceStatus::OtherName
                | ReferenceStatus::OtherKind
                | ReferenceStatus::ListKind
        )
    })?;
    Some(format!("{}: invalid", in_words(view, fault, reference)))
}

/// The owners that could not be read, of an object whose outcome depends on them (R10.2).
fn unread(view: &PlanView<'_>, object: ObjectId) -> String {
    let holder = view.snapshot.object(object);
    let is_unread = |reference: &&Reference| {
        ResolvedReference::of(view.snapshot, view.graph, holder, reference).standing == ReferenceStatus::Unread
    };
    let unread: Vec<Reference> = holder.owners.iter().filter(is_unread).copied().collect();
    match unread.as_slice() {
        [] => view.snapshot.unread_instances(object).unwrap_or("something it depends on is not known").to_owned(),
        [_] => format!("its owner {} could not be read", owners_named(view.snapshot, &unread)),
        _ => format!("its owners {} could not be read", owners_named(view.snapshot, &unread)),
    }
}

/// Why a blocker without an outcome of its own is not deleted. What a Namespace or CRD waits for, its own controller
/// deletes, not the collector.
fn why_it_lasts(view: &PlanView<'_>, object: ObjectId, by_collector: bool) -> Option<String> {
    if view.outcome(object).is_some() {
        return None;
    }
    if !view.may_touch(object) {
        return Some(", which this sweep must not change".to_owned());
    }
    let finished = view.snapshot.facts.has_finished(object).then(|| ", which has finished".to_owned());
    let immune = by_collector.then(|| immune(view, object)).flatten();
    let taken = view.snapshot.facts.is_being_taken(object).then(|| " to be ready to use".to_owned());
    let runs = view.snapshot.facts.runs_hooks(object).then(|| " to end its operation".to_owned());
    immune.or_else(|| held_by_others(view, object)).or(finished).or(taken).or(runs)
}

/// The finalizers of a terminating object that the collector doesn't remove (S2).
fn held_by_others(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
    let found = view.snapshot.object(object);
    let foreign = found.finalizers.iter().filter(|finalizer| !finalizer.is_collectors_finalizer());
    let foreign: Vec<&str> = foreign.map(|finalizer| view.snapshot.text(*finalizer)).collect();
    if Held::of_object(view.snapshot, object).is_some() {
        return Some(", held by kubectl gc delete --hold".to_owned());
    }
    (found.terminating() && !foreign.is_empty())
        .then(|| format!(", already Terminating with finalizer {}", foreign.join(", ")))
}

/// Why a live blocker is never deleted (S4, S5), or not by a sweep, which doesn't trust a 404 for a whole path as the
/// collector does (R3.16).
fn immune(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
    let fault = faults(view, object)
        .find(|(standing, _)| matches!(standing, ReferenceStatus::NotServed | ReferenceStatus::InvalidScope));
    let words = |(standing, reference)| in_words(view, standing, reference);
    let immune = fault.map(|fault| format!(", which the collector never deletes: {}", words(fault)));
    immune.or_else(|| Some(format!(", which this sweep does not change: {}", words(doubted_reference(view, object)?))))
}

/// The reference for whose sake a sweep doesn't change an object, as it doesn't trust a 404 for a whole path.
pub(super) fn doubted_reference<'v>(
    view: &'v PlanView<'_>,
    object: ObjectId,
) -> Option<(ReferenceStatus, &'v Reference)> {
    let is_list = |(standing, _): &(ReferenceStatus, &Reference)| *standing == ReferenceStatus::ListKind;
    faults(view, object).find(is_list).filter(|_| view.graph.doubts_missing_apis())
}

fn faults<'v>(view: &'v PlanView<'_>, object: ObjectId) -> impl Iterator<Item = (ReferenceStatus, &'v Reference)> + 'v {
    let holder = view.snapshot.object(object);
    let standing = |reference| ResolvedReference::of(view.snapshot, view.graph, holder, reference).standing;
    holder
        .owners
        .iter()
        .map(move |reference| (standing(reference), reference))
        .filter(|(standing, _)| !standing.valid())
}

fn in_words(view: &PlanView<'_>, standing: ReferenceStatus, reference: &Reference) -> String {
    let text = |symbol| view.snapshot.text(symbol);
    let words = match standing {
        ReferenceStatus::OtherNamespace => "owner in another namespace",
        ReferenceStatus::OtherName => "owner reference with the wrong name",
        ReferenceStatus::OtherKind => "owner reference with the wrong kind",
        ReferenceStatus::ListKind => "owner reference to a list kind",
        ReferenceStatus::NotServed => {
            let (kind, version) = (text(reference.kind), text(reference.api_version));
            return format!("its owner {kind}/{} is of a kind that {version} does not serve", text(reference.name));
        }
        ReferenceStatus::InvalidScope => {
            let (kind, name) = (text(reference.kind), text(reference.name));
            return format!("it is cluster-scoped, but its owner {kind}/{name} is namespaced");
        }
        _ => "its owner reference is invalid",
    };
    words.to_owned()
}

/// Who must finish an object that is deleted later, and is Terminating only then.
fn held_later(view: &PlanView<'_>, object: ObjectId) -> String {
    let (Some(_), Some(then)) = (view.later(object), &view.plan.then) else { return String::new() };
    let held = view.plan.once_later().find(|finished| finished.object == object);
    let describe =
        |(state, blocker): (State, &BlockedBy)| blocker.describe(view.snapshot, object, state, &then.controllers);
    let blockers = held.into_iter().flat_map(|it| it.blockers.iter().map(|blocker| (it.state, blocker)));
    blockers.map(describe).collect::<Vec<_>>().join("; ")
}

/// One of those who block an object.
pub(super) fn held_by(view: &PlanView<'_>, outcome: &Outcome, blocker: BlockedBy) -> String {
    let state = outcome.state.unwrap_or(State::Stuck);
    blocker.describe(view.snapshot, outcome.object, state, &view.plan.controllers)
}

/// What an object that stays Terminating waits for, and what else blocks it.
fn held(view: &PlanView<'_>, outcome: &Outcome) -> String {
    if outcome.held_by.is_empty() && outcome.waits_for.is_empty() && view.snapshot.is_namespace(outcome.object) {
        return "its spec.finalizers is empty: no controller deletes its content, and a second delete removes it"
            .to_owned();
    }
    // The blockers of a terminating CRD or Namespace say more than its own finalizers.
    let says_more = |blocker: &BlockedBy| match blocker {
        BlockedBy::Finalizer(Symbol::DEFINITION) => outcome.waits_for.is_empty(),
        BlockedBy::SpecFinalizers => {
            outcome.waits_for.is_empty() && !foreign_spec_finalizers(view.snapshot, outcome.object).is_empty()
        }
        _ => true,
    };
    let blockers: Vec<BlockedBy> = outcome.held_by.iter().copied().filter(says_more).collect();
    let mut parts: Vec<String> =
        blockers.iter().take(NAMED_HOLDERS).map(|blocker| held_by(view, outcome, *blocker)).collect();
    if let Some(last) = parts.last_mut().filter(|_| blockers.len() > NAMED_HOLDERS) {
        *last += &and_more(blockers.len() - NAMED_HOLDERS);
    }
    if !outcome.waits_for.is_empty() {
        let by_collector = !view.snapshot.is_namespace(outcome.object)
            && !outcome.held_by.contains(&BlockedBy::Finalizer(Symbol::DEFINITION));
        let reason = |object: &ObjectId| why_it_lasts(view, *object, by_collector).unwrap_or_default();
        let reasons: Vec<String> = outcome.waits_for.iter().take(NAMED_BLOCKERS).map(reason).collect();
        // If all have the same reason, it is given once.
        let are_all = reasons.len() > 1 && reasons.len() == outcome.waits_for.len();
        let shared = reasons.first().filter(|first| are_all && reasons.iter().all(|other| other == *first));
        let describe = |(object, reason): (&ObjectId, &String)| {
            let reason = if shared.is_some() { "" } else { reason };
            format!("{}{reason}", view.name_below(*object, outcome.object))
        };
        let named: Vec<String> = outcome.waits_for.iter().zip(&reasons).map(describe).collect();
        let rest = and_more(outcome.waits_for.len() - named.len());
        // An owner that orphans its dependents waits for none to go.
        let orphans = outcome.after.as_ref().is_some_and(|after| after.finalizers.contains(&Symbol::ORPHAN));
        let waits = if orphans { "has yet to free" } else { "waits for" };
        parts.push(format!("{waits} {}{rest}{}", named.join(", "), shared.cloned().unwrap_or_default()));
    }
    parts.join("; ")
}
