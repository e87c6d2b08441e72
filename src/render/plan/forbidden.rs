//! What forbids or prevents a delete, in JSON and in words: the gates that it violates, and obstacles, which are
//! broken, or which it breaks.

use serde::Serialize;

use gc_core::{
    command_line::ShellCommand,
    model::{ObjectId, ResourceId, Snapshot, effects::Guard, facts::Webhook, gaps::in_words},
    plan::{EffectClass, Gate, GateViolation, VerdictResult},
    simulate::{Obstacle, ObstacleKind, obstacles::is_on},
    wording::{count, some_of, thousands},
};

use super::{NAMED, PlanView};

/// A violated gate.
#[derive(Debug, Serialize)]
pub(super) struct GateJson<'a> {
    #[serde(flatten)]
    gate: Gate,
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<ObjectId>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    uncounted: &'a [ResourceId],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<String>,
    message: String,
}

impl<'a> GateJson<'a> {
    /// A violated gate as JSON shows it.
    pub(super) fn of(snapshot: &Snapshot, violation: &'a GateViolation) -> Self {
        // For other gates, the outcomes already show which objects are deleted.
        let is_named = matches!(violation.gate, Gate::Deny { .. } | Gate::DenyEffect { .. });
        let objects = violation.objects.iter().filter(|_| is_named);
        GateJson {
            gate: violation.gate,
            removed: violation.removed(),
            objects: objects.copied().collect(),
            uncounted: &violation.uncounted,
            unread: violation.unread.iter().map(ToString::to_string).collect(),
            message: describe_gate(snapshot, violation),
        }
    }
}

/// The violation in a sentence: `--deny=pods: 2 such objects would be deleted (Pod/a, Pod/b).`
pub fn describe_gate(snapshot: &Snapshot, violation: &GateViolation) -> String {
    let uncounted = violation.uncounted.iter().map(|resource| snapshot.resources.get(*resource).full_name());
    let uncounted: Vec<String> = uncounted.collect();
    let removed: usize = violation.removed().try_into().unwrap_or(usize::MAX);
    let unread = (!violation.unread.is_empty()).then(|| in_words(&violation.unread));
    let and = |before: &str| unread.as_ref().map_or(String::new(), |unread| format!("{before}: {unread}"));
    let mut parts = Vec::new();
    match violation.gate {
        Gate::Deny { .. } => {
            if removed > 0 {
                let more = if uncounted.is_empty() { "" } else { ", and more; how many is not known" };
                let objects = count(removed, "such object", "such objects");
                parts.push(format!("{objects} would be deleted{more}{}", objects_of(snapshot, violation, removed)));
            } else if !uncounted.is_empty() {
                parts.push("these objects would be deleted with the namespace; how many is not known".to_owned());
            }
            parts.extend(unread.map(|unread| format!("some may be deleted that could not be read: {unread}")));
        }
        Gate::Max { .. } => {
            let more = match uncounted.is_empty() {
                true => String::new(),
                false => format!("; how many {} is not known", uncounted.join(", ")),
            };
            let unread = and("; more may be, which could not be read");
            parts.push(format!("{} would be deleted{more}{unread}", count(removed, "object", "objects")));
        }
        Gate::DenyEffect { effect } => {
            let has = match (effect, removed) {
                (EffectClass::DataLoss, 1) => "object loses its data, or may",
                (EffectClass::DataLoss, _) => "objects lose their data, or may",
                (EffectClass::External, 1) => "object deletes something outside the owner graph, or may",
                (EffectClass::External, _) => "objects delete something outside the owner graph, or may",
                (EffectClass::Unknown, 1) => "object has an effect that is not known",
                (EffectClass::Unknown, _) => "objects have an effect that is not known",
            };
            if removed > 0 {
                parts.push(format!("{} {has}{}", thousands(removed), objects_of(snapshot, violation, removed)));
            }
            let not_read: Vec<String> = unread.into_iter().chain(uncounted).collect();
            if !not_read.is_empty() {
                parts.push(format!("what could not be read may have such an effect: {}", not_read.join(", ")));
            }
        }
        Gate::FailOn { result: fail_on } => {
            let result = violation.verdict.unwrap_or(fail_on);
            let why = match result {
                VerdictResult::Refused => "the API server would refuse it",
                VerdictResult::TakesDown => "a webhook or an API would lose its backend",
                VerdictResult::DataLoss => "data would be lost",
                VerdictResult::Stuck => "something would stay Terminating, and nobody is known to finish it",
                VerdictResult::Depends => "something would stay Terminating until others act that may not run",
                VerdictResult::Waits => "something would stay Terminating until others act",
                VerdictResult::Unsure => "something is not certain",
                VerdictResult::External => "something outside the owner graph would be deleted",
                VerdictResult::Deletes => "something would be deleted or changed",
                VerdictResult::Nothing => "nothing would be changed",
            };
            let worse = if result < fail_on { ", which is worse" } else { "" };
            parts.push(format!("{why}{worse}{}", and("; what could not be read")));
        }
    }
    format!("{}: {}.", gate_flag(snapshot, violation), parts.join("; "))
}

/// The flag that the plan violates: `--deny=pods`.
pub(super) fn gate_flag(snapshot: &Snapshot, violation: &GateViolation) -> String {
    match violation.gate {
        Gate::Deny { resource } => format!("--deny={}", snapshot.resources.get(resource).full_name()),
        Gate::Max { max } => format!("--max={max}"),
        Gate::DenyEffect { effect } => format!("--deny-effect={}", effect.name()),
        Gate::FailOn { result } => format!("--fail-on={}", result.name()),
    }
}

/// ` (Pod/a, Pod/b and 3 more)`: some of the objects; empty if none has a name.
fn objects_of(snapshot: &Snapshot, violation: &GateViolation, removed: usize) -> String {
    let names: Vec<String> = violation.objects.iter().take(NAMED).map(|id| snapshot.short_name(*id)).collect();
    match (names.is_empty(), removed.saturating_sub(names.len())) {
        (true, _) => String::new(),
        (false, 0) => format!(" ({})", names.join(", ")),
        (false, more) => format!(" ({} and {} more)", names.join(", "), thousands(more)),
    }
}

/// One obstacle.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObstacleJson<'a> {
    obstacle: &'static str,
    object: ObjectId,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<&'a str>,
    taken_down: bool,
    message: String,
    resources: &'a [ResourceId],
    prevents: &'a [ObjectId],
    commands: Vec<ShellCommand>,
}

impl<'a> ObstacleJson<'a> {
    pub(super) fn of(view: &PlanView<'a>, obstacle: &'a Obstacle) -> Self {
        ObstacleJson {
            obstacle: obstacle.kind.name(),
            object: obstacle.kind.object(),
            webhook: webhook(view.snapshot, obstacle.kind).map(|webhook| webhook.name.as_str()),
            taken_down: obstacle.taken_down,
            message: describe_obstacle(view, obstacle),
            resources: &obstacle.resources,
            prevents: &obstacle.prevents,
            commands: view.commands().past(obstacle).into_iter().flat_map(|remedy| remedy.commands).collect(),
        }
    }
}

fn webhook(snapshot: &Snapshot, kind: ObstacleKind) -> Option<&Webhook> {
    let ObstacleKind::WebhookUnreachable { configuration, place } = kind else { return None };
    snapshot.facts.webhooks(configuration)?.webhooks.get(place as usize)
}

/// What prevents some of it, and what follows from that.
pub(in crate::render) fn obstacles(view: &PlanView<'_>) -> impl Iterator<Item = String> {
    view.plan.obstacles.iter().map(|obstacle| describe_obstacle(view, obstacle))
}

/// The obstacle and its consequence.
pub(super) fn describe_obstacle(view: &PlanView<'_>, obstacle: &Obstacle) -> String {
    let snapshot = view.snapshot;
    let what = match view.plan.request.appearing.is_empty() {
        false => "apply",
        true if view.is_sweep() => "sweep",
        true => "delete",
    };
    let name = snapshot.short_name(obstacle.kind.object());
    let Obstacle { why, taken_down, prevents, .. } = obstacle;
    let stay = match prevents.len() {
        0 => String::new(),
        number => format!(
            " {} that this {what} would otherwise delete or change: {}.",
            count(number, "object stays", "objects stay"),
            some_of(prevents.iter().map(|id| snapshot.short_name(*id)), NAMED)
        ),
    };
    let after = if *taken_down { format!("After this {what}") } else { "Now".to_owned() };
    match obstacle.kind {
        ObstacleKind::ControllersAway { .. } if view.is_sweep() => format!(
            "no controller manager is known to run: {why}. A sweep does the collector's work; without a controller \
             manager, no namespace is emptied, and its other controllers remove no finalizers.{stay}"
        ),
        ObstacleKind::ControllersAway { .. } => format!(
            "no controller manager is known to run: {why}. Without it, nothing is collected, no namespace is emptied, \
             and foreground deletes never finish.{stay}"
        ),
        ObstacleKind::WebhookUnreachable { .. } => format!(
            "the API server must call the webhook {} of {name} before it {} {}. {after}, {}.{stay}",
            webhook(snapshot, obstacle.kind).map_or("", |webhook| &webhook.name),
            webhook(snapshot, obstacle.kind).map_or("deletes or changes", |webhook| {
                webhook.asked_before(obstacle.resources.iter().map(|id| snapshot.resources.get(*id)))
            }),
            resources(snapshot, obstacle),
            if *taken_down { format!("nobody can: {why}") } else { format!("it can't: {why}") },
        ),
        ObstacleKind::PolicyRefuses { binding, .. } => format!(
            "{}{name}, bound by {}, refuses all {} that it matches: {why}.{stay}",
            if *taken_down { format!("after this {what}, ") } else { String::new() },
            snapshot.short_name(binding),
            if *taken_down { "writes" } else { "deletes and changes" },
        ),
        ObstacleKind::DeleteProtected { by, guard } => {
            let protected: Vec<ObjectId> = protected(view, obstacle, guard).collect();
            let names = some_of(protected.iter().map(|id| snapshot.short_name(*id)), NAMED);
            let refuses = match protected.contains(&by) {
                true if guard.is_built_in() => "its API server refuses".to_owned(),
                true => "a webhook refuses".to_owned(),
                false => format!("a webhook of {name} refuses"),
            };
            let stay = if prevents.len() > protected.len() { stay } else { String::new() };
            format!("{names}: {why}, and {refuses} to delete what says so.{stay}")
        }
        ObstacleKind::SchemaRefuses { .. } => format!(
            "the API server refuses every change of objects that no longer satisfy the schema of {name}: {why}. The \
             collector can't remove their finalizers or references.{stay}"
        ),
        ObstacleKind::ApiUnavailable { .. } => format!(
            "{name} does not answer{}: {why}. Its objects can't be read or deleted then, and every namespace that is \
             deleted stays Terminating.{stay}",
            if *taken_down { format!(" after this {what}") } else { String::new() }
        ),
        ObstacleKind::ConversionBroken { .. } => format!(
            "a webhook converts the objects of {name} between its versions. {after}, nobody can: {why}. They can't be \
             read in another version than they are stored in, and {name} can't be deleted.{stay}"
        ),
    }
}

/// Of what an obstacle prevents, what has the value for which it may not be deleted.
fn protected<'v>(
    view: &'v PlanView<'_>,
    obstacle: &'v Obstacle,
    guard: &'static Guard,
) -> impl Iterator<Item = ObjectId> + 'v {
    obstacle
        .prevents
        .iter()
        .copied()
        .filter(move |id| guard.may_be_on(view.snapshot.resource(*id)) && is_on(view.snapshot, *id, guard))
}

fn resources(snapshot: &Snapshot, obstacle: &Obstacle) -> String {
    let resources = &obstacle.resources;
    let kinds = if resources.len() > NAMED { " kinds" } else { "" };
    let named = some_of(resources.iter().map(|id| snapshot.resources.get(*id).full_name()), NAMED);
    format!("{named}{kinds}")
}
