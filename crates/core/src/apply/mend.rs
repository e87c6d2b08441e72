//! How to change the owner references of a file so that the collector deletes nothing once it is applied.

use serde::Serialize;

use super::{
    arrival::{Refusal, Standing, invalid_references},
    fate::{ApplyPlan, FileObject},
    manifest::{FileReference, ManifestObject},
};

/// What to do with one reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "mend", content = "newUid")]
pub enum Mend {
    Keep,
    /// Its owner exists: write this uid.
    SetUid(String),
    /// Remove it: it leads nowhere.
    Remove,
    /// Remove it: its owner is in the file, and nobody knows its uid before it is created.
    RemoveForNow,
}

/// What to change in one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mending {
    /// For each reference of the file.
    pub references: Vec<Mend>,
    /// Remove `metadata.uid`: the API server refuses the object with it.
    pub remove_uid: bool,
    /// Remove `metadata.resourceVersion`, for the same reason.
    pub remove_version: bool,
}

impl Mending {
    /// Whether the object stays as it is.
    pub fn is_nothing(&self) -> bool {
        !self.remove_uid && !self.remove_version && self.references.iter().all(|mend| *mend == Mend::Keep)
    }

    /// Why the API server refuses the mended object, if it refuses the object as it is for this reason.
    pub fn refusal(&self, object: &ManifestObject, before: &Refusal) -> Option<Refusal> {
        let written = object.written();
        if invalid_references(written).as_ref() != Some(before) {
            return Some(before.clone());
        }
        let mended = written.iter().zip(&self.references).filter_map(|(reference, mend)| match mend {
            Mend::Keep => Some(reference.clone()),
            Mend::SetUid(uid) => Some(FileReference { uid: uid.clone().into(), ..reference.clone() }),
            Mend::Remove | Mend::RemoveForNow => None,
        });
        invalid_references(&mended.collect::<Vec<_>>())
    }
}

/// What to change in each object of the file.
pub fn mends(plan: &ApplyPlan, objects: &[ManifestObject]) -> Vec<Mending> {
    plan.objects.iter().zip(objects).map(|(placed, object)| mending(plan, placed, object)).collect()
}

fn mending(plan: &ApplyPlan, of: &FileObject, object: &ManifestObject) -> Mending {
    let snapshot = &plan.scene.snapshot;
    let mut references: Vec<Mend> = of
        .standings
        .iter()
        .map(|standing| match standing {
            Standing::Solid(_) | Standing::Unserved | Standing::Unread => Mend::Keep,
            Standing::OtherUid(owner) if !snapshot.object(*owner).terminating() => {
                Mend::SetUid(snapshot.text(snapshot.object(*owner).uid).to_owned())
            }
            Standing::NewUid(_) | Standing::DefinedByFile(_) | Standing::Absent { in_file: true } => Mend::RemoveForNow,
            Standing::Going(_)
            | Standing::OtherUid(_)
            | Standing::Elsewhere(_)
            | Standing::Absent { in_file: false }
            | Standing::ListKind
            | Standing::InvalidScope => Mend::Remove,
        })
        .collect();
    // No owner needs two references.
    for index in 0..references.len() {
        let Mend::SetUid(uid) = &references[index] else { continue };
        let written = object.written();
        let has_it = |other: usize| match &references[other] {
            Mend::Keep => written[other].uid == *uid,
            Mend::SetUid(set) => other < index && set == uid,
            Mend::Remove | Mend::RemoveForNow => false,
        };
        if (0..references.len()).any(has_it) {
            references[index] = Mend::Remove;
        }
    }
    Mending { references, remove_uid: of.placed.other_uid, remove_version: of.placed.other_version }
}
