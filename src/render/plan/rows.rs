//! The lines of a plan: each outcome once, below the owner whose deletion caused it, with a fate and remarks.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::render::{
    lines::Line,
    outline::{Outline, OutlineRow, Subject},
    picture::remarks_of,
    states::{DOUBT, Fate, Tone, Toned},
    words::plural,
};
use gc_core::{
    collector::Reason,
    hold::Held,
    model::{ObjectId, Reference, Symbol, facts::PodFacts},
    plan::{Outcome, OutcomeKind},
    simulate::{BlockedBy, Cause, State, Uncertainty, foreign_spec_finalizers},
    tree::{ReferenceStatus, ResolvedReference},
    wording::{and_more, thousands},
};

use super::{PlanView, because::owners_named, effects};

/// Siblings that are alike are folded if there are at least this many.
const FOLD_FROM: usize = 2;
/// The same of what is stuck, waits or loses data, and of roots.
const FOLD_WORST_FROM: usize = 13;
/// So many of these are still shown.
const SHOWN_OF_WORST: usize = 3;

/// One line of a plan.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub depth: u32,
    pub object: ObjectId,
    pub outcome: &'a Outcome,
    /// `Kind/name`, `12 Pods`, or `… 12 more Pods`.
    pub title: String,
    /// For how many objects this line stands that have none of their own; 0 for a line about one object.
    pub more: usize,
    pub fate: Fate,
    pub remarks: Remarks,
    /// The remarks that objects folded into one line share.
    common: Remarks,
}

/// The lines of a plan. With `fold`, long runs of similar objects become one line. In a table, nothing stands below an
/// owner: without `other_owners`, the lines don't say which others an object has.
pub(super) fn rows<'a>(view: &PlanView<'a>, fold: bool, other_owners: bool) -> Vec<Row<'a>> {
    let (roots, children) = arrange(view);
    let worst = worst_inside(view, &children);
    let mut rows = Vec::new();
    let level_of = |above, depth, objects: &[ObjectId]| {
        let mut rows = siblings(view, &worst, above, depth, objects, fold, other_owners);
        if fold {
            rows = folded(view, &children, &worst, rows);
        }
        rows.reverse();
        rows
    };
    let mut open: Vec<(u32, Vec<Row<'a>>)> = vec![(0, level_of(None, 0, &roots))];
    // Depth first without recursion: each level is a list of rows in reverse order.
    while let Some((depth, level)) = open.last_mut() {
        let depth = *depth;
        let Some(row) = level.pop() else {
            open.pop();
            continue;
        };
        if let Some(below) = children.get(&row.object).filter(|_| row.more == 0) {
            open.push((depth + 1, level_of(Some(row.object), depth + 1, below)));
        }
        rows.push(row);
    }
    rows
}

/// The rows as texts and pictures draw them.
pub(super) fn outline(rows: &[Row<'_>]) -> Outline {
    let line = |row: &Row<'_>| {
        let line = if row.more > 0 { Line::quiet(&row.title) } else { Line::new(&row.title) };
        let mut line = line.becomes(row.fate, row.fate.column());
        row.remarks.iter().for_each(|(tone, remark)| line.remark(*tone, remark));
        line
    };
    let row = |row: &Row<'_>| OutlineRow {
        depth: row.depth,
        subject: Subject::Object(row.object),
        points: false,
        more: row.more,
        line: line(row),
    };
    Outline { titles: Vec::new(), rows: rows.iter().map(row).collect() }
}

/// Which outcome is listed below which: targets are roots, every other outcome is below the object that caused it if
/// that has an outcome.
fn arrange(view: &PlanView<'_>) -> (Vec<ObjectId>, FxHashMap<ObjectId, Vec<ObjectId>>) {
    let mut contents: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    for outcome in view.plan.both_ends() {
        if let Some(above) = outcome.because.as_ref().and_then(Cause::above) {
            contents.entry(above).or_default().push(outcome.object);
        }
    }
    let mut placed: FxHashSet<ObjectId> = FxHashSet::default();
    let mut children: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    let mut roots = Vec::new();
    // First the targets that no other target owns, then other targets, then all other changed objects.
    let targets = || view.plan.request.targets.iter().copied();
    let uids: FxHashSet<_> = targets().map(|target| view.snapshot.object(target).uid).collect();
    let owned =
        |target: &ObjectId| view.snapshot.object(*target).owners.iter().any(|reference| uids.contains(&reference.uid));
    let all = || view.all_shown();
    // In a sweep, which has no targets, owners with an outcome come before their dependents.
    let on_top = |object: &ObjectId| view.is_sweep() && !below_another(view, *object);
    let candidates =
        targets().filter(|target| !owned(target)).chain(targets()).chain(all().filter(on_top)).chain(all());
    for root in candidates {
        if view.shown(root).is_none() || !placed.insert(root) {
            continue;
        }
        roots.push(root);
        let mut open = VecDeque::from([root]);
        // Contents stand below their owners, if these are shown, and directly below the object that contains them if
        // no owner leads to them.
        let mut containers = Vec::new();
        let mut place = |above: ObjectId, object: &ObjectId| {
            let is_new = view.shown(*object).is_some() && placed.insert(*object);
            if is_new {
                children.entry(above).or_default().push(*object);
            }
            is_new
        };
        loop {
            if let Some(above) = open.pop_front() {
                let inside = contents.get(&above).map(Vec::as_slice).unwrap_or_default();
                let owned = view.graph.dependents(above.into()).iter();
                let free = inside.iter().filter(|object| !below_another(view, **object));
                open.extend(owned.chain(free).filter(|object| place(above, object)));
                containers.extend((!inside.is_empty()).then_some(above));
            } else if let Some(above) = containers.pop() {
                open.extend(contents[&above].iter().filter(|object| place(above, object)));
            } else {
                break;
            }
        }
    }
    (roots, children)
}

/// Whether an owner of an object has an outcome.
fn below_another(view: &PlanView<'_>, object: ObjectId) -> bool {
    let owners = view.snapshot.object(object).owners.iter();
    let owners = owners.filter_map(|reference| view.graph.object(view.graph.by_uid(reference.uid)?));
    owners.into_iter().any(|owner| owner != object && view.shown(owner).is_some())
}

/// How bad it is: lost data, stuck, and the other states that are no end.
type Badness = (bool, Fate);

/// Whether it is folded only where there are many.
fn is_bad((loses_data, fate): Badness) -> bool {
    loses_data || matches!(fate, Fate::Stuck | Fate::Depends | Fate::Waits | Fate::Unsure)
}

/// The worst first.
fn rank((loses_data, fate): Badness) -> (bool, Fate) {
    (!loses_data, fate)
}

/// The worst of each object that something bad happens to, and of all that it is listed below.
fn worst_inside(view: &PlanView<'_>, children: &FxHashMap<ObjectId, Vec<ObjectId>>) -> FxHashMap<ObjectId, Badness> {
    let parents: FxHashMap<ObjectId, ObjectId> =
        children.iter().flat_map(|(above, below)| below.iter().map(|object| (*object, *above))).collect();
    let mut worst: FxHashMap<ObjectId, Badness> = FxHashMap::default();
    for object in view.all_shown() {
        let Some(outcome) = view.shown(object) else { continue };
        let badness = (view.loses_data(object), fate_of(view, outcome));
        let mut next = Some(object).filter(|_| is_bad(badness));
        while let Some(object) =
            next.filter(|object| worst.get(object).is_none_or(|known| rank(badness) < rank(*known)))
        {
            worst.insert(object, badness);
            next = parents.get(&object).copied();
        }
    }
    worst
}

/// The lines of what stands below an object at this depth, or of the roots: those with the worst inside first, then by
/// kind, outcome and name.
fn siblings<'a>(
    view: &PlanView<'a>,
    worst: &FxHashMap<ObjectId, Badness>,
    above: Option<ObjectId>,
    depth: u32,
    objects: &[ObjectId],
    fold: bool,
    other_owners: bool,
) -> Vec<Row<'a>> {
    let is_root_of_sweep = depth == 0 && view.is_sweep();
    let row = |object: &ObjectId| {
        let (object, outcome) = (*object, view.shown(*object)?);
        let mut remarks = if is_root_of_sweep { remarks_of_root(view, outcome) } else { remarks(view, outcome) };
        if fold && depth > 0 {
            remarks = without_usual(remarks);
        }
        if let Some(above) = above.filter(|_| other_owners) {
            remarks = with_other_owners(view, outcome, above, remarks);
        }
        let shared = shared_by_roots(outcome).filter(|_| is_root_of_sweep);
        let common = shared.map_or_else(|| remarks.clone(), |shared| vec![(Tone::Plain, shared.to_owned())]);
        let title = above.map_or_else(|| view.name(object), |above| view.name_below(object, above));
        Some(Row { depth, object, outcome, title, more: 0, fate: fate_of(view, outcome), remarks, common })
    };
    let mut rows: Vec<Row<'a>> = objects.iter().filter_map(row).collect();
    if depth > 0 || view.is_sweep() {
        rows.sort_by_cached_key(|row| {
            let inside = worst.get(&row.object).copied().unwrap_or((false, row.fate.max(Fate::Deleted)));
            // Only roots are in several namespaces, except for dependents across namespaces.
            let namespace = if depth == 0 { view.snapshot.namespace(row.object).to_owned() } else { String::new() };
            let resource = view.snapshot.object(row.object).resource;
            let name = view.snapshot.name(row.object).to_owned();
            (rank(inside), namespace, resource, row.fate, remarks_of(&row.common), name)
        });
    }
    rows
}

/// Folds runs of rows that are alike and have nothing below them.
fn folded<'a>(
    view: &PlanView<'a>,
    children: &FxHashMap<ObjectId, Vec<ObjectId>>,
    worst: &FxHashMap<ObjectId, Badness>,
    rows: Vec<Row<'a>>,
) -> Vec<Row<'a>> {
    let is_target = |row: &Row<'_>| row.depth == 0 && view.is_target(row.object);
    let alike = |left: &Row<'_>, right: &Row<'_>| {
        let [one, other] = [left, right].map(|row| view.snapshot.object(row.object));
        one.resource == other.resource
            && one.namespace == other.namespace
            && left.fate == right.fate
            && left.common == right.common
            && worst.get(&left.object) == worst.get(&right.object)
            && [left, right].iter().all(|row| !children.contains_key(&row.object) && !is_target(row))
    };
    let mut shown: Vec<Row<'a>> = Vec::new();
    for run in rows.chunk_by(alike) {
        // What a sweep begins with has no line above that names it.
        let (from, alone) = match run[0].depth == 0 || worst.contains_key(&run[0].object) {
            true => (FOLD_WORST_FROM, SHOWN_OF_WORST),
            false => (FOLD_FROM, 0),
        };
        if run.len() < from {
            shown.extend_from_slice(run);
            continue;
        }
        shown.extend_from_slice(&run[..alone]);
        let (first, more) = (run[alone].clone(), run.len() - alone);
        let (number, kinds) = (thousands(more), plural(view.snapshot.resource(first.object), more));
        let title = if alone > 0 { format!("… {number} more {kinds}") } else { format!("{number} {kinds}") };
        shown.push(Row { title, more, remarks: first.common.clone(), ..first });
    }
    shown
}

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
