//! One PATCH as the API server executes it (§1.8, §4.3, §4.4).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Reference, References, Symbol};

use super::Stored;

/// The patches that the collector sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// Strategic merge: drop every reference with one of these uids (R4.8).
    StripByUid(Vec<Symbol>),
    /// JSON merge, for kinds without strategic merge: set exactly these references, if the version matches.
    SetOwners { owners: Vec<Reference>, version: u32 },
    /// Strategic merge: make these references non-blocking; each is merged into the first with its uid (R4.9).
    MergeOwners(Vec<Reference>),
    /// JSON merge: drop this finalizer, if the version matches.
    RemoveFinalizer { finalizer: Symbol, version: u32 },
}

/// The API server's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchAnswer<'a> {
    /// The object has this new state.
    Updated(Stored<'a>),
    Unchanged,
    /// A terminating object lost its last finalizer, and was removed (R1.22).
    Removed,
    /// 409: the version doesn't match.
    Conflict,
    /// 422: two references would have `controller: true` (R1.32).
    Invalid,
}

/// The effect of one PATCH on an object. `held_by_spec`: whether a Namespace still has `spec.finalizers` (R1.25).
pub fn patch<'a>(stored: &Stored<'a>, patch: &Patch, held_by_spec: bool) -> PatchAnswer<'a> {
    let mut owners = stored.owners.clone();
    let mut finalizers = stored.finalizers.clone();
    match patch {
        Patch::StripByUid(uids) => {
            let uids: FxHashSet<Symbol> = uids.iter().copied().collect();
            if owners.iter().any(|reference| uids.contains(&reference.uid)) {
                owners = owners.iter().copied().filter(|reference| !uids.contains(&reference.uid)).collect();
            }
            owners = in_merged_order(owners, &[]);
        }
        Patch::SetOwners { version, .. } | Patch::RemoveFinalizer { version, .. } if *version != stored.version => {
            return PatchAnswer::Conflict;
        }
        Patch::SetOwners { owners: new_owners, .. } => owners = new_owners.clone().into(),
        Patch::MergeOwners(merged) => {
            let mut references = owners.to_vec();
            let mut first = first_places(&references);
            for reference in merged {
                match first.get(&reference.uid) {
                    Some(place) => {
                        let controller = reference.controller.or(references[*place].controller);
                        references[*place] = Reference { controller, ..*reference };
                    }
                    None => {
                        first.insert(reference.uid, references.len());
                        references.push(*reference);
                    }
                }
            }
            owners = in_merged_order(references.into(), merged);
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
    // A merge may copy `controller` to another reference with the same uid.
    if owners.iter().filter(|reference| reference.is_controller()).count() > 1 {
        return PatchAnswer::Invalid;
    }
    // R1.22
    if stored.terminating && finalizers.is_empty() && !held_by_spec && stored.grace.unwrap_or(0) == 0 {
        return PatchAnswer::Removed;
    }
    PatchAnswer::Updated(Stored { owners, finalizers, version: stored.version + 1, ..*stored })
}

/// A strategic merge moves references with the same uid together: patched ones in the patch's order, the others in
/// theirs, interleaved as before (`SMP:mergeSlice`, `:normalizeElementOrder`).
fn in_merged_order<'a>(owners: References<'a>, merged: &[Reference]) -> References<'a> {
    let (of_merged, of_owners) = (first_places(merged), first_places(&owners));
    let (mut named, mut others): (Vec<Reference>, Vec<Reference>) =
        owners.iter().copied().partition(|reference| of_merged.contains_key(&reference.uid));
    named.sort_by_key(|reference| of_merged.get(&reference.uid));
    others.sort_by_key(|reference| of_owners.get(&reference.uid));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    let mut ordered = Vec::with_capacity(owners.len());
    while let (Some(first_named), Some(first_other)) = (named.peek(), others.peek()) {
        let other_first = of_owners.get(&first_other.uid) < of_owners.get(&first_named.uid);
        ordered.extend(if other_first { others.next() } else { named.next() });
    }
    ordered.extend(named.chain(others));
    if *ordered == *owners { owners } else { ordered.into() }
}

/// Where the first reference to each uid is.
fn first_places(list: &[Reference]) -> FxHashMap<Symbol, usize> {
    list.iter().enumerate().rev().map(|(place, reference)| (reference.uid, place)).collect()
}

/// R1.35: the API server drops exact duplicates of references.
pub(crate) fn without_exact_duplicates(owners: References<'_>) -> References<'_> {
    let mut seen: FxHashSet<Reference> = FxHashSet::default();
    let distinct: Vec<Reference> = owners.iter().copied().filter(|reference| seen.insert(*reference)).collect();
    if distinct.len() == owners.len() { owners } else { distinct.into() }
}
