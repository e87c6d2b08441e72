//! What was found out of the controllers of a snapshot, each once.

use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use crate::{
    groups::Groups,
    model::{ObjectId, ResourceId, Snapshot, Symbol},
    simulate::needs::Once,
};

use super::{controller::FinalizerController, driver::Driver, rights::Bindings};

/// The managers of this many objects with the same finalizer are read; those of the first stand for the others.
const SAMPLES: usize = 8;

/// Relations between objects that show whether controllers run, computed once for a snapshot.
#[derive(Debug, Default)]
pub(crate) struct ControllerIndex {
    pub(super) by_finalizer: OnceLock<Groups<(ResourceId, Symbol)>>,
    pub(super) judged: Mutex<FxHashMap<Asked, Judged>>,
    /// The workloads whose facts limit what they handle.
    pub(super) limited: OnceLock<Vec<ObjectId>>,
    pub(super) runs_in_a_cloud: OnceLock<bool>,
    /// The kinds of each group.
    pub(super) kinds: OnceLock<Groups<String, ResourceId>>,
    /// What names an object in its spec (R9.47).
    pub(super) named_by: OnceLock<Groups<ObjectId>>,
    /// The RoleBindings of each namespace.
    pub(super) role_bindings: OnceLock<Groups<Symbol>>,
    /// The bindings that count for a ServiceAccount, by its namespace and name.
    pub(super) bindings: Mutex<FxHashMap<(String, String), Arc<Bindings>>>,
    /// Stands for all that are not judged.
    pub(super) too_many: OnceLock<Arc<FinalizerController>>,
}

/// What a judgement depends on: whose managers are read, and which workloads may not handle the object.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) sample: ObjectId,
    pub(super) finalizer: Symbol,
    /// The driver whose controller is meant.
    pub(super) driver: Option<Driver>,
    /// The namespace of the object, if its controller may handle only its own.
    pub(super) namespace: Option<Symbol>,
    pub(super) not_handled: Vec<(ObjectId, Scope)>,
}

/// A controller, and what should be read to know more of it.
pub(super) type Judged = Once<Arc<FinalizerController>>;

/// Whether a workload handles an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    Handles,
    /// What says so was not read, in words.
    Perhaps(String),
    /// Why it doesn't, in words.
    LeavesOut(String),
}

impl ControllerIndex {
    /// Some objects of each kind with each finalizer.
    pub(super) fn by_finalizer(&self, snapshot: &Snapshot) -> &Groups<(ResourceId, Symbol)> {
        self.by_finalizer.get_or_init(|| {
            let mut index = Groups::default();
            for (id, object) in snapshot.objects() {
                let keys = object.finalizers.iter().map(|finalizer| (object.resource, *finalizer));
                for key in keys {
                    if index.of(&key).len() < SAMPLES {
                        index.extend([(key, id)]);
                    }
                }
            }
            index
        })
    }

    /// The object whose managers stand for this one's.
    pub(super) fn representative(&self, snapshot: &Snapshot, object: ObjectId, finalizer: Symbol) -> ObjectId {
        let some = self.by_finalizer(snapshot).of(&(snapshot.object(object).resource, finalizer));
        if some.contains(&object) { object } else { some.first().copied().unwrap_or(object) }
    }
}
