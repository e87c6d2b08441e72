//! One PATCH, as the API server answers it (§1.8, §4.3, §4.4).

use std::borrow::Cow;

use crate::model::{Reference, Symbol};

use super::stored::Stored;

/// The patches that the collector sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// Strategic merge: drop every reference with one of these uids (R4.8).
    StripByUid(Vec<Symbol>),
    /// JSON merge, for kinds without strategic merge: exactly these references, if the version is still this one.
    SetOwners { owners: Vec<Reference>, version: u32 },
    /// Strategic merge: these references, switched to non-blocking, each merged into the first that has its uid (R4.9).
    MergeOwners(Vec<Reference>),
    /// JSON merge: drop this finalizer, if the version is still this one.
    RemoveFinalizer { finalizer: Symbol, version: u32 },
}

/// How the API server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchAnswer<'a> {
    /// The object stays, in this state.
    Updated(Stored<'a>),
    /// The patch changed nothing.
    Unchanged,
    /// The last finalizer of a terminating object went, and the object with it (R1.22).
    Removed,
    /// 409: the version is another one.
    Conflict,
    /// 422: two references would be the controller's (R1.32).
    Invalid,
}

/// What one PATCH does to an object. `held_by_spec` says whether a Namespace's `spec.finalizers` still hold it (R1.25).
pub fn patch<'a>(stored: &Stored<'a>, patch: &Patch, held_by_spec: bool) -> PatchAnswer<'a> {
    let mut owners: Cow<'a, [Reference]> = stored.owners.clone();
    let mut finalizers = stored.finalizers.clone();
    match patch {
        Patch::StripByUid(uids) => {
            if owners.iter().any(|reference| uids.contains(&reference.uid)) {
                owners = owners.iter().copied().filter(|reference| !uids.contains(&reference.uid)).collect();
            }
            owners = in_merged_order(owners, &[]);
        }
        Patch::SetOwners { version, .. } | Patch::RemoveFinalizer { version, .. } if *version != stored.version => {
            return PatchAnswer::Conflict;
        }
        Patch::SetOwners { owners: wanted, .. } => owners = Cow::Owned(wanted.clone()),
        Patch::MergeOwners(merged) => {
            let references = owners.to_mut();
            for reference in merged {
                match references.iter_mut().find(|existing| existing.uid == reference.uid) {
                    Some(existing) => {
                        let controller = reference.controller.or(existing.controller);
                        *existing = Reference { controller, ..*reference };
                    }
                    None => references.push(*reference),
                }
            }
            owners = in_merged_order(owners, merged);
        }
        Patch::RemoveFinalizer { finalizer, .. } => {
            if finalizers.contains(finalizer) {
                finalizers = finalizers.iter().copied().filter(|existing| existing != finalizer).collect();
            }
        }
    }
    if owners != stored.owners {
        owners = without_exact_duplicates(owners);
    }
    if owners == stored.owners && finalizers == stored.finalizers {
        return PatchAnswer::Unchanged;
    }
    // A merge takes `controller` from one reference to another of the same uid.
    if owners.iter().filter(|reference| reference.controller == Some(true)).count() > 1 {
        return PatchAnswer::Invalid;
    }
    // R1.22
    if stored.terminating && finalizers.is_empty() && !held_by_spec && stored.grace.unwrap_or(0) == 0 {
        return PatchAnswer::Removed;
    }
    PatchAnswer::Updated(Stored { owners, finalizers, version: stored.version + 1, ..*stored })
}

/// A strategic merge puts references of one uid side by side: those that the patch names in its order, the others in
/// theirs, and the two interleaved as they were (`SMP:mergeSlice`, `:normalizeElementOrder`).
fn in_merged_order<'a>(owners: Cow<'a, [Reference]>, merged: &[Reference]) -> Cow<'a, [Reference]> {
    let place = |list: &[Reference], uid: Symbol| list.iter().position(|reference| reference.uid == uid);
    let (mut named, mut others): (Vec<Reference>, Vec<Reference>) =
        owners.iter().copied().partition(|reference| place(merged, reference.uid).is_some());
    named.sort_by_key(|reference| place(merged, reference.uid));
    others.sort_by_key(|reference| place(&owners, reference.uid));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    let mut ordered = Vec::with_capacity(owners.len());
    while let (Some(first_named), Some(first_other)) = (named.peek(), others.peek()) {
        let other_first = place(&owners, first_other.uid) < place(&owners, first_named.uid);
        ordered.extend(if other_first { others.next() } else { named.next() });
    }
    ordered.extend(named.chain(others));
    if *ordered == *owners { owners } else { Cow::Owned(ordered) }
}

/// R1.35: the API server collapses references that are equal in every field.
fn without_exact_duplicates(owners: Cow<'_, [Reference]>) -> Cow<'_, [Reference]> {
    let is_duplicate = |index: usize| owners[..index].contains(&owners[index]);
    if !(0..owners.len()).any(is_duplicate) {
        return owners;
    }
    (0..owners.len()).filter(|index| !is_duplicate(*index)).map(|index| owners[index]).collect()
}
