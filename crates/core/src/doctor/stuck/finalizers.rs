//! Deletions that a finalizer blocks (S1–S3, S17), and what its removal triggers (armed deletions).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rustc_hash::FxHashSet;
use serde_json::json;

use crate::{
    command_line::ShellCommand,
    doctor::{
        Code, Finding, Remedy, Step,
        case::{Case, FindingsBuilder, some_of, sorted},
        commands::one_after_another,
        finding::one_cause,
        losses::Losses,
        refusers::{asked_again, exempt, past_denial, see_refusers, who_puts_it_back},
    },
    document::rfc3339,
    model::{
        ObjectId, ResourceId, Symbol,
        effects::{AddOn, EffectKind, Naming, Pause, Severity, When, add_on, known_finalizer, known_users},
    },
    plan::{OutsideEffect, effects_of},
    server::OwnDelete,
    simulate::{
        Cause, FinalizerController, Liveness, OVERDUE, Projection, State,
        controllers::{Lack, Paused, Question, are_all_read, finalizer_controller, refused},
        has_spoken, is_removed_by_controller_manager,
        liveness::of_controller_manager,
        managed_by_another,
    },
    wording::{count, each_once, thousands},
};

use super::concern::{
    Concern, fails, forcing, it, objects, sentence, since, waiting_for, waiting_in_the_foreground, waits,
};

/// At most this many finalizers are named in a sentence.
const NAMED: usize = 8;

/// A finalizer that blocks an object, and who should remove it.
type Hold = (Symbol, Arc<FinalizerController>);

/// The finalizers that block objects, and the kind of these if something is known of that: what removes it, or who uses
/// them. Of others, one controller is the cause, whatever their kinds.
type Group = (Option<ResourceId>, Vec<Hold>);

/// Finds terminating objects with a finalizer that no running controller is known to remove. `causes` are the objects
/// that wait for more than other objects.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, causes: &[(ObjectId, State)], findings: &mut FindingsBuilder) {
    let mut groups: BTreeMap<Group, Vec<ObjectId>> = BTreeMap::new();
    let roots: FxHashSet<ObjectId> = causes.iter().map(|(id, _)| *id).collect();
    for (id, object) in case.snapshot().objects().filter(|(_, object)| object.terminating()) {
        if case.fresh.contains(&id) || !concern.includes(id) {
            continue;
        }
        let holds = holds(case, id, roots.contains(&id));
        if holds.is_empty() {
            continue;
        }
        let kind = case.snapshot().resources.get(object.resource);
        let is_known = |(finalizer, _): &Hold| {
            let finalizer = case.snapshot().text(*finalizer);
            known_finalizer(finalizer, &kind.group, &kind.kind).is_some()
                || known_users(finalizer, &kind.kind).next().is_some()
        };
        let kind = holds.iter().any(is_known).then_some(object.resource);
        groups.entry((kind, holds)).or_default().push(id);
    }
    for ((kind, holds), objects) in groups {
        if let Some(mut finding) = finding(case, findings, &holds, objects) {
            let kind = kind.map(|kind| case.snapshot().resources.get(kind).full_name());
            finding.cause = format!("{} {}", kind.unwrap_or_default(), finding.cause);
            findings.explain(finding);
        }
    }
}

/// The finalizers of an object that block it, and who should remove them.
fn holds(case: &Case<'_>, id: ObjectId, is_root: bool) -> Vec<Hold> {
    let snapshot = case.snapshot();
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let mut holds = Vec::new();
    for finalizer in object.finalizers.iter().copied() {
        let is_definition = case.stage.rules(id).own_delete == OwnDelete::Definition;
        if finalizer.is_collectors_finalizer() || finalizer == Symbol::DEFINITION && is_definition {
            continue;
        }
        let known = known_finalizer(snapshot.text(finalizer), &resource.group, &resource.kind);
        if known.is_some_and(|known| known.when == When::Asked) {
            // A hold is no trouble, and has a finding of its own.
            continue;
        }
        let own = managed_by_another(snapshot, id, finalizer).is_none();
        if let Some(known) = case.stage.removed_by_itself(id, finalizer).filter(|_| own) {
            let is_left = case.stage.is_left(id, known);
            if !is_left && !case.projection.goes(id) {
                continue;
            }
            // A finalizer that a built-in controller removes is no problem, unless that is away or takes very long.
            let manager = is_removed_by_controller_manager(known.finalizer)
                .then(|| of_controller_manager(case.stage, case.now).1);
            let (liveness, is_overdue) = match manager {
                Some(Liveness::Away(why)) => (Liveness::Away(why), case.live),
                _ if is_left => (Liveness::Unknown(format!("{} has not removed it", known.by)), false),
                _ => (Liveness::Unknown(format!("{} removes it", known.by)), false),
            };
            let is_slow = || case.has_been_terminating(id, OVERDUE) && !case.awaits_a_kubelet(id);
            let slow = is_overdue || is_left || case.now.is_some() && is_slow();
            let controller = FinalizerController { is_left, ..FinalizerController::of(Some(known.by), liveness) };
            holds.extend(slow.then(|| (finalizer, Arc::new(controller))));
        } else if is_root {
            let question = Question { object: id, finalizer, exact: true };
            holds.push((finalizer, finalizer_controller(case.stage, &question)));
        }
    }
    holds
}

fn finding(
    case: &Case<'_>,
    findings: &mut FindingsBuilder,
    holds: &[Hold],
    mut objects: Vec<ObjectId>,
) -> Option<Finding> {
    let snapshot = case.snapshot();
    case.stage.read_what_may_name(objects.iter().copied());
    let mut users = Users::of(case, holds, &objects);
    // Its controller runs, or nothing shows that a known controller doesn't.
    let expected = |(_, controller): &Hold| {
        let is_known = controller.name.is_some() && !controller.is_away();
        !controller.in_vain
            && (matches!(controller.liveness, Liveness::Alive(_)) || is_known && controller.paused.is_none())
    };
    let cannot_be_taken = |user: &ObjectId| snapshot.facts.why_not_taken(*user).is_some();
    let all_expected = holds.iter().all(expected) && !users.found.values().flatten().any(cannot_be_taken);
    // Of a controller that was seen, nothing shows yet that it doesn't act.
    let is_seen =
        |(_, controller): &Hold| matches!(controller.liveness, Liveness::Alive(_)) || !controller.acting().is_empty();
    let may_be_over = |id: &ObjectId| case.is_untimed(*id) && !(holds.iter().all(is_seen) && lacks(holds).is_empty());
    // These are only reported if they take long.
    if all_expected {
        let (slow, at_work): (Vec<ObjectId>, Vec<ObjectId>) =
            objects.into_iter().partition(|id| may_be_over(id) || case.has_been_terminating(*id, OVERDUE));
        findings.explained.extend(at_work.iter().copied().chain(waiting_for(case, &at_work)));
        objects = slow;
    }
    if objects.is_empty() {
        return None;
    }
    // The owners come first: the others are there for them.
    let uids: FxHashSet<Symbol> = objects.iter().map(|id| snapshot.object(*id).uid).collect();
    objects.sort_by_key(|id| snapshot.object(*id).owners.iter().any(|owner| uids.contains(&owner.uid)));
    let mut related = waiting_for(case, &objects);
    if by_manager(case, holds).is_some() {
        // As it should be gone by now, nothing is known to wait for it in the end.
        let owners = objects.iter().flat_map(|id| snapshot.object(*id).owners.iter());
        let owners: Vec<ObjectId> = owners.filter_map(|owner| snapshot.by_uid(owner.uid)).collect();
        let waiting = sorted(waiting_in_the_foreground(case, &owners));
        let is_new = |owner: &ObjectId| !objects.contains(owner) && !related.contains(owner);
        let new: Vec<ObjectId> = waiting.into_iter().filter(is_new).collect();
        related.extend(new);
    }
    let finalizers: Vec<Symbol> = holds.iter().map(|(finalizer, _)| *finalizer).collect();
    // What it does not do now, it will do once somebody has started or resumed it.
    let paused = holds.iter().find_map(|(_, controller)| controller.paused.as_ref());
    let is_away = holds.iter().any(|(_, controller)| controller.is_away());
    let away = paused.is_some() || is_away;
    // Nobody is seen who could act: whoever does later sets the same off.
    let is_nobody = |(_, controller): &Hold| {
        let is_seen = !controller.acting().is_empty() || !controller.failing.is_empty();
        !is_seen && !controller.unseen && matches!(controller.liveness, Liveness::Nobody(_) | Liveness::Unread(_))
    };
    let is_unmanned = !away && holds.iter().all(is_nobody);
    let fires = Fires::of(case, &objects, &finalizers, away, is_unmanned);
    let code = match all_expected {
        true => Code::SlowFinalizer,
        false if away && !fires.is_nothing() => Code::ArmedDeletion,
        false => Code::StuckFinalizer,
    };
    // What plans call stuck is an error. What may not be is a warning, unless something is known to be done.
    let in_vain = holds.iter().any(|(_, controller)| controller.in_vain);
    let is_stuck = |id: &ObjectId| case.projection.own_state(*id) == Some(State::Stuck);
    let may_go_on = !away && !in_vain && !objects.iter().any(is_stuck);
    let young = may_go_on && objects.iter().all(|id| case.stage.is_at_work(*id));
    let waiting = waits(case, &related, &objects);
    if code == Code::StuckFinalizer {
        users.putting_back = who_puts_it_back(case, &finalizers, &objects);
    }
    let needing = sorted(objects.iter().flat_map(|id| users.needing(*id)).copied());
    let is_unseen = holds.iter().any(|(_, controller)| controller.unseen);
    let is_unread = holds.iter().any(|(_, controller)| matches!(controller.liveness, Liveness::Unread(_)));
    let is_refused = holds.iter().any(|(_, controller)| controller.refused.is_some());
    let is_left = holds.iter().any(|(_, controller)| controller.is_left);
    let (below, message) = message(case, holds, &users, &objects);
    let consequence = match code {
        _ if !needing.is_empty() => {
            let (exist, need) = if needing.len() == 1 { ("exists", "needs") } else { ("exist", "need") };
            let (stays, named) = (stays(&objects), case.names(&needing, Some(objects[0])));
            format!("{stays} as long as {named} {exist}, which {need} {}: leave the finalizer.{waiting}", it(&objects))
        }
        Code::ArmedDeletion => {
            let its = if objects.len() == 1 { "its" } else { "their" };
            let what = fires.describe(&objects);
            let again = to_install(case, holds)
                .map(|it| format!(" Then install or repair {it}: removing the finalizer by hand is the last resort."))
                .unwrap_or_default();
            let lost = fires.losses.told(case, true);
            if let Some(paused) = paused {
                let starts = if is_away { ", and starts its controller" } else { "" };
                format!("Once {}{starts}, {what}.{lost}{waiting}", paused.until())
            } else {
                format!(
                    "If {its} controller restarts, {what}.{lost} Decide about that before you restart it.\
                     {waiting}{again}"
                )
            }
        }
        Code::SlowFinalizer => {
            let (they_are, their) = if objects.len() == 1 { ("It is", "its") } else { ("They are", "their") };
            match why(case, holds, &users, &objects) {
                None if is_unmanned && (fires.are_objects && !fires.outside.is_empty() || !fires.inside.is_empty()) => {
                    format!(
                        "{they_are} deleted once {their} controller is done. Nothing that was read tells whether that \
                         runs: if it is gone, to install it again sets off what follows.{waiting}"
                    )
                }
                None if !is_unseen && objects.iter().all(|id| case.is_untimed(*id)) => format!(
                    "{they_are} deleted once {their} controller is done. Nothing in the dump tells whether that runs.\
                     {waiting}"
                ),
                None if let Some(by) = by_manager(case, holds) => format!(
                    "{} does that within seconds: either it does not run, or the API server refuses what it does.\
                     {waiting}",
                    sentence(by, true)
                ),
                None if is_left => format!("{they_are} deleted only if that is done after all.{waiting}"),
                None if !is_refused && !is_unseen && !below.is_empty() => {
                    format!("{they_are} deleted once {their} controller is done.{waiting}")
                }
                None if !is_refused && !is_unseen => format!(
                    "{they_are} deleted once {their} controller is done; the controller's log says why that takes so \
                     long.{waiting}"
                ),
                None if is_unseen => format!(
                    "{they_are} deleted only if {their} controller runs somewhere, which nothing shows.{waiting}"
                ),
                _ if matches!(lacks(holds), [Lack::Workloads(_), ..]) => {
                    format!("{} if its controller goes first.{waiting}", stays(&objects))
                }
                _ => format!("{} as long as that is so.{waiting}", stays(&objects)),
            }
        }
        _ => {
            let in_vain = match in_vain {
                true => " A namespace that is being deleted takes nothing new: its controller gets no further.",
                false => "",
            };
            let removed = if holds.len() > 1 { "all of them are removed" } else { "the finalizer is removed" };
            let stays = stays(&objects);
            let below = match fires.inside.len() {
                0 => subtree(case, &objects),
                number => format!(
                    " Whoever removes {}, by hand or as a controller that is installed again: the collector then \
                     deletes {}.",
                    if holds.len() == 1 { "it" } else { "them" },
                    count(number, "existing object", "existing objects")
                ),
            };
            let mended = match has_spoken_of(case, holds, &objects) {
                true => " Its controller tries again, and may remove it once what it says is mended.",
                false => "",
            };
            let back: Vec<ObjectId> = users.putting_back.keys().copied().collect();
            let back = match back.len() {
                0 => String::new(),
                number => format!(
                    " {} {} asked about each change, and may put it back: nobody is recorded to have set it.",
                    case.names(&back, None),
                    if number == 1 { "is" } else { "are" }
                ),
            };
            format!("{stays} until {removed}.{mended}{in_vain}{back}{waiting}{below}")
        }
    };
    let controllers: BTreeSet<String> = holds
        .iter()
        .map(|(finalizer, controller)| {
            format!("{} {}", snapshot.text(*finalizer), controller.manager.as_deref().unwrap_or_default())
        })
        .collect();
    Some(Finding {
        below,
        severity: match code {
            // It takes its time.
            Code::SlowFinalizer
                if !is_unseen
                    && !is_unread
                    && !is_refused
                    && by_manager(case, holds).is_none()
                    && !is_left
                    && lacks(holds).is_empty()
                    && users.to_delete(case).is_empty()
                    && !related.iter().any(|id| snapshot.facts.definition(*id).is_some())
                    && !fails(case, &objects) =>
            {
                Severity::Note
            }
            _ if may_go_on => code.severity().max(Severity::Warning),
            _ => code.severity(),
        },
        message: message
            + match holds.len() {
                _ if !young => "",
                1 => " The controller that removes it may still be working.",
                _ => " The controllers that remove them may still be working.",
            },
        consequence: consequence + &asked_again(case, &objects),
        remedies: remedies(case, code, holds, &users, &fires, &objects, &related),
        related: {
            let lost = fires.losses.objects().filter(|id| !objects.contains(id) && !related.contains(id));
            let lost: Vec<ObjectId> = lost.collect();
            [related, lost].concat()
        },
        objects,
        ..Finding::of(code, one_cause(&controllers))
    })
}

/// What blocks these objects, and what their controllers wait for, if nothing else is known.
fn message(case: &Case<'_>, holds: &[Hold], users: &Users, objects: &[ObjectId]) -> (Vec<ObjectId>, String) {
    let describe = holds.iter().take(NAMED).map(|(finalizer, controller)| {
        let text = case.snapshot().text(*finalizer);
        let evidence = controller.story();
        match controller.name.filter(|name| !evidence.starts_with(name)) {
            Some(name) => format!("{text} ({name} must remove it; {evidence})"),
            None => format!("{text} ({evidence})"),
        }
    });
    let mut describe: Vec<String> = describe.collect();
    describe.extend((holds.len() > NAMED).then(|| format!("{} more", thousands(holds.len() - NAMED))));
    let finalizers = if holds.len() == 1 { "the finalizer" } else { "the finalizers" };
    let before = || objects.iter().find_map(|id| quote(case, holds, objects, *id, false));
    let (below, awaits) = match why(case, holds, users, objects) {
        Some(why) => (Vec::new(), Some(why)),
        None => below(case, holds, objects),
    };
    let why = awaits.or_else(before);
    let why = why.map(|why| format!(" {why}")).unwrap_or_default();
    let blocked = format!("Terminating{}, blocked by {finalizers}", since(case, objects));
    (below, format!("{blocked} {}.{why}", describe.join(" and ")))
}

/// Why the first of some objects for which that is known is not deleted: who uses it, or what its status says. A
/// sentence.
fn why(case: &Case<'_>, holds: &[Hold], users: &Users, objects: &[ObjectId]) -> Option<String> {
    let whose = |id: ObjectId| case.name(id, Some(objects[0]));
    let naming = || {
        let (name, it) = (if users.perhaps.len() == 1 { "names" } else { "name" }, it(objects));
        let named = case.names(&users.perhaps, Some(objects[0]));
        (!users.perhaps.is_empty()).then(|| format!("{named} {name} {it}, and may keep {it}."))
    };
    let why = objects.iter().find_map(|id| {
        let needing = users.needing(*id);
        if !needing.is_empty() {
            return Some(format!("{} waits for {}.", whose(*id), case.names(needing, Some(*id))));
        }
        if let Some(undrained) = holds.iter().find_map(|(_, controller)| controller.undrained.first()) {
            return Some(format!("{}.", undrained.in_words(case.snapshot())));
        }
        let said = case.snapshot().facts.why_not_deleted(*id);
        let is_told = || said.is_some_and(|said| said.forbidden().is_some() || said.missing().is_some());
        if let Some(lacks) = Lack::in_words(lacks(holds), case.snapshot()).filter(|_| !is_told()) {
            let may_be = holds.iter().find_map(|(_, controller)| match controller.acting() {
                [only] if controller.running.is_empty() => Some(case.name(*only, Some(objects[0]))),
                _ => None,
            });
            return Some(format!("{} {lacks}.", may_be.as_deref().unwrap_or("Its controller")));
        }
        if let Some(users) = users.found.get(id) {
            if users.iter().all(|user| case.snapshot().facts.runs_hooks(*user)) {
                let named = case.names(users, Some(*id));
                return Some(format!("{} is a hook of the operation of {named}, which runs.", whose(*id)));
            }
            let taken = users.iter().all(|user| case.snapshot().facts.is_being_taken(*user));
            let until = if taken { " until that is ready to use" } else { "" };
            let said = users.iter().find_map(|user| case.snapshot().facts.why_not_deleted(*user));
            let said = said.map(|said| format!(", whose controller says: {}", said.words)).unwrap_or_default();
            return Some(format!("{} is in use by {}{until}{said}.", whose(*id), case.names(users, Some(*id))));
        }
        quote(case, holds, objects, *id, true)
    });
    why.or_else(naming)
}

/// What is said of an object since its deletion; or what was said before, which is no reason for that. A sentence.
fn quote(case: &Case<'_>, holds: &[Hold], objects: &[ObjectId], id: ObjectId, is_reason: bool) -> Option<String> {
    // A pause is told already.
    let is_paused = holds.iter().any(|(_, controller)| controller.paused.is_some());
    let said = case.snapshot().facts.why_not_deleted(id).filter(|_| !is_paused)?;
    let of = if objects.len() == 1 { String::new() } else { format!("Of {}, ", case.name(id, Some(objects[0]))) };
    let quote = format!("{of}{}: {}.", said.source.speaker(), said.words);
    (said.source.is_of_deletion() == is_reason).then(|| sentence(&quote, true))
}

/// What the first controller lacks that lacks something.
fn lacks(holds: &[Hold]) -> &[Lack] {
    let mut all = holds.iter().map(|(_, controller)| controller.lacks.as_slice());
    all.find(|lacks| !lacks.is_empty()).unwrap_or_default()
}

/// What objects list, and dependents, that are Terminating, too: controllers wait for the first, and some for the
/// others, whatever the owner reference says.
fn below(case: &Case<'_>, holds: &[Hold], objects: &[ObjectId]) -> (Vec<ObjectId>, Option<String>) {
    let acting = || holds.iter().filter(|(_, controller)| !controller.is_away());
    let each = objects.iter().flat_map(|id| acting().map(move |(finalizer, _)| case.awaited(*id, *finalizer)));
    let awaited = sorted(each.flatten());
    if !awaited.is_empty() {
        let are = if awaited.len() == 1 { "which is" } else { "which are" };
        let named = case.names(&awaited, Some(objects[0]));
        return (awaited, Some(format!("Its controller waits for {named}, {are} Terminating.")));
    }
    if !holds.iter().any(|(_, controller)| matches!(controller.liveness, Liveness::Alive(_))) {
        return Default::default();
    }
    let dependents = objects.iter().flat_map(|id| case.graph().dependents((*id).into()).iter().copied());
    let left = sorted(dependents.filter(|id| case.snapshot().object(*id).terminating()));
    let (is, a_dependent) = if left.len() == 1 { ("is", "a dependent") } else { ("are", "dependents") };
    let named = case.names(&left, Some(objects[0]));
    let told = format!("Its controller may wait for {named}: {a_dependent} that {is} Terminating.");
    let told = Some(told).filter(|_| !left.is_empty());
    (left, told)
}

/// Who uses the objects of a finding, and so keeps them (R9.40).
#[derive(Default)]
struct Users {
    found: BTreeMap<ObjectId, Vec<ObjectId>>,
    /// Those that are lost without the object: while they exist, nobody should remove a finalizer by hand.
    needing: BTreeMap<ObjectId, Vec<ObjectId>>,
    /// Those that a controller makes for others, and labels: it takes them away with these.
    made: BTreeSet<ObjectId>,
    /// Those that name an object in their specs: its controller may wait for them (R9.47).
    perhaps: Vec<ObjectId>,
    /// The MutatingAdmissionPolicies that may put a finalizer back, and the webhooks, by configuration.
    putting_back: BTreeMap<ObjectId, Vec<usize>>,
}

impl Users {
    fn of(case: &Case<'_>, holds: &[Hold], objects: &[ObjectId]) -> Users {
        let naming = objects.iter().flat_map(|id| case.stage.named_by(*id)).copied();
        let lives = |user: &ObjectId| !case.snapshot().object(*user).terminating();
        let mut users = Users { perhaps: sorted(naming.filter(lives)), ..Users::default() };
        for (id, (finalizer, _)) in objects.iter().flat_map(|id| holds.iter().map(move |hold| (*id, hold))) {
            let mut keepers = case.stage.users_that_keep(id, *finalizer);
            if keepers.how.is_some_and(|how| how.only_living) {
                keepers.found.retain(lives);
            }
            if keepers.how.is_some_and(|how| how.need_it) {
                users.needing.entry(id).or_default().extend(&keepers.found);
            }
            if keepers.how.is_some_and(|how| matches!(how.naming, Naming::Label(_))) {
                users.made.extend(&keepers.found);
            }
            if !keepers.found.is_empty() {
                let found = keepers.found.into_iter().map(|user| case.stage.known_as(user, |_| true));
                users.found.entry(id).or_default().extend(found);
            }
        }
        // Several finalizers may be there for one.
        for found in users.found.values_mut() {
            *found = each_once(found.iter().copied()).collect();
        }
        users
    }

    fn needing(&self, object: ObjectId) -> &[ObjectId] {
        self.needing.get(&object).map_or(&[], Vec::as_slice)
    }

    fn all(&self) -> Vec<ObjectId> {
        sorted(self.found.values().flatten().copied())
    }

    /// Those that nothing deletes: they must go before what they keep. A VolumeAttachment goes by itself, unless it
    /// fails.
    fn to_delete(&self, case: &Case<'_>) -> Vec<ObjectId> {
        let facts = &case.snapshot().facts;
        let is_idle = |user: &ObjectId| {
            let stays = case.projection.own_state(*user) == Some(State::Stuck);
            !case.snapshot().object(*user).terminating() && (stays || facts.why_not_deleted(*user).is_some())
        };
        let kept = self.found.iter().filter(|(id, _)| self.needing(**id).is_empty());
        sorted(kept.flat_map(|(_, users)| users).copied().filter(is_idle))
    }
}

fn stays(objects: &[ObjectId]) -> &'static str {
    if objects.len() == 1 { "It stays" } else { "They stay" }
}

/// The controllers without a workload that a remedy could start: they are to be installed.
fn to_install(case: &Case<'_>, holds: &[Hold]) -> Option<String> {
    let by_manager = |(finalizer, _): &&Hold| case.lacks_manager_for([*finalizer]).is_some();
    let gone = holds.iter().filter(|hold| hold.1.refused.is_none() && !by_manager(hold));
    let gone: BTreeSet<String> = gone.filter_map(|(_, controller)| controller.to_install(case.snapshot())).collect();
    (!gone.is_empty()).then(|| Vec::from_iter(gone).join(" and "))
}

/// S3: an object deleted in the background keeps its dependents until it is really gone.
fn subtree(case: &Case<'_>, held: &[ObjectId]) -> String {
    let in_background = held.iter().filter(|id| !case.snapshot().object(**id).finalizers.contains(&Symbol::FOREGROUND));
    let below: usize = in_background.map(|id| case.graph().dependents((*id).into()).len()).sum();
    if below == 0 {
        String::new()
    } else {
        format!(" Only then does the collector process its dependents ({}).", objects(below))
    }
}

/// What happens once a controller removes a finalizer.
struct Fires {
    /// Effects outside the graph, in words, with the number of objects that have them.
    outside: Vec<(String, usize)>,
    /// Whether these are about objects of a cluster that the controller deletes itself, and nothing else (R9.38).
    are_objects: bool,
    /// Objects that the collector then deletes, in addition to the blocked ones.
    inside: Vec<ObjectId>,
    /// The data that goes with these, and with blocked claims, whoever removes the finalizer; and beside something
    /// else, what a controller may delete of which nobody knows what it does.
    losses: Losses,
}

impl Fires {
    /// `away`: whether nothing of it happens as things are. Otherwise, what goes inside is told elsewhere.
    /// `unmanned`: whether nobody is seen who could make it happen; the data that goes is told elsewhere, too.
    fn of(case: &Case<'_>, held: &[ObjectId], finalizers: &[Symbol], away: bool, unmanned: bool) -> Self {
        // Whoever removes the finalizer: the volume of a claim goes with it, and what a snapshot has stored.
        let is_claim = |id: &ObjectId| {
            let (resource, built_in) = (Some(case.snapshot().object(*id).resource), case.stage.built_in);
            resource == built_in.claims || resource == built_in.volume_snapshots
        };
        let claims = || held.iter().copied().filter(is_claim);
        let effects = effects_of(case.stage, held);
        let mut outside: BTreeMap<String, FxHashSet<ObjectId>> = BTreeMap::new();
        let mut are_objects = true;
        let is_outside = |effect: &OutsideEffect| effect.severity() == Severity::Error && !is_claim(&effect.object);
        let is_unknown = |effect: &&OutsideEffect| effect.kind == EffectKind::Unknown && !is_claim(&effect.object);
        let unknown: Vec<OutsideEffect> = effects.iter().filter(is_unknown).cloned().collect();
        for effect in effects.into_iter().filter(is_outside) {
            are_objects &= effect.kind == EffectKind::ObjectsDeleted;
            outside.entry(effect.message.into_owned()).or_default().insert(effect.object);
        }
        let outside = outside.into_iter().map(|(words, objects)| (words, objects.len())).collect();
        if !away && !unmanned {
            return Fires { losses: Losses::default(), outside, are_objects, inside: Vec::new() };
        }
        let each = |id: &ObjectId| finalizers.iter().map(|finalizer| (*id, *finalizer)).collect::<Vec<_>>();
        let released: Vec<(ObjectId, Symbol)> = held.iter().flat_map(each).collect();
        let after = Projection::released(case.stage, &released);
        let live = |id: &ObjectId| !case.snapshot().object(*id).terminating();
        let with_claims = after.log.iter().filter(|change| matches!(change.cause, Cause::ClaimGone(_)));
        let with_claims: FxHashSet<ObjectId> = with_claims.map(|change| change.object).collect();
        let is_inside = |id: &ObjectId| live(id) && !case.projection.goes(*id) && !with_claims.contains(id);
        let mut inside: Vec<ObjectId> = after.all_leaving().filter(is_inside).collect();
        inside.sort_unstable();
        if !away {
            return Fires { losses: Losses::default(), outside, are_objects, inside };
        }
        // What the controller deletes itself, and what goes with that.
        let below = case.goes_below_later(held);
        let going = inside.iter().copied().chain(claims()).chain(below);
        let mut fires = Fires { losses: Losses::of(case, going), outside, are_objects, inside };
        if !fires.is_nothing() {
            fires.losses.extend_by_unknown(case, unknown);
        }
        fires
    }

    fn is_nothing(&self) -> bool {
        self.outside.is_empty() && self.inside.is_empty() && self.losses.is_nothing()
    }

    fn describe(&self, held: &[ObjectId]) -> String {
        let mut describe = Vec::new();
        for (words, number) in &self.outside {
            let of = if held.len() == 1 { String::new() } else { format!(" (for {})", objects(*number)) };
            describe.push(format!("{words}{of}"));
        }
        if !self.inside.is_empty() {
            let inside = count(self.inside.len(), "existing object", "existing objects");
            describe.push(format!("the collector deletes {inside}"));
        }
        if describe.is_empty() {
            return if held.len() == 1 { "it is deleted".to_owned() } else { "they are deleted".to_owned() };
        }
        describe.join(", and ")
    }
}

/// Where nobody is seen who removes a finalizer, and not all workloads were read: its controller may run.
fn look_for_controller(case: &Case<'_>, code: Code, holds: &[Hold], objects: &[ObjectId]) -> Vec<Remedy> {
    let is_unread = |(_, controller): &Hold| {
        let is_told = !controller.may_be.is_empty() || !controller.lacks.is_empty();
        matches!(controller.liveness, Liveness::Unread(_)) && !is_told
    };
    // What a controller that can't start needs, its workload says.
    let is_there = holds.iter().any(|(_, controller)| !controller.failing.is_empty());
    let gone = to_install(case, holds).filter(|_| code != Code::ArmedDeletion && !is_there);
    if let Some(gone) = gone {
        return vec![case.commands().install(&gone)];
    }
    let kind = case.snapshot().resource(objects[0]);
    let has_names = |(finalizer, _): &Hold| {
        add_on(case.snapshot().text(*finalizer), &kind.group, &kind.kind).is_some_and(AddOn::has_names)
    };
    let is_open = !are_all_read(case.stage) && holds.iter().any(is_unread);
    let is_outside = holds.iter().all(|(_, controller)| controller.outside);
    let elsewhere = objects.iter().take(1).filter_map(|id| case.commands().about("describe", *id));
    let elsewhere = Step::Look.by("see its Events: its controller may run outside of the cluster", elsewhere);
    let what = match is_outside {
        true => "if its controller runs in the cluster, find it: its log then says why it waits",
        false => "see whether its controller runs: its log then says why it waits",
    };
    let find = Step::Look.by(what, [case.commands().see_workloads()]);
    let ways = [(elsewhere, is_outside), (find, !is_outside || holds.iter().any(has_names))];
    ways.into_iter().filter(|(_, fits)| is_open && *fits).map(|(way, _)| way).collect()
}

fn remedies(
    case: &Case<'_>,
    code: Code,
    holds: &[Hold],
    users: &Users,
    fires: &Fires,
    objects: &[ObjectId],
    related: &[ObjectId],
) -> Vec<Remedy> {
    let (snapshot, commands, putting_back) = (case.snapshot(), case.commands(), &users.putting_back);
    let finalizers: Vec<Symbol> = holds.iter().map(|(finalizer, _)| *finalizer).collect();
    let start = holds.iter().filter_map(|(_, controller)| controller.idle);
    let mut start: Vec<ShellCommand> = start.filter_map(|workload| commands.scale_up(workload)).collect();
    let controllers: Vec<&FinalizerController> = holds.iter().map(|(_, controller)| &**controller).collect();
    let asks = commands.ask(&controllers);
    let mut remedies = Vec::new();
    let resume = resume(case, code, holds, objects, &start);
    // Alone, that changes nothing.
    start.retain(|_| resume.as_ref().is_none_or(|resume| resume.step == Step::Look));
    remedies.extend(resume);
    remedies.extend(fires.losses.keep(case));
    let lacks_manager = case.lacks_manager_for(finalizers.iter().copied()).is_some();
    let start_manager = || Remedy { step: starting(code), ..commands.start_manager() };
    remedies.extend(lacks_manager.then(|| start_manager().deciding(code == Code::ArmedDeletion)));
    let is_left = holds.iter().any(|(_, controller)| controller.is_left) && !lacks_manager;
    remedies.extend(is_left.then(|| commands.see_manager()));
    // What an armed controller does has to be decided first.
    if code != Code::ArmedDeletion {
        // Much may go with what a controller does once it is started.
        let perhaps = if fires.outside.is_empty() { Step::Heal } else { Step::GiveUp };
        remedies.extend(commands.heal(&controllers, refused(case.stage, objects[0]), objects[0], perhaps));
    }
    let look_for = look_for_controller(case, code, holds, objects);
    let is_looked_for = !look_for.is_empty();
    remedies.extend(look_for);
    let needed: Vec<ObjectId> = objects.iter().copied().filter(|id| !users.needing(*id).is_empty()).collect();
    let back_up = needed.iter().filter_map(|id| commands.get(*id));
    remedies.push(Step::Look.by(format!("back {} up", it(&needed)), back_up));
    let is_quoted = objects.iter().any(|id| snapshot.facts.why_not_deleted(*id).is_some());
    let is_known = !users.to_delete(case).is_empty() || is_quoted && !asks[0].commands.is_empty();
    let look = objects.iter().take(1).filter_map(|id| commands.about("describe", *id));
    let by_manager = by_manager(case, holds).filter(|_| code == Code::SlowFinalizer && !lacks_manager);
    // The refusal is quoted already, and tells who has to be asked.
    let past_denial = past_denial(case, objects);
    if by_manager.is_some() {
        remedies.extend((!is_left).then(|| commands.see_manager()));
    } else if code == Code::StuckFinalizer && has_spoken_of(case, holds, objects) && past_denial.is_empty() {
        remedies
            .push(Step::Look.by("mend what its controller says: it tries again. See whether it still says that", look));
        remedies.push(Step::Look.by("find its controller, and see what its log says", [commands.see_workloads()]));
    } else if code == Code::SlowFinalizer
        && needed.is_empty()
        && !is_known
        && !is_looked_for
        && !is_left
        && past_denial.is_empty()
    {
        remedies.push(match is_quoted && !case.live {
            true => Step::Look.by("find its controller, and see what its log says", [case.commands().see_workloads()]),
            false => Step::Look.by("check the object's status and its controller", look),
        });
    }
    let mut first = users.to_delete(case);
    first.retain(|user| !users.made.contains(user));
    let goes = if objects.len() == 1 { "it goes" } else { "they go" };
    let named = case.names(&first, objects.first().copied());
    let plans = first.iter().take(NAMED).filter_map(|user| commands.plan(*user));
    remedies.push(Step::Heal.by(format!("delete {named} first: then {goes}. See what that takes along"), plans));
    let naming = case.names(&users.perhaps, objects.first().copied());
    let (they_may, wait) = if users.perhaps.len() == 1 { ("it may", "that") } else { ("they may", "them") };
    let plans = users.perhaps.iter().take(NAMED).filter_map(|user| commands.plan(*user));
    let first =
        format!("delete {naming} first, if {they_may} go: the controller may wait for {wait}. See what goes then");
    remedies.push(Step::Look.by(first, plans));
    let users = users.all();
    let ends = json!({"status": {"operationState": {"phase": "Terminating"}}});
    let operations = users.iter().filter(|user| case.snapshot().facts.runs_hooks(**user));
    let end = operations.filter_map(|user| commands.merge(*user, &ends));
    remedies.push(Step::Heal.by("end the operation", end));
    if past_denial.is_empty() {
        remedies.extend(asks);
        remedies.extend(see_refusers(case, objects));
    }
    remedies.extend(past_denial);
    let mut waiting = waiting_in_the_foreground(case, related);
    // What has a finalizer of its own, which nobody is known to remove, stays all the same.
    waiting.retain(|owner| !matches!(case.projection.own_state(*owner), Some(State::Stuck | State::Unknown)));
    if !waiting.is_empty() {
        let (owners, which, no_longer) = if waiting.len() == 1 {
            ("owner", "it", "it no longer waits")
        } else {
            ("owners", "them", "they no longer wait")
        };
        let unblock = format!(
            "unblock the {owners}: delete {which} again with --cascade=background, so that {no_longer} for {}",
            it(objects)
        );
        let again = commands.delete(&waiting, "background", &[]);
        remedies.push(Remedy { frees: waiting, ..Step::GiveUp.by(unblock, again) });
    }
    let (outside, are_left) = match (fires.are_objects, objects.len()) {
        (true, _) => ("the objects that its controller would delete", "these objects are kept"),
        (false, 1) => ("the external resource", "the external resource is left behind"),
        (false, _) => ("the external resources", "the external resources are left behind"),
    };
    let then = if start.is_empty() { "" } else { ", then start the controller" };
    if !fires.outside.is_empty() {
        let keep: Vec<ShellCommand> = objects.iter().filter_map(|id| commands.keep_outside(*id)).collect();
        let then_start = start.iter().filter(|_| !keep.is_empty());
        let is_absent = holds.iter().any(|(_, controller)| controller.is_away() && controller.idle.is_none());
        let removes = match is_absent && start.is_empty() {
            true => ", then install its controller again: it removes",
            false if start.is_empty() => ": its controller then removes",
            false => ": it then removes",
        };
        let them = if fires.are_objects || objects.len() > 1 { "them" } else { "it" };
        let keep = keep.iter().chain(then_start).cloned();
        let what = format!("keep {outside}{then}{removes} the finalizer without deleting {them}");
        // Where nothing fails, its controller is at it.
        let is_at_it = code == Code::SlowFinalizer && !fails(case, objects) && lacks(holds).is_empty();
        let step = if is_at_it { Step::GiveUp } else { Step::Heal };
        remedies.push(step.by(what, keep).deciding(code != Code::ArmedDeletion));
    }
    let spared = if code == Code::ArmedDeletion { sparing(case, &fires.inside, objects) } else { Vec::new() };
    let keep = match objects.len() {
        1 => "keep its dependents: remove their references to it",
        _ => "keep their dependents: remove the references to them",
    };
    let then_start = start.iter().filter(|_| !spared.is_empty());
    remedies.push(Step::Heal.by(format!("{keep}{then}"), spared.iter().chain(then_start).cloned()));
    let fire = Step::GiveUp.by(format!("start the controller; then {}", fires.describe(objects)), start).deciding(true);
    remedies.extend(Some(fire).filter(|_| code == Code::ArmedDeletion));
    let force = forcing(holds.len());
    let force = match holds.iter().any(|(_, controller)| controller.in_vain) {
        true => format!("do by hand what it would have cleaned up, then {force}"),
        false => force.to_owned(),
    };
    let depending = |number| {
        let what = count(number, "object that depends", "objects that depend");
        format!("{what} on {}", it(objects))
    };
    let harm = match (code, fires.inside.len()) {
        (_, inside) if !fires.outside.is_empty() => {
            let then =
                if inside == 0 { String::new() } else { format!("; the collector then deletes {}", depending(inside)) };
            format!("{force}: {are_left}{then}")
        }
        (Code::ArmedDeletion, 0) => format!("{force}: the data is lost all the same"),
        (_, inside) if inside > 0 => format!("{force}: the collector then deletes {}", depending(inside)),
        _ => force,
    };
    if let Some(namespace) = objects.iter().find_map(|id| case.unlisted_namespace_of(*id)) {
        let what = format!(
            "see whether namespace {namespace} exists, as the dump has only others: if not, create it, because the API \
             server answers changes in it with 404"
        );
        let get = case.kubectl.verb("get").object("namespaces", "", namespace);
        remedies.push(Step::First.by(what, get).before_others());
    }
    let free = objects.iter().filter(|id| !needed.contains(id));
    let strip = free.flat_map(|id| commands.remove_finalizers(*id, &finalizers));
    let strip: Vec<ShellCommand> = exempt(case, putting_back, objects).into_iter().chain(strip).collect();
    // A second delete of these does nothing, or something else.
    let is_orphaned = |id: &ObjectId| {
        let rules = case.stage.rules(*id);
        rules.own_delete == OwnDelete::Generic && !rules.graceful
    };
    let spares = !sparing(case, &fires.inside, objects).is_empty() && objects.iter().all(is_orphaned);
    if code == Code::StuckFinalizer && spares {
        let orphan = commands.delete(objects, "orphan", &[]);
        let all = (!orphan.is_empty()).then(|| one_after_another(orphan.into_iter().chain(strip.clone())));
        let what = match objects.len() {
            1 => "keep its dependents: delete it again with --cascade=orphan, then remove its finalizer",
            _ => "keep their dependents: delete them again with --cascade=orphan, then remove their finalizers",
        };
        remedies.push(Step::Force.by(format!("{what} (its cleanup will NOT run)"), all.flatten()));
    }
    let harm = match putting_back.len() {
        0 => harm,
        _ => {
            let names: Vec<ObjectId> = putting_back.keys().copied().collect();
            let kinds: BTreeSet<&str> = objects.iter().map(|id| snapshot.resource(*id).plural.as_str()).collect();
            let kinds: Vec<&str> = kinds.into_iter().collect();
            format!("exempt {} from {}, then {harm}", some_of(&kinds), case.names(&names, None))
        }
    };
    remedies.push(Step::Force.by(harm, strip));
    remedies
}

/// Whether something is said of an object since its delete that shows that the controller of one of these has run.
fn has_spoken_of(case: &Case<'_>, holds: &[Hold], objects: &[ObjectId]) -> bool {
    let spoken = |id: &ObjectId| holds.iter().any(|(finalizer, _)| has_spoken(case.snapshot(), *id, *finalizer));
    objects.iter().any(spoken)
}

/// The controller of Kubernetes' own that removes the first of these, if kube-controller-manager runs them all.
fn by_manager(case: &Case<'_>, holds: &[Hold]) -> Option<&'static str> {
    let is_its = |(finalizer, _): &Hold| is_removed_by_controller_manager(case.snapshot().text(*finalizer));
    let is_own = |hold: &&Hold| matches!(hold.1.liveness, Liveness::Unknown(_)) && hold.1.name.is_some();
    holds.iter().all(is_its).then(|| holds.first().filter(is_own)?.1.name)?
}

/// What it is to let a controller work: if much goes with it then, something is given up.
fn starting(code: Code) -> Step {
    if code == Code::ArmedDeletion { Step::GiveUp } else { Step::Heal }
}

/// Lets the controllers that leave these objects alone go on; or shows what they wait for.
fn resume(case: &Case<'_>, code: Code, holds: &[Hold], objects: &[ObjectId], start: &[ShellCommand]) -> Option<Remedy> {
    let paused = holds.iter().filter_map(|(_, controller)| controller.paused.as_ref());
    let place = |paused: &'_ Paused, object: &ObjectId| paused.with.unwrap_or(*object);
    let places = paused.flat_map(|paused| objects.iter().map(move |object| (place(paused, object), &paused.pause)));
    let places: BTreeSet<(ObjectId, &Pause)> = places.collect();
    if places.is_empty() {
        return None;
    }
    let commands = places.into_iter().filter_map(|(id, pause)| {
        let deleted = case.snapshot().object(id).deleted.get().map(rfc3339);
        case.commands().merge(id, &pause.resuming(deleted.as_deref())?)
    });
    let commands: Vec<ShellCommand> = commands.collect();
    if commands.is_empty() {
        let look = objects.iter().take(1).filter_map(|id| case.commands().get(*id));
        return Some(Step::Look.by("see what it waits for, and delete that, with all data in it", look));
    }
    let is_approval = |(_, controller): &Hold| {
        controller.paused.as_ref().is_some_and(|paused| matches!(paused.pause, Pause::Approval(_)))
    };
    let resume = match holds.iter().any(is_approval) {
        true => "approve it",
        false if start.is_empty() => "resume it",
        false => "resume it, and start its controller",
    };
    let commands = commands.into_iter().chain(start.iter().cloned());
    let then = match code {
        Code::ArmedDeletion => format!("{resume}: its controller then does all of that"),
        _ => resume.to_owned(),
    };
    Some(starting(code).by(then, commands).deciding(code == Code::ArmedDeletion))
}

/// The commands that remove these objects' references to blocked objects, if they have any.
fn sparing(case: &Case<'_>, spared: &[ObjectId], held: &[ObjectId]) -> Vec<ShellCommand> {
    let snapshot = case.snapshot();
    let uids: FxHashSet<Symbol> = held.iter().map(|id| snapshot.object(*id).uid).collect();
    let places = |id: ObjectId| -> Vec<usize> {
        let owners = &snapshot.object(id).owners;
        (0..owners.len()).filter(|place| uids.contains(&owners[*place].uid)).collect()
    };
    spared.iter().flat_map(|id| case.commands().drop_references(*id, &places(*id))).collect()
}
