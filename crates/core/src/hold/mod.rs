//! A delete that waits, and can be taken back: which objects can be held, what is stored of them, and how they come
//! back. Pure: `act/hold` reads and writes.
//!
//! A held object is Terminating and has a finalizer of ours. The collector doesn't touch the dependents of an owner
//! that exists (G1), so everything below keeps running. To go on, the finalizer is removed. To take it back:
//!
//! 1. The finalizer [`UNCANCELLED`] is removed. Nothing that goes on removes [`HOLD`] without it, so that a delete goes
//!    on or is taken back, never both, whoever asks for it and from wherever.
//! 2. Each dependent gets a *guard* in the place of its reference: a reference to itself. For the collector, it has an
//!    owner that exists.
//! 3. A second DELETE, with `Orphan`, lets the collector free what else is a dependent by then (R1.46). Then [`HOLD`]
//!    goes, and the object with it.
//! 4. The object is created from its archive, in a form that makes its controller start nothing.
//! 5. Dependents get a reference to the new uid in the place of the guard, and the object what its form left out.
//!
//! Each step may be repeated. What is needed for the next one is in a Secret before it is taken.

mod anew;
mod dependents;
mod kinds;
mod record;

use crate::model::{HOLD, ObjectId, ResourceId, Snapshot, UNCANCELLED};

pub use anew::{Anew, counted_pods, counts_none, has_finished, without_label};
pub(crate) use anew::{drop_finalizers_of_deletion, drop_server_fields, keep_items};
pub use dependents::{HeldDependent, is_guarded, original};
pub use kinds::{NotHeld, adopts, meanwhile, why_not};
pub use record::{About, HoldRecord, MOST, Malformed, SECRET_PREFIX, SECRET_TYPE, Stage, secret_name};

/// The label of the Secret that stores a held object, and of the object that is created again, until all is as before;
/// its value is the uid of the held object.
pub const LABEL: &str = "kubectl-gc/hold";

/// What its finalizers say of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Its delete waits, and may go on.
    Waits,
    /// It is being taken back: nothing lets it go but that.
    BeingTakenBack,
}

impl Held {
    /// None if it isn't held.
    pub fn of<'a>(finalizers: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let (mut hold, mut uncancelled) = (false, false);
        for finalizer in finalizers {
            hold |= finalizer == HOLD;
            uncancelled |= finalizer == UNCANCELLED;
        }
        hold.then_some(if uncancelled { Held::Waits } else { Held::BeingTakenBack })
    }

    /// The same of an object that was read, if it is Terminating.
    pub fn of_object(snapshot: &Snapshot, object: ObjectId) -> Option<Self> {
        let object = snapshot.object(object);
        let finalizers = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
        object.terminating().then(|| Held::of(finalizers)).flatten()
    }
}

/// Whether the Secret of a held object may be there: without it, nothing can be taken back. That of a cluster-scoped
/// object is in any namespace. `of_kind` gives the objects of a resource.
pub fn is_recorded<I>(snapshot: &Snapshot, object: ObjectId, of_kind: impl FnOnce(ResourceId) -> I) -> bool
where
    I: IntoIterator<Item = ObjectId>,
{
    let Some(secrets) = snapshot.resources.by_group_kind("", "Secret") else { return true };
    let object = snapshot.object(object);
    let place = (!object.namespace.is_empty()).then_some(object.namespace);
    let is_its = |id| snapshot.label(id, LABEL) == Some(snapshot.text(object.uid));
    !snapshot.covers(secrets, place) || of_kind(secrets).into_iter().any(is_its)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_finalizers_say_what_may_happen() {
        assert_eq!(Held::of(["other", HOLD, UNCANCELLED]), Some(Held::Waits));
        assert_eq!(Held::of([HOLD]), Some(Held::BeingTakenBack));
        assert_eq!(Held::of([UNCANCELLED]), None);
        assert_eq!(Held::of([]), None);
    }
}
