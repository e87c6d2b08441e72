//! All that is known of one object, as text.

use crate::render::{escape::visible, style::Tone};
use gc_core::{
    model::{Identity, ObjectId},
    tree::{ReferenceStatus, ResolvedReference, State as Terminating},
    wording::{age, count},
};

use super::super::{scene::Scene, text::Line};

/// An owner that an object names.
pub(super) struct Owner {
    /// The object with its uid, if there is one.
    pub identity: Option<Identity>,
    /// `Kind/name`, and what is wrong with the reference.
    pub words: String,
    pub valid: bool,
}

/// `Kind/name -n namespace`, escaped.
pub(super) fn name(scene: &Scene, object: ObjectId) -> String {
    let short = scene.snapshot.short_name(object);
    visible(&match scene.namespace(object) {
        "" => short,
        namespace => format!("{short} -n {namespace}"),
    })
    .into_owned()
}

/// The owners that an object names, in its order.
pub(super) fn owners(scene: &Scene, id: ObjectId) -> Vec<Owner> {
    let (snapshot, graph) = (&scene.snapshot, &scene.graph);
    let object = snapshot.object(id);
    let owner = |reference: &gc_core::model::Reference| {
        let link = ResolvedReference::of(snapshot, graph, object, reference);
        let found = graph.by_uid(reference.uid).and_then(|node| graph.object(node)).or(link.found);
        let flags = match (reference.is_controller(), reference.blocks()) {
            (true, true) => "; controller, blocks its foreground delete",
            (true, false) => "; controller",
            (false, true) => "; blocks its foreground delete",
            (false, false) => "",
        };
        let standing = match link.standing {
            ReferenceStatus::Solid => "exists".to_owned(),
            ReferenceStatus::Waiting => "exists, waits for its dependents".to_owned(),
            ReferenceStatus::Unread => "could not be read: it is not known whether it exists".to_owned(),
            ReferenceStatus::Absent => "missing".to_owned(),
            ReferenceStatus::OtherUid => "missing: that name has another uid now".to_owned(),
            ReferenceStatus::OtherNamespace => "invalid: the owner is in another namespace".to_owned(),
            ReferenceStatus::InvalidScope => "invalid: cluster-scoped, but the owner is namespaced".to_owned(),
            ReferenceStatus::NotServed => "its kind is not served".to_owned(),
            ReferenceStatus::ListKind => "invalid: a list kind".to_owned(),
            ReferenceStatus::OtherName | ReferenceStatus::OtherKind => {
                let is = found.map(|object| snapshot.short_name(object)).unwrap_or_default();
                format!("invalid: the object with that uid is {is}")
            }
        };
        let name = format!("{}/{}", snapshot.text(reference.kind), snapshot.text(reference.name));
        Owner {
            identity: found.map(|object| scene.identity(object)),
            words: visible(&format!("{name}: {standing}{flags}")).into_owned(),
            valid: link.standing.valid(),
        }
    };
    object.owners.iter().map(owner).collect()
}

/// Everything about an object, without what its rows say of it.
pub(super) fn lines(scene: &Scene, id: ObjectId, now: i64) -> Vec<Line> {
    let snapshot = &scene.snapshot;
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let mut lines: Vec<Line> = Vec::new();
    let mut say = |label: &str, tone: Tone, text: &str| {
        lines.push(vec![(Tone::Quiet, format!("{label:<12}")), (tone, visible(text).into_owned())]);
    };
    say("Name", Tone::Strong, snapshot.text(object.name));
    if !object.namespace.is_empty() {
        say("Namespace", Tone::Plain, snapshot.text(object.namespace));
    }
    say("Kind", Tone::Plain, &format!("{}, {}", resource.kind, resource.api_version()));
    say("UID", Tone::Plain, snapshot.text(object.uid));
    let age = object.created.get().map_or_else(|| "unknown".to_owned(), |created| age(now - created));
    say("Age", Tone::Plain, &age);
    if let Some(state) = Terminating::of(snapshot, object) {
        say("State", Tone::Warning, &state.words(snapshot));
    }
    for finalizer in object.finalizers.iter() {
        say("Finalizer", Tone::Plain, snapshot.text(*finalizer));
    }
    let owners = owners(scene, id);
    if owners.is_empty() {
        say("Owners", Tone::Plain, "none");
    }
    for owner in owners {
        say("Owner", if owner.valid { Tone::Plain } else { Tone::Warning }, &owner.words);
    }
    let dependents = scene.graph.all_dependents(id.into()).count();
    say("Dependents", Tone::Plain, &count(dependents, "object", "objects"));
    if let Some(why) = snapshot.resources.not_watched(object.resource) {
        say("Collector", Tone::Plain, &format!("does not watch this type: {why}"));
    }
    lines
}
