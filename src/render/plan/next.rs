//! What to do now: the section *Next* of a plan, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::render::{doctor::joint, sections::Said};
use gc_core::{
    command_line::{SEE_MANAGER, ShellCommand, word_of},
    doctor::{Remedy, Step},
    hold::{Held, is_recorded},
    model::{
        Gap, GapKind, ObjectId, Origin, Symbol,
        effects::{EffectKind, Policy, known_users},
        gaps::each_once,
    },
    plan::{Incomplete, Note, NoteKind, Outcome, Summary, VerdictResult},
    server::Propagation,
    simulate::{
        Assumption, BlockedBy, Cause, Controllers, FinalizerController, Kubelet, OutcomeKind, State, WriteScope,
        converter, foreign_spec_finalizers, left_by_job_controller,
    },
    wording::{count, named, some_of, thousands},
};

use super::{
    PlanView,
    keep::{keep_claims, keep_data, takes_more_along},
    rows,
};

/// At most this many causes of stuck objects are shown.
const NAMED_CAUSES: usize = 2;
/// At most this many owners are followed upwards.
const TOPMOST: usize = 20;
/// A command names at most this many targets.
pub(super) const MOST_TARGETS: usize = 5;
/// At most this many objects are changed or deleted with one command.
const IN_A_COMMAND: usize = 50;

/// What a proposed whole dump is called.
const WHOLE_DUMP: &str = "cluster.json.gz";

/// The longest name of a proposed archive, without its ending: file systems allow 255 bytes.
const LONGEST_NAME: usize = 200;

/// What stands before a step that is done after the others.
const THEN: &str = "then ";
/// What stands before a step that is done instead of the one before it.
const OR: &str = "or ";
/// What stands before the first of several steps that are done instead of the one before them.
const OR_FIRST: &str = "or first ";

/// A step of what to do now, and what stands before it.
pub(super) type Way = (&'static str, Remedy);

/// A step in a document.
#[derive(Debug, Serialize)]
pub(super) struct StepJson {
    /// In words; absent if the commands say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    what: String,
    /// It is done instead of the step before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    instead: bool,
    /// What does it, or shows it, for a shell.
    commands: Vec<ShellCommand>,
}

/// The section *Next*, for programs.
pub(super) fn steps(view: &PlanView<'_>) -> Vec<StepJson> {
    let step = |(joint, Remedy { what, commands, .. }): Way| StepJson {
        what,
        instead: [OR, OR_FIRST].contains(&joint),
        commands,
    };
    ways(view).into_iter().map(step).collect()
}

/// The section *Next*, for people.
pub(super) fn what_next(view: &PlanView<'_>) -> Vec<Said> {
    let said = |(joint, remedy): Way| {
        let what = (!remedy.what.is_empty()).then(|| Said::Text(format!("{joint}{}", remedy.what)));
        what.into_iter().chain(remedy.commands.into_iter().map(Said::command))
    };
    ways(view).into_iter().flat_map(said).collect()
}

fn ways(view: &PlanView<'_>) -> Vec<Way> {
    if view.is_sweep() { next_after_sweep(view) } else { next(view) }
}

/// Steps of which each is done, as its words say.
fn each(remedies: impl IntoIterator<Item = Remedy>) -> Vec<Way> {
    remedies.into_iter().map(|remedy| ("", remedy)).collect()
}

/// Steps of which one mends it, after what comes first. Those without a command are left out.
pub(super) fn either(mut remedies: Vec<Remedy>) -> Vec<Way> {
    remedies.retain(|remedy| !remedy.commands.is_empty());
    remedies.sort_by_key(|remedy| remedy.step);
    let joints: Vec<&'static str> = (0..remedies.len()).map(|index| joint(&remedies, index)).collect();
    joints.into_iter().zip(remedies).collect()
}

/// Of these, what comes first, and what then mends it.
fn first(remedies: Vec<Remedy>) -> Vec<Way> {
    let mut ways = either(remedies);
    ways.truncate(ways.iter().take_while(|(_, remedy)| remedy.comes_first()).count() + 1);
    ways
}

/// The same steps, and in the end another plan.
fn then_again(view: &PlanView<'_>, mut ways: Vec<Way>) -> Vec<Way> {
    let again = match view.is_sweep() {
        true => "sweep again",
        false if view.to_be_done => "delete again",
        false => "plan again",
    };
    match ways.last_mut() {
        Some((_, remedy)) if remedy.commands.is_empty() => remedy.what.push_str(&format!(", {THEN}{again}")),
        Some(_) => ways.push((THEN, say(Step::Look, again))),
        None => {}
    }
    ways
}

/// What is only said.
fn say(step: Step, what: impl Into<String>) -> Remedy {
    step.by(what, None)
}

/// What to do now.
fn next(view: &PlanView<'_>) -> Vec<Way> {
    let request = &view.plan.request;
    let obstacles = past_obstacles(view);
    if !obstacles.is_empty() {
        let users = each(users_first(view).into_iter().chain(uninstall_first(view)));
        let (mut first, mut then) = (delete_first(view), obstacles);
        // What this delete takes down works now, and may guard what goes first.
        if !view.plan.obstacles.iter().all(|obstacle| obstacle.taken_down) {
            std::mem::swap(&mut first, &mut then);
        }
        return [keep_data(view), users, first, then].concat();
    }
    // One that is being deleted in the foreground may go at once with another propagation policy.
    let waits = |target: &ObjectId| {
        let object = view.snapshot.object(*target);
        let goes_at_once = |outcome: &Outcome| {
            outcome.kind == OutcomeKind::Deleted && matches!(outcome.because, Some(Cause::Requested))
        };
        let may_end = object.finalizers.contains(&Symbol::FOREGROUND)
            && view.snapshot.may_hide(&[*target]).is_empty()
            && view.outcome(*target).is_some_and(goes_at_once);
        object.terminating() && !may_end
    };
    let served = serve_again(view);
    if view.plan.outcomes.is_empty() || request.targets.iter().all(waits) {
        let read = each(read_first(view));
        return [served, read, keep_data(view), explain_what_waits(view)].concat();
    }
    let keep = keep_data(view);
    if !view.plan.stuck() {
        if !served.is_empty() {
            return [keep, served].concat();
        }
        let first = delete_first(view);
        if view.to_be_done || !first.is_empty() {
            return if view.to_be_done { Vec::new() } else { [keep, first].concat() };
        }
        if let Some(read) = read_first(view) {
            return each([read]);
        }
        if !view.gates.is_empty() {
            let what = "plan again, with --keep for what must stay, or without the gate";
            return [keep, each([say(Step::Look, what)])].concat();
        }
        let in_vain = saved_in_vain(view);
        // What keeps nothing is refused.
        let propagation = if in_vain.is_some() { Propagation::Background } else { request.propagation };
        let is_kept = !keep.is_empty();
        let mut ways = [keep, each(uninstall_first(view)), settle(view), each(ask_first(view))].concat();
        let all_but_claims = keep_claims(view).filter(|_| !ways.is_empty());
        if all_but_claims.is_some() {
            let (joint, first) = &mut ways[0];
            first.follow();
            *joint = OR_FIRST;
        }
        let delete = delete_command(view, propagation).map(|mut delete| {
            let what = match in_vain {
                Some(what) => format!("no policy keeps {what}. This command saves everything first, then deletes it"),
                None if ways.is_empty() || !delete.what.is_empty() => return ("", delete),
                None if is_kept && is_saved(view) => "delete; an archive has objects, and no volume's data".to_owned(),
                None => "delete".to_owned(),
            };
            delete.what = what;
            (if in_vain.is_some() { "" } else { THEN }, delete)
        });
        return all_but_claims.into_iter().map(|delete| ("", delete)).chain(ways).chain(delete).collect();
    }
    // What it waits for would be stuck with it or without it.
    let is_freed = |target: &ObjectId| view.snapshot.object(*target).terminating() && !waits(target);
    let is_background = request.propagation == Propagation::Background;
    if is_background && !request.targets.is_empty() && request.targets.iter().all(is_freed) {
        let again = delete_command(view, request.propagation).map(|mut again| {
            again.what = "delete it again: it then goes at once, and no longer waits for its dependents".to_owned();
            (if keep.is_empty() { "" } else { THEN }, again)
        });
        return keep.into_iter().chain(again).collect();
    }
    let first = each(users_first(view).into_iter().chain(uninstall_first(view)));
    let mut ways = [keep, first, delete_first(view), causes(view, State::Stuck)].concat();
    let stuck = |summary: &Summary| summary.stuck + summary.stuck_later;
    let better = view.instead.iter().find(|(propagation, summary)| {
        // Who orphans the dependents wants them.
        view.plan.request.propagation != Propagation::Orphan
            && *propagation == Propagation::Background
            && stuck(summary) < stuck(&view.plan.summary)
    });
    let better = better.and_then(|(propagation, summary)| Some((summary, delete_command(view, *propagation)?)));
    if let Some((summary, mut command)) = better {
        let rest = match stuck(summary) {
            0 => "nothing is".to_owned(),
            1 => "only 1 is".to_owned(),
            more => format!("only {} are", thousands(more)),
        };
        command.what = format!("delete it in the background: {rest} stuck then");
        ways.push((if ways.is_empty() { "" } else { OR }, command));
    }
    if ways.is_empty() {
        ways = explain_what_waits(view);
    }
    if ways.is_empty() {
        ways = past_blockers(view);
    }
    ways
}

/// What is to go before what is stuck, if nothing else is known of it.
fn past_blockers(view: &PlanView<'_>) -> Vec<Way> {
    let blockers: BTreeSet<ObjectId> = view.stuck().flat_map(|outcome| outcome.waits_for.iter().copied()).collect();
    let names: Vec<String> = blockers.iter().map(|id| view.name(*id)).collect();
    let named = some_of(names, NAMED_CAUSES);
    // The API server makes these again as long as their Services exist.
    let are_addresses = blockers.iter().all(|id| view.snapshot.resource(*id).kind == "IPAddress");
    let plans = blockers.iter().take(MOST_TARGETS).filter_map(|id| view.commands().plan(*id));
    then_again(
        view,
        match blockers.is_empty() {
            true => each([say(Step::Look, "run kubectl gc tree to see which objects block it")]),
            false if are_addresses => {
                let services = view.kubectl.verb("get").args(["services", "--all-namespaces"]);
                let what =
                    format!("delete the Services that have {named}, or make a ServiceCIDR that covers them, too");
                each([Step::Look.by(what, [services])])
            }
            false => {
                each([Step::Look.by(format!("delete {named} first, if that may go; see what goes with it"), plans)])
            }
        },
    )
}

/// What makes a plan certain that depends on others: a look at who has to act, or at what the target waits for.
fn settle(view: &PlanView<'_>) -> Vec<Way> {
    if view.verdict().result != VerdictResult::Depends {
        return Vec::new();
    }
    let ways = causes(view, State::Unknown);
    let explain = || {
        let explain = view.plan.request.targets.first().and_then(|target| view.commands().plugin("explain", *target));
        either(vec![Step::Look.by("see what that depends on", explain)])
    };
    if ways.is_empty() { explain() } else { ways }
}

/// What makes the instances of CRDs readable that serve no version.
fn serve_again(view: &PlanView<'_>) -> Vec<Way> {
    let unread = |outcome: &&Outcome| view.snapshot.unread_instances(outcome.object).is_some();
    let definitions = view.plan.outcomes.iter().filter(unread);
    let serve = definitions.filter_map(|outcome| view.commands().serve(outcome.object));
    then_again(view, either(vec![Step::Heal.by("serve the custom resources", serve)]))
}

/// What to read before a target that orphans its dependents is deleted again, in another way: it would go, and the
/// collector would delete those that still refer to it (R1.21).
fn read_first(view: &PlanView<'_>) -> Option<Remedy> {
    if view.plan.request.propagation == Propagation::Orphan {
        return None;
    }
    let orphans = |id: &ObjectId| {
        let object = view.snapshot.object(*id);
        object.terminating() && object.finalizers.contains(&Symbol::ORPHAN)
    };
    let orphaning: Vec<ObjectId> = view.plan.request.targets.iter().copied().filter(orphans).collect();
    let hidden: Vec<String> =
        each_once(&view.snapshot.may_hide(&orphaning)).into_iter().map(|gap| gap.resource).collect();
    let refer = || format!("read first what may still refer to {}: {}", view.name(orphaning[0]), named(&hidden));
    (!hidden.is_empty()).then(|| say(Step::First, refer()))
}

/// What mends the obstacles, or prevents them. Several may be mended together.
fn past_obstacles(view: &PlanView<'_>) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for obstacle in &view.plan.obstacles {
        for (joint, remedy) in either(view.commands().past(obstacle)) {
            match ways.iter_mut().find(|(_, other)| other.what == remedy.what) {
                Some((_, other)) => {
                    let is_new = |command: &ShellCommand| !other.commands.contains(command);
                    let new: Vec<ShellCommand> = remedy.commands.into_iter().filter(is_new).collect();
                    other.commands.extend(new);
                }
                None => ways.push((joint, remedy)),
            }
        }
    }
    ways
}

/// How to find out what a target waits for that is being deleted already.
fn explain_what_waits(view: &PlanView<'_>) -> Vec<Way> {
    let terminating = |target: &ObjectId| view.snapshot.object(*target).terminating() && !view.is_sweep();
    let first = view.plan.request.targets.iter().copied().find(terminating);
    if let Some(held) = first.filter(|target| Held::of_object(view.snapshot, *target).is_some()) {
        return end_hold(view, held);
    }
    let explain = first.and_then(|target| view.commands().plugin("explain", target));
    either(vec![Step::Look.by("see what it waits for", explain)])
}

/// What to do after a sweep that leaves objects; empty if it leaves none.
fn next_after_sweep(view: &PlanView<'_>) -> Vec<Way> {
    let obstacles = past_obstacles(view);
    if !obstacles.is_empty() {
        return [keep_data(view), obstacles].concat();
    }
    let mut ways = [each(users_first(view)), causes(view, State::Stuck)].concat();
    let is_blocking = |other: &ObjectId| !view.may_touch(*other);
    let blocking = view.stuck().flat_map(|outcome| outcome.waits_for.iter().copied().filter(is_blocking));
    let blocking: BTreeSet<ObjectId> = blocking.collect();
    if !blocking.is_empty() {
        let scope = view.plan.request.only.iter().flat_map(WriteScope::objects);
        let together: BTreeSet<ObjectId> = scope.chain(blocking).collect();
        let command = command_about(view, "sweep", &Vec::from_iter(together));
        let how = if command.is_some() { "" } else { ": run kubectl gc sweep without -n and TARGETs" };
        let sweep = Step::GiveUp.by(format!("let the sweep change the blocking objects, too{how}"), command);
        ways.push((if ways.is_empty() { "" } else { OR }, sweep));
    }
    let blockers = || view.stuck().flat_map(|outcome| &outcome.waits_for);
    if ways.is_empty() && blockers().any(|other| rows::doubted_reference(view, *other).is_some()) {
        let trust = view.kubectl.plugin("sweep").args(["--trust-missing-apis", "--dry-run"]);
        let what = "let the sweep treat what is not served as missing, as the collector does; see what it does";
        ways = each([Step::Look.by(what, [trust])]);
    }
    if ways.is_empty() && view.plan.stuck() {
        ways = each([say(Step::Look, "run kubectl gc tree to see which objects block it")]);
    }
    let does = !view.plan.outcomes.is_empty() && view.plan.request.targets.is_empty() && !view.to_be_done;
    let mut keep = if view.to_be_done { Vec::new() } else { keep_data(view) };
    if ways.is_empty() && does && Incomplete::gaps_in_the_way(view.snapshot, view.plan).is_empty() {
        let what = if keep.is_empty() { "" } else { "sweep" };
        ways.extend(view.sweep.clone().map(|sweep| (THEN, Step::Heal.by(what, [sweep]))));
    }
    keep.extend(ways);
    keep
}

/// The controller that removes what blocks an object, if it runs, and goes in this delete, or loses its rights in it.
fn goes_with<'v>(view: &PlanView<'v>, object: ObjectId, holder: BlockedBy) -> Option<&'v FinalizerController> {
    let later = || view.plan.then.as_ref().and_then(|then| then.controllers.get(object, holder));
    view.plan
        .controllers
        .get(object, holder)
        .or_else(later)
        .filter(|controller| controller.goes || !controller.loses.is_empty())
}

/// What is to be done with objects before their controller goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum First {
    Delete,
    /// They are being deleted already.
    Await,
    /// Nobody asked to delete them, or what their controller deletes with them: it may be worth more than that.
    Plan,
}

/// What goes before a controller, that controller, whether it only loses its rights, and the namespace.
type Before = (First, String, bool, Symbol);

/// What Flux can delete nothing for any more once the Namespace goes with the release's Secret, or with the
/// ServiceAccount as which it acts (R9.38).
fn uninstall_first(view: &PlanView<'_>) -> Option<Remedy> {
    let policy = |id: ObjectId| {
        let (object, resource) = (view.snapshot.object(id), view.snapshot.resource(id));
        let finalizers = object.finalizers.iter().map(|finalizer| view.snapshot.text(*finalizer));
        Policy::of(&resource.group, &resource.kind, finalizers)
    };
    let in_namespace = |outcome: &&Outcome| {
        let object = view.snapshot.object(outcome.object);
        let namespace = |target: &ObjectId| {
            let target = view.snapshot.object(*target);
            target.namespace.is_empty() && target.name == object.namespace
        };
        let own = view.snapshot.namespace(outcome.object);
        let needs = |policy: Policy| {
            let facts = view.snapshot.facts.policy(outcome.object);
            facts.is_some_and(|facts| policy.needs_its_namespace(facts, own))
        };
        policy(outcome.object).is_some_and(needs)
            && view.effects_of(outcome.object).any(|effect| effect.may_be(EffectKind::ObjectsDeleted))
            && view.plan.request.targets.iter().any(namespace)
    };
    let first = view.first_end().filter(in_namespace).take(MOST_TARGETS).map(|outcome| outcome.object);
    let first: Vec<ObjectId> = first.collect();
    let all_releases = first.iter().all(|id| policy(*id) == Some(Policy::HelmRelease));
    let commands = first.iter().filter_map(|object| view.commands().plan(*object));
    let what = match all_releases {
        true => "to have Flux uninstall it for certain, delete the HelmRelease first, and wait until it is gone",
        false => "to have Flux delete what it applied for certain, delete first, and wait until that is gone",
    };
    Some(Step::First.by(what, commands)).filter(|remedy| !remedy.commands.is_empty())
}

/// Whether an object stays as long as others use it (R9.40).
fn is_used(view: &PlanView<'_>, object: ObjectId) -> bool {
    let kind = &view.snapshot.resource(object).kind;
    let is_kept = |holder: &BlockedBy| {
        holder.finalizer().is_some_and(|by| known_users(view.snapshot.text(by), kind).next().is_some())
    };
    view.outcome(object).is_some_and(|outcome| !outcome.waits_for.is_empty() && outcome.held_by.iter().any(is_kept))
}

/// What uses objects that stay goes before them: first what has data.
fn users_first(view: &PlanView<'_>) -> Option<Remedy> {
    const STORED: [&str; 3] = ["PersistentVolumeClaim", "PersistentVolume", "ObjectBucket"];
    let kept: Vec<&Outcome> = view.stuck().filter(|outcome| is_used(view, outcome.object)).collect();
    let mut users: Vec<ObjectId> = Vec::new();
    // A record of use stands for what it belongs to, which needs what it uses to the end.
    let stands_for = |user: ObjectId| {
        let is_record = view.snapshot.resource(user).kind.ends_with("Usage");
        view.snapshot.controller_of(user).filter(|_| is_record).unwrap_or(user)
    };
    for user in kept.iter().flat_map(|outcome| &outcome.waits_for).map(|user| stands_for(*user)) {
        if !users.contains(&user) && !is_used(view, user) {
            users.push(user);
        }
    }
    let first = kept.first()?.object;
    let has_data = |user: &ObjectId| STORED.contains(&view.snapshot.resource(*user).kind.as_str());
    let count = users.len();
    let (stored, others): (Vec<ObjectId>, Vec<ObjectId>) = users.into_iter().partition(has_data);
    let name = |users: &[ObjectId]| {
        some_of(users.iter().map(|user| view.name_below(*user, first)).collect::<Vec<_>>(), NAMED_CAUSES)
    };
    let users = match (stored.is_empty(), others.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("{} first", name(&others)),
        (false, true) => format!("{} first, with all data", name(&stored)),
        (false, false) => format!("{} first, with all data, then {}", name(&stored), name(&others)),
    };
    let names = some_of(kept.iter().map(|outcome| view.name(outcome.object)).collect::<Vec<_>>(), NAMED_CAUSES);
    let stay = match (kept.len(), count) {
        (1, 1) => "stays as long as that uses it",
        (1, _) => "stays as long as they use it",
        _ => "stay as long as these use them",
    };
    Some(say(Step::First, format!("delete {users}: {names} {stay}")))
}

/// What to delete in the place of an object: the topmost owner that goes with it, as long as a controller that runs
/// finishes that, which takes along what is below in the order that works.
fn topmost(view: &PlanView<'_>, object: ObjectId) -> ObjectId {
    let is_finished = |owner: &ObjectId| {
        view.outcome(*owner).is_some_and(|outcome| {
            let mut finalizers = outcome.held_by.iter().filter_map(|holder| holder.finalizer());
            outcome.state == Some(State::Waiting) && finalizers.any(|it| !it.is_collectors_finalizer())
        })
    };
    let above = |id: &ObjectId| {
        let owners = view.snapshot.object(*id).owners.iter();
        owners.filter_map(|owner| view.snapshot.by_uid(owner.uid)).find(is_finished)
    };
    // Owners may go in a circle.
    std::iter::successors(Some(object), above).take(TOPMOST).last().unwrap_or(object)
}

/// The order that works where controllers go in this delete whose finalizers are on other objects, or lose their
/// rights: those objects first, while their controllers run.
fn delete_first(view: &PlanView<'_>) -> Vec<Way> {
    let commands = view.commands();
    let mut by_controller: BTreeMap<Before, (Option<ObjectId>, Vec<ObjectId>)> = BTreeMap::new();
    let is_abandoned = |note: &&Note| note.kind.is_abandoned();
    let abandoned: BTreeSet<ObjectId> = view.plan.notes.iter().filter(is_abandoned).map(|note| note.object).collect();
    let held =
        abandoned.iter().copied().flat_map(|id| view.snapshot.object(id).finalizers.iter().map(move |of| (id, *of)));
    let held = held.map(|(id, finalizer)| (First::Plan, id, BlockedBy::Finalizer(finalizer)));
    let is_leaving = |id: ObjectId| view.snapshot.object(id).terminating();
    let takes_more = |id: ObjectId| is_used(view, id) || view.effects_of(id).any(takes_more_along);
    let first = |id: ObjectId| match (is_leaving(id), takes_more(id)) {
        (true, _) => First::Await,
        (false, true) => First::Plan,
        (false, false) => First::Delete,
    };
    let stays = |outcome: &&Outcome| matches!(outcome.state, Some(State::Stuck | State::Unknown));
    let staying = view.first_end().filter(stays);
    let staying = staying
        .flat_map(|outcome| outcome.held_by.iter().map(|holder| (outcome.object, *holder)))
        .map(|(id, holder)| (first(topmost(view, id)), id, holder));
    let is_told = |object: ObjectId| abandoned.contains(&object);
    let later = view.plan.once_later().filter(|finished| finished.state != State::Waiting && !is_told(finished.object));
    let later = later
        .flat_map(|finished| finished.blockers.iter().map(|holder| (first(finished.object), finished.object, *holder)));
    for (first, object, holder) in staying.chain(later).chain(held) {
        let Some(controller) = goes_with(view, object, holder) else { continue };
        let told = controller.told(view.snapshot).unwrap_or_else(|| holder.name(view.snapshot).to_owned());
        let object = topmost(view, object);
        let place = view.snapshot.object(object).namespace;
        let (idle, objects) = by_controller.entry((first, told, !controller.goes, place)).or_default();
        *idle = controller.idle;
        objects.push(object);
    }
    let mut ways: Vec<Way> = Vec::new();
    let mut told: Vec<(First, String)> = Vec::new();
    let mut untold: Vec<ObjectId> = Vec::new();
    for ((first, controller, stays, namespace), (idle, mut objects)) in by_controller {
        let same = (first, controller.clone());
        if told.iter().filter(|told| **told == same).count() >= NAMED_CAUSES {
            untold.extend(objects);
            continue;
        }
        told.push(same);
        let runs = if stays { "has what it needs" } else { "runs" };
        if let Some(start) = idle.and_then(|workload| commands.scale_up(workload)) {
            let start = Step::First.by(format!("start {controller} first"), [start]);
            add_new(&mut ways, each(before_start(view, objects[0]).into_iter().chain([start])));
        }
        objects.dedup();
        let words = objects.iter().take(IN_A_COMMAND).map(|object| word_of(view.snapshot, *object));
        let archive = objects.first().map(|first| archive_of(view, *first)).filter(|_| first == First::Delete);
        let verb = match first {
            First::Delete => view.kubectl.plugin("delete"),
            First::Await => view.kubectl.verb("wait").arg("--for=delete"),
            First::Plan => view.kubectl.plugin("plan"),
        };
        let command = words
            .collect::<Option<Vec<String>>>()
            .and_then(|words| verb.args(words).args(archive).in_namespace(view.snapshot.text(namespace)));
        let more = match objects.len().saturating_sub(IN_A_COMMAND) {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let these = match objects.as_slice() {
            [one] => view.name(*one),
            all => count(all.len(), "object", "objects"),
        };
        let what = match first {
            First::Plan => {
                format!("if {these} must go, too: delete first, while {controller} {runs}; see what that takes along")
            }
            First::Await => {
                let are = if objects.len() == 1 { "is" } else { "are" };
                format!("wait first until {these} {are} gone{more}, while {controller} {runs}")
            }
            First::Delete => format!("delete first{more}, while {controller} {runs} to remove the finalizers"),
        };
        ways.push(("", Step::First.by(what, command)));
    }
    untold.dedup();
    if !untold.is_empty() {
        let names = some_of(untold.iter().map(|id| view.name(*id)).collect::<Vec<_>>(), NAMED_CAUSES);
        ways.push(("", say(Step::First, format!("do the same for {names}"))));
    }
    then_again(view, ways)
}

/// Whether nobody can read it, because a stored object can't be decoded.
fn is_undecodable(gap: &Gap) -> bool {
    gap.reason.kind() == GapKind::Undecodable
}

/// How to find out why nobody can read these.
fn make_readable(view: &PlanView<'_>, what: &str) -> Vec<Remedy> {
    let what = format!("see how the API server can read {what} again, and mend that");
    vec![Step::Look.by(what, [view.kubectl.plugin("doctor")])]
}

/// What would resolve each cause of objects in this state, the first of the remedies of each; then another plan.
fn causes(view: &PlanView<'_>, state: State) -> Vec<Way> {
    let mut known: Vec<&str> = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    let outcomes = || view.first_end().filter(move |outcome| outcome.state == Some(state));
    let finished: BTreeSet<ObjectId> = outcomes().flat_map(|outcome| view.finished_pods(outcome)).collect();
    let finished: Vec<ObjectId> = finished.into_iter().collect();
    if !finished.is_empty() {
        let pods = if finished.len() == 1 { "the finished pod" } else { "the finished pods" };
        let together = [view.plan.request.targets.as_slice(), &finished].concat();
        ways.extend(each([match command_about(view, "plan", &together).filter(|_| !view.is_sweep()) {
            Some(command) => Step::Heal.by(format!("plan it with {pods}"), [command]),
            None => say(Step::Heal, format!("delete {pods}, too")),
        }]));
    }
    let now = outcomes().flat_map(|outcome| {
        let waits = !outcome.waits_for.is_empty() || outcome.held_by.iter().any(|holder| holder.is_kubelet());
        outcome.held_by.iter().map(move |holder| (outcome.object, *holder, &view.plan.controllers, waits))
    });
    let later = view.plan.then.iter().flat_map(|then| {
        let once = then.once.iter().filter(move |finished| finished.state == state);
        once.flat_map(move |finished| {
            finished.blockers.iter().map(move |by| (finished.object, *by, &then.controllers, false))
        })
    });
    let later = later.filter(|(_, holder, ..)| holder.is_kubelet() || holder.finalizer().is_some());
    for (object, holder, controllers, waits) in now.chain(later) {
        let what = holder.name(view.snapshot);
        if ways.len() >= NAMED_CAUSES || known.contains(&what) || matches!(what, "foregroundDeletion" | "orphan") {
            continue;
        }
        known.push(what);
        add_new(&mut ways, past_holder(view, object, holder, controllers, waits));
    }
    // What depends on somebody may be deleted once it is known who that is.
    if state == State::Stuck { then_again(view, ways) } else { ways }
}

/// What resolves one of the causes for which an object stays.
fn past_holder(
    view: &PlanView<'_>,
    object: ObjectId,
    holder: BlockedBy,
    controllers: &Controllers,
    waits: bool,
) -> Vec<Way> {
    let (snapshot, what, named) = (view.snapshot, holder.name(view.snapshot), view.name(object));
    match holder {
        BlockedBy::Finalizer(Symbol::DEFINITION) if waits => Vec::new(),
        BlockedBy::Finalizer(Symbol::DEFINITION) => {
            let plural = snapshot.name(object);
            let spoilt = snapshot.gaps.iter().filter(|gap| gap.resource == plural).any(is_undecodable);
            each(match converter(snapshot, object).filter(|_| !spoilt) {
                Some(webhook) => {
                    vec![say(Step::Heal, format!("repair the conversion webhook of {named}, {webhook}"))]
                }
                None => make_readable(view, &format!("the instances of {named}")),
            })
        }
        BlockedBy::Finalizer(_) => past_finalizer(view, object, holder, controllers.get(object, holder), waits),
        BlockedBy::Kubelet(kubelet) => {
            let is_collected = matches!(kubelet, Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService);
            first(view.commands().end_pods(&[object], is_collected.then_some(true), kubelet == Kubelet::Late))
        }
        BlockedBy::Unreadable(_) if what.contains('/') => {
            let what = format!("repair the API {what}, or delete its APIService if the API is no longer needed");
            each([say(Step::Heal, what)])
        }
        BlockedBy::Unreadable(gap) if snapshot.gaps.get(gap).is_some_and(is_undecodable) => {
            each(make_readable(view, what))
        }
        BlockedBy::Unreadable(_) => each([say(Step::Heal, format!("repair the conversion webhook of {what}"))]),
        BlockedBy::SpecFinalizers => {
            let others = foreign_spec_finalizers(snapshot, object).join(", ");
            let what =
                format!("check that the controller that removes {others} from spec.finalizers of {named} is running");
            each((!others.is_empty()).then(|| say(Step::Look, what)))
        }
        // The obstacle's own remedy says more.
        BlockedBy::Webhook(..)
        | BlockedBy::Policy(_)
        | BlockedBy::Guard(..)
        | BlockedBy::Schema(_)
        | BlockedBy::Api(_) => Vec::new(),
        BlockedBy::Said | BlockedBy::Unseen => explain_what_waits(view),
    }
}

/// Adds steps; not those that end with a command that is there already.
fn add_new(ways: &mut Vec<Way>, steps: Vec<Way>) {
    let last = steps.last().map(|(_, remedy)| &remedy.commands);
    let is_there = last.is_some_and(|last| !last.is_empty() && ways.iter().any(|(_, other)| other.commands == *last));
    if !is_there {
        ways.extend(steps);
    }
}

/// How to end a hold of an object.
fn end_hold(view: &PlanView<'_>, object: ObjectId) -> Vec<Way> {
    let of_kind = |kind| view.snapshot.objects().filter(move |(_, it)| it.resource == kind).map(|(id, _)| id);
    either(view.commands().end_hold(object, is_recorded(view.snapshot, object, of_kind)))
}

/// How to have a finalizer removed by its controller; empty if that runs, goes in this delete, or `waits` for what else
/// blocks the object.
fn past_finalizer(
    view: &PlanView<'_>,
    object: ObjectId,
    holder: BlockedBy,
    controller: Option<&FinalizerController>,
    waits: bool,
) -> Vec<Way> {
    let (what, commands) = (holder.name(view.snapshot), view.commands());
    if holder.is_hold(view.snapshot) {
        return end_hold(view, object);
    }
    // `delete_first` has the order for those that go.
    if controller.is_some_and(|controller| controller.goes || !controller.loses.is_empty() || controller.runs()) {
        return Vec::new();
    }
    if let Some((finalizer, why)) =
        holder.finalizer().and_then(|of| Some((of, left_by_job_controller(view.snapshot, object, of)?)))
    {
        let what = format!("remove {what} from {}, or nobody does: {why}", view.name(object));
        return each([Step::Force.by(what, commands.remove_finalizers(object, &[finalizer]))]);
    }
    let is_built_in = holder.controller(view.snapshot, object).is_some() && controller.is_none();
    if is_built_in && waits {
        return Vec::new();
    }
    let Some(controller) = controller else {
        return each([say(Step::Look, format!("check that the controller of {what} runs"))]);
    };
    let before = each(before_start(view, object).filter(|_| controller.idle.is_some()));
    let gone = controller.to_install(view.snapshot).filter(|_| controller.failing.is_empty());
    let mut remedies = commands.heal(&[controller], [], object, Step::Heal);
    remedies.extend(gone.map(|gone| commands.install(&gone)));
    remedies.extend(commands.ask(&[controller]));
    match first(remedies) {
        ways if ways.is_empty() => each([say(Step::Look, format!("check that the controller of {what} runs"))]),
        ways => before.into_iter().chain(ways).collect(),
    }
}

/// What to see before a controller is started that finishes the delete of an object: what it does whose delete has long
/// been requested is doctor's to tell.
fn before_start(view: &PlanView<'_>, object: ObjectId) -> Option<Remedy> {
    let doctor = view.commands().plugin("doctor", object).filter(|_| view.snapshot.object(object).terminating())?;
    let lost: BTreeSet<ObjectId> = view.plan.lost_once_started.iter().map(|effect| effect.object).collect();
    let loses = match lost.first() {
        None => String::new(),
        Some(one) if lost.len() == 1 => format!(" (DATA LOSS: {} loses its data)", view.name_below(*one, object)),
        Some(_) => format!(" (DATA LOSS: {} lose their data)", view.by_kind(lost.into_iter())),
    };
    let see = format!("see first what is deleted once that runs, with {}{loses}", view.name(object));
    Some(Step::First.by(see, [doctor]))
}

/// What the user wants to keep with a policy that keeps none of it.
fn saved_in_vain(view: &PlanView<'_>) -> Option<&'static str> {
    let note = view.plan.notes.iter().find(|note| note.kind.saves_nothing(view.plan.request.propagation))?;
    Some(if note.kind == NoteKind::DefinitionIgnoresPolicy {
        "the instances of a CRD"
    } else {
        "what is in a namespace"
    })
}

/// Whether the API server ignores the policy for every target.
fn is_policy_ignored(view: &PlanView<'_>) -> bool {
    let is_ignored = |target: &ObjectId| {
        let mut notes = view.plan.notes.iter().filter(|note| note.object == *target);
        notes.any(|note| note.kind == NoteKind::DefinitionIgnoresPolicy)
    };
    view.plan.request.targets.iter().all(is_ignored)
}

/// The planned delete as a command, which writes an archive first where the plan says that something is lost; `None` if
/// an object's name is one that no API server accepts.
pub(super) fn delete_command(view: &PlanView<'_>, propagation: Propagation) -> Option<Remedy> {
    let targets = &view.plan.request.targets;
    let grace = view.plan.request.grace.map(|grace| match grace {
        0 => "--force".to_owned(),
        seconds => format!("--grace-period={seconds}"),
    });
    let saves = is_saved(view);
    let archive = targets.first().filter(|_| saves).map(|first| archive_of(view, *first));
    let is_default = [propagation, view.plan.request.propagation] == [Propagation::default(); 2];
    let policy = (!is_default && !is_policy_ignored(view)).then(|| propagation.flag());
    let keep = view.kept.iter().flat_map(|kept| &kept.asked).map(|text| format!("--keep={text}"));
    let flags = policy.into_iter().chain(keep).chain(grace).chain(archive).chain(view.limits.iter().cloned());
    let flags: Vec<String> = flags.collect();
    Some(match command_about(view, "delete", targets) {
        Some(command) => Step::Heal.by("", [command.args(flags)]),
        None if targets.iter().all(|target| word_of(view.snapshot, *target).is_some()) => {
            let archive = if saves { ", with --archive=FILE" } else { "" };
            say(Step::Heal, format!("to do it, write delete in place of plan{archive}"))
        }
        None => return None,
    })
}

/// How to see what decides and can't be judged here: whether the controller manager works; what a dump lacks; by a dry
/// run, in which the API server asks them, what webhooks and policies say.
fn ask_first(view: &PlanView<'_>) -> Option<Remedy> {
    let is_doubtful = |assumption: &Assumption| matches!(assumption, Assumption::ManagerWorks { .. });
    if view.plan.assumptions.iter().any(is_doubtful) {
        let see = view.kubectl.verb("get").args(SEE_MANAGER);
        return Some(Step::First.by("see first why kube-controller-manager does not do its work", [see]));
    }
    let is_unsure = view.verdict().result == VerdictResult::Unsure;
    let live = matches!(view.snapshot.origin, Origin::Cluster { .. });
    if is_unsure && view.snapshot.is_dump() && Incomplete::of(view.snapshot, view.plan).matters() {
        let whole = view.kubectl.plugin("snapshot").args(["-o", WHOLE_DUMP]);
        let what = "make a whole dump, and plan with it (if this one is whole, with --assume-complete)";
        return Some(Step::First.by(what, [whole]));
    }
    let mut hidden = Incomplete::gaps_in_the_way(view.snapshot, view.plan);
    hidden.retain(|gap| gap.reason.kind() == GapKind::Forbidden);
    if is_unsure && !hidden.is_empty() {
        let hidden: Vec<String> = each_once(&hidden).into_iter().map(|gap| gap.resource).collect();
        let what = format!("get the right to read {}, and plan again", named(&hidden));
        let role = command_about(view, "plan", &view.plan.request.targets).filter(|_| live);
        return Some(match role.map(|plan| plan.arg("--print-role")) {
            Some(role) => Step::First.by(format!("{what}. What that needs"), [role]),
            None => say(Step::First, what),
        });
    }
    let is_asked = |assumption: &Assumption| matches!(assumption, Assumption::Admission { .. });
    let is_open = is_unsure && view.plan.assumptions.iter().any(is_asked);
    let command = command_about(view, "delete", &view.plan.request.targets).filter(|_| is_open && live);
    let what = "see whether webhooks and policies allow it; nothing is changed";
    command.map(|command| Step::Look.by(what, [command.arg("--dry-run=server")]))
}

/// Whether the command that deletes saves what it deletes.
fn is_saved(view: &PlanView<'_>) -> bool {
    let counts = view.verdict().counts;
    let may_lose_data = || view.plan.both_ends().any(|outcome| view.may_lose_data(outcome.object));
    saved_in_vain(view).is_some() || counts.data_lost + counts.external > 0 || may_lose_data()
}

/// The flag that writes an archive, called after an object and its place: others may have its name.
fn archive_of(view: &PlanView<'_>, object: ObjectId) -> String {
    let (kind, name) = (view.snapshot.resource(object).kind.to_lowercase(), view.snapshot.name(object));
    let parts = [&kind, name, view.snapshot.namespace(object)].into_iter().filter(|part| !part.is_empty());
    let called: String = parts.collect::<Vec<_>>().join("-").chars().take(LONGEST_NAME).collect();
    format!("--archive={called}.yaml")
}

/// A command of this plugin about objects, if one namespace has them all, and there are not too many.
pub(super) fn command_about(view: &PlanView<'_>, verb: &'static str, objects: &[ObjectId]) -> Option<ShellCommand> {
    let mut namespaces: Vec<&str> = objects.iter().map(|object| view.snapshot.namespace(*object)).collect();
    namespaces.retain(|namespace| !namespace.is_empty());
    namespaces.dedup();
    if namespaces.len() > 1 || objects.len() > MOST_TARGETS {
        return None;
    }
    let words: Option<Vec<String>> = objects.iter().map(|object| word_of(view.snapshot, *object)).collect();
    view.kubectl.plugin(verb).args(words?).in_namespace(namespaces.first().unwrap_or(&""))
}
