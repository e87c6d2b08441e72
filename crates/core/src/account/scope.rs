//! What an account is about.

use rustc_hash::FxHashSet;

use crate::model::Identity;

use super::objects::{Kind, Object};

/// Which objects an account tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    Everything,
    /// Those in this namespace, and the namespace.
    Namespace(String),
    /// These, whatever takes their names later, what is in them, and their dependents.
    Targets(Vec<Identity>),
}

/// A scope with its targets by uid and name.
#[derive(Debug)]
pub(super) struct Concern {
    pub scope: Scope,
    uids: FxHashSet<String>,
}

impl Concern {
    pub(super) fn new(scope: Scope) -> Self {
        let uids = match &scope {
            Scope::Targets(targets) => targets.iter().map(|target| target.uid.clone()).collect(),
            _ => FxHashSet::default(),
        };
        Concern { scope, uids }
    }

    /// Whether this is a target, of whatever kind and whether or not it still exists.
    pub(super) fn is_target(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }

    pub(super) fn targets(&self) -> impl Iterator<Item = &String> {
        self.uids.iter()
    }

    /// Whether the object itself is in the scope; its owners are the caller's business.
    pub(super) fn has(&self, kind: &Kind, uid: &str, object: &Object) -> bool {
        match &self.scope {
            Scope::Everything => true,
            Scope::Namespace(namespace) => {
                *object.namespace == **namespace || (kind.is_namespaces() && *object.name == **namespace)
            }
            Scope::Targets(targets) => self.is_target(uid) || targets.iter().any(|target| is_it(target, kind, object)),
        }
    }
}

/// Whether the object has the target's name, or is in it.
fn is_it(target: &Identity, kind: &Kind, object: &Object) -> bool {
    let same_name = target.kind == kind.kind
        && target.api_version == kind.api_version
        && *target.namespace == *object.namespace
        && *target.name == *object.name;
    let in_it = match target.kind.as_str() {
        "Namespace" => target.api_version == "v1" && *object.namespace == *target.name,
        "CustomResourceDefinition" => kind.full_name == target.name,
        _ => false,
    };
    same_name || in_it
}
