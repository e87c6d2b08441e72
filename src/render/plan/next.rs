//! What to do now: the section *Next* of a plan, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::render::sections::Said;
use gc_core::{
    command_line::{SEE_MANAGER, ShellCommand, word_of},
    hold::{Held, is_recorded},
    model::{
        Gap, GapKind, ObjectId, Origin, Symbol,
        effects::{EffectKind, Policy, known_users},
        gaps::each_once,
    },
    plan::{Incomplete, Note, NoteKind, Outcome, OutsideEffect, Summary, VerdictResult},
    server::Propagation,
    simulate::{
        Assumption, BlockedBy, Cause, FinalizerController, Kubelet, OutcomeKind, State, WriteScope, converter,
        foreign_spec_finalizers, left_by_job_controller,
    },
    wording::{count, named, some_of, thousands},
};

use super::{
    PlanView,
    forbidden::{commands, remedy},
    remarks,
};

/// At most this many causes of stuck objects are shown.
const NAMED_CAUSES: usize = 2;
/// A command names at most this many targets.
const MOST_TARGETS: usize = 5;
/// At most this many objects are changed or deleted with one command.
const IN_A_COMMAND: usize = 50;

/// What a proposed whole dump is called.
const WHOLE_DUMP: &str = "cluster.json.gz";

/// The longest name of a proposed archive, without its ending: file systems allow 255 bytes.
const LONGEST_NAME: usize = 200;

/// A step of what to do now.
#[derive(Debug, Serialize)]
pub(super) struct StepJson {
    /// In words; absent if the commands say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// It is done instead of the step before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    instead: bool,
    /// What does it, or shows it, for a shell.
    commands: Vec<String>,
}

/// The section *Next*, for programs.
pub(super) fn steps(view: &PlanView<'_>) -> Vec<StepJson> {
    let mut steps: Vec<StepJson> = Vec::new();
    for said in what_next(view) {
        let lines = match said {
            Said::Text(text) | Said::Lines(text, _) => {
                let what = text.trim_end_matches(':');
                let other = what.strip_prefix("or ");
                let what = Some(other.unwrap_or(what).to_owned());
                steps.push(StepJson { what, instead: other.is_some(), commands: Vec::new() });
                continue;
            }
            Said::Command(line) => vec![line],
            Said::Together(each, _) => each,
        };
        match steps.last_mut() {
            Some(step) => step.commands.extend(lines),
            None => steps.push(StepJson { what: None, instead: false, commands: lines }),
        }
    }
    steps
}

pub(super) fn what_next(view: &PlanView<'_>) -> Vec<Said> {
    if view.is_sweep() { next_after_sweep(view) } else { next(view) }
}

/// What to do now.
fn next(view: &PlanView<'_>) -> Vec<Said> {
    let request = &view.plan.request;
    let obstacles = mend_obstacles(view);
    if !obstacles.is_empty() {
        let users = users_first(view).into_iter().chain(uninstall_first(view));
        let (mut first, mut then) = (delete_first(view), obstacles);
        // What this delete takes down works now, and may guard what goes first.
        if !view.plan.obstacles.iter().all(|obstacle| obstacle.taken_down) {
            std::mem::swap(&mut first, &mut then);
        }
        return keep_data(view).into_iter().chain(users).chain(first).chain(then).collect();
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
        let first = read_first(view).map(Said::from);
        return served.into_iter().chain(first).chain(keep_data(view)).chain(explain_what_waits(view)).collect();
    }
    if !view.plan.stuck() {
        if !served.is_empty() {
            return keep_data(view).into_iter().chain(served).collect();
        }
        let first = delete_first(view);
        if view.to_be_done || !first.is_empty() {
            return if view.to_be_done { Vec::new() } else { keep_data(view).into_iter().chain(first).collect() };
        }
        if let Some(first) = read_first(view) {
            return vec![Said::from(first)];
        }
        if !view.gates.is_empty() {
            let mut said = keep_data(view);
            said.push(Said::from("plan again, with --keep for what must stay, or without the gate"));
            return said;
        }
        let in_vain = saved_in_vain(view);
        // What keeps nothing is refused.
        let propagation = if in_vain.is_some() { Propagation::Background } else { request.propagation };
        let command = delete_command(view, propagation);
        let saves = in_vain
            .map(|what| format!("no policy keeps {what}. This command saves everything first, then deletes it:"));
        let mut said = keep_data(view);
        said.extend(uninstall_first(view));
        let asks = ask_first(view);
        let then = match (said.is_empty(), asks.is_empty()) {
            (true, true) => None,
            (false, _) if is_saved(view) => Some("then delete; an archive has objects, and no volume's data:"),
            _ => Some("then delete:"),
        };
        let then = then.map(str::to_owned);
        said.extend(asks);
        if command.is_some() {
            said.extend(saves.or(then).map(Said::from));
        }
        said.extend(command);
        return said;
    }
    let mut said = keep_data(view);
    said.extend(users_first(view));
    said.extend(uninstall_first(view));
    said.extend(delete_first(view));
    said.extend(causes(view));
    let stuck = |summary: &Summary| summary.stuck + summary.stuck_later;
    let better = view.instead.iter().find(|(propagation, summary)| {
        // Who orphans the dependents wants them.
        view.plan.request.propagation != Propagation::Orphan
            && *propagation == Propagation::Background
            && stuck(summary) < stuck(&view.plan.summary)
    });
    let better = better.and_then(|(propagation, summary)| Some((summary, delete_command(view, *propagation)?)));
    if let Some((summary, command)) = better {
        let rest = match stuck(summary) {
            0 => "nothing is".to_owned(),
            1 => "only 1 is".to_owned(),
            more => format!("only {} are", thousands(more)),
        };
        let begin = if said.is_empty() { "" } else { "or " };
        said.push(Said::from(format!("{begin}delete it in the background: {rest} stuck then")));
        said.push(command);
    }
    if said.is_empty() {
        said.extend(explain_what_waits(view));
    }
    if said.is_empty() {
        said.push(Said::from("run kubectl gc tree to see which objects block it"));
    }
    said
}

/// What makes the instances of CRDs readable that serve no version.
fn serve_again(view: &PlanView<'_>) -> Vec<Said> {
    let unread = |outcome: &&Outcome| view.snapshot.unread_instances(outcome.object).is_some();
    let definitions = view.plan.outcomes.iter().filter(unread);
    let serve = definitions.filter_map(|outcome| view.commands().serve(outcome.object));
    let commands: Vec<Said> = serve.map(Said::command).collect();
    match commands.is_empty() {
        true => commands,
        false => [Said::from("serve the custom resources, then plan again:")].into_iter().chain(commands).collect(),
    }
}

/// What to read before a target that orphans its dependents is deleted again, in another way: it would go, and the
/// collector would delete those that still refer to it (R1.21).
fn read_first(view: &PlanView<'_>) -> Option<String> {
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
    (!hidden.is_empty())
        .then(|| format!("read first what may still refer to {}: {}", view.name(orphaning[0]), named(&hidden)))
}

/// What mends the obstacles, or prevents them.
fn mend_obstacles(view: &PlanView<'_>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for obstacle in &view.plan.obstacles {
        let remedy = remedy(obstacle);
        if !said.iter().any(|said| matches!(said, Said::Text(text) if text == remedy)) {
            said.push(Said::from(remedy));
        }
        // A configuration may have several webhooks that can't be reached.
        for command in commands(view, obstacle) {
            let command = command.to_string();
            if !said.iter().any(|said| matches!(said, Said::Command(line) if *line == command)) {
                said.push(Said::Command(command));
            }
        }
    }
    said
}

/// How to find out what a target waits for that is being deleted already.
fn explain_what_waits(view: &PlanView<'_>) -> Vec<Said> {
    let terminating = |target: &&ObjectId| view.snapshot.object(**target).terminating();
    let first = view.plan.request.targets.iter().find(terminating).filter(|_| !view.is_sweep());
    if let Some(held) = first.filter(|target| Held::of_object(view.snapshot, **target).is_some()) {
        return end_hold(view, *held, "held by kubectl gc delete --hold; to delete it now:");
    }
    let explain = first.and_then(|target| {
        let namespace = view.snapshot.namespace(*target);
        view.kubectl.plugin("explain").arg(kubectl_name(view, *target)?).in_namespace(namespace)
    });
    explain.iter().flat_map(|command| [Said::from("see what it waits for:"), Said::command(command)]).collect()
}

/// What to do after a sweep that leaves objects; empty if it leaves none.
fn next_after_sweep(view: &PlanView<'_>) -> Vec<Said> {
    let obstacles = mend_obstacles(view);
    if !obstacles.is_empty() {
        return keep_data(view).into_iter().chain(obstacles).collect();
    }
    let mut said: Vec<Said> = users_first(view).into_iter().collect();
    said.extend(causes(view));
    let is_blocking = |other: &ObjectId| !view.may_touch(*other);
    let blocking = view.stuck().flat_map(|outcome| outcome.waits_for.iter().copied().filter(is_blocking));
    let blocking: BTreeSet<ObjectId> = blocking.collect();
    if !blocking.is_empty() {
        let begin = if said.is_empty() { "" } else { "or " };
        let scope = view.plan.request.only.iter().flat_map(WriteScope::objects);
        let together: BTreeSet<ObjectId> = scope.chain(blocking).collect();
        let command = command_about(view, "sweep", &Vec::from_iter(together));
        let how = if command.is_some() { "" } else { " run kubectl gc sweep without -n and TARGETs" };
        said.push(Said::from(format!("{begin}let the sweep change the blocking objects, too:{how}")));
        said.extend(command.as_ref().map(Said::command));
    }
    let blockers = || view.stuck().flat_map(|outcome| &outcome.waits_for);
    if said.is_empty() && blockers().any(|other| remarks::doubted_reference(view, *other).is_some()) {
        said.push(Said::from(
            "let the sweep treat what is not served as missing, as the collector does; see what it does:",
        ));
        said.push(Said::command(view.kubectl.plugin("sweep").args(["--trust-missing-apis", "--dry-run"])));
    }
    if said.is_empty() && view.plan.stuck() {
        said.push(Said::from("run kubectl gc tree to see which objects block it"));
    }
    let does = !view.plan.outcomes.is_empty() && view.plan.request.targets.is_empty() && !view.to_be_done;
    let mut keep = if view.to_be_done { Vec::new() } else { keep_data(view) };
    if said.is_empty() && does && Incomplete::gaps_in_the_way(view.snapshot, view.plan).is_empty() {
        said.extend(view.sweep.as_ref().filter(|_| !keep.is_empty()).map(|_| Said::from("then sweep:")));
        said.extend(view.sweep.as_ref().map(Said::command));
    }
    keep.extend(said);
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
fn uninstall_first(view: &PlanView<'_>) -> Vec<Said> {
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
    let commands = first.iter().filter_map(|object| command_about(view, "plan", &[*object]));
    let commands: Vec<Said> = commands.map(|command| Said::command(&command)).collect();
    let text = match all_releases {
        true => "to have Flux uninstall it for certain, delete the HelmRelease first, and wait until it is gone:",
        false => "to have Flux delete what it applied for certain, delete first, and wait until that is gone:",
    };
    let text = (!commands.is_empty()).then(|| Said::from(text));
    text.into_iter().chain(commands).collect()
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
fn users_first(view: &PlanView<'_>) -> Option<Said> {
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
    Some(Said::from(format!("delete {users}: {names} {stay}")))
}

/// The order that works where controllers go in this delete whose finalizers are on other objects, or lose their
/// rights: those objects first, while their controllers run.
fn delete_first(view: &PlanView<'_>) -> Vec<Said> {
    let commands = view.commands();
    let mut by_controller: BTreeMap<Before, (Option<ObjectId>, Vec<ObjectId>)> = BTreeMap::new();
    let is_abandoned = |note: &&Note| {
        use NoteKind::{Abandoned, PerhapsAbandoned, WithoutNeeded, WithoutRights};
        matches!(note.kind, Abandoned | PerhapsAbandoned | WithoutRights | WithoutNeeded)
    };
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
        .flat_map(|outcome| outcome.held_by.iter().map(|holder| (first(outcome.object), outcome.object, *holder)));
    let is_told = |object: ObjectId| abandoned.contains(&object);
    let later = view.plan.once_later().filter(|finished| finished.state != State::Waiting && !is_told(finished.object));
    let later = later
        .flat_map(|finished| finished.blockers.iter().map(|holder| (first(finished.object), finished.object, *holder)));
    for (first, object, holder) in staying.chain(later).chain(held) {
        let Some(controller) = goes_with(view, object, holder) else { continue };
        let told = controller.told(view.snapshot).unwrap_or_else(|| holder.name(view.snapshot).to_owned());
        let place = view.snapshot.object(object).namespace;
        let (idle, objects) = by_controller.entry((first, told, !controller.goes, place)).or_default();
        *idle = controller.idle;
        objects.push(object);
    }
    let mut said = Vec::new();
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
            let start = [Said::from(format!("start {controller} first:")), Said::command(start)];
            add_new(&mut said, before_start(view, objects[0]).into_iter().chain(start).collect());
        }
        objects.dedup();
        let words = objects.iter().take(IN_A_COMMAND).map(|object| kubectl_name(view, *object));
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
        said.push(Said::from(match first {
            First::Plan => {
                format!("if {these} must go, too: delete first, while {controller} {runs}; see what that takes along:")
            }
            First::Await => {
                let are = if objects.len() == 1 { "is" } else { "are" };
                format!("wait first until {these} {are} gone{more}, while {controller} {runs}:")
            }
            First::Delete => format!("delete first{more}, while {controller} {runs} to remove the finalizers:"),
        }));
        said.extend(command.as_ref().map(Said::command));
    }
    untold.dedup();
    if !untold.is_empty() {
        let names = some_of(untold.iter().map(|id| view.name(*id)).collect::<Vec<_>>(), NAMED_CAUSES);
        said.push(Said::from(format!("do the same for {names}")));
    }
    said.extend((!said.is_empty()).then(|| Said::from("then plan again")));
    said
}

/// Whether nobody can read it, because a stored object can't be decoded.
fn is_undecodable(gap: &Gap) -> bool {
    gap.reason.kind() == GapKind::Undecodable
}

/// How to find out why nobody can read these.
fn make_readable(view: &PlanView<'_>, what: &str) -> [Said; 2] {
    let text = format!("see how the API server can read {what} again, mend that, then plan again:");
    [Said::from(text), Said::command(view.kubectl.plugin("doctor"))]
}

/// What would resolve each cause of stuck objects: a finalizer's controller, or a force delete if the kubelet is gone.
fn causes(view: &PlanView<'_>) -> Vec<Said> {
    let again = if view.is_sweep() { "sweep" } else { "plan" };
    let mut known: Vec<&str> = Vec::new();
    let mut said: Vec<Said> = Vec::new();
    let finished: BTreeSet<ObjectId> = view.stuck().flat_map(|outcome| view.finished_pods(outcome)).collect();
    let finished: Vec<ObjectId> = finished.into_iter().collect();
    if !finished.is_empty() {
        let pods = if finished.len() == 1 { "the finished pod" } else { "the finished pods" };
        let together = [view.plan.request.targets.as_slice(), &finished].concat();
        match command_about(view, "plan", &together).filter(|_| !view.is_sweep()) {
            Some(command) => said.extend([Said::from(format!("plan it with {pods}:")), Said::command(&command)]),
            None => said.push(Said::from(format!("delete {pods}, too"))),
        }
    }
    for outcome in view.stuck() {
        for holder in &outcome.held_by {
            let what = holder.name(view.snapshot);
            if known.contains(&what) || matches!(what, "foregroundDeletion" | "orphan") {
                continue;
            }
            known.push(what);
            let object = view.name(outcome.object);
            let mut say = |text: String| said.push(Said::from(text));
            match holder {
                BlockedBy::Finalizer(Symbol::DEFINITION) if outcome.waits_for.is_empty() => {
                    let plural = view.snapshot.name(outcome.object);
                    let mut gaps = view.snapshot.gaps.iter().filter(|gap| gap.resource == plural);
                    let spoilt = gaps.any(is_undecodable);
                    match converter(view.snapshot, outcome.object).filter(|_| !spoilt) {
                        Some(webhook) => {
                            say(format!("repair the conversion webhook of {object}, {webhook}, then plan again"));
                        }
                        None => said.extend(make_readable(view, &format!("the instances of {object}"))),
                    }
                }
                BlockedBy::Finalizer(Symbol::DEFINITION) => {}
                BlockedBy::Finalizer(_) => {
                    let waits =
                        !outcome.waits_for.is_empty() || outcome.held_by.iter().any(|holder| holder.is_kubelet());
                    let controller = view.plan.controllers.get(outcome.object, *holder);
                    add_new(&mut said, start_controller(view, outcome.object, *holder, controller, waits, again));
                }
                BlockedBy::Kubelet(kubelet) => said.push(no_kubelet(&object, *kubelet)),
                BlockedBy::Unreadable(_) if what.contains('/') => {
                    say(format!("repair the API {what}, or delete its APIService if the API is no longer needed"));
                }
                BlockedBy::Unreadable(gap) if view.snapshot.gaps.get(*gap).is_some_and(is_undecodable) => {
                    said.extend(make_readable(view, what));
                }
                BlockedBy::Unreadable(_) => say(format!("repair the conversion webhook of {what}")),
                BlockedBy::SpecFinalizers => {
                    let others = foreign_spec_finalizers(view.snapshot, outcome.object);
                    if !others.is_empty() {
                        say(format!(
                            "check that the controller that removes {} from spec.finalizers of {object} is running, \
                             then {again} again",
                            others.join(", ")
                        ));
                    }
                }
                // The obstacle's own remedy says more.
                BlockedBy::Webhook(..)
                | BlockedBy::Policy(_)
                | BlockedBy::Guard(..)
                | BlockedBy::Schema(_)
                | BlockedBy::Api(_) => {}
                BlockedBy::Said | BlockedBy::Unseen => said.extend(explain_what_waits(view)),
            }
            if texts(&said) >= NAMED_CAUSES {
                return said;
            }
        }
    }
    let later = view.plan.once_later().filter(|finished| finished.state == State::Stuck);
    for (object, holder) in later.flat_map(|it| it.blockers.iter().map(|holder| (it.object, *holder))) {
        if let BlockedBy::Kubelet(kubelet) = holder
            && !known.contains(&"kubelet")
        {
            known.push("kubelet");
            said.push(no_kubelet(&view.name(object), kubelet));
        }
        let new = holder.finalizer().is_some() && !known.contains(&holder.name(view.snapshot));
        if new && texts(&said) < NAMED_CAUSES {
            known.push(holder.name(view.snapshot));
            let controller = view.plan.then.as_ref().and_then(|then| then.controllers.get(object, holder));
            add_new(&mut said, start_controller(view, object, holder, controller, false, again));
        }
    }
    said
}

/// Adds steps; not those that end with a command that is there already.
fn add_new(said: &mut Vec<Said>, steps: Vec<Said>) {
    let is_there = |command: &Said| match command {
        Said::Command(line) => said.iter().any(|said| matches!(said, Said::Command(other) if other == line)),
        _ => false,
    };
    if !steps.last().is_some_and(is_there) {
        said.extend(steps);
    }
}

/// How many things are said to do.
fn texts(said: &[Said]) -> usize {
    said.iter().filter(|said| matches!(said, Said::Text(_))).count()
}

/// What to do about a pod that its kubelet doesn't end.
fn no_kubelet(pod: &str, kubelet: Kubelet) -> Said {
    Said::from(match kubelet {
        Kubelet::Late => format!(
            "see in the events of {pod} and in the log of its kubelet what hinders that; if its containers no longer \
             run, delete the pod with --force"
        ),
        Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService => format!(
            "see whether kube-controller-manager runs: its pod garbage collector deletes {pod}; or delete it with \
             --force"
        ),
        _ => format!("if the node of {pod} will not come back, delete the pod with --force"),
    })
}

/// How to end a hold of an object: let its delete go on, as `text` says, or take it back.
fn end_hold(view: &PlanView<'_>, object: ObjectId, text: &str) -> Vec<Said> {
    let let_go = command_about(view, "delete", &[object])
        .filter(|_| Held::of_object(view.snapshot, object) == Some(Held::Waits));
    let let_go = let_go.map(|command| (text, command.arg("--hold=0s")));
    let of_kind = |kind| view.snapshot.objects().filter(move |(_, it)| it.resource == kind).map(|(id, _)| id);
    let take_back = command_about(view, "cancel", &[object]);
    let take_back = take_back.filter(|_| is_recorded(view.snapshot, object, of_kind));
    let take_back = take_back.map(|command| ("or take it back:", command));
    let steps = let_go.into_iter().chain(take_back);
    steps.flat_map(|(text, command)| [Said::from(text.to_owned()), Said::command(command)]).collect()
}

/// How to have a finalizer removed by its controller; empty if that runs, goes in this delete, or `waits` for what else
/// blocks the object.
fn start_controller(
    view: &PlanView<'_>,
    object: ObjectId,
    holder: BlockedBy,
    controller: Option<&FinalizerController>,
    waits: bool,
    again: &str,
) -> Vec<Said> {
    let (what, named) = (holder.name(view.snapshot), view.name(object));
    if holder.is_hold(view.snapshot) {
        let text = format!("{named} is held by kubectl gc delete --hold; let it go first, then {again} again:");
        return end_hold(view, object, &text);
    }
    // `delete_first` has the order for those that go.
    if controller.is_some_and(|controller| controller.goes || !controller.loses.is_empty() || controller.runs()) {
        return Vec::new();
    }
    let left = holder.finalizer().and_then(|of| left_by_job_controller(view.snapshot, object, of));
    if let Some(why) = left {
        return vec![Said::from(format!("remove {what} from {named}, or nobody does: {why}"))];
    }
    let is_built_in = holder.controller(view.snapshot, object).is_some() && controller.is_none();
    if is_built_in && waits {
        return Vec::new();
    }
    let away = controller.filter(|controller| controller.is_away());
    let commands = view.commands();
    if let Some(workload) = away.and_then(|controller| controller.failing.first().copied()) {
        let workload_name = view.name_below(workload, object);
        let text =
            format!("see why {workload_name} has no ready pod: it removes {what} from {named}; then {again} again:");
        let look = commands.about("describe", workload);
        return [Said::from(text)].into_iter().chain(look.as_ref().map(Said::command)).collect();
    }
    let idle = away.filter(|controller| controller.idle.is_some());
    let scale = idle.and_then(|controller| commands.scale_up(controller.idle?));
    let started = idle.and_then(|controller| controller.told(view.snapshot));
    let told = started.or_else(|| controller.and_then(|controller| controller.to_install(view.snapshot)));
    let perhaps = controller.filter(|controller| !controller.is_away()).and_then(|it| it.may_be.first().copied());
    if let (Some(workload), None) = (perhaps, &told) {
        let workload_name = view.name_below(workload, object);
        let text = format!("see whether {workload_name} removes {what} from {named}, then {again} again:");
        return [Said::from(text)].into_iter().chain(commands.logs(workload).as_ref().map(Said::command)).collect();
    }
    let text = match (told, &scale) {
        (Some(told), Some(_)) => format!("start {told}, which removes {what} from {named}, then {again} again:"),
        (Some(told), None) => {
            format!("install or repair {told}, which removes {what} from {named}, then {again} again")
        }
        (None, _) => format!("check that the controller of {what} runs, then {again} again"),
    };
    let first = scale.iter().flat_map(|_| before_start(view, object));
    first.chain([Said::from(text)]).chain(scale.as_ref().map(Said::command)).collect()
}

/// What to see before a controller is started that finishes the delete of an object: what it does whose delete has long
/// been requested is doctor's to tell.
fn before_start(view: &PlanView<'_>, object: ObjectId) -> Vec<Said> {
    if !view.snapshot.object(object).terminating() {
        return Vec::new();
    }
    let Some(doctor) = command_about(view, "doctor", &[object]) else { return Vec::new() };
    let lost: BTreeSet<ObjectId> = view.plan.lost_once_started.iter().map(|effect| effect.object).collect();
    let loses = match lost.first() {
        None => String::new(),
        Some(one) if lost.len() == 1 => format!(" (DATA LOSS: {} loses its data)", view.name_below(*one, object)),
        Some(_) => format!(" (DATA LOSS: {} lose their data)", view.by_kind(lost.into_iter())),
    };
    let see = format!("see first what is deleted once that runs, with {}{loses}:", view.name(object));
    vec![Said::from(see), Said::command(&doctor)]
}

/// How to keep the data of volumes that go with their claims, also if these go only once somebody starts a controller.
fn keep_data(view: &PlanView<'_>) -> Vec<Said> {
    let losses = view.plan.all_effects().chain(&view.plan.lost_once_started);
    let losses = losses.filter(|effect| effect.may_be(EffectKind::DataLost));
    let commands = view.commands();
    let holders = losses.flat_map(|effect| effect.related.iter().copied().chain([effect.object]));
    let volumes: BTreeSet<ObjectId> = holders.filter(|id| commands.holds_data(*id)).collect();
    let retaining = |id: ObjectId| Some((id, commands.retain(id)?.to_string()));
    let volumes: Vec<(ObjectId, String)> = volumes.into_iter().filter_map(retaining).collect();
    if volumes.is_empty() {
        return keep_outside(view);
    }
    let which = match volumes.len() {
        1 => "its volume".to_owned(),
        all if all > MOST_TARGETS => format!("each of {} volumes", thousands(all)),
        _ => "the volumes".to_owned(),
    };
    let text = match volumes.iter().all(|(id, _)| commands.is_volume(*id)) {
        true => format!("to keep the data, set the reclaim policy of {which} to Retain first:"),
        false => "to keep the data, set the policy of what holds it to Retain first:".to_owned(),
    };
    // What comes next deletes: a command for some of them only would lose the others.
    let retain = volumes.chunks(IN_A_COMMAND).flat_map(|some| {
        let (ids, each): (Vec<ObjectId>, Vec<String>) = some.iter().cloned().unzip();
        match commands.retain_all(&ids).filter(|_| each.len() > 1) {
            Some(command) => vec![Said::Together(each, command.to_string())],
            None => each.into_iter().map(Said::Command).collect(),
        }
    });
    [Said::Text(text)].into_iter().chain(retain).chain(keep_outside(view)).collect()
}

/// Whether a controller deletes more than the object: data, other objects, or what is outside the cluster.
fn takes_more_along(effect: &OutsideEffect) -> bool {
    use EffectKind::{DataLost, ExternalDeleted, ObjectsDeleted};
    [DataLost, ExternalDeleted, ObjectsDeleted].iter().any(|kind| effect.may_be(*kind))
}

/// How to keep what the controllers of objects delete with them.
fn keep_outside(view: &PlanView<'_>) -> Vec<Said> {
    let acting = view.plan.all_effects().filter(|effect| takes_more_along(effect)).map(|effect| effect.object);
    let acting: BTreeSet<ObjectId> = acting.collect();
    let of_object = |object: ObjectId| Some((object, view.commands().keep_outside(object)?));
    let commands: Vec<(ObjectId, ShellCommand)> = acting.into_iter().filter_map(of_object).collect();
    let text = match commands.as_slice() {
        [] => return stop_first(view),
        [(one, _)] => format!("to keep what is deleted with {}, first:", view.name(*one)),
        many => format!("to keep what is deleted with {} objects, first:", thousands(many.len())),
    };
    let commands = commands.iter().map(|(_, command)| Said::command(command));
    std::iter::once(Said::Text(text)).chain(commands).chain(stop_first(view)).collect()
}

/// The pods to stop before the volumes that they use are detached (R9.49): then Kubernetes does that by itself.
fn stop_first(view: &PlanView<'_>) -> Vec<Said> {
    let pods = view.snapshot.resources.by_group_kind("", "Pod");
    let is_pod = |id: &&ObjectId| Some(view.snapshot.object(**id).resource) == pods;
    let unreached = view.plan.all_effects().filter(|effect| effect.kind == EffectKind::DataUnreachable);
    let users = unreached.flat_map(|effect| effect.related.iter().filter(is_pod)).copied();
    let users: Vec<ObjectId> = users.collect::<BTreeSet<ObjectId>>().into_iter().take(MOST_TARGETS).collect();
    let command = command_about(view, "plan", &users).filter(|_| !users.is_empty());
    let text = "to have the volume detached once nothing uses it, stop its pods first; see what that takes along:";
    command.map(|command| vec![Said::from(text), Said::command(&command)]).unwrap_or_default()
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
fn delete_command(view: &PlanView<'_>, propagation: Propagation) -> Option<Said> {
    let targets = &view.plan.request.targets;
    let grace = view.plan.request.grace.map(|grace| match grace {
        0 => "--force".to_owned(),
        seconds => format!("--grace-period={seconds}"),
    });
    let saves = is_saved(view);
    let archive = targets.first().filter(|_| saves).map(|first| archive_of(view, *first));
    let policy = format!("--propagation={}", propagation.name().to_lowercase());
    let policy = (!is_policy_ignored(view)).then_some(policy);
    let keep = view.kept.iter().flat_map(|kept| &kept.asked).map(|text| format!("--keep={text}"));
    let flags = policy.into_iter().chain(keep).chain(grace).chain(archive).chain(view.limits.iter().cloned());
    let flags: Vec<String> = flags.collect();
    Some(match command_about(view, "delete", targets) {
        Some(command) => Said::command(command.args(flags)),
        None if targets.iter().all(|target| kubectl_name(view, *target).is_some()) => {
            let archive = if saves { ", with --archive=FILE" } else { "" };
            Said::from(format!("to do it, write delete in place of plan{archive}"))
        }
        None => return None,
    })
}

/// How to see what decides and can't be judged here: whether the controller manager works; what a dump lacks; by a dry
/// run, in which the API server asks them, what webhooks and policies say.
fn ask_first(view: &PlanView<'_>) -> Vec<Said> {
    let is_doubtful = |assumption: &Assumption| matches!(assumption, Assumption::ManagerWorks { .. });
    if view.plan.assumptions.iter().any(is_doubtful) {
        let see = view.kubectl.verb("get").args(SEE_MANAGER);
        return vec![Said::from("see first why kube-controller-manager does not do its work:"), Said::command(see)];
    }
    let is_unsure = view.verdict().result == VerdictResult::Unsure;
    if is_unsure && view.snapshot.is_dump() && Incomplete::of(view.snapshot, view.plan).matters() {
        let whole = view.kubectl.plugin("snapshot").args(["-o", WHOLE_DUMP]);
        let text = "make a whole dump, and plan with it (if this one is whole, with --assume-complete):";
        return vec![Said::from(text), Said::command(whole)];
    }
    let is_asked = |assumption: &Assumption| matches!(assumption, Assumption::Admission { .. });
    let is_open = is_unsure && view.plan.assumptions.iter().any(is_asked);
    let live = matches!(view.snapshot.origin, Origin::Cluster { .. });
    let command = command_about(view, "delete", &view.plan.request.targets).filter(|_| is_open && live);
    let text = "see whether webhooks and policies allow it; nothing is changed:";
    command.map(|command| vec![Said::from(text), Said::command(command.arg("--dry-run=server"))]).unwrap_or_default()
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
fn command_about(view: &PlanView<'_>, verb: &'static str, objects: &[ObjectId]) -> Option<ShellCommand> {
    let mut namespaces: Vec<&str> = objects.iter().map(|object| view.snapshot.namespace(*object)).collect();
    namespaces.retain(|namespace| !namespace.is_empty());
    namespaces.dedup();
    if namespaces.len() > 1 || objects.len() > MOST_TARGETS {
        return None;
    }
    let words: Option<Vec<String>> = objects.iter().map(|object| kubectl_name(view, *object)).collect();
    view.kubectl.plugin(verb).args(words?).in_namespace(namespaces.first().unwrap_or(&""))
}

/// `deployments.apps/web`
fn kubectl_name(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
    word_of(view.snapshot, object)
}
