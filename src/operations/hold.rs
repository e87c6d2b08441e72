//! What `delete --hold` and `cancel` have in common: records of objects in a snapshot, and their dependents.

use serde_json::Value;

use crate::{
    act::HoldFailure,
    cluster::path,
    graph::OwnerGraph,
    hold::{About, HeldDependent, HoldRecord, Stage, adopts},
    model::{Identity, Mapping, ObjectId, Snapshot, group_of},
};

/// What went wrong with one of several objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} was not {what}: {why}{}", rest(.others))]
pub struct HoldTrouble {
    /// `Kind/name -n NAMESPACE`
    pub object: String,
    /// `held`, `let go`, `taken back`
    pub what: &'static str,
    pub why: HoldFailure,
    /// What is to be known of others: a sentence for each.
    pub others: Vec<String>,
}

fn rest(others: &[String]) -> String {
    others.iter().map(|other| format!("\n{other}")).collect()
}

/// What came of one hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldOutcome {
    /// It waits, at least until this time, and until somebody lets it go.
    Held { until: String },
    /// It exists again, and its dependents have references to it.
    TakenBack,
    /// It would.
    WouldBeTakenBack,
    /// It was never deleted; its hold is removed.
    NotDeleted,
    /// Its delete went on before.
    GoneOn,
    /// It was taken back, and deleted again since.
    DeletedAgain,
    /// Another client takes it back, or has.
    ByOthers,
    /// Why it isn't taken back yet.
    Failed(HoldFailure),
}

/// One hold, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldResult {
    /// As it was deleted.
    pub object: Identity,
    pub outcome: HoldOutcome,
    /// The namespace and the name of its Secret.
    pub secret: (String, String),
    pub new_uid: Option<String>,
    /// How many dependents it has.
    pub dependents: usize,
    pub notes: Vec<String>,
}

/// The record of an object that was read whole. None if its name is no path in the API.
pub(super) fn record(snapshot: &Snapshot, id: ObjectId, whole: Value, until: String) -> Option<HoldRecord> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let (namespace, name) = (snapshot.text(object.namespace), snapshot.text(object.name));
    let about = About {
        path: path::of_object(resource, namespace, name)?.url().to_owned(),
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        uid: snapshot.text(object.uid).to_owned(),
        has_status: resource.has_status,
        until,
        stage: Stage::Held,
        new_uid: None,
        dependents: Vec::new(),
    };
    Some(HoldRecord { about, object: whole })
}

/// The dependents of an object, by its uid. One in another namespace is none (R3.7).
pub(super) fn dependents(snapshot: &Snapshot, owner: &Identity) -> Vec<HeldDependent> {
    let graph = OwnerGraph::new(snapshot);
    let node = snapshot.strings.find(&owner.uid).and_then(|uid| graph.by_uid(uid));
    let ids = node.map_or(&[][..], |node| graph.dependents(node));
    ids.iter().filter_map(|id| dependent(snapshot, *id, owner)).collect()
}

fn dependent(snapshot: &Snapshot, id: ObjectId, owner: &Identity) -> Option<HeldDependent> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let namespace = snapshot.text(object.namespace);
    if !owner.namespace.is_empty() && namespace != owner.namespace {
        return None;
    }
    let name = snapshot.text(object.name);
    let written = object.owners.iter().find(|reference| snapshot.text(reference.uid) == owner.uid)?;
    let reference = serde_json::to_value(crate::document::ReferenceJson::of(snapshot, written)).ok()?;
    let owner_group = group_of(&owner.api_version);
    let adopted = written.is_controller()
        && adopts((owner_group, owner.kind.as_str()), (resource.group.as_str(), resource.kind.as_str()));
    Some(HeldDependent {
        path: path::of_object(resource, namespace, name)?.url().to_owned(),
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        uid: snapshot.text(object.uid).to_owned(),
        reference,
        adopted,
    })
}

/// The uids of owners of an object that verifiably don't exist: with a reference to one, a new object would be deleted
/// at once.
pub(super) fn lost_owners(snapshot: &Snapshot, whole: &Value) -> Vec<String> {
    let namespace = whole["metadata"]["namespace"].as_str().unwrap_or_default();
    let references = whole["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let text = |reference: &Value, field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let is_lost = |reference: &&Value| {
        let uid = text(reference, "uid");
        let there = snapshot.strings.find(&uid).is_some_and(|uid| snapshot.by_uid(uid).is_some());
        let mapping = snapshot.resources.map(&text(reference, "apiVersion"), &text(reference, "kind"));
        let covered = match mapping {
            Mapping::Served(resource) => {
                let place = Some(namespace).filter(|namespace| !namespace.is_empty());
                let symbol = place.and_then(|namespace| snapshot.strings.find(namespace));
                snapshot.covers(resource, symbol) || snapshot.covers(resource, None)
            }
            _ => false,
        };
        !there && covered
    };
    references.filter(is_lost).map(|reference| text(reference, "uid")).collect()
}
