//! Ownership cycles: those that are never collected (R5.12), and those in which a foreground delete would wait for
//! itself (§5.3).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;

use crate::{
    command_line::ShellCommand,
    graph::cycles::{cycles, ownership_cycles},
    model::{ObjectId, Reference, Snapshot, Symbol},
    plan::plan,
    server::Propagation,
    simulate::{Projection, Request, State},
    wording::count,
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    code::Code,
    finding::{Finding, Remedy, Step},
};

/// Foreground deletes are simulated for at most this many members of a cycle, and for one member of a large cycle.
const TRIED: usize = 8;
const LARGE: usize = 1000;
/// At most this many cycles are simulated; of further ones, only their existence is reported.
const CIRCLES_TRIED: usize = 200;

/// The remedy of R1.21: a second delete, in the background.
fn again(case: &Case<'_>, objects: &[ObjectId]) -> Remedy {
    let words = format!(
        "delete {} again with --cascade=background, which removes the collector's finalizer and ends the waiting; \
         the collector still deletes the dependents",
        case.names(objects, objects.first().copied())
    );
    Step::Heal.by(words, case.commands().delete(objects, "background", &[]))
}

/// Reports cycles that are never collected, and what a foreground delete would do to them.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let mut tried = 0;
    for members in ownership_cycles(case.snapshot(), case.graph()) {
        if members.iter().any(|id| findings.explained.contains(id) || case.projection.goes(*id)) {
            continue;
        }
        // If one is deleted, all are; what blocks that one is reported separately.
        if members.iter().any(|id| case.snapshot().object(*id).terminating()) {
            continue;
        }
        let outer = owners_outside(case, &members);
        let try_it = tried < CIRCLES_TRIED && has_blocking_references(case, &members);
        tried += usize::from(try_it);
        findings.findings.push(if try_it && would_deadlock(case, &members) {
            blocking(case, &members, outer)
        } else {
            living_on(case, &members, outer)
        });
    }
}

/// The owners of a cycle's members that are not in the cycle.
fn owners_outside(case: &Case<'_>, members: &[ObjectId]) -> Vec<ObjectId> {
    let owners = members.iter().flat_map(|id| case.snapshot().object(*id).owners.iter());
    let owners =
        owners.filter_map(|reference| case.graph().by_uid(reference.uid).and_then(|node| case.graph().object(node)));
    sorted(owners.filter(|owner| members.binary_search(owner).is_err()))
}

/// Whether a reference within a cycle blocks its owner: otherwise no foreground delete waits for the cycle.
fn has_blocking_references(case: &Case<'_>, members: &[ObjectId]) -> bool {
    let within = |reference: &Reference| {
        let owner = case.snapshot().by_uid(reference.uid);
        reference.blocks() && owner.is_some_and(|owner| members.binary_search(&owner).is_ok())
    };
    members.iter().any(|id| case.snapshot().object(*id).owners.iter().any(within))
}

/// Whether a foreground delete of a member would get stuck because of the cycle alone.
fn would_deadlock(case: &Case<'_>, members: &[ObjectId]) -> bool {
    members.iter().take(if members.len() > LARGE { 1 } else { TRIED }).any(|member| {
        let plan = plan(case.stage, &Request::delete(vec![*member], Propagation::Foreground));
        let stuck: Vec<ObjectId> = plan
            .outcomes
            .iter()
            .filter(|outcome| outcome.state == Some(State::Stuck))
            .map(|outcome| outcome.object)
            .collect();
        // Finalizers and other blockers are reported separately: the cycle doesn't cause them.
        let alone =
            plan.outcomes.iter().all(|outcome| outcome.state != Some(State::Stuck) || outcome.held_by.is_empty());
        stuck.contains(member) && alone && stuck.iter().all(|id| members.binary_search(id).is_ok())
    })
}

/// The references to remove to open a cycle, by holder: seen from the oldest member, which is most likely the real
/// owner, those that point back down. With `only_blocking`, only blocking references count.
fn to_cut(case: &Case<'_>, members: &[ObjectId], only_blocking: bool) -> Vec<(ObjectId, Vec<usize>)> {
    let snapshot = case.snapshot();
    // The indexes of each holder's references to each member.
    let mut places: FxHashMap<(ObjectId, Symbol), Vec<usize>> = FxHashMap::default();
    for holder in members {
        for (place, reference) in snapshot.object(*holder).owners.iter().enumerate() {
            if reference.blocks() || !only_blocking {
                places.entry((*holder, reference.uid)).or_default().push(place);
            }
        }
    }
    let places = |holder: ObjectId, owner: ObjectId| places.get(&(holder, snapshot.object(owner).uid));
    let below = |owner: ObjectId| -> Vec<ObjectId> {
        let dependents = case.graph().dependents(owner.into()).iter().copied();
        dependents.filter(|id| members.binary_search(id).is_ok() && places(*id, owner).is_some()).collect()
    };
    let mut by_age = members.to_vec();
    by_age.sort_by_key(|id| (snapshot.object(*id).created, *id));
    let mut cut: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    let (mut seen, mut on_the_way): (FxHashSet<ObjectId>, FxHashSet<ObjectId>) = Default::default();
    for start in by_age {
        if !seen.insert(start) {
            continue;
        }
        on_the_way.insert(start);
        let mut way = vec![(start, below(start))];
        while let Some((owner, left)) = way.last_mut() {
            let owner = *owner;
            match left.pop() {
                None => {
                    on_the_way.remove(&owner);
                    way.pop();
                }
                Some(dependent) if on_the_way.contains(&dependent) => {
                    cut.entry(dependent).or_default().extend(places(dependent, owner).into_iter().flatten());
                }
                Some(dependent) if seen.insert(dependent) => {
                    on_the_way.insert(dependent);
                    way.push((dependent, below(dependent)));
                }
                Some(_) => {}
            }
        }
    }
    cut.into_iter().collect()
}

/// The first of the references to remove.
fn first_cut(case: &Case<'_>, cut: &[(ObjectId, Vec<usize>)]) -> Vec<Reference> {
    let first =
        cut.iter().take(1).flat_map(|(holder, places)| places.iter().take(1).map(move |place| (*holder, *place)));
    first.map(|(holder, place)| case.snapshot().object(holder).owners[place]).collect()
}

/// Duplicate references of members to members. The collector unblocks only the first reference with a uid, or none at
/// all (R4.9).
fn beyond_one(case: &Case<'_>, members: &[ObjectId]) -> Vec<(ObjectId, Vec<usize>)> {
    let snapshot = case.snapshot();
    let of = |holder: &ObjectId| {
        let owners = &snapshot.object(*holder).owners;
        let of_member = |reference: &Reference| {
            snapshot.by_uid(reference.uid).is_some_and(|owner| members.binary_search(&owner).is_ok())
        };
        // For each uid, keep the controller reference, or else the first one.
        let mut kept: FxHashMap<Symbol, usize> = FxHashMap::default();
        for (place, reference) in owners.iter().enumerate() {
            let known = kept.entry(reference.uid).or_insert(place);
            if reference.is_controller() && !owners[*known].is_controller() {
                *known = place;
            }
        }
        let places = (0..owners.len())
            .filter(|place| of_member(&owners[*place]) && kept.get(&owners[*place].uid) != Some(place));
        (*holder, places.collect::<Vec<usize>>())
    };
    members.iter().map(of).filter(|(_, places)| !places.is_empty()).collect()
}

fn drop_all(case: &Case<'_>, cut: &[(ObjectId, Vec<usize>)]) -> Vec<ShellCommand> {
    cut.iter().flat_map(|(holder, places)| case.commands().drop_references(*holder, places)).collect()
}

fn unblock_all(case: &Case<'_>, cut: &[(ObjectId, Vec<usize>)]) -> Vec<ShellCommand> {
    let change = |place: &usize| (*place, vec![("blockOwnerDeletion", json!(false))]);
    let changes = |places: &[usize]| places.iter().map(change).collect::<Vec<_>>();
    cut.iter().flat_map(|(holder, places)| case.commands().change_references(*holder, &changes(places))).collect()
}

fn cause(case: &Case<'_>, members: &[ObjectId]) -> String {
    let uids: Vec<&str> =
        members.iter().take(2).map(|id| case.snapshot().text(case.snapshot().object(*id).uid)).collect();
    uids.join(" ")
}

fn living_on(case: &Case<'_>, members: &[ObjectId], outer: Vec<ObjectId>) -> Finding {
    let code = if members.len() == 1 { Code::SelfOwned } else { Code::OwnershipCycle };
    let cut = to_cut(case, members, false);
    let holders: Vec<ObjectId> = cut.iter().map(|(holder, _)| *holder).collect();
    let what = match members.len() {
        1 => "remove its reference to itself".to_owned(),
        _ => {
            format!("break the cycle at {}: remove its reference to its owner in the cycle", case.names(&holders, None))
        }
    };
    let when = if outer.is_empty() {
        String::new()
    } else {
        format!(", not even when {} is deleted", case.names(&outer, members.first().copied()))
    };
    Finding {
        objects: members.to_vec(),
        references: first_cut(case, &cut),
        message: match members.len() {
            1 => "It is its own owner.".to_owned(),
            _ => format!("They own each other: {}.", path(case, members)),
        },
        consequence: match members.len() {
            1 => format!("It is never collected{when}, because its owner exists as long as it does."),
            _ => format!(
                "They are never collected{when}, because each has an existing owner. Deleting one of them \
                 deletes all of them."
            ),
        },
        related: outer,
        remedies: vec![Step::Heal.by(what, drop_all(case, &cut))],
        ..Finding::of(code, cause(case, members))
    }
}

/// The path around a cycle, from dependent to owner.
fn path(case: &Case<'_>, members: &[ObjectId]) -> String {
    let snapshot = case.snapshot();
    path_along(case, members, |id| {
        snapshot.object(id).owners.iter().filter_map(|reference| snapshot.by_uid(reference.uid)).collect()
    })
}

/// The path around a cycle, from each member to one of those that it leads to.
fn path_along(case: &Case<'_>, members: &[ObjectId], leads_to: impl Fn(ObjectId) -> Vec<ObjectId>) -> String {
    let mut way = vec![members[0]];
    loop {
        let next = leads_to(way[way.len() - 1]).into_iter().filter(|other| members.binary_search(other).is_ok());
        let Some(next) = next.min_by_key(|other| way[1..].contains(other)) else { break };
        way.push(next);
        if next == way[0] || way.len() > members.len().min(4) {
            break;
        }
    }
    let names: Vec<String> = way.iter().map(|id| case.snapshot().short_name(*id)).collect();
    format!("{}{}", names.join(" → "), if way.last() == way.first() { "" } else { " → …" })
}

fn blocking(case: &Case<'_>, members: &[ObjectId], outer: Vec<ObjectId>) -> Finding {
    let cut = to_cut(case, members, true);
    let beyond_one = beyond_one(case, members);
    // Without duplicate uids, the collector itself unblocks the cycle (R5.10), unless an object owns itself.
    let unblock = if beyond_one.is_empty() || members.len() == 1 {
        Step::Heal.by(
            if members.len() == 1 {
                "stop it from blocking its owner: it can then be deleted, but is still never collected"
            } else {
                "stop the reference that closes the cycle from blocking its owner: they can then be deleted, but are \
                 still never collected"
            },
            unblock_all(case, &cut),
        )
    } else {
        Step::Heal.by(
            "keep one reference per uid: they can then be deleted, but are still never collected",
            drop_all(case, &beyond_one),
        )
    };
    Finding {
        objects: members.to_vec(),
        references: first_cut(case, &cut),
        related: outer,
        message: match members.len() {
            1 => "It owns itself, and its reference blocks its owner's deletion.".to_owned(),
            _ => format!("They own each other, and each blocks the other's deletion: {}.", path(case, members)),
        },
        consequence: match members.len() {
            1 => "It is never collected, and a foreground delete of it waits for itself forever.",
            _ => "They are never collected, and a foreground delete of one of them waits for itself forever.",
        }
        .to_owned(),
        remedies: vec![
            Step::Heal.by("remove the reference that closes the cycle", drop_all(case, &to_cut(case, members, false))),
            unblock,
        ],
        ..Finding::of(Code::BlockingCycle, cause(case, members))
    }
}

/// Cycles of deletions that wait only for each other (§5.3, S6, S14, S18).
pub(super) fn deadlocks(snapshot: &Snapshot, projection: &Projection) -> Vec<Vec<ObjectId>> {
    let stuck: Vec<ObjectId> =
        snapshot.objects().map(|(id, _)| id).filter(|id| projection.waits_in_cycle(*id)).collect();
    cycles(&stuck, |id| projection.waits_for(id).iter().copied())
}

/// Live blockers that the collector can't delete, because it can't unblock them: the API server refuses a PATCH that
/// would leave two controller references with one uid (S18).
fn not_unblocked(case: &Case<'_>) -> Vec<(ObjectId, Vec<ObjectId>)> {
    let snapshot = case.snapshot();
    let waits = |id: &ObjectId| {
        let object = snapshot.object(*id);
        object.terminating() && object.finalizers.contains(&Symbol::FOREGROUND)
    };
    let mut found = Vec::new();
    for id in case.projection.left() {
        let owners = &snapshot.object(id).owners;
        let refused = |controller: &Reference| {
            let same = || owners.iter().filter(|other| other.uid == controller.uid);
            same().count() > 1 && same().any(Reference::blocks)
        };
        let suspected = || case.graph().dependents(id.into()).iter().any(waits);
        let mut controllers = owners.iter().filter(|reference| reference.is_controller());
        if !snapshot.object(id).terminating() && suspected() && controllers.any(refused) {
            let waiting: Vec<ObjectId> = case.projection.waited_for_by(id).filter(waits).collect();
            found.push((id, waiting));
        }
    }
    found.retain(|(_, waiting)| !waiting.is_empty());
    found
}

fn refused(case: &Case<'_>, id: ObjectId, waiting: &[ObjectId]) -> Finding {
    let mut circle: Vec<ObjectId> = waiting.iter().copied().chain([id]).collect();
    circle.sort_unstable();
    let beyond_one = beyond_one(case, &circle);
    let related = case.projection.chain_above_all(&circle);
    let cause = cause(case, &circle);
    Finding {
        references: first_cut(case, &beyond_one),
        message: format!(
            "{} is being deleted in the foreground and waits for {}, which has several references with one uid: \
             the API server rejects the collector's attempt to unblock them.",
            case.names(waiting, Some(id)),
            case.name(id, None),
        ),
        consequence: never(&circle, &related),
        remedies: vec![
            again(case, waiting),
            Step::Heal.by(
                "keep one reference per uid: the collector can then continue, and all of them are deleted",
                drop_all(case, &beyond_one),
            ),
        ],
        objects: circle,
        related,
        ..Finding::of(Code::ForegroundDeadlock, cause)
    }
}

/// What will never happen to a cycle and to what waits for it.
fn never(circle: &[ObjectId], related: &[ObjectId]) -> String {
    let (none_of_them, them) =
        if circle.len() == 1 { ("It is never deleted", "it") } else { ("None of them is ever deleted", "them") };
    match related.len() {
        0 => format!("{none_of_them}."),
        waiting => {
            format!("{none_of_them}, and {} with {them} forever.", count(waiting, "object waits", "objects wait"))
        }
    }
}

/// Reports one finding for each cycle of waiting.
pub(super) fn gather_deadlocks(case: &Case<'_>, findings: &mut FindingsBuilder) {
    for (id, waiting) in not_unblocked(case) {
        findings.explain(refused(case, id, &waiting));
    }
    for circle in deadlocks(case.snapshot(), case.projection) {
        let above = case.projection.chain_above_all(&circle);
        findings.explain(deadlock(case, &circle, above));
    }
}

fn deadlock(case: &Case<'_>, circle: &[ObjectId], related: Vec<ObjectId>) -> Finding {
    let snapshot = case.snapshot();
    let pods: Vec<ObjectId> = circle.iter().copied().filter(|id| case.stage.rules(*id).graceful).collect();
    let claims = case.stage.built_in.claims;
    let claim = circle.iter().copied().find(|id| Some(snapshot.object(*id).resource) == claims);
    let code = if claim.is_some() && !pods.is_empty() { Code::PodClaimDeadlock } else { Code::ForegroundDeadlock };
    let to_delete: Vec<ObjectId> = if code == Code::PodClaimDeadlock { pods } else { circle[..1].to_vec() };
    let cut = to_cut(case, circle, true);
    let message = match (code, claim) {
        (Code::PodClaimDeadlock, Some(claim)) => format!(
            "The pod is being deleted in the foreground and waits for {}, which PVC protection keeps as long as \
             the pod exists.",
            case.name(claim, circle.first().copied())
        ),
        _ if circle.len() == 1 => {
            "It is being deleted in the foreground, owns itself, and waits for itself.".to_owned()
        }
        _ => {
            let path = path_along(case, circle, |id| case.projection.waits_for(id).to_vec());
            format!("They are being deleted in the foreground and wait for each other: {path}.")
        }
    };
    let mut remedies = vec![again(case, &to_delete)];
    if code == Code::ForegroundDeadlock {
        remedies.push(
            Step::Heal.by("stop the reference that closes the cycle from blocking its owner", unblock_all(case, &cut)),
        );
    }
    Finding {
        objects: circle.to_vec(),
        references: first_cut(case, &cut),
        message,
        consequence: never(circle, &related),
        related,
        remedies,
        ..Finding::of(code, cause(case, circle))
    }
}
