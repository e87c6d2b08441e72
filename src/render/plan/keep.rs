//! What `--keep` preserves, which references it removes for that, and what it can't keep; in JSON and in words.

use serde::Serialize;

use crate::{
    document::{ObjectJson, ReferenceJson},
    model::{ObjectId, Snapshot},
    plan::{Afterwards, Kept, Unkeepable},
    server::Propagation,
    simulate::Cut,
    wording::{count, some_of},
};

use super::{
    PlanView,
    because::{because, owners_named},
    names::{by_kind, name},
};

/// At most this many objects are named.
const NAMED: usize = 3;

/// One kept object.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptJson<'a> {
    object: ObjectJson<'a>,
    removed_references: Vec<ReferenceJson<'a>>,
}

/// The kept objects, for JSON; `None` without `--keep`.
pub(super) fn kept<'a>(view: &PlanView<'a>) -> Option<Vec<KeptJson<'a>>> {
    let of = |object: &ObjectId| {
        let loses = cut_of(view, *object).into_iter().flat_map(|cut| &cut.loses);
        KeptJson {
            object: ObjectJson::of(view.snapshot, *object),
            removed_references: loses.map(|reference| ReferenceJson::of(view.snapshot, reference)).collect(),
        }
    };
    Some(view.kept?.kept.iter().map(of).collect())
}

/// The objects that survive because of it, for JSON; `None` without `--keep`.
pub(super) fn stays<'a>(view: &PlanView<'a>) -> Option<Vec<ObjectJson<'a>>> {
    Some(view.kept?.stays.iter().map(|object| ObjectJson::of(view.snapshot, *object)).collect())
}

fn cut_of<'a>(view: &PlanView<'a>, object: ObjectId) -> Option<&'a Cut> {
    view.cuts.get(&object).copied()
}

/// The references that are removed from a kept object, in a few words; `None` if it isn't kept.
pub(super) fn remark(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
    let cut = cut_of(view, object)?;
    Some(format!(
        "by --keep: references to {} are removed before anything is deleted",
        owners_named(view.snapshot, &cut.loses)
    ))
}

/// What is kept, and what survives because of it, in words.
pub(super) fn describe(view: &PlanView<'_>) -> Vec<String> {
    let Some(Kept { kept, stays, .. }) = view.kept else { return Vec::new() };
    let mut describe = Vec::new();
    if !kept.is_empty() {
        describe.push(format!("keeps {} ({})", count(kept.len(), "object", "objects"), some(view, kept)));
    }
    if !stays.is_empty() {
        let kinds = by_kind(view, stays.iter().copied());
        let verb = if stays.len() == 1 { "is kept" } else { "are kept" };
        describe.push(format!("therefore {kinds} {verb}, too ({})", some(view, stays)));
    }
    describe.extend(adopted(view, kept));
    describe
}

/// Warns of new owners that may delete kept objects: a controller that adopts more objects than it wants deletes the
/// surplus.
fn adopted(view: &PlanView<'_>, kept: &[ObjectId]) -> Option<String> {
    let adopter = |object: &ObjectId| {
        view.outcome(*object)?.afterwards.iter().find_map(|after| match after {
            Afterwards::Adopted { by } => Some((*object, *by)),
            _ => None,
        })
    };
    let adopted: Vec<(ObjectId, ObjectId)> = kept.iter().filter_map(adopter).collect();
    let (_, by) = adopted.first()?;
    let objects: Vec<ObjectId> = adopted.iter().map(|(object, _)| *object).collect();
    Some(format!(
        "but {} is not deleted: its new dependents may adopt the kept objects ({}) and delete them as surplus",
        name(view, *by, None),
        some(view, &objects)
    ))
}

/// The first few of these objects.
pub(super) fn some(view: &PlanView<'_>, objects: &[ObjectId]) -> String {
    some_of(objects.iter().map(|object| name(view, *object, None)), NAMED)
}

/// The flags that repeat the request; empty without `--keep`.
pub(super) fn flags(view: &PlanView<'_>) -> Vec<String> {
    view.kept.iter().flat_map(|kept| &kept.asked).map(|text| format!("--keep={text}")).collect()
}

/// Why an object can't be kept, and what to do about it.
pub fn unkeepable(snapshot: &Snapshot, object: ObjectId, why: &Unkeepable) -> String {
    let found = snapshot.object(object);
    let place = match snapshot.text(found.namespace) {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    };
    let why = match why {
        Unkeepable::Target => "it is a target of this delete; leave it out of the TARGETs, or narrow --keep".to_owned(),
        Unkeepable::Terminating => "it is already being deleted, and that cannot be undone".to_owned(),
        Unkeepable::Namespace(namespace) => format!(
            "its namespace {} is deleted with everything in it; recreate it in another namespace, or do not \
             delete the namespace",
            snapshot.text(snapshot.object(*namespace).name)
        ),
        Unkeepable::Definition(definition) => format!(
            "its CRD {} is deleted with all its instances; do not delete the CRD",
            snapshot.text(snapshot.object(*definition).name)
        ),
        Unkeepable::WithContents(by) => format!(
            "it is deleted because {} is, not because of an owner reference; removing references does not save \
             it",
            snapshot.short_name(*by)
        ),
        Unkeepable::Unread => {
            "not all of its owners could be read, so it may be deleted anyway; run the plan without --keep to \
             see what could not be read"
                .to_owned()
        }
        Unkeepable::Unexplored => {
            "there are too many possible orders of events to be sure that it survives; delete fewer objects at \
             a time"
                .to_owned()
        }
        Unkeepable::OtherReason(None) => "it is not deleted because of its owners".to_owned(),
        Unkeepable::OtherReason(Some(cause)) => {
            // The policy only matters for targets, which are described above.
            let reason = because(snapshot, object, cause, Propagation::Background).message;
            format!("it is not deleted because of its owners, but because {reason}")
        }
    };
    format!("--keep: {}{place} can't be kept: {why}", snapshot.short_name(object))
}
