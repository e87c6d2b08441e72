//! The sections below the lines of a plan: its assumptions, the results of other policies, and what to do next.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    command_line::{ShellCommand, object_word},
    doctor::commands::Commands,
    model::{Gap, GapKind, ObjectId, Symbol, effects::EffectKind, gaps::each_once},
    plan::{Note, NoteKind, Outcome, Summary},
    render::{
        lines::Line,
        sections::{Heading, Said, Sections},
        style::Tone,
    },
    server::Propagation,
    simulate::{Assumption, BlockedBy, FinalizerController, State, converter, foreign_spec_finalizers},
    wording::{count, named, thousands},
};

use super::{
    PlanView, gates, keep,
    names::{finished_pods, name, stuck},
    obstacles, set_claims, side_effects, unlisted_contents,
    verdict::{further_doubts, then},
};

/// The width of a policy's name.
const POLICY: usize = "background".len();
/// At most this many causes of stuck objects are shown.
const NAMED_CAUSES: usize = 2;
/// A command names at most this many targets.
const MOST_TARGETS: usize = 5;
/// At most this many nodes are named, or one more if that is all.
const NAMED_NODES: usize = 2;

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

fn what_next(view: &PlanView<'_>) -> Vec<Said> {
    if view.is_sweep() { next_after_sweep(view) } else { next(view) }
}

/// All that is said below the lines, or without `wide` only what this delete differs in from others.
pub(super) fn sections(view: &PlanView<'_>, fold: bool, wide: bool) -> Sections {
    let mut sections = Sections::default();
    sections.add(Heading::Why, view.gates.iter().map(|violation| gates::describe(view.snapshot, violation)));
    sections.add(Heading::Why, view.plan.obstacles.iter().map(|obstacle| obstacles::describe(view, obstacle)));
    sections.add(Heading::Lost, side_effects::lost(view, fold));
    sections.add(Heading::Then, then(view));
    if view.plan.then.is_none() {
        // The lines above say what is deleted later, where others can do what it waits for.
        sections.add(Heading::Then, unlisted_contents::spared(view));
    }
    sections.add(Heading::Then, side_effects::afterwards(view));
    sections.add(Heading::Note, keep::describe(view));
    sections.add(Heading::Note, further_doubts(view));
    sections.add(Heading::Note, set_claims::describe(view, wide));
    sections.add(Heading::Note, side_effects::notes(view));
    sections.add(Heading::Note, assumes(view, |assumption| !is_usual(assumption)));
    if wide {
        sections.add(Heading::Note, unlisted_contents::also(view));
        sections.add(Heading::Note, side_effects::kept_outside(view, fold));
        sections.add(Heading::Note, assumes(view, is_usual));
        sections.add(Heading::Note, other_policies(view));
    }
    sections.add(Heading::Next, what_next(view));
    sections
}

/// What the other policies would do.
fn other_policies(view: &PlanView<'_>) -> Option<Said> {
    let name = |(propagation, _): &(Propagation, Summary)| propagation.name().to_lowercase();
    let same = view.instead.iter().all(|(_, summary)| *summary == view.plan.summary);
    match what_is_in_it(view) {
        _ if view.instead.is_empty() || same && view.plan.outcomes.is_empty() => None,
        Some(what) if same => {
            let policies: Vec<String> = view.instead.iter().map(name).collect();
            Some(Said::Text(format!("{} give the same result for {what}", policies.join(" and "))))
        }
        _ => {
            let line = |policy: &(Propagation, Summary)| {
                Line::new(&format!("{:<POLICY$}", name(policy))).remarked(Tone::Plain, [in_short(policy.1)])
            };
            Some(Said::Lines("other policies:".to_owned(), view.instead.iter().map(line).collect()))
        }
    }
}

/// What is deleted under every policy, if nothing else is deleted (R1.25, R1.26).
pub(super) fn what_is_in_it(view: &PlanView<'_>) -> Option<&'static str> {
    let kind_of = |target: &ObjectId| {
        let resource = view.snapshot.resources.get(view.snapshot.object(*target).resource);
        (resource.group.as_str(), resource.kind.as_str())
    };
    let targets = &view.plan.request.targets;
    let all = |wanted: (&str, &str)| !targets.is_empty() && targets.iter().all(|target| kind_of(target) == wanted);
    match () {
        () if view.plan.outcomes.is_empty() => None,
        () if all(("", "Namespace")) => Some("a namespace"),
        () if all(("apiextensions.k8s.io", "CustomResourceDefinition")) => Some("a CRD and its instances"),
        () => None,
    }
}

/// Whether nearly every cluster does this: Kubernetes' own controllers, kubelets, and controllers of known finalizers.
fn is_usual(assumption: &Assumption) -> bool {
    matches!(
        assumption,
        Assumption::Kubelet { .. }
            | Assumption::Finalizer { .. }
            | Assumption::NamespaceController
            | Assumption::PodGarbageCollector
            | Assumption::Reclaimed { .. }
            | Assumption::SchemaAccepts { .. }
    )
}

/// What the plan assumes about controllers and kubelets, of what is `wanted`; all kubelets are in one line.
fn assumes(view: &PlanView<'_>, wanted: fn(&Assumption) -> bool) -> Vec<String> {
    let mut nodes: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for assumption in view.plan.assumptions.iter().filter(|assumption| wanted(assumption)) {
        match assumption {
            Assumption::Kubelet { node } => nodes.push(node),
            Assumption::NotReplaced { .. } | Assumption::NotAdopted => {}
            other => lines.push(other.to_string()),
        }
    }
    let kubelets = match nodes.as_slice() {
        [] => None,
        [one] => Some(format!("the kubelet on node {one} ends its pods after their grace period")),
        [some @ .., last] if some.len() <= NAMED_NODES => Some(format!(
            "the kubelets on nodes {} and {last} end their pods after their grace period",
            some.join(", ")
        )),
        many => Some(format!("the kubelets on {} nodes end their pods after their grace period", many.len())),
    };
    kubelets.into_iter().chain(lines).map(|line| format!("assumed: {line}")).collect()
}

/// A summary in half a line.
pub(super) fn in_short(summary: Summary) -> String {
    let mut parts = vec![format!("{} deleted", thousands(summary.deleted))];
    let mut add = |number: usize, describe: String| {
        if number > 0 {
            parts.push(describe);
        }
    };
    add(summary.stuck, format!("{} stuck", thousands(summary.stuck)));
    let waiting = summary.terminating - summary.stuck;
    add(waiting, count(waiting, "waits", "wait"));
    let kept = summary.orphaned + summary.detached + summary.unblocked;
    add(kept, format!("{} kept", thousands(kept)));
    add(summary.later, format!("{} later", thousands(summary.later)));
    add(summary.recreated, count(summary.recreated, "comes back", "come back"));
    parts.join(", ")
}

/// What to do now.
fn next(view: &PlanView<'_>) -> Vec<Said> {
    let request = &view.plan.request;
    let obstacles = mend_obstacles(view);
    if !obstacles.is_empty() {
        return keep_data(view).into_iter().chain(obstacles).chain(delete_first(view)).collect();
    }
    let is_leaving = |target: &ObjectId| view.snapshot.object(*target).terminating();
    if view.plan.outcomes.is_empty() || request.targets.iter().all(is_leaving) {
        let first = read_first(view).map(Said::from);
        return first.into_iter().chain(keep_data(view)).chain(explain_what_waits(view)).collect();
    }
    if !view.plan.stuck() {
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
        let command = delete_command(view, request.propagation);
        let saves = saved_in_vain(view)
            .map(|what| format!("no policy keeps {what}. This command saves everything first, then deletes it:"));
        let mut said = keep_data(view);
        if command.is_some() {
            let then =
                (!said.is_empty()).then(|| "then delete; an archive has objects, and no volume's data:".to_owned());
            said.extend(saves.or(then).map(Said::from));
        }
        said.extend(command);
        return said;
    }
    let mut said = keep_data(view);
    said.extend(delete_first(view));
    said.extend(causes(view));
    let stuck = |summary: &Summary| summary.stuck + summary.stuck_later;
    let better = view.instead.iter().find(|(propagation, summary)| {
        *propagation == Propagation::Background && stuck(summary) < stuck(&view.plan.summary)
    });
    let better = better.and_then(|(propagation, summary)| Some((summary, delete_command(view, *propagation)?)));
    if let Some((summary, command)) = better {
        let rest = if stuck(summary) == 0 { "nothing".to_owned() } else { format!("only {}", stuck(summary)) };
        let begin = if said.is_empty() { "" } else { "or " };
        said.push(Said::from(format!("{begin}delete it in the background: {rest} is stuck then")));
        said.push(command);
    }
    if said.is_empty() {
        said.push(Said::from("run kubectl gc tree to see which objects block it"));
    }
    said
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
        .then(|| format!("read first what may still refer to {}: {}", name(view, orphaning[0], None), named(&hidden)))
}

/// What mends the obstacles, or prevents them.
fn mend_obstacles(view: &PlanView<'_>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for obstacle in &view.plan.obstacles {
        let remedy = obstacles::remedy(obstacle);
        if !said.iter().any(|said| matches!(said, Said::Text(text) if text == remedy)) {
            said.push(Said::from(remedy));
        }
        // A configuration may have several webhooks that can't be reached.
        for command in obstacles::commands(view.snapshot, view.kubectl, obstacle) {
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
    let explain = first.and_then(|target| {
        let namespace = view.snapshot.text(view.snapshot.object(*target).namespace);
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
    let mut said: Vec<Said> = Vec::new();
    said.extend(causes(view));
    if stuck(view).any(|outcome| outcome.waits_for.iter().any(|other| !view.may_touch(*other))) {
        let begin = if said.is_empty() { "" } else { "or " };
        said.push(Said::from(format!(
            "{begin}let the sweep change the blocking objects, too: run kubectl gc sweep without -n and TARGETs"
        )));
    }
    if said.is_empty() && view.plan.stuck() {
        said.push(Said::from("run kubectl gc tree to see which objects block it"));
    }
    said
}

/// The controller that removes what blocks an object, if it runs, and goes in this delete.
fn goes_with<'v>(view: &PlanView<'v>, object: ObjectId, holder: BlockedBy) -> Option<&'v FinalizerController> {
    view.plan.controllers.get(object, holder).filter(|controller| controller.goes)
}

/// What goes before a controller: whether nobody asked to delete it, that controller, and the namespace.
type Before = (bool, String, Symbol);

/// The order that works where controllers go in this delete whose finalizers are on other objects: those objects first,
/// while their controllers run. What nobody asked to delete is to be planned: it may be worth more than its controller.
fn delete_first(view: &PlanView<'_>) -> Vec<Said> {
    let commands = Commands { snapshot: view.snapshot, kubectl: view.kubectl, guarded: false };
    let mut by_controller: BTreeMap<Before, (Option<ObjectId>, Vec<ObjectId>)> = BTreeMap::new();
    let is_abandoned = |note: &&Note| matches!(note.kind, NoteKind::Abandoned | NoteKind::PerhapsAbandoned);
    let abandoned = view.plan.notes.iter().filter(is_abandoned).map(|note| note.object);
    let held = abandoned.flat_map(|id| view.snapshot.object(id).finalizers.iter().map(move |of| (id, *of)));
    let held = held.map(|(id, finalizer)| (true, id, BlockedBy::Finalizer(finalizer)));
    let stays = |outcome: &&Outcome| matches!(outcome.state, Some(State::Stuck | State::Unknown));
    let staying = view.plan.outcomes.iter().chain(&view.plan.stays).filter(stays);
    let staying = staying.flat_map(|outcome| outcome.held_by.iter().map(|holder| (false, outcome.object, *holder)));
    for (is_unasked, object, holder) in staying.chain(held) {
        let Some(controller) = goes_with(view, object, holder) else { continue };
        let told = controller.told(view.snapshot).unwrap_or_else(|| holder.name(view.snapshot).to_owned());
        let place = view.snapshot.object(object).namespace;
        let (idle, objects) = by_controller.entry((is_unasked, told, place)).or_default();
        *idle = controller.idle;
        objects.push(object);
    }
    let mut said = Vec::new();
    for ((is_unasked, controller, namespace), (idle, mut objects)) in by_controller {
        if let Some(start) = idle.and_then(|workload| commands.scale_up(workload)) {
            said.extend([Said::from(format!("start {controller} first:")), Said::command(start)]);
        }
        objects.dedup();
        let words = objects.iter().take(MOST_TARGETS).map(|object| kubectl_name(view, *object));
        let archive = objects.first().map(|first| archive_of(view, *first)).filter(|_| !is_unasked);
        let verb = if is_unasked { "plan" } else { "delete" };
        let command = words.collect::<Option<Vec<String>>>().and_then(|words| {
            view.kubectl.plugin(verb).args(words).args(archive).in_namespace(view.snapshot.text(namespace))
        });
        let more = match objects.len().saturating_sub(MOST_TARGETS) {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        said.push(Said::from(match is_unasked {
            true => {
                let these = match objects.as_slice() {
                    [one] => name(view, *one, None),
                    all => count(all.len(), "object", "objects"),
                };
                format!("if {these} must go, too: delete first, while {controller} runs; see what that takes along:")
            }
            false => format!("delete first{more}, while {controller} runs to remove the finalizers:"),
        }));
        said.extend(command.as_ref().map(Said::command));
        said.push(Said::from("then plan again"));
    }
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
    let finished: BTreeSet<ObjectId> = stuck(view).flat_map(|outcome| finished_pods(view, outcome)).collect();
    let finished: Vec<ObjectId> = finished.into_iter().collect();
    if !finished.is_empty() {
        let pods = if finished.len() == 1 { "the finished pod" } else { "the finished pods" };
        let together = [view.plan.request.targets.as_slice(), &finished].concat();
        match command_about(view, "plan", &together).filter(|_| !view.is_sweep()) {
            Some(command) => said.extend([Said::from(format!("plan it with {pods}:")), Said::command(&command)]),
            None => said.push(Said::from(format!("delete {pods}, too"))),
        }
    }
    for outcome in stuck(view) {
        for holder in &outcome.held_by {
            let what = holder.name(view.snapshot);
            if known.contains(&what) || matches!(what, "foregroundDeletion" | "orphan") {
                continue;
            }
            known.push(what);
            let object = name(view, outcome.object, None);
            let mut say = |text: String| said.push(Said::from(text));
            match holder {
                BlockedBy::Finalizer(Symbol::DEFINITION) if outcome.waits_for.is_empty() => {
                    let plural = view.snapshot.text(view.snapshot.object(outcome.object).name);
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
                    let waits = !outcome.waits_for.is_empty() || outcome.held_by.contains(&BlockedBy::Kubelet);
                    let controller = view.plan.controllers.get(outcome.object, *holder);
                    said.extend(start_controller(view, outcome.object, *holder, controller, waits, again));
                }
                BlockedBy::Kubelet => said.push(no_kubelet(&object)),
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
                BlockedBy::Webhook(..) | BlockedBy::Policy(_) | BlockedBy::Schema(_) | BlockedBy::Api(_) => {}
                BlockedBy::Said => said.extend(explain_what_waits(view)),
            }
            if said.iter().filter(|said| matches!(said, Said::Text(_))).count() >= NAMED_CAUSES {
                return said;
            }
        }
    }
    let later = view.plan.once_later().filter(|finished| finished.state == State::Stuck);
    for (object, holder) in later.flat_map(|it| it.blockers.iter().map(|holder| (it.object, *holder))) {
        if holder == BlockedBy::Kubelet && !known.contains(&"kubelet") {
            known.push("kubelet");
            said.push(no_kubelet(&name(view, object, None)));
        }
        let new = holder.finalizer().is_some() && !known.contains(&holder.name(view.snapshot));
        if new && said.iter().filter(|said| matches!(said, Said::Text(_))).count() < NAMED_CAUSES {
            known.push(holder.name(view.snapshot));
            let controller = view.plan.then.as_ref().and_then(|then| then.controllers.get(object, holder));
            said.extend(start_controller(view, object, holder, controller, false, again));
        }
    }
    said
}

/// What to do about a pod whose kubelet is silent.
fn no_kubelet(pod: &str) -> Said {
    Said::from(format!("if the node of {pod} will not come back, delete the pod with --force"))
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
    let (what, named) = (holder.name(view.snapshot), name(view, object, None));
    // `delete_first` has the order for those that go.
    if controller.is_some_and(|controller| controller.goes || controller.runs()) {
        return Vec::new();
    }
    let is_built_in = holder.controller(view.snapshot, object).is_some() && controller.is_none();
    if is_built_in && waits {
        return Vec::new();
    }
    let away = controller.filter(|controller| controller.is_away());
    let told = away.and_then(|controller| controller.told(view.snapshot));
    let commands = Commands { snapshot: view.snapshot, kubectl: view.kubectl, guarded: false };
    let scale = away.and_then(|controller| controller.idle).and_then(|workload| commands.scale_up(workload));
    let perhaps = controller.filter(|controller| !controller.is_away()).and_then(|it| it.may_be.first().copied());
    if let (Some(workload), None) = (perhaps, &told) {
        let workload_name = name(view, workload, Some(object));
        let text = format!("see whether {workload_name} removes {what} from {named}, then {again} again:");
        return [Said::from(text)].into_iter().chain(commands.logs(workload).as_ref().map(Said::command)).collect();
    }
    let text = match (told, &scale) {
        (Some(told), Some(_)) => format!("start {told}, which removes {what} from {named}, then {again} again:"),
        (Some(told), None) => {
            format!("install or start {told} again, which removes {what} from {named}, then {again} again")
        }
        (None, _) => format!(
            "check that the controller that removes {what} is running ({named} has this finalizer), then {again} again"
        ),
    };
    [Said::from(text)].into_iter().chain(scale.as_ref().map(Said::command)).collect()
}

/// How to keep the data of volumes that go with their claims.
fn keep_data(view: &PlanView<'_>) -> Vec<Said> {
    let losses = view.plan.all_effects().filter(|effect| effect.kind == EffectKind::DataLost);
    let commands = Commands { snapshot: view.snapshot, kubectl: view.kubectl, guarded: false };
    let holders = losses.flat_map(|effect| effect.related.iter().copied().chain([effect.object]));
    let volumes: BTreeSet<ObjectId> = holders.filter(|id| commands.holds_data(*id)).collect();
    let some: Vec<ObjectId> = volumes.iter().copied().take(MOST_TARGETS).collect();
    let each = some.iter().filter_map(|volume| commands.retain(*volume));
    let each: Vec<String> = each.map(|command| command.to_string()).collect();
    if each.is_empty() {
        return Vec::new();
    }
    let which = match volumes.len() {
        1 => "its volume".to_owned(),
        all if all > MOST_TARGETS => format!("each of {} volumes", thousands(all)),
        _ => "the volumes".to_owned(),
    };
    let text = match volumes.iter().all(|id| commands.is_volume(*id)) {
        true => format!("to keep the data, set the reclaim policy of {which} to Retain first:"),
        false => "to keep the data, set the policy of what holds it to Retain first:".to_owned(),
    };
    let together = commands.retain_all(&some).filter(|_| each.len() > 1);
    let retain = match together {
        Some(command) => vec![Said::Together(each, command.to_string())],
        None => each.into_iter().map(Said::Command).collect(),
    };
    [Said::Text(text)].into_iter().chain(retain).collect()
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
    let (targets, keep) = (&view.plan.request.targets, keep::flags(view));
    let grace = view.plan.request.grace.map(|grace| match grace {
        0 => "--force".to_owned(),
        seconds => format!("--grace-period={seconds}"),
    });
    let counts = view.verdict().counts;
    let saves = saved_in_vain(view).is_some() || counts.data_lost + counts.external > 0;
    let archive = targets.first().filter(|_| saves).map(|first| archive_of(view, *first));
    let policy = format!("--propagation={}", propagation.name().to_lowercase());
    let policy = (!is_policy_ignored(view)).then_some(policy);
    let flags: Vec<String> = policy.into_iter().chain(keep).chain(grace).chain(archive).collect();
    Some(match command_about(view, "delete", targets) {
        Some(command) => Said::command(command.args(flags)),
        None if targets.iter().all(|target| kubectl_name(view, *target).is_some()) => {
            let archive = if saves { ", with --archive=FILE" } else { "" };
            Said::from(format!("to do it, write delete in place of plan{archive}"))
        }
        None => return None,
    })
}

/// The flag that writes an archive, called after an object.
fn archive_of(view: &PlanView<'_>, object: ObjectId) -> String {
    format!("--archive={}.yaml", view.snapshot.text(view.snapshot.object(object).name))
}

/// A command of this plugin about objects, if one namespace has them all, and there are not too many.
fn command_about(view: &PlanView<'_>, verb: &'static str, objects: &[ObjectId]) -> Option<ShellCommand> {
    let mut namespaces: Vec<&str> =
        objects.iter().map(|object| view.snapshot.text(view.snapshot.object(*object).namespace)).collect();
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
    let found = view.snapshot.object(object);
    let resource = view.snapshot.resources.get(found.resource);
    object_word(&resource.plural, &resource.group, view.snapshot.text(found.name))
}
