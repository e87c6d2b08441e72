//! What `kubectl apply` makes of the owner references of an object that exists: a three-way merge of what was applied
//! last, the file, and the object (R1.49).

use super::manifest::{FileReference, finalizers_in, references_in};

use serde_json::Value;

/// What the annotation `kubectl.kubernetes.io/last-applied-configuration` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LastApplied {
    /// The annotation was not read.
    #[default]
    Unread,
    /// These fields were applied; `None` for a field that was not, also without an annotation.
    Read { references: Option<Vec<FileReference>>, finalizers: Option<Vec<String>> },
}

impl LastApplied {
    /// The annotation, which holds an object as JSON.
    pub const ANNOTATION: &'static str = "kubectl.kubernetes.io/last-applied-configuration";

    /// What a whole object says.
    pub fn of(whole: &Value) -> Self {
        let annotation = whole["metadata"]["annotations"][Self::ANNOTATION].as_str().unwrap_or_default();
        let applied = serde_json::from_str(annotation).unwrap_or(Value::Null);
        LastApplied::Read { references: references_in(&applied), finalizers: finalizers_in(&applied) }
    }
}

/// The references after the apply; `None` if that depends on an annotation that was not read. `strategic`: whether the
/// kind accepts strategic merge patches, which merge references by uid; a JSON merge patch replaces the whole list.
pub(super) fn merged(
    strategic: bool,
    live: &[FileReference],
    file: Option<&[FileReference]>,
    last: &LastApplied,
) -> Option<Vec<FileReference>> {
    let with = |last: Option<&[FileReference]>| match strategic {
        true => strategic_merge(live, file, last),
        false => json_merge(live, file, last),
    };
    match last {
        LastApplied::Read { references, .. } => Some(with(references.as_deref())),
        LastApplied::Unread => {
            let (nothing, everything) = (with(None), with(Some(live)));
            (nothing == everything).then_some(nothing)
        }
    }
}

/// The finalizers after the apply, and whether that is certain: without the annotation, they are taken to stay.
pub(super) fn merged_finalizers(
    strategic: bool,
    live: &[String],
    file: Option<&[String]>,
    last: &LastApplied,
) -> (Vec<String>, bool) {
    let with = |last: Option<&[String]>| match (strategic, file) {
        (true, Some(file)) => {
            let is_removed = |one: &&String| last.is_some_and(|last| last.contains(one)) && !file.contains(one);
            let kept: Vec<String> = live.iter().filter(|one| !is_removed(one)).cloned().collect();
            let new = file.iter().filter(|one| !live.contains(one)).cloned();
            kept.iter().cloned().chain(new).collect()
        }
        _ => json_merge(live, file, last),
    };
    match last {
        LastApplied::Read { finalizers, .. } => (with(finalizers.as_deref()), true),
        LastApplied::Unread => {
            let nothing = with(None);
            let certain = nothing == with(Some(live));
            (nothing, certain)
        }
    }
}

/// `jsonmergepatch.CreateThreeWayJSONMergePatch`
fn json_merge<T: Clone>(live: &[T], file: Option<&[T]>, last: Option<&[T]>) -> Vec<T> {
    match (file, last) {
        (Some(file), _) => file.to_vec(),
        (None, Some(_)) => Vec::new(),
        (None, None) => live.to_vec(),
    }
}

/// `strategicpatch.CreateThreeWayMergePatch`: references are merged by uid. What was applied last and is not in the
/// file any more is removed.
fn strategic_merge(
    live: &[FileReference],
    file: Option<&[FileReference]>,
    last: Option<&[FileReference]>,
) -> Vec<FileReference> {
    let Some(file) = file else { return if last.is_some() { Vec::new() } else { live.to_vec() } };
    let last = last.unwrap_or_default();
    let of_uid = |all: &[FileReference], uid: &str| all.iter().find(|reference| reference.uid == uid).cloned();
    let mut merged = Vec::new();
    for reference in live {
        match of_uid(file, &reference.uid) {
            Some(new) => {
                let before = of_uid(last, &reference.uid).unwrap_or_default();
                // A flag that the file lacks stays, unless it was applied before.
                let flag = |new: Option<bool>, before: Option<bool>, live: Option<bool>| {
                    new.or(if before.is_some() { None } else { live })
                };
                merged.push(FileReference {
                    controller: flag(new.controller, before.controller, reference.controller),
                    block_owner_deletion: flag(
                        new.block_owner_deletion,
                        before.block_owner_deletion,
                        reference.block_owner_deletion,
                    ),
                    ..new
                });
            }
            None if of_uid(last, &reference.uid).is_some() => {}
            None => merged.push(reference.clone()),
        }
    }
    merged.extend(file.iter().filter(|new| of_uid(live, &new.uid).is_none()).cloned());
    merged
}
