//! Deletions that go on normally. Nothing is well before they are done, so the doctor says what they wait for.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::{
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder, sorted},
        refusers::{named_with, past_denial, who_is_asked_about, who_may_refuse},
    },
    document::rfc3339,
    model::{
        ObjectId, Presence, ResourceId, Symbol,
        effects::{Severity, protected_for},
        facts::VolumeFacts,
    },
    simulate::{
        BlockedBy, Blockers, COLLECTOR_OVERDUE, Controllers, FinalizerController, Kubelet, LATE, Projection,
        SimContext, State, is_removed_by_controller_manager,
        obstacles::{Operation, bound_policies, webhook_calls},
    },
    wording::{age, some_of},
};

use super::concern::{fails, forcing, it, sentence, since, waiting_in_the_foreground};

/// At most this many reasons are given for one object.
const NAMED: usize = 3;

/// Objects of one kind that the same things block.
type Group = (ResourceId, State, Vec<String>, bool);

/// Finds terminating objects in scope that no finding is about.
pub(in crate::doctor) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let untold = untold(case, &findings.findings);
    findings.findings.extend(untold);
}

/// Findings about the terminating objects in scope that these findings are not about.
pub(in crate::doctor) fn untold(case: &Case<'_>, findings: &[Finding]) -> Vec<Finding> {
    let snapshot = case.snapshot();
    let reported = findings.iter().filter(|finding| case.limit.takes(snapshot, finding));
    let told: FxHashSet<ObjectId> =
        reported.flat_map(|finding| finding.objects.iter().chain(&finding.related)).copied().collect();
    let is_untold = |id: &ObjectId| {
        snapshot.object(*id).terminating() && !told.contains(id) && case.limit.asks_about(snapshot, *id)
    };
    let untold: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_untold).collect();
    if untold.is_empty() {
        return Vec::new();
    }
    let now = Blockers::now(case.stage);
    // What the API server refuses to the collector keeps these, too.
    let stage = SimContext::new(snapshot, case.graph(), case.stage.assume).at(case.now).with_refused_writes();
    let end = Projection::of(&stage);
    case.stage.lacks(|needs| needs.add(&stage.needs()));
    let course = Course { now: &now, end: &end };
    let mut groups: BTreeMap<Group, Vec<ObjectId>> = BTreeMap::new();
    for id in untold {
        let progress = course.of(id);
        let names = progress.holders.iter().map(|holder| holder.name(snapshot).to_owned());
        let group = (
            snapshot.object(id).resource,
            progress.state,
            names.collect::<BTreeSet<_>>().into_iter().collect(),
            progress.waits_for.is_empty(),
        );
        groups.entry(group).or_default().push(id);
    }
    let finding = |((resource, state, names, alone), objects): (Group, Vec<ObjectId>)| {
        let cause =
            format!("{} {} {} {alone}", snapshot.resources.get(resource).full_name(), state.name(), names.join(" "));
        finding(case, &course, cause, state, objects)
    };
    groups.into_iter().map(finding).collect()
}

/// What an object waits for.
struct Progress<'p> {
    state: State,
    waits_for: &'p [ObjectId],
    holders: Vec<BlockedBy>,
    controllers: &'p Controllers,
}

/// What blocks objects now, and in the end.
struct Course<'p> {
    now: &'p Blockers,
    end: &'p Projection,
}

impl<'p> Course<'p> {
    fn of(&self, id: ObjectId) -> Progress<'p> {
        let Course { now, end } = *self;
        // What goes by itself waits for something only now.
        let (waits_for, holders, controllers, state) = if end.goes(id) {
            (now.waits_for(id), now.holders(id), now.controllers(), State::Waiting)
        } else {
            (end.waits_for(id), end.holders(id), end.controllers(), end.state(id))
        };
        Progress { state, waits_for, holders: holders.to_vec(), controllers }
    }
}

fn finding(case: &Case<'_>, course: &Course<'_>, cause: String, state: State, objects: Vec<ObjectId>) -> Finding {
    let snapshot = case.snapshot();
    let first = objects[0];
    let progress = course.of(first);
    let mut reasons: Vec<String> = progress
        .holders
        .iter()
        .take(NAMED)
        .map(|holder| match holder {
            BlockedBy::Finalizer(Symbol::FOREGROUND) => "the collector must delete its dependents".to_owned(),
            BlockedBy::Finalizer(Symbol::ORPHAN) => "the collector must orphan its dependents".to_owned(),
            _ => holder.describe(snapshot, first, progress.state, progress.controllers),
        })
        .collect();
    let mut related = sorted(objects.iter().flat_map(|id| course.of(*id).waits_for.iter().copied()));
    related.retain(|id| objects.binary_search(id).is_err());
    if !progress.waits_for.is_empty() {
        let taken = progress.waits_for.iter().all(|id| snapshot.facts.is_being_taken(*id));
        let until = match progress.waits_for.iter().all(|id| snapshot.facts.runs_hooks(*id)) {
            true => " to end its operation",
            false if taken => " to be ready to use",
            false => "",
        };
        let said = progress.waits_for.iter().find_map(|id| snapshot.facts.why_not_deleted(*id));
        let said = said.map(|said| format!(", whose controller says: {}", said.words)).unwrap_or_default();
        reasons.push(format!("it waits for {}{until}{said}", case.names(progress.waits_for, Some(first))));
    }
    // Bound, it keeps its finalizer.
    let bound = objects.iter().map(|id| bound_to(case, *id)).collect::<Option<Vec<_>>>();
    let bound = bound.and_then(|claims| claims.first().copied());
    let claim = bound.filter(|_| progress.waits_for.is_empty());
    let is_lost = |id: &&ObjectId| snapshot.facts.volume(**id).is_some_and(VolumeFacts::goes_with_its_claim);
    let lost: Vec<ObjectId> = objects.iter().filter(|_| bound.is_some()).filter(is_lost).copied().collect();
    if let Some((namespace, name, is_read)) = claim {
        let unread = match is_read {
            true => "",
            false if case.live => ", which could not be read",
            false => ", which is not in the dump",
        };
        reasons.push(format!("it is bound to PersistentVolumeClaim/{name} -n {namespace}{unread}"));
    }
    if reasons.is_empty() {
        reasons.push("the API server or the collector is about to remove it".to_owned());
    }
    let said = case.stage.still_said_to_keep(first);
    let is_untold = |words: &String| !reasons.iter().any(|reason| reason.contains(words));
    let left: Vec<String> = said.iter().map(|condition| condition.in_words()).filter(is_untold).collect();
    reasons.extend(left.into_iter().map(|words| format!("the API server says {words}")));
    let whose = if objects.len() == 1 { String::new() } else { format!(" {}:", case.name(first, Some(first))) };
    let goes = if objects.len() == 1 { "It goes" } else { "They go" };
    let is_untimed = case.is_untimed(first);
    let own = progress.holders.iter().find_map(|holder| holder.controller(snapshot, first)).map(str::to_owned);
    let seen = progress.holders.iter().filter_map(|holder| progress.controllers.get(first, *holder));
    let seen: Vec<&FinalizerController> = seen.filter(|controller| controller.runs()).collect();
    let own = own.or_else(|| seen.first().and_then(|controller| controller.told(snapshot)));
    let is_kubelet = progress.holders.iter().any(|holder| matches!(holder, BlockedBy::Kubelet(Kubelet::Unread)));
    let is_claim = Some(snapshot.object(first).resource) == case.stage.built_in.claims;
    let of_collector = progress.holders.iter().any(|by| by.finalizer().is_some_and(|it| it.is_collectors_finalizer()));
    let is_foreground = progress.holders.contains(&BlockedBy::Finalizer(Symbol::FOREGROUND));
    let waits_for_hidden = !snapshot.may_hide_blockers(&objects).is_empty();
    let grace = long_grace(case, first);
    // What it waits for waits for it.
    let waits_in_turn = protected_by(case, progress.waits_for, first);
    let user = user_of(case, first);
    // What makes it hang if its time is over.
    let hangs = match own {
        _ if !is_untimed || !progress.waits_for.is_empty() || claim.is_some() => None,
        _ if waits_for_hidden && !snapshot.is_namespace(first) || grace.is_some() => None,
        _ if is_kubelet => Some("its kubelet does not answer".to_owned()),
        _ if of_collector => Some("the collector does not act".to_owned()),
        Some(_) if is_claim => Some("a pod that is not in the dump uses it".to_owned()),
        Some(ref own) => Some(format!("{own} does not act, or the API server refuses what it does")),
        None => progress
            .holders
            .contains(&BlockedBy::SpecFinalizers)
            .then(|| "the namespace controller makes no progress".to_owned()),
    };
    // A controller of Kubernetes' own has had its time.
    let is_late = state == State::Waiting
        && progress.waits_for.is_empty()
        && objects.iter().all(|id| case.has_been_terminating(*id, COLLECTOR_OVERDUE));
    let foreign = progress.holders.iter().filter_map(|holder| holder.finalizer());
    let foreign: Vec<Symbol> = foreign.filter(|finalizer| !finalizer.is_collectors_finalizer()).collect();
    let calls = if is_late || !foreign.is_empty() { webhook_calls(case.stage) } else { Vec::new() };
    let asked = match is_late {
        true => who_may_refuse(case, &calls, &bound_policies(case.stage), first, Operation::Update),
        // What is soon done needs no doubt about what is asked about everything.
        false => who_is_asked_about(case, &calls, first).into_iter().map(|call| named_with(case, call)).collect(),
    };
    let may_refuse = match asked.as_slice() {
        [] => String::new(),
        [one] => format!(" {one} is asked about that, and may refuse it."),
        all => format!(" These are asked about that, and may refuse it: {}.", some_of(all, NAMED)),
    };
    let finalizers: Vec<Symbol> = progress.holders.iter().filter_map(|holder| holder.finalizer()).collect();
    // What others remove may take long.
    let is_prompt = finalizers
        .iter()
        .all(|it| it.is_collectors_finalizer() || is_removed_by_controller_manager(snapshot.text(*it)));
    let try_it = case.commands().remove_finalizers(first, &finalizers).into_iter();
    let is_tried = !asked.is_empty() && is_late || hangs.is_some() && own.is_some() && !is_claim;
    let try_it = try_it.filter(|_| is_tried).map(|command| command.arg("--dry-run=server"));
    let try_it = Step::Look.by("see whether the API server refuses that; nothing is changed", try_it);
    // What can't be attached because its volume is being deleted never goes by itself.
    let is_idle = |id: &ObjectId| !snapshot.object(*id).terminating() && snapshot.facts.why_not_deleted(*id).is_some();
    let first_to_go: Vec<ObjectId> = progress.waits_for.iter().copied().filter(is_idle).collect();
    let delete = first_to_go.iter().take(NAMED).filter_map(|id| case.commands().plan(*id));
    let named = case.names(&first_to_go, Some(first));
    let delete = Step::Heal.by(format!("delete {named} first: then it goes. See what that takes along"), delete);
    let lacks_manager = case.lacks_manager_for(finalizers.iter().copied());
    Finding {
        message: format!(
            "Terminating{}.{whose} {}.{may_refuse}",
            since(case, &objects),
            sentence(&reasons.join("; "), whose.is_empty())
        ),
        severity: if (asked.is_empty() || !is_late)
            && state != State::Stuck
            && !fails(case, &objects)
            && !waits_in_turn
            && lost.is_empty()
        {
            Severity::Note
        } else {
            Severity::Warning
        },
        remedies: {
            let start = lacks_manager.iter().map(|_| case.commands().start_manager());
            let pods = snapshot.facts.pod(first).and_then(|facts| facts.node.as_deref()).filter(|_| hangs.is_some());
            let node = pods
                .filter(|_| is_kubelet)
                .and_then(|node| case.commands().look_at_node(node, "see whether its node is ready"));
            let is_long = is_untimed || objects.iter().all(|id| case.has_been_terminating(*id, LATE));
            let users = case.commands().about("describe", first).filter(|_| is_long && is_claim);
            let users = users.filter(|_| progress.waits_for.is_empty());
            let users = Step::Look.by("see which pods use it (\"Used By\")", users);
            let describe = |(namespace, name, _): (&str, &str, bool)| {
                case.kubectl.verb("describe").object("persistentvolumeclaims", "", name)?.in_namespace(namespace)
            };
            let exists = match bound {
                Some((_, _, true)) => "see which pods use that claim (\"Used By\")",
                _ => "see whether that claim exists, and which pods use it (\"Used By\")",
            };
            let claim = Step::Look.by(exists, bound.and_then(describe));
            let is_definition = Some(snapshot.object(first).resource) == case.stage.built_in.definitions;
            let left = match is_definition {
                true => Step::Look.by(
                    "see which custom resources are left; then explain one of them",
                    [case.kubectl.verb("get").args([snapshot.name(first), "--all-namespaces"])],
                ),
                false => Step::Look.by("see what its conditions say is left in it", case.commands().get(first)),
            };
            let is_unseen = is_long && progress.waits_for.is_empty() && said.is_empty();
            let left = Some(left).filter(|_| is_unseen && (is_definition || snapshot.is_namespace(first)));
            let keep_data = case.commands().keep_volumes(lost.iter().copied());
            // R1.21: this takes the finalizer away.
            let deep = waiting_in_the_foreground(case, &objects);
            let again = case.commands().delete(&deep, "background", &[]).into_iter();
            let waits_in_vain = waits_in_turn || is_foreground && progress.waits_for.is_empty();
            let again = again.filter(|_| is_long && waits_in_vain);
            let it_waits = if deep.len() == 1 { "it waits" } else { "they wait" };
            let what = format!("delete {} again in the background: then {it_waits} for no dependent", it(&deep));
            let again = Step::Heal.by(what, again);
            let sooner = case.commands().delete(&objects, "background", &["--grace-period=30"]).into_iter();
            let sooner = sooner.filter(|_| grace.is_some());
            let sooner = Step::GiveUp.by("shorten that, if its containers need no more than 30 seconds", sooner);
            let keep = objects.iter().filter_map(|id| case.commands().keep_outside(*id));
            let what = "keep what its controller deletes with it: the finalizer then goes without that";
            let keep = Step::GiveUp.by(what, keep).deciding(true);
            let past_denial = past_denial(case, &objects);
            let is_asked = hangs.is_some() && past_denial.is_empty();
            let asks = case.commands().ask(&seen).into_iter().filter(|_| is_asked);
            let strip = objects.iter().flat_map(|id| case.commands().remove_finalizers(*id, &foreign));
            let strip = strip.filter(|_| hangs.is_some() && !seen.is_empty());
            let force = Step::Force.by(forcing(foreign.len()), strip);
            let first = keep_data.into_iter().chain(start).chain(node).chain(past_denial).chain(asks);
            let others = [delete, users, claim].into_iter().chain(left).chain([again, try_it, sooner, keep, force]);
            first.chain(others).collect()
        },
        consequence: match state {
            _ if let Some((seconds, end)) = grace => format!(
                "{goes} when {} containers have ended, at {} at the latest, after a grace period of {}.",
                if objects.len() == 1 { "its" } else { "their" },
                rfc3339(end),
                age(seconds)
            ),
            State::Waiting | State::Unknown if let Some(hangs) = &hangs => {
                let within = if is_prompt { ", mostly within a minute" } else { "" };
                format!(
                    "{goes} once that is done{within}. Nothing in the dump tells whether that is over; if it is, \
                     {hangs}."
                )
            }
            State::Waiting | State::Unknown if bound.is_some() => {
                let with = if lost.is_empty() { "" } else { ", with all data (reclaim policy Delete)" };
                match objects.len() {
                    1 => format!("It goes once that claim is gone{with}. Nobody can take a delete back."),
                    _ => format!("They go once their claims are gone{with}. Nobody can take a delete back."),
                }
            }
            State::Waiting if waits_in_turn => {
                let them = case.names(progress.waits_for, Some(first));
                let wait = if progress.waits_for.len() == 1 { "waits" } else { "wait" };
                format!("It stays: {them} {wait} for it in turn.")
            }
            State::Waiting if let Some(user) = user => {
                format!("It goes once {} is gone, for which it protects another object.", case.name(user, Some(first)))
            }
            State::Waiting if waits_for_hidden => {
                format!("{goes} once that is done. Dependents that could not be read may keep {}.", it(&objects))
            }
            State::Waiting if let Some(why) = &lacks_manager => {
                format!("{goes} only once kube-controller-manager runs, and that is done. None seems to run: {why}.")
            }
            State::Waiting if !asked.is_empty() => format!("{goes} only if that is allowed."),
            State::Waiting if said.is_empty() && !objects.iter().any(|id| course.end.uncertain(*id)) => {
                format!("{goes} once that is done. Nothing else keeps {}.", it(&objects))
            }
            State::Waiting => format!("{goes} once that is done."),
            State::Unknown => format!("{goes} once that is done. What was read does not tell whether it will be."),
            State::Stuck => {
                format!("{goes} once that is done, but nothing that was read finishes it: explain says what holds it.")
            }
        },
        objects,
        related,
        ..Finding::of(Code::DeletionInProgress, cause)
    }
}

/// The namespace and name of the claim that a volume is bound to, and whether that was read: it keeps the volume,
/// whoever deletes that. `None` if it is known to be gone.
fn bound_to<'c>(case: &Case<'c>, volume: ObjectId) -> Option<(&'c str, &'c str, bool)> {
    let snapshot = case.snapshot();
    let facts = snapshot.facts.volume(volume).filter(|facts| facts.phase.as_deref() == Some("Bound"))?;
    let (namespace, name) = facts.claim_name()?;
    match case.stage.built_in.claims.map(|claims| snapshot.look_up_named(claims, namespace, name)) {
        Some(Presence::Absent) => None,
        found => Some((namespace, name, matches!(found, Some(Presence::Present(_))))),
    }
}

/// Whether these protect something for a user (R9.48), and wait for that.
fn protected_by(case: &Case<'_>, protectors: &[ObjectId], user: ObjectId) -> bool {
    let snapshot = case.snapshot();
    let name = protected_for(&snapshot.resource(user).kind, snapshot.name(user));
    let waits = |id: &ObjectId| snapshot.facts.uses(*id).is_some_and(|uses| uses.contains(&name));
    !protectors.is_empty() && protectors.iter().all(waits)
}

/// The Terminating user for which an object protects another one (R9.48), if it is its owner.
fn user_of(case: &Case<'_>, protector: ObjectId) -> Option<ObjectId> {
    let snapshot = case.snapshot();
    let mut owners = snapshot.object(protector).owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
    owners.find(|owner| snapshot.object(*owner).terminating() && protected_by(case, &[protector], *owner))
}

/// How many seconds a pod may take to end, and when that is over, in Unix seconds, if that is longer than people wait.
/// The deletionTimestamp of a pod is the end of its grace period.
fn long_grace(case: &Case<'_>, pod: ObjectId) -> Option<(i64, i64)> {
    const LONG: i64 = 10 * 60;
    let object = case.snapshot().object(pod);
    let (seconds, end) = (object.grace.get()?, object.deleted.get()?);
    let is_long = case.stage.rules(pod).graceful && seconds > LONG && case.now.is_none_or(|now| now < end);
    is_long.then_some((seconds, end))
}
