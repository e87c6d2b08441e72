//! What is told of obstacles: what each prevents, and why a write is refused.

use strum::IntoStaticStr;

use crate::model::{Coordinate, ObjectId, Presence, ResourceId, Snapshot, effects::Guard};

use super::heeded::{Lack, Operation};

/// Something that is broken, or that the delete breaks, and what that prevents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub kind: ObstacleKind,
    /// A clause: "its service shop/hook does not exist".
    pub why: String,
    /// Whether it works before this delete, which removes its backend.
    pub taken_down: bool,
    /// Objects that this delete would remove or change without the obstacle, and will once it is mended.
    pub prevents: Vec<ObjectId>,
    /// The workload behind its Service that is scaled to 0: what has to be started.
    pub idle: Option<ObjectId>,
    /// Whether it is a webhook that refuses what starts that workload.
    pub refuses_start: bool,
    /// For an absent controller manager: whether some of that is the collector's work, which a sweep does.
    pub collected: bool,
    /// For a webhook: the resources that nobody can delete or change meanwhile, as far as its selectors match; if there
    /// are none, those of which nobody can create an object.
    pub resources: Vec<ResourceId>,
}

impl Obstacle {
    pub(super) fn new(kind: ObstacleKind, why: String, taken_down: bool) -> Self {
        Obstacle {
            kind,
            why,
            taken_down,
            prevents: Vec::new(),
            idle: None,
            refuses_start: false,
            collected: false,
            resources: Vec::new(),
        }
    }
}

/// The sort of an obstacle. Its JSON name never changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ObstacleKind {
    /// No controller manager runs, by this Lease (S7): no collector and no namespace controller.
    #[strum(serialize = "collector-stopped")]
    ControllersAway { lease: ObjectId },
    /// A webhook of this configuration must be called, and can't be (S9).
    WebhookUnreachable { configuration: ObjectId, place: u32 },
    /// This policy refuses whatever it matches, because of this binding; perhaps only as long as its parameters are
    /// lacking.
    PolicyRefuses { policy: ObjectId, binding: ObjectId, lacks_parameters: bool },
    /// A value of objects makes a webhook of this configuration refuse to delete them, or the API server of the one
    /// object (R9.48).
    DeleteProtected { by: ObjectId, guard: &'static Guard },
    /// Objects no longer satisfy the schema of this CustomResourceDefinition, so the API server refuses to change them
    /// (R1.36).
    #[strum(serialize = "stuck-on-schema")]
    SchemaRefuses { definition: ObjectId },
    /// This APIService's API doesn't answer (S11).
    ApiUnavailable { service: ObjectId },
    /// The conversion webhook of this CustomResourceDefinition can't be called (S9).
    ConversionBroken { definition: ObjectId },
}

named!(ObstacleKind);

impl ObstacleKind {
    /// The Lease, the webhook configuration, the policy, the CustomResourceDefinition, the APIService, or what its own
    /// API server protects.
    pub fn object(self) -> ObjectId {
        match self {
            ObstacleKind::ControllersAway { lease: object }
            | ObstacleKind::WebhookUnreachable { configuration: object, .. }
            | ObstacleKind::PolicyRefuses { policy: object, .. }
            | ObstacleKind::DeleteProtected { by: object, .. }
            | ObstacleKind::SchemaRefuses { definition: object }
            | ObstacleKind::ConversionBroken { definition: object }
            | ObstacleKind::ApiUnavailable { service: object } => object,
        }
    }
}

/// A write that the API server refuses: it can't call a webhook, or because of a policy or a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefusedWrite {
    pub operation: Operation,
    pub by: RefusedBy,
}

/// Positions in [`super::heeded::Admission`], and a CustomResourceDefinition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedBy {
    Hook(u32),
    Policy(u32),
    Schema(ObjectId),
    /// For this value: a webhook of this configuration, or the object's own API server.
    Guard(ObjectId, &'static Guard),
}

/// Why an object is not created again (R9.44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Refusal {
    /// This webhook must allow it, and can't be called.
    #[strum(serialize = "webhook-unreachable")]
    Webhook { configuration: ObjectId, place: u32, lack: Lack },
    /// This policy refuses it because of this binding, perhaps only for lack of parameters.
    #[strum(serialize = "policy-refuses")]
    Policy { policy: ObjectId, binding: ObjectId, lacks_parameters: bool },
    /// It names this, which doesn't exist, or goes in this delete.
    Missing(Coordinate),
    /// Nothing refuses it, but no controller manager runs, which would do it.
    #[strum(serialize = "collector-stopped")]
    ManagerAway,
}

named!(Refusal);

impl Refusal {
    /// The same as a clause.
    pub fn describe(self, snapshot: &Snapshot) -> String {
        match self {
            Refusal::Webhook { configuration, place, lack } => {
                let facts = snapshot.facts.webhooks(configuration);
                let webhook = facts.and_then(|facts| facts.webhooks.get(place as usize));
                format!(
                    "the webhook {} of {} must allow that, and can't be called: {}",
                    webhook.map_or("", |webhook| &webhook.name),
                    snapshot.short_name(configuration),
                    lack.describe(webhook.and_then(|webhook| webhook.backend.as_ref()))
                )
            }
            Refusal::Policy { policy, binding, lacks_parameters } => {
                let [policy, binding] = [policy, binding].map(|id| snapshot.short_name(id));
                let without = if lacks_parameters { " without its parameters" } else { "" };
                format!("{policy}, bound by {binding}, refuses that{without}")
            }
            Refusal::Missing(at) => {
                let kind = &snapshot.resources.get(at.resource).kind;
                let goes = matches!(snapshot.look_up(at), Presence::Present(_));
                let how = if goes { "goes in this delete" } else { "does not exist" };
                format!("its {kind} {} {how}", snapshot.text(at.name))
            }
            Refusal::ManagerAway => "that needs a controller manager, and none runs".to_owned(),
        }
    }
}
