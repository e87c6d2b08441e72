//! What is broken, or what a delete breaks, and what that prevents; in JSON and in words.

use serde::Serialize;

use crate::{
    command_line::{Kubectl, ShellCommand},
    doctor::{commands::Commands, policies::way_past},
    document::ObjectJson,
    model::{ObjectId, Snapshot, facts::Webhook},
    simulate::{Obstacle, ObstacleKind},
    wording::count,
    wording::some_of,
};

use super::PlanView;

/// At most this many objects and resources are named.
const NAMED: usize = 3;

/// Lists the pods of the controller manager, if the control plane runs in pods.
const SEE_MANAGER: [&str; 5] = ["pods", "-n", "kube-system", "-l", "component=kube-controller-manager"];

/// One obstacle.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObstacleJson<'a> {
    obstacle: &'static str,
    object: ObjectJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<&'a str>,
    taken_down: bool,
    message: String,
    resources: Vec<String>,
    prevents: Vec<ObjectJson<'a>>,
    commands: Vec<String>,
}

impl<'a> ObstacleJson<'a> {
    pub(super) fn all_of(view: &PlanView<'a>) -> Vec<Self> {
        view.plan.obstacles.iter().map(|obstacle| ObstacleJson::of(view, obstacle)).collect()
    }

    fn of(view: &PlanView<'a>, obstacle: &'a Obstacle) -> Self {
        let (snapshot, kubectl) = (view.snapshot, view.kubectl);
        ObstacleJson {
            obstacle: obstacle.kind.name(),
            object: ObjectJson::of(snapshot, obstacle.kind.object()),
            webhook: webhook(snapshot, obstacle.kind).map(|webhook| webhook.name.as_str()),
            taken_down: obstacle.taken_down,
            message: describe(view, obstacle),
            resources: obstacle.resources.iter().map(|id| snapshot.resources.get(*id).full_name()).collect(),
            prevents: obstacle.prevents.iter().map(|id| ObjectJson::of(snapshot, *id)).collect(),
            commands: commands(snapshot, kubectl, obstacle).iter().map(ToString::to_string).collect(),
        }
    }
}

fn webhook(snapshot: &Snapshot, kind: ObstacleKind) -> Option<&Webhook> {
    let ObstacleKind::WebhookUnreachable { configuration, place } = kind else { return None };
    snapshot.facts.webhooks(configuration)?.webhooks.get(place as usize)
}

/// The obstacle and its consequence.
pub(super) fn describe(view: &PlanView<'_>, obstacle: &Obstacle) -> String {
    let snapshot = view.snapshot;
    let what = if view.is_sweep() { "sweep" } else { "delete" };
    let name = snapshot.short_name(obstacle.kind.object());
    let Obstacle { why, taken_down, prevents, .. } = obstacle;
    let stay = match prevents.len() {
        0 => String::new(),
        number => format!(
            " {} that this {what} would otherwise delete or change: {}.",
            count(number, "object stays", "objects stay"),
            names(snapshot, prevents)
        ),
    };
    let after = if *taken_down { format!("After this {what}") } else { "Now".to_owned() };
    match obstacle.kind {
        ObstacleKind::ControllersAway { .. } => format!(
            "no controller manager seems to run: {why}. Without it, nothing is collected, no namespace is emptied, and \
             foreground deletes never finish.{stay}"
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
            "{name}, bound by {}, refuses all deletes and changes that it matches: {why}.{stay}",
            snapshot.short_name(binding)
        ),
        ObstacleKind::SchemaRefuses { .. } => format!(
            "the API server refuses every change of objects that no longer satisfy the schema of {name}: {why}. The \
             collector can't remove their finalizers or references.{stay}"
        ),
        ObstacleKind::ApiUnavailable { .. } => format!(
            "{name} does not answer{}: {why}. Its objects can't be read or deleted then, and every namespace that is \
             deleted stays Terminating.{stay}",
            if *taken_down { format!(" after this {what}") } else { String::new() }
        ),
    }
}

fn names(snapshot: &Snapshot, objects: &[ObjectId]) -> String {
    some_of(objects.iter().map(|id| snapshot.short_name(*id)), NAMED)
}

fn resources(snapshot: &Snapshot, obstacle: &Obstacle) -> String {
    let resources = &obstacle.resources;
    let kinds = if resources.len() > NAMED { " kinds" } else { "" };
    let named = some_of(resources.iter().map(|id| snapshot.resources.get(*id).full_name()), NAMED);
    format!("{named}{kinds}")
}

/// What to do about it.
pub(super) fn remedy(obstacle: &Obstacle) -> &'static str {
    match (obstacle.kind, obstacle.taken_down) {
        (ObstacleKind::ControllersAway { .. }, _) => {
            "start the controller manager, or let kubectl gc sweep do the collector's work. Its pods, where it has any:"
        }
        (ObstacleKind::WebhookUnreachable { .. }, true) => "delete the webhook's configuration first:",
        (ObstacleKind::WebhookUnreachable { .. }, false) => {
            "repair the webhook's service or, if its application is no longer installed, delete its configuration:"
        }
        (ObstacleKind::PolicyRefuses { lacks_parameters, .. }, _) => way_past(lacks_parameters).0,
        (ObstacleKind::SchemaRefuses { .. }, _) => {
            "make the objects satisfy the schema, or delete with --cascade=background, which changes none of them:"
        }
        (ObstacleKind::ApiUnavailable { .. }, true) => {
            "delete the APIService first; objects that the API stores elsewhere are kept:"
        }
        (ObstacleKind::ApiUnavailable { .. }, false) => {
            "repair the API's service or, if the API is no longer needed, delete its APIService:"
        }
    }
}

/// Commands that show or mend it.
pub(super) fn commands(snapshot: &Snapshot, kubectl: &Kubectl, obstacle: &Obstacle) -> Vec<ShellCommand> {
    let commands = Commands { snapshot, kubectl, guarded: false };
    match obstacle.kind {
        ObstacleKind::ControllersAway { .. } => vec![kubectl.verb("get").args(SEE_MANAGER)],
        ObstacleKind::SchemaRefuses { .. } => {
            let invalid = obstacle.prevents.iter().filter(|id| snapshot.schema_fault(**id).is_some());
            invalid.take(NAMED).filter_map(|id| commands.edit(*id)).collect()
        }
        ObstacleKind::PolicyRefuses { binding, lacks_parameters, .. } => {
            commands.merge(binding, &way_past(lacks_parameters).1).into_iter().collect()
        }
        kind => commands.about("delete", kind.object()).into_iter().collect(),
    }
}
